package kernel_test

import (
	"fmt"
	"strings"
	"testing"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
	"oxios/kernel/sys"
)

const togetherScript = `
[[scenario]]
match = "^split"
[[scenario.turn]]
[[scenario.turn.call]]
tool = "agent"
args = '{"action": "fork", "name": "one", "goal": "part one"}'
[[scenario.turn.call]]
tool = "agent"
args = '{"action": "fork", "name": "two", "goal": "part two"}'
[[scenario.turn.call]]
tool = "agent"
args = '{"action": "fork", "name": "three", "goal": "part three"}'
[[scenario.turn]]
[[scenario.turn.call]]
tool = "agent"
args = '{"action": "wait"}'
[[scenario.turn]]
[[scenario.turn.call]]
tool = "agent"
args = '{"action": "fork", "name": "late", "goal": "part late"}'
[[scenario.turn]]
text = "{{result}}"

[[scenario]]
match = "^part"
[[scenario.turn]]
text = "My part is done."
delay_ms = 300

[[scenario]]
match = "^alone"
[[scenario.turn]]
[[scenario.turn.call]]
tool = "agent"
args = '{"action": "fork", "goal": "part one"}'
[[scenario.turn]]
text = "{{result}}"

[[scenario]]
match = "^pair"
[[scenario.turn]]
[[scenario.turn.call]]
tool = "agent"
args = '{"action": "fork", "name": "child", "goal": "note child"}'
[[scenario.turn]]
[[scenario.turn.call]]
tool = "write"
args = '{"path": "pair.txt", "content": "x"}'
[[scenario.turn]]
[[scenario.turn.call]]
tool = "agent"
args = '{"action": "fork", "name": "second", "goal": "note second"}'
[[scenario.turn]]
text = "{{result}}"

[[scenario]]
match = "^note"
[[scenario.turn]]
[[scenario.turn.call]]
tool = "write"
args = '{"path": "note.txt", "content": "x"}'
[[scenario.turn]]
text = "Noted."
`

func upTo(n int) func(*kernel.Submit) { return func(m *kernel.Submit) { m.Agents = n } }

// prompted reports whether a model read this.
func prompted(k *kerneltest.Kernel, text string) bool {
	for _, r := range k.Demo.Requests() {
		if strings.Contains(string(r.Body), text) {
			return true
		}
	}
	return false
}

func TestAtMostSoManyAgentsWorkOnATaskAtOnce(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(togetherScript))
	r := k.Ask("split it up", upTo(3))
	if r.State != "done" || !strings.Contains(r.Response, "Agent late is at work") {
		t.Fatalf("got %+v, want room for another one once the first have ended", r)
	}
	all := processes(t, k, kernel.ProcessQuery{All: true})
	forks := 0
	for _, name := range []string{"one", "two", "three"} {
		if _, ok := all[name]; ok {
			forks++
		}
	}
	if forks != 2 {
		t.Errorf("got %d forks at once, want two beside the first", forks)
	}
	if !prompted(k, "At most 3 agents may work on this task at once") || !prompted(k, "Up to 3 agents may work on this at once, you included") {
		t.Error("the model was not told of the limit")
	}
	if r := k.Ask("split it up"); len(processes(t, k, kernel.ProcessQuery{All: true, SessionID: r.SessionID})) != 5 {
		t.Error("without a number the limit of the configuration holds alone")
	}
}

func TestOneAgentForksNone(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(togetherScript))
	r := k.Ask("alone", upTo(1))
	if r.State != "done" || !strings.Contains(r.Response, "wants one agent") || !prompted(k, "do not fork others") {
		t.Errorf("got %+v", r)
	}
	if n := len(processes(t, k, kernel.ProcessQuery{All: true})); n != 1 {
		t.Errorf("got %d runs, want one", n)
	}
}

func TestTheNumberOfAgentsOutlivesARestart(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(togetherScript))
	out := k.Say("pair up", upTo(2), func(m *kernel.Submit) { m.Mode = "ask" })
	k.Approval(out.RunID)
	k.Until("the child asks", func() bool { return processes(t, k, kernel.ProcessQuery{})["child"].State == "waiting" })
	k.Restart()
	pass(t, k, out.RunID)
	if r := k.Wait(out.RunID); r.State != "done" || !strings.Contains(r.Response, "At most 2 agents") {
		t.Errorf("got %+v, want no third one while the child waits", r)
	}
	again, err := k.Person().Agents.Submit(t.Context(), kernel.Submit{SessionID: out.SessionID, InsteadOf: out.RunID})
	if err != nil {
		t.Fatal(err)
	}
	if v, err := k.Person().Agents.Run(t.Context(), again.RunID); err != nil || v.Run.Agents != 2 {
		t.Errorf("said again: got %d agents, %v, want those of the first time", v.Run.Agents, err)
	}
}

func TestANumberOfAgentsThatCannotBeIsRefused(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(togetherScript))
	for _, n := range []int{-1, 33} {
		_, err := k.Person().Agents.Submit(t.Context(), kernel.Submit{Text: "alone", Agents: n})
		if sys.CodeOf(err) != sys.CodeInvalid || !strings.Contains(err.Error(), fmt.Sprintf("%d agents are asked for, but it must be from 1 to 32 (max_children)", n)) {
			t.Errorf("%d: got %v", n, err)
		}
	}
}

func TestTaskIsSplitAmongAsManyAgentsAsMayWork(t *testing.T) {
	t.Parallel()
	for agents, want := range map[int]int{1: 0, 3: 2, 9: 3} {
		t.Run(fmt.Sprint(agents), func(t *testing.T) {
			t.Parallel()
			k := open(t, kerneltest.Script(strings.ReplaceAll(siteScript, `, "network": true`, "")))
			out := k.Say("make a site", func(m *kernel.Submit) { m.Mode, m.Agents = "autonomous", agents })
			k.Approval(out.RunID)
			if _, err := k.Person().Agents.Answer(t.Context(), kernel.AnswerInput{RunID: out.RunID, Answers: []string{"blue"}}); err != nil {
				t.Fatal(err)
			}
			k.Wait(out.RunID)
			if got := len(parts(t, k, out.RunID)); got != want {
				t.Errorf("got %d parts, want %d", got, want)
			}
		})
	}
}
