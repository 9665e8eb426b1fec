package kernel_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
	"oxios/kernel/mcp/mcptest"
	"oxios/kernel/sys"
)

// calling reports whether a request is the call of a tool.
func calling(r *http.Request) bool { return r.Header.Get("Mcp-Method") == "tools/call" }

func TestWhatNoMCPServerAnswersIsSaid(t *testing.T) {
	t.Parallel()
	k := open(t)
	says := func(code int, kind, body string) func(w http.ResponseWriter, r *http.Request) bool {
		return func(w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("Content-Type", kind)
			w.WriteHeader(code)
			_, _ = w.Write([]byte(body))
			return true
		}
	}
	leads := func(to string) func(w http.ResponseWriter, r *http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool {
			if strings.HasSuffix(to, "?") {
				w.Header().Set("Location", fmt.Sprint(r.URL.Path, "?", r.URL.RawQuery, "x"))
			} else {
				w.Header().Set("Location", to)
			}
			w.WriteHeader(http.StatusTemporaryRedirect)
			return true
		}
	}
	for name, tc := range map[string]struct {
		answer func(w http.ResponseWriter, r *http.Request) bool
		want   string
	}{
		"a web page":             {says(200, "text/html; charset=utf-8", "<html>Welcome"), "answered with a web page"},
		"nothing there":          {says(404, "text/plain", "no"), "There is no MCP server at the address"},
		"another kind of server": {says(405, "text/plain", "no"), "takes no MCP messages (405)"},
		"broken":                 {says(500, "text/plain", "oops"), "has a problem of its own (500)"},
		"busy":                   {says(429, "text/plain", "later"), "takes no more calls for now"},
		"forbidden":              {says(403, "text/plain", "no"), "does not allow this call (403)"},
		"no JSON":                {says(200, "application/json", "{"), "did not answer as an MCP server does"},
		"own network":            {leads("http://192.168.7.9/mcp"), "is in your own network. Nothing was sent there"},
		"credentials of a cloud": {leads("http://169.254.169.254/latest"), "is in your own network. Nothing was sent there"},
		"another machine":        {leads("https://mcp.example.com/mcp"), "leads to another address, https://mcp.example.com/mcp. Nothing was sent there"},
		"in a circle":            {leads("?"), "leads from address to address without an end"},
		"too much": {func(w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("Content-Type", "application/json")
			piece := []byte(strings.Repeat(" ", 1<<20))
			for range 1 << 10 {
				if _, err := w.Write(piece); err != nil {
					break
				}
			}
			return true
		}, "answered with more than 16 MB"},
		"a stream that says too much": {func(w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("Content-Type", "text/event-stream")
			piece := []byte(": " + strings.Repeat("x", 1<<20) + "\n\n")
			for range 1 << 10 {
				if _, err := w.Write(piece); err != nil {
					break
				}
			}
			return true
		}, "answered with more than 64 MB"},
	} {
		remote := mcptest.NewRemote(t)
		remote.Instead(tc.answer)
		addRemote(t, k, remote.URL)
		_, err := k.Person().MCP.Connect(t.Context(), "test")
		if err == nil || !strings.Contains(err.Error(), tc.want) || sys.AsError(err).MessageKO == "" {
			t.Errorf("%s: got %v, want %q", name, err, tc.want)
		}
	}
	addRemote(t, k, "https://nas.local/mcp")
	if _, err := k.Person().MCP.Connect(t.Context(), "test"); sys.CodeOf(err) != sys.CodeRefused || !strings.Contains(err.Error(), "belongs to this computer or your own network") {
		t.Errorf("a name of the own network: got %v", err)
	}
	for address, want := range map[string]string{
		"http://127.0.0.1:1/mcp": "The port is not one", "http://mcp.example.com/mcp": "must begin with https", "https://169.254.169.254/mcp": "gives out the credentials",
		"file:///etc/passwd": "not an http or https address", "https://user:secret@mcp.example.com/mcp": "a name before the machine", "https://mcp.example.com/mcp#x": "a part with #",
	} {
		_, err := k.Person().MCP.Set(t.Context(), "other", kernel.MCPServer{URL: address})
		if sys.CodeOf(err) != sys.CodeInvalid || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "..") || sys.AsError(err).MessageKO == "" {
			t.Errorf("%s: got %v, want %q", address, err, want)
		}
	}
}

func TestARemoteCallThatBreaksOffOrIsStoppedEnds(t *testing.T) {
	t.Parallel()
	k := open(t)
	remote := mcptest.NewRemote(t)
	addRemote(t, k, remote.URL)
	if _, err := k.Person().MCP.Connect(t.Context(), "test"); err != nil {
		t.Fatal(err)
	}
	under := make(chan struct{}, 1)
	remote.Instead(func(w http.ResponseWriter, r *http.Request) bool {
		if !calling(r) {
			return false
		}
		_, _ = io.Copy(io.Discard, r.Body) // only then is it told that the other side is gone
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush()
		under <- struct{}{}
		<-r.Context().Done() // a stream without an end
		return true
	})
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	done := make(chan error, 1)
	call := func() {
		_, err := k.Person().MCP.Call(ctx, kernel.MCPCall{Server: "test", Tool: "echo", Args: []byte(`{"text":"x"}`)})
		done <- err
	}
	go call()
	<-under
	remote.Drop()
	if err := <-done; err == nil || !strings.Contains(err.Error(), "Check what it did before you try again") {
		t.Errorf("broken off: got %v", err)
	}
	go call()
	<-under
	stop()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: got %v", err)
	}
	remote.Instead(nil)
	if r, err := echo(t, k.Person()); err != nil || r.Text != "You said: hello" {
		t.Errorf("after that: got %+v, %v", r, err)
	}
}

// A server of an older version keeps sessions, and may forget one: nothing was called then.
func TestASessionThatTheServerForgotIsBegunAnew(t *testing.T) {
	t.Parallel()
	k := open(t)
	remote := mcptest.NewRemote(t)
	var forgets atomic.Bool
	remote.Instead(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Header.Get("Mcp-Protocol-Version") >= "2026-07-28" || forgets.Load() && r.Header.Get("Mcp-Session-Id") != "" {
			forgets.Store(false)
			http.Error(w, "no such session", http.StatusNotFound)
			return true
		}
		return false
	})
	addRemote(t, k, remote.URL)
	v, err := k.Person().MCP.Connect(t.Context(), "test")
	if err != nil || v.Known.Protocol != "2025-11-25" {
		t.Fatalf("got %+v, %v", v, err)
	}
	for range 2 {
		if r, err := echo(t, k.Person()); err != nil || r.Text != "You said: hello" {
			t.Fatalf("got %+v, %v", r, err)
		}
		forgets.Store(true)
	}
}

func TestLiesAboutSigningInAreRefusedWithASentence(t *testing.T) {
	t.Parallel()
	k := open(t)
	set := func(doc, key string, value any) func(*mcptest.Remote) {
		return func(r *mcptest.Remote) {
			r.Change(func(d string, m map[string]any) {
				if d == doc {
					m[key] = value
				}
			})
		}
	}
	instead := func(path string, fn func(w http.ResponseWriter)) func(*mcptest.Remote) {
		return func(r *mcptest.Remote) {
			r.Instead(func(w http.ResponseWriter, req *http.Request) bool {
				if !strings.HasPrefix(req.URL.Path, path) {
					return false
				}
				fn(w)
				return true
			})
		}
	}
	page := func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<html>Sign in"))
	}
	much := func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "application/json")
		piece := []byte(strings.Repeat(" ", 1<<20))
		for range 1 << 10 {
			if _, err := w.Write(piece); err != nil {
				return
			}
		}
	}
	leads := func(to string) func(w http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			w.Header().Set("Location", to)
			w.WriteHeader(http.StatusTemporaryRedirect)
		}
	}
	for name, tc := range map[string]struct {
		lie  func(*mcptest.Remote)
		want string
	}{
		"another resource":             {set("resource", "resource", "https://bank.example.com/mcp"), "says that it is https://bank.example.com/mcp, which is another address"},
		"a resource that looks like":   {func(r *mcptest.Remote) { set("resource", "resource", r.URL+"x")(r) }, "which is another address"},
		"no authorization server":      {set("resource", "authorization_servers", []string{}), "names no authorization server"},
		"one in the own network":       {set("resource", "authorization_servers", []string{"https://192.168.7.9"}), "It leads into your own network"},
		"one that gives credentials":   {set("resource", "authorization_servers", []string{"http://169.254.169.254"}), "cannot be used"},
		"one without encryption":       {set("resource", "authorization_servers", []string{"http://login.example.com"}), "is not encrypted"},
		"another issuer":               {set("issuer", "issuer", "https://login.example.com"), "says that it is https://login.example.com, but"},
		"no PKCE":                      {set("issuer", "code_challenge_methods_supported", nil), "PKCE with S256"},
		"only plain PKCE":              {set("issuer", "code_challenge_methods_supported", []string{"plain"}), "PKCE with S256"},
		"a page that is a script":      {set("issuer", "authorization_endpoint", "javascript:alert(1)"), "cannot be used (the page for signing in)"},
		"a page that is a file":        {set("issuer", "authorization_endpoint", "file:///etc/passwd"), "cannot be used (the page for signing in)"},
		"a page without encryption":    {set("issuer", "authorization_endpoint", "http://login.example.com/"), "is not encrypted (the page for signing in)"},
		"tokens in the own network":    {set("issuer", "token_endpoint", "https://10.0.0.1/token"), "It leads into your own network"},
		"a document that is a page":    {instead("/.well-known/oauth-protected-resource", page), "not a document about signing in"},
		"a document without end":       {instead("/.well-known/oauth-protected-resource", much), "not a document about signing in"},
		"a document in a circle":       {instead("/.well-known/oauth-authorization-server", leads("/.well-known/oauth-authorization-server")), "from address to address without an end"},
		"a document in the network":    {instead("/.well-known/oauth-protected-resource", leads("https://192.168.7.9/x")), "It leads into your own network"},
		"a document behind a bad name": {instead("/.well-known/oauth-protected-resource", leads("http://metadata.google.internal/")), "cannot be used (a redirect)"},
		"no registering":               {set("issuer", "registration_endpoint", ""), "does not let programs register"},
		"registering refused":          {instead("/register", func(w http.ResponseWriter) { http.Error(w, `{"error":"invalid_client_metadata"}`, 400) }), "did not register Oxios"},
		"another issuer in the answer": {set("answer", "iss", "https://evil.example.com"), "came from another authorization server"},
		"no issuer in the answer":      {set("answer", "iss", ""), "came from another authorization server"},
		"the person says no":           {set("answer", "error", "access_denied"), "was declined"},
		"an error":                     {set("answer", "error", "server_error"), "refused the sign-in: server_error"},
		"a token that is a page":       {instead("/token", page), "something that is no token"},
		"a token without end":          {instead("/token", much), "something that is no token"},
		"a token of another kind":      {set("token", "token_type", "mac"), "something that is no token"},
		"a token with a line break":    {set("token", "access_token", "a\r\nX-Evil: 1"), "something that is no token"},
		"tokens elsewhere":             {instead("/token", leads("https://evil.example.com/token")), "leads to another one. Nothing was sent there"},
		"a code that is not its own":   {set("answer", "code", "guessed"), "refused the sign-in: invalid_grant"},
	} {
		remote := mcptest.NewRemote(t)
		remote.SignIn("")
		tc.lie(remote)
		addRemote(t, k, remote.URL)
		got := attempt(t, k, remote)
		if got == nil || !strings.Contains(got.Error(), tc.want) || sys.AsError(got).MessageKO == "" {
			t.Errorf("%s: got %v, want %q", name, got, tc.want)
		}
	}
}

// attempt is a sign-in that may fail, and the person who visits its page.
func attempt(t *testing.T, k *kerneltest.Kernel, remote *mcptest.Remote) error {
	t.Helper()
	page, err := k.Person().MCP.SignIn(t.Context(), "test")
	if err != nil {
		return err
	}
	if _, err := remote.Visit(t.Context(), page.URL); err != nil {
		t.Error(err)
	}
	_, err = k.Person().MCP.SignedIn(t.Context(), "test")
	return err
}
