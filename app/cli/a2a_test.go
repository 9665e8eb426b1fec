package cli

import (
	"slices"
	"strings"
	"testing"

	"oxios/kernel"
	"oxios/kernel/demo"
	"oxios/kernel/kerneltest"
)

const chatterScript = `
[[scenario]]
match = "^team"
[[scenario.turn]]
[[scenario.turn.call]]
tool = "agent"
args = '{"action": "fork", "name": "Tester", "goal": "test slowly", "profile": "operator"}'
[[scenario.turn]]
[[scenario.turn.call]]
tool = "exec"
args = '{"command": "echo asks", "network": true}'
[[scenario.turn]]
[[scenario.turn.call]]
tool = "a2a"
args = '{"action": "send", "to": "Tester", "text": "begin with the parser"}'
[[scenario.turn]]
[[scenario.turn.call]]
tool = "agent"
args = '{"action": "wait"}'
[[scenario.turn]]
text = "Joined."

[[scenario]]
match = "^test slowly"
[[scenario.turn]]
text = "I think"
hang = true
`

func TestWhatAgentsSayIsSeenAndSaidFromTheTerminal(t *testing.T) {
	t.Parallel()
	d := setup(t, kerneltest.Script(chatterScript))
	contains(t, "no cards", d.must(0, "a2a", "cards").err, "No agent is at work.")
	contains(t, "no messages", d.must(0, "a2a", "messages").err, "No agent has said anything")
	stop := d.own()
	defer stop()
	sent := decode[kernel.Submitted](t, d.must(0, "run", "--background", "--json", "team").out)
	d.Until("the tester has been asked, and its parent waits", func() bool { // so that it reads nothing before its next step
		list := decode[[]kernel.Approval](t, d.must(0, "approvals", "list", "--json").out)
		return len(list) == 1 && slices.ContainsFunc(d.Demo.Requests(), func(r demo.RecordedRequest) bool { return !r.Done })
	})
	d.must(0, "approvals", "approve", decode[[]kernel.Approval](t, d.must(0, "approvals", "list", "--json").out)[0].ID)
	d.Until("the tester was told something", func() bool {
		return strings.Contains(d.must(0, "a2a", "messages", sent.RunID).out, "begin with the parser")
	})
	contains(t, "cards", d.must(0, "a2a", "cards").out, "Tester", "Testing, Reading files", "Starting ag…")
	if cards := decode[[]kernel.AgentCard](t, d.must(0, "a2a", "cards", "--can", "테스트", "--json").out); len(cards) != 1 || cards[0].Name != "Tester" {
		t.Errorf("got %+v, want the tester alone", cards)
	}
	cards := decode[[]kernel.AgentCard](t, d.must(0, "a2a", "cards", "--can", "testing", "--json").out)
	tester := cards[0].ID
	contains(t, "send", d.must(0, "a2a", "send", tester, "and", "use", "blue").out, "reads message 2 before its next step")
	contains(t, "messages", d.must(0, "a2a", "messages", tester).out, "waiting", "status", "team", "you", "and use blue")
	d.must(0, "kill", sent.RunID)
	d.Until("both messages have come back", func() bool { // where its agent ended a moment later, that was told so, and had no time to read it
		back := 0
		for _, m := range decode[[]kernel.AgentMessage](t, d.must(0, "a2a", "messages", "--json").out) {
			if m.N <= 2 && m.State == "returned" {
				back++
			}
		}
		return back == 2
	})
	contains(t, "to one that has ended", d.must(exitFailed, "a2a", "send", tester, "x").err, "has ended")
	d.env["LC_ALL"] = "ko_KR.UTF-8"
	contains(t, "in Korean", d.must(0, "a2a", "messages").out, "돌아옴", "나", "상황")
}
