package sandbox

import (
	"time"

	"golang.org/x/sys/unix"
)

// spareLife is how long a helper waits for the next command. Agents run
// commands in rows.
const spareLife = time.Minute

// spare is a helper that was started ahead of the next command: starting this
// program takes longer than all else that a command costs. It has no plan, so
// that it contains nothing and knows nothing. The runner's lock guards it.
type spare struct {
	helper *helped
	end    *time.Timer
}

// keepSpare sees to it that a helper waits for the next command.
func (r *Runner) keepSpare() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || r.cfg.Helper == "" || r.spare.helper != nil {
		return
	}
	h, err := startHelper(r)
	if err != nil {
		return // the next command tries again, and says why it fails
	}
	r.spare = spare{helper: h, end: time.AfterFunc(spareLife, r.dropSpare)}
}

// takeSpare returns the helper that waits, or nil when there is none that is
// alive. The lock is held.
func (r *Runner) takeSpare() *helped {
	h := r.spare.helper
	if h == nil {
		return nil
	}
	r.spare.end.Stop()
	r.spare = spare{}
	var info unix.Siginfo
	err := unix.Waitid(unix.P_PID, h.root, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
	if err != nil || info.Signo != 0 { // somebody ended it
		h.dismiss()
		return nil
	}
	return h
}

// dropSpare ends the helper that waits.
func (r *Runner) dropSpare() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if h := r.spare.helper; h != nil {
		r.spare.end.Stop()
		r.spare = spare{}
		h.dismiss()
	}
}

// dismiss ends a helper that got no plan: it ends by itself when its orders do.
func (h *helped) dismiss() {
	h.close()
	dropPipes(h.streams)
	h.cmd.Wait()
}
