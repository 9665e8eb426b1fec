package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"

	openai "github.com/sashabaranov/go-openai"
)

type listsKey struct{}

// lists are the messages and the tools of a request, and then its whole body. The
// transport keeps a request as long as its answer streams, so that it is let go of
// when the answer begins.
type lists struct{ b []byte }

// withLists leaves it to [doer.Do] to put the messages and the tools of req
// into the body of chat, which has its tools already. go-openai encodes each of
// them three times over, which in a conversation of a hundred turns takes longer
// than all else that a turn does.
func withLists(ctx context.Context, req Request, q quirk, chat openai.ChatCompletionRequest) (context.Context, openai.ChatCompletionRequest, error) {
	if err := openai.NewReasoningValidator().Validate(chat); err != nil { // it looks at the tools
		return ctx, chat, err
	}
	size := 1 << 10
	for _, m := range req.Messages {
		size += 64 + len(m.Content) + 256*len(m.ToolCalls)
	}
	for _, t := range req.Tools {
		size += 64 + len(t.Description) + len(t.Schema)
	}
	b := append(make([]byte, 0, size), `"messages":[`...)
	first, err := len(b), error(nil)
	chatMessages(req, q, func(m chatMessage) {
		if len(b) > first {
			b = append(b, ',')
		}
		var merr error
		b, merr = appendMessage(b, m)
		err = errors.Join(err, merr)
	})
	b = append(b, ']')
	for i, t := range chat.Tools {
		b = append(b, [...]string{`,"tools":[`, `,`}[min(i, 1)]...)
		var terr error
		b, terr = appendTool(b, t)
		err = errors.Join(err, terr)
	}
	if len(chat.Tools) > 0 {
		b = append(b, ']')
	}
	chat.Messages, chat.Tools = []openai.ChatCompletionMessage{}, nil
	return context.WithValue(ctx, listsKey{}, &lists{b}), chat, err
}

// putLists puts the lists of [withLists] into the body of a request.
func putLists(req *http.Request) error {
	l, ok := req.Context().Value(listsKey{}).(*lists)
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
	l.b = slices.Concat(before, l.b, after)
	req.GetBody = func() (io.ReadCloser, error) { return &sentBody{rest: l.b}, nil }
	req.Body, _ = req.GetBody()
	req.ContentLength = int64(len(l.b))
	return nil
}

// letGo forgets the body of a request that was answered.
func letGo(ctx context.Context) {
	if l, ok := ctx.Value(listsKey{}).(*lists); ok {
		l.b = nil
	}
}

// sentBody reads a body, and keeps nothing of it at its end.
type sentBody struct{ rest []byte }

func (b *sentBody) Read(p []byte) (int, error) {
	n := copy(p, b.rest)
	if b.rest = b.rest[n:]; len(b.rest) == 0 {
		b.rest = nil
		return n, io.EOF
	}
	return n, nil
}

func (b *sentBody) Close() error { return nil }

// appendTool appends t as go-openai encodes it.
func appendTool(b []byte, t openai.Tool) ([]byte, error) {
	schema, err := json.Marshal(t.Function.Parameters)
	if err != nil {
		return b, err
	}
	b = appendText(append(b, `{"function":{"name":`...), t.Function.Name)
	b = appendMember(b, `,"description":`, t.Function.Description)
	b = append(append(append(b, `,"parameters":`...), schema...), `},"type":`...)
	return append(appendText(b, string(t.Type)), '}'), nil
}

// appendMessage appends m as go-openai encodes it, and what it has no place for.
func appendMessage(b []byte, m chatMessage) ([]byte, error) {
	if m.MultiContent != nil || m.Refusal != "" || m.Name != "" || m.FunctionCall != nil {
		encoded, err := json.Marshal(m.ChatCompletionMessage)
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
		b = append(appendMember(b, `"arguments":`, call.Function.Arguments), '}')
		if i < len(m.extra) && len(m.extra[i]) > 0 {
			b = append(append(b, `,"extra_content":`...), m.extra[i]...)
		}
		b = append(b, '}')
	}
	if len(m.ToolCalls) > 0 {
		b = append(b, ']')
	}
	b = appendMember(b, `,"tool_call_id":`, m.ToolCallID)
	if !m.back.IsZero() {
		encoded, err := json.Marshal(m.back)
		if err != nil {
			return b, err
		}
		b = append(append(b, ','), encoded[1:len(encoded)-1]...)
	}
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
