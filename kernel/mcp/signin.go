package mcp

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"oxios/kernel/guard"
	"oxios/kernel/security"
	"oxios/kernel/sys"
)

// SignInPage is the page on which the person signs in.
type SignInPage struct {
	URL  string `json:"url"`
	Host string `json:"host"` // the machine that it leads to

	// TokenHost is the machine that gets what the person's yes is worth, where it is another one.
	TokenHost string `json:"token_host,omitempty"`
}

// signing is a sign-in that waits for the person.
type signing struct {
	cancel context.CancelCauseFunc
	done   chan struct{}
	err    error // valid after done
}

// signTime is how long a sign-in waits for the person.
const signTime = 10 * time.Minute

// SignIn prepares a sign-in at a server and returns the page for it. Oxios waits for the person's answer on a port of this
// computer for ten minutes; [API.SignedIn] waits for that. An earlier sign-in of the server that still waits is given up.
func (a *API) SignIn(ctx context.Context, name string) (SignInPage, error) {
	return guard.Do(ctx, a.c, guard.Action{Call: "mcp.signIn", Resource: "mcp:" + name}, func(ctx context.Context) (SignInPage, error) {
		def, at, err := a.s.remoteServer(name)
		if err != nil {
			return SignInPage{}, err
		}
		if def.authorizes() {
			return SignInPage{}, sys.Errorf(sys.CodeConflict, "The server %s gets its key in the header Authorization, so nobody signs in there.", name)
		}
		return a.s.begin(ctx, name, def, at)
	})
}

// SignedIn waits until the sign-in that was begun last has ended.
func (a *API) SignedIn(ctx context.Context, name string) (ServerView, error) {
	return guard.Do(ctx, a.c, guard.Action{Call: "mcp.signedIn", Resource: "mcp:" + name}, func(ctx context.Context) (ServerView, error) {
		def, _, err := a.s.remoteServer(name)
		if err != nil {
			return ServerView{}, err
		}
		a.s.mu.Lock()
		w := a.s.signing[name]
		a.s.mu.Unlock()
		if w == nil {
			return ServerView{}, sys.Errorf(sys.CodeConflict, "Nobody is signing in at the server %s.", name).WithHint("Begin with `oxios mcp login %s`.", name)
		}
		select {
		case <-w.done:
		case <-ctx.Done():
			return ServerView{}, context.Cause(ctx)
		}
		if w.err != nil {
			return ServerView{}, w.err
		}
		return a.s.view(name, def), nil
	})
}

// SignOut deletes the token of a server, and what the authorization server knows Oxios by.
func (a *API) SignOut(ctx context.Context, name string) (ServerView, error) {
	return guard.Do(ctx, a.c, guard.Action{Call: "mcp.signOut", Resource: "mcp:" + name}, func(ctx context.Context) (ServerView, error) {
		def, _, err := a.s.remoteServer(name)
		if err != nil {
			return ServerView{}, err
		}
		a.s.giveUp(name)
		if err := a.s.alone(ctx, name, func() error { return a.s.drop(ctx, name, def, grant{}) }); err != nil {
			return ServerView{}, err
		}
		a.s.stop(name)
		a.s.c.Told(name)
		return a.s.view(name, def), nil
	})
}

// remoteServer returns a server of config.toml that runs elsewhere.
func (s *Service) remoteServer(name string) (Server, security.Address, error) {
	def, err := s.server(name)
	if err != nil {
		return def, security.Address{}, err
	}
	if !def.remote() {
		return def, security.Address{}, sys.Errorf(sys.CodeInvalid, "The server %s is a program of this computer: nobody signs in there.", name)
	}
	at, err := security.ReadAddress(def.URL)
	return def, at, err
}

// giveUp ends a sign-in that is being prepared, or waits for the person.
func (s *Service) giveUp(name string) {
	s.mu.Lock()
	w := s.signing[name]
	s.mu.Unlock()
	w.giveUp(name)
}

func (w *signing) giveUp(name string) {
	if w != nil {
		w.cancel(sys.Errorf(sys.CodeCanceled, "The sign-in at the server %s was given up.", name))
		<-w.done
	}
}

// begin finds out where the person signs in, and waits for it from then on. It is the only sign-in of the server from its
// first step on: an earlier one is given up.
func (s *Service) begin(ctx context.Context, name string, def Server, at security.Address) (SignInPage, error) {
	lasting, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	w := &signing{cancel: cancel, done: make(chan struct{})}
	s.mu.Lock()
	closed, earlier := s.closed, s.signing[name]
	s.signing[name] = w
	s.mu.Unlock()
	earlier.giveUp(name)
	if closed {
		cancel(sys.Errorf(sys.CodeUnavailable, "Oxios is closing; no server is started any more."))
	}
	asking, over := context.WithCancelCause(lasting)
	defer over(nil)
	defer context.AfterFunc(ctx, func() { over(context.Cause(ctx)) })()
	v, page, ln, err := s.prepare(asking, name, def, at)
	if asking.Err() != nil {
		if err == nil {
			ln.Close()
		}
		err = context.Cause(asking)
	}
	if err != nil {
		s.mu.Lock()
		if s.signing[name] == w {
			delete(s.signing, name)
		}
		s.mu.Unlock()
		w.err = err
		close(w.done)
		cancel(nil)
		return SignInPage{}, err
	}
	go func() {
		defer close(w.done)
		defer cancel(nil)
		w.err = v.wait(lasting, ln)
		s.c.Told(name)
	}()
	return page, nil
}

// prepare asks what a sign-in needs, and opens the port to which the browser returns.
func (s *Service) prepare(ctx context.Context, name string, def Server, at security.Address) (v *visit, page SignInPage, ln net.Listener, err error) {
	f := s.flow(name, at)
	asked, err := f.probe(ctx)
	if err != nil {
		return nil, page, nil, err
	}
	res, err := f.resource(ctx, at.URL, asked)
	if err != nil {
		return nil, page, nil, err
	}
	old, _, err := s.load(ctx, name, def)
	if err != nil {
		return nil, page, nil, err
	}
	chosen := res.AuthorizationServers[0]
	if i := slices.IndexFunc(res.AuthorizationServers, func(iss string) bool { return sameIssuer(iss, old.Issuer) }); i >= 0 {
		chosen = res.AuthorizationServers[i]
	}
	home := at.URL == chosen || strings.HasPrefix(at.URL, strings.TrimSuffix(chosen, "/")+"/")
	meta, err := f.issuer(ctx, chosen, home)
	if err != nil {
		return nil, page, nil, err
	}
	if !sameIssuer(old.Issuer, meta.Issuer) {
		old = grant{} // what another authorization server gave is not for this one
	}
	if ln, err = s.listen(old.Client.Redirect); err != nil {
		return nil, page, nil, sys.Errorf(sys.CodeUnavailable, "No port of this computer could be opened for the sign-in: %w.", err)
	}
	g := grant{For: def.URL, Issuer: meta.Issuer, Resource: res.Resource, TokenURL: meta.TokenEndpoint}
	redirect := "http://" + ln.Addr().String() + "/callback"
	if g.Client, err = s.register(ctx, f, def, meta, old.Client, redirect); err != nil {
		ln.Close()
		return nil, page, nil, err
	}
	scopes := asked.scopes
	if len(scopes) == 0 {
		scopes = res.ScopesSupported
	}
	known := s.signedIn(name, def)
	scopes = union(union(known.Scopes, scopes), known.Asks)
	if slices.Contains(meta.ScopesSupported, "offline_access") {
		scopes = union(scopes, []string{"offline_access"})
	}
	g.Scopes = scopes
	v = &visit{s: s, f: f, def: def, grant: g, meta: meta, redirect: redirect, verifier: random(), state: random()}
	if page, err = v.page(); err != nil {
		ln.Close()
		return nil, page, nil, err
	}
	return v, page, ln, nil
}

// random is a secret of 256 bits, as addresses can hold it.
func random() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// listen opens a port of this computer: that of an earlier registration, where it is free, or any.
func (s *Service) listen(redirect string) (net.Listener, error) {
	if u, err := url.Parse(redirect); err == nil && u.Hostname() == "127.0.0.1" && u.Port() != "" {
		if ln, err := net.Listen("tcp4", u.Host); err == nil {
			return ln, nil
		}
	}
	return net.Listen("tcp4", "127.0.0.1:0")
}

// register finds out as whom Oxios signs in: as the person said, by a document of its own, as it registered before, or anew.
func (s *Service) register(ctx context.Context, f *flow, def Server, meta *oauthex.AuthServerMeta, old client, redirect string) (client, error) {
	methods := meta.TokenEndpointAuthMethodsSupported
	basic := len(methods) == 0 || slices.Contains(methods, "client_secret_basic") && !slices.Contains(methods, "client_secret_post")
	if def.ClientID != "" {
		c := client{ID: def.ClientID, Basic: basic}
		secret, err := s.secretOf(ctx, f.name, def)
		if err != nil {
			return c, err
		}
		if secret.Issuer != "" && !sameIssuer(secret.Issuer, meta.Issuer) {
			return c, f.lie("The client_secret of the server %s is for %s, but the server now names %s for signing in. It was not sent there.", f.name, sys.Shorten(plain(secret.Issuer, 200), 200), sys.Shorten(plain(meta.Issuer, 200), 200)).
				WithHint("If that is right, enter the secret again: `oxios mcp key %s client_secret`.", f.name)
		}
		c.Secret = secret.Secret
		return c, nil
	}
	if doc := s.settings().Client; doc != "" && meta.ClientIDMetadataDocumentSupported {
		return client{ID: doc}, nil
	}
	if old.ID != "" && old.Redirect == redirect {
		return old, nil
	}
	if meta.RegistrationEndpoint == "" {
		return client{}, sys.Errorf(sys.CodeUnavailable, "The authorization server of %s does not let programs register by themselves.", f.name).
			WithHint("Register Oxios there by hand, with the address http://127.0.0.1/callback, and write the client_id into the server's table in config.toml.")
	}
	method := "none"
	if len(methods) > 0 && !slices.Contains(methods, method) {
		method = "client_secret_post"
		if basic {
			method = "client_secret_basic"
		}
	}
	got, err := oauthex.RegisterClient(ctx, meta.RegistrationEndpoint, &oauthex.ClientRegistrationMetadata{
		ClientName: "Oxios", RedirectURIs: []string{redirect}, GrantTypes: []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"},
		TokenEndpointAuthMethod: method, ApplicationType: "native", SoftwareID: "oxios", SoftwareVersion: s.c.Version,
	}, f.client(false))
	if err != nil {
		var e *sys.Error
		var refused *security.NetRefusal
		if errors.As(err, &e) || errors.As(err, &refused) {
			return client{}, f.unreached(hostOf(meta.RegistrationEndpoint), err)
		}
		return client{}, sys.Errorf(sys.CodeUnavailable, "The authorization server of %s did not register Oxios: %w.", f.name, errors.New(plain(err.Error(), 300))).
			WithHint("Register Oxios there by hand, with the address http://127.0.0.1/callback, and write the client_id into the server's table in config.toml.")
	}
	c := client{ID: got.ClientID, Secret: got.ClientSecret, Redirect: redirect}
	c.Basic = cmp.Or(got.TokenEndpointAuthMethod, method) == "client_secret_basic"
	return c, nil
}

func hostOf(address string) string {
	if u, err := url.Parse(address); err == nil {
		return u.Host
	}
	return ""
}

// visit is one sign-in on its way through the person's browser.
type visit struct {
	s        *Service
	f        *flow
	def      Server
	grant    grant
	meta     *oauthex.AuthServerMeta
	redirect string
	verifier string // of PKCE: proves that who redeems the code is who asked for it
	state    string
}

// page is the address that the person's browser opens.
func (v *visit) page() (SignInPage, error) {
	u, err := url.Parse(v.meta.AuthorizationEndpoint)
	if err != nil {
		return SignInPage{}, err
	}
	sum := sha256.Sum256([]byte(v.verifier))
	q := u.Query()
	for key, value := range map[string]string{
		"response_type": "code", "client_id": v.grant.Client.ID, "redirect_uri": v.redirect, "state": v.state, "resource": v.grant.Resource,
		"code_challenge": base64.RawURLEncoding.EncodeToString(sum[:]), "code_challenge_method": "S256", "scope": strings.Join(v.grant.Scopes, " "),
	} {
		if value != "" {
			q.Set(key, value)
		}
	}
	u.RawQuery, u.Fragment = q.Encode(), ""
	p := SignInPage{URL: u.String(), Host: u.Host}
	if host := hostOf(v.meta.TokenEndpoint); host != u.Host {
		p.TokenHost = host
	}
	return p, nil
}

// wait serves the address to which the browser returns, until it does.
func (v *visit) wait(ctx context.Context, ln net.Listener) error {
	ctx, cancel := context.WithTimeoutCause(ctx, signTime, sys.Errorf(sys.CodeTimeout, "Nobody signed in at the server %s within %s.", v.f.name, signTime))
	defer cancel()
	ended := make(chan error, 1)
	srv := &http.Server{ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/callback" || r.Method != http.MethodGet || "http://"+r.Host+"/callback" != v.redirect {
			http.NotFound(w, r)
			return
		}
		if r.URL.Query().Get("state") != v.state { // it is not the answer to this sign-in, which goes on waiting
			page(w, http.StatusBadRequest, sys.Say("This page does not belong to a sign-in that waits. Begin again in Oxios."))
			return
		}
		err := v.redeem(ctx, r.URL.Query())
		said := sys.Say("You are signed in. You can close this page.")
		if err != nil {
			e := sys.AsError(err)
			said = sys.Words{EN: e.Message, KO: e.MessageKO}
		}
		page(w, http.StatusOK, said)
		select {
		case ended <- err:
		default:
		}
	})}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = srv.Serve(ln) // ends with Shutdown
	}()
	var err error
	select {
	case err = <-ended:
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	last, stop := context.WithTimeout(context.WithoutCancel(ctx), time.Second) // the page is still on its way
	defer stop()
	if srv.Shutdown(last) != nil {
		srv.Close()
	}
	<-served
	return err
}

// redeem turns the answer of the authorization server into a token.
func (v *visit) redeem(ctx context.Context, q url.Values) error {
	name := v.f.name
	iss := q.Get("iss")
	if iss == "" && v.meta.AuthorizationResponseIssParameterSupported || iss != "" && iss != v.meta.Issuer {
		return v.f.lie("The answer to the sign-in at the server %s came from another authorization server than the one that was asked. It was not used.", name)
	}
	if code := q.Get("error"); code == "access_denied" {
		return sys.Errorf(sys.CodeDenied, "The sign-in at the server %s was declined. Nothing was changed.", name)
	} else if code != "" {
		return v.refused(&refusal{code: plain(code, 60), about: plain(q.Get("error_description"), 200)})
	}
	if q.Get("code") == "" {
		return v.refused(&refusal{code: "no code"})
	}
	g, err := v.f.ask(ctx, v.grant, map[string]string{"grant_type": "authorization_code", "code": q.Get("code"), "redirect_uri": v.redirect, "code_verifier": v.verifier})
	if refused, ok := errors.AsType[*refusal](err); ok {
		return v.refused(refused)
	}
	if err != nil {
		return err
	}
	return v.s.alone(ctx, name, func() error {
		if err := v.s.store(ctx, name, g, SignIn{At: v.s.c.Clock.Now().UTC()}); err != nil {
			return err
		}
		return v.s.bindSecret(ctx, name, v.def, g)
	})
}

func (v *visit) refused(r *refusal) error {
	return sys.Errorf(sys.CodeAuth, "The authorization server of %s refused the sign-in: %w.", v.f.name, r).WithHint("Sign in again: `oxios mcp login %s`.", v.f.name)
}

// page shows one sentence in the person's browser, in both languages.
func page(w http.ResponseWriter, status int, said sys.Words) {
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	w.WriteHeader(status)
	text := said.EN
	if said.KO != "" && said.KO != said.EN {
		text += "\n\n" + said.KO
	}
	_, _ = w.Write([]byte("Oxios\n\n" + text + "\n"))
}
