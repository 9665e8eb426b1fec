//go:build unix

package sandbox

import (
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// drainNow hands take what already lies in the pipe f and does not wait for
// more. It is for a reader that was told to give up before its turn came.
func drainNow(f *os.File, take func([]byte)) {
	if f.SetReadDeadline(time.Time{}) != nil {
		return
	}
	raw, err := f.SyscallConn()
	if err != nil {
		return
	}
	buf := make([]byte, 64<<10) // all that a pipe usually holds
	_ = raw.Read(func(fd uintptr) bool {
		if n, err := unix.Read(int(fd), buf); err == nil && n > 0 {
			take(buf[:n])
		}
		return true
	})
}

// ownSession makes the command the leader of a session, away from any terminal.
func ownSession(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
}

// hangUp tells a group that its terminal is gone: an interactive shell, which
// ignores SIGTERM, ends by it. Where SIGHUP is ignored, as under nohup, what such
// a shell runs ends by SIGTERM.
func hangUp(pid int) {
	unix.Kill(-pid, unix.SIGHUP)
	unix.Kill(-pid, unix.SIGTERM)
}

// groupLives reports whether a group has a process that has not been waited for.
func groupLives(pid int) bool { return unix.Kill(-pid, 0) == nil }

func killGroup(pid int) { unix.Kill(-pid, unix.SIGKILL) }

// tree is a command without a helper: its process group is all that can be
// reached surely.
type tree struct{ pid int }

func newTree(pid int) tree { return tree{pid} }

func (t tree) terminate() {
	unix.Kill(-t.pid, unix.SIGTERM)
	unix.Kill(-t.pid, unix.SIGCONT)
}

func (t tree) kill() { killGroup(t.pid) }

// close ends what is left of the group after its leader.
func (t tree) close() { killGroup(t.pid) }

func exitOf(s *os.ProcessState) outcome {
	if ws, ok := s.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return outcome{code: 128 + int(ws.Signal()), signal: unix.SignalName(ws.Signal())}
	}
	return outcome{code: s.ExitCode()}
}
