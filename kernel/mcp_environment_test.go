package kernel_test

import (
	"fmt"
	"strings"
	"testing"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
	"oxios/kernel/mcp/mcptest"
	"oxios/kernel/sys"
)

// environ has Oxios run in an environment with these lines.
func environ(lines ...string) kerneltest.Option {
	return kerneltest.With(func(o *kernel.Options) { o.Environ = func() []string { return lines } })
}

func TestAServerOfTheEnvironmentIsShownAndWinsButIsNotChanged(t *testing.T) {
	t.Parallel()
	k := open(t, environ("OXIOS_MCP_TEAM_NOTES_COMMAND="+mcptest.Command(), "OXIOS_MCP_WRONG_COMMAND=cat 'x"))
	h := k.Person().MCP
	views := func() map[string]kernel.MCPView {
		list, err := h.Servers(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]kernel.MCPView{}
		for _, v := range list {
			out[v.Name] = v
		}
		return out
	}
	v := views()["team-notes"]
	if v.Origin != "environment" || v.Variable != "OXIOS_MCP_TEAM_NOTES_COMMAND" || v.Shadows || v.State != "configured" {
		t.Errorf("got %+v", v)
	}
	if v := views()["wrong"]; v.State != "unusable" || !strings.Contains(v.Problem.EN, "OXIOS_MCP_WRONG_COMMAND has a quote that does not end") {
		t.Errorf("got %+v", v)
	}
	if _, err := h.Connect(t.Context(), "wrong"); sys.CodeOf(err) != sys.CodeInvalid || !strings.Contains(err.Error(), "quote") {
		t.Errorf("a command line that cannot be read: got %v", err)
	}
	doctor, err := k.Person().Infra.Doctor(t.Context())
	if err != nil || !strings.Contains(fmt.Sprint(doctor), "OXIOS_MCP_WRONG_COMMAND has a quote that does not end.") {
		t.Errorf("the doctor says %+v, %v", doctor, err)
	}
	for what, err := range map[string]error{
		"set":    second(h.Set(t.Context(), "team-notes", kernel.MCPServer{Command: "other"})),
		"remove": h.Remove(t.Context(), "team-notes"),
		"key":    second(h.SetKey(t.Context(), "team-notes", "A", "b")),
	} {
		if err == nil || what != "key" && !strings.Contains(err.Error(), "comes from the environment variable OXIOS_MCP_TEAM_NOTES_COMMAND") {
			t.Errorf("%s: got %v", what, err)
		}
	}
	for _, on := range []bool{false, true} {
		if _, err := h.Enable(t.Context(), "team-notes", on); err != nil {
			t.Fatal(err)
		}
		k.Restart()
		h = k.Person().MCP
		if got := views()["team-notes"].State; (got == "off") == on {
			t.Errorf("on %v: got %s after a restart", on, got)
		}
	}

	// config.toml has one of this name as well: it is another program, and is not used.
	write(t, k.Home+"/config.toml", "folder = \""+k.Folder+"\"\nkeyring = false\n[mcp.servers.team-notes]\ncommand = \"/nowhere/other\"\n[mcp.servers.plain]\ncommand = \""+mcptest.Command()+"\"\nenv = { "+mcptest.Env+" = \"plain\" }\n")
	k.Restart()
	h = k.Person().MCP
	if v := views()["team-notes"]; !v.Shadows || v.Server.Command != mcptest.Command() {
		t.Errorf("got %+v, want that of the environment", v)
	}
	if v, err := h.Connect(t.Context(), "plain"); err != nil || v.Origin != "" {
		t.Errorf("the server beside them: got %+v, %v", v, err)
	}
}
