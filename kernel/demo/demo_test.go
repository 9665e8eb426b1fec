package demo

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func start(t testing.TB, s *Server) string {
	t.Helper()
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	return srv.URL
}

func parse(t testing.TB, text string) []Scenario {
	t.Helper()
	list, err := Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

type msg = map[string]any

func user(text string) msg { return msg{"role": "user", "content": text} }

// reply is an answer put together from the wire.
type reply struct {
	text, reasoning, refusal, finish string
	names, args, ids                 []string
	usage                            *usage
	chunks                           int
	done                             bool
}

func post(t testing.TB, url string, body any) *http.Response {
	t.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.Post(url+"/v1/chat/completions", "application/json", strings.NewReader(string(raw)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

func talk(t testing.TB, url string, messages ...msg) reply {
	t.Helper()
	resp := post(t, url, msg{
		"model": ModelID, "messages": messages, "stream": true, "stream_options": msg{"include_usage": true},
		"tools": []any{msg{"type": "function", "function": msg{"name": "any"}}},
	})
	if resp.StatusCode != 200 {
		t.Fatalf("status %d", resp.StatusCode)
	}
	return read(t, resp)
}

func read(t testing.TB, resp *http.Response) reply {
	t.Helper()
	var r reply
	sc := bufio.NewScanner(resp.Body)
	for sc.Scan() {
		data, ok := strings.CutPrefix(sc.Text(), "data: ")
		if !ok {
			continue
		}
		if data == "[DONE]" {
			r.done = true
			continue
		}
		var c streamChunk
		if err := json.Unmarshal([]byte(data), &c); err != nil {
			t.Fatalf("chunk %q: %v", data, err)
		}
		r.chunks++
		if c.Usage != nil {
			r.usage = c.Usage
		}
		for _, ch := range c.Choices {
			r.text += ch.Delta.Content
			r.reasoning += ch.Delta.Reasoning
			r.refusal += ch.Delta.Refusal
			for _, tc := range ch.Delta.ToolCalls {
				if tc.ID != "" {
					r.ids, r.names, r.args = append(r.ids, tc.ID), append(r.names, tc.Function.Name), append(r.args, "")
				}
				r.args[*tc.Index] += tc.Function.Arguments
			}
			if ch.Finish != nil {
				r.finish = *ch.Finish
			}
		}
	}
	return r
}

// goOn adds an answer and the results of its tools to a conversation.
func goOn(messages []msg, r reply, results ...string) []msg {
	var calls []any
	for i, id := range r.ids {
		calls = append(calls, msg{"id": id, "type": "function", "function": msg{"name": r.names[i], "arguments": r.args[i]}})
	}
	messages = append(messages, msg{"role": "assistant", "content": r.text, "tool_calls": calls})
	for i, id := range r.ids {
		messages = append(messages, msg{"role": "tool", "tool_call_id": id, "content": results[min(i, len(results)-1)]})
	}
	return messages
}

func TestBundledDemoPlaysInBothLanguages(t *testing.T) {
	t.Parallel()
	url := start(t, New(Bundled()...))
	tests := []struct{ say, tool, args, result, ends string }{
		{"Write a hello file", "write", `"path": "hello.txt"`, "wrote 18 bytes", "is written"},
		{"make hello.txt file please", "write", `"content"`, "Denied by the person", "not written"},
		{"hello 파일을 만들어 줘", "write", `안녕하세요`, "ok", "만들었습니다"},
		{"Show me the folder", "ls", `"path": "."`, "a.txt\nb.txt", "a.txt\nb.txt"},
		{"폴더를 보여 줘", "ls", `"."`, "a.txt", "a.txt"},
		{"Read notes.md", "read", `"notes.md"`, "the note", "the note"},
		{"Run the date command", "exec", `"date"`, "Sat Nov 21", "Sat Nov 21"},
		{"date 명령을 실행해 줘", "exec", `"date"`, "11월 21일", "11월 21일"},
		{"Push my changes", "exec", `"git push"`, "Everything up-to-date", "were pushed"},
		{"Push my changes", "exec", `"git push"`, "The person denied this call: not today", "You said no"},
		{"push it", "exec", `"git push"`, "fatal: not a git repository", "reported an error"},
		{"푸시해 줘", "exec", `"git push"`, "거절됨", "거절하셨으므로"},
		{"Delete hello.txt", "exec", `"rm hello.txt"`, "denied", "nothing was deleted"},
		{"hello.txt를 삭제해 줘", "exec", `"rm hello.txt"`, "", "지웠습니다"},
		{"Use sudo to list root", "exec", `"sudo ls /root"`, "refused: tier 3", "That was refused"},
		{"sudo를 써 줘", "exec", `"sudo ls /root"`, "refused", "예상대로 거부되었습니다"},
		{"This is a connection test. Call the tool report_number with the number 7.", "report_number", `{"number": 7}`, "ok", "Reported"},
	}
	for _, tt := range tests {
		conversation := []msg{{"role": "system", "content": "You are an agent."}, user(tt.say)}
		first := talk(t, url, conversation...)
		if len(first.names) != 1 || first.names[0] != tt.tool || !strings.Contains(first.args[0], tt.args) || !json.Valid([]byte(first.args[0])) {
			t.Errorf("%s: calls %v %v, want %s with %s", tt.say, first.names, first.args, tt.tool, tt.args)
			continue
		}
		if first.finish != "tool_calls" || !first.done || first.usage == nil || first.usage.Prompt == 0 {
			t.Errorf("%s: finish %q, done %v, usage %v", tt.say, first.finish, first.done, first.usage)
		}
		second := talk(t, url, goOn(conversation, first, tt.result)...)
		if second.finish != "stop" || !strings.Contains(second.text, tt.ends) {
			t.Errorf("%s after %q: got %q, want it to say %q", tt.say, tt.result, second.text, tt.ends)
		}
	}
	for say, says := range map[string]string{
		"Hello!": "scripted demo", "안녕": "데모", "What is the meaning of life?": "You can try", "인생의 의미는?": "해 볼 수 있습니다",
		"This is a connection test. Reply with the single word: ready": "ready",
	} {
		if r := talk(t, url, user(say)); !strings.Contains(r.text, says) || len(r.names) > 0 || r.finish != "stop" {
			t.Errorf("%s: got %q", say, r.text)
		}
	}
}

func TestNonStreamingAnswerIsTheSame(t *testing.T) {
	t.Parallel()
	url := start(t, New(Bundled()...))
	resp := post(t, url, msg{"model": ModelID, "messages": []msg{user("Run the date command")}, "tools": []any{msg{}}})
	var doc struct {
		Choices []struct {
			Message struct {
				Content   string
				ToolCalls []toolCall `json:"tool_calls"`
			}
			Finish string `json:"finish_reason"`
		}
		Usage *usage
	}
	if err := json.NewDecoder(resp.Body).Decode(&doc); err != nil {
		t.Fatal(err)
	}
	m := doc.Choices[0]
	if m.Finish != "tool_calls" || len(m.Message.ToolCalls) != 1 || m.Message.ToolCalls[0].Function.Name != "exec" || m.Message.ToolCalls[0].ID == "" || doc.Usage == nil {
		t.Errorf("got %+v", doc)
	}
}

func TestTurnComesFromTheConversationAlone(t *testing.T) {
	t.Parallel()
	s := New(parse(t, `
[[scenario]]
match = 'go (\w+)'
[[scenario.turn]]
repeat = 200
text = "step {{n}}"
[[scenario.turn.call]]
tool = "noop"
args = '{"who": "{{1}}", "n": {{n}}}'
[[scenario.turn]]
text = "done after {{result}}"
`)...)
	url := start(t, s)
	var wg sync.WaitGroup
	for _, who := range []string{"ann", "bob", "cyd"} {
		wg.Go(func() {
			conversation := []msg{user("go " + who)}
			for n := 1; n <= 200; n += 66 {
				for len(conversation) < 1+2*(n-1) {
					conversation = append(conversation, msg{"role": "assistant"}, msg{"role": "tool", "content": "r"})
				}
				r := talk(t, url, conversation...)
				if want := fmt.Sprintf(`{"who": "%s", "n": %d}`, who, n); len(r.args) != 1 || r.args[0] != want {
					t.Errorf("%s: got %v, want %s", who, r.args, want)
				}
			}
			for len(conversation) < 401 {
				conversation = append(conversation, msg{"role": "assistant"}, msg{"role": "tool", "content": "r"})
			}
			if r := talk(t, url, conversation...); r.text != "done after r" {
				t.Errorf("end: got %q", r.text)
			}
			if r := talk(t, url, append(conversation, msg{"role": "assistant"})...); !strings.Contains(r.text, "ends here") {
				t.Errorf("behind the end: got %q", r.text)
			}
		})
	}
	wg.Wait()
}

func TestLoopGoesOnUntilNoToolIsOffered(t *testing.T) {
	t.Parallel()
	url := start(t, New(parse(t, "[[scenario]]\nloop = true\n[[scenario.turn]]\n[[scenario.turn.call]]\ntool = 'ls'\nargs = '{}'\n")...))
	conversation := []msg{user("x")}
	for range 30 {
		r := talk(t, url, conversation...)
		if len(r.names) != 1 {
			t.Fatalf("the loop ended: %+v", r)
		}
		conversation = goOn(conversation, r, "ok")
	}
	seen := map[string]bool{}
	for _, m := range conversation {
		if id, ok := m["tool_call_id"].(string); ok {
			if seen[id] {
				t.Fatalf("the id %s came twice", id)
			}
			seen[id] = true
		}
	}
	for _, body := range []msg{
		{"model": ModelID, "messages": conversation, "stream": true},
		{"model": ModelID, "messages": conversation, "stream": true, "tools": []any{msg{}}, "tool_choice": "none"},
	} {
		if r := read(t, post(t, url, body)); len(r.names) != 0 || r.finish != "stop" || !strings.Contains(r.text, "no tool was offered") {
			t.Errorf("without tools: got %+v", r)
		}
	}
}

func TestParseErrorsPointAtTheirPlace(t *testing.T) {
	t.Parallel()
	for text, says := range map[string]string{
		"":                           "no [[scenario]]",
		"[[scenario]]\nname = 'x'\n": "no turn",
		"[[scenario]]\ntest = 'x'\n": "line 2",
		"[[scenario]\n":              "line 1",
		"[[scenario]]\nmatch = '('\n[[scenario.turn]]\n": "match",
		"[[scenario]]\n[[scenario.turn]]\nwhen = '['\n":  "when",
		"[[scenario]]\n[[scenario.turn]]\nstatus = 7\n":  "status",
		"[[scenario]]\n[[scenario.turn]]\nusage = [1]\n": "usage",
	} {
		if _, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: got %v, want it to say %q", text, err, says)
		}
	}
}

func FuzzParseAndServeNeverPanic(f *testing.F) {
	f.Add(string(bundledTOML), "Push it")
	f.Add("[[scenario]]\nmatch='(.*)'\n[[scenario.turn]]\ntext='{{1}} {{9}} {{n}}'\n", "안녕")
	f.Fuzz(func(t *testing.T, file, say string) {
		list, err := Parse([]byte(file))
		if err != nil {
			return
		}
		for i := range list {
			for j := range list[i].Turns {
				turn := &list[i].Turns[j]
				turn.DelayMS, turn.ChunkMS, turn.Hang, turn.CutBytes, turn.CutChunks = 0, 0, false, 0, 0
				turn.Repeat = min(turn.Repeat, 10)
			}
		}
		raw, err := json.Marshal(msg{"model": ModelID, "messages": []msg{user(say)}, "stream": true})
		if err != nil {
			return // not text that JSON can hold
		}
		w := httptest.NewRecorder()
		New(list...).ServeHTTP(w, httptest.NewRequest("POST", "/v1/chat/completions", strings.NewReader(string(raw))))
	})
}

// BenchmarkTurn is one raw tool turn over keep-alive HTTP: the floor that a
// turn of the agent is compared with.
func BenchmarkTurn(b *testing.B) {
	url := start(b, New(parse(b, "[[scenario]]\nloop = true\n[[scenario.turn]]\n[[scenario.turn.call]]\ntool = 'noop'\nargs = '{}'\n")...))
	body := `{"model":"oxios-demo","stream":true,"tools":[{}],"messages":[{"role":"user","content":"x"}]}`
	for b.Loop() {
		resp, err := http.Post(url+"/v1/chat/completions", "application/json", strings.NewReader(body))
		if err != nil {
			b.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
}

func TestRequestThatAllowsFewTokensGetsTheBeginning(t *testing.T) {
	t.Parallel()
	s := New(Scenario{Name: "long", Turns: []Turn{{Text: strings.Repeat("word ", 100), Calls: []Call{{Tool: "ls", Args: "{}"}}}}})
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	resp := post(t, server.URL, map[string]any{"model": ModelID, "max_tokens": 10, "tools": []any{map[string]any{}}, "messages": []any{map[string]any{"role": "user", "content": "go"}}})
	var got struct {
		Choices []struct {
			Message struct {
				Content string           `json:"content"`
				Calls   []map[string]any `json:"tool_calls"`
			} `json:"message"`
			Finish string `json:"finish_reason"`
		} `json:"choices"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&got); err != nil {
		t.Fatal(err)
	}
	if c := got.Choices[0]; c.Finish != "length" || len(c.Message.Content) != 36 || c.Message.Calls != nil {
		t.Errorf("got %+v", c)
	}
	if c := s.Counted(); c.Calls != 1 || c.Output != 10 || c.Input == 0 {
		t.Errorf("got %+v", c)
	}
}
