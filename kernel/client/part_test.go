package client_test

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"oxios/kernel/client"
	"oxios/kernel/guard"
	"oxios/kernel/parttest"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// open is a gate that lets all through: what may pass is the guard's to know.
type open struct{}

func (open) Pass(ctx context.Context, _ guard.Action, fn func(context.Context) (any, error)) (any, error) {
	return fn(ctx)
}

type bench struct {
	*client.Service
	api *client.API
	now time.Time
}

func setup(t *testing.T, path string) *bench {
	t.Helper()
	b := &bench{now: time.Date(2026, 11, 27, 8, 0, 0, 0, time.UTC)}
	clock := func() time.Time { return b.now }
	st, err := store.Open(t.Context(), path, store.Options{Clock: clock, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	b.Service = client.New(client.Config{Store: st, Clock: clock, Log: slog.New(slog.DiscardHandler), Told: func(string) {}})
	b.api = b.As(guard.NewCaller(sys.Person("test"), guard.Scope{}, open{}))
	return b
}

// It looks for goroutines that are left, so it runs alone.
func TestTheServiceIsAPart(t *testing.T) { //nolint:paralleltest // see above
	parttest.Run(t, func(t *testing.T) parttest.Part {
		return client.New(client.Config{Clock: time.Now, Log: slog.New(slog.DiscardHandler), Told: func(string) {}})
	})
}

func TestATokenOpensForItsProgramAlone(t *testing.T) {
	t.Parallel()
	ctx, path := t.Context(), filepath.Join(t.TempDir(), "oxios.db")
	b := setup(t, path)
	first, err := b.api.Add(ctx, " First ", []string{"run", "read", "read"})
	if err != nil || first.Client.Name != "First" || !slices.Equal(first.Client.Scopes, []string{"read", "run"}) {
		t.Fatalf("got %+v, %v", first, err)
	}
	second, err := b.api.Add(ctx, "Second", []string{"vault"})
	if err != nil || second.Token == first.Token {
		t.Fatalf("got %+v, %v", second, err)
	}
	for _, s := range []*bench{b, setup(t, path)} { // and after a restart
		for _, made := range []client.Added{first, second} {
			if got, err := s.Authenticate(ctx, made.Token); err != nil || got.ID != made.Client.ID {
				t.Errorf("%s: got %+v, %v", made.Client.Name, got, err)
			}
		}
		for _, token := range []string{"", "oxios_", first.Token + "x", strings.ToLower(first.Token), first.Client.ID} {
			if _, err := s.Authenticate(ctx, token); sys.CodeOf(err) != sys.CodeAuth {
				t.Errorf("%q: got %v", token, err)
			}
		}
	}
	if _, err := b.api.Revoke(ctx, first.Client.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Authenticate(ctx, first.Token); sys.CodeOf(err) != sys.CodeAuth {
		t.Errorf("a revoked token: %v", err)
	}
	if err := b.Allows(ctx, first.Client.ID, "agents.list"); sys.CodeOf(err) != sys.CodeAuth || !strings.Contains(err.Error(), "revoked") {
		t.Errorf("a call of a revoked program: %v", err)
	}
	if _, err := b.Authenticate(ctx, second.Token); err != nil {
		t.Errorf("the other one: %v", err)
	}
}

func TestAScopeHoldsItsCallsAndNoOther(t *testing.T) {
	t.Parallel()
	b := setup(t, filepath.Join(t.TempDir(), "oxios.db"))
	for _, s := range client.Scopes() {
		made, err := b.api.Add(t.Context(), s.Name, []string{s.Name})
		if err != nil {
			t.Fatal(err)
		}
		for _, other := range client.Scopes() {
			for _, call := range other.Calls {
				err := b.Allows(t.Context(), made.Client.ID, call)
				if has := slices.Contains(s.Calls, call); has != (err == nil) || !has && !strings.Contains(err.Error(), other.Name) {
					t.Errorf("%s makes %s: %v", s.Name, call, err)
				}
			}
		}
		for _, call := range []string{"exec.shell", "clients.add", "clients.list", "security.grant", "security.setRole", "infra.setConfig", "mcp.call", "mcp.set", "nothing"} {
			if err := b.Allows(t.Context(), made.Client.ID, call); sys.CodeOf(err) != sys.CodeForbidden {
				t.Errorf("%s makes %s: %v", s.Name, call, err)
			}
		}
	}
}

func TestWhenAProgramCameIsNotedToTheMinute(t *testing.T) {
	t.Parallel()
	b := setup(t, filepath.Join(t.TempDir(), "oxios.db"))
	made, err := b.api.Add(t.Context(), "A", []string{"read"})
	if err != nil {
		t.Fatal(err)
	}
	came := func() time.Time {
		t.Helper()
		if _, err := b.Authenticate(t.Context(), made.Token); err != nil {
			t.Fatal(err)
		}
		list, err := b.api.List(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return *list[0].UsedAt
	}
	first := came()
	b.now = b.now.Add(59 * time.Second)
	if got := came(); !got.Equal(first) {
		t.Errorf("within the minute: got %v, want %v", got, first)
	}
	b.now = b.now.Add(time.Second)
	if got := came(); !got.Equal(b.now) {
		t.Errorf("after it: got %v, want %v", got, b.now)
	}
}

func TestProgramsAreBounded(t *testing.T) {
	t.Parallel()
	b := setup(t, filepath.Join(t.TempDir(), "oxios.db"))
	for i := range 50 {
		if _, err := b.api.Add(t.Context(), fmt.Sprint("program ", i), []string{"read"}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.api.Add(t.Context(), "one more", []string{"read"}); sys.CodeOf(err) != sys.CodeTooLarge {
		t.Errorf("got %v", err)
	}
	for _, name := range []string{strings.Repeat("a", 61), "a\x1b[31m", "\u202eevil"} {
		if _, err := b.api.Add(t.Context(), name, []string{"read"}); sys.CodeOf(err) != sys.CodeInvalid {
			t.Errorf("%q: got %v", name, err)
		}
	}
}
