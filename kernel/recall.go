package kernel

import (
	"context"

	"oxios/kernel/agent"
	"oxios/kernel/event"
	"oxios/kernel/memory"
	"oxios/kernel/security"
	"oxios/kernel/store"
)

// What is recalled for a message, at most.
const (
	recalled     = 8
	recalledText = 4000 // characters of all of them
)

// recall finds what may matter to a run's message, notes that the run was given
// it, and has the run carry where it comes from. A run that goes on after a crash is
// given what it was given before.
func (k *Kernel) recall(ctx context.Context, c *caller, run Run, again bool) ([]agent.Recalled, error) {
	if !k.config.get().Memory {
		return nil, nil
	}
	here := k.runs.of(run.ID).scope.space
	// What it looked up in other spaces stands in its steps, marked; as of here it is not told.
	used, err := k.memories.List(ctx, memory.Query{Space: here, Run: run.ID, Limit: recalled})
	if err != nil {
		return nil, err
	}
	if len(used) == 0 && !again {
		if used, err = k.memories.Recall(ctx, here, run.Text, recalled, recalledText); err != nil {
			return nil, err
		}
		ids := each(used, func(m Memory) string { return m.ID })
		err = k.store.Write(ctx, func(tx *store.Tx) error {
			if len(ids) > 0 { // what goes to a model without a call of its own
				e := c.entry(security.ActionMemoryRead, action{call: "memory.recall", resource: "memory"}, map[string]any{"count": len(ids)})
				if _, err := k.audit.Append(tx, e); err != nil {
					return err
				}
			}
			return k.memories.Used(tx, run.ID, ids, k.clock.Now())
		})
		if err != nil {
			return nil, err
		}
		if len(ids) > 0 {
			k.publish(event.MemoryRecalled, scope{runID: run.ID, sessionID: run.SessionID}, event.ChangeOf(event.Recalled, used[0].Space, ids...))
		}
	}
	labels, err := k.memoryLabels(ctx, run.ID)
	if err != nil {
		return nil, err
	}
	if labels, err = k.liveLabels(ctx, labels); err != nil {
		return nil, err
	}
	if err := c.take(ctx, labels); err != nil {
		return nil, err
	}
	return recalledOf(used), nil
}
