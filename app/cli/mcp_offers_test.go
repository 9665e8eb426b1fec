package cli

import (
	"testing"

	"oxios/kernel"
	"oxios/kernel/mcp/mcptest"
)

func TestResourcesAndPromptsOfServersAreShown(t *testing.T) {
	t.Parallel()
	d := setup(t)
	contains(t, "none yet", d.must(0, "mcp", "resources").err+d.must(0, "mcp", "prompts").err, "No resources", "No prompts")
	d.must(0, "mcp", "add", "test", "--allow", "none", "--env", mcptest.Env+"=having", "--", mcptest.Command())
	listed := d.must(0, "mcp", "resources", "test")
	contains(t, "resources", listed.out, "notes://today", "file:///etc/passwd", "template: fill in")
	contains(t, "left out", listed.err, "3 more are not listed")
	if have := decode[kernel.MCPResources](t, d.must(0, "mcp", "resources", "--json").out); len(have.Items) != 9 || have.Left != 3 {
		t.Errorf("got %+v", have)
	}
	read := d.must(0, "mcp", "resources", "test", "notes://today")
	contains(t, "read", read.err+read.out, "From the server test:", "Milk and bread.")
	contains(t, "gone", d.must(exitFailed, "mcp", "resources", "test", "notes://gone").err, "did not give")
	contains(t, "prompts", d.must(0, "mcp", "prompts").out, "/test:greet", "name [tone]", "Greets somebody.")
	contains(t, "made", d.must(0, "mcp", "prompts", "test", "greet", "name=Ann Lee").out, "Greet Ann Lee")
	contains(t, "lacks", d.must(exitFailed, "mcp", "prompts", "test", "greet").err, "needs a value for: name", "name=…")
	contains(t, "no pair", d.must(exitUsage, "mcp", "prompts", "test", "greet", "name").err, "not KEY=VALUE")
}
