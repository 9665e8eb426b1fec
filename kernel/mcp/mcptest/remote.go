package mcptest

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Remote is an MCP server over HTTP, beside an authorization server, both on this computer. A test changes what they answer.
type Remote struct {
	URL    string // of the MCP server
	Issuer string // of the authorization server

	mu       sync.Mutex
	signIn   bool                                              // calls need a token
	needs    string                                            // and this permission of it
	change   func(doc string, m map[string]any)                // changes a document before it is sent: resource, issuer, client, token
	instead  func(w http.ResponseWriter, r *http.Request) bool // answers a request of either in place of it
	codes    map[string]url.Values
	access   map[string]string // token → permissions
	refresh  map[string]string
	lasts    time.Duration // of a token; 0 does not say
	requests []string
	authHost *httptest.Server
	mcpHost  *httptest.Server
	tools    *mcp.Server
}

// NewRemote starts both servers. Until [Remote.SignIn] everybody may call.
func NewRemote(t *testing.T) *Remote {
	t.Helper()
	r := &Remote{codes: map[string]url.Values{}, access: map[string]string{}, refresh: map[string]string{}}
	tools := server("plain")
	r.tools = tools
	session := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return tools }, &mcp.StreamableHTTPOptions{})
	stateless := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return tools }, &mcp.StreamableHTTPOptions{Stateless: true})
	r.mcpHost = httptest.NewServer(r.seen("mcp", func(w http.ResponseWriter, req *http.Request) {
		switch {
		case strings.HasPrefix(req.URL.Path, "/.well-known/oauth-protected-resource"):
			r.document(w, "resource", map[string]any{"resource": r.URL, "authorization_servers": []string{r.Issuer}, "scopes_supported": []string{"read"}})
		case req.URL.Path != "/mcp":
			http.NotFound(w, req)
		case !r.let(w, req):
		case req.Header.Get("Mcp-Protocol-Version") >= "2026-07-28":
			stateless.ServeHTTP(w, req)
		default:
			session.ServeHTTP(w, req)
		}
	}))
	r.authHost = httptest.NewServer(r.seen("auth", r.auth))
	r.URL, r.Issuer = r.mcpHost.URL+"/mcp", r.authHost.URL
	t.Cleanup(func() {
		for s := range tools.Sessions() { // those of clients that are gone
			_ = s.Close()
		}
		r.mcpHost.CloseClientConnections()
		r.mcpHost.Close()
		r.authHost.Close()
	})
	return r
}

// SignIn makes calls need a token with this permission; "" takes any token.
func (r *Remote) SignIn(permission string) { r.set(func() { r.signIn, r.needs = true, permission }) }

// Lasts says how long tokens last from now on.
func (r *Remote) Lasts(d time.Duration) { r.set(func() { r.lasts = d }) }

// Change changes documents before they are sent: resource, issuer, client, token.
func (r *Remote) Change(fn func(doc string, m map[string]any)) { r.set(func() { r.change = fn }) }

// Instead answers requests in place of the servers where it says true.
func (r *Remote) Instead(fn func(w http.ResponseWriter, r *http.Request) bool) {
	r.set(func() { r.instead = fn })
}

// Revoke makes all access tokens useless, and the tokens that renew them too if renewing says so.
func (r *Remote) Revoke(renewing bool) {
	r.set(func() {
		clear(r.access)
		if renewing {
			clear(r.refresh)
		}
	})
}

// Requests are what was asked of both so far: "auth POST /token refresh_token".
func (r *Remote) Requests() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.requests)
}

// Count is how many requests began so.
func (r *Remote) Count(prefix string) (n int) {
	for _, one := range r.Requests() {
		if strings.HasPrefix(one, prefix) {
			n++
		}
	}
	return n
}

// Other makes the tool echo that of the server other.
func (r *Remote) Other() { addEcho(r.tools, otherAbout) }

// Tasks adds the tool that answers with tasks, which it keeps in a folder.
func (r *Remote) Tasks(dir string) { addTasks(r.tools, dir) }

// Drop closes the connections of the MCP server.
func (r *Remote) Drop() { r.mcpHost.CloseClientConnections() }

// Visit is the person: it opens the page, says yes, and is led back to Oxios. It returns what Oxios shows.
func (r *Remote) Visit(ctx context.Context, page string) (string, error) {
	to, err := r.Approve(ctx, page)
	if err != nil {
		return "", err
	}
	return get(ctx, to)
}

// Approve is the person's yes; it returns the address to which the browser is led.
func (r *Remote) Approve(ctx context.Context, page string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, page, http.NoBody)
	if err != nil {
		return "", err
	}
	res, err := (&http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}).Do(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusFound {
		return "", fmt.Errorf("the authorization server answered %s", res.Status)
	}
	return res.Header.Get("Location"), nil
}

func get(ctx context.Context, address string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return "", err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	var b strings.Builder
	buf := make([]byte, 4096)
	for n, rerr := res.Body.Read(buf); ; n, rerr = res.Body.Read(buf) {
		b.Write(buf[:n])
		if rerr != nil {
			return b.String(), nil //nolint:nilerr // its end
		}
	}
}

func (r *Remote) set(fn func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fn()
}

func (r *Remote) seen(host string, next http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		line := host + " " + req.Method + " " + req.URL.Path
		if req.Method == http.MethodPost && host == "auth" && req.URL.Path == "/token" {
			_ = req.ParseForm()
			line += " " + req.PostForm.Get("grant_type")
		}
		r.mu.Lock()
		r.requests = append(r.requests, line)
		instead := r.instead
		r.mu.Unlock()
		if instead != nil && instead(w, req) {
			return
		}
		next(w, req)
	})
}

// document sends a document, as the test changed it.
func (r *Remote) document(w http.ResponseWriter, doc string, m map[string]any) {
	r.mu.Lock()
	change := r.change
	r.mu.Unlock()
	if change != nil {
		change(doc, m)
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(m)
}

// let lets a call through that has the token which is needed.
func (r *Remote) let(w http.ResponseWriter, req *http.Request) bool {
	r.mu.Lock()
	needed, scope := r.signIn, r.needs
	has, ok := r.access[strings.TrimPrefix(req.Header.Get("Authorization"), "Bearer ")]
	r.mu.Unlock()
	metadata := fmt.Sprintf(`Bearer resource_metadata=%q`, r.mcpHost.URL+"/.well-known/oauth-protected-resource/mcp")
	switch {
	case !needed:
		return true
	case !ok:
		w.Header().Set("WWW-Authenticate", metadata)
		http.Error(w, "sign in", http.StatusUnauthorized)
		return false
	case scope != "" && !slices.Contains(strings.Fields(has), scope):
		w.Header().Set("WWW-Authenticate", metadata+fmt.Sprintf(`, error="insufficient_scope", scope=%q`, scope))
		http.Error(w, "more", http.StatusForbidden)
		return false
	}
	return true
}

func (r *Remote) auth(w http.ResponseWriter, req *http.Request) {
	switch req.URL.Path {
	case "/.well-known/oauth-authorization-server":
		r.document(w, "issuer", map[string]any{
			"issuer": r.Issuer, "authorization_endpoint": r.Issuer + "/authorize", "token_endpoint": r.Issuer + "/token", "registration_endpoint": r.Issuer + "/register",
			"response_types_supported": []string{"code"}, "code_challenge_methods_supported": []string{"S256"}, "token_endpoint_auth_methods_supported": []string{"none"},
			"authorization_response_iss_parameter_supported": true,
		})
	case "/register":
		var m map[string]any
		if json.NewDecoder(req.Body).Decode(&m) != nil || m["application_type"] != "native" {
			http.Error(w, "no", http.StatusBadRequest)
			return
		}
		m["client_id"] = "client-" + rand.Text()
		r.document(w, "client", m)
	case "/authorize":
		q := req.URL.Query()
		code := rand.Text()
		r.set(func() { r.codes[code] = q })
		answer := map[string]any{"code": code, "state": q.Get("state"), "iss": r.Issuer}
		r.mu.Lock()
		change := r.change
		r.mu.Unlock()
		if change != nil {
			change("answer", answer)
		}
		back := url.Values{}
		for k, v := range answer {
			back.Set(k, fmt.Sprint(v))
		}
		http.Redirect(w, req, q.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
	case "/token":
		r.token(w, req)
	default:
		http.NotFound(w, req)
	}
}

func (r *Remote) token(w http.ResponseWriter, req *http.Request) {
	f := req.PostForm
	fail := func(code string) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_ = json.NewEncoder(w).Encode(map[string]any{"error": code, "error_description": "as the test wants it"})
	}
	if f.Get("resource") != r.URL || f.Get("client_id") == "" {
		fail("invalid_target")
		return
	}
	r.mu.Lock()
	scopes, ok := "", false
	if f.Get("grant_type") == "refresh_token" {
		scopes, ok = r.refresh[f.Get("refresh_token")]
		delete(r.refresh, f.Get("refresh_token")) // each renews once
	} else if asked, there := r.codes[f.Get("code")]; there {
		delete(r.codes, f.Get("code"))
		sum := sha256.Sum256([]byte(f.Get("code_verifier")))
		ok = asked.Get("code_challenge") == base64.RawURLEncoding.EncodeToString(sum[:]) && asked.Get("code_challenge_method") == "S256" &&
			asked.Get("redirect_uri") == f.Get("redirect_uri") && asked.Get("client_id") == f.Get("client_id") && asked.Get("resource") == r.URL
		scopes = asked.Get("scope")
	}
	if !ok {
		r.mu.Unlock()
		fail("invalid_grant")
		return
	}
	access, refresh := "access-"+rand.Text(), "refresh-"+rand.Text()
	r.access[access], r.refresh[refresh] = scopes, scopes
	m := map[string]any{"access_token": access, "token_type": "Bearer", "refresh_token": refresh, "scope": scopes}
	if r.lasts > 0 {
		m["expires_in"] = int(r.lasts.Seconds())
	}
	r.mu.Unlock()
	r.document(w, "token", m)
}
