package kernel_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
	"oxios/kernel/security"
	"oxios/kernel/sys"
)

func TestTheOwnNetworkIsClosedToAgentsUntilThePersonGrantsARange(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "the page") }))
	t.Cleanup(server.Close)
	k := open(t, kerneltest.With(func(o *kernel.Options) {
		o.Net = &security.NetGuard{
			Resolve: func(_ context.Context, name string) ([]netip.Addr, error) {
				return []netip.Addr{netip.MustParseAddr(map[string]string{"nas.local": "192.168.7.2", "credentials.example.com": "169.254.169.254"}[name])}, nil
			},
			Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
				return (&net.Dialer{}).DialContext(ctx, network, server.Listener.Addr().String())
			},
		}
	}))
	person := k.Person().Security
	if _, err := k.Agent("autonomous").Security.GrantAddress(t.Context(), "192.168.7.0/24"); err == nil {
		t.Error("an agent opened the network")
	}
	for _, wrong := range []string{"0.0.0.0/0", "169.254.169.254", "8.8.8.8", "nas.local"} {
		if _, err := person.GrantAddress(t.Context(), wrong); err == nil || !strings.Contains(err.Error(), "Nothing was changed") {
			t.Errorf("%s: got %v", wrong, err)
		}
	}
	if p, err := person.Policy(t.Context()); err != nil || p.Isolation < sys.IsolationFull {
		t.Skipf("level 3 does not hold here: %s, %v", p.Problem, err)
	}
	command := func(host string) string {
		t.Helper()
		h := k.Agent("autonomous")
		write(t, filepath.Join(k.Folder, "page.sh"), ask(host))
		r, err, _ := answered(t, k, h, true, shell(h, kernel.ShellArgs{Command: "bash page.sh", Network: true}))
		if err != nil {
			t.Fatal(err)
		}
		return r.Output
	}
	open := func(want bool) {
		t.Helper()
		if got := strings.HasSuffix(command("nas.local"), "the page"); got != want {
			t.Errorf("nas.local: reached %v, want %v", got, want)
		}
		if got := command("credentials.example.com"); !strings.Contains(got, "403") {
			t.Errorf("credentials: %s", got)
		}
	}
	open(false)
	p, err := person.GrantAddress(t.Context(), "192.168.7.9/24")
	if err != nil || !slices.Equal(p.GrantedAddresses, []string{"192.168.7.0/24"}) {
		t.Fatalf("got %v, %v", p.GrantedAddresses, err)
	}
	open(true)
	k.Restart()
	person = k.Person().Security
	open(true)
	if raw, err := os.ReadFile(filepath.Join(k.Home, "config.toml")); err != nil || !strings.Contains(string(raw), "192.168.7.0/24") {
		t.Errorf("got %s, %v", raw, err)
	}
	if p, err = person.RevokeAddress(t.Context(), "192.168.7.0/24"); err != nil || len(p.GrantedAddresses) != 0 {
		t.Fatalf("got %v, %v", p.GrantedAddresses, err)
	}
	open(false)
	if _, err = person.RevokeAddress(t.Context(), "192.168.7.0/24"); sys.CodeOf(err) != sys.CodeNotFound {
		t.Errorf("got %v", err)
	}
}
