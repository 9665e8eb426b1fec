package kernel_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"oxios/kernel"
	"oxios/kernel/demo"
	"oxios/kernel/event"
	"oxios/kernel/kerneltest"
	"oxios/kernel/store"
)

// siteScript plays an agent that is unsure about a site, asks, begins it, and
// has its three parts made by agents of their own. One part does what its
// criterion does not say; the second version makes it good.
const siteScript = `
[[scenario]]
any = ["evaluation did not pass"]
[[scenario.turn]]
[[scenario.turn.call]]
tool = "write"
args = '{"path": "style.css", "content": "body { color: blue }\n"}'
[[scenario.turn]]
text = "The style is blue now."
[[scenario]]
match = "^Do one part of a larger task: (\\w+) says (\\w+)"
[[scenario.turn]]
[[scenario.turn.call]]
tool = "exec"
args = '{"command": "echo {{1}} >> parts.log"}'
[[scenario.turn]]
[[scenario.turn.call]]
tool = "exec"
args = '{"command": "test {{1}} = style && echo red > style.css || echo {{2}} > {{1}}.css", "network": true}'
[[scenario.turn]]
text = "{{1}} is made."
[[scenario]]
any = ["site", "begin"]
[[scenario.turn]]
[[scenario.turn.call]]
tool = "begin_task"
args = '{"goal": "a site", "acceptance_criteria": ["page says hello"], "clarity": {"goal": 0.3, "constraints": 1, "criteria": 1}, "questions": ["Which colour?"]}'
[[scenario.turn]]
[[scenario.turn.call]]
tool = "begin_task"
args = '{"goal": "a blue site", "acceptance_criteria": [{"text": "page says hello", "check": {"file": "page.css", "contains": "hello"}}, {"text": "style says blue", "check": {"file": "style.css", "contains": "blue"}}, {"text": "script says run", "check": {"file": "script.css", "contains": "run"}}], "clarity": {"goal": 1, "constraints": 1, "criteria": 1}}'
[[scenario.turn]]
text = "Put together: {{result}}"
`

func parts(t *testing.T, k *kerneltest.Kernel, run string) []kernel.Process {
	t.Helper()
	list, err := k.Person().Agents.List(t.Context(), kernel.ProcessQuery{All: true})
	if err != nil {
		t.Fatal(err)
	}
	list = slices.DeleteFunc(list, func(p kernel.Process) bool { return p.ParentID != run })
	slices.SortFunc(list, func(a, b kernel.Process) int { return int(a.PID - b.PID) })
	return list
}

func approveAll(t *testing.T, k *kerneltest.Kernel, runs []kernel.Process) {
	t.Helper()
	for _, p := range runs {
		ap := k.Approval(p.ID)
		if _, err := k.Person().Security.Approve(t.Context(), ap.ID, kernel.ApproveInput{Hash: ap.Request.Hash}); err != nil {
			t.Fatal(err)
		}
	}
}

// An approval of every part stands open at once, so all are at work at the same
// time; the restart in the middle forks nothing twice.
func TestThreePartsAreWorkedOnAtOnceAndSurviveARestart(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(siteScript))
	out := k.Say("make a site", func(m *kernel.Submit) { m.Mode = "autonomous" })
	k.Approval(out.RunID)
	if _, err := k.Person().Agents.Answer(t.Context(), kernel.AnswerInput{RunID: out.RunID, Answers: []string{"blue"}}); err != nil {
		t.Fatal(err)
	}
	k.Until("three parts wait", func() bool {
		list, err := k.Person().Security.Approvals(t.Context(), kernel.ApprovalQuery{State: "pending"})
		return err == nil && len(list) == 3
	})
	k.Restart()
	events, err := k.Person().Infra.Events(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	team := parts(t, k, out.RunID)
	if len(team) != 3 {
		t.Fatalf("got %d parts, want three", len(team))
	}
	approveAll(t, k, team)
	r := k.Wait(out.RunID)
	if r.State != "done" || r.EvaluationPassed == nil || !*r.EvaluationPassed || r.PhaseReached != "evaluate" {
		t.Fatalf("got %+v, want a task that passed in its second version", r)
	}
	v, err := k.Person().Agents.Seed(t.Context(), string(r.SeedID))
	if err != nil || len(v.Versions) != 2 {
		t.Fatalf("got %+v, %v, want two versions", v, err)
	}
	first, second := v.Versions[0], v.Versions[1]
	if len(first.Shares) != 3 || first.Shares[1].Name != "style says blue" || !slices.Equal(first.Shares[1].Criteria, []int{2}) || first.Shares[1].State != "done" {
		t.Errorf("got the shares %+v, want one for each criterion", first.Shares)
	}
	if first.Evaluation.Passed || len(first.Evaluation.Missed()) != 1 || len(second.Shares) != 0 {
		t.Errorf("got %+v, want the style alone missed, and nobody forked for the second version", first.Evaluation)
	}
	log, err := os.ReadFile(filepath.Join(k.Folder, "parts.log"))
	if words := strings.Fields(string(log)); err != nil || len(words) != 3 {
		t.Errorf("got %q, %v, want each part begun once", words, err)
	}
	if run, err := k.Person().Agents.Run(t.Context(), out.RunID); err != nil || run.Run.Priority != 2 {
		t.Errorf("got priority %d, %v, want an evolution to go first", run.Run.Priority, err)
	}
	view, err := k.Person().State.Session(t.Context(), out.SessionID)
	if err != nil {
		t.Fatal(err)
	}
	voices := 0
	for _, m := range view.Messages {
		if m.Role == "assistant" {
			voices++
			if strings.Contains(m.Content, "NOT done") || !strings.Contains(m.Content, "style is made") {
				t.Errorf("the agent was told %q, want what the parts said", m.Content)
			}
		}
	}
	if voices != 1 {
		t.Errorf("got %d answers, want one voice", voices)
	}
	for ended := 0; ended < 3; {
		if e := <-events; e.Kind == event.GroupMember {
			ended++
		}
	}
}

func TestStoppedPartIsNeverToldAsDone(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(siteScript))
	out := k.Say("make a site", func(m *kernel.Submit) { m.Mode = "autonomous" })
	k.Approval(out.RunID)
	if _, err := k.Person().Agents.Answer(t.Context(), kernel.AnswerInput{RunID: out.RunID, Answers: []string{"blue"}}); err != nil {
		t.Fatal(err)
	}
	k.Until("three parts wait", func() bool {
		list, err := k.Person().Security.Approvals(t.Context(), kernel.ApprovalQuery{State: "pending"})
		return err == nil && len(list) == 3
	})
	team := parts(t, k, out.RunID)
	// Its file is there, so its check would hold; but it was stopped in the middle.
	write(t, filepath.Join(k.Folder, "page.css"), "hello")
	if _, err := k.Person().Agents.Kill(t.Context(), team[0].ID); err != nil {
		t.Fatal(err)
	}
	approveAll(t, k, team[1:])
	r := k.Wait(out.RunID)
	v, err := k.Person().Agents.Seed(t.Context(), string(r.SeedID))
	if err != nil {
		t.Fatal(err)
	}
	missed := v.Versions[0].Evaluation.Missed()
	if len(missed) != 2 || missed[0].How != "agent" || missed[0].Evidence != "The agent that worked on it did not finish: it was stopped" {
		t.Errorf("got %+v, want the stopped part not done whatever its file says", missed)
	}
	if !strings.Contains(r.Response, "NOT done: it was stopped") {
		t.Errorf("the agent read %q, want it to know", r.Response)
	}
}

func TestTaskIsNotSplit(t *testing.T) {
	t.Parallel()
	for name, config := range map[string]string{"when it is switched off": "split_from = 0\n", "where agents may not fork": "max_depth = 0\n", "where there is no room": "max_children = 1\n"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := open(t, kerneltest.Script(siteScript))
			for line := range strings.Lines(config) {
				key, value, _ := strings.Cut(strings.TrimSpace(line), " = ")
				if _, err := k.Person().Infra.SetConfig(t.Context(), key, value); err != nil {
					t.Fatal(err)
				}
			}
			out := k.Say("make a site")
			k.Approval(out.RunID)
			if _, err := k.Person().Agents.Answer(t.Context(), kernel.AnswerInput{RunID: out.RunID, Answers: []string{"blue"}}); err != nil {
				t.Fatal(err)
			}
			if r := k.Wait(out.RunID); r.SeedID == "" || len(parts(t, k, out.RunID)) != 0 {
				t.Errorf("got %+v, want a task that one agent works on", r)
			}
		})
	}
}

// A task is killed right after commits all over its life: its questions, its
// seed, its parts and its evaluations.
func TestAKillAtAnyCommitOfATaskRepeatsNothing(t *testing.T) {
	t.Parallel()
	rounds := kerneltest.Many(16, 2)
	scenarios, err := demo.Parse([]byte(siteScript))
	if err != nil {
		t.Fatal(err)
	}
	where := places(t, scenarios)
	_, commits := where(t).live(t, 0)
	for i := range rounds {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			p := where(t)
			at := 8 + i*(commits-8)/rounds
			p.live(t, at)
			p.live(t, 0)
			k := open(t, kerneltest.At(p.home, p.folder), kerneltest.NotRunning())
			list, err := k.Person().Agents.List(t.Context(), kernel.ProcessQuery{All: true})
			if err != nil || len(list) != 4 {
				t.Fatalf("killed at %d: got %d runs, %v, want the task and its three parts", at, len(list), err)
			}
			seeds, err := k.Person().Agents.Seeds(t.Context(), kernel.SeedQuery{})
			if err != nil || len(seeds) < 2 || len(seeds) > 4 || seeds[0].State == "active" {
				t.Fatalf("killed at %d: got %+v, %v, want one seed that was evaluated to its end", at, seeds, err)
			}
			for i, s := range seeds { // an unknown step may cost a version more, never a second seed
				if s.ID != seeds[0].ID || s.Version != len(seeds)-i {
					t.Errorf("killed at %d: got %+v, want the versions of one seed", at, seeds)
				}
			}
			log, err := os.ReadFile(filepath.Join(p.folder, "parts.log"))
			if errors.Is(err, fs.ErrNotExist) {
				err = nil // the kill came before any part had written; that is told, as below
			}
			words := strings.Fields(string(log))
			if err != nil || len(words) > 3 || len(slices.Compact(slices.Sorted(slices.Values(words)))) != len(words) {
				t.Errorf("killed at %d: got %q, %v, want no part begun twice", at, words, err)
			}
			unknown := 0
			for _, part := range list {
				v, err := k.Person().Agents.Run(t.Context(), part.ID)
				if err != nil {
					t.Fatal(err)
				}
				if part.ParentID != "" && slices.ContainsFunc(v.Steps, func(s kernel.StepView) bool { return s.Name == "exec" && s.Outcome == store.OutcomeUnknown }) {
					unknown++
				}
			}
			if len(words)+unknown < 3 {
				t.Errorf("killed at %d: %q did their part, and of %d it is told that nobody knows: one was lost", at, words, unknown)
			}
			asked, err := k.Person().Security.Approvals(t.Context(), kernel.ApprovalQuery{})
			if err != nil {
				t.Fatal(err)
			}
			if n := len(slices.DeleteFunc(asked, func(a kernel.Approval) bool { return len(a.Request.Questions) == 0 })); n != 1 {
				t.Errorf("killed at %d: the person was asked %d times", at, n)
			}
			if r, err := k.Person().Security.VerifyAudit(t.Context()); err != nil || !r.OK {
				t.Errorf("killed at %d: the audit chain: %+v, %v", at, r, err)
			}
		})
	}
}

// testedScript plays an agent that has a tester at work when it begins a task
// with something to test.
const testedScript = `
[[scenario]]
match = '(?s)Do one part of a larger task: the tests pass'
[[scenario.turn]]
[[scenario.turn.call]]
tool = "write"
args = '{"path": "tests.txt", "content": "ok\n"}'
[[scenario.turn]]
text = "The tests pass."
[[scenario]]
match = "^Do one part of a larger task: (\\w+) is there"
[[scenario.turn]]
[[scenario.turn.call]]
tool = "write"
args = '{"path": "{{1}}.txt", "content": "here\n"}'
[[scenario.turn]]
text = "{{1}} is there."
[[scenario]]
match = "^test what is there"
[[scenario.turn]]
[[scenario.turn.call]]
tool = "exec"
args = '{"command": "echo looks", "network": true}'
[[scenario.turn]]
text = "I have looked."
[[scenario]]
match = "^make"
[[scenario.turn]]
[[scenario.turn.call]]
tool = "agent"
args = '{"action": "fork", "name": "Tester", "goal": "test what is there"}'
[[scenario.turn]]
[[scenario.turn.call]]
tool = "begin_task"
args = '{"goal": "a page", "acceptance_criteria": [{"text": "page is there", "check": {"file": "page.txt"}}, {"text": "style is there", "check": {"file": "style.txt"}}, {"text": "the tests pass", "check": {"file": "tests.txt"}}], "clarity": {"goal": 1, "constraints": 1, "criteria": 1}}'
[[scenario.turn]]
text = "Put together."
`

// tested begins the task and returns when the tester has not yet read of its part
// and the others have done theirs: whoever ends the kernel cuts off nobody's write.
func tested(t *testing.T) (k *kerneltest.Kernel, run string, tester kernel.Process) {
	t.Helper()
	k = open(t, kerneltest.Script(testedScript))
	run = k.Say("make a page", func(m *kernel.Submit) { m.Mode = "autonomous" }).RunID
	k.Until("the parts are given out", func() bool {
		team := parts(t, k, run)
		return len(team) == 3 && team[1].State.Ended() && team[2].State.Ended() && strings.Contains(strings.Join(mail(t, k, ""), "\n"), "waiting")
	})
	return k, run, parts(t, k, run)[0]
}

func TestAPartGoesToTheAgentAtWorkThatWasStartedForIt(t *testing.T) {
	t.Parallel()
	k, run, tester := tested(t)
	k.Restart()
	asks := k.Approval(tester.ID).Request
	if !slices.Equal(asks.Ancestry, []string{"make a page"}) || asks.Agent != "Tester" || asks.Spent == nil || asks.Spent.Calls == 0 || !asks.Spent.Free {
		t.Errorf("got %q of %q, spent %+v; want the tester of the run that made it, and what it cost", asks.Agent, asks.Ancestry, asks.Spent)
	}
	approveAll(t, k, []kernel.Process{tester})
	r := k.Wait(run)
	v, err := k.Person().Agents.Seed(t.Context(), string(r.SeedID))
	if err != nil || len(v.Versions) != 1 || len(v.Versions[0].Shares) != 3 {
		t.Fatalf("got %+v, %v, want one version with three parts", v, err)
	}
	for _, s := range v.Versions[0].Shares {
		if slices.Equal(s.Criteria, []int{3}) != (s.RunID == tester.ID) {
			t.Errorf("%s works on %v, want the tester on the tests", s.Name, s.Criteria)
		}
	}
	if len(parts(t, k, run)) != 3 || r.EvaluationPassed == nil || !*r.EvaluationPassed {
		t.Errorf("got %+v and %d agents, want a task that passed with one fork for each other part", r, len(parts(t, k, run)))
	}
	fork, err := k.Person().Agents.Run(t.Context(), parts(t, k, run)[1].ID)
	if err != nil {
		t.Fatal(err)
	}
	if team, err := k.Person().Agents.List(t.Context(), kernel.ProcessQuery{MadeBy: fork.Run.MadeBy, All: true}); err != nil || len(team) != 3 {
		t.Errorf("got %+v, %v, want the tester in the team", team, err)
	}
}

func TestAForkTakesThePartOfAnAgentThatEndedBeforeItReadOfIt(t *testing.T) {
	t.Parallel()
	k, run, tester := tested(t)
	if _, err := k.Person().Agents.Kill(t.Context(), tester.ID); err != nil {
		t.Fatal(err)
	}
	r := k.Wait(run)
	v, err := k.Person().Agents.Seed(t.Context(), string(r.SeedID))
	if err != nil || len(v.Versions[0].Shares) != 3 {
		t.Fatalf("got %+v, %v, want three parts", v, err)
	}
	for _, s := range v.Versions[0].Shares {
		if s.RunID == tester.ID || s.State != "done" {
			t.Errorf("got %+v, want it done by another than the tester", s)
		}
	}
	if r.EvaluationPassed == nil || !*r.EvaluationPassed {
		t.Errorf("got %+v, want a task that passed", r)
	}
}
