package cli

import (
	"os"
	"path/filepath"
	"testing"

	"oxios/kernel"
)

func TestServersOfAnotherProgramAreImported(t *testing.T) {
	t.Parallel()
	d := setup(t)
	path := filepath.Join(d.dir, "claude.json")
	if err := os.WriteFile(path, []byte(`{"mcpServers": {
		"Notes": {"command": "no-such-server", "args": ["--all"], "env": {"GITHUB_TOKEN": "ghp_R4nd0mT0kenOfTheTestsWith36Chars0123"}},
		"tracker": {"url": "https://mcp.example.com/mcp", "headers": {"Authorization": "Bearer ${NOT_SET_ANYWHERE}"}},
		"old": {"type": "sse", "url": "https://mcp.example.com/sse"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	contains(t, "preview", d.must(0, "mcp", "import", "claude.json", "--dry-run").out, "notes", "no-such-server --all", "GITHUB_TOKEN", "tracker", "older kind")
	if got := decode[kernel.MCPImport](t, d.must(0, "mcp", "import", "claude.json", "--dry-run", "--json").out); len(got.Items) != 3 || len(got.Added) != 0 {
		t.Errorf("got %+v", got)
	}
	contains(t, "one that is not there", d.must(exitFailed, "mcp", "import", "claude.json", "another", "--yes").err, `has no server "another"`)
	contains(t, "one alone", d.must(0, "mcp", "import", "claude.json", "notes", "--yes").out, "Added: notes")
	rest := d.must(0, "mcp", "import", "claude.json", "--yes")
	contains(t, "the rest", rest.out, "Added: tracker")
	contains(t, "what is missing", rest.err, "oxios mcp key tracker Authorization")
	contains(t, "listed", d.must(0, "mcp", "list").out, "notes", "tracker")
	contains(t, "a program that is not here", d.must(exitFailed, "mcp", "import", "goose").err, "goose")
	contains(t, "no file", d.must(exitFailed, "mcp", "import", "none.json").err, "cannot be read")
}
