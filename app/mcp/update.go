package mcp

import (
	"context"
	"strings"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"oxios/kernel"
	"oxios/kernel/sys"
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

const (
	maxFollowed = 200  // addresses that a program follows at once
	maxAddress  = 4096 // bytes of one
	maxKept     = 2000 // addresses that the library keeps for a program
)

// subscribe lets a program follow what it can read.
func (f *face) subscribe(ctx context.Context, req *sdk.SubscribeRequest) error {
	uri, call := req.Params.URI, ""
	switch {
	case len(uri) > maxAddress:
		return problem(sys.Errorf(sys.CodeInvalid, "An address to follow has at most %d bytes.", maxAddress))
	case strings.HasPrefix(uri, notes):
		call = "knowledge.read"
	case strings.HasPrefix(uri, runs):
		call = "agents.run"
	default:
		return problem(sys.Errorf(sys.CodeInvalid, "Only addresses that begin with %s or %s can be followed.", notes, runs))
	}
	if !f.has(call) {
		return problem(invalid("This program does not have the scope %s, which %s needs.", strings.Join(kernel.ScopesFor(call), " or "), uri))
	}
	if call == "agents.run" && !f.has("knowledge.read") { // a program that may not read follows its own runs
		if _, err := f.h.Agents.Run(ctx, strings.TrimPrefix(uri, runs)); err != nil {
			return problem(err)
		}
	}
	if err := f.follows.add(req.Session, uri); err != nil {
		return problem(err)
	}
	return nil
}

func (f *face) unsubscribe(_ context.Context, req *sdk.UnsubscribeRequest) error {
	f.follows.remove(req.Session, req.Params.URI)
	return nil
}

// followed are the addresses that a program follows, and those that the library keeps: it forgets one that was given up, and none
// of a session that just ended.
type followed struct {
	servers []*sdk.Server

	mu   sync.Mutex
	by   map[*sdk.ServerSession]map[string]bool
	kept map[string]bool
}

func (f *followed) add(s *sdk.ServerSession, uri string) error {
	there := map[*sdk.ServerSession]bool{s: true}
	for _, server := range f.servers {
		for ss := range server.Sessions() {
			there[ss] = true
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for ss, uris := range f.by {
		if !there[ss] {
			delete(f.by, ss)
			continue
		}
		n += len(uris)
	}
	switch {
	case f.by[s][uri]:
		return nil
	case n >= maxFollowed:
		return sys.Errorf(sys.CodeRateLimit, "This program follows %d addresses, which is the most.", maxFollowed).WithHint("Give one of them up first.")
	case !f.kept[uri] && len(f.kept) >= maxKept:
		return sys.Errorf(sys.CodeRateLimit, "This program has followed %d addresses, which is the most.", maxKept).WithHint("End all its sessions, then it can follow more.")
	}
	if f.by == nil {
		f.by, f.kept = map[*sdk.ServerSession]map[string]bool{}, map[string]bool{}
	}
	if f.by[s] == nil {
		f.by[s] = map[string]bool{}
	}
	f.by[s][uri], f.kept[uri] = true, true
	return nil
}

func (f *followed) remove(s *sdk.ServerSession, uri string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.by[s][uri] {
		return
	}
	delete(f.by[s], uri)
	if len(f.by[s]) == 0 {
		delete(f.by, s)
	}
	for _, uris := range f.by {
		if uris[uri] {
			return
		}
	}
	delete(f.kept, uri)
}

// has reports whether an address is followed, or was by a session that has ended.
func (f *followed) has(uri string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.kept[uri]
}

// many reports whether the library keeps more than a program may follow at once.
func (f *followed) many() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.kept) > maxFollowed
}

// updated tells who follows a note or run that it changed. What a run says word by word is no change of it yet.
func (s *Server) updated(e kernel.Event) {
	var uris []string
	switch data := e.Data.(type) {
	case []string:
		if e.Kind == "vault" {
			for _, path := range data {
				uris = append(uris, noteURI(path))
			}
		}
	default:
		if strings.HasPrefix(e.Kind, "run.") && (kernel.EventQuery{}).Wants(e.Kind) {
			uris = append(uris, runs+e.RunID)
		}
	}
	if len(uris) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.faces {
		f.updated(uris)
	}
}
