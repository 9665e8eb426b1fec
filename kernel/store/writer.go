package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"

	"oxios/kernel/sys"
)

// maxBatch bounds how many writes share a commit, and with it how long the
// first of them waits for the last.
const maxBatch = 256

type insideKey struct{}

// Write runs fn in a transaction and returns once that is on the disk; an
// error means that nothing of it was kept. Writes that wait at the same time
// are committed together: each fn runs under a savepoint of its own, one
// flush makes all of them durable, and each caller gets its own error. Only
// when the commit itself fails do all of them get that error.
//
// fn runs in the writer's goroutine, one at a time, and must neither wait for
// anything else nor call Write. When ctx ends before fn has begun, Write
// returns its error; from then on it waits for the outcome.
func (s *Store) Write(ctx context.Context, fn func(*Tx) error) error {
	return s.Queue(ctx, fn)()
}

// Queue is [Store.Write] whose outcome is waited for later, once: with wait. What
// is queued or written after it comes after it on the disk, too.
func (s *Store) Queue(ctx context.Context, fn func(*Tx) error) (wait func() error) {
	if ctx.Value(insideKey{}) != nil {
		return func() error { return sys.Errorf(sys.CodeInternal, "Write was called inside a transaction.") }
	}
	r := &request{ctx: ctx, fn: fn, done: make(chan error, 1)}
	if !s.w.add(r) {
		return errClosed
	}
	return func() error {
		select {
		case err := <-r.done:
			return err
		case <-ctx.Done():
			if r.state.CompareAndSwap(waiting, left) {
				return ctx.Err()
			}
			return <-r.done
		}
	}
}

// A request is taken by the writer or left by its caller, never both.
const (
	waiting int32 = iota
	taken
	left
)

type request struct {
	ctx   context.Context
	fn    func(*Tx) error
	state atomic.Int32
	done  chan error // buffered: the writer never waits for a caller

	answered bool // the writer's own
}

func (r *request) answer(err error) {
	if !r.answered {
		r.answered = true
		r.done <- err
	}
}

// writer owns the one connection that writes, and the goroutine that uses it.
type writer struct {
	c   *conn
	log *slog.Logger

	durable func() // see [Options]
	health  func(error)
	sick    bool // the disk did not take the last write; the goroutine's own

	ended chan struct{} // closed when run has returned for good

	wake   sync.Cond
	mu     sync.Mutex // guards queue and closed
	queue  []*request
	closed bool

	batch []*request // being worked on, without an answer so far; the goroutine's own
	open  []*Tx      // their transactions that wait for the commit; the goroutine's own
}

func newWriter(c *conn, log *slog.Logger) *writer {
	w := &writer{c: c, log: log, durable: func() {}, health: func(error) {}, ended: make(chan struct{})}
	w.wake.L = &w.mu
	return w
}

func (w *writer) add(r *request) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return false
	}
	w.queue = append(w.queue, r)
	w.wake.Signal()
	return true
}

// close lets the queue run empty, ends the goroutine and waits for it.
func (w *writer) close() {
	w.mu.Lock()
	w.closed = true
	w.wake.Signal()
	w.mu.Unlock()
	<-w.ended
}

func (w *writer) run() {
	normal := false
	defer func() {
		if normal {
			close(w.ended)
			return
		}
		// A function ended the goroutine, as a failing test does. The other callers are answered, and another goroutine goes on.
		w.fail(0, sys.Errorf(sys.CodeInternal, "A function ended the writer's goroutine."))
		go w.run()
	}()
	crowd := false
	for {
		if crowd {
			// The callers just answered are about to write again: let them join the next commit.
			runtime.Gosched()
		}
		if w.batch = w.take(); w.batch == nil {
			normal = true
			return
		}
		crowd = len(w.batch) > 1
		for len(w.batch) > 0 {
			w.commit()
		}
	}
}

// take waits for requests and returns those that their callers still want. It
// returns nil after close.
func (w *writer) take() []*request {
	w.mu.Lock()
	defer w.mu.Unlock()
	for {
		for len(w.queue) == 0 {
			if w.closed {
				return nil
			}
			w.wake.Wait()
		}
		n := min(len(w.queue), maxBatch)
		batch := make([]*request, 0, n)
		for _, r := range w.queue[:n] {
			if r.state.CompareAndSwap(waiting, taken) {
				batch = append(batch, r)
			}
		}
		clear(w.queue[:n])
		w.queue = w.queue[n:]
		if len(batch) > 0 {
			return batch
		}
	}
}

// commit runs the batch in one transaction and answers it. When a failure
// takes the transaction along, it answers those that it took and leaves the
// rest of the batch for the next call.
func (w *writer) commit() {
	if err := w.sql("BEGIN IMMEDIATE"); err != nil {
		w.fail(0, err)
		return
	}
	alone := len(w.batch) == 1 // one write needs no savepoint: it is the transaction
	var kept []*request
	for i, r := range w.batch {
		tx := &Tx{ctx: context.WithValue(r.ctx, insideKey{}, true), sqlCtx: context.Background(), c: w.c}
		w.open = append(w.open, tx)
		if !alone {
			if err := w.sql("SAVEPOINT one"); err != nil {
				w.fail(i+1, err)
				return
			}
		}
		err := tx.end(w.call(r, tx))
		if err == nil {
			if !alone {
				err = w.sql("RELEASE one")
			}
			if err != nil {
				w.fail(i+1, err)
				return
			}
			kept = append(kept, r)
			continue
		}
		if alone || w.undo() != nil {
			w.fail(i+1, err)
			return
		}
		w.open = w.open[:len(w.open)-1]
		w.rolledBack(tx)
		r.answer(err)
	}
	if err := w.sql("COMMIT"); err != nil {
		w.fail(len(w.batch), err)
		return
	}
	w.durable()
	w.note(nil)
	for i, r := range kept {
		for _, fn := range w.open[i].committed {
			w.callback(fn)
		}
		r.answer(nil)
	}
	w.open, w.batch = w.open[:0], nil
}

// undo takes the last savepoint back. It fails when SQLite has rolled the
// whole transaction back already.
func (w *writer) undo() error {
	if err := w.sql("ROLLBACK TO one"); err != nil {
		return err
	}
	return w.sql("RELEASE one")
}

// fail rolls the transaction back and answers the first n requests of the
// batch, or all of them when n is 0, with err. The others stay in the batch.
func (w *writer) fail(n int, err error) {
	if n == 0 {
		n = len(w.batch)
	}
	// SQLite may have done it by itself; then this fails, and that is as well.
	_ = w.sql("ROLLBACK")
	for _, tx := range slices.Backward(w.open) {
		w.rolledBack(tx)
	}
	w.open = w.open[:0]
	if fromDisk(err) {
		w.note(err)
	}
	for _, r := range w.batch[:n] {
		r.answer(err)
	}
	w.batch = w.batch[n:]
}

// note tells how the disk is when that has changed.
func (w *writer) note(err error) {
	if sick := err != nil; sick != w.sick {
		w.sick = sick
		w.callback(func() { w.health(err) })
	}
}

func (w *writer) sql(query string) error {
	_, err := w.c.exec(context.Background(), query)
	return classify(err)
}

// call runs the caller's function. A panic in it is that caller's error: the
// others are not to lose their writes to it.
func (w *writer) call(r *request, tx *Tx) (err error) {
	if err := r.ctx.Err(); err != nil {
		return err
	}
	defer func() {
		if p := recover(); p != nil {
			w.log.ErrorContext(r.ctx, "Write panicked", "panic", p, "stack", string(debug.Stack()))
			err = sys.Errorf(sys.CodeInternal, "A write failed with a bug of ours: %w.", panicError(p))
		}
	}()
	return r.fn(tx)
}

func (w *writer) rolledBack(tx *Tx) {
	for _, fn := range slices.Backward(tx.rolledBack) {
		w.callback(fn)
	}
}

// callback runs what was registered with OnCommit or OnRollback.
func (w *writer) callback(fn func()) {
	defer func() {
		if p := recover(); p != nil {
			w.log.Error("Callback of a transaction panicked", "panic", p, "stack", string(debug.Stack()))
		}
	}()
	fn()
}

func panicError(p any) error {
	if err, ok := p.(error); ok {
		return err
	}
	return errors.New(fmt.Sprint(p))
}
