//go:build desktop || dev || bindings

package desktop

import (
	"context"
	"encoding/json"
	"strconv"
	"sync"
	"time"

	"oxios/app/remote"
	"oxios/kernel"
	"oxios/kernel/sys"
)

// Events sends the window what happens: one "oxios:event" with its JSON each.
// Order is the reader's business: the numbers of the events rise by one.
type Events struct {
	kernel func() (*remote.Handle, <-chan struct{})
	emit   func(name string, data ...any)
	ready  func() // called when a page has subscribed

	subscribing sync.Mutex // one page at a time

	mu   sync.Mutex
	ctx  context.Context // of the application
	stop context.CancelFunc
	done chan struct{}
	last uint64 // the number of the event that was sent last
}

// start lets pages subscribe, until ctx ends.
func (e *Events) start(ctx context.Context) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.ctx = ctx
}

// Subscribe begins to send events after the one numbered from; "0" or "" is
// from now on. One stream serves every page: a page that comes back with an
// older number has what it missed sent again, and the others know the numbers.
func (e *Events) Subscribe(from string) (answer string, err error) {
	defer caught(&err)
	seq := uint64(0)
	if from != "" {
		if seq, err = strconv.ParseUint(from, 10, 64); err != nil {
			return "", sys.Errorf(sys.CodeInvalid, "%q is not the number of an event.", from)
		}
	}
	e.subscribing.Lock()
	defer e.subscribing.Unlock()
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ctx == nil {
		return "", sys.Errorf(sys.CodeUnavailable, "The window is still starting.")
	}
	if e.stop == nil || (seq != 0 && seq < e.last) {
		e.end()
		ctx, cancel := context.WithCancel(e.ctx)
		done := make(chan struct{})
		e.stop, e.done = cancel, done
		go func() {
			defer close(done)
			e.forward(ctx, seq)
		}()
	}
	go e.ready()
	return "", nil
}

// end stops the stream. e.mu is held, but forward takes it for a moment only.
func (e *Events) end() {
	if e.stop == nil {
		return
	}
	e.stop()
	e.mu.Unlock()
	<-e.done
	e.mu.Lock()
	e.stop = nil
}

// forward sends events until ctx ends, over as many kernels as there come.
func (e *Events) forward(ctx context.Context, from uint64) {
	for first := true; ctx.Err() == nil; first = false {
		h, changed := e.kernel()
		if h != nil {
			if !first {
				// Whoever lost a kernel reads everything again.
				e.notice(map[string]any{"seq": 0, "kind": "gap", "data": map[string]int{"missed": 1}})
			}
			if events, err := h.Infra.Events(ctx, from); err == nil {
				e.pass(events)
			}
			from = 0
		}
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
}

func (e *Events) pass(events <-chan kernel.Event) {
	for ev := range events {
		raw, err := remote.Marshal(ev)
		if err != nil {
			continue // one event that cannot be written is a hole in the numbers, which the page knows to skip
		}
		e.emit("oxios:event", string(raw))
		e.mu.Lock()
		e.last = max(e.last, ev.Seq)
		e.mu.Unlock()
	}
}

// notice sends something of the window's own, without a number.
func (e *Events) notice(event map[string]any) {
	event["time"] = time.Now().UTC().Format(time.RFC3339)
	raw, err := json.Marshal(event)
	if err == nil {
		e.emit("oxios:event", string(raw))
	}
}
