package llm

import (
	"bytes"
	"encoding/base64"
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

// chatMessages says the messages of a request, one after the other.
func chatMessages(req Request, say func(openai.ChatCompletionMessage)) {
	var shown []Image // pictures of tool results, which a tool message cannot hold
	flush := func() {
		if len(shown) > 0 {
			say(openai.ChatCompletionMessage{Role: RoleUser, MultiContent: parts("The pictures that the tools returned:", shown)})
			shown = nil
		}
	}
	lastUser := -1
	for i, m := range req.Messages {
		if m.Role == RoleUser {
			lastUser = i
		}
	}
	for i, m := range req.Messages {
		if m.Role != RoleTool {
			flush()
		}
		msg := openai.ChatCompletionMessage{Role: m.Role, Content: m.Content, ToolCallID: m.ToolCallID}
		switch {
		case m.Role == RoleTool:
			shown = append(shown, m.Images...)
			if msg.Content == "" {
				msg.Content = "(no output)"
			}
		case len(m.Images) > 0:
			msg.Content, msg.MultiContent = "", parts(m.Content, m.Images)
		case m.Content == "" && len(m.ToolCalls) == 0:
			msg.Content = " " // servers reject a message without content
		}
		for _, call := range m.ToolCalls {
			msg.ToolCalls = append(msg.ToolCalls, openai.ToolCall{
				ID: call.ID, Type: openai.ToolTypeFunction,
				Function: openai.FunctionCall{Name: call.Name, Arguments: replayArgs(call.Args)},
			})
		}
		// These models must see what they thought while a turn goes on.
		if i > lastUser && len(m.ToolCalls) > 0 && containsAny(strings.ToLower(req.Model), "deepseek", "kimi", "glm") {
			msg.ReasoningContent = m.Reasoning
		}
		say(msg)
	}
	flush()
}

func parts(text string, images []Image) []openai.ChatMessagePart {
	var out []openai.ChatMessagePart
	if text != "" {
		out = append(out, openai.ChatMessagePart{Type: openai.ChatMessagePartTypeText, Text: text})
	}
	for _, img := range images {
		out = append(out, openai.ChatMessagePart{
			Type: openai.ChatMessagePartTypeImageURL, ImageURL: &openai.ChatMessageImageURL{URL: dataURL(img)},
		})
	}
	return out
}

func dataURL(img Image) string {
	mime := img.MIME
	if mime == "" {
		mime = "image/png"
	}
	return "data:" + mime + ";base64," + base64.StdEncoding.EncodeToString(img.Data)
}

// replayArgs makes arguments that the model malformed fit to be sent back:
// several servers parse them and fail. The model still sees what it wrote.
func replayArgs(args string) string {
	args = strings.TrimSpace(args)
	if args == "" {
		return "{}"
	}
	if strings.HasPrefix(args, "{") && json.Valid([]byte(args)) {
		return args
	}
	wrapped, err := json.Marshal(map[string]string{"malformed_arguments": args})
	if err != nil {
		return "{}"
	}
	return string(wrapped)
}

// flexText is a text that some servers send as a list of parts.
type flexText string

// UnmarshalJSON accepts a string, null, or a list of parts with text.
func (t *flexText) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '[' {
		var list []struct {
			Type string `json:"type"`
			Text string `json:"text"`
		}
		if err := json.Unmarshal(b, &list); err != nil {
			return err
		}
		var sb strings.Builder
		for _, p := range list {
			sb.WriteString(p.Text)
		}
		*t = flexText(sb.String())
		return nil
	}
	return json.Unmarshal(b, (*string)(t))
}

// flexArgs are arguments as text; some servers send an object.
type flexArgs string

// UnmarshalJSON accepts a string, null, or any value, which is kept as text.
func (t *flexArgs) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] != '"' {
		if string(b) != "null" {
			*t = flexArgs(b)
		}
		return nil
	}
	return json.Unmarshal(b, (*string)(t))
}

type chatDelta struct {
	Content          flexText `json:"content"`
	ReasoningContent flexText `json:"reasoning_content"`
	Reasoning        flexText `json:"reasoning"`
	Refusal          flexText `json:"refusal"`
	ToolCalls        []struct {
		Index    *int   `json:"index"`
		ID       string `json:"id"`
		Function struct {
			Name      string   `json:"name"`
			Arguments flexArgs `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

type chatChunk struct {
	Model   string `json:"model"`
	Choices []struct {
		Index        int        `json:"index"`
		Delta        *chatDelta `json:"delta"`
		Message      *chatDelta `json:"message"` // a server that does not stream
		FinishReason string     `json:"finish_reason"`
	} `json:"choices"`
	Usage *chatUsage      `json:"usage"`
	Error json.RawMessage `json:"error"`
}

type chatUsage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
	CacheHit   int `json:"prompt_cache_hit_tokens"` // DeepSeek
	PromptMore *struct {
		Cached int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionMore *struct {
		Reasoning int `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

func (u *chatUsage) usage() Usage {
	out := Usage{Input: u.Prompt, Output: u.Completion, Cached: u.CacheHit, Reported: true}
	if u.PromptMore != nil {
		out.Cached = max(out.Cached, u.PromptMore.Cached)
	}
	if u.CompletionMore != nil {
		out.Reasoning = u.CompletionMore.Reasoning
	}
	// xAI and Google leave the reasoning out of completion_tokens, but not out
	// of the sum, and bill it.
	if u.Total > u.Prompt+u.Completion {
		out.Output = u.Total - u.Prompt
	}
	return out.sane()
}

// sane keeps counts of a broken server from making a negative bill.
func (u Usage) sane() Usage {
	const most = 1 << 30
	u.Input, u.Output = min(max(u.Input, 0), most), min(max(u.Output, 0), most)
	u.Cached, u.Reasoning = min(max(u.Cached, 0), u.Input), min(max(u.Reasoning, 0), u.Output)
	return u
}

// chatChunk takes one event of a chat completion.
func (c *Client) chatChunk(a *answer, data []byte) error {
	var chunk chatChunk
	if err := json.Unmarshal(data, &chunk); err != nil {
		return errors.Join(errMalformed, err)
	}
	if len(chunk.Error) > 0 && string(chunk.Error) != "null" {
		return c.inStream(a, chunk.Error)
	}
	if chunk.Model != "" {
		a.model = chunk.Model
	}
	if chunk.Usage != nil {
		a.usage = chunk.Usage.usage()
	}
	for _, choice := range chunk.Choices {
		if choice.Index != 0 {
			continue
		}
		for _, d := range []*chatDelta{choice.Delta, choice.Message} {
			if d == nil {
				continue
			}
			if err := c.chatDelta(a, d); err != nil {
				return err
			}
		}
		switch choice.FinishReason {
		case "":
		case "error":
			return c.fault(sys.CodeProvider, true, "Try again, or choose another provider.", "%s reported an error in the middle of its answer.", c.ep.name())
		default:
			a.finish = choice.FinishReason
		}
	}
	return nil
}

func (c *Client) chatDelta(a *answer, d *chatDelta) error {
	if d.ReasoningContent != "" {
		a.addReasoning(string(d.ReasoningContent))
	} else {
		a.addReasoning(string(d.Reasoning))
	}
	a.addText(string(d.Content))
	a.addRefusal(string(d.Refusal))
	for _, call := range d.ToolCalls {
		if err := a.addCall(call.Index, call.ID, call.Function.Name, string(call.Function.Arguments)); err != nil {
			return c.callFault(err)
		}
	}
	return nil
}

// inStream explains an error that the server put into its stream.
func (c *Client) inStream(a *answer, raw json.RawMessage) error {
	words, code, typ := serverWords([]byte(`{"error":` + string(raw) + `}`))
	status := 0
	if n := len(code); n == 3 && code[0] >= '4' && code[0] <= '5' {
		status = int(code[0]-'0')*100 + int(code[1]-'0')*10 + int(code[2]-'0')
	}
	return c.refused(status, nil, a.model, words, code, typ)
}
