package kernel

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"

	"oxios/kernel/agent"
	"oxios/kernel/llm"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// player gives the loop what a journal has: the model's answers, the tools'
// results and the messages, each in its turn.
type player struct {
	run    Run
	cancel context.CancelCauseFunc

	mu    sync.Mutex
	steps []store.Step
	at    int // the first step that was not played
}

// next takes the next step of a kind.
func (p *player) next(kind store.StepKind, callID string) (store.Step, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for kind != store.StepTool && p.at < len(p.steps) && p.steps[p.at].Kind == store.StepTool {
		p.at++ // its arguments were no JSON: no tool was asked
	}
	for i := p.at; i < len(p.steps) && p.steps[i].Kind == kind; i++ {
		if s := p.steps[i]; s.CallID == callID {
			p.steps[i], p.steps[p.at] = p.steps[p.at], s // calls of one turn are made side by side
			p.at++
			return s, true
		}
	}
	return store.Step{}, false
}

// begin takes the step of the loop through the states of the one in the journal.
func begin(ctx context.Context, was store.Step) error {
	step := store.StepFrom(ctx)
	if was.ApprovalID != "" {
		if err := step.Wait(ctx, was.ApprovalID, nil); err != nil {
			return err
		}
	}
	if was.StartedAt == nil {
		return nil
	}
	return step.Start(ctx, nil)
}

// end ends the run as it was ended from outside.
func (p *player) end() error {
	var cause error = agent.ErrStopped
	if p.run.State != store.RunStopped && p.run.Error != nil {
		cause = p.run.Error
	}
	p.cancel(cause)
	return cause
}

// Complete answers as the model did.
func (p *player) Complete(ctx context.Context, _ llm.Request, emit func(llm.Delta)) (*llm.Response, store.Cost, error) {
	step := store.StepFrom(ctx).Step()
	s, ok := p.next(step.Kind, step.CallID)
	if !ok {
		return nil, store.Cost{}, p.end()
	}
	if err := begin(ctx, s); err != nil {
		return nil, store.Cost{}, err
	}
	var m agent.ModelStep
	if err := json.Unmarshal(s.Result, &m); err != nil {
		return nil, store.Cost{}, err
	}
	emit(llm.Delta{Reasoning: m.Reasoning})
	emit(llm.Delta{Text: m.Text})
	resp := &llm.Response{
		Message: llm.Message{Role: llm.RoleAssistant, Content: m.Text, Reasoning: m.Reasoning, ToolCalls: m.ToolCalls}, FinishReason: m.Finish, Model: m.Model, Stand: m.Stand,
	}
	switch s.Outcome {
	case store.OutcomeOK:
		return resp, m.Cost, nil
	case store.OutcomeCanceled:
		return resp, m.Cost, p.end()
	}
	if m.Code != "" { // it went on after that
		return resp, m.Cost, &sys.Error{Code: m.Code, Message: m.Error}
	}
	if p.run.Error != nil {
		return resp, m.Cost, p.run.Error
	}
	return resp, m.Cost, errors.New(m.Error)
}

// room gives the step with which the run made room, when that stands next.
func (p *player) room() (store.Step, bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.at < len(p.steps) {
		return p.steps[p.at], p.steps[p.at].Kind == store.StepContext, nil
	}
	if p.run.State == store.RunFailed && sys.CodeOf(p.run.Error) == sys.CodeContextLength {
		return store.Step{}, false, p.end()
	}
	return store.Step{}, false, nil
}

// Active reports whether the run was evaluated at this place.
func (p *player) Active() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.at >= len(p.steps) {
		return false
	}
	switch p.steps[p.at].Kind {
	case store.StepCheck, store.StepJudge, store.StepEvaluation:
		return true
	}
	return false
}

// Evaluate comes to the verdict in the journal, by the same checks.
func (p *player) Evaluate(ctx context.Context, e *agent.Evaluation) (agent.Verdict, error) {
	for p.Active() {
		switch next := p.steps[p.at]; next.Kind {
		case store.StepCheck:
			var args agent.CallArgs
			_ = json.Unmarshal(next.Args, &args)
			_, _, err := e.Check(ctx, next.CallID, sys.Words{EN: args.Title, KO: args.TitleKO}, args.Args, func(ctx context.Context) (agent.Result, error) {
				return p.give(ctx, store.StepCheck, next.CallID)
			})
			if err != nil {
				return agent.Verdict{}, err
			}
		case store.StepJudge:
			if _, err := e.Ask(ctx, llm.Request{}); ctx.Err() != nil {
				return agent.Verdict{}, err
			}
		default:
			s, _ := p.next(store.StepEvaluation, next.CallID)
			var kept agent.EvaluationStep
			err := json.Unmarshal(s.Args, &kept)
			return agent.Verdict{Record: kept.Record, Text: kept.Text, Again: p.at < len(p.steps) || p.run.State != store.RunDone, Reason: p.run.EndReason}, err
		}
	}
	return agent.Verdict{}, p.end()
}

// queued gives the messages of the person that stand next in the journal.
func (p *player) queued(*store.Tx) (list []store.Queued, err error) {
	for {
		m, ok := p.message(false)
		if !ok {
			return list, nil
		}
		list = append(list, store.Queued{ID: sys.NewID(), Text: m.Text, Attachments: m.Attachments})
	}
}

// notes gives the notes that stand next in the journal.
func (p *player) notes() (list []agent.Note) {
	for {
		s, ok := p.next(store.StepNote, "")
		if !ok {
			return list
		}
		var n agent.Note
		if json.Unmarshal(s.Args, &n) == nil {
			list = append(list, n)
		}
	}
}

// Take gives the messages of other agents that stand next in the journal.
func (p *player) Take(*store.Tx) (list []agent.Mail, err error) {
	for {
		m, ok := p.message(true)
		if !ok {
			return list, nil
		}
		list = append(list, agent.Mail{Step: m})
	}
}

// Unread reports whether such a message stands next.
func (p *player) Unread(*store.Tx) (bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, ok := p.ahead(true)
	return ok, nil
}

// message takes the message that stands next, if it is one of other agents, or
// of the person.
func (p *player) message(agents bool) (agent.MessageStep, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	m, ok := p.ahead(agents)
	if ok {
		p.at++
	}
	return m, ok
}

// ahead returns such a message. The caller holds the lock.
func (p *player) ahead(agents bool) (m agent.MessageStep, ok bool) {
	for p.at < len(p.steps) && p.steps[p.at].Kind == store.StepTool {
		p.at++ // its arguments were no JSON: no tool was asked
	}
	if p.at >= len(p.steps) || p.steps[p.at].Kind != store.StepMessage || json.Unmarshal(p.steps[p.at].Args, &m) != nil {
		return m, false
	}
	return m, (m.Agent != nil) == agents
}

// maxTurns is the limit that the run met, or none.
func (p *player) maxTurns() int {
	for _, s := range p.steps {
		var args struct {
			Turn   int  `json:"turn"`
			Forced bool `json:"forced"`
		}
		if s.Kind == store.StepModel && json.Unmarshal(s.Args, &args) == nil && args.Forced {
			return args.Turn - 1
		}
	}
	return len(p.steps) + 1
}

func (p *player) tools() (list []agent.Tool) {
	known := map[string]bool{}
	for _, s := range p.steps {
		if s.Kind == store.StepTool && !known[s.Name] {
			known[s.Name] = true
			list = append(list, played{p, s.Name})
		}
	}
	return list
}

// played is a tool that gives what it gave.
type played struct {
	p    *player
	name string
}

func (t played) Name() string            { return t.name }
func (t played) Description() string     { return "" }
func (t played) Schema() json.RawMessage { return json.RawMessage(`{"type":"object"}`) }

// Title is that of the journal, and comes with the result.
func (t played) Title(json.RawMessage) sys.Words { return sys.Words{} }

// Call returns the result in the journal.
func (t played) Call(ctx context.Context, _ json.RawMessage) (agent.Result, error) {
	return t.p.give(ctx, store.StepTool, store.StepFrom(ctx).Step().CallID)
}

// give returns what a call gave.
func (p *player) give(ctx context.Context, kind store.StepKind, callID string) (agent.Result, error) {
	s, ok := p.next(kind, callID)
	if !ok {
		return agent.Result{}, p.end()
	}
	if err := begin(ctx, s); err != nil {
		return agent.Result{}, err
	}
	var r agent.ToolStep
	if err := json.Unmarshal(s.Result, &r); err != nil {
		return agent.Result{}, err
	}
	res := agent.Result{Text: r.Text, Title: sys.Words{EN: r.Title, KO: r.TitleKO}}
	switch {
	case s.Outcome == store.OutcomeUnknown:
		return res, agent.ErrUnknown
	case r.Error == nil:
		return res, nil
	}
	res.Text = strings.TrimPrefix(strings.TrimPrefix(r.Text, agent.ErrorText(r.Error)), "\n\n")
	if s.Outcome == store.OutcomeCanceled {
		return res, p.end()
	}
	return res, r.Error
}
