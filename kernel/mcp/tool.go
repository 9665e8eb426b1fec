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

	App     string `json:"app,omitempty"`      // address of the page that shows its results: ui://…
	AppOnly bool   `json:"app_only,omitempty"` // it is for apps of this server, and no agent is offered it
	NoApp   bool   `json:"no_app,omitempty"`   // it is not for apps
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
	maxInstruction = 20000
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
		schema, why := argsOf(schema)
		if why.EN != "" {
			leave(why)
			continue
		}
		output, why := outputOf(t)
		if why.EN != "" {
			leave(why)
			continue
		}
		tool := Tool{Output: output, Server: server, Name: t.Name, Call: callName(server, t.Name), Title: plain(titleOf(t), 80), Description: plain(t.Description, maxDescription), Schema: schema}
		tool.App, tool.AppOnly, tool.NoApp = uiOf(t)
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
func outputOf(t *sdk.Tool) (out json.RawMessage, why sys.Words) {
	if t.OutputSchema == nil {
		return nil, sys.Words{}
	}
	schema, err := json.Marshal(t.OutputSchema)
	if err != nil || len(schema) > maxSchema {
		return nil, sys.Say("The description of its results takes more than %d kB.", maxSchema>>10)
	}
	v, err := decoded(schema)
	if err != nil {
		return nil, sys.Say("The description of its results is not JSON.")
	}
	if v, why = cleaned(v, 0); why.EN != "" {
		return nil, sys.Say("The description of its results is nested too deeply, leads to another address, or has a name with characters that cannot be seen.")
	}
	return encoded(v), sys.Words{}
}

func titleOf(t *sdk.Tool) string {
	if t.Title == "" && t.Annotations != nil {
		return t.Annotations.Title
	}
	return t.Title
}

// argsOf is the schema of a tool's arguments as it is passed on, or why it cannot be.
func argsOf(schema json.RawMessage) (json.RawMessage, sys.Words) {
	v, err := decoded(schema)
	if err != nil {
		return nil, sys.Say("The description of its arguments is not JSON.")
	}
	top, ok := v.(map[string]any)
	if kind, _ := top["type"].(string); !ok || kind != "object" {
		return nil, sys.Say("Its arguments are not an object.")
	}
	v, why := cleaned(v, 0)
	if why.EN != "" {
		return nil, why
	}
	return encoded(v), why
}

func decoded(schema json.RawMessage) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(schema))
	d.UseNumber()
	return v, d.Decode(&v)
}

func encoded(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("mcp: encode a schema: %v", err)) // it came from JSON
	}
	return raw
}

// cleaned is a schema without what people do not see: whole sentences can hide in a description or in a value. A name is left
// as it is, because the server knows its argument by it: one that hides something is a reason to leave the tool out.
func cleaned(v any, depth int) (out any, why sys.Words) {
	if depth > maxDepth {
		return nil, sys.Say("The description of its arguments is nested too deeply.")
	}
	switch v := v.(type) {
	case string:
		return seen(v), why
	case map[string]any:
		if ref, ok := v["$ref"].(string); ok && !strings.HasPrefix(ref, "#") {
			return nil, sys.Say("The description of its arguments leads to another address.")
		}
		for name, inner := range v {
			if seen(name) != name {
				return nil, sys.Say("The name of an argument holds characters that cannot be seen.")
			}
			if v[name], why = cleaned(inner, depth+1); why.EN != "" {
				return nil, why
			}
		}
	case []any:
		for i, inner := range v {
			if v[i], why = cleaned(inner, depth+1); why.EN != "" {
				return nil, why
			}
		}
	}
	return v, why
}

// seen is a text without what people do not see.
func seen(text string) string { return security.PlainText(security.WithoutControl(text)) }

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
	return sys.Shorten(strings.TrimSpace(seen(text)), n)
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
