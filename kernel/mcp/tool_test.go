package mcp

import (
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// A sentence in characters that nobody sees would reach the model and no person.
func TestASchemaHidesNothing(t *testing.T) {
	t.Parallel()
	const hidden = "\U000E0053\U000E0045\U000E004E\U000E0044\u202E"
	schema := func(name, about, value string) any {
		return map[string]any{"type": "object", "properties": map[string]any{name: map[string]any{
			"type": "string", "description": about, "enum": []any{value, "plain"}, "maxLength": 5.0,
		}}}
	}
	tools, left := toolsOf("s", []*sdk.Tool{
		{Name: "a", InputSchema: schema("text", "A text."+hidden, "one"+hidden), OutputSchema: schema("out", "Out."+hidden, "x")},
		{Name: "b", InputSchema: schema("te\u200Bxt", "A text.", "one")},
		{Name: "c", InputSchema: schema("text", "A text.", "one"), OutputSchema: schema("o"+hidden, "Out.", "x")},
	})
	if len(tools) != 1 || len(left) != 2 {
		t.Fatalf("got %+v, left %+v", tools, left)
	}
	want := `{"properties":{"text":{"description":"A text.","enum":["one","plain"],"maxLength":5,"type":"string"}},"type":"object"}`
	if string(tools[0].Schema) != want || !strings.Contains(string(tools[0].Output), `"description":"Out."`) {
		t.Errorf("got %s, %s", tools[0].Schema, tools[0].Output)
	}
	for _, l := range left {
		if !strings.Contains(l.Why.EN, "cannot be seen") || l.Why.KO == l.Why.EN {
			t.Errorf("%s is left out: %v", l.Name, l.Why)
		}
	}
}
