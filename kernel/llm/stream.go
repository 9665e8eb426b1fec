package llm

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"sync/atomic"
	"time"
)

// What a server may send. An honest answer stays far below each of these.
const (
	maxLine      = 8 << 20   // bytes of one event
	maxBody      = 64 << 20  // bytes of one answer
	maxErrorBody = 256 << 10 // bytes of an error or a description
	maxCalls     = 128       // tool calls in one answer
	maxDepth     = 64        // nesting of a tool's arguments
	finishGrace  = 5 * time.Second
)

var (
	errFirstByte = errors.New("no answer began in time")
	errIdle      = errors.New("the answer stopped coming")
	errTooMuch   = errors.New("the answer is larger than 64 MiB")
	errLongLine  = errors.New("one piece of the answer is larger than 8 MiB")
	errMalformed = errors.New("a piece of the answer is not valid JSON")
)

// watch ends a request whose server keeps silent for too long. Only the time
// spent waiting for the server counts, not the time that a slow reader of the
// deltas takes.
type watch struct {
	cancel   context.CancelCauseFunc
	timer    *time.Timer
	begun    atomic.Bool
	deadline time.Time     // of the first byte
	idle     time.Duration // between two pieces
	answer   time.Duration // the same, once the answer itself has begun
	progress time.Time     // of the last event that carried data
	patience time.Duration
	wait     atomic.Int64 // the time.Duration that is waited for the next piece
}

// silent is errIdle with how long nothing came.
type silent struct{ wait time.Duration }

func (*silent) Error() string { return errIdle.Error() }

func (*silent) Is(target error) bool { return target == errIdle }

func newWatch(ctx context.Context, t Timeouts) (context.Context, *watch) {
	ctx, cancel := context.WithCancelCause(ctx)
	now := time.Now()
	w := &watch{
		cancel: cancel, deadline: now.Add(t.FirstByte), idle: max(t.Idle, t.Think), answer: t.Idle,
		progress: now, patience: max(t.FirstByte, t.Think, 5*t.Idle),
	}
	w.timer = time.AfterFunc(t.FirstByte, func() {
		if w.begun.Load() {
			cancel(&silent{time.Duration(w.wait.Load())})
			return
		}
		cancel(errFirstByte)
	})
	return ctx, w
}

func (w *watch) stop() {
	w.timer.Stop()
	w.cancel(context.Canceled)
}

// cause is why reading failed: the watch's own reason, if it was the watch.
func watchCause(ctx context.Context, err error) error {
	if c := context.Cause(ctx); errors.Is(c, errFirstByte) || errors.Is(c, errIdle) {
		return c
	}
	return err
}

// answering shortens the wait once the answer itself comes: until then the model
// may think without a word.
func (w *watch) answering() { w.idle = w.answer }

// finishing shortens the wait once the answer itself is complete: only the
// token counts are still to come.
func (w *watch) finishing() { w.idle = min(w.idle, finishGrace) }

type limitedBody struct {
	io.ReadCloser
	left int64
	w    *watch // may be nil
}

func limitBody(rc io.ReadCloser, n int64) *limitedBody { return &limitedBody{ReadCloser: rc, left: n} }

// Read reads, and fails once more than the allowed number of bytes came.
func (b *limitedBody) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, errTooMuch
	}
	if b.w != nil {
		wait := b.w.idle
		if !b.w.begun.Load() {
			wait = max(time.Until(b.w.deadline), time.Millisecond)
		}
		b.w.wait.Store(int64(wait))
		b.w.timer.Reset(wait)
	}
	n, err := b.ReadCloser.Read(p)
	if b.w != nil {
		b.w.timer.Stop()
		if n > 0 {
			b.w.begun.Store(true)
		}
	}
	b.left -= int64(n)
	return n, err
}

// lines reads lines of bounded length without allocating for the short ones.
type lines struct {
	br   *bufio.Reader
	long []byte
}

// next returns the next line without its end. whole is false for a last line
// that the stream ended in. The line is valid until the next call.
func (l *lines) next() (line []byte, whole bool, err error) {
	l.long = l.long[:0]
	for {
		part, err := l.br.ReadSlice('\n')
		if err == nil && len(l.long) == 0 {
			return bytes.TrimRight(part, "\r\n"), true, nil
		}
		if len(l.long)+len(part) > maxLine {
			return nil, false, errLongLine
		}
		l.long = append(l.long, part...)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		return bytes.TrimRight(l.long, "\r\n"), err == nil, err
	}
}

// tooDeep reports whether JSON text nests deeper than limit. Text that is not
// JSON is judged by its brackets.
func tooDeep(text string, limit int) bool {
	depth, inString, escaped := 0, false, false
	for i := range len(text) {
		switch c := text[i]; {
		case escaped:
			escaped = false
		case inString:
			escaped = c == '\\'
			inString = c != '"'
		case c == '"':
			inString = true
		case c == '{' || c == '[':
			if depth++; depth > limit {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
}
