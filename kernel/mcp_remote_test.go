package kernel_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
	"oxios/kernel/mcp/mcptest"
	"oxios/kernel/sys"
)

func addRemote(t *testing.T, k *kerneltest.Kernel, address string, change ...func(*kernel.MCPServer)) {
	t.Helper()
	addServer(t, k, "test", func(d *kernel.MCPServer) {
		*d = kernel.MCPServer{URL: address, Effect: "none"}
		for _, c := range change {
			c(d)
		}
	})
}

func echo(t *testing.T, h *kernel.Handle) (kernel.MCPResult, error) {
	t.Helper()
	return h.MCP.Call(t.Context(), kernel.MCPCall{Server: "test", Tool: "echo", Args: []byte(`{"text":"hello"}`)})
}

// signIn is the person at the page of the authorization server.
func signIn(t *testing.T, k *kerneltest.Kernel, r *mcptest.Remote) {
	t.Helper()
	page, err := k.Person().MCP.SignIn(t.Context(), "test")
	if err != nil {
		t.Fatal(err)
	}
	if said, err := r.Visit(t.Context(), page.URL); err != nil || !strings.Contains(said, "You are signed in") {
		t.Fatalf("the page says %q, %v", said, err)
	}
	if v, err := k.Person().MCP.SignedIn(t.Context(), "test"); err != nil || v.SignIn == nil || v.SignIn.Needed || v.SignIn.Issuer != r.Issuer {
		t.Fatalf("got %+v, %v", v.SignIn, err)
	}
}

func TestAServerThatRunsElsewhereIsCalledAfterAYes(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(serverToolScript))
	remote := mcptest.NewRemote(t)
	addRemote(t, k, remote.URL, serves(""))
	v, err := k.Person().MCP.Connect(t.Context(), "test")
	host := strings.TrimSuffix(strings.TrimPrefix(remote.URL, "http://"), "/mcp")
	if err != nil || v.State != "running" || v.Known.Protocol != "2026-07-28" || v.Host != host || len(v.Known.Tools) != 6 {
		t.Fatalf("got %+v, %v", v, err)
	}
	sent := k.Say("echo something", func(m *kernel.Submit) { m.Mode = "auto" })
	a := k.Approval(sent.RunID)
	if want := "Calls “Echo” on the server test (" + host + ")"; a.Request.Title != want || !a.Request.Network || a.Request.Elsewhere != host || !strings.Contains(a.Request.Why, "is sent to "+host) {
		t.Errorf("got %q, %v, %q, want %q", a.Request.Title, a.Request.Network, a.Request.Why, want)
	}
	if _, err := k.Person().Security.Approve(t.Context(), a.ID, kernel.ApproveInput{Hash: a.Request.Hash}); err != nil {
		t.Fatal(err)
	}
	if r := k.Wait(sent.RunID); !strings.Contains(r.Response, "You said: hello") {
		t.Errorf("got %q", r.Response)
	}
	raw, err := os.ReadFile(filepath.Join(k.Home, "config.toml"))
	if err != nil || !strings.Contains(string(raw), `url = '`+remote.URL+`'`) || strings.Contains(string(raw), "command") {
		t.Errorf("config.toml says %q, %v", raw, err)
	}
	if _, err := k.Person().MCP.Log(t.Context(), "test"); sys.CodeOf(err) != sys.CodeNotFound {
		t.Errorf("its log: got %v", err)
	}
}

func TestASignInIsNeededMadeRenewedAndLost(t *testing.T) {
	t.Parallel()
	k := open(t)
	remote := mcptest.NewRemote(t)
	remote.SignIn("")
	addRemote(t, k, remote.URL)
	state := func() kernel.MCPView {
		t.Helper()
		list, err := k.Person().MCP.Servers(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return list[0]
	}
	if _, err := k.Person().MCP.Connect(t.Context(), "test"); sys.CodeOf(err) != sys.CodeAuth || !strings.Contains(sys.AsError(err).Hint, "oxios mcp login test") {
		t.Fatalf("got %v, want that a sign-in is needed", err)
	}
	if n := remote.Count("mcp POST /mcp"); n != 1 {
		t.Errorf("the server was asked %d times, want once: it said what it needs", n)
	}
	if v := state(); v.State != "sign-in" {
		t.Errorf("got the state %q", v.State)
	}
	signIn(t, k, remote)
	if v, err := k.Person().MCP.Connect(t.Context(), "test"); err != nil || v.State != "running" {
		t.Fatalf("got %+v, %v", v, err)
	}
	agent := k.Agent("autonomous")
	if r, err := echo(t, agent); err != nil || r.Text != "You said: hello" {
		t.Fatalf("got %+v, %v", r, err)
	}
	remote.Revoke(false) // the token that the server rejects is renewed, once, whoever calls
	done := make(chan error, 4)
	for range 4 {
		go func() {
			_, err := agent.MCP.Call(t.Context(), kernel.MCPCall{Server: "test", Tool: "echo", Args: []byte(`{"text":"x"}`)})
			done <- err
		}()
	}
	for range 4 {
		if err := <-done; err != nil {
			t.Errorf("after the token was rejected: %v", err)
		}
	}
	if n := remote.Count("auth POST /token refresh_token"); n != 1 {
		t.Errorf("it was renewed %d times, want once", n)
	}
	k.Restart()
	agent = k.Agent("autonomous")
	if _, err := echo(t, agent); err != nil {
		t.Errorf("after a restart: %v", err)
	}
	remote.Revoke(true) // the token that renews it is useless too: no run can go on, and none needs a restart
	if _, err := echo(t, agent); sys.CodeOf(err) != sys.CodeAuth {
		t.Errorf("got %v, want that a sign-in is needed", err)
	}
	if v := state(); v.State != "sign-in" || v.SignIn.Issuer != "" {
		t.Errorf("got %+v", v)
	}
	n := len(remote.Requests())
	if _, err := echo(t, k.Agent("autonomous")); sys.CodeOf(err) != sys.CodeAuth || len(remote.Requests()) != n {
		t.Errorf("got %v after %d requests, want the sentence and no request", err, len(remote.Requests())-n)
	}
	signIn(t, k, remote)
	if _, err := echo(t, agent); err != nil {
		t.Errorf("after the person signed in again: %v", err)
	}
	if n := remote.Count("auth POST /register"); n != 1 {
		t.Errorf("Oxios registered %d times, want once", n)
	}
	if _, err := k.Person().MCP.SignOut(t.Context(), "test"); err != nil {
		t.Fatal(err)
	}
	if v := state(); v.State != "sign-in" {
		t.Errorf("signed out: got %q", v.State)
	}
	noSecrets(t, k)
}

// noSecrets looks for tokens in all that the home keeps in the open.
func noSecrets(t *testing.T, k *kerneltest.Kernel) {
	t.Helper()
	err := filepath.WalkDir(k.Home, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !d.Type().IsRegular() {
			return err
		}
		raw, err := os.ReadFile(path)
		if err == nil && (strings.Contains(string(raw), "access-") && strings.Contains(string(raw), "access_") || strings.Contains(string(raw), `"refresh":"`)) {
			t.Errorf("%s holds a token", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
