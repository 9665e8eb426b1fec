package mcp

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"oxios/kernel/sys"
)

// served is one program with its two servers: one handler cannot serve both generations of the protocol, and the sessions of the
// earlier one are counted.
type served struct {
	id       string
	face     *face
	cancel   context.CancelFunc // of who tells it of changes
	keyed    *sdk.Server        // for versions with sessions
	single   *sdk.Server        // for those without
	sessions http.Handler
	alone    http.Handler

	mu       sync.Mutex
	requests int // at work, streams included
	streams  int
	begun    int // requests that may begin a session

	wake    chan struct{}
	changed map[string]bool // what it has not been told of yet
}

func serve(f *face) (*served, error) {
	keyed, err := f.server()
	if err != nil {
		return nil, err
	}
	single, err := f.server()
	if err != nil {
		return nil, err
	}
	log := slog.New(fromWarn{f.log.Handler()})
	ctx, cancel := context.WithCancel(context.Background())
	at := &served{id: f.self.ID, face: f, cancel: cancel, keyed: keyed, single: single, wake: make(chan struct{}, 1), changed: map[string]bool{}}
	at.sessions = sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return keyed }, &sdk.StreamableHTTPOptions{Logger: log, SessionTimeout: idle, MaxRequestBodyBytes: maxBody})
	at.alone = sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return single }, &sdk.StreamableHTTPOptions{Logger: log, Stateless: true, MaxRequestBodyBytes: maxBody, PropagateRequestCancellation: true})
	go at.tell(ctx)
	return at, nil
}

// keyless reports whether a request is of the generation without sessions.
func keyless(r *http.Request) bool { return r.Header.Get(versionHeader) >= stateless }

// follows reports whether a request stays open for what the server says.
func follows(r *http.Request) bool {
	return r.Method == http.MethodGet || keyless(r) && r.Header.Get(methodHeader) == "subscriptions/listen"
}

// begins reports whether a request may begin a session.
func begins(r *http.Request) bool {
	return r.Method == http.MethodPost && !keyless(r) && r.Header.Get(sessionHeader) == ""
}

// enter counts a request, or refuses one too many. A session counts from the request that begins it.
func (f *served) enter(r *http.Request) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.requests >= maxRequests:
		return sys.Errorf(sys.CodeRateLimit, "This program has %d requests open, which is the most.", maxRequests).WithHint("Wait until one of them has ended.")
	case follows(r) && f.streams >= maxStreams:
		return sys.Errorf(sys.CodeRateLimit, "This program follows %d streams, which is the most.", maxStreams).WithHint("End one of them first.")
	case begins(r) && open(f.keyed)+f.begun >= maxSessions:
		return sys.Errorf(sys.CodeRateLimit, "This program has %d sessions open, which is the most.", maxSessions).WithHint("End one with DELETE, or wait: one that nobody uses ends after 30 minutes.")
	}
	f.count(r, +1)
	return nil
}

func (f *served) leave(r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.count(r, -1)
}

// count adds a request, or takes it away. The caller holds mu.
func (f *served) count(r *http.Request, n int) {
	f.requests += n
	if follows(r) {
		f.streams += n
	}
	if begins(r) {
		f.begun += n
	}
}

// worn reports whether a program that is not there now has followed so much that its server is made anew.
func (f *served) worn() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.requests == 0 && f.face.follows.many() && open(f.keyed)+open(f.single) == 0
}

// serve answers a request of the program.
func (f *served) serve(w http.ResponseWriter, r *http.Request) {
	if keyless(r) {
		if !misnamed(w, r) {
			f.alone.ServeHTTP(w, r)
		}
		return
	}
	if r.Method == http.MethodDelete { // its end waits for what it is asked
		f.face.calls.end(r.Header.Get(sessionHeader))
	}
	f.sessions.ServeHTTP(w, r)
}

// close ends all that the program has open. A session whose end takes long is not waited for.
func (f *served) close() {
	f.cancel()
	f.face.calls.endAll()
	var closed sync.WaitGroup
	for _, s := range []*sdk.Server{f.keyed, f.single} {
		for ss := range s.Sessions() {
			closed.Go(func() { _ = ss.Close() }) // nobody is left to be told
		}
	}
	all := make(chan struct{})
	go func() {
		closed.Wait()
		close(all)
	}()
	select {
	case <-all:
	case <-time.After(ending):
	}
}

// open is how many sessions a server has.
func open(s *sdk.Server) (n int) {
	for range s.Sessions() {
		n++
	}
	return n
}

// tell tells the program of changes until ctx ends. It alone waits for a program that does not read.
func (f *served) tell(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-f.wake:
		}
		f.mu.Lock()
		changed := f.changed
		f.changed = map[string]bool{}
		f.mu.Unlock()
		for uri := range changed {
			for _, s := range []*sdk.Server{f.keyed, f.single} {
				if err := s.ResourceUpdated(ctx, &sdk.ResourceUpdatedNotificationParams{URI: uri}); err != nil {
					f.face.log.DebugContext(ctx, "A program was not told of a change", "uri", uri, "error", err)
				}
			}
		}
	}
}

// updated notes changes of what the program follows.
func (f *served) updated(uris []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, uri := range uris {
		if f.face.follows.has(uri) {
			f.changed[uri] = true
		}
	}
	if len(f.changed) > 0 {
		select {
		case f.wake <- struct{}{}:
		default: // it is awake
		}
	}
}

// calls are the requests that the handlers of a program work on, by their sessions.
type calls struct {
	mu    sync.Mutex
	ended bool
	by    map[string]map[*context.CancelFunc]bool
}

// begin notes a request until done is called.
func (c *calls) begin(session string, cancel context.CancelFunc) (done func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		cancel()
	}
	if c.by == nil {
		c.by = map[string]map[*context.CancelFunc]bool{}
	}
	if c.by[session] == nil {
		c.by[session] = map[*context.CancelFunc]bool{}
	}
	key := &cancel
	c.by[session][key] = true
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.by[session], key)
		if len(c.by[session]) == 0 {
			delete(c.by, session)
		}
	}
}

// end ends the requests of a session.
func (c *calls) end(session string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for cancel := range c.by[session] {
		(*cancel)()
	}
}

// endAll ends all requests, and those to come.
func (c *calls) endAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	for _, some := range c.by {
		for cancel := range some {
			(*cancel)()
		}
	}
}

// ends lets a request end with its program or session, and gives one that asks somebody an upper time: the library waits for an
// answer for ever otherwise, and the session with it.
func (f *face) ends(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		if p, ok := req.GetParams().(*sdk.CallToolParamsRaw); ok && p != nil && p.Name == answerTool {
			var late context.CancelFunc
			ctx, late = context.WithTimeout(ctx, maxAnswer)
			defer late()
		}
		session := ""
		if ss := req.GetSession(); ss != nil {
			session = ss.ID()
		}
		defer f.calls.begin(session, cancel)()
		return next(ctx, method, req)
	}
}

// writer gives each write some time to be read.
type writer struct {
	http.ResponseWriter
	to *http.ResponseController
}

func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *writer) Write(p []byte) (int, error) {
	w.within(time.Now().Add(unread))
	return w.ResponseWriter.Write(p)
}

// FlushError is what [http.ResponseController.Flush] calls.
func (w *writer) FlushError() error {
	w.within(time.Now().Add(unread))
	return w.to.Flush()
}

// free takes the bound away: the connection may have other requests.
func (w *writer) free() { w.within(time.Time{}) }

func (w *writer) within(at time.Time) {
	_ = w.to.SetWriteDeadline(at) // a writer without a connection, as tests have, waits for nobody
}

// fromWarn leaves the library's news of each request out of the log.
type fromWarn struct{ slog.Handler }

func (h fromWarn) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= slog.LevelWarn && h.Handler.Enabled(ctx, l)
}

func (h fromWarn) WithAttrs(a []slog.Attr) slog.Handler { return fromWarn{h.Handler.WithAttrs(a)} }

func (h fromWarn) WithGroup(name string) slog.Handler { return fromWarn{h.Handler.WithGroup(name)} }
