package kernel_test

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
	"oxios/kernel/sys"
)

// far is a provider on another machine, as the kernel sees it: a proxy stands
// before it, and while the proxy is closed the provider cannot be reached.
type far struct {
	*kerneltest.Kernel
	addr string
}

func openFar(t *testing.T, more string, options ...kerneltest.Option) far {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := far{addr: ln.Addr().String()}
	if err := ln.Close(); err != nil {
		t.Fatal(err)
	}
	home, folder := filepath.Join(t.TempDir(), "home"), t.TempDir()
	config := fmt.Sprintf("folder = %q\nkeyring = false\nprovider = \"far\"\nmodel = %q\n[[providers]]\nid = \"far\"\nname = \"Far\"\nbase_url = \"http://models.test/v1\"\nproxy_url = \"http://%s\"\n",
		folder, kerneltest.Model, f.addr) + more
	if err := os.MkdirAll(home, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	options = append([]kerneltest.Option{kerneltest.At(home, folder), kerneltest.With(func(o *kernel.Options) { o.Env = func(string) string { return "" } })}, options...)
	f.Kernel = kerneltest.Open(t, options...)
	return f
}

// reach opens the way to the provider until the test ends.
func (f far) reach(t *testing.T) {
	t.Helper()
	ln, err := net.Listen("tcp", f.addr)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: f.Demo}
	go func() {
		if err := server.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("serve: %v", err)
		}
	}()
	t.Cleanup(func() { _ = server.Close() })
}

func (f far) status(t *testing.T) kernel.Status {
	t.Helper()
	s, err := f.Person().Infra.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// waiting waits until this many messages wait for the provider.
func (f far) waiting(t *testing.T, n int) {
	t.Helper()
	f.Until(fmt.Sprintf("%d messages wait for the network", n), func() bool {
		list := f.status(t).Offline
		return len(list) == 1 && len(list[0].Runs) == n
	})
}

func TestMessageWaitsForTheNetworkAndGoesOutByItself(t *testing.T) {
	t.Parallel()
	f := openFar(t, "")
	out := f.Say("Show me the folder")
	f.waiting(t, 1)
	off := f.status(t).Offline[0]
	if off.Provider != "far" || off.Name != "Far" || off.Problem == nil || off.Problem.Code != sys.CodeNetwork || !slices.Equal(off.Runs, []string{out.RunID}) {
		t.Errorf("got %+v, want Far with the run and a network problem", off)
	}
	f.reach(t)
	if _, err := f.Person().Infra.Reconnect(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r := f.Wait(out.RunID); r.State != "done" || r.Response == "" {
		t.Errorf("got %+v, want an answer", r)
	}
	if s := f.status(t); len(s.Offline) > 0 {
		t.Errorf("got %+v offline after the answer", s.Offline)
	}
	// The message was handed over once, however often it was tried.
	v, err := f.Person().State.Session(t.Context(), out.SessionID)
	if err != nil || len(v.Runs) != 1 || len(v.Messages) != 2 {
		t.Errorf("got %d runs and %d messages, %v, want one run with its question and its answer", len(v.Runs), len(v.Messages), err)
	}
}

func TestOneThatReachesItsProviderTakesTheOthersAlong(t *testing.T) {
	t.Parallel()
	f := openFar(t, "")
	var runs []string
	for range 7 { // more than may work at once, and more than open the breaker
		runs = append(runs, f.Say("Show me the folder").RunID)
	}
	f.waiting(t, len(runs))
	f.reach(t)
	if _, err := f.Person().Infra.Reconnect(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, id := range runs {
		if r := f.Wait(id); r.State != "done" {
			t.Errorf("run %s: got %s, %v", id, r.State, r.Error)
		}
	}
}

func TestMessageThatWaitsForTheNetworkIsStopped(t *testing.T) {
	t.Parallel()
	f := openFar(t, "")
	out := f.Say("Show me the folder")
	f.waiting(t, 1)
	if _, err := f.Person().Agents.Kill(t.Context(), out.RunID); err != nil {
		t.Fatal(err)
	}
	if r := f.Wait(out.RunID); r.State != "stopped" {
		t.Errorf("got %s, want stopped", r.State)
	}
	if s := f.status(t); len(s.Offline) > 0 {
		t.Errorf("got %+v offline, though nobody waits", s.Offline)
	}
}

func TestCommandLineIsToldAtOnceThatTheNetworkIsAway(t *testing.T) {
	t.Parallel()
	f := openFar(t, "")
	out := f.Say("Show me the folder", func(m *kernel.Submit) { m.Via = "terminal" })
	if r := f.Wait(out.RunID); r.State != "failed" || r.Error == nil || r.Error.Code != sys.CodeNetwork {
		t.Errorf("got %+v, want a failure of the network", r)
	}
}

func TestModelOnThisMachineIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	k := kerneltest.Open(t, kerneltest.With(func(o *kernel.Options) {
		o.Env = func(name string) string {
			return map[string]string{"OXIOS_BASE_URL": "http://127.0.0.1:1/v1", "OXIOS_MODEL": "small"}[name]
		}
	}))
	if r := k.Ask("Hello"); r.State != "failed" || r.Error == nil || r.Error.Code != sys.CodeNetwork {
		t.Errorf("got %+v, want a failure at once", r)
	}
}

func TestPersonWhoAsksAgainIsHeardAtOnce(t *testing.T) {
	t.Parallel()
	f := openFar(t, "")
	ask := func() kernel.RunResult {
		return f.Wait(f.Say("Show me the folder", func(m *kernel.Submit) { m.Via = "terminal" }).RunID)
	}
	for range 6 { // more than open the breaker, which would refuse for half a minute
		if r := ask(); r.Error == nil || r.Error.Code != sys.CodeNetwork {
			t.Fatalf("got %+v, want a failure of the network", r)
		}
	}
	f.reach(t)
	if r := ask(); r.State != "done" {
		t.Errorf("got %s, %v, as soon as the provider is back", r.State, r.Error)
	}
}
