package cli

import (
	"testing"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
)

const writers = `
[[scenario]]
match = "^write (\\S+)"
[[scenario.turn]]
[[scenario.turn.call]]
tool = "write"
args = '{"path": "{{1}}-1.txt", "content": "one"}'
[[scenario.turn]]
[[scenario.turn.call]]
tool = "write"
args = '{"path": "{{1}}-2.txt", "content": "two"}'
[[scenario.turn]]
text = "Both are written."
`

func TestRunTellsThatAnotherConversationWritesInTheFolder(t *testing.T) {
	t.Parallel()
	d := setup(t, kerneltest.Script(writers))
	d.own()
	waiting := func() []kernel.Approval {
		return decode[[]kernel.Approval](t, d.must(0, "approvals", "list", "--json").out)
	}
	d.must(0, "run", "--background", "--mode", "ask", "write first")
	until(t, "the first asks", func() bool { return len(waiting()) == 1 })
	first := waiting()[0].ID
	d.must(0, "approvals", "approve", first)
	until(t, "it asks again", func() bool { w := waiting(); return len(w) == 1 && w[0].ID != first })
	contains(t, "what is told", d.must(0, "run", "--mode", "auto", "write other").err, "! Another agent (write first) writes in")
}
