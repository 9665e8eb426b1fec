package cli

import (
	"testing"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
)

func TestRunTakesANumberOfAgents(t *testing.T) {
	t.Parallel()
	d := setup(t, kerneltest.Script(`
[[scenario]]
match = "."
[[scenario.turn]]
[[scenario.turn.call]]
tool = "agent"
args = '{"action": "fork", "goal": "part"}'
[[scenario.turn]]
text = "{{result}}"
`))
	contains(t, "one agent", d.must(0, "run", "--agents", "1", "--max-cost", "1", "Do it").out, "wants one agent")
	for _, n := range []string{"0", "-2"} {
		contains(t, n, d.must(exitUsage, "run", "--agents", n, "Do it").err, "1 or more")
	}
	d.must(exitUsage, "run", "--agents", "many", "Do it")
	contains(t, "too many", d.must(exitFailed, "run", "--agents", "1000", "Do it").err, "from 1 to 32", "max_children")
	d.own()
	sent := decode[kernel.Submitted](t, d.must(0, "run", "--json", "--background", "--agents", "1", "Do it").out)
	contains(t, "in the background", d.must(0, "wait", sent.RunID).out, "wants one agent")
}
