package kernel_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
	"oxios/kernel/sys"
)

const readsAPage = `
[[scenario]]
match = "^read the news"
[[scenario.turn]]
[[scenario.turn.call]]
tool = "web_fetch"
args = '{"url": "http://news.example/best"}'
[[scenario.turn]]
text = "Read."

[[scenario]]
match = "^read all of it"
[[scenario.turn]]
[[scenario.turn.call]]
tool = "web_fetch"
args = '{"url": "http://news.example/long"}'
[[scenario.turn]]
text = "Read."

[[scenario]]
match = "^what does the note say"
[[scenario.turn]]
[[scenario.turn.call]]
tool = "knowledge"
args = '{"action": "read", "path": "Pages/Best of the day.md"}'
[[scenario.turn]]
text = "It says so."
`

// fetchStep is the step in which a run read a page.
func fetchStep(t *testing.T, k *kerneltest.Kernel, run string) string {
	t.Helper()
	v, err := k.Person().Agents.Run(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(v.Steps, func(s kernel.StepView) bool { return s.Name == "web_fetch" })
	if i < 0 {
		t.Fatalf("no page was read: %+v", v.Steps)
	}
	return v.Steps[i].ID
}

// readsTainted has another run read the note, which then has read what a stranger
// wrote.
func readsTainted(t *testing.T, k *kerneltest.Kernel) {
	t.Helper()
	v, err := k.Person().Agents.Run(t.Context(), k.Ask("what does the note say").RunID)
	if err != nil || !slices.ContainsFunc(v.Steps, func(s kernel.StepView) bool { return s.Name == "knowledge" && s.Labels.Untrusted() }) {
		t.Errorf("a run that read the note: got %+v, %v", v.Steps, err)
	}
}

func TestPageThatARunReadIsSavedWithWhereItIsFrom(t *testing.T) {
	t.Parallel()
	page := "<html><head><title>Best of the day</title></head><body><main><h1>Best of the day</h1><p>One, two and three are the best stories of the day.</p><p>SQLite ships WAL2.</p></main></body></html>"
	k := open(t, kerneltest.Script(readsAPage), website(t, map[string]string{"/best": page}))
	p := k.Person()
	first := k.Ask("read the news")
	saved, err := p.Knowledge.SavePage(t.Context(), kernel.PageSave{RunID: first.RunID, StepID: fetchStep(t, k, first.RunID)})
	if err != nil || saved.Path != "Pages/Best of the day.md" || saved.URL != "http://news.example/best" || len(saved.Notes) != 0 {
		t.Fatalf("got %+v, %v", saved, err)
	}
	n, err := p.Knowledge.Read(t.Context(), saved.Path)
	if err != nil || n.Frontmatter["source"] != "http://news.example/best" || n.Frontmatter["title"] != "Best of the day" || n.Frontmatter["date"] == nil {
		t.Fatalf("got %+v, %v", n.Frontmatter, err)
	}
	if n.Provenance == nil || n.Provenance.Run != first.RunID || n.Provenance.Session != first.SessionID || !slices.Equal(n.Provenance.Source, []string{"http://news.example/best"}) {
		t.Errorf("got %+v", n.Provenance)
	}
	for _, want := range []string{"# Best of the day\n", "SQLite ships WAL2.", "One, two and three"} {
		if strings.Count(n.Text, want) != 1 {
			t.Errorf("%q does not stand once in %q", want, n.Text)
		}
	}
	readsTainted(t, k)
	again, err := p.Knowledge.SavePage(t.Context(), kernel.PageSave{RunID: first.RunID, StepID: fetchStep(t, k, first.RunID)})
	if err != nil || again.Path != "Pages/Best of the day 2.md" {
		t.Errorf("a second one: got %+v, %v", again, err)
	}
	if _, err := p.Knowledge.Delete(t.Context(), saved.Path, saved.Hash); err != nil {
		t.Errorf("taken back: %v", err)
	}
	_, err = k.Agent("guarded").Knowledge.SavePage(t.Context(), kernel.PageSave{URL: "http://news.example/best"})
	wantCode(t, "an agent", err, sys.CodeForbidden)
}

func TestPageOfWhichARunReadAPieceIsSavedWhole(t *testing.T) {
	t.Parallel()
	var long strings.Builder
	for i := range 9000 {
		fmt.Fprintf(&long, "<p>Line %d of a long page.</p>", i)
	}
	pages := map[string]string{"/long": "<html><head><title>Long: a \"page\"</title></head><body><main>" + long.String() + "</main></body></html>"}
	k := open(t, kerneltest.Script(readsAPage), website(t, pages))
	p := k.Person()
	run := k.Ask("read all of it").RunID
	saved, err := p.Knowledge.SavePage(t.Context(), kernel.PageSave{RunID: run, StepID: fetchStep(t, k, run), Path: "mine"})
	if err != nil || saved.Path != "mine.md" || len(saved.Notes) != 1 {
		t.Fatalf("got %+v, %v", saved, err)
	}
	n, err := p.Knowledge.Read(t.Context(), "mine")
	if err != nil || n.Frontmatter["title"] != `Long: a "page"` || !strings.Contains(n.Text, "Line 8999 of") {
		t.Errorf("got %v, %d bytes, %v", n.Frontmatter, len(n.Text), err)
	}
	delete(pages, "/long")
	saved, err = p.Knowledge.SavePage(t.Context(), kernel.PageSave{RunID: run, StepID: fetchStep(t, k, run), Path: "piece"})
	if err != nil || len(saved.Notes) != 1 || !strings.Contains(saved.Notes[0].EN, "that piece is kept") {
		t.Fatalf("got %+v, %v", saved, err)
	}
	if n, err := p.Knowledge.Read(t.Context(), "piece"); err != nil || !strings.Contains(n.Text, "Line 1 of") || strings.Contains(n.Text, "Go on with from") {
		t.Errorf("got %d bytes, %v", len(n.Text), err)
	}
}

func TestPageThatTheJournalLetGoOfIsNotSaved(t *testing.T) {
	t.Parallel()
	page := "<title>Best of the day</title><main>" + strings.Repeat("<p>One, two and three are the best stories of the day.</p>", 9) + "</main>"
	k := open(t, kerneltest.Script(readsAPage), website(t, map[string]string{"/best": page}))
	p := k.Person()
	run := k.Ask("read the news").RunID
	step := fetchStep(t, k, run)
	if _, err := p.Infra.Free(t.Context(), "journal", time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	_, err := p.Knowledge.SavePage(t.Context(), kernel.PageSave{RunID: run, StepID: step})
	wantCode(t, "a step that was freed", err, sys.CodeNotFound, "does not hold")
	_, err = p.Knowledge.SavePage(t.Context(), kernel.PageSave{RunID: run, StepID: "another"})
	wantCode(t, "a step that is not there", err, sys.CodeNotFound)
}

func TestPageIsSavedWithoutARun(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(readsAPage), website(t, map[string]string{"/best": "<title>Best of the day</title><p>One, two and three are the best stories of the day.</p>"}))
	p := k.Person()
	saved, err := p.Knowledge.SavePage(t.Context(), kernel.PageSave{URL: "http://news.example/best"})
	if err != nil || saved.Path != "Pages/Best of the day.md" {
		t.Fatalf("got %+v, %v", saved, err)
	}
	if n, err := p.Knowledge.Read(t.Context(), saved.Path); err != nil || n.Provenance != nil || n.Frontmatter["source"] != "http://news.example/best" {
		t.Errorf("got %+v, %v", n, err)
	}
	readsTainted(t, k)
	_, err = p.Knowledge.SavePage(t.Context(), kernel.PageSave{URL: "http://news.example/gone"})
	if err == nil {
		t.Error("a page that is not there was saved")
	}
	if _, err := os.Stat(filepath.Join(k.Home, "knowledge", "Pages", "news.example.md")); err == nil {
		t.Error("a note was made of nothing")
	}
}
