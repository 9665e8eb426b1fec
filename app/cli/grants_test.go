package cli

import (
	"testing"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
)

const foldersScript = `
[[scenario]]
match = "^make folders"
[[scenario.turn]]
[[scenario.turn.call]]
tool = "exec"
args = '{"command": "mkdir one"}'
[[scenario.turn]]
[[scenario.turn.call]]
tool = "exec"
args = '{"command": "mkdir two"}'
[[scenario.turn]]
[[scenario.turn.call]]
tool = "exec"
args = '{"command": "mkdir -m 700 three"}'
[[scenario.turn]]
[[scenario.turn.call]]
tool = "exec"
args = '{"command": "mkdir four"}'
[[scenario.turn]]
text = "Done."
`

func TestKindOfStepIsAllowedAndTakenBackFromTheTerminal(t *testing.T) {
	t.Parallel()
	d := setup(t, kerneltest.Script(foldersScript))
	contains(t, "nothing allowed", d.must(0, "grants", "list").err, "No kind of step is allowed")
	d.own()
	ended := make(chan result, 1)
	go func() { ended <- d.do("run", "--mode", "ask", "make folders") }()
	waits := func(command string) (found kernel.Approval) {
		t.Helper()
		until(t, command+" waits", func() bool {
			list := decode[[]kernel.Approval](t, d.do("approvals", "list", "--json").out)
			if len(list) == 1 && list[0].Request.Command == command {
				found = list[0]
			}
			return found.ID != ""
		})
		return found
	}
	first := waits("mkdir one")
	shown := d.must(0, "approvals", "show", first.ID)
	if !first.Request.Contained.Contained() {
		contains(t, "show", shown.err, "As a kind:", "asked for each time")
		t.Skip("this system contains no commands")
	}
	contains(t, "show", shown.err, "As a kind: `mkdir *` in ", "covered 0 of the last 0 requests")
	contains(t, "a length", d.must(exitUsage, "approvals", "approve", "--grant", "31d", first.ID).err, "no length of time")
	contains(t, "approve", d.must(0, "approvals", "approve", "--grant", "8h", first.ID).err, "`mkdir *`", "Allowed until:")
	third := waits("mkdir -m 700 three") // the second ran unasked
	grants := decode[[]kernel.Grant](t, d.must(0, "grants", "list", "--json").out)
	if len(grants) != 1 || grants[0].Uses != 1 {
		t.Fatalf("got %+v, want one grant, used once", grants)
	}
	contains(t, "list", d.must(0, "grants", "list").out, "mkdir *")
	contains(t, "show", d.must(0, "grants", "show", tail(grants[0].ID)).out, "Program:", "/mkdir", "Used: 1")
	contains(t, "revoke", d.must(0, "grants", "revoke", tail(grants[0].ID)).out, "asks again")
	contains(t, "revoke again", d.must(exitFailed, "grants", "revoke", grants[0].ID).err, "has ended")
	d.must(0, "approvals", "approve", third.ID)
	d.must(0, "approvals", "deny", waits("mkdir four").ID)
	r := <-ended
	r.check(t, 0, "run")
}
