package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"oxios/app/remote"
	"oxios/kernel"
	"oxios/kernel/kerneltest"
	"oxios/kernel/mcp/mcptest"
)

// TestMain builds the static binary once, if $OXIOS_BIN names none: some tests
// run it, and in all of them it runs the agents' commands.
// TestMain puts the binary into a folder of its own: what lies beside it (the
// window's program) is a test's to choose.
func TestMain(m *testing.M) {
	mcptest.Main()
	dir, err := os.MkdirTemp("", "oxios-cli-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := 1
	bin := filepath.Join(dir, "oxios")
	if err := binaryAt(bin); err != nil {
		fmt.Fprintln(os.Stderr, "oxios for the tests:", err)
	} else if err := os.Setenv("OXIOS_BIN", bin); err == nil {
		code = run(m)
	}
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

func binaryAt(path string) error {
	if built := os.Getenv("OXIOS_BIN"); built != "" {
		data, err := os.ReadFile(built)
		if err != nil {
			return err
		}
		return os.WriteFile(path, data, 0o755)
	}
	cmd := exec.Command("go", "build", "-o", path, "oxios")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	return cmd.Run()
}

func run(m *testing.M) int {
	code := m.Run()
	if code != 0 {
		return code
	}
	if err := goleak.Find(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// desk is a home, the scripted model, and a person who types commands.
type desk struct {
	*kerneltest.Kernel
	t    *testing.T
	deps Deps
	env  map[string]string
	dir  string // where the person is
}

// setup makes a home that nobody owns.
func setup(t *testing.T, options ...kerneltest.Option) *desk {
	t.Helper()
	k := kerneltest.Open(t, options...)
	k.Stop()
	d := &desk{Kernel: k, t: t, dir: k.Folder, env: map[string]string{"OXIOS_HOME": k.Home, "LANG": "C.UTF-8"}}
	d.deps = Deps{Version: "1.2.3-test", Open: func(ctx context.Context, home, owner string, log *slog.Logger) (*kernel.Kernel, error) {
		o := k.Options()
		o.Home, o.Owner, o.Log = home, owner, log
		return kernel.Open(ctx, o)
	}}
	return d
}

// own starts an owner of the home, as a window would be, until the returned
// function or the test's end.
func (d *desk) own() (stop func()) {
	d.t.Helper()
	k, err := d.deps.Open(context.Background(), d.Home, "desktop", slog.New(slog.DiscardHandler))
	if err != nil {
		d.t.Fatal(err)
	}
	ln, err := remote.Listen(d.Home)
	if err != nil {
		d.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var work sync.WaitGroup
	work.Go(func() {
		if err := remote.Host(ctx, k, ln, slog.New(slog.DiscardHandler)); err != nil {
			d.t.Errorf("host: %v", err)
		}
	})
	work.Go(func() {
		if err := k.Run(ctx); err != nil {
			d.t.Errorf("run: %v", err)
		}
	})
	stop = sync.OnceFunc(func() {
		cancel()
		work.Wait()
		if err := k.Close(); err != nil {
			d.t.Errorf("close: %v", err)
		}
	})
	d.t.Cleanup(stop)
	return stop
}

// result is what a command did.
type result struct {
	code     int
	out, err string
}

// typing is how a command is called.
type typing struct {
	ctx      context.Context
	stdin    io.Reader
	terminal bool // the person sits at it
	out, err io.Writer
	after    func(time.Duration) <-chan time.Time // default: at once
}

func (d *desk) do(args ...string) result {
	d.t.Helper()
	return d.with(typing{}, args...)
}

func (d *desk) with(how typing, args ...string) result {
	d.t.Helper()
	var out, errs buffer
	if how.ctx == nil {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		how.ctx = ctx
	}
	if how.stdin == nil {
		how.stdin = strings.NewReader("")
	}
	s := streams{
		in: how.stdin, out: tee(&out, how.out), err: tee(&errs, how.err),
		getenv: func(name string) string { return d.env[name] }, getwd: func() (string, error) { return d.dir, nil },
		terminal: func(any) bool { return how.terminal },
		after:    how.after,
	}
	if s.after == nil { // who reads fast
		s.after = func(time.Duration) <-chan time.Time { return time.After(0) }
	}
	code := execute(how.ctx, args, d.deps, s)
	return result{code, out.String(), errs.String()}
}

func tee(a io.Writer, b io.Writer) io.Writer {
	if b == nil {
		return a
	}
	return io.MultiWriter(a, b)
}

// must fails the test unless the command ended with code.
func (d *desk) must(code int, args ...string) result {
	d.t.Helper()
	r := d.do(args...)
	r.check(d.t, code, args...)
	return r
}

func (r result) check(t *testing.T, code int, args ...string) {
	t.Helper()
	if r.code != code {
		t.Fatalf("oxios %s: got exit code %d, want %d\nstdout: %s\nstderr: %s", strings.Join(args, " "), r.code, code, r.out, r.err)
	}
}

// decode reads the one document of a --json command.
func decode[T any](t *testing.T, out string) T {
	t.Helper()
	var v T
	if strings.Count(out, "\n") != 1 || !strings.HasSuffix(out, "\n") {
		t.Errorf("got %q, want one line", out)
	}
	if err := json.Unmarshal([]byte(out), &v); err != nil {
		t.Fatalf("got %q: %v", out, err)
	}
	return v
}

// buffer may be written and read at once.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// until waits until ok, at most 20 seconds.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatalf("not within 20 s: %s", what)
}

func contains(t *testing.T, what, got string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(got, want) {
			t.Errorf("%s: got %q, want %q in it", what, got, want)
		}
	}
}
