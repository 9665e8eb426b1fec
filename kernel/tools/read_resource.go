package tools

import (
	"context"
	"fmt"
	"strings"

	"oxios/kernel"
	"oxios/kernel/agent"
	"oxios/kernel/sys"
)

type readResourceArgs struct {
	Server string            `json:"server,omitempty" jsonschema:"whose; left out for all, to list"`
	URI    string            `json:"uri,omitempty" jsonschema:"the resource to read; left out to list what there is"`
	Prompt string            `json:"prompt,omitempty" jsonschema:"instead of uri: the prompt to take, by its name"`
	Args   map[string]string `json:"args,omitempty" jsonschema:"the values of the prompt"`
}

const readResource = "read_resource"

// maxListed is how many resources and prompts are listed at once.
const maxListed = 100

// findable are the tools that find_tools looks through: those of servers, and, where a server has something to read, the one
// that reads it. That one stands in no index, so that a prompt without such servers is as long as before.
func findable(h *kernel.Handle, at kernel.Workplace, of []kernel.MCPTool) []kernel.MCPTool {
	if len(at.Servers) == 0 || !h.May("mcp.read") {
		return of
	}
	t := resourceReader(h)
	return append(of[:len(of):len(of)], kernel.MCPTool{
		Name: readResource, Call: readResource, Title: "리소스 자료 문서 프롬프트 읽기 목록",
		Description: t.Description() + " Servers that have some: " + strings.Join(at.Servers, ", ") + ".", Schema: t.Schema(),
	})
}

// found is a tool of [findable] as a run calls it.
func found(h *kernel.Handle, t kernel.MCPTool) agent.Tool {
	if t.Call == readResource {
		return resourceReader(h)
	}
	return serverTool{h, t}
}

// resourceReader reads what servers have besides tools.
func resourceReader(h *kernel.Handle) agent.Tool {
	return newTool(readResource, "Lists and reads the resources and prompts of connected servers.", nil,
		func(in readResourceArgs) sys.Words {
			switch {
			case in.URI != "":
				return onOneLine(sys.Say("Read %s of the server %s", sys.Shorten(in.URI, 100), in.Server))
			case in.Prompt != "":
				return onOneLine(sys.Say("Take the prompt %s of the server %s", sys.Shorten(in.Prompt, 100), in.Server))
			}
			return sys.Say("List what servers have to read")
		},
		func(ctx context.Context, in readResourceArgs) (agent.Result, error) {
			switch {
			case in.URI != "" && in.Prompt != "":
				return agent.Result{}, sys.Errorf(sys.CodeInvalid, "Both uri and prompt are given. Nothing was done.").WithHint("Give one of them.")
			case in.URI != "":
				r, err := h.MCP.Read(ctx, kernel.MCPRead{Server: in.Server, URI: in.URI})
				return agent.Result{Text: withMore(r.Text, r.More)}, err
			case in.Prompt != "":
				r, err := h.MCP.Prompt(ctx, kernel.MCPPrompting{Server: in.Server, Prompt: in.Prompt, Args: in.Args})
				return agent.Result{Text: withMore(r.Text, r.More)}, err
			}
			return listResources(ctx, h, in.Server)
		})
}

// withMore says how the rest of a long result is read.
func withMore(text, id string) string {
	if id == "" {
		return text
	}
	return text + fmt.Sprintf("\n(To read all of it: exec, action log, id %s, offset 0.)", id)
}

func listResources(ctx context.Context, h *kernel.Handle, server string) (agent.Result, error) {
	have, err := h.MCP.Resources(ctx, server)
	if err != nil {
		return agent.Result{}, err
	}
	prompts, err := h.MCP.Prompts(ctx, server)
	if err != nil {
		return agent.Result{}, err
	}
	var lines []string
	for _, r := range have.Items {
		kind := "resource"
		if r.Template {
			kind = "template"
		}
		lines = append(lines, onOneLine(sys.Words{EN: fmt.Sprintf("%s %s %s (%s) %s", r.Server, kind, r.URI, r.Name, sys.Shorten(r.Description, 120))}).EN)
	}
	for _, p := range prompts {
		var args []string
		for _, a := range p.Args {
			name := a.Name
			if !a.Required {
				name += "?"
			}
			args = append(args, name)
		}
		lines = append(lines, onOneLine(sys.Words{EN: fmt.Sprintf("%s prompt %s (%s) %s", p.Server, p.Name, strings.Join(args, ", "), sys.Shorten(p.Description, 120))}).EN)
	}
	if left := have.Left + max(0, len(lines)-maxListed); left > 0 {
		lines = append(lines[:min(len(lines), maxListed)], fmt.Sprintf("[%d more are not listed]", left))
	}
	if len(lines) == 0 {
		lines = []string{"No server has anything to read."}
	}
	return agent.Result{Text: strings.Join(lines, "\n")}, nil
}
