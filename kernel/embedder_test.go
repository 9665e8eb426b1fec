package kernel_test

import (
	"database/sql"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "modernc.org/sqlite"

	"oxios/kernel"
	"oxios/kernel/demo"
	"oxios/kernel/kerneltest"
	"oxios/kernel/sys"
)

const embedder = "env/" + demo.EmbedID

func rememberAll(t *testing.T, k *kerneltest.Kernel, texts ...string) (ids []string) {
	t.Helper()
	for _, text := range texts {
		m, err := k.Person().Memory.Remember(t.Context(), kernel.MemoryInput{Text: text})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, m.ID)
	}
	return ids
}

func setConfig(t *testing.T, k *kerneltest.Kernel, key, value string) {
	t.Helper()
	if _, err := k.Person().Infra.SetConfig(t.Context(), key, value); err != nil {
		t.Fatal(err)
	}
}

func embedding(t *testing.T, k *kerneltest.Kernel) kernel.MemoryEmbedding {
	t.Helper()
	v, err := k.Person().Memory.Embedding(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func embedded(t *testing.T, k *kerneltest.Kernel) kernel.MemoryEmbedding {
	t.Helper()
	var v kernel.MemoryEmbedding
	k.Until("all memories are embedded", func() bool {
		v = embedding(t, k)
		return !v.Running && v.Dim > 0 && v.Done == v.Total && v.Error == nil
	})
	return v
}

func foundTexts(t *testing.T, k *kerneltest.Kernel, text string) []string {
	t.Helper()
	found, err := k.Person().Memory.Search(t.Context(), kernel.MemorySearch{Text: text, Least: kernel.MemoryLeast})
	if err != nil {
		t.Fatal(err)
	}
	out := []string{}
	for _, f := range found {
		out = append(out, f.Text)
	}
	return out
}

// database opens the home's database beside the kernel.
func database(t *testing.T, k *kerneltest.Kernel) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(k.Home, "oxios.db")+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func vectorsIn(t *testing.T, db *sql.DB) (n int) {
	t.Helper()
	if err := db.QueryRow("SELECT count(*) FROM memory_vectors").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestConfiguredEmbedderFindsWhatWordsDoNot(t *testing.T) {
	t.Parallel()
	k := kerneltest.Open(t)
	rememberAll(t, k, "The car stands in the garage", "Goats like mountains")
	if got := foundTexts(t, k, "automobile"); len(got) != 0 {
		t.Fatalf("the built-in embedder found %v", got)
	}
	setConfig(t, k, "embedder", embedder)
	if v := embedded(t, k); v.Embedder != embedder || v.Dim != 64 || v.Total != 2 || !v.Local {
		t.Errorf("got %+v", v)
	}
	if got := foundTexts(t, k, "automobile"); !slices.Equal(got, []string{"The car stands in the garage"}) {
		t.Errorf("found %v", got)
	}
	rememberAll(t, k, "The doctor calls tomorrow") // soon embedded too
	embedded(t, k)
	if got := foundTexts(t, k, "physician"); !slices.Equal(got, []string{"The doctor calls tomorrow"}) {
		t.Errorf("found %v", got)
	}
	k.Restart() // from the database alone
	if got := foundTexts(t, k, "vehicle"); !slices.Equal(got, []string{"The car stands in the garage"}) {
		t.Errorf("after a restart found %v", got)
	}
	costs, err := k.Person().Infra.Costs(t.Context(), kernel.CostQuery{})
	if err != nil || len(costs.Beside) != 1 || costs.Beside[0].Purpose != "embedding" || costs.Beside[0].Calls < 4 || costs.Beside[0].Input == 0 {
		t.Errorf("costs %+v, %v", costs, err)
	}
	if costs.Others.Calls != 0 || costs.Total.Calls != costs.Beside[0].Calls {
		t.Errorf("what was embedded counts twice: %+v", costs)
	}
}

func TestEndOfALongMemoryIsFoundByItsMeaning(t *testing.T) {
	t.Parallel()
	k := kerneltest.Open(t)
	setConfig(t, k, "embedder", embedder)
	long := strings.Repeat("Goats like mountains and climb the steepest cliffs for salt.\n\n", 128) + "The car stands in the garage"
	other := strings.Repeat("Snow closed the pass before anybody had left the valley.\n\n", 128)
	ids := rememberAll(t, k, long, strings.TrimSpace(other), "Milk is in the cellar")
	if v := embedded(t, k); v.Cut != 0 {
		t.Errorf("got %+v", v)
	}
	db := database(t, k)
	if n := vectorsIn(t, db); n != 3 { // one row each, however many passages
		t.Errorf("%d rows", n)
	}
	if got := foundTexts(t, k, "automobile"); !slices.Equal(got, []string{long}) {
		t.Errorf("found %.40q", got)
	}
	k.Restart() // from the database alone
	if got := foundTexts(t, k, "vehicle"); !slices.Equal(got, []string{long}) {
		t.Errorf("after a restart found %.40q", got)
	}
	pin, text := true, strings.Replace(long, "The car", "The doctor", 1)
	if _, err := k.Person().Memory.Update(t.Context(), ids[0], kernel.MemoryPatch{Pinned: &pin}); err != nil {
		t.Fatal(err)
	}
	if got := foundTexts(t, k, "automobile"); len(got) != 1 {
		t.Errorf("pinned: found %.40q", got)
	}
	if _, err := k.Person().Memory.Update(t.Context(), ids[0], kernel.MemoryPatch{Text: &text}); err != nil {
		t.Fatal(err)
	}
	embedded(t, k)
	if got := foundTexts(t, k, "automobile"); len(got) != 0 {
		t.Errorf("after the edit found %.40q", got)
	}
	if got := foundTexts(t, k, "physician"); !slices.Equal(got, []string{text}) {
		t.Errorf("what it says now: found %.40q", got)
	}
}

func TestMovedPinnedAndForgottenMemoriesTakeTheirVectorsAlong(t *testing.T) {
	t.Parallel()
	k := kerneltest.Open(t)
	setConfig(t, k, "embedder", embedder)
	ids := rememberAll(t, k, "The car stands in the garage", "The dog sleeps outside")
	embedded(t, k)
	foundTexts(t, k, "automobile") // the index is loaded
	pin, db := true, database(t, k)
	if _, err := k.Person().Memory.Update(t.Context(), ids[0], kernel.MemoryPatch{Pinned: &pin}); err != nil {
		t.Fatal(err)
	}
	if got := foundTexts(t, k, "automobile"); len(got) != 1 {
		t.Errorf("pinned: found %v", got)
	}
	if _, err := k.Person().Memory.Forget(t.Context(), ids[1:]); err != nil {
		t.Fatal(err)
	}
	if n := vectorsIn(t, db); n != 1 {
		t.Errorf("%d vectors are left after one of two was forgotten", n)
	}
	text := "The physician lives here"
	if _, err := k.Person().Memory.Update(t.Context(), ids[0], kernel.MemoryPatch{Text: &text}); err != nil {
		t.Fatal(err)
	}
	embedded(t, k)
	if got := foundTexts(t, k, "doctor"); !slices.Equal(got, []string{text}) {
		t.Errorf("changed: found %v", got)
	}
	if n := vectorsIn(t, db); n != 1 {
		t.Errorf("%d vectors, the text's history has none", n)
	}
	setConfig(t, k, "embedder", "")
	k.Until("the vectors of the other embedder are gone", func() bool { return vectorsIn(t, db) == 0 })
	if v := embedding(t, k); v.Embedder != "" || v.Dim != 256 || v.Done != 1 {
		t.Errorf("got %+v", v)
	}
}

func TestDamagedVectorsAreDroppedAndMadeAnew(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]string{
		"a bit":         "UPDATE memory_vectors SET vector = x'00000000' || substr(vector, 5)",
		"its size":      "UPDATE memory_vectors SET vector = substr(vector, 9)",
		"its dimension": "UPDATE memory_vectors SET dim = 63",
		"no number":     "UPDATE memory_vectors SET vector = x'0000c07f' || substr(vector, 5)",
		"empty":         "UPDATE memory_vectors SET vector = x''",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := kerneltest.Open(t)
			setConfig(t, k, "embedder", embedder)
			rememberAll(t, k, "The car stands in the garage", "Goats like mountains")
			embedded(t, k)
			if _, err := database(t, k).Exec(damage); err != nil {
				t.Fatal(err)
			}
			if got := foundTexts(t, k, "garage"); len(got) != 1 { // loads the index; words find all the same
				t.Errorf("found %v", got)
			}
			if v := embedding(t, k); v.Damaged != 2 {
				t.Errorf("got %+v", v)
			}
			embedded(t, k)
			if got := foundTexts(t, k, "automobile"); len(got) != 1 {
				t.Errorf("made anew, but found %v", got)
			}
		})
	}
}

func TestEmbedderThatFailsSaysWhyAndWordsStillFind(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		fault demo.EmbedFault
		code  sys.Code
	}{
		"key refused":   {demo.EmbedFault{Status: http.StatusUnauthorized, Body: `{"error":{"message":"bad key","code":"invalid_api_key"}}`}, sys.CodeAuth},
		"model missing": {demo.EmbedFault{Status: http.StatusNotFound, Body: `{"error":{"message":"model not found, try pulling it first"}}`}, sys.CodeUnknownModel},
		"no vectors":    {demo.EmbedFault{Status: http.StatusOK, Body: `{"data":[]}`}, sys.CodeProvider},
		"zeros":         {demo.EmbedFault{Status: http.StatusOK, Body: `{"data":[{"embedding":[0,0,0]}]}`}, sys.CodeProvider},
		"not JSON":      {demo.EmbedFault{Status: http.StatusOK, Body: `<html>`}, sys.CodeProvider},
		"trouble":       {demo.EmbedFault{Status: http.StatusInternalServerError, Body: `{}`}, sys.CodeProvider},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := kerneltest.Open(t)
			k.Demo.FailEmbeddings(&test.fault)
			setConfig(t, k, "embedder", embedder)
			rememberAll(t, k, "The car stands in the garage")
			var v kernel.MemoryEmbedding
			k.Until("it says why", func() bool { v = embedding(t, k); return v.Error != nil })
			if v.Error.Code != test.code || v.Error.Hint == "" || v.Error.MessageKO == "" || v.Since == nil {
				t.Errorf("got %+v", v.Error)
			}
			if got := foundTexts(t, k, "garage"); len(got) != 1 {
				t.Errorf("found %v", got)
			}
			k.Demo.FailEmbeddings(nil)
			if _, err := k.Person().Infra.Reconnect(t.Context()); err != nil { // the person has it tried at once
				t.Fatal(err)
			}
			embedded(t, k)
		})
	}
}

func TestQueryThatCannotBeEmbeddedIsAnsweredByWords(t *testing.T) {
	t.Parallel()
	k := kerneltest.Open(t)
	setConfig(t, k, "embedder", embedder)
	rememberAll(t, k, "The car stands in the garage")
	embedded(t, k)
	k.Demo.FailEmbeddings(&demo.EmbedFault{Status: http.StatusServiceUnavailable, Body: `{}`})
	if got := foundTexts(t, k, "garage car"); len(got) != 1 {
		t.Errorf("found %v", got)
	}
	if v := embedding(t, k); v.QueryError == nil || v.QueryUntil == nil {
		t.Errorf("nothing says that searches go by words: %+v", v)
	}
	asked := k.Demo.Served()
	foundTexts(t, k, "something else")
	if k.Demo.Served() != asked {
		t.Error("an embedder that failed a moment ago was asked again")
	}
}

func TestReembeddingTakesAnotherDimension(t *testing.T) {
	t.Parallel()
	k := kerneltest.Open(t)
	setConfig(t, k, "embedder", embedder)
	rememberAll(t, k, "The car stands in the garage")
	embedded(t, k)
	k.Demo.SetEmbedDim(96) // the provider serves another model under the same name
	rememberAll(t, k, "Goats like mountains")
	var v kernel.MemoryEmbedding
	k.Until("it says that the dimension is another one", func() bool { v = embedding(t, k); return v.Error != nil })
	if v.Error.Code != sys.CodeProvider || !strings.Contains(v.Error.Hint, "rebuild") || v.Done != 1 {
		t.Errorf("got %+v", v)
	}
	if _, err := k.Person().Memory.Reembed(t.Context()); err != nil {
		t.Fatal(err)
	}
	if v := embedded(t, k); v.Dim != 96 || v.Total != 2 {
		t.Errorf("got %+v", v)
	}
	if got := foundTexts(t, k, "automobile"); len(got) != 1 {
		t.Errorf("found %v", got)
	}
}

func TestEmbedderIsRefusedThatNamesNoModelOrProvider(t *testing.T) {
	t.Parallel()
	k := kerneltest.Open(t)
	for _, bad := range []string{"nomic-embed-text", "/model", "env/", "nobody/model", "a b/c"} {
		_, err := k.Person().Infra.SetConfig(t.Context(), "embedder", bad)
		if err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
	if v := embedding(t, k); v.Embedder != "" {
		t.Errorf("got %+v", v)
	}
	if _, err := k.Person().Memory.Reembed(t.Context()); sys.CodeOf(err) != sys.CodeConflict {
		t.Errorf("the built-in embedder was rebuilt: %v", err)
	}
	if k.Demo.Served() != 0 {
		t.Error("somebody was asked")
	}
}

func TestLimitOfTheDayHoldsForEmbeddings(t *testing.T) {
	t.Parallel()
	k := kerneltest.Open(t)
	setConfig(t, k, "day_calls", "0")
	setConfig(t, k, "embedder", embedder)
	rememberAll(t, k, "The car stands in the garage")
	k.Until("it waits for the limit", func() bool { v := embedding(t, k); return v.Error != nil && v.Error.Code == sys.CodeBudget })
	if k.Demo.Served() != 0 {
		t.Error("the embedder was asked although the limit allows nothing")
	}
	setConfig(t, k, "day_calls", "")
	embedded(t, k)
}

func TestManyMemoriesAreEmbeddedInBatchesWithProgress(t *testing.T) {
	t.Parallel()
	k := kerneltest.Open(t)
	var all []kernel.MemoryImport
	for i := range 150 {
		all = append(all, kernel.MemoryImport{Text: fmt.Sprintf("Note number %d about gardens", i)})
	}
	if _, err := k.Person().Memory.Import(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	events, err := k.Person().Infra.Events(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	before := k.Demo.Served()
	setConfig(t, k, "embedder", embedder)
	if v := embedded(t, k); v.Total != 150 {
		t.Errorf("got %+v", v)
	}
	if n := k.Demo.Served() - before; n != 4 { // the first sentences, and three batches
		t.Errorf("asked %d times", n)
	}
	for e := range events {
		if v, ok := e.Data.(kernel.MemoryEmbedding); ok && e.Kind == "embedding" && !v.Running && v.Done == 150 {
			break
		}
	}
}

func TestTryOfAnEmbedderSaysWhatItFound(t *testing.T) {
	t.Parallel()
	k := kerneltest.Open(t)
	r, err := k.Person().Memory.TryEmbedder(t.Context(), embedder)
	if err != nil || r.Dim != 64 || r.Error != nil || !r.Local {
		t.Errorf("got %+v, %v", r, err)
	}
	r, err = k.Person().Memory.TryEmbedder(t.Context(), "env/nothing")
	if err != nil || r.Error == nil || r.Error.Code != sys.CodeUnknownModel {
		t.Errorf("got %+v, %v", r, err)
	}
	if v := embedding(t, k); v.Embedder != "" {
		t.Error("a try changed the configuration")
	}
}
