package kernel_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
	"oxios/kernel/mcp/mcptest"
	"oxios/kernel/sys"
)

const testToken = "ghp_R4nd0mT0kenOfTheTestsWith36Chars0123"

// foreignSettings are settings as other programs write them, each with the same two servers.
func foreignSettings() map[string]string {
	return map[string]string{
		"claude.json": `{"mcpServers": {
			"My Notes": {"command": "npx", "args": ["-y", "notes-server"], "env": {"GITHUB_TOKEN": "` + testToken + `", "LEVEL": "debug"}},
			"tracker": {"type": "http", "url": "https://mcp.example.com/mcp", "headers": {"Authorization": "Bearer ` + testToken + `"}}}}`,
		"claude-code.json": `{"numStartups": 3, "projects": {"/home/mina/site": {"mcpServers": {
			"My Notes": {"type": "stdio", "command": "npx", "args": ["-y", "notes-server"], "env": {"GITHUB_TOKEN": "` + testToken + `", "LEVEL": "debug"}},
			"tracker": {"type": "http", "url": "https://mcp.example.com/mcp", "headers": {"Authorization": "Bearer ` + testToken + `"}}}}}}`,
		"cherry.json": `{"mcpServers": {
			"My Notes": {"name": "My Notes", "type": "stdio", "command": "npx", "args": ["-y", "notes-server"], "env": {"GITHUB_TOKEN": "` + testToken + `", "LEVEL": "debug"}, "isActive": true},
			"tracker": {"name": "tracker", "type": "streamableHttp", "baseUrl": "https://mcp.example.com/mcp", "headers": {"Authorization": "Bearer ` + testToken + `"}, "isActive": true}}}`,
		"opencode.jsonc": `{
			// what agents may use
			"mcp": {
				"My Notes": {"type": "local", "command": ["npx", "-y", "notes-server"], "environment": {"GITHUB_TOKEN": "` + testToken + `", "LEVEL": "debug"}, "enabled": true,},
				/* elsewhere */
				"tracker": {"type": "remote", "url": "https://mcp.example.com/mcp", "headers": {"Authorization": "Bearer ` + testToken + `"}},
			},
		}`,
		"openclaw.json": `{"gateway": {"port": 18789}, "mcp": {"servers": {
			"My Notes": {"command": "npx", "args": ["-y", "notes-server"], "env": {"GITHUB_TOKEN": "` + testToken + `", "LEVEL": "debug"}},
			"tracker": {"transport": "streamable-http", "url": "https://mcp.example.com/mcp", "headers": {"Authorization": "Bearer ` + testToken + `"}}}}}`,
		"codex.toml": `model = "o5"
[mcp_servers."My Notes"]
command = "npx"
args = ["-y", "notes-server"]
env = { GITHUB_TOKEN = "` + testToken + `", LEVEL = "debug" }
[mcp_servers.tracker]
url = "https://mcp.example.com/mcp"
http_headers = { Authorization = "Bearer ` + testToken + `" }
`,
		"goose.yaml": `GOOSE_PROVIDER: openai
extensions:
  developer:
    enabled: true
    type: builtin
    name: developer
  My Notes:
    enabled: true
    type: stdio
    name: My Notes
    cmd: npx
    args: ["-y", "notes-server"]
    envs:
      GITHUB_TOKEN: ` + testToken + `
      LEVEL: debug
  tracker:
    enabled: true
    type: streamable_http
    uri: https://mcp.example.com/mcp
    headers:
      Authorization: Bearer ` + testToken + `
`,
	}
}

func TestServersOfOtherProgramsAreImportedAndTheirKeysPutAway(t *testing.T) {
	t.Parallel()
	for name, text := range foreignSettings() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := open(t)
			path := filepath.Join(t.TempDir(), name)
			write(t, path, text)
			p := k.Person()
			seen, err := p.MCP.ImportPreview(t.Context(), path)
			if err != nil || len(seen.Items) != 2 || len(seen.Added) != 0 {
				t.Fatalf("the preview is %+v, %v", seen, err)
			}
			notes := seen.Items[0]
			if notes.Name != "my-notes" || notes.As != "My Notes" || notes.Why.EN != "" || !slices.Equal(notes.Keys, []string{"GITHUB_TOKEN"}) ||
				notes.Server.Command != "npx" || !slices.Equal(notes.Server.Args, []string{"-y", "notes-server"}) || notes.Server.Env["LEVEL"] != "debug" || len(notes.Server.Env) != 1 {
				t.Errorf("the program is %+v", notes)
			}
			if tracker := seen.Items[1]; tracker.Name != "tracker" || tracker.Server.URL != "https://mcp.example.com/mcp" || !slices.Equal(tracker.Keys, []string{"Authorization"}) {
				t.Errorf("the one elsewhere is %+v", tracker)
			}
			if list, err := p.MCP.Servers(t.Context()); err != nil || len(list) != 0 {
				t.Errorf("after the preview there are %+v, %v", list, err)
			}
			done, err := p.MCP.Import(t.Context(), path, nil)
			if err != nil || !slices.Equal(done.Added, []string{"my-notes", "tracker"}) {
				t.Fatalf("imported: %+v, %v", done, err)
			}
			raw, err := os.ReadFile(filepath.Join(k.Home, "config.toml"))
			if err != nil || strings.Contains(string(raw), testToken) || !strings.Contains(string(raw), "GITHUB_TOKEN") {
				t.Errorf("config.toml says %s, %v", raw, err)
			}
			keys, err := p.Infra.Keys(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range []string{"mcp:my-notes:env:GITHUB_TOKEN", "mcp:tracker:authorization"} {
				if !slices.ContainsFunc(keys.List, func(i kernel.KeyInfo) bool { return i.Name == want }) {
					t.Errorf("the keys are %+v, want %s", keys.List, want)
				}
			}
			again, err := p.MCP.Import(t.Context(), path, nil)
			if err != nil || len(again.Added) != 0 || again.Items[0].Why.EN != "There is a server of this name already." {
				t.Errorf("again: %+v, %v", again, err)
			}
			if err := p.MCP.Remove(t.Context(), "my-notes"); err != nil {
				t.Fatal(err)
			}
			if keys, err = p.Infra.Keys(t.Context()); err != nil || slices.ContainsFunc(keys.List, func(i kernel.KeyInfo) bool { return strings.Contains(i.Name, "my-notes") }) {
				t.Errorf("after it was removed the keys are %+v, %v", keys.List, err)
			}
		})
	}
}

func TestWhatCannotBeImportedIsSaid(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.With(func(o *kernel.Options) {
		env := o.Env
		o.Env = func(name string) string {
			if name == "HAVE_IT" {
				return testToken
			}
			return env(name)
		}
	}))
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		write(t, path, text)
		return path
	}
	for from, want := range map[string]string{
		file("empty.json", `{}`):                          "names no MCP servers",
		file("broken.json", `{"mcpServers": {`):           "no JSON, TOML or YAML",
		file("deep.yaml", strings.Repeat("[", 100_000)):   "no JSON, TOML or YAML",
		file("bomb.yaml", "a: &a [x,x]\nb: &b [*a,*a]\n"): "no JSON, TOML or YAML",
		filepath.Join(dir, "none.json"):                   "cannot be read",
		dir:                                               "cannot be read",
		"relative.json":                                   "none of these programs",
		"goose":                                           "are not at",
	} {
		if _, err := k.Person().MCP.ImportPreview(t.Context(), from); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", from, err, want)
		}
	}
	path := file("some.json", `{"mcpServers": {
		"old": {"type": "sse", "url": "https://example.com/sse"},
		"plain": {"type": "http", "url": "http://example.com/mcp"},
		"Twice": {"command": "a"}, "twice": {"command": "b"},
		"off": {"command": "c", "disabled": true},
		"refers": {"command": "d", "env": {"A": "${HAVE_IT}", "B": "{env:HAVE_IT_NOT}"}},
		"한글": {"command": "e"}}}`)
	got, err := k.Person().MCP.Import(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	why := map[string]string{}
	for _, i := range got.Items {
		why[i.As] = i.Why.EN
		if i.As == "refers" && (!slices.Equal(i.Keys, []string{"A", "B"}) || !slices.Equal(i.Asked, []string{"B"})) {
			t.Errorf("the one with references is %+v", i)
		}
	}
	for as, want := range map[string]string{"old": "older kind", "plain": "must begin with https", "twice": "already", "한글": "must be of small letters", "off": "", "Twice": "", "refers": ""} {
		if w := why[as]; want == "" && w != "" || !strings.Contains(w, want) {
			t.Errorf("%s: got %q, want %q", as, w, want)
		}
	}
	if !slices.Equal(got.Added, []string{"twice", "off", "refers"}) {
		t.Errorf("added are %v", got.Added)
	}
	list, err := k.Person().MCP.Servers(t.Context())
	if err != nil || list[0].Name != "off" || list[0].State != "off" {
		t.Errorf("got %+v, %v, want the one that is off there to be off", list, err)
	}
	if _, err := k.Person().MCP.Import(t.Context(), path, []string{"another"}); sys.CodeOf(err) != sys.CodeNotFound {
		t.Errorf("got %v for a name that is not in it", err)
	}
}

// Also where a person writes or pastes it, a key does not come to lie in config.toml.
func TestAKeyInTheEnvironmentOfAServerIsPutAwayAndReachesItsProgramAlone(t *testing.T) {
	t.Parallel()
	k := open(t)
	server(t, k, "test", serves("none"), func(d *kernel.MCPServer) { d.Env = map[string]string{mcptest.Env: "plain", "GITHUB_TOKEN": testToken} })
	raw, err := os.ReadFile(filepath.Join(k.Home, "config.toml"))
	if err != nil || strings.Contains(string(raw), testToken) {
		t.Errorf("config.toml says %s, %v", raw, err)
	}
	r, err := k.Person().MCP.Call(t.Context(), kernel.MCPCall{Server: "test", Tool: "environment"})
	if err != nil || !strings.Contains(r.Text, "GITHUB_TOKEN") {
		t.Errorf("its program sees %q, %v", r.Text, err)
	}
	if _, err := k.Person().MCP.SetKey(t.Context(), "test", "ANOTHER", "x"); sys.CodeOf(err) != sys.CodeInvalid {
		t.Errorf("got %v for a variable that it does not have", err)
	}
	if _, err := k.Person().MCP.SetKey(t.Context(), "test", "GITHUB_TOKEN", ""); err != nil {
		t.Fatal(err)
	}
	if _, err := k.Person().MCP.Connect(t.Context(), "test"); sys.CodeOf(err) != sys.CodeAuth {
		t.Errorf("got %v, want that a value is missing", err)
	}
	if _, err := k.Person().MCP.SetKey(t.Context(), "test", "GITHUB_TOKEN", testToken); err != nil {
		t.Fatal(err)
	}
	if _, err := k.Person().MCP.Connect(t.Context(), "test"); err != nil {
		t.Error(err)
	}
}
