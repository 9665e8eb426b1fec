package cli

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// enter opens an address as a browser does, and returns the status.
func enter(t *testing.T, address string) int {
	t.Helper()
	site, code, ok := strings.Cut(strings.TrimSpace(address), "/#code=")
	if !ok || !strings.HasPrefix(site, "http://127.0.0.1:") || code == "" {
		t.Fatalf("got %q, want an address with a code", address)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, site+"/auth", bytes.NewReader([]byte(`{"code":"`+code+`"}`)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Origin", site)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	return resp.StatusCode
}

func TestAddressLetsAnotherBrowserInOnce(t *testing.T) {
	t.Parallel()
	d := setup(t)
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	var out buffer
	ended := make(chan result, 1)
	go func() { ended <- d.with(typing{ctx: ctx, out: &out}, "serve") }()
	until(t, "serve is ready", func() bool { return strings.HasSuffix(out.String(), "\n") })
	first := strings.TrimPrefix(out.String(), "Oxios is ready: ")
	second := d.must(0, "address").out
	third := decode[map[string]string](t, d.must(0, "address", "--json").out)["url"]
	if first == second || second == third || strings.Count(second, "\n") != 1 {
		t.Errorf("got %q, %q and %q, want three addresses", first, second, third)
	}
	for _, address := range []string{first, second, third} {
		if got := enter(t, address); got != http.StatusOK {
			t.Errorf("the first browser at %q: got status %d", address, got)
		}
		if got := enter(t, address); got != http.StatusUnauthorized {
			t.Errorf("the second browser at %q: got status %d, want it refused", address, got)
		}
	}
	contains(t, "a second serve", d.must(exitFailed, "serve").err, "already runs", "oxios address")
	stop()
	r := <-ended
	r.check(t, 0, "serve")
	http.DefaultClient.CloseIdleConnections()
	log := d.must(0, "audit", "list", "--json").out
	contains(t, "the chain", log, "infra.pageAddress", "person:socket")
	if _, code, _ := strings.Cut(strings.TrimSpace(second), "#code="); strings.Contains(log, code) {
		t.Error("the chain holds the code")
	}
}

func TestAddressWithoutAPageSaysWhatToDo(t *testing.T) {
	t.Parallel()
	d := setup(t)
	before, err := os.ReadDir(filepath.Join(d.Home, "run"))
	if err != nil {
		t.Fatal(err)
	}
	r := d.must(exitFailed, "address")
	contains(t, "nothing runs", r.err, "No Oxios is running", "`oxios serve`")
	if after, err := os.ReadDir(filepath.Join(d.Home, "run")); err != nil || len(after) != len(before) || r.out != "" {
		t.Errorf("got %q and %v, %v, want that the home was left alone", r.out, after, err)
	}
	contains(t, "nothing runs, --json", d.must(exitFailed, "address", "--json").out, `"code":"unavailable"`)
	stop := d.own()
	defer stop()
	contains(t, "a window runs", d.must(exitFailed, "address").err, "no page", "oxios serve")
}
