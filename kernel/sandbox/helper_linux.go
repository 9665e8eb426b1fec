package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// The kinds of [notice.Failure].
const (
	failedConfine = "confine" // a limit could not be applied
	failedStart   = "start"   // the program could not be executed
)

// supervise is the helper: it starts the command that it is told of, watches
// its tree and ends it. At level 3 it is told of walls first: it has them built,
// and a second helper inside them, the first process there, does the rest.
func supervise(inside bool) error {
	if err := closeOnExec(); err != nil {
		return fmt.Errorf("close inherited files: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("become subreaper: %w", err)
	}
	// Nobody of the same account reads or writes this process's memory.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("close memory to others: %w", err)
	}
	notices := json.NewEncoder(os.NewFile(fdNotices, "notices"))
	orders := json.NewDecoder(os.NewFile(fdOrders, "orders"))
	if inside {
		if err := notices.Encode(notice{Ready: true}); err != nil {
			return err
		}
	}
	var p plan
	if err := orders.Decode(&p); err != nil {
		return fmt.Errorf("read the plan: %w", err)
	}
	if len(p.Walls) > 0 {
		return enclose(p)
	}
	if p.Room {
		if err := enterRoom(p); err != nil {
			return notices.Encode(failure(err))
		}
	}
	if p.Hole {
		if err := carry(); err != nil {
			return notices.Encode(failure(fmt.Errorf("open the way to the network: %w", err)))
		}
	}
	for _, port := range p.Reach {
		if err := carryPort(port); err != nil {
			return notices.Encode(failure(err))
		}
	}
	for _, port := range p.Serve {
		go offerPort(port)
	}
	pid, err := startConfined(p)
	if err != nil {
		return notices.Encode(failure(err))
	}
	// From here on only the tree holds the ends of the output.
	unix.Close(fdStdout)
	unix.Close(fdStderr)
	if p.Input {
		unix.Close(fdInput)
	}
	if err := notices.Encode(notice{PID: pid}); err != nil {
		fmt.Fprintln(os.Stderr, "the kernel is gone:", err) // the orders end too, so the tree does
	}
	n := watchTree(p, pid, orders)
	if err := notices.Encode(n); err != nil {
		removeAll(p.Temp) // nobody else is left to do it
		return err
	}
	return nil
}

// closeOnExec keeps every file that this process inherited, and that the
// kernel may have got from a library, away from the command.
func closeOnExec() error {
	err := unix.CloseRange(3, ^uint(0), unix.CLOSE_RANGE_CLOEXEC)
	if err == nil {
		return nil
	}
	names, err := readNames("/proc/self/fd") // Linux before 5.11
	if err != nil {
		return err
	}
	for _, name := range names {
		if fd, err := strconv.Atoi(name); err == nil && fd >= 3 {
			unix.CloseOnExec(fd)
		}
	}
	return nil
}

// stageError is a failure with the stage that it happened in.
type stageError struct {
	stage string
	err   error
}

func (e *stageError) Error() string { return e.err.Error() }
func (e *stageError) Unwrap() error { return e.err }

func failure(err error) notice {
	n := notice{Failure: failedConfine, Message: err.Error()}
	if s, ok := errors.AsType[*stageError](err); ok {
		n.Failure = s.stage
	}
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		n.Errno = int(errno)
	}
	return n
}

// startConfined starts the command from a thread that has limited itself.
func startConfined(p plan) (pid int, err error) {
	if path := changed(p.Same); path != "" {
		return 0, fmt.Errorf("%s was exchanged while the command was prepared", path)
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return 0, err
	}
	defer null.Close()
	if err := limitResources(p.MaxDisk); err != nil {
		return 0, err
	}
	input := null.Fd()
	if p.Input {
		input = fdInput
	}
	own := leaveTasks(p.MaxProcs)
	defer own()
	onOwnThread(func() {
		if err = confine(p); err != nil {
			return
		}
		env := setEnv(p.Env, markEnv+"="+strconv.Itoa(os.Getpid()))
		pid, err = syscall.ForkExec(p.Path, p.Argv, &syscall.ProcAttr{
			Dir: p.Dir, Env: env, Files: []uintptr{input, fdStdout, fdStderr},
			// A session of its own: no terminal, and `kill 0` does not reach the helper.
			Sys: &syscall.SysProcAttr{Setsid: true},
		})
		if err != nil {
			err = &stageError{failedStart, err}
		}
	})
	return pid, err
}

// onOwnThread runs f on a thread that ends afterwards. Limits of a thread go
// to the processes that it forks, and to nothing else. The main thread never
// serves: it does not end, and stands for the whole process to who signals it.
func onOwnThread(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // not unlocked: the runtime ends the thread
		if unix.Gettid() == os.Getpid() {
			onOwnThread(f)
			runtime.UnlockOSThread()
			return
		}
		f()
	}()
	<-done
}

// limitResources sets the limits that the command inherits and the helper can
// live with. RLIMIT_AS would abort Node and Go programs.
func limitResources(file int64) error {
	if err := syscall.Setrlimit(unix.RLIMIT_CORE, &syscall.Rlimit{}); err != nil {
		return fmt.Errorf("forbid core files: %w", err)
	}
	var files syscall.Rlimit
	if err := syscall.Getrlimit(unix.RLIMIT_NOFILE, &files); err != nil {
		return fmt.Errorf("read the limit of open files: %w", err)
	}
	if file > 0 {
		size := uint64(file)
		if err := syscall.Setrlimit(unix.RLIMIT_FSIZE, &syscall.Rlimit{Cur: size, Max: size}); err != nil {
			return fmt.Errorf("limit the size of files: %w", err)
		}
	}
	files.Max = min(files.Max, 65536)
	files.Cur = min(files.Max, 4096)
	if err := syscall.Setrlimit(unix.RLIMIT_NOFILE, &files); err != nil {
		return fmt.Errorf("limit open files: %w", err)
	}
	return nil
}

// leaveTasks lets what is started before its return value is called take no more
// of the account's tasks than there are on the machine now and a group would
// have. It is the last wall where nothing but the watch holds a command: a fork
// bomb that outruns it meets this before the account can start nothing more. It
// is no limit of the command's own, as RLIMIT_NPROC counts all that the account
// runs, and none for root. The helper goes on without it.
func leaveTasks(procs int) (undo func()) {
	var was syscall.Rlimit
	now, err := tasksNow()
	if procs <= 0 || err != nil || syscall.Getrlimit(unix.RLIMIT_NPROC, &was) != nil {
		return func() {}
	}
	limit := was
	limit.Cur = min(was.Cur, uint64(now+procs*tasksEach+helpersTasks)) //nolint:gosec // both are small
	if syscall.Setrlimit(unix.RLIMIT_NPROC, &limit) != nil {
		return func() {}
	}
	return func() { _ = syscall.Setrlimit(unix.RLIMIT_NPROC, &was) }
}

// tasksNow is how many processes and threads there are on the machine.
func tasksNow() (int, error) {
	raw, err := os.ReadFile("/proc/loadavg") // 0.20 0.18 0.12 1/80 11206
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(raw), "/")
	all, _, _ := strings.Cut(rest, " ")
	return strconv.Atoi(all)
}

// watchTree waits until the tree of pid is gone, and ends it when the command
// itself has ended, when the kernel asks or dies, or when a limit is passed.
func watchTree(p plan, pid int, orders *json.Decoder) notice {
	asked, now := make(chan struct{}), make(chan struct{})
	go func() {
		var o order
		for orders.Decode(&o) == nil && !o.End {
		}
		if o.Now {
			close(now)
			return
		}
		close(asked) // told to, or the kernel is gone
	}()
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, unix.SIGTERM, unix.SIGINT, unix.SIGHUP)
	var command unix.WaitStatus // valid once exited or empty tells
	exited, empty := make(chan struct{}, 1), make(chan struct{})
	go reap(pid, &command, exited, empty)

	n := notice{Ended: true}
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	if p.MaxMemory <= 0 && p.MaxProcs <= 0 {
		tick.Stop()
	}
	var force time.Time // from when on the tree gets SIGKILL; zero: it may live
	end := func(grace time.Duration) {
		if force.IsZero() || grace == 0 {
			force = time.Now().Add(grace)
			if grace > 0 {
				endTree(unix.SIGTERM)
			}
		}
		tick.Reset(5 * time.Millisecond)
	}
	for {
		select {
		case <-empty:
			n.Code, n.Signal = status(command)
			return n
		case <-exited:
			end(termGrace)
		case <-asked:
			asked = nil
			end(termGrace)
		case <-now:
			now = nil
			end(0)
		case <-signals:
			end(termGrace)
		case <-tick.C:
			switch {
			case !force.IsZero() && time.Now().After(force):
				endTree(unix.SIGKILL)
			case !force.IsZero():
			case p.MaxProcs > 0 && hasMore(p.MaxProcs):
				// One call reaches all that make more of themselves, before they are counted.
				unix.Kill(-pid, unix.SIGKILL)
				n.TooManyProcs = true
				end(0)
			case p.MaxMemory > 0 && overMemory(p.MaxMemory):
				n.OutOfMemory = true
				end(0)
			}
		}
	}
}

// reap waits for every process of the tree. A descendant that loses its parent
// becomes a child of the subreaper, so that no child left means nobody left.
// exited tells that the command has ended and has left others.
func reap(pid int, command *unix.WaitStatus, exited chan<- struct{}, empty chan<- struct{}) {
	defer close(empty)
	options := unix.WALL
	for {
		var ws unix.WaitStatus
		got, err := unix.Wait4(-1, &ws, options, nil)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return
		case got == 0:
			exited <- struct{}{}
			options = unix.WALL
		case got == pid:
			*command = ws
			options |= unix.WNOHANG // usually nobody is left
		}
	}
}

func status(ws unix.WaitStatus) (code, sig int) {
	if ws.Signaled() {
		return 0, int(ws.Signal())
	}
	return ws.ExitStatus(), 0
}

func endTree(sig unix.Signal) {
	if os.Getpid() == 1 && sig == unix.SIGKILL {
		unix.Kill(-1, sig) // all of the process namespace, and none has to be found first
		return
	}
	list := descendants(os.Getpid())
	signalAll(list, sig)
	signalAll(list, unix.SIGCONT) // a stopped process would not act on SIGTERM
}

// hasMore reports whether the tree has more than limit processes. It counts no
// further than that.
func hasMore(limit int) bool {
	list := children(os.Getpid())
	for i := 0; i < len(list) && len(list) <= limit; i++ {
		list = append(list, children(list[i])...)
	}
	return len(list) > limit
}

// overMemory reports whether the tree holds more than limit bytes. Resident
// sizes count a shared page once for each process, so that they only tell when
// the exact count, which is slower, is due.
func overMemory(limit int64) bool {
	list := descendants(os.Getpid())
	page := int64(os.Getpagesize())
	var resident int64
	for _, pid := range list {
		data, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/statm")
		if f := strings.Fields(string(data)); len(f) > 1 {
			n, _ := strconv.ParseInt(f[1], 10, 64)
			resident += n * page
		}
	}
	if resident <= limit || len(list) == 1 {
		return resident > limit
	}
	var exact int64
	for _, pid := range list {
		data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/smaps_rollup")
		if err != nil {
			continue // it has just ended
		}
		_, rest, _ := strings.Cut(string(data), "\nPss:")
		if f := strings.Fields(rest); len(f) > 0 {
			n, _ := strconv.ParseInt(f[0], 10, 64)
			exact += n << 10
		}
	}
	return exact > limit
}
