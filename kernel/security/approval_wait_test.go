package security

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// awaited runs Await and delivers what it returns.
func awaited(ctx context.Context, a *Approvals, id string) <-chan Approval {
	out := make(chan Approval, 1)
	go func() {
		ap, err := a.Await(ctx, id)
		if err != nil {
			ap.Comment = err.Error()
		}
		out <- ap
	}()
	return out
}

// hasWaiter waits until somebody waits for id.
func hasWaiter(t *testing.T, a *Approvals, id string) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		a.mu.Lock()
		n := len(a.waiters[id])
		a.mu.Unlock()
		if n > 0 {
			return
		}
	}
	t.Fatal("nobody waits")
}

func TestAwaitReturnsTheDecision(t *testing.T) {
	t.Parallel()
	d := setupApprovals(t)
	ap := d.create(t, request("step-1"))
	first, second := awaited(t.Context(), d.Approvals, ap.ID), awaited(t.Context(), d.Approvals, ap.ID)
	hasWaiter(t, d.Approvals, ap.ID)
	if _, err := d.Decide(t.Context(), sys.Person("window"), ap.ID, Answer{Approve: true, Hash: ap.Request.Hash, Comment: "go"}, nil); err != nil {
		t.Fatal(err)
	}
	for _, c := range []<-chan Approval{first, second} {
		if got := <-c; got.State != ApprovalApproved || got.Comment != "go" {
			t.Errorf("got %s, %q, want approved, go", got.State, got.Comment)
		}
	}
	// Decided before anybody waited, and after a restart.
	if got, err := d.reopen().Await(t.Context(), ap.ID); err != nil || got.State != ApprovalApproved {
		t.Errorf("got %s, %v, want approved at once", got.State, err)
	}
	if len(d.waiters) != 0 {
		t.Errorf("%d waiters are left, want 0", len(d.waiters))
	}
	if _, err := d.Await(t.Context(), "nothing"); sys.CodeOf(err) != sys.CodeNotFound {
		t.Errorf("got %v, want not_found", err)
	}
}

func TestAwaitEndsWithItsContextAndTheQuestionStays(t *testing.T) {
	t.Parallel()
	d := setupApprovals(t)
	ap := d.create(t, request("step-1"))
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("stopped by the person")
	done := awaited(ctx, d.Approvals, ap.ID)
	hasWaiter(t, d.Approvals, ap.ID)
	cancel(stopped)
	if got := <-done; got.Comment != stopped.Error() {
		t.Errorf("got %q, want the cause", got.Comment)
	}
	if got, err := d.Get(t.Context(), ap.ID); err != nil || got.State != ApprovalPending {
		t.Errorf("got %s, %v, want pending", got.State, err)
	}
	if len(d.waiters) != 0 {
		t.Errorf("%d waiters are left, want 0", len(d.waiters))
	}
}

func TestUnansweredRequestsAreDeniedWithAReason(t *testing.T) {
	t.Parallel()
	d := setupApprovals(t)
	var recorded atomic.Int32
	d.cfg.OnExpire = func(*store.Tx, Approval) error { recorded.Add(1); return nil }
	ap := d.create(t, request("step-1"))
	d.clock.add(24*time.Hour - time.Millisecond)
	if n, err := d.Expire(t.Context()); err != nil || n != 0 {
		t.Fatalf("a moment before: got %d, %v, want 0", n, err)
	}
	d.clock.add(time.Millisecond)
	_, err := d.Decide(t.Context(), sys.Person("window"), ap.ID, yes(ap), nil)
	wantCode(t, "decided too late", err, sys.CodeConflict)
	got, err := d.Await(t.Context(), ap.ID)
	if err != nil || got.State != ApprovalExpired || got.Comment != "nobody answered within 24 h" {
		t.Errorf("got %s %q, %v, want expired with a reason", got.State, got.Comment, err)
	}
	wantCode(t, "what the agent is told", got.Err(), sys.CodeDenied)
	wantCode(t, "used too late", d.use(ap.ID, ap.Request.Hash), sys.CodeDenied)
	if n, err := d.reopen().Expire(t.Context()); err != nil || n != 0 || recorded.Load() != 1 {
		t.Errorf("again: got %d, %v and %d records, want 0 and 1", n, err, recorded.Load())
	}
}

func TestExpiryIsFoundAtOpen(t *testing.T) {
	t.Parallel()
	d := setupApprovals(t)
	d.create(t, request("step-1"))
	d.clock.add(48 * time.Hour)
	if n, err := d.reopen().Expire(t.Context()); err != nil || n != 1 {
		t.Errorf("got %d, %v, want 1", n, err)
	}
}

func TestGivenApprovalDoesNotStayUsableForEver(t *testing.T) {
	t.Parallel()
	d := setupApprovals(t)
	ap := d.create(t, request("step-1"))
	d.clock.add(23 * time.Hour)
	if _, err := d.Decide(t.Context(), sys.Person("window"), ap.ID, yes(ap), nil); err != nil {
		t.Fatal(err)
	}
	d.clock.add(23 * time.Hour)
	if got, err := d.Get(t.Context(), ap.ID); err != nil || got.State != ApprovalApproved {
		t.Errorf("23 h after the answer: got %s, %v, want approved", got.State, err)
	}
	d.clock.add(2 * time.Hour)
	err := d.use(ap.ID, ap.Request.Hash)
	wantCode(t, "used 25 h after the answer", err, sys.CodeDenied)
	if !strings.Contains(err.Error(), "not used within 24 h") {
		t.Errorf("got %q, want the reason", err)
	}
	if _, ok, _ := d.Match(t.Context(), "run-1", "step-1", ap.Request.Hash); ok {
		t.Error("a stale approval matches its step, want the step to ask again")
	}
}

func TestRunEndsRequestsByTheClock(t *testing.T) {
	t.Parallel()
	d := setupApprovals(t)
	d.cfg.Clock, d.cfg.TTL = nil, 50*time.Millisecond
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	expired := make(chan Approval, 1)
	d.cfg.OnExpire = func(_ *store.Tx, ap Approval) error { expired <- ap; return nil }
	go func() { ended <- d.Run(ctx) }()
	ap := d.create(t, request("step-1"))
	select {
	case got := <-expired:
		if got.ID != ap.ID || got.Comment != "nobody answered within 50ms" {
			t.Errorf("got %s %q", got.ID, got.Comment)
		}
	case <-time.After(10 * time.Second):
		t.Error("nothing expired")
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("Run: got %v, want nil", err)
	}
}

func TestAwaitExpiresByItself(t *testing.T) {
	t.Parallel()
	d := setupApprovals(t)
	d.cfg.Clock, d.cfg.TTL = nil, 50*time.Millisecond
	ap := d.create(t, request("step-1"))
	got, err := d.Await(t.Context(), ap.ID)
	if err != nil || got.State != ApprovalExpired {
		t.Errorf("got %s, %v, want expired", got.State, err)
	}
}

func TestOneOfManyDecidersWins(t *testing.T) {
	t.Parallel()
	d := setupApprovals(t)
	for round := range 30 {
		ap := d.create(t, request(fmt.Sprint("step-", round)))
		var won, records atomic.Int32
		var state atomic.Value
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				answer := Answer{Approve: i%2 == 0, Hash: ap.Request.Hash}
				got, err := d.Decide(context.Background(), sys.Person("window"), ap.ID, answer,
					func(*store.Tx, Approval) error { records.Add(1); return nil })
				if err == nil {
					won.Add(1)
					state.Store(got.State)
				} else if sys.CodeOf(err) != sys.CodeConflict {
					t.Errorf("a loser: got %v, want conflict", err)
				}
			})
		}
		wg.Wait()
		got, err := d.Get(t.Context(), ap.ID)
		if err != nil || won.Load() != 1 || records.Load() != 1 || got.State != state.Load() {
			t.Fatalf("round %d: %d won, %d recorded, stored %s, told %v, %v", round, won.Load(), records.Load(), got.State, state.Load(), err)
		}
	}
}

func TestDecisionAndExpiryDoNotBothHappen(t *testing.T) {
	t.Parallel()
	d := setupApprovals(t)
	for round := range 50 {
		ap := d.create(t, request(fmt.Sprint("step-", round)))
		d.clock.add(24*time.Hour - time.Millisecond)
		var wg sync.WaitGroup
		var decideErr error
		var expired int
		wg.Go(func() { d.clock.add(time.Millisecond) })
		wg.Go(func() {
			_, decideErr = d.Decide(context.Background(), sys.Person("window"), ap.ID, yes(ap), nil)
		})
		wg.Go(func() { expired, _ = d.Expire(context.Background()) })
		waiter := awaited(t.Context(), d.Approvals, ap.ID)
		wg.Wait()
		more, _ := d.Expire(t.Context())
		expired += more
		seen := <-waiter
		used := d.use(ap.ID, ap.Request.Hash)
		if (decideErr == nil) == (expired > 0) {
			// The waiter may have been the one who wrote the expiry.
			if decideErr == nil || seen.State != ApprovalExpired {
				t.Fatalf("round %d: decided %v, expired %d", round, decideErr, expired)
			}
		}
		if (used == nil) != (decideErr == nil) || (seen.State == ApprovalApproved) != (decideErr == nil) {
			t.Fatalf("round %d: decided %v, used %v, the waiter saw %s", round, decideErr, used, seen.State)
		}
	}
}

func TestManyUsersOfOneApprovalGetItOnce(t *testing.T) {
	t.Parallel()
	d := setupApprovals(t)
	ap := d.create(t, request("step-1"))
	if _, err := d.Decide(t.Context(), sys.Person("window"), ap.ID, yes(ap), nil); err != nil {
		t.Fatal(err)
	}
	var got atomic.Int32
	var wg sync.WaitGroup
	for range 32 {
		wg.Go(func() {
			if d.use(ap.ID, ap.Request.Hash) == nil {
				got.Add(1)
			}
		})
	}
	wg.Wait()
	if got.Load() != 1 {
		t.Errorf("used %d times, want 1", got.Load())
	}
}

// A use that is rolled back (the process dies, or the step cannot start) did
// not happen; one that is durable happened, and no second follows.
func TestUseIsOneWithTheStepThatItStarts(t *testing.T) {
	t.Parallel()
	d := setupApprovals(t)
	ap := d.create(t, request("step-1"))
	if _, err := d.Decide(t.Context(), sys.Person("window"), ap.ID, yes(ap), nil); err != nil {
		t.Fatal(err)
	}
	died := errors.New("died before the commit")
	err := d.st.Write(t.Context(), func(tx *store.Tx) error {
		if err := d.Use(tx, ap.ID, ap.Request.Hash); err != nil {
			return err
		}
		return died
	})
	if !errors.Is(err, died) {
		t.Fatal(err)
	}
	if err := d.st.Close(); err != nil {
		t.Fatal(err)
	}
	d.st = openStore(t, d.path)
	d.Approvals = d.reopen()
	got, ok, err := d.Match(t.Context(), "run-1", "step-1", ap.Request.Hash)
	if err != nil || !ok || got.State != ApprovalApproved {
		t.Fatalf("after the restart: got %s, %v, %v, want approved", got.State, ok, err)
	}
	if err := d.use(ap.ID, ap.Request.Hash); err != nil {
		t.Fatal(err)
	}
	if err := d.st.Close(); err != nil {
		t.Fatal(err)
	}
	d.st = openStore(t, d.path)
	d.Approvals = d.reopen()
	wantCode(t, "used after the restart", d.use(ap.ID, ap.Request.Hash), sys.CodeDenied)
}

func TestHashNamesTheExactCall(t *testing.T) {
	t.Parallel()
	type call struct {
		Argv []string          `json:"argv"`
		Dir  string            `json:"dir"`
		Env  map[string]string `json:"env"`
	}
	base := func() call {
		return call{[]string{"git", "push"}, "/p", map[string]string{"A": "1", "B": "2"}}
	}
	want := RequestHash("exec.command", base())
	if len(want) != 64 || RequestHash("exec.command", base()) != want {
		t.Fatalf("got %q, want the same 64 characters each time", want)
	}
	asMap := map[string]any{"env": map[string]any{"B": "2", "A": "1"}, "dir": "/p", "argv": []any{"git", "push"}}
	if got := RequestHash("exec.command", asMap); got != want {
		t.Errorf("the same call as a map: got %s, want %s", got, want)
	}
	seen := map[string]string{want: "base"}
	for name, change := range map[string]func(*call){
		"argument":     func(c *call) { c.Argv[1] = "pull" },
		"joined":       func(c *call) { c.Argv = []string{"git push"} },
		"folder":       func(c *call) { c.Dir = "/q" },
		"value":        func(c *call) { c.Env["A"] = "3" },
		"variable":     func(c *call) { c.Env["C"] = "" },
		"not UTF-8":    func(c *call) { c.Dir = "/\xb0\xa1" },
		"not UTF-8, 2": func(c *call) { c.Dir = "/\xb0\xa2" },
		"replacement":  func(c *call) { c.Dir = "/\uFFFD\uFFFD" },
	} {
		c := base()
		change(&c)
		hash := RequestHash("exec.command", c)
		if other, ok := seen[hash]; ok || hash == "" {
			t.Errorf("%s has the hash of %s", name, other)
		}
		seen[hash] = name
	}
	if RequestHash("exec.other", base()) == want {
		t.Error("another call has the same hash")
	}
	if RequestHash("a", 1<<53) == RequestHash("a", 1<<53+1) {
		t.Error("large numbers lose their last digits")
	}
}
