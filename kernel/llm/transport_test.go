package llm

import (
	"encoding/pem"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"oxios/kernel/sys"
)

func TestKeyDoesNotFollowARedirectToAnotherHost(t *testing.T) {
	t.Parallel()
	other := serveText(t, events(chunkHello, chunkStop, done))
	p := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL+r.URL.Path, http.StatusTemporaryRedirect)
	})
	_, _, err := complete(t, client(t, at(p)), ask("m"))
	if sys.CodeOf(err) != sys.CodeNetwork || !strings.Contains(err.Error(), "redirects") {
		t.Errorf("got %v", err)
	}
	if other.count() != 0 {
		t.Error("the other host was asked")
	}
	same := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, "/moved") {
			http.Redirect(w, r, "/moved"+r.URL.Path, http.StatusTemporaryRedirect)
			return
		}
		writeStream(w, events(chunkHello, chunkStop, done))
	})
	if _, _, err := complete(t, client(t, at(same)), ask("m")); err != nil {
		t.Errorf("redirect on the same host: %v", err)
	}
}

func TestNetworkFailuresSayWhatToDo(t *testing.T) {
	t.Parallel()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := ln.Addr().String()
	ln.Close()
	tlsServer := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(tlsServer.Close)
	tlsServer.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	plain := serveText(t, "")
	tests := map[string]struct {
		base, says string
	}{
		"nothing listens":     {"http://" + closed + "/v1", "Nothing answers"},
		"unknown certificate": {tlsServer.URL + "/v1", "certificate"},
		"https to http":       {strings.Replace(plain.URL, "http://", "https://", 1), "does not speak HTTPS"},
		"unknown host":        {"http://no-such-host.invalid/v1", "not found"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := complete(t, client(t, Endpoint{BaseURL: tt.base, Key: "sk-secret-0123456789"}), ask("m"))
			e := sys.AsError(err)
			if e == nil || e.Code != sys.CodeNetwork || !strings.Contains(e.Message, tt.says) || e.Hint == "" {
				t.Fatalf("got %v, want a network error that says %q", err, tt.says)
			}
			assertHidden(t, "sk-secret-0123456789", e)
		})
	}
}

func TestOwnCertificateAuthorityIsHonoured(t *testing.T) {
	t.Parallel()
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		writeStream(w, events(chunkHello, chunkStop, done))
	}))
	t.Cleanup(s.Close)
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := complete(t, client(t, Endpoint{BaseURL: s.URL + "/v1", CAFile: file}), ask("m")); err != nil {
		t.Errorf("with the CA file: %v", err)
	}
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{empty, empty + ".missing"} {
		if _, err := New(Endpoint{BaseURL: s.URL, CAFile: bad}); sys.CodeOf(err) != sys.CodeInvalid {
			t.Errorf("CA file %s: got %v, want invalid", filepath.Base(bad), err)
		}
	}
}

func TestConfiguredProxyIsUsed(t *testing.T) {
	t.Parallel()
	var asked atomic.Value
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Store(r.URL.String())
		writeStream(w, events(chunkHello, chunkStop, done))
	}))
	t.Cleanup(proxy.Close)
	if _, _, err := complete(t, client(t, Endpoint{BaseURL: "http://model.example/v1", ProxyURL: proxy.URL}), ask("m")); err != nil {
		t.Fatal(err)
	}
	if got := asked.Load(); got != "http://model.example/v1/chat/completions" {
		t.Errorf("the proxy was asked for %v", got)
	}
	find, err := proxyFunc(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	if u, err := find(&http.Request{URL: &url.URL{Scheme: "http", Host: "127.0.0.1:11434"}}); u != nil || err != nil {
		t.Errorf("a local server goes through the proxy %v (%v)", u, err)
	}
}

func TestConnectionIsKept(t *testing.T) {
	t.Parallel()
	var opened atomic.Int64
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		writeStream(w, events(chunkHello, chunkStop, done))
	}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	c := client(t, Endpoint{BaseURL: s.URL + "/v1"})
	for range 5 {
		if _, _, err := complete(t, c, ask("m")); err != nil {
			t.Fatal(err)
		}
	}
	if n := opened.Load(); n != 1 {
		t.Errorf("5 requests opened %d connections, want 1", n)
	}
}
