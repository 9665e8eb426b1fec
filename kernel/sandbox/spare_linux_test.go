package sandbox

import (
	"context"
	"errors"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"oxios/kernel/sys"
)

// ready waits until a helper is kept for the next command and returns its
// process.
func ready(t *testing.T, r *Runner) int {
	t.Helper()
	pid := 0
	eventually(t, 5*time.Second, "no helper waits for the next command", func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		if h := r.spare.helper; h != nil {
			pid = h.root
		}
		return pid != 0
	})
	return pid
}

func TestNextCommandFindsItsHelperReady(t *testing.T) {
	t.Parallel()
	r, dir := setup(t, Config{})
	if r.spare.helper != nil {
		t.Error("a helper waits before there was any command")
	}
	bash(t, r, Spec{Dir: dir}, "true")
	pid := ready(t, r)
	j, err := r.Start(t.Context(), Spec{Argv: []string{"sleep", "60"}, Dir: dir, Level: r.Level()})
	if err != nil {
		t.Fatal(err)
	}
	if j.root != pid {
		t.Errorf("the command runs under helper %d, want %d, which waited", j.root, pid)
	}
	if next := ready(t, r); next == pid {
		t.Error("a helper that has a command waits for another")
	}
	j.Kill()
	<-j.Done()
}

func TestHelperKilledWhileItWaitsIsReplaced(t *testing.T) {
	t.Parallel()
	r, dir := setup(t, Config{})
	bash(t, r, Spec{Dir: dir}, "true")
	pid := ready(t, r)
	if err := unix.Kill(pid, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	var info unix.Siginfo
	if err := unix.Waitid(unix.P_PID, pid, &info, unix.WEXITED|unix.WNOWAIT, nil); err != nil {
		t.Fatal(err)
	}
	if res := bash(t, r, Spec{Dir: dir}, "echo fine"); string(res.Output) != "fine\n" {
		t.Errorf("got %q, want fine", res.Output)
	}
}

func TestCloseEndsTheHelperThatWaits(t *testing.T) {
	t.Parallel()
	r, dir := setup(t, Config{})
	bash(t, r, Spec{Dir: dir}, "true")
	pid := ready(t, r)
	r.Close()
	if err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil); !errors.Is(err, unix.ECHILD) {
		t.Errorf("got %v, want no such child", err)
	}
	r.keepSpare()
	if r.spare.helper != nil {
		t.Error("a closed runner keeps a helper ready")
	}
}

func TestACommandThatIsStoppedWhileItsWallsAreBuiltLeavesNobody(t *testing.T) {
	t.Parallel()
	r, dir := setup(t, Config{})
	if r.Level() < sys.IsolationFull {
		t.Skip("no walls are built here")
	}
	before := time.Now()
	bash(t, r, Spec{Dir: dir}, "true")
	step := max(time.Since(before)/40, 200*time.Microsecond)
	for i := range 60 {
		r.dropSpare()
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*step)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			r.Run(ctx, Spec{Argv: []string{"true"}, Dir: dir, Level: r.Level()})
		}()
		select {
		case <-ended:
		case <-time.After(5 * time.Second):
			t.Fatalf("stopped %v after its start, a command has not ended after 5 s", time.Duration(i)*step)
		}
		cancel()
	}
}
