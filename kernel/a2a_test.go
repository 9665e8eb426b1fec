package kernel_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
	"oxios/kernel/security"
	"oxios/kernel/sys"
)

// chatterScript plays agents that hang, that answer what they are asked, and that
// ask back.
const chatterScript = `
[[scenario]]
match = 'Which colour[\s\S]*action reply and id (\d+)'
[[scenario.turn]]
[[scenario.turn.call]]
tool = "a2a"
args = '{"action": "reply", "id": "{{1}}", "text": "It is blue."}'
[[scenario.turn]]
text = "I have answered."

[[scenario]]
match = 'Ask me back[\s\S]*action reply and id (\d+)'
[[scenario.turn]]
[[scenario.turn.call]]
tool = "a2a"
args = '{"action": "ask", "to": "adopted", "text": "What do you mean?"}'
[[scenario.turn]]
[[scenario.turn.call]]
tool = "a2a"
args = '{"action": "reply", "id": "{{1}}", "text": "I could not ask: {{result}}"}'
[[scenario.turn]]
text = "I have answered."

[[scenario]]
match = 'Say it at your end'
[[scenario.turn]]
text = "The sum is 42."

[[scenario]]
match = "^slow"
[[scenario.turn]]
text = "Slowly done."
delay_ms = 400

[[scenario]]
match = "^hang on"
[[scenario.turn]]
text = "I hang"
hang = true

[[scenario]]
match = "^break"
[[scenario.turn]]
delay_ms = 300
status = 400
body = '{"error": {"message": "this one breaks"}}'

[[scenario]]
match = "^team (.*)"
[[scenario.turn]]
[[scenario.turn.call]]
tool = "agent"
args = '{"action": "fork", "name": "Painter", "goal": "slow work", "profile": "operator"}'
[[scenario.turn]]
[[scenario.turn.call]]
tool = "a2a"
args = '{"action": "ask", "to": "Painter", "text": "Which colour is the wall?"}'
[[scenario.turn]]
text = "Heard: {{result}}"
`

// forked starts an agent below h and waits until it is at its model.
func forked(t *testing.T, k *kerneltest.Kernel, h *kernel.Handle, f kernel.Fork) kernel.Forked {
	t.Helper()
	out, err := h.Agents.Fork(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	k.Until(f.Goal+" is at its model", func() bool {
		v, err := k.Person().Agents.Run(t.Context(), out.RunID)
		return err == nil && len(v.Steps) > 0
	})
	return out
}

// mail returns what a run sent and got, the oldest first, as lines.
func mail(t *testing.T, k *kerneltest.Kernel, run string) (lines []string) {
	t.Helper()
	list, err := k.Person().A2A.Messages(t.Context(), kernel.MailQuery{RunID: run})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range slices.Backward(list) {
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s>%s %s %s %s", m.FromName, m.ToName, m.Kind, m.State, m.Made)))
	}
	return lines
}

func wantMail(t *testing.T, k *kerneltest.Kernel, run string, want ...string) {
	t.Helper()
	if got := mail(t, k, run); !slices.Equal(got, want) {
		t.Errorf("got the messages\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func operator(goal, name string) kernel.Fork {
	return kernel.Fork{Goal: goal, Name: name, Profile: security.ProfileOperator}
}

func TestAnAgentAsksAnotherAndReadsItsReply(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(chatterScript))
	r := k.Ask("team up")
	if r.State != "done" || !strings.Contains(r.Response, `from="Painter" kind="result_sharing" answer="true"`) || !strings.Contains(r.Response, "It is blue.") {
		t.Fatalf("got %s %q, want the reply, marked as the other agent's", r.State, r.Response)
	}
	wantMail(t, k, r.RunID, "team up>Painter task_delegation answered", "Painter>team up result_sharing delivered")
	painter := processes(t, k, kernel.ProcessQuery{All: true})["Painter"]
	k.Wait(painter.ID)
	v, err := k.Person().Agents.Run(t.Context(), painter.ID)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range v.Steps {
		if s.Kind == "message" {
			got = append(got, fmt.Sprintf("%s %s: %s", s.Agent.Name, s.Agent.Kind, s.Text))
		} else if s.Kind == "tool" {
			got = append(got, s.Title)
		}
	}
	if want := []string{"team up task_delegation: Which colour is the wall?", "Answered team up: It is blue."}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q: a message is read before the end", got, want)
	}
	for _, id := range []string{r.RunID, painter.ID} {
		again, err := k.Person().Agents.Replay(t.Context(), kernel.ReplayQuery{RunID: id})
		if err != nil || !again.Same {
			t.Errorf("a replay of %s: %v, %s", id, err, again.Differs)
		}
	}
	if v, err := k.Person().State.Session(t.Context(), r.SessionID); err != nil || len(v.Messages) != 2 {
		t.Errorf("got %d messages, %v; want one voice in the conversation", len(v.Messages), err)
	}
}

func TestTheLastWordsOfAnAgentAnswerWhatItWasAsked(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(chatterScript))
	h := k.Agent("guarded")
	worker := forked(t, k, h, kernel.Fork{Goal: "slow work", Name: "Adder"}) // a worker has no tool to reply with
	answer, err := h.A2A.Ask(t.Context(), kernel.AgentAsk{To: "adder", Text: "Say it at your end"})
	if err != nil || !strings.Contains(answer.Text, "The sum is 42.") || answer.Made != "end" {
		t.Errorf("got %+v, %v; want what it said at its end", answer, err)
	}
	wantMail(t, k, worker.RunID, "adopted>Adder task_delegation answered", "Adder>adopted result_sharing delivered end")
}

func TestAMessageThatNobodyCameToReadComesBack(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(chatterScript))
	h := k.Agent("guarded")
	hangs := forked(t, k, h, operator("hang on", "Deaf"))
	if _, err := h.A2A.Send(t.Context(), kernel.AgentSend{To: "Deaf", Text: "hello", Progress: 10}); err != nil {
		t.Fatal(err)
	}
	asked := make(chan error, 1)
	go func() {
		_, err := h.A2A.Ask(t.Context(), kernel.AgentAsk{To: hangs.RunID, Text: "do you hear me?"})
		asked <- err
	}()
	k.Until("the question waits", func() bool { return len(mail(t, k, hangs.RunID)) == 2 })
	if _, err := k.Person().Agents.Kill(t.Context(), hangs.RunID); err != nil {
		t.Fatal(err)
	}
	if err := <-asked; sys.CodeOf(err) != sys.CodeConflict || !strings.Contains(err.Error(), "ended (stopped) before it read this") {
		t.Errorf("got %v, want the waiting call to end with the reason", err)
	}
	wantMail(t, k, hangs.RunID, "adopted>Deaf status_update returned", "adopted>Deaf task_delegation returned",
		"Deaf>adopted status_update waiting returned", "Deaf>adopted status_update delivered returned")
	if _, err := h.A2A.Send(t.Context(), kernel.AgentSend{To: hangs.RunID, Text: "and now?"}); sys.CodeOf(err) != sys.CodeConflict || !strings.Contains(err.Error(), "has ended (stopped)") {
		t.Errorf("a message to an agent that has ended: got %v, want conflict", err)
	}
}

func TestAnAgentThatFailsIsNeverToldAsAnswering(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(chatterScript))
	h := k.Agent("guarded")
	d, err := h.A2A.Delegate(t.Context(), kernel.Delegation{Task: "break it", Wait: true})
	if sys.CodeOf(err) != sys.CodeConflict || !strings.Contains(err.Error(), "without an answer") || !strings.Contains(err.Error(), "this one breaks") {
		t.Errorf("got %+v, %v; want why there is no result", d, err)
	}
}

func TestAQuestionThatIsNotAnsweredInTimeIsAnsweredByMessage(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(chatterScript))
	h := k.Agent("guarded")
	slow := forked(t, k, h, operator("hang on", "Slow"))
	if _, err := h.A2A.Ask(t.Context(), kernel.AgentAsk{To: "Slow", Text: "well?", TimeoutS: 1}); sys.CodeOf(err) != sys.CodeTimeout {
		t.Errorf("got %v, want timeout", err)
	}
	wantMail(t, k, slow.RunID, "adopted>Slow task_delegation waiting")
}

func TestTwoAgentsNeverWaitForEachOther(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(chatterScript))
	h := k.Agent("guarded")
	other := forked(t, k, h, operator("slow work", "Other"))
	answer, err := h.A2A.Ask(t.Context(), kernel.AgentAsk{To: "Other", Text: "Ask me back"})
	if err != nil || !strings.Contains(answer.Text, "two agents do not wait for each other") {
		t.Errorf("got %q, %v; want the question back refused with a sentence", answer.Text, err)
	}
	if r := k.Wait(other.RunID); r.State != "done" {
		t.Errorf("got %s, want both to end", r.State)
	}
	if _, err := h.Agents.Wait(t.Context(), h.Principal().ID); sys.CodeOf(err) != sys.CodeConflict {
		t.Errorf("an agent that waits for itself: got %v, want conflict", err)
	}
}

func TestAnAgentReachesItsOwnTreeAlone(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(chatterScript))
	mine, foreign := k.Agent("guarded"), k.Agent("guarded")
	a := forked(t, k, mine, operator("hang on", "Mine"))
	b := forked(t, k, foreign, operator("hang on", "Foreign"))
	cards, err := mine.A2A.Cards(t.Context(), kernel.CardQuery{})
	if err != nil || len(cards) != 2 || cards[1].ID != a.RunID {
		t.Errorf("got %+v, %v; want itself and its own fork", cards, err)
	}
	for name, want := range map[string]sys.Code{b.RunID: sys.CodeForbidden, "Foreign": sys.CodeNotFound, mine.Principal().ID: sys.CodeInvalid, "": sys.CodeInvalid, "999": sys.CodeNotFound} {
		if _, err := mine.A2A.Send(t.Context(), kernel.AgentSend{To: name, Text: "hello"}); sys.CodeOf(err) != want {
			t.Errorf("to %q: got %v, want %s", name, err, want)
		}
		if _, err := mine.A2A.Ask(t.Context(), kernel.AgentAsk{To: name, Text: "hello"}); sys.CodeOf(err) != want {
			t.Errorf("asking %q: got %v, want %s", name, err, want)
		}
	}
	if _, err := mine.A2A.Messages(t.Context(), kernel.MailQuery{RunID: b.RunID}); sys.CodeOf(err) != sys.CodeForbidden {
		t.Errorf("reading others' messages: got %v, want forbidden", err)
	}
	m, err := mine.A2A.Send(t.Context(), kernel.AgentSend{To: "Mine", Kind: "capability_query", Text: "can you test?"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := foreign.A2A.Reply(t.Context(), kernel.AgentReply{ID: m.ID, Text: "yes"}); sys.CodeOf(err) != sys.CodeNotFound {
		t.Errorf("a reply to what others were asked: got %v, want not found", err)
	}
	worker := k.As(sys.Principal{Kind: sys.KindAgent, ID: a.RunID, Profile: security.ProfileWorker})
	if _, err := worker.A2A.Send(t.Context(), kernel.AgentSend{To: "adopted", Text: "hello"}); sys.CodeOf(err) != sys.CodeForbidden {
		t.Errorf("a worker: got %v, want forbidden", err)
	}
	if cards, err := k.Person().A2A.Cards(t.Context(), kernel.CardQuery{}); err != nil || len(cards) != 4 {
		t.Errorf("the person sees %d cards, %v; want all 4", len(cards), err)
	}
}

func TestAQueueHasABound(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(chatterScript))
	h := k.Agent("guarded")
	forked(t, k, h, operator("hang on", "Busy"))
	for i := range 101 {
		_, err := h.A2A.Send(t.Context(), kernel.AgentSend{To: "Busy", Text: fmt.Sprint(i)})
		if i < 100 && err != nil {
			t.Fatalf("message %d: %v", i+1, err)
		}
		if i == 100 && (sys.CodeOf(err) != sys.CodeBusy || !strings.Contains(err.Error(), "100 messages wait")) {
			t.Errorf("message 101: got %v, want busy", err)
		}
	}
}

func TestACardStandsAsLongAsItsRunLives(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(chatterScript))
	h := k.Agent("guarded")
	forked(t, k, h, operator("hang on and review the code", "Reviewer"))
	failing, err := h.Agents.Fork(t.Context(), kernel.Fork{Goal: "break it", Name: "Failing"})
	if err != nil {
		t.Fatal(err)
	}
	names := func(capability string) (out []string) {
		cards, err := k.Person().A2A.Cards(t.Context(), kernel.CardQuery{Capability: capability})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range cards {
			out = append(out, c.Name)
		}
		return out
	}
	if got := names("코드 리뷰"); !slices.Equal(got, []string{"Reviewer"}) {
		t.Errorf("who reviews: got %q", got)
	}
	if got := names("start-agents"); !slices.Equal(got, []string{"adopted", "Reviewer"}) {
		t.Errorf("who starts agents: got %q, want the operators", got)
	}
	k.Wait(failing.RunID)
	k.Until("its card is gone", func() bool { return !slices.Contains(names(""), "Failing") })
	found, err := h.A2A.Query(t.Context(), kernel.CapabilityQuery{Query: "somebody to review", Required: []string{"juggling"}})
	if err != nil || len(found.Agents) != 1 || !slices.Equal(found.Agents[0].Lacks, []string{"juggling"}) {
		t.Errorf("got %+v, %v; want the reviewer, who cannot juggle", found, err)
	}
	k.Restart()
	if got := names(""); !slices.Equal(got, []string{"adopted", "Reviewer"}) {
		t.Errorf("after a restart: got %q, want those that go on", got)
	}
	for _, p := range processes(t, k, kernel.ProcessQuery{}) {
		if _, err := k.Person().Agents.Kill(t.Context(), p.ID); err != nil && sys.CodeOf(err) != sys.CodeConflict {
			t.Fatal(err)
		}
	}
	k.Until("no card is left", func() bool { return len(names("")) == 0 })
}

func TestATaskGoesToAFittingAgentAndNeverWidensRights(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(chatterScript))
	h := k.Agent("guarded")
	tester := forked(t, k, h, kernel.Fork{Goal: "hang on and test", Name: "Tester"})
	d, err := h.A2A.Delegate(t.Context(), kernel.Delegation{Task: "Test the parser"})
	if err != nil || d.Forked || d.RunID != tester.RunID {
		t.Errorf("got %+v, %v; want the tester that is at work", d, err)
	}
	for why, other := range map[string]kernel.Delegation{
		"nobody was started for it":  {Task: "slow translation", Name: "Translator"},
		"nothing follows from it":    {Task: "slow thing", Name: "Anybody"},
		"it wants other rights":      {Task: "slow test", Profile: security.ProfileOperator, Name: "Operator"},
		"it wants something special": {Task: "slow test", Capabilities: []string{"testing", "juggling"}, Name: "Juggler"},
	} {
		if d, err := h.A2A.Delegate(t.Context(), other); err != nil || !d.Forked || d.Name != other.Name {
			t.Errorf("%s: got %+v, %v; want a new agent", why, d, err)
		}
	}

	// A sibling with fewer rights gets the task to nobody who has more.
	wide := forked(t, k, h, operator("hang on and review", "Wide"))
	narrow := forked(t, k, h, kernel.Fork{Goal: "hang on", Name: "Narrow", Profile: security.ProfileStandard})
	asNarrow := k.As(sys.Principal{Kind: sys.KindAgent, ID: narrow.RunID, Profile: security.ProfileStandard})
	if d, err := asNarrow.A2A.Delegate(t.Context(), kernel.Delegation{Task: "review it"}); sys.CodeOf(err) != sys.CodeForbidden {
		t.Errorf("got %+v, %v; want an agent without the right refused", d, err)
	}
	asWide := k.As(sys.Principal{Kind: sys.KindAgent, ID: wide.RunID, Profile: security.ProfileOperator})
	if d, err := asWide.A2A.Delegate(t.Context(), kernel.Delegation{Task: "slow review", Name: "Again"}); err != nil || !d.Forked {
		t.Errorf("got %+v, %v; want a new agent, not itself", d, err)
	}
}

func TestAResultThatNobodyWaitsForComesAsAMessage(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(`
[[scenario]]
match = "Slowly done"
[[scenario.turn]]
text = "The part is there."
[[scenario]]
match = "^whole"
[[scenario.turn]]
[[scenario.turn.call]]
tool = "a2a"
args = '{"action": "delegate", "name": "Part", "text": "slow part"}'
[[scenario.turn]]
[[scenario.turn.call]]
tool = "exec"
args = '{"command": "sleep 1.5"}'
[[scenario.turn]]
text = "I ended without it."
[[scenario]]
match = "^slow"
[[scenario.turn]]
text = "Slowly done."
`))
	r := k.Ask("whole work", func(m *kernel.Submit) { m.Mode = "autonomous" })
	if r.State != "done" || !strings.HasSuffix(r.Response, "The part is there.") {
		t.Errorf("got %s %q, want the result read before the end", r.State, r.Response)
	}
	wantMail(t, k, r.RunID, "whole work>Part task_delegation answered", "Part>whole work result_sharing delivered end")

	// What the other one said is never taken for the person's own words.
	again, err := k.Person().Agents.Submit(t.Context(), kernel.Submit{InsteadOf: r.RunID})
	if err != nil {
		t.Fatal(err)
	}
	v, err := k.Person().Agents.Run(t.Context(), again.RunID)
	if err != nil || v.Run.Text != "whole work" {
		t.Errorf("said again: got %q, %v; want the person's message alone", v.Run.Text, err)
	}
	k.Wait(again.RunID)
}

func TestMessagesThatWaitAreReadBeforeTheFirstModelCall(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(chatterScript))
	h := k.Agent("guarded")
	if _, err := k.Person().Agents.Pause(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	f, err := h.Agents.Fork(t.Context(), kernel.Fork{Goal: "hang on", Name: "Late"})
	if err != nil {
		t.Fatal(err)
	}
	m, err := h.A2A.Send(t.Context(), kernel.AgentSend{To: "Late", Kind: "handshake", Text: "hello"})
	if err != nil || !strings.Contains(m.Text, "adopted [read-files") {
		t.Fatalf("got %+v, %v; want an introduction that the kernel filled in", m, err)
	}
	k.Restart()
	if _, err := k.Person().Agents.Pause(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	k.Until("it asks its model", func() bool {
		v, err := k.Person().Agents.Run(t.Context(), f.RunID)
		return err == nil && len(v.Steps) > 1
	})
	v, err := k.Person().Agents.Run(t.Context(), f.RunID)
	if err != nil || v.Steps[0].Kind != "message" || v.Steps[0].Agent.ID != m.ID || v.Steps[1].Kind != "model" {
		t.Errorf("got %+v, %v; want the message before the model call", v.Steps, err)
	}
}

func TestTwoAgentsThatOnlyTalkEnd(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(`
[[scenario]]
match = 'from="(.*)" kind="status_update"'
[[scenario.turn]]
[[scenario.turn.call]]
tool = "a2a"
args = '{"action": "send", "to": "{{1}}", "text": "and you?"}'
[[scenario.turn]]
text = "Said."
[[scenario]]
match = "^talk"
[[scenario.turn]]
[[scenario.turn.call]]
tool = "agent"
args = '{"action": "fork", "name": "Echo", "goal": "slow", "profile": "operator"}'
[[scenario.turn]]
[[scenario.turn.call]]
tool = "a2a"
args = '{"action": "send", "to": "Echo", "text": "how are you?"}'
[[scenario.turn]]
text = "Waiting."
delay_ms = 600
[[scenario]]
match = "^slow"
[[scenario.turn]]
text = "Slowly done."
delay_ms = 300
`))
	if _, err := k.Person().Infra.SetConfig(t.Context(), "max_tool_calls", "8"); err != nil {
		t.Fatal(err)
	}
	r := k.Ask("talk")
	echo := processes(t, k, kernel.ProcessQuery{All: true})["Echo"]
	k.Wait(echo.ID)
	all := processes(t, k, kernel.ProcessQuery{All: true})
	if all["talk"].Turns > 9 || all["Echo"].Turns > 9 || r.State != "done" {
		t.Errorf("got %d and %d turns, want the limit of 8 and a forced one", all["talk"].Turns, all["Echo"].Turns)
	}
	k.Until("nothing waits", func() bool { return !strings.Contains(strings.Join(mail(t, k, r.RunID), "\n"), "waiting") })
}

func TestWhatAnAgentTellsItsForkIsNotThePersonsWord(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(`
[[scenario]]
match = '(?s)use blue.*(the agent that you work for wrote this, not the person)'
[[scenario.turn]]
text = "Then it is blue."
[[scenario]]
match = "^slow"
[[scenario.turn]]
text = "Slowly done."
delay_ms = 400
`))
	h := k.Agent("guarded")
	f := forked(t, k, h, kernel.Fork{Goal: "slow work", Name: "Painter"})
	if _, err := h.Agents.Message(t.Context(), f.RunID, "use blue"); err != nil {
		t.Fatal(err)
	}
	if r := k.Wait(f.RunID); !strings.HasSuffix(r.Response, "Then it is blue.") {
		t.Errorf("got %q, want it read as its parent's word", r.Response)
	}
	wantMail(t, k, f.RunID, "adopted>Painter status_update delivered")
}

func TestThePersonSaysSomethingToAnAgent(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(`
[[scenario]]
match = "^use blue"
[[scenario.turn]]
text = "Then it is blue."
[[scenario]]
match = "^slow"
[[scenario.turn]]
text = "Slowly done."
delay_ms = 400
`))
	run := k.Say("slow work").RunID
	k.Until("it is at work", func() bool { return asking(k) > 0 })
	m, err := k.Person().A2A.Send(t.Context(), kernel.AgentSend{To: run, Text: "use blue"})
	if err != nil || m.From != "" {
		t.Fatalf("got %+v, %v", m, err)
	}
	if r := k.Wait(run); !strings.HasSuffix(r.Response, "Then it is blue.") {
		t.Errorf("got %q, want it read as what the person says", r.Response)
	}
	if _, err := k.Person().A2A.Send(t.Context(), kernel.AgentSend{To: run, Text: "use red"}); sys.CodeOf(err) != sys.CodeConflict {
		t.Errorf("to an agent that has ended: got %v, want conflict", err)
	}
}

func TestMessagesGoWithTheirConversation(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(chatterScript))
	r := k.Ask("team up")
	painter := processes(t, k, kernel.ProcessQuery{All: true})["Painter"]
	k.Wait(painter.ID)
	text, err := k.Person().State.ExportSession(t.Context(), r.SessionID, "json")
	var out struct {
		Mail []kernel.AgentMessage `json:"agent_messages"`
	}
	if err == nil {
		err = json.Unmarshal([]byte(text), &out)
	}
	if err != nil || len(out.Mail) != 2 || out.Mail[0].Text != "Which colour is the wall?" {
		t.Errorf("got %+v, %v; want both messages in the export, the oldest first", out.Mail, err)
	}
	if _, err := k.Person().State.DiscardSession(t.Context(), r.SessionID); err != nil {
		t.Fatal(err)
	}
	if got, err := k.Person().A2A.Messages(t.Context(), kernel.MailQuery{}); err != nil || len(got) != 0 {
		t.Errorf("got %d messages of a discarded conversation, %v; want none", len(got), err)
	}
	if _, err := k.Person().State.RecoverSession(t.Context(), r.SessionID); err != nil {
		t.Fatal(err)
	}
	if len(mail(t, k, r.RunID)) != 2 {
		t.Error("recovered without its messages")
	}
	if _, err := k.Person().State.DeleteSession(t.Context(), r.SessionID); err != nil {
		t.Fatal(err)
	}
	if got, err := k.Person().A2A.Messages(t.Context(), kernel.MailQuery{}); err != nil || len(got) != 0 {
		t.Errorf("got %d messages of a deleted conversation, %v; want none", len(got), err)
	}
}
