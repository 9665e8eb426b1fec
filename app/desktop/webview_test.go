//go:build desktoptest

package desktop_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// driver speaks WebDriver with the WebView of the program as it is shipped.
type driver struct {
	t       testing.TB
	url     string
	session string
}

// drive starts the program under WebKit's driver. A library that is loaded
// before it lets WebKit accept a driver; the program itself is unchanged.
func drive(t testing.TB, home string, env []string, args ...string) *driver {
	t.Helper()
	dir := t.TempDir()
	shim := filepath.Join(dir, "automation.so")
	flags, err := exec.Command("pkg-config", "--cflags", "--libs", "webkit2gtk-4.1").Output()
	if err != nil {
		t.Fatalf("pkg-config webkit2gtk-4.1: %v", err)
	}
	cc := exec.Command("cc", append([]string{"-shared", "-fPIC", "-w", "-o", shim, "testdata/automation.c"}, strings.Fields(string(flags))...)...)
	if out, err := cc.CombinedOutput(); err != nil {
		t.Fatalf("compile the shim: %v\n%s", err, out)
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := free.Addr().(*net.TCPAddr).Port
	free.Close()
	out := &output{}
	cmd := exec.Command("WebKitWebDriver", fmt.Sprintf("--port=%d", port), "--host=127.0.0.1")
	cmd.Env, cmd.Stdout, cmd.Stderr = append(env, "LD_PRELOAD="+shim), out, out
	cmd.WaitDelay = 5 * time.Second // the program, which the driver started, holds its output open
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	d := &driver{t: t, url: fmt.Sprintf("http://127.0.0.1:%d", port)}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		endOwner(t, home)
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("the driver and the program wrote:\n%s", out)
		}
	})
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		conn, err := net.Dial("tcp", strings.TrimPrefix(d.url, "http://"))
		if err == nil {
			conn.Close()
			break
		}
		if time.Now().After(end) {
			t.Fatal("WebKitWebDriver does not answer")
		}
	}
	if args == nil {
		args = []string{}
	}
	var made struct{ SessionID string }
	d.post("/session", map[string]any{"capabilities": map[string]any{"alwaysMatch": map[string]any{
		"webkitgtk:browserOptions": map[string]any{"binary": binary(t, "OXIOS_DESKTOP_BIN"), "args": args},
	}}}, &made)
	d.session = made.SessionID
	t.Cleanup(d.end)
	return d
}

// endOwner ends the program that owns home, if the driver has left it behind.
func endOwner(t testing.TB, home string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(home, "run", "owner"))
	if err != nil {
		return
	}
	var pid int
	if _, err := fmt.Sscanf(string(text), "desktop, process %d", &pid); err != nil {
		t.Logf("who owns the home? %q", text)
		return
	}
	env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil || !bytes.Contains(env, []byte("OXIOS_HOME="+home)) {
		return // it has ended
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Logf("end process %d: %v", pid, err)
	}
}

func (d *driver) post(path string, body, into any) {
	d.t.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		d.t.Fatal(err)
	}
	client := &http.Client{Timeout: 30 * time.Second}
	resp, err := client.Post(d.url+path, "application/json", bytes.NewReader(raw)) //nolint:noctx // the client has a timeout
	if err != nil {
		d.t.Fatalf("WebDriver %s: %v", path, err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		d.t.Fatalf("WebDriver %s: %s %v\n%s", path, resp.Status, err, text)
	}
	if err := json.Unmarshal(text, &struct{ Value any }{into}); err != nil {
		d.t.Fatalf("WebDriver %s: %v\n%s", path, err, text)
	}
}

// run runs a script in the page and returns its text.
func (d *driver) run(script string) string {
	d.t.Helper()
	var v string
	d.post("/session/"+d.session+"/execute/sync", map[string]any{"script": "return String(" + script + ")", "args": []any{}}, &v)
	return v
}

// call makes a bound call, which gives a promise.
func (d *driver) call(expression string) string {
	d.t.Helper()
	var v string
	script := "const done = arguments[arguments.length - 1]; (" + expression + ").then(v => done('ok ' + v), e => done('error ' + (e.message ?? e)))"
	d.post("/session/"+d.session+"/execute/async", map[string]any{"script": script, "args": []any{}}, &v)
	return v
}

func (d *driver) end() {
	req, err := http.NewRequest(http.MethodDelete, d.url+"/session/"+d.session, nil) //nolint:noctx // the client has a timeout
	if err != nil {
		return
	}
	if resp, err := (&http.Client{Timeout: 10 * time.Second}).Do(req); err == nil {
		resp.Body.Close()
	}
}

func TestProductionWindowShowsThePageAndAnswersItsCalls(t *testing.T) {
	home, _, env := prepare(t, "")
	link := "0199c0de-0000-7000-8000-00000000000a"
	d := drive(t, home, env, "oxios://session/"+link)
	p := &program{t: t, home: home}
	p.dial()
	p.until("the page has text", func() bool { return strings.TrimSpace(d.run("document.body.innerText")) != "" })
	if title := d.run("document.title"); !strings.Contains(title, "Oxios") {
		t.Errorf("got title %q, want Oxios", title)
	}
	if got := d.call(`window.go.desktop.Infra.Status("[]")`); !strings.HasPrefix(got, `ok {`) || !strings.Contains(got, `"owner":"desktop"`) {
		t.Errorf("got %q from a bound call, want the status", got)
	}
	if got := d.call(`window.go.desktop.State.Session('["none"]')`); !strings.HasPrefix(got, `error {"code":"`) {
		t.Errorf("got %q from a call that fails, want a coded error", got)
	}
	for call, want := range map[string]string{
		`OpenURL('["file:///etc/passwd"]')`:       `"code":"forbidden"`,
		`OpenURL('["javascript:alert(1)"]')`:      `"code":"forbidden"`,
		`OpenPath('["/etc/passwd"]')`:             `"code":"forbidden"`,
		`ShowInFolder('["/etc/ssh/../ssh/x"]')`:   `"code":"`,
		`OpenPath('["--version"]')`:               `"code":"invalid"`,
		`OpenPath('not json')`:                    `"code":"invalid"`,
		`OpenPath('["/nowhere/at/all/in/here"]')`: `"code":"not_found"`,
	} {
		if got := d.call("window.go.desktop.Window." + call); !strings.HasPrefix(got, "error ") || !strings.Contains(got, want) {
			t.Errorf("%s: got %q, want an error with %s", call, got, want)
		}
	}
	// Events come with their numbers in a row, whoever listens.
	d.run(`(window.seen = [], window.runtime.EventsOn("oxios:event", t => window.seen.push(JSON.parse(t))), "")`)
	if got := d.call(`window.go.desktop.Events.Subscribe("0")`); !strings.HasPrefix(got, "ok") {
		t.Errorf("got %q, want a subscription", got)
	}
	if _, err := p.kernel.Agents.Pause(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	p.until("the page heard of the pause", func() bool {
		return d.run(`window.seen.some(e => e.kind === "status" && e.data.paused)`) == "true"
	})
	if got := d.call(`window.go.desktop.Events.Subscribe("no number")`); !strings.Contains(got, `"code":"invalid"`) {
		t.Errorf("got %q for a number that is none", got)
	}
	screenshot(t, "window.png")
}

func TestWindowShowsAnAgentWithItsTimeline(t *testing.T) {
	home, folder, env := prepare(t, "")
	d := drive(t, home, env)
	p := &program{t: t, home: home, folder: folder}
	p.dial()
	p.say("hello there")
	text := func() string { return d.run("document.body.innerText") }
	agents := `[...document.querySelectorAll("nav button")].find(b => b.innerText.trim() === "Agents")`
	p.until("the rail is there", func() bool { return d.run(agents+" !== undefined") == "true" })
	d.run(agents + ".click()")
	p.until("the agent stands there with what it did", func() bool {
		return strings.Contains(text(), "hello there") && strings.Contains(text(), "Timeline") && strings.Contains(text(), "Asked the model")
	})
	if got := text(); strings.Contains(got, "could not be read") {
		t.Errorf("got %q", got)
	}
}

func TestDeepLinkReachesThePage(t *testing.T) {
	home, _, env := prepare(t, "")
	d := drive(t, home, env)
	p := &program{t: t, home: home}
	p.dial()
	p.until("the page has text", func() bool { return strings.TrimSpace(d.run("document.body.innerText")) != "" })
	d.run(`(window.opened = [], window.runtime.EventsOn("oxios:open", id => window.opened.push(id)), "")`)
	if got := d.call(`window.go.desktop.Events.Subscribe("0")`); !strings.HasPrefix(got, "ok") {
		t.Fatalf("got %q, want a subscription", got)
	}
	link := "0199c0de-0000-7000-8000-00000000000b"
	second := exec.Command(binary(t, "OXIOS_DESKTOP_BIN"), "oxios://session/"+link)
	second.Env = env
	if out, err := second.CombinedOutput(); err != nil {
		t.Fatalf("start it with a link: %v\n%s", err, out)
	}
	p.until("the page is asked to open the conversation", func() bool { return d.run(`window.opened.join()`) == link })
}

// screenshot keeps the screen as $OXIOS_SCREENS/name, for people to look at.
func screenshot(t testing.TB, name string) {
	t.Helper()
	dir := os.Getenv("OXIOS_SCREENS")
	if dir == "" {
		return
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	// WebDriver's own screenshot does not return under Xvfb.
	if out, err := exec.Command("scrot", "-o", filepath.Join(dir, name)).CombinedOutput(); err != nil {
		t.Fatalf("take a screenshot: %v\n%s", err, out)
	}
}
