package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	openai "github.com/sashabaranov/go-openai"

	"oxios/kernel/sys"
)

// chatRequest says a request in the words of chat completions, all but its
// messages.
func chatRequest(req Request, q quirk) openai.ChatCompletionRequest {
	out := openai.ChatCompletionRequest{
		Model:  req.Model,
		Stream: true,
	}
	if !q.noUsage {
		out.StreamOptions = &openai.StreamOptions{IncludeUsage: true}
	}
	if !q.noEffort {
		out.ReasoningEffort = req.Effort
	}
	if reasons(req.Model) != q.swapMax {
		out.MaxCompletionTokens = allowed(req, q)
	} else {
		out.MaxTokens = allowed(req, q) //nolint:staticcheck // older servers know this name alone
	}
	for _, t := range req.Tools {
		out.Tools = append(out.Tools, openai.Tool{Type: openai.ToolTypeFunction, Function: &openai.FunctionDefinition{
			Name: t.Name, Description: t.Description, Parameters: schemaOf(t),
		}})
	}
	if len(out.Tools) > 0 && req.ToolChoice != "" {
		out.ToolChoice = req.ToolChoice
	}
	return out
}

// reasons reports whether go-openai and OpenAI want max_completion_tokens.
func reasons(model string) bool {
	for _, prefix := range []string{"o1", "o3", "o4", "gpt-5", "gpt-6"} {
		if strings.HasPrefix(model, prefix) {
			return true
		}
	}
	return false
}

func schemaOf(t Tool) json.RawMessage {
	if len(bytes.TrimSpace(t.Schema)) == 0 {
		return json.RawMessage(`{"type":"object","properties":{}}`)
	}
	return t.Schema
}

type chatDelta struct {
	Content          chatContent        `json:"content"`
	ReasoningContent flexText           `json:"reasoning_content"`
	Reasoning        flexText           `json:"reasoning"`
	Refusal          flexText           `json:"refusal"`
	ToolCalls        flexList[chatCall] `json:"tool_calls"`
	FunctionCall     *chatFunction      `json:"function_call"` // what tool calls were before there were several

	// What must go back as it came: thought signatures of Google, reasoning of
	// those behind OpenRouter.
	Extra   json.RawMessage           `json:"extra_content"`
	Details flexList[json.RawMessage] `json:"reasoning_details"`
}

// chatContent is what is said, and what Mistral puts there too as thought.
type chatContent struct{ text, thought flexText }

// UnmarshalJSON accepts what [flexText] does.
func (t *chatContent) UnmarshalJSON(b []byte) error {
	var parts []struct {
		Thought flexText `json:"thinking"`
	}
	if len(b) > 0 && b[0] == '[' && json.Unmarshal(b, &parts) == nil { // most pieces are a text
		for _, p := range parts {
			t.thought += p.Thought
		}
	}
	return json.Unmarshal(b, &t.text)
}

type chatCall struct {
	Index    *flexInt        `json:"index"`
	ID       flexText        `json:"id"`
	Function chatFunction    `json:"function"`
	Extra    json.RawMessage `json:"extra_content"`
}

type chatFunction struct {
	Name      flexText `json:"name"`
	Arguments flexArgs `json:"arguments"`
}

type chatChunk struct {
	Model   flexText `json:"model"`
	Object  flexText `json:"object"`
	Choices flexList[struct {
		Index        flexInt    `json:"index"`
		Delta        *chatDelta `json:"delta"`
		Message      *chatDelta `json:"message"` // a server that does not stream
		FinishReason flexText   `json:"finish_reason"`

		Error json.RawMessage `json:"error"` // OpenRouter
	}] `json:"choices"`
	Usage *chatUsage      `json:"usage"`
	Error json.RawMessage `json:"error"`
}

// chatChunk takes one event of a chat completion.
func (c *Client) chatChunk(a *answer, kind string, data []byte) error {
	if kind == eventError {
		return c.inStream(a, data)
	}
	var chunk chatChunk
	if err := json.Unmarshal(data, &chunk); err != nil {
		return errors.Join(errMalformed, err)
	}
	if saysSomething(chunk.Error) {
		return c.inStream(a, chunk.Error)
	}
	if chunk.Choices == nil && chunk.Usage == nil && bareError(data) {
		return c.inStream(a, data)
	}
	if chunk.Model != "" {
		a.model = string(chunk.Model)
	}
	if u := chunk.Usage; u != nil {
		if counted := u.usage(); counted.Reported || !a.usage.Reported { // a later chunk without counts takes none away
			a.usage = counted
		}
	}
	for _, choice := range chunk.Choices {
		if choice.Index != 0 {
			continue
		}
		if choice.Delta != nil {
			if err := c.chatDelta(a, choice.Delta); err != nil {
				return err
			}
		}
		if m := choice.Message; m != nil {
			if a.text.Len() > 0 && string(m.Content.text) == a.text.String() {
				m.Content.text = "" // some servers end a stream with the whole message
			}
			if err := c.chatDelta(a, m); err != nil {
				return err
			}
		}
		if choice.Message != nil && choice.FinishReason == "" && chunk.Object == "chat.completion" {
			choice.FinishReason = FinishStop // what is not streamed is whole
		}
		if saysSomething(choice.Error) {
			return c.inStream(a, choice.Error)
		}
		if choice.FinishReason == "" {
			continue
		}
		if a.finish = finishOf(string(choice.FinishReason)); a.finish == finishError {
			return c.fault(sys.CodeProvider, true, "Try again, or choose another provider.", "%s reported an error in the middle of its answer.", c.ep.name())
		}
	}
	return nil
}

// saysSomething reports whether a member named error is one: some servers send
// an empty one with each piece.
func saysSomething(raw json.RawMessage) bool {
	switch string(bytes.TrimSpace(raw)) {
	case "", "null", `""`, "{}", "[]", "false", "0":
		return false
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		return true
	}
	for _, m := range members { // {"code": 0, "message": ""}
		if saysSomething(m) {
			return true
		}
	}
	return false
}

// bareError reports whether a piece that is no part of an answer tells an error
// without a member of that name.
func bareError(data []byte) bool {
	var doc struct {
		Object string          `json:"object"`
		Type   string          `json:"type"`
		Base   json.RawMessage `json:"base_resp"` // MiniMax
	}
	_ = json.Unmarshal(data, &doc) // of members of another type nothing is known
	if doc.Object == eventError || doc.Type == eventError {
		return true
	}
	words, _, _ := serverWords(data)
	return words != "" && words != string(bytes.TrimSpace(data))
}

func (c *Client) chatDelta(a *answer, d *chatDelta) error {
	if d.ReasoningContent != "" {
		a.addReasoning(string(d.ReasoningContent))
	} else {
		a.addReasoning(string(d.Reasoning))
	}
	a.addReasoning(string(d.Content.thought))
	a.addText(string(d.Content.text))
	a.addRefusal(string(d.Refusal))
	a.back.add(d.Extra, d.Details)
	for _, call := range d.ToolCalls {
		if err := a.addCall((*int)(call.Index), string(call.ID), string(call.Function.Name), string(call.Function.Arguments), call.Extra); err != nil {
			return c.callFault(err)
		}
	}
	if f := d.FunctionCall; f != nil {
		zero := 0
		return c.callFault(a.addCall(&zero, "", string(f.Name), string(f.Arguments), nil))
	}
	return nil
}

// inStream explains an error that the server put into its stream.
func (c *Client) inStream(a *answer, raw json.RawMessage) error {
	body := []byte(raw)
	if json.Valid(raw) {
		body = []byte(`{"error":` + string(raw) + `}`)
	}
	words, code, typ := serverWords(body)
	status := 0
	if n := len(code); n == 3 && code[0] >= '4' && code[0] <= '5' {
		status = int(code[0]-'0')*100 + int(code[1]-'0')*10 + int(code[2]-'0')
	}
	return c.refused(status, nil, a.model, words, code, typ)
}
