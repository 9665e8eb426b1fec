package kernel_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"oxios/kernel"
	"oxios/kernel/event"
	"oxios/kernel/sys"
)

// activate makes a space the active one; "" leaves none.
func activate(t *testing.T, p *kernel.Handle, id string) {
	t.Helper()
	s, err := p.Space.Activate(t.Context(), id)
	if err != nil || s.Active != (s.ID != "") {
		t.Fatalf("activate %q: got %+v, %v", id, s, err)
	}
}

// active are the names of the spaces that are the active one.
func active(t *testing.T, p *kernel.Handle) string {
	t.Helper()
	all, err := p.Space.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	names := ""
	for _, s := range all {
		if s.Active {
			names += s.Name
		}
	}
	return names
}

func TestConversationsBeginInTheActiveSpace(t *testing.T) {
	t.Parallel()
	k := open(t)
	p := k.Person()
	desk := space(t, k, kernel.SpaceInput{Name: "Desk"})
	garden := space(t, k, kernel.SpaceInput{Name: "Garden", Words: []string{"tomato"}, Paths: []string{"/srv/garden"}})
	ledger := space(t, k, kernel.SpaceInput{Name: "Ledger"})
	for range 3 {
		k.Ask("Sum the quarterly receipts of the accountant", func(m *kernel.Submit) { m.Space = &ledger.ID })
	}
	early := k.Ask("Hello there")
	begins := func(what, want, why, text string, change ...func(*kernel.Submit)) {
		t.Helper()
		if s := sessionNow(t, k, k.Ask(text, change...).SessionID); s.Space != want || s.SpaceWhy != why {
			t.Errorf("%s: got %q by %q, want %q by %q", what, s.Space, s.SpaceWhy, want, why)
		}
	}
	begins("before", ledger.ID, "topic", "Which quarterly receipts does the accountant lack?")

	activate(t, p, "desk")
	begins("nothing else is named", desk.ID, "active", "What can you do?")
	begins("a topic", desk.ID, "active", "Which receipts of the quarter does the accountant want?")
	begins("a path", garden.ID, "path", "Look at /srv/garden/plan.txt")
	begins("a tag", garden.ID, "word", "Remind me of it #garden")
	begins("a word", garden.ID, "word", "Is the tomato ripe?")
	begins("a space that is chosen", ledger.ID, "person", "What is next?", func(m *kernel.Submit) { m.Space = &ledger.ID })
	none := ""
	begins("the default one that is chosen", "", "person", "What else is next?", func(m *kernel.Submit) { m.Space = &none })
	again := k.Ask("And on", func(m *kernel.Submit) { m.SessionID = early.SessionID })
	if s := sessionNow(t, k, again.SessionID); s.Space != "" {
		t.Errorf("a conversation that was there: got %q, want it where it was", s.Space)
	}
	if d, err := p.Space.Detect(t.Context(), "What can you do?", ""); err != nil || d.Space != desk.ID || d.Why != "active" {
		t.Errorf("beforehand: got %+v, %v", d, err)
	}

	activate(t, p, ledger.ID)
	if got := active(t, p); got != "Ledger" {
		t.Errorf("got %q active, want the last one alone", got)
	}
	activate(t, p, "")
	begins("none", "", "", "What can you do now?")
	begins("a topic after that", ledger.ID, "topic", "Which quarterly receipts does the accountant miss?")
}

func TestTheActiveSpaceKeepsTheFolderThatWasChosen(t *testing.T) {
	t.Parallel()
	k := open(t)
	own := filepath.Join(k.Folder, "own")
	if err := os.Mkdir(own, 0o755); err != nil {
		t.Fatal(err)
	}
	desk := space(t, k, kernel.SpaceInput{Name: "Desk", Mode: "auto"})
	space(t, k, kernel.SpaceInput{Name: "Own", Folder: own})
	activate(t, k.Person(), desk.ID)
	for _, c := range []struct{ folder, space, in, mode string }{
		{"", desk.ID, filepath.Join(k.Home, "spaces", desk.ID, "workspace"), "autonomous"},
		{k.Folder, desk.ID, k.Folder, "guarded"}, // how far its agents go is said of its own folder
	} {
		s := sessionNow(t, k, k.Ask("What can you do?", func(m *kernel.Submit) { m.Folder = c.folder }).SessionID)
		if s.Space != c.space || s.Folder != c.in || s.Mode != c.mode {
			t.Errorf("folder %q: got %q in %q, %s, want %q in %q, %s", c.folder, s.Space, s.Folder, s.Mode, c.space, c.in, c.mode)
		}
	}
	if s := sessionNow(t, k, k.Ask("What can you do?", func(m *kernel.Submit) { m.Folder = own }).SessionID); s.SpaceWhy != "path" {
		t.Errorf("a folder that is another space's: got %q by %q, want that space", s.Space, s.SpaceWhy)
	}
}

func TestASpaceThatGoesIsTheActiveOneNoLonger(t *testing.T) {
	t.Parallel()
	k := open(t)
	p := k.Person()
	a, b := space(t, k, kernel.SpaceInput{Name: "Pond"}), space(t, k, kernel.SpaceInput{Name: "Lake"})
	next := whatHappens(t, p)
	now := func(id string) {
		t.Helper()
		e := next(nil, event.SpaceActivated)
		if c, _ := event.As[event.Change](e); c.Did != event.Activated || c.Space != id || len(c.IDs) != min(len(id), 1) || e.SessionID != "" {
			t.Errorf("got %+v, want %q active", c, id)
		}
	}
	activate(t, p, a.ID)
	now(a.ID)
	if _, err := p.Space.Archive(t.Context(), a.ID); err != nil {
		t.Fatal(err)
	}
	now("")
	if _, err := p.Space.Activate(t.Context(), a.ID); sys.CodeOf(err) != sys.CodeConflict || active(t, p) != "" {
		t.Errorf("an archived one: got %v, active %q", err, active(t, p))
	}
	if _, err := p.Space.Restore(t.Context(), a.ID); err != nil || active(t, p) != "" {
		t.Errorf("restored: got %v, active %q, want none", err, active(t, p))
	}
	activate(t, p, a.ID)
	now(a.ID)
	if _, err := p.Space.Merge(t.Context(), a.ID, b.ID); err != nil {
		t.Fatal(err)
	}
	now(b.ID)
	if got := active(t, p); got != "Lake" {
		t.Errorf("merged away: got %q active, want the other", got)
	}
	if _, err := p.Space.Unmerge(t.Context(), a.ID); err != nil {
		t.Fatal(err)
	}
	now(a.ID)
	if got := active(t, p); got != "Pond" {
		t.Errorf("unmerged: got %q active, want it again", got)
	}
	if err := p.Space.Remove(t.Context(), a.ID); err != nil {
		t.Fatal(err)
	}
	now("")
	if got := active(t, p); got != "" {
		t.Errorf("removed: got %q active", got)
	}
	if _, err := p.Space.Activate(t.Context(), a.ID); sys.CodeOf(err) != sys.CodeNotFound {
		t.Errorf("one that is gone: got %v", err)
	}
}

func TestTheActiveSpaceIsThePersonsToChooseAndStands(t *testing.T) {
	t.Parallel()
	k := open(t)
	in := space(t, k, kernel.SpaceInput{Name: "Desk"})
	for _, mode := range []string{"ask", "auto"} {
		if _, err := k.Agent(mode).Space.Activate(t.Context(), in.ID); sys.CodeOf(err) != sys.CodeForbidden {
			t.Errorf("an agent in mode %s: got %v, want it refused", mode, err)
		}
	}
	if got := active(t, k.Person()); got != "" {
		t.Errorf("got %q active, want none", got)
	}
	activate(t, k.Person(), in.ID)
	if got := chained(t, k, kernel.AuditQuery{Action: "ConfigChange", Resource: "space:" + in.ID}); len(got) == 0 || !strings.Contains(string(got[0].Metadata), `"syscall":"space.activate"`) {
		t.Errorf("got %+v, want it in the record", got)
	}
	k.Restart()
	if got := active(t, k.Person()); got != "Desk" {
		t.Errorf("got %q active after a restart, want the desk", got)
	}
	if s := sessionNow(t, k, k.Ask("What can you do?").SessionID); s.Space != in.ID {
		t.Errorf("got %q after a restart", s.Space)
	}
}
