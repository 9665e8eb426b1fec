package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gofrs/flock"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"oxios/kernel/security"
	"oxios/kernel/sys"
)

// SignIn says how the person is signed in at a server. It is about the token, whether or not the server is connected.
type SignIn struct {
	Needed bool      `json:"needed,omitempty"` // the server refuses calls until the person signs in
	Asks   []string  `json:"asks,omitempty"`   // permissions that a call needed and the sign-in does not have
	Issuer string    `json:"issuer,omitempty"` // the authorization server; "" while nobody is signed in
	Scopes []string  `json:"scopes,omitempty"` // the permissions that it gave
	At     time.Time `json:"at,omitzero"`      // when the person signed in, UTC
	Until  time.Time `json:"until,omitzero"`   // the end of the token, where it is known
	Renews bool      `json:"renews,omitempty"` // Oxios gets a new token by itself

	For string `json:"for,omitempty"` // the address of the server that all this is about
}

// grant is what an authorization server gave for one server. It is kept as one key.
type grant struct {
	For      string    `json:"for"` // the address of the server
	Issuer   string    `json:"issuer"`
	Resource string    `json:"resource"`
	TokenURL string    `json:"token_url"`
	Client   client    `json:"client"`
	Access   string    `json:"access,omitempty"`
	Refresh  string    `json:"refresh,omitempty"`
	Until    time.Time `json:"until,omitzero"`
	Scopes   []string  `json:"scopes,omitempty"`
}

// client is Oxios as one authorization server knows it.
type client struct {
	ID       string `json:"id"`
	Secret   string `json:"secret,omitempty"`
	Basic    bool   `json:"basic,omitempty"`    // the secret goes into a header
	Redirect string `json:"redirect,omitempty"` // what was registered with it; "" where nothing was
}

// soon is how long before its end a token counts as ended.
const soon = 15 * time.Second

func (g grant) usable(now time.Time, rejected string) bool {
	return g.Access != "" && g.Access != rejected && (g.Until.IsZero() || now.Add(soon).Before(g.Until))
}

// door is what the sign-in of one server needs in this process.
type door struct {
	turn   chan struct{} // held by the only one who renews or changes it
	cached atomic.Pointer[grant]
}

func (s *Service) door(name string) *door {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.doors[name]
	if d == nil {
		d = &door{turn: make(chan struct{}, 1)}
		s.doors[name] = d
	}
	return d
}

// The files of a sign-in, in the server's folder. Neither holds a secret.
const (
	signInFile = "sign-in.json"
	lockFile   = "sign-in.lock"
)

// alone runs fn as the only one on this computer who changes the sign-in of a server. Of one that was removed there is none.
func (s *Service) alone(ctx context.Context, name string, fn func() error) error {
	done, err := s.turn(ctx, name)
	if err != nil {
		return err
	}
	defer done()
	if _, err := s.server(name); err != nil {
		return err
	}
	return s.locked(ctx, name, fn)
}

// turn waits until nobody else in this process changes the sign-in of a server.
func (s *Service) turn(ctx context.Context, name string) (done func(), err error) {
	d := s.door(name)
	select {
	case d.turn <- struct{}{}:
		return func() { <-d.turn }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// clear deletes the keys and the folder of a server that was removed, after whoever still changes its sign-in. What cannot be
// deleted is told.
func (s *Service) clear(ctx context.Context, name string, def Server) error {
	done, err := s.turn(ctx, name)
	if err != nil {
		return err
	}
	defer done()
	s.pin.Lock()
	defer s.pin.Unlock()
	s.door(name).cached.Store(nil)
	if def.remote() || len(def.Secrets) > 0 {
		if err := s.locked(ctx, name, func() error { return s.forgetKeys(ctx, name, def) }); err != nil {
			return sys.Errorf(sys.CodeUnavailable, "The server %s is removed, but a key of it could not be deleted: %w.", name, err).WithHint("Unlock the keys, add the server again and remove it once more.")
		}
	}
	if err := os.RemoveAll(s.at(name)); err != nil {
		return sys.Errorf(sys.CodeUnavailable, "The server %s is removed, but its folder could not be deleted: %w.", name, err).WithHint("Delete %s yourself.", s.at(name))
	}
	return nil
}

// locked runs fn as the only process of this computer that changes the sign-in of a server.
func (s *Service) locked(ctx context.Context, name string, fn func() error) error {
	if err := os.MkdirAll(s.at(name), 0o700); err != nil {
		return sys.Errorf(sys.CodeUnavailable, "The folder of the server %s cannot be made: %w.", name, err)
	}
	lock := flock.New(s.at(name, lockFile), flock.SetPermissions(0o600))
	if _, err := lock.TryLockContext(ctx, 20*time.Millisecond); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return sys.Errorf(sys.CodeUnavailable, "The sign-in of the server %s cannot be locked: %w.", name, err)
	}
	err := fn()
	if uerr := lock.Unlock(); uerr != nil {
		s.c.Log.Warn("The lock of a server's sign-in was not given back in order", "server", name, "error", uerr)
	}
	return err
}

// signedIn is what is known of a sign-in without asking for its secret.
func (s *Service) signedIn(name string, def Server) SignIn {
	var v SignIn
	raw, err := os.ReadFile(s.at(name, signInFile))
	if err == nil {
		err = json.Unmarshal(raw, &v)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.c.Log.Warn("What is known of a sign-in cannot be read", "server", name, "error", err)
	}
	if err != nil || v.For != def.URL {
		return SignIn{For: def.URL}
	}
	if !v.At.IsZero() && !v.Renews && !v.Until.IsZero() && !s.c.Clock.Now().Before(v.Until) {
		v.Needed = true
	}
	return v
}

func (s *Service) note(name string, v SignIn) error {
	raw, err := json.Marshal(v)
	if err == nil {
		err = os.MkdirAll(s.at(name), 0o700)
	}
	if err == nil {
		err = security.WriteFileAtomic(s.at(name, signInFile), raw, 0o600)
	}
	if err != nil {
		return sys.Errorf(sys.CodeUnavailable, "The sign-in of the server %s could not be kept: %w.", name, err)
	}
	return nil
}

// load reads the grant of a server. One of another address, or of another machine, is none.
func (s *Service) load(ctx context.Context, name string, def Server) (grant, bool, error) {
	raw, err := s.c.Keys.Get(ctx, keyName(name, ""), def.URL)
	switch sys.CodeOf(err) {
	case sys.CodeNotFound, sys.CodeRefused:
		return grant{}, false, nil
	}
	if err != nil {
		return grant{}, false, err
	}
	var g grant
	if json.Unmarshal([]byte(raw), &g) != nil || g.For != def.URL {
		return grant{}, false, nil
	}
	s.hide(g)
	return g, true, nil
}

// hide has the secrets of a grant masked from now on.
func (s *Service) hide(g grant) {
	for _, secret := range []string{g.Access, g.Refresh, g.Client.Secret} {
		if secret != "" {
			s.c.Secret(secret)
		}
	}
}

// store keeps a grant, and what may be shown of it. Whoever calls it is alone.
func (s *Service) store(ctx context.Context, name string, g grant, v SignIn) error {
	if now, err := s.server(name); err != nil || now.URL != g.For {
		return sys.Errorf(sys.CodeConflict, "The server %s was changed or removed meanwhile, so its token was not kept.", name).WithHint("Sign in again: `oxios mcp login %s`.", name)
	}
	raw, err := json.Marshal(g)
	if err != nil {
		return err
	}
	s.hide(g)
	if _, err := s.c.Keys.Set(ctx, keyName(name, ""), g.For, string(raw)); err != nil {
		return err
	}
	s.door(name).cached.Store(&g)
	v.For = g.For
	if v.Issuer, v.Scopes, v.Until, v.Renews = g.Issuer, g.Scopes, g.Until, g.Refresh != ""; g.Access == "" {
		v = SignIn{For: g.For, Needed: v.Needed, Asks: v.Asks}
	}
	return s.note(name, v)
}

// token returns what a server is called with now: "" where nobody signed in. A token that has ended, or that the server
// rejected, is renewed; who waits for that meanwhile gets the new one.
func (s *Service) token(ctx context.Context, name string, def Server, rejected string) (string, error) {
	if g := s.door(name).cached.Load(); g != nil && g.For == def.URL && g.usable(s.c.Clock.Now(), rejected) {
		return g.Access, nil
	}
	if s.signedIn(name, def).At.IsZero() {
		return "", nil // no keyring is asked for what is not there
	}
	token := ""
	err := s.alone(ctx, name, func() error {
		g, ok, err := s.load(ctx, name, def)
		if err != nil {
			return err
		}
		if ok && g.usable(s.c.Clock.Now(), rejected) {
			s.door(name).cached.Store(&g)
			token = g.Access
			return nil
		}
		if !ok || g.Refresh == "" {
			return s.drop(ctx, name, def, g)
		}
		if g, err = s.renew(ctx, name, def, g); err != nil {
			return err
		}
		token = g.Access
		return nil
	})
	return token, err
}

// renew gets a new token for an old one. Whoever calls it is alone.
func (s *Service) renew(ctx context.Context, name string, def Server, g grant) (grant, error) {
	at, err := security.ReadAddress(def.URL)
	if err != nil {
		return g, err
	}
	got, err := s.flow(name, at).ask(ctx, g, map[string]string{"grant_type": "refresh_token", "refresh_token": g.Refresh})
	if refused, ok := errors.AsType[*refusal](err); ok && slices.Contains([]string{"invalid_grant", "invalid_client", "unauthorized_client"}, refused.code) {
		if refused.code != "invalid_grant" {
			g.Client = client{} // it knows Oxios no longer
		}
		return g, errors.Join(s.drop(ctx, name, def, g), s.signInFirst(name))
	}
	if err != nil {
		return g, err
	}
	v := s.signedIn(name, def)
	v.Needed = false
	return got, s.store(ctx, name, got, v)
}

// drop deletes the token of a server: the person has to sign in again. Whoever calls it is alone.
func (s *Service) drop(ctx context.Context, name string, def Server, g grant) error {
	v := s.signedIn(name, def)
	was := v.Needed
	v = SignIn{For: def.URL, Needed: true, Asks: v.Asks}
	s.door(name).cached.Store(nil)
	var err error
	if g.Client.ID == "" {
		if err = s.forget(ctx, keyName(name, "")); err == nil {
			err = s.note(name, v)
		}
	} else {
		g.For, g.Access, g.Refresh, g.Until, g.Scopes = def.URL, "", "", time.Time{}, nil
		err = s.store(ctx, name, g, v)
	}
	if !was {
		s.c.Told(name)
	}
	return err
}

// rejected is called when a server answered 401 to a token, or to a call without one. It returns another one, where there is a newer or could be got.
func (s *Service) rejected(ctx context.Context, name string, def Server, token string, asked challenge) (string, error) {
	if token != "" {
		if err := s.moved(ctx, name, def, token, asked); err != nil {
			return "", err
		}
	}
	if newer, err := s.token(ctx, name, def, token); newer != "" || err != nil {
		return newer, err
	}
	return s.needs(ctx, name, def, token, asked)
}

// moved drops the sign-in of a server that names another authorization server by now: what the old one gave is not for it.
func (s *Service) moved(ctx context.Context, name string, def Server, token string, asked challenge) error {
	g := s.door(name).cached.Load()
	if g == nil || g.Access != token {
		return nil // somebody has a newer one
	}
	at, err := security.ReadAddress(def.URL)
	if err != nil {
		return err
	}
	res, err := s.flow(name, at).resource(ctx, at.URL, asked)
	if err != nil || slices.ContainsFunc(res.AuthorizationServers, func(iss string) bool { return sameIssuer(iss, g.Issuer) }) {
		return nil //nolint:nilerr // what cannot be asked has not moved
	}
	err = s.alone(ctx, name, func() error { return s.drop(ctx, name, def, grant{}) })
	return errors.Join(err, s.signInFirst(name))
}

// needs notes that a server wants the person to sign in, and returns the error that says so. Where the person signed in since
// the call with the rejected token was made, it returns the new token instead.
func (s *Service) needs(ctx context.Context, name string, def Server, rejected string, asked challenge) (token string, err error) {
	err = s.alone(ctx, name, func() error {
		if !s.signedIn(name, def).At.IsZero() {
			g, ok, err := s.load(ctx, name, def)
			if err != nil {
				return err
			}
			if ok && g.usable(s.c.Clock.Now(), rejected) {
				token = g.Access
				return nil
			}
		}
		return s.amend(name, def, func(v *SignIn) bool {
			more := union(v.Asks, asked.scopes)
			news := !v.Needed || len(more) != len(v.Asks)
			v.Needed, v.Asks = true, more
			return news
		})
	})
	if err == nil && token == "" {
		err = s.signInFirst(name)
	}
	return token, err
}

// amend changes what is known of a sign-in, where change says so. Whoever calls it is alone.
func (s *Service) amend(name string, def Server, change func(v *SignIn) bool) error {
	v := s.signedIn(name, def)
	if !change(&v) {
		return nil
	}
	err := s.note(name, v)
	if err == nil {
		s.c.Told(name)
	}
	return err
}

func (s *Service) signInFirst(name string) *sys.Error {
	return sys.Errorf(sys.CodeAuth, "The server %s needs the person to sign in. Nothing was called.", name).
		WithHint("The person can sign in under Extensions, or with `oxios mcp login %s`.", name)
}

// forbidden is the error of a call that the sign-in does not cover.
func (s *Service) forbidden(ctx context.Context, name string, def Server, asked challenge) error {
	if asked.code != "insufficient_scope" || def.authorizes() {
		return sys.Errorf(sys.CodeAuth, "The server %s does not allow this call (403).", name).WithHint("Check what the account may do that it is called with.")
	}
	err := s.alone(ctx, name, func() error {
		return s.amend(name, def, func(v *SignIn) bool {
			had := len(v.Asks)
			v.Asks = union(v.Asks, asked.scopes)
			return len(v.Asks) != had
		})
	})
	if err != nil {
		return err
	}
	return sys.Errorf(sys.CodeAuth, "The sign-in at the server %s does not allow this call. It needs: %s.", name, strings.Join(asked.scopes, ", ")).
		WithHint("The person can sign in again to allow it: `oxios mcp login %s`.", name)
}

// challenge is what an answer says about signing in.
type challenge struct {
	metadata string // where the document about the server is
	scopes   []string
	code     string
}

// maxScopes is how many permissions are asked for at most.
const maxScopes = 100

func challengeOf(res *http.Response) (c challenge) {
	all, err := oauthex.ParseWWWAuthenticate(res.Header.Values("WWW-Authenticate"))
	if err != nil {
		return c // one that cannot be read says nothing
	}
	for _, one := range all {
		if one.Scheme != "bearer" {
			continue
		}
		if c.metadata == "" {
			c.metadata = one.Params["resource_metadata"]
		}
		if c.code == "" {
			c.code = one.Params["error"]
		}
		c.scopes = union(c.scopes, strings.Fields(one.Params["scope"]))
	}
	return c
}

// union are the permissions of both lists, those of the first in front.
func union(a, b []string) []string {
	out := slices.Clone(a)
	for _, scope := range b {
		if scope = plain(scope, 200); scope != "" && !slices.Contains(out, scope) && len(out) < maxScopes {
			out = append(out, scope)
		}
	}
	return out
}

func sameIssuer(a, b string) bool { return strings.TrimSuffix(a, "/") == strings.TrimSuffix(b, "/") }
