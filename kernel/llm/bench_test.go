package llm

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"time"

	openai "github.com/sashabaranov/go-openai"
)

const benchTokens = 2000

var benchStream = strings.Repeat(`data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1763683200,"model":"gpt-5-mini","choices":[{"index":0,"delta":{"content":" word"},"finish_reason":null}]}`+"\n\n", benchTokens) +
	`data: {"id":"chatcmpl-1","model":"gpt-5-mini","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"

func perToken(b *testing.B) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchTokens, "ns/token")
}

// BenchmarkParse is the cost of one token from bytes to a delta, without a
// network.
func BenchmarkParse(b *testing.B) {
	c, err := New(Endpoint{BaseURL: "http://127.0.0.1:1/v1"})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		a := newAnswer(time.Now(), nil, func(Delta) { n++ })
		_, w := newWatch(context.Background(), c.ep.Timeout)
		body := limitBody(io.NopCloser(strings.NewReader(benchStream)), maxBody)
		body.w = w
		_, err := readEvents(body, w, func(kind string, d []byte) error { return c.chatChunk(a, kind, d) })
		if err := c.judgeEnd(a, err); err != nil {
			b.Fatal(err)
		}
		w.stop()
	}
	perToken(b)
}

// BenchmarkRelay is one token over real HTTP, from the server's write to emit.
func BenchmarkRelay(b *testing.B) {
	p := serveText(b, benchStream)
	c := client(b, at(p))
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		if _, err := c.Complete(context.Background(), ask("m"), func(Delta) { n++ }); err != nil {
			b.Fatal(err)
		}
	}
	perToken(b)
}

// BenchmarkRelayLibrary is the same through go-openai's own stream reader.
func BenchmarkRelayLibrary(b *testing.B) {
	p := serveText(b, benchStream)
	config := openai.DefaultConfig("k")
	config.BaseURL = p.URL + "/v1"
	api := openai.NewClientWithConfig(config)
	b.ReportAllocs()
	for b.Loop() {
		s, err := api.CreateChatCompletionStream(context.Background(), openai.ChatCompletionRequest{
			Model: "m", Messages: []openai.ChatCompletionMessage{{Role: RoleUser, Content: "hi"}},
		})
		if err != nil {
			b.Fatal(err)
		}
		for err == nil {
			_, err = s.Recv()
		}
		s.Close()
	}
	perToken(b)
}

// BenchmarkRelayRaw is the floor: the same bytes over real HTTP, split into
// lines and not looked at.
func BenchmarkRelayRaw(b *testing.B) {
	p := serveText(b, benchStream)
	c := client(b, at(p))
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		resp, err := c.http.Post(p.URL, "application/json", strings.NewReader("{}"))
		if err != nil {
			b.Fatal(err)
		}
		raw, err := io.ReadAll(resp.Body)
		if err != nil {
			b.Fatal(err)
		}
		resp.Body.Close()
		for range bytes.Lines(raw) {
			n++
		}
	}
	perToken(b)
}
