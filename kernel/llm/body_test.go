package llm

import (
	"encoding/json"
	"testing"

	openai "github.com/sashabaranov/go-openai"
	"pgregory.net/rapid"
)

func TestMessagesAreEncodedAsTheLibraryDoes(t *testing.T) {
	t.Parallel()
	text := rapid.OneOf(rapid.Just(""), rapid.String(), rapid.StringMatching(`[ -~]{0,40}`), rapid.SampledFrom([]string{"안녕 \u2028 <b>&", "tab\tline\n", "\xff\xfe", `"messages":[]`}))
	rapid.Check(t, func(t *rapid.T) {
		m := openai.ChatCompletionMessage{
			Role: text.Draw(t, "role"), Content: text.Draw(t, "content"), ReasoningContent: text.Draw(t, "reasoning"),
			Name: rapid.SampledFrom([]string{"", "", "ann"}).Draw(t, "name"), ToolCallID: text.Draw(t, "call"),
		}
		for range rapid.IntRange(0, 3).Draw(t, "calls") {
			m.ToolCalls = append(m.ToolCalls, openai.ToolCall{
				ID: text.Draw(t, "id"), Type: openai.ToolTypeFunction, Function: openai.FunctionCall{Name: text.Draw(t, "tool"), Arguments: text.Draw(t, "args")},
			})
		}
		if rapid.IntRange(0, 4).Draw(t, "picture") == 0 {
			m.Content, m.MultiContent = "", parts(m.Content, []Image{{Data: []byte("png")}})
		}
		want, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		got, err := appendMessage(nil, chatMessage{ChatCompletionMessage: m})
		if err != nil || string(got) != string(want) {
			t.Fatalf("got %s, %v, want %s", got, err, want)
		}
	})
}

func TestToolsAreEncodedAsTheLibraryDoes(t *testing.T) {
	t.Parallel()
	for _, schema := range []string{`{"type":"object","properties":{}}`, "{ \"type\": \"object\",\n \"description\": \"<b> & \\\"안녕\\\"\" }", `{"broken"`} {
		for _, description := range []string{"", "Lists <all>.\nSlowly."} {
			tool := openai.Tool{Type: openai.ToolTypeFunction, Function: &openai.FunctionDefinition{
				Name: "ls", Description: description, Parameters: json.RawMessage(schema),
			}}
			want, werr := json.Marshal(tool)
			got, err := appendTool(nil, tool)
			if (err == nil) != (werr == nil) || string(got) != string(want) {
				t.Errorf("got %s, %v, want %s, %v", got, err, want, werr)
			}
		}
	}
}

func TestModelNamedLikeTheMessagesIsSentWhole(t *testing.T) {
	t.Parallel()
	p := serveText(t, events(chunkHello, chunkStop, done))
	const model = `odd","messages":[],"x`
	if _, _, err := complete(t, client(t, at(p)), ask(model)); err != nil {
		t.Fatal(err)
	}
	doc := sent(t, p, 0)
	if got, _ := doc["messages"].([]any); doc["model"] != model || len(got) != len(ask(model).Messages) {
		t.Errorf("got %v", doc)
	}
}

// BenchmarkRequest is what a turn encodes at the end of a hundred turns, beside
// the library's own encoding of the same.
func BenchmarkRequest(b *testing.B) {
	req := Request{Model: "m", Tools: conversation("m").Tools, Messages: []Message{{Role: RoleSystem, Content: "Be brief."}, {Role: RoleUser, Content: "Find it."}}}
	for range 100 {
		req.Messages = append(req.Messages,
			Message{Role: RoleAssistant, ToolCalls: []ToolCall{{ID: "call_0123456789", Name: "find", Args: `{"pattern": "none-*"}`}}},
			Message{Role: RoleTool, ToolCallID: "call_0123456789", Content: "No file matches none-*.\nThe folder holds 12 files."})
	}
	b.Run("ours", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, chat, err := withLists(b.Context(), req, quirk{}, chatRequest(req, quirk{}))
			if err != nil {
				b.Fatal(err)
			}
			if _, err := json.Marshal(chat); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("library", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			chat := chatRequest(req, quirk{})
			chatMessages(req, quirk{}, func(m chatMessage) { chat.Messages = append(chat.Messages, m.ChatCompletionMessage) })
			if _, err := json.Marshal(chat); err != nil {
				b.Fatal(err)
			}
		}
	})
}
