package sandbox

import (
	"context"
	"time"

	"golang.org/x/sys/unix"

	"oxios/kernel/sys"
)

// spareLife is how long a helper waits for the next command. Agents run
// commands in rows.
const spareLife = time.Minute

// spare is a helper that was started ahead of the next command: starting this
// program takes longer than all else that a command costs. At level 3 the walls
// of the last command stand around it already, which takes longer still; the
// next command gets it if it is to see the very same. It has no plan, so that it
// runs nothing. The runner's lock guards it.
type spare struct {
	helper *helped
	end    *time.Timer
	coming bool // one is being made
}

// keepSpare sees to it that a helper waits for the next command, behind the
// walls of the last one.
func (r *Runner) keepSpare() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || r.cfg.Helper == "" || r.spare.helper != nil || r.spare.coming {
		return
	}
	r.leaving.Add(1)
	defer r.leaving.Done()
	v := r.last
	h, err := startHelper(r, false, r.lastRoom, nil)
	if err != nil {
		return // the next command tries again, and says why it fails
	}
	if v != nil {
		r.spare.coming = true
		r.mu.Unlock()
		ok := h.wallIn(v)
		r.mu.Lock()
		r.spare.coming = false
		if !ok || r.closed {
			h.dismiss()
			return
		}
	}
	r.spare.helper, r.spare.end = h, time.AfterFunc(spareLife, r.dropSpare)
}

// wallIn builds walls ahead of the command that they are for.
func (h *helped) wallIn(v *view) bool {
	tmp, err := h.r.temps.make(h.r.cfg.TempDir)
	if err != nil {
		return false
	}
	if err := h.behind(context.Background(), v, tmp, nil); err != nil {
		h.r.cfg.Log.Debug("No walls were built ahead of the next command", "error", sys.AsError(err).Message)
		h.tmp = tmp // goes with the helper
		return false
	}
	h.notices.SetReadDeadline(time.Time{})
	return true
}

// takeSpare returns the helper that waits behind the walls of key, or in a room, or
// nil when there is none that is alive. Another one is dismissed: commands of its kind
// are over. The lock is held.
func (r *Runner) takeSpare(key string, room bool) *helped {
	h := r.spare.helper
	if h == nil {
		return nil
	}
	r.spare.end.Stop()
	r.spare.helper, r.spare.end = nil, nil
	var info unix.Siginfo
	err := unix.Waitid(unix.P_PID, h.root, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
	if err != nil || info.Signo != 0 { // somebody ended it
		h.dismiss()
		return nil
	}
	if h.walls != key || h.room != room {
		r.leaving.Go(h.dismiss) // it takes the walls down first
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
		r.spare.helper, r.spare.end = nil, nil
		h.dismiss()
	}
}

// dismiss ends a helper whose command does not run. It ends by itself when its
// orders do, as does who waits for orders behind its walls, and takes its
// temporary folder along. Killed at once, it would leave the one that bubblewrap
// had only begun to start: nobody's child, and waiting for orders for good.
func (h *helped) dismiss() {
	h.close()
	dropPipes(h.streams)
	late := time.AfterFunc(time.Second, h.kill)
	defer late.Stop()
	h.cmd.Wait()
	h.group.remove()
	if h.tmp != "" {
		h.r.temps.remove(h.tmp)
	}
}
