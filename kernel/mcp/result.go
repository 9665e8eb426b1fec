package mcp

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"oxios/kernel/store"
)

// maxResult is how many bytes of a result reach the model: the first and the last ones.
const maxResult = 60 << 10

// Result is what a tool of a server gave.
type Result struct {
	Text   string `json:"text"`             // all of its blocks, for a reader of text
	Failed bool   `json:"failed,omitempty"` // the tool says that it failed
	Cut    int    `json:"cut,omitempty"`    // bytes in the middle that were left out
	More   string `json:"more,omitempty"`   // the id under which all of it can be read, where some was left out

	Cost *store.Cost `json:"cost,omitempty"` // of the model, where the server asked it
	App  *App        `json:"app,omitempty"`  // that shows it, in a run

	raw *sdk.CallToolResult
}

// textOf makes a text of the blocks of a result. What is structured is shown once: a block of text that only says the same is
// left out. What does not fit the schema that the tool declares is shown as it came, with a word about that.
func textOf(t Tool, r *sdk.CallToolResult) string {
	var parts []string
	for _, c := range r.Content {
		if text, ok := c.(*sdk.TextContent); ok && r.StructuredContent != nil && says(text.Text, r.StructuredContent) {
			continue
		}
		if part := blockText(c); part != "" {
			parts = append(parts, part)
		}
	}
	if r.StructuredContent != nil {
		if raw, err := json.Marshal(r.StructuredContent); err == nil {
			parts = append(parts, string(raw))
		}
	}
	if why := misfit(t.Output, r); why != "" {
		parts = append(parts, "(Oxios: "+why+")")
	}
	return strings.ToValidUTF8(strings.Join(parts, "\n\n"), "�")
}

// blockText is one block of what a server said.
func blockText(c sdk.Content) string {
	switch c := c.(type) {
	case *sdk.TextContent:
		return c.Text
	case *sdk.ImageContent:
		return fmt.Sprintf("[image, %s, %d bytes]", plain(c.MIMEType, 80), len(c.Data))
	case *sdk.AudioContent:
		return fmt.Sprintf("[audio, %s, %d bytes]", plain(c.MIMEType, 80), len(c.Data))
	case *sdk.ResourceLink:
		link := fmt.Sprintf("[resource %s: %s]", plain(c.Name, 200), plain(c.URI, 1000))
		if about := plain(c.Description, 500); about != "" {
			link += " " + about
		}
		return link
	case *sdk.EmbeddedResource:
		return contentsText(c.Resource)
	}
	return ""
}

// contentsText is what a resource holds: its text, or what kind of thing it is.
func contentsText(r *sdk.ResourceContents) string {
	switch {
	case r == nil:
		return ""
	case r.Text != "" || len(r.Blob) == 0:
		return fmt.Sprintf("[resource %s]\n%s", plain(r.URI, 1000), r.Text)
	}
	return fmt.Sprintf("[resource %s, %s, %d bytes]", plain(r.URI, 1000), plain(r.MIMEType, 80), len(r.Blob))
}

// says reports whether a text is a value as JSON, however it is written.
func says(text string, value any) bool {
	var said any
	if json.Unmarshal([]byte(text), &said) != nil {
		return false
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return false
	}
	var plain any
	return json.Unmarshal(raw, &plain) == nil && reflect.DeepEqual(said, plain)
}

// cut keeps the first and the last bytes of a text, whole characters of it, and says how many are gone and how they can be read.
func cut(text string, n int, keep func(string) string) (short string, left int, id string) {
	if len(text) <= n {
		return text, 0, ""
	}
	head, tail := n*2/3, len(text)-n/3
	for head > 0 && !utf8.RuneStart(text[head]) {
		head--
	}
	for tail < len(text) && !utf8.RuneStart(text[tail]) {
		tail++
	}
	left = tail - head
	gap := fmt.Sprintf("[%d bytes left out]", left)
	if id = keep(text); id != "" {
		gap = fmt.Sprintf("[%d bytes left out here; the whole result has %d and can be read as %s]", left, len(text), id)
	}
	return text[:head] + "\n" + gap + "\n" + text[tail:], left, id
}
