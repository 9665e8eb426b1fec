package security

import (
	"fmt"
	"testing"
)

func TestAnAddressOpensTheNumberThatStandsInItAndNoName(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"https://mcp.example.com/mcp":  "https://mcp.example.com/mcp mcp.example.com true false []",
		"HTTPS://MCP.example.com:443/": "https://mcp.example.com/ mcp.example.com true false []",
		"http://127.0.0.1:8931/mcp":    "http://127.0.0.1:8931/mcp 127.0.0.1:8931 false true [127.0.0.1/32]",
		"http://localhost:8931/mcp":    "http://localhost:8931/mcp localhost:8931 false true [127.0.0.1/32 ::1/128]",
		"https://192.168.1.20/mcp":     "https://192.168.1.20/mcp 192.168.1.20 true true [192.168.1.20/32]",
		"https://nas.local/mcp":        "https://nas.local/mcp nas.local true true []",
		"https://169.254.169.254/":     "",
		"https://user@example.com/":    "",
		"ftp://example.com/":           "",
		"https://example.com:6379/":    "",
	} {
		a, err := ReadAddress(raw)
		got := fmt.Sprint(a.URL, " ", a.Host, " ", a.TLS, " ", a.Own, " ", a.Open)
		if want == "" != (err != nil) || err == nil && got != want {
			t.Errorf("%s: got %s, %v, want %s", raw, got, err, want)
		}
	}
}
