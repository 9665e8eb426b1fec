package demo

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestModelsAndErrorsSpeakOpenAI(t *testing.T) {
	t.Parallel()
	s := New(Bundled()...)
	s.Key = "secret"
	url := start(t, s)
	get := func(method, path, key, body string) (int, string) {
		req, err := http.NewRequest(method, url+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+key)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		raw, _ := io.ReadAll(resp.Body)
		return resp.StatusCode, string(raw)
	}
	for _, tt := range []struct {
		method, path, key, body string
		status                  int
		says                    string
	}{
		{"GET", "/v1/models", "secret", "", 200, ModelID},
		{"GET", "/models", "secret", "", 200, ModelID},
		{"GET", "/v1/models", "wrong", "", 401, "invalid_api_key"},
		{"POST", "/v1/chat/completions", "secret", `{"model":"gpt-9","messages":[{"role":"user","content":"x"}]}`, 404, "model_not_found"},
		{"POST", "/v1/chat/completions", "secret", `{`, 400, "not the JSON"},
		{"POST", "/v1/chat/completions", "secret", `{"model":"oxios-demo"}`, 400, "must not be empty"},
		{"GET", "/v1/chat/completions", "secret", "", 405, "not allowed"},
		{"POST", "/v1/images", "secret", "{}", 404, "Unknown request URL"},
	} {
		if status, body := get(tt.method, tt.path, tt.key, tt.body); status != tt.status || !strings.Contains(body, tt.says) {
			t.Errorf("%s %s: got %d %s, want %d with %q", tt.method, tt.path, status, body, tt.status, tt.says)
		}
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	s := New(parse(t, `
[[scenario]]
any = ["status"]
[[scenario.turn]]
times = 2
status = 429
retry_after = "2"
body = '{"error":{"message":"slow down","code":"rate_limit_exceeded"}}'
[[scenario.turn]]
text = "better"

[[scenario]]
any = ["cut chunks"]
[[scenario.turn]]
text = "one two three"
cut_chunks = 2

[[scenario]]
any = ["cut bytes"]
[[scenario.turn]]
text = "one two three"
cut_bytes = 100

[[scenario]]
any = ["malformed"]
[[scenario.turn]]
no_usage = true
[[scenario.turn.call]]
tool = "write"
args = '{"path": "a", "content'

[[scenario]]
any = ["refuse"]
[[scenario.turn]]
refusal = "I will not."
usage = [10, 5, 4, 2]

[[scenario]]
any = ["html"]
[[scenario.turn]]
content_type = "text/html"
raw = "<html></html>"

[[scenario]]
any = ["length"]
[[scenario.turn]]
text = "안녕 🎉"
chars = true
finish = "length"
`)...)
	url := start(t, s)
	body := msg{"model": ModelID, "messages": []msg{user("status")}, "stream": true}
	for i := range 3 {
		resp := post(t, url, body)
		if want := []int{429, 429, 200}[i]; resp.StatusCode != want {
			t.Errorf("request %d: status %d, want %d", i+1, resp.StatusCode, want)
		}
		if i == 0 && resp.Header.Get("Retry-After") != "2" {
			t.Errorf("Retry-After %q", resp.Header.Get("Retry-After"))
		}
	}
	for _, say := range []string{"cut chunks", "cut bytes"} {
		resp := post(t, url, msg{"model": ModelID, "messages": []msg{user(say)}, "stream": true})
		raw, err := io.ReadAll(resp.Body)
		if err == nil || strings.Contains(string(raw), "[DONE]") {
			t.Errorf("%s: got %d bytes and no error", say, len(raw))
		}
		if say == "cut bytes" && len(raw) != 100 {
			t.Errorf("%s: got %d bytes, want 100", say, len(raw))
		}
	}
	if r := talk(t, url, user("malformed")); len(r.args) != 1 || json.Valid([]byte(r.args[0])) || r.usage != nil {
		t.Errorf("malformed: got %+v", r)
	}
	if r := talk(t, url, user("refuse")); r.refusal != "I will not." || r.usage.In["cached_tokens"] != 4 || r.usage.Out["reasoning_tokens"] != 2 {
		t.Errorf("refuse: got %+v", r)
	}
	if resp := post(t, url, msg{"model": ModelID, "messages": []msg{user("html")}, "stream": true}); resp.Header.Get("Content-Type") != "text/html" {
		t.Errorf("html: content type %q", resp.Header.Get("Content-Type"))
	}
	if r := talk(t, url, user("length")); r.text != "안녕 🎉" || r.finish != "length" {
		t.Errorf("length: got %+v", r)
	}
}

func TestHangEndsWhenTheClientGoesAndIsRecorded(t *testing.T) {
	t.Parallel()
	s := New(parse(t, "[[scenario]]\nname = 'hang'\n[[scenario.turn]]\ntext = 'a b'\nhang = true\n")...)
	url := start(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, "POST", url+"/v1/chat/completions", strings.NewReader(
		`{"model":"oxios-demo","stream":true,"messages":[{"role":"user","content":"x"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Test", "yes")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := bufio.NewReader(resp.Body).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	cancel()
	deadline := time.After(10 * time.Second)
	for {
		recs := s.Requests()
		if len(recs) == 1 && recs[0].Done {
			if r := recs[0]; !r.Gone || r.Scenario != "hang" || r.Header.Get("X-Test") != "yes" || !strings.Contains(string(r.Body), "oxios-demo") {
				t.Errorf("recorded %+v", r)
			}
			return
		}
		select {
		case <-deadline:
			t.Fatal("the handler did not see the client go")
		case <-time.After(time.Millisecond):
		}
	}
}

func TestRecordingIsBounded(t *testing.T) {
	t.Parallel()
	s := New(Bundled()...)
	for range maxRecorded + 50 {
		s.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/v1/models", nil))
	}
	if n := len(s.Requests()); n != maxRecorded || s.Served() != maxRecorded+50 {
		t.Errorf("kept %d of %d", n, s.Served())
	}
	if !s.Requests()[0].Done {
		t.Error("an old request was not marked as done")
	}
}

func TestServeIsForThisMachineAndEndsWithItsContext(t *testing.T) {
	t.Parallel()
	for _, addr := range []string{"0.0.0.0:0", "192.0.2.1:80", "example.com:80", "nonsense", ":0"} {
		if ln, err := Listen(t.Context(), addr); err == nil {
			ln.Close()
			t.Errorf("%s was opened", addr)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	ln, err := Listen(ctx, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := New(Bundled()...)
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, ln) }()
	url := "http://" + ln.Addr().String()
	req, err := http.NewRequest("GET", url+"/v1/models", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Host = "evil.example"
	for host, want := range map[string]int{"evil.example": 403, ln.Addr().String(): 200, "localhost:1": 200} {
		req.Host = host
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("Host %s: got %d, want %d", host, resp.StatusCode, want)
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("Serve: %v", err)
	}
}
