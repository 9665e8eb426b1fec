package sandbox

import "golang.org/x/sys/unix"

// Owner tells which [Spec.Tag] a process belongs to: it walks from the process
// to its ancestors until it meets a live command, and also accepts a process
// group that a command leads. A process that forked twice and left its group
// cannot be told from any other here; ok is false for it.
func (r *Runner) Owner(pid int) (tag string, ok bool) {
	r.mu.Lock()
	roots := make(map[int]string, len(r.live))
	for j := range r.live {
		roots[j.root] = j.Tag
	}
	r.mu.Unlock()
	for range 4096 {
		if tag, ok := roots[pid]; ok {
			return tag, true
		}
		if pid <= 1 {
			return "", false
		}
		info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
		if err != nil {
			return "", false
		}
		if tag, ok := roots[int(info.Eproc.Pgid)]; ok {
			return tag, true
		}
		pid = int(info.Eproc.Ppid)
	}
	return "", false
}
