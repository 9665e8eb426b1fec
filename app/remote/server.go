package remote

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"oxios/kernel/sys"
)

// Peer is the process at the other end of a connection.
type Peer struct {
	UID int // -1 where the system has none; a token stands for it there
	PID int // the process that connected; it existed when it was looked up

	As string // the name of the program for which it wants to call; "" for the person
}

// Serve answers the connections of ln until ctx ends, closes it and waits for
// every call. A peer of another user, or one whose process cannot be found, is
// refused; open decides as whom any other peer calls. Its error is told to the
// peer. Serve returns nil when ctx ended.
func Serve(ctx context.Context, ln net.Listener, open func(Peer) (*Handle, error), log *slog.Logger) error {
	s := &server{open: open, log: log, token: tokenOf(ln)}
	defer context.AfterFunc(ctx, func() { ln.Close() })()
	defer ln.Close()
	var conns sync.WaitGroup
	defer conns.Wait()
	connCtx, stop := context.WithCancel(ctx)
	defer stop()
	for pause := 5 * time.Millisecond; ; {
		conn, err := ln.Accept()
		switch {
		case err == nil:
			pause = 5 * time.Millisecond
			conns.Go(func() { s.serve(connCtx, conn) })
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, net.ErrClosed):
			return fmt.Errorf("accept on the socket: %w", err)
		default: // no file descriptor left, for example: it passes
			log.WarnContext(ctx, "The socket could not accept a connection", "err", err)
			select {
			case <-time.After(pause):
				pause = min(2*pause, time.Second)
			case <-ctx.Done():
				return nil
			}
		}
	}
}

type server struct {
	open  func(Peer) (*Handle, error)
	log   *slog.Logger
	token string
}

// tokenOf is what a client must know where no user id comes with a connection.
func tokenOf(ln net.Listener) string {
	if t, ok := ln.(interface{ Token() string }); ok {
		return t.Token()
	}
	return ""
}

func (s *server) serve(ctx context.Context, conn net.Conn) {
	defer conn.Close()
	// Closing first and canceling the calls after it keeps a stopping kernel
	// from telling its clients that they themselves had stopped their calls.
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	w := newWire(conn)
	h, err := s.greet(w)
	answer := hello{Oxios: protocol, Error: sys.AsError(err)}
	if werr := w.write(answer); err != nil || werr != nil {
		s.log.WarnContext(ctx, "A connection to the socket was refused", "err", errors.Join(err, werr))
		return
	}
	c := &connection{w: w, h: h, log: s.log, slots: make(chan struct{}, 2*maxCalls), open: map[uint64]*openCall{}}
	callCtx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer c.leave(ctx)
	defer c.calls.Wait()
	defer cancel()
	c.read(callCtx)
}

// greet says who is there and gives them their Handle.
func (s *server) greet(w *wire) (*Handle, error) {
	if err := w.conn.SetReadDeadline(time.Now().Add(helloTimeout)); err != nil {
		return nil, err
	}
	frame, err := w.read()
	if err != nil {
		return nil, sys.Errorf(sys.CodeInvalid, "The first frame did not come: %w", err)
	}
	peer, err := peerOf(w.conn)
	if err == nil {
		err = peer.check()
	}
	if err != nil {
		return nil, err
	}
	var hi hello
	if err := json.Unmarshal(frame, &hi); err != nil {
		return nil, sys.Errorf(sys.CodeInvalid, "The first frame cannot be read: %w", err)
	}
	if hi.Oxios != protocol {
		return nil, otherVersion(protocol, hi.Oxios)
	}
	if subtle.ConstantTimeCompare([]byte(hi.Token), []byte(s.token)) != 1 {
		return nil, sys.Errorf(sys.CodeForbidden, "The token of the socket is wrong.")
	}
	peer.As = hi.As
	h, err := s.open(peer)
	if err != nil {
		return nil, err
	}
	return h, w.conn.SetReadDeadline(time.Time{})
}

// connection is one peer after the greeting.
type connection struct {
	w     *wire
	h     *Handle
	log   *slog.Logger
	calls sync.WaitGroup
	slots chan struct{} // one for each call until its answer is out

	mu    sync.Mutex
	open  map[uint64]*openCall // until the answer is known
	front Front
}

type openCall struct {
	cancel context.CancelFunc
	credit chan struct{} // a stream takes one for each item
}

// read takes requests until the connection ends.
func (c *connection) read(ctx context.Context) {
	for {
		frame, err := c.w.read()
		if errors.Is(err, errTooLarge) {
			c.fail(ctx, idOf(frame), tooLarge(maxFrame+1))
			continue
		}
		if err != nil {
			return
		}
		var r request
		if err := json.Unmarshal(frame, &r); err != nil {
			c.fail(ctx, idOf(frame), sys.Errorf(sys.CodeInvalid, "The frame cannot be read: %w", err))
			continue
		}
		c.take(ctx, r)
	}
}

// leave takes back what the peer said of its window, which goes with it.
func (c *connection) leave(ctx context.Context) {
	if err := c.front.Leave(ctx, c.h); err != nil {
		c.log.DebugContext(ctx, "The focus of a peer that went was not taken back", "err", err)
	}
}

func (c *connection) take(ctx context.Context, r request) {
	c.mu.Lock()
	old := c.open[r.ID]
	if r.Method == "" {
		c.mu.Unlock()
		old.steer(r)
		return
	}
	if old != nil || len(c.open) >= maxCalls {
		c.mu.Unlock()
		c.fail(ctx, r.ID, sys.Errorf(sys.CodeBusy, "The call was not started: %d calls of this connection are open, and each needs a number of its own.", maxCalls))
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	call := &openCall{cancel: cancel}
	if IsStream(r.Method) {
		call.credit = make(chan struct{}, window)
		call.add(window)
	}
	c.open[r.ID] = call
	c.mu.Unlock()
	// This waits only for a peer that asks and does not read: the calls that
	// work are fewer.
	c.slots <- struct{}{}
	c.calls.Go(func() {
		defer func() { <-c.slots }()
		defer cancel()
		last := c.answer(ctx, r, call)
		// Forgotten before the answer goes out: the peer may use the number again at once.
		c.mu.Lock()
		delete(c.open, r.ID)
		c.mu.Unlock()
		c.send(ctx, last)
	})
}

// steer cancels a call or lets a stream go on. A call that has ended needs neither.
func (o *openCall) steer(r request) {
	if o == nil {
		return
	}
	if r.Cancel {
		o.cancel()
	}
	o.add(r.More)
}

func (o *openCall) add(n int) {
	for range min(n, window) {
		select {
		case o.credit <- struct{}{}:
		default:
			return
		}
	}
}

// answer makes a call and returns its last frame.
func (c *connection) answer(ctx context.Context, r request, call *openCall) reply {
	if call.credit != nil {
		return c.stream(ctx, r, call)
	}
	c.front.Saw(r.Method)
	v, err := Dispatch(ctx, c.h, r.Method, r.Args)
	if err != nil {
		return c.problem(ctx, r.ID, err)
	}
	raw, err := Marshal(v)
	if err != nil {
		return c.problem(ctx, r.ID, err)
	}
	return reply{ID: r.ID, Result: raw}
}

func (c *connection) stream(ctx context.Context, r request, call *openCall) reply {
	items, err := Subscribe(ctx, c.h, r.Method, r.Args)
	if err != nil {
		return c.problem(ctx, r.ID, err)
	}
	c.send(ctx, reply{ID: r.ID, Result: json.RawMessage("null")})
	err = items(func(item any) error {
		select {
		case <-call.credit:
		case <-ctx.Done():
			return ctx.Err()
		}
		raw, err := Marshal(item)
		if err != nil {
			return err
		}
		return c.w.write(reply{ID: r.ID, Item: raw})
	})
	if err != nil {
		return c.problem(ctx, r.ID, err)
	}
	return reply{ID: r.ID, End: true}
}

func (c *connection) problem(ctx context.Context, id uint64, err error) reply {
	e := sys.AsError(err)
	if stack, ok := errors.AsType[panicError](err); ok {
		c.log.ErrorContext(ctx, "A call panicked", "err", e.Message, "stack", stack.stack)
	}
	return reply{ID: id, Error: e}
}

func (c *connection) fail(ctx context.Context, id uint64, err error) {
	c.send(ctx, c.problem(ctx, id, err))
}

func (c *connection) send(ctx context.Context, r reply) {
	err := c.w.write(r)
	if sys.CodeOf(err) == sys.CodeTooLarge {
		err = c.w.write(reply{ID: r.ID, Error: sys.AsError(err)})
	}
	if err != nil {
		// The peer is gone; its calls end with the connection.
		c.log.DebugContext(ctx, "An answer did not arrive", "err", err)
	}
}
