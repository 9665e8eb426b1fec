package sandbox

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"oxios/kernel/sys"
)

// stubborn is a command whose processes leave the session, fork twice and
// ignore SIGTERM. It writes the ids of all to the file pids.
const stubborn = `
echo $$ >> pids
setsid bash -c 'trap "" TERM HUP INT; echo $$ >> pids; while :; do sleep 1; done' &
( ( setsid bash -c 'trap "" TERM; echo $$ >> pids; while :; do sleep 1; done' & ) & )
setsid setsid bash -c 'echo $$ >> pids; exec sleep 600' &
bash -c 'echo $$ >> pids; kill -STOP $$' &
trap "" TERM
while [ $(wc -l < pids) -lt 5 ]; do sleep 0.02; done
touch ready
while :; do sleep 1; done`

// eventually waits until ok holds.
func eventually(t *testing.T, limit time.Duration, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(limit)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("after %v: %s", limit, what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// pids reads the process ids that a command wrote.
func pids(t *testing.T, path string) []int {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out []int
	for _, f := range strings.Fields(string(data)) {
		n, err := strconv.Atoi(f)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, n)
	}
	return out
}

func alive(pid int) bool {
	st, err := readStat(pid)
	return err == nil && !st.zombie
}

// inFolder returns the processes that work in dir. What a command at level 3
// writes down are the ids behind its walls, which mean nothing out here.
func inFolder(dir string) []int {
	names, _ := readNames("/proc")
	var out []int
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if at, err := os.Readlink("/proc/" + name + "/cwd"); err == nil && at == dir && alive(pid) {
			out = append(out, pid)
		}
	}
	return out
}

func wantGone(t *testing.T, dir string) {
	t.Helper()
	if left := inFolder(dir); len(left) > 0 {
		t.Errorf("processes %v are left", left)
	}
}

func TestExitCodesAndSignalsAreKept(t *testing.T) {
	t.Parallel()
	r, dir := setup(t, Config{})
	for line, want := range map[string]struct {
		code   int
		signal string
	}{
		"true": {0, ""}, "exit 7": {7, ""}, "exit 255": {255, ""}, "kill -9 $$": {137, "SIGKILL"}, "kill -TERM $$": {143, "SIGTERM"}, "kill -SEGV $$": {139, "SIGSEGV"},
	} {
		res := bash(t, r, Spec{Dir: dir}, line)
		if res.ExitCode != want.code || res.Signal != want.signal || res.Killed || res.TimedOut {
			t.Errorf("%q: got %d %q, want %d %q", line, res.ExitCode, res.Signal, want.code, want.signal)
		}
	}
}

func TestCommandHasNoTerminalAndAnEmptyStdin(t *testing.T) {
	t.Parallel()
	r, dir := setup(t, Config{})
	res := bash(t, r, Spec{Dir: dir}, `read x; echo "read $?"; (: < /dev/tty) 2>/dev/null; echo "tty $?"; echo "$TERM $PAGER $GIT_TERMINAL_PROMPT"`)
	if string(res.Stdout) != "read 1\ntty 1\ndumb cat 0\n" {
		t.Errorf("got %q", res.Output)
	}
}

func TestCancelledTreeIsGoneWithin5Seconds(t *testing.T) {
	t.Parallel()
	for _, level := range []sys.Isolation{sys.IsolationFull, sys.IsolationPartial, sys.IsolationNone} {
		t.Run(fmt.Sprint("level", int(level)), func(t *testing.T) {
			t.Parallel()
			r, dir := setup(t, Config{})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var asked time.Time
			var wait sync.WaitGroup
			wait.Go(func() {
				defer cancel()
				eventually(t, 10*time.Second, "the tree does not stand", func() bool { return exists(filepath.Join(dir, "ready")) })
				asked = time.Now()
			})
			res, err := r.Run(ctx, Spec{Argv: []string{"bash", "-c", stubborn}, Dir: dir, Level: level})
			took := time.Since(asked)
			wait.Wait()
			if sys.CodeOf(err) != sys.CodeCanceled || !errors.Is(err, context.Canceled) || !res.Killed || res.Signal != "SIGKILL" {
				t.Errorf("got %+v, %v, want it stopped", res, err)
			}
			if took > 5*time.Second || took < termGrace {
				t.Errorf("it took %v, want 2 to 5 s", took)
			}
			if list := pids(t, filepath.Join(dir, "pids")); len(list) != 5 {
				t.Fatalf("got %d processes, want 5", len(list))
			}
			wantGone(t, dir)
		})
	}
}

func TestObedientCommandEndsAtOnceWhenCancelled(t *testing.T) {
	t.Parallel()
	r, dir := setup(t, Config{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	start := time.Now()
	res, err := r.Run(ctx, Spec{
		Argv: []string{"bash", "-c", `trap 'echo bye; exit 9' TERM; echo up; while :; do sleep 0.01; done`}, Dir: dir, Level: r.Level(),
		OnOutput: func(_ string, p []byte) {
			if strings.Contains(string(p), "up") {
				cancel()
			}
		},
	})
	if sys.CodeOf(err) != sys.CodeCanceled || res.ExitCode != 9 || string(res.Stdout) != "up\nbye\n" || time.Since(start) > termGrace {
		t.Errorf("got %+v, %v after %v", res, err, time.Since(start))
	}
}

func TestTimeoutEndsTheTreeAndIsNoError(t *testing.T) {
	t.Parallel()
	r, dir := setup(t, Config{})
	res, err := r.Run(t.Context(), Spec{Argv: []string{"bash", "-c", "echo before; sleep 60"}, Dir: dir, Level: r.Level(), Timeout: 100 * time.Millisecond})
	if err != nil || !res.TimedOut || res.Killed || string(res.Output) != "before\n" || res.Duration > 2*time.Second {
		t.Errorf("got %+v, %v", res, err)
	}
}

func TestLeftoversEndWithTheCommand(t *testing.T) {
	t.Parallel()
	r, dir := setup(t, Config{})
	res := bash(t, r, Spec{Dir: dir}, `setsid bash -c 'echo $$ >> pids; exec sleep 600' & while [ ! -s pids ]; do sleep 0.01; done; echo done`)
	if res.ExitCode != 0 || string(res.Output) != "done\n" || res.Duration > termGrace {
		t.Errorf("got %+v", res)
	}
	wantGone(t, dir)
}

func TestBackgroundJobIsListedLoggedAndKilled(t *testing.T) {
	t.Parallel()
	r, dir := setup(t, Config{})
	j, err := r.Start(t.Context(), Spec{Argv: []string{"bash", "-c", "for i in 1 2 3; do echo line $i; done; " + stubborn}, Dir: dir, Level: r.Level(), Tag: "run-1"})
	if err != nil {
		t.Fatal(err)
	}
	if j.ID != 1 || j.PID == 0 || j.Dir != dir || j.Tag != "run-1" || len(r.Jobs()) != 1 || r.Jobs()[0] != j {
		t.Errorf("got %+v in %v", j, r.Jobs())
	}
	eventually(t, 10*time.Second, "no output", func() bool { data, _, _ := j.Log(0); return strings.Count(string(data), "\n") == 3 })
	data, next, dropped := j.Log(7)
	if string(data) != "line 2\nline 3\n" || next != 21 || dropped != 0 {
		t.Errorf("got %q, %d, %d", data, next, dropped)
	}
	eventually(t, 10*time.Second, "the tree does not stand", func() bool { return exists(filepath.Join(dir, "ready")) })
	start := time.Now()
	j.Kill()
	j.Kill()
	<-j.Done()
	if res := j.Result(); !res.Killed || time.Since(start) > 5*time.Second {
		t.Errorf("got %+v after %v", res, time.Since(start))
	}
	wantGone(t, dir)
	if len(r.Jobs()) != 1 {
		t.Error("the ended job is no longer listed")
	}
}

func TestJobKeepsTheLastOutput(t *testing.T) {
	t.Parallel()
	r, dir := setup(t, Config{})
	j, err := r.Start(t.Context(), Spec{Argv: []string{"bash", "-c", "seq 100000"}, Dir: dir, Level: r.Level(), MaxOutput: 100})
	if err != nil {
		t.Fatal(err)
	}
	res := j.Result()
	data, next, dropped := j.Log(0)
	if len(data) != 100 || !strings.HasSuffix(string(data), "99999\n100000\n") || dropped != next-100 || !res.Truncated || res.Dropped != dropped {
		t.Errorf("got %d bytes, next %d, dropped %d, %+v", len(data), next, dropped, res.Dropped)
	}
}

func TestOldEndedJobsAreForgotten(t *testing.T) {
	t.Parallel()
	r, dir := setup(t, Config{})
	live, err := r.Start(t.Context(), Spec{Argv: []string{"sleep", "600"}, Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	for range keptJobs + 3 {
		j, err := r.Start(t.Context(), Spec{Argv: []string{"true"}, Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		<-j.Done()
	}
	jobs := r.Jobs()
	if len(jobs) > keptJobs+2 || jobs[0] != live {
		t.Errorf("got %d jobs, the first %v", len(jobs), jobs[0].Argv)
	}
}

func TestCloseEndsEverythingAndStartsNothing(t *testing.T) {
	t.Parallel()
	r, dir := setup(t, Config{})
	j, err := r.Start(t.Context(), Spec{Argv: []string{"bash", "-c", stubborn}, Dir: dir, Level: r.Level()})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, 10*time.Second, "the tree does not stand", func() bool { return exists(filepath.Join(dir, "ready")) })
	r.Close()
	select {
	case <-j.Done():
	default:
		t.Error("Close returned before the job's end")
	}
	wantGone(t, dir)
	if _, err := r.Run(t.Context(), Spec{Argv: []string{"true"}, Dir: dir}); sys.CodeOf(err) != sys.CodeUnavailable {
		t.Errorf("got %v after Close, want code unavailable", err)
	}
}

func TestOutputIsCappedAtBothEnds(t *testing.T) {
	t.Parallel()
	r, dir := setup(t, Config{MaxOutput: 1000})
	res := bash(t, r, Spec{Dir: dir}, "echo first; head -c 5000000 /dev/zero | tr '\\0' x; echo; echo last")
	if !res.Truncated || res.Dropped != 5000012-1000 || len(res.Output) > 1100 || len(res.Stdout) > 1100 {
		t.Errorf("got %d bytes, %d dropped", len(res.Output), res.Dropped)
	}
	if s := string(res.Output); !strings.HasPrefix(s, "first\n") || !strings.HasSuffix(s, "last\n") || !strings.Contains(s, "bytes left out]") {
		t.Errorf("got %q", s)
	}
}

func TestAskingForAPasswordIsTold(t *testing.T) {
	t.Parallel()
	r, dir := setup(t, Config{})
	if res := bash(t, r, Spec{Dir: dir}, `printf '[sudo] password for me: ' >&2; exit 1`); !res.WantsPassword {
		t.Errorf("got %+v", res)
	}
	if res := bash(t, r, Spec{Dir: dir}, `echo fine`); res.WantsPassword {
		t.Errorf("got %+v", res)
	}
}

func TestMemoryIsWatchedOverTheWholeTree(t *testing.T) {
	t.Parallel()
	r, dir := setup(t, Config{})
	// Each shell holds about 40 MB, none of them the limit alone.
	grow := `hold() { x=$(head -c 40000000 /dev/zero | tr '\0' x); sleep 60; }; hold & hold & hold & hold & wait`
	res := bash(t, r, Spec{Dir: dir, MaxMemory: 90 << 20, Timeout: 30 * time.Second}, grow)
	if !res.OutOfMemory || res.TimedOut {
		t.Errorf("got %+v, want it ended for its memory", res)
	}
	if res := bash(t, r, Spec{Dir: dir, MaxMemory: 1 << 30}, "sleep 0.2; echo fine"); res.OutOfMemory || string(res.Output) != "fine\n" {
		t.Errorf("got %+v", res)
	}
}

func TestTooManyProcessesEndTheTree(t *testing.T) {
	t.Parallel()
	r, dir := setup(t, Config{})
	res := bash(t, r, Spec{Dir: dir, MaxProcs: 20, Timeout: 30 * time.Second}, `for i in $(seq 60); do sleep 600 & echo $! >> pids; done; wait`)
	if !res.TooManyProcesses || res.TimedOut {
		t.Errorf("got %+v", res)
	}
	wantGone(t, dir)
}

func TestOwnerFindsTheTagThroughSetsidAndDoubleFork(t *testing.T) {
	t.Parallel()
	r, dir := setup(t, Config{})
	j, err := r.Start(t.Context(), Spec{Argv: []string{"bash", "-c", stubborn}, Dir: dir, Level: r.Level(), Tag: "agent-7"})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, 10*time.Second, "the tree does not stand", func() bool { return exists(filepath.Join(dir, "ready")) })
	tree := inFolder(dir)
	if len(tree) < 5 || !slices.Contains(tree, j.PID) {
		t.Errorf("got %v in the folder, want five processes, %d among them", tree, j.PID)
	}
	for _, pid := range append(tree, j.root) {
		if tag, ok := r.Owner(pid); tag != "agent-7" || !ok {
			t.Errorf("process %d: got %q, %v, want agent-7", pid, tag, ok)
		}
	}
	other := exec.Command("sleep", "600")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	for _, pid := range []int{os.Getpid(), os.Getppid(), 1, other.Process.Pid, 1 << 22} {
		if tag, ok := r.Owner(pid); ok {
			t.Errorf("process %d: got %q, want none", pid, tag)
		}
	}
	other.Process.Kill()
	other.Wait()
}

func TestCommandThatEndsItsHelperAtLevel0IsStillFoundAndEnded(t *testing.T) {
	t.Parallel()
	r, dir := setup(t, Config{})
	j, err := r.Start(t.Context(), Spec{Dir: dir, Level: sys.IsolationNone, Argv: []string{
		"bash", "-c",
		`echo $$ >> pids; env -i setsid bash -c 'echo $$ >> pids; touch ready; exec sleep 600' & while [ ! -e ready ]; do sleep 0.01; done; kill -9 $PPID; sleep 600`,
	}})
	if err != nil {
		t.Fatal(err)
	}
	if j.Err() == nil {
		t.Error("a lost helper is not told")
	}
	list := pids(t, filepath.Join(dir, "pids"))
	if alive(list[0]) {
		t.Errorf("the marked process %d is left", list[0])
	}
	// The other one has taken the mark off, so that it can be told, not ended.
	if alive(list[1]) {
		if tag, ok := r.Owner(list[1]); tag != "" || !ok {
			t.Errorf("got %q, %v for an orphan, want an unknown agent", tag, ok)
		}
		unix.Kill(list[1], unix.SIGKILL)
		unix.Wait4(list[1], nil, 0, nil)
	}
}

func TestCommandCannotEndItsHelper(t *testing.T) {
	t.Parallel()
	r, dir := setup(t, Config{})
	for _, level := range []sys.Isolation{sys.IsolationLimits, sys.IsolationPartial, sys.IsolationFull} {
		threads := "$PPID"
		if landlockABI() >= 6 {
			threads = "$(ls /proc/$PPID/task)" // below, the filter knows the first one alone
		}
		line := `for t in ` + threads + ` -$PPID -1; do kill -9 -- $t && echo killed $t; done; kill -9 ` + strconv.Itoa(os.Getpid()) + `; true`
		res, err := r.Run(t.Context(), Spec{Argv: []string{"bash", "-c", line}, Dir: dir, Level: level})
		if err != nil || res.ExitCode != 0 || strings.Contains(string(res.Output), "killed") {
			t.Errorf("level %d: got %+v, %v", level, res, err)
		}
	}
}

func TestTreeEndsWhenTheKernelIsKilled(t *testing.T) {
	t.Parallel()
	dir := canonical(t.TempDir())
	host := exec.Command(helper, "host", dir, stubborn)
	out, err := host.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	host.Stderr = os.Stderr
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "started\n" {
		t.Fatalf("got %q, %v", line, err)
	}
	eventually(t, 10*time.Second, "the tree does not stand", func() bool { return exists(filepath.Join(dir, "ready")) })
	if len(inFolder(dir)) < 5 {
		t.Fatal("the tree is not seen")
	}
	host.Process.Kill()
	host.Wait()
	eventually(t, 5*time.Second, "the tree outlived the kernel", func() bool { return len(inFolder(dir)) == 0 })
}

func TestManyCommandsAtOnce(t *testing.T) {
	t.Parallel()
	r, dir := setup(t, Config{})
	var wait sync.WaitGroup
	for i := range 20 {
		wait.Go(func() {
			res, err := r.Run(t.Context(), Spec{Argv: []string{"bash", "-c", "echo " + strconv.Itoa(i)}, Dir: dir, Level: r.Level()})
			if err != nil || string(res.Stdout) != strconv.Itoa(i)+"\n" {
				t.Errorf("command %d: got %q, %v", i, res.Stdout, err)
			}
		})
	}
	wait.Wait()
	if left, _ := filepath.Glob("/proc/self/fd/*"); len(left) > 200 {
		t.Errorf("%d files are open", len(left))
	}
}

func TestWhatStartFilesRunEndsWithALoginShellThatHangs(t *testing.T) {
	dir := t.TempDir()
	lock, pids, shell := filepath.Join(dir, "lock"), filepath.Join(dir, "pids"), filepath.Join(dir, "shell")
	// One clears its lock away when it is told to end, and hears of no terminal, as under nohup; one hears nothing.
	write(t, shell, fmt.Sprintf(`#!/bin/bash
trap '' HUP
bash -c 'trap "rm -f %[1]s" EXIT; touch %[1]s; echo $$ >> %[2]s; while :; do sleep 0.05; done' &
bash -c 'trap "" TERM; echo $$ >> %[2]s; while :; do sleep 0.05; done' &
wait
`, lock, pids))
	if err := os.Chmod(shell, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SHELL", shell)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer cancel()
		for {
			if raw, _ := os.ReadFile(pids); bytes.Count(raw, []byte("\n")) == 2 {
				return
			}
			time.Sleep(5 * time.Millisecond)
		}
	}()
	if _, err := LoginEnv(ctx); sys.CodeOf(err) != sys.CodeUnavailable {
		t.Errorf("got error %v, want code unavailable", err)
	}
	raw, err := os.ReadFile(pids)
	if err != nil {
		t.Fatal(err)
	}
	for _, pid := range strings.Fields(string(raw)) {
		n, err := strconv.Atoi(pid)
		if err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(5 * time.Second); alive(n); time.Sleep(5 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("process %d is still there", n)
			}
		}
	}
	if _, err := os.Stat(lock); err == nil {
		t.Error("the lock is still there")
	}
}
