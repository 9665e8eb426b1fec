package cli

import (
	"context"
	"log/slog"

	"oxios/app/notify"
	"oxios/app/remote"
	"oxios/kernel"
	"oxios/kernel/sys"
)

// notices tells the person through the system's notifications what waits and
// what has ended, while no window is there to do it.
func (c *console) notices(ctx context.Context, k *kernel.Kernel, log *slog.Logger) error {
	return notify.Run(ctx, notify.Config{
		Handle: remote.Local(k.As(sys.Person("notification"))), Focused: k.Focused, Log: log,
		Korean: func() bool { return languageOf(c.home, c.getenv) == korean },
	})
}
