package memory_test

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"oxios/kernel/memory"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type fixture struct {
	*memory.Memories
	store *store.Store
	path  string
}

func setup(t testing.TB) fixture {
	t.Helper()
	path := filepath.Join(t.TempDir(), "oxios.db")
	s, err := store.Open(context.Background(), path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return fixture{memory.Open(s, nil), s, path}
}

func (f fixture) add(t testing.TB, n memory.New) memory.Memory {
	t.Helper()
	m, err := f.Remember(context.Background(), n)
	if err != nil {
		t.Fatalf("remember %q: %v", n.Text, err)
	}
	return m
}

func (f fixture) search(t testing.TB, space, text string) []string {
	t.Helper()
	found, err := f.Search(context.Background(), memory.Search{Space: space, Text: text})
	if err != nil {
		t.Fatal(err)
	}
	out := []string{}
	for _, m := range found {
		out = append(out, m.Text)
	}
	return out
}

func TestWhatIsRememberedIsFoundAlsoAfterARestart(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.add(t, memory.New{Text: "The printer stands in the cellar"})
	f.add(t, memory.New{Text: "제주 사진은 날짜별 폴더에 둔다"})
	for _, m := range []*memory.Memories{f.Memories, memory.Open(f.store, nil)} {
		for q, want := range map[string]string{"Where are printers?": "The printer stands in the cellar", "제주 사진 어디 있지": "제주 사진은 날짜별 폴더에 둔다"} {
			found, err := m.Search(context.Background(), memory.Search{Text: q})
			if err != nil || len(found) == 0 || found[0].Text != want {
				t.Errorf("%s: got %+v, %v", q, found, err)
			}
		}
	}
}

func TestFactReplacesTheOneAboutTheSameAndKeepsIt(t *testing.T) {
	t.Parallel()
	f := setup(t)
	old := f.add(t, memory.New{Text: "The favourite editor is Vim", Key: "favourite editor"})
	f.add(t, memory.New{Text: "The favourite editor is Emacs", Key: "favourite editor", Space: "other"})
	now := f.add(t, memory.New{Text: "The favourite editor is Helix", Key: "favourite editor"})
	if got := f.search(t, "", "favourite editor"); !slices.Equal(got, []string{now.Text}) {
		t.Errorf("got %v, want what holds alone", got)
	}
	history, err := f.History(context.Background(), now.ID)
	if err != nil || len(history) != 1 || history[0].ID != old.ID || history[0].ReplacedAt == nil {
		t.Errorf("got %+v, %v", history, err)
	}
	if got := f.search(t, "other", "editor"); len(got) != 1 || !strings.Contains(got[0], "Emacs") {
		t.Errorf("the fact of another space was replaced: %v", got)
	}
}

func TestWhatIsSaidTwiceIsRememberedOnce(t *testing.T) {
	t.Parallel()
	f := setup(t)
	a := f.add(t, memory.New{Text: "Tea, never coffee"})
	b := f.add(t, memory.New{Text: " Tea, never coffee "})
	if a.ID != b.ID || b.Base <= a.Base {
		t.Errorf("got %+v and %+v", a, b)
	}
}

func TestEditedMemoryKeepsWhatItSaid(t *testing.T) {
	t.Parallel()
	f := setup(t)
	ctx := context.Background()
	m := f.add(t, memory.New{Text: "The meeting is on Monday", Source: memory.FromAgent})
	text, pin := "The meeting is on Tuesday", true
	got, err := f.Update(ctx, m.ID, memory.Patch{Text: &text, Pinned: &pin})
	if err != nil || got.Text != text || !got.Pinned || got.Source != memory.FromPerson {
		t.Fatalf("got %+v, %v", got, err)
	}
	if found := f.search(t, "", "meeting"); !slices.Equal(found, []string{text}) {
		t.Errorf("found %v", found)
	}
	history, err := f.History(ctx, m.ID)
	if err != nil || len(history) != 1 || history[0].Text != "The meeting is on Monday" {
		t.Errorf("history %+v, %v", history, err)
	}
	empty := " "
	if _, err := f.Update(ctx, m.ID, memory.Patch{Text: &empty}); sys.CodeOf(err) != sys.CodeInvalid {
		t.Errorf("an empty text: got %v", err)
	}
	if _, err := f.Update(ctx, history[0].ID, memory.Patch{Text: &text}); sys.CodeOf(err) != sys.CodeConflict {
		t.Errorf("what was replaced: got %v", err)
	}
}

// A search of the raw file shows whether a deletion is real.
func TestForgottenMemoryIsGoneFromIndexAndDatabase(t *testing.T) {
	t.Parallel()
	f := setup(t)
	ctx := context.Background()
	f.add(t, memory.New{Text: "The old code is QQXOLDQX", Key: "code"})
	m := f.add(t, memory.New{Text: "The code is QQXNEWQX", Key: "code", Quote: "it is QQXNEWQX now"})
	err := f.store.Write(ctx, func(tx *store.Tx) error { return f.Used(tx, "run", []string{m.ID}, time.Now()) })
	if err != nil {
		t.Fatal(err)
	}
	if n, err := f.Forget(ctx, m.ID, "never there"); n != 1 || err != nil {
		t.Fatalf("got %d, %v", n, err)
	}
	if found := f.search(t, "", "code"); len(found) != 0 {
		t.Errorf("found %v", found)
	}
	s, err := f.Stats(ctx)
	if err != nil || s.Memories+s.Replaced+s.Uses != 0 {
		t.Errorf("got %+v, %v", s, err)
	}
	for _, q := range []string{"SELECT count(*) FROM memories", "SELECT count(*) FROM memory_uses", "SELECT count(*) FROM memory_quotes"} {
		err := f.store.Read(ctx, func(tx *store.Tx) error {
			var n int
			if err := tx.QueryRow(q).Scan(&n); err != nil || n != 0 {
				t.Errorf("%s: got %d, %v", q, n, err)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestQuoteGoesWithItsTextAndItsConversation(t *testing.T) {
	t.Parallel()
	f := setup(t)
	ctx := context.Background()
	quote := func(id string) string {
		t.Helper()
		q, err := f.Quote(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		return q
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	s, err := f.store.CreateSession(ctx, store.Session{Folder: "/tmp"})
	must(err)
	a := f.add(t, memory.New{Text: "Invoices go into Bills", Quote: "the invoices go into Bills", Thread: s.ID})
	b := f.add(t, memory.New{Text: "Receipts go there too", Quote: strings.Repeat("가", 400), Thread: s.ID})
	if quote(a.ID) != "the invoices go into Bills" || utf8.RuneCountInString(quote(b.ID)) > 301 || quote("none") != "" {
		t.Errorf("got %q and %q", quote(a.ID), quote(b.ID))
	}
	text, pinned := "Invoices go into Paid", true
	if _, err := f.Update(ctx, b.ID, memory.Patch{Pinned: &pinned}); err != nil || quote(b.ID) == "" {
		t.Errorf("a pin: got %q, %v", quote(b.ID), err)
	}
	if _, err := f.Update(ctx, a.ID, memory.Patch{Text: &text}); err != nil || quote(a.ID) != "" {
		t.Errorf("another text: got %q, %v", quote(a.ID), err)
	}
	must(f.store.Write(ctx, func(tx *store.Tx) error {
		_, err := tx.Exec("DELETE FROM sessions WHERE id = ?", s.ID)
		return err
	}))
	if m, err := f.Get(ctx, b.ID); err != nil || quote(b.ID) != "" {
		t.Errorf("without its conversation: got %+v, %q, %v", m, quote(b.ID), err)
	}
}

func TestNothingOfOneSpaceIsFoundInAnother(t *testing.T) {
	t.Parallel()
	spaces := []string{"", "a", "b"}
	words := strings.Fields("tram harbour key printer cellar 여행 사진")
	rapid.Check(t, func(rt *rapid.T) {
		f := setup(t)
		ctx := context.Background()
		var ids []string
		of := map[string]string{}
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			space := rapid.SampledFrom(spaces).Draw(rt, "space")
			switch {
			case len(ids) > 0 && rapid.Bool().Draw(rt, "move"):
				id := rapid.SampledFrom(ids).Draw(rt, "id")
				if _, err := f.Update(ctx, id, memory.Patch{Space: &space}); err != nil {
					rt.Fatal(err)
				}
				of[id] = space
			default:
				m := f.add(t, memory.New{Space: space, Text: strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 1, 3).Draw(rt, "words"), " ") + fmt.Sprintf(" %d", len(ids)), Kind: memory.KindEpisode})
				ids, of[m.ID] = append(ids, m.ID), space
			}
		}
		for _, space := range spaces {
			found, err := f.Search(ctx, memory.Search{Space: space, Text: strings.Join(words, " "), K: 100})
			if err != nil {
				rt.Fatal(err)
			}
			want := 0
			for _, s := range of {
				if s == space {
					want++
				}
			}
			if len(found) != want {
				rt.Fatalf("space %q: found %d, want %d", space, len(found), want)
			}
			for _, m := range found {
				if of[m.ID] != space {
					rt.Fatalf("space %q shows a memory of %q", space, of[m.ID])
				}
			}
		}
	})
}

func TestImportIsAllOrNothing(t *testing.T) {
	t.Parallel()
	f := setup(t)
	ctx := context.Background()
	if _, err := f.Import(ctx, []memory.New{{ID: "1", Text: "one"}, {ID: "2", Text: " "}}); sys.CodeOf(err) != sys.CodeInvalid {
		t.Errorf("got %v", err)
	}
	if all, err := f.List(ctx, memory.Query{}); len(all) != 0 || err != nil {
		t.Errorf("got %v, %v", all, err)
	}
	n, err := f.Import(ctx, []memory.New{{ID: "1", Text: "one"}, {ID: "2", Text: "two"}})
	if n != 2 || err != nil {
		t.Fatalf("got %d, %v", n, err)
	}
	if n, err = f.Import(ctx, []memory.New{{ID: "2", Text: "two again"}, {ID: "3", Text: "three"}}); n != 1 || err != nil {
		t.Errorf("got %d, %v", n, err)
	}
	if got := f.search(t, "", "two"); !slices.Equal(got, []string{"two again"}) {
		t.Errorf("found %v", got)
	}
}

func TestTurnsOfAConversationKeepTheirOrderAlsoWhereTheirTimeIsTheSame(t *testing.T) {
	t.Parallel()
	f := setup(t)
	at := time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)
	var all []memory.New
	for i := range 12 {
		all = append(all, memory.New{ID: fmt.Sprintf("D1:%d", i), Text: fmt.Sprintf("filler number %d", i), Kind: memory.KindConversation, Thread: "s", SaidAt: at})
	}
	all[9].Text, all[10].Text = "Where is the passport?", "In the blue drawer."
	if _, err := f.Import(context.Background(), all); err != nil {
		t.Fatal(err)
	}
	if got := f.search(t, "", "passport"); len(got) < 2 || !slices.Contains(got[:3], "In the blue drawer.") {
		t.Errorf("got %v", got)
	}
}

func TestRecallGivesThePinnedAndWhatFitsAndNothingElse(t *testing.T) {
	t.Parallel()
	f := setup(t)
	ctx := context.Background()
	m := f.add(t, memory.New{Text: "Answer in short sentences"})
	pin := true
	if _, err := f.Update(ctx, m.ID, memory.Patch{Pinned: &pin}); err != nil {
		t.Fatal(err)
	}
	f.add(t, memory.New{Text: "The printer stands in the cellar"})
	f.add(t, memory.New{Text: "제주 사진은 날짜별 폴더에 둔다"})
	for text, want := range map[string]string{
		"Where is the printer?":     "Answer in short sentences|The printer stands in the cellar",
		"제주 사진은 어디에 두지?":            "Answer in short sentences|제주 사진은 날짜별 폴더에 둔다",
		"Write a poem about spring": "Answer in short sentences",
	} {
		all, err := f.Recall(ctx, "", text, 8, 4000)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, m := range all {
			got = append(got, m.Text)
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%s: got %v", text, got)
		}
	}
	if all, err := f.Recall(ctx, "", "printer", 8, 20); len(all) != 0 || err != nil {
		t.Errorf("a budget of 20 characters: got %v, %v", all, err)
	}
}

func TestIdleIndexIsDroppedAndBuiltAgain(t *testing.T) {
	t.Parallel()
	now := time.Now()
	f := setup(t)
	m := memory.Open(f.store, func() time.Time { return now })
	ctx := context.Background()
	if _, err := m.Remember(ctx, memory.New{Text: "printer"}); err != nil {
		t.Fatal(err)
	}
	loaded := func() int {
		s, err := m.Stats(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return s.Loaded
	}
	find := func() int {
		found, err := m.Search(ctx, memory.Search{Text: "printer"})
		if err != nil {
			t.Fatal(err)
		}
		return len(found)
	}
	if find() != 1 || loaded() != 1 {
		t.Fatal("the index was not built")
	}
	now = now.Add(11 * time.Minute)
	m.Rest()
	if loaded() != 0 || find() != 1 {
		t.Error("the index was not dropped, or not built again")
	}
}

func TestWhatIsWrongWithAMemoryIsSaid(t *testing.T) {
	t.Parallel()
	f := setup(t)
	for _, tc := range []struct {
		n    memory.New
		want sys.Code
	}{
		{memory.New{Text: "\n"}, sys.CodeInvalid},
		{memory.New{Text: "a\xff"}, sys.CodeInvalid},
		{memory.New{Text: strings.Repeat("가", memory.MaxText+1)}, sys.CodeTooLarge},
		{memory.New{Text: "a", Kind: "knowledge"}, sys.CodeInvalid},
		{memory.New{Text: "a", Kind: memory.KindEpisode, Key: "b"}, sys.CodeInvalid},
		{memory.New{Text: "a", Key: strings.Repeat("k", 121)}, sys.CodeInvalid},
	} {
		if _, err := f.Remember(context.Background(), tc.n); sys.CodeOf(err) != tc.want {
			t.Errorf("%+v: got %v, want %s", tc.n, err, tc.want)
		}
	}
	if _, err := f.Get(context.Background(), "none"); sys.CodeOf(err) != sys.CodeNotFound {
		t.Errorf("got %v", err)
	}
}

func TestManyRememberWhileOthersSearch(t *testing.T) {
	t.Parallel()
	f := setup(t)
	done := make(chan error, 4)
	for g := range 4 {
		go func() {
			var err error
			for i := range 30 {
				if g%2 == 0 {
					_, err = f.Remember(context.Background(), memory.New{Text: fmt.Sprintf("printer %d of %d", i, g)})
				} else {
					_, err = f.Search(context.Background(), memory.Search{Text: "printer"})
				}
				if err != nil {
					break
				}
			}
			done <- err
		}()
	}
	for range 4 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	found, err := f.SearchIDs(context.Background(), memory.Search{Text: "printer", K: 1000})
	if len(found) != 60 || err != nil {
		t.Errorf("found %d, %v; want all 60", len(found), err)
	}
}

func TestImportanceGrowsWithTheLogarithmOfItsUses(t *testing.T) {
	t.Parallel()
	f := setup(t)
	m := f.add(t, memory.New{Text: "The ferry leaves at nine", Importance: 2})
	for uses, want := range []float64{2, 3.386, 4.197, 4.773} {
		got, err := f.Get(t.Context(), m.ID)
		if err != nil || got.Uses != uses || math.Abs(got.Importance-want) > 0.001 {
			t.Errorf("after %d uses: got %d and %.3f, %v, want %.3f", uses, got.Uses, got.Importance, err, want)
		}
		if err := f.store.Write(t.Context(), func(tx *store.Tx) error {
			return f.Used(tx, fmt.Sprintf("run-%d", uses), []string{m.ID}, time.Now())
		}); err != nil {
			t.Fatal(err)
		}
	}
}
