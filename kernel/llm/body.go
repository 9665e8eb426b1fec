package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	openai "github.com/sashabaranov/go-openai"
)

type messagesKey struct{}

// withMessages takes the messages out of a request and has [doer.Do] put them
// back, encoded here. go-openai encodes a message three times over, which in a
// conversation of a hundred turns takes longer than all else that a turn does.
func withMessages(ctx context.Context, req openai.ChatCompletionRequest) (context.Context, openai.ChatCompletionRequest, error) {
	size := 64
	for _, m := range req.Messages {
		size += 64 + len(m.Content) + len(m.ReasoningContent) + 256*len(m.ToolCalls)
	}
	b := append(make([]byte, 0, size), `"messages":[`...)
	for i, m := range req.Messages {
		if i > 0 {
			b = append(b, ',')
		}
		var err error
		if b, err = appendMessage(b, m); err != nil {
			return ctx, req, err
		}
	}
	req.Messages = []openai.ChatCompletionMessage{}
	return context.WithValue(ctx, messagesKey{}, append(b, ']')), req, nil
}

// putMessages puts the messages of [withMessages] into the body of a request.
func putMessages(req *http.Request) error {
	messages, ok := req.Context().Value(messagesKey{}).([]byte)
	if !ok {
		return nil
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return err
	}
	// Inside a string the quotes would be escaped, so that this is the member.
	before, after, found := bytes.Cut(body, []byte(`"messages":[]`))
	if !found {
		return errors.New("the request has no place for its messages")
	}
	whole := make([]byte, 0, len(body)+len(messages))
	whole = append(append(append(whole, before...), messages...), after...)
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(whole)), nil }
	req.Body, _ = req.GetBody()
	req.ContentLength = int64(len(whole))
	return nil
}

// appendMessage appends m as go-openai encodes it.
func appendMessage(b []byte, m openai.ChatCompletionMessage) ([]byte, error) {
	if m.MultiContent != nil || m.Refusal != "" || m.Name != "" || m.FunctionCall != nil {
		encoded, err := json.Marshal(m)
		return append(b, encoded...), err
	}
	b = appendText(append(b, `{"role":`...), m.Role)
	b = appendMember(b, `,"content":`, m.Content)
	b = appendMember(b, `,"reasoning_content":`, m.ReasoningContent)
	for i, call := range m.ToolCalls {
		b = append(b, [...]string{`,"tool_calls":[{`, `,{`}[min(i, 1)]...)
		if call.ID != "" {
			b = append(appendText(append(b, `"id":`...), call.ID), ',')
		}
		b = appendText(append(b, `"type":`...), string(call.Type))
		b = append(b, `,"function":{`...)
		b = appendMember(b, `"name":`, call.Function.Name)
		if call.Function.Name != "" && call.Function.Arguments != "" {
			b = append(b, ',')
		}
		b = append(appendMember(b, `"arguments":`, call.Function.Arguments), "}}"...)
	}
	if len(m.ToolCalls) > 0 {
		b = append(b, ']')
	}
	b = appendMember(b, `,"tool_call_id":`, m.ToolCallID)
	return append(b, '}'), nil
}

func appendMember(b []byte, name, text string) []byte {
	if text == "" {
		return b
	}
	return appendText(append(b, name...), text)
}

// appendText appends s as a JSON string.
func appendText(b []byte, s string) []byte {
	from, done := len(b), 0 // what of s is in b already
	b = append(b, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b = append(append(b, s[done:i]...), '\\', c)
			done = i + 1
		case c == '\n':
			b = append(append(b, s[done:i]...), '\\', 'n')
			done = i + 1
		case c < ' ' || c > '~' || c == '<' || c == '>' || c == '&':
			encoded, _ := json.Marshal(s) // a string cannot fail
			return append(b[:from], encoded...)
		}
	}
	b = append(b, s[done:]...)
	return append(b, '"')
}
