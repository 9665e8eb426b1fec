package kernel

import (
	"context"
	"sync"
	"time"

	"oxios/kernel/sys"
)

// atWorkFor returns a context that ends, for the reason late, when its run has
// worked for so long. Time in which the run is parked, because it waits for a
// person or another agent, does not count.
func atWorkFor(ctx context.Context, most time.Duration, late error) (context.Context, context.CancelFunc) {
	limited, cancel := context.WithCancelCause(ctx)
	w := &workTime{left: most, since: time.Now()}
	w.timer = time.AfterFunc(most, func() { cancel(late) })
	limited = sys.WithPark(limited, func() func() {
		w.pause()
		back := sys.Park(ctx)
		return func() {
			back()
			w.goOn()
		}
	})
	return limited, func() {
		w.timer.Stop()
		cancel(nil)
	}
}

// workTime is a timer that can be held.
type workTime struct {
	timer *time.Timer

	mu     sync.Mutex
	left   time.Duration
	since  time.Time // when it was let go on
	parked int       // so many steps of the run hold it
}

func (w *workTime) pause() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.parked++; w.parked > 1 {
		return
	}
	w.timer.Stop()
	w.left -= time.Since(w.since)
}

func (w *workTime) goOn() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.parked--; w.parked == 0 {
		w.since = time.Now()
		w.timer.Reset(max(0, w.left))
	}
}
