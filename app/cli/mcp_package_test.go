package cli

import (
	"os"
	"testing"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
	"oxios/kernel/mcp/mcptest"
)

func TestAPackageIsInstalledShownAndUpdated(t *testing.T) {
	t.Parallel()
	r := mcptest.NewRegistry(t, "packed", "1.0.0")
	d := setup(t, kerneltest.With(func(o *kernel.Options) {
		before := o.Env
		o.Env = func(name string) string {
			switch name {
			case "npm_config_registry":
				return r.URL
			case "npm_config_userconfig":
				return os.DevNull
			}
			return before(name)
		}
		o.Environ = func() []string { return []string{"OXIOS_MCP_HERE_COMMAND=" + mcptest.Command()} }
	}))
	added := d.must(0, "mcp", "add", "test", "--", "npx", "-y", "packed")
	contains(t, "what is said before", added.err, "Its first start downloads packed from 127.0.0.1:", "Installing packed")
	contains(t, "add", added.out, "test: running", "Package: packed 1.0.0", "installed 20", "Package: blake3:")
	contains(t, "the newest", d.must(0, "mcp", "update", "test", "--yes").err, "1.0.0 is the newest version")
	r.Publish("1.2.0")
	contains(t, "nobody to ask", d.must(exitFailed, "mcp", "update", "test").err, "packed: 1.0.0 → 1.2.0", "--yes")
	contains(t, "update", d.must(0, "mcp", "update", "test", "--yes").out, "Package: packed 1.2.0")
	contains(t, "again", d.must(0, "mcp", "install", "test").out, "Package: packed 1.2.0")

	contains(t, "from the environment", d.must(0, "mcp", "list").out, "from the environment")
	contains(t, "its origin", d.must(0, "mcp", "show", "here").out, "From: the environment, variable OXIOS_MCP_HERE_COMMAND")
	contains(t, "it is not removed", d.must(exitFailed, "mcp", "remove", "here", "--yes").err, "comes from the environment variable OXIOS_MCP_HERE_COMMAND", "oxios mcp disable here")
	contains(t, "it is switched off", d.must(0, "mcp", "disable", "here").out, "here: off")
}
