package kernel_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
	"oxios/kernel/sys"
)

// familyScript plays a run that writes to a file, has a fork change it and make
// another, changes it again itself and leaves the fork's fork a file of its own.
const familyScript = `
[[scenario]]
match = "^begin"
[[scenario.turn]]
[[scenario.turn.call]]
tool = "write"
args = '{"path": "shared.txt", "content": "first by the run\n"}'
[[scenario.turn]]
[[scenario.turn.call]]
tool = "agent"
args = '{"action": "fork", "name": "Writer", "goal": "child writes", "profile": "operator"}'
[[scenario.turn]]
[[scenario.turn.call]]
tool = "agent"
args = '{"action": "wait"}'
[[scenario.turn]]
[[scenario.turn.call]]
tool = "write"
args = '{"path": "shared.txt", "content": "last by the run\n"}'
[[scenario.turn]]
text = "All is done."

[[scenario]]
match = "^child writes"
[[scenario.turn]]
[[scenario.turn.call]]
tool = "write"
args = '{"path": "shared.txt", "content": "by the fork\n"}'
[[scenario.turn.call]]
tool = "write"
args = '{"path": "made/fork.txt", "content": "by the fork\n"}'
[[scenario.turn]]
[[scenario.turn.call]]
tool = "agent"
args = '{"action": "fork", "name": "Helper", "goal": "grandchild writes"}'
[[scenario.turn]]
[[scenario.turn.call]]
tool = "agent"
args = '{"action": "wait"}'
[[scenario.turn]]
text = "The fork is done."

[[scenario]]
match = "^grandchild writes"
[[scenario.turn]]
[[scenario.turn.call]]
tool = "write"
args = '{"path": "made/deep.txt", "content": "by the fork of the fork\n"}'
[[scenario.turn]]
text = "Done too."
`

func TestUndoTakesAlongWhatTheForksOfARunDid(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(familyScript))
	write(t, filepath.Join(k.Folder, "shared.txt"), "mine\n")
	before := treeOf(t, k.Folder)
	r := k.Ask("begin", func(m *kernel.Submit) { m.Mode = "autonomous" })
	if r.State != "done" {
		t.Fatalf("got %s: %v", r.State, r.Error)
	}
	after := treeOf(t, k.Folder)
	all := processes(t, k, kernel.ProcessQuery{All: true})
	writer, helper := all["Writer"], all["Helper"]
	v, err := k.Person().Agents.Run(t.Context(), r.RunID)
	if err != nil || v.Undo == nil || v.Undo.Undo != 3 {
		t.Errorf("got %+v, %v, want three files to undo", v.Undo, err)
	}
	p := preview(t, k, kernel.UndoQuery{RunID: r.RunID})
	if got, want := statuses(p), "made removes ready\nmade/deep.txt removes ready\nmade/fork.txt removes ready\nshared.txt restores ready"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if !slices.Equal(p.Files[3].By, []string{r.RunID, writer.ID}) || !slices.Equal(p.Files[1].By, []string{helper.ID}) {
		t.Errorf("got the files by %v and %v", p.Files[3].By, p.Files[1].By)
	}
	var names []string
	for _, r := range p.Runs {
		names = append(names, r.Name)
	}
	if got := strings.Join(names, ", "); got != "begin, Writer, Helper" || p.Runs[1].Files != 3 || p.Runs[1].PID != writer.PID || p.Family != 3 {
		t.Errorf("got the agents %s: %+v", got, p.Runs)
	}
	if d := p.Files[3].Diff; !strings.Contains(d, "-last by the run\n+mine\n") {
		t.Errorf("got the difference %q", d)
	}
	goBack(t, k, kernel.UndoQuery{RunID: r.RunID})
	if got := treeOf(t, k.Folder); got != before {
		t.Errorf("undone: got\n%s\nwant\n%s", got, before)
	}
	// What only the fork wrote can be had back from the fork; what both wrote only with both.
	if got, want := statuses(preview(t, k, kernel.UndoQuery{RunID: writer.ID, Redo: true})), "made returns ready\nmade/deep.txt returns ready\nmade/fork.txt returns ready"; got != want {
		t.Errorf("to redo of the fork: got\n%s\nwant\n%s", got, want)
	}
	k.Restart()
	goBack(t, k, kernel.UndoQuery{RunID: r.RunID, Redo: true})
	if got := treeOf(t, k.Folder); got != after {
		t.Errorf("redone: got\n%s\nwant\n%s", got, after)
	}
	storeIsClean(t, k)
}

func TestARunIsUndoneAloneWhenAPersonWantsThat(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(familyScript))
	write(t, filepath.Join(k.Folder, "shared.txt"), "mine\n")
	before := treeOf(t, k.Folder)
	r := k.Ask("begin", func(m *kernel.Submit) { m.Mode = "autonomous" })
	writer := processes(t, k, kernel.ProcessQuery{All: true})["Writer"]
	after := treeOf(t, k.Folder)
	alone := func(run string, redo bool, want string) {
		t.Helper()
		p := preview(t, k, kernel.UndoQuery{RunID: run, Alone: true, Redo: redo})
		do := k.Person().Agents.Undo
		if redo {
			do = k.Person().Agents.Redo
		}
		_, err := do(t.Context(), kernel.UndoInput{RunID: run, Hash: p.Hash})
		wantCode(t, "what was shown of the run alone, for all of it", err, sys.CodeConflict)
		done, err := do(t.Context(), kernel.UndoInput{RunID: run, Alone: true, Hash: p.Hash})
		if got := statuses(done); err != nil || got != want {
			t.Errorf("got\n%s, %v\nwant\n%s", got, err, want)
		}
	}
	alone(r.RunID, false, "shared.txt restores done")
	if got := read(t, filepath.Join(k.Folder, "shared.txt")); got != "by the fork\n" {
		t.Errorf("got %q, want what the fork left", got)
	}
	alone(writer.ID, false, "made removes done\nmade/fork.txt removes done\nshared.txt restores done")
	if got, want := treeOf(t, k.Folder), "made/\nmade/deep.txt -rw-r--r-- by the fork of the fork\n\nshared.txt -rw-r--r-- first by the run\n\n"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	// All of it goes back from there, and the other way.
	goBack(t, k, kernel.UndoQuery{RunID: r.RunID})
	if got := treeOf(t, k.Folder); got != before {
		t.Errorf("got\n%s\nwant\n%s", got, before)
	}
	goBack(t, k, kernel.UndoQuery{RunID: r.RunID, Redo: true})
	alone(writer.ID, true, "shared.txt restores done") // its other file came with the redo of all
	alone(r.RunID, true, "shared.txt restores done")
	if got := treeOf(t, k.Folder); got != after {
		t.Errorf("got\n%s\nwant\n%s", got, after)
	}
}

func TestConflictOfAForkIsNotTouched(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(familyScript))
	r := k.Ask("begin", func(m *kernel.Submit) { m.Mode = "autonomous" })
	at := filepath.Join(k.Folder, "made", "deep.txt")
	write(t, at, "mine now\n")
	p := goBack(t, k, kernel.UndoQuery{RunID: r.RunID})
	if got, want := statuses(p), "made removes done\nmade/deep.txt removes conflict\nmade/fork.txt removes done\nshared.txt removes done"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if left, err := os.ReadFile(at); err != nil || string(left) != "mine now\n" {
		t.Errorf("got %q, %v", left, err)
	}
}
