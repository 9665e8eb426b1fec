package mcp

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxResult is how many bytes of a result reach the model: the first and the last ones.
const maxResult = 60 << 10

// Result is what a tool of a server gave.
type Result struct {
	Text   string `json:"text"`             // all of its blocks, for a reader of text
	Failed bool   `json:"failed,omitempty"` // the tool says that it failed
	Cut    int    `json:"cut,omitempty"`    // bytes in the middle that were left out
}

// resultOf makes a text of the blocks of a result. Structured content is shown once: only where no block is text.
func resultOf(r *sdk.CallToolResult) Result {
	var parts []string
	text := false
	for _, c := range r.Content {
		switch c := c.(type) {
		case *sdk.TextContent:
			parts, text = append(parts, c.Text), true
		case *sdk.ImageContent:
			parts = append(parts, fmt.Sprintf("[image, %s, %d bytes]", c.MIMEType, len(c.Data)))
		case *sdk.AudioContent:
			parts = append(parts, fmt.Sprintf("[audio, %s, %d bytes]", c.MIMEType, len(c.Data)))
		case *sdk.ResourceLink:
			parts = append(parts, fmt.Sprintf("[resource %s: %s]", c.Name, c.URI))
		case *sdk.EmbeddedResource:
			parts, text = append(parts, embedded(c)), true
		}
	}
	if r.StructuredContent != nil && !text {
		if raw, err := json.Marshal(r.StructuredContent); err == nil {
			parts = append(parts, string(raw))
		}
	}
	out := Result{Text: strings.ToValidUTF8(strings.Join(parts, "\n\n"), "�"), Failed: r.IsError}
	out.Text, out.Cut = cut(out.Text, maxResult)
	return out
}

func embedded(c *sdk.EmbeddedResource) string {
	switch {
	case c.Resource == nil:
		return "[resource]"
	case c.Resource.Text != "":
		return c.Resource.Text
	}
	return fmt.Sprintf("[resource %s, %s, %d bytes]", c.Resource.URI, c.Resource.MIMEType, len(c.Resource.Blob))
}

// cut keeps the first and the last bytes of a text, whole characters of it, and says how many are gone.
func cut(text string, n int) (string, int) {
	if len(text) <= n {
		return text, 0
	}
	head, tail := n*2/3, len(text)-n/3
	for head > 0 && !utf8.RuneStart(text[head]) {
		head--
	}
	for tail < len(text) && !utf8.RuneStart(text[tail]) {
		tail++
	}
	return fmt.Sprintf("%s\n[%d bytes left out]\n%s", text[:head], tail-head, text[tail:]), tail - head
}
