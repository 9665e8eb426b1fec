package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"oxios/kernel/llm"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// Task is what a run has promised. When the model answers without a tool call
// while it is active, the run does not end before it was evaluated.
type Task interface {
	Active() bool

	// Evaluate finds out whether the promise is kept. It is called again, with
	// the same answer, when the process ended in the middle of it; steps of e
	// that are closed are not repeated. An error ends the run as failed.
	Evaluate(ctx context.Context, e *Evaluation) (Verdict, error)
}

// Verdict is what comes of an evaluation.
type Verdict struct {
	Record json.RawMessage // as the journal keeps it and a person sees it
	Text   string          // what the model reads of it; "" for nothing
	Again  bool            // the run goes on with it
	Said   string          // what is added to the answer when the run ends
	Status string          // of the message when the run ends
	Reason string          // why the run ends

	Also func(tx *store.Tx) error // what is one with it; may be nil
	Then func()                   // once it is durable; may be nil
}

// EvaluationStep is what the journal keeps of an evaluation.
type EvaluationStep struct {
	Record json.RawMessage `json:"record"`
	Text   string          `json:"text,omitempty"`
}

// Evaluation is one evaluation of a run under way: what it is about, and the
// steps by which it finds out.
type Evaluation struct {
	Answer string // what the model said last
	Last   bool   // the run has used up its turns: it cannot go on

	x     *run
	since []store.Step // its own steps of an earlier sitting
}

// Talk returns what was said and done in this run.
func (e *Evaluation) Talk() []llm.Message {
	return e.x.own
}

// Check makes call as a step of the run, and returns what it gave, or the
// problem with which it ended. id names it within this evaluation: a step of
// that name that was made before is not repeated. The error is that the run
// cannot go on.
func (e *Evaluation) Check(ctx context.Context, id string, title sys.Words, args any, call func(context.Context) (Result, error)) (Result, *sys.Error, error) {
	step := e.earlier(store.StepCheck, id)
	switch {
	case step == nil:
		step = &store.Step{Kind: store.StepCheck, Name: "check", CallID: id, Args: mustJSON(CallArgs{Title: title.EN, TitleKO: title.KO, Args: mustJSON(args)})}
		if err := e.x.Store.Write(ctx, func(tx *store.Tx) error { return e.x.journal.Propose(tx, step) }); err != nil {
			return Result{}, nil, fmt.Errorf("plan a check: %w", err)
		}
	case step.State == store.StepClosed:
		return checked(*step)
	}
	open := e.x.journal.Open(step)
	if step.State == store.StepStarted {
		if err := e.x.closeStep(ctx, open, store.OutcomeUnknown, mustJSON(ToolStep{Text: unknownText}), nil); err != nil {
			return Result{}, nil, err
		}
		return checked(open.Step())
	}
	if step.State == store.StepProposed {
		e.x.publishStep(open.Step())
	}
	res, err := call(store.WithStep(ctx, open))
	if err != nil && ctx.Err() != nil {
		if !errors.Is(context.Cause(ctx), ErrShutdown) {
			err = errors.Join(context.Cause(ctx), e.x.closeStep(ctx, open, store.OutcomeCanceled, mustJSON(ToolStep{Text: ErrorText(context.Cause(ctx))}), nil))
		}
		return Result{}, nil, err
	}
	kept := ToolStep{Title: res.Title.EN, TitleKO: res.Title.KO, Text: res.Text}
	outcome := store.OutcomeOK
	if err != nil {
		outcome, kept.Error = outcomeOf(ctx, err), sys.AsError(err)
		kept.Text = strings.TrimSpace(ErrorText(err) + "\n\n" + res.Text)
	}
	if cerr := e.x.closeStep(ctx, open, outcome, mustJSON(kept), nil); cerr != nil {
		return Result{}, nil, cerr
	}
	return checked(open.Step())
}

// checked is what a closed check gave.
func checked(s store.Step) (Result, *sys.Error, error) {
	var kept ToolStep
	if err := json.Unmarshal(s.Result, &kept); err != nil {
		return Result{}, nil, fmt.Errorf("read check %s: %w", s.ID, err)
	}
	res := Result{Text: kept.Text, Title: sys.Words{EN: kept.Title, KO: kept.TitleKO}}
	if s.Outcome == store.OutcomeUnknown {
		return res, sys.Errorf(sys.CodeUnavailable, "It is not known how the check ended, because Oxios stopped in the middle of it."), nil
	}
	return res, kept.Error, nil
}

// Ask makes one call of the run's model as a step of the run. What it costs
// counts; it is no turn.
func (e *Evaluation) Ask(ctx context.Context, req llm.Request) (string, error) {
	x := e.x
	if s := e.earlier(store.StepJudge, "judge"); s != nil && s.State == store.StepClosed && s.Outcome == store.OutcomeOK {
		var kept ModelStep
		err := json.Unmarshal(s.Result, &kept)
		return kept.Text, err
	}
	open := x.journal.Plan(&store.Step{Kind: store.StepJudge, Name: x.spec.Run.Model, CallID: "judge"})
	req.Model, req.ContextLength = x.spec.Run.Model, x.spec.ContextLength
	resp, cost, err := x.spec.Model.Complete(store.WithStep(ctx, open), req, func(llm.Delta) {})
	x.cost = x.cost.Add(cost)
	kept := ModelStep{Cost: cost}
	if resp != nil {
		kept.Text, kept.Finish, kept.Model = resp.Message.Content, resp.FinishReason, resp.Model
		kept.Stand = resp.Stand
	}
	outcome := store.OutcomeOK
	if err != nil {
		if errors.Is(context.Cause(ctx), ErrShutdown) {
			return "", err
		}
		outcome, kept.Error = outcomeOf(ctx, err), err.Error()
	}
	also := func(tx *store.Tx) error {
		return x.Store.UpdateRun(tx, x.id, store.RunPatch{Cost: &x.cost})
	}
	if cerr := x.closeStep(ctx, open, outcome, mustJSON(kept), also); cerr != nil {
		return "", cerr
	}
	return kept.Text, err
}

func (e *Evaluation) earlier(kind store.StepKind, id string) *store.Step {
	for i := range e.since {
		if s := &e.since[i]; s.Kind == kind && s.CallID == id && (kind != store.StepJudge || s.Outcome == store.OutcomeOK) {
			return s
		}
	}
	return nil
}

// answered closes a model step that would end the run, and evaluates first.
// What other agents have written is read before that.
func (x *run) answered(ctx context.Context, open *store.OpenStep, kept ModelStep, end ending, last bool) (ending, []call, bool) {
	more := false
	err := x.closeStep(ctx, open, store.OutcomeOK, mustJSON(kept), func(tx *store.Tx) (err error) {
		if more, err = x.unread(tx, end); err != nil || more {
			return err
		}
		return x.Store.UpdateRun(tx, x.id, store.RunPatch{Turns: &x.turns, Cost: &x.cost})
	})
	if err != nil {
		return x.failed(ctx, err, ""), nil, true
	}
	if more {
		return ending{}, nil, false
	}
	end, done := x.evaluate(ctx, end, &Evaluation{x: x, Answer: kept.Text, Last: last})
	return end, nil, done
}

// evaluate ends the run, or has it go on with what is missing.
func (x *run) evaluate(ctx context.Context, end ending, e *Evaluation) (ending, bool) {
	v, err := x.spec.Task.Evaluate(ctx, e)
	switch {
	case errors.Is(context.Cause(ctx), ErrShutdown):
		return ending{}, true // at its next sitting the run goes on here
	case ctx.Err() != nil:
		return x.failed(ctx, context.Cause(ctx), ""), true
	case err != nil:
		return x.failed(ctx, err, ""), true
	}
	keep := context.WithoutCancel(ctx)
	if !v.Again {
		if v.Status != "" {
			end.status = v.Status
		}
		if v.Reason != "" {
			end.reason = v.Reason
		}
		end.text = v.Said
	}
	step := x.journal.Plan(&store.Step{Kind: store.StepEvaluation, Name: "evaluation", Args: mustJSON(EvaluationStep{Record: v.Record, Text: v.Text})})
	err = x.closeStep(keep, step, store.OutcomeOK, nil, func(tx *store.Tx) error {
		if v.Also != nil {
			if err := v.Also(tx); err != nil {
				return err
			}
		}
		if v.Again {
			return nil
		}
		return x.finishIn(tx, &end)
	})
	if err != nil {
		return x.failed(ctx, err, ""), true
	}
	if v.Then != nil {
		v.Then()
	}
	if v.Again {
		x.add(llm.Message{Role: llm.RoleUser, Content: v.Text})
		return ending{}, false
	}
	x.announceEnd(end)
	end.committed = true
	return end, true
}

// reevaluate goes on with an evaluation that an earlier sitting began: behind
// the last answer there is none that was finished.
func (x *run) reevaluate(ctx context.Context) (ending, bool) {
	if x.spec.Task == nil || !x.spec.Task.Active() {
		return ending{}, false
	}
	for i := len(x.spec.Steps) - 1; i >= 0; i-- {
		s := x.spec.Steps[i]
		switch s.Kind {
		case store.StepCheck, store.StepJudge:
			continue
		case store.StepModel:
			var m ModelStep
			if s.State != store.StepClosed || s.Outcome != store.OutcomeOK || json.Unmarshal(s.Result, &m) != nil || len(m.ToolCalls) > 0 {
				return ending{}, false
			}
			e := &Evaluation{x: x, Answer: m.Text, Last: x.turns > x.spec.MaxTurns, since: x.spec.Steps[i+1:]}
			return x.evaluate(ctx, ending{state: store.RunDone, reason: "answered"}, e)
		}
		return ending{}, false
	}
	return ending{}, false
}
