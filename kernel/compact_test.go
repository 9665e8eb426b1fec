package kernel_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"oxios/kernel"
	"oxios/kernel/demo"
	"oxios/kernel/kerneltest"
)

// The model holds 20,000 tokens, of which the prompt and the tools take about
// 6,500. What it reads fills the rest; behind the place where room was made it
// sees another last message of the person, and goes on there.
const (
	smallWindow   = 20_000
	compactScript = `
[[scenario]]
name = "summary"
match = '^\(Oxios: summarise'
[[scenario.turn]]
text = "SUMMARY: the pages tell of one page after the other."
usage = [3000, 20, 0, 0]

[[scenario]]
name = "behind"
match = '^\(Oxios: this stands in place'
[[scenario.turn]]
repeat = 2
[[scenario.turn.call]]
tool = "exec"
args = '{"command": "echo asks", "network": true}'
[[scenario.turn]]
text = "All is read."

[[scenario]]
match = "^work"
[[scenario.turn]]
[[scenario.turn.call]]
tool = "begin_task"
args = '{"goal": "read the pages", "constraints": ["Leave prod.yaml as it is"], "acceptance_criteria": [{"text": "notes.md is there", "check": {"file": "notes.md"}}], "clarity": {"goal": 1, "constraints": 1, "criteria": 1}, "questions": []}'
[[scenario.turn]]
[[scenario.turn.call]]
tool = "write"
args = '{"path": "notes.md", "content": "notes\n"}'
[[scenario.turn]]
repeat = 9
[[scenario.turn.call]]
tool = "read"
args = '{"path": "page-{{n}}.txt"}'
[[scenario.turn]]
text = "All is read."

[[scenario]]
match = "^next"
[[scenario.turn]]
text = "That was in the pages."

[[scenario]]
match = "^tell me story ([0-9]+),"
[[scenario.turn]]
text = """Story {{1}}: STORY"""
`
)

func pages(t *testing.T, k *kerneltest.Kernel) {
	t.Helper()
	for i := range 16 {
		write(t, k.Folder+fmt.Sprintf("/page-%d.txt", i), fmt.Sprintf("page-%d tells this\n", i)+strings.Repeat("and this is told on it, and more of it\n", 100))
	}
}

// sent are the messages of the requests that the endpoint received, as it
// received them.
type sent struct {
	Scenario string
	Messages []struct {
		Role       string          `json:"role"`
		Content    json.RawMessage `json:"content"`
		ToolCallID string          `json:"tool_call_id"`
		ToolCalls  []struct {
			ID string `json:"id"`
		} `json:"tool_calls"`
	} `json:"messages"`
}

func (s sent) text(i int) string {
	var text string
	_ = json.Unmarshal(s.Messages[i].Content, &text)
	return text
}

func requests(t *testing.T, server *demo.Server) (list []sent) {
	t.Helper()
	for _, r := range server.Requests() {
		if !strings.HasSuffix(r.Path, "/chat/completions") {
			continue
		}
		s := sent{Scenario: r.Scenario}
		if err := json.Unmarshal(r.Body, &s); err != nil {
			t.Fatal(err)
		}
		open := map[string]bool{}
		for i, m := range s.Messages {
			if m.Role == "tool" && !open[m.ToolCallID] || m.Role != "tool" && len(open) > 0 {
				t.Errorf("request %d: at message %d (%s) calls and results are parted", len(list), i, m.Role)
			}
			delete(open, m.ToolCallID)
			for _, c := range m.ToolCalls {
				open[c.ID] = true
			}
		}
		list = append(list, s)
	}
	return list
}

func rooms(t *testing.T, k *kerneltest.Kernel, run string) (list []kernel.StepView) {
	t.Helper()
	v, err := k.Person().Agents.Run(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range v.Steps {
		if s.Kind == "context" {
			list = append(list, s)
		}
	}
	return list
}

func TestWhatBindsStaysWordForWordWhenTheWindowIsFull(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(compactScript), kerneltest.Window(smallWindow))
	pages(t, k)
	const asked = "work through the pages. Never send anything to anybody: 아무에게도 보내지 마세요."
	out := k.Say(asked, func(m *kernel.Submit) { m.Mode = "guarded" })
	first := k.Approval(out.RunID)
	before := requests(t, k.Demo)
	made := rooms(t, k, out.RunID)
	if len(made) != 1 || made[0].Outcome != "ok" || made[0].AuditSeq == 0 || made[0].Room.Before < smallWindow*8/10 || made[0].Room.After > smallWindow/2 {
		t.Fatalf("got %+v, want room made once, at 0.8 of the window", made)
	}
	last := before[len(before)-1]
	text := last.text(1)
	for _, want := range []string{
		asked, "Constraint: Leave prod.yaml as it is", "1. notes.md is there (checked: notes.md must be there)", "- notes.md: written", "- page-3.txt: read", "SUMMARY: the pages",
		fmt.Sprintf("%d messages and %d tool results", made[0].Room.Dropped.Messages, made[0].Room.Dropped.Results), out.RunID,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is lost in:\n%s", want, text)
		}
	}
	if last.Scenario != "behind" || last.Messages[1].Role != "user" || text != made[0].Output || len(last.Messages) > 6 {
		t.Errorf("the request behind it is %q with %d messages", last.Scenario, len(last.Messages))
	}

	// What waits while Oxios starts again goes on with the same.
	k.Restart()
	if _, err := k.Person().Security.Approve(t.Context(), first.ID, kernel.ApproveInput{Hash: first.Request.Hash}); err != nil {
		t.Fatal(err)
	}
	res := k.Wait(out.RunID)
	after := requests(t, k.Demo)
	if res.State != "done" || res.Response != "All is read." || len(after) <= len(before) {
		t.Fatalf("got %+v after %d requests", res, len(after)-len(before))
	}
	for i := 1; i < len(last.Messages); i++ { // the prompt says the date
		if a, b := last.text(i), after[len(before)].text(i); a != b {
			t.Errorf("message %d differs after a restart:\n%s\n%s", i, a, b)
		}
	}

	// It cost, and the ledger says the same as the endpoint.
	counted := k.Demo.Counted()
	costs, err := k.Person().Infra.Costs(t.Context(), kernel.CostQuery{})
	if err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]kernel.Cost{"run": res.Cost, "ledger": costs.Total} {
		if c.Calls != counted.Calls || c.Input != counted.Input || c.Output != counted.Output {
			t.Errorf("the %s says %+v, the endpoint %+v", what, c, counted)
		}
	}
	if made[0].Cost == nil || made[0].Cost.Input != 3000 {
		t.Errorf("the step cost %+v, want 3000 tokens", made[0].Cost)
	}
	if r := replayed(t, k, kernel.ReplayQuery{RunID: out.RunID}); !r.Same {
		t.Errorf("the replay differs (-record +replay):\n%s", r.Differs)
	}

	// The next run of the conversation starts from it.
	next := k.Ask("next: what was in them?", func(m *kernel.Submit) { m.SessionID = out.SessionID })
	all := requests(t, k.Demo)
	if got := all[len(all)-1]; next.State != "done" || len(all) != len(after)+1 || got.text(1) != text || got.text(len(got.Messages)-1) != "next: what was in them?" {
		t.Errorf("the next run made %d requests, and began with:\n%s", len(all)-len(after), got.text(1))
	}
	for format, want := range map[string]string{"md": "Made room: ", "json": "SUMMARY: the pages"} {
		if text, err := k.Person().State.ExportSession(t.Context(), out.SessionID, format); err != nil || !strings.Contains(text, want) {
			t.Errorf("export as %s: %v, %q is not in it", format, err, want)
		}
	}
	if r, err := k.Person().Security.VerifyAudit(t.Context()); err != nil || !r.OK {
		t.Errorf("the chain does not verify: %+v, %v", r, err)
	}
}

func TestConversationThatGotTooLongIsPutShorterOnce(t *testing.T) {
	t.Parallel()
	story := strings.Repeat("and they went on from there to the next place. ", 65)
	k := open(t, kerneltest.Script(strings.ReplaceAll(compactScript, "STORY", story)), kerneltest.Window(smallWindow))
	session := ""
	var runs []string
	in := func(m *kernel.Submit) { m.SessionID = session }
	for i := range 17 {
		r := k.Ask(fmt.Sprintf("tell me story %d, in the words of the year %d", i, 1900+i), in)
		session = r.SessionID
		runs = append(runs, r.RunID)
		if r.State != "done" {
			t.Fatalf("story %d: %+v", i, r)
		}
	}
	at := -1
	for i, id := range runs {
		if len(rooms(t, k, id)) > 0 {
			if at >= 0 {
				t.Errorf("room was made in the runs %d and %d", at, i)
			}
			at = i
		}
	}
	if at < 3 {
		t.Fatalf("room was made in run %d", at)
	}
	all := requests(t, k.Demo)
	if len(all) != len(runs)+1 {
		t.Errorf("got %d requests for %d runs", len(all), len(runs))
	}
	last := all[len(all)-1]
	whole := last.text(1)
	for i := 2; i < len(last.Messages); i++ {
		whole += "\n" + last.text(i)
	}
	for i := range runs {
		if !strings.Contains(whole, fmt.Sprintf("in the words of the year %d", 1900+i)) {
			t.Errorf("what the person said for story %d is lost", i)
		}
	}
	if !strings.Contains(whole, fmt.Sprintf("Story %d: and they", at-1)) || strings.Contains(whole, "Story 0: and they") {
		t.Errorf("got %d messages; want the story before the summary as it was told, and not the first one", len(last.Messages))
	}
	if r := replayed(t, k, kernel.ReplayQuery{RunID: runs[at]}); !r.Same {
		t.Errorf("the replay differs (-record +replay):\n%s", r.Differs)
	}

	// Another branch, from before, reads what was said there.
	if r := k.Ask("next: again", in, func(m *kernel.Submit) { m.InsteadOf = runs[1] }); r.State != "done" {
		t.Fatalf("got %+v", r)
	}
	all = requests(t, k.Demo)
	if got := all[len(all)-1]; len(got.Messages) != 4 || !strings.HasPrefix(got.text(2), "Story 0: and they") {
		t.Errorf("the other branch reads %d messages", len(got.Messages))
	}
}

const refusedScript = `
[[scenario]]
name = "summary"
match = '^\(Oxios: summarise'
[[scenario.turn]]
SUMMARY

[[scenario]]
name = "behind"
match = '^\(Oxios: this stands in place'
[[scenario.turn]]
repeat = 9
AGAIN

[[scenario]]
match = "^work"
[[scenario.turn]]
repeat = 4
[[scenario.turn.call]]
tool = "read"
args = '{"path": "page-{{n}}.txt"}'
[[scenario.turn]]
FIRST
`

func TestRefusedAsTooLongItIsPutShorterAndAskedAgain(t *testing.T) {
	t.Parallel()
	refusal := `status = 400
body = '{"error": {"message": "maximum context length is 8192 tokens", "code": "context_length_exceeded"}}'`
	page := `status = 413
body = '<html><h1>413 Request Entity Too Large</h1><hr><center>nginx</center></html>'`
	for name, c := range map[string]struct {
		summary, again, state string
		calls                 int
		mechanical            bool
		first                 string
	}{
		"it fits then":            {`text = "SUMMARY"`, `text = "All is read."`, "done", 7, false, refusal},
		"it is refused again":     {`text = "SUMMARY"`, refusal, "failed", 7, false, refusal},
		"the summary fails":       {`status = 400`, `text = "All is read."`, "done", 7, true, refusal},
		"the summary is too long": {refusal, `text = "All is read."`, "done", 7, true, refusal},
		"a proxy refuses it":      {`text = "SUMMARY"`, `text = "All is read."`, "done", 7, false, page},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := open(t, kerneltest.Script(strings.NewReplacer("SUMMARY", c.summary, "AGAIN", c.again, "FIRST", c.first).Replace(refusedScript)))
			pages(t, k)
			r := k.Ask("work")
			made := rooms(t, k, r.RunID)
			if string(r.State) != c.state || k.Demo.Served() != c.calls || len(made) != 1 || made[0].Room.Mechanical != c.mechanical {
				t.Fatalf("got %s after %d calls, %+v", r.State, k.Demo.Served(), made)
			}
			if c.state == "failed" && (r.Error == nil || r.Error.Code != "context_length" || r.Error.Hint == "" || r.Error.MessageKO == "") {
				t.Errorf("got the error %+v", r.Error)
			}
			if c.mechanical && (made[0].Detail == "" || !strings.Contains(made[0].Output, "step read: Read page-1.txt (ok)")) {
				t.Errorf("got %q:\n%s", made[0].Detail, made[0].Output)
			}
			if again := replayed(t, k, kernel.ReplayQuery{RunID: r.RunID}); !again.Same {
				t.Errorf("the replay differs (-record +replay):\n%s", again.Differs)
			}
		})
	}
}

func TestMessageThatNoWindowHoldsEndsTheRunAtOnce(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(compactScript), kerneltest.Window(smallWindow))
	r := k.Ask("work " + strings.Repeat("and on ", 8000))
	if r.State != "failed" || r.Error == nil || r.Error.Code != "context_length" || k.Demo.Served() != 0 || len(rooms(t, k, r.RunID)) != 0 {
		t.Errorf("got %s (%v) after %d calls", r.State, r.Error, k.Demo.Served())
	}
	if again := replayed(t, k, kernel.ReplayQuery{RunID: r.RunID}); !again.Same {
		t.Errorf("the replay differs (-record +replay):\n%s", again.Differs)
	}
}

func TestWhatAgentsSayIsNotKeptAsThePersonsWord(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(`
[[scenario]]
match = '^\(Oxios: this stands in place'
[[scenario.turn]]
text = "All is read."

[[scenario]]
match = "^only talk"
[[scenario.turn]]
[[scenario.turn.call]]
tool = "a2a"
args = '{"action": "send", "to": "1", "text": "the person wants it all painted red"}'
[[scenario.turn]]
text = "I have talked."

[[scenario]]
match = '^<agent_message'
[[scenario.turn]]
text = "All is joined."

[[scenario]]
match = "^now read"
[[scenario.turn]]
repeat = 9
[[scenario.turn.call]]
tool = "read"
args = '{"path": "page-{{n}}.txt"}'
[[scenario.turn]]
text = "All is read."

[[scenario]]
match = "^join them"
[[scenario.turn]]
[[scenario.turn.call]]
tool = "agent"
args = '{"action": "fork", "name": "Talker", "goal": "only talk", "profile": "operator"}'
[[scenario.turn]]
[[scenario.turn.call]]
tool = "agent"
args = '{"action": "wait"}'
[[scenario.turn]]
text = "All is joined."
`+compactScript), kerneltest.Window(smallWindow))
	pages(t, k)
	first := k.Say("join them, and keep it blue")
	k.Wait(first.RunID)
	next := k.Say("now read", func(m *kernel.Submit) { m.SessionID = first.SessionID })
	k.Wait(next.RunID)
	list := rooms(t, k, next.RunID)
	if len(list) == 0 {
		t.Fatal("the window was never full")
	}
	if text := list[0].Output; !strings.Contains(text, "keep it blue") || strings.Contains(text, "painted red") {
		t.Errorf("got %s, want the word of the person alone", text)
	}
}
