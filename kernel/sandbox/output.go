package sandbox

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
)

// ends keeps the first and the last bytes of a stream, max together.
type ends struct {
	max   int
	head  []byte
	tail  ring
	total int64
}

func newEnds(limit int) *ends {
	return &ends{max: limit, tail: ring{max: limit - limit/2}}
}

func (e *ends) write(p []byte) {
	e.total += int64(len(p))
	if room := e.max/2 - len(e.head); room > 0 {
		n := min(room, len(p))
		e.head = append(e.head, p[:n]...)
		p = p[n:]
	}
	e.tail.write(p)
}

func (e *ends) dropped() int64 { return e.tail.dropped() }

func (e *ends) bytes() []byte {
	tail, _, gap := e.tail.read(0)
	if len(e.head)+len(tail) == 0 {
		return nil
	}
	out := append([]byte(nil), e.head...)
	if gap > 0 {
		out = fmt.Appendf(out, "\n[%d bytes left out]\n", gap)
	}
	return append(out, tail...)
}

// ring keeps the last max bytes of a stream.
type ring struct {
	max   int
	buf   []byte
	total int64 // all bytes ever written
}

func (r *ring) write(p []byte) {
	r.total += int64(len(p))
	r.buf = append(r.buf, p...)
	// Cutting at twice the size makes the copying amortised constant.
	if len(r.buf) > 2*r.max {
		r.buf = append(r.buf[:0], r.buf[len(r.buf)-r.max:]...)
	}
}

func (r *ring) kept() []byte {
	if len(r.buf) > r.max {
		return r.buf[len(r.buf)-r.max:]
	}
	return r.buf
}

func (r *ring) dropped() int64 { return r.total - int64(len(r.kept())) }

// read returns a copy of what is kept from offset on, the offset after it, and
// how many bytes at offset are gone.
func (r *ring) read(offset int64) (data []byte, next, dropped int64) {
	kept, start := r.kept(), r.dropped()
	offset = min(max(offset, 0), r.total)
	if offset < start {
		dropped, offset = start-offset, start
	}
	return append([]byte(nil), kept[offset-start:]...), r.total, dropped
}

// collector takes the output of one command.
type collector struct {
	notify func(stream string, p []byte)

	mu       sync.Mutex
	all      *ends // a foreground command
	out, err *ends
	log      *ring // a background job
	password passwordWatch
}

func newCollector(background bool, limit int, notify func(string, []byte)) *collector {
	c := &collector{notify: notify}
	if background {
		c.log = &ring{max: limit}
		return c
	}
	c.all, c.out, c.err = newEnds(limit), newEnds(limit), newEnds(limit)
	return c
}

func (c *collector) write(stream string, p []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.password.write(p)
	switch {
	case c.log != nil:
		c.log.write(p)
	case stream == "stdout":
		c.all.write(p)
		c.out.write(p)
	default:
		c.all.write(p)
		c.err.write(p)
	}
	if c.notify != nil {
		c.notify(stream, p)
	}
}

// drain copies f into the collector until it ends or is closed.
func (c *collector) drain(stream string, f *os.File) {
	buf := make([]byte, 32<<10)
	for {
		n, err := f.Read(buf)
		if n > 0 {
			c.write(stream, buf[:n])
		}
		if errors.Is(err, os.ErrDeadlineExceeded) { // a stranger holds the other end
			drainNow(f, func(p []byte) { c.write(stream, p) })
		}
		if err != nil {
			return
		}
	}
}

func (c *collector) read(offset int64) (data []byte, next, dropped int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.log == nil {
		return nil, 0, 0
	}
	return c.log.read(offset)
}

func (c *collector) fill(res *Result) {
	c.mu.Lock()
	defer c.mu.Unlock()
	res.WantsPassword = c.password.seen
	if c.log != nil {
		res.Output, _, res.Dropped = c.log.read(0)
		res.Truncated = res.Dropped > 0
		return
	}
	res.Output, res.Stdout, res.Stderr = c.all.bytes(), c.out.bytes(), c.err.bytes()
	res.Dropped = c.all.dropped()
	res.Truncated = res.Dropped > 0
}

// tailBuffer keeps the last bytes of what the helper itself says, for the log.
type tailBuffer struct {
	mu sync.Mutex
	r  ring
}

var _ io.Writer = (*tailBuffer)(nil)

func (t *tailBuffer) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.r.write(p)
	return len(p), nil
}

func (t *tailBuffer) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.r.kept())
}
