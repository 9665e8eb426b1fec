package agent

import (
	"context"
	"sync"
	"time"

	"oxios/kernel/sys"
)

// Supervisor owns the goroutines of all runs: it starts them, lets a bounded
// number work at a time, ends them and waits for them.
type Supervisor struct {
	slots chan struct{}

	mu     sync.Mutex
	live   map[string]*process
	closed bool
	wg     sync.WaitGroup
}

type process struct {
	cancel context.CancelCauseFunc
	done   chan struct{}
}

// NewSupervisor returns a supervisor under which at most concurrent runs work
// at once; the default is 5. Runs that wait for a person do not count.
func NewSupervisor(concurrent int) *Supervisor {
	if concurrent <= 0 {
		concurrent = 5
	}
	return &Supervisor{slots: make(chan struct{}, concurrent), live: map[string]*process{}}
}

// Start runs fn for the run id as soon as a slot is free. The context of fn
// ends with cause [ErrStopped] on Kill and [ErrShutdown] on Close.
func (s *Supervisor) Start(id string, fn func(ctx context.Context)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return sys.Errorf(sys.CodeUnavailable, "Oxios is shutting down, so no run was started.")
	}
	if _, ok := s.live[id]; ok {
		return sys.Errorf(sys.CodeConflict, "Run %s is running already.", id)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	p := &process{cancel: cancel, done: make(chan struct{})}
	s.live[id] = p
	s.wg.Go(func() {
		defer func() {
			s.mu.Lock()
			delete(s.live, id)
			s.mu.Unlock()
			close(p.done)
			cancel(nil)
		}()
		select {
		case s.slots <- struct{}{}:
			defer func() { <-s.slots }()
		case <-ctx.Done(): // fn still runs: it writes the end of the run
			fn(ctx)
			return
		}
		fn(sys.WithPark(ctx, func() func() {
			<-s.slots
			return func() { s.slots <- struct{}{} }
		}))
	})
	return nil
}

// Kill ends the run id. It reports false when no such run is live.
func (s *Supervisor) Kill(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, ok := s.live[id]
	if ok {
		p.cancel(ErrStopped)
	}
	return ok
}

// Live reports whether the run id has not ended.
func (s *Supervisor) Live(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.live[id]
	return ok
}

// Wait blocks until the run id has ended; at once when it is not live.
func (s *Supervisor) Wait(ctx context.Context, id string) error {
	s.mu.Lock()
	p, ok := s.live[id]
	s.mu.Unlock()
	if !ok {
		return nil
	}
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close ends all runs without closing their journals, and waits for them; at
// most the given time, after which it reports false.
func (s *Supervisor) Close(within time.Duration) bool {
	s.mu.Lock()
	s.closed = true
	for _, p := range s.live {
		p.cancel(ErrShutdown)
	}
	s.mu.Unlock()
	done := make(chan struct{})
	go func() {
		s.wg.Wait()
		close(done)
	}()
	select {
	case <-done:
		return true
	case <-time.After(within):
		return false
	}
}
