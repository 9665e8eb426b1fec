package kernel

import (
	"cmp"
	"context"
	"slices"

	"oxios/kernel/limit"
	"oxios/kernel/llm"
	"oxios/kernel/security"
	"oxios/kernel/store"
)

// guardedModel is a run's model: each call passes the guard as llm.complete,
// with what it may use reserved before it and settled after it.
type guardedModel struct {
	caller  *caller
	chosen  *chosen  // which is asked
	line    []choice // the run's own model, and those that may answer in its place
	mixed   bool     // several of them made calls of the run
	called  bool     // the newest call came as far as the provider
	runs    []string // the run, and those that it descends from
	patient bool     // waits for a provider elsewhere that cannot be reached
	parks   bool     // waits for a limit to be raised, where others end with it
	waited  bool     // it waited for a limit when an earlier process ended
	answer  int64    // tokens that an answer may have; 0: as many as is usual

	// What the last request was, and how many tokens its provider counted: the
	// next one is only as much longer as what came after it.
	last       []llm.Message
	lastTokens int64
}

// call makes one call of the model that is chosen, with the limits, its
// provider's breaker and its rate in front, and says what it cost. wait says
// whether it waits for a provider that cannot be reached.
func (m *guardedModel) call(ctx context.Context, req llm.Request, emit func(llm.Delta), wait bool) (*llm.Response, store.Cost, error) {
	req, m.called = m.fit(req), false
	var hold *limit.Hold
	defer func() {
		if hold != nil {
			hold.Release() // nothing is left to release of a call that was settled
		}
	}()
	reserve := func(ctx context.Context) error {
		if hold != nil {
			hold.Release()
		}
		h, err := m.reserve(ctx, req)
		if err != nil {
			return err
		}
		hold = h
		req.MaxTokens = int(cmp.Or(h.Output, m.answer))
		return nil
	}
	act := action{call: "llm.complete", resource: "model:" + m.chosen.provider + "/" + m.chosen.model, effect: security.EffectRead, budget: reserve}
	resp, err := guard(ctx, m.caller, act, func(ctx context.Context) (*llm.Response, error) {
		m.called = true
		return m.patiently(ctx, &req, emit, reserve, func() { hold.Release() }, wait)
	})
	if resp == nil { // a call that the endpoint never took up costs nothing, and is none
		return nil, store.Cost{}, err
	}
	cost := m.cost(hold, req, resp)
	hold.Settle(cost)
	if resp.Usage.Reported {
		m.last, m.lastTokens = slices.Clone(req.Messages), int64(resp.Usage.Input)
	}
	if err == nil && hold.Scarce && resp.FinishReason == llm.FinishLength {
		err = errCutByLimit()
	}
	return resp, cost, err
}

// cost says what a call cost. What the provider did not count is taken, where a
// limit holds, for the most that it can have been.
func (m *guardedModel) cost(hold *limit.Hold, req llm.Request, resp *llm.Response) store.Cost {
	u := resp.Usage
	said := len(resp.Message.Content) + len(resp.Message.Reasoning)
	for _, call := range resp.Message.ToolCalls {
		said += len(call.Name) + len(call.Args)
	}
	if !hold.Limited() || u.Reported && (u.Output > 0 || said == 0) {
		return m.chosen.cost(u)
	}
	if !u.Reported {
		u.Input = int(m.inputBound(req))
	}
	u.Output = min(max(u.Output, said), max(u.Output, req.MaxTokens))
	c := m.chosen.cost(u)
	if c.Unknown && m.chosen.price != nil {
		c.USD = m.chosen.price.Cost(u)
	}
	return c
}

// What an answer may have while a limit holds, unless less is left. A model
// that thinks needs the more; a provider that allows less says so and is asked
// for less.
const (
	answerTokens   = 16 << 10
	thinkingTokens = 32 << 10
)

// claim is what a call may use at most.
func (m *guardedModel) claim(req llm.Request) limit.Claim {
	c := limit.Claim{Runs: m.runs, Input: m.inputBound(req), Output: answerTokens, Free: m.chosen.free(), Priced: m.chosen.price != nil}
	if m.chosen.reasons {
		c.Output = thinkingTokens
	}
	if m.answer > 0 {
		c.Output = min(c.Output, m.answer)
	}
	if p := m.chosen.price; p != nil {
		c.InputUSD = max(p.Input, p.CachedInput, p.AboveInput, p.AboveCached) / 1e6
		c.OutputUSD = max(p.Output, p.AboveOutput) / 1e6
	}
	return c
}

// What a request has besides its texts: the names of roles and what a provider
// puts around a message or a tool; and what the smallest picture may count.
const (
	perMessage = 16
	perTool    = 64
	perPicture = 26_000
)

// inputBound is the most tokens that the input of req can be. A tokenizer of
// bytes makes of a text no more tokens than it has bytes. What the provider has
// counted before is not counted again.
func (m *guardedModel) inputBound(req llm.Request) int64 {
	if n := len(m.last); n > 0 && n <= len(req.Messages) && slices.EqualFunc(m.last, req.Messages[:n], sameMessage) {
		return m.lastTokens + bytesOf(req.Messages[n:])
	}
	n := bytesOf(req.Messages) + perMessage
	for _, t := range req.Tools {
		n += int64(len(t.Name)+len(t.Description)+len(t.Schema)) + perTool
	}
	return n
}

func sameMessage(a, b llm.Message) bool {
	return a.Role == b.Role && a.Content == b.Content && len(a.Images) == len(b.Images) && len(a.ToolCalls) == len(b.ToolCalls)
}

func bytesOf(messages []llm.Message) int64 {
	n := 0
	for _, msg := range messages {
		n += len(msg.Role) + len(msg.Content) + len(msg.Reasoning) + len(msg.ToolCallID) + perMessage
		for _, call := range msg.ToolCalls {
			n += len(call.ID) + len(call.Name) + len(call.Args) + perTool
		}
		for _, img := range msg.Images {
			n += max(perPicture, len(img.Data))
		}
	}
	return int64(n)
}
