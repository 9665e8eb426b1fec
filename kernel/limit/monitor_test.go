package limit

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// machine is a machine of one processor whose load a test sets.
type machine struct {
	m     *Monitor
	begun time.Time

	mu    sync.Mutex // guards the fields below
	busy  float64
	load  float64
	at    time.Time
	left  uint64
	reads int
}

func newMachine(agents func() int) *machine {
	x := &machine{begun: time.Now(), at: time.Now(), left: 50}
	x.m = NewMonitor("/", agents, nil)
	x.m.read = func(context.Context, string) (reading, error) {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.reads++
		x.busy += x.load * time.Since(x.at).Seconds()
		x.at = time.Now()
		return reading{busy: x.busy, total: 1 + time.Since(x.begun).Seconds(), memoryTotal: 100, memoryLeft: x.left, diskFree: 7}, nil
	}
	return x
}

func (x *machine) set(load float64, left uint64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.load, x.left = load, left
}

func (x *machine) looked() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.reads
}

func TestHalfAMinuteOfFullLoadIsAnOverload(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		x := newMachine(func() int { return 1 })
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() { _ = x.m.Run(ctx) }()
		synctest.Wait()
		x.set(1, 50)
		for _, want := range []bool{false, false, true} {
			time.Sleep(everySample)
			synctest.Wait()
			if got := x.m.Overloaded(); got != want {
				t.Errorf("got %v, want %v", got, want)
			}
		}
		x.set(0.5, 50)
		time.Sleep(everySample)
		synctest.Wait()
		if x.m.Overloaded() {
			t.Error("it is overloaded still")
		}
		x.set(0.5, 4)
		time.Sleep(everySample)
		synctest.Wait()
		if !x.m.Overloaded() {
			t.Error("hardly any memory is left, and that is no overload")
		}
	})
}

func TestIdleMachineIsLookedAtOnceAMinuteAndAnHourIsKept(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var agents atomic.Int64
		x := newMachine(func() int { return int(agents.Load()) })
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() { _ = x.m.Run(ctx) }()
		time.Sleep(10*time.Minute + time.Second)
		synctest.Wait()
		if n := x.looked(); n != 11 {
			t.Errorf("got %d reads in ten idle minutes, want 11", n)
		}
		agents.Store(1)
		x.m.Wake()
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		list, err := x.m.Look(t.Context())
		if err != nil || len(list) < keptSamples || len(list) > keptSamples+1 { // this moment may stand behind them
			t.Errorf("got %d samples, %v, want %d", len(list), err, keptSamples)
		}
		if last := list[len(list)-1]; last.Agents != 1 || last.DiskFree != 7 || last.MemoryAvailable != 50 {
			t.Errorf("got %+v", last)
		}
	})
}

// A window that is open asks every few seconds: it sees this moment, and the hour
// that is kept does not shrink.
func TestLookingOftenDoesNotCrowdThePastOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		x := newMachine(func() int { return 0 })
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() { _ = x.m.Run(ctx) }()
		synctest.Wait()
		x.set(0.25, 50)
		for range 12 {
			time.Sleep(5 * time.Second)
			list, err := x.m.Look(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if last := list[len(list)-1]; time.Since(last.At) != 0 && time.Since(last.At) >= time.Second {
				t.Errorf("got a last sample of %s ago, want this moment", time.Since(last.At))
			} else if last.CPU < 24 || last.CPU > 26 {
				t.Errorf("got %v %% busy, want 25", last.CPU)
			}
		}
		list, err := x.m.Look(t.Context())
		if err != nil || len(list) < 6 || len(list) > 8 {
			t.Errorf("got %d samples, %v of a minute, want one each ten seconds", len(list), err)
		}
		for i := 1; i < len(list)-1; i++ {
			if gap := list[i].At.Sub(list[i-1].At); gap < everySample {
				t.Errorf("got %s between two samples that are kept, want %s", gap, everySample)
			}
		}
	})
}

func TestThisMachineCanBeRead(t *testing.T) {
	t.Parallel()
	r, err := readMachine(t.Context(), t.TempDir())
	if err != nil || r.total <= 0 || r.memoryTotal == 0 || r.memoryLeft == 0 || r.diskFree == 0 || r.diskTotal < r.diskFree {
		t.Errorf("got %+v, %v", r, err)
	}
}
