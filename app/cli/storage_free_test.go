package cli

import (
	"os"
	"path/filepath"
	"testing"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
)

func TestUndoAndJournalAreFreedFromTheTerminal(t *testing.T) {
	t.Parallel()
	d := setup(t, kerneltest.Script(undoScript))
	run := decode[kernel.RunResult](t, d.must(0, "run", "--json", "write").out).RunID
	contains(t, "the parts", d.must(0, "storage").out, "KEPT", "30 days", "for ever", "free undo", "free journal")
	contains(t, "the dry run", d.must(0, "storage", "free", "undo", "--dry-run").err, "1 runs with 2 files can no longer be undone")
	contains(t, "nobody to ask", d.must(exitFailed, "storage", "free", "undo").err, "Nobody can be asked here")
	contains(t, "nothing was freed", d.must(0, "undo", run, "--dry-run").out, "a.txt", "would be done")
	contains(t, "another part", d.must(exitUsage, "storage", "free", "keys").err, "What can be freed: undo, journal.")
	contains(t, "the freeing", d.must(0, "storage", "free", "undo", "--yes").out, "freed. The home now takes")
	contains(t, "it is gone", d.must(0, "undo", run, "--dry-run").err, "There is nothing to undo.")
	if raw, err := os.ReadFile(filepath.Join(d.Folder, "a.txt")); err != nil || string(raw) != "by the agent\n" {
		t.Errorf("got %q, %v, want the file to stay", raw, err)
	}
	contains(t, "of older runs", d.must(0, "storage", "free", "journal", "--before", "1d", "--yes").err, "There is nothing to free.")
	done := decode[kernel.Freed](t, d.must(0, "storage", "free", "journal", "--yes", "--json").out)
	if done.Runs != 1 || done.Part != kernel.PartJournal {
		t.Errorf("got %+v", done)
	}
	contains(t, "a replay", d.must(exitFailed, "replay", run).err, "was freed on")
}
