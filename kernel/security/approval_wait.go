package security

import (
	"context"
	"fmt"
	"time"

	"oxios/kernel/store"
)

// lookAgain is how often a waiter and the expiry loop look at the rows without
// being woken: timers stand still while the machine sleeps, the clock may be
// set, and another process may have written the answer.
const lookAgain = 15 * time.Second

// Await blocks until the approval is decided, has expired or is canceled, and
// returns it so; a decision made before the call is found at once. It returns
// ctx's error when ctx ends first; the question stays.
func (a *Approvals) Await(ctx context.Context, id string) (Approval, error) {
	for {
		// Listening comes before looking, so that no answer falls between.
		changed, stop := a.listen(id)
		ap, err := a.Get(ctx, id)
		if err != nil {
			stop()
			if ctx.Err() != nil {
				err = context.Cause(ctx)
			}
			return Approval{}, err
		}
		if ap.State == ApprovalExpired {
			stop()
			return a.endExpired(ctx, ap)
		}
		if ap.State != ApprovalPending {
			stop()
			return ap, nil
		}
		timer := time.NewTimer(min(max(ap.ExpiresAt.Sub(a.now()), time.Millisecond), lookAgain))
		select {
		case <-changed:
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			stop()
			return Approval{}, context.Cause(ctx)
		}
		timer.Stop()
		stop()
	}
}

// endExpired writes what the clock has decided, so that the waiter and everybody
// after it see the same, and returns the row.
func (a *Approvals) endExpired(ctx context.Context, ap Approval) (Approval, error) {
	if _, err := a.Expire(ctx); err != nil {
		return Approval{}, err
	}
	return a.Get(ctx, ap.ID)
}

// listen returns a channel that is closed when the approval changes.
func (a *Approvals) listen(id string) (<-chan struct{}, func()) {
	c := make(chan struct{})
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.waiters[id] == nil {
		a.waiters[id] = map[chan struct{}]struct{}{}
	}
	a.waiters[id][c] = struct{}{}
	return c, func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.waiters[id], c)
		if len(a.waiters[id]) == 0 {
			delete(a.waiters, id)
		}
	}
}

// Expire ends every question that nobody answered in time, and returns how
// many there were. The kernel calls it when it opens the home. An approval that
// was given and not used in time needs no such step: it reads as expired.
func (a *Approvals) Expire(ctx context.Context) (int, error) {
	n := 0
	err := a.st.Write(ctx, func(tx *store.Tx) error {
		n = 0
		over, err := a.query(tx, `state = 'pending' AND expires_at <= ?`, a.now().UnixMilli())
		if err != nil {
			return err
		}
		for _, ap := range over {
			if ap.State != ApprovalExpired {
				continue // the clock was set back between the two looks at it
			}
			if err := a.move(tx, ap, ApprovalPending); err != nil {
				return err
			}
			if a.cfg.OnExpire != nil {
				if err := a.cfg.OnExpire(tx, ap); err != nil {
					return err
				}
			}
			n++
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("expire approvals: %w", err)
	}
	return n, nil
}

// Run ends questions when their time is over, until ctx ends. While none is
// open it sleeps.
func (a *Approvals) Run(ctx context.Context) error {
	for {
		deadline, err := a.expireNow(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		var timer <-chan time.Time
		if !deadline.IsZero() {
			timer = time.After(min(max(deadline.Sub(a.now()), time.Millisecond), lookAgain))
		}
		select {
		case <-ctx.Done():
			return nil
		case <-a.added:
		case <-timer:
		}
	}
}

// expireNow ends what is over and returns when the next question will be; the
// zero time if there is none.
func (a *Approvals) expireNow(ctx context.Context) (time.Time, error) {
	next := func() (at time.Time, err error) {
		err = a.st.Read(ctx, func(tx *store.Tx) error {
			var ms int64
			err := tx.QueryRow(`SELECT COALESCE(MIN(expires_at), 0) FROM approvals WHERE state = 'pending'`).Scan(&ms)
			if ms != 0 {
				at = time.UnixMilli(ms).UTC()
			}
			return err
		})
		return at, err
	}
	at, err := next()
	if err != nil || at.IsZero() || at.After(a.now()) {
		return at, err
	}
	if _, err := a.Expire(ctx); err != nil {
		return time.Time{}, err
	}
	return next()
}
