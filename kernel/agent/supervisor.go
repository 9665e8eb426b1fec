package agent

import (
	"context"
	"sync"
	"time"

	"oxios/kernel/sys"
)

// Scheduler hands out the places in which runs work.
type Scheduler interface {
	// Acquire blocks until the run has a place, or ctx ends; a higher priority goes first.
	Acquire(ctx context.Context, id string, priority int) (Slot, error)
}

// Slot is the place of one run.
type Slot interface {
	Release()            // it has ended
	Park() (back func()) // it waits for somebody until back is called
	Beat()               // it got on
}

// Process is what the supervisor knows of a run.
type Process struct {
	ID       string
	ParentID string // "" for what a person started
	Priority int
}

// Supervisor owns the goroutines of all runs: it starts them when the scheduler
// has a place for them, ends them with their children and waits for them.
type Supervisor struct {
	places Scheduler

	mu     sync.Mutex
	live   map[string]*process
	closed bool
	wg     sync.WaitGroup
}

type process struct {
	Process
	cancel context.CancelCauseFunc
	done   chan struct{}
}

// NewSupervisor returns a supervisor whose runs work in these places.
func NewSupervisor(places Scheduler) *Supervisor {
	return &Supervisor{places: places, live: map[string]*process{}}
}

// Start runs fn for a run as soon as there is a place. The context of fn ends
// with the cause that [Supervisor.Kill] names and with [ErrShutdown] on Close; fn
// runs even when that happens before there was a place, to write the end.
func (s *Supervisor) Start(run Process, fn func(ctx context.Context)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return sys.Errorf(sys.CodeUnavailable, "Oxios is shutting down, so no run was started.")
	}
	if _, ok := s.live[run.ID]; ok {
		return sys.Errorf(sys.CodeConflict, "Run %s is running already.", run.ID)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	p := &process{Process: run, cancel: cancel, done: make(chan struct{})}
	s.live[run.ID] = p
	s.wg.Go(func() {
		defer func() {
			s.mu.Lock()
			delete(s.live, run.ID)
			s.mu.Unlock()
			close(p.done)
			cancel(nil)
		}()
		slot, err := s.places.Acquire(ctx, run.ID, run.Priority)
		if err == nil {
			defer slot.Release()
			fn(sys.WithBeat(sys.WithPark(ctx, slot.Park), slot.Beat))
			return
		}
		fn(ctx)
	})
	return nil
}

// Kill ends the run id for the reason cause, and all that it has forked. It
// returns the runs that it told to end, none when id is not live.
func (s *Supervisor) Kill(id string, cause error) (told []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, ok := s.live[id]
	if !ok {
		return nil
	}
	for _, below := range s.below(id) {
		s.live[below].cancel(ErrParentStopped)
		told = append(told, below)
	}
	p.cancel(cause)
	return append(told, id)
}

// Below returns the live runs that descend from id.
func (s *Supervisor) Below(id string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.below(id)
}

func (s *Supervisor) below(id string) []string {
	var all []string
	for child, p := range s.live {
		if p.ParentID == id {
			all = append(append(all, s.below(child)...), child)
		}
	}
	return all
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
