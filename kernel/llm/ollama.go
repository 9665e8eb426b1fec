package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	openai "github.com/sashabaranov/go-openai"

	"oxios/kernel/sys"
)

// Ollama is asked in its own protocol: its OpenAI-compatible one ignores
// num_ctx, and silently forgets the beginning of a conversation that is longer
// than the default of a few thousand tokens.

type ollamaMessage struct {
	Role      string           `json:"role"`
	Content   string           `json:"content"`
	Thinking  string           `json:"thinking,omitempty"`
	Images    [][]byte         `json:"images,omitempty"` // base64 by encoding/json
	ToolCalls []ollamaToolCall `json:"tool_calls,omitempty"`
	ToolName  string           `json:"tool_name,omitempty"`
}

type ollamaToolCall struct {
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
}

type ollamaRequest struct {
	Model    string          `json:"model"`
	Messages []ollamaMessage `json:"messages"`
	Tools    []openai.Tool   `json:"tools,omitempty"`
	Stream   bool            `json:"stream"`
	Think    any             `json:"think,omitempty"`
	Options  map[string]any  `json:"options,omitempty"`
}

func ollamaChat(req Request, q quirk) ollamaRequest {
	out := ollamaRequest{Model: req.Model, Stream: true, Options: map[string]any{}}
	if req.ContextLength > 0 {
		out.Options["num_ctx"] = req.ContextLength
	}
	if req.MaxTokens > 0 {
		out.Options["num_predict"] = req.MaxTokens
	}
	if req.Effort != "" && !q.noThink {
		out.Think = req.Effort != openai.ReasoningEffortNone
		if strings.Contains(req.Model, "gpt-oss") { // the one family with levels
			out.Think = req.Effort
		}
	}
	if req.ToolChoice != "none" {
		for _, t := range req.Tools {
			out.Tools = append(out.Tools, openai.Tool{Type: openai.ToolTypeFunction, Function: &openai.FunctionDefinition{
				Name: t.Name, Description: t.Description, Parameters: schemaOf(t),
			}})
		}
	}
	names := map[string]string{} // of the tools, by call id
	for _, m := range req.Messages {
		msg := ollamaMessage{Role: m.Role, Content: m.Content, ToolName: names[m.ToolCallID]}
		for _, img := range m.Images {
			msg.Images = append(msg.Images, img.Data)
		}
		if len(m.ToolCalls) > 0 {
			msg.Thinking = m.Reasoning
		}
		for _, call := range m.ToolCalls {
			name := callName(call.Name)
			names[call.ID] = name
			var tc ollamaToolCall
			tc.Function.Name, tc.Function.Arguments = name, json.RawMessage(replayArgs(call.Args))
			msg.ToolCalls = append(msg.ToolCalls, tc)
		}
		out.Messages = append(out.Messages, msg)
	}
	return out
}

func (c *Client) sendOllama(ctx context.Context, req Request, q quirk) error {
	body, err := json.Marshal(ollamaChat(req, q))
	if err != nil {
		return c.fault(sys.CodeInvalid, false, "", "The request cannot be written as JSON: %v", err)
	}
	resp, err := c.do(ctx, http.MethodPost, c.ep.root()+"/api/chat", body) //nolint:bodyclose // read and closed through the held response
	if err != nil {
		return err
	}
	return errorOf(resp)
}

// do sends a request outside go-openai.
func (c *Client) do(ctx context.Context, method, url string, body []byte) (*http.Response, error) {
	var r io.Reader
	if body != nil {
		r = bytes.NewReader(body)
	}
	req, err := http.NewRequestWithContext(ctx, method, url, r)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.ep.Key != "" {
		req.Header.Set("Authorization", "Bearer "+c.ep.Key)
		if req.URL.Host == "api.anthropic.com" { // its list of models takes no other form
			req.Header.Set("x-api-key", c.ep.Key)
			req.Header.Set("anthropic-version", "2023-06-01")
		}
	}
	return c.doer.Do(req)
}

// errorOf returns the error that a response of bad status reports, in
// go-openai's form.
func errorOf(resp *http.Response) error {
	if resp.StatusCode >= http.StatusOK && resp.StatusCode < http.StatusBadRequest {
		return nil
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	return &openai.RequestError{HTTPStatus: resp.Status, HTTPStatusCode: resp.StatusCode, Err: err, Body: body}
}

// ollamaChunk takes one line of Ollama's answer.
func (c *Client) ollamaChunk(a *answer, _ string, data []byte) error {
	var chunk struct {
		Model   flexText `json:"model"`
		Message struct {
			Content   flexText         `json:"content"`
			Thinking  flexText         `json:"thinking"`
			ToolCalls []ollamaToolCall `json:"tool_calls"`
		} `json:"message"`
		Done       bool            `json:"done"`
		DoneReason string          `json:"done_reason"`
		Prompt     flexInt         `json:"prompt_eval_count"`
		Eval       flexInt         `json:"eval_count"`
		Error      json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(data, &chunk); err != nil {
		return errors.Join(errMalformed, err)
	}
	if saysSomething(chunk.Error) {
		return c.inStream(a, chunk.Error)
	}
	a.model = string(chunk.Model)
	a.addReasoning(string(chunk.Message.Thinking))
	a.addText(string(chunk.Message.Content))
	for _, call := range chunk.Message.ToolCalls {
		var args flexArgs
		if err := json.Unmarshal(call.Function.Arguments, &args); err != nil && len(call.Function.Arguments) > 0 {
			return errors.Join(errMalformed, err)
		}
		n := len(a.calls) // every call comes whole
		if err := c.callFault(a.addCall(&n, "", call.Function.Name, string(args), nil)); err != nil {
			return err
		}
	}
	if !chunk.Done {
		return nil
	}
	a.usage = Usage{Input: int(chunk.Prompt), Output: int(chunk.Eval), Reported: chunk.Prompt > 0}.sane()
	switch {
	case chunk.DoneReason == FinishLength:
		a.finish = FinishLength
	case len(a.calls) > 0:
		a.finish = FinishTools
	default:
		a.finish = FinishStop
	}
	return nil
}
