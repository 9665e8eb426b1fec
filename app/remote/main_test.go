package remote_test

import (
	"context"
	"log/slog"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"oxios/app/remote"
	"oxios/kernel"
	"oxios/kernel/event"
	"oxios/kernel/sys"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fake is a kernel that answers a few calls in telling ways.
type fake struct {
	bus     *event.Bus
	waiting chan string   // the id of a call to Wait that has begun
	ended   chan error    // why a call to Wait ended
	release chan struct{} // lets Wait return
}

func newFake() *fake {
	return &fake{bus: event.NewBus(nil), waiting: make(chan string, 512), ended: make(chan error, 512), release: make(chan struct{})}
}

func (f *fake) handle() *remote.Handle {
	return &remote.Handle{State: fakeState{f: f}, Agents: fakeAgents{f: f}, Infra: fakeInfra{f: f}}
}

type fakeState struct {
	remote.StateAPI
	f *fake
}

func (fakeState) Sessions(_ context.Context, q kernel.SessionQuery) ([]kernel.Session, error) {
	if q.Search == "nothing" {
		return nil, nil
	}
	return []kernel.Session{{ID: "1", Title: "<b>한글</b> & " + q.Search}, {ID: "2"}}, nil
}

func (fakeState) Session(_ context.Context, id string) (kernel.SessionView, error) {
	switch id {
	case "missing":
		return kernel.SessionView{}, sys.Errorf(sys.CodeNotFound, "There is no session %q.", id).WithHint("List them with `oxios sessions list`.")
	case "canceled":
		return kernel.SessionView{}, context.Canceled
	case "panic":
		panic("a bug of ours")
	}
	return kernel.SessionView{Session: kernel.Session{ID: id}}, nil
}

func (fakeState) DeleteSession(_ context.Context, id string) (kernel.Deletion, error) {
	return kernel.Deletion{ID: id, Erased: true}, nil
}

// ExportSession returns id as often as format says: x, or xMi for a million times.
func (fakeState) ExportSession(_ context.Context, id, format string) (string, error) {
	if format == "huge" {
		return strings.Repeat(id, 17<<20), nil
	}
	return id + "." + format, nil
}

type fakeAgents struct {
	remote.AgentsAPI
	f *fake
}

func (a fakeAgents) Wait(ctx context.Context, id string) (kernel.RunResult, error) {
	a.f.waiting <- id
	select {
	case <-ctx.Done():
		a.f.ended <- ctx.Err()
		return kernel.RunResult{}, ctx.Err()
	case <-a.f.release:
		return kernel.RunResult{Response: id}, nil
	}
}

type fakeInfra struct {
	remote.InfraAPI
	f *fake
}

func (i fakeInfra) Events(ctx context.Context, from uint64) (<-chan kernel.Event, error) {
	if from == 7 {
		return nil, sys.Errorf(sys.CodeForbidden, "Not for you.")
	}
	return i.f.bus.Read(from, nil).Chan(ctx), nil
}

// served is a fake kernel behind a socket.
type served struct {
	*fake
	home   string
	client *remote.Client
	remote *remote.Handle
	stop   func() // ends Serve and waits for it
}

func setup(t *testing.T) *served {
	t.Helper()
	f := newFake()
	s := serve(t, t.TempDir(), func(remote.Peer) (*remote.Handle, error) { return f.handle(), nil })
	s.fake = f
	s.client = dial(t, s.home)
	s.remote = s.client.Handle()
	return s
}

func serve(t *testing.T, home string, open func(remote.Peer) (*remote.Handle, error)) *served {
	t.Helper()
	ln, err := remote.Listen(home)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	log := slog.New(slog.DiscardHandler)
	go func() { done <- remote.Serve(ctx, ln, open, log) }()
	stopped := false
	stop := func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Serve: got %v, want nil after its context ended", err)
		}
	}
	t.Cleanup(stop)
	return &served{home: home, stop: stop}
}

func dial(t *testing.T, home string) *remote.Client {
	t.Helper()
	c, err := remote.Dial(t.Context(), home)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return c
}

func wantCode(t *testing.T, err error, want sys.Code) *sys.Error {
	t.Helper()
	if got := sys.CodeOf(err); got != want {
		t.Fatalf("got %v with code %q, want code %q", err, got, want)
	}
	return sys.AsError(err)
}

var ourPID = os.Getpid()
