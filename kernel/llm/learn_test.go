package llm

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"oxios/kernel/sys"
)

// messagesOf are the messages of a request that came.
func messagesOf(t *testing.T, body string) []map[string]any {
	t.Helper()
	var doc struct {
		Messages []map[string]any `json:"messages"`
	}
	if err := json.Unmarshal([]byte(body), &doc); err != nil {
		t.Fatal(err)
	}
	return doc.Messages
}

// picky refuses each request that fits refuses, with its words.
func picky(t *testing.T, refuses func([]map[string]any) string) *peer {
	t.Helper()
	return serve(t, func(w http.ResponseWriter, _ *http.Request) { writeStream(w, events(chunkHello, chunkStop, done)) }).refusing(t, refuses)
}

func (p *peer) refusing(t *testing.T, refuses func([]map[string]any) string) *peer {
	answer := p.Config.Handler
	p.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(raw))
		if words := refuses(messagesOf(t, string(raw))); words != "" {
			w.WriteHeader(http.StatusBadRequest)
			_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"message": words}})
			return
		}
		answer.ServeHTTP(w, r)
	})
	return p
}

// worked is a conversation in which two turns used a tool.
func worked(model string) Request {
	turn := func(id string) []Message {
		return []Message{
			{Role: RoleUser, Content: "go"},
			{Role: RoleAssistant, Reasoning: "I think " + id, ToolCalls: []ToolCall{{ID: id, Name: "ls", Args: "{}"}}},
			{Role: RoleTool, ToolCallID: id, Content: "a.txt"},
			{Role: RoleAssistant, Content: "done"},
		}
	}
	return Request{Model: model, Messages: append(append(turn("call_0123456789abcdef"), turn("call_fedcba9876543210")...), Message{Role: RoleUser, Content: "and now?"})}
}

func TestWhatAServerWantsBackIsLearnedFromItsRefusal(t *testing.T) {
	t.Parallel()
	calls := func(list []map[string]any, each func(m, call map[string]any) string) string {
		for _, m := range list {
			tcs, _ := m["tool_calls"].([]any)
			for _, tc := range tcs {
				if words := each(m, tc.(map[string]any)); words != "" {
					return words
				}
			}
		}
		return ""
	}
	tests := map[string]func([]map[string]any) string{
		"thoughts of every turn": func(list []map[string]any) string {
			return calls(list, func(m, _ map[string]any) string {
				if m["reasoning_content"] == nil || m["reasoning_content"] == "" {
					return "Missing `reasoning_content` field in the assistant message; it must be passed back in thinking mode"
				}
				return ""
			})
		},
		"no thoughts": func(list []map[string]any) string {
			return calls(list, func(m, _ map[string]any) string {
				if m["reasoning_content"] != nil {
					return "property 'messages.1.reasoning_content' is unsupported"
				}
				return ""
			})
		},
		"ids of nine letters": func(list []map[string]any) string {
			return calls(list, func(_, call map[string]any) string {
				if id, _ := call["id"].(string); len(id) != 9 {
					return "Tool call id was " + id + " but must be a-z, A-Z, 0-9, with a length of 9."
				}
				return ""
			})
		},
	}
	for name, refuses := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := picky(t, refuses)
			c := client(t, at(p))
			for n := range 2 {
				req := worked("deepseek-x")
				req.Messages = req.Messages[:len(req.Messages)-1] // the turn goes on
				req.Messages = req.Messages[:len(req.Messages)-1]
				if resp, _, err := complete(t, c, req); err != nil || resp.Message.Content != "Hello" {
					t.Fatalf("request %d: got %v", n, err)
				}
			}
			if got := p.count(); got > 3 {
				t.Errorf("two requests were sent %d times: what was learned is forgotten", got)
			}
		})
	}
}

func TestNeighboursOfThePersonsSideAreOneMessage(t *testing.T) {
	t.Parallel()
	p := picky(t, func(list []map[string]any) string {
		before := ""
		for _, m := range list {
			role, _ := m["role"].(string)
			text, _ := m["content"].(string)
			switch {
			case role == RoleUser && before == RoleUser:
				return "Conversation roles must alternate user/assistant/user/assistant/..."
			case role == RoleUser && before == RoleTool:
				return "Unexpected role 'user' after role 'tool'"
			case role == RoleAssistant && m["tool_calls"] == nil && strings.TrimSpace(text) == "":
				return "text content blocks must contain non-whitespace text"
			}
			before = role
		}
		return ""
	})
	user := func(s string) Message { return Message{Role: RoleUser, Content: s} }
	call := Message{Role: RoleAssistant, ToolCalls: []ToolCall{{ID: "a", Name: "ls", Args: "{}"}}}
	picture := []Image{{MIME: "image/png", Data: []byte("png")}}
	for name, list := range map[string][]Message{
		"after a failure":       {user("hello"), user("(that run failed)"), user("again")},
		"after an empty answer": {user("hello"), {Role: RoleAssistant}, user("again")},
		"after blank space":     {user("hello"), {Role: RoleAssistant, Content: " \n"}, user("again")},
		"behind a tool":         {user("hello"), call, {Role: RoleTool, ToolCallID: "a", Content: "x"}, user("again")},
		"behind a picture":      {user("hello"), call, {Role: RoleTool, ToolCallID: "a", Content: "x", Images: picture}, user("again")},
		"with a picture":        {{Role: RoleUser, Content: "look", Images: picture}, user("again")},
		"a picture behind":      {user("look"), {Role: RoleUser, Content: "here", Images: picture}},
	} {
		resp, _, err := complete(t, client(t, at(p)), Request{Model: "m", Messages: list})
		if err != nil || resp.Message.Content != "Hello" {
			t.Errorf("%s: got %v", name, err)
		}
		body := p.body(p.count() - 1)
		for _, m := range list {
			if m.Role == RoleUser && !strings.Contains(body, m.Content) {
				t.Errorf("%s: %q was not sent", name, m.Content)
			}
		}
	}
}

func TestWhatAProviderSentWithItsAnswerGoesBack(t *testing.T) {
	t.Parallel()
	p := serveText(t, events(
		`{"choices":[{"index":0,"delta":{"reasoning_details":[{"type":"reasoning.text","index":0,"text":"I "}]}}]}`,
		`{"choices":[{"index":0,"delta":{"reasoning_details":[{"type":"reasoning.text","index":0,"text":"think","signature":"s1"},{"type":"reasoning.encrypted","index":1,"data":"xyz"}]}}]}`,
		`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"ls","arguments":"{}"},"extra_content":{"google":{"thought_signature":"c2ln"}}}]}}]}`,
		`{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`, done))
	c := client(t, at(p))
	resp, _, err := complete(t, c, ask("m"))
	if err != nil {
		t.Fatal(err)
	}
	kept, err := json.Marshal(resp.Message) // the journal keeps it
	if err != nil {
		t.Fatal(err)
	}
	var again Message
	if err := json.Unmarshal(kept, &again); err != nil {
		t.Fatal(err)
	}
	req := ask("m")
	req.Messages = append(req.Messages, again, Message{Role: RoleTool, ToolCallID: "c1", Content: "x"})
	if _, _, err := complete(t, c, req); err != nil {
		t.Fatal(err)
	}
	m := messagesOf(t, p.body(1))[1]
	got, err := json.Marshal(map[string]any{"calls": m["tool_calls"], "details": m["reasoning_details"]})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"calls":[{"extra_content":{"google":{"thought_signature":"c2ln"}},"function":{"arguments":"{}","name":"ls"},"id":"d0f631ca1","type":"function"}],` +
		`"details":[{"index":0,"signature":"s1","text":"I think","type":"reasoning.text"},{"data":"xyz","index":1,"type":"reasoning.encrypted"}]}`
	if string(got) != want {
		t.Errorf("sent back\n%s\nwant\n%s", got, want)
	}
}

func TestCompressedAnswersAreUnpacked(t *testing.T) {
	t.Parallel()
	pack := map[string]func(io.Writer) io.WriteCloser{
		"gzip":    func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) },
		"deflate": func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) },
	}
	for kind, packed := range pack {
		for _, status := range []int{200, 400} {
			p := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Encoding", kind)
				w.Header().Set("Content-Type", "text/event-stream")
				w.WriteHeader(status)
				z := packed(w)
				if status == 200 {
					_, _ = io.WriteString(z, events(chunkHello, chunkStop, done))
				} else {
					_, _ = io.WriteString(z, `{"error":{"message":"the words of the server"}}`)
				}
				_ = z.Close()
			})
			resp, _, err := complete(t, client(t, at(p)), ask("m"))
			switch {
			case status == 200 && (err != nil || resp.Message.Content != "Hello"):
				t.Errorf("%s: got %v", kind, err)
			case status == 400 && (err == nil || !strings.Contains(err.Error(), "the words of the server")):
				t.Errorf("%s: the error is told as %v", kind, err)
			}
		}
	}
	p := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "br")
		_, _ = io.WriteString(w, "\x0b\x02\x80x")
	})
	if _, _, err := complete(t, client(t, at(p)), ask("m")); err == nil || !strings.Contains(err.Error(), "compressed") {
		t.Errorf("an answer that cannot be unpacked is told as %v", err)
	}
}

func TestServersThatNameTheirWaitAreWaitedFor(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		status int
		words  string
		times  int32
	}{
		"a rate with a wait in words": {429, "Rate limit reached. Please try again in 2ms.", 5},
		"a model that is loaded":      {503, "Loading model", 12},
	} {
		var n atomic.Int32
		p := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			if n.Add(1) <= tt.times {
				w.WriteHeader(tt.status)
				_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"message": tt.words}})
				return
			}
			writeStream(w, events(chunkHello, chunkStop, done))
		})
		resp, _, err := complete(t, client(t, at(p), retrying(3, time.Millisecond)), ask("m"))
		if err != nil || resp.Message.Content != "Hello" {
			t.Errorf("%s: got %v after %d requests", name, err, n.Load())
		}
	}
}

func TestAServerThatAlwaysNamesAWaitIsGivenUp(t *testing.T) {
	t.Parallel()
	p := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = io.WriteString(w, `{"error":{"message":"try again in 1ms"}}`)
	})
	_, _, err := complete(t, client(t, at(p), retrying(3, time.Millisecond)), ask("m"))
	if sys.CodeOf(err) != sys.CodeRateLimit || p.count() > maxTold+3 {
		t.Errorf("got %v after %d requests", err, p.count())
	}
}

func TestSilenceBeforeTheAnswerIsWaitedForLonger(t *testing.T) {
	t.Parallel()
	const idle = 150 * time.Millisecond
	quiet := func(before, after string) *peer {
		return serve(t, func(w http.ResponseWriter, r *http.Request) {
			writeStream(w, events(before))
			w.(http.Flusher).Flush()
			select {
			case <-time.After(4 * idle):
				writeStream(w, events(after, chunkStop, done))
			case <-r.Context().Done():
			}
		})
	}
	for name, tt := range map[string]struct {
		p    *peer
		code sys.Code
	}{
		"a role alone":      {quiet(`{"choices":[{"delta":{"role":"assistant","content":""}}]}`, chunkHello), ""},
		"a first thought":   {quiet(`{"choices":[{"delta":{"reasoning_content":"hm"}}]}`, chunkHello), ""},
		"text of an answer": {quiet(chunkHello, chunkHello), sys.CodeTimeout},
	} {
		ep := at(tt.p)
		ep.Timeout = Timeouts{Idle: idle, Think: time.Minute}
		if _, _, err := complete(t, client(t, ep), ask("m")); sys.CodeOf(err) != tt.code {
			t.Errorf("silence behind %s: got %v, want code %q", name, err, tt.code)
		}
	}
}
