package kernel

import (
	"context"
	"path/filepath"
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

// clear forgets what is old and removes what nothing names.
func (u *undos) clear(ctx context.Context) error {
	return u.clearBefore(ctx, u.k.clock.Now().AddDate(0, 0, -u.k.config.get().UndoDays))
}

// clearBefore forgets what runs did that had ended before a moment. It waits for
// whoever is putting something into the store, and holds off who wants to.
func (u *undos) clearBefore(ctx context.Context, old time.Time) error {
	u.one.Lock()
	defer u.one.Unlock()
	err := u.k.store.Write(ctx, func(tx *store.Tx) error {
		if err := u.k.store.DropTries(tx, u.k.clock.Now().Add(-unchangedFor)); err != nil {
			return err
		}
		return u.k.store.DropUndo(tx, old)
	})
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
	changed, err := u.changedFolders(ctx)
	if err != nil {
		return err
	}
	if err := u.kept(wanted, old, changed); err != nil {
		return err
	}
	return u.objects.Clear(wanted)
}

// unchangedFor is how long the copy of a folder is kept that no run changed: the
// next command there begins from it.
const unchangedFor = 24 * time.Hour

// changedFolders returns the indexes of the folders in which a run changed
// something that can still be undone, or in which a command is at work.
func (u *undos) changedFolders(ctx context.Context) (map[string]bool, error) {
	marks, err := u.k.store.FileMarksSince(ctx, time.Time{})
	if err != nil {
		return nil, err
	}
	left, err := u.k.store.UndoCommands(ctx)
	if err != nil {
		return nil, err
	}
	folders := map[string]bool{}
	for _, c := range left {
		folders[c.Folder] = true
	}
	for _, m := range marks {
		for dir := filepath.Dir(m.Path); !folders[dir]; dir = filepath.Dir(dir) {
			folders[dir] = true
		}
	}
	changed := map[string]bool{}
	for dir := range folders {
		changed[u.indexPath(dir)] = true
	}
	return changed, nil
}
