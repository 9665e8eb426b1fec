package mcptest

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

//go:embed app.html
var appPage string

//go:embed hostile.html
var hostilePage string

const appType = "text/html;profile=mcp-app"

type showArgs struct {
	Text string `json:"text" jsonschema:"what to show"`
}

// apps adds tools whose results are shown by a page of the server: one that behaves, one that tries what it may not, and those
// that a page is wrong with. The tool forApps is for pages alone, and forAgents not for them.
func apps(s *mcp.Server) {
	page := func(tool, uri, text string, ui mcp.Meta) {
		mcp.AddTool(s, &mcp.Tool{Name: tool, Title: strings.ToUpper(tool[:1]) + tool[1:], Description: "Shows a text as a page: " + tool + ".", Meta: mcp.Meta{"ui": map[string]any{"resourceUri": uri}}}, func(_ context.Context, _ *mcp.CallToolRequest, in showArgs) (*mcp.CallToolResult, any, error) {
			out := said("Shown: " + in.Text)
			out.StructuredContent = json.RawMessage(fmt.Sprintf(`{"count": %d}`, len(in.Text)))
			return out, nil, nil
		})
		s.AddResource(&mcp.Resource{URI: uri, Name: tool, MIMEType: appType}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: uri, MIMEType: appType, Text: text, Meta: mcp.Meta{"ui": ui}}}}, nil
		})
	}
	page("show", "ui://test/show.html", appPage, mcp.Meta{"csp": map[string]any{"resourceDomains": []string{"https://cdn.example.com", "http://127.0.0.1:1", "*"}, "connectDomains": []string{"https://api.example.com"}}})
	page("hostile", "ui://test/hostile.html", hostilePage, nil)
	page("loop", "ui://test/loop.html", "<!doctype html><p>about to loop</p><script>setTimeout(() => { for (;;); }, 300)</script>", nil)
	page("mute", "ui://test/mute.html", "<!doctype html><p>It says nothing.</p>", nil)
	page("huge", "ui://test/huge.html", "<!doctype html>"+strings.Repeat("<!-- -->", 400_000), nil)
	tool := func(name string, visibility ...string) {
		mcp.AddTool(s, &mcp.Tool{Name: name, Title: name, Description: "Counts.", Meta: mcp.Meta{"ui": map[string]any{"visibility": visibility}}}, func(_ context.Context, _ *mcp.CallToolRequest, in showArgs) (*mcp.CallToolResult, any, error) {
			fmt.Fprintln(os.Stderr, name+" was called")
			return said(name + " says: " + in.Text), nil, nil
		})
	}
	tool("forApps", "app")
	tool("forAgents", "model")
	s.AddResource(&mcp.Resource{URI: "test://notes", Name: "notes", MIMEType: "text/plain"}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: "test://notes", MIMEType: "text/plain", Text: "a note of the server"}}}, nil
	})
}
