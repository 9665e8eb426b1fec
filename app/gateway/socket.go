package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"

	"oxios/app/remote"
	"oxios/kernel/sys"
)

const (
	maxMessage   = 16 << 20
	maxCalls     = 256 // open calls of one page
	authTimeout  = 5 * time.Second
	writeTimeout = 30 * time.Second
	pingEvery    = 30 * time.Second
	pingTimeout  = 10 * time.Second

	events           = "infra.events"
	statusNotAllowed = websocket.StatusCode(4401)
)

// socket lets a page in that has both secrets, and answers it until it or ctx ends.
func (g *Gateway) socket(w http.ResponseWriter, r *http.Request, port int) {
	g.sockets.Add(1) // Run waits for it: the server forgets a connection that was upgraded
	defer g.sockets.Done()
	// Strangers have a limit of their own, so that they keep no browser out that was let in.
	limit := g.upgrade
	if cookie, err := r.Cookie(cookieName(port)); err == nil && g.doors.knows(cookie.Value) {
		limit = g.again
	}
	if !limit.Allow() {
		refuse(w, http.StatusTooManyRequests, sys.Errorf(sys.CodeRateLimit, "Too many connections at once.").WithHint("Wait a moment."))
		return
	}
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return // Accept has answered
	}
	defer conn.CloseNow()
	conn.SetReadLimit(4 << 10)
	// Scripts never see why an upgrade was refused, and a browser of an earlier
	// start must learn that it has to be let in again: so it is told by a close.
	cookie, err := r.Cookie(cookieName(port))
	if err != nil || !g.doors.knows(cookie.Value) || !g.proved(r.Context(), conn, cookie.Value) {
		goodbye(conn, statusNotAllowed, "not let in")
		return
	}
	conn.SetReadLimit(maxMessage)
	p := &page{conn: conn, g: g, h: g.cfg.Handle("page"), slots: make(chan struct{}, 2*maxCalls), open: map[uint64]context.CancelFunc{}}
	p.run(r.Context())
}

// proved reads the first message, which must hold the second secret.
func (g *Gateway) proved(ctx context.Context, conn *websocket.Conn, cookie string) bool {
	ctx, cancel := context.WithTimeout(ctx, authTimeout)
	defer cancel()
	_, data, err := conn.Read(ctx)
	if err != nil {
		return false
	}
	var first struct {
		Auth string `json:"auth"`
	}
	return json.Unmarshal(data, &first) == nil && g.doors.opens(cookie, first.Auth)
}

// page is one browser's WebSocket.
type page struct {
	conn  *websocket.Conn
	g     *Gateway
	h     *remote.Handle
	calls sync.WaitGroup
	slots chan struct{} // one for each call until its answer is out

	mu     sync.Mutex
	open   map[uint64]context.CancelFunc // until the answer is known
	events context.CancelFunc            // of the events that are followed, or nil
	front  remote.Front
}

type request struct {
	ID     uint64          `json:"id"`
	Method string          `json:"method"`
	Args   json.RawMessage `json:"args"`
	Cancel bool            `json:"cancel"`
}

// run answers until the page goes or ctx ends. The connection outlives ctx by
// the moment that it takes to say so: a context that ends while the library
// reads would cut the line without a word.
func (p *page) run(ctx context.Context) {
	own, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer func() { _ = p.front.Leave(ctx, p.h) }() // it fails only with the kernel
	defer p.calls.Wait()
	defer cancel()
	p.calls.Go(func() { p.ping(own) })
	p.calls.Go(func() {
		select {
		case <-ctx.Done():
			goodbye(p.conn, websocket.StatusGoingAway, "the kernel has stopped")
		case <-own.Done():
		}
	})
	p.send(own, []byte(`{"ready":true}`))
	for {
		kind, data, err := p.conn.Read(own)
		if err != nil {
			return
		}
		var r request
		if kind != websocket.MessageText || json.Unmarshal(data, &r) != nil {
			p.send(own, problem(0, sys.Errorf(sys.CodeInvalid, "The message cannot be read.")))
			continue
		}
		p.take(own, r)
	}
}

// goodbye closes conn with a reason. A page that does not answer is not waited for.
func goodbye(conn *websocket.Conn, status websocket.StatusCode, reason string) {
	defer time.AfterFunc(time.Second, func() { conn.CloseNow() }).Stop()
	conn.Close(status, reason)
}

// ping finds out when a page is gone without a word.
func (p *page) ping(ctx context.Context) {
	tick := time.NewTicker(pingEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		answer, cancel := context.WithTimeout(ctx, pingTimeout)
		err := p.conn.Ping(answer)
		cancel()
		if err != nil {
			p.conn.CloseNow()
			return
		}
	}
}

func (p *page) take(ctx context.Context, r request) {
	p.mu.Lock()
	cancelOld, taken := p.open[r.ID]
	switch {
	case r.Cancel:
		p.mu.Unlock()
		if taken {
			cancelOld()
		}
		return
	case taken || len(p.open) >= maxCalls:
		p.mu.Unlock()
		p.send(ctx, problem(r.ID, sys.Errorf(sys.CodeBusy, "The call was not started: %d calls of this page are open, and each needs a number of its own.", maxCalls)))
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	p.open[r.ID] = cancel
	if r.Method == events {
		if p.events != nil {
			p.events()
		}
		p.events = cancel
	}
	p.mu.Unlock()
	// This waits only for a page that asks and does not read: the calls that
	// work are fewer.
	p.slots <- struct{}{}
	p.calls.Go(func() {
		defer func() { <-p.slots }()
		defer cancel()
		work := p.answer
		if r.Method == events {
			work = p.follow
		}
		last := work(ctx, r) // nil when it was told already
		// Forgotten before the answer goes out: the page may use the number again at once.
		p.mu.Lock()
		delete(p.open, r.ID)
		p.mu.Unlock()
		if last != nil {
			p.send(ctx, last)
		}
	})
}

// answer makes a call and returns the message that ends it.
func (p *page) answer(ctx context.Context, r request) []byte {
	p.front.Saw(r.Method)
	v, err := remote.Dispatch(ctx, p.h, r.Method, r.Args)
	var raw []byte
	if err == nil {
		raw, err = remote.Marshal(v)
	}
	if err == nil && len(raw) > maxMessage {
		err = sys.Errorf(sys.CodeTooLarge, "The answer is %d MiB large, and %d MiB is the most.", len(raw)>>20, maxMessage>>20).WithHint("Ask for a part.")
	}
	if err != nil {
		return problem(r.ID, err)
	}
	return fmt.Appendf(nil, `{"id":%d,"result":%s}`, r.ID, raw)
}

// follow sends events until another request for them takes its place. While the
// page reads too slowly the kernel's reader waits here and skips: the page gets
// its gap.
func (p *page) follow(ctx context.Context, r request) []byte {
	items, err := remote.Subscribe(ctx, p.h, r.Method, r.Args)
	if err != nil {
		return problem(r.ID, err)
	}
	p.send(ctx, fmt.Appendf(nil, `{"id":%d,"result":null}`, r.ID))
	err = items(func(item any) error {
		raw, err := remote.Marshal(item)
		if err != nil {
			return err
		}
		return p.write(ctx, fmt.Appendf(nil, `{"event":%s}`, raw))
	})
	if ctx.Err() == nil {
		// The page connects again and asks from where it was.
		p.g.cfg.Log.WarnContext(ctx, "The events of a page ended", "err", err)
		p.conn.CloseNow()
	}
	return nil
}

func problem(id uint64, err error) []byte {
	raw, merr := remote.Marshal(sys.AsError(err))
	if merr != nil {
		raw = []byte(`{"code":"internal","message":"The error could not be written."}`)
	}
	return fmt.Appendf(nil, `{"id":%d,"error":%s}`, id, raw)
}

// send writes what nobody waits for: when it does not arrive, the page is gone.
func (p *page) send(ctx context.Context, message []byte) {
	if err := p.write(ctx, message); err != nil {
		p.g.cfg.Log.DebugContext(ctx, "A message to the page did not arrive", "err", err)
	}
}

func (p *page) write(ctx context.Context, message []byte) error {
	// The library closes the connection when a write is given up, so a call
	// that the page itself canceled must not give up writing.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTimeout)
	defer cancel()
	return p.conn.Write(ctx, websocket.MessageText, message)
}
