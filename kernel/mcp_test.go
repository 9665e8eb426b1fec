package kernel_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
	"oxios/kernel/mcp/mcptest"
	"oxios/kernel/sys"
)

const serverToolScript = `
[[scenario]]
name = "echo"
any = ["echo"]
[[scenario.turn]]
[[scenario.turn.call]]
tool = "test__echo"
args = '{"text": "hello"}'
[[scenario.turn]]
text = "It came to this: {{result}}"
[[scenario]]
name = "save"
match = 'save (\S+)'
[[scenario.turn]]
[[scenario.turn.call]]
tool = "test__save"
args = '{"folder": "{{1}}", "name": "saved.txt", "text": "by the server"}'
[[scenario.turn]]
text = "It came to this: {{result}}"
[[scenario]]
name = "find"
any = ["seek"]
[[scenario.turn]]
[[scenario.turn.call]]
tool = "find_tools"
args = '{"query": "write a file into a folder"}'
[[scenario.turn]]
text = "It came to this: {{result}}"
`

// server adds the test's server to config.toml, and connects it.
func server(t *testing.T, k *kerneltest.Kernel, name string, change ...func(*kernel.MCPServer)) kernel.MCPView {
	t.Helper()
	addServer(t, k, name, change...)
	v, err := k.Person().MCP.Connect(t.Context(), name)
	if err != nil {
		log, _ := k.Person().MCP.Log(t.Context(), name)
		t.Fatal(err, log)
	}
	return v
}

func addServer(t *testing.T, k *kerneltest.Kernel, name string, change ...func(*kernel.MCPServer)) {
	t.Helper()
	def := kernel.MCPServer{Command: mcptest.Command(), Env: map[string]string{mcptest.Env: "plain"}}
	for _, c := range change {
		c(&def)
	}
	if _, err := k.Person().MCP.Set(t.Context(), name, def); err != nil {
		t.Fatal(err)
	}
}

func kindOfServer(kind string) func(*kernel.MCPServer) {
	return func(d *kernel.MCPServer) { d.Env = map[string]string{mcptest.Env: kind} }
}

func serves(effect kernel.MCPEffect) func(*kernel.MCPServer) {
	return func(d *kernel.MCPServer) { d.Effect = effect }
}

func TestAServerOfConfigIsKnownOnceConnected(t *testing.T) {
	t.Parallel()
	k := open(t)
	addServer(t, k, "test")
	list, err := k.Person().MCP.Servers(t.Context())
	if err != nil || len(list) != 1 || list[0].State != "configured" {
		t.Fatalf("got %+v, %v, want one that is configured", list, err)
	}
	raw, err := os.ReadFile(filepath.Join(k.Home, "config.toml"))
	if err != nil || !strings.Contains(string(raw), "[mcp.servers.test]") {
		t.Fatalf("config.toml says %q, %v", raw, err)
	}
	v, err := k.Person().MCP.Connect(t.Context(), "test")
	if err != nil {
		t.Fatal(err)
	}
	if v.State != "running" || v.Known.Title != "Test server" || v.Known.Version != "1.2.3" || v.Known.Protocol == "" || len(v.Known.Tools) != 6 {
		t.Errorf("got %+v", v)
	}
	k.Restart()
	if list, err = k.Person().MCP.Servers(t.Context()); err != nil || list[0].State != "known" || len(list[0].Known.Tools) != 6 {
		t.Errorf("after a restart: got %+v, %v, want what was known, and no process", list, err)
	}
}

// The walking skeleton: from config.toml to a call that waits for the person, and its result with where it came from.
func TestACallOfAServersToolWaitsForThePerson(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(serverToolScript))
	server(t, k, "test")
	sent := k.Say("echo something", func(m *kernel.Submit) { m.Mode = "auto" })
	a := k.Approval(sent.RunID)
	if want := "Calls “Echo” on the server test"; a.Request.Title != want || a.Request.TitleKO != "test 서버의 ‘Echo’ 도구를 호출합니다" {
		t.Errorf("got %q, %q, want %q", a.Request.Title, a.Request.TitleKO, want)
	}
	if want := "test__echo {\n  \"text\": \"hello\"\n}"; a.Request.Command != want {
		t.Errorf("got %q, want %q", a.Request.Command, want)
	}
	if _, err := k.Person().Security.Approve(t.Context(), a.ID, kernel.ApproveInput{Hash: a.Request.Hash}); err != nil {
		t.Fatal(err)
	}
	r := k.Wait(sent.RunID)
	if !strings.Contains(r.Response, "You said: hello") {
		t.Errorf("got %q", r.Response)
	}
	view, err := k.Person().Agents.Run(t.Context(), sent.RunID)
	if err != nil {
		t.Fatal(err)
	}
	labelled := slices.ContainsFunc(view.Steps, func(s kernel.StepView) bool {
		return slices.ContainsFunc(s.Labels, func(l kernel.Label) bool { return l.Text == "what the server test said" && l.Untrusted })
	})
	if !labelled {
		t.Error("the step does not say that a server's words came in")
	}
	found, err := k.Person().Security.Audit(t.Context(), kernel.AuditQuery{})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(found, func(e kernel.AuditEntry) bool { return e.Resource == "mcp:test/echo" }) {
		t.Error("the call is not in the audit record")
	}
}

func TestWhatThePersonSaidOfAServerDecidesAndNotWhatItSaysOfItself(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(serverToolScript))
	server(t, k, "test") // its echo says of itself that it only reads
	h := k.Agent("autonomous")
	asked := func() error {
		done := make(chan error, 1)
		go func() {
			_, err := h.MCP.Call(t.Context(), kernel.MCPCall{Server: "test", Tool: "echo", Args: []byte(`{"text":"x"}`)})
			done <- err
		}()
		a := k.Approval(h.Principal().ID)
		if _, err := k.Person().Security.Deny(t.Context(), a.ID, ""); err != nil {
			t.Fatal(err)
		}
		return <-done
	}
	if err := asked(); sys.CodeOf(err) != sys.CodeDenied {
		t.Errorf("got %v, want a denial", err)
	}
	server(t, k, "test", serves("read"))
	r, err := h.MCP.Call(t.Context(), kernel.MCPCall{Server: "test", Tool: "echo", Args: []byte(`{"text":"x"}`)})
	if err != nil || r.Text != "You said: x" {
		t.Errorf("got %+v, %v, want it to be free", r, err)
	}
}

// No part has to label or undo anything itself: the call says what it writes.
func TestWhatAServerWritesIsLabelledAndUndone(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(serverToolScript))
	contained(t, k)
	server(t, k, "test", serves("write"), func(d *kernel.MCPServer) { d.Write = []string{k.Folder} })
	sent := k.Say("save " + k.Folder) // in the usual mode: the person allowed it
	r := k.Wait(sent.RunID)
	path := filepath.Join(k.Folder, "saved.txt")
	if raw, err := os.ReadFile(path); err != nil || string(raw) != "by the server" {
		t.Fatalf("got %q, %v; the run said %q", raw, err, r.Response)
	}
	list, err := k.Person().Agents.Changes(t.Context(), sent.RunID)
	if err != nil || len(list) != 1 || list[0].Path != "saved.txt" {
		t.Errorf("the changes are %+v, %v", list, err)
	}
	other := k.Agent("autonomous")
	if _, err := other.Exec.Read(t.Context(), kernel.ReadArgs{Path: "saved.txt"}); err != nil {
		t.Fatal(err)
	}
	labels, err := k.Person().Security.Labels(t.Context(), kernel.LabelQuery{RunID: other.Principal().ID})
	if err != nil || !strings.Contains(fmt.Sprint(labels), "what the server test said") {
		t.Errorf("who read the file carries %v, %v", labels, err)
	}
	plan, err := k.Person().Agents.UndoPreview(t.Context(), kernel.UndoQuery{RunID: sent.RunID})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.Person().Agents.Undo(t.Context(), kernel.UndoInput{RunID: sent.RunID, Hash: plan.Hash}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("after the undo: got %v, want no file", err)
	}
}

func TestWithoutContainmentAServerThatWritesAsks(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(serverToolScript), kerneltest.Uncontained())
	server(t, k, "test", serves("write"), func(d *kernel.MCPServer) { d.Write = []string{k.Folder} })
	sent := k.Say("save " + k.Folder)
	a := k.Approval(sent.RunID)
	if a.Request.Title != "Calls “save” on the server test" {
		t.Errorf("got %q", a.Request.Title)
	}
}

func TestAServerSeesNothingOfThePersonAndNoKeys(t *testing.T) {
	t.Parallel()
	k := open(t)
	contained(t, k)
	server(t, k, "test")
	r, err := k.Person().MCP.Call(t.Context(), kernel.MCPCall{Server: "test", Tool: "environment"})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"OPENAI_API_KEY", "SSH_AUTH_SOCK", "DBUS_SESSION_BUS_ADDRESS"} {
		if strings.Contains(r.Text, name) {
			t.Errorf("it sees %s: %s", name, r.Text)
		}
	}
	r, err = k.Person().MCP.Call(t.Context(), kernel.MCPCall{Server: "test", Tool: "save", Args: fmt.Appendf(nil, `{"folder": %q, "name": "x.txt", "text": "x"}`, k.Folder)})
	if err != nil || !r.Failed {
		t.Errorf("got %+v, %v, want it to fail outside its folders", r, err)
	}
	if _, err := os.Stat(filepath.Join(k.Folder, "x.txt")); !os.IsNotExist(err) {
		t.Error("it wrote outside its folders")
	}
}

func TestAToolThatChangedIsNotOfferedBeforeItIsAccepted(t *testing.T) {
	t.Parallel()
	k := open(t)
	server(t, k, "test", serves("read"))
	if v := server(t, k, "test", serves("read"), kindOfServer("other")); v.State != "changed" {
		t.Fatalf("got %+v, want the difference: a process with the new environment was asked", v)
	}
	h := k.Agent("autonomous")
	_, err := h.MCP.Call(t.Context(), kernel.MCPCall{Server: "test", Tool: "echo", Args: []byte(`{"text":"x"}`)})
	if sys.CodeOf(err) != sys.CodeUnavailable || !strings.Contains(err.Error(), "has not accepted") {
		t.Fatalf("got %v, want a refusal", err)
	}
	if all, err := h.MCP.Tools(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("offered are %v, %v, want none", all, err)
	}
	list, err := k.Person().MCP.Servers(t.Context())
	if err != nil || list[0].State != "changed" || list[0].Known.Changed == nil {
		t.Fatalf("got %+v, %v", list, err)
	}
	report, err := k.Person().Infra.Doctor(t.Context())
	if err != nil || !slices.ContainsFunc(report.Checks, func(c kernel.Check) bool {
		return c.Name == "mcp" && c.State == kernel.CheckWarn && c.Detail.EN == "Servers that changed their tools: test"
	}) {
		t.Errorf("the doctor says %+v, %v", report.Checks, err)
	}
	inbox, err := k.Person().Agents.Inbox(t.Context(), false)
	if err != nil || !slices.ContainsFunc(inbox.Findings, func(f kernel.Finding) bool { return f.Kind == "mcp" }) {
		t.Errorf("the inbox has %+v, %v", inbox.Findings, err)
	}
	if _, err := k.Person().MCP.Accept(t.Context(), "test", "another"); sys.CodeOf(err) != sys.CodeConflict {
		t.Errorf("got %v, want a conflict for another hash", err)
	}
	if _, err := k.Person().MCP.Accept(t.Context(), "test", list[0].Known.Changed.Hash); err != nil {
		t.Fatal(err)
	}
	if r, err := h.MCP.Call(t.Context(), kernel.MCPCall{Server: "test", Tool: "echo", Args: []byte(`{"text":"x"}`)}); err != nil || r.Text == "" {
		t.Errorf("after accepting: got %+v, %v", r, err)
	}
}

func TestAServerThatRunsEndsWhenWhatItWasGivenIsTakenAway(t *testing.T) {
	t.Parallel()
	k := open(t)
	contained(t, k)
	folder := realTemp(t, t.TempDir())
	server(t, k, "test", serves("write"), func(d *kernel.MCPServer) { d.Write = []string{folder} })
	save := func(name string) error {
		_, err := k.Person().MCP.Call(t.Context(), kernel.MCPCall{Server: "test", Tool: "save", Args: fmt.Appendf(nil, `{"folder":%q,"name":%q,"text":"x"}`, folder, name)})
		return err
	}
	states := func() string {
		list, err := k.Person().MCP.Servers(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return list[0].State
	}
	if err := save("before"); err != nil {
		t.Fatal(err)
	}
	addServer(t, k, "test", serves("read"), func(d *kernel.MCPServer) { d.Write = []string{folder} })
	if got := states(); got != "running" {
		t.Errorf("what is asked for at each call changed, and the server is %s", got)
	}
	addServer(t, k, "test", serves("write"))
	if got := states(); got != "known" {
		t.Errorf("after its folder was taken away the server is %s", got)
	}
	_ = save("after") // an answer of the server, whichever: it cannot see the folder
	if _, err := os.Stat(filepath.Join(folder, "after")); !os.IsNotExist(err) {
		t.Errorf("got %v, want no file in a folder that was taken away", err)
	}
}

func TestServersThatCannotBeConnectedSayWhy(t *testing.T) {
	t.Parallel()
	k := open(t)
	addServer(t, k, "dead", kindOfServer("dead"))
	addServer(t, k, "noisy", kindOfServer("noisy"))
	addServer(t, k, "none", func(d *kernel.MCPServer) { d.Command = "no-such-program-here" })
	for name, want := range map[string]string{"dead": "It ended with 3 before it answered", "noisy": "It did not answer as an MCP server does", "none": "The program no-such-program-here was not found"} {
		_, err := k.Person().MCP.Connect(t.Context(), name)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", name, err, want)
		}
	}
	if log, err := k.Person().MCP.Log(t.Context(), "dead"); err != nil || !strings.Contains(log, "cannot open the settings") {
		t.Errorf("the log says %q, %v", log, err)
	}
}

func TestAServerThatEndsIsStartedAgainAndNotForEver(t *testing.T) {
	t.Parallel()
	k := open(t)
	server(t, k, "test", serves("none"))
	for i := range 5 {
		_, err := k.Person().MCP.Call(t.Context(), kernel.MCPCall{Server: "test", Tool: "end"})
		if sys.CodeOf(err) != sys.CodeUnavailable {
			t.Fatalf("call %d: got %v", i, err)
		}
		if i == 0 { // the waits double: what is proved of the first holds for the others
			began := time.Now()
			if r, err := k.Person().MCP.Call(t.Context(), kernel.MCPCall{Server: "test", Tool: "echo", Args: []byte(`{"text":"again"}`)}); err != nil || r.Text != "You said: again" {
				t.Fatalf("after it ended: got %+v, %v", r, err)
			}
			if took := time.Since(began); took < 500*time.Millisecond {
				t.Errorf("it was started again after %s, want about a second", took)
			}
		}
	}
	_, err := k.Person().MCP.Call(t.Context(), kernel.MCPCall{Server: "test", Tool: "echo", Args: []byte(`{"text":"x"}`)})
	if err == nil || !strings.Contains(err.Error(), "ended by itself 5 times") {
		t.Errorf("got %v, want the breaker", err)
	}
	if _, err := k.Person().MCP.Connect(t.Context(), "test"); err != nil {
		t.Errorf("a person tries again: got %v", err)
	}
}

func TestALongResultKeepsItsEndsAndACallCanBeStopped(t *testing.T) {
	t.Parallel()
	k := open(t)
	server(t, k, "test", serves("none"))
	r, err := k.Person().MCP.Call(t.Context(), kernel.MCPCall{Server: "test", Tool: "much"})
	if err != nil || len(r.Text) > 70<<10 || r.Cut == 0 || !strings.HasPrefix(r.Text, "begin ") || !strings.HasSuffix(r.Text, " end") {
		t.Errorf("got %d bytes, %d cut, %v", len(r.Text), r.Cut, err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	done := make(chan error, 1)
	go func() {
		_, err := k.Person().MCP.Call(ctx, kernel.MCPCall{Server: "test", Tool: "wait", Args: []byte(`{"ms": 60000}`)})
		done <- err
	}()
	k.Until("the call is under way", func() bool {
		log, err := k.Person().MCP.Log(t.Context(), "test")
		return err == nil && strings.Contains(log, "waits")
	})
	stop()
	if err := <-done; err == nil {
		t.Error("the stopped call gave a result")
	}
	k.Until("the server was told to stop", func() bool {
		log, err := k.Person().MCP.Log(t.Context(), "test")
		return err == nil && strings.Contains(log, "was told to stop")
	})
}

func TestToolsOfServersAreFoundByWhatTheyDo(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(serverToolScript))
	server(t, k, "test", serves("none"))
	r := k.Ask("seek a tool", func(m *kernel.Submit) { m.Mode = "auto" })
	if !strings.Contains(r.Response, "test__save: Writes a file into a folder.") {
		t.Errorf("got %q", r.Response)
	}
}

func TestTheEnvironmentOfAServerIsItsOwn(t *testing.T) {
	t.Parallel()
	k := open(t)
	path := func() string {
		r, err := k.Person().Exec.Structured(t.Context(), kernel.StructuredArgs{Binary: "printenv", Args: []string{"PATH"}})
		if err != nil {
			t.Fatal(err)
		}
		return r.Output
	}
	before := path()
	server(t, k, "test", func(d *kernel.MCPServer) { d.Env = map[string]string{mcptest.Env: "plain", "PATH": "/nowhere"} })
	if after := path(); after != before || after == "" {
		t.Errorf("commands had the path %q, and have %q", before, after)
	}
}

func TestARemovedServerLeavesNothing(t *testing.T) {
	t.Parallel()
	k := open(t)
	server(t, k, "test")
	kept := func() int {
		s, err := k.Person().Infra.Storage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(s.Parts, func(p kernel.StoragePart) bool { return p.ID == kernel.PartExtensions })
		return s.Parts[i].Files
	}
	if n := kept(); n < 2 {
		t.Errorf("storage counts %d files, want what is known and the log", n)
	}
	if err := k.Person().MCP.Remove(t.Context(), "test"); err != nil {
		t.Fatal(err)
	}
	if list, err := k.Person().MCP.Servers(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("got %v, %v", list, err)
	}
	if n := kept(); n != 0 {
		t.Errorf("storage counts %d files still", n)
	}
	if _, err := os.Stat(filepath.Join(k.Home, "mcp", "test")); !os.IsNotExist(err) {
		t.Errorf("its folder: got %v", err)
	}
	raw, err := os.ReadFile(filepath.Join(k.Home, "config.toml"))
	if err != nil || strings.Contains(string(raw), "mcp.servers") {
		t.Errorf("config.toml says %q, %v", raw, err)
	}
}

func TestNoServerHasTheFolderOfOxiosItself(t *testing.T) {
	t.Parallel()
	k := open(t)
	for _, at := range []string{k.Home, filepath.Dir(k.Home), filepath.Join(k.Home, "keys"), "/"} {
		for _, def := range []kernel.MCPServer{{Command: mcptest.Command(), Read: []string{at}}, {Command: mcptest.Command(), Write: []string{at}}} {
			if _, err := k.Person().MCP.Set(t.Context(), "test", def); err == nil || !strings.Contains(err.Error(), "Oxios keeps its own files in the folder "+at) {
				t.Errorf("%+v: got %v", def, err)
			}
		}
	}
	addServer(t, k, "test")
	write(t, filepath.Join(k.Home, "config.toml"), "[mcp.servers.test]\ncommand = \""+mcptest.Command()+"\"\nwrite = [\""+filepath.Dir(k.Home)+"\"]\n")
	k.Restart()
	if _, err := k.Person().MCP.Connect(t.Context(), "test"); sys.CodeOf(err) != sys.CodeRefused || !strings.Contains(err.Error(), "was not started") {
		t.Errorf("written by hand: got %v", err)
	}
}
