package llm

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"oxios/kernel/sys"
)

func TestTranscriptsGiveTextReasoningToolsAndUsage(t *testing.T) {
	t.Parallel()
	want := map[string]Response{
		"openai-parallel-tools": {
			Message: Message{Role: RoleAssistant, Content: "I will do both: 둘 다 하겠습니다.", ToolCalls: []ToolCall{
				{ID: "call_a", Name: "write", Args: `{"path":"a.txt","content":"x"}`},
				{ID: "call_b", Name: "exec", Args: `{"command":"rm -rf build"}`},
			}},
			FinishReason: FinishTools, Model: "gpt-5-mini-2025-08-07",
			Usage: Usage{Input: 100, Output: 40, Cached: 64, Reasoning: 16, Reported: true},
		},
		"openai-text": {
			Message: Message{Role: RoleAssistant, Content: "Hello 안녕 🎉"}, FinishReason: FinishStop, Model: "gpt-4o",
		},
		"deepseek-reasoning-tool": {
			Message: Message{Role: RoleAssistant, Content: "Writing.", Reasoning: "The person wants a file.", ToolCalls: []ToolCall{
				{ID: "call_00_x", Name: "write", Args: `{"path": "b", "content": "1"}`},
			}},
			FinishReason: FinishTools, Model: "deepseek-v4-pro", Usage: Usage{Input: 10, Output: 20, Cached: 4, Reported: true},
		},
		"gemini-same-index": {
			Message: Message{Role: RoleAssistant, ToolCalls: []ToolCall{
				{ID: "f1", Name: "ls", Args: `{"path":"."}`}, {ID: "f2", Name: "ls", Args: `{"path":"src"}`},
			}},
			FinishReason: FinishTools, Model: "gemini-3.8-flash", Usage: Usage{Input: 50, Output: 25, Reported: true},
		},
		"responses-tools": {
			Message: Message{Role: RoleAssistant, Content: "On it. ", Reasoning: "Two files.", ToolCalls: []ToolCall{
				{ID: "call_1", Name: "write", Args: `{"path":"a","content":"b"}`}, {ID: "call_2", Name: "ls", Args: `{"path":"."}`},
			}},
			FinishReason: FinishTools, Model: "gpt-6-sol", Usage: Usage{Input: 80, Output: 25, Cached: 30, Reasoning: 5, Reported: true},
		},
		"ollama-tools": {
			Message: Message{Role: RoleAssistant, Content: "Looking. ", Reasoning: "A folder.", ToolCalls: []ToolCall{
				{Name: "ls", Args: `{"path":"."}`}, {Name: "read", Args: `{"path":"a \"b\".txt"}`},
			}},
			FinishReason: FinishTools, Model: "qwen3:8b", Usage: Usage{Input: 33, Output: 12, Reported: true},
		},
	}
	for _, tr := range transcripts(t) {
		t.Run(tr.name, func(t *testing.T) {
			t.Parallel()
			p := serveText(t, tr.text)
			ep := at(p)
			ep.Kind = tr.kind
			resp, streamed, err := complete(t, client(t, ep), tr.request())
			if err != nil {
				t.Fatal(err)
			}
			if streamed != resp.Message.Content {
				t.Errorf("streamed %q, returned %q", streamed, resp.Message.Content)
			}
			if resp.FirstToken <= 0 || resp.Total < resp.FirstToken {
				t.Errorf("times: first token %s, total %s", resp.FirstToken, resp.Total)
			}
			resp.FirstToken, resp.Total = 0, 0
			expected := want[tr.name]
			for i, call := range resp.Message.ToolCalls {
				if call.ID == "" {
					t.Errorf("call %d has no id", i)
				}
				if tr.kind == KindOllama { // which gives none
					resp.Message.ToolCalls[i].ID = ""
				}
			}
			if diff := cmp.Diff(&expected, resp); diff != "" {
				t.Errorf("response (-want +got):\n%s", diff)
			}
		})
	}
}

// A stream may break anywhere: between two bytes of a letter, in a tool's
// arguments, before the finish reason. Whatever arrives, no part of a tool call
// may be taken for a whole one.
func TestStreamCutAtEveryByteLeavesNoPartialToolCall(t *testing.T) {
	t.Parallel()
	for _, tr := range transcripts(t) {
		for _, abort := range []bool{false, true} {
			name := tr.name + "/closed"
			if abort {
				name = tr.name + "/reset"
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				var cut atomic.Int64
				p := serve(t, func(w http.ResponseWriter, _ *http.Request) {
					writeStream(w, tr.text[:cut.Load()])
					if abort {
						_ = http.NewResponseController(w).Flush()
						panic(http.ErrAbortHandler)
					}
				})
				ep := at(p)
				ep.Kind = tr.kind
				c := client(t, ep)
				whole := client(t, withText(t, tr))
				full, _, err := complete(t, whole, tr.request())
				if err != nil {
					t.Fatal(err)
				}
				cuts, ends := 0, 0
				for n := range len(tr.text) {
					cut.Store(int64(n))
					resp, _, err := complete(t, c, tr.request())
					if resp == nil {
						if n > 0 && !abort {
							t.Fatalf("cut at %d: no partial response, error %v", n, err)
						}
						continue
					}
					if !strings.HasPrefix(full.Message.Content, resp.Message.Content) {
						t.Fatalf("cut at %d: text %q is no beginning of %q", n, resp.Message.Content, full.Message.Content)
					}
					if err == nil {
						ends++
						if resp.FinishReason == "" || len(resp.Message.ToolCalls) != len(full.Message.ToolCalls) {
							t.Fatalf("cut at %d: taken for an end with %d of %d calls", n, len(resp.Message.ToolCalls), len(full.Message.ToolCalls))
						}
						for i, call := range resp.Message.ToolCalls {
							if call.Args != full.Message.ToolCalls[i].Args {
								t.Fatalf("cut at %d: arguments %q, want %q", n, call.Args, full.Message.ToolCalls[i].Args)
							}
						}
						continue
					}
					cuts++
					if code := sys.CodeOf(err); code != sys.CodeStreamCut {
						t.Fatalf("cut at %d: got code %s (%v), want stream_cut", n, code, err)
					}
					if len(resp.Message.ToolCalls) != 0 {
						t.Fatalf("cut at %d: %d tool calls survived the cut", n, len(resp.Message.ToolCalls))
					}
				}
				if cuts == 0 || ends == 0 {
					t.Errorf("got %d cuts and %d ends, want both", cuts, ends)
				}
			})
		}
	}
}

func withText(t *testing.T, tr transcript) Endpoint {
	ep := at(serveText(t, tr.text))
	ep.Kind = tr.kind
	return ep
}

func TestMalformedStreamsAreErrorsWithoutTools(t *testing.T) {
	t.Parallel()
	call := func(args string) string {
		return `{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"ls","arguments":` + args + `}}]}}]}`
	}
	stopTools := `{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}`
	many := make([]string, 0, 200)
	for i := range 200 {
		many = append(many, `{"choices":[{"delta":{"tool_calls":[{"index":`+strconv.Itoa(i)+`,"id":"c`+strconv.Itoa(i)+`","function":{"name":"ls","arguments":"{}"}}]}}]}`)
	}
	tests := map[string]struct {
		stream string
		code   sys.Code
		text   string
	}{
		"not JSON":                     {events(chunkHello, `{"choices":[{"delta":`, chunkStop), sys.CodeProvider, "Hello"},
		"wrong types":                  {events(chunkHello, `{"choices":"no"}`, chunkStop), sys.CodeProvider, "Hello"},
		"choices are a number":         {events(`{"choices":5}`), sys.CodeProvider, ""},
		"tool calls are a text":        {events(`{"choices":[{"delta":{"tool_calls":"ls"}}]}`), sys.CodeProvider, ""},
		"tool call without a name":     {events(`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c","function":{"arguments":"{}"}}]}}]}`, stopTools, done), sys.CodeProvider, ""},
		"too many tool calls":          {events(append(many, stopTools, done)...), sys.CodeProvider, ""},
		"arguments nested too deep":    {events(call(`"`+strings.Repeat("[", 100)+strings.Repeat("]", 100)+`"`), stopTools, done), sys.CodeProvider, ""},
		"chunk nested too deep":        {events(chunkHello, strings.Repeat(`{"a":`, 20000)+"1"+strings.Repeat("}", 20000)), sys.CodeProvider, "Hello"},
		"a line of 9 MiB":              {events(chunkHello) + "data: " + strings.Repeat("x", 9<<20) + "\n", sys.CodeProvider, "Hello"},
		"nothing at all":               {"", sys.CodeStreamCut, ""},
		"done in the middle of a call": {events(chunkHello, call(`"{\"path\": "`), done), sys.CodeStreamCut, "Hello"},
		"tools and an unknown end":     {events(chunkHello, call(`"{}"`), `{"choices":[{"delta":{},"finish_reason":"banana"}]}`, done), sys.CodeProvider, "Hello"},
		"only comments":                {": hello\n: hello\n\n", sys.CodeStreamCut, ""},
		"an error after a comment":     {": processing\n\n" + events(`{"error":{"message":"upstream died","code":502}}`), sys.CodeProvider, ""},
		"an error as text":             {events(chunkHello, `{"error":"out of memory"}`), sys.CodeProvider, "Hello"},
		"a bare error line":            {`{"error":{"message":"bad","type":"server_error"}}` + "\n", sys.CodeProvider, ""},
		"finish reason error":          {events(chunkHello, `{"choices":[{"delta":{},"finish_reason":"error"}]}`), sys.CodeProvider, "Hello"},
		"a refusal":                    {events(`{"choices":[{"delta":{"refusal":"I cannot help with that."}}]}`, chunkStop, done), sys.CodeModelRefusal, ""},
		"a filter":                     {events(chunkHello, call(`"{}"`), `{"choices":[{"delta":{},"finish_reason":"content_filter"}]}`, done), sys.CodeModelRefusal, "Hello"},
		"a limit in the stream":        {events(`{"error":{"message":"Rate limit reached","code":429}}`), sys.CodeRateLimit, ""},
		"context length in the stream": {events(`{"error":{"message":"This model's maximum context length is 8192 tokens","code":"context_length_exceeded"}}`), sys.CodeContextLength, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			resp, _, err := complete(t, client(t, at(serveText(t, tt.stream))), ask("m"))
			if sys.CodeOf(err) != tt.code {
				t.Fatalf("got %v (%s), want code %s", err, sys.CodeOf(err), tt.code)
			}
			if resp == nil {
				t.Fatal("the partial response is missing")
			}
			if resp.Message.Content != tt.text || len(resp.Message.ToolCalls) != 0 {
				t.Errorf("kept %q and %d tool calls, want %q and none", resp.Message.Content, len(resp.Message.ToolCalls), tt.text)
			}
			if e := sys.AsError(err); e.Hint == "" || len(e.Message) > 1000 {
				t.Errorf("message of %d bytes, hint %q", len(e.Message), e.Hint)
			}
		})
	}
}

func TestOddButGoodStreamsWork(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ stream, text string }{
		"carriage returns":               {strings.ReplaceAll(events(chunkHello, chunkStop, done), "\n", "\r\n"), "Hello"},
		"no space after data":            {strings.ReplaceAll(events(chunkHello, chunkStop, done), "data: ", "data:"), "Hello"},
		"no done":                        {events(chunkHello, chunkStop), "Hello"},
		"no newline at the end":          {strings.TrimRight(events(chunkHello, chunkStop), "\n"), "Hello"},
		"500 comment lines":              {strings.Repeat(": wait\n", 500) + events(chunkHello, chunkStop), "Hello"},
		"content in parts":               {events(`{"choices":[{"delta":{"content":[{"type":"text","text":"Hel"},{"type":"text","text":"lo"}]}}]}`, chunkStop), "Hello"},
		"a second choice is left out":    {events(chunkHello, `{"choices":[{"index":1,"delta":{"content":"other"}}]}`, chunkStop), "Hello"},
		"an answer that does not stream": {`{"choices":[{"index":0,"message":{"role":"assistant","content":"Hello"},"finish_reason":"stop"}]}`, "Hello"},
		"negative counts":                {events(chunkHello, chunkStop, `{"choices":[],"usage":{"prompt_tokens":-5,"completion_tokens":-1}}`), "Hello"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			resp, _, err := complete(t, client(t, at(serveText(t, tt.stream))), ask("m"))
			if err != nil {
				t.Fatal(err)
			}
			if resp.Message.Content != tt.text || resp.Usage.Input < 0 {
				t.Errorf("got %q with usage %+v, want %q", resp.Message.Content, resp.Usage, tt.text)
			}
		})
	}
}

func TestAnswerThatReachedItsLimitRunsNoTool(t *testing.T) {
	t.Parallel()
	p := serveText(t, events(
		`{"choices":[{"delta":{"content":"I","tool_calls":[{"index":0,"id":"c","function":{"name":"ls","arguments":"{}"}}]}}]}`,
		`{"choices":[{"delta":{},"finish_reason":"length"}]}`, done))
	resp, _, err := complete(t, client(t, at(p)), ask("m"))
	if err != nil {
		t.Fatal(err)
	}
	if resp.FinishReason != FinishLength || len(resp.Message.ToolCalls) != 0 || resp.Message.Content != "I" {
		t.Errorf("got %+v, want the text, finish length and no tool call", resp)
	}
}

func TestEndlessAnswerIsStopped(t *testing.T) {
	t.Parallel()
	chunk := events(`{"choices":[{"delta":{"content":"` + strings.Repeat("y", 1<<20) + `"}}]}`)
	p := serve(t, func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, chunk); err != nil {
				return
			}
		}
	})
	resp, _, err := complete(t, client(t, at(p)), ask("m"))
	if sys.CodeOf(err) != sys.CodeProvider || resp == nil || len(resp.Message.Content) > maxBody {
		t.Errorf("got %v, want a provider error with at most 64 MiB kept", err)
	}
}

func FuzzStreamNeverPanicsNorKeepsHalfATool(f *testing.F) {
	for _, tr := range transcripts(f) {
		f.Add(uint8(0), []byte(tr.text))
		f.Add(uint8(1), []byte(tr.text))
		f.Add(uint8(2), []byte(tr.text[:len(tr.text)*2/3]))
	}
	c, err := New(Endpoint{Name: "Peer", BaseURL: "http://127.0.0.1:1/v1"})
	if err != nil {
		f.Fatal(err)
	}
	each := []func(*answer, string, []byte) error{c.chatChunk, c.responsesEvent, c.ollamaChunk}
	f.Fuzz(func(t *testing.T, which uint8, data []byte) {
		a := newAnswer(time.Now(), nil, nil)
		_, w := newWatch(context.Background(), c.ep.Timeout)
		defer w.stop()
		take := each[int(which)%len(each)]
		_, err := readEvents(strings.NewReader(string(data)), w, func(kind string, d []byte) error { return take(a, kind, d) })
		a.end()
		err = c.judgeEnd(a, err)
		resp := a.response(err == nil)
		if err != nil {
			if told := c.explain(context.Background(), err, "m", nil).told; told.Code == "" || told.Message == "" {
				t.Errorf("an error without code or message: %#v", told)
			}
			if len(resp.Message.ToolCalls) != 0 {
				t.Errorf("error %v, and %d tool calls", err, len(resp.Message.ToolCalls))
			}
			return
		}
		if resp.FinishReason == "" {
			t.Error("no finish reason, and no error")
		}
		ids := map[string]bool{}
		for _, call := range resp.Message.ToolCalls {
			if call.Name == "" || call.ID == "" || ids[call.ID] {
				t.Errorf("call %+v lacks a name or an id of its own", call)
			}
			ids[call.ID] = true
		}
	})
}
