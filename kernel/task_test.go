package kernel_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
	"oxios/kernel/sys"
)

const taskScript = `
[[scenario]]
any = ["tidy"]
[[scenario.turn]]
[[scenario.turn.call]]
tool = "begin_task"
args = '{"goal": "the notes are tidy", "acceptance_criteria": [{"text": "no list", "check": {"file": "list.md", "not": true}}], "clarity": {"goal": 0.5, "constraints": 1, "criteria": 1}, "questions": ["Which notes?"]}'
[[scenario.turn]]
[[scenario.turn.call]]
tool = "begin_task"
args = '{"goal": "all notes are tidy", "acceptance_criteria": [{"text": "no list", "check": {"file": "list.md", "not": true}}], "clarity": {"goal": 1, "constraints": 1, "criteria": 1}}'
[[scenario.turn]]
text = "Tidy."
[[scenario]]
any = ["checked"]
[[scenario.turn]]
[[scenario.turn.call]]
tool = "begin_task"
args = '{"goal": "it is there", "acceptance_criteria": [{"text": "made", "check": {"command": "touch made"}}], "clarity": {"goal": 1, "constraints": 1, "criteria": 1}}'
[[scenario.turn]]
text = "It is."
[[scenario]]
any = ["plain"]
[[scenario.turn]]
[[scenario.turn.call]]
tool = "begin_task"
args = '{"goal": "it is there", "acceptance_criteria": [{"text": "no list", "check": {"file": "list.md", "not": true}}], "clarity": {"goal": 1, "constraints": 1, "criteria": 1}}'
[[scenario.turn]]
text = "It is."
[[scenario]]
any = ["hello"]
[[scenario.turn]]
text = "Hello."
`

func TestChatMessageCostsOneModelCall(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(taskScript))
	r := k.Ask("hello")
	if r.Cost.Calls != 1 || r.PhaseReached != "chat" || r.SeedID != "" || r.EvaluationPassed != nil {
		t.Errorf("got %d calls, phase %s, seed %q, want one call and no task", r.Cost.Calls, r.PhaseReached, r.SeedID)
	}
	if _, err := os.Stat(filepath.Join(k.Home, "workspace")); err == nil {
		t.Error("a chat made a workspace")
	}
}

func TestQuestionSurvivesARestartAndIsAnsweredAfterIt(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(taskScript))
	run := k.Say("tidy up").RunID
	asked := k.Approval(run)
	k.Restart()
	if again := k.Approval(run); again.ID != asked.ID || len(again.Request.Questions) != 1 {
		t.Fatalf("got %+v, want the same question", again)
	}
	if _, err := k.Person().Agents.Answer(t.Context(), kernel.AnswerInput{RunID: run, Answers: []string{"all"}}); err != nil {
		t.Fatal(err)
	}
	r := k.Wait(run)
	if r.EvaluationPassed == nil || !*r.EvaluationPassed || r.PhaseReached != "evaluate" || r.SeedID == "" {
		t.Fatalf("got %+v, want a task that passed", r)
	}
	v, err := k.Person().Agents.Seed(t.Context(), string(r.SeedID))
	if err != nil || len(v.Versions) != 1 || len(v.History) != 1 || v.Versions[0].Evaluation == nil {
		t.Fatalf("got %+v, %v, want one version with its evaluation and its commit", v, err)
	}
	if given := v.Versions[0].Seed.Answers; len(given) != 1 || given[0].Answer != "all" {
		t.Errorf("got answers %+v, want what the person said", given)
	}
	// The files are the truth, and git has them: what is lost comes back.
	file := filepath.Join(k.Home, "workspace", "seeds", string(r.SeedID[len(r.SeedID)-2:]), string(r.SeedID)+"-v1.json")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if _, err := k.Person().Agents.Seed(t.Context(), string(r.SeedID)); err != nil {
		t.Errorf("a lost file did not come back: %v", err)
	}
	// As homes have it in which each seed has a folder.
	older := filepath.Join(k.Home, "workspace", "seeds", string(r.SeedID), "v1.json")
	if err := os.MkdirAll(filepath.Dir(older), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(file, older); err != nil {
		t.Fatal(err)
	}
	if v, err := k.Person().Agents.Seed(t.Context(), string(r.SeedID)); err != nil || len(v.Versions) != 1 || len(v.History) != 1 {
		t.Errorf("got %+v, %v of a seed with a folder of its own", v, err)
	}
}

func TestQuestionIsAnsweredOnceByOne(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(taskScript))
	run := k.Say("tidy up").RunID
	ap := k.Approval(run)
	h := k.Person().Agents
	for name, c := range map[string]struct {
		in   kernel.AnswerInput
		code sys.Code
	}{
		"nothing":  {kernel.AnswerInput{RunID: run}, sys.CodeInvalid},
		"too many": {kernel.AnswerInput{RunID: run, Answers: []string{"a", "b"}}, sys.CodeInvalid},
		"stale":    {kernel.AnswerInput{RunID: run, ApprovalID: "other", Assume: true}, sys.CodeConflict},
		"nobody":   {kernel.AnswerInput{RunID: "no-run", Assume: true}, sys.CodeNotFound},
	} {
		if _, err := h.Answer(t.Context(), c.in); sys.CodeOf(err) != c.code {
			t.Errorf("%s: got %v, want %s", name, err, c.code)
		}
	}
	if _, err := k.Agent("auto").Agents.Answer(t.Context(), kernel.AnswerInput{RunID: run, Assume: true}); sys.CodeOf(err) != sys.CodeForbidden {
		t.Errorf("got %v, want an agent refused: nobody answers for the person", err)
	}
	if _, err := k.Person().Agents.BeginTask(t.Context(), kernel.Task{}); sys.CodeOf(err) != sys.CodeForbidden {
		t.Errorf("got %v, want that only an agent begins a task", err)
	}
	// A plain yes, as from a notification, means: assume and start.
	if _, err := k.Person().Security.Approve(t.Context(), ap.ID, kernel.ApproveInput{Hash: ap.Request.Hash}); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Answer(t.Context(), kernel.AnswerInput{RunID: run, Assume: true}); sys.CodeOf(err) != sys.CodeConflict {
		t.Errorf("got %v, want a conflict for the second answer", err)
	}
	r := k.Wait(run)
	v, err := k.Person().Agents.Seed(t.Context(), string(r.SeedID))
	if err != nil || strings.Join(v.Versions[0].Seed.Assumptions, "") != "Which notes?" {
		t.Errorf("got %+v, %v, want the assumption recorded", v, err)
	}
}

func TestCheckThatWaitsGoesOnAfterARestart(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(taskScript))
	run := k.Say("is it checked?", func(m *kernel.Submit) { m.Mode = "ask" }).RunID
	before := k.Approval(run)
	k.Restart()
	ap := k.Approval(run)
	if ap.ID != before.ID || ap.Request.Command != "touch made" {
		t.Fatalf("got %+v, want the same request", ap)
	}
	if _, err := k.Person().Security.Approve(t.Context(), ap.ID, kernel.ApproveInput{Hash: ap.Request.Hash}); err != nil {
		t.Fatal(err)
	}
	r := k.Wait(run)
	if r.EvaluationPassed == nil || !*r.EvaluationPassed || r.Cost.Calls != 2 {
		t.Errorf("got %+v, want it passed, with the model asked no more than before", r)
	}
}

func TestSeedOfAStoppedRunHasEnded(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(taskScript))
	run := k.Say("is it checked?", func(m *kernel.Submit) { m.Mode = "ask" }).RunID
	k.Approval(run)
	if _, err := k.Person().Agents.Kill(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	k.Wait(run)
	seeds, err := k.Person().Agents.Seeds(t.Context(), kernel.SeedQuery{RunID: run})
	if err != nil || len(seeds) != 1 || seeds[0].State != "ended" || seeds[0].Score != nil {
		t.Errorf("got %+v, %v, want it ended without a score", seeds, err)
	}
	r, err := k.Person().Infra.Doctor(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range r.Checks {
		if c.Name == "workspace" && c.State != "ok" {
			t.Errorf("got %+v", c)
		}
	}
}

// A home that has tasks of its own takes up those of a backup, with what came
// of them, and its own history goes on.
func TestSeedsComeAlongInABackup(t *testing.T) {
	t.Parallel()
	from, into := open(t, kerneltest.Script(taskScript)), open(t, kerneltest.Script(taskScript))
	theirs, ours := from.Ask("plain work"), into.Ask("plain work")
	if string(theirs.SeedID) == "" || string(ours.SeedID) == "" {
		t.Fatalf("got the seeds %q and %q, want one each", string(theirs.SeedID), string(ours.SeedID))
	}
	restore(t, into, backup(t, from).Path)
	for _, id := range []string{string(theirs.SeedID), string(ours.SeedID)} {
		v, err := into.Person().Agents.Seed(t.Context(), id)
		if err != nil || len(v.Versions) == 0 || v.Versions[0].Evaluation == nil || v.Versions[0].Seed.Goal != "it is there" {
			t.Errorf("seed %s: got %+v, %v, want it with its evaluation", id, v, err)
		}
	}
	if next := into.Ask("plain work again"); next.EvaluationPassed == nil {
		t.Errorf("got %+v, want a task that begins after the restore", next)
	}
	report, err := into.Person().Infra.Doctor(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range report.Checks {
		if c.Name == "workspace" && c.State != kernel.CheckOK {
			t.Errorf("the doctor says of the workspace: %+v", c)
		}
	}
	v, err := into.Person().Agents.Seed(t.Context(), string(theirs.SeedID))
	if err != nil || len(v.History) == 0 {
		t.Errorf("got the history %+v, %v, want the commit that took it up", v.History, err)
	}
}
