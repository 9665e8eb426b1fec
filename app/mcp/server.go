package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"oxios/app/remote"
	"oxios/kernel"
	"oxios/kernel/sys"
)

const (
	maxBody     = 4 << 20
	maxSessions = 32 // of one program
	maxStreams  = 32 // that one program follows at once
	maxRequests = 64 // of one program at once, streams included
	idle        = 30 * time.Minute
	unread      = 10 * time.Second // that a write waits for who does not read
	ending      = time.Second      // that the end of a program's sessions is waited for

	versionHeader = "Mcp-Protocol-Version"
	sessionHeader = "Mcp-Session-Id"
	nameHeader    = "Mcp-Name"
	methodHeader  = "Mcp-Method" // from stateless on: the library holds it against the body
	stateless     = "2026-07-28" // the first version without sessions
)

// Config is what a [Server] works with.
type Config struct {
	Version string
	Open    func(ctx context.Context, token string) (*remote.Handle, error) // the kernel as the program sees it that a token belongs to
	Person  *remote.Handle                                                  // tells which programs there are
	Log     *slog.Logger                                                    // required

	// Peer says which process a request comes from. Nil: nobody can tell.
	Peer func(*http.Request) remote.Behind
}

// Server serves programs over HTTP: it is what stands behind /mcp. Who stands before it checks the host and the origin.
type Server struct {
	c    Config
	more func(*sdk.Server) // what tests add
	keep keeper            // the same

	mu    sync.Mutex
	faces map[string]*served // by the program's id, and whether it may be asked
	ended bool
}

// New returns a server. It does nothing before the first request.
func New(c Config) *Server { return &Server{c: c, faces: map[string]*served{}} }

// ServeHTTP answers one request of the protocol. The token comes first: what else is asked of a request costs more.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	const scheme = `Bearer realm="Oxios"`
	f, err := s.enter(r)
	code := sys.CodeOf(err)
	switch {
	case err == nil:
		defer f.leave(r)
	case code == sys.CodeForbidden:
		refuse(w, http.StatusForbidden, sys.AsError(err))
		return
	case code == sys.CodeRateLimit:
		refuse(w, http.StatusTooManyRequests, sys.AsError(err))
		return
	case code != sys.CodeAuth:
		s.c.Log.WarnContext(r.Context(), "A program could not be let in", "error", err)
		refuse(w, http.StatusServiceUnavailable, sys.Errorf(sys.CodeUnavailable, "Oxios cannot look up its programs at the moment. Nothing was done.").WithHint("Try again; the log says what is wrong."))
		return
	}
	if err != nil {
		w.Header().Set("WWW-Authenticate", scheme)
	}
	auth.RequireBearerToken(func(context.Context, string, *http.Request) (*auth.TokenInfo, error) {
		if err != nil {
			return nil, fmt.Errorf("%w: %w", auth.ErrInvalidToken, problem(err))
		}
		return &auth.TokenInfo{UserID: f.id}, nil
	}, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true, Scopes: nil})(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		bounded := &writer{ResponseWriter: w, to: http.NewResponseController(w)}
		defer bounded.free()
		r.Body = http.MaxBytesReader(w, r.Body, maxBody) // by the server's own writer, which then lets the answer arrive
		f.serve(bounded, r)
	})).ServeHTTP(w, r)
}

// enter finds the program of a request and counts the request among its own. Each one asks the kernel anew: a program that was
// revoked comes in no more.
func (s *Server) enter(r *http.Request) (*served, error) {
	said := strings.Fields(r.Header.Get("Authorization"))
	if len(said) != 2 || !strings.EqualFold(said[0], "bearer") {
		return nil, &sys.Error{Code: sys.CodeAuth, Message: "no bearer token"} // the library says so itself
	}
	h, err := s.c.Open(r.Context(), said[1])
	if err != nil {
		return nil, err
	}
	peer := remote.PeerUntold
	if s.c.Peer != nil {
		peer = s.c.Peer(r)
	}
	switch peer {
	case remote.PeerAgent:
		return nil, sys.Errorf(sys.CodeForbidden, "An agent's command is no program of the person. Nothing was done.")
	case remote.PeerLost:
		return nil, sys.Errorf(sys.CodeForbidden, "Oxios cannot tell which process this program is. Nothing was done.").WithHint("Connect it with `oxios mcp serve`.")
	}
	f, err := newFace(r.Context(), h, s.c.Version, s.c.Log)
	if err != nil {
		return nil, err
	}
	f.answers, f.updates, f.more, f.tasks = peer == remote.PeerPerson, true, s.more, s.keep
	key := fmt.Sprint(f.self.ID, f.answers)
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.faces[key]
	if at != nil && at.worn() {
		at.cancel()
		at = nil
	}
	if at == nil {
		if s.ended {
			return nil, sys.Errorf(sys.CodeUnavailable, "Oxios is ending.")
		}
		if at, err = serve(f); err != nil {
			return nil, err
		}
		s.faces[key] = at
	}
	return at, at.enter(r)
}

// Run ends the sessions of programs that are revoked while they are connected, and all of them when ctx ends.
func (s *Server) Run(ctx context.Context) error {
	defer s.end()
	events, err := s.c.Person.Infra.Events(ctx, 0)
	if err != nil {
		return err
	}
	for e := range events {
		if e.Kind != "clients" && e.Kind != "gap" {
			s.updated(e)
			continue
		}
		if err := s.sweep(ctx); err != nil && ctx.Err() == nil {
			s.c.Log.WarnContext(ctx, "Could not look for revoked programs", "error", err)
		}
	}
	if ctx.Err() == nil {
		return errors.New("the events of the kernel ended")
	}
	return nil
}

// sweep forgets the programs that are gone.
func (s *Server) sweep(ctx context.Context) error {
	there, err := s.c.Person.Clients.List(ctx)
	if err != nil {
		return err
	}
	var gone []*served
	s.mu.Lock()
	for key, f := range s.faces {
		if !slices.ContainsFunc(there, func(c kernel.Client) bool { return c.ID == f.id }) {
			gone = append(gone, f)
			delete(s.faces, key)
		}
	}
	s.mu.Unlock()
	for _, f := range gone {
		go f.close() // whoever comes next waits for none of them
	}
	return nil
}

func (s *Server) end() {
	s.mu.Lock()
	s.ended = true
	all := s.faces
	s.faces = map[string]*served{}
	s.mu.Unlock()
	var closed sync.WaitGroup
	for _, f := range all {
		closed.Go(f.close)
	}
	closed.Wait()
}

// refuse answers with a coded error as JSON.
func refuse(w http.ResponseWriter, status int, err *sys.Error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(err) // when it does not arrive, nobody is left to be told
}
