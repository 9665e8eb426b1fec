package mcp

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"oxios/app/gateway"
	"oxios/app/remote"
	"oxios/kernel/kerneltest"
	"oxios/kernel/sys"
)

func TestMain(m *testing.M) { kerneltest.Main(m) }

// site is a kernel whose page serves programs too.
type site struct {
	t *testing.T
	*kerneltest.Kernel
	server  *Server
	stop    func()     // ends it
	served  chan error // what its Run returned
	url     string
	version string       // of the protocol; "" is the newest
	peer    atomic.Int64 // where requests come from: a [remote.Behind]
}

func setup(t *testing.T, options ...kerneltest.Option) *site {
	t.Helper()
	s := &site{t: t, Kernel: kerneltest.Open(t, options...)}
	s.peer.Store(int64(remote.PeerPerson))
	log := slog.New(slog.DiscardHandler)
	s.server = New(Config{
		Version: "test", Log: log, Person: remote.Local(s.Person()),
		Open: func(ctx context.Context, token string) (*remote.Handle, error) {
			who, err := s.ClientOf(ctx, token)
			if err != nil {
				return nil, err
			}
			return remote.Local(s.As(who)), nil
		},
		Peer: func(*http.Request) remote.Behind { return remote.Behind(s.peer.Load()) },
	})
	ln, err := gateway.Listen(0)
	if err != nil {
		t.Fatal(err)
	}
	s.url = "http://" + ln.Addr().String() + "/mcp"
	g := gateway.New(gateway.Config{Handle: func(via string) *remote.Handle { return remote.Local(s.As(sys.Person(via))) }, Log: log, Programs: s.server})
	ctx, stop := context.WithCancel(t.Context())
	ended, served := make(chan error, 1), make(chan error, 1)
	go func() { ended <- g.Run(ctx, ln) }()
	go func() { served <- s.server.Run(ctx); close(served) }()
	s.stop, s.served = stop, served
	t.Cleanup(func() {
		stop()
		for _, c := range []chan error{ended, served} {
			if err := <-c; err != nil {
				t.Error(err)
			}
		}
	})
	return s
}

// add adds a program and returns its token.
func (s *site) add(name string, scopes ...string) string {
	s.t.Helper()
	made, err := s.Person().Clients.Add(s.t.Context(), name, scopes)
	if err != nil {
		s.t.Fatal(err)
	}
	return made.Token
}

// bearer sends a token with each request, and what else is set.
type bearer struct {
	token  string
	header http.Header
	base   http.RoundTripper
}

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	for k, v := range b.header {
		r.Header[k] = v
	}
	return b.base.RoundTrip(r)
}

// connect opens a session of a program over HTTP.
func (s *site) connect(token string, o *sdk.ClientOptions) (*sdk.ClientSession, error) {
	s.t.Helper()
	base := &http.Transport{}
	s.t.Cleanup(base.CloseIdleConnections)
	c := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, o)
	cs, err := c.Connect(s.t.Context(), &sdk.StreamableClientTransport{Endpoint: s.url, HTTPClient: &http.Client{Transport: bearer{token: token, base: base}}, MaxRetries: -1}, &sdk.ClientSessionOptions{ProtocolVersion: s.version})
	if err == nil {
		s.t.Cleanup(func() { _ = cs.Close() })
	}
	return cs, err
}

func (s *site) mustConnect(token string, o *sdk.ClientOptions) *sdk.ClientSession {
	s.t.Helper()
	cs, err := s.connect(token, o)
	if err != nil {
		s.t.Fatal(err)
	}
	return cs
}

// call calls a tool and returns its text, and whether it failed.
func (s *site) call(cs *sdk.ClientSession, name string, args map[string]any) (string, bool) {
	s.t.Helper()
	r, err := cs.CallTool(s.t.Context(), &sdk.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		s.t.Fatalf("%s: %v", name, err)
	}
	var all []string
	for _, c := range r.Content {
		if t, ok := c.(*sdk.TextContent); ok {
			all = append(all, t.Text)
		}
	}
	return strings.Join(all, "\n"), r.IsError
}
