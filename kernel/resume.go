package kernel

import (
	"context"
	"fmt"
	"slices"

	"oxios/kernel/security"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// maxAttempts is how often a run is taken up in a row without getting on for a
// minute: one that brings Oxios down each time is left in peace then.
const maxAttempts = 3

// takeUp goes on with the runs that an earlier process left, each at its first
// open step. Finished steps are not done again; one whose outcome nobody knows
// is told as unknown.
func (k *Kernel) takeUp(ctx context.Context) error {
	if err := k.recorded(); err != nil {
		return fmt.Errorf("record the start: %w", err)
	}
	if err := k.settleMail(ctx); err != nil {
		return fmt.Errorf("settle the messages of agents: %w", err)
	}
	// Forks first: who waits for one must find it at work.
	slices.SortStableFunc(k.left, func(a, b Run) int { return b.Depth - a.Depth })
	for _, r := range k.left {
		steps, err := k.store.Steps(ctx, r.ID)
		if err != nil {
			return fmt.Errorf("read the steps of run %s: %w", r.ID, err)
		}
		attempts := 0
		if !waitsFirst(steps) && !waitsForLimit(r, steps) { // a run that waits for a person does nothing at a start
			err = k.store.Write(ctx, func(tx *store.Tx) (err error) {
				attempts, err = k.store.TakeUp(tx, r.ID)
				return err
			})
		}
		if err != nil {
			return err
		}
		if attempts > maxAttempts {
			why := sys.Errorf(sys.CodeInternal, "Oxios went down %d times while this run was at work, so it was not taken up again. All finished steps are kept.", maxAttempts).
				WithHint("Continue it if you know what was wrong, or ask for something else.")
			if err := k.endRun(ctx, r, store.RunFailed, why.Message, why); err != nil {
				return err
			}
			continue
		}
		k.lost.remember(ctx, k, r.ID, steps)
		if err := k.launch(r, steps); err != nil {
			k.log.Error("Could not take up a run", "run_id", r.ID, "error", err)
		}
	}
	waiting, err := k.store.QueuedSessions(ctx)
	if err != nil {
		return fmt.Errorf("find queued messages: %w", err)
	}
	for _, id := range waiting {
		if k.runs.inSession(id) == "" {
			k.startQueued(id) // its run ended, and Oxios with it, before they went out
		}
	}
	return nil
}

// waitsFirst reports whether the first open step of a run waits for a person.
func waitsFirst(steps []store.Step) bool {
	for _, s := range steps {
		if s.State != store.StepClosed {
			return s.State == store.StepWaiting
		}
	}
	return false
}

// waitsForLimit reports whether a run waited before its next model call: that
// has no step before it is let through.
func waitsForLimit(r Run, steps []store.Step) bool {
	return r.State == store.RunWaiting && !slices.ContainsFunc(steps, func(s store.Step) bool { return s.State != store.StepClosed })
}

// again reports whether a step that had started when Oxios went down may simply
// be done again: all that it did was to look, or what doing it twice does once.
func (k *Kernel) again(ctx context.Context, s store.Step) bool {
	if k.mcp.Holds(s.ID) { // its server works on it; it is asked what came of it
		return true
	}
	if s.AuditSeq == 0 {
		return false
	}
	calls, err := k.audit.Intents(ctx, s.ID, s.AuditSeq)
	if err != nil {
		k.log.Warn("Could not read what a step did", "step_id", s.ID, "error", err)
		return false
	}
	for _, name := range calls {
		row := syscalls[name]
		if row.Rights != security.R && !row.Again {
			return false
		}
	}
	return len(calls) > 0
}
