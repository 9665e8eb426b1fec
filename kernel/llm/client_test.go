package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"oxios/kernel/sys"
)

func TestErrorsOfServersGetACodeASentenceAndAHint(t *testing.T) {
	t.Parallel()
	openAI := func(message, code string) string {
		raw, err := json.Marshal(map[string]any{"error": map[string]any{
			"message": message, "type": "invalid_request_error", "param": nil, "code": code,
		}})
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	tests := []struct {
		name   string
		status int
		body   string
		code   sys.Code
		says   string
	}{
		{"wrong key", 401, openAI("Incorrect API key provided: sk-secret-0123456789.", "invalid_api_key"), sys.CodeAuth, "refused the key"},
		{"wrong key at Google", 400, `[{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}]`, sys.CodeAuth, "API key not valid"},
		{"forbidden", 403, openAI("Country not supported", "unsupported_country"), sys.CodeAuth, "Country not supported"},
		{"no credit", 429, openAI("You exceeded your current quota", "insufficient_quota"), sys.CodeQuota, "no credit"},
		{"payment", 402, `{"error":{"message":"Insufficient credits","code":402}}`, sys.CodeQuota, "Insufficient credits"},
		{"rate limit", 429, openAI("Rate limit reached for requests", "rate_limit_exceeded"), sys.CodeRateLimit, "too many requests"},
		{"context length", 400, openAI("This model's maximum context length is 8192 tokens.", "context_length_exceeded"), sys.CodeContextLength, "8192"},
		{"context length at llama.cpp", 400, `{"error":{"code":400,"message":"the request exceeds the available context size. try increasing the context size","type":"invalid_request_error"}}`, sys.CodeContextLength, "does not fit"},
		{"unknown model", 404, openAI("The model `m` does not exist", "model_not_found"), sys.CodeUnknownModel, "does not know the model m"},
		{"unknown model at Ollama", 404, `{"error":"model 'm' not found"}`, sys.CodeUnknownModel, "not found"},
		{"wrong address", 404, `<html><body>404 page</body></html>`, sys.CodeProvider, "nothing at"},
		{"filter", 400, openAI("Your request was rejected as a result of our safety system.", "content_policy_violation"), sys.CodeModelRefusal, "declined"},
		{"server trouble", 500, `{"error":{"message":"boom"}}`, sys.CodeProvider, "HTTP 500"},
		{"overloaded", 529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, sys.CodeProvider, "Overloaded"},
		{"gateway timeout", 504, `upstream timed out`, sys.CodeTimeout, "took too long"},
		{"too large", 413, `{"error":{"message":"Payload too large"}}`, sys.CodeTooLarge, "too large"},
		{"detail of FastAPI", 422, `{"detail":[{"msg":"field required"}]}`, sys.CodeProvider, "field required"},
		{"message is a list", 400, `{"error":{"message":["a is wrong","b too"]}}`, sys.CodeProvider, "a is wrong"},
		{"no tools", 400, `{"error":"registry/gemma does not support tools"}`, sys.CodeProvider, "cannot use tools"},
		{"control characters", 400, openAI("bad \x1b[31mred\x1b[0m\u202e thing\r\nsecond line", "x"), sys.CodeProvider, "bad [31mred[0m thing second line"},
		{"a long story", 400, openAI(strings.Repeat("long ", 1000), "x"), sys.CodeProvider, "long …"},
		{"empty", 400, ``, sys.CodeProvider, "rejected the request (HTTP 400)"},
		{"broken JSON", 400, `{"error":`, sys.CodeProvider, "rejected"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(tt.status)
				_, _ = io.WriteString(w, tt.body)
			})
			resp, _, err := complete(t, client(t, at(p)), ask("m"))
			if resp != nil {
				t.Errorf("a response came with the error: %+v", resp)
			}
			e := sys.AsError(err)
			if e == nil || e.Code != tt.code {
				t.Fatalf("got %v (%s), want code %s", err, sys.CodeOf(err), tt.code)
			}
			if !strings.Contains(e.Message, tt.says) && !strings.Contains(strings.ReplaceAll(e.Message, "long…", "long …"), tt.says) {
				t.Errorf("message %q does not say %q", e.Message, tt.says)
			}
			if e.Hint == "" || len(e.Message) > 700 {
				t.Errorf("hint %q, message of %d bytes", e.Hint, len(e.Message))
			}
			assertHidden(t, "sk-secret-0123456789", e)
		})
	}
}

func assertHidden(t *testing.T, secret string, e *sys.Error) {
	t.Helper()
	for _, text := range []string{e.Error(), fmt.Sprintf("%+v", e), fmt.Sprint(e.Err)} {
		if strings.Contains(text, secret) {
			t.Errorf("the key stands in %q", text)
		}
	}
}

func TestEndpointNeverPrintsItsSecrets(t *testing.T) {
	t.Parallel()
	ep := Endpoint{
		Name: "X", BaseURL: "https://user:passw0rd@example.com/v1", Key: "sk-secret-0123456789",
		Headers: map[string]string{"X-Api-Key": "header-secret-9"},
	}
	raw, err := json.Marshal(ep)
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "endpoint", ep)
	for _, text := range []string{fmt.Sprint(ep), fmt.Sprintf("%+v", ep), fmt.Sprintf("%#v", ep), string(raw), log.String()} {
		if strings.Contains(text, "sk-secret") || strings.Contains(text, "header-secret") {
			t.Errorf("a secret stands in %q", text)
		}
	}
	c, err := New(ep)
	if err != nil {
		t.Fatal(err)
	}
	if got := c.clean("x sk-secret-0123456789 passw0rd header-secret-9", 100); got != "x [hidden] [hidden] [hidden]" {
		t.Errorf("clean: got %q", got)
	}
}

func TestRetryHappensBeforeTheFirstDeltaOnly(t *testing.T) {
	t.Parallel()
	good := events(chunkHello, chunkStop, done)
	tests := map[string]struct {
		first    http.HandlerFunc
		requests int
		code     sys.Code
	}{
		"503":               {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) }, 2, ""},
		"429":               {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(429) }, 2, ""},
		"connection closed": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, 2, ""},
		"empty stream":      {func(w http.ResponseWriter, _ *http.Request) { writeStream(w, "") }, 2, ""},
		"401":               {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) }, 1, sys.CodeAuth},
		"cut after text":    {func(w http.ResponseWriter, _ *http.Request) { writeStream(w, events(chunkHello)) }, 1, sys.CodeStreamCut},
		"no credit": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(429)
			_, _ = io.WriteString(w, `{"error":{"message":"quota","code":"insufficient_quota"}}`)
		}, 1, sys.CodeQuota},
		"a long Retry-After": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "3600")
			w.WriteHeader(429)
		}, 1, sys.CodeQuota},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var n atomic.Int64
			p := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if n.Add(1) == 1 {
					tt.first(w, r)
					return
				}
				writeStream(w, good)
			})
			var retries []string
			resp, err := client(t, at(p), retrying(3, time.Millisecond)).Complete(t.Context(), ask("m"), func(d Delta) {
				if d.Retry.EN != "" {
					retries = append(retries, d.Retry.EN)
				}
			})
			if sys.CodeOf(err) != tt.code || p.count() != tt.requests || len(retries) != tt.requests-1 {
				t.Fatalf("got %v after %d requests and %d retries, want code %q after %d", err, p.count(), len(retries), tt.code, tt.requests)
			}
			if tt.code == "" && resp.Message.Content != "Hello" {
				t.Errorf("got %q", resp.Message.Content)
			}
			if len(retries) > 0 && !strings.Contains(retries[0], "Trying again (2 of 3)") {
				t.Errorf("retry says %q", retries[0])
			}
		})
	}
}

func TestThreeTriesAndNoMore(t *testing.T) {
	t.Parallel()
	p := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) })
	_, _, err := complete(t, client(t, at(p), retrying(3, time.Millisecond)), ask("m"))
	if sys.CodeOf(err) != sys.CodeProvider || p.count() != 3 {
		t.Errorf("got %v after %d requests, want 3", err, p.count())
	}
}

func TestRetryAfterIsHonoured(t *testing.T) {
	t.Parallel()
	var first time.Time
	p := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		if first.IsZero() {
			first = time.Now()
			w.Header().Set("Retry-After-Ms", "250")
			w.WriteHeader(429)
			return
		}
		if d := time.Since(first); d < 250*time.Millisecond {
			t.Errorf("asked again after %s, want 250 ms at least", d)
		}
		writeStream(w, events(chunkHello, chunkStop, done))
	})
	if _, _, err := complete(t, client(t, at(p), retrying(2, time.Millisecond)), ask("m")); err != nil {
		t.Fatal(err)
	}
}

func TestSilenceEndsWithATimeoutThatSaysSo(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		handle  http.HandlerFunc
		timeout Timeouts
		says    string
		kept    string
	}{
		"no headers":        {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, Timeouts{FirstByte: 50 * time.Millisecond}, "did not begin", ""},
		"headers, no bytes": {func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(200); flush(w); <-r.Context().Done() }, Timeouts{FirstByte: 50 * time.Millisecond}, "did not begin", ""},
		"stops in the middle": {func(w http.ResponseWriter, r *http.Request) {
			writeStream(w, events(chunkHello))
			flush(w)
			<-r.Context().Done()
		}, Timeouts{Idle: 50 * time.Millisecond}, "stopped in the middle", "Hello"},
		"only comments": {func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				writeStream(w, ": wait\n")
				flush(w)
				time.Sleep(5 * time.Millisecond)
			}
		}, Timeouts{FirstByte: 100 * time.Millisecond, Idle: 20 * time.Millisecond}, "stopped in the middle", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := serve(t, tt.handle)
			ep := at(p)
			ep.Timeout = tt.timeout
			resp, text, err := complete(t, client(t, ep), ask("m"))
			if sys.CodeOf(err) != sys.CodeTimeout || !strings.Contains(err.Error(), tt.says) {
				t.Fatalf("got %v, want a timeout that says %q", err, tt.says)
			}
			if text != tt.kept || (tt.kept != "" && resp.Message.Content != tt.kept) {
				t.Errorf("kept %q, want %q", text, tt.kept)
			}
		})
	}
}

func flush(w http.ResponseWriter) { _ = http.NewResponseController(w).Flush() }

func TestSlowReaderIsNotTakenForASilentServer(t *testing.T) {
	t.Parallel()
	p := serveText(t, events(chunkHello, chunkHello, chunkStop, done))
	ep := at(p)
	ep.Timeout.Idle = 30 * time.Millisecond
	_, err := client(t, ep).Complete(t.Context(), ask("m"), func(Delta) { time.Sleep(60 * time.Millisecond) })
	if err != nil {
		t.Errorf("got %v", err)
	}
}

func TestServerThatStaysOpenAfterTheEndIsLeft(t *testing.T) {
	t.Parallel()
	p := serve(t, func(w http.ResponseWriter, r *http.Request) {
		writeStream(w, events(chunkHello, chunkStop))
		flush(w)
		<-r.Context().Done()
	})
	ep := at(p)
	ep.Timeout.Idle = 50 * time.Millisecond
	resp, _, err := complete(t, client(t, ep), ask("m"))
	if err != nil || resp.Message.Content != "Hello" {
		t.Errorf("got %v, want the whole answer", err)
	}
}

func TestCancellationClosesTheSocketWithinASecond(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{KindOpenAI, KindOllama} {
		gone := make(chan time.Time, 1)
		p := serve(t, func(w http.ResponseWriter, r *http.Request) {
			text := events(chunkHello)
			if kind == KindOllama {
				text = `{"model":"m","message":{"content":"Hello"},"done":false}` + "\n"
			}
			writeStream(w, text)
			flush(w)
			<-r.Context().Done()
			gone <- time.Now()
		})
		ep := at(p)
		ep.Kind = kind
		ctx, cancel := context.WithCancel(t.Context())
		var stopped time.Time
		resp, err := client(t, ep).Complete(ctx, ask("m"), func(Delta) { stopped = time.Now(); cancel() })
		if sys.CodeOf(err) != sys.CodeCanceled || !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v, want canceled", kind, err)
		}
		if resp == nil || resp.Message.Content != "Hello" {
			t.Errorf("%s: the partial answer is lost: %+v", kind, resp)
		}
		select {
		case when := <-gone:
			if d := when.Sub(stopped); d > time.Second {
				t.Errorf("%s: the server saw the end after %s", kind, d)
			}
		case <-time.After(5 * time.Second):
			t.Fatalf("%s: the server never saw the connection close", kind)
		}
		cancel()
	}
}

func TestStopDuringARetryWaitEndsAtOnce(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	p := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		time.AfterFunc(50*time.Millisecond, cancel)
		w.WriteHeader(503)
	})
	start := time.Now()
	_, err := client(t, at(p), retrying(3, time.Minute)).Complete(ctx, ask("m"), nil)
	if sys.CodeOf(err) != sys.CodeCanceled || time.Since(start) > 5*time.Second {
		t.Errorf("got %v after %s", err, time.Since(start))
	}
}

func TestBadEndpointsAndRequestsAreRefusedWithASentence(t *testing.T) {
	t.Parallel()
	for _, ep := range []Endpoint{
		{BaseURL: "not a url"},
		{BaseURL: "ftp://x/v1"},
		{BaseURL: "https://x/v1?key=1"},
		{BaseURL: "https://x", Kind: "claude"},
		{BaseURL: "https://x", Key: "two words"},
		{BaseURL: "https://x", ProxyURL: "::"},
		{Kind: KindOllama},
	} {
		if _, err := New(ep); sys.CodeOf(err) != sys.CodeInvalid || sys.AsError(err).Hint == "" {
			t.Errorf("%s: got %v, want invalid with a hint", ep.BaseURL, err)
		}
	}
	c := client(t, Endpoint{BaseURL: "http://127.0.0.1:1/v1/chat/completions/"})
	if got := c.Endpoint().BaseURL; got != "http://127.0.0.1:1/v1" {
		t.Errorf("base URL %q", got)
	}
	for _, req := range []Request{{}, {Model: "m"}} {
		if _, err := c.Complete(t.Context(), req, nil); sys.CodeOf(err) != sys.CodeInvalid {
			t.Errorf("%+v: got %v, want invalid", req, err)
		}
	}
}
