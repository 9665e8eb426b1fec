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
	tells bool
}

// WithConn is [http.Server.ConnContext] of a server whose requests are asked by [PeerOf].
func WithConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, &conn{Conn: c})
}

// Behind is what is known of the process behind a request over loopback.
type Behind int

// The kinds of processes. Only where the system does not tell is one let in of which nothing is known.
const (
	PeerUntold Behind = iota // the system does not tell which process has a connection
	PeerLost                 // it does, but none was found that the person has: it ended, hides, or is of somebody else
	PeerAgent                // an agent's command, or this process itself, whose network such a command has
	PeerPerson               // another process of the person
)

// PeerOf says which process a request comes from. It looks through all processes, so who asks it has let the request in otherwise.
func PeerOf(k *kernel.Kernel, r *http.Request) Behind {
	c, ok := r.Context().Value(connKey{}).(*conn)
	if !ok {
		return PeerUntold
	}
	c.once.Do(func() { c.pid, c.tells = peerOfTCP(c.LocalAddr(), c.RemoteAddr()) })
	switch {
	case !c.tells:
		return PeerUntold
	case c.pid == 0:
		return PeerLost
	case c.pid == os.Getpid():
		return PeerAgent
	}
	if _, agent := k.AgentOf(c.pid); agent {
		return PeerAgent
	}
	return PeerPerson
}
