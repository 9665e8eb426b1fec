//go:build unix

package kernel_test

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"oxios/kernel"
	"oxios/kernel/demo"
	"oxios/kernel/kerneltest"
)

// taintedTalk is a run that reads from the network and then starts another agent,
// which writes.
const taintedTalk = `
[[scenario]]
match = "^begin"
[[scenario.turn]]
[[scenario.turn.call]]
tool = "exec"
args = '{"command": "echo words of a stranger", "network": true}'
[[scenario.turn]]
[[scenario.turn.call]]
tool = "agent"
args = '{"action": "fork", "name": "child", "goal": "write it down"}'
[[scenario.turn]]
[[scenario.turn.call]]
tool = "agent"
args = '{"action": "wait"}'
[[scenario.turn]]
text = "Done."
[[scenario]]
match = "^write it"
[[scenario.turn]]
[[scenario.turn.call]]
tool = "write"
args = '{"path": "out.md", "content": "words"}'
[[scenario.turn]]
text = "Written."
`

// carried checks what stands in the journal: whoever has a result of the stranger's
// words has their label, and so has all that came of it.
func (p place) carried(t *testing.T, lives []int) {
	t.Helper()
	k := open(t, kerneltest.At(p.home, p.folder), kerneltest.NotRunning())
	defer k.Stop() // the next life needs the home
	list, err := k.Person().Agents.List(t.Context(), kernel.ProcessQuery{All: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range list {
		v, err := k.Person().Agents.Run(t.Context(), r.ID)
		if err != nil {
			t.Fatal(err)
		}
		if r.Name == "child" && !v.Run.Labels.Untrusted() {
			t.Errorf("killed at %v: the child began with %+v, want what its parent had read", lives, v.Run.Labels)
		}
		for _, s := range v.Steps {
			if s.Name == "exec" && (s.Outcome == "ok" || strings.Contains(s.Output, "stranger")) && !s.Labels.Untrusted() {
				t.Errorf("killed at %v: the step has its result and no label", lives)
			}
			if s.Name == "agent" && strings.Contains(string(s.Args), "fork") && s.StartedAt != nil && s.ApprovalID == "" {
				t.Errorf("killed at %v: the fork after it did not ask", lives)
			}
		}
	}
	files, err := k.Person().Security.Labels(t.Context(), kernel.LabelQuery{})
	if err != nil {
		t.Fatal(err)
	}
	// A command that begins anew after a kill knows what it had read, and marks its
	// folder besides.
	marked := slices.ContainsFunc(files, func(f kernel.LabelInfo) bool {
		return f.Label.Name == filepath.Join(p.folder, "out.md") && f.Untrusted && !f.Ended
	})
	if _, err := k.Person().Exec.Read(t.Context(), kernel.ReadArgs{Path: "out.md"}); err == nil && !marked {
		t.Errorf("killed at %v: the file is there, and carries %+v", lives, files)
	}
}

func TestAKillAtAnyCommitLosesNoLabel(t *testing.T) {
	t.Parallel()
	rounds := kerneltest.Many(24, 4)
	scenarios, err := demo.Parse([]byte(taintedTalk))
	if err != nil {
		t.Fatal(err)
	}
	where := places(t, scenarios)
	whole := where(t)
	_, commits := whole.live(t, 0)
	whole.carried(t, nil)
	t.Run("rounds", func(t *testing.T) {
		for i := range rounds {
			t.Run(strconv.Itoa(i), func(t *testing.T) {
				t.Parallel()
				p := where(t)
				lives := []int{8 + i*(commits-8)/rounds, 0}
				for _, n := range lives {
					if killed, _ := p.live(t, n); !killed {
						break
					}
					p.carried(t, lives)
				}
				p.carried(t, lives)
			})
		}
	})
}
