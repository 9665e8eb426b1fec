package kernel

import (
	"context"

	"oxios/kernel/llm"
	"oxios/kernel/security"
	"oxios/kernel/store"
)

// guardedModel is a run's model: each call passes the guard as llm.complete.
type guardedModel struct {
	caller  *caller
	chosen  *chosen
	patient bool // waits for a provider elsewhere that cannot be reached
}

// Complete makes one model call for the run, with its provider's breaker and
// rate in front, and says what it cost.
func (m *guardedModel) Complete(ctx context.Context, req llm.Request, emit func(llm.Delta)) (*llm.Response, store.Cost, error) {
	act := action{call: "llm.complete", resource: "model:" + m.chosen.provider + "/" + m.chosen.model, effect: security.EffectRead}
	resp, err := guard(ctx, m.caller, act, func(ctx context.Context) (*llm.Response, error) {
		return m.patiently(ctx, req, emit)
	})
	var cost store.Cost // a call that the endpoint never took up costs nothing, and is none
	if resp != nil {
		cost = m.chosen.cost(resp.Usage)
	}
	return resp, cost, err
}
