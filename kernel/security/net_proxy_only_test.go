package security

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"oxios/kernel/sys"
)

func TestProxyReachesTheMachinesThatItIsToldAlone(t *testing.T) {
	t.Parallel()
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "here") }))
	t.Cleanup(plain.Close)
	client, p, dialled := proxied(t, sys.Words{}, plain)
	p.Only = []string{"example.com:80"}
	for address, want := range map[string]int{"http://example.com/": 200, "http://EXAMPLE.com:80/x": 200, "http://example.com:81/": 403, "http://www.example.com/": 403} {
		if code, text := body(t, client, address); code != want {
			t.Errorf("%s: got %d %q, want %d", address, code, text, want)
		}
	}
	if n := dialled.Load(); n != 2 {
		t.Errorf("got %d connections, want 2", n)
	}
}
