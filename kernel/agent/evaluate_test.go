package agent_test

import (
	"context"
	"encoding/json"
	"testing"

	"oxios/kernel/agent"
	"oxios/kernel/llm"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// promise is a task that checks once and asks a judge once.
type promise struct {
	checks int
	die    context.CancelCauseFunc // ends the process behind the check
}

func (p *promise) Active() bool { return true }

func (p *promise) Evaluate(ctx context.Context, e *agent.Evaluation) (agent.Verdict, error) {
	_, problem, err := e.Check(ctx, "criterion 1", sys.Words{EN: "Check"}, nil, func(context.Context) (agent.Result, error) {
		p.checks++
		return agent.Result{Text: "seen"}, nil
	})
	if err != nil || problem != nil {
		return agent.Verdict{}, err
	}
	if p.die != nil {
		p.die(agent.ErrShutdown)
		return agent.Verdict{}, context.Cause(ctx)
	}
	text, err := e.Ask(ctx, llm.Request{})
	return agent.Verdict{Record: json.RawMessage(`{}`), Said: e.Answer + ", judged " + text, Status: store.StatusMissed}, err
}

func TestEvaluationGoesOnWhereItsProcessEnded(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	task := &promise{die: cancel}
	first := &model{turns: []turn{{text: "Done."}}}
	if run := b.execute(t, ctx, first, func(s *agent.Spec) { s.Task = task }); run.State.Ended() {
		t.Fatalf("got %s, want a run that is still open", run.State)
	}

	task.die = nil
	again := &model{turns: []turn{{text: "well"}}}
	run := b.execute(t, t.Context(), again, func(s *agent.Spec) { s.Task, s.Steps = task, b.steps(t) })
	if run.State != store.RunDone || task.checks != 1 || len(again.seen) != 1 {
		t.Errorf("got %s after %d checks and %d calls, want the check not repeated and the judge alone asked", run.State, task.checks, len(again.seen))
	}
	if got := b.answer(t); got.Content != "Done.\n\nDone., judged well" || got.Status != store.StatusMissed {
		t.Errorf("got %q, status %q", got.Content, got.Status)
	}
	var kinds []store.StepKind
	for _, s := range b.steps(t) {
		kinds = append(kinds, s.Kind)
	}
	if len(kinds) != 4 || kinds[1] != store.StepCheck || kinds[2] != store.StepJudge || kinds[3] != store.StepEvaluation {
		t.Errorf("got steps %q", kinds)
	}
}
