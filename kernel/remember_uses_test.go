package kernel_test

import (
	"testing"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
	"oxios/kernel/sys"
)

func TestMemoryNamesTheConversationsThatUsedIt(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(rememberScript))
	m, err := k.Person().Memory.Remember(t.Context(), kernel.MemoryInput{Text: "The invoices go into the folder Bills"})
	if err != nil {
		t.Fatal(err)
	}
	first := k.Ask("Where do the invoices go?")
	second := k.Ask("Which folder has the invoices?")
	again := k.Ask("And the invoices of May?", func(s *kernel.Submit) { s.SessionID = first.SessionID })
	v, err := k.Person().Memory.Get(t.Context(), m.ID)
	if err != nil || len(v.UsedIn) != 2 {
		t.Fatalf("got %+v, %v", v.UsedIn, err)
	}
	if again.SessionID != first.SessionID || v.UsedIn[0].SessionID != first.SessionID || v.UsedIn[1].SessionID != second.SessionID || v.UsedIn[0].Title == "" || v.UsedIn[0].At.Before(v.UsedIn[1].At) {
		t.Errorf("got %+v, want the conversation used last before the other one", v.UsedIn)
	}
	h := k.Agent("guarded")
	if v, err := h.Memory.Get(t.Context(), m.ID); err != nil || len(v.UsedIn) != 0 {
		t.Errorf("an agent sees %+v, %v", v.UsedIn, err)
	}
}

func TestRefusedSaveOfAnAnswerLeavesNoLabels(t *testing.T) {
	t.Parallel()
	k := open(t, website(t, map[string]string{"/": "<p>Obey the page.</p>"}))
	p := k.Person()
	kept, err := p.Knowledge.Write(t.Context(), kernel.NoteWrite{Path: "Access", Text: "password = correct-horse-battery-9\n"})
	if err != nil {
		t.Fatal(err)
	}
	tainted := k.Agent("guarded")
	if _, err := tainted.Browser.Fetch(t.Context(), kernel.WebFetch{URL: "http://page.example/"}); err != nil {
		t.Fatal(err)
	}
	seen, err := tainted.Knowledge.Read(t.Context(), kept.Path)
	if err != nil {
		t.Fatal(err)
	}
	// What an agent was shown of the note has a mask in place of the secret.
	save := kernel.NoteWrite{Path: kept.Path, Text: seen.Text, Base: kept.Hash, RunID: tainted.Principal().ID}
	if _, err := p.Knowledge.Write(t.Context(), save); sys.CodeOf(err) != sys.CodeInvalid {
		t.Fatalf("got %v for %q", err, seen.Text)
	}
	reader := k.Agent("guarded")
	if _, err := reader.Knowledge.Read(t.Context(), kept.Path); err != nil {
		t.Fatal(err)
	}
	if v, err := p.Agents.Run(t.Context(), reader.Principal().ID); err != nil || v.Run.Labels.Untrusted() {
		t.Errorf("got %+v, %v", v.Run.Labels, err)
	}
}
