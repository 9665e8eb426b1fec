// Package kerneltest opens the real kernel in a folder of its own, with the
// scripted endpoint as its model: for tests that want to see a message go all
// the way.
package kerneltest

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"oxios/kernel"
	"oxios/kernel/agent"
	"oxios/kernel/demo"
	"oxios/kernel/sys"
	"oxios/kernel/tools"
)

// Model is the model that the scripted endpoint offers.
const Model = "oxios-demo"

// Kernel is a kernel under test.
type Kernel struct {
	*kernel.Kernel
	Home   string
	Folder string       // the folder that runs work in
	Demo   *demo.Server // the scripted endpoint
	URL    string       // its base URL

	t    testing.TB
	opts kernel.Options
	stop func()
}

// Option changes how a kernel is opened.
type Option func(*settings)

type settings struct {
	scenarios []demo.Scenario
	change    func(*kernel.Options)
	noRun     bool
	noHelper  bool
	home      string
	folder    string
	window    int
}

// Script plays the scenarios of a file instead of the bundled ones.
func Script(toml string) Option {
	return func(s *settings) {
		list, err := demo.Parse([]byte(toml))
		if err != nil {
			panic("kerneltest: " + err.Error())
		}
		s.scenarios = list
	}
}

// Scenarios plays these scenarios instead of the bundled ones.
func Scenarios(list ...demo.Scenario) Option {
	return func(s *settings) { s.scenarios = list }
}

// Window has the model hold so many tokens.
func Window(tokens int) Option { return func(s *settings) { s.window = tokens } }

// With changes the kernel's options before it is opened.
func With(change func(*kernel.Options)) Option {
	return func(s *settings) {
		before := s.change
		s.change = func(o *kernel.Options) {
			if before != nil {
				before(o)
			}
			change(o)
		}
	}
}

// NotRunning opens the kernel without Run: nothing is taken over.
func NotRunning() Option { return func(s *settings) { s.noRun = true } }

// Uncontained opens the kernel without the sandbox helper: isolation 0, and no
// command runs unasked.
func Uncontained() Option { return func(s *settings) { s.noHelper = true } }

// At uses this home and folder instead of fresh ones.
func At(home, folder string) Option {
	return func(s *settings) { s.home, s.folder = home, folder }
}

// Open opens a kernel that the test's end closes.
func Open(t testing.TB, options ...Option) *Kernel {
	t.Helper()
	s := settings{scenarios: demo.Bundled()}
	for _, o := range options {
		o(&s)
	}
	if s.home == "" {
		s.home, s.folder = filepath.Join(t.TempDir(), "home"), t.TempDir()
	}
	k := &Kernel{t: t, Home: s.home, Folder: s.folder, Demo: demo.New(s.scenarios...)}
	server := httptest.NewServer(k.Demo)
	t.Cleanup(server.Close)
	k.URL = server.URL + "/v1"
	k.opts = kernel.Options{
		Home: s.home, Version: "test", Tools: tools.New, Catalogue: tools.Catalogue(), NoDiscovery: true,
		Log:      slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn})),
		Sleep:    waking{},
		LoginEnv: func(context.Context) ([]string, error) { return os.Environ(), nil },
		Env: func(name string) string {
			return map[string]string{"OXIOS_BASE_URL": k.URL, "OXIOS_API_KEY": "test-key-0123456789", "OXIOS_MODEL": Model}[name]
		},
	}
	if !s.noHelper {
		k.opts.Helper = Helper(t)
	}
	if err := os.MkdirAll(s.home, 0o700); err != nil {
		t.Fatal(err)
	}
	shareReaderCache(t, s.home)
	config := filepath.Join(s.home, "config.toml")
	if _, err := os.Stat(config); err != nil {
		if err := os.WriteFile(config, fmt.Appendf(nil, "folder = %q\nkeyring = false\n", s.folder), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if s.window > 0 {
		if err := os.WriteFile(filepath.Join(s.home, "models.toml"), fmt.Appendf(nil, "[[model]]\nid = %q\ncontext = %d\n", Model, s.window), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if s.change != nil {
		s.change(&k.opts)
	}
	k.start(!s.noRun)
	t.Cleanup(k.Stop)
	return k
}

// waking is a computer that never sleeps: a test leaves the machine's alone.
type waking struct{}

func (waking) Hold(string) (func(), error) { return func() {}, nil }
func (waking) Check() error                { return nil }

func (k *Kernel) start(run bool) {
	k.t.Helper()
	opened, err := kernel.Open(context.Background(), k.opts)
	if err != nil {
		k.t.Fatalf("open kernel: %v", err)
	}
	k.Kernel = opened
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	if run {
		wg.Go(func() {
			if err := opened.Run(ctx); err != nil {
				k.t.Errorf("run kernel: %v", err)
			}
		})
		<-opened.Ready()
	}
	k.stop = sync.OnceFunc(func() {
		cancel()
		wg.Wait()
		if err := opened.Close(); err != nil {
			k.t.Errorf("close kernel: %v", err)
		}
	})
}

// Stop closes the kernel; runs that wait go on waiting in the journal.
func (k *Kernel) Stop() { k.stop() }

// Restart closes the kernel and opens the same home again.
func (k *Kernel) Restart() {
	k.t.Helper()
	k.Stop()
	k.start(true)
	k.t.Cleanup(k.Stop)
}

// Person returns the person's Handle.
func (k *Kernel) Person() *kernel.Handle { return k.As(sys.Person("test")) }

// Agent returns the Handle that an agent of this mode would have, working in
// the kernel's folder.
func (k *Kernel) Agent(mode string) *kernel.Handle {
	return k.AgentIn(k.Folder, mode)
}

// AgentIn is Agent in another folder.
func (k *Kernel) AgentIn(folder, mode string) *kernel.Handle {
	k.t.Helper()
	h, err := k.Adopt(folder, mode)
	if err != nil {
		k.t.Fatal(err)
	}
	return h
}

// Say submits a message and returns where it went.
func (k *Kernel) Say(text string, change ...func(*kernel.Submit)) kernel.Submitted {
	k.t.Helper()
	m := kernel.Submit{Text: text}
	for _, c := range change {
		c(&m)
	}
	out, err := k.Person().Agents.Submit(k.t.Context(), m)
	if err != nil {
		k.t.Fatalf("submit %q: %v", text, err)
	}
	return out
}

// Ask submits a message and waits for what comes of it.
func (k *Kernel) Ask(text string, change ...func(*kernel.Submit)) kernel.RunResult {
	k.t.Helper()
	return k.Wait(k.Say(text, change...).RunID)
}

// Wait waits for the end of a run.
func (k *Kernel) Wait(run string) kernel.RunResult {
	k.t.Helper()
	ctx, cancel := context.WithTimeout(k.t.Context(), 30*time.Second)
	defer cancel()
	r, err := k.Person().Agents.Wait(ctx, run)
	if err != nil {
		k.t.Fatalf("wait for run %s: %v", run, err)
	}
	return r
}

// Approval waits until a run asks, and returns its question.
func (k *Kernel) Approval(run string) kernel.Approval {
	k.t.Helper()
	var found kernel.Approval
	k.Until("run "+run+" asks", func() bool {
		list, err := k.Person().Security.Approvals(k.t.Context(), kernel.ApprovalQuery{State: "pending", RunID: run})
		if err != nil {
			k.t.Fatal(err)
		}
		if len(list) > 0 {
			found = list[0]
		}
		return len(list) > 0
	})
	return found
}

// Until waits until ok, at most 20 seconds; what says what for.
func (k *Kernel) Until(what string, ok func() bool) {
	k.t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if ok() {
			return
		}
	}
	k.t.Fatalf("not within 20 s: %s", what)
}

// Toolset returns the tools that an agent with h has.
func (k *Kernel) Toolset(h *kernel.Handle) agent.Toolset {
	k.t.Helper()
	set, err := tools.New(k.t.Context(), h, "")
	if err != nil {
		k.t.Fatal(err)
	}
	return set
}

// Many is how often a test tries what it tries anew each time: few, so that the
// tests end soon, or all where OXIOS_WHOLE is set.
func Many(all, few int) int {
	if os.Getenv("OXIOS_WHOLE") != "" {
		return all
	}
	return few
}

var helper struct {
	once sync.Once
	path string
	err  error
}

// Helper returns the static binary that runs commands: $OXIOS_BIN, else one
// that is built once for all tests of the process.
func Helper(t testing.TB) string {
	t.Helper()
	if bin := os.Getenv("OXIOS_BIN"); bin != "" {
		return bin
	}
	helper.once.Do(func() {
		_, here, _, _ := runtime.Caller(0)
		src := filepath.Join(filepath.Dir(here), "testdata", "helper")
		dir, err := os.MkdirTemp("", "oxios-helper-")
		if err != nil {
			helper.err = err
			return
		}
		helper.path = filepath.Join(dir, "oxios")
		cmd := exec.Command("go", "build", "-o", helper.path, ".")
		cmd.Dir, cmd.Env = src, append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			helper.err = fmt.Errorf("build the helper: %w\n%s", err, out)
		}
	})
	if helper.err != nil {
		t.Fatal(helper.err)
	}
	return helper.path
}

// readerCache is one for all homes of the process: what the reader of PDF keeps
// there takes seconds to make.
var readerCache = sync.OnceValues(func() (string, error) { return os.MkdirTemp("", "oxios-reader-") })

func shareReaderCache(t testing.TB, home string) {
	t.Helper()
	dir, err := readerCache()
	if err == nil {
		err = os.MkdirAll(filepath.Join(home, "run"), 0o700)
	}
	if err == nil {
		err = os.Symlink(dir, filepath.Join(home, "run", "reader"))
	}
	if err != nil && !os.IsExist(err) {
		t.Fatal(err)
	}
}

// Main runs the tests of a package, looks for goroutines that they left, and
// removes the helper after them.
func Main(m *testing.M) {
	code := m.Run()
	http.DefaultClient.CloseIdleConnections()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, "goroutines are left:", err)
		code = 1
	}
	if helper.path != "" {
		_ = os.RemoveAll(filepath.Dir(helper.path))
	}
	if dir, err := readerCache(); err == nil {
		_ = os.RemoveAll(dir)
	}
	os.Exit(code)
}

// Options returns the options that the kernel was opened with.
func (k *Kernel) Options() kernel.Options { return k.opts }
