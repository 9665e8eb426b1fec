package event

import (
	"context"
	"slices"
	"sync"

	"oxios/kernel/sys"
)

// How many events are kept for readers that lag, and for those that come back
// with the sequence number they saw last.
const (
	keptStream = 4096
	keptOther  = 8192
)

// Bus carries events. Make one with [NewBus].
type Bus struct {
	clock sys.Clock

	mu     sync.Mutex
	seq    uint64
	stream ring
	other  ring
	wake   chan struct{} // closed and replaced by each publish that somebody waits for
	asleep bool
	closed bool
}

// NewBus returns an empty bus. Its first sequence number comes from the clock,
// so that numbers of a later start are always higher.
func NewBus(clock sys.Clock) *Bus {
	return &Bus{
		clock:  clock,
		seq:    uint64(clock.Now().UnixMilli()) * 1000,
		stream: ring{slots: make([]Event, keptStream)},
		other:  ring{slots: make([]Event, keptOther)},
		wake:   make(chan struct{}),
	}
}

// Publish gives e its sequence number and time and hands it to all readers.
// It never blocks, and does nothing on a closed bus.
func (b *Bus) Publish(e Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return
	}
	b.seq++
	e.Seq, e.Time = b.seq, b.clock.Now()
	if IsStream(e.Kind) {
		b.stream.add(e)
	} else {
		b.other.add(e)
	}
	b.wakeAll()
}

// Past returns the newest events that are kept and that fit, at most so many,
// the oldest first: of those after the one with number after. fits must be quick:
// publishers wait for it.
func (b *Bus) Past(after uint64, most int, fits func(Event) bool) []Event {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := []Event{}
	stream, other := b.stream.next, b.other.next
	for len(out) < most {
		s, sok := b.stream.before(stream)
		o, ook := b.other.before(other)
		e := o
		if sok && (!ook || s.Seq > o.Seq) {
			e = s
			stream--
		} else {
			other--
		}
		if !sok && !ook || e.Seq <= after {
			break
		}
		if fits(e) {
			out = append(out, e)
		}
	}
	slices.Reverse(out)
	return out
}

// Close ends every [Reader.Next] once it has read what is left.
func (b *Bus) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	b.wakeAll()
}

func (b *Bus) wakeAll() {
	if b.asleep {
		close(b.wake)
		b.wake, b.asleep = make(chan struct{}), false
	}
}

// Reader follows a bus. It belongs to one goroutine and holds nothing that
// must be released.
type Reader struct {
	bus  *Bus
	last uint64
	keep func(Event) bool
}

// Read returns a reader of what comes after the event with number from; 0
// means from now on. A nil keep lets every event through.
func (b *Bus) Read(from uint64, keep func(Event) bool) *Reader {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := &Reader{bus: b, last: b.seq, keep: keep}
	if from != 0 && from < b.seq {
		r.last = from
	}
	return r
}

// Next returns the next event. It blocks until there is one, and returns
// ctx.Err() when ctx ends first, or a coded error when the bus was closed.
func (r *Reader) Next(ctx context.Context) (Event, error) {
	for {
		e, ok, wait, closed := r.take()
		switch {
		case ok && (r.keep == nil || e.Kind == Gap || r.keep(e)):
			return e, nil
		case ok:
			continue
		case closed:
			return Event{}, sys.Errorf(sys.CodeUnavailable, "The kernel has stopped.")
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return Event{}, ctx.Err()
		}
	}
}

func (r *Reader) take() (e Event, ok bool, wait chan struct{}, closed bool) {
	b := r.bus
	b.mu.Lock()
	defer b.mu.Unlock()
	if r.last >= b.seq {
		if b.closed {
			return Event{}, false, nil, true
		}
		b.asleep = true
		return Event{}, false, b.wake, false
	}
	s, sok := b.stream.after(r.last)
	o, ook := b.other.after(r.last)
	switch {
	case sok && (!ook || s.Seq < o.Seq):
		e = s
	case ook:
		e = o
	default: // both rings have moved past what this reader still wanted
		e = Event{Seq: b.seq + 1}
	}
	// Numbers are dense over both rings: whatever lies between was overwritten.
	if missed := e.Seq - r.last - 1; missed > 0 {
		r.last = e.Seq - 1
		return Event{Seq: r.last, Time: b.clock.Now(), Kind: Gap, Data: Missed{Missed: missed}}, true, nil, false
	}
	r.last = e.Seq
	return e, true, nil, false
}

// Chan follows the bus in a goroutine of its own until ctx ends or the bus is
// closed; the channel is closed then.
func (r *Reader) Chan(ctx context.Context) <-chan Event {
	c := make(chan Event, 64)
	go func() {
		defer close(c)
		for {
			e, err := r.Next(ctx)
			if err != nil {
				return
			}
			select {
			case c <- e:
			case <-ctx.Done():
				return
			}
		}
	}()
	return c
}

// ring keeps the newest events of one kind of delivery, in order.
type ring struct {
	slots []Event
	next  uint64 // how many were ever added
}

func (r *ring) add(e Event) {
	r.slots[r.next%uint64(len(r.slots))] = e
	r.next++
}

// before returns the kept event in front of the nth that was ever added.
func (r *ring) before(n uint64) (Event, bool) {
	size := uint64(len(r.slots))
	if n == 0 || r.next-n >= size {
		return Event{}, false
	}
	return r.slots[(n-1)%size], true
}

// after returns the oldest kept event with a number above seq.
func (r *ring) after(seq uint64) (Event, bool) {
	size := uint64(len(r.slots))
	lo, hi := uint64(0), r.next
	if r.next > size {
		lo = r.next - size
	}
	for lo < hi {
		mid := lo + (hi-lo)/2
		if r.slots[mid%size].Seq > seq {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	if lo == r.next {
		return Event{}, false
	}
	return r.slots[lo%size], true
}
