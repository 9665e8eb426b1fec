package schedule

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// order starts a run for each of names while all places are taken, a second
// apart, and returns in which order they get theirs.
func order(t *testing.T, cfg Config, pause time.Duration, names []string, of map[string]Priority) []string {
	t.Helper()
	cfg.Concurrent = 1
	s := New(cfg)
	first, err := s.Acquire(t.Context(), "first", Critical)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var got []string
	var wg sync.WaitGroup
	for _, n := range names {
		wg.Go(func() {
			slot, err := s.Acquire(t.Context(), n, of[n])
			if err != nil {
				t.Errorf("%s: %v", n, err)
				return
			}
			mu.Lock()
			got = append(got, n)
			mu.Unlock()
			slot.Release()
		})
		synctest.Wait()
		time.Sleep(pause)
	}
	first.Release()
	wg.Wait()
	return got
}

func TestHigherPrioritiesGoFirstAndTheNewestAmongEquals(t *testing.T) {
	t.Parallel()
	of := map[string]Priority{"low": Low, "a": Normal, "b": Normal, "high": High, "critical": Critical}
	names := []string{"low", "a", "high", "critical", "b"}
	synctest.Test(t, func(t *testing.T) {
		if got, want := order(t, Config{}, time.Second, names, of), []string{"critical", "high", "b", "a", "low"}; !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		if got, want := order(t, Config{OldFirst: true}, time.Second, names, of), []string{"critical", "high", "a", "b", "low"}; !slices.Equal(got, want) {
			t.Errorf("oldest first: got %q, want %q", got, want)
		}
	})
}

func TestWaitingRaisesAPriority(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		got := order(t, Config{}, 35*time.Second, []string{"low", "normal", "high"}, map[string]Priority{"low": Low, "normal": Normal, "high": High})
		// After 105, 70 and 35 seconds they stand at 3, 3 and 3: the newest goes first.
		if want := []string{"high", "normal", "low"}; !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		got = order(t, Config{}, 95*time.Second, []string{"low", "high"}, map[string]Priority{"low": Low, "high": High})
		if want := []string{"low", "high"}; !slices.Equal(got, want) {
			t.Errorf("after three minutes: got %q, want %q", got, want)
		}
	})
}

func TestNothingStarvesUnderASteadyStreamOfCriticalRuns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := New(Config{Concurrent: 1})
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				for ctx.Err() == nil {
					slot, err := s.Acquire(ctx, "critical", Critical)
					if err != nil {
						return
					}
					time.Sleep(10 * time.Second)
					slot.Release()
				}
			})
		}
		start := time.Now()
		slot, err := s.Acquire(t.Context(), "low", Low)
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took > 3*time.Minute {
			t.Errorf("a run of low priority waited %s", took)
		}
		cancel()
		slot.Release()
		wg.Wait()
	})
}

func TestNeverMoreWorkThanAllowedAndEveryoneGetsAPlace(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		most := rapid.IntRange(1, 8).Draw(rt, "most")
		parks := rapid.SliceOfN(rapid.Bool(), 1, 40).Draw(rt, "parks")
		s := New(Config{Concurrent: most})
		var mu sync.Mutex
		working, seen := 0, 0
		count := func(n int) {
			mu.Lock()
			defer mu.Unlock()
			if working += n; working > seen {
				seen = working
			}
		}
		var wg sync.WaitGroup
		for i, park := range parks {
			wg.Go(func() {
				slot, err := s.Acquire(context.Background(), "run", Priority(i%4))
				if err != nil {
					rt.Errorf("acquire: %v", err)
					return
				}
				count(1)
				if park {
					count(-1)
					back := slot.Park()
					back()
					count(1)
				}
				count(-1)
				slot.Release()
			})
		}
		wg.Wait()
		if seen > most {
			rt.Fatalf("%d worked at once, %d may", seen, most)
		}
		if w, q, _ := s.Load(); w != 0 || q != 0 {
			rt.Fatalf("%d work and %d wait after all have ended", w, q)
		}
	})
}

func TestARunThatParkedComesBackBeforeThoseThatNeverBegan(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := New(Config{Concurrent: 1})
		slot, _ := s.Acquire(t.Context(), "parked", Low)
		back := slot.Park()
		other, _ := s.Acquire(t.Context(), "other", Critical)
		var got []string
		var mu sync.Mutex
		say := func(n string) { mu.Lock(); got = append(got, n); mu.Unlock() }
		var wg sync.WaitGroup
		wg.Go(func() {
			third, _ := s.Acquire(t.Context(), "third", Critical)
			say("third")
			third.Release()
		})
		synctest.Wait()
		wg.Go(func() { back(); say("parked"); slot.Release() })
		synctest.Wait()
		other.Release()
		wg.Wait()
		if want := []string{"parked", "third"}; !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

func TestOnlyARunWithoutProgressIsDead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var dead []string
		s := New(Config{Dead: func(id string) { mu.Lock(); dead = append(dead, id); mu.Unlock() }})
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { _ = s.Run(ctx) })
		busy, _ := s.Acquire(t.Context(), "busy", Normal)
		stuck, _ := s.Acquire(t.Context(), "stuck", Normal)
		waits, _ := s.Acquire(t.Context(), "waits", Normal)
		back := waits.Park()
		for range 20 {
			time.Sleep(time.Minute)
			busy.Beat()
		}
		mu.Lock()
		if want := []string{"stuck"}; !slices.Equal(dead, want) {
			t.Errorf("got %q dead, want %q, once", dead, want)
		}
		mu.Unlock()
		back()
		for _, p := range []*Slot{busy, stuck, waits} {
			p.Release()
		}
		cancel()
		wg.Wait()
	})
}

func TestAnOverloadHoldsBackLowPrioritiesUntilItEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var overloaded atomic.Bool
		overloaded.Store(true)
		s := New(Config{Concurrent: 5, Age: time.Hour, Overloaded: overloaded.Load})
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { _ = s.Run(ctx) })
		alone, err := s.Acquire(t.Context(), "alone", Low) // nothing else works, so waiting would help nobody
		if err != nil {
			t.Fatal(err)
		}
		low := make(chan *Slot, 1)
		wg.Go(func() { p, _ := s.Acquire(t.Context(), "low", Low); low <- p })
		synctest.Wait()
		normal, _ := s.Acquire(t.Context(), "normal", Normal)
		if w, q, _ := s.Load(); w != 2 || q != 1 {
			t.Errorf("got %d at work and %d waiting, want 2 and 1", w, q)
		}
		overloaded.Store(false)
		time.Sleep(2 * time.Minute)
		if w, _, _ := s.Load(); w != 3 {
			t.Errorf("after the overload: got %d at work, want 3", w)
		}
		for _, p := range []*Slot{alone, normal, <-low} {
			p.Release()
		}
		cancel()
		wg.Wait()
	})
}

func TestAWaitEndsWithItsContextAndLeavesNoTrace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := New(Config{Concurrent: 1})
		first, _ := s.Acquire(t.Context(), "first", Normal)
		why := errors.New("stopped")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(why) })
		if _, err := s.Acquire(ctx, "second", Normal); !errors.Is(err, why) {
			t.Errorf("got %v, want the cause", err)
		}
		first.Release()
		if w, q, _ := s.Load(); w != 0 || q != 0 {
			t.Errorf("%d work and %d wait after all have ended", w, q)
		}
	})
}

func TestFiveMinutesWithoutProgressAreTheEndUnlessTold(t *testing.T) {
	t.Parallel()
	for set, want := range map[time.Duration]time.Duration{0: 300 * time.Second, 600 * time.Second: 600 * time.Second, 20 * time.Second: 20 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			dead := 0
			s := New(Config{Zombie: set, Dead: func(string) { dead++ }})
			p, err := s.Acquire(t.Context(), "stuck", Normal)
			if err != nil {
				t.Fatal(err)
			}
			defer p.Release()
			time.Sleep(want - time.Second)
			if s.Look(); dead != 0 {
				t.Errorf("%v: dead after %v", set, want-time.Second)
			}
			time.Sleep(time.Second)
			if s.Look(); dead != 1 {
				t.Errorf("%v: not dead after %v", set, want)
			}
		})
	}
}
