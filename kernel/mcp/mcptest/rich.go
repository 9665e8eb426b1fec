package mcptest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type pointArgs struct {
	As string `json:"as"` // well, wrong, none or endless
}

// pointSchema describes what the tool point gives.
const pointSchema = `{"type": "object", "properties": {"x": {"type": "integer"}, "label": {"$ref": "#/$defs/name"}}, "required": ["x"], "$defs": {"name": {"type": "string"}}}`

// rich adds tools with every kind of result, and those that tell how far they are or ask something in return.
func rich(s *mcp.Server) {
	point := func(name, schema string) {
		s.AddTool(&mcp.Tool{Name: name, Description: "Gives a point.", InputSchema: json.RawMessage(`{"type": "object"}`), OutputSchema: json.RawMessage(schema)}, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			var in pointArgs
			if err := json.Unmarshal(r.Params.Arguments, &in); err != nil {
				return nil, err
			}
			switch in.As {
			case "wrong":
				return &mcp.CallToolResult{StructuredContent: json.RawMessage(`{"x": "many"}`), Content: []mcp.Content{}}, nil
			case "none":
				return said("No point."), nil
			}
			out := said(`{ "label": "here", "x": 3 }`)
			out.StructuredContent = json.RawMessage(`{"x": 3, "label": "here"}`)
			out.Content = append(out.Content, &mcp.TextContent{Text: "A point, as it should be."})
			return out, nil
		})
	}
	point("point", pointSchema)
	point("circle", `{"type": "object", "properties": {"next": {"$ref": "#"}, "x": {"type": "integer"}}}`)
	point("remote", `{"type": "object", "$ref": "https://example.com/schema.json"}`)
	mcp.AddTool(s, &mcp.Tool{Name: "blocks", Description: "Gives one block of each kind."}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{
			&mcp.TextContent{Text: "First."},
			&mcp.ImageContent{MIMEType: "image/png", Data: []byte("png")},
			&mcp.AudioContent{MIMEType: "audio/wav", Data: []byte("wave")},
			&mcp.ResourceLink{URI: "file:///notes.md", Name: "notes", Description: "What was noted"},
			&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "file:///a.txt", MIMEType: "text/plain", Text: "inside"}},
			&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "file:///b.bin", MIMEType: "application/x-thing", Blob: []byte("12345")}},
			&mcp.TextContent{Text: "Last."},
		}}, nil, nil
	})
	mcp.AddTool(s, &mcp.Tool{Name: "slow", Description: "Says how far it is until it is stopped."}, func(ctx context.Context, r *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		err := r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: 3, Total: 10, Message: "third page"})
		if err != nil {
			return nil, nil, err
		}
		<-ctx.Done()
		fmt.Fprintln(os.Stderr, "was told to stop")
		return nil, nil, ctx.Err()
	})
	mcp.AddTool(s, &mcp.Tool{Name: "roots", Description: "Names the folders that it was told."}, func(_ context.Context, r *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		list, ok := r.Params.InputResponses["roots"].(*mcp.ListRootsResult)
		if !ok {
			return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"roots": &mcp.ListRootsParams{}}}, nil, nil
		}
		var all []string
		for _, root := range list.Roots {
			all = append(all, root.URI)
		}
		return said("roots: " + strings.Join(all, " ")), nil, nil
	})
	mcp.AddTool(s, &mcp.Tool{Name: "think", Description: "Asks the model."}, func(_ context.Context, r *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		switch got := r.Params.InputResponses["model"].(type) {
		case *mcp.CreateMessageResult:
			text, _ := got.Content.(*mcp.TextContent)
			return said("the model said: " + text.Text), nil, nil
		case *mcp.CreateMessageWithToolsResult:
			text, _ := got.Content[0].(*mcp.TextContent)
			return said("the model said: " + text.Text), nil, nil
		}
		return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"model": &mcp.CreateMessageParams{
			MaxTokens: 100, SystemPrompt: "Be brief.", Messages: []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: "Name a colour."}}},
		}}}, nil, nil
	})
	asks := map[string]*mcp.ElicitParams{
		"book": {Mode: "form", Message: "Which room do you want?\u202e", RequestedSchema: json.RawMessage(bookSchema)},
		"key":  {Mode: "form", Message: "Sign in", RequestedSchema: json.RawMessage(`{"type": "object", "properties": {"apiKey": {"type": "string"}}}`)},
		"page": {Mode: "url", Message: "Sign in there", URL: "https://example.com/sign-in?x=1", ElicitationID: "e1"},
		"file": {Mode: "url", Message: "Look", URL: "file:///etc/passwd", ElicitationID: "e2"},
	}
	for name, ask := range asks {
		mcp.AddTool(s, &mcp.Tool{Name: name, Description: "Asks the person something."}, func(_ context.Context, r *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
			got, ok := r.Params.InputResponses["ask"].(*mcp.ElicitResult)
			if !ok {
				fmt.Fprintln(os.Stderr, "asks")
				return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"ask": ask}}, nil, nil
			}
			content, err := json.Marshal(got.Content)
			return said(got.Action + " " + string(content)), nil, err
		})
	}
}

// bookSchema asks for a value of each kind.
const bookSchema = `{"type": "object", "required": ["name", "beds"], "properties": {
	"name": {"type": "string", "title": "Your name", "minLength": 2, "maxLength": 40},
	"beds": {"type": "integer", "title": "Beds", "description": "How many people sleep there", "minimum": 1, "maximum": 4, "default": 2},
	"price": {"type": "number", "title": "At most", "minimum": 10},
	"mail": {"type": "string", "title": "Email", "format": "email"},
	"from": {"type": "string", "title": "From", "format": "date"},
	"view": {"type": "string", "title": "View", "oneOf": [{"const": "sea", "title": "The sea"}, {"const": "yard", "title": "The yard"}], "default": "sea"},
	"extras": {"type": "array", "title": "Extras", "items": {"type": "string", "enum": ["bike", "dog"]}, "maxItems": 2},
	"late": {"type": "boolean", "title": "Comes late", "default": false}
}}`
