package kernel_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
	"oxios/kernel/sys"
	"oxios/kernel/undo"
)

// freeScript plays runs that read much, write a file, or are stopped while they ask.
const freeScript = `
[[scenario]]
match = "^read"
[[scenario.turn]]
reasoning = "I think about it."
[[scenario.turn.call]]
tool = "read"
args = '{"path": "long.txt"}'
[[scenario.turn]]
[[scenario.turn.call]]
tool = "write"
args = '{"path": "made.txt", "content": "made by a run\\n"}'
[[scenario.turn]]
text = "I have read it."

[[scenario]]
match = "^ask"
[[scenario.turn]]
[[scenario.turn.call]]
tool = "read"
args = '{"path": "long.txt"}'
[[scenario.turn]]
[[scenario.turn.call]]
tool = "exec"
args = '{"command": "echo asks", "network": true}'
[[scenario.turn]]
text = "I have asked."
`

func longFile(t *testing.T, k *kerneltest.Kernel) {
	t.Helper()
	write(t, filepath.Join(k.Folder, "long.txt"), strings.Repeat("a line of which much is kept\n", 400))
}

// outputOf is what a tool of a run gave, as its steps show it.
func outputOf(t *testing.T, k *kerneltest.Kernel, run, tool string) string {
	t.Helper()
	v, err := k.Person().Agents.Run(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range v.Steps {
		if s.Kind == "tool" && s.Name == tool {
			return s.Output
		}
	}
	t.Fatalf("run %s has no step of %s", run, tool)
	return ""
}

func freeNow(t *testing.T, k *kerneltest.Kernel, part string) (kernel.FreeCut, kernel.Freed) {
	t.Helper()
	cut, err := k.Person().Infra.FreeCut(t.Context(), part, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	done, err := k.Person().Infra.Free(t.Context(), part, cut.Before)
	if err != nil {
		t.Fatal(err)
	}
	return cut, done
}

func TestAFreedJournalCannotBeReplayedAndSaysSince(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(freeScript))
	longFile(t, k)
	r := k.Ask("read it", func(m *kernel.Submit) { m.Mode = "autonomous" })
	if _, err := k.Person().Agents.Replay(t.Context(), kernel.ReplayQuery{RunID: r.RunID}); err != nil {
		t.Fatalf("got %v, want a replay before anything is freed", err)
	}
	before, err := k.Person().Infra.FreeCut(t.Context(), "journal", time.Time{})
	if err != nil || before.Runs != 1 || before.Steps < 1 || before.Bytes < 10_000 || before.Since == nil {
		t.Fatalf("got %+v, %v, want one run with its long result", before, err)
	}
	if got := outputOf(t, k, r.RunID, "read"); !strings.Contains(got, "a line of which much is kept") {
		t.Errorf("the preview freed something: %q", got)
	}
	_, done := freeNow(t, k, "journal")
	if done.Runs != 1 || partNamed(done.Storage, kernel.PartJournal).Bytes == 0 {
		t.Errorf("got %+v", done)
	}
	if got := outputOf(t, k, r.RunID, "read"); strings.Contains(got, "a line") || !strings.Contains(got, "what this step gave was freed on") {
		t.Errorf("got %q, want to be told that it was freed", got)
	}
	_, err = k.Person().Agents.Replay(t.Context(), kernel.ReplayQuery{RunID: r.RunID})
	wantCode(t, "a replay of what was freed", err, sys.CodeNotFound)
	if err == nil || !strings.Contains(err.Error(), "was freed on "+time.Now().Format("2006-")) {
		t.Errorf("got %v, want to be told when it was freed", err)
	}
	again, _ := freeNow(t, k, "journal")
	if again.Runs != 0 || again.Bytes != 0 {
		t.Errorf("got %+v, want nothing to free once more", again)
	}
	if v := verified(t, k); !v.OK {
		t.Errorf("the audit chain: %+v", v)
	}
	// What the run changed can still be undone, and its conversation goes on.
	goBack(t, k, kernel.UndoQuery{RunID: r.RunID})
	next := k.Ask("read it again", func(m *kernel.Submit) { m.Mode = "autonomous"; m.SessionID = r.SessionID })
	if next.State != "done" {
		t.Errorf("got %s: %v", next.State, next.Error)
	}
	view, err := k.Person().State.Session(t.Context(), r.SessionID)
	said := 0
	for _, m := range view.Messages {
		if m.Content == "I have read it." {
			said++
		}
	}
	if err != nil || said != 2 {
		t.Errorf("got %d answers, %v, want what was said to stay", said, err)
	}
}

func TestWhatIsStillNeededIsNotFreed(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(freeScript))
	longFile(t, k)
	waiting := k.Say("ask me", func(m *kernel.Submit) { m.Mode = "autonomous" })
	k.Approval(waiting.RunID)
	h := k.Agent("guarded")
	write(t, filepath.Join(k.Folder, "work.txt"), "before the work")
	put(t, h, "work.txt", "by a run at work")
	for _, part := range []string{"journal", "undo"} {
		if cut, done := freeNow(t, k, part); cut.Runs != 0 || done.Runs != 0 {
			t.Errorf("%s of runs at work: got %+v", part, cut)
		}
	}
	if got := outputOf(t, k, waiting.RunID, "read"); !strings.Contains(got, "a line of which much is kept") {
		t.Errorf("the run that waits reads %q", got)
	}
	objects := undo.At(filepath.Join(k.Home, "undo"))
	if has, err := objects.Has(undo.ID([]byte("before the work"))); err != nil || !has {
		t.Errorf("what a run at work replaced is gone: %v", err)
	}
	// A run that was stopped can be gone on with, as long as nothing follows it.
	if _, err := k.Person().Agents.Kill(t.Context(), waiting.RunID); err != nil {
		t.Fatal(err)
	}
	if cut, _ := freeNow(t, k, "journal"); cut.Runs != 0 {
		t.Errorf("of a run that can be gone on with: got %+v", cut)
	}
	k.Ask("read it", func(m *kernel.Submit) { m.Mode = "autonomous"; m.SessionID = waiting.SessionID })
	if cut, _ := freeNow(t, k, "journal"); cut.Runs != 2 {
		t.Errorf("once something follows it: got %+v, want both runs", cut)
	}
	// Ended, it can be undone until that is freed; the file itself stays.
	id := ended(t, k, h)
	goBack(t, k, kernel.UndoQuery{RunID: id})
	goBack(t, k, kernel.UndoQuery{RunID: id, Redo: true})
	cut, done := freeNow(t, k, "undo")
	if cut.Runs < 2 || cut.Files < 2 || cut.Bytes == 0 || done.Freed == 0 {
		t.Errorf("got %+v, freed %d", cut, done.Freed)
	}
	if has, err := objects.Has(undo.ID([]byte("before the work"))); err != nil || has {
		t.Errorf("what was freed is there still: %v", err)
	}
	if p := preview(t, k, kernel.UndoQuery{RunID: id}); len(p.Files) != 0 {
		t.Errorf("got %s to undo", statuses(p))
	}
	if raw, err := os.ReadFile(filepath.Join(k.Folder, "work.txt")); err != nil || string(raw) != "by a run at work" {
		t.Errorf("got %q, %v", raw, err)
	}
	storeIsClean(t, k)
	_, err := k.Person().Infra.Free(t.Context(), "conversations", time.Time{})
	wantCode(t, "of another part", err, sys.CodeInvalid)
	_, err = h.Infra.Free(t.Context(), "undo", time.Time{})
	wantCode(t, "by an agent", err, sys.CodeForbidden)
}

func TestAForkIsFreedWithItsFamilyAlone(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(familyScript))
	r := k.Ask("begin", func(m *kernel.Submit) { m.Mode = "autonomous" })
	writer := processes(t, k, kernel.ProcessQuery{All: true})["Writer"]
	v, err := k.Person().Agents.Run(t.Context(), writer.ID)
	if err != nil {
		t.Fatal(err)
	}
	// The fork had ended then, the run that forked it had not.
	between := v.Run.EndedAt.Add(time.Millisecond)
	for _, part := range []string{"undo", "journal"} {
		if cut, err := k.Person().Infra.FreeCut(t.Context(), part, between); err != nil || cut.Runs != 0 {
			t.Errorf("%s: got %+v, %v, want it to be kept with its family", part, cut, err)
		}
	}
	if cut, err := k.Person().Infra.FreeCut(t.Context(), "undo", time.Time{}); err != nil || cut.Runs != 3 || cut.Files != 4 {
		t.Errorf("got %+v, %v, want all of %s", cut, err, r.RunID)
	}
}

func TestJournalsGoByThemselvesAfterTheirDays(t *testing.T) {
	t.Parallel()
	home, folder := filepath.Join(t.TempDir(), "home"), t.TempDir()
	k := open(t, kerneltest.At(home, folder), kerneltest.Script(freeScript))
	longFile(t, k)
	r := k.Ask("read it", func(m *kernel.Submit) { m.Mode = "autonomous" })
	if _, err := k.Person().Infra.SetConfig(t.Context(), "journal_days", "30"); err != nil {
		t.Fatal(err)
	}
	s, err := k.Person().Infra.Storage(t.Context())
	if p := partNamed(s, kernel.PartJournal); err != nil || p.Keeps != "journal_days" || p.Days != 30 || p.Bytes == 0 {
		t.Errorf("got %+v, %v", p, err)
	}
	k.Stop()
	later := open(t, kerneltest.At(home, folder), kerneltest.With(func(o *kernel.Options) { o.Clock = func() time.Time { return time.Now().AddDate(0, 0, 31) } }))
	later.Until("the journal goes", func() bool { return strings.Contains(outputOf(t, later, r.RunID, "read"), "was freed on") })
}
