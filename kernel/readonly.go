package kernel

import (
	"context"
	"time"

	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// When the disk takes nothing, nothing can be recorded, and what cannot be recorded
// is not done: each call that has an effect fails at its intent. What only reads
// goes on. The person is told once, and when it is over.

// diskHealth hears from the writer of the database, which must not wait.
func (k *Kernel) diskHealth(err error) {
	if err == nil {
		k.disk.Store(nil)
	} else {
		why := sys.AsError(err)
		k.disk.Store(sys.Errorf(why.Code, "Nothing can be saved, so Oxios only reads and agents do nothing: %s", sys.TextOf(err)).
			WithHint("Free some space, or look after the disk. Oxios tries again every two seconds."))
	}
	select {
	case k.diskDue <- struct{}{}:
	default: // it is looked at already
	}
}

// watchDisk tells the person when nothing can be written, and tries until it can.
func (k *Kernel) watchDisk(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-k.diskDue:
		}
		why := k.disk.Load()
		if why == nil {
			continue
		}
		k.log.ErrorContext(ctx, "The disk takes nothing", "error", why)
		k.raise(why)
		for k.disk.Load() != nil {
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(writeAgain):
			}
			err := k.store.Write(ctx, func(tx *store.Tx) error {
				return k.store.Put(tx, "written", k.clock.Now().Format(time.RFC3339))
			})
			if err != nil {
				k.log.DebugContext(ctx, "The disk still takes nothing", "error", err)
			}
		}
		k.trouble.CompareAndSwap(why, nil)
		k.publishStatus()
		k.log.InfoContext(ctx, "The disk takes writes again")
	}
}
