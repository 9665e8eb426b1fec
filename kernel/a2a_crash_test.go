//go:build unix

package kernel_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"oxios/kernel"
	"oxios/kernel/demo"
	"oxios/kernel/kerneltest"
)

// crashTalk is an agent that tells another one something, asks it, and has a
// third one work, while Oxios is killed again and again.
const crashTalk = `
[[scenario]]
match = 'kind="task_delegation"[\s\S]*action reply and id (\d+)'
[[scenario.turn]]
[[scenario.turn.call]]
tool = "a2a"
args = '{"action": "reply", "id": "{{1}}", "text": "It is blue."}'
[[scenario.turn]]
text = "I have answered."
[[scenario]]
match = '<agent_message'
[[scenario.turn]]
text = "Noted."
[[scenario]]
match = "^begin"
[[scenario.turn]]
[[scenario.turn.call]]
tool = "agent"
args = '{"action": "fork", "name": "Listener", "goal": "listen", "profile": "operator"}'
[[scenario.turn]]
[[scenario.turn.call]]
tool = "a2a"
args = '{"action": "send", "to": "Listener", "text": "a word for you"}'
[[scenario.turn.call]]
tool = "a2a"
args = '{"action": "delegate", "name": "Part", "text": "a small part"}'
[[scenario.turn]]
[[scenario.turn.call]]
tool = "a2a"
args = '{"action": "ask", "to": "Listener", "text": "Which colour?"}'
[[scenario.turn]]
text = "All is said."
[[scenario]]
match = "^listen"
[[scenario.turn]]
text = "I have listened."
delay_ms = 200
[[scenario]]
match = "^a small part"
[[scenario.turn]]
text = "The part is done."
`

// said checks that each message was read once or came back, whatever crashed.
func (p place) said(t *testing.T, lives []int) (delivered int) {
	t.Helper()
	k := open(t, kerneltest.At(p.home, p.folder), kerneltest.NotRunning())
	list, err := k.Person().Agents.List(t.Context(), kernel.ProcessQuery{All: true})
	if err != nil {
		t.Fatal(err)
	}
	read, asked := map[string]int{}, 0
	for _, r := range list {
		if r.State != "done" {
			t.Errorf("killed at %v: %s ended %s (%s)", lives, r.Name, r.State, r.EndReason)
		}
		v, err := k.Person().Agents.Run(t.Context(), r.ID)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range v.Steps {
			switch {
			case s.Kind == "message" && s.Agent != nil:
				read[s.Agent.ID]++
			case s.Kind == "tool" && strings.Contains(string(s.Args), `"ask"`) && strings.Contains(s.Output, "It is blue."):
				asked++
			case s.Kind == "tool" && s.Outcome == "unknown":
				t.Errorf("killed at %v: %s is told as unknown", lives, s.Title)
			}
		}
	}
	if len(list) != 3 {
		t.Errorf("killed at %v: got %d runs, want 3", lives, len(list))
	}
	all, err := k.Person().A2A.Messages(t.Context(), kernel.MailQuery{})
	if err != nil {
		t.Fatal(err)
	}
	questions := 0
	for _, m := range all {
		line := fmt.Sprintf("killed at %v: message %d, %s>%s %s %s %s: read %d times", lives, m.N, m.FromName, m.ToName, m.Kind, m.State, m.Made, read[m.ID])
		if m.Text == "Which colour?" || m.Text == "a word for you" || m.Text == "a small part" {
			questions++
		}
		switch {
		case m.State == "waiting", read[m.ID] > 1:
			t.Error(line)
		case m.Text == "a word for you" && m.State == "delivered" && read[m.ID] != 1:
			t.Error(line)
		case m.State == "returned" && read[m.ID] != 0 && m.Problem == nil:
			t.Error(line)
		}
		if m.State != "returned" {
			delivered++
		}
	}
	if questions > 3 || len(all) > 6 {
		t.Errorf("killed at %v: got %d messages, want none sent twice", lives, len(all))
	}
	if asked == 0 && !strings.Contains(fmt.Sprint(mail(t, k, "")), "returned") && questions == 3 {
		t.Errorf("killed at %v: the question has neither an answer nor came back", lives)
	}
	return delivered
}

func TestAKillAtAnyCommitDeliversEachMessageOnce(t *testing.T) {
	t.Parallel()
	rounds := kerneltest.Many(24, 4)
	scenarios, err := demo.Parse([]byte(crashTalk))
	if err != nil {
		t.Fatal(err)
	}
	where := places(t, scenarios)
	whole := where(t)
	// With one place to work, the listener begins when the one that asks it waits: both messages are there before it can end.
	config := filepath.Join(whole.home, "config.toml")
	text, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(config, append(text, "max_concurrent = 1\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	_, commits := whole.live(t, 0)
	if n := whole.said(t, nil); n < 4 {
		t.Errorf("without a kill %d messages were read, want all", n)
	}
	t.Run("rounds", func(t *testing.T) {
		for i := range rounds {
			t.Run(strconv.Itoa(i), func(t *testing.T) {
				t.Parallel()
				p := where(t)
				lives := []int{8 + i*(commits-8)/rounds, 4 + i*7%23, 0}
				for _, n := range lives {
					if killed, _ := p.live(t, n); !killed {
						break
					}
				}
				p.said(t, lives)
			})
		}
	})
}
