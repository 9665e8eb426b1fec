package kernel_test

import (
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"oxios/kernel"
	"oxios/kernel/demo"
	"oxios/kernel/kerneltest"
	"oxios/kernel/sys"
)

// elsewhere are providers on other machines, as the kernel sees them: one, two
// and three, each with its model and its script. The default model is one's.
type elsewhere struct {
	*kerneltest.Kernel
	at map[string]*demo.Server
}

const noCredit = `
[[scenario]]
[[scenario.turn]]
status = 402
body = '{"error": {"message": "pay first"}}'
times = %d
[[scenario.turn]]
text = "Here I am again."
usage = [1000, 1000, 0, 0]
`

const answers = `
[[scenario]]
[[scenario.turn]]
text = "I answer."
usage = [1000, 1000, 0, 0]
`

// openElsewhere opens a kernel with these providers; fallbacks is the table of
// config.toml.
func openElsewhere(t *testing.T, fallbacks string, scripts ...string) elsewhere {
	t.Helper()
	e := elsewhere{at: map[string]*demo.Server{}}
	home, folder := filepath.Join(t.TempDir(), "home"), t.TempDir()
	config := fmt.Sprintf("folder = %q\nkeyring = false\nprovider = \"one\"\nmodel = \"model-one\"\n", folder)
	for i, script := range scripts {
		id := []string{"one", "two", "three"}[i]
		list, err := demo.Parse([]byte(script))
		if err != nil {
			t.Fatal(err)
		}
		e.at[id] = demo.New(list...)
		e.at[id].Models = []string{"model-" + id, "small-" + id}
		server := httptest.NewServer(e.at[id])
		t.Cleanup(server.Close)
		config += fmt.Sprintf("[[providers]]\nid = %q\nname = %q\nbase_url = \"http://%s.test/v1\"\nproxy_url = %q\n", id, strings.ToUpper(id), id, server.URL)
	}
	write(t, filepath.Join(home, "config.toml"), config+fallbacks)
	write(t, filepath.Join(home, "models.toml"), `
[[model]]
id = "model-one"
input = 1.0
output = 1.0
[[model]]
id = "model-two"
input = 10.0
output = 10.0
`)
	if err := os.Chmod(home, 0o700); err != nil {
		t.Fatal(err)
	}
	e.Kernel = kerneltest.Open(t, kerneltest.At(home, folder), kerneltest.With(func(o *kernel.Options) { o.Env = func(string) string { return "" } }))
	return e
}

// answerOf is the message that a run left.
func (e elsewhere) answerOf(t *testing.T, r kernel.RunResult) kernel.Message {
	t.Helper()
	v, err := e.Person().State.Session(t.Context(), r.SessionID)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range v.Messages {
		if m.RunID == r.RunID && m.Role == "assistant" {
			return m
		}
	}
	t.Fatalf("run %s left no answer: %+v", r.RunID, r)
	return kernel.Message{}
}

// stands are what the person was told of models that took another one's place.
func (e elsewhere) stands(t *testing.T, run string) (told []string) {
	t.Helper()
	v, err := e.Person().Agents.Run(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range v.Steps {
		if s.Stand != nil && s.Stand.Why.EN != "" {
			told = append(told, s.Stand.Why.EN)
		}
	}
	return told
}

func TestAFallbackAnswersForAModelThatCannot(t *testing.T) {
	t.Parallel()
	e := openElsewhere(t, "[fallbacks]\n\"one/model-one\" = [\"two/model-two\", \"three/model-three\"]\n", fmt.Sprintf(noCredit, 1), answers, answers)
	events, err := e.Person().Infra.Events(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	r := e.Ask("Hello")
	if r.State != "done" || r.Response != "I answer." {
		t.Fatalf("got %+v, want the answer of the second", r)
	}
	if a, b, c := e.at["one"].Served(), e.at["two"].Served(), e.at["three"].Served(); a != 1 || b != 1 || c != 0 {
		t.Errorf("got %d, %d and %d requests, want one to the first, one to the second and none to the third", a, b, c)
	}
	if m := e.answerOf(t, r); m.Provider != "two" || m.Model != "model-two" {
		t.Errorf("the answer names %s of %s, want the model that gave it", m.Model, m.Provider)
	}
	if r.Cost.Calls != 1 || r.Cost.USD < 0.0199 || r.Cost.USD > 0.0201 {
		t.Errorf("got %+v, want one call at the price of the one that answered: $0.02", r.Cost)
	}
	told := e.stands(t, r.RunID)
	if len(told) != 1 || !strings.Contains(told[0], "model-one does not answer, so model-two of TWO answers. ONE has no credit left") {
		t.Errorf("the person was told %q", told)
	}
	said := 0
	for end := false; !end; {
		select {
		case ev := <-events:
			if ev.Kind == "run.model" {
				said++
			}
			end = ev.Kind == "run.ended"
		case <-time.After(10 * time.Second):
			t.Fatal("the run has no end")
		}
	}
	if said != 1 {
		t.Errorf("it was said %d times while it happened, want once", said)
	}
	// The next run asks the first one again.
	if r := e.Ask("And now?", func(m *kernel.Submit) { m.SessionID = r.SessionID }); r.Response != "Here I am again." || len(e.stands(t, r.RunID)) != 0 {
		t.Errorf("got %q, want the first model again", r.Response)
	}
}

func TestFallbacksAreAskedInTheirOrder(t *testing.T) {
	t.Parallel()
	e := openElsewhere(t, "[fallbacks]\n\"one/model-one\" = [\"three/model-three\", \"two/nobody\", \"one/small-one\"]\n", `
[[scenario]]
match = "."
[[scenario.turn]]
status = 429
retry_after = "3600"
times = 1
[[scenario.turn]]
text = "The small one answers."
`, answers, fmt.Sprintf(noCredit, 9))
	r := e.Ask("Hello")
	if r.Response != "The small one answers." {
		t.Fatalf("got %+v", r)
	}
	if m := e.answerOf(t, r); m.Provider != "one" || m.Model != "small-one" {
		t.Errorf("the answer names %s of %s", m.Model, m.Provider)
	}
	if a, b := e.at["two"].Served(), e.at["three"].Served(); a != 1 || b != 1 {
		t.Errorf("got %d and %d requests, want each of the two asked once before", a, b)
	}
}

func TestNothingGoesToAnotherProviderThatNobodyNamed(t *testing.T) {
	t.Parallel()
	e := openElsewhere(t, "[fallbacks]\n\"one/small-one\" = [\"two/model-two\"]\n", fmt.Sprintf(noCredit, 9), answers)
	r := e.Ask("Hello")
	if r.State != "failed" || r.Error == nil || r.Error.Code != sys.CodeQuota {
		t.Errorf("got %+v, want the failure of the first", r)
	}
	if n := e.at["two"].Served(); n != 0 {
		t.Errorf("%d requests went to a provider that was named for another model", n)
	}
}

func TestAnAnswerThatHasBegunIsNotGivenToAnotherModel(t *testing.T) {
	t.Parallel()
	e := openElsewhere(t, "[fallbacks]\n\"one/model-one\" = [\"two/model-two\"]\n", `
[[scenario]]
[[scenario.turn]]
text = "I begin and then"
cut_chunks = 3
`, answers)
	r := e.Ask("Hello")
	if r.State != "failed" || r.Error == nil || r.Error.Code != sys.CodeStreamCut || e.at["two"].Served() != 0 {
		t.Errorf("got %+v and %d requests to the second, want an answer that was cut", r, e.at["two"].Served())
	}
}

func TestARunGoesOnWithItsFallbackAfterARestart(t *testing.T) {
	t.Parallel()
	e := openElsewhere(t, "[fallbacks]\n\"one/model-one\" = [\"two/model-two\"]\n", fmt.Sprintf(noCredit, 1), `
[[scenario]]
[[scenario.turn]]
[[scenario.turn.call]]
tool = "write"
args = '{"path": "note.txt", "content": "two was here"}'
[[scenario.turn]]
text = "It is written."
`)
	out := e.Say("Write a note", func(m *kernel.Submit) { m.Mode = "ask" })
	waits := e.Approval(out.RunID)
	e.Restart()
	if _, err := e.Person().Security.Approve(t.Context(), waits.ID, kernel.ApproveInput{Hash: waits.Request.Hash}); err != nil {
		t.Fatal(err)
	}
	r := e.Wait(out.RunID)
	if r.State != "done" || r.Response != "It is written." {
		t.Fatalf("got %+v", r)
	}
	if n := e.at["one"].Served(); n != 1 {
		t.Errorf("the first was asked %d times, want once: the run goes on with the second", n)
	}
	if told := e.stands(t, out.RunID); len(told) != 1 {
		t.Errorf("the person was told %q, want it once", told)
	}
	if m := e.answerOf(t, r); m.Model != "model-two" || m.Provider != "two" {
		t.Errorf("the answer names %s of %s", m.Model, m.Provider)
	}
}

func TestARunLeavesAFallbackThatThePersonTakesAway(t *testing.T) {
	t.Parallel()
	e := openElsewhere(t, "", fmt.Sprintf(noCredit, 1), `
[[scenario]]
[[scenario.turn]]
[[scenario.turn.call]]
tool = "write"
args = '{"path": "note.txt", "content": "two was here"}'
[[scenario.turn]]
text = "It is written."
`)
	infra := e.Person().Infra
	if _, err := infra.SetFallbacks(t.Context(), "one", "model-one", []string{"two/model-two"}); err != nil {
		t.Fatal(err)
	}
	out := e.Say("Write a note", func(m *kernel.Submit) { m.Mode = "ask" })
	e.Approval(out.RunID)
	if _, err := infra.SetFallbacks(t.Context(), "one", "model-one", nil); err != nil {
		t.Fatal(err)
	}
	pass(t, e.Kernel, out.RunID)
	r := e.Wait(out.RunID)
	if n := e.at["two"].Served(); n != 1 || r.State != "done" {
		t.Fatalf("got %+v and %d requests to the second, want none after it was taken away", r, n)
	}
	if m := e.answerOf(t, r); m.Provider != "one" || m.Model != "model-one" {
		t.Errorf("the answer names %s of %s", m.Model, m.Provider)
	}
}

func TestALimitOfMoneyRefusesAFallbackOfUnknownPrice(t *testing.T) {
	t.Parallel()
	e := openElsewhere(t, "[fallbacks]\n\"one/model-one\" = [\"three/model-three\", \"two/model-two\"]\n", fmt.Sprintf(noCredit, 9), answers, answers)
	most := 1.0
	r := e.Ask("Hello", func(m *kernel.Submit) { m.MaxUSD = &most })
	if r.State != "done" || e.at["three"].Served() != 0 || e.at["two"].Served() != 1 {
		t.Errorf("got %+v, want the one whose price is known", r)
	}
}

func TestWhenNobodyAnswersThePersonReadsOfTheFirstAndOfTheLast(t *testing.T) {
	t.Parallel()
	e := openElsewhere(t, "[fallbacks]\n\"one/model-one\" = [\"two/model-two\"]\n", fmt.Sprintf(noCredit, 9), fmt.Sprintf(noCredit, 9))
	r := e.Ask("Hello")
	if r.State != "failed" || r.Error == nil || r.Error.Code != sys.CodeQuota ||
		!strings.Contains(r.Error.Message, "ONE has no credit") || !strings.Contains(r.Error.Message, "TWO has no credit") || r.Error.MessageKO == "" {
		t.Errorf("got %+v", r.Error)
	}
}

func TestAServerThatStoppedIsReplacedByItsFallback(t *testing.T) {
	t.Parallel()
	e := openElsewhere(t, "[fallbacks]\n\"gone/model\" = [\"two/model-two\"]\n", answers, answers)
	r := e.Ask("Hello", func(m *kernel.Submit) { m.Provider, m.Model = "gone", "model" })
	if r.State != "done" || e.at["two"].Served() != 1 || len(e.stands(t, r.RunID)) != 1 {
		t.Errorf("got %+v, want an answer of the second", r)
	}
}

func TestThePersonSaysWhichModelsStandIn(t *testing.T) {
	t.Parallel()
	e := openElsewhere(t, "[fallbacks]\n\"one/small-one\" = [\"one/model-one\"]\n", fmt.Sprintf(noCredit, 1), answers)
	infra := e.Person().Infra
	list, err := infra.SetFallbacks(t.Context(), "one", "model-one", []string{"two/model-two", "one/small-one"})
	if err != nil || len(list) != 2 || list[0].Source != "config" || list[1].Source != "window" {
		t.Fatalf("got %+v, %v", list, err)
	}
	if then := list[1].Then; len(then) != 2 || !then[0].Crosses || then[1].Crosses || then[0].ProviderName != "TWO" {
		t.Errorf("got %+v, want the first marked as another provider", then)
	}
	e.Restart()
	if r := e.Ask("Hello"); r.Response != "I answer." {
		t.Errorf("got %+v", r)
	}
	infra = e.Person().Infra
	for _, bad := range []struct {
		of   string
		then []string
		code sys.Code
	}{
		{"small-one", []string{"two/model-two"}, sys.CodeConflict}, // config.toml says it
		{"model-one", []string{"two"}, sys.CodeInvalid},
		{"model-one", []string{"one/model-one"}, sys.CodeInvalid},
		{"model-one", []string{"two/a", "two/a"}, sys.CodeInvalid},
		{"model-one", []string{"nobody/model"}, sys.CodeNotFound},
	} {
		if _, err := infra.SetFallbacks(t.Context(), "one", bad.of, bad.then); sys.CodeOf(err) != bad.code {
			t.Errorf("%v for %s: got %v, want %s", bad.then, bad.of, err, bad.code)
		}
	}
	if list, err := infra.SetFallbacks(t.Context(), "one", "model-one", nil); err != nil || len(list) != 1 {
		t.Errorf("got %+v, %v, want the list of config.toml alone", list, err)
	}
	agent := e.Agent("autonomous")
	if _, err := agent.Infra.SetFallbacks(t.Context(), "one", "model-one", []string{"two/model-two"}); sys.CodeOf(err) != sys.CodeForbidden {
		t.Errorf("an agent: got %v, want forbidden", err)
	}
}

func TestAMessageWaitsForTheNetworkWhenNoFallbackIsThereEither(t *testing.T) {
	t.Parallel()
	f := openFar(t, "[fallbacks]\n\"far/"+kerneltest.Model+"\" = [\"far/other\"]\n")
	out := f.Say("Show me the folder")
	f.waiting(t, 1)
	f.reach(t)
	if _, err := f.Person().Infra.Reconnect(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r := f.Wait(out.RunID); r.State != "done" || len(elsewhere{Kernel: f.Kernel}.stands(t, out.RunID)) != 0 {
		t.Errorf("got %+v, want the answer of the model that was chosen", r)
	}
}
