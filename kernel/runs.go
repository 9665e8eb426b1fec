package kernel

import (
	"context"
	"slices"
	"sync"
	"time"

	"oxios/kernel/agent"
	"oxios/kernel/orchestrator"
	"oxios/kernel/schedule"
	"oxios/kernel/security"
	"oxios/kernel/sys"
)

// gate stands in front of every new step while everything is paused.
type gate struct {
	mu     sync.Mutex
	paused bool
	open   chan struct{} // closed while steps may begin
}

func closedChan() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

func (g *gate) set(paused bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case paused && !g.paused:
		g.open = make(chan struct{})
	case !paused && g.paused:
		close(g.open)
	}
	g.paused = paused
}

func (g *gate) is() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.paused
}

func (g *gate) pass(ctx context.Context) error {
	g.mu.Lock()
	open := g.open
	g.mu.Unlock()
	select {
	case <-open:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// runs is the kernel's view of the runs that somebody works on.
type runs struct {
	*agent.Supervisor
	scheduler *schedule.Scheduler
	gate      gate

	mu   sync.Mutex
	live map[string]*liveRun
}

// liveRun is what the guard needs to know of a run that somebody works on.
type liveRun struct {
	scope   scope
	profile string
	rules   security.Rules
	parent  string
	gate    *gate // closed while this run is paused
	waiting int   // open approvals
	joining int   // runs that it waits for
	task    *orchestrator.Task
	labels  Labels // where what it has read came from; never changed in place
}

// places lets the supervisor's runs work in the places of the scheduler.
type places struct{ *schedule.Scheduler }

func (p places) Acquire(ctx context.Context, id string, priority int) (agent.Slot, error) {
	return p.Scheduler.Acquire(ctx, id, schedule.Priority(priority))
}

func newRuns(cfg Config, clock sys.Clock, overloaded func() bool) *runs {
	r := &runs{gate: gate{open: closedChan()}, live: map[string]*liveRun{}}
	zombie := time.Duration(cfg.ZombieTimeoutSecs) * time.Second
	r.scheduler = schedule.New(schedule.Config{Concurrent: cfg.MaxConcurrent, OldFirst: cfg.OldestFirst, Zombie: zombie, Clock: clock, Overloaded: overloaded, Dead: func(id string) {
		r.Kill(id, sys.Errorf(sys.CodeTimeout, "Oxios stopped the run, because it made no progress for %d seconds (zombie_timeout_secs). What was done before is kept.", cfg.ZombieTimeoutSecs).
			WithHint("Continue, or say what should be done differently. A command that is silent for longer needs a higher zombie_timeout_secs."))
	}})
	r.Supervisor = agent.NewSupervisor(places{r.scheduler})
	return r
}

// task returns what a run has begun; nil when it is not live.
func (r *runs) task(id string) *orchestrator.Task { return r.of(id).task }

// enter makes a run known, leave forgets it.
func (r *runs) enter(run Run, space string, mode security.Mode, task *orchestrator.Task, labels Labels) {
	own := &gate{open: closedChan()}
	own.set(run.Paused)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.live[run.ID] = &liveRun{profile: run.Profile, rules: rulesOf(run), parent: run.ParentID, gate: own, task: task, labels: labels, scope: scope{
		runID: run.ID, sessionID: run.SessionID, folder: run.Folder, mode: mode, agent: run.Name, space: space,
	}}
}

// inSpace says that conversations are in another space now.
func (r *runs) inSpace(space string, sessions ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, l := range r.live {
		if slices.Contains(sessions, l.scope.sessionID) {
			l.scope.space = space
		}
	}
}

// label adds to what a live run has read.
func (r *runs) label(id string, more Labels) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if l, ok := r.live[id]; ok {
		l.labels = l.labels.Join(more)
	}
}

// pass blocks while the run, or everything, is paused.
func (r *runs) pass(id string) func(context.Context) error {
	return func(ctx context.Context) error {
		own := r.of(id).gate
		for own != nil && (own.is() || r.gate.is()) {
			for _, g := range []*gate{own, &r.gate} {
				back := sys.Park(ctx)
				err := g.pass(ctx)
				back()
				if err != nil {
					return err
				}
			}
		}
		return nil
	}
}

func (r *runs) leave(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.live, id)
}

// of returns what is known of a run; the zero value when it is not live.
func (r *runs) of(id string) liveRun {
	r.mu.Lock()
	defer r.mu.Unlock()
	if l, ok := r.live[id]; ok {
		return *l
	}
	return liveRun{}
}

// wait counts an approval more or less that a run waits for, and returns how
// many there were before.
func (r *runs) wait(id string, n int) (before int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if l, ok := r.live[id]; ok {
		before = l.waiting
		l.waiting += n
	}
	return before
}

// inSession returns the live run that answers in a conversation, or "".
func (r *runs) inSession(session string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, l := range r.live {
		if l.scope.sessionID == session && l.parent == "" {
			return id
		}
	}
	return ""
}

// allIn returns every live run of a conversation, forks included.
func (r *runs) allIn(session string) (ids []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, l := range r.live {
		if l.scope.sessionID == session {
			ids = append(ids, id)
		}
	}
	return ids
}

// atWork counts the runs that do not wait for a person.
func (r *runs) atWork() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for _, l := range r.live {
		if l.waiting == 0 {
			n++
		}
	}
	return n
}

func (k *Kernel) agentPrincipal(run string) sys.Principal {
	l := k.runs.of(run)
	return sys.Principal{Kind: sys.KindAgent, ID: run, Name: l.scope.agent, Profile: l.profile}
}
