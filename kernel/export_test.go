package kernel

import "context"

// CollectAttachments does what the kernel does every hour.
func (k *Kernel) CollectAttachments(ctx context.Context) { k.collectAttachments(ctx) }
