package mcp

import (
	"context"
	"encoding/json"
	"net/url"
	"path/filepath"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"oxios/kernel/sys"
)

// asks answers one thing that a task asks for, as if the server had asked for it in the middle of a call.
func (l *live) asks(ctx context.Context, tool Tool, raw json.RawMessage) (json.RawMessage, error) {
	var one sdk.InputRequestMap
	wrapped, err := json.Marshal(map[string]json.RawMessage{"one": raw})
	if err == nil {
		err = json.Unmarshal(wrapped, &one)
	}
	if err != nil {
		return nil, sys.Errorf(sys.CodeUnavailable, "The task of %s asks for something that Oxios does not know, so it was cancelled. Check what it did before you try again.", tool.Call)
	}
	var out any
	switch p := one["one"].(type) {
	case *sdk.ElicitParams:
		out, err = l.elicit(ctx, &sdk.ElicitRequest{Params: p})
	case *sdk.ListRootsParams:
		out = l.shown()
	case *sdk.CreateMessageWithToolsParams:
		out, err = l.sample(ctx, &sdk.CreateMessageRequest{Params: withoutTools(p)})
	default:
		err = sys.Errorf(sys.CodeUnavailable, "nobody knows what it asks for")
	}
	if err != nil {
		if u := l.call(ctx); u != nil {
			if _, denied := u.spent(); denied != nil {
				return nil, denied
			}
		}
		return nil, sys.Errorf(sys.CodeUnavailable, "The task of %s asks for something that it does not get (%s), so it was cancelled. Check what it did before you try again.", tool.Call, sys.TextOf(err))
	}
	return json.Marshal(out)
}

// shown are the folders that the server was told.
func (l *live) shown() *sdk.ListRootsResult {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := &sdk.ListRootsResult{Roots: []*sdk.Root{}}
	for _, folder := range l.roots {
		out.Roots = append(out.Roots, &sdk.Root{URI: (&url.URL{Scheme: "file", Path: filepath.ToSlash(folder)}).String(), Name: filepath.Base(folder)})
	}
	return out
}

// withoutTools is a request to the model in the older form, which holds all that a server can ask of it here.
func withoutTools(p *sdk.CreateMessageWithToolsParams) *sdk.CreateMessageParams {
	out := &sdk.CreateMessageParams{SystemPrompt: p.SystemPrompt, MaxTokens: p.MaxTokens}
	for _, m := range p.Messages {
		one := &sdk.SamplingMessage{Role: m.Role}
		if len(m.Content) == 1 {
			one.Content = m.Content[0]
		}
		out.Messages = append(out.Messages, one)
	}
	return out
}
