package limit

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"oxios/kernel/sys"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	errDown = sys.Errorf(sys.CodeNetwork, "down")
	errKey  = sys.Errorf(sys.CodeAuth, "wrong key")
)

func fails(err error) func(context.Context) error {
	return func(context.Context) error { return err }
}

func TestFiveFailuresOpenAndOneProbeCloses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var changes []State
		b := NewBreakers(BreakerConfig{OnChange: func(s State) { changes = append(changes, s) }})
		for i := range 5 {
			if err := b.Do(t.Context(), "p", "P", fails(errDown)); !errors.Is(err, errDown) {
				t.Fatalf("failure %d: got %v, want the function's own error", i+1, err)
			}
		}
		called := false
		err := b.Do(t.Context(), "p", "P", func(context.Context) error { called = true; return nil })
		if called || sys.CodeOf(err) != sys.CodeUnavailable {
			t.Fatalf("open breaker: got %v (called %v), want unavailable without a call", err, called)
		}
		want := time.Now().Add(30 * time.Second)
		if s := b.State("p"); !s.Open || !s.RetryAt.Equal(want) {
			t.Errorf("state: got %+v, want open until %s", s, want)
		}
		if at := want.Local().Format(time.TimeOnly); !strings.Contains(err.Error(), at) {
			t.Errorf("message %q does not name the time %s", err, at)
		}
		time.Sleep(31 * time.Second)
		if err := b.Do(t.Context(), "p", "P", fails(errDown)); !errors.Is(err, errDown) {
			t.Fatalf("probe: got %v, want the call to go through", err)
		}
		if err := b.Do(t.Context(), "p", "P", fails(nil)); sys.CodeOf(err) != sys.CodeUnavailable {
			t.Fatalf("after a failed probe: got %v, want unavailable", err)
		}
		time.Sleep(31 * time.Second)
		if err := b.Do(t.Context(), "p", "P", fails(nil)); err != nil {
			t.Fatalf("second probe: %v", err)
		}
		if s := b.State("p"); s.Open || s.Probing || s.Failures != 0 {
			t.Errorf("after success: got %+v, want closed", s)
		}
		if len(changes) < 3 || !changes[0].Open || changes[len(changes)-1].Open {
			t.Errorf("changes: got %+v, want open … closed", changes)
		}
	})
}

func TestOnlyOneProbeAtATime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := NewBreakers(BreakerConfig{Failures: 1})
		_ = b.Do(t.Context(), "p", "P", fails(errDown))
		time.Sleep(31 * time.Second)
		release := make(chan struct{})
		var wg sync.WaitGroup
		wg.Go(func() {
			_ = b.Do(t.Context(), "p", "P", func(context.Context) error { <-release; return nil })
		})
		synctest.Wait()
		if err := b.Do(t.Context(), "p", "P", fails(nil)); sys.CodeOf(err) != sys.CodeUnavailable {
			t.Errorf("second probe: got %v, want unavailable", err)
		}
		close(release)
		wg.Wait()
		if err := b.Do(t.Context(), "p", "P", fails(nil)); err != nil {
			t.Errorf("after the probe: %v", err)
		}
	})
}

func TestMistakesOfTheCallerDoNotOpen(t *testing.T) {
	t.Parallel()
	for _, code := range []sys.Code{
		sys.CodeAuth, sys.CodeInvalid, sys.CodeContextLength, sys.CodeCanceled, sys.CodeQuota,
		sys.CodeModelRefusal, sys.CodeUnknownModel, sys.CodeForbidden, sys.CodeDenied,
	} {
		b := NewBreakers(BreakerConfig{})
		for range 20 {
			_ = b.Do(t.Context(), "p", "P", fails(sys.Errorf(code, "x")))
		}
		if b.State("p").Open {
			t.Errorf("20 errors of code %s opened the breaker", code)
		}
	}
	b := NewBreakers(BreakerConfig{})
	for range 4 {
		_ = b.Do(t.Context(), "p", "P", fails(errDown))
	}
	_ = b.Do(t.Context(), "p", "P", fails(context.Canceled))
	_ = b.Do(t.Context(), "p", "P", fails(errDown))
	if !b.State("p").Open {
		t.Error("a cancellation between failures closed the row of five")
	}
	b = NewBreakers(BreakerConfig{})
	for range 4 {
		_ = b.Do(t.Context(), "p", "P", fails(errDown))
	}
	_ = b.Do(t.Context(), "p", "P", fails(errKey))
	_ = b.Do(t.Context(), "p", "P", fails(errDown))
	if b.State("p").Open {
		t.Error("an answer of the provider between failures did not end the row")
	}
}

func TestBreakersAreApartAndResettable(t *testing.T) {
	t.Parallel()
	b := NewBreakers(BreakerConfig{})
	for range 5 {
		_ = b.Do(t.Context(), "a", "A", fails(errDown))
	}
	if err := b.Do(t.Context(), "b", "B", fails(nil)); err != nil {
		t.Errorf("other provider: %v", err)
	}
	b.Reset("a")
	if err := b.Do(t.Context(), "a", "A", fails(nil)); err != nil {
		t.Errorf("after Reset: %v", err)
	}
}

func TestPanicCountsAsFailureAndGoesOn(t *testing.T) {
	t.Parallel()
	b := NewBreakers(BreakerConfig{Failures: 1})
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		_ = b.Do(t.Context(), "p", "P", func(context.Context) error { panic("x") })
	}()
	if !b.State("p").Open {
		t.Error("a panic did not count")
	}
}

func TestNeverMoreRequestsInAMinuteThanAllowed(t *testing.T) {
	t.Parallel()
	for _, perMinute := range []int{1, 2, 5, 20, 60} {
		synctest.Test(t, func(t *testing.T) {
			var r Rates
			r.Set("p", perMinute)
			var at []time.Time
			for range perMinute*3 + 1 {
				if err := r.Wait(t.Context(), "p"); err != nil {
					t.Fatal(err)
				}
				at = append(at, time.Now())
			}
			for i := range at {
				n := 0
				for _, other := range at[i:] {
					if other.Sub(at[i]) < time.Minute {
						n++
					}
				}
				if n > perMinute {
					t.Fatalf("limit %d: %d requests in one minute", perMinute, n)
				}
			}
		})
	}
}

func TestWaitEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var r Rates
		if err := r.Wait(t.Context(), "unlimited"); err != nil {
			t.Fatal(err)
		}
		r.Set("p", 1)
		_ = r.Wait(t.Context(), "p")
		if d := r.Delay("p"); d < 59*time.Second || d > time.Minute {
			t.Errorf("delay: got %s, want a minute", d)
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		if err := r.Wait(ctx, "p"); sys.CodeOf(err) != sys.CodeCanceled {
			t.Errorf("cancelled: got %v", err)
		}
		short, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		start := time.Now()
		if err := r.Wait(short, "p"); sys.CodeOf(err) != sys.CodeRateLimit || time.Since(start) > 0 {
			t.Errorf("hopeless wait: got %v after %s, want rate_limit at once", err, time.Since(start))
		}
		r.Set("p", 0)
		if err := r.Wait(t.Context(), "p"); err != nil {
			t.Errorf("lifted: %v", err)
		}
	})
}
