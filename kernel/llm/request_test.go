package llm

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"oxios/kernel/sys"
)

// conversation holds every kind of message.
func conversation(model string) Request {
	return Request{
		Model: model, MaxTokens: 500, Effort: "low", ContextLength: 16384,
		Tools: []Tool{{Name: "ls", Description: "Lists.", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}}}`)}, {Name: "now"}},
		Messages: []Message{
			{Role: RoleSystem, Content: "Be brief."},
			{Role: RoleUser, Content: "What is this?", Images: []Image{{MIME: "image/jpeg", Data: []byte("jpg")}}},
			{Role: RoleAssistant, Reasoning: "Look.", ToolCalls: []ToolCall{{ID: "c1", Name: "ls", Args: `{"path":"."}`}, {ID: "c2", Name: "now", Args: `{"broken`}}},
			{Role: RoleTool, ToolCallID: "c1", Content: "a.txt", Images: []Image{{Data: []byte("png")}}},
			{Role: RoleTool, ToolCallID: "c2"},
		},
	}
}

func sent(t *testing.T, p *peer, i int) map[string]any {
	t.Helper()
	var doc map[string]any
	if err := json.Unmarshal([]byte(p.body(i)), &doc); err != nil {
		t.Fatalf("body %q: %v", p.body(i), err)
	}
	return doc
}

func object(t *testing.T, text string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestChatRequestOnTheWire(t *testing.T) {
	t.Parallel()
	p := serveText(t, events(chunkHello, chunkStop, done))
	if _, _, err := complete(t, client(t, at(p)), conversation("deepseek-v4-pro")); err != nil {
		t.Fatal(err)
	}
	if got := p.heads[0].Get("Authorization"); got != "Bearer sk-secret-0123456789" {
		t.Errorf("authorization %q", got)
	}
	want := object(t, `{
		"model": "deepseek-v4-pro", "stream": true, "stream_options": {"include_usage": true}, "max_tokens": 500, "reasoning_effort": "low",
		"tools": [
			{"type": "function", "function": {"name": "ls", "description": "Lists.", "parameters": {"type": "object", "properties": {"path": {"type": "string"}}}}},
			{"type": "function", "function": {"name": "now", "parameters": {"type": "object", "properties": {}}}}],
		"messages": [
			{"role": "system", "content": "Be brief."},
			{"role": "user", "content": [{"type": "text", "text": "What is this?"}, {"type": "image_url", "image_url": {"url": "data:image/jpeg;base64,anBn"}}]},
			{"role": "assistant", "reasoning_content": "Look.", "tool_calls": [
				{"id": "d0f631ca1", "type": "function", "function": {"name": "ls", "arguments": "{\"path\":\".\"}"}},
				{"id": "9c0abe51c", "type": "function", "function": {"name": "now", "arguments": "{\"malformed_arguments\":\"{\\\"broken\"}"}}]},
			{"role": "tool", "tool_call_id": "d0f631ca1", "content": "a.txt"},
			{"role": "tool", "tool_call_id": "9c0abe51c", "content": "(no output)"},
			{"role": "user", "content": [{"type": "text", "text": "The pictures that the tools returned:"}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,cG5n"}}]}
		]}`)
	if diff := cmp.Diff(want, any(sent(t, p, 0))); diff != "" {
		t.Errorf("body (-want +got):\n%s", diff)
	}
}

func TestReasoningModelsGetMaxCompletionTokens(t *testing.T) {
	t.Parallel()
	for _, model := range []string{"o3", "o4-mini", "gpt-5-mini", "gpt-5.6-luna"} {
		p := serveText(t, events(chunkHello, chunkStop, done))
		req := ask(model)
		req.MaxTokens, req.Tools = 99, []Tool{{Name: "ls"}}
		if _, _, err := complete(t, client(t, at(p)), req); err != nil {
			t.Fatalf("%s: %v", model, err)
		}
		if doc := sent(t, p, 0); doc["max_completion_tokens"] != 99.0 || doc["max_tokens"] != nil || p.paths[0] != "/v1/chat/completions" {
			t.Errorf("%s: %s got %v", model, p.paths[0], doc)
		}
	}
}

func TestToolChoiceNoneForbidsTools(t *testing.T) {
	t.Parallel()
	p := serveText(t, events(chunkHello, chunkStop, done))
	req := ask("m")
	req.Tools, req.ToolChoice = []Tool{{Name: "ls"}}, "none"
	if _, _, err := complete(t, client(t, at(p)), req); err != nil {
		t.Fatal(err)
	}
	if doc := sent(t, p, 0); doc["tool_choice"] != "none" {
		t.Errorf("got %v", doc)
	}
}

func TestResponsesAPIForModelsThatNeedIt(t *testing.T) {
	t.Parallel()
	text := transcriptText(t, "responses-tools")
	for _, model := range []string{"gpt-6-sol", "gpt-6.1-sol", "gpt-6-astra", "gpt-6.2-astra", "gpt-5-codex", "o3-pro"} {
		p := serveText(t, text)
		if _, _, err := complete(t, client(t, at(p)), conversation(model)); err != nil {
			t.Fatalf("%s: %v", model, err)
		}
		if p.paths[0] != "/v1/responses" {
			t.Errorf("%s went to %s", model, p.paths[0])
		}
	}
	p := serveText(t, text)
	if _, _, err := complete(t, client(t, at(p)), conversation("gpt-6-sol")); err != nil {
		t.Fatal(err)
	}
	want := object(t, `{
		"model": "gpt-6-sol", "stream": true, "store": false, "max_output_tokens": 500, "reasoning": {"effort": "low", "summary": "auto"},
		"tools": [
			{"type": "function", "name": "ls", "description": "Lists.", "parameters": {"type": "object", "properties": {"path": {"type": "string"}}}},
			{"type": "function", "name": "now", "parameters": {"type": "object", "properties": {}}}],
		"input": [
			{"type": "message", "role": "system", "content": "Be brief."},
			{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "What is this?"}, {"type": "input_image", "image_url": "data:image/jpeg;base64,anBn", "detail": "auto"}]},
			{"type": "function_call", "call_id": "c1", "name": "ls", "arguments": "{\"path\":\".\"}"},
			{"type": "function_call", "call_id": "c2", "name": "now", "arguments": "{\"malformed_arguments\":\"{\\\"broken\"}"},
			{"type": "function_call_output", "call_id": "c1", "output": [{"type": "input_text", "text": "a.txt"}, {"type": "input_image", "image_url": "data:image/png;base64,cG5n", "detail": "auto"}]},
			{"type": "function_call_output", "call_id": "c2", "output": "(no output)"}
		]}`)
	if diff := cmp.Diff(want, any(sent(t, p, 0))); diff != "" {
		t.Errorf("body (-want +got):\n%s", diff)
	}
}

func transcriptText(t *testing.T, name string) string {
	t.Helper()
	for _, tr := range transcripts(t) {
		if tr.name == name {
			return tr.text
		}
	}
	t.Fatalf("no transcript %s", name)
	return ""
}

func TestResponsesEndsThatAreNoEnd(t *testing.T) {
	t.Parallel()
	call := `{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","call_id":"c","name":"ls","arguments":"{}"}}`
	tests := map[string]struct {
		stream string
		code   sys.Code
		finish string
	}{
		"failed":     {events(call, `{"type":"response.failed","response":{"status":"failed","error":{"code":"server_error","message":"boom"}}}`), sys.CodeProvider, ""},
		"error":      {events(call, `{"type":"error","code":"rate_limit_exceeded","message":"slow down"}`), sys.CodeRateLimit, ""},
		"incomplete": {events(call, `{"type":"response.incomplete","response":{"incomplete_details":{"reason":"max_output_tokens"}}}`), "", FinishLength},
		"filtered":   {events(call, `{"type":"response.incomplete","response":{"incomplete_details":{"reason":"content_filter"}}}`), sys.CodeModelRefusal, FinishFilter},
		"refused":    {events(`{"type":"response.refusal.delta","delta":"No."}`, `{"type":"response.completed","response":{}}`), sys.CodeModelRefusal, FinishStop},
		"cut":        {events(call), sys.CodeStreamCut, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			req := ask("gpt-6-sol")
			req.Tools = []Tool{{Name: "ls"}}
			resp, _, err := complete(t, client(t, at(serveText(t, tt.stream))), req)
			if sys.CodeOf(err) != tt.code || resp == nil {
				t.Fatalf("got %v, want code %q", err, tt.code)
			}
			if resp.FinishReason != tt.finish || len(resp.Message.ToolCalls) != 0 {
				t.Errorf("finish %q with %d tool calls, want %q and none", resp.FinishReason, len(resp.Message.ToolCalls), tt.finish)
			}
		})
	}
}

// Servers differ in what they understand. What one refuses is left out at
// once, without a retry's wait, and is not sent to it again.
func TestWhatAServerDoesNotUnderstandIsLeftOut(t *testing.T) {
	t.Parallel()
	refuse := func(w http.ResponseWriter, words string) {
		w.WriteHeader(400)
		raw, _ := json.Marshal(map[string]any{"error": map[string]string{"message": words, "type": "invalid_request_error"}})
		_, _ = w.Write(raw)
	}
	tests := map[string]struct{ key, words string }{
		"stream options": {"stream_options", "Extra inputs are not permitted: stream_options"},
		"effort":         {"reasoning_effort", "Unrecognized request argument supplied: reasoning_effort"},
		"max tokens":     {"max_tokens", "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := serve(t, func(w http.ResponseWriter, _ *http.Request) { writeStream(w, events(chunkHello, chunkStop, done)) })
			strict := serve(t, func(w http.ResponseWriter, r *http.Request) {})
			strict.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				p.mu.Lock()
				p.bodies = append(p.bodies, string(body))
				p.mu.Unlock()
				if strings.Contains(string(body), `"`+tt.key+`"`) {
					refuse(w, tt.words)
					return
				}
				writeStream(w, events(chunkHello, chunkStop, done))
			})
			c := client(t, at(strict))
			for range 2 {
				if _, _, err := complete(t, c, conversation("m")); err != nil {
					t.Fatal(err)
				}
			}
			if p.count() != 3 {
				t.Errorf("got %d requests for two answers, want 3", p.count())
			}
		})
	}
}

func TestServerSendsTheModelToTheResponsesAPI(t *testing.T) {
	t.Parallel()
	p := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/responses" {
			writeStream(w, transcriptText(t, "responses-tools"))
			return
		}
		w.WriteHeader(404)
		_, _ = io.WriteString(w, `{"error":{"message":"This model is only supported in v1/responses and not in v1/chat/completions."}}`)
	})
	resp, _, err := complete(t, client(t, at(p)), ask("new-model"))
	if err != nil || resp.Message.Content != "On it. " {
		t.Errorf("got %v", err)
	}
}

func TestOllamaIsAskedInItsOwnProtocolWithItsContext(t *testing.T) {
	t.Parallel()
	p := serveText(t, transcriptText(t, "ollama-tools"))
	ep := at(p)
	ep.Kind = KindOllama
	if _, _, err := complete(t, client(t, ep), conversation("qwen3:8b")); err != nil {
		t.Fatal(err)
	}
	if p.paths[0] != "/api/chat" {
		t.Errorf("path %s", p.paths[0])
	}
	want := object(t, `{
		"model": "qwen3:8b", "stream": true, "think": true, "options": {"num_ctx": 16384, "num_predict": 500},
		"tools": [
			{"type": "function", "function": {"name": "ls", "description": "Lists.", "parameters": {"type": "object", "properties": {"path": {"type": "string"}}}}},
			{"type": "function", "function": {"name": "now", "parameters": {"type": "object", "properties": {}}}}],
		"messages": [
			{"role": "system", "content": "Be brief."},
			{"role": "user", "content": "What is this?", "images": ["anBn"]},
			{"role": "assistant", "content": "", "thinking": "Look.", "tool_calls": [
				{"function": {"name": "ls", "arguments": {"path": "."}}}, {"function": {"name": "now", "arguments": {"malformed_arguments": "{\"broken"}}}]},
			{"role": "tool", "content": "a.txt", "tool_name": "ls", "images": ["cG5n"]},
			{"role": "tool", "content": "", "tool_name": "now"}
		]}`)
	if diff := cmp.Diff(want, any(sent(t, p, 0))); diff != "" {
		t.Errorf("body (-want +got):\n%s", diff)
	}
}

func TestOllamaErrorsAndThinking(t *testing.T) {
	t.Parallel()
	p := serve(t, func(w http.ResponseWriter, r *http.Request) {})
	p.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch {
		case strings.Contains(string(body), `"gone"`):
			w.WriteHeader(404)
			_, _ = io.WriteString(w, `{"error":"model \"gone\" not found, try pulling it first"}`)
		case strings.Contains(string(body), `"think":true`):
			w.WriteHeader(400)
			_, _ = io.WriteString(w, `{"error":"\"plain\" does not support thinking"}`)
		default:
			_, _ = io.WriteString(w, `{"model":"plain","message":{"role":"assistant","content":"ok"},"done":false}`+"\n")
			_, _ = io.WriteString(w, `{"error":"cuda out of memory"}`+"\n")
		}
	})
	ep := at(p)
	ep.Kind = KindOllama
	c := client(t, ep)
	if _, _, err := complete(t, c, ask("gone")); sys.CodeOf(err) != sys.CodeUnknownModel {
		t.Errorf("missing model: got %v", err)
	}
	req := ask("plain")
	req.Effort = "high"
	resp, _, err := complete(t, c, req)
	if sys.CodeOf(err) != sys.CodeProvider || resp == nil || resp.Message.Content != "ok" || !strings.Contains(err.Error(), "cuda out of memory") {
		t.Errorf("error in the stream: got %v with %+v", err, resp)
	}
}

func TestDeltasNameToolsAndArriveInOrder(t *testing.T) {
	t.Parallel()
	p := serveText(t, transcriptText(t, "deepseek-reasoning-tool"))
	var got []Delta
	if _, err := client(t, at(p)).Complete(t.Context(), ask("m"), func(d Delta) { got = append(got, d) }); err != nil {
		t.Fatal(err)
	}
	want := []Delta{{Reasoning: "The person "}, {Reasoning: "wants a file."}, {Text: "Writing."}, {Tool: "write"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("deltas (-want +got):\n%s", diff)
	}
}

func TestTextArrivesWhileTheAnswerStillRuns(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	p := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		writeStream(w, events(chunkHello))
		flush(w)
		select {
		case <-release:
		case <-time.After(10 * time.Second):
			t.Error("the first piece did not arrive before the end")
		}
		writeStream(w, events(chunkStop, done))
	})
	var once bool
	if _, err := client(t, at(p)).Complete(t.Context(), ask("m"), func(Delta) {
		if !once {
			once = true
			close(release)
		}
	}); err != nil {
		t.Fatal(err)
	}
}

func TestRequestsThatCannotBeSentSayWhy(t *testing.T) {
	t.Parallel()
	p := serveText(t, events(chunkHello, chunkStop, done))
	c := client(t, at(p))
	if _, _, err := complete(t, c, ask("text-davinci-003")); sys.CodeOf(err) != sys.CodeUnknownModel {
		t.Errorf("a model that does not chat: got %v", err)
	}
	req := ask("m")
	req.Tools = []Tool{{Name: "ls", Schema: json.RawMessage("{broken")}}
	for _, kind := range []string{KindOpenAI, KindOllama} {
		ep := at(p)
		ep.Kind = kind
		if _, _, err := complete(t, client(t, ep), req); sys.CodeOf(err) != sys.CodeInvalid {
			t.Errorf("%s: a broken schema: got %v", kind, err)
		}
	}
	if p.count() != 0 {
		t.Errorf("%d requests were sent", p.count())
	}
	req = ask("gpt-6-astra")
	req.Effort = "minimal" // which this model does not know
	if _, _, err := complete(t, c, req); err != nil {
		t.Errorf("an unknown effort is not left out: %v", err)
	}
}

func TestServerThatAllowsFewerTokensIsAskedForFewer(t *testing.T) {
	t.Parallel()
	var p *peer
	asked := 0
	p = serve(t, func(w http.ResponseWriter, _ *http.Request) {
		doc := sent(t, p, asked)
		asked++
		if doc["max_tokens"].(float64) > 5000 {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"error":{"message":"max_tokens is too large: this model supports at most 5000 completion tokens"}}`)
			return
		}
		writeStream(w, events(chunkHello, chunkStop, done))
	})
	c := client(t, at(p))
	req := ask("m")
	req.MaxTokens = 16384
	for i, want := range []float64{16384, 8192, 4096, 4096} {
		if i == 0 || i == 3 { // the second request knows already
			if _, _, err := complete(t, c, req); err != nil {
				t.Fatal(err)
			}
		}
		if got := sent(t, p, i)["max_tokens"]; got != want {
			t.Errorf("request %d: got %v, want %v", i, got, want)
		}
	}
	req.MaxTokens = 100
	if _, _, err := complete(t, c, req); err != nil || sent(t, p, 4)["max_tokens"] != 100.0 {
		t.Errorf("got %v, %v, want the 100 that were asked for", sent(t, p, 4)["max_tokens"], err)
	}
}
