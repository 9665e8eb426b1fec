package kernel_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"oxios/kernel"
	"oxios/kernel/mcp/mcptest"
	"oxios/kernel/sys"
)

func TestMorePermissionsAreAskedForWhereACallNeedsThem(t *testing.T) {
	t.Parallel()
	k := open(t)
	remote := mcptest.NewRemote(t)
	remote.SignIn("read")
	addRemote(t, k, remote.URL)
	signIn(t, k, remote) // the server's document names the permission read
	if _, err := k.Person().MCP.Connect(t.Context(), "test"); err != nil {
		t.Fatal(err)
	}
	remote.SignIn("write")
	_, err := echo(t, k.Agent("autonomous"))
	if sys.CodeOf(err) != sys.CodeAuth || !strings.Contains(err.Error(), "It needs: write") {
		t.Fatalf("got %v", err)
	}
	list, err := k.Person().MCP.Servers(t.Context())
	if err != nil || list[0].State == "sign-in" || !slices.Equal(list[0].SignIn.Asks, []string{"write"}) {
		t.Errorf("got %+v, %v, want that it can be called for what it has", list[0], err)
	}
	signIn(t, k, remote)
	if _, err := echo(t, k.Agent("autonomous")); err != nil {
		t.Errorf("with more permissions: %v", err)
	}
	if list, err = k.Person().MCP.Servers(t.Context()); err != nil || !slices.Equal(list[0].SignIn.Scopes, []string{"read", "write"}) || len(list[0].SignIn.Asks) != 0 {
		t.Errorf("got %+v, %v, want both permissions", list[0].SignIn, err)
	}
}

func TestAnotherAuthorizationServerGetsNothingOfTheOldOne(t *testing.T) {
	t.Parallel()
	k := open(t)
	remote, other := mcptest.NewRemote(t), mcptest.NewRemote(t)
	remote.SignIn("")
	addRemote(t, k, remote.URL)
	signIn(t, k, remote)
	if _, err := k.Person().MCP.Connect(t.Context(), "test"); err != nil {
		t.Fatal(err)
	}
	remote.Change(func(doc string, m map[string]any) {
		if doc == "resource" {
			m["authorization_servers"] = []string{other.Issuer}
		}
	})
	remote.Revoke(false)
	if _, err := echo(t, k.Agent("autonomous")); sys.CodeOf(err) != sys.CodeAuth {
		t.Errorf("got %v, want that a sign-in is needed", err)
	}
	if n := remote.Count("auth POST /token refresh_token"); n != 0 {
		t.Errorf("the old one was asked %d times for a token that is not for the server any more", n)
	}
	page, err := k.Person().MCP.SignIn(t.Context(), "test")
	if err != nil || !strings.HasPrefix(page.URL, other.Issuer+"/authorize") {
		t.Fatalf("got %+v, %v", page, err)
	}
	if n := other.Count("auth POST /register"); n != 1 {
		t.Errorf("Oxios registered %d times at the new one, want once", n)
	}
}

func TestASignInTakesItsOwnAnswerAlone(t *testing.T) {
	t.Parallel()
	k := open(t)
	remote := mcptest.NewRemote(t)
	remote.SignIn("")
	addRemote(t, k, remote.URL)
	page, err := k.Person().MCP.SignIn(t.Context(), "test")
	if err != nil {
		t.Fatal(err)
	}
	to, err := remote.Approve(t.Context(), page.URL)
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(to)
	if err != nil || u.Hostname() != "127.0.0.1" {
		t.Fatalf("it leads to %s, %v", to, err)
	}
	for name, change := range map[string]func(u *url.URL){
		"another state": func(u *url.URL) { u.RawQuery = strings.Replace(u.RawQuery, "state=", "state=x", 1) },
		"an error of nobody": func(u *url.URL) {
			u.RawQuery = "error=access_denied"
		},
		"another place": func(u *url.URL) { u.Path = "/" },
	} {
		wrong := *u
		change(&wrong)
		res, err := http.Get(wrong.String()) //nolint:noctx // it is answered at once
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode < 400 {
			t.Errorf("%s: got %s", name, res.Status)
		}
	}
	res, err := http.Get(to) //nolint:noctx // as above
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if v, err := k.Person().MCP.SignedIn(t.Context(), "test"); err != nil || v.SignIn.Issuer != remote.Issuer {
		t.Errorf("got %+v, %v", v.SignIn, err)
	}
	// A second sign-in gives up the first; who waits for that one is told.
	if _, err := k.Person().MCP.SignIn(t.Context(), "test"); err != nil {
		t.Fatal(err)
	}
	waits := make(chan error, 1)
	begun := make(chan struct{})
	go func() {
		close(begun)
		_, err := k.Person().MCP.SignedIn(t.Context(), "test")
		waits <- err
	}()
	<-begun
	if err := k.Person().MCP.Remove(t.Context(), "test"); err != nil {
		t.Fatal(err)
	}
	if err := <-waits; err == nil {
		t.Error("the sign-in at a removed server ended well")
	}
}

func TestARegisteredClientSignsInUnderItsName(t *testing.T) {
	t.Parallel()
	k := open(t)
	remote := mcptest.NewRemote(t)
	remote.SignIn("")
	var form url.Values
	remote.Instead(func(_ http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/token" {
			form = r.PostForm
			form.Set("basic", r.Header.Get("Authorization"))
		}
		return false
	})
	remote.Change(func(doc string, m map[string]any) {
		if doc == "issuer" {
			m["token_endpoint_auth_methods_supported"] = []string{"client_secret_post"}
		}
	})
	addRemote(t, k, remote.URL, func(d *kernel.MCPServer) { d.ClientID = "oxios-of-the-test" })
	if _, err := k.Person().MCP.SetKey(t.Context(), "test", "client_secret", "secret-of-the-test"); err != nil {
		t.Fatal(err)
	}
	signIn(t, k, remote)
	if form.Get("client_id") != "oxios-of-the-test" || form.Get("client_secret") != "secret-of-the-test" || remote.Count("auth POST /register") != 0 {
		t.Errorf("got %v", form)
	}
	keys, err := k.Person().Infra.Keys(t.Context())
	if err != nil || len(keys.List) != 2 {
		t.Errorf("the keys are %+v, %v", keys.List, err)
	}
	if err := k.Person().MCP.Remove(t.Context(), "test"); err != nil {
		t.Fatal(err)
	}
	if keys, err = k.Person().Infra.Keys(t.Context()); err != nil || len(keys.List) != 0 {
		t.Errorf("after the server was removed there are %+v, %v", keys.List, err)
	}
}

func TestOnlyThePersonSignsIn(t *testing.T) {
	t.Parallel()
	k := open(t)
	remote := mcptest.NewRemote(t)
	addRemote(t, k, remote.URL)
	agent := k.Agent("autonomous")
	if _, err := agent.MCP.SignIn(t.Context(), "test"); sys.CodeOf(err) != sys.CodeForbidden {
		t.Errorf("SignIn: got %v", err)
	}
	if _, err := agent.MCP.SignOut(t.Context(), "test"); sys.CodeOf(err) != sys.CodeForbidden {
		t.Errorf("SignOut: got %v", err)
	}
	if _, err := agent.MCP.SetKey(t.Context(), "test", "X", "y"); sys.CodeOf(err) != sys.CodeForbidden {
		t.Errorf("SetKey: got %v", err)
	}
	if n := len(remote.Requests()); n != 0 {
		t.Errorf("the server was asked %d times", n)
	}
}
