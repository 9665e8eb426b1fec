package llm

import (
	"bytes"
	"encoding/json"
	"slices"
)

// Back is what a provider sent with an answer and must get back as it came:
// signatures of what the model thought. It says nothing to a person, and nothing
// to another model.
type Back struct {
	Extra   json.RawMessage   `json:"extra_content,omitempty"`     // Google
	Details []json.RawMessage `json:"reasoning_details,omitempty"` // OpenRouter and those that speak as it does
}

// IsZero reports whether there is nothing to send back.
func (b Back) IsZero() bool { return len(b.Extra) == 0 && len(b.Details) == 0 }

// add takes what came with a piece of an answer.
func (b *Back) add(extra json.RawMessage, details []json.RawMessage) {
	if saysSomething(extra) {
		b.Extra = bytes.Clone(extra)
	}
	for _, d := range details {
		if n := len(b.Details); n > 0 {
			if joined, ok := joinDetails(b.Details[n-1], d); ok {
				b.Details[n-1] = joined
				continue
			}
		}
		b.Details = append(b.Details, bytes.Clone(d))
	}
}

// joinDetails puts two pieces of one block together: the texts one behind the
// other, of all else the newer.
func joinDetails(a, b json.RawMessage) (json.RawMessage, bool) {
	var old, more map[string]json.RawMessage
	if json.Unmarshal(a, &old) != nil || json.Unmarshal(b, &more) != nil {
		return nil, false
	}
	if !bytes.Equal(old["index"], more["index"]) || !bytes.Equal(old["type"], more["type"]) || len(old["index"]) == 0 {
		return nil, false
	}
	for name, value := range more {
		var before, after string
		if slices.Contains([]string{"text", "summary", "data"}, name) && json.Unmarshal(old[name], &before) == nil && json.Unmarshal(value, &after) == nil {
			value, _ = json.Marshal(before + after) // a string cannot fail
		}
		if string(value) != "null" {
			old[name] = value
		}
	}
	joined, err := json.Marshal(old)
	return joined, err == nil
}
