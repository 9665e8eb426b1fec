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
	s, ok := p.next(store.StepModel, "")
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
		Message: llm.Message{Role: llm.RoleAssistant, Content: m.Text, Reasoning: m.Reasoning, ToolCalls: m.ToolCalls}, FinishReason: m.Finish, Model: m.Model,
	}
	switch s.Outcome {
	case store.OutcomeOK:
		return resp, m.Cost, nil
	case store.OutcomeCanceled:
		return resp, m.Cost, p.end()
	}
	if p.run.Error != nil {
		return resp, m.Cost, p.run.Error
	}
	return resp, m.Cost, errors.New(m.Error)
}

// queued gives the messages that stand next in the journal.
func (p *player) queued(*store.Tx) (list []store.Queued, err error) {
	for {
		s, ok := p.next(store.StepMessage, "")
		if !ok {
			return list, nil
		}
		var m agent.MessageStep
		if err := json.Unmarshal(s.Args, &m); err != nil {
			return nil, err
		}
		list = append(list, store.Queued{ID: sys.NewID(), Text: m.Text, Attachments: m.Attachments})
	}
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
	s, ok := t.p.next(store.StepTool, store.StepFrom(ctx).Step().CallID)
	if !ok {
		return agent.Result{}, t.p.end()
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
		return res, t.p.end()
	}
	return res, r.Error
}
