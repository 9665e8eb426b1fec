package kernel

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"oxios/kernel/limit"
	"oxios/kernel/llm"
	"oxios/kernel/sys"
)

// Reached is a limit that leaves too little for a run's next model call. The run
// waits until it is raised.
type Reached struct {
	RunID     string    `json:"run_id"` // the run that waits
	SessionID string    `json:"session_id"`
	Scope     string    `json:"scope"`        // day or run
	Of        string    `json:"of,omitempty"` // the run whose limit it is: the one that waits, or one that it descends from
	Kind      string    `json:"kind"`         // usd, tokens or calls
	Limit     float64   `json:"limit"`        // in the unit of its kind
	Used      float64   `json:"used"`         // so far
	Needs     float64   `json:"needs"`        // what the next call may take at most
	Since     time.Time `json:"since"`        // it waits
	Message   string    `json:"message"`      // in one sentence
	MessageKO string    `json:"message_ko,omitempty"`
}

// reached are the limits that runs wait for, by run.
type reached struct {
	mu sync.Mutex
	by map[string]Reached
}

func (r *reached) set(v Reached) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.by == nil {
		r.by = map[string]Reached{}
	}
	if before, ok := r.by[v.RunID]; ok {
		v.Since = before.Since // it looked again, and still waits
	}
	r.by[v.RunID] = v
}

func (r *reached) remove(run string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.by, run)
}

func (r *reached) of(run string) (Reached, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	v, ok := r.by[run]
	return v, ok
}

func (r *reached) list() []Reached {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []Reached
	for _, v := range r.by {
		all = append(all, v)
	}
	slices.SortFunc(all, func(a, b Reached) int { return strings.Compare(a.RunID, b.RunID) })
	return all
}

// lookAgain is how often a run that waits for a limit looks by itself: a
// computer that slept through midnight tells nobody.
const lookAgain = time.Minute

// reserve reserves what a call may use. Where a limit leaves too little, a run
// that may wait does so, as it waits for a person, until the limit is raised or
// the day ends; any other fails.
func (m *guardedModel) reserve(ctx context.Context, req llm.Request) (*limit.Hold, error) {
	k, s := m.caller.k, m.caller.scope
	waits := m.waited
	if m.waited { // it waited when an earlier process ended
		m.waited = false
		k.waits(ctx, s, +1)
	}
	defer func() {
		if !waits {
			return
		}
		k.reached.remove(s.runID)
		k.waits(ctx, s, -1)
	}()
	claim := m.claim(req)
	for {
		hold, err := k.budgets.Reserve(ctx, claim)
		short, ok := isShort(err)
		if !ok {
			return hold, err
		}
		why := k.errShort(short, m.chosen.model)
		if !m.parks || short.Unpriced {
			return nil, why
		}
		if !waits { // the run waits before anybody is told for what
			waits = true
			k.waits(ctx, s, +1)
		}
		k.reached.set(Reached{
			RunID: s.runID, SessionID: s.sessionID, Since: k.clock.Now(), Scope: short.Scope, Of: short.Run, Kind: short.Kind,
			Limit: short.Limit, Used: short.Used, Needs: short.Needs, Message: why.Message, MessageKO: why.MessageKO,
		})
		k.publishStatus()
		back := sys.Park(ctx)
		_, until := k.budgets.Window()
		next := time.NewTimer(min(lookAgain, until.Sub(k.clock.Now())+time.Millisecond))
		select {
		case <-short.Changed:
		case <-next.C:
		case <-ctx.Done():
		}
		next.Stop()
		back() // before anything is reserved: who has a slot may wait for what is
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
}
