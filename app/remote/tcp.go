package remote

import (
	"context"
	"net"
	"net/http"
	"os"
	"sync"

	"oxios/kernel"
)

type connKey struct{}

// conn is a TCP connection of this machine, with the process at its other end once somebody has asked for it.
type conn struct {
	net.Conn
	once  sync.Once
	pid   int
	known bool
}

// WithConn is [http.Server.ConnContext] of a server whose requests are asked by [AgentBehind].
func WithConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, &conn{Conn: c})
}

// AgentBehind says of a request over loopback whether it comes from an agent's command, and whether that can be known: it
// cannot where the system does not tell which process has a connection. What comes from this process itself comes from an
// agent's command too, whose network this process carries.
func AgentBehind(k *kernel.Kernel, r *http.Request) (agent, known bool) {
	c, ok := r.Context().Value(connKey{}).(*conn)
	if !ok {
		return false, false
	}
	c.once.Do(func() { c.pid, c.known = peerOfTCP(c.LocalAddr(), c.RemoteAddr()) })
	if !c.known {
		return false, false
	}
	if c.pid == os.Getpid() {
		return true, true
	}
	_, agent = k.AgentOf(c.pid)
	return agent, true
}
