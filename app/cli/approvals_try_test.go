package cli

import (
	"os"
	"path/filepath"
	"testing"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
)

const tryScript = `
[[scenario]]
match = "^tidy"
[[scenario.turn]]
[[scenario.turn.call]]
tool = "exec"
args = '{"command": "echo new > made.txt; rm old.txt; echo said"}'
[[scenario.turn]]
text = "Done."
`

func TestCommandIsTriedAndAppliedFromTheTerminal(t *testing.T) {
	t.Parallel()
	d := setup(t, kerneltest.Script(tryScript))
	old, made := filepath.Join(d.Folder, "old.txt"), filepath.Join(d.Folder, "made.txt")
	if err := os.WriteFile(old, []byte("old\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	is := func(path string) bool {
		_, err := os.Stat(path)
		return err == nil
	}
	d.own()
	ended := make(chan result, 1)
	go func() { ended <- d.do("run", "tidy") }()
	var ap kernel.Approval
	until(t, "it asks", func() bool {
		list := decode[[]kernel.Approval](t, d.do("approvals", "list", "--json").out)
		if len(list) == 1 {
			ap = list[0]
		}
		return ap.ID != ""
	})
	if !ap.Request.Try {
		contains(t, "why not", d.must(exitFailed, "approvals", "try", ap.ID).err, "cop")
		t.Skip("nothing can be tried here")
	}
	contains(t, "nothing tried", d.must(exitFailed, "approvals", "apply", ap.ID).err, "This was not tried.")
	contains(t, "the try", d.must(0, "approvals", "try", ap.ID).out, "said", "Exit code 0", "made.txt", "is made", "old.txt", "is deleted", "+new")
	if is(made) || !is(old) {
		t.Error("the try changed the folder")
	}
	contains(t, "discard", d.must(0, "approvals", "discard", ap.ID).err, "waits as before")
	d.must(exitFailed, "approvals", "apply", ap.ID)
	d.must(0, "approvals", "try", ap.ID)
	contains(t, "apply", d.must(0, "approvals", "apply", ap.ID).err, "Applied.")
	<-ended
	if !is(made) || is(old) {
		t.Error("what was tried was not applied")
	}
}
