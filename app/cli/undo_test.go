package cli

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
)

const undoScript = `
[[scenario]]
match = "^write"
[[scenario.turn]]
[[scenario.turn.call]]
tool = "write"
args = '{"path": "a.txt", "content": "by the agent\n"}'
[[scenario.turn.call]]
tool = "write"
args = '{"path": "new.txt", "content": "new\n"}'
[[scenario.turn]]
text = "Written."
`

func TestRunIsUndoneAndRedoneFromTheTerminal(t *testing.T) {
	t.Parallel()
	d := setup(t, kerneltest.Script(undoScript))
	a, made := filepath.Join(d.Folder, "a.txt"), filepath.Join(d.Folder, "new.txt")
	put := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	has := func(path, want string) {
		t.Helper()
		if got, _ := os.ReadFile(path); string(got) != want {
			t.Errorf("%s: got %q, want %q", filepath.Base(path), got, want)
		}
	}
	put(a, "mine\n")
	run := decode[kernel.RunResult](t, d.must(0, "run", "--json", "write").out).RunID
	contains(t, "the dry run", d.must(0, "undo", run, "--dry-run").out, "a.txt", "goes back", "would be done", "+mine", "-by the agent", "new.txt", "is removed")
	has(a, "by the agent\n")
	put(made, "mine now\n")
	said := d.must(exitFailed, "undo", run).out
	contains(t, "the undo", said, "a.txt", "done", "new.txt", "conflict, stays", "It was changed after the run, by you or by another program.")
	has(a, "mine\n")
	has(made, "mine now\n")
	p := decode[kernel.UndoPlan](t, d.must(0, "redo", run, "--json").out)
	if len(p.Files) != 1 || p.Files[0].Path != "a.txt" || p.Files[0].Status != kernel.UndoDone {
		t.Errorf("got %+v", p)
	}
	has(a, "by the agent\n")
	contains(t, "a decided conflict", d.must(0, "undo", run, "--path", "new.txt", "--force", "new.txt").out, "is removed", "done")
	has(made, "")
	d.must(0, "redo", run)
	has(made, "mine now\n")
	contains(t, "nothing left", d.must(0, "redo", run).err, "There is nothing to redo.")
	contains(t, "a path that it did not touch", d.must(exitFailed, "undo", run, "--path", "b.txt").err, "did not change b.txt")
}

const undoTeamScript = `
[[scenario]]
match = "^begin"
[[scenario.turn]]
[[scenario.turn.call]]
tool = "write"
args = '{"path": "a.txt", "content": "by the run\n"}'
[[scenario.turn.call]]
tool = "agent"
args = '{"action": "fork", "name": "Writer", "goal": "child writes"}'
[[scenario.turn]]
[[scenario.turn.call]]
tool = "agent"
args = '{"action": "wait"}'
[[scenario.turn]]
text = "Done."
[[scenario]]
match = "^child writes"
[[scenario.turn]]
[[scenario.turn.call]]
tool = "write"
args = '{"path": "b.txt", "content": "by the fork\n"}'
[[scenario.turn]]
text = "Done."
`

func TestRunIsUndoneWithItsForksOrAlone(t *testing.T) {
	t.Parallel()
	d := setup(t, kerneltest.Script(undoTeamScript))
	there := func(want ...string) {
		t.Helper()
		var got []string
		for _, name := range []string{"a.txt", "b.txt"} {
			if _, err := os.Stat(filepath.Join(d.Folder, name)); err == nil {
				got = append(got, name)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("got the files %q, want %q", got, want)
		}
	}
	run := decode[kernel.RunResult](t, d.must(0, "run", "--json", "begin").out).RunID
	there("a.txt", "b.txt")
	contains(t, "the dry run", d.must(0, "undo", run, "--dry-run").out, "AGENT", "begin", "b.txt", "Writer")
	if said := d.must(0, "undo", run, "--dry-run", "--alone").out; strings.Contains(said, "b.txt") || strings.Contains(said, "AGENT") {
		t.Errorf("alone: got %q", said)
	}
	d.must(0, "undo", run, "--alone")
	there("b.txt")
	d.must(0, "redo", run, "--alone")
	d.must(0, "undo", run)
	there()
	d.must(0, "redo", run)
	there("a.txt", "b.txt")
}

const deleteScript = `
[[scenario]]
match = "^delete"
[[scenario.turn]]
[[scenario.turn.call]]
tool = "exec"
args = '{"command": "rm -r many"}'
[[scenario.turn]]
text = "Deleted."
`

// hearing calls a function once what is written holds a text.
type hearing struct {
	buffer
	text  string
	heard func()
}

func (h *hearing) Write(p []byte) (int, error) {
	n, err := h.buffer.Write(p)
	if strings.Contains(h.String(), h.text) {
		h.heard()
	}
	return n, err
}

func TestCtrlCStopsALargeUndoAndTheSameCommandGoesOn(t *testing.T) {
	t.Parallel()
	const files = 4500 // more than are made durable at once
	d := setup(t, kerneltest.Script(deleteScript))
	at := func(i int) string {
		return filepath.Join(d.Folder, "many", strconv.Itoa(i%3), strconv.Itoa(i))
	}
	for i := range files {
		if err := os.MkdirAll(filepath.Dir(at(i)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at(i), []byte(strconv.Itoa(i)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ran := decode[kernel.RunResult](t, d.with(typing{ctx: t.Context()}, "run", "--mode", "autonomous", "--json", "delete").out)
	if len(ran.Totals) != 1 || ran.Totals[0].Files != files {
		t.Fatalf("got %+v", ran.Totals)
	}
	run := ran.RunID
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r := d.with(typing{ctx: ctx, terminal: true, err: &hearing{text: "of 4,500 files…", heard: cancel}}, "undo", run)
	if r.code != exitStopped {
		t.Errorf("got code %d, want %d", r.code, exitStopped)
	}
	contains(t, "what is told", r.err, "Stopped: ", " of 4,500 files are done", "`oxios undo` with the same arguments does the rest")
	r = d.with(typing{ctx: t.Context()}, "undo", run)
	if r.code != 0 {
		t.Errorf("the rest ends with %d: %s", r.code, r.err)
	}
	contains(t, "the rest", r.out, " files back in ", ": done")
	for i := range files {
		if got, err := os.ReadFile(at(i)); err != nil || string(got) != strconv.Itoa(i) {
			t.Fatalf("%s: %q, %v", at(i), got, err)
		}
	}
}
