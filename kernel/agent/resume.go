package agent

import (
	"context"
	"encoding/json"

	"oxios/kernel/llm"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// unknownText is what a model reads of a step that had started when the kernel
// went down.
const unknownText = "It is not known whether this step ran: the computer or Oxios stopped in the middle of it. Look at how things stand before you do it again, and say so to the person."

// Transcript turns the closed steps of a run into the messages that a model
// reads, without the message that started the run. It stops before the first
// turn that has an open step and returns that turn's steps. say makes the
// messages that joined the run.
func Transcript(steps []store.Step, say Say) (talk []llm.Message, open []store.Step) {
	for i := 0; i < len(steps); i++ {
		s := steps[i]
		switch s.Kind {
		case store.StepMessage:
			var m MessageStep
			if json.Unmarshal(s.Args, &m) == nil {
				talk = append(talk, say(m.Text, m.Attachments))
			}
		case store.StepModel:
			var m ModelStep
			if s.State != store.StepClosed || json.Unmarshal(s.Result, &m) != nil {
				continue // a model call without an end has no effects: it is made again
			}
			if s.Outcome != store.OutcomeOK {
				if m.Text != "" {
					talk = append(talk, llm.Message{Role: "assistant", Content: m.Text})
				}
				continue
			}
			talk = append(talk, llm.Message{Role: "assistant", Content: m.Text, ToolCalls: m.ToolCalls})
		case store.StepEvaluation:
			var e EvaluationStep
			if json.Unmarshal(s.Args, &e) == nil && e.Text != "" {
				talk = append(talk, llm.Message{Role: llm.RoleUser, Content: e.Text})
			}
		case store.StepTool:
			last := i
			for last+1 < len(steps) && steps[last+1].Kind == store.StepTool {
				last++
			}
			turn := steps[i : last+1]
			for _, t := range turn {
				if t.State != store.StepClosed {
					return talk, turn
				}
			}
			for _, t := range turn {
				talk = append(talk, llm.Message{Role: "tool", ToolCallID: t.CallID, Content: resultText(t)})
			}
			i = last
		}
	}
	return talk, nil
}

func resultText(s store.Step) string {
	var r ToolStep
	if json.Unmarshal(s.Result, &r) != nil || s.Outcome == store.OutcomeUnknown {
		return unknownText
	}
	return r.Text
}

// Settled returns s as it stands once its run has ended: an open step does not
// go on. One that had started may have had its effect, any other had none.
func Settled(s store.Step) store.Step {
	switch {
	case s.State == store.StepClosed:
		return s
	case s.Kind != store.StepTool && s.Kind != store.StepCheck:
		s.Outcome = store.OutcomeCanceled
	case s.State == store.StepStarted:
		s.Outcome, s.Result = store.OutcomeUnknown, mustJSON(ToolStep{Text: unknownText})
	default:
		s.Outcome, s.Result = store.OutcomeCanceled, mustJSON(ToolStep{Text: neverRan})
	}
	s.State = store.StepClosed
	return s
}

// neverRan is what a model reads of a step that its run did not come to.
const neverRan = "It did not run: the run ended before it."

// Unfinished closes the transcript of a run that never ended, so that a later
// run may read it: an open tool step gets the result that it is not known, or
// that it never ran.
func Unfinished(open []store.Step) []llm.Message {
	var talk []llm.Message
	for _, s := range open {
		text := neverRan
		switch s.State {
		case store.StepClosed:
			text = resultText(s)
		case store.StepStarted:
			text = unknownText
		}
		talk = append(talk, llm.Message{Role: "tool", ToolCallID: s.CallID, Content: text})
	}
	return talk
}

// resume takes the run up where its journal stops.
func (x *run) resume(ctx context.Context) (ending, bool) {
	if len(x.spec.Steps) == 0 {
		return ending{}, false
	}
	talk, open := Transcript(x.spec.Steps, x.spec.Say)
	x.talk = append(x.talk, talk...)
	x.turns = 0
	for _, s := range x.spec.Steps[:len(x.spec.Steps)-len(open)] {
		if s.State == store.StepClosed {
			x.remember(s)
		}
	}
	x.dropOpenModelSteps(ctx)
	if len(open) == 0 {
		return x.reevaluate(ctx)
	}
	var again []call
	var index []int
	calls := make([]call, len(open))
	results := make([]outcome, len(open))
	for i := range open {
		s := open[i]
		var args CallArgs
		_ = json.Unmarshal(s.Args, &args)
		raw := string(args.Args)
		if args.Args == nil {
			raw = args.Raw
		}
		calls[i] = call{ToolCall: llm.ToolCall{ID: s.CallID, Name: s.Name, Args: raw}, step: &open[i], open: x.journal.Open(&open[i])}
		switch {
		case s.State == store.StepClosed:
			var r ToolStep
			_ = json.Unmarshal(s.Result, &r)
			results[i] = outcome{kind: s.Outcome, result: Result{Text: resultText(s), Title: sys.Words{EN: r.Title, KO: r.TitleKO}}}
		case s.State == store.StepStarted && (x.spec.Again == nil || !x.spec.Again(ctx, s)):
			results[i] = outcome{kind: store.OutcomeUnknown, result: Result{Text: unknownText}}
			results[i].fatal = x.closeStep(context.WithoutCancel(ctx), calls[i].open, store.OutcomeUnknown, mustJSON(ToolStep{Text: unknownText}), nil)
		default:
			again, index = append(again, calls[i]), append(index, i)
		}
	}
	for i, o := range x.useAll(ctx, again) {
		results[index[i]] = o
	}
	return x.settle(ctx, calls, results)
}

// remember takes a closed step into what the run will tell at its end.
func (x *run) remember(s store.Step) {
	switch s.Kind {
	case store.StepModel:
		x.turns++
		var m ModelStep
		if json.Unmarshal(s.Result, &m) != nil {
			return
		}
		if m.Text != "" {
			x.said = append(x.said, m.Text)
		}
		x.reason.WriteString(m.Reasoning)
	case store.StepTool:
		var args CallArgs
		var r ToolStep
		_, _ = json.Unmarshal(s.Args, &args), json.Unmarshal(s.Result, &r)
		x.repeats.seen(s.Name, string(args.Args), r.Text)
		x.calls = append(x.calls, store.ToolCall{ID: s.CallID, Name: s.Name, Args: args.Args, Outcome: s.Outcome, Summary: r.Title})
	}
}

// CutByCrash is the error of a model step that was under way when Oxios stopped.
// It is made again.
const CutByCrash = "Oxios stopped in the middle of this answer."

// dropOpenModelSteps closes model calls that were under way: what they said is
// lost, and they are made again.
func (x *run) dropOpenModelSteps(ctx context.Context) {
	for i := range x.spec.Steps {
		s := &x.spec.Steps[i]
		if s.Kind == store.StepTool || s.Kind == store.StepCheck || s.State == store.StepClosed {
			continue
		}
		if err := x.closeStep(context.WithoutCancel(ctx), x.journal.Open(s), store.OutcomeCanceled, mustJSON(ModelStep{Error: CutByCrash}), nil); err != nil {
			x.Log.Warn("Could not close an old step", "run_id", x.id, "step_id", s.ID, "error", err)
		}
	}
}
