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
			if p.As != "" {
				return nil, sys.Errorf(sys.CodeForbidden, "An agent's command is no program of the person. Nothing was done.")
			}
			return Local(k.As(agent)), nil
		}
		if p.As != "" {
			who, err := k.ClientNamed(ctx, p.As)
			if err != nil {
				return nil, err
			}
			return Local(k.As(who)), nil
		}
		return Local(k.As(sys.Person("socket"))), nil
	}, log)
}
