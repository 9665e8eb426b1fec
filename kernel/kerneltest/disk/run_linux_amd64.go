package disk

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Watch is what [Run] looks at, and what it has go wrong.
type Watch struct {
	Dirs []string // absolute, without links

	// Fail says with which error a write, a truncation or a flush fails; 0 lets it
	// happen. It is called for each in turn.
	Fail func(Op) syscall.Errno

	Hear func(mark string) // nil, or called for each mark

	// Kill says whether the process is killed right after something was done. It is
	// called for each in turn, marks among them. Nil: never.
	Kill func(Op) bool
}

// Run runs cmd to its end and returns what it did to the folders. Its children are
// not watched. cmd must have no output that has to be copied: what it writes to its
// standard output becomes marks. An error of cmd itself is an [exec.ExitError] in
// text only; having been killed by w is none.
func Run(cmd *exec.Cmd, w Watch) ([]Op, error) {
	runtime.LockOSThread() // a process is traced by a thread
	defer runtime.UnlockOSThread()
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Ptrace = true
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	pid := cmd.Process.Pid
	var status syscall.WaitStatus
	if _, err := wait(pid, &status); err != nil {
		return nil, err
	}
	if err := syscall.PtraceSetOptions(pid, unix.PTRACE_O_TRACESYSGOOD|unix.PTRACE_O_TRACECLONE|unix.PTRACE_O_EXITKILL); err != nil {
		return nil, err
	}
	memory, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		return nil, err
	}
	defer memory.Close()
	t := &tracer{Watch: w, pid: pid, memory: memory, calls: map[int]*call{}, threads: map[int]bool{pid: true}}
	if err := syscall.PtraceSyscall(pid, 0); err != nil {
		return nil, err
	}
	for {
		tid, err := wait(-1, &status)
		if err != nil {
			return t.ops, err
		}
		if status.Exited() || status.Signaled() {
			if tid != pid {
				continue
			}
			_ = cmd.Process.Release()
			if t.killed {
				return t.ops, nil
			}
			if status.Signaled() || status.ExitStatus() != 0 {
				return t.ops, fmt.Errorf("it ended with %d (signal %v)", status.ExitStatus(), status.Signal())
			}
			return t.ops, nil
		}
		deliver := 0
		switch sig := status.StopSignal(); {
		case sig == syscall.SIGTRAP|0x80:
			if err := t.stop(tid); err != nil {
				return t.ops, err
			}
		case sig == syscall.SIGTRAP: // a thread was made
		case sig == syscall.SIGSTOP && !t.threads[tid]:
			t.threads[tid] = true
		default:
			deliver = int(sig)
		}
		if err := syscall.PtraceSyscall(tid, deliver); err != nil && !errors.Is(err, syscall.ESRCH) {
			return t.ops, err
		}
	}
}

// wait waits for what this thread traces, and for nothing that others in this
// process have started.
func wait(pid int, status *syscall.WaitStatus) (int, error) {
	for {
		tid, err := syscall.Wait4(pid, status, unix.WALL|unix.WNOTHREAD, nil)
		if !errors.Is(err, syscall.EINTR) {
			return tid, err
		}
	}
}

// call is a system call that is under way.
type call struct {
	op   Op
	fd   int           // of a file that is being opened; -1 else
	trim bool          // and emptied
	fail syscall.Errno // what it answers in place of being made
}

type tracer struct {
	Watch
	killed  bool
	pid     int
	memory  *os.File
	threads map[int]bool
	calls   map[int]*call // by thread
	ops     []Op
}

// callInfo is struct ptrace_syscall_info of ptrace(2).
type callInfo struct {
	op   uint8
	_    [3]uint8
	arch uint32
	ip   uint64
	sp   uint64
	nr   uint64 // on exit the result
	args [6]uint64
	_    uint64
}

func (t *tracer) stop(tid int) error {
	const getSyscallInfo, entry = 0x420e, 1
	var info callInfo
	if _, _, errno := syscall.Syscall6(syscall.SYS_PTRACE, getSyscallInfo, uintptr(tid), unsafe.Sizeof(info), uintptr(unsafe.Pointer(&info)), 0, 0); errno != 0 {
		if errno == syscall.ESRCH {
			return nil
		}
		return fmt.Errorf("what a thread asks: %w", errno)
	}
	if info.op == entry {
		return t.enter(tid, info.nr, info.args)
	}
	c := t.calls[tid]
	if c == nil {
		return nil
	}
	delete(t.calls, tid)
	result := int64(info.nr)
	if c.fail != 0 {
		var regs syscall.PtraceRegs
		if err := syscall.PtraceGetRegs(tid, &regs); err != nil {
			return err
		}
		regs.Rax = uint64(-int64(c.fail))
		return syscall.PtraceSetRegs(tid, &regs)
	}
	if result < 0 {
		return nil
	}
	t.done(c, result)
	return nil
}

// done writes down a call that was made.
func (t *tracer) done(c *call, result int64) {
	if c.fd == opened {
		path, ok := t.path(int(result))
		if !ok || shared(path) {
			return
		}
		c.op = Op{Kind: Create, Path: path}
		if c.trim {
			c.op.Kind = Truncate
		}
	}
	switch c.op.Kind {
	case Create, Mkdir, Chmod:
		if info, err := os.Lstat(c.op.Path); err == nil {
			c.op.Mode = info.Mode().Perm()
		}
	case Write:
		c.op.Data = c.op.Data[:result]
	}
	t.ops = append(t.ops, c.op)
	if t.Kill != nil && !t.killed && t.Kill(c.op) {
		t.killed = true
		_ = syscall.Kill(t.pid, syscall.SIGKILL) // it is stopped, and does nothing more
	}
}

const opened = -2

// enter looks at a call that is about to be made.
func (t *tracer) enter(tid int, nr uint64, a [6]uint64) error {
	c := &call{fd: -1}
	file := func(kind Kind, fd uint64) bool {
		path, ok := t.path(int(int32(fd)))
		c.op.Kind, c.op.Path = kind, path
		return ok
	}
	name := func(dirfd, at uint64) (string, bool) { return t.name(int(int32(dirfd)), at) }
	const here = ^uint64(99) // AT_FDCWD
	ok := false
	switch nr {
	case syscall.SYS_WRITE, syscall.SYS_PWRITE64:
		if a[0] == 1 {
			c.op.Kind, ok = Mark, true
		} else if ok = file(Write, a[0]); ok {
			c.op.Off = int64(a[3])
			if nr == syscall.SYS_WRITE {
				c.op.Off = t.position(int(a[0]), c.op.Path)
			}
		}
		if ok {
			c.op.Data = t.read(a[1], int(a[2]))
		}
		if c.op.Kind == Mark { // it counts from the moment in which it is said
			t.ops = append(t.ops, c.op)
			if t.Hear != nil {
				t.Hear(string(c.op.Data))
			}
			return nil
		}
	case syscall.SYS_WRITEV, syscall.SYS_PWRITEV, unix.SYS_PWRITEV2, unix.SYS_FALLOCATE, unix.SYS_COPY_FILE_RANGE, syscall.SYS_SENDFILE, syscall.SYS_SPLICE:
		fd := a[0]
		switch nr {
		case unix.SYS_COPY_FILE_RANGE, syscall.SYS_SPLICE:
			fd = a[2]
		}
		if path, mine := t.path(int(int32(fd))); mine {
			return fmt.Errorf("system call %d writes to %s in a way that is not followed", nr, path)
		}
	case syscall.SYS_FTRUNCATE:
		ok = file(Truncate, a[0])
		c.op.Size = int64(a[1])
	case syscall.SYS_FSYNC, syscall.SYS_FDATASYNC:
		ok = file(Sync, a[0])
	case syscall.SYS_OPENAT, syscall.SYS_OPEN:
		dir, at, flags := a[0], a[1], int(a[2])
		if nr == syscall.SYS_OPEN {
			dir, at, flags = here, a[0], int(a[1])
		}
		if path, mine := name(dir, at); mine {
			_, err := os.Lstat(path)
			c.trim = err == nil && flags&syscall.O_TRUNC != 0
			if ok = c.trim || err != nil && flags&syscall.O_CREAT != 0; ok {
				c.fd = opened
			}
		}
	case syscall.SYS_FCHMOD:
		ok = file(Chmod, a[0])
	case syscall.SYS_FCHMODAT:
		c.op.Kind = Chmod
		c.op.Path, ok = name(a[0], a[1])
	case syscall.SYS_CHMOD:
		c.op.Kind = Chmod
		c.op.Path, ok = name(here, a[0])
	case syscall.SYS_MKDIRAT:
		c.op.Kind = Mkdir
		c.op.Path, ok = name(a[0], a[1])
	case syscall.SYS_MKDIR:
		c.op.Kind = Mkdir
		c.op.Path, ok = name(here, a[0])
	case syscall.SYS_UNLINKAT:
		c.op.Kind = Remove
		c.op.Path, ok = name(a[0], a[1])
	case syscall.SYS_UNLINK, syscall.SYS_RMDIR:
		c.op.Kind = Remove
		c.op.Path, ok = name(here, a[0])
	case syscall.SYS_RENAMEAT, unix.SYS_RENAMEAT2:
		c.op.Kind = Rename
		if nr == unix.SYS_RENAMEAT2 && a[4]&unix.RENAME_EXCHANGE != 0 {
			c.op.Kind = Exchange
		}
		c.op.Path, ok = name(a[0], a[1])
		c.op.To, _ = name(a[2], a[3])
	case syscall.SYS_RENAME:
		c.op.Kind = Rename
		c.op.Path, ok = name(here, a[0])
		c.op.To, _ = name(here, a[1])
	case syscall.SYS_LINKAT:
		c.op.Kind = Link
		c.op.Path, ok = name(a[0], a[1])
		c.op.To, _ = name(a[2], a[3])
	case syscall.SYS_SYMLINKAT:
		c.op.Kind = Symlink
		c.op.Path, ok = name(a[1], a[2])
		c.op.To = t.text(a[0])
	}
	if !ok || shared(c.op.Path) {
		return nil
	}
	t.calls[tid] = c
	if t.Fail == nil || c.op.Kind != Write && c.op.Kind != Truncate && c.op.Kind != Sync {
		return nil
	}
	if c.fail = t.Fail(c.op); c.fail == 0 {
		return nil
	}
	var regs syscall.PtraceRegs
	if err := syscall.PtraceGetRegs(tid, &regs); err != nil {
		return err
	}
	regs.Orig_rax = ^uint64(0) // no call at all
	return syscall.PtraceSetRegs(tid, &regs)
}

// path is the name of an open file in the folders.
func (t *tracer) path(fd int) (string, bool) {
	path, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", t.pid, fd))
	return path, err == nil && t.mine(path)
}

func (t *tracer) mine(path string) bool {
	return slices.ContainsFunc(t.Dirs, func(dir string) bool { return path == dir || strings.HasPrefix(path, dir+"/") }) && !strings.HasSuffix(path, " (deleted)")
}

// name is a path that is an argument.
func (t *tracer) name(dirfd int, at uint64) (string, bool) {
	path := t.text(at)
	if !filepath.IsAbs(path) {
		from := fmt.Sprintf("/proc/%d/fd/%d", t.pid, dirfd)
		if dirfd == unix.AT_FDCWD {
			from = fmt.Sprintf("/proc/%d/cwd", t.pid)
		}
		dir, err := os.Readlink(from)
		if err != nil {
			return "", false
		}
		path = filepath.Join(dir, path)
	}
	path = filepath.Clean(path)
	return path, t.mine(path)
}

// position is where the next byte of a file goes.
func (t *tracer) position(fd int, path string) int64 {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/fdinfo/%d", t.pid, fd))
	if err != nil {
		return 0
	}
	var pos int64
	var flags int
	_, _ = fmt.Sscanf(string(raw), "pos:\t%d\nflags:\t%o", &pos, &flags)
	if flags&syscall.O_APPEND != 0 {
		if info, err := os.Stat(path); err == nil {
			return info.Size()
		}
	}
	return pos
}

func (t *tracer) read(at uint64, n int) []byte {
	b := make([]byte, n)
	got, _ := t.memory.ReadAt(b, int64(at))
	return b[:got]
}

// text reads a string that ends with a zero byte.
func (t *tracer) text(at uint64) string {
	var out []byte
	for len(out) < unix.PathMax {
		n := 256 - int(at%256) // never over the end of a page
		b := t.read(at, n)
		if i := bytes.IndexByte(b, 0); i >= 0 {
			return string(append(out, b[:i]...))
		}
		if len(b) < n {
			break
		}
		out, at = append(out, b...), at+uint64(n)
	}
	return string(out)
}
