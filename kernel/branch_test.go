package kernel_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
	"oxios/kernel/sys"
)

// talkScript answers a message with its own words, notes with a file, and never
// ends on wait.
const talkScript = `
[[scenario]]
any = ["wait"]
[[scenario.turn]]
text = "I wait"
hang = true

[[scenario]]
any = ["push"]
[[scenario.turn]]
[[scenario.turn.call]]
tool = "exec"
args = '{"command": "git push origin main"}'
[[scenario.turn]]
text = "Not pushed."

[[scenario]]
match = 'note (\S+)'
[[scenario.turn]]
[[scenario.turn.call]]
tool = "write"
args = '{"path": "{{1}}.txt", "content": "{{1}}\n"}'
[[scenario.turn]]
text = "Noted {{1}}."

[[scenario]]
[[scenario.turn]]
text = "You said: {{message}}"
`

// talk is a conversation under test.
type talk struct {
	*kerneltest.Kernel
	t  *testing.T
	id string
}

func beginTalk(t *testing.T, o ...kerneltest.Option) *talk {
	return &talk{Kernel: open(t, append([]kerneltest.Option{kerneltest.Script(talkScript)}, o...)...), t: t}
}

// say says something in the conversation and returns the run that answered.
func (c *talk) say(text string, change ...func(*kernel.Submit)) string {
	c.t.Helper()
	out := c.Say(text, append([]func(*kernel.Submit){func(m *kernel.Submit) { m.SessionID = c.id }}, change...)...)
	c.id = out.SessionID
	if r := c.Wait(out.RunID); r.State != "done" {
		c.t.Fatalf("%q: got %s, %v", text, r.State, r.Error)
	}
	return out.RunID
}

func insteadOf(run string) func(*kernel.Submit) {
	return func(m *kernel.Submit) { m.InsteadOf = run }
}

func (c *talk) view() kernel.SessionView {
	c.t.Helper()
	v, err := c.Person().State.Session(c.t.Context(), c.id)
	if err != nil {
		c.t.Fatal(err)
	}
	return v
}

// asked are the messages of the shown branch, each with its place among its
// siblings: "b 2/3".
func asked(v kernel.SessionView) []string {
	var out []string
	for _, r := range v.Runs {
		text := r.Run.Text
		if len(r.Siblings) > 0 {
			text += fmt.Sprintf(" %d/%d", r.Sibling+1, len(r.Siblings))
		}
		out = append(out, text)
	}
	return out
}

// told is what the model read in the last request, by role.
func (c *talk) told() []string {
	c.t.Helper()
	list := c.Demo.Requests()
	var body struct {
		Messages []struct {
			Role      string `json:"role"`
			Content   string `json:"content"`
			ToolCalls []struct {
				ID string `json:"id"`
			} `json:"tool_calls"`
			ToolCallID string `json:"tool_call_id"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(list[len(list)-1].Body, &body); err != nil {
		c.t.Fatal(err)
	}
	var out []string
	for _, m := range body.Messages[1:] {
		line := m.Role + ": " + m.Content
		for _, call := range m.ToolCalls {
			line += "calls " + call.ID
		}
		if m.ToolCallID != "" {
			line = m.Role + " " + m.ToolCallID
		}
		out = append(out, line)
	}
	return out
}

func TestEditedMessageIsABranchAndNothingIsLost(t *testing.T) {
	t.Parallel()
	c := beginTalk(t)
	c.say("one")
	two := c.say("note two")
	c.say("three")
	edited := c.say("note zwei", insteadOf(two))
	if diff := cmp.Diff([]string{"one", "note zwei 2/2"}, asked(c.view())); diff != "" {
		t.Errorf("the shown branch (-want +got):\n%s", diff)
	}
	if v := c.view(); !v.Runs[1].Edited || v.Runs[0].Edited || v.Branches != 2 || v.Session.HeadID != edited || len(v.Messages) != 4 {
		t.Errorf("got edited %v, %d branches, head %s, %d messages", v.Runs[1].Edited, v.Branches, v.Session.HeadID, len(v.Messages))
	}
	if got := strings.Join(c.told()[:3], " | "); got != "user: one | assistant: You said: one | user: note zwei" {
		t.Errorf("the model read %q, want nothing of the other branch", got)
	}
	for _, name := range []string{"two.txt", "zwei.txt"} {
		if _, err := os.Stat(filepath.Join(c.Folder, name)); err != nil {
			t.Errorf("files went back: %v", err)
		}
	}
	v, err := c.Person().State.ChooseBranch(t.Context(), two)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"one", "note two 1/2", "three"}, asked(v)); diff != "" {
		t.Errorf("the other branch, to its end (-want +got):\n%s", diff)
	}
	c.say("four")
	if diff := cmp.Diff([]string{"one", "note two 1/2", "three", "four"}, asked(c.view())); diff != "" {
		t.Errorf("a new message goes behind the branch that is shown (-want +got):\n%s", diff)
	}
}

func TestConversationIsReadByPages(t *testing.T) {
	t.Parallel()
	c := beginTalk(t)
	var ids []string
	for i := range 5 {
		ids = append(ids, c.say(fmt.Sprint("message ", i)))
	}
	other := c.say("beside", insteadOf(ids[4]))
	state := c.Person().State
	for _, tt := range []struct {
		name    string
		page    kernel.SessionPage
		want    []string
		earlier int
	}{
		{"the newest", kernel.SessionPage{Limit: 2}, []string{"message 3", "beside 2/2"}, 3},
		{"those before", kernel.SessionPage{Limit: 2, Before: ids[3]}, []string{"message 1", "message 2"}, 1},
		{"all before", kernel.SessionPage{Before: ids[3]}, []string{"message 0", "message 1", "message 2"}, 0},
		{"the last page", kernel.SessionPage{Limit: 2, Before: ids[1]}, []string{"message 0"}, 0},
		{"as far as one", kernel.SessionPage{Limit: 2, From: ids[1]}, []string{"message 1", "message 2", "message 3", "beside 2/2"}, 1},
		{"one that is on the page anyway", kernel.SessionPage{Limit: 2, From: other}, []string{"message 3", "beside 2/2"}, 3},
		{"before the first", kernel.SessionPage{Limit: 2, Before: ids[0]}, nil, 0},
	} {
		v, err := state.SessionPage(t.Context(), c.id, tt.page)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, asked(v)); diff != "" || v.Earlier != tt.earlier || len(v.Messages) != 2*len(tt.want) {
			t.Errorf("%s: %d earlier, %d messages, (-want +got):\n%s", tt.name, v.Earlier, len(v.Messages), diff)
		}
	}
	for name, page := range map[string]kernel.SessionPage{"from another branch": {From: ids[4]}, "before another branch": {Before: ids[4]}} {
		if _, err := state.SessionPage(t.Context(), c.id, page); sys.CodeOf(err) != sys.CodeNotFound {
			t.Errorf("%s: got %v, want not_found", name, err)
		}
	}
	if _, err := state.SessionPage(t.Context(), c.id, kernel.SessionPage{Limit: -1}); sys.CodeOf(err) != sys.CodeInvalid {
		t.Errorf("got %v, want invalid", err)
	}
}

func TestFirstMessageCanBeEdited(t *testing.T) {
	t.Parallel()
	c := beginTalk(t)
	one := c.say("one")
	c.say("eins", insteadOf(one))
	c.say("uno", insteadOf(one))
	if diff := cmp.Diff([]string{"uno 3/3"}, asked(c.view())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := c.told(); !cmp.Equal(got, []string{"user: uno"}) {
		t.Errorf("the model read %q", got)
	}
}

func TestAnswerIsMadeAgainWithAnotherModelForItAlone(t *testing.T) {
	t.Parallel()
	c := beginTalk(t)
	c.Demo.Models = []string{"other"}
	one := c.say("one")
	again := c.say("", insteadOf(one), func(m *kernel.Submit) { m.Model, m.Provider = "other", "env" })
	v := c.view()
	if got := v.Runs[0]; got.Run.ID != again || got.Run.Model != "other" || got.Run.Text != "one" || got.Edited || got.Sibling != 1 {
		t.Errorf("got %+v", got)
	}
	if v.Session.Model == "other" {
		t.Error("the conversation went over to the model of one answer")
	}
	two := c.say("two")
	if r, err := c.Person().Agents.Run(t.Context(), two); err != nil || r.Run.Model != kerneltest.Model {
		t.Errorf("got model %s, %v, want %s as before", r.Run.Model, err, kerneltest.Model)
	}
}

func TestWhatJoinedARunIsSaidAgainWithIt(t *testing.T) {
	t.Parallel()
	c := beginTalk(t, kerneltest.Script(pushScript))
	out := c.Say("push it")
	c.id = out.SessionID
	ap := c.Approval(out.RunID)
	c.Say("but to a branch", func(m *kernel.Submit) { m.SessionID = c.id })
	if _, err := c.Person().Security.Deny(t.Context(), ap.ID, ""); err != nil {
		t.Fatal(err)
	}
	c.Wait(out.RunID)
	again := c.Say("", insteadOf(out.RunID))
	if _, err := c.Person().Agents.Kill(t.Context(), again.RunID); err != nil {
		t.Fatal(err)
	}
	if r, err := c.Person().Agents.Run(t.Context(), again.RunID); err != nil || r.Run.Text != "push it\n\nbut to a branch" {
		t.Errorf("got %q, %v", r.Run.Text, err)
	}
}

func TestBranchStaysWhileAnAgentIsAtWork(t *testing.T) {
	t.Parallel()
	c := beginTalk(t)
	one := c.say("one")
	eins := c.say("eins", insteadOf(one))
	live := c.Say("wait", func(m *kernel.Submit) { m.SessionID = c.id })
	person := c.Person()
	_, err := person.Agents.Submit(t.Context(), kernel.Submit{InsteadOf: eins, Text: "uno"})
	_, cerr := person.State.ChooseBranch(t.Context(), one)
	_, berr := person.State.BranchSession(t.Context(), live.RunID)
	for _, err := range []error{err, cerr, berr} {
		if sys.CodeOf(err) != sys.CodeBusy || sys.AsError(err).Hint == "" {
			t.Errorf("got %v, want busy with a hint", err)
		}
	}
	// The branch that is shown already can be chosen, and one can be taken from its finished part.
	if v, err := person.State.ChooseBranch(t.Context(), eins); err != nil || v.Session.HeadID != live.RunID {
		t.Errorf("got %s, %v, want the head where it was", v.Session.HeadID, err)
	}
	if _, err := person.State.BranchSession(t.Context(), eins); err != nil {
		t.Error(err)
	}
	if _, err := person.Agents.Kill(t.Context(), live.RunID); err != nil {
		t.Fatal(err)
	}
	if v, err := person.State.ChooseBranch(t.Context(), one); err != nil || v.Session.HeadID != one {
		t.Errorf("after its end: got %s, %v, want %s", v.Session.HeadID, err, one)
	}
}

func TestContinueGoesOnBehindItsRun(t *testing.T) {
	t.Parallel()
	c := beginTalk(t)
	c.say("one")
	cut := c.Say("wait", func(m *kernel.Submit) { m.SessionID = c.id })
	c.Until("the answer begins", func() bool { return c.view().Session.State == "running" })
	if _, err := c.Person().Agents.Kill(t.Context(), cut.RunID); err != nil {
		t.Fatal(err)
	}
	c.say("instead", insteadOf(cut.RunID))
	out, err := c.Person().Agents.Continue(t.Context(), cut.RunID)
	if err != nil {
		t.Fatal(err)
	}
	c.Wait(out.RunID)
	if diff := cmp.Diff([]string{"one", "wait 1/2", "Go on where you stopped."}, asked(c.view())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestBranchThatWaitedGoesOnAfterARestart(t *testing.T) {
	t.Parallel()
	c := beginTalk(t)
	one := c.say("one")
	live := c.Say("push it", insteadOf(one))
	ap := c.Approval(live.RunID)
	c.Restart()
	if _, err := c.Person().Security.Deny(t.Context(), ap.ID, ""); err != nil {
		t.Fatal(err)
	}
	c.Wait(live.RunID)
	if got := c.told(); got[0] != "user: push it" {
		t.Errorf("the model read %q, want nothing of the other branch", got)
	}
	c.say("two")
	if diff := cmp.Diff([]string{"push it 2/2", "two"}, asked(c.view())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestConversationIsBranchedFromHereWithALinkBack(t *testing.T) {
	t.Parallel()
	c := beginTalk(t)
	c.say("note one")
	two := c.say("two")
	c.say("three")
	before, err := c.Person().Infra.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b, err := c.Person().State.BranchSession(t.Context(), two)
	if err != nil {
		t.Fatal(err)
	}
	if b.Title != "note one (branch)" || b.OriginID != c.id || b.Folder == "" || b.Cost.Calls != 0 {
		t.Errorf("got %+v", b)
	}
	branch := &talk{Kernel: c.Kernel, t: t, id: b.ID}
	v := branch.view()
	if diff := cmp.Diff([]string{"note one", "two"}, asked(v)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if want := (&kernel.Origin{SessionID: c.id, RunID: two, Title: "note one"}); !cmp.Equal(v.Origin, want) {
		t.Errorf("got origin %+v, want %+v", v.Origin, want)
	}
	if r := v.Runs[0]; len(r.Steps) != 3 || len(r.Changes) != 0 {
		t.Errorf("got %d steps and %d changes, want the steps, and no change that the copy made", len(r.Steps), len(r.Changes))
	}
	if now, err := c.Person().Infra.Status(t.Context()); err != nil || now.Today != before.Today {
		t.Errorf("got %+v spent, %v, want %+v", now.Today, err, before.Today)
	}
	ps, err := c.Person().Agents.List(t.Context(), kernel.ProcessQuery{All: true})
	if err != nil || len(ps) != 3 {
		t.Errorf("got %d processes, %v, want the three that ran", len(ps), err)
	}
	branch.say("four")
	if got := branch.told(); len(got) != 7 || got[0] != "user: note one" || got[6] != "user: four" {
		t.Errorf("the model read %q, want the copied part first", got)
	}
	second, err := c.Person().State.BranchSession(t.Context(), v.Runs[0].Run.ID)
	if err != nil || second.Title != "note one (branch 2)" {
		t.Errorf("got title %q, %v, want it counted", second.Title, err)
	}
	if _, err := c.Person().State.DeleteSession(t.Context(), c.id); err != nil {
		t.Fatal(err)
	}
	if v := branch.view(); v.Origin == nil || v.Origin.Title != "" || len(v.Runs) != 3 {
		t.Errorf("after the origin was deleted: got origin %+v and %d runs", v.Origin, len(v.Runs))
	}
}

func TestHistoryIsToldToTheModelThatComesNext(t *testing.T) {
	t.Parallel()
	c := beginTalk(t)
	c.Demo.Models = []string{"other"}
	c.say("note one")
	c.say("again, the same model")
	own := c.told()
	c.say("another", func(m *kernel.Submit) { m.Model, m.Provider = "other", "env" })
	other := c.told()
	if strings.Contains(own[1], "calls call00001") || other[1] != "assistant: calls call00001" || other[2] != "tool call00001" {
		t.Errorf("got %q for the same model and %q for another, want names that every provider takes", own[1:3], other[1:3])
	}
	tools, err := c.Person().Security.Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools {
		if err := c.Person().Security.SetTool(t.Context(), tool.Name, false); err != nil {
			t.Fatal(err)
		}
	}
	c.say("without tools")
	want := []string{
		"user: note one\n\n(Oxios: at this point the step write {\"path\": \"one.txt\", \"content\": \"one\\n\"} was taken. Its result:)\n",
		"assistant: Noted one.",
		"user: again, the same model",
	}
	got := c.told()
	if len(got) != 7 || !strings.HasPrefix(got[0], want[0]) || !cmp.Equal(got[1:3], want[1:]) {
		t.Errorf("got %q, want the step as text", got)
	}
}

func TestExportAndSearchKnowEveryBranch(t *testing.T) {
	t.Parallel()
	c := beginTalk(t)
	one := c.say("the hidden wording")
	c.say("the shown wording", insteadOf(one))
	person := c.Person()
	md, err := person.State.ExportSession(t.Context(), c.id, "md")
	if err != nil || strings.Contains(md, "hidden wording\n\n## ") || !strings.Contains(md, "shown wording") || !strings.Contains(md, "One of 2 branches") {
		t.Errorf("got %q, %v, want the shown branch", md, err)
	}
	raw, err := person.State.ExportSession(t.Context(), c.id, "json")
	var whole kernel.SessionView
	if err != nil || json.Unmarshal([]byte(raw), &whole) != nil || len(whole.Runs) != 2 || len(whole.Messages) != 4 {
		t.Errorf("got %d runs and %d messages, %v, want both branches", len(whole.Runs), len(whole.Messages), err)
	}
	found, err := person.State.Sessions(t.Context(), kernel.SessionQuery{Search: "hidden"})
	if err != nil || len(found) != 1 || found[0].HitRun != one {
		t.Errorf("got %+v, %v, want the run that is not shown", found, err)
	}
}

func TestOnlyAPersonBranches(t *testing.T) {
	t.Parallel()
	c := beginTalk(t)
	one := c.say("one")
	agent := c.Agent("auto")
	_, cerr := agent.State.ChooseBranch(t.Context(), one)
	_, berr := agent.State.BranchSession(t.Context(), one)
	_, serr := agent.Agents.Submit(t.Context(), kernel.Submit{InsteadOf: one, Text: "x"})
	for _, err := range []error{cerr, berr, serr} {
		if sys.CodeOf(err) != sys.CodeForbidden {
			t.Errorf("got %v, want forbidden", err)
		}
	}
	if _, err := c.Person().Agents.Submit(t.Context(), kernel.Submit{SessionID: c.Say("elsewhere").SessionID, InsteadOf: one, Text: "x"}); sys.CodeOf(err) != sys.CodeInvalid {
		t.Errorf("a run of another conversation: got %v, want invalid", err)
	}
}
