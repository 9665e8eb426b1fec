package sandbox

import (
	"os"
	"os/exec"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// drainNow does nothing: pipes have no deadlines here.
func drainNow(*os.File, func([]byte)) {}

// ownSession gives the command no console window and no part in the console's
// interrupts.
func ownSession(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{HideWindow: true, CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_NO_WINDOW}
}

func hangUp(pid int) { killGroup(pid) }

// groupLives says false: hangUp has ended it.
func groupLives(int) bool { return false }

func killGroup(pid int) {
	if p, err := os.FindProcess(pid); err == nil {
		p.Kill()
	}
}

// tree is a command in a job object. The object contains nothing; it ends the
// tree with its last handle, also when this process dies.
type tree struct {
	pid int
	job windows.Handle
}

func newTree(pid int) tree {
	t := tree{pid: pid}
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return t
	}
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE},
	}
	p, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(pid))
	if err == nil {
		defer windows.CloseHandle(p)
		_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	}
	if err == nil {
		err = windows.AssignProcessToJobObject(job, p)
	}
	if err != nil {
		windows.CloseHandle(job)
		return t
	}
	t.job = job
	return t
}

// terminate ends the tree at once: there is no signal to ask with.
func (t tree) terminate() { t.kill() }

func (t tree) kill() {
	if t.job != 0 {
		windows.TerminateJobObject(t.job, 1)
		return
	}
	killGroup(t.pid)
}

func (t tree) close() {
	if t.job != 0 {
		windows.CloseHandle(t.job)
	}
}

func exitOf(s *os.ProcessState) outcome { return outcome{code: s.ExitCode()} }
