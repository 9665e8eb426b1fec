package cli

import (
	"bufio"
	"context"
	"errors"
	"io"
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

	"github.com/rogpeppe/go-internal/testscript"

	"oxios/kernel"
	"oxios/kernel/demo"
)

// The tests in this file run the real, static binary: $OXIOS_BIN, which
// TestMain builds if nobody did.

// machine is a home of the real binary, with the scripted model.
type machine struct {
	t            *testing.T
	bin          string
	home, folder string
	env          []string
}

func newMachine(t *testing.T, script ...string) *machine {
	t.Helper()
	scenarios := demo.Bundled()
	if len(script) > 0 {
		var err error
		if scenarios, err = demo.Parse([]byte(script[0])); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	m := &machine{t: t, bin: os.Getenv("OXIOS_BIN"), home: filepath.Join(dir, "oxios"), folder: filepath.Join(dir, "work")}
	person := filepath.Join(dir, "person")
	for _, d := range []string{m.folder, m.home, person} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(m.home, "config.toml"), []byte("keyring = false\nnotifications = false\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(demo.New(scenarios...))
	t.Cleanup(server.Close)
	m.env = []string{
		"HOME=" + person, "PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", "OXIOS_HOME=" + m.home,
		"OXIOS_BASE_URL=" + server.URL + "/v1", "OXIOS_MODEL=" + demo.ModelID, "OXIOS_API_KEY=test-key-0123456789",
	}
	return m
}

func (m *machine) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, m.bin, args...)
	cmd.Dir, cmd.Env = m.folder, m.env
	return cmd
}

// do runs a command to its end.
func (m *machine) do(args ...string) result {
	m.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	cmd := m.command(ctx, args...)
	var out, errs buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		m.t.Fatalf("oxios %s: %v", strings.Join(args, " "), err)
	}
	return result{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

// holds checks the chain of a home in which a process was killed: what it had not
// signed by then is named for good.
func holds(t *testing.T, m *machine) {
	t.Helper()
	if out := m.must(0, "audit", "verify").out; !strings.Contains(out, "intact") && !strings.Contains(out, "were found unsigned") {
		t.Errorf("the chain: got %q", out)
	}
}

func (m *machine) must(code int, args ...string) result {
	m.t.Helper()
	r := m.do(args...)
	r.check(m.t, code, args...)
	return r
}

// serve starts `oxios serve` and waits until it is ready. Ending it with SIGTERM
// must give exit code 0.
func (m *machine) serve() (stop func(), kill func()) {
	m.t.Helper()
	cmd := m.command(context.Background(), "serve")
	out, err := cmd.StdoutPipe()
	if err != nil {
		m.t.Fatal(err)
	}
	var errs buffer
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		m.t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "Oxios is ready: http://127.0.0.1:") {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		m.t.Fatalf("serve: got %q (%v)\n%s", line, err, errs.String())
	}
	var once sync.Once
	end := func(s syscall.Signal, check bool) func() {
		return func() {
			once.Do(func() {
				if err := cmd.Process.Signal(s); err != nil {
					m.t.Errorf("signal serve: %v", err)
				}
				_, _ = io.Copy(io.Discard, out)
				if err := cmd.Wait(); check && err != nil {
					m.t.Errorf("serve did not end cleanly: %v\n%s", err, errs.String())
				}
			})
		}
	}
	stop, kill = end(syscall.SIGTERM, true), end(syscall.SIGKILL, false)
	m.t.Cleanup(stop)
	return stop, kill
}

func (m *machine) waiting() []kernel.Approval {
	m.t.Helper()
	return decode[[]kernel.Approval](m.t, m.must(0, "approvals", "list", "--json").out)
}

func TestScripts(t *testing.T) {
	t.Parallel()
	bin := os.Getenv("OXIOS_BIN")
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			server := httptest.NewServer(demo.New(demo.Bundled()...))
			e.Defer(server.Close)
			home := filepath.Join(e.WorkDir, ".oxios")
			person := filepath.Join(e.WorkDir, ".person")
			work := filepath.Join(e.WorkDir, "work")
			for _, d := range []string{home, person, work} {
				if err := os.MkdirAll(d, 0o700); err != nil {
					return err
				}
			}
			e.Cd = work
			for name, value := range map[string]string{
				"HOME": person, "OXIOS_HOME": home, "LANG": "C.UTF-8", "LC_ALL": "", "DISPLAY": "", "WAYLAND_DISPLAY": "", "DBUS_SESSION_BUS_ADDRESS": "",
				"OXIOS_BASE_URL": server.URL + "/v1", "OXIOS_MODEL": demo.ModelID, "OXIOS_API_KEY": "test-key-0123456789",
				"PATH": filepath.Dir(bin) + string(os.PathListSeparator) + os.Getenv("PATH"), "OXIOS": bin,
			} {
				e.Setenv(name, value)
			}
			return os.WriteFile(filepath.Join(home, "config.toml"), []byte("keyring = false\n"), 0o600)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			// exits CODE ARGS…: oxios ARGS ends with exactly this code.
			"exits": func(ts *testscript.TestScript, neg bool, args []string) {
				want, err := strconv.Atoi(args[0])
				ts.Check(err)
				err = ts.Exec(bin, args[1:]...)
				got := 0
				var exit *exec.ExitError
				if errors.As(err, &exit) {
					got = exit.ExitCode()
				}
				if neg || got != want {
					ts.Fatalf("oxios %s: got exit code %d, want %d (%v)", strings.Join(args[1:], " "), got, want, err)
				}
			},
		},
	})
}

func TestRealRunWritesAsksAndRefuses(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	contains(t, "write", m.must(0, "run", writes).out, "is written")
	if _, err := os.Stat(filepath.Join(m.folder, "hello.txt")); err != nil {
		t.Error(err)
	}
	r := m.must(exitWaiting, "run", "Push my changes")
	contains(t, "push", r.err, "git push", "oxios approvals approve")
	if list := m.waiting(); len(list) != 1 || list[0].Request.Command != "git push" {
		t.Errorf("got %+v, want the push to wait", list)
	}
	contains(t, "sudo", m.must(0, "run", "Use sudo to list root").out, "refused")
	if n := len(m.waiting()); n != 1 {
		t.Errorf("sudo: got %d requests, want that it cannot be approved", n)
	}
	contains(t, "the chain", m.must(0, "audit", "verify").out, "intact")
}

func TestRealApprovalIsTakenUpByServe(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	got := decode[kernel.RunResult](t, m.must(exitWaiting, "run", "--json", "Push my changes").out)
	m.must(0, "approvals", "approve", tail(got.Waiting[0]))
	stop, _ := m.serve()
	until(t, "the run is done", func() bool {
		return strings.Contains(m.must(0, "ps", "--all").out, "done")
	})
	// There is no repository to push from: git itself must have said so.
	contains(t, "the conversation", m.must(0, "sessions", "show", got.SessionID).out, "You approved it")
	contains(t, "the chain", m.must(0, "audit", "verify").out, "intact")
	stop()

	got = decode[kernel.RunResult](t, m.must(exitWaiting, "run", "--json", "Push my changes").out)
	m.serve()
	m.must(0, "approvals", "deny", got.Waiting[0], "--comment", "not on a Friday")
	until(t, "the agent has read the comment", func() bool {
		return strings.Contains(m.must(0, "sessions", "show", got.SessionID, "--json").out, "not on a Friday") &&
			strings.Contains(m.must(0, "sessions", "show", got.SessionID).out, "You said no")
	})
}

func TestRealKillInTheMiddleLosesNothing(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	done := decode[kernel.RunResult](t, m.must(0, "run", "--json", writes).out)
	_, kill := m.serve()
	waits := make(chan result, 1)
	go func() { waits <- m.do("run", "--json", "Push my changes") }()
	until(t, "the push waits", func() bool { return len(m.waiting()) == 1 })
	before := m.waiting()[0]
	kill()
	if r := <-waits; r.code != exitWaiting || !strings.Contains(r.err, "oxios approvals approve") {
		t.Errorf("the command whose owner was killed: got %+v, want that it says what waits", r)
	}
	after := m.waiting()
	if len(after) != 1 || after[0].ID != before.ID || after[0].Request.Hash != before.Request.Hash {
		t.Fatalf("got %+v after the kill, want the request that waited", after)
	}
	contains(t, "the old conversation", m.must(0, "sessions", "show", done.SessionID).out, writes, "is written")
	contains(t, "the new one", m.must(0, "sessions", "show", before.Request.SessionID).out, "Push my changes", "? ")
	m.serve()
	if again := m.waiting(); len(again) != 1 || again[0].ID != before.ID {
		t.Errorf("got %+v after the start, want the same request", again)
	}
	m.must(0, "approvals", "approve", before.ID)
	until(t, "the run goes on", func() bool {
		return strings.Contains(m.must(0, "sessions", "show", before.Request.SessionID).out, "You approved it")
	})
	holds(t, m)
}

func TestRealInterruptEndsWith130(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.serve()
	cmd := m.command(context.Background(), "run", "Push my changes")
	var errs buffer
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	until(t, "the push waits", func() bool { return strings.Contains(errs.String(), "oxios approvals approve") })
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != exitStopped {
		t.Errorf("got exit code %d, want %d\n%s", code, exitStopped, errs.String())
	}
	contains(t, "ps", m.must(0, "ps", "--all").out, "stopped")
	if n := len(m.waiting()); n != 0 {
		t.Errorf("got %d requests, want the stopped run's to be withdrawn", n)
	}
}

const approver = `
[[scenario]]
match = 'Approve (\S+) with (\S+) in (\S+)'
[[scenario.turn]]
[[scenario.turn.call]]
tool = "exec"
args = '{"command": "OXIOS_HOME={{3}} {{2}} approvals approve {{1}}"}'
[[scenario.turn]]
text = "It said: {{result}}"

[[scenario]]
[[scenario.turn]]
[[scenario.turn.call]]
tool = "exec"
args = '{"command": "git push"}'
[[scenario.turn]]
text = "Pushed."
`

// A command that watched a run of an owner which was killed says so and ends, whatever
// else was at work there: nobody works through it.
func TestTheEndOfTheOwnerEndsWhoWatches(t *testing.T) {
	t.Parallel()
	m := newMachine(t, `
[[scenario]]
any = ["Think for long"]
[[scenario.turn]]
hang = true
`)
	_, kill := m.serve()
	m.must(0, "run", "--background", "Think for long")
	watched := make(chan result, 1)
	go func() { watched <- m.do("run", "--json", "Think for long too") }()
	until(t, "both are at work", func() bool { return len(decode[[]kernel.Process](t, m.must(0, "ps", "--json").out)) == 2 })
	kill()
	r := <-watched
	r.check(t, exitFailed, "run")
	contains(t, "the result", r.out, "has stopped", "is kept")
	if strings.Contains(r.err, "Another command") {
		t.Errorf("got %q, want that it waits for nobody", r.err)
	}
	holds(t, m)
}

// inside puts the program into the folder of the agent: one that it finds outside
// would be a reason by itself to refuse what it does with it.
func (m *machine) inside() string {
	m.t.Helper()
	path := filepath.Join(m.folder, "oxios")
	data, err := os.ReadFile(m.bin)
	if err == nil {
		err = os.WriteFile(path, data, 0o755)
	}
	if err != nil {
		m.t.Fatal(err)
	}
	return path
}

// A command of an agent that reaches the socket is that agent, also when a
// person had let it run.
func TestRealAgentCannotApproveItsOwnRequest(t *testing.T) {
	t.Parallel()
	m := newMachine(t, approver)
	m.serve()
	m.must(exitWaiting, "run", "--no-wait", "push")
	push := m.waiting()[0]
	m.must(exitWaiting, "run", "--no-wait", "--trust", "Approve "+push.ID+" with "+m.inside()+" in "+m.home)
	for _, a := range m.waiting() {
		if a.ID != push.ID {
			m.must(0, "approvals", "approve", a.ID)
		}
	}
	until(t, "the approved command has run", func() bool {
		return strings.Contains(m.must(0, "sessions", "list", "--json").out, `"state":"done"`)
	})
	if left := m.waiting(); len(left) != 1 || left[0].ID != push.ID {
		t.Errorf("got %+v, want that the push still waits", left)
	}
}
