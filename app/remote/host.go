package remote

import (
	"context"
	"log/slog"
	"net"

	"oxios/kernel"
	"oxios/kernel/sys"
)

// Host serves k on ln, which [Listen] opened in its home, until ctx ends. A
// peer whose process descends from an agent's command is that agent, never the
// person: nobody approves their own request.
func Host(ctx context.Context, k *kernel.Kernel, ln net.Listener, log *slog.Logger) error {
	return Serve(ctx, ln, func(p Peer) (*Handle, error) {
		if agent, ok := k.AgentOf(p.PID); ok {
			return Local(k.As(agent)), nil
		}
		return Local(k.As(sys.Person("socket"))), nil
	}, log)
}
