package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"oxios/kernel/security"
	"oxios/kernel/sys"
)

// flow asks what signing in at one server needs: documents and tokens. All of it passes the network guard, and each lie is a
// sentence of its own.
type flow struct {
	s    *Service
	name string
	at   security.Address // of the server
}

// askTime is how long one request about signing in may take.
const askTime = 20 * time.Second

func (s *Service) flow(name string, at security.Address) *flow {
	return &flow{s: s, name: name, at: at}
}

// refusal is an error that an authorization server names.
type refusal struct{ code, about string }

func (r *refusal) Error() string { return strings.TrimSpace(r.code + " " + r.about) }

// lie is the error of a document that cannot be true, or that a sign-in cannot be built on.
func (f *flow) lie(format string, args ...any) *sys.Error {
	return sys.Errorf(sys.CodeRefused, format, args...).
		WithHint("Tell the maker of the server, or remove it: `oxios mcp remove %s`.", f.name)
}

// may checks an address that a document names before anything is sent to it.
func (f *flow) may(what sys.Words, raw string) error {
	at, err := security.ReadAddress(raw)
	switch {
	case err != nil:
		return f.lie("The server %s names an address for signing in that cannot be used (%s): %s. %s", f.name, what, sys.Shorten(plain(raw, 200), 200), refusalOf(err))
	case !at.TLS && len(at.Open) == 0:
		return f.lie("The server %s names an address for signing in that is not encrypted (%s): %s.", f.name, what, sys.Shorten(plain(raw, 200), 200))
	}
	return nil
}

// client follows redirects of documents, each judged like the first address, and none of what carries a secret.
func (f *flow) client(follow bool) *http.Client {
	t := f.s.c.Net.Transport(f.at.Open)
	t.ResponseHeaderTimeout = askTime
	return &http.Client{Transport: t, Timeout: askTime, CheckRedirect: func(req *http.Request, via []*http.Request) error {
		switch {
		case !follow:
			return f.lie("An address for signing in at the server %s leads to another one. Nothing was sent there.", f.name)
		case len(via) > maxLed:
			return f.lie("An address for signing in at the server %s leads from address to address without an end.", f.name)
		case via[len(via)-1].URL.Scheme == "https" && req.URL.Scheme != "https":
			return f.lie("An address for signing in at the server %s leads to one that is not encrypted.", f.name)
		}
		return f.may(sys.Say("a redirect"), req.URL.String())
	}}
}

// get reads a JSON document; ok is false where there is none.
func (f *flow) get(ctx context.Context, what sys.Words, raw string, into any) (ok bool, err error) {
	if err := f.may(what, raw); err != nil {
		return false, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, raw, http.NoBody)
	if err != nil {
		return false, err
	}
	req.Header.Set("Accept", "application/json")
	res, err := f.client(true).Do(req)
	if err != nil {
		return false, f.unreached(req.URL.Host, err)
	}
	defer res.Body.Close()
	switch {
	case res.StatusCode >= 400 && res.StatusCode < 500:
		return false, nil
	case res.StatusCode != http.StatusOK:
		return false, sys.Errorf(sys.CodeUnavailable, "%s has a problem of its own (%d), so nobody can sign in at the server %s.", req.URL.Host, res.StatusCode, f.name).WithHint("Try again later.")
	}
	raw2, whole := readAnswer(res.Body)
	if !whole || !isJSON(res) || json.Unmarshal(raw2, into) != nil {
		return false, f.lie("%s answered with something that is not a document about signing in (%s).", req.URL.Host, what)
	}
	return true, nil
}

func isJSON(res *http.Response) bool {
	kind, _, err := mime.ParseMediaType(res.Header.Get("Content-Type"))
	return err == nil && (kind == "application/json" || strings.HasSuffix(kind, "+json"))
}

func (f *flow) unreached(host string, err error) error {
	if refused, ok := errors.AsType[*security.NetRefusal](err); ok {
		return f.lie("Signing in at the server %s leads to %s. %s", f.name, host, refusalOf(refused))
	}
	return unreached(f.name, host, err)
}

// resource reads what the server says of itself: RFC 9728. Where it says nothing, it is its own authorization server, as the
// protocol's version 2025-03-26 has it.
func (f *flow) resource(ctx context.Context, server string, asked challenge) (*oauthex.ProtectedResourceMetadata, error) {
	u, err := url.Parse(server)
	if err != nil {
		return nil, err
	}
	origin := u.Scheme + "://" + u.Host
	places := []string{origin + "/.well-known/oauth-protected-resource"}
	if path := strings.TrimPrefix(u.Path, "/"); path != "" {
		places = append([]string{places[0] + "/" + path}, places...)
	}
	if asked.metadata != "" {
		places = append([]string{asked.metadata}, places...)
	}
	for _, place := range places {
		var doc oauthex.ProtectedResourceMetadata
		ok, err := f.get(ctx, sys.Say("the server's own document"), place, &doc)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		if !covers(doc.Resource, u) {
			return nil, f.lie("The server %s says that it is %s, which is another address.", f.name, sys.Shorten(plain(doc.Resource, 200), 200))
		}
		if len(doc.AuthorizationServers) == 0 {
			return nil, f.lie("The server %s names no authorization server.", f.name)
		}
		return &doc, nil
	}
	return &oauthex.ProtectedResourceMetadata{Resource: server, AuthorizationServers: []string{origin}}, nil
}

// covers reports whether a resource is the server at u, or a part of its machine that the server lies in.
func covers(resource string, u *url.URL) bool {
	at, err := security.ReadAddress(resource)
	if err != nil {
		return false
	}
	r, err := url.Parse(at.URL)
	if err != nil || r.Scheme != u.Scheme || r.Host != u.Host || r.RawQuery != "" && r.RawQuery != u.RawQuery || r.Fragment != "" {
		return false
	}
	base := strings.TrimSuffix(r.Path, "/")
	return u.Path == base || strings.HasPrefix(u.Path, base+"/")
}

// issuer reads what an authorization server says of itself: RFC 8414, or OpenID Connect Discovery. home says that the server is
// its own authorization server; one without a document has the addresses of the version 2025-03-26 then.
func (f *flow) issuer(ctx context.Context, issuer string, home bool) (*oauthex.AuthServerMeta, error) {
	if err := f.may(sys.Say("the authorization server"), issuer); err != nil {
		return nil, err
	}
	u, err := url.Parse(issuer)
	if err != nil {
		return nil, err
	}
	base, path := u.Scheme+"://"+u.Host, strings.Trim(u.Path, "/")
	places := []string{base + "/.well-known/oauth-authorization-server", base + "/.well-known/openid-configuration"}
	if path != "" {
		places = []string{places[0] + "/" + path, places[1] + "/" + path, base + "/" + path + "/.well-known/openid-configuration"}
	}
	for _, place := range places {
		var doc oauthex.AuthServerMeta
		ok, err := f.get(ctx, sys.Say("the authorization server's document"), place, &doc)
		if err != nil {
			return nil, err
		}
		if ok {
			return &doc, f.honest(issuer, &doc)
		}
	}
	if home {
		return &oauthex.AuthServerMeta{
			Issuer: base, AuthorizationEndpoint: base + "/authorize", TokenEndpoint: base + "/token", RegistrationEndpoint: base + "/register",
		}, nil
	}
	return nil, f.lie("The authorization server %s has no document about itself, so nobody can sign in at the server %s.", u.Host, f.name)
}

// honest checks the document of an authorization server.
func (f *flow) honest(issuer string, doc *oauthex.AuthServerMeta) error {
	if !sameIssuer(doc.Issuer, issuer) {
		return f.lie("The authorization server of %s says that it is %s, but %s was asked.", f.name, sys.Shorten(plain(doc.Issuer, 200), 200), sys.Shorten(plain(issuer, 200), 200))
	}
	safe := false
	for _, m := range doc.CodeChallengeMethodsSupported {
		safe = safe || m == "S256"
	}
	if !safe {
		return f.lie("The authorization server of %s does not protect a sign-in against theft (PKCE with S256), so Oxios does not sign in there.", f.name)
	}
	for _, e := range []struct {
		what sys.Words
		at   string
		must bool
	}{
		{sys.Say("the page for signing in"), doc.AuthorizationEndpoint, true},
		{sys.Say("the address for tokens"), doc.TokenEndpoint, true},
		{sys.Say("the address for registering"), doc.RegistrationEndpoint, false},
	} {
		if e.at == "" && !e.must {
			continue
		}
		if err := f.may(e.what, e.at); err != nil {
			return err
		}
	}
	return nil
}

// answer is what the address for tokens answers.
type answer struct {
	Access  string          `json:"access_token"`
	Kind    string          `json:"token_type"`
	Refresh string          `json:"refresh_token"`
	Scope   *string         `json:"scope"`
	In      json.RawMessage `json:"expires_in"` // a number, which some write as a string
	Code    string          `json:"error"`
	About   string          `json:"error_description"`
}

// ask asks for a token, for the server alone (RFC 8707), and returns the grant with it.
func (f *flow) ask(ctx context.Context, g grant, form map[string]string) (grant, error) {
	if err := f.may(sys.Say("the address for tokens"), g.TokenURL); err != nil {
		return g, err
	}
	values := url.Values{"client_id": {g.Client.ID}, "resource": {g.Resource}}
	for k, v := range form {
		values.Set(k, v)
	}
	if g.Client.Secret != "" && !g.Client.Basic {
		values.Set("client_secret", g.Client.Secret)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, g.TokenURL, strings.NewReader(values.Encode()))
	if err != nil {
		return g, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "application/json")
	if g.Client.Secret != "" && g.Client.Basic {
		req.SetBasicAuth(url.QueryEscape(g.Client.ID), url.QueryEscape(g.Client.Secret))
	}
	res, err := f.client(false).Do(req)
	if err != nil {
		return g, f.unreached(req.URL.Host, err)
	}
	defer res.Body.Close()
	raw, whole := readAnswer(res.Body)
	var a answer
	if !whole || json.Unmarshal(raw, &a) != nil {
		if res.StatusCode >= 500 {
			return g, sys.Errorf(sys.CodeUnavailable, "%s has a problem of its own (%d), so nobody can sign in at the server %s.", req.URL.Host, res.StatusCode, f.name).WithHint("Try again later.")
		}
		return g, sys.Errorf(sys.CodeUnavailable, "%s answered with something that is no token (%d), so the sign-in at the server %s is not changed.", req.URL.Host, res.StatusCode, f.name).
			WithHint("Try again later. If it stays so, tell the maker of the server.")
	}
	if a.Code != "" || res.StatusCode >= 400 {
		return g, &refusal{code: plain(a.Code, 60), about: plain(a.About, 200)}
	}
	if a.Access == "" || !strings.EqualFold(a.Kind, "bearer") || strings.IndexFunc(a.Access, func(r rune) bool { return r <= ' ' || r > '~' }) >= 0 {
		return g, sys.Errorf(sys.CodeUnavailable, "%s answered with something that is no token (%d), so the sign-in at the server %s is not changed.", req.URL.Host, res.StatusCode, f.name).
			WithHint("Try again later. If it stays so, tell the maker of the server.")
	}
	g.Access, g.Until = a.Access, time.Time{}
	if a.Refresh != "" {
		g.Refresh = a.Refresh
	}
	if a.Scope != nil {
		g.Scopes = union(nil, strings.Fields(*a.Scope))
	}
	var seconds int64
	if n, _ := fmt.Sscan(strings.Trim(string(a.In), `"`), &seconds); n == 1 && seconds > 0 && seconds < 1<<31 {
		g.Until = f.s.c.Clock.Now().UTC().Add(time.Duration(seconds) * time.Second).Truncate(time.Second)
	}
	return g, nil
}

// probe asks the server without a token, so that it says what signing in needs.
func (f *flow) probe(ctx context.Context) (challenge, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, f.at.URL, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
	if err != nil {
		return challenge{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	res, err := f.client(false).Do(req)
	if err != nil {
		return challenge{}, f.unreached(req.URL.Host, err)
	}
	_, _ = io.CopyN(io.Discard, res.Body, 4<<10)
	res.Body.Close()
	return challengeOf(res), nil
}
