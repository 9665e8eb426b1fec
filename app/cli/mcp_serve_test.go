package cli

import (
	"context"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"oxios/kernel"
)

func TestProgramsAreAddedListedAndRevoked(t *testing.T) {
	t.Parallel()
	d := setup(t)
	contains(t, "none", d.must(0, "mcp", "clients", "list").err, "No programs yet", "oxios mcp clients add")
	added := d.must(0, "mcp", "clients", "add", "Claude Desktop", "--scope", "read,approvals")
	contains(t, "what was added", added.err, "not shown again", "Read: Reads your notes", "then answers approval requests for you")
	token := strings.TrimSpace(added.out)
	if !regexp.MustCompile(`^oxios_[\w-]{43}$`).MatchString(token) {
		t.Errorf("the token is %q, want it alone on standard output", token)
	}
	contains(t, "the list", d.must(0, "mcp", "clients", "list").out, "Claude Desktop", "read, approvals", "never")
	if list := d.must(0, "mcp", "clients", "list", "--json").out; strings.Contains(list, token) || strings.Contains(list, "hash") {
		t.Errorf("the list tells a secret: %s", list)
	}
	if kept, err := os.ReadFile(filepath.Join(d.Home, "oxios.db")); err != nil || strings.Contains(string(kept), token) {
		t.Errorf("the database holds the token (%v)", err)
	}
	made := decode[kernel.ClientAdded](t, d.must(0, "mcp", "clients", "add", "Other", "--scope", "run", "--json").out)
	if made.Token == "" || !slices.Equal(made.Client.Scopes, []string{"run"}) {
		t.Errorf("got %+v", made)
	}
	contains(t, "the same name", d.must(exitFailed, "mcp", "clients", "add", "claude desktop", "--scope", "read").err, "already", "Nothing was added")
	contains(t, "no scope", d.must(exitFailed, "mcp", "clients", "add", "X").err, "at least one scope", "read, run, vault, approvals")
	contains(t, "a scope that there is not", d.must(exitFailed, "mcp", "clients", "add", "X", "--scope", "all").err, `no scope "all"`)
	contains(t, "no name", d.must(exitFailed, "mcp", "clients", "add", " ", "--scope", "read").err, "needs a name")
	contains(t, "two lines", d.must(exitFailed, "mcp", "clients", "add", "a\nb", "--scope", "read").err, "one line")
	contains(t, "revoked", d.must(0, "mcp", "clients", "revoke", "Other").out, "Other: revoked")
	contains(t, "revoked twice", d.must(exitFailed, "mcp", "clients", "revoke", "Other").err, `no program "Other"`)
	contains(t, "nobody", d.must(exitUsage, "mcp", "serve").err, "--client NAME")
	contains(t, "a stranger", d.must(exitFailed, "mcp", "serve", "--client", "Other").err, `no program "Other"`)
	d.own()
	contains(t, "a stranger, of another Oxios", d.must(exitFailed, "mcp", "serve", "--client", "Other").err, `no program "Other"`)
}

// ask connects to a server and asks it for its notes; it returns the names of its tools.
func ask(t *testing.T, transport sdk.Transport, version string) (names []string) {
	t.Helper()
	cs, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), transport, &sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	defer cs.Close()
	for tool, err := range cs.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, tool.Name)
	}
	r, err := cs.CallTool(t.Context(), &sdk.CallToolParams{Name: "knowledge_tree"})
	if err != nil || r.IsError {
		t.Fatalf("the notes: %+v, %v", r, err)
	}
	return names
}

func TestAProgramIsServedByTheRealBinary(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	token := strings.TrimSpace(m.must(0, "mcp", "clients", "add", "Desk", "--scope", "read,approvals").out)
	stdio := func() sdk.Transport {
		cmd := m.command(context.Background(), "mcp", "serve", "--client", "Desk")
		cmd.Stderr = os.Stderr
		return &sdk.CommandTransport{Command: cmd}
	}
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		if names := ask(t, stdio(), version); !slices.Contains(names, "answer_approvals") {
			t.Errorf("%s, with an Oxios of its own: the tools are %v", version, names)
		}
	}
	m.serve()
	if names := ask(t, stdio(), ""); !slices.Contains(names, "answer_approvals") {
		t.Errorf("through another Oxios: the tools are %v", names)
	}
	at := regexp.MustCompile(`http://[\d.:]+`).FindString(m.must(0, "address").out)
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		names := ask(t, &sdk.StreamableClientTransport{Endpoint: at + "/mcp", HTTPClient: &http.Client{Transport: sends{token}}}, version)
		if has := slices.Contains(names, "answer_approvals"); has != (runtime.GOOS == "linux") {
			t.Errorf("%s, over HTTP: the tools are %v; approvals come where the process is known", version, names)
		}
	}
	contains(t, "when it came", m.must(0, "mcp", "clients", "list").out, "Desk")
	if list := decode[[]kernel.Client](t, m.must(0, "mcp", "clients", "list", "--json").out); list[0].UsedAt == nil {
		t.Error("when it came was not noted")
	}
	contains(t, "the record", m.must(0, "audit", "list").out, "client:Desk")
}

// sends sends a token with each request.
type sends struct{ token string }

func (s sends) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+s.token)
	return http.DefaultTransport.RoundTrip(r)
}

// Nothing but the protocol is on standard output, whatever comes in.
func TestStandardOutputHoldsNothingButTheProtocol(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.must(0, "mcp", "clients", "add", "Desk", "--scope", "read")
	for name, in := range map[string]string{"nothing": "", "no JSON": "hello\n", "another protocol": `{"id":1}` + "\n", "a ping": `{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n"} {
		cmd := m.command(t.Context(), "mcp", "serve", "--client", "Desk")
		cmd.Stdin = strings.NewReader(in)
		out, err := cmd.Output()
		for line := range strings.Lines(string(out)) {
			if !strings.HasPrefix(line, `{"jsonrpc":"2.0"`) {
				t.Errorf("%s: %q stands on standard output", name, line)
			}
		}
		if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && (!ok || len(exit.Stderr) == 0) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

const posing = `
[[scenario]]
match = 'Serve with (\S+) in (\S+)'
[[scenario.turn]]
[[scenario.turn.call]]
tool = "exec"
args = '{"command": "OXIOS_HOME={{2}} {{1}} mcp serve --client Desk"}'
[[scenario.turn]]
text = "It said: {{result}}"
`

// A command of an agent that reaches the socket is that agent, and no program, also when a person had let it run.
func TestRealAgentIsNoProgram(t *testing.T) {
	t.Parallel()
	m := newMachine(t, posing)
	m.must(0, "mcp", "clients", "add", "Desk", "--scope", "approvals")
	m.serve()
	m.must(exitWaiting, "run", "--no-wait", "--trust", "Serve with "+m.inside()+" in "+m.home)
	for _, a := range m.waiting() {
		m.must(0, "approvals", "approve", a.ID)
	}
	until(t, "the approved command has run", func() bool {
		return strings.Contains(m.must(0, "sessions", "list", "--json").out, `"state":"done"`)
	})
	if list := decode[[]kernel.Client](t, m.must(0, "mcp", "clients", "list", "--json").out); list[0].UsedAt != nil {
		t.Error("an agent's command came in as a program")
	}
}
