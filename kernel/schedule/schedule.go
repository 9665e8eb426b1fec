// Package schedule decides which run works next.
//
// It promises that never more runs work at once than allowed; that of those
// that wait the one of the highest priority goes first, and that waiting raises
// a priority, so that nothing starves; that a run which waits for somebody holds
// no place and is never taken for dead; and that a run which holds a place and
// shows no progress is reported.
package schedule

import (
	"context"
	"sync"
	"time"

	"oxios/kernel/sys"
)

// Priority says who goes first.
type Priority int

// The priorities, the lowest first.
const (
	Low Priority = iota
	Normal
	High
	Critical
)

var names = []string{"low", "normal", "high", "critical"}

// String is the priority's word, as scripts read it.
func (p Priority) String() string {
	if p < Low || p > Critical {
		return "normal"
	}
	return names[p]
}

// ParsePriority reads a word; "" is [Normal].
func ParsePriority(s string) (Priority, error) {
	for i, n := range names {
		if s == n {
			return Priority(i), nil
		}
	}
	if s == "" {
		return Normal, nil
	}
	return Normal, sys.Errorf(sys.CodeInvalid, "There is no priority %q.", s).WithHint("Use low, normal, high or critical.")
}

// Config is how a [Scheduler] decides. Its zero value has the defaults of K4.
type Config struct {
	Concurrent int           // runs that work at once; default 5
	OldFirst   bool          // within a priority the oldest first; by default it is the newest
	Age        time.Duration // waiting so long raises a priority by one; default 30 s
	Zombie     time.Duration // without progress for so long a run counts as dead; default 300 s

	// Clock tells how long a run has made no progress; default the real time.
	Clock sys.Clock

	// Overloaded reports whether the machine has no room: then runs of low
	// priority wait, as long as another one works. Nil never is.
	Overloaded func() bool

	// Dead is told of a run that shows no progress. It is told once for each.
	Dead func(id string)
}

func (c Config) withDefaults() Config {
	if c.Concurrent <= 0 {
		c.Concurrent = 5
	}
	if c.Age <= 0 {
		c.Age = 30 * time.Second
	}
	if c.Zombie <= 0 {
		c.Zombie = 300 * time.Second
	}
	if c.Overloaded == nil {
		c.Overloaded = func() bool { return false }
	}
	if c.Dead == nil {
		c.Dead = func(string) {}
	}
	return c
}

// Scheduler hands out the places in which runs work.
type Scheduler struct {
	cfg Config

	mu      sync.Mutex
	count   int64 // tickets so far, for the order among equals
	waiting []*ticket
	working map[*Slot]struct{}
}

// ticket is a run that waits for a place.
type ticket struct {
	slot   *Slot
	number int64
	since  time.Time
	again  bool          // it had a place before: it comes before all that never began
	ready  chan struct{} // closed when it has its place
}

// New returns a scheduler.
func New(cfg Config) *Scheduler {
	return &Scheduler{cfg: cfg.withDefaults(), working: map[*Slot]struct{}{}}
}

// Slot is the place of one run.
type Slot struct {
	s        *Scheduler
	id       string
	priority Priority

	beat time.Time // of the last progress; guarded by s.mu
	dead bool      // it was told as dead; guarded by s.mu
}

// Acquire blocks until the run id has a place, or ctx ends.
func (s *Scheduler) Acquire(ctx context.Context, id string, p Priority) (*Slot, error) {
	slot := &Slot{s: s, id: id, priority: p}
	return slot, s.wait(ctx, slot, false)
}

func (s *Scheduler) wait(ctx context.Context, slot *Slot, again bool) error {
	s.mu.Lock()
	s.count++
	t := &ticket{slot: slot, number: s.count, since: s.cfg.Clock.Now(), again: again, ready: make(chan struct{})}
	s.waiting = append(s.waiting, t)
	s.fill()
	s.mu.Unlock()
	select {
	case <-t.ready:
		return nil
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, w := range s.waiting {
		if w == t {
			s.waiting = append(s.waiting[:i], s.waiting[i+1:]...)
			return context.Cause(ctx)
		}
	}
	return nil // it got its place in the same moment
}

// fill gives free places to those that go first. The caller holds the lock.
func (s *Scheduler) fill() {
	for len(s.working) < s.cfg.Concurrent && len(s.waiting) > 0 {
		now := s.cfg.Clock.Now()
		best := -1
		for i, t := range s.waiting {
			if best < 0 || s.before(t, s.waiting[best], now) {
				best = i
			}
		}
		t := s.waiting[best]
		if !t.again && s.level(t, now) <= Low && len(s.working) > 0 && s.cfg.Overloaded() {
			return // the best is of low priority, so are all others
		}
		s.waiting = append(s.waiting[:best], s.waiting[best+1:]...)
		t.slot.beat = now
		s.working[t.slot] = struct{}{}
		close(t.ready)
	}
}

func (s *Scheduler) level(t *ticket, now time.Time) Priority {
	return t.slot.priority + Priority(now.Sub(t.since)/s.cfg.Age)
}

func (s *Scheduler) before(a, b *ticket, now time.Time) bool {
	if a.again != b.again {
		return a.again
	}
	if la, lb := s.level(a, now), s.level(b, now); la != lb {
		return la > lb
	}
	return (a.number < b.number) == (s.cfg.OldFirst || a.again)
}

// Raise gives the run id, which works, another priority: it counts when the run
// takes its place again.
func (s *Scheduler) Raise(id string, p Priority) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for slot := range s.working {
		if slot.id == id {
			slot.priority = p
		}
	}
}

// Release gives the place back. Doing it twice does nothing.
func (p *Slot) Release() {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	delete(p.s.working, p)
	p.s.fill()
}

// Park gives the place back while the run waits for somebody; the result takes
// one again, before all runs that have not begun.
func (p *Slot) Park() (back func()) {
	p.Release()
	return func() { _ = p.s.wait(context.Background(), p, true) }
}

// Beat says that the run got on.
func (p *Slot) Beat() {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	p.beat = p.s.cfg.Clock.Now()
}

// Run looks for the dead and lets those go on that waited because of an
// overload. It blocks until ctx ends and returns nil then.
func (s *Scheduler) Run(ctx context.Context) error {
	every := time.NewTicker(min(s.cfg.Zombie/10, s.cfg.Age))
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-every.C:
		}
		s.Look()
	}
}

// Look looks once for the dead, tells of each, and lets those go on that an
// overload held up.
func (s *Scheduler) Look() {
	for _, id := range s.look() {
		s.cfg.Dead(id)
	}
}

func (s *Scheduler) look() (dead []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.cfg.Clock.Now()
	for slot := range s.working {
		if !slot.dead && now.Sub(slot.beat) >= s.cfg.Zombie {
			slot.dead = true
			dead = append(dead, slot.id)
		}
	}
	s.fill()
	return dead
}

// Load says how many runs work, how many wait for a place, and how many may
// work at once.
func (s *Scheduler) Load() (working, waiting, most int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.working), len(s.waiting), s.cfg.Concurrent
}
