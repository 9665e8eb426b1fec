package kernel

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"oxios/kernel/event"
	"oxios/kernel/security"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// undoTime is how long a deletion can be undone, unless the options say
// otherwise.
const undoTime = 10 * time.Second

// Deletion says what goes with a conversation, and what remains of it.
type Deletion struct {
	ID           string   `json:"id"`
	Title        string   `json:"title"`
	Messages     int      `json:"messages"`
	Runs         int      `json:"runs"`
	Branches     int      `json:"branches"`      // how many ways the conversation went; all of them go
	Files        []string `json:"files"`         // that its agents wrote and that are still there, at most 20; they remain
	FileCount    int      `json:"file_count"`    // all of them
	AuditEntries int      `json:"audit_entries"` // that name it; they remain
	Copies       []string `json:"copies"`        // copies of the database in the home, made before; they still hold it
	Erased       bool     `json:"erased"`        // its text is gone from the files of the database
	Memories     int      `json:"memories"`      // what was remembered from it; that remains
	UndoMS       int64    `json:"undo_ms"`       // for so long it is only hidden, and can be recovered; 0 when it is gone
}

// Deletion says what deleting a conversation takes away and leaves. It deletes
// nothing.
func (a *StateAPI) Deletion(ctx context.Context, id string) (Deletion, error) {
	return guard(ctx, a.caller, action{call: "state.deletion", resource: "session:" + id}, func(ctx context.Context) (Deletion, error) {
		return a.k.deletion(ctx, id)
	})
}

func (k *Kernel) deletion(ctx context.Context, id string) (Deletion, error) {
	e, err := k.store.Extent(ctx, id)
	if err != nil {
		return Deletion{}, err
	}
	d := Deletion{ID: id, Title: e.Session.Title, Messages: e.Messages, Runs: e.Runs, Branches: e.Branches, AuditEntries: e.Audit, Files: []string{}, Copies: []string{}}
	if d.Memories, err = k.memories.OfThread(ctx, id); err != nil {
		return Deletion{}, err
	}
	for _, path := range e.Written {
		if _, err := os.Lstat(path); err != nil {
			continue
		}
		if d.FileCount++; d.FileCount <= 20 {
			d.Files = append(d.Files, shortenHome(path))
		}
	}
	for _, path := range k.copies() {
		d.Copies = append(d.Copies, shortenHome(path))
	}
	return d, nil
}

// DeleteSession deletes a conversation with its messages, runs and steps, for
// good and at once. The audit chain keeps what was done, and files stay. A
// conversation with a live run is refused.
func (a *StateAPI) DeleteSession(ctx context.Context, id string) (Deletion, error) {
	return guard(ctx, a.caller, action{call: "state.deleteSession", resource: "session:" + id}, func(ctx context.Context) (Deletion, error) {
		d, err := a.k.discard(ctx, id)
		if err != nil {
			return Deletion{}, err
		}
		// What has begun is finished, whether or not the caller waits for it.
		d.Erased, err = a.k.purge(context.WithoutCancel(ctx), []string{id})
		return d, err
	})
}

// DiscardSession hides a conversation from everybody and deletes it a few
// seconds later, unless RecoverSession comes first. A kernel that ends
// meanwhile deletes it, and one that is killed does so at its next start: what
// a person has deleted does not come back by itself.
func (a *StateAPI) DiscardSession(ctx context.Context, id string) (Deletion, error) {
	return guard(ctx, a.caller, action{call: "state.discardSession", resource: "session:" + id}, func(ctx context.Context) (Deletion, error) {
		d, err := a.k.discard(ctx, id)
		if err != nil {
			return Deletion{}, err
		}
		d.UndoMS = a.k.opts.Undo.Milliseconds()
		a.k.discards.add(id, time.Now().Add(a.k.opts.Undo))
		return d, nil
	})
}

// discard hides a conversation from everybody.
func (k *Kernel) discard(ctx context.Context, id string) (Deletion, error) {
	if len(k.runs.allIn(id)) > 0 {
		return Deletion{}, sys.Errorf(sys.CodeBusy, "A run of this conversation is still going. Nothing was deleted.").WithHint("Stop it first.")
	}
	d, err := k.deletion(ctx, id)
	if err != nil {
		return d, err
	}
	if err := k.store.Write(ctx, func(tx *store.Tx) error { return k.store.DiscardSession(tx, id) }); err != nil {
		return d, err
	}
	k.topics.reset()
	k.publish(event.SessionDeleted, scope{sessionID: id}, event.Text{Text: id})
	k.publishStatus()
	k.publishInbox(event.ChangeOf(event.Removed, "", id))
	return d, nil
}

// RecoverSession brings back a conversation that was discarded, with all that
// belongs to it, while that is possible.
func (a *StateAPI) RecoverSession(ctx context.Context, id string) (Session, error) {
	return guard(ctx, a.caller, action{call: "state.recoverSession", resource: "session:" + id}, func(ctx context.Context) (Session, error) {
		err := a.k.store.Write(ctx, func(tx *store.Tx) error { return a.k.store.RecoverSession(tx, id) })
		if sys.CodeOf(err) == sys.CodeNotFound {
			return Session{}, sys.Errorf(sys.CodeNotFound, "That conversation is deleted for good already.").WithHint("If you have a backup, restoring it brings the conversation back.")
		}
		if err != nil {
			return Session{}, err
		}
		a.k.discards.remove(id)
		a.k.topics.reset()
		a.k.publishStatus()
		a.k.publishInbox(event.ChangeOf(event.Returned, "", id))
		return a.k.announceSession(ctx, id)
	})
}

// purge deletes discarded conversations for good: those named, or all of them.
// It reports whether their text is gone from the files of the database.
func (k *Kernel) purge(ctx context.Context, ids []string) (erased bool, err error) {
	all, err := k.store.Discarded(ctx)
	if err != nil || len(all) == 0 {
		return false, err
	}
	for _, id := range all {
		if ids != nil && !slices.Contains(ids, id) {
			continue
		}
		err := k.store.DeleteDiscarded(ctx, id, func(tx *store.Tx) error {
			_, err := k.audit.Append(tx, k.newEntry("kernel", security.ActionOther, "session:"+id, map[string]any{"deleted": true, "session_id": id, "node": k.node}))
			return err
		})
		// Not found: it was recovered, or somebody else deleted it, in this moment.
		if err != nil && sys.CodeOf(err) != sys.CodeNotFound {
			return false, err
		}
		k.discards.remove(id)
	}
	k.sweepAttachments(ctx)
	k.forgetApps(ctx)
	if err := k.undos.clear(ctx); err != nil {
		k.log.WarnContext(ctx, "Could not clear what is kept for undoing", "error", err)
	}
	return k.erase(ctx), nil
}

// erase takes what was deleted out of the files of the database, and reports
// whether that worked. It happens at the latest when the kernel ends.
func (k *Kernel) erase(ctx context.Context) bool {
	err := k.store.Erase(ctx)
	if err != nil && !errors.Is(err, context.Canceled) {
		k.log.WarnContext(ctx, "What was deleted is still in the log of the database", "error", err)
	}
	return err == nil
}

// copies are the copies of the database in the home: made before a migration,
// or put aside by a repair.
func (k *Kernel) copies() []string {
	entries, err := os.ReadDir(k.opts.Home)
	if err != nil {
		return nil
	}
	var found []string
	for _, e := range entries {
		if name := e.Name(); e.Type().IsRegular() && isCopy(name) {
			found = append(found, filepath.Join(k.opts.Home, name))
		}
	}
	return found
}

// isCopy reports whether a file of the home is a copy of the database.
func isCopy(name string) bool {
	rest, ok := strings.CutPrefix(name, databaseName+".")
	return ok && rest != ""
}

// discards are the conversations whose deletion can still be undone.
type discards struct {
	mu      sync.Mutex
	due     map[string]time.Time
	changed chan struct{} // has room for one
}

func newDiscards() *discards {
	return &discards{due: map[string]time.Time{}, changed: make(chan struct{}, 1)}
}

func (d *discards) add(id string, due time.Time) {
	d.mu.Lock()
	d.due[id] = due
	d.mu.Unlock()
	select {
	case d.changed <- struct{}{}:
	default:
	}
}

func (d *discards) remove(id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.due, id)
}

// next returns those whose time is over, and how long it is until the next.
func (d *discards) next(now time.Time) (over []string, wait time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	wait = time.Hour
	for id, due := range d.due {
		if left := due.Sub(now); left <= 0 {
			over = append(over, id)
		} else {
			wait = min(wait, left)
		}
	}
	return over, wait
}

// watchDiscards deletes what was discarded when its time is over.
func (k *Kernel) watchDiscards(ctx context.Context) error {
	for {
		over, wait := k.discards.next(time.Now())
		if len(over) > 0 {
			if _, err := k.purge(ctx, over); err != nil {
				if ctx.Err() != nil {
					return nil
				}
				k.log.ErrorContext(ctx, "Could not delete discarded conversations", "error", err)
				for _, id := range over { // they stay hidden, and the next start tries again
					k.discards.remove(id)
				}
			}
			continue
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-k.discards.changed:
			timer.Stop()
		case <-timer.C:
		}
	}
}
