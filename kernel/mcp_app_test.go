package kernel_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
	"oxios/kernel/sys"
)

// appScript has the model call each tool that has an app.
var appScript = func() string {
	var b strings.Builder
	for _, tool := range []string{"show", "huge"} {
		fmt.Fprintf(&b, `
[[scenario]]
name = %[1]q
any = ["by %[1]s"]
[[scenario.turn]]
[[scenario.turn.call]]
tool = "test__%[1]s"
args = '{"text": "hello"}'
[[scenario.turn]]
text = "It came to this: {{result}}"
`, tool)
	}
	return b.String()
}()

// shown has the model call a tool of the server with apps, and returns the step.
func shown(t *testing.T, k *kerneltest.Kernel, tool string) kernel.StepView {
	t.Helper()
	sent := k.Say("show by "+tool, func(m *kernel.Submit) { m.Mode = "auto" })
	k.Wait(sent.RunID)
	run, err := k.Person().Agents.Run(t.Context(), sent.RunID)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range run.Steps {
		if s.Name == "test__"+tool {
			return s
		}
	}
	t.Fatalf("no step of %s in %+v", tool, run.Steps)
	return kernel.StepView{}
}

func appOf(s kernel.StepView) kernel.MCPAppOf {
	return kernel.MCPAppOf{Server: s.App.Server, ID: s.App.ID}
}

// The walking skeleton: a tool with an app, its page with its own policy, and what it is given.
func TestAResultComesWithTheAppOfItsTool(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(appScript))
	server(t, k, "test", kindOfServer("apps"), serves("none"))
	step := shown(t, k, "show")
	if step.App == nil || !strings.HasPrefix(step.Output, "Shown: hello") || len(step.App.Hash) != 64 {
		t.Fatalf("got %+v, %q, want the text and an app", step.App, step.Output)
	}
	me := k.Person().MCP
	v, err := me.App(t.Context(), appOf(step))
	if err != nil || v.Title != "Show" || string(v.Input) != `{"text":"hello"}` || !strings.Contains(string(v.Result), `"count":5`) || v.Stopped {
		t.Fatalf("got %+v, %v", v, err)
	}
	if want := []string{"api.example.com", "cdn.example.com"}; strings.Join(v.Blocked, " ") != strings.Join(want, " ") {
		t.Errorf("got blocked %q, want %q", v.Blocked, want)
	}
	ticket := strings.TrimPrefix("/"+v.Page, kernel.AppPath)
	page, err := me.AppPage(t.Context(), ticket)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"default-src 'none'", "connect-src 'none'", "frame-src 'none'", "form-action 'none'", "sandbox allow-scripts", "frame-ancestors 'self'"} {
		if !strings.Contains(page.Policy, want) {
			t.Errorf("the policy %q lacks %q", page.Policy, want)
		}
	}
	if strings.Contains(page.Policy, "example.com") || strings.Contains(page.Policy, "127.0.0.1") || strings.Contains(page.Policy, "*") {
		t.Errorf("the policy %q opens what nobody allowed", page.Policy)
	}
	if !strings.HasPrefix(page.HTML, `<!doctype html><meta charset="utf-8"><meta http-equiv="Content-Security-Policy"`) || !strings.Contains(page.HTML, "no input yet") {
		t.Errorf("got page %.300q", page.HTML)
	}
	if _, err := me.AppPage(t.Context(), ticket); sys.CodeOf(err) != sys.CodeNotFound {
		t.Errorf("the same address a second time: got %v, want not found", err)
	}
	server(t, k, "test", kindOfServer("apps"), serves("none"), func(d *kernel.MCPServer) { d.AppHosts = []string{"cdn.example.com"} })
	if v, err = me.App(t.Context(), appOf(step)); err != nil || len(v.Blocked) != 1 {
		t.Fatalf("got %+v, %v, want one address that is blocked", v.Blocked, err)
	}
	if page, err = me.AppPage(t.Context(), strings.TrimPrefix("/"+v.Page, kernel.AppPath)); err != nil || !strings.Contains(page.Policy, "script-src 'unsafe-inline' https://cdn.example.com;") || strings.Contains(page.Policy, "api.") {
		t.Errorf("got %q, %v, want the one that the person allows", page.Policy, err)
	}
}

func TestAnAppThatIsTooLargeLeavesTheText(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(appScript))
	server(t, k, "test", kindOfServer("apps"), serves("none"))
	if step := shown(t, k, "huge"); step.App != nil || !strings.HasPrefix(step.Output, "Shown: hello") {
		t.Errorf("got %+v, %q, want the text alone", step.App, step.Output)
	}
	log, err := k.Person().MCP.Log(t.Context(), "test")
	if err != nil || !strings.Contains(log, "is not shown: its page has 3200015 bytes") {
		t.Errorf("got log %q, %v", log, err)
	}
}

func TestAToolForAppsIsOfferedToNoAgent(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(appScript))
	server(t, k, "test", kindOfServer("apps"), serves("none"))
	all, err := k.Person().MCP.Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range all {
		if tool.Name == "forApps" {
			t.Error("the tool forApps is offered")
		}
	}
	step := shown(t, k, "show")
	me := k.Person().MCP
	got, err := me.AppCall(t.Context(), kernel.MCPAppCall{App: appOf(step), Tool: "forApps", Args: json.RawMessage(`{"text": "x"}`)})
	if err != nil || !strings.Contains(string(got.Result), "forApps says: x") {
		t.Errorf("got %s, %v", got.Result, err)
	}
	if _, err := me.AppCall(t.Context(), kernel.MCPAppCall{App: appOf(step), Tool: "forAgents"}); sys.CodeOf(err) != sys.CodeForbidden {
		t.Errorf("a tool for agents: got %v, want forbidden", err)
	}
	if got, err := me.AppRead(t.Context(), appOf(step), "test://notes"); err != nil || !strings.Contains(string(got.Result), "a note of the server") {
		t.Errorf("got %s, %v", got.Result, err)
	}
}

// What an app does is the app's: it waits for the person where the server's tools would, and is recorded under its name.
func TestACallOfAnAppWaitsAsOneOfItsServer(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(appScript))
	server(t, k, "test", kindOfServer("apps"), serves("none"))
	step := shown(t, k, "show")
	server(t, k, "test", kindOfServer("apps"))
	me := k.Person()
	type answer struct {
		got kernel.MCPAppAnswer
		err error
	}
	answered := make(chan answer, 1)
	call := func() {
		got, err := me.MCP.AppCall(t.Context(), kernel.MCPAppCall{App: appOf(step), Tool: "forApps", Args: json.RawMessage(`{"text": "x"}`)})
		answered <- answer{got, err}
	}
	waits := func() (a kernel.Approval) {
		k.Until("the app's call waits", func() bool {
			list, err := me.Security.Approvals(t.Context(), kernel.ApprovalQuery{State: "pending"})
			if err == nil && len(list) == 1 {
				a = list[0]
			}
			return a.ID != ""
		})
		return a
	}
	go call()
	a := waits()
	if want := "The app “Show” in this conversation asks for it, not an agent."; !strings.HasPrefix(a.Request.Why, want) || a.Request.SessionID == "" || a.Request.RunID != "" || !a.Request.Labels.Untrusted() {
		t.Errorf("got %+v", a.Request)
	}
	if _, err := me.Security.Deny(t.Context(), a.ID, "no"); err != nil {
		t.Fatal(err)
	}
	if got := <-answered; sys.CodeOf(got.err) != sys.CodeDenied {
		t.Errorf("denied: got %+v", got)
	}
	go call()
	a = waits()
	if _, err := me.Security.Approve(t.Context(), a.ID, kernel.ApproveInput{Hash: a.Request.Hash, Scope: "once"}); err != nil {
		t.Fatal(err)
	}
	if got := <-answered; got.err != nil || !strings.Contains(string(got.got.Result), "forApps says: x") {
		t.Errorf("approved: got %+v", got)
	}
	entries, err := me.Security.Audit(t.Context(), kernel.AuditQuery{})
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, e := range entries {
		found = found || e.Actor == "app:test"
	}
	if !found {
		t.Error("no record of the app")
	}
}

func TestAServerThatChangesFilesLendsNoToolToItsApps(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(appScript))
	server(t, k, "test", kindOfServer("apps"), serves("none"))
	step := shown(t, k, "show")
	folder := t.TempDir()
	server(t, k, "test", kindOfServer("apps"), serves("write"), func(d *kernel.MCPServer) { d.Write = []string{folder} })
	if _, err := k.Person().MCP.AppCall(t.Context(), kernel.MCPAppCall{App: appOf(step), Tool: "forApps"}); sys.CodeOf(err) != sys.CodeRefused {
		t.Errorf("got %v, want it refused", err)
	}
}

func TestAnAppThatDidNotAnswerIsNotStartedAgain(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(appScript))
	server(t, k, "test", kindOfServer("apps"), serves("none"))
	step := shown(t, k, "show")
	me := k.Person().MCP
	if err := me.StopApp(t.Context(), appOf(step)); err != nil {
		t.Fatal(err)
	}
	if v, err := me.App(t.Context(), appOf(step)); err != nil || !v.Stopped || v.Page != "" {
		t.Errorf("got %+v, %v, want one that is not started", v, err)
	}
	for _, id := range []string{"", "../../known", "0199c0de-0000-7000-8000-00000000000a.../x", step.App.ID + "x"} {
		if _, err := me.App(t.Context(), kernel.MCPAppOf{Server: "test", ID: id}); sys.CodeOf(err) != sys.CodeNotFound {
			t.Errorf("%q: got %v, want not found", id, err)
		}
	}
}

func TestAnAppGoesWithItsConversation(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(appScript))
	server(t, k, "test", kindOfServer("apps"), serves("none"))
	step := shown(t, k, "show")
	run, err := k.Person().Agents.Run(t.Context(), step.RunID)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.Person().State.DeleteSession(t.Context(), run.Run.SessionID); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(k.Home, "mcp", "test", "apps", "*"))
	if err != nil || len(left) != 0 {
		t.Errorf("left: %q, %v", left, err)
	}
}
