package kernel_test

import (
	"fmt"
	"testing"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
)

// The window asks for a thousand things, and Oxios goes down in the middle: each
// of them is done, in the places that there are, and none is lost.
func TestAThousandQueuedTasksAreAllDoneOverARestart(t *testing.T) {
	t.Parallel()
	many := kerneltest.Many(1000, 100)
	k := open(t, kerneltest.Script("[[scenario]]\nmatch = '^task (\\d+)'\n[[scenario.turn]]\ntext = \"Task {{1}} is done.\"\n"))
	runs := make([]string, many)
	for i := range runs {
		runs[i] = k.Say(fmt.Sprintf("task %d", i)).RunID
	}
	k.Until("some are done", func() bool {
		s, err := k.Person().Infra.Status(t.Context())
		return err == nil && s.Running > 0
	})
	k.Restart()
	for i, run := range runs {
		if r := k.Wait(run); r.State != "done" || r.Response != fmt.Sprintf("Task %d is done.", i) {
			t.Fatalf("task %d ended %s with %q", i, r.State, r.Response)
		}
	}
	if list, err := k.Person().Agents.List(t.Context(), kernel.ProcessQuery{}); err != nil || len(list) != 0 {
		t.Errorf("%d are left, %v", len(list), err)
	}
}
