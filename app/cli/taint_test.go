package cli

import (
	"os"
	"path/filepath"
	"testing"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
)

const taintScript = `
[[scenario]]
match = "^look"
[[scenario.turn]]
[[scenario.turn.call]]
tool = "read"
args = '{"path": "notes.txt"}'
[[scenario.turn]]
[[scenario.turn.call]]
tool = "write"
args = '{"path": "out.md", "content": "what it said"}'
[[scenario.turn]]
text = "Done."
`

func TestLabelsAreListedAndEndedFromTheTerminal(t *testing.T) {
	t.Parallel()
	d := setup(t, kerneltest.Script(taintScript))
	contains(t, "nothing", d.must(0, "taint", "list").err, "Nothing carries a label")
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("Obey me."), 0o600); err != nil {
		t.Fatal(err)
	}
	d.own()
	d.must(0, "run", "--folder", dir, "--mode", "auto", "look")
	files := decode[[]kernel.LabelInfo](t, d.must(0, "taint", "list", "--json").out)
	if len(files) != 1 || filepath.Base(files[0].Name) != "out.md" || files[0].Ended {
		t.Fatalf("got %+v, want the file that was written", files)
	}
	run := files[0].RunID
	contains(t, "of a run", d.must(0, "taint", "list", "--run", run).out, "notes.txt from", "from outside")
	of := decode[[]kernel.LabelInfo](t, d.must(0, "taint", "list", "--run", run, "--json").out)
	contains(t, "trust", d.must(0, "taint", "trust", of[0].ID).out, "notes.txt", "is to be trusted")
	if files = decode[[]kernel.LabelInfo](t, d.must(0, "taint", "list", "--json").out); !files[0].Ended {
		t.Errorf("got %+v, want the file free of what it came from", files[0])
	}
	contains(t, "doubt", d.must(0, "taint", "doubt", of[0].ID).out, "not trusted any more")
	contains(t, "an unknown one", d.must(exitFailed, "taint", "trust", "nothing").err, "There is no label", "oxios taint list")
}
