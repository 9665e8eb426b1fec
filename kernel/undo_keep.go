package kernel

import (
	"context"
	"time"

	"oxios/kernel/store"
	"oxios/kernel/undo"
)

// tendUndo is how often what is old is looked for.
const tendUndo = 6 * time.Hour

// tend forgets what runs did that is older than undo_days, and removes content
// that nothing needs any more. It blocks until ctx ends.
func (u *undos) tend(ctx context.Context) error {
	for {
		if err := u.clear(ctx); err != nil && ctx.Err() == nil {
			u.k.log.WarnContext(ctx, "Could not clear what is kept for undoing", "error", err)
		}
		timer := time.NewTimer(tendUndo)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-timer.C:
		}
	}
}

// clear forgets what is old and removes what nothing names. It waits for whoever
// is putting something into the store, and holds off who wants to.
func (u *undos) clear(ctx context.Context) error {
	u.one.Lock()
	defer u.one.Unlock()
	old := u.k.clock.Now().AddDate(0, 0, -u.k.config.get().UndoDays)
	err := u.k.store.Write(ctx, func(tx *store.Tx) error { return u.k.store.DropUndo(tx, old) })
	if err != nil {
		return err
	}
	u.objects.Clearing.Lock()
	defer u.objects.Clearing.Unlock()
	states, runs, err := u.k.store.UndoStates(ctx)
	if err != nil {
		return err
	}
	sealed, err := u.objects.Runs()
	if err != nil {
		return err
	}
	for _, run := range sealed {
		if runs[run] {
			continue
		}
		if err := u.objects.Forget(run); err != nil {
			return err
		}
	}
	wanted := map[string]bool{}
	for _, text := range states {
		s, err := undo.Parse(text)
		if err != nil {
			return err
		}
		if s.Content != "" {
			wanted[s.Content] = true
		}
	}
	if err := u.kept(wanted, old); err != nil {
		return err
	}
	return u.objects.Clear(wanted)
}
