package mcp

import (
	"io"
	"sync"
	"time"
)

// readTime is how long a server may take to read a piece of what is sent to it.
const readTime = 30 * time.Second

// input is what the program of a server reads. One that does not read is ended: what waits for that holds up all that is sent
// to it. The zero pointer is that of a server without a program.
type input struct {
	to  io.WriteCloser
	end func() // ends the program

	one sync.Mutex // held by who writes

	mu    sync.Mutex
	wait  *time.Timer // ends the program; nil while nothing is written
	ended bool
}

func newInput(to io.WriteCloser, end func()) *input { return &input{to: to, end: end} }

// Write writes in pieces, so that a server that reads slowly is not taken for one that does not read.
func (in *input) Write(p []byte) (n int, err error) {
	in.one.Lock()
	defer in.one.Unlock()
	for len(p) > 0 && err == nil {
		piece := p[:min(len(p), 32<<10)]
		in.mu.Lock()
		var wait *time.Timer
		wait = time.AfterFunc(readTime, func() { in.kill(wait) })
		in.wait = wait
		in.mu.Unlock()
		var m int
		m, err = in.to.Write(piece)
		in.mu.Lock()
		wait.Stop()
		in.wait = nil
		in.mu.Unlock()
		n += m
		p = p[m:]
	}
	return n, err
}

// Close closes it, also while something is written.
func (in *input) Close() error { return in.to.Close() }

// kill ends the program, unless it has read meanwhile.
func (in *input) kill(wait *time.Timer) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.wait == wait {
		in.ended = true
		in.end()
	}
}

// hurry is called when nobody waits any more for a call: what is being written then gets little time.
func (in *input) hurry() {
	if in == nil {
		return
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.wait != nil {
		in.wait.Reset(endTime)
	}
}

// unread reports whether the program was ended because it did not read.
func (in *input) unread() bool {
	if in == nil {
		return false
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.ended
}
