package kernel

import (
	"context"

	"oxios/kernel/sys"
)

// SleepLock keeps the computer from going to sleep by itself.
type SleepLock interface {
	// Hold keeps it awake until release is called; why is for people.
	Hold(why string) (release func(), err error)

	// Check says why it cannot; nil when it can.
	Check() error
}

// holdOffSleep keeps the computer awake while runs work: with one lock, however
// many there are. It gives the lock back when the last of them waits or ends,
// and with ctx.
func (k *Kernel) holdOffSleep(ctx context.Context) error {
	var release func()
	refused, told := false, ""
	for {
		want := ctx.Err() == nil && k.config.get().KeepAwake && k.runs.atWorkAlone(k.network.waiting())
		switch {
		case want && release == nil && !refused:
			hold, err := k.opts.Sleep.Hold("An agent works.")
			if err != nil { // the doctor tells of it; the run works all the same
				refused = true
				if why := err.Error(); why != told { // once, and not for each run
					told = why
					k.log.InfoContext(ctx, "Sleep cannot be held off", "error", err)
				}
			}
			release = hold
		case !want:
			refused = false
			if release != nil {
				release()
				release = nil
			}
		}
		if ctx.Err() != nil {
			return nil
		}
		select {
		case <-ctx.Done():
		case <-k.sleepDue:
		}
	}
}

// atWorkAlone reports whether a run works that waits neither for a person, nor
// for the network, nor for one that it has forked.
func (r *runs) atWorkAlone(offline map[string]bool) bool {
	if r.gate.is() {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, l := range r.live {
		if l.waiting == 0 && l.joining == 0 && !offline[id] && !l.gate.is() {
			return true
		}
	}
	return false
}

// joins counts the runs that a run waits for.
func (r *runs) joins(id string, n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if l, ok := r.live[id]; ok {
		l.joining += n
	}
}

// waiting returns the runs that wait for a provider.
func (n *network) waiting() map[string]bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	all := map[string]bool{}
	for _, o := range n.down {
		for id := range o.runs {
			all[id] = true
		}
	}
	return all
}

func (k *Kernel) checkSleep(context.Context) Check {
	c := Check{Name: "sleep", State: CheckOK, Detail: sys.Say("held off while agents work")}
	if !k.config.get().KeepAwake {
		c.Detail = sys.Say("not held off (keep_awake is off)")
		return c
	}
	if err := k.opts.Sleep.Check(); err != nil {
		detail, _ := sys.AsError(err).Words()
		c.State, c.Detail = CheckWarn, detail
		c.Hint = sys.Say("Agents work all the same; a computer that goes to sleep pauses them.")
	}
	return c
}
