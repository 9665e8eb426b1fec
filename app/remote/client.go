package remote

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"sync"
	"time"

	"oxios/kernel/sys"
)

// Client is a connection to the kernel of another process. Any number of calls
// may be open on it. Make one with [Dial] and end it with [Client.Close].
type Client struct {
	w    *wire
	done chan struct{} // closed when the connection has ended
	work sync.WaitGroup

	mu     sync.Mutex
	lastID uint64
	open   map[uint64]chan reply
	err    error // why the connection ended
}

// Dial connects to the process that owns home. It fails with CodeUnavailable
// when none does.
func Dial(ctx context.Context, home string) (*Client, error) {
	c, absent, err := dial(ctx, home, "")
	if absent != nil {
		e := sys.Errorf(sys.CodeUnavailable, "No Oxios is running for %s: %w", home, absent)
		return nil, e.WithHint("Start it with `oxios`, or with `oxios serve` on a machine without a display.")
	}
	return c, err
}

// DialRunning is [Dial] for whoever goes on without: it returns no client, and no
// error, where no Oxios is running. Nothing is said then, in no language: the sentences
// of the other one are not built for a start that needs none.
func DialRunning(ctx context.Context, home string) (*Client, error) {
	c, _, err := dial(ctx, home, "")
	return c, err
}

// DialAs is [DialRunning] for a program: the calls are those of the program of that name, which the person added.
func DialAs(ctx context.Context, home, program string) (*Client, error) {
	c, _, err := dial(ctx, home, program)
	return c, err
}

// dial connects, for the person or a program. absent says why nobody could be connected to.
func dial(ctx context.Context, home, as string) (_ *Client, absent, err error) {
	conn, token, err := connect(ctx, home)
	if err != nil {
		return nil, err, nil
	}
	c := &Client{w: newWire(conn), done: make(chan struct{}), open: map[uint64]chan reply{}}
	if err := c.greet(ctx, token, as); err != nil {
		conn.Close()
		return nil, nil, err
	}
	c.work.Go(c.read)
	return c, nil, nil
}

// dialPatience is how long a process that lost the race for the home waits for
// the winner's socket.
const dialPatience = 2 * time.Second

// DialPatiently is [Dial] for a process that found the home's lock taken: the
// owner may be about to open its socket, so it tries for 2 seconds.
func DialPatiently(ctx context.Context, home string) (*Client, error) {
	ctx, cancel := context.WithTimeout(ctx, dialPatience)
	defer cancel()
	for {
		c, err := Dial(ctx, home)
		if err == nil {
			return c, nil
		}
		select {
		case <-time.After(25 * time.Millisecond):
		case <-ctx.Done():
			return nil, err
		}
	}
}

func (c *Client) greet(ctx context.Context, token, as string) error {
	deadline := time.Now().Add(helloTimeout)
	if d, ok := ctx.Deadline(); ok && d.Before(deadline) {
		deadline = d
	}
	if err := c.w.conn.SetReadDeadline(deadline); err != nil {
		return err
	}
	// A write that fails is explained by what the server said before it closed.
	werr := c.w.write(hello{Oxios: protocol, Token: token, As: as})
	frame, err := c.w.read()
	if err != nil {
		e := sys.Errorf(sys.CodeUnavailable, "The Oxios that runs did not answer: %w", errors.Join(werr, err))
		return e.WithHint("When it does not recover, end it and start again.")
	}
	var hi hello
	if err := json.Unmarshal(frame, &hi); err != nil {
		return sys.Errorf(sys.CodeUnavailable, "What answers on the socket is not Oxios: %w", err)
	}
	if hi.Error != nil {
		return hi.Error
	}
	if hi.Oxios != protocol {
		return otherVersion(hi.Oxios, protocol)
	}
	return c.w.conn.SetReadDeadline(time.Time{})
}

// Close ends the connection, and with it every open call.
func (c *Client) Close() error {
	err := c.w.conn.Close()
	c.work.Wait()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// Done is closed when the connection has ended, because of Close or because
// the kernel went away.
func (c *Client) Done() <-chan struct{} { return c.done }

// read hands answers to those who wait for them.
func (c *Client) read() {
	var cause error
	for {
		frame, err := c.w.read()
		if err != nil {
			cause = err
			break
		}
		var r reply
		if err := json.Unmarshal(frame, &r); err != nil {
			cause = err
			break
		}
		c.mu.Lock()
		waiting := c.open[r.ID]
		c.mu.Unlock()
		select {
		case waiting <- r:
			continue
		default:
		}
		// Nobody waits any more, which is usual after a cancel. Otherwise the
		// server sent more than it may, and its stream would have a hole.
		if waiting != nil {
			cause = errors.New("more items than asked for")
			break
		}
	}
	c.w.conn.Close()
	e := sys.Errorf(sys.CodeUnavailable, "The kernel has stopped; what it had confirmed is kept.").WithHint("Start Oxios again.")
	e.Err = cause
	c.mu.Lock()
	c.err = e
	c.mu.Unlock()
	close(c.done)
}

// begin sends a request and returns where its answers arrive. release forgets it.
func (c *Client) begin(method string, args []any, room int) (answers <-chan reply, id uint64, release func(), err error) {
	raw, err := Marshal(args)
	if err != nil {
		return nil, 0, nil, err
	}
	if args == nil {
		raw = []byte("[]")
	}
	ch := make(chan reply, room)
	c.mu.Lock()
	c.lastID++
	id = c.lastID
	c.open[id] = ch
	c.mu.Unlock()
	release = func() {
		c.mu.Lock()
		delete(c.open, id)
		c.mu.Unlock()
	}
	if err := c.w.write(request{ID: id, Method: method, Args: raw}); err != nil {
		release()
		if e, ok := errors.AsType[*sys.Error](err); ok {
			return nil, 0, nil, e // nothing was sent
		}
		<-c.done // a failed write closed the connection
		return nil, 0, nil, c.err
	}
	return ch, id, release, nil
}

// await returns the next answer. When ctx ends first it cancels the call.
func (c *Client) await(ctx context.Context, id uint64, answers <-chan reply) (reply, error) {
	select {
	case r := <-answers:
		return r, r.problem()
	case <-ctx.Done():
		// When it does not arrive, the connection has ended, and the call with it.
		_ = c.w.write(request{ID: id, Cancel: true})
		return reply{}, ctx.Err()
	case <-c.done:
	}
	select { // it may have come just before the end
	case r := <-answers:
		return r, r.problem()
	default:
		return reply{}, c.err
	}
}

// problem is the error in r, as it was on the other side: errors.Is finds a
// canceled context in it again.
func (r reply) problem() error {
	if r.Error == nil {
		return nil
	}
	switch r.Error.Code {
	case sys.CodeCanceled:
		r.Error.Err = context.Canceled
	case sys.CodeTimeout:
		r.Error.Err = context.DeadlineExceeded
	}
	return r.Error
}

func call[T any](ctx context.Context, c *Client, method string, args ...any) (T, error) {
	var v T
	if err := ctx.Err(); err != nil {
		return v, err
	}
	answers, id, release, err := c.begin(method, args, 1)
	if err != nil {
		return v, err
	}
	defer release()
	r, err := c.await(ctx, id, answers)
	if err != nil {
		return v, err
	}
	if err := json.Unmarshal(r.Result, &v); err != nil {
		return v, sys.Errorf(sys.CodeInternal, "The answer to %s cannot be read: %w", method, err)
	}
	return v, nil
}

func do(ctx context.Context, c *Client, method string, args ...any) error {
	_, err := call[json.RawMessage](ctx, c, method, args...)
	return err
}

// subscribe returns when the stream has started. Its channel is closed when the
// stream, ctx or the connection ends.
func subscribe[T any](ctx context.Context, c *Client, method string, args ...any) (<-chan T, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	answers, id, release, err := c.begin(method, args, window+2)
	if err != nil {
		return nil, err
	}
	if _, err := c.await(ctx, id, answers); err != nil {
		release()
		return nil, err
	}
	items := make(chan T)
	c.work.Go(func() {
		defer close(items)
		defer release()
		for taken := 1; ; taken++ {
			r, err := c.await(ctx, id, answers)
			if err != nil || r.End {
				return
			}
			var item T
			if json.Unmarshal(r.Item, &item) != nil {
				_ = c.w.write(request{ID: id, Cancel: true})
				return
			}
			select {
			case items <- item:
			case <-c.done:
				return
			case <-ctx.Done():
				continue // await cancels it on the other side
			}
			if taken%(window/4) == 0 {
				_ = c.w.write(request{ID: id, More: window / 4})
			}
		}
	})
	return items, nil
}
