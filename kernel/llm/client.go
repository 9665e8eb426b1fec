package llm

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
	openai "github.com/sashabaranov/go-openai"

	"oxios/kernel/sys"
)

// Client is a [Provider] for every kind of endpoint. It may be used from
// several goroutines. Close its idle connections with [Client.Close].
type Client struct {
	ep      Endpoint
	http    *http.Client
	doer    doer
	api     *openai.Client
	log     *slog.Logger
	catalog *Catalogue
	hidden  []string
	tries   uint
	wait    time.Duration

	mu     sync.Mutex
	quirks map[string]quirk // by model: what the server refused before
}

// quirk is what a server turned out not to understand about a model.
type quirk struct {
	noUsage   bool // stream_options
	maxOut    int  // the most tokens that it may be asked for; 0 is no limit that is known
	swapMax   bool // wants the other name of max_tokens
	noEffort  bool
	responses bool // the model answers on the Responses API only
	noThink   bool // Ollama: the model cannot think

	thoughts    thoughts
	shortIDs    bool // wants ids of tool calls as Mistral has them
	strictRoles bool // takes no message of a person's side behind a tool
}

// Option changes how a [Client] works.
type Option func(*Client)

// WithLogger sets where retries are logged; the default discards.
func WithLogger(log *slog.Logger) Option { return func(c *Client) { c.log = log } }

// WithCatalogue sets where prices and context lengths are looked up; the
// default is the embedded catalogue.
func WithCatalogue(cat *Catalogue) Option { return func(c *Client) { c.catalog = cat } }

// New makes a client. It opens no connection.
func New(ep Endpoint, opts ...Option) (*Client, error) {
	ep = ep.withDefaults()
	if err := ep.validate(); err != nil {
		return nil, err
	}
	httpClient, err := newHTTPClient(ep)
	if err != nil {
		return nil, err
	}
	c := &Client{
		ep: ep, http: httpClient, doer: doer{httpClient, ep}, hidden: ep.secrets(),
		log: slog.New(slog.DiscardHandler), catalog: embeddedCatalogue(),
		tries: 3, wait: 500 * time.Millisecond, quirks: map[string]quirk{},
	}
	for _, opt := range opts {
		opt(c)
	}
	config := openai.DefaultConfig(ep.Key)
	config.BaseURL, config.HTTPClient = ep.BaseURL, c.doer
	c.api = openai.NewClientWithConfig(config)
	return c, nil
}

// Endpoint returns the endpoint with its defaults filled in.
func (c *Client) Endpoint() Endpoint { return c.ep }

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Complete streams an answer; see [Provider]. A request is repeated only
// while nothing of an answer came: after a failure of the network, a 429 that
// asks for at most 30 s of patience, or a 5xx. A model that is just being loaded
// is waited for as long as the first byte of an answer is.
func (c *Client) Complete(ctx context.Context, req Request, emit func(Delta)) (*Response, error) {
	if strings.TrimSpace(req.Model) == "" {
		return nil, sys.Errorf(sys.CodeInvalid, "No model is chosen.").WithHint("Choose one in Settings, Models.")
	}
	if len(req.Messages) == 0 {
		return nil, sys.Errorf(sys.CodeInvalid, "The request holds no message.")
	}
	var (
		start  = time.Now()
		pauses = backoff.NewExponentialBackOff()
		tries  = uint(1) // that count
		told   int       // waits that the server asked for, and how long they were
		waited time.Duration
	)
	pauses.InitialInterval, pauses.Multiplier, pauses.MaxInterval = c.wait, 2, 10*time.Second
	a := newAnswer(start, req.Tools, emit)
	last := c.attempt(ctx, req, a)
	for last != nil && last.retry && !a.begun && c.tries > 1 {
		pause, counted := pauses.NextBackOff(), false
		switch {
		case last.loads && time.Since(start) < c.ep.Timeout.FirstByte:
			pause = max(min(4*c.wait, 2*time.Second), last.after)
		case last.after > 0 && waited+last.after <= maxRetryAfter && told < maxTold:
			pause, told, waited = last.after, told+1, waited+last.after
		case tries >= c.tries:
			pause = -1
		default:
			tries, counted, pause = tries+1, true, max(last.after, pause)
		}
		if pause < 0 || !sleep(ctx, pause) {
			break
		}
		c.log.InfoContext(ctx, "Model request repeated", "provider", c.ep.name(), "model", req.Model, "attempt", tries, "code", last.told.Code)
		if emit != nil {
			why := sys.Words{EN: last.told.Message, KO: last.told.MessageKO}
			again := sys.Say("%s Trying again.", why)
			if counted {
				again = sys.Say("%s Trying again (%d of %d).", why, tries, c.tries)
			}
			emit(Delta{Retry: again})
		}
		a = newAnswer(start, req.Tools, emit)
		last = c.attempt(ctx, req, a)
	}
	if last == nil {
		return a.response(true), nil
	}
	if ctx.Err() != nil {
		last = c.explain(ctx, ctx.Err(), req.Model, nil)
	}
	if !a.open {
		return nil, last.told
	}
	return a.response(false), last.told
}

// maxTold is how many times a server may name a wait and is asked again after it,
// beside the tries.
const maxTold = 8

// sleep waits, and reports false when ctx ends first.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// attempt asks once. What the server says it does not understand is left out
// at once and remembered.
func (c *Client) attempt(ctx context.Context, req Request, a *answer) *fault {
	for {
		q := c.quirk(req.Model)
		f := c.ask(ctx, req, q, a)
		if f == nil || a.begun || !c.learn(req, q, f) {
			return f
		}
	}
}

func (c *Client) ask(ctx context.Context, req Request, q quirk, a *answer) *fault {
	wctx, w := newWatch(ctx, c.ep.Timeout)
	defer w.stop()
	wctx, h := withHeld(wctx)
	err := c.send(wctx, req, q)
	if err == nil && h.resp == nil {
		err = errors.New("no response")
	}
	if err == nil {
		err = c.read(wctx, h.resp, w, req, q, a)
	} else if h.resp != nil {
		h.resp.Body.Close()
	}
	if err == nil {
		return nil
	}
	return c.explain(ctx, watchCause(wctx, err), req.Model, h.resp)
}

func (c *Client) send(ctx context.Context, req Request, q quirk) error {
	if c.ep.Kind == KindOllama {
		return c.sendOllama(ctx, req, q)
	}
	if c.usesResponses(req, q) {
		_, err := c.api.CreateResponseStream(ctx, responsesRequest(req, q))
		return err
	}
	ctx, chat, err := withLists(ctx, req, q, chatRequest(req, q))
	if err == nil {
		_, err = c.api.CreateChatCompletionStream(ctx, chat)
	}
	return err
}

// read gathers the answer and judges how it ended.
func (c *Client) read(ctx context.Context, resp *http.Response, w *watch, req Request, q quirk, a *answer) error {
	body := limitBody(resp.Body, maxBody)
	body.w = w
	defer body.Close()
	a.open = true
	each := c.chatChunk
	switch {
	case c.ep.Kind == KindOllama:
		each = c.ollamaChunk
	case c.usesResponses(req, q):
		each = c.responsesEvent
	}
	kind := strings.ToLower(resp.Header.Get("Content-Type"))
	if containsAny(kind, "text/html", "image/", "audio/", "video/", "application/pdf") {
		return c.fault(sys.CodeProvider, false, "Check the address: it usually ends with /v1.",
			"%s answered with %s instead of a model's answer.", c.ep.name(), c.clean(kind, 60))
	}
	done, err := readEvents(body, w, func(kind string, data []byte) error {
		if err := each(a, kind, data); err != nil {
			return err
		}
		switch {
		case a.finish != "":
			w.finishing()
		case a.text.Len() > 0 || len(a.calls) > 0:
			w.answering()
		}
		return nil
	})
	a.end()
	if done && err == nil && a.finish == "" {
		a.finish = a.cleanEnd()
	}
	if cause := context.Cause(ctx); err != nil && a.finish == "" && cause != nil {
		return cause // the watch or the caller ended it, whatever the socket says
	}
	return c.judgeEnd(a, err)
}

func (c *Client) judgeEnd(a *answer, err error) error {
	var f *fault
	switch {
	case errors.As(err, &f):
		return f
	case errors.Is(err, errMalformed):
		return c.fault(sys.CodeProvider, false, "Try again, or choose another provider.", "%s sent a piece of its answer that cannot be read. What came before is kept.", c.ep.name())
	case errors.Is(err, errTooMuch), errors.Is(err, errLongLine):
		return err
	case a.finish == "" && errors.Is(err, errIdle):
		return err // comments alone kept the connection open
	case a.finish == "":
		f = c.fault(sys.CodeStreamCut, true, "Try again.", "%s ended its answer in the middle. What came is kept; no tool of it ran.", c.ep.name())
		f.told.Err = err
		return f
	case a.refusal.Len() > 0:
		return c.fault(sys.CodeModelRefusal, false, "Say it differently, or choose another model.", "The model declined.%s", c.quote(a.refusal.String()))
	case a.finish == FinishFilter:
		return c.fault(sys.CodeModelRefusal, false, "Say it differently, or choose another model.", "The content filter of %s ended the answer. What came is kept; no tool of it ran.", c.ep.name())
	}
	// An error after the finish reason took nothing away from the answer.
	if err := a.check(); err != nil {
		return c.fault(sys.CodeProvider, false, "Try again, or choose another model.", "%s sent %s; no tool of it ran.", c.ep.name(), err)
	}
	return nil
}
