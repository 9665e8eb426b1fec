package kernel

import (
	"context"
	"sync"

	"oxios/kernel/agent"
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
	gate gate

	mu   sync.Mutex
	live map[string]*liveRun
}

// liveRun is what the guard needs to know of a run that somebody works on.
type liveRun struct {
	scope   scope
	profile string
	waiting int // open approvals
}

func newRuns(concurrent int) *runs {
	return &runs{Supervisor: agent.NewSupervisor(concurrent), gate: gate{open: closedChan()}, live: map[string]*liveRun{}}
}

// enter makes a run known, leave forgets it.
func (r *runs) enter(run Run, mode security.Mode) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.live[run.ID] = &liveRun{profile: run.Profile, scope: scope{
		runID: run.ID, sessionID: run.SessionID, folder: run.Folder, mode: mode, agent: run.Name,
	}}
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

// inSession returns the live run of a conversation, or "".
func (r *runs) inSession(session string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, l := range r.live {
		if l.scope.sessionID == session {
			return id
		}
	}
	return ""
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
