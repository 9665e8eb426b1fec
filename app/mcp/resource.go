package mcp

import (
	"context"
	"encoding/base64"
	"net/url"
	"slices"
	"strconv"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"oxios/app/remote"
	"oxios/kernel"
)

const (
	notes = "oxios://vault/"
	runs  = "oxios://runs/"

	pageSize   = 100
	recentRuns = 50
)

// addResources adds the notes and runs, which are found by their addresses.
func (f *face) addResources(s *sdk.Server) {
	if f.has("knowledge.read") {
		s.AddResourceTemplate(&sdk.ResourceTemplate{Name: "note", Title: "Note", Description: "A note of the person, by its path.", MIMEType: "text/markdown", URITemplate: notes + "{+path}"}, f.readNote)
	}
	if f.has("agents.run") {
		s.AddResourceTemplate(&sdk.ResourceTemplate{Name: "run", Title: "Run", Description: "A run with its steps and what it changed, by its id.", MIMEType: "application/json", URITemplate: runs + "{id}"}, f.readRun)
	}
}

func (f *face) readNote(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	path, err := url.PathUnescape(strings.TrimPrefix(req.Params.URI, notes))
	if err != nil {
		return nil, sdk.ResourceNotFoundError(req.Params.URI)
	}
	n, err := f.h.Knowledge.Read(ctx, path)
	if err != nil {
		return nil, notFound(req.Params.URI, err)
	}
	return text(req.Params.URI, "text/markdown", n.Text)
}

func (f *face) readRun(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	r, err := f.h.Agents.Run(ctx, strings.TrimPrefix(req.Params.URI, runs))
	if err != nil {
		return nil, notFound(req.Params.URI, err)
	}
	raw, err := remote.Marshal(r)
	if err != nil {
		return nil, err
	}
	return text(req.Params.URI, "application/json", string(raw))
}

func text(uri, kind, body string) (*sdk.ReadResourceResult, error) {
	if len(body) > maxResult {
		return nil, problem(invalid("%s takes %d kB, and %d kB is the most.", uri, len(body)>>10, maxResult>>10))
	}
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: uri, MIMEType: kind, Text: body}}}, nil
}

// lists adds the notes, runs and skills to what the library lists: they come and go, and nobody tells it.
func (f *face) lists(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		switch method {
		case "resources/list":
			at := ""
			if p, ok := req.GetParams().(*sdk.ListResourcesParams); ok && p != nil {
				at = p.Cursor
			}
			return f.listResources(ctx, at, func() (sdk.Result, error) { return next(ctx, method, req) })
		case "prompts/list":
			out, err := next(ctx, method, req)
			if list, ok := out.(*sdk.ListPromptsResult); ok && err == nil && list.NextCursor == "" {
				more, perr := f.prompts(ctx)
				list.Prompts, err = append(slices.Clip(list.Prompts), more...), perr
			}
			return out, err
		case "prompts/get":
			if p, ok := req.GetParams().(*sdk.GetPromptParams); ok && p != nil {
				if out, err := f.prompt(ctx, p); out != nil || err != nil {
					return out, err
				}
			}
		}
		return next(ctx, method, req)
	}
}

// cursor is where a page of ours begins; the library has its own.
const cursor = "oxios:"

func (f *face) listResources(ctx context.Context, at string, rest func() (sdk.Result, error)) (sdk.Result, error) {
	from, ours := 0, false
	if raw, err := base64.RawURLEncoding.DecodeString(at); err == nil && strings.HasPrefix(string(raw), cursor) {
		if from, err = strconv.Atoi(strings.TrimPrefix(string(raw), cursor)); err != nil || from < 0 {
			return nil, problem(invalid("The cursor is not one of this server."))
		}
		ours = true
	}
	list := &sdk.ListResourcesResult{Resources: []*sdk.Resource{}}
	if !ours {
		out, err := rest()
		theirs, ok := out.(*sdk.ListResourcesResult)
		if err != nil || !ok || theirs.NextCursor != "" {
			return out, err
		}
		list = theirs
	}
	all, err := f.resources(ctx)
	if err != nil {
		return nil, problem(err)
	}
	from = min(from, len(all))
	end := min(from+pageSize, len(all))
	list.Resources = append(slices.Clip(list.Resources), all[from:end]...)
	if end < len(all) {
		list.NextCursor = base64.RawURLEncoding.EncodeToString([]byte(cursor + strconv.Itoa(end)))
	}
	return list, nil
}

// resources are the recent runs, then all notes.
func (f *face) resources(ctx context.Context) (out []*sdk.Resource, err error) {
	if f.has("agents.list") {
		list, err := f.h.Agents.List(ctx, kernel.ProcessQuery{All: true, Limit: recentRuns})
		if err != nil {
			return nil, err
		}
		for _, r := range list {
			out = append(out, &sdk.Resource{URI: runs + r.ID, Name: r.Name, Description: string(r.State), MIMEType: "application/json"})
		}
	}
	if f.has("knowledge.tree") {
		all, err := f.h.Knowledge.Tree(ctx)
		if err != nil {
			return nil, err
		}
		for _, e := range all {
			if e.Kind == "note" {
				out = append(out, &sdk.Resource{URI: noteURI(e.Path), Name: e.Path, Title: e.Title, MIMEType: "text/markdown", Size: e.Size})
			}
		}
	}
	return out, nil
}

// noteURI is the address of a note.
func noteURI(path string) string {
	parts := strings.Split(path, "/")
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	return notes + strings.Join(parts, "/")
}
