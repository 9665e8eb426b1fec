package kernel

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"oxios/kernel/llm"
	"oxios/kernel/sys"
)

// How long a run waits before it tries again to reach its provider. The pause
// doubles each time.
const (
	firstPause = 2 * time.Second
	maxPause   = 30 * time.Second
)

// Offline is a provider elsewhere that cannot be reached, and the runs whose
// messages wait for it.
type Offline struct {
	Provider string     `json:"provider"`
	Name     string     `json:"name"`
	Since    time.Time  `json:"since"`
	Runs     []string   `json:"runs"`              // their ids
	Problem  *sys.Error `json:"problem,omitempty"` // what the newest try said

	// RetryAt is when a provider that answered with failures only is tried again;
	// nil for one that cannot be reached.
	RetryAt *time.Time `json:"retry_at,omitempty"`
}

// away returns the providers that runs wait for, and those that are left alone
// because they failed several times in a row.
func (k *Kernel) away() []Offline {
	out := k.network.list()
	for _, s := range k.engine.breakers.Open() {
		at := slices.IndexFunc(out, func(o Offline) bool { return o.Provider == s.Provider })
		if at < 0 {
			at = len(out)
			out = append(out, Offline{Provider: s.Provider, Name: k.engine.nameOf(s.Provider), Since: s.Since, Runs: []string{}})
		}
		if retry := s.RetryAt; !retry.IsZero() {
			out[at].RetryAt = &retry
		} else {
			out[at].RetryAt = new(time.Time)
			*out[at].RetryAt = k.clock.Now()
		}
	}
	return out
}

// network knows which runs wait for a provider that cannot be reached. What
// waits is the model call of a run: nothing of it has left the machine, so it is
// simply made later. A run of the command line does not wait; it says at once
// what is wrong.
type network struct {
	mu    sync.Mutex
	down  map[string]*outage // by provider
	again chan struct{}      // closed when all shall try at once
}

type outage struct {
	name    string
	since   time.Time
	runs    map[string]bool
	problem *sys.Error
}

func newNetwork() *network {
	return &network{down: map[string]*outage{}, again: make(chan struct{})}
}

// list returns the providers that runs wait for, by name.
func (n *network) list() []Offline {
	n.mu.Lock()
	defer n.mu.Unlock()
	var out []Offline
	for id, o := range n.down {
		out = append(out, Offline{Provider: id, Name: o.name, Since: o.since, Runs: slices.Sorted(maps.Keys(o.runs)), Problem: o.problem})
	}
	slices.SortFunc(out, func(a, b Offline) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// isDown reports whether runs wait for a provider.
func (n *network) isDown(provider string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.down[provider] != nil
}

// enter notes that a run waits for a provider, and what the newest try said. It
// returns a channel that is closed when the run shall try at once.
func (n *network) enter(provider, name, run string, problem *sys.Error, now time.Time) <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	o := n.down[provider]
	if o == nil {
		o = &outage{name: name, since: now, runs: map[string]bool{}}
		n.down[provider] = o
	}
	o.runs[run], o.problem = true, problem
	return n.again
}

// leave notes that a run waits no longer. reached says that its provider
// answered: then all others try at once.
func (n *network) leave(provider, run string, reached bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if o := n.down[provider]; o != nil {
		if delete(o.runs, run); len(o.runs) == 0 {
			delete(n.down, provider)
		}
	}
	if reached {
		n.wake()
	}
}

// wake has all that wait try at once. The caller holds the lock.
func (n *network) wake() {
	close(n.again)
	n.again = make(chan struct{})
}

// Reconnect has the runs that wait for a provider try it again at once, and
// returns the status.
func (a *InfraAPI) Reconnect(ctx context.Context) (Status, error) {
	return guard(ctx, a.caller, action{call: "infra.reconnect", resource: "network", network: true}, func(ctx context.Context) (Status, error) {
		for _, o := range a.k.away() {
			a.k.engine.breakers.Reset(o.Provider)
		}
		a.k.network.mu.Lock()
		a.k.network.wake()
		a.k.network.mu.Unlock()
		return a.k.status(ctx)
	})
}

// patiently makes a model call, and while the provider cannot be reached waits
// and makes it again, until it answers or ctx ends. Nothing is reserved for a
// call that waits: others may use it meanwhile. Without wait it is made once.
func (m *guardedModel) patiently(ctx context.Context, req *llm.Request, emit func(llm.Delta), reserve func(context.Context) error, release func(), wait bool) (*llm.Response, error) {
	resp, err := m.restingOut(ctx, req, emit, reserve, release)
	if !m.patient || m.chosen.Endpoint().Here() || !m.unreached(err) || !wait {
		return resp, err
	}
	net, id, run := m.caller.k.network, m.chosen.provider, m.caller.scope.runID
	defer m.caller.k.publishStatus()
	reached := false
	defer func() { net.leave(id, run, reached) }()
	for pause := firstPause; ; pause = min(2*pause, maxPause) {
		release()
		problem := sys.AsError(err)
		again := net.enter(id, m.chosen.Endpoint().Name, run, problem, m.caller.k.clock.Now())
		m.caller.k.publishStatus()
		if emit != nil {
			emit(llm.Delta{Retry: sys.Say("%s The message waits, and goes out when the connection is back.", sys.Words{EN: problem.Message, KO: problem.MessageKO})})
		}
		back := sys.Park(ctx)
		select {
		case <-again:
			pause = firstPause / 2
		case <-time.After(pause):
		case <-ctx.Done():
		}
		back()
		if ctx.Err() != nil {
			return nil, sys.AsError(ctx.Err())
		}
		if err = reserve(ctx); err != nil {
			return nil, err
		}
		if resp, err = m.chosen.complete(ctx, *req, emit); !m.unreached(err) {
			reached = ctx.Err() == nil
			return resp, err
		}
	}
}

// maxRests is how many pauses of a provider a call waits out.
const maxRests = 3

// restingOut makes a call. Where the provider is left alone after failures of
// others, a run that has work behind it waits out the pause: what was done is not
// to end because a call came a few seconds too early. The first call of a message
// ends at once, and says why.
func (m *guardedModel) restingOut(ctx context.Context, req *llm.Request, emit func(llm.Delta), reserve func(context.Context) error, release func()) (*llm.Response, error) {
	resp, err := m.chosen.complete(ctx, *req, emit)
	for n := 0; n < maxRests && m.works(*req); n++ {
		rest, ok := m.caller.k.engine.breakers.Rest(m.chosen.provider)
		if !ok || sys.CodeOf(err) != sys.CodeUnavailable {
			break
		}
		release()
		told := sys.AsError(err)
		if emit != nil {
			emit(llm.Delta{Retry: sys.Say("%s The run waits and goes on then.", sys.Words{EN: told.Message, KO: told.MessageKO})})
		}
		back := sys.Park(ctx)
		select {
		case <-time.After(rest):
		case <-ctx.Done():
		}
		back()
		if ctx.Err() != nil {
			return nil, sys.AsError(ctx.Err())
		}
		if err = reserve(ctx); err != nil {
			return nil, err
		}
		resp, err = m.chosen.complete(ctx, *req, emit)
	}
	return resp, err
}

// works reports whether the run has work behind it that a failure would end: it is
// an agent's, or a model or a tool has answered in it.
func (m *guardedModel) works(req llm.Request) bool {
	return len(m.runs) > 1 || req.Messages[len(req.Messages)-1].Role == llm.RoleTool
}

// unreached reports whether the provider could not be reached: the network said
// so, or its breaker did, because of other runs that wait.
func (m *guardedModel) unreached(err error) bool {
	if errors.Is(err, llm.ErrUnreachable) {
		return true
	}
	return sys.CodeOf(err) == sys.CodeUnavailable && m.caller.k.network.isDown(m.chosen.provider)
}
