package llm

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// peer is a server whose requests are kept.
type peer struct {
	*httptest.Server
	mu     sync.Mutex
	bodies []string
	paths  []string
	heads  []http.Header
}

func (p *peer) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.bodies)
}

func (p *peer) body(i int) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.bodies[i]
}

func serve(t testing.TB, handle http.HandlerFunc) *peer {
	t.Helper()
	p := &peer{}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		p.mu.Lock()
		p.bodies = append(p.bodies, string(body))
		p.paths = append(p.paths, r.URL.Path)
		p.heads = append(p.heads, r.Header.Clone())
		p.mu.Unlock()
		handle(w, r)
	}))
	t.Cleanup(p.Close)
	return p
}

// serveText answers every request with the same stream.
func serveText(t testing.TB, text string) *peer {
	return serve(t, func(w http.ResponseWriter, _ *http.Request) { writeStream(w, text) })
}

func writeStream(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, text)
}

// retrying sets how often a request is sent at most, and the wait before the second
// time, which then doubles.
func retrying(tries uint, first time.Duration) Option {
	return func(c *Client) { c.tries, c.wait = tries, first }
}

// client asks once and waits little, unless told otherwise.
func client(t testing.TB, ep Endpoint, opts ...Option) *Client {
	t.Helper()
	c, err := New(ep, append([]Option{retrying(1, time.Millisecond)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func at(p *peer) Endpoint {
	return Endpoint{ID: "p", Name: "Peer", BaseURL: p.URL + "/v1", Key: "sk-secret-0123456789"}
}

func ask(model string) Request {
	return Request{Model: model, Messages: []Message{{Role: RoleUser, Content: "hi"}}}
}

func events(data ...string) string {
	var sb strings.Builder
	for _, d := range data {
		fmt.Fprintf(&sb, "data: %s\n\n", d)
	}
	return sb.String()
}

const (
	chunkHello = `{"choices":[{"index":0,"delta":{"content":"Hello"}}]}`
	chunkStop  = `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
	done       = "[DONE]"
)

type transcript struct {
	name, model, kind, text string
}

// transcripts are the recorded forms of an answer, one for each protocol and
// each habit of a server.
func transcripts(t testing.TB) []transcript {
	t.Helper()
	files, err := filepath.Glob("testdata/streams/*.txt")
	if err != nil || len(files) < 6 {
		t.Fatalf("transcripts: got %d files, error %v", len(files), err)
	}
	var out []transcript
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		tr := transcript{name: strings.TrimSuffix(filepath.Base(f), ".txt"), model: "m", text: string(data)}
		switch {
		case strings.HasPrefix(tr.name, "ollama"):
			tr.kind = KindOllama
		case strings.HasPrefix(tr.name, "responses"):
			tr.model = "gpt-6-sol"
		}
		out = append(out, tr)
	}
	return out
}

func (tr transcript) request() Request {
	req := ask(tr.model)
	req.Tools = []Tool{{Name: "write", Description: "Writes."}, {Name: "ls"}}
	return req
}

func complete(t testing.TB, c *Client, req Request) (*Response, string, error) {
	t.Helper()
	var sb strings.Builder
	resp, err := c.Complete(context.Background(), req, func(d Delta) { sb.WriteString(d.Text) })
	return resp, sb.String(), err
}
