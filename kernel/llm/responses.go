package llm

import (
	"encoding/json"
	"errors"
	"strings"

	openai "github.com/sashabaranov/go-openai"

	"oxios/kernel/sys"
)

// usesResponses reports whether a model answers on the Responses API: because
// go-openai or OpenAI refuses tools for it on chat completions, because it
// exists nowhere else, or because the server said so before.
func (c *Client) usesResponses(req Request, q quirk) bool {
	if c.ep.Kind != KindOpenAI {
		return false
	}
	if q.responses || responsesOnly(req.Model) {
		return true
	}
	err := openai.NewReasoningValidator().Validate(openai.ChatCompletionRequest{
		Model: req.Model, ReasoningEffort: req.Effort, Tools: make([]openai.Tool, len(req.Tools)),
	})
	return errors.Is(err, openai.ErrReasoningToolsRequireResponses) ||
		(strings.HasPrefix(req.Model, "gpt-6") && len(req.Tools) > 0 && req.Effort != openai.ReasoningEffortNone)
}

// responsesOnly knows OpenAI's models that chat completions never served.
func responsesOnly(model string) bool {
	if !reasons(model) {
		return false
	}
	return strings.Contains(model, "-codex") || strings.Contains(model, "-deep-research") ||
		strings.HasSuffix(model, "-pro") || strings.Contains(model, "-pro-")
}

// responsesRequest says a request in the words of the Responses API. Nothing
// is stored at the provider.
func responsesRequest(req Request, q quirk) openai.CreateResponseRequest {
	store := false
	out := openai.CreateResponseRequest{
		Model: req.Model, Input: responsesInput(req.Messages), MaxOutputTokens: allowed(req, q), Store: &store, Stream: true,
	}
	if req.Effort != "" && !q.noEffort {
		out.Reasoning = &openai.ResponseReasoning{Effort: req.Effort, Summary: "auto"}
	}
	for _, t := range req.Tools {
		out.Tools = append(out.Tools, openai.NewResponseFunctionTool(openai.FunctionDefinition{
			Name: t.Name, Description: t.Description, Parameters: schemaOf(t),
		}))
	}
	if len(out.Tools) > 0 && req.ToolChoice != "" {
		out.ToolChoice = req.ToolChoice
	}
	return out
}

func responsesInput(messages []Message) []any {
	var out []any
	for _, m := range messages {
		if m.Role == RoleTool {
			text := m.Content
			if text == "" {
				text = "(no output)"
			}
			var output any = text
			if len(m.Images) > 0 {
				output = responsesParts(text, m.Images)
			}
			out = append(out, openai.ResponseFunctionCallOutput{Type: "function_call_output", CallID: m.ToolCallID, Output: output})
			continue
		}
		if m.Content != "" || len(m.Images) > 0 {
			var content any = m.Content
			if len(m.Images) > 0 {
				content = responsesParts(m.Content, m.Images)
			}
			out = append(out, openai.ResponseInputMessage{Type: "message", Role: m.Role, Content: content})
		}
		for _, call := range m.ToolCalls {
			out = append(out, openai.ResponseOutputItem{
				Type: "function_call", CallID: call.ID, Name: callName(call.Name), Arguments: replayArgs(call.Args),
			})
		}
	}
	return out
}

func responsesParts(text string, images []Image) []any {
	var out []any
	if text != "" {
		out = append(out, openai.ResponseInputText{Type: "input_text", Text: text})
	}
	for _, img := range images {
		out = append(out, openai.ResponseInputImage{Type: "input_image", ImageURL: dataURL(img), Detail: "auto"})
	}
	return out
}

type responsesEvent struct {
	Type        string          `json:"type"`
	Delta       flexText        `json:"delta"`
	OutputIndex int             `json:"output_index"`
	Code        any             `json:"code"`
	Message     string          `json:"message"`
	Error       json.RawMessage `json:"error"`
	Item        *struct {
		Type      string `json:"type"`
		CallID    string `json:"call_id"`
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"item"`
	Response *struct {
		Model             string          `json:"model"`
		Error             json.RawMessage `json:"error"`
		IncompleteDetails *struct {
			Reason string `json:"reason"`
		} `json:"incomplete_details"`
		Usage *openai.ResponseUsage `json:"usage"`
	} `json:"response"`
}

// responsesEvent takes one event of the Responses API.
func (c *Client) responsesEvent(a *answer, _ string, data []byte) error {
	var ev responsesEvent
	if err := json.Unmarshal(data, &ev); err != nil {
		return errors.Join(errMalformed, err)
	}
	if ev.Response != nil {
		if ev.Response.Model != "" {
			a.model = ev.Response.Model
		}
		if u := ev.Response.Usage; u != nil {
			a.usage = Usage{Input: u.InputTokens, Output: u.OutputTokens, Reported: u.InputTokens > 0}
			if u.InputTokensDetails != nil {
				a.usage.Cached = u.InputTokensDetails.CachedTokens
			}
			if u.OutputTokensDetails != nil {
				a.usage.Reasoning = u.OutputTokensDetails.ReasoningTokens
			}
			a.usage = a.usage.sane()
		}
	}
	switch openai.ResponseStreamEventType(ev.Type) {
	case openai.ResponseStreamEventOutputTextDelta:
		a.addText(string(ev.Delta))
	case openai.ResponseStreamEventReasoningSummaryTextDelta, openai.ResponseStreamEventReasoningTextDelta:
		a.addReasoning(string(ev.Delta))
	case openai.ResponseStreamEventRefusalDelta:
		a.addRefusal(string(ev.Delta))
	case openai.ResponseStreamEventOutputItemAdded, openai.ResponseStreamEventOutputItemDone:
		return c.responsesItem(a, ev)
	case openai.ResponseStreamEventFunctionArgumentsDelta:
		if a.slots[ev.OutputIndex] != nil {
			return c.callFault(a.addCall(&ev.OutputIndex, "", "", string(ev.Delta), nil))
		}
	case openai.ResponseStreamEventCompleted:
		a.finish = FinishStop
		if len(a.calls) > 0 {
			a.finish = FinishTools
		}
	case openai.ResponseStreamEventIncomplete:
		a.finish = FinishLength
		if ev.Response != nil && ev.Response.IncompleteDetails != nil && ev.Response.IncompleteDetails.Reason == FinishFilter {
			a.finish = FinishFilter
		}
	case openai.ResponseStreamEventFailed, openai.ResponseStreamEventError:
		return c.responsesFailure(a, ev, data)
	case "":
		if saysSomething(ev.Error) {
			return c.inStream(a, ev.Error)
		}
	}
	return nil
}

// responsesItem begins a tool call, and at its end takes the whole arguments,
// which win over the fragments.
func (c *Client) responsesItem(a *answer, ev responsesEvent) error {
	if ev.Item == nil || ev.Item.Type != "function_call" {
		return nil
	}
	call := a.slots[ev.OutputIndex]
	if call == nil {
		return c.callFault(a.addCall(&ev.OutputIndex, ev.Item.CallID, ev.Item.Name, ev.Item.Arguments, nil))
	}
	if ev.Type == string(openai.ResponseStreamEventOutputItemDone) && ev.Item.Arguments != "" {
		call.pieces = []string{ev.Item.Arguments}
	}
	return nil
}

func (c *Client) callFault(err error) error {
	if err == nil {
		return nil
	}
	return c.fault(sys.CodeProvider, false, "Try again, or choose another model.", "%s sent %s; no tool of it ran.", c.ep.name(), err)
}

func (c *Client) responsesFailure(a *answer, ev responsesEvent, data []byte) error {
	if ev.Response != nil && len(ev.Response.Error) > 0 {
		return c.inStream(a, ev.Response.Error)
	}
	if saysSomething(ev.Error) {
		return c.inStream(a, ev.Error)
	}
	return c.inStream(a, data)
}
