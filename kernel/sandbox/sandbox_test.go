package sandbox

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"oxios/kernel/sys"
)

// helperEnv names the helper for tests that are run by another test.
const helperEnv = "OXIOS_TEST_HELPER"

// helper is the static binary that the tests run commands with. The test
// binary itself is never the helper.
var helper string

func TestMain(m *testing.M) {
	if helper = os.Getenv(helperEnv); helper != "" { // the tests again, as another user
		goleak.VerifyTestMain(m)
		return
	}
	dir, err := os.MkdirTemp("", "oxios-helper-")
	if err == nil {
		err = os.Chmod(dir, 0o755) //nolint:gosec // another user starts it too
	}
	if err == nil {
		helper = filepath.Join(dir, "oxios")
		build := exec.Command("go", "build", "-o", helper, "./testdata/helper")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		var out []byte
		if out, err = build.CombinedOutput(); err != nil {
			err = fmt.Errorf("%w\n%s", err, out)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "build the helper:", err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		os.RemoveAll(dir)
		os.Exit(code)
	}))
}

// setup returns a probed runner and an empty folder to work in.
func setup(t *testing.T, cfg Config) (*Runner, string) {
	t.Helper()
	if cfg.Helper == "" && runtime.GOOS == "linux" {
		cfg.Helper = helper
	}
	r := New(cfg)
	t.Cleanup(r.Close)
	r.Probe(t.Context())
	return r, canonical(t.TempDir())
}

// bash runs a line at the strongest level.
func bash(t *testing.T, r *Runner, spec Spec, line string) Result {
	t.Helper()
	spec.Argv = []string{"bash", "-c", line}
	spec.Level = r.Level()
	res, err := r.Run(t.Context(), spec)
	if err != nil {
		t.Fatalf("run %q: %v", line, err)
	}
	return res
}

func TestScrubbedEnvironmentHasNoSecretsAndAsksNothing(t *testing.T) {
	t.Parallel()
	got := ScrubEnv([]string{
		"PATH=/bin", "HOME=/h", "LC_ALL=ko_KR.UTF-8", "TERM=xterm", "OPENAI_API_KEY=k", "SSH_AUTH_SOCK=/s", "DBUS_SESSION_BUS_ADDRESS=unix:x",
		"LD_PRELOAD=/x.so", "CI=1", "PAGER=less", "GIT_ASKPASS=/x", "path=/evil", "https_proxy=http://u:p@proxy:1", "HTTP_PROXY=http://proxy:1", "broken",
	})
	for _, want := range []string{
		"PATH=/bin", "HOME=/h", "LC_ALL=ko_KR.UTF-8", "TERM=dumb", "PAGER=cat", "GIT_PAGER=cat", "GIT_TERMINAL_PROMPT=0",
		"GIT_ASKPASS=", "SSH_ASKPASS=", "DEBIAN_FRONTEND=noninteractive", "PYTHONUNBUFFERED=1", "NO_COLOR=1", "HTTP_PROXY=http://proxy:1",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("got no %q in %q", want, got)
		}
	}
	for _, kv := range got {
		name, _, _ := strings.Cut(kv, "=")
		if slices.Contains([]string{"OPENAI_API_KEY", "SSH_AUTH_SOCK", "DBUS_SESSION_BUS_ADDRESS", "LD_PRELOAD", "CI", "path", "https_proxy"}, name) {
			t.Errorf("got %q kept, want it dropped", kv)
		}
	}
}

func TestLoginShellTellsItsEnvironmentThroughNoise(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no login shells on Windows")
	}
	home := t.TempDir()
	write(t, filepath.Join(home, ".bash_profile"), "echo welcome; echo PATH=/wrong; export PATH=/from/profile:$PATH; export TWO_LINES=$'a\\nb'; read -p 'name? ' x\n")
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", home)
	t.Setenv("SHELL", bash)
	env, err := LoginEnv(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := envValue(env, "PATH"); !strings.HasPrefix(got, "/from/profile:") {
		t.Errorf("got PATH %q, want the profile's folder first", got)
	}
	if got := envValue(env, "TWO_LINES"); got != "a\nb" {
		t.Errorf("got TWO_LINES %q, want two lines", got)
	}
}

func TestLoginShellStartsInTheHomeAndRunsNothingOfTheFolder(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil || runtime.GOOS == "windows" {
		t.Skip("there is no bash here")
	}
	home, work := t.TempDir(), t.TempDir()
	write(t, filepath.Join(home, ".bash_profile"), "export PATH=./bin:$PATH; dircolors >/dev/null 2>&1; export AT=$PWD\n")
	if err := os.Mkdir(filepath.Join(work, "bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(work, "bin", "dircolors"), "#!/bin/sh\ntouch \""+filepath.Join(work, "ran")+"\"\n")
	if err := os.Chmod(filepath.Join(work, "bin", "dircolors"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Chdir(work)
	t.Setenv("HOME", home)
	t.Setenv("SHELL", bash)
	env, err := LoginEnv(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := envValue(env, "AT"); got != home {
		t.Errorf("the login shell started in %q, want %q", got, home)
	}
	if _, err := os.Stat(filepath.Join(work, "ran")); err == nil {
		t.Error("the login shell ran a program of the folder")
	}
}

func TestHangingLoginShellFallsBackToOwnEnvironment(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no login shells on Windows")
	}
	shell := filepath.Join(t.TempDir(), "shell")
	write(t, shell, "#!/bin/sh\nsleep 60 & sleep 60\n")
	if err := os.Chmod(shell, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SHELL", shell)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	env, err := LoginEnv(ctx)
	if err == nil || sys.CodeOf(err) != sys.CodeUnavailable {
		t.Errorf("got error %v, want code unavailable", err)
	}
	if envValue(env, "PATH") != os.Getenv("PATH") {
		t.Error("the own environment did not come back")
	}
}

func TestOutputKeepsBothEndsAndTellsTheGap(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 1, 9, 10, 11, 25, 1000} {
		e := newEnds(10)
		var all []byte
		for i := range size {
			all = append(all, byte('a'+i%26))
			e.write(all[i:])
		}
		got := e.bytes()
		if size <= 10 {
			if !bytes.Equal(got, all) || e.dropped() != 0 {
				t.Errorf("size %d: got %q with %d dropped, want it whole", size, got, e.dropped())
			}
			continue
		}
		want := fmt.Sprintf("%s\n[%d bytes left out]\n%s", all[:5], size-10, all[size-5:])
		if string(got) != want || e.dropped() != int64(size-10) {
			t.Errorf("size %d: got %q with %d dropped, want %q", size, got, e.dropped(), want)
		}
	}
}

func TestRingReadsOnFromAnOffset(t *testing.T) {
	t.Parallel()
	r := &ring{max: 4}
	r.write([]byte("abc"))
	data, next, dropped := r.read(0)
	if string(data) != "abc" || next != 3 || dropped != 0 {
		t.Errorf("got %q, %d, %d", data, next, dropped)
	}
	r.write([]byte("defghijkl"))
	data, next, dropped = r.read(next)
	if string(data) != "ijkl" || next != 12 || dropped != 5 {
		t.Errorf("got %q, %d, %d, want ijkl, 12, 5", data, next, dropped)
	}
	if data, next, dropped = r.read(99); len(data) != 0 || next != 12 || dropped != 0 {
		t.Errorf("past the end: got %q, %d, %d", data, next, dropped)
	}
}

func TestPasswordRequestsAreSeen(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"[sudo] password for kim: ": true,
		"sudo: a terminal is required to read the password; either use the -S option": true,
		"fatal: could not read Username for 'https://x': terminal prompts disabled":   true,
		"Enter passphrase for key '/h/.ssh/id': ":                                     true,
		"user@host's password: ":                  true,
		"Password:":                               true,
		"kim의 암호: ":                               true,
		"Password: hunter2\nnext line\n":          false,
		"def set_password(password):\n    pass\n": false,
		"all tests passed\n":                      false,
	} {
		var whole, split passwordWatch
		whole.write([]byte(text))
		for i := range len(text) {
			split.write([]byte(text[i : i+1]))
		}
		if whole.seen != want || want && !split.seen {
			t.Errorf("%q: got %v whole and %v split, want %v", text, whole.seen, split.seen, want)
		}
	}
}

func TestWithoutHelperTheLevelIsNoneAndCommandsRun(t *testing.T) {
	t.Parallel()
	r := New(Config{})
	t.Cleanup(r.Close)
	if rep := r.Probe(t.Context()); rep.Level != sys.IsolationNone || rep.Problem == "" {
		t.Errorf("got level %d, problem %q, want 0 and a reason", rep.Level, rep.Problem)
	}
	res := bash(t, r, Spec{Dir: t.TempDir()}, "echo out; echo err >&2; exit 3")
	if res.ExitCode != 3 || string(res.Stdout) != "out\n" || string(res.Stderr) != "err\n" || res.Level != sys.IsolationNone {
		t.Errorf("got %+v", res)
	}
	start := time.Now()
	res, err := r.Run(t.Context(), Spec{Argv: []string{"bash", "-c", "sleep 60 & sleep 60"}, Dir: t.TempDir(), Timeout: 50 * time.Millisecond})
	if err != nil || !res.TimedOut || time.Since(start) > 5*time.Second {
		t.Errorf("got %+v, %v after %v, want a timeout", res, err, time.Since(start))
	}
}

func TestBadSpecsAreRefusedWithAReason(t *testing.T) {
	t.Parallel()
	r, dir := setup(t, Config{})
	file := filepath.Join(dir, "file")
	write(t, file, "x")
	home := filepath.Join(dir, "home")
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	argv := []string{"bash", "-c", "true"}
	for name, c := range map[string]struct {
		spec Spec
		want sys.Code
	}{
		"no command":      {Spec{Dir: dir}, sys.CodeInvalid},
		"relative folder": {Spec{Argv: argv, Dir: "x"}, sys.CodeInvalid},
		"missing folder":  {Spec{Argv: argv, Dir: filepath.Join(dir, "gone")}, sys.CodeNotFound},
		"file as folder":  {Spec{Argv: argv, Dir: file}, sys.CodeInvalid},
		"unknown program": {Spec{Argv: []string{"no-such-program"}, Dir: dir}, sys.CodeNotFound},
		"missing program": {Spec{Argv: []string{"/no/such/program"}, Dir: dir}, sys.CodeNotFound},
		"hidden folder":   {Spec{Argv: argv, Dir: home, Hidden: []string{home}}, sys.CodeRefused},
		"hidden grant":    {Spec{Argv: argv, Dir: dir, Writable: []string{home}, Hidden: []string{home}}, sys.CodeRefused},
		"relative grant":  {Spec{Argv: argv, Dir: dir, Readable: []string{"x"}}, sys.CodeInvalid},
		"not executable":  {Spec{Argv: []string{file}, Dir: dir}, sys.CodeNotFound},
	} {
		_, err := r.Run(t.Context(), c.spec)
		if err == nil || sys.CodeOf(err) != c.want {
			t.Errorf("%s: got %v (%s), want code %s", name, err, sys.CodeOf(err), c.want)
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
