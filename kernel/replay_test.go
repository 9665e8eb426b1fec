package kernel_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"oxios/kernel"
	"oxios/kernel/event"
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

// heard is what the bus told of a run while it was live, step by step, with the
// pieces of its streams joined and without any time.
func heard(t *testing.T, events <-chan kernel.Event, run string) (out []kernel.ReplayEvent) {
	t.Helper()
	at := map[string]int{}
	var text, reasoning strings.Builder
	for e := range events {
		if e.RunID != run {
			continue
		}
		switch e.Kind {
		case event.RunText, event.RunReasoning:
			piece, _ := event.As[event.Text](e)
			if e.Kind == event.RunText {
				text.WriteString(piece.Text)
			} else {
				reasoning.WriteString(piece.Text)
			}
		case event.StepChanged:
			s, _ := event.As[kernel.StepView](e)
			i, known := at[s.ID]
			if !known {
				i, at[s.ID] = len(out), len(out)
				out = append(out, kernel.ReplayEvent{Kind: string(s.Kind), Name: s.Name})
			}
			if states := out[i].States; len(states) == 0 || states[len(states)-1] != string(s.State) {
				out[i].States = append(states, string(s.State))
			}
			if s.State == "closed" {
				out[i].Outcome, out[i].Output = s.Outcome, s.Output
				if s.Kind == "model" {
					out[i].Text, out[i].Reasoning = text.String(), reasoning.String()
					text.Reset()
					reasoning.Reset()
				}
			}
		case event.RunEnded:
			r, _ := event.As[kernel.Run](e)
			return append(out, kernel.ReplayEvent{Kind: "run", Outcome: string(r.State), Text: r.EndReason})
		}
	}
	t.Fatal("the run did not end")
	return nil
}

func TestAReplayTellsWhatTheBusToldWhileTheRunWasLive(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(replayScript))
	events, err := k.Person().Infra.Events(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	run := k.Say("work", func(m *kernel.Submit) { m.Mode = "guarded" }).RunID
	if _, err := k.Person().Security.Deny(t.Context(), k.Approval(run).ID, "not today"); err != nil {
		t.Fatal(err)
	}
	live := heard(t, events, run)
	played := replayed(t, k, kernel.ReplayQuery{RunID: run}).Events
	for i := range played {
		played[i].Args = nil // they stand in the proposal
		if i < len(live) && len(live[i].States) > 0 && live[i].States[0] != "proposed" {
			live[i].States = append([]string{"proposed"}, live[i].States...) // a model call is proposed in the moment in which it starts
		}
	}
	if diff := cmp.Diff(live, played); diff != "" {
		t.Errorf("the replay tells something else (-live +replay):\n%s", diff)
	}
}
