package kernel_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"oxios/kernel"
	"oxios/kernel/mcp/mcptest"
	"oxios/kernel/sys"
)

// holdFirst holds the first request that which names, until release is called; held is closed when it came.
func holdFirst(t *testing.T, remote *mcptest.Remote, which func(r *http.Request) bool) (held chan struct{}, release func()) {
	held, goOn := make(chan struct{}), make(chan struct{})
	var once, open atomic.Bool
	remote.Instead(func(_ http.ResponseWriter, r *http.Request) bool {
		if which(r) && once.CompareAndSwap(false, true) {
			close(held)
			<-goOn
		}
		return false
	})
	release = func() {
		if open.CompareAndSwap(false, true) {
			close(goOn)
		}
	}
	t.Cleanup(release)
	return held, release
}

func anonymous(r *http.Request) bool {
	return r.Method == http.MethodPost && r.URL.Path == "/mcp" && r.Header.Get("Authorization") == ""
}

func TestAnOldRefusalDoesNotUndoAFreshSignIn(t *testing.T) {
	t.Parallel()
	k := open(t)
	remote := mcptest.NewRemote(t)
	addRemote(t, k, remote.URL)
	if _, err := k.Person().MCP.Connect(t.Context(), "test"); err != nil { // it needs no sign-in yet
		t.Fatal(err)
	}
	remote.SignIn("")
	held, release := holdFirst(t, remote, anonymous)
	done := make(chan error, 1)
	h := k.Person()
	go func() {
		_, err := echo(t, h)
		done <- err
	}()
	<-held
	signIn(t, k, remote)
	release()
	if err := <-done; err != nil {
		t.Errorf("got %v, want the call to be made with the new token", err)
	}
	list, err := k.Person().MCP.Servers(t.Context())
	if err != nil || list[0].SignIn == nil || list[0].SignIn.Needed {
		t.Errorf("got %+v, %v, want that the person is signed in", list[0].SignIn, err)
	}
}

func TestOfTwoSignInsAtOnceTheLaterOneWaits(t *testing.T) {
	t.Parallel()
	k := open(t)
	remote := mcptest.NewRemote(t)
	remote.SignIn("")
	addRemote(t, k, remote.URL)
	held, release := holdFirst(t, remote, anonymous)
	first := make(chan error, 1)
	h := k.Person()
	go func() {
		_, err := h.MCP.SignIn(t.Context(), "test")
		first <- err
	}()
	<-held
	page, err := k.Person().MCP.SignIn(t.Context(), "test")
	if err != nil {
		t.Fatal(err)
	}
	release()
	if err := <-first; sys.CodeOf(err) != sys.CodeCanceled {
		t.Errorf("the first one: got %v, want that it was given up", err)
	}
	if said, err := remote.Visit(t.Context(), page.URL); err != nil || !strings.Contains(said, "You are signed in") {
		t.Errorf("the page says %q, %v", said, err)
	}
	if _, err := k.Person().MCP.SignedIn(t.Context(), "test"); err != nil {
		t.Error(err)
	}
}

func TestATokenForAnAddressThatWasChangedIsNotKept(t *testing.T) {
	t.Parallel()
	k := open(t)
	remote := mcptest.NewRemote(t)
	remote.SignIn("")
	addRemote(t, k, remote.URL)
	page, err := k.Person().MCP.SignIn(t.Context(), "test")
	if err != nil {
		t.Fatal(err)
	}
	addRemote(t, k, "https://mcp.example.com/mcp")
	if said, err := remote.Visit(t.Context(), page.URL); err != nil || strings.Contains(said, "You are signed in") {
		t.Errorf("the page says %q, %v", said, err)
	}
	if _, err := k.Person().MCP.SignedIn(t.Context(), "test"); sys.CodeOf(err) != sys.CodeConflict {
		t.Errorf("got %v, want a conflict", err)
	}
	if keys, err := k.Person().Infra.Keys(t.Context()); err != nil || len(keys.List) != 0 {
		t.Errorf("the keys are %+v, %v", keys.List, err)
	}
}

func TestATokenThatIsRenewedWhileItsServerIsRemovedIsNotKept(t *testing.T) {
	t.Parallel()
	k := open(t)
	remote := mcptest.NewRemote(t)
	remote.SignIn("")
	addRemote(t, k, remote.URL)
	signIn(t, k, remote)
	if _, err := k.Person().MCP.Connect(t.Context(), "test"); err != nil {
		t.Fatal(err)
	}
	remote.Revoke(false)
	held, release := holdFirst(t, remote, func(r *http.Request) bool { return r.URL.Path == "/token" })
	called := make(chan error, 1)
	h := k.Person()
	go func() {
		_, err := echo(t, h)
		called <- err
	}()
	<-held
	removed := make(chan error, 1)
	go func() { removed <- h.MCP.Remove(t.Context(), "test") }()
	k.Until("it is not in config.toml any more", func() bool {
		list, err := k.Person().MCP.Servers(t.Context())
		return err == nil && len(list) == 0
	})
	release()
	if err := <-removed; err != nil {
		t.Error(err)
	}
	if err := <-called; err == nil {
		t.Error("a call of a removed server was made")
	}
	if keys, err := k.Person().Infra.Keys(t.Context()); err != nil || len(keys.List) != 0 {
		t.Errorf("the keys are %+v, %v", keys.List, err)
	}
	if _, err := os.Stat(filepath.Join(k.Home, "mcp", "test")); !os.IsNotExist(err) {
		t.Errorf("its folder: got %v", err)
	}
}

func TestASecretGoesToTheAuthorizationServerThatItIsFor(t *testing.T) {
	t.Parallel()
	k := open(t)
	remote, other := mcptest.NewRemote(t), mcptest.NewRemote(t)
	remote.SignIn("")
	addRemote(t, k, remote.URL, func(d *kernel.MCPServer) { d.ClientID = "oxios-of-the-test" })
	if _, err := k.Person().MCP.SetKey(t.Context(), "test", "client_secret", "secret-of-the-test"); err != nil {
		t.Fatal(err)
	}
	signIn(t, k, remote)
	signIn(t, k, remote) // the same one takes it again
	remote.Change(func(doc string, m map[string]any) {
		if doc == "resource" {
			m["authorization_servers"] = []string{other.Issuer}
		}
	})
	_, err := k.Person().MCP.SignIn(t.Context(), "test")
	if sys.CodeOf(err) != sys.CodeRefused || !strings.Contains(err.Error(), "is for "+remote.Issuer) || sys.AsError(err).MessageKO == "" {
		t.Errorf("got %v, want a refusal", err)
	}
	if _, err := k.Person().MCP.SetKey(t.Context(), "test", "client_secret", "another-secret-of-the-test"); err != nil {
		t.Fatal(err)
	}
	if page, err := k.Person().MCP.SignIn(t.Context(), "test"); err != nil || !strings.HasPrefix(page.URL, other.Issuer) {
		t.Errorf("with a secret that is entered anew: got %+v, %v", page, err)
	}
}
