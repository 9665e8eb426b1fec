package sandbox

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"oxios/kernel/sys"
)

// grouped is setup for tests that need cgroups. Where there are none, it sees to
// it that this is told, and that commands run all the same.
func grouped(t *testing.T, cfg Config) (*Runner, string, bool) {
	t.Helper()
	r, dir := setup(t, cfg)
	why := r.Probe(t.Context()).Watched
	if why == (sys.Words{}) {
		if r.groups.folder == nil {
			t.Fatal("there are no cgroups, and nothing says why")
		}
		return r, dir, true
	}
	if why.KO == "" || !strings.Contains(strings.ToLower(why.EN), "cgroup") {
		t.Errorf("got %+v, want why there are no cgroups", why)
	}
	if res := bash(t, r, Spec{Dir: dir, MaxMemory: 1 << 30, MaxProcs: 100}, "echo fine"); string(res.Stdout) != "fine\n" {
		t.Errorf("got %+v", res)
	}
	return r, dir, false
}

// groupsOf returns the folders of the groups of a runner's commands.
func groupsOf(t *testing.T, r *Runner) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(r.groups.folder.Name(), "[0-9]*"))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// everyLevel runs f at each level that holds here.
func everyLevel(t *testing.T, r *Runner, f func(t *testing.T, level sys.Isolation)) {
	t.Helper()
	for _, level := range []sys.Isolation{sys.IsolationFull, sys.IsolationPartial, sys.IsolationLimits, sys.IsolationNone} {
		if level <= r.Level() {
			t.Run(fmt.Sprint("level", int(level)), func(t *testing.T) { f(t, level) })
		}
	}
}

func TestManySmallProcessesAreEndedForTheirMemoryTogether(t *testing.T) {
	t.Parallel()
	r, dir, held := grouped(t, Config{})
	// Eight of them hold 20 MB each, and the limit is 100.
	line := `for i in 1 2 3 4 5 6 7 8; do perl -e '$x = "x" x 20000000; sleep 60' & done; wait; echo survived`
	everyLevel(t, r, func(t *testing.T, level sys.Isolation) {
		for range 2 { // the second one takes the helper that was started ahead
			res, err := r.Run(t.Context(), Spec{Argv: []string{"bash", "-c", "echo begun; " + line}, Dir: dir, Level: level, MaxMemory: 100 << 20, Timeout: 30 * time.Second})
			if err != nil || !res.OutOfMemory || res.TimedOut || res.Signal != "SIGKILL" || string(res.Stdout) != "begun\n" {
				t.Errorf("got %+v, %v, want it ended for its memory", res, err)
			}
			wantGone(t, dir)
			ready(t, r)
		}
	})
	if !held {
		return
	}
	// Files in memory are nobody's resident pages: only a cgroup counts them.
	shm, err := os.MkdirTemp("/dev/shm", "oxios-test-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(shm)
	res, err := r.Run(t.Context(), Spec{
		Argv: []string{"bash", "-c", "head -c 200000000 /dev/zero > " + shm + "/f; echo survived"}, Dir: dir, Writable: []string{shm},
		Level: min(r.Level(), sys.IsolationPartial), MaxMemory: 100 << 20, Timeout: 30 * time.Second,
	})
	if err != nil || !res.OutOfMemory || len(res.Stdout) > 0 {
		t.Errorf("got %+v, %v, want it ended for its files in memory", res, err)
	}
}

func TestCommandWithinItsLimitsIsLeftAlone(t *testing.T) {
	t.Parallel()
	r, dir, _ := grouped(t, Config{})
	everyLevel(t, r, func(t *testing.T, level sys.Isolation) {
		res, err := r.Run(t.Context(), Spec{Argv: []string{"bash", "-c", `perl -e '$x = "x" x 30000000; print length $x'`}, Dir: dir, Level: level, MaxMemory: 300 << 20, MaxProcs: 20})
		if err != nil || res.OutOfMemory || res.TooManyProcesses || string(res.Stdout) != "30000000" {
			t.Errorf("got %+v, %v", res, err)
		}
		res, err = r.Run(t.Context(), Spec{Argv: []string{"bash", "-c", "kill -9 $$"}, Dir: dir, Level: level, MaxMemory: 300 << 20, MaxProcs: 20})
		if err != nil || res.OutOfMemory || res.TooManyProcesses || res.ExitCode != 137 {
			t.Errorf("got %+v, %v", res, err)
		}
	})
}

// It takes all of the machine that it gets, so no other test runs beside it.
func TestForkBombIsHeldAndEnded(t *testing.T) {
	r, dir, held := grouped(t, Config{})
	const most = 50
	everyLevel(t, r, func(t *testing.T, level sys.Isolation) {
		j, err := r.Start(t.Context(), Spec{Argv: []string{"bash", "-c", `bomb() { bomb | bomb & }; bomb 2> /dev/null; sleep 60`}, Dir: dir, Level: level, MaxProcs: most, Timeout: 30 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		peak := ""
		if held {
			limit, err := os.ReadFile(filepath.Join(j.proc.(*helped).group.path, "pids.max"))
			peak = strings.TrimSpace(string(limit))
			if err != nil || peak != fmt.Sprint(most*tasksEach+helpersTasks) {
				t.Errorf("got a limit of %q, %v", peak, err)
			}
		}
		if res := j.Result(); j.Err() != nil || !res.TooManyProcesses || res.TimedOut || res.Duration > 20*time.Second {
			res.Output, res.Stderr = nil, nil // the shells say a lot
			t.Errorf("got %+v, %v, want it ended for its processes", res, j.Err())
		}
		wantGone(t, dir)
	})
}

func TestCommandCannotTakeAllTasksOfTheAccount(t *testing.T) {
	t.Parallel()
	r, dir, _ := grouped(t, Config{})
	everyLevel(t, r, func(t *testing.T, level sys.Isolation) {
		res, err := r.Run(t.Context(), Spec{Argv: []string{"bash", "-c", "ulimit -u"}, Dir: dir, Level: level, MaxProcs: 50})
		limit, bad := strconv.Atoi(strings.TrimSpace(string(res.Stdout)))
		if now, _ := tasksNow(); err != nil || bad != nil || limit < 50*tasksEach || limit > now+50*tasksEach+2000 {
			t.Errorf("got a limit of %q beside %d tasks, %v, %v", res.Stdout, now, err, bad)
		}
	})
}

// Threads are what the watch does not count.
func TestThreadsWithoutEndAreHeld(t *testing.T) {
	t.Parallel()
	r, dir, held := grouped(t, Config{})
	if !held {
		return
	}
	everyLevel(t, r, func(t *testing.T, level sys.Isolation) {
		res, err := r.Run(t.Context(), Spec{
			Argv: []string{"perl", "-e", `use threads; for (1..400) { threads->create({stack_size => 65536}, sub { sleep 60 }) or (print("no more\n"), kill(9, $$)) } print "all\n"`},
			Dir:  dir, Level: level, MaxProcs: 20, Timeout: 30 * time.Second,
		})
		if err != nil || !res.TooManyProcesses || strings.Contains(string(res.Stdout), "all") {
			t.Errorf("got %+v, %v, want it held", res, err)
		}
		wantGone(t, dir)
	})
}

func TestGroupIsGoneWithItsCommand(t *testing.T) {
	t.Parallel()
	r, dir, held := grouped(t, Config{})
	if !held {
		return
	}
	everyLevel(t, r, func(t *testing.T, level sys.Isolation) {
		j, err := r.Start(t.Context(), Spec{Argv: []string{"bash", "-c", stubborn}, Dir: dir, Level: level})
		if err != nil {
			t.Fatal(err)
		}
		eventually(t, 10*time.Second, "the tree does not stand", func() bool { return exists(filepath.Join(dir, "ready")) })
		own := j.proc.(*helped).group.path
		inside, err := inGroup(own)
		if err != nil {
			t.Fatal(err)
		}
		for _, pid := range append(inFolder(dir), j.root) {
			if !strings.Contains(fmt.Sprint(inside)+" ", fmt.Sprint(pid)) {
				t.Errorf("process %d is not in the group, %v are", pid, inside)
			}
		}
		j.Kill()
		<-j.Done()
		wantGone(t, dir)
		for _, name := range []string{"ready", "pids"} {
			os.Remove(filepath.Join(dir, name))
		}
		eventually(t, 5*time.Second, "the group is left", func() bool { return !exists(own) })
	})
	ready(t, r)
	folder := r.groups.folder.Name()
	if list := groupsOf(t, r); len(list) != 1 { // that of the helper that waits
		t.Errorf("got %v", list)
	}
	r.Close()
	if exists(folder) {
		t.Error("the folder of the groups is left")
	}
}

// At level 0 a command may end its helper, and take off the mark by which the
// kernel finds it again.
func TestNobodyLeavesAGroupByEndingItsHelper(t *testing.T) {
	t.Parallel()
	r, dir, held := grouped(t, Config{})
	if !held {
		return
	}
	j, err := r.Start(t.Context(), Spec{Dir: dir, Level: sys.IsolationNone, Argv: []string{
		"bash", "-c", `env -i setsid bash -c 'touch ready; exec sleep 600' & while [ ! -e ready ]; do sleep 0.01; done; kill -9 $PPID; sleep 600`,
	}})
	if err != nil {
		t.Fatal(err)
	}
	own := j.proc.(*helped).group.path
	if j.Err() == nil {
		t.Error("a lost helper is not told")
	}
	wantGone(t, dir)
	if exists(own) {
		t.Error("the group is left")
	}
}

func TestGroupsOfKernelsThatCrashedAreRemoved(t *testing.T) {
	t.Parallel()
	r, _, held := grouped(t, Config{})
	if !held {
		return
	}
	seat := filepath.Dir(r.groups.folder.Name())
	left := filepath.Join(seat, groupsName+"left")
	if err := os.MkdirAll(filepath.Join(left, "1"), 0o700); err != nil {
		t.Fatal(err)
	}
	// One that outlived its kernel is in it.
	stray := exec.Command("sleep", "600")
	if err := stray.Start(); err != nil {
		t.Fatal(err)
	}
	if err := setGroup(filepath.Join(left, "1"), "cgroup.procs", fmt.Sprint(stray.Process.Pid)); err != nil {
		t.Fatal(err)
	}
	next := New(Config{Helper: helper})
	defer next.Close()
	next.openGroups(t.Context())
	if alive(stray.Process.Pid) {
		t.Error("what a kernel left runs on")
	}
	_ = stray.Wait() // or it was waited for
	if exists(left) {
		t.Error("the groups of a kernel that is gone are left")
	}
	if !exists(r.groups.folder.Name()) {
		t.Error("the groups of a kernel that lives are gone")
	}
}

func TestCommandsAreWatchedWhereNothingStartsInAGroup(t *testing.T) {
	t.Parallel()
	r, dir, held := grouped(t, Config{})
	if !held {
		return
	}
	r.dropSpare()
	// A group that is full, as far as Linux is concerned: nothing starts in it.
	if err := setGroup(r.groups.folder.Name(), "pids.max", "0"); err != nil {
		t.Fatal(err)
	}
	res := bash(t, r, Spec{Dir: dir, MaxMemory: 1 << 30}, "echo fine")
	if string(res.Stdout) != "fine\n" {
		t.Errorf("got %+v", res)
	}
	if why := r.groups.missing(); !strings.Contains(why.EN, "starts nothing in a cgroup") || why.KO == "" {
		t.Errorf("got %+v", why)
	}
}

// TestGroupsForAnOrdinaryUser runs as nobody, in a cgroup that was handed over to
// nobody as systemd does it. Where root has none, nobody has none either.
func TestGroupsForAnOrdinaryUser(t *testing.T) {
	t.Parallel()
	r, dir, held := grouped(t, Config{})
	if os.Getuid() == 0 {
		if !held {
			again(t)
			return
		}
		theirs := filepath.Join(filepath.Dir(r.groups.folder.Name()), "oxios-test-"+sys.NewID())
		if err := os.Mkdir(theirs, 0o755); err != nil { //nolint:gosec // as all cgroups are
			t.Fatal(err)
		}
		defer (&group{path: theirs}).remove()
		defer (&group{path: filepath.Join(theirs, groupKernel)}).remove()
		for _, name := range []string{".", "cgroup.procs", "cgroup.subtree_control", "cgroup.threads"} {
			if err := os.Chown(filepath.Join(theirs, name), 65534, 65534); err != nil {
				t.Fatal(err)
			}
		}
		if err := unix.Setxattr(theirs, "user.delegate", []byte("1"), 0); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(theirs)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		again(t, func(a *syscall.SysProcAttr) { a.UseCgroupFD, a.CgroupFD = true, int(f.Fd()) })
		return
	}
	_, own, _ := ownGroup()
	if held != (filepath.Base(own) == groupKernel) || !held && strings.Contains(own, "/oxios-test-") {
		t.Errorf("held is %v, and this process is in %s: %v", held, own, r.groups.missing())
	}
	t.Logf("held is %v in %s: %v", held, own, r.groups.missing())
	res := bash(t, r, Spec{Dir: dir, MaxMemory: 60 << 20, MaxProcs: 50, Timeout: 30 * time.Second},
		`for i in 1 2 3 4 5 6; do perl -e '$x = "x" x 20000000; sleep 60' & done; wait; echo survived`)
	if !res.OutOfMemory || len(res.Stdout) > 0 {
		t.Errorf("got %+v", res)
	}
	wantGone(t, dir)
	ready(t, r)
	if held && len(groupsOf(t, r)) > 2 { // the walls of the last one may still come down
		t.Errorf("got %v", groupsOf(t, r))
	}
}
