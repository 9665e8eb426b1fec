//go:build desktoptest

package desktop_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"

	"oxios/kernel"
)

const quickTitle = "^Oxios, quick prompt$"

func quickVisible() bool { return len(find("search", "--onlyvisible", "--name", quickTitle)) > 0 }

func quickHidden() bool { return !quickVisible() }

// quickProcess is the process that runs the quick prompt of p's home, 0 without
// one.
func (p *program) quickProcess() int {
	for _, pid := range processesOf(p.home) {
		if line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); bytes.Contains(line, []byte("oxios-desktop\x00quick")) {
			return pid
		}
	}
	return 0
}

func xdo(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command("xdotool", args...).CombinedOutput(); err != nil {
		t.Fatalf("xdotool %q: %v %s", args, err, out)
	}
}

// quickFocused reports whether the quick prompt has the keyboard.
func quickFocused() bool {
	out, _ := exec.Command("xdotool", "getwindowfocus", "getwindowname").Output()
	return strings.TrimSpace(string(out)) == "Oxios, quick prompt"
}

// answered waits for an answer to text that came by the quick prompt.
func (p *program) answered(text string) kernel.Run {
	p.t.Helper()
	var found kernel.Run
	p.until(fmt.Sprintf("%q was asked by the quick prompt and is answered", text), func() bool {
		list, err := p.kernel.State.Sessions(p.t.Context(), kernel.SessionQuery{})
		if err != nil {
			return false
		}
		for _, s := range list {
			v, err := p.kernel.State.Session(p.t.Context(), s.ID)
			if err != nil {
				continue
			}
			for _, r := range v.Runs {
				if r.Run.Text == text && r.Run.Via == "quick" && r.Run.State == "done" {
					found = r.Run
					return true
				}
			}
		}
		return false
	})
	return found
}

const quickItem = "Quick prompt   Ctrl Alt Space"

func TestTrayOpensTheQuickPromptWhichAnswersAndHandsOver(t *testing.T) {
	p := open(t, "")
	p.hide()
	start := time.Now()
	p.click(quickItem)
	p.until("the quick prompt is on the screen", quickVisible)
	t.Logf("shown after %v, cold", time.Since(start).Round(time.Millisecond))
	p.until("it has the keyboard", quickFocused)
	xdo(t, "type", "--delay", "5", "hello there")
	xdo(t, "key", "Return")
	run := p.answered("hello there")
	screenshot(t, "quick-answered.png")
	if p.visible() {
		t.Error("the main window came without being asked for")
	}
	// Asking on stays in the conversation.
	xdo(t, "type", "--delay", "5", "and then")
	xdo(t, "key", "Return")
	if next := p.answered("and then"); next.SessionID != run.SessionID {
		t.Errorf("got another conversation for what was asked on")
	}
	xdo(t, "key", "ctrl+Return")
	p.until("the main window shows the conversation", p.visible)
	p.until("the quick prompt is hidden", quickHidden)

	// What was answered makes room for another question.
	p.hide()
	p.click(quickItem)
	p.until("the quick prompt is back", quickVisible)
	p.until("it has the keyboard", quickFocused)
	xdo(t, "type", "--delay", "5", "something else")
	xdo(t, "key", "Return")
	if other := p.answered("something else"); other.SessionID == run.SessionID {
		t.Error("got the old conversation for a new question")
	}
	p.click("Quit")
	if code := p.wait(); code != 0 {
		t.Errorf("got exit code %d, want 0", code)
	}
	p.gone()
}

func TestKeysOpenTheQuickPromptWhateverTheLocksAre(t *testing.T) {
	p := open(t, "")
	p.hide()
	p.until("the keys are held", func() bool { return p.has(quickItem) })
	for i, lock := range []string{"", "Num_Lock", "Caps_Lock"} {
		if lock != "" {
			xdo(t, "key", lock)
			defer xdo(t, "key", lock)
		}
		start := time.Now()
		xdo(t, "key", "ctrl+alt+space")
		p.until("the quick prompt is on the screen", quickVisible)
		t.Logf("press %d: shown after %v", i+1, time.Since(start).Round(time.Millisecond))
		p.until("it has the keyboard", quickFocused)
		xdo(t, "key", "Escape")
		p.until("Esc hides it", quickHidden)
	}
	if pid := p.quickProcess(); pid == 0 {
		t.Error("the quick prompt ended with Esc, want it hidden")
	} else {
		t.Logf("memory of the quick prompt, hidden: %d MB", p.memory(pid))
	}
}

// memory is the proportional share of a process and its children, in MB.
func (p *program) memory(pid int) (mb int) {
	p.t.Helper()
	parents := map[int][]int{}
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		stat, _ := os.ReadFile(filepath.Join(dir, "stat"))
		child, parent := 0, 0
		if i := bytes.LastIndexByte(stat, ')'); i > 0 {
			child, _ = strconv.Atoi(filepath.Base(dir))
			_, _ = fmt.Sscanf(string(stat[i+4:]), "%d", &parent)
		}
		parents[parent] = append(parents[parent], child)
	}
	var sum func(pid int)
	sum = func(pid int) {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
		for line := range strings.Lines(string(text)) {
			var kb int
			if _, err := fmt.Sscanf(line, "Pss: %d kB", &kb); err == nil {
				mb += kb >> 10
			}
		}
		for _, c := range parents[pid] {
			sum(c)
		}
	}
	sum(pid)
	return mb
}

func TestKeysOfAnotherProgramAreLeftToIt(t *testing.T) {
	conn, err := xgb.NewConn()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	root := xproto.Setup(conn).DefaultScreen(conn).Root
	const spaceBar = 65
	if err := xproto.GrabKeyChecked(conn, false, root, xproto.ModMaskControl|xproto.ModMask1, spaceBar, xproto.GrabModeAsync, xproto.GrabModeAsync).Check(); err != nil {
		t.Fatal(err)
	}
	p := open(t, "")
	p.until("it is known that the keys are taken", func() bool { return strings.Contains(p.out.String(), "state=taken") })
	if !p.has("Quick prompt") {
		t.Errorf("got menu %+v, want Quick prompt without keys", p.menuItems())
	}
	if _, err := p.kernel.Infra.SetConfig(short(t), "quick_keys", "Space"); err == nil {
		t.Error("a key without Ctrl, Alt or Super was taken")
	}
	if _, err := p.kernel.Infra.SetConfig(short(t), "quick_keys", "Ctrl+Shift+F9"); err != nil {
		t.Fatal(err)
	}
	p.until("other keys work", func() bool { return p.has("Quick prompt   Ctrl Shift F9") })
	p.hide()
	xdo(t, "key", "ctrl+shift+F9")
	p.until("they open the quick prompt", quickVisible)
	if _, err := p.kernel.Infra.SetConfig(short(t), "quick_hotkey", "false"); err != nil {
		t.Fatal(err)
	}
	p.until("the keys are given back", func() bool { return p.has("Quick prompt") })
}

func startQuick(t *testing.T, env []string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(binary(t, "OXIOS_DESKTOP_BIN"), append([]string{"quick"}, args...)...)
	cmd.Env = env
	return cmd
}

func TestSecondQuickPromptShowsTheFirst(t *testing.T) {
	p := open(t, "")
	p.hide()
	p.click(quickItem)
	p.until("the quick prompt is on the screen", quickVisible)
	first := p.quickProcess()
	p.until("it has the keyboard", quickFocused)
	xdo(t, "key", "Escape")
	p.until("it is hidden", quickHidden)
	start := time.Now()
	if out, err := startQuick(t, p.cmd.Env).CombinedOutput(); err != nil {
		t.Fatalf("a second start: %v %s", err, out)
	}
	p.until("it is shown again", quickVisible)
	t.Logf("handed over and shown in %v", time.Since(start).Round(time.Millisecond))
	if now := p.quickProcess(); now != first {
		t.Errorf("got process %d, want the first one, %d", now, first)
	}
	for _, bad := range [][]string{{"word"}, {"--idle", "0s"}, {"--what"}} {
		if out, err := startQuick(t, p.cmd.Env, bad...).CombinedOutput(); err == nil {
			t.Errorf("%q: got %s, want a refusal", bad, out)
		}
	}
	if out, err := startQuick(t, p.cmd.Env, "--help").CombinedOutput(); err != nil || !strings.Contains(string(out), "quick prompt") {
		t.Errorf("--help: %v %s", err, out)
	}
}

func TestQuickPromptEndsAfterItWasHiddenForLong(t *testing.T) {
	p := open(t, "")
	p.hide()
	cmd := startQuick(t, p.cmd.Env, "--idle", "1s")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	p.until("the quick prompt is on the screen", quickVisible)
	p.until("it has the keyboard", quickFocused)
	select {
	case <-ended:
		t.Fatal("it ended while it was shown")
	case <-time.After(1500 * time.Millisecond):
	}
	hidden := time.Now()
	xdo(t, "key", "Escape")
	select {
	case err := <-ended:
		if err != nil || time.Since(hidden) < time.Second {
			t.Errorf("got %v after %v, want a clean end after a second", err, time.Since(hidden))
		}
	case <-time.After(20 * time.Second):
		_ = cmd.Process.Kill()
		t.Fatal("it did not end")
	}
	p.until("nothing of it is left", func() bool { return p.quickProcess() == 0 })
}

func TestQuickPromptEndsWithTheKernel(t *testing.T) {
	p := open(t, "")
	p.hide()
	p.click(quickItem)
	p.until("the quick prompt is on the screen", quickVisible)
	p.until("it has the keyboard", quickFocused)
	xdo(t, "key", "Escape")
	p.until("it is hidden", quickHidden)
	if err := p.cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	p.until("the hidden quick prompt ends", func() bool { return p.quickProcess() == 0 })
}

func TestQuickPromptThatIsSeenSaysThatOxiosEndedAndStartsItAgain(t *testing.T) {
	p := open(t, "")
	env := p.cmd.Env
	t.Cleanup(p.endQuickly) // what takes its place is no child of the test
	p.hide()
	p.click(quickItem)
	p.until("the quick prompt is on the screen", quickVisible)
	p.until("it has the keyboard", quickFocused)
	if err := p.cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-p.ended
	log := filepath.Join(p.home, "logs", "quick.log")
	p.until("it knows", func() bool {
		text, _ := os.ReadFile(log)
		return strings.Contains(string(text), "The kernel has ended")
	})
	if !quickVisible() {
		t.Error("it went from under the person's eyes")
	}
	screenshot(t, "quick-ended.png")
	// Asked for again, it starts Oxios in the tray.
	if out, err := startQuick(t, env).CombinedOutput(); err != nil {
		t.Fatalf("ask for it again: %v %s", err, out)
	}
	p.dial()
	p.until("the quick prompt is on the screen", quickVisible)
	p.until("it has the keyboard", quickFocused)
	xdo(t, "type", "--delay", "5", "are you there")
	xdo(t, "key", "Return")
	p.answered("are you there")
}

func TestQuickPromptStartsOxiosWhereNoneRuns(t *testing.T) {
	home, _, env := prepare(t, "")
	for len(trayIcon) > 0 {
		<-trayIcon
	}
	cmd := startQuick(t, env)
	out := &output{}
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &program{t: t, home: home, out: out, cmd: cmd, ended: make(chan struct{})}
	t.Cleanup(p.endQuickly)
	go func() {
		p.err = cmd.Wait()
		close(p.ended)
	}()
	defer func() {
		if t.Failed() {
			t.Logf("it wrote:\n%s", out)
		}
	}()
	p.until("the quick prompt is on the screen", quickVisible)
	p.until("it has the keyboard", quickFocused)
	// The question may come before the kernel: it waits for it.
	xdo(t, "type", "--delay", "5", "good morning")
	xdo(t, "key", "Return")
	p.findTray()
	p.dial()
	p.answered("good morning")
	if len(find("search", "--onlyvisible", "--name", "^Oxios$")) > 0 {
		t.Error("the main window is on the screen, want it in the tray")
	}
	p.click("Quit")
	if code := p.wait(); code != 0 {
		t.Errorf("got exit code %d, want 0", code)
	}
	p.gone()
}

// endQuickly ends whatever runs on p's home.
func (p *program) endQuickly() {
	p.t.Helper()
	endOwner(p.t, p.home)
	if pid := p.quickProcess(); pid != 0 {
		_ = syscall.Kill(pid, syscall.SIGTERM)
	}
	p.until("the quick prompt has ended", func() bool { return p.quickProcess() == 0 })
}

// portal is a desktop that gives keys to programs which ask, as those with
// Wayland do.
type portal struct {
	bus      *dbus.Conn
	refuses  bool
	sessions chan dbus.ObjectPath
	triggers chan string
}

const portalPath = dbus.ObjectPath("/org/freedesktop/portal/desktop")

func (p *portal) answer(sender dbus.Sender, options map[string]dbus.Variant, results map[string]dbus.Variant) dbus.ObjectPath {
	token, _ := options["handle_token"].Value().(string)
	name := strings.ReplaceAll(strings.TrimPrefix(string(sender), ":"), ".", "_")
	request := dbus.ObjectPath(fmt.Sprintf("%s/request/%s/%s", portalPath, name, token))
	code := uint32(0)
	if p.refuses {
		code = 1
	}
	go func() { _ = p.bus.Emit(request, "org.freedesktop.portal.Request.Response", code, results) }()
	return request
}

func (p *portal) CreateSession(options map[string]dbus.Variant, sender dbus.Sender) (dbus.ObjectPath, *dbus.Error) {
	session := string(portalPath) + "/session/oxios"
	return p.answer(sender, options, map[string]dbus.Variant{"session_handle": dbus.MakeVariant(session)}), nil
}

type portalShortcut struct {
	ID   string
	Data map[string]dbus.Variant
}

func (p *portal) BindShortcuts(session dbus.ObjectPath, list []portalShortcut, _ string, options map[string]dbus.Variant, sender dbus.Sender) (dbus.ObjectPath, *dbus.Error) {
	trigger, _ := list[0].Data["preferred_trigger"].Value().(string)
	p.triggers <- trigger
	p.sessions <- session
	// The person chose other keys than those that were asked for.
	got := []portalShortcut{{list[0].ID, map[string]dbus.Variant{"trigger_description": dbus.MakeVariant("Meta+O")}}}
	return p.answer(sender, options, map[string]dbus.Variant{"shortcuts": dbus.MakeVariant(got)}), nil
}

// playPortal owns the portal's name on a connection of its own, until the test
// ends.
func playPortal(t *testing.T, refuses bool) *portal {
	t.Helper()
	bus, err := dbus.ConnectSessionBus()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { bus.Close() })
	p := &portal{bus: bus, refuses: refuses, sessions: make(chan dbus.ObjectPath, 4), triggers: make(chan string, 4)}
	if err := bus.Export(p, portalPath, "org.freedesktop.portal.GlobalShortcuts"); err != nil {
		t.Fatal(err)
	}
	if got, err := bus.RequestName("org.freedesktop.portal.Desktop", dbus.NameFlagDoNotQueue); err != nil || got != dbus.RequestNameReplyPrimaryOwner {
		t.Fatalf("own the portal: %d, %v", got, err)
	}
	return p
}

// onWayland makes the program believe that its desktop is of that kind. There
// is none here, so it still draws by X11.
func onWayland(env []string) []string {
	return append(env, "WAYLAND_DISPLAY=wayland-none", "GDK_BACKEND=x11")
}

func TestPortalGivesTheKeysOnWayland(t *testing.T) {
	desktop := playPortal(t, false)
	home, _, env := prepare(t, "")
	p := launch(t, home, onWayland(env))
	p.until("the keys that the desktop gave are told", func() bool { return p.has("Quick prompt   Meta+O") })
	if got := <-desktop.triggers; got != "CTRL+ALT+space" {
		t.Errorf("got %q asked for, want CTRL+ALT+space", got)
	}
	p.hide()
	session := <-desktop.sessions
	activate := func(session dbus.ObjectPath, id string) {
		if err := desktop.bus.Emit(portalPath, "org.freedesktop.portal.GlobalShortcuts.Activated", session, id, uint64(1), map[string]dbus.Variant{}); err != nil {
			t.Fatal(err)
		}
	}
	activate("/another/session", "quick-prompt")
	activate(session, "something-else")
	activate(session, "quick-prompt")
	p.until("they open the quick prompt", quickVisible)
}

func TestDesktopThatGivesNoKeysIsToldSo(t *testing.T) {
	for _, name := range []string{"no portal", "it refuses"} {
		if name == "it refuses" {
			playPortal(t, true)
		}
		home, _, env := prepare(t, "")
		p := launch(t, home, onWayland(env))
		p.until(name+": the person has to bind a command", func() bool { return strings.Contains(p.out.String(), "state=bind") })
		if !p.has("Quick prompt") {
			t.Errorf("%s: got menu %+v, want no keys", name, p.menuItems())
		}
		p.click("Quit")
		p.wait()
	}
}

func TestQuickPromptShowsTheAnswerAndWhatWaitsButDecidesNothing(t *testing.T) {
	p := open(t, "mode = \"ask\"\n")
	d := drive(t, p.home, p.cmd.Env, "quick")
	text := func() string { return d.run("document.body.innerText") }
	p.until("the page is there", func() bool { return d.run("document.querySelector('textarea') !== null") == "true" })
	ask := func(what string) {
		p.until("it has the keyboard", quickFocused)
		xdo(t, "type", "--delay", "5", what)
		xdo(t, "key", "Return")
	}
	ask("good day")
	p.until("the answer is shown in place", func() bool { return strings.Contains(text(), "Hello.") })
	ask("touch this.txt")
	p.until("it says that something waits", func() bool { return strings.Contains(text(), "Waits for you") })
	if got := text(); strings.Contains(got, "Approve") || strings.Contains(got, "Deny") || !strings.Contains(got, "Review") {
		t.Errorf("got %q, want Review alone", got)
	}
	screenshot(t, "quick-waits.png")
	list, err := p.kernel.Security.Approvals(short(t), kernel.ApprovalQuery{State: "pending"})
	if err != nil || len(list) != 1 {
		t.Fatalf("got %+v, %v, want one request", list, err)
	}
	if _, err := p.kernel.Security.Deny(short(t), list[0].ID, ""); err != nil {
		t.Fatal(err)
	}
	p.until("it goes when it is decided in the window", func() bool { return !strings.Contains(text(), "Waits for you") })
	ask("break down")
	p.until("a failure is told in words, with what was kept", func() bool {
		got := text()
		return strings.Contains(got, "The run failed") && strings.Contains(got, "Your message is kept")
	})
	if got := d.call(`window.go.desktop.Quick.Open('["../../etc"]')`); !strings.Contains(got, `"code":"invalid"`) {
		t.Errorf("got %q for what is no conversation", got)
	}
	if got := d.call(`window.go.desktop.Quick.Resize('["tall"]')`); !strings.Contains(got, `"code":"invalid"`) {
		t.Errorf("got %q for what is no height", got)
	}
}

func TestPaletteOpensTheQuickPromptAndSettingsSayWhatIsTrueOfItsKeys(t *testing.T) {
	home, _, env := prepare(t, "")
	d := drive(t, home, env)
	p := &program{t: t, home: home}
	t.Cleanup(p.endQuickly)
	p.dial()
	text := func() string { return d.run("document.body?.innerText ?? ''") }
	p.until("the page is there", func() bool { return strings.Contains(text(), "What should be done?") })
	key := func(code, key string) {
		d.run(fmt.Sprintf(`(window.dispatchEvent(new KeyboardEvent("keydown", {code: %q, key: %q, ctrlKey: true, bubbles: true})), "")`, code, key))
	}
	key("Comma", ",")
	p.until("the settings are open", func() bool { return d.run("document.querySelector('[data-section=keyboard]') !== null") == "true" })
	d.run(`(document.querySelector('[data-section=keyboard]').click(), "")`)
	p.until("the keys are said to work", func() bool { return strings.Contains(text(), "Ctrl Alt Space works.") })
	if _, err := p.kernel.Infra.SetConfig(short(t), "quick_hotkey", "false"); err != nil {
		t.Fatal(err)
	}
	p.until("they are said to be off", func() bool { return strings.Contains(text(), "Off. The tray and the palette open it.") })
	screenshot(t, "quick-settings.png")
	key("KeyK", "k")
	p.until("the palette lists it", func() bool {
		return strings.Contains(text(), "Quick prompt") && d.run("document.querySelector('[role=combobox]') !== null") == "true"
	})
	d.run(`(() => { const f = document.querySelector('[role=combobox]'); f.value = "quick prompt"; f.dispatchEvent(new InputEvent("input", {bubbles: true})); return "" })()`)
	p.until("it is the first that fits", func() bool {
		return strings.HasPrefix(d.run("document.querySelector('[role=option]').innerText"), "Quick prompt")
	})
	d.run(`(document.querySelector('[role=option]').click(), "")`)
	p.until("the quick prompt is on the screen", quickVisible)
}
