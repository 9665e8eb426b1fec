package kernel_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"oxios/kernel"
	"oxios/kernel/event"
	"oxios/kernel/kerneltest"
)

// richServer is a server that gives every kind of result, and asks things; agents may call it.
func richServer(t *testing.T, k *kerneltest.Kernel, change ...func(*kernel.MCPServer)) {
	t.Helper()
	server(t, k, "test", append([]func(*kernel.MCPServer){kindOfServer("rich"), serves("none")}, change...)...)
}

func callServer(t *testing.T, k *kerneltest.Kernel, tool, args string) kernel.MCPResult {
	t.Helper()
	r, err := k.Person().MCP.Call(t.Context(), kernel.MCPCall{Server: "test", Tool: tool, Args: json.RawMessage(args)})
	if err != nil {
		t.Fatal(tool, err)
	}
	return r
}

func TestAllKindsOfResultsOfAServerArrive(t *testing.T) {
	t.Parallel()
	k := open(t)
	richServer(t, k)
	want := strings.Join([]string{
		"First.", "[image, image/png, 3 bytes]", "[audio, audio/wav, 4 bytes]", "[resource notes: file:///notes.md] What was noted",
		"[resource file:///a.txt]\ninside", "[resource file:///b.bin, application/x-thing, 5 bytes]", "Last.",
	}, "\n\n")
	if r := callServer(t, k, "blocks", `{}`); r.Text != want {
		t.Errorf("got %q, want %q", r.Text, want)
	}
}

func TestAStructuredResultIsShownOnceAndChecked(t *testing.T) {
	t.Parallel()
	k := open(t)
	richServer(t, k)
	for name, tc := range map[string]struct{ tool, as, want string }{
		"as declared":             {"point", "well", "A point, as it should be.\n\n{\"label\":\"here\",\"x\":3}"},
		"another type":            {"point", "wrong", "does not fit the schema that the tool declares"},
		"none at all":             {"point", "none", "No point.\n\n(Oxios: the tool declares a structured result, and gave none.)"},
		"a schema without an end": {"circle", "well", "was not checked, because its schema is too large or refers to itself"},
	} {
		r := callServer(t, k, tc.tool, fmt.Sprintf(`{"as": %q}`, tc.as))
		if !strings.Contains(r.Text, tc.want) || tc.as == "well" && strings.Count(r.Text, "here") != 1 {
			t.Errorf("%s: got %q, want %q", name, r.Text, tc.want)
		}
	}
	list, err := k.Person().MCP.Servers(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if left := list[0].Known.Left; len(left) != 1 || left[0].Name != "remote" || !strings.Contains(left[0].Why.EN, "leads to another address") {
		t.Errorf("left out are %+v, want the one whose schema lies elsewhere", left)
	}
}

func TestALongResultOfAServerCanBeReadOn(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(serverToolScript))
	server(t, k, "test", serves("none"))
	h := k.Agent("autonomous")
	r, err := h.MCP.Call(t.Context(), kernel.MCPCall{Server: "test", Tool: "much"})
	if err != nil || r.More == "" || !strings.Contains(r.Text, "the whole result has 1048586 and can be read as "+r.More) {
		t.Fatalf("got %d bytes, more %q, %v", len(r.Text), r.More, err)
	}
	var all strings.Builder
	for offset := int64(0); ; {
		l, err := h.Exec.JobLog(t.Context(), r.More, offset)
		if err != nil {
			t.Fatal(err)
		}
		all.WriteString(l.Text)
		if offset = l.Next; l.Done {
			break
		}
	}
	if got := all.String(); len(got) != 1048586 || !strings.HasPrefix(got, "begin ") || !strings.HasSuffix(got, " end") {
		t.Errorf("read on: got %d bytes", len(got))
	}
	if _, err := k.Agent("autonomous").Exec.JobLog(t.Context(), r.More, 0); err == nil {
		t.Error("an agent of another conversation reads it")
	}
}

const slowServerScript = `
[[scenario]]
any = ["slow"]
[[scenario.turn]]
[[scenario.turn.call]]
tool = "test__slow"
args = '{}'
[[scenario.turn]]
text = "It came to this: {{result}}"
`

func TestAServersProgressIsToldAndAStopReachesIt(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(slowServerScript))
	richServer(t, k)
	ctx, end := context.WithCancel(t.Context())
	defer end()
	events, err := k.Person().Infra.Events(ctx, 0)
	if err != nil {
		t.Fatal(err)
	}
	sent := k.Say("slow", func(m *kernel.Submit) { m.Mode = "auto" })
	for e := range events {
		p, ok := event.As[event.Progress](e)
		if e.Kind != event.StepProgress || !ok {
			continue
		}
		if p.Text != "30 % · third page" || p.StepID == "" || e.RunID != sent.RunID {
			t.Errorf("got %+v of the run %s", p, e.RunID)
		}
		break
	}
	if _, err := k.Person().Agents.Kill(t.Context(), sent.RunID); err != nil {
		t.Fatal(err)
	}
	k.Until("the server was told to stop", func() bool {
		log, err := k.Person().MCP.Log(t.Context(), "test")
		return err == nil && strings.Contains(log, "was told to stop")
	})
}

func TestAServerIsToldTheRunsFolderWhereItMaySeeThat(t *testing.T) {
	t.Parallel()
	k := open(t)
	richServer(t, k)
	call := func() string {
		r, err := k.Agent("autonomous").MCP.Call(t.Context(), kernel.MCPCall{Server: "test", Tool: "roots"})
		if err != nil {
			t.Fatal(err)
		}
		return r.Text
	}
	if got := call(); got != "roots: " {
		t.Errorf("without a folder of its own: got %q", got)
	}
	richServer(t, k, func(d *kernel.MCPServer) { d.Read = []string{k.Folder} })
	if _, err := k.Person().MCP.Enable(t.Context(), "test", false); err != nil {
		t.Fatal(err)
	}
	if _, err := k.Person().MCP.Enable(t.Context(), "test", true); err != nil {
		t.Fatal(err)
	}
	if got, want := call(), "roots: file://"+k.Folder; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
