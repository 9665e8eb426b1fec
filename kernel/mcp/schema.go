package mcp

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// The bounds of a check of a result. A schema that refers to itself, or that unfolds to more than this, could keep a check busy
// for ever; what it describes is passed on unchecked.
const (
	maxUnfolded = 5000     // parts of a schema, with those that it refers to in their places
	maxChecked  = 20 << 20 // parts of the schema times those of the result
)

// misfit says why a result is not what its tool declares; "" when it is, or when the tool declares nothing.
func misfit(schema json.RawMessage, r *sdk.CallToolResult) string {
	switch {
	case len(schema) == 0 || r.IsError:
		return ""
	case r.StructuredContent == nil:
		return "the tool declares a structured result, and gave none."
	}
	raw, err := json.Marshal(r.StructuredContent)
	var value, whole any
	if err == nil {
		err = json.Unmarshal(raw, &value)
	}
	var s jsonschema.Schema
	if err == nil {
		err = json.Unmarshal(schema, &s)
	}
	if err == nil {
		err = json.Unmarshal(schema, &whole)
	}
	if err != nil {
		return "the structured result was not checked: " + plain(err.Error(), 300) + "."
	}
	n := unfolded(whole)
	if n > maxUnfolded || n*size(value) > maxChecked {
		return "the structured result was not checked, because its schema is too large or refers to itself."
	}
	resolved, err := s.Resolve(nil) // without a loader: nothing is fetched
	if err != nil {
		return "the structured result was not checked: " + plain(err.Error(), 300) + "."
	}
	if err := resolved.Validate(value); err != nil {
		return fmt.Sprintf("the structured result does not fit the schema that the tool declares: %s. It is shown as it came.", plain(err.Error(), 500))
	}
	return ""
}

// unfolded counts the parts of a schema, with what it refers to in its place; more than [maxUnfolded] for one that refers to
// itself, or in a way that is not followed here.
func unfolded(schema any) int {
	n := 0
	var count func(v any, inside []string)
	count = func(v any, inside []string) {
		if n++; n > maxUnfolded {
			return
		}
		switch v := v.(type) {
		case map[string]any:
			for key, inner := range v {
				ref, isText := inner.(string)
				switch {
				case key == "$dynamicRef" || key == "$recursiveRef":
					n = maxUnfolded + 1
				case key == "$ref" && isText:
					target, ok := pointed(schema, ref)
					for _, at := range inside {
						ok = ok && at != ref
					}
					if !ok {
						n = maxUnfolded + 1
						return
					}
					count(target, append(inside[:len(inside):len(inside)], ref))
				case key != "$defs" && key != "definitions": // they count where they are referred to
					count(inner, inside)
				}
			}
		case []any:
			for _, inner := range v {
				count(inner, inside)
			}
		}
	}
	count(schema, []string{"#"})
	return n
}

// pointed is the part of a schema that a JSON pointer leads to.
func pointed(v any, ref string) (any, bool) {
	path, ok := strings.CutPrefix(ref, "#/")
	if !ok {
		return nil, false
	}
	for name := range strings.SplitSeq(path, "/") {
		name = strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
		m, ok := v.(map[string]any)
		if v, ok = m[name], ok && m[name] != nil; !ok {
			return nil, false
		}
	}
	return v, true
}

// size counts the values in a value.
func size(v any) int {
	n := 1
	switch v := v.(type) {
	case map[string]any:
		for _, inner := range v {
			n += size(inner)
		}
	case []any:
		for _, inner := range v {
			n += size(inner)
		}
	}
	return n
}
