package limit

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/shirou/gopsutil/v4/cpu"
	"github.com/shirou/gopsutil/v4/disk"
	"github.com/shirou/gopsutil/v4/mem"

	"oxios/kernel/sys"
)

// How often the machine is looked at while agents work or somebody watches, and
// otherwise; and how much of its past is kept.
const (
	everySample = 10 * time.Second
	idleSample  = time.Minute
	keptSamples = 360 // an hour
)

// When the machine is overloaded: its processors were this busy for so long, or
// so little of its memory is left.
const (
	busyPercent = 90
	busyFor     = 30 * time.Second
	leastMemory = 5 // percent that must be available
)

// Sample is how loaded the machine was.
type Sample struct {
	At              time.Time `json:"at"`
	CPU             float64   `json:"cpu"`              // percent of all processors, since the sample before
	MemoryTotal     uint64    `json:"memory_total"`     // bytes
	MemoryAvailable uint64    `json:"memory_available"` // bytes that programs can still get
	DiskTotal       uint64    `json:"disk_total"`       // bytes of the disk that the home is on
	DiskFree        uint64    `json:"disk_free"`
	Agents          int       `json:"agents"` // runs at work
}

// Monitor watches the machine's load, and keeps an hour of it.
type Monitor struct {
	dir    string
	agents func() int
	clock  sys.Clock
	read   func(ctx context.Context, dir string) (reading, error)
	kick   chan struct{}

	mu      sync.Mutex
	last    reading // what processors had done at the newest sample
	ring    []Sample
	watched time.Time // when somebody looked last
	tried   time.Time // when it was sampled last, also in vain
}

// reading is what the system says at one moment.
type reading struct {
	busy, total             float64 // seconds of all processors since the start
	memoryTotal, memoryLeft uint64
	diskTotal, diskFree     uint64
}

// NewMonitor returns a monitor of the machine and of the disk of dir. agents
// counts the runs at work.
func NewMonitor(dir string, agents func() int, clock sys.Clock) *Monitor {
	return &Monitor{dir: dir, agents: agents, clock: clock, read: readMachine, kick: make(chan struct{}, 1)}
}

// Run samples until ctx ends.
func (m *Monitor) Run(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		case <-m.kick:
		}
		// A system that says nothing of itself is not overloaded; it is asked again.
		if m.due() <= 0 {
			_ = m.sample(ctx)
		}
		timer.Reset(max(m.due(), time.Second))
	}
}

// Wake says that work begins: the machine is looked at more often.
func (m *Monitor) Wake() {
	select {
	case m.kick <- struct{}{}:
	default:
	}
}

// due is how long the next sample has time, however often somebody looks: what
// is kept is evenly spaced.
func (m *Monitor) due() time.Duration {
	agents := m.agents()
	m.mu.Lock()
	defer m.mu.Unlock()
	pause, now := idleSample, m.clock.Now()
	if agents > 0 || now.Sub(m.watched) < idleSample {
		pause = everySample
	}
	n := len(m.ring)
	if n == 0 || now.Before(m.ring[n-1].At) { // or the clock was set back
		if m.tried.IsZero() {
			return 0
		}
		return pause - now.Sub(m.tried).Abs()
	}
	return pause - now.Sub(m.ring[n-1].At)
}

// sample adds a sample to those that are kept.
func (m *Monitor) sample(ctx context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tried = m.clock.Now()
	s, r, err := m.now(ctx)
	if err != nil {
		return err
	}
	m.last = r
	if m.ring = append(m.ring, s); len(m.ring) > keptSamples {
		m.ring = append(m.ring[:0], m.ring[1:]...)
	}
	return nil
}

// now reads the machine. The caller holds the lock.
func (m *Monitor) now(ctx context.Context) (Sample, reading, error) {
	r, err := m.read(ctx, m.dir)
	if err != nil {
		return Sample{}, r, err
	}
	s := Sample{At: m.clock.Now(), MemoryTotal: r.memoryTotal, MemoryAvailable: r.memoryLeft, DiskTotal: r.diskTotal, DiskFree: r.diskFree, Agents: m.agents()}
	if past := r.total - m.last.total; m.last.total > 0 && past > 0 {
		s.CPU = min(max(100*(r.busy-m.last.busy)/past, 0), 100)
	}
	return s, r, nil
}

// Now reads the machine, without anything of it being kept.
func (m *Monitor) Now(ctx context.Context) (Sample, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, _, err := m.now(ctx)
	return s, err
}

// Look returns what is known of the past hour, the oldest first, with the load
// of this moment last.
func (m *Monitor) Look(ctx context.Context) ([]Sample, error) {
	m.mu.Lock()
	m.watched = m.clock.Now()
	m.mu.Unlock()
	m.Wake()
	m.mu.Lock()
	defer m.mu.Unlock()
	moment, _, err := m.now(ctx)
	if err != nil {
		return nil, err
	}
	var out []Sample
	for _, s := range m.ring {
		if m.clock.Now().Sub(s.At) <= time.Hour {
			out = append(out, s)
		}
	}
	// A moment after the newest one nothing more is known, and less of the processors.
	if n := len(out); n > 0 && moment.At.Sub(out[n-1].At).Abs() < time.Second {
		return out, nil
	}
	return append(out, moment), nil
}

// Overloaded reports whether the processors have been busy for half a minute, or
// hardly any memory is left: then work that can wait should wait.
func (m *Monitor) Overloaded() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := len(m.ring)
	if n == 0 {
		return false
	}
	newest := m.ring[n-1]
	if newest.MemoryTotal > 0 && newest.MemoryAvailable < newest.MemoryTotal/100*leastMemory {
		return true
	}
	// A sample tells of the time since the one before it.
	for i := n - 1; i > 0 && m.ring[i].CPU > busyPercent; i-- {
		if newest.At.Sub(m.ring[i-1].At) >= busyFor {
			return true
		}
	}
	return false
}

// readMachine asks the system.
func readMachine(ctx context.Context, dir string) (reading, error) {
	var r reading
	times, err := cpu.TimesWithContext(ctx, false)
	if err == nil && len(times) > 0 {
		t := times[0]
		idle := t.Idle + t.Iowait
		r.busy = t.User + t.System + t.Nice + t.Irq + t.Softirq + t.Steal
		r.total = r.busy + idle
	}
	memory, merr := mem.VirtualMemoryWithContext(ctx)
	if merr == nil {
		r.memoryTotal, r.memoryLeft = memory.Total, memory.Available
	}
	usage, derr := disk.UsageWithContext(ctx, dir)
	if derr == nil {
		r.diskTotal, r.diskFree = usage.Total, usage.Free
	}
	return r, errors.Join(err, merr, derr)
}
