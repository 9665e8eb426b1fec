package cli

import (
	"os"
	"path/filepath"
	"slices"
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
