package kernel

import "context"

// CollectAttachments does what the kernel does every hour.
func (k *Kernel) CollectAttachments(ctx context.Context) { k.collectAttachments(ctx) }

// LookForGuards is one look at what commands may not change, as it is made before
// and after one.
func (k *Kernel) LookForGuards(ctx context.Context, folder string) error {
	_, err := k.guardedIn(ctx, folder, true)
	return err
}
