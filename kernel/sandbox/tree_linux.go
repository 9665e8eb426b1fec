package sandbox

import (
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Owner tells which [Spec.Tag] a process belongs to: it walks from the process
// to its ancestors until it meets a live command. ok is false for a process
// that descends from no command of this runner, and for one that is gone.
//
// A process that outlived its helper (possible at level 0 only) is adopted by
// this process: it belongs to a command whose tag is no longer known, and the
// answer is "", true. Whoever asks must treat it as an agent.
func (r *Runner) Owner(pid int) (tag string, ok bool) {
	r.mu.Lock()
	roots := make(map[int]string, len(r.live))
	for j := range r.live {
		roots[j.root] = j.Tag
	}
	adopts := r.orphan
	r.mu.Unlock()
	self := os.Getpid()
	for range 4096 { // a chain that changes under us still ends
		if tag, ok := roots[pid]; ok {
			return tag, true
		}
		st, err := readStat(pid)
		if err != nil || st.ppid <= 0 {
			return "", false
		}
		if st.ppid == self {
			own, err := unix.Getsid(0)
			return "", adopts && err == nil && st.sid != own
		}
		pid = st.ppid
	}
	return "", false
}

// adoptOrphans makes this process the parent of what a lost helper leaves.
func (r *Runner) adoptOrphans() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.orphan {
		r.orphan = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == nil
	}
}

// sweepOrphans ends what the lost helper left: the adopted processes that
// carry its mark in their environment, with all that descends from them.
func (r *Runner) sweepOrphans(helper int) {
	mark := "\x00" + markEnv + "=" + strconv.Itoa(helper) + "\x00"
	deadline := time.Now().Add(termGrace)
	for time.Now().Before(deadline) {
		found := false
		// Only a walk over all processes finds each one: the list of children
		// may leave some out while another child ends.
		for _, pid := range childrenByScan(os.Getpid()) {
			env, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
			if !strings.Contains("\x00"+string(env), mark) {
				continue
			}
			found = true
			list := append([]int{pid}, descendants(pid)...)
			signalAll(list, unix.SIGKILL)
			// No exec.Cmd waits for what was adopted. Parents come first, so
			// that each is a child of this process when its turn comes.
			for _, dead := range list {
				unix.Wait4(dead, nil, 0, nil)
			}
		}
		if !found {
			return
		}
	}
}

// stat is what this package reads of /proc/PID/stat.
type stat struct {
	ppid, sid int
	zombie    bool
}

func readStat(pid int) (stat, error) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return stat{}, err
	}
	// The name stands in parentheses and may itself hold some.
	s := string(data)
	f := strings.Fields(s[strings.LastIndexByte(s, ')')+1:])
	if len(f) < 4 {
		return stat{}, os.ErrNotExist
	}
	var st stat
	st.zombie = f[0] == "Z"
	st.ppid, _ = strconv.Atoi(f[1])
	st.sid, _ = strconv.Atoi(f[3])
	return st, nil
}

// children returns the child processes of pid, zombies too. While a child or a
// thread of pid ends, others may be left out (proc_pid_children(5)): who must
// find all asks again, or asks [childrenByScan].
func children(pid int) []int {
	if !listsChildren() {
		return childrenByScan(pid)
	}
	dir := "/proc/" + strconv.Itoa(pid) + "/task"
	tasks, err := readNames(dir)
	if err != nil {
		return nil
	}
	var out []int
	for _, tid := range tasks {
		data, _ := os.ReadFile(dir + "/" + tid + "/children") // of a thread that is gone: none
		for _, f := range strings.Fields(string(data)) {
			if n, err := strconv.Atoi(f); err == nil {
				out = append(out, n)
			}
		}
	}
	return out
}

// listsChildren reports whether the kernel has lists of children.
var listsChildren = sync.OnceValue(func() bool {
	self := strconv.Itoa(os.Getpid())
	_, err := os.Stat("/proc/" + self + "/task/" + self + "/children")
	return err == nil
})

// childrenByScan returns the child processes of pid, zombies too, and leaves
// none out. It reads the state of every process of the machine.
func childrenByScan(pid int) []int {
	names, _ := readNames("/proc")
	var out []int
	for _, name := range names {
		n, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if st, err := readStat(n); err == nil && st.ppid == pid {
			out = append(out, n)
		}
	}
	return out
}

func readNames(dir string) ([]string, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(-1)
}

// descendants returns what descends from pid, without pid, parents first.
func descendants(pid int) []int {
	out := children(pid)
	seen := map[int]bool{pid: true}
	for i := 0; i < len(out); i++ {
		if seen[out[i]] {
			continue
		}
		seen[out[i]] = true
		out = append(out, children(out[i])...)
	}
	return out
}

func signalAll(pids []int, sig unix.Signal) {
	for _, pid := range pids {
		if pid > 1 {
			unix.Kill(pid, sig)
		}
	}
}
