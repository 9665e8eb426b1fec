package kernel_test

import (
	"strings"
	"testing"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
)

// seekScript finds a tool in the first run of a conversation, and calls it in a later one that asks for nothing like it.
const seekScript = `
[[scenario]]
name = "find"
any = ["seek"]
[[scenario.turn]]
[[scenario.turn.call]]
tool = "find_tools"
args = '{"query": "write a file into a folder"}'
[[scenario.turn]]
text = "Found."
[[scenario]]
name = "use"
any = ["weather"]
[[scenario.turn]]
[[scenario.turn.call]]
tool = "test__save"
args = '{"folder": "/proc/none", "name": "x", "text": "x"}'
[[scenario.turn]]
text = "It came to this: {{result}}"
`

const noTool = `There is no tool "test__save"`

func TestWhatWasFoundStaysForTheConversation(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(seekScript))
	server(t, k, "test", serves("none"))
	auto := func(m *kernel.Submit) { m.Mode = "auto" }
	first := k.Ask("seek", auto)
	k.Restart()
	in := func(m *kernel.Submit) { m.SessionID = first.SessionID }
	if r := k.Ask("weather", auto, in); strings.Contains(r.Response, noTool) || !strings.Contains(r.Response, "no such file") {
		t.Errorf("in the same conversation: got %q", r.Response)
	}
	if r := k.Ask("weather", auto); !strings.Contains(r.Response, noTool) {
		t.Errorf("in another conversation: got %q", r.Response)
	}
}

func TestToolsOfAServerThatIsAlwaysOfferedNeedNotFit(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(seekScript))
	server(t, k, "test", serves("none"), func(d *kernel.MCPServer) { d.Always = true })
	if r := k.Ask("weather", func(m *kernel.Submit) { m.Mode = "auto" }); strings.Contains(r.Response, noTool) {
		t.Errorf("got %q", r.Response)
	}
}

func TestNoMoreThanEightToolsOfServersAreOfferedAtFirst(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(seekScript))
	for _, name := range []string{"one", "two", "three"} {
		server(t, k, name, serves("none"), kindOfServer("rich"), func(d *kernel.MCPServer) { d.Always = true })
	}
	n := 0
	for _, tool := range k.Toolset(k.Agent("autonomous")).Tools {
		if strings.Contains(tool.Name(), "__") {
			n++
		}
	}
	if n == 0 || n > 8 {
		t.Errorf("got %d, want at most 8", n)
	}
}
