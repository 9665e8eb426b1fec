package kernel

import (
	"context"
	"time"
)

// CollectAttachments does what the kernel does every hour.
func (k *Kernel) CollectAttachments(ctx context.Context) { k.collectAttachments(ctx) }

// LookForGuards is one look at what commands may not change, as it is made before
// and after one.
func (k *Kernel) LookForGuards(ctx context.Context, folder string) error {
	_, err := k.guardedIn(ctx, folder, true)
	return err
}

// SmallUndoBatches has a large undo make so many moves durable at once.
func (k *Kernel) SmallUndoBatches(moves int) { k.undos.batch = moves }

// Look does what the kernel does a few times in a minute: it ends the runs that
// make no progress.
func (k *Kernel) Look() { k.runs.scheduler.Look() }

// GuardEvery is how often the guardian looks.
func (k *Kernel) GuardEvery() time.Duration { return k.opts.Guard }
