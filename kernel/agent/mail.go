package agent

import (
	"context"
	"fmt"

	"oxios/kernel/store"
)

// takeMail makes each message that other agents wrote a step of its own, in the
// transaction that takes it out of the queue.
func (x *run) takeMail(ctx context.Context) error {
	if x.spec.Mailbox == nil {
		return nil
	}
	keep := context.WithoutCancel(ctx)
	var taken []Mail
	var steps []*store.OpenStep
	waits := false
	err := x.Store.Read(keep, func(tx *store.Tx) (err error) {
		waits, err = x.spec.Mailbox.Unread(tx)
		return err
	})
	if err != nil {
		return fmt.Errorf("look for messages of other agents: %w", err)
	}
	if !waits {
		return nil
	}
	err = x.Store.Write(keep, func(tx *store.Tx) (err error) {
		steps = nil
		if taken, err = x.spec.Mailbox.Take(tx); err != nil {
			return err
		}
		for _, m := range taken {
			step := &store.Step{Kind: store.StepMessage, Name: "agent", Args: mustJSON(m.Step), Labels: m.Labels}
			if err := x.journal.Propose(tx, step); err != nil {
				return err
			}
			if m.Took != nil {
				if err := m.Took(tx, step.ID); err != nil {
					return err
				}
			}
			steps = append(steps, x.journal.Open(step))
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("take the messages of other agents: %w", err)
	}
	for i, s := range steps {
		if err := s.Start(keep, nil); err != nil {
			return err
		}
		if err := s.Close(keep, store.OutcomeOK, s.Step().Args, nil); err != nil {
			return err
		}
		x.add(taken[i].Step.message(x.spec.Say))
		x.publishStep(s.Step())
	}
	return nil
}

// unread reports whether a run that would end now has messages of other agents
// to read first; then it goes on, and its turns are recorded. A run that was cut,
// or has used up its turns, ends: its mail goes back.
func (x *run) unread(tx *store.Tx, end ending) (bool, error) {
	if x.spec.Mailbox == nil || end.status != "" {
		return false, nil
	}
	more, err := x.spec.Mailbox.Unread(tx)
	if err != nil || !more {
		return false, err
	}
	return true, x.Store.UpdateRun(tx, x.id, store.RunPatch{Turns: &x.turns, Cost: &x.cost})
}
