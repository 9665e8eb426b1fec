package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
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
	idle        = 30 * time.Minute

	versionHeader = "Mcp-Protocol-Version"
	sessionHeader = "Mcp-Session-Id"
	stateless     = "2026-07-28" // the first version without sessions
)

// Config is what a [Server] works with.
type Config struct {
	Version string
	Open    func(ctx context.Context, token string) (*remote.Handle, error) // the kernel as the program sees it that a token belongs to
	Person  *remote.Handle                                                  // tells which programs there are
	Log     *slog.Logger                                                    // required

	// Agent says of a request whether it comes from an agent's command, and whether that is known. Nil: it is not.
	Agent func(*http.Request) (agent, known bool)
}

// Server serves programs over HTTP: it is what stands behind /mcp. Who stands before it checks the host and the origin.
type Server struct {
	c    Config
	more func(*sdk.Server) // what tests add

	mu    sync.Mutex
	faces map[string]*served // by the program's id, and whether it may be asked
	ended bool
}

// served is one program with its two handlers: one handler cannot serve both generations of the protocol.
type served struct {
	id       string
	server   *sdk.Server
	sessions http.Handler // for versions with sessions
	single   http.Handler // for those without
}

// New returns a server. It does nothing before the first request.
func New(c Config) *Server { return &Server{c: c, faces: map[string]*served{}} }

// ServeHTTP answers one request of the protocol.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	agent, known := false, false
	if s.c.Agent != nil {
		agent, known = s.c.Agent(r)
	}
	if agent {
		refuse(w, http.StatusForbidden, sys.Errorf(sys.CodeForbidden, "An agent's command is no program of the person. Nothing was done."))
		return
	}
	const scheme = `Bearer realm="Oxios"`
	if r.Header.Get("Authorization") == "" {
		w.Header().Set("WWW-Authenticate", scheme)
	}
	auth.RequireBearerToken(func(ctx context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
		f, err := s.open(ctx, token, known)
		if err != nil {
			w.Header().Set("WWW-Authenticate", scheme)
			return nil, fmt.Errorf("%w: %w", auth.ErrInvalidToken, problem(err))
		}
		return &auth.TokenInfo{UserID: f.id, Extra: map[string]any{"served": f}}, nil
	}, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true, Scopes: nil})(http.HandlerFunc(s.serve)).ServeHTTP(w, r)
}

// serve hands a request whose program is known to the handler of its generation.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	f, ok := auth.TokenInfoFromContext(r.Context()).Extra["served"].(*served)
	if !ok {
		refuse(w, http.StatusInternalServerError, sys.Errorf(sys.CodeInternal, "The program of this request is lost."))
		return
	}
	if r.Header.Get(versionHeader) >= stateless {
		f.single.ServeHTTP(w, r)
		return
	}
	if r.Method == http.MethodPost && r.Header.Get(sessionHeader) == "" && f.open() >= maxSessions {
		refuse(w, http.StatusTooManyRequests, sys.Errorf(sys.CodeRateLimit, "This program has %d sessions open, which is the most.", maxSessions).WithHint("End one with DELETE, or wait: one that nobody uses ends after 30 minutes."))
		return
	}
	f.sessions.ServeHTTP(w, r)
}

// open is how many sessions the program has.
func (f *served) open() (n int) {
	for range f.server.Sessions() {
		n++
	}
	return n
}

// close ends the sessions of the program.
func (f *served) close() {
	for ss := range f.server.Sessions() {
		_ = ss.Close() // its program is gone, or its end is not waited for
	}
}

// open finds the program of a token. Each request asks the kernel anew: one that was revoked comes in no more.
func (s *Server) open(ctx context.Context, token string, known bool) (*served, error) {
	h, err := s.c.Open(ctx, token)
	if err != nil {
		return nil, err
	}
	f, err := newFace(ctx, h, s.c.Version, s.c.Log)
	if err != nil {
		return nil, err
	}
	f.answers, f.updates, f.more = known, true, s.more
	key := fmt.Sprint(f.self.ID, known)
	s.mu.Lock()
	defer s.mu.Unlock()
	if at, ok := s.faces[key]; ok {
		return at, nil
	}
	if s.ended {
		return nil, sys.Errorf(sys.CodeUnavailable, "Oxios is ending.")
	}
	server, err := f.server()
	if err != nil {
		return nil, err
	}
	get := func(*http.Request) *sdk.Server { return server }
	at := &served{
		id: f.self.ID, server: server,
		sessions: sdk.NewStreamableHTTPHandler(get, &sdk.StreamableHTTPOptions{Logger: s.c.Log, SessionTimeout: idle, MaxRequestBodyBytes: maxBody}),
		single:   sdk.NewStreamableHTTPHandler(get, &sdk.StreamableHTTPOptions{Logger: s.c.Log, Stateless: true, MaxRequestBodyBytes: maxBody, PropagateRequestCancellation: true}),
	}
	s.faces[key] = at
	return at, nil
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
			s.updated(ctx, e)
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
		f.close()
	}
	return nil
}

func (s *Server) end() {
	s.mu.Lock()
	s.ended = true
	all := s.faces
	s.faces = map[string]*served{}
	s.mu.Unlock()
	for _, f := range all {
		f.close()
	}
}

// refuse answers with a coded error as JSON.
func refuse(w http.ResponseWriter, status int, err *sys.Error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(err) // when it does not arrive, nobody is left to be told
}
