//go:build desktoptest

package desktop_test

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"oxios/kernel"
)

// withApps is a server of tools with apps, in config.toml.
func withApps(t *testing.T) string {
	t.Helper()
	_, here, _, _ := runtime.Caller(0)
	root := filepath.Join(filepath.Dir(here), "..", "..")
	pages := filepath.Join(root, "kernel", "mcp", "mcptest")
	return fmt.Sprintf("[mcp.servers.apps]\ncommand = \"node\"\nargs = [%q, %q, %q]\neffect = \"none\"\nalways = true\n",
		filepath.Join(root, "frontend", "e2e", "testdata", "apps.mjs"), filepath.Join(pages, "app.html"), filepath.Join(pages, "hostile.html"))
}

// showApp has the model call a tool with an app, and the window show it.
func showApp(t *testing.T, p *program, d *driver, tool string) {
	t.Helper()
	if _, err := p.kernel.MCP.Connect(t.Context(), "apps"); err != nil {
		t.Fatal(err)
	}
	sent := p.say("app by " + tool)
	d.call(`window.go.desktop.Events.Subscribe("0")`)
	row := fmt.Sprintf(`[...document.querySelectorAll("button")].find(b => b.innerText.includes("app by %s"))`, tool)
	p.until("the conversation is in the list", func() bool { return d.run(row+" !== undefined") == "true" })
	d.run(row + ".click()")
	p.until("the run has ended", func() bool {
		r, err := p.kernel.Agents.Run(t.Context(), sent.RunID)
		return err == nil && r.Run.EndedAt != nil
	})
}

// The page's way to Go is not for the frames in it, and WebKitGTK obeys the policy of an app's page.
func TestAHostileAppReachesNothingFromTheWindow(t *testing.T) {
	home, folder, env := prepare(t, withApps(t))
	d := drive(t, home, env)
	p := &program{t: t, home: home, folder: folder}
	p.dial()
	p.until("the page has text", func() bool { return strings.TrimSpace(d.run("document.body.innerText")) != "" })
	d.run(`(window.told = {}, addEventListener("message", e => window.told = e.data?.params?.data ?? window.told), "")`)
	showApp(t, p, d, "hostile")
	p.until("the app was closed", func() bool {
		return strings.Contains(d.run("document.body.innerText"), "too many messages")
	})
	var tried map[string]string
	if err := json.Unmarshal([]byte(d.run("JSON.stringify(window.told)")), &tried); err != nil || tried["origin"] != "null" || len(tried) < 15 {
		t.Fatalf("the app tried %v, %v", tried, err)
	}
	for name, got := range tried {
		// A cookie cannot be read back, and a dialog is not shown.
		if strings.HasPrefix(got, "worked") && got != "worked: " && (name != "dialog" || got != "worked: shown") {
			t.Errorf("%s: %s", name, got)
		}
	}
	s, err := p.kernel.Infra.Status(t.Context())
	if err != nil || s.Paused {
		t.Errorf("an app paused the agents: %v, %v", s.Paused, err)
	}
	if got := d.run("location.href"); !strings.HasPrefix(got, "wails://") {
		t.Errorf("the page is %q", got)
	}
	if got := d.call(`window.go.desktop.Infra.Status("[]")`); !strings.HasPrefix(got, "ok {") {
		t.Errorf("the page's own call: got %q", got)
	}
}

func TestAnAppIsShownInTheWindow(t *testing.T) {
	home, folder, env := prepare(t, withApps(t))
	d := drive(t, home, env)
	p := &program{t: t, home: home, folder: folder}
	p.dial()
	p.until("the page has text", func() bool { return strings.TrimSpace(d.run("document.body.innerText")) != "" })
	d.run(`(window.told = [], addEventListener("message", e => window.told.push(e.data?.method)), "")`)
	showApp(t, p, d, "show")
	p.until("the app has answered, and says how high it is", func() bool {
		return strings.Contains(d.run(`window.told.join()`), "ui/notifications/size-changed")
	})
	if got := d.run(`(() => { try { return document.querySelector("iframe").contentDocument } catch (e) { return "closed" } })()`); got != "null" && got != "closed" {
		t.Errorf("the page reaches into the app: %q", got)
	}
	screenshot(t, "app.png")
}

// Within ten seconds the window works again, and shows the app's text.
func TestAnAppThatLoopsDoesNotHoldTheWindow(t *testing.T) {
	home, folder, env := prepare(t, withApps(t))
	p := launch(t, home, env)
	p.folder = folder
	if _, err := p.kernel.MCP.Connect(t.Context(), "apps"); err != nil {
		t.Fatal(err)
	}
	sent := p.say("app by loop")
	var step kernel.StepView
	p.until("the run has ended", func() bool {
		r, err := p.kernel.Agents.Run(t.Context(), sent.RunID)
		if err != nil || r.Run.EndedAt == nil {
			return false
		}
		for _, s := range r.Steps {
			if s.App != nil {
				step = s
			}
		}
		return step.App != nil
	})
	// The window is sent to the conversation, where the app starts by itself.
	began := time.Now()
	link := exec.Command(binary(t, "OXIOS_DESKTOP_BIN"), "oxios://session/"+sent.SessionID)
	link.Env = env
	if out, err := link.CombinedOutput(); err != nil {
		t.Fatalf("open the conversation: %v\n%s", err, out)
	}
	p.until("the app is not started again", func() bool {
		v, err := p.kernel.MCP.App(t.Context(), kernel.MCPAppOf{Server: step.App.Server, ID: step.App.ID})
		return err == nil && v.Stopped
	})
	p.until("the page is there again", func() bool { return strings.Count(p.out.String(), "The page is there") >= 2 })
	if took := time.Since(began); took > 15*time.Second { // it begins when the page has shown it
		t.Errorf("took %s", took)
	}
	screenshot(t, "app-loop.png")
}
