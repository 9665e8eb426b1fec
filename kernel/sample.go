package kernel

import (
	"context"

	door "oxios/kernel/guard"
	"oxios/kernel/llm"
	"oxios/kernel/mcp"
	"oxios/kernel/security"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// sampleForServer asks the model what a server wants to know of it, when the person approves that. It is a call of the model
// like others: the limits hold for it, and it sees nothing of the conversation.
func (k *Kernel) sampleForServer(ctx context.Context, dc *door.Caller, s mcp.Sample) (mcp.Sampled, error) {
	c := k.callerOf(dc)
	act := action{
		call: "mcp.sample", resource: "mcp:" + s.Server, effect: security.EffectRead, asks: true, subject: s, meta: map[string]any{"server": s.Server, "messages": len(s.Messages)},
		card: func(r *security.Request) {
			title := sys.Say("The server %s wants to ask the model", s.Server)
			why := sys.Say("The model sees this text alone, and nothing of the conversation. Its answer goes to the server, and costs like any other.")
			r.Title, r.TitleKO, r.Why, r.WhyKO, r.Command, r.NoRun = title.EN, title.In(true), why.EN, why.In(true), s.Words(), true
		},
	}
	defer k.takeBack(ctx, c, act)
	return guard(ctx, c, act, func(ctx context.Context) (mcp.Sampled, error) {
		if !approved(ctx) { // the person's own call
			made, err := c.approve(ctx, syscalls[act.call], act, nil)
			if err == nil {
				err = k.store.Write(ctx, func(tx *store.Tx) error { return k.approvals.Use(tx, made.ID, made.Request.Hash) })
			}
			if err != nil {
				return mcp.Sampled{}, err
			}
		}
		m, err := k.modelFor(ctx, c)
		if err != nil {
			return mcp.Sampled{}, err
		}
		req := llm.Request{Model: m.chosen.model, ContextLength: m.chosen.contextLength}
		if s.System != "" {
			req.Messages = append(req.Messages, llm.Message{Role: store.RoleSystem, Content: s.System})
		}
		for _, one := range s.Messages {
			req.Messages = append(req.Messages, llm.Message{Role: one.Role, Content: one.Text})
		}
		m.answer = s.MaxTokens
		resp, cost, err := m.call(ctx, req, func(llm.Delta) { sys.Beat(ctx) }, false)
		if resp == nil || err != nil {
			return mcp.Sampled{Cost: cost}, err
		}
		return mcp.Sampled{Text: resp.Message.Content, Model: resp.Model, Cut: resp.FinishReason == llm.FinishLength, Cost: cost}, nil
	})
}

// modelFor is the model of a caller's run, or the person's.
func (k *Kernel) modelFor(ctx context.Context, c *caller) (*guardedModel, error) {
	var run Run
	if c.scope.runID != "" {
		var err error
		if run, err = k.store.Run(ctx, c.scope.runID); err != nil {
			return nil, err
		}
	}
	ch, err := k.engine.choose(ctx, run.Provider, run.Model)
	if err != nil {
		return nil, err
	}
	open, err := k.engine.open(ctx, ch.provider, ch.model)
	if err != nil {
		return nil, err
	}
	m := &guardedModel{caller: c, chosen: open, line: []choice{ch}}
	if run.ID != "" {
		m.runs, err = k.lineage(ctx, run)
	}
	return m, err
}
