package agent

import (
	"context"
	"encoding/json"
	"slices"

	"oxios/kernel/llm"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// unknownText is what a model reads of a step that had started when the kernel
// went down.
const unknownText = "It is not known whether this step ran: the computer or Oxios stopped in the middle of it. Look at how things stand before you do it again, and say so to the person."

// Told is what was said and done in a run, as a model reads it.
type Told struct {
	Own    []llm.Message // from the message that started the run on, all of it
	People []int         // the places in Own of what persons said

	Context *ContextStep // what stands in place of all before From; nil for nothing
	From    int          // the place in Own from which on it stands as it was said

	cut, cutTo         int  // what is left out of results between From and this place in Own: see ContextArgs
	counted, countedAt int  // what the provider has counted: tokens, of all before this place in Own
	refused            bool // the newest request was refused as too long
	squeezed, gaveIn   bool // no answer stands behind the newest try to make room, and that followed a refusal
}

// Talk is what a model reads of it behind before, the conversation so far.
func (t Told) Talk(before []llm.Message) []llm.Message {
	if t.Context == nil {
		return append(slices.Clip(before), t.Own...)
	}
	return slices.Concat(t.Context.messages(), cutResults(t.Own[t.From:t.cutTo], t.cut), t.Own[t.cutTo:])
}

// Tell turns the closed steps of a run into what was said and done in it; first
// is the message that started it. It stops before the first turn that has an
// open step and returns that turn's steps. say makes the messages that joined
// the run.
func Tell(first llm.Message, steps []store.Step, say Say) (t Told, open []store.Step) {
	t.Own, t.People = []llm.Message{first}, []int{0}
	for i := 0; i < len(steps); i++ {
		s := steps[i]
		switch s.Kind {
		case store.StepMessage:
			var m MessageStep
			if json.Unmarshal(s.Args, &m) == nil {
				if m.Agent == nil {
					t.People = append(t.People, len(t.Own))
				}
				t.Own = append(t.Own, m.message(say))
			}
		case store.StepNote:
			var n Note
			if s.Outcome == store.OutcomeOK && json.Unmarshal(s.Args, &n) == nil {
				t.Own = noted(t.Own, n)
			}
		case store.StepModel:
			t.answered(s)
		case store.StepContext:
			t.madeRoom(s)
		case store.StepEvaluation:
			var e EvaluationStep
			if json.Unmarshal(s.Args, &e) == nil && e.Text != "" {
				t.Own = append(t.Own, llm.Message{Role: llm.RoleUser, Content: e.Text})
			}
		case store.StepTool:
			last := i
			for last+1 < len(steps) && steps[last+1].Kind == store.StepTool {
				last++
			}
			turn := steps[i : last+1]
			for _, s := range turn {
				if s.State != store.StepClosed {
					return t, turn
				}
			}
			for _, s := range turn {
				t.Own = append(t.Own, llm.Message{Role: "tool", ToolCallID: s.CallID, Content: resultText(s)})
			}
			i = last
		}
	}
	return t, nil
}

func (t *Told) answered(s store.Step) {
	var m ModelStep
	switch {
	case s.State != store.StepClosed || json.Unmarshal(s.Result, &m) != nil:
		// A model call without an end has no effects: it is made again.
	case s.Outcome == store.OutcomeOK:
		if said := m.message(); said.Content != "" || len(said.ToolCalls) > 0 || !m.Lacked {
			t.Own = append(t.Own, said)
		}
		t.counted, t.countedAt, t.refused, t.squeezed, t.gaveIn = m.Counted, len(t.Own), false, false, false
	case m.Code == sys.CodeContextLength, m.Code == sys.CodeTooLarge:
		t.refused = true
	case m.Text != "":
		t.Own = append(t.Own, llm.Message{Role: "assistant", Content: m.Text})
	}
}

// message is the answer as the model is sent it again. What it thought goes with
// a call alone: some servers want it back there.
func (m ModelStep) message() llm.Message {
	out := llm.Message{Role: llm.RoleAssistant, Content: m.Text, ToolCalls: m.ToolCalls, Back: m.Back}
	if len(m.ToolCalls) > 0 {
		out.Reasoning = m.Reasoning
	}
	return out
}

func (t *Told) madeRoom(s store.Step) {
	var args ContextArgs
	var c ContextStep
	if s.State != store.StepClosed || json.Unmarshal(s.Args, &args) != nil || json.Unmarshal(s.Result, &c) != nil || s.Outcome == store.OutcomeCanceled {
		return // it is made again
	}
	t.squeezed, t.gaveIn, t.refused = true, args.Refused, false
	if s.Outcome == store.OutcomeOK {
		t.Context, t.From, t.counted = &c, max(0, len(t.Own)-args.Keep), 0
		t.cut, t.cutTo = args.Cut, len(t.Own)
	}
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
	told, open := Tell(x.own[0], x.spec.Steps, x.spec.Say)
	x.own, x.people = told.Own, told.People
	x.talk = append(x.talk[:1:1], told.Talk(x.spec.History)...)
	x.room.resume(told, len(x.talk))
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
		if x.lacked = m.Lacked; m.Text != "" && !m.Lacked {
			x.said = append(x.said, m.Text)
		}
		x.reason.WriteString(m.Reasoning)
		if s.Outcome == store.OutcomeOK {
			x.stand = m.Stand
		}
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
