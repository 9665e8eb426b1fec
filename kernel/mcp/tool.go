package mcp

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"oxios/kernel/security"
	"oxios/kernel/sys"
)

// Tool is one tool of a server, as it may be shown and offered.
type Tool struct {
	Server      string          `json:"server"`
	Name        string          `json:"name"`            // of the tool on its server
	Call        string          `json:"call"`            // as agents call it: server__tool
	Title       string          `json:"title,omitempty"` // as the server calls it for people
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"schema"`           // JSON Schema of its arguments, an object
	Output      json.RawMessage `json:"output,omitempty"` // JSON Schema of its structured result; nothing where it declares none
}

// LeftOut is a tool that is not offered, and why.
type LeftOut struct {
	Name string    `json:"name"`
	Why  sys.Words `json:"why"`
}

// The bounds of what a server may offer.
const (
	maxTools       = 500
	maxSchema      = 32 << 10
	maxDepth       = 24
	maxDescription = 4000
	maxName        = 64 // of a call, as providers take it
	joint          = "__"
)

// toolsOf makes tools of what a server listed. What cannot be offered is named with the reason: nothing is offered halfway.
func toolsOf(server string, listed []*sdk.Tool) (tools []Tool, left []LeftOut) {
	taken := map[string]bool{}
	for i, t := range listed {
		name := plain(t.Name, 100)
		leave := func(why sys.Words) { left = append(left, LeftOut{Name: name, Why: why}) }
		if i >= maxTools {
			leave(sys.Say("It offers more than %d tools.", maxTools))
			break
		}
		schema, err := json.Marshal(t.InputSchema)
		switch {
		case t.Name == "" || name != t.Name:
			leave(sys.Say("Its name is empty, too long, or holds characters that cannot be seen."))
			continue
		case err != nil || len(schema) > maxSchema:
			leave(sys.Say("The description of its arguments takes more than %d kB.", maxSchema>>10))
			continue
		}
		if why := refuse(schema); why.EN != "" {
			leave(why)
			continue
		}
		output, why := outputOf(t)
		if why.EN != "" {
			leave(why)
			continue
		}
		tool := Tool{Output: output, Server: server, Name: t.Name, Call: callName(server, t.Name), Title: plain(titleOf(t), 80), Description: plain(t.Description, maxDescription), Schema: schema}
		if taken[tool.Call] {
			leave(sys.Say("Another tool of this server has the same name."))
			continue
		}
		taken[tool.Call] = true
		tools = append(tools, tool)
	}
	slices.SortFunc(tools, func(a, b Tool) int { return strings.Compare(a.Name, b.Name) })
	return tools, left
}

// outputOf is the schema of a tool's results, or why it cannot be taken.
func outputOf(t *sdk.Tool) (json.RawMessage, sys.Words) {
	if t.OutputSchema == nil {
		return nil, sys.Words{}
	}
	schema, err := json.Marshal(t.OutputSchema)
	if err != nil || len(schema) > maxSchema {
		return nil, sys.Say("The description of its results takes more than %d kB.", maxSchema>>10)
	}
	if why := walk(t.OutputSchema, 0); why.EN != "" {
		return nil, sys.Say("The description of its results is nested too deeply or leads to another address.")
	}
	return schema, sys.Words{}
}

func titleOf(t *sdk.Tool) string {
	if t.Title == "" && t.Annotations != nil {
		return t.Annotations.Title
	}
	return t.Title
}

// refuse says why the schema of a tool cannot be passed on; the zero Words when it can.
func refuse(schema []byte) sys.Words {
	var v any
	d := json.NewDecoder(bytes.NewReader(schema))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return sys.Say("The description of its arguments is not JSON.")
	}
	top, ok := v.(map[string]any)
	if kind, _ := top["type"].(string); !ok || kind != "object" {
		return sys.Say("Its arguments are not an object.")
	}
	return walk(v, 0)
}

func walk(v any, depth int) sys.Words {
	if depth > maxDepth {
		return sys.Say("The description of its arguments is nested too deeply.")
	}
	switch v := v.(type) {
	case map[string]any:
		if ref, ok := v["$ref"].(string); ok && !strings.HasPrefix(ref, "#") {
			return sys.Say("The description of its arguments leads to another address.")
		}
		for _, inner := range v {
			if why := walk(inner, depth+1); why.EN != "" {
				return why
			}
		}
	case []any:
		for _, inner := range v {
			if why := walk(inner, depth+1); why.EN != "" {
				return why
			}
		}
	}
	return sys.Words{}
}

// callName is how agents call a tool. It holds only what every provider takes; what had to be changed ends with a piece of a
// hash, so that no two names become one.
func callName(server, tool string) string {
	var b strings.Builder
	for _, r := range tool {
		if r < 0x80 && (r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z') {
			b.WriteRune(r)
		} else {
			b.WriteByte('_')
		}
	}
	name := server + joint + b.String()
	if b.String() == tool && len(name) <= maxName {
		return name
	}
	sum := sha256.Sum256([]byte(tool))
	return name[:min(len(name), maxName-9)] + "_" + hex.EncodeToString(sum[:4])
}

// plain is a server's text without what people do not see, at most n characters of it.
func plain(text string, n int) string {
	return sys.Shorten(strings.TrimSpace(security.PlainText(security.WithoutControl(text))), n)
}

// hashOf is what definitions are pinned by.
func hashOf(tools []Tool, left []LeftOut, instructions string) string {
	raw, err := json.Marshal(struct {
		Tools        []Tool
		Left         []LeftOut
		Instructions string
	}{tools, left, instructions})
	if err != nil {
		panic(fmt.Sprintf("mcp: hash definitions: %v", err)) // it came from JSON
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}
