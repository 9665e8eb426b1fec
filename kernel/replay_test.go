package kernel_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
	"oxios/kernel/sys"
)

const replayScript = `
[[scenario]]
match = "^work"
[[scenario.turn]]
reasoning = "Two things."
text = "I look and write."
[[scenario.turn.call]]
tool = "ls"
args = '{}'
[[scenario.turn.call]]
tool = "write"
args = '{"path": "a.txt", "content": "a"}'
[[scenario.turn.call]]
tool = "no_such_tool"
args = '{}'
[[scenario.turn]]
[[scenario.turn.call]]
tool = "exec"
args = '{"command": "curl http://127.0.0.1:9/ || true", "network": true}'
[[scenario.turn.call]]
tool = "exec"
args = 'not json'
[[scenario.turn]]
text = "Done."
[[scenario]]
match = "^fail"
[[scenario.turn]]
text = "half"
cut_chunks = 1
[[scenario]]
match = "^hang"
[[scenario.turn]]
text = "I hang"
hang = true
`

func replayed(t *testing.T, k *kerneltest.Kernel, q kernel.ReplayQuery) kernel.Replay {
	t.Helper()
	r, err := k.Person().Agents.Replay(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestAReplayComesToTheSameWithoutAModelOrAnEffect(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(replayScript))
	run := k.Say("work", func(m *kernel.Submit) { m.Mode = "guarded" }).RunID
	if _, err := k.Person().Security.Deny(t.Context(), k.Approval(run).ID, "not today"); err != nil {
		t.Fatal(err)
	}
	k.Wait(run)
	failed := k.Ask("fail").RunID
	hangs := k.Say("hang").RunID
	k.Until("it hangs", func() bool { return asking(k) == 1 })
	if _, err := k.Person().Agents.Kill(t.Context(), hangs); err != nil {
		t.Fatal(err)
	}
	served := k.Demo.Served()
	for what, id := range map[string]string{"done": run, "failed": failed, "stopped": hangs} {
		r := replayed(t, k, kernel.ReplayQuery{RunID: id})
		if !r.Same {
			t.Errorf("%s: the replay differs (-record +replay):\n%s", what, r.Differs)
		}
		again := replayed(t, k, kernel.ReplayQuery{RunID: id})
		a, _ := json.Marshal(r.Events)
		b, _ := json.Marshal(again.Events)
		if string(a) != string(b) {
			t.Errorf("%s: two replays differ:\n%s\n%s", what, a, b)
		}
		if last := r.Events[len(r.Events)-1]; last.Kind != "run" || last.Outcome != what {
			t.Errorf("%s: got the end %+v", what, last)
		}
	}
	if k.Demo.Served() != served {
		t.Error("a replay asked the model")
	}
	states := ""
	for _, e := range replayed(t, k, kernel.ReplayQuery{RunID: run}).Events {
		if e.Name == "exec" && e.Outcome == "denied" {
			states = strings.Join(e.States, " ")
		}
	}
	if states != "proposed waiting closed" {
		t.Errorf("the denied step: got %q, want it never started", states)
	}
}

func TestAReplayUnderAnotherPolicyNamesTheDecisionsThatDiffer(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(replayScript))
	run := k.Say("work", func(m *kernel.Submit) { m.Mode = "guarded" }).RunID
	if _, err := k.Person().Security.Deny(t.Context(), k.Approval(run).ID, ""); err != nil {
		t.Fatal(err)
	}
	k.Wait(run)
	before, _ := k.Person().Security.Audit(t.Context(), kernel.AuditQuery{RunID: run})
	if r := replayed(t, k, kernel.ReplayQuery{RunID: run, Policy: &kernel.ReplayPolicy{}}); !r.Same {
		t.Errorf("the same policy: got %+v, want no difference", r.Decisions)
	}
	r := replayed(t, k, kernel.ReplayQuery{RunID: run, Policy: &kernel.ReplayPolicy{Mode: "ask"}})
	if len(r.Decisions) != 1 || r.Decisions[0].Tool != "write" || r.Decisions[0].Was != "free" || r.Decisions[0].Now != "ask" {
		t.Errorf("asking for everything: got %+v, want the write alone", r.Decisions)
	}
	r = replayed(t, k, kernel.ReplayQuery{RunID: run, Policy: &kernel.ReplayPolicy{ToolsOff: []string{"exec"}}})
	if len(r.Decisions) != 1 || r.Decisions[0].Tool != "exec" || r.Decisions[0].Now != "never" {
		t.Errorf("without exec: got %+v, want the one call that came to the guard", r.Decisions)
	}
	if after, _ := k.Person().Security.Audit(t.Context(), kernel.AuditQuery{RunID: run}); len(after) != len(before) {
		t.Errorf("trying a policy left %d records of the run", len(after)-len(before))
	}
	if list, _ := k.Person().Security.Approvals(t.Context(), kernel.ApprovalQuery{State: "pending"}); len(list) != 0 {
		t.Errorf("trying a policy asked the person: %+v", list)
	}
	if _, err := k.Person().Agents.Replay(t.Context(), kernel.ReplayQuery{RunID: run, Policy: &kernel.ReplayPolicy{Mode: "wild"}}); sys.CodeOf(err) != sys.CodeInvalid {
		t.Errorf("a mode that there is none of: got %v", err)
	}
}

func TestAReplayComesToTheSameVerdicts(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(filepath.Join("testdata", "talk", "task-evolves.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	part := map[string]string{}
	for _, f := range txtar.Parse(raw).Files {
		part[f.Name] = string(f.Data)
	}
	k := open(t, kerneltest.Script(part["script.toml"]))
	text := strings.TrimSpace(part["say"])
	mode := ""
	if rest, ok := strings.CutPrefix(text, "mode: "); ok {
		mode, text, _ = strings.Cut(rest, "\n")
	}
	run := k.Ask(text, func(m *kernel.Submit) { m.Mode = mode })
	if run.PhaseReached != "evolve" && run.SeedID == "" {
		t.Fatalf("got %+v, want a task that evolved", run)
	}
	if r := replayed(t, k, kernel.ReplayQuery{RunID: run.RunID}); !r.Same {
		t.Errorf("the replay differs (-record +replay):\n%s", r.Differs)
	}
}
