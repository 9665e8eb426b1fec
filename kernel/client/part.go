package client

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"oxios/kernel/guard"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// Key is under which the database keeps the programs. A restore leaves it out: a token holds on the machine where it was
// given.
const Key = "clients"

// Config is all that the service uses.
type Config struct {
	Store *store.Store
	Clock sys.Clock
	Log   *slog.Logger
	Told  func(name string) // a program was added or revoked: faces look again
}

// Service is the part of the kernel that knows the programs.
type Service struct {
	c Config

	mu      sync.Mutex
	all     []kept // in the order in which they were added
	read    bool   // all has been read
	running bool
}

// New returns the service. It reads nothing before the first call.
func New(c Config) *Service { return &Service{c: c} }

// As is the service as a caller sees it.
func (s *Service) As(c *guard.Caller) *API { return &API{c: c, s: s} }

// Run does nothing until ctx ends: programs come by the calls of faces.
func (s *Service) Run(ctx context.Context) error {
	s.mu.Lock()
	again := s.running
	s.running = true
	s.mu.Unlock()
	if again {
		return errors.New("the programs are served already")
	}
	<-ctx.Done()
	return nil
}

// Close has nothing to end.
func (s *Service) Close() error { return nil }

// load reads the programs once. The caller holds mu.
func (s *Service) load(ctx context.Context) error {
	if s.read {
		return nil
	}
	raw, ok, err := s.c.Store.Get(ctx, Key)
	if err == nil && ok {
		err = json.Unmarshal([]byte(raw), &s.all)
	}
	if err != nil { // nobody comes in then
		s.all = nil
		return sys.Errorf(sys.CodeUnavailable, "The list of programs cannot be read: %w.", err)
	}
	s.read = true
	return nil
}

// save keeps all. The caller holds mu.
func (s *Service) save(ctx context.Context, all []kept) error {
	raw, err := json.Marshal(all)
	if err != nil {
		return err
	}
	if err := s.c.Store.Write(ctx, func(tx *store.Tx) error { return s.c.Store.Put(tx, Key, string(raw)) }); err != nil {
		return sys.Errorf(sys.CodeUnavailable, "The list of programs could not be saved: %w. Nothing was changed.", err)
	}
	s.all = all
	return nil
}

// Authenticate returns the program that a token belongs to. It looks at all of them, so that its time does not tell which.
func (s *Service) Authenticate(ctx context.Context, token string) (Client, error) {
	hash := []byte(hashOf(token))
	return s.enter(ctx, func(k kept) bool { return subtle.ConstantTimeCompare([]byte(k.Hash), hash) == 1 },
		sys.Errorf(sys.CodeAuth, "This token is unknown or was revoked.").WithHint("Add the program again in Oxios: Settings, Programs; or `oxios mcp clients add`."))
}

// Named returns the program of a name, which a process of the person says of itself.
func (s *Service) Named(ctx context.Context, name string) (Client, error) {
	return s.enter(ctx, func(k kept) bool { return k.Name == name },
		sys.Errorf(sys.CodeNotFound, "There is no program %q.", name).WithHint("`oxios mcp clients list` shows them, `oxios mcp clients add` adds one."))
}

func (s *Service) enter(ctx context.Context, is func(kept) bool, no error) (Client, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.load(ctx); err != nil {
		return Client{}, err
	}
	at := -1
	for i, k := range s.all {
		if is(k) {
			at = i
		}
	}
	if at < 0 {
		return Client{}, no
	}
	if c := s.all[at]; c.UsedAt == nil || s.c.Clock.Now().Sub(*c.UsedAt) >= time.Minute {
		now, all := s.c.Clock.Now(), slices.Clone(s.all)
		all[at].UsedAt = &now
		if err := s.save(context.WithoutCancel(ctx), all); err != nil { // it may come in all the same
			s.c.Log.WarnContext(ctx, "Could not note when a program came", "client", c.Name, "error", err)
		}
	}
	return s.all[at].Client, nil
}

// Allows says why a program may not make a call; nil when one of its scopes names the call.
func (s *Service) Allows(ctx context.Context, id, call string) error {
	c, err := s.get(ctx, id)
	switch {
	case err != nil:
		return err
	case c.holds(call):
		return nil
	case len(ScopesFor(call)) == 0:
		return sys.Errorf(sys.CodeForbidden, "No program may do this (%s).", call).WithHint("The person does it in Oxios.")
	}
	return sys.Errorf(sys.CodeForbidden, "%s does not have the scope %s, which this needs.", c.Name, strings.Join(ScopesFor(call), ", ")).
		WithHint("The person gives it in Oxios: Settings, Programs. A program gets other scopes by being added again.")
}

// Has reports whether a program has a scope.
func (s *Service) Has(ctx context.Context, id, scope string) (bool, error) {
	c, err := s.get(ctx, id)
	return slices.Contains(c.Scopes, scope), err
}

func (s *Service) get(ctx context.Context, id string) (Client, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.load(ctx); err != nil {
		return Client{}, err
	}
	for _, k := range s.all {
		if k.ID == id {
			return k.Client, nil
		}
	}
	return Client{}, sys.Errorf(sys.CodeAuth, "The access of this program was revoked.").WithHint("Add the program again in Oxios: Settings, Programs; or `oxios mcp clients add`.")
}

func (s *Service) list(ctx context.Context) ([]Client, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.load(ctx); err != nil {
		return nil, err
	}
	out := []Client{}
	for _, k := range s.all {
		out = append(out, k.Client)
	}
	return out, nil
}

func (s *Service) add(ctx context.Context, name string, scopes []string) (Added, error) {
	name, scopes, err := check(name, scopes)
	if err != nil {
		return Added{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.load(ctx); err != nil {
		return Added{}, err
	}
	switch {
	case slices.ContainsFunc(s.all, func(k kept) bool { return strings.EqualFold(k.Name, name) }):
		return Added{}, sys.Errorf(sys.CodeConflict, "There is a program %q already. Nothing was added.", name).WithHint("Choose another name, or revoke that one first.")
	case len(s.all) >= maxClients:
		return Added{}, sys.Errorf(sys.CodeTooLarge, "There are %d programs, which is the most. Nothing was added.", maxClients).WithHint("Revoke one that you do not use.")
	}
	var secret [32]byte
	_, _ = rand.Read(secret[:]) // it never fails: since Go 1.24 a system without randomness ends the process
	made := Added{Client: Client{ID: sys.NewID(), Name: name, Scopes: scopes, CreatedAt: s.c.Clock.Now()}, Token: prefix + base64.RawURLEncoding.EncodeToString(secret[:])}
	if err := s.save(ctx, append(slices.Clone(s.all), kept{made.Client, hashOf(made.Token)})); err != nil {
		return Added{}, err
	}
	return made, nil
}

func (s *Service) revoke(ctx context.Context, which string) (Client, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.load(ctx); err != nil {
		return Client{}, err
	}
	at := slices.IndexFunc(s.all, func(k kept) bool { return k.ID == which || k.Name == which })
	if at < 0 {
		return Client{}, sys.Errorf(sys.CodeNotFound, "There is no program %q. Nothing was changed.", which).WithHint("`oxios mcp clients list` shows them.")
	}
	gone := s.all[at].Client
	return gone, s.save(ctx, slices.Delete(slices.Clone(s.all), at, at+1))
}
