package tools

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"oxios/kernel"
	"oxios/kernel/agent"
	"oxios/kernel/retrieval"
	"oxios/kernel/sys"
)

// How many tools of MCP servers a run is offered at once: those that fit what it is asked for. The others are found with
// find_tools.
const (
	maxOffered = 8
	maxSchemas = 4500 // bytes of names, descriptions and schemas together, about 1,300 tokens
)

type findToolsArgs struct {
	Query string `json:"query" jsonschema:"what the tool should do, in a few words"`
}

// findToolsMaker is the tool that finds tools. It stands for all tools of servers in the settings and in the rules of roles.
var findToolsMaker = maker{
	name: "find_tools", domain: "mcp", calls: []string{"mcp.tools", "mcp.call"},
	about: "Finds tools of connected servers.",
	terms: "도구 서버 연결 확장 찾아 extension server connected mcp more tools",
	when:  func(at kernel.Workplace) bool { return len(at.ServerTools)+len(at.Servers) > 0 },
	make: func(h *kernel.Handle, at kernel.Workplace) agent.Tool {
		return newTool("find_tools", "Finds tools of connected servers by what they should do. Those that are found can be called from the next step on.", nil,
			func(in findToolsArgs) sys.Words { return sys.Say("Find tools for %s", in.Query) },
			func(ctx context.Context, in findToolsArgs) (agent.Result, error) {
				all, err := h.MCP.Tools(ctx)
				if err != nil {
					return agent.Result{}, err
				}
				fit := fitting(findable(h, at, all), in.Query)
				var b strings.Builder
				res := agent.Result{Title: sys.Say("Found %s for %s", counted(len(fit), "tool", "도구"), in.Query)}
				for _, t := range fit {
					fmt.Fprintf(&b, "%s: %s\n", t.Call, firstSentence(t.Description))
					res.Offer = append(res.Offer, found(h, t))
				}
				if len(fit) == 0 {
					b.WriteString("No tool of a server fits that.")
				}
				res.Text = strings.TrimSpace(b.String())
				return res, nil
			})
	},
}

// offeredTools are the tools of servers that a run begins with: those that every run has, those that were found in this
// conversation, and those that fit best what it is asked for. There are no more of them than may be offered at once.
func offeredTools(at kernel.Workplace, all []kernel.MCPTool, goal string) (out []kernel.MCPTool) {
	size := 0
	add := func(t kernel.MCPTool) {
		n := len(t.Call) + len(t.Description) + len(t.Schema)
		there := slices.ContainsFunc(out, func(o kernel.MCPTool) bool { return o.Call == t.Call })
		if there || len(out) == maxOffered || len(out) > 0 && size+n > maxSchemas {
			return
		}
		size += n
		out = append(out, t)
	}
	for _, name := range slices.Concat(at.AlwaysTools, at.FoundTools) {
		if i := slices.IndexFunc(all, func(t kernel.MCPTool) bool { return t.Call == name }); i >= 0 {
			add(all[i])
		}
	}
	for _, t := range fitting(all, goal) {
		add(t)
	}
	return out
}

// fitting are the tools that fit best, the best first, as many as may be offered at once.
func fitting(all []kernel.MCPTool, goal string) (out []kernel.MCPTool) {
	if len(all) == 0 {
		return nil
	}
	size := 0
	key := sha256.New()
	for _, t := range all {
		fmt.Fprintf(key, "%s\x00%s\x00%s\x00%s\x00%s\x00", t.Server, t.Name, t.Title, t.Description, t.Schema)
	}
	index := serverIndex.of([32]byte(key.Sum(nil)), func() *Retriever {
		infos := make([]described, len(all))
		for i, t := range all {
			infos[i] = described{id: t.Call, owner: t.Server, name: t.Name, about: t.Title + " " + t.Description, args: strings.Join(parameters(t.Schema), " ")}
		}
		return retrieverOf(retrieval.NewOfServers(), infos)
	})
	for _, name := range index.Find(goal, maxOffered) {
		i := slices.IndexFunc(all, func(t kernel.MCPTool) bool { return t.Call == name })
		if size += len(all[i].Call) + len(all[i].Description) + len(all[i].Schema); size > maxSchemas && len(out) > 0 {
			break
		}
		out = append(out, all[i])
	}
	return out
}

// serverIndex finds tools of servers, and skillIndex skills. Each is built anew only when there are others.
var serverIndex, skillIndex indexed

type indexed struct {
	sync.Mutex
	key   [32]byte
	index *Retriever
}

// of is the index of what the key is the hash of.
func (x *indexed) of(key [32]byte, build func() *Retriever) *Retriever {
	x.Lock()
	defer x.Unlock()
	if x.index == nil || x.key != key {
		x.key, x.index = key, build()
	}
	return x.index
}

// parameters are the names of a tool's arguments.
func parameters(schema json.RawMessage) (names []string) {
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(schema, &s) != nil {
		return nil
	}
	for name := range s.Properties {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// serverTool is a tool of a server, as a run calls it.
type serverTool struct {
	h    *kernel.Handle
	tool kernel.MCPTool
}

func (t serverTool) Name() string { return t.tool.Call }

func (t serverTool) Description() string {
	return "A tool of the server " + t.tool.Server + ", which describes it like this: " + t.tool.Description
}

func (t serverTool) Schema() json.RawMessage { return t.tool.Schema }

func (t serverTool) Title(json.RawMessage) sys.Words {
	return onOneLine(sys.Words{EN: cmp.Or(t.tool.Title, t.tool.Name) + " (" + t.tool.Server + ")"})
}

func (t serverTool) Call(ctx context.Context, args json.RawMessage) (agent.Result, error) {
	r, err := t.h.MCP.Call(ctx, kernel.MCPCall{Server: t.tool.Server, Tool: t.tool.Name, Args: args})
	out := agent.Result{}
	if r.Cost != nil {
		out.Cost = *r.Cost
	}
	if err != nil {
		return out, err
	}
	if r.Failed {
		r.Text = "The tool says that it failed.\n" + r.Text
	}
	out.Text = withMore(r.Text, r.More)
	if r.App != nil {
		out.App = &agent.App{Server: r.App.Server, ID: r.App.ID, Hash: r.App.Hash}
	}
	return out, nil
}

// firstSentence is the beginning of a description.
func firstSentence(text string) string {
	text, _, _ = strings.Cut(text, "\n")
	if i := strings.Index(text, ". "); i > 0 {
		text = text[:i+1]
	}
	return sys.Shorten(text, 200)
}
