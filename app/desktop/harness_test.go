//go:build desktoptest

// The tests of the real window. They play the desktop to the program as it is
// shipped: they own the tray's watcher and the notification service on the
// session bus, click menu items by their label, press the buttons of
// notifications, and look at the screen. They need a session bus and a display
// of their own:
//
//	dbus-run-session -- xvfb-run -a go test -tags desktoptest ./app/desktop/...
package desktop_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
	"github.com/godbus/dbus/v5/prop"

	"oxios/app/remote"
	"oxios/kernel"
	"oxios/kernel/demo"
)

const (
	notifications = "org.freedesktop.Notifications"
	notifyPath    = dbus.ObjectPath("/org/freedesktop/Notifications")
	watcherName   = "org.kde.StatusNotifierWatcher"
)

// The desktop of the whole test process: names on a bus can be owned once.
var (
	session  *dbus.Conn
	trayIcon = make(chan string, 16)
	notices  = &noticeBoard{open: map[uint32]notice{}}
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	if err := playDesktop(); err != nil {
		fmt.Fprintln(os.Stderr, "This needs a session bus and a display of its own:", err)
		return 1
	}
	defer session.Close()
	wm := exec.Command("openbox")
	if err := wm.Start(); err != nil {
		fmt.Fprintln(os.Stderr, "start a window manager:", err)
		return 1
	}
	defer func() {
		_ = wm.Process.Kill()
		_ = wm.Wait()
	}()
	for range 200 { // until it manages windows
		if exec.Command("wmctrl", "-m").Run() == nil {
			break
		}
		time.Sleep(25 * time.Millisecond)
	}
	return m.Run()
}

func playDesktop() (err error) {
	if session, err = dbus.ConnectSessionBus(); err != nil {
		return err
	}
	if err := session.Export(watcher{}, "/StatusNotifierWatcher", watcherName); err != nil {
		return err
	}
	_, err = prop.Export(session, "/StatusNotifierWatcher", prop.Map{watcherName: {
		"IsStatusNotifierHostRegistered": {Value: true}, "ProtocolVersion": {Value: int32(0)}, "RegisteredStatusNotifierItems": {Value: []string{}},
	}})
	if err != nil {
		return err
	}
	if err := session.Export(notices, notifyPath, notifications); err != nil {
		return err
	}
	for _, name := range []string{watcherName, notifications} {
		got, err := session.RequestName(name, dbus.NameFlagDoNotQueue)
		if err != nil || got != dbus.RequestNameReplyPrimaryOwner {
			return fmt.Errorf("own %s: %d, %w", name, got, err)
		}
	}
	return nil
}

type watcher struct{}

func (watcher) RegisterStatusNotifierItem(item string, sender dbus.Sender) *dbus.Error {
	if strings.HasPrefix(item, "/") {
		item = string(sender) + item
	}
	trayIcon <- item
	return nil
}

func (watcher) RegisterStatusNotifierHost(string) *dbus.Error { return nil }

// notice is a notification as the service got it.
type notice struct {
	id            uint32
	summary, body string
	actions       []string
	urgent        bool
	replaces      uint32
	at            time.Time // it was shown or replaced
}

func (n notice) offers(key string) bool {
	for i := 0; i < len(n.actions); i += 2 {
		if n.actions[i] == key {
			return true
		}
	}
	return false
}

type noticeBoard struct {
	mu   sync.Mutex
	last uint32
	open map[uint32]notice
}

func (b *noticeBoard) Notify(_ string, replaces uint32, _, summary, body string, actions []string, hints map[string]dbus.Variant, _ int32) (uint32, *dbus.Error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	id := replaces
	if id == 0 {
		b.last++
		id = b.last
	}
	urgency, _ := hints["urgency"].Value().(byte)
	b.open[id] = notice{id: id, summary: summary, body: body, actions: actions, urgent: urgency == 2, replaces: replaces, at: time.Now()}
	return id, nil
}

func (b *noticeBoard) GetCapabilities() ([]string, *dbus.Error) {
	return []string{"actions", "body", "body-markup"}, nil
}

func (b *noticeBoard) CloseNotification(id uint32) *dbus.Error {
	b.mu.Lock()
	delete(b.open, id)
	b.mu.Unlock()
	_ = session.Emit(notifyPath, notifications+".NotificationClosed", id, uint32(3))
	return nil
}

func (*noticeBoard) GetServerInformation() (name, vendor, version, spec string, _ *dbus.Error) {
	return "harness", "oxios", "1", "1.2", nil
}

func (b *noticeBoard) find(ok func(notice) bool) (notice, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, n := range b.open {
		if ok(n) {
			return n, true
		}
	}
	return notice{}, false
}

func (b *noticeBoard) clear() {
	b.mu.Lock()
	defer b.mu.Unlock()
	clear(b.open)
}

// reads is how long a person looks at a notice before they press a button: an
// approval of one that came just now counts for nothing.
const reads = time.Second

// press is the person's click on a button.
func (b *noticeBoard) press(t *testing.T, id uint32, key string) {
	t.Helper()
	b.mu.Lock()
	read := time.Until(b.open[id].at.Add(reads))
	b.mu.Unlock()
	time.Sleep(read)
	b.mu.Lock()
	delete(b.open, id)
	b.mu.Unlock()
	emit(t, session, "ActionInvoked", id, key)
	emit(t, session, "NotificationClosed", id, uint32(2))
}

func (b *noticeBoard) dismiss(t *testing.T, id uint32) {
	t.Helper()
	b.mu.Lock()
	delete(b.open, id)
	b.mu.Unlock()
	emit(t, session, "NotificationClosed", id, uint32(2))
}

func emit(t *testing.T, from *dbus.Conn, name string, body ...any) {
	t.Helper()
	if err := from.Emit(notifyPath, notifications+"."+name, body...); err != nil {
		t.Fatal(err)
	}
}

// script is what the model plays. The commands change something in the folder,
// so that they ask.
const script = `
# The window tests the model that the environment names.
[[scenario]]
name = "test: tool"
match = 'Call the tool (report_number) with the number (\d+)'
[[scenario.turn]]
[[scenario.turn.call]]
tool = "report_number"
args = '{"number": {{2}}}'
[[scenario.turn]]
text = "Reported."

[[scenario]]
name = "touch"
match = 'touch (\S+)'
[[scenario.turn]]
[[scenario.turn.call]]
tool = "exec"
args = '{"command": "touch {{1}}"}'
[[scenario.turn]]
text = "Over: {{result}}"

[[scenario]]
name = "app show"
any = ["app by show"]
[[scenario.turn]]
[[scenario.turn.call]]
tool = "apps__show"
args = '{"text": "hello"}'
[[scenario.turn]]
text = "Over: {{result}}"

[[scenario]]
name = "app hostile"
any = ["app by hostile"]
[[scenario.turn]]
[[scenario.turn.call]]
tool = "apps__hostile"
args = '{"text": "hello"}'
[[scenario.turn]]
text = "Over: {{result}}"

[[scenario]]
name = "app loop"
any = ["app by loop"]
[[scenario.turn]]
[[scenario.turn.call]]
tool = "apps__loop"
args = '{"text": "hello"}'
[[scenario.turn]]
text = "Over: {{result}}"

[[scenario]]
name = "hidden"
any = ["clean up"]
[[scenario.turn]]
[[scenario.turn.call]]
tool = "exec"
args = '{"command": "rm -f *.tmp"}'
[[scenario.turn]]
text = "Over."

[[scenario]]
name = "writes"
any = ["write a note"]
[[scenario.turn]]
[[scenario.turn.call]]
tool = "write"
args = '{"path": "note.txt", "content": "hello\n"}'
[[scenario.turn]]
text = "Written."

[[scenario]]
name = "fails"
any = ["break down"]
[[scenario.turn]]
status = 401
body = '{"error": {"message": "no such key"}}'

[[scenario]]
name = "never done"
any = ["think for long"]
[[scenario.turn]]
text = "I think about it. "
hang = true

[[scenario]]
name = "chat"
[[scenario.turn]]
text = "Hello."
`

// steady is an answer of 40 tokens a second, for half a minute.
var steady = `
[[scenario]]
name = "stream"
any = ["speak steadily"]
[[scenario.turn]]
chunk_ms = 25
text = """` + strings.Repeat(strings.Repeat("and so it goes on ", 8)+"\n\n", 60) + `"""
`

// program is a started oxios-desktop.
type program struct {
	t      testing.TB
	cmd    *exec.Cmd
	out    *output
	ended  chan struct{}
	err    error
	home   string
	folder string
	kernel *remote.Handle
	bus    string // its unique name on the session bus
	menu   dbus.BusObject
	item   dbus.BusObject
}

// output keeps what a process writes; it may be read meanwhile.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

func binary(t testing.TB, variable string) string {
	t.Helper()
	path := os.Getenv(variable)
	if path == "" {
		t.Fatalf("%s does not say which program to test; `make test` sets it", variable)
	}
	return path
}

// prepare makes a home, and the environment of a program on it.
func prepare(t testing.TB, config string) (home, folder string, env []string) {
	t.Helper()
	list, err := demo.Parse([]byte(steady + script))
	if err != nil {
		t.Fatal(err)
	}
	model := httptest.NewServer(demo.New(list...))
	t.Cleanup(model.Close)
	home, folder = filepath.Join(t.TempDir(), "home"), t.TempDir()
	t.Cleanup(func() { // what a WebView whose program is gone still writes would be in the way of removing the folder
		for end := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
			left := processesOf(home)
			if len(left) == 0 {
				return
			}
			for _, pid := range left { // a quick prompt that is seen stays
				_ = syscall.Kill(pid, syscall.SIGTERM)
			}
			if time.Now().After(end) {
				t.Errorf("the processes %v of %s do not end", left, home)
				return
			}
		}
	})
	if err := os.MkdirAll(home, 0o700); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("folder = %q\nkeyring = false\nlanguage = \"en\"\n%s", folder, config)
	if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	// What the WebView keeps, a draft say, is of this test alone.
	env = append(os.Environ(), "XDG_DATA_HOME="+filepath.Join(filepath.Dir(home), "data"), "XDG_STATE_HOME="+filepath.Join(filepath.Dir(home), "state"), "OXIOS_HOME="+home, "OXIOS_BASE_URL="+model.URL+"/v1", "OXIOS_API_KEY=test-key-0123456789", "OXIOS_MODEL=oxios-demo")
	return home, folder, env
}

// processesOf returns the processes that work on a home.
func processesOf(home string) []int {
	var out []int
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		env, _ := os.ReadFile(filepath.Join(dir, "environ"))
		if bytes.Contains(env, []byte("OXIOS_HOME="+home+"\x00")) {
			pid, _ := strconv.Atoi(filepath.Base(dir))
			out = append(out, pid)
		}
	}
	return out
}

// open starts the program on a fresh home and waits for its window, its tray
// icon and its socket.
func open(t testing.TB, config string) *program {
	t.Helper()
	home, folder, env := prepare(t, config)
	p := launch(t, home, env)
	p.folder = folder
	return p
}

func launch(t testing.TB, home string, env []string, args ...string) *program {
	t.Helper()
	p := begin(t, home, env, args...)
	p.findTray()
	p.dial()
	p.until("its window is on the screen", p.visible)
	return p
}

// begin starts the program and waits for nothing.
func begin(t testing.TB, home string, env []string, args ...string) *program {
	t.Helper()
	for len(trayIcon) > 0 { // of an earlier program
		<-trayIcon
	}
	notices.clear()
	p := &program{t: t, home: home, out: &output{}, ended: make(chan struct{})}
	p.cmd = exec.Command(binary(t, "OXIOS_DESKTOP_BIN"), args...)
	p.cmd.Env, p.cmd.Stdout, p.cmd.Stderr = env, p.out, p.out
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.ended)
	}()
	t.Cleanup(func() {
		select {
		case <-p.ended:
		default:
			_ = p.cmd.Process.Kill()
			<-p.ended
		}
		if t.Failed() {
			t.Logf("the program wrote:\n%s", p.out)
		}
	})
	return p
}

func (p *program) findTray() {
	p.t.Helper()
	var id string
	select {
	case id = <-trayIcon:
	case <-p.ended:
		p.t.Fatalf("it ended at once: %v", p.err)
	case <-time.After(20 * time.Second):
		p.t.Fatal("no tray icon within 20 s")
	}
	i := strings.Index(id, "/")
	p.bus = id[:i]
	p.item = session.Object(p.bus, dbus.ObjectPath(id[i:]))
	menu, err := p.item.GetProperty("org.kde.StatusNotifierItem.Menu")
	if err != nil {
		p.t.Fatal(err)
	}
	p.menu = session.Object(p.bus, menu.Value().(dbus.ObjectPath))
}

// dial connects as the command line does.
func (p *program) dial() {
	p.t.Helper()
	var c *remote.Client
	p.until("its socket answers", func() (ok bool) {
		var err error
		c, err = remote.Dial(p.t.Context(), p.home)
		return err == nil
	})
	p.t.Cleanup(func() { _ = c.Close() })
	p.kernel = c.Handle()
}

// until waits until ok, at most 20 seconds; what says what for.
func (p *program) until(what string, ok func() bool) {
	p.t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if ok() {
			return
		}
	}
	p.t.Fatalf("not within 20 s: %s", what)
}

func (p *program) windows(onlyVisible bool) []string {
	args := []string{"search", "--all", "--pid", strconv.Itoa(p.cmd.Process.Pid), "--name", "^Oxios$"}
	if onlyVisible {
		args = append([]string{"search", "--onlyvisible"}, args[1:]...)
	}
	return find(args...)
}

// find asks again when a window ended while the others were being looked at,
// which ends xdotool too.
func find(args ...string) []string {
	for {
		var said bytes.Buffer
		cmd := exec.Command("xdotool", args...)
		cmd.Stderr = &said
		out, err := cmd.Output()
		if err == nil || !strings.Contains(said.String(), "X Error") {
			return strings.Fields(string(out))
		}
	}
}

func (p *program) visible() bool { return len(p.windows(true)) > 0 }

// closeWindow presses the window's close button.
func (p *program) closeWindow() {
	p.t.Helper()
	for _, w := range p.windows(true) {
		if out, err := exec.Command("wmctrl", "-i", "-c", w).CombinedOutput(); err != nil {
			p.t.Fatalf("close the window: %v %s", err, out)
		}
	}
}

type menuItem struct {
	ID       int32
	Props    map[string]dbus.Variant
	Children []dbus.Variant
}

func (m menuItem) label() string {
	s, _ := m.Props["label"].Value().(string)
	return s
}

func (m menuItem) enabled() bool {
	on, ok := m.Props["enabled"].Value().(bool)
	return !ok || on
}

// menuItems returns the tray's menu, without separators.
func (p *program) menuItems() []menuItem {
	var revision uint32
	var root menuItem
	if err := p.menu.Call("com.canonical.dbusmenu.GetLayout", 0, int32(0), int32(-1), []string{}).Store(&revision, &root); err != nil {
		return nil
	}
	var list []menuItem
	for _, c := range root.Children {
		var i menuItem
		if err := dbus.Store([]any{c.Value()}, &i); err == nil && i.label() != "" {
			list = append(list, i)
		}
	}
	return list
}

func (p *program) has(label string) bool {
	for _, i := range p.menuItems() {
		if i.label() == label {
			return true
		}
	}
	return false
}

// click waits for a menu item and clicks it.
func (p *program) click(label string) {
	p.t.Helper()
	var found menuItem
	p.until(fmt.Sprintf("the menu has %q", label), func() bool {
		for _, i := range p.menuItems() {
			if i.label() == label && i.enabled() {
				found = i
				return true
			}
		}
		return false
	})
	err := p.menu.Call("com.canonical.dbusmenu.Event", 0, found.ID, "clicked", dbus.MakeVariant(int32(0)), uint32(0)).Err
	if err != nil {
		p.t.Fatalf("click %q: %v", label, err)
	}
}

// hide closes the window into the tray.
func (p *program) hide() {
	p.t.Helper()
	p.closeWindow()
	p.until("the window is hidden", func() bool { return !p.visible() })
}

// say submits a message.
func (p *program) say(text string) kernel.Submitted {
	p.t.Helper()
	out, err := p.kernel.Agents.Submit(p.t.Context(), kernel.Submit{Text: text, Via: "window"})
	if err != nil {
		p.t.Fatal(err)
	}
	return out
}

// asked waits for the approval of a run.
func (p *program) asked(run string) kernel.Approval {
	p.t.Helper()
	var found kernel.Approval
	p.until("the run asks", func() bool {
		list, err := p.kernel.Security.Approvals(p.t.Context(), kernel.ApprovalQuery{State: "pending", RunID: run})
		if err == nil && len(list) > 0 {
			found = list[0]
		}
		return found.ID != ""
	})
	return found
}

func (p *program) state(id string) string {
	p.t.Helper()
	a, err := p.kernel.Security.Approval(p.t.Context(), id)
	if err != nil {
		p.t.Fatal(err)
	}
	return a.State
}

// noticeWith waits for a notification whose text holds part.
func (p *program) noticeWith(part string) notice {
	p.t.Helper()
	var found notice
	p.until(fmt.Sprintf("a notification says %q", part), func() (ok bool) {
		found, ok = notices.find(func(n notice) bool { return strings.Contains(n.summary+"\n"+n.body, part) })
		return ok
	})
	return found
}

func (p *program) exists(file string) bool {
	_, err := os.Stat(filepath.Join(p.folder, file))
	return err == nil
}

// wait waits for the end and returns the exit code.
func (p *program) wait() int {
	p.t.Helper()
	select {
	case <-p.ended:
		return p.cmd.ProcessState.ExitCode()
	case <-time.After(20 * time.Second):
		_ = p.cmd.Process.Signal(syscall.SIGQUIT)
		p.t.Fatal("it did not end within 20 s")
		return -1
	}
}

// children returns the processes that descend from the program, or, after its
// end, those that still carry its home.
func (p *program) children() []string {
	var list []string
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		env, err := os.ReadFile(filepath.Join(dir, "environ"))
		if err != nil || !bytes.Contains(env, []byte("OXIOS_HOME="+p.home)) {
			continue
		}
		name, _ := os.ReadFile(filepath.Join(dir, "comm"))
		if pid := filepath.Base(dir); pid != strconv.Itoa(p.cmd.Process.Pid) {
			list = append(list, pid+" "+strings.TrimSpace(string(name)))
		}
	}
	return list
}

// gone checks that nothing of the program is left.
func (p *program) gone() {
	p.t.Helper()
	defer func() {
		for _, left := range p.children() {
			pid, _, _ := strings.Cut(left, " ")
			command, _ := os.ReadFile(filepath.Join("/proc", pid, "cmdline"))
			p.t.Logf("left: %s, %q", left, command)
		}
	}()
	p.until("every process of it has ended", func() bool { return len(p.children()) == 0 })
	if _, err := os.Stat(filepath.Join(p.home, "run", "oxios.sock")); err == nil {
		p.t.Error("the socket is still there")
	}
}

func short(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	t.Cleanup(cancel)
	return ctx
}
