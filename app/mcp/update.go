package mcp

import (
	"context"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"oxios/kernel"
)

// maxCompleted is how many values a completion has at most: the protocol's number.
const maxCompleted = 100

// complete finishes the path of a note as it is typed.
func (f *face) complete(ctx context.Context, req *sdk.CompleteRequest) (*sdk.CompleteResult, error) {
	out := &sdk.CompleteResult{Completion: sdk.CompletionResultDetails{Values: []string{}}}
	if req.Params.Ref == nil || req.Params.Ref.URI != notes+"{+path}" || !f.has("knowledge.tree") {
		return out, nil
	}
	all, err := f.h.Knowledge.Tree(ctx)
	if err != nil {
		return nil, problem(err)
	}
	typed := strings.ToLower(req.Params.Argument.Value)
	for _, e := range all {
		if e.Kind != "note" || !strings.Contains(strings.ToLower(e.Path), typed) {
			continue
		}
		if out.Completion.Total++; len(out.Completion.Values) < maxCompleted {
			out.Completion.Values = append(out.Completion.Values, strings.TrimPrefix(noteURI(e.Path), notes))
		}
	}
	out.Completion.HasMore = out.Completion.Total > len(out.Completion.Values)
	return out, nil
}

// subscribe lets a program follow what it can read.
func (f *face) subscribe(_ context.Context, req *sdk.SubscribeRequest) error {
	call := ""
	switch {
	case strings.HasPrefix(req.Params.URI, notes):
		call = "knowledge.read"
	case strings.HasPrefix(req.Params.URI, runs):
		call = "agents.run"
	}
	if call != "" && !f.has(call) {
		return problem(invalid("This program does not have the scope %s, which %s needs.", strings.Join(kernel.ScopesFor(call), " or "), req.Params.URI))
	}
	return nil
}

// updated tells who follows a note or run that it changed.
func (s *Server) updated(ctx context.Context, e kernel.Event) {
	var uris []string
	switch data := e.Data.(type) {
	case []string:
		if e.Kind == "vault" {
			for _, path := range data {
				uris = append(uris, noteURI(path))
			}
		}
	default:
		if strings.HasPrefix(e.Kind, "run.") {
			uris = append(uris, runs+e.RunID)
		}
	}
	if len(uris) == 0 {
		return
	}
	s.mu.Lock()
	all := make([]*served, 0, len(s.faces))
	for _, f := range s.faces {
		all = append(all, f)
	}
	s.mu.Unlock()
	for _, f := range all {
		for _, uri := range uris {
			if err := f.server.ResourceUpdated(ctx, &sdk.ResourceUpdatedNotificationParams{URI: uri}); err != nil {
				s.c.Log.DebugContext(ctx, "A program was not told of a change", "uri", uri, "error", err)
			}
		}
	}
}
