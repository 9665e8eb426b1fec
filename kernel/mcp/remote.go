package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"oxios/kernel/security"
	"oxios/kernel/sys"
)

// The bounds of a connection to a server that runs elsewhere.
const (
	maxStream  = 4 * maxLine      // bytes of one stream of messages
	listenTime = 10 * time.Second // until a server says whether it has a stream of its own
	maxLed     = 5                // addresses that lead to another
)

// remote is the connection to a server that runs elsewhere. All that goes to the server passes its RoundTrip: the network
// guard, the keys and the sign-in, the bounds of answers.
type remote struct {
	l       *live
	at      security.Address
	calls   http.RoundTripper // waits for an answer as long as a call may take
	listens http.RoundTripper
	headers http.Header // those of the person

	ctx  context.Context // ends with cut
	cut  context.CancelFunc
	over chan struct{} // closed when the connection is gone
	gone func()        // closes it
}

// transports are the guarded ways to a server: one for calls, one for its stream.
func (s *Service) transports(at security.Address) (calls, listens *http.Transport) {
	calls, listens = s.c.Net.Transport(at.Open), s.c.Net.Transport(at.Open)
	calls.ResponseHeaderTimeout, listens.ResponseHeaderTimeout = callTime, listenTime
	return calls, listens
}

// dial connects a server that runs elsewhere, and agrees with it on a version of the protocol.
func (l *live) dial(ctx context.Context) error {
	at, err := security.ReadAddress(l.def.URL)
	if err != nil {
		return sys.Errorf(sys.CodeRefused, "The address of the server %s cannot be used. %s", l.name, refusalOf(err))
	}
	r := &remote{l: l, at: at, over: make(chan struct{})}
	if r.headers, err = l.s.headersOf(ctx, l.name, l.def); err != nil {
		return err
	}
	r.gone = sync.OnceFunc(func() { close(r.over) })
	r.calls, r.listens = l.s.transports(at)
	r.ctx, r.cut = context.WithCancel(context.WithoutCancel(ctx))
	greet, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	greet, said := listen(greet)
	l.session, err = l.newClient(ctx).Connect(greet, &sdk.StreamableClientTransport{
		Endpoint: at.URL, HTTPClient: &http.Client{Transport: r, CheckRedirect: r.redirect}, MaxEventSize: maxLine,
	}, nil)
	if err == nil {
		l.web = r
		go func() {
			_ = l.session.Wait() // why it ended stands in the error of whoever waited for an answer
			r.cut()
			r.gone()
		}()
		return nil
	}
	r.cut()
	l.session = nil
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	why := said.of(err)
	switch {
	case why == nil && greet.Err() != nil:
		why = sys.Errorf(sys.CodeTimeout, "The server %s could not be connected. %s", l.name, sys.Say("It did not answer within %s.", startTime))
	case why == nil:
		why = sys.Errorf(sys.CodeUnavailable, "The server %s could not be connected. %s", l.name, sys.Say("It did not answer as an MCP server does.")).WithHint("Check its address: %s.", l.def.URL)
	}
	if c := sys.CodeOf(why); c == sys.CodeNetwork || c == sys.CodeTimeout {
		l.s.ends(l.name)
	}
	return sys.AsError(why).WithCause(err)
}

// RoundTrip sends one request to the server.
func (r *remote) RoundTrip(req *http.Request) (*http.Response, error) {
	note := noteOf(req.Context())
	if e := note.ended(); e != nil && req.Method == http.MethodPost {
		return nil, e // the library would try an older version of the protocol; that is no answer to it
	}
	note.set(nil)
	calls := note != nil && req.Method == http.MethodPost && methodOf(req) == "tools/call"
	if calls {
		note.called(true)
	}
	res, err := r.send(req)
	if err == nil {
		if calls && res.StatusCode == http.StatusNotFound {
			note.called(false)
		}
		if calls || req.Method == http.MethodGet {
			answerTasks(res)
		}
		return res, nil
	}
	if e, ok := errors.AsType[*sys.Error](err); ok {
		note.set(e)
	}
	if req.Method == http.MethodGet && req.Header.Get("Last-Event-ID") == "" && req.Context().Err() == nil {
		return without(req), nil // a server without a stream of its own can be called all the same
	}
	return nil, err
}

// without is the answer of a server that has no stream of its own.
func without(req *http.Request) *http.Response {
	return &http.Response{
		StatusCode: http.StatusMethodNotAllowed, Status: "405 Method Not Allowed", Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{}, Body: http.NoBody, Request: req,
	}
}

func (r *remote) send(req *http.Request) (*http.Response, error) {
	name, def := r.l.name, r.l.def
	if !r.here(req) { // a redirect that was let through by mistake gets no key
		return nil, errors.New("another origin")
	}
	token := ""
	var err error
	if !def.authorizes() {
		if token, err = r.l.s.token(req.Context(), name, def, ""); err != nil {
			return nil, err
		}
	}
	res, err := r.pass(req, token)
	if err != nil {
		return nil, err
	}
	if res.StatusCode == http.StatusUnauthorized {
		res.Body.Close()
		asked := challengeOf(res)
		if def.authorizes() {
			return nil, sys.Errorf(sys.CodeAuth, "The server %s refuses the key that it gets in the header Authorization. Nothing was called.", name).
				WithHint("Enter it again: `oxios mcp key %s Authorization`.", name)
		}
		if token, err = r.l.s.rejected(req.Context(), name, def, token, asked); err != nil {
			return nil, err
		}
		if res, err = r.pass(req, token); err != nil {
			return nil, err
		}
		if res.StatusCode == http.StatusUnauthorized {
			res.Body.Close()
			if _, err = r.l.s.needs(req.Context(), name, def, token, challengeOf(res)); err == nil {
				err = r.l.s.signInFirst(name) // the person signed in once more, and the next call is made with that
			}
			return nil, err
		}
	}
	if res.StatusCode == http.StatusForbidden {
		res.Body.Close()
		return nil, r.l.s.forbidden(req.Context(), name, def, challengeOf(res))
	}
	r.judge(req, res)
	return res, nil
}

// here reports whether a request goes to the server's own origin.
func (r *remote) here(req *http.Request) bool {
	at, err := security.ReadAddress(req.URL.String())
	return err == nil && at.Host == r.at.Host && at.TLS == r.at.TLS
}

// pass sends a request with a token, and bounds its answer.
func (r *remote) pass(req *http.Request, token string) (*http.Response, error) {
	ctx, cancel := context.WithCancel(req.Context())
	stop := context.AfterFunc(r.ctx, cancel)
	end := func() { stop(); cancel() }
	out := req.Clone(ctx)
	if req.GetBody != nil {
		body, err := req.GetBody()
		if err != nil {
			end()
			return nil, err
		}
		out.Body = body
	}
	out.Header.Set("User-Agent", "Oxios/"+r.l.s.c.Version)
	if id, ok := req.Context().Value(taskIDKey{}).(string); ok && req.Method == http.MethodPost {
		out.Header.Set("Mcp-Name", id)
	}
	for h, v := range r.headers {
		out.Header[h] = v
	}
	if token != "" {
		out.Header.Set("Authorization", "Bearer "+token)
	}
	way := r.calls
	if req.Method == http.MethodGet {
		way = r.listens
	}
	res, err := way.RoundTrip(out)
	if err != nil {
		end()
		if req.Context().Err() != nil {
			return nil, err
		}
		return nil, unreached(r.l.name, r.at.Host, err)
	}
	most := int64(maxStream)
	if !strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		most = maxLine
	}
	note := noteOf(req.Context())
	res.Body = &bounded{ReadCloser: res.Body, left: most, end: end, over: func() error {
		e := sys.Errorf(sys.CodeTooLarge, "The server %s answered with more than %d MB, so the connection was closed.", r.l.name, most>>20).
			WithHint("Ask for less at a time.")
		note.set(e)
		return e
	}}
	return res, nil
}

// judge notes what an answer says that no MCP server says. The library that reads it decides what comes of it.
func (r *remote) judge(req *http.Request, res *http.Response) {
	note := noteOf(req.Context())
	name, host := r.l.name, r.at.Host
	kind, _, _ := strings.Cut(res.Header.Get("Content-Type"), ";")
	switch code := res.StatusCode; {
	case req.Method != http.MethodPost:
	case code == http.StatusTooManyRequests:
		note.set(sys.Errorf(sys.CodeRateLimit, "The server %s takes no more calls for now (429).", name).WithHint("Try again later."))
	case code >= 500:
		note.set(sys.Errorf(sys.CodeUnavailable, "The server %s has a problem of its own (%d).", name, code).WithHint("Try again later. It runs at %s.", host))
	case code == http.StatusNotFound && req.Header.Get("Mcp-Session-Id") != "": // it forgot the session
	case code == http.StatusNotFound || code == http.StatusGone:
		note.set(sys.Errorf(sys.CodeUnavailable, "There is no MCP server at the address of %s (%d).", name, code).WithHint("Check the address: %s.", r.at.URL))
	case code == http.StatusMethodNotAllowed:
		note.set(sys.Errorf(sys.CodeUnavailable, "The address of the server %s takes no MCP messages (405).", name).
			WithHint("It may be the address of an older kind of MCP server. Look for one that speaks streamable HTTP."))
	case code >= 300:
		if kind != "application/json" {
			note.set(sys.Errorf(sys.CodeUnavailable, "The server %s refuses the call (%d).", name, code).WithHint("Check the address and the headers that it needs."))
		}
	case kind == "text/html" || kind == "application/xhtml+xml":
		note.set(sys.Errorf(sys.CodeUnavailable, "The server %s answered with a web page, not as an MCP server does.", name).WithHint("Check the address: %s.", r.at.URL))
	}
}

// redirect decides whether an answer may lead to another address.
func (r *remote) redirect(req *http.Request, via []*http.Request) error {
	err := r.leads(req, via)
	noteOf(req.Context()).set(err)
	if err != nil {
		return err
	}
	return nil
}

func (r *remote) leads(req *http.Request, via []*http.Request) *sys.Error {
	to := sys.Shorten(plain(req.URL.String(), 300), 300)
	switch {
	case len(via) > maxLed:
		return sys.Errorf(sys.CodeRefused, "The server %s leads from address to address without an end.", r.l.name).WithHint("Ask its maker for its address.")
	case r.here(req) && req.Method == via[0].Method:
		return nil
	case !r.here(req) && r.l.s.c.Net.Inside(req.Context(), req.URL.String()):
		return sys.Errorf(sys.CodeRefused, "The server %s leads to %s, which is in your own network. Nothing was sent there.", r.l.name, to).
			WithHint("Do not trust this server. Remove it: `oxios mcp remove %s`.", r.l.name)
	}
	return sys.Errorf(sys.CodeRefused, "The server %s leads to another address, %s. Nothing was sent there.", r.l.name, to).
		WithHint("If you trust that address, add the server with it.")
}

// methodOf is the method of the message that a request carries.
func methodOf(req *http.Request) string {
	var m struct {
		Method string `json:"method"`
	}
	if req.GetBody == nil {
		return ""
	}
	body, err := req.GetBody()
	if err != nil {
		return ""
	}
	defer body.Close()
	_ = json.NewDecoder(body).Decode(&m) // what cannot be read has no method
	return m.Method
}

// note keeps what the last request of a call met.
type note struct {
	mu      sync.Mutex
	err     *sys.Error
	reached bool // the call of the tool was sent, and not answered with 404
}

type noteKey struct{}

// listen returns a context whose requests say what they met.
func listen(ctx context.Context) (context.Context, *note) {
	n := &note{}
	return context.WithValue(ctx, noteKey{}, n), n
}

func noteOf(ctx context.Context) *note {
	n, _ := ctx.Value(noteKey{}).(*note)
	return n
}

func (n *note) set(err *sys.Error) {
	if n == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.err = err
}

func (n *note) called(reached bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.reached = reached
}

// missed reports whether the server knows nothing of the call: it was not sent, or was for a session that the server forgot.
func (n *note) missed() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return !n.reached
}

// ended is why nothing more is sent: the person has to sign in first.
func (n *note) ended() *sys.Error {
	if n == nil {
		return nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.err != nil && n.err.Code == sys.CodeAuth {
		return n.err
	}
	return nil
}

// of is the sentence about a failed call; nil where nothing is known but that it failed.
func (n *note) of(err error) error {
	if e, ok := errors.AsType[*sys.Error](err); ok {
		return e
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.err == nil {
		return nil
	}
	return n.err
}

// refuses reports whether an error is the answer of a server.
func refuses(err error) bool {
	_, ok := errors.AsType[*jsonrpc.Error](err)
	return ok
}

// bounded is the body of an answer that has an end.
type bounded struct {
	io.ReadCloser
	left int64
	over func() error
	end  func()
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		var one [1]byte
		if n, err := b.ReadCloser.Read(one[:]); n == 0 {
			return 0, err
		}
		return 0, b.over()
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

func (b *bounded) Close() error {
	b.end()
	return b.ReadCloser.Close()
}

// readAnswer reads an answer that has to be small.
func readAnswer(r io.Reader) ([]byte, bool) {
	var b bytes.Buffer
	n, err := io.Copy(&b, io.LimitReader(r, maxAnswer+1))
	return b.Bytes(), err == nil && n <= maxAnswer
}

// maxAnswer is how many bytes a document about signing in may have.
const maxAnswer = 1 << 20
