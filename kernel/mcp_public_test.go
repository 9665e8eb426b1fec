package kernel_test

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"oxios/kernel"
	"oxios/kernel/event"
	"oxios/kernel/kerneltest"
	"oxios/kernel/mcp/mcptest"
)

const longScript = `
[[scenario]]
[[scenario.turn]]
[[scenario.turn.call]]
tool = "test__trigger-long-running-operation"
args = '{"duration": 0.2, "steps": 4}'
[[scenario.turn]]
text = "It came to this: {{result}}"
`

func TestTheProgressOfAPublicServerIsTold(t *testing.T) {
	t.Parallel()
	node, script := conformance(t, "@modelcontextprotocol", "server-everything", "dist", "index.js")
	k := open(t, kerneltest.Script(longScript))
	server(t, k, "test", func(d *kernel.MCPServer) {
		*d = kernel.MCPServer{Command: node, Args: []string{script}, Effect: "none"}
	})
	ctx, end := context.WithCancel(t.Context())
	defer end()
	events, err := k.Person().Infra.Events(ctx, 0)
	if err != nil {
		t.Fatal(err)
	}
	sent := k.Say("run the long operation", func(m *kernel.Submit) { m.Mode = "auto" })
	for e := range events {
		if p, ok := event.As[event.Progress](e); ok && e.Kind == event.StepProgress && e.RunID == sent.RunID {
			if !strings.HasSuffix(p.Text, " %") || p.StepID == "" {
				t.Errorf("got %+v", p)
			}
			break
		}
	}
	if r := k.Wait(sent.RunID); !strings.Contains(r.Response, "Long running operation completed") {
		t.Errorf("got %q", r.Response)
	}
}

// What the guard adds to a call of a server's tool: beside a bare client that calls the same program in the same run. The goal
// is at most 2 ms.
func BenchmarkMCPCall(b *testing.B) {
	k := open(b)
	def := kernel.MCPServer{Command: mcptest.Command(), Env: map[string]string{mcptest.Env: "plain"}, Effect: "none"}
	if _, err := k.Person().MCP.Set(b.Context(), "test", def); err != nil {
		b.Fatal(err)
	}
	if _, err := k.Person().MCP.Connect(b.Context(), "test"); err != nil {
		b.Fatal(err)
	}
	cmd := exec.CommandContext(b.Context(), mcptest.Command())
	cmd.Env = append(os.Environ(), mcptest.Env+"=plain")
	bare, err := sdk.NewClient(&sdk.Implementation{Name: "bare"}, nil).Connect(b.Context(), &sdk.CommandTransport{Command: cmd}, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer bare.Close()
	agent := k.Agent("autonomous")
	guarded := func() {
		r, err := agent.MCP.Call(b.Context(), kernel.MCPCall{Server: "test", Tool: "echo", Args: []byte(`{"text": "hello"}`)})
		if err != nil || r.Text != "You said: hello" {
			b.Fatalf("got %+v, %v", r, err)
		}
	}
	plain := func() {
		r, err := bare.CallTool(b.Context(), &sdk.CallToolParams{Name: "echo", Arguments: map[string]any{"text": "hello"}})
		if err != nil || r.IsError {
			b.Fatalf("got %+v, %v", r, err)
		}
	}
	const calls = 200
	var with, without []time.Duration
	for b.Loop() {
		for range calls {
			begun := time.Now()
			plain()
			middle := time.Now()
			guarded()
			without, with = append(without, middle.Sub(begun)), append(with, time.Since(middle))
		}
	}
	g, p := median(with), median(without)
	report(b, "guarded", g)
	report(b, "bare", p)
	b.ReportMetric(float64((g-p).Microseconds())/1000, "added_ms")
}
