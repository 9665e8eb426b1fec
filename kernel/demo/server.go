package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// ModelID is the name of the scripted model.
const ModelID = "oxios-demo"

const (
	maxRequest  = 64 << 20 // bytes of a request
	maxRecorded = 256      // requests that are kept
	maxKept     = 1 << 20  // bytes of a body that are kept
)

// Server plays scenarios over HTTP. It may serve many requests at once.
// Change its fields before the first one only.
type Server struct {
	Key    string   // if set, the bearer token that every request needs
	Models []string // further model names that are known, besides [ModelID]

	scripts []*script

	mu       sync.Mutex
	requests []RecordedRequest
	served   int
	counted  Counted
	used     map[*Turn]int

	embedDim   int
	embedFails *EmbedFault
}

// RecordedRequest is one request as it came, for tests.
type RecordedRequest struct {
	Method   string
	Path     string
	Header   http.Header
	Body     []byte // of a larger one than 1 MiB, the beginning
	Scenario string // which was played
	Step     int    // from 0
	Gone     bool   // the client closed the connection before the answer ended
	Done     bool   // the answer, or what was to be sent of it, ended
}

// New returns a server that plays the scenarios; the first that fits wins. It
// panics on a scenario that [Parse] would refuse.
func New(scenarios ...Scenario) *Server {
	s := &Server{used: map[*Turn]int{}, embedDim: embedDim}
	for _, sc := range scenarios {
		sc.Turns = slices.Clone(sc.Turns) // times counts by address
		script, err := compile(sc)
		if err != nil {
			panic(fmt.Sprintf("demo: scenario %s: %v", sc.Name, err))
		}
		s.scripts = append(s.scripts, script)
	}
	return s
}

// Requests returns the last 256 requests, oldest first.
func (s *Server) Requests() []RecordedRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Served is the number of requests since the start.
func (s *Server) Served() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.served
}

// Counted is what the server's answers came to, as it reported them.
type Counted struct {
	Calls, Input, Output int
}

// Counted returns what was answered since the start.
func (s *Server) Counted() Counted {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counted
}

func (s *Server) count(u *usage) {
	if u == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counted.Calls++
	s.counted.Input += u.Prompt
	s.counted.Output += u.Completion
}

// record keeps a request and returns how to note what became of it.
func (s *Server) record(r *http.Request, body []byte) (note func(func(*RecordedRequest))) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.served++
	number := s.served
	s.requests = append(s.requests, RecordedRequest{
		Method: r.Method, Path: r.URL.Path, Header: r.Header.Clone(), Body: body[:min(len(body), maxKept)],
	})
	if extra := len(s.requests) - maxRecorded; extra > 0 {
		s.requests = slices.Delete(s.requests, 0, extra)
	}
	return func(change func(*RecordedRequest)) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if i := len(s.requests) - 1 - (s.served - number); i >= 0 {
			change(&s.requests[i])
		}
	}
}

// ServeHTTP answers /v1/models, /v1/chat/completions and /v1/embeddings, also
// without /v1.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	if err != nil {
		refuse(w, http.StatusRequestEntityTooLarge, "invalid_request_error", "", "The request is larger than 64 MiB.")
		return
	}
	note := s.record(r, body)
	defer func() {
		gone := r.Context().Err() != nil
		note(func(rec *RecordedRequest) { rec.Done, rec.Gone = true, gone })
	}()
	if s.Key != "" && r.Header.Get("Authorization") != "Bearer "+s.Key {
		refuse(w, http.StatusUnauthorized, "invalid_request_error", "invalid_api_key", "Incorrect API key provided.")
		return
	}
	switch path := strings.TrimPrefix(r.URL.Path, "/v1"); {
	case path == "/models" && r.Method == http.MethodGet:
		s.listModels(w)
	case path == "/chat/completions" && r.Method == http.MethodPost:
		s.complete(w, r, body, note)
	case path == "/embeddings" && r.Method == http.MethodPost:
		s.embed(w, body)
	case path == "/models" || path == "/chat/completions" || path == "/embeddings":
		refuse(w, http.StatusMethodNotAllowed, "invalid_request_error", "", "This method is not allowed here.")
	default:
		refuse(w, http.StatusNotFound, "invalid_request_error", "unknown_url", "Unknown request URL: "+r.Method+" "+r.URL.Path)
	}
}

func (s *Server) listModels(w http.ResponseWriter) {
	type entry struct {
		ID      string `json:"id"`
		Object  string `json:"object"`
		Created int64  `json:"created"`
		OwnedBy string `json:"owned_by"`
		Context int    `json:"context_length"`
	}
	var list []entry
	for _, id := range append([]string{ModelID}, s.Models...) {
		list = append(list, entry{ID: id, Object: "model", Created: 1763683200, OwnedBy: "oxios", Context: 32768})
	}
	writeJSON(w, http.StatusOK, map[string]any{"object": "list", "data": list})
}

type chatRequest struct {
	Model         string            `json:"model"`
	Messages      []message         `json:"messages"`
	Tools         []json.RawMessage `json:"tools"`
	ToolChoice    any               `json:"tool_choice"`
	MaxTokens     int               `json:"max_tokens"`
	MaxCompletion int               `json:"max_completion_tokens"`
	Stream        bool              `json:"stream"`
	StreamOptions *struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
}

func (s *Server) complete(w http.ResponseWriter, r *http.Request, body []byte, note func(func(*RecordedRequest))) {
	var req chatRequest
	if err := json.Unmarshal(body, &req); err != nil {
		refuse(w, http.StatusBadRequest, "invalid_request_error", "", "The body is not the JSON of a chat completion.")
		return
	}
	if req.Model != ModelID && !slices.Contains(s.Models, req.Model) {
		refuse(w, http.StatusNotFound, "invalid_request_error", "model_not_found", fmt.Sprintf("The model `%s` does not exist.", req.Model))
		return
	}
	if len(req.Messages) == 0 {
		refuse(w, http.StatusBadRequest, "invalid_request_error", "", "messages must not be empty.")
		return
	}
	p := s.play(req.Messages)
	note(func(rec *RecordedRequest) { rec.Scenario, rec.Step = p.scenario, p.step })
	if len(p.calls) > 0 && (len(req.Tools) == 0 || req.ToolChoice == "none") {
		p.text = strings.TrimSpace(p.text + " (The script would call " + p.calls[0].Tool + " now, but no tool was offered.)")
		p.calls = nil
	}
	p.shorten(max(req.MaxTokens, req.MaxCompletion))
	if !sleep(r.Context(), p.DelayMS) {
		return
	}
	switch {
	case p.Status != 0:
		s.fail(w, p)
	case p.Raw != "":
		sendRaw(w, r, p)
	case req.Stream:
		s.count(p.usageOf(len(body)))
		stream(w, r, req, p, len(body))
	default:
		s.count(p.usageOf(len(body)))
		writeJSON(w, http.StatusOK, whole(req, p, len(body)))
	}
}

// fail answers with the status of a turn.
func (s *Server) fail(w http.ResponseWriter, p played) {
	if p.RetryAfter != "" {
		w.Header().Set("Retry-After", p.RetryAfter)
	}
	kind := p.ContentType
	if kind == "" {
		kind = "application/json"
	}
	body := p.Body
	if body == "" {
		body = `{"error":{"message":"` + http.StatusText(p.Status) + `","type":"server_error","code":null}}`
	}
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(p.Status)
	_, _ = io.WriteString(w, body) // the client may be gone
}

func refuse(w http.ResponseWriter, status int, typ, code, text string) {
	var c any
	if code != "" {
		c = code
	}
	writeJSON(w, status, map[string]any{"error": map[string]any{"message": text, "type": typ, "param": nil, "code": c}})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client may be gone
}

// sleep waits, and reports false when the client went meanwhile.
func sleep(ctx context.Context, ms int) bool {
	if ms <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(time.Duration(ms) * time.Millisecond)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// Listen opens a loopback address like 127.0.0.1:0. It refuses every other
// one: the demo is for this machine.
func Listen(ctx context.Context, addr string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("demo address %q: %w", addr, err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("demo address %q: it must be on this machine, like 127.0.0.1:0", addr)
	}
	return (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
}

// Serve answers on ln until ctx ends, then closes the connections and returns
// nil. It owns ln.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	srv := &http.Server{
		Handler:           loopbackOnly(s),
		ReadHeaderTimeout: 10 * time.Second,
		BaseContext:       func(net.Listener) context.Context { return ctx },
	}
	stop := context.AfterFunc(ctx, func() { _ = srv.Close() })
	defer stop()
	if err := srv.Serve(ln); err != nil && !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve the demo: %w", err)
	}
	return nil
}

// loopbackOnly keeps web pages away that reach this machine through a name of
// their own.
func loopbackOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := r.Host
		if h, _, err := net.SplitHostPort(host); err == nil {
			host = h
		}
		ip := net.ParseIP(strings.Trim(host, "[]"))
		if host != "localhost" && (ip == nil || !ip.IsLoopback()) {
			refuse(w, http.StatusForbidden, "invalid_request_error", "", "The demo answers on this machine only.")
			return
		}
		next.ServeHTTP(w, r)
	})
}
