package sandbox

import (
	"context"
	"time"

	"oxios/kernel/sys"
)

// Report says how strongly commands are contained on this host, and how that
// is known.
type Report struct {
	Level    sys.Isolation `json:"level"`
	Canaries []Canary      `json:"canaries"`
	Landlock int           `json:"landlock"` // the ABI of the host, 0 for none
	Problem  string        `json:"problem"`  // why the level is not higher, "" if nothing is wrong
	// Watched says why memory and processes of commands are watched, instead of
	// held by cgroups. It is empty where cgroups hold them, and where nothing
	// does: without a helper.
	Watched sys.Words `json:"watched,omitzero"`
	At      time.Time `json:"at"`
}

// GuardsNetwork reports whether a command with the network can only connect to
// [Spec.Hole], and is sent back to it by the system where it tries otherwise: at level
// 3, and at level 2 from Landlock ABI 4 (Linux 6.7) on.
func (r Report) GuardsNetwork() bool {
	return r.Level >= sys.IsolationFull || r.Level == sys.IsolationPartial && guardsNetwork(r.Landlock)
}

func guardsNetwork(landlock int) bool { return landlock >= 4 }

// Canary is one thing that was tried from inside.
type Canary struct {
	Name string `json:"name"`
	// Held says that an escape failed, or that a thing which commands need
	// worked.
	Held   bool   `json:"held"`
	Detail string `json:"detail"`
	// Advisory says that the level does not depend on it.
	Advisory bool `json:"advisory,omitempty"`
}

// Probe finds out the level by running escape attempts through the helper. The
// answer is kept; later calls return it. A probe that ctx cut short is not
// kept, and reports level 0.
func (r *Runner) Probe(ctx context.Context) Report {
	r.probing.Lock()
	defer r.probing.Unlock()
	r.mu.Lock()
	known := r.report
	if known == nil && !r.closed && !r.swept {
		r.swept = true
		r.leaving.Go(func() { sweepTemps(r.cfg.TempDir) })
	}
	r.mu.Unlock()
	if known != nil {
		return *known
	}
	rep := r.probe(ctx)
	if ctx.Err() != nil {
		return Report{Problem: "The probe was stopped before it could finish.", At: time.Now()}
	}
	if r.cfg.Most > 0 {
		rep.Level = min(rep.Level, r.cfg.Most)
	}
	r.mu.Lock()
	r.report = &rep
	r.mu.Unlock()
	r.cfg.Log.InfoContext(ctx, "Isolation probed", "level", int(rep.Level), "landlock", rep.Landlock, "problem", rep.Problem)
	return rep
}
