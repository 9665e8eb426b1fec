//go:build !linux && !darwin

package sandbox

// Owner tells which [Spec.Tag] a process belongs to, as far as it is the first
// process of a live command. Descendants cannot be told on this system: ok is
// false for them, which does not mean that a person started them.
func (r *Runner) Owner(pid int) (tag string, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for j := range r.live {
		if j.root == pid {
			return j.Tag, true
		}
	}
	return "", false
}
