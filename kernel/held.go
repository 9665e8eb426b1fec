package kernel

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"time"

	"oxios/kernel/limit"
	"oxios/kernel/sys"
)

// The kinds of a [Held].
const (
	HeldByLimit    = "limit"
	HeldByProvider = "provider"
)

// heldAfter is how long a provider may be away before the person hears of it: a
// network that changes is back sooner.
const heldAfter = time.Minute

// maxHeldRuns bounds the runs that a [Held] names.
const maxHeldRuns = 50

// Held is what keeps runs from going on: a limit that is reached, or a provider
// that has not been reached for a minute. Runs that wait for the same are told
// as one, and it is gone when none of them waits any more.
type Held struct {
	ID        string    `json:"id"`    // the same as long as it lasts
	Kind      string    `json:"kind"`  // limit or provider
	Since     time.Time `json:"since"` // the first of them waits
	Runs      []HeldRun `json:"runs"`  // the newest 50 of them
	Count     int       `json:"count"` // how many there are
	Message   string    `json:"message"`
	MessageKO string    `json:"message_ko,omitempty"`
	Hint      string    `json:"hint,omitempty"` // what lets them go on
	HintKO    string    `json:"hint_ko,omitempty"`
	Name      string    `json:"name,omitempty"`    // of the provider
	Reached   *Reached  `json:"reached,omitempty"` // the limit, as the run that needs most of it found it
}

// HeldRun is a run that waits for something that is [Held].
type HeldRun struct {
	RunID     string `json:"run_id"`
	SessionID string `json:"session_id"`
	Name      string `json:"name"`
}

// held returns what keeps runs from going on, the first one first.
func (k *Kernel) held() []Held {
	out := append(k.heldByLimits(), k.heldByProviders()...)
	slices.SortFunc(out, func(a, b Held) int { return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.ID, b.ID)) })
	return out
}

// heldByLimits tells every limit once, however many runs wait for it.
func (k *Kernel) heldByLimits() []Held {
	var out []Held
	for _, r := range k.reached.list() {
		id := "limit:" + r.Scope + ":" + r.Of + ":" + r.Kind
		at := slices.IndexFunc(out, func(h Held) bool { return h.ID == id })
		if at < 0 {
			at = len(out)
			out = append(out, Held{ID: id, Kind: HeldByLimit, Since: r.Since})
		}
		h := &out[at]
		k.addHeld(h, r.RunID)
		if r.Since.Before(h.Since) {
			h.Since = r.Since
		}
		if h.Reached == nil || r.Needs > h.Reached.Needs {
			h.Reached, h.Message, h.MessageKO = &r, r.Message, r.MessageKO
			hint := k.raiseHint(r)
			h.Hint, h.HintKO = hint.EN, hint.KO
		}
	}
	return out
}

func (k *Kernel) heldByProviders() []Held {
	var out []Held
	for _, o := range k.network.list() {
		if k.clock.Now().Sub(o.Since) < heldAfter {
			continue
		}
		h := Held{ID: "provider:" + o.Provider, Kind: HeldByProvider, Since: o.Since, Name: o.Name}
		if o.Problem != nil {
			h.Message, h.MessageKO = o.Problem.Message, o.Problem.MessageKO
		}
		hint := sys.Say("It is tried again by itself, and what waits goes out when it answers. Nothing was sent elsewhere.")
		h.Hint, h.HintKO = hint.EN, hint.KO
		for _, id := range o.Runs {
			k.addHeld(&h, id)
		}
		out = append(out, h)
	}
	return out
}

func (k *Kernel) addHeld(h *Held, run string) {
	h.Count++
	if len(h.Runs) < maxHeldRuns {
		l := k.runs.of(run)
		h.Runs = append(h.Runs, HeldRun{RunID: run, SessionID: l.scope.sessionID, Name: l.scope.agent})
	}
}

// raiseHint says what lets a run go on that waits for a limit: the command in
// full, with room for a while.
func (k *Kernel) raiseHint(r Reached) sys.Words {
	who, most := "day", max(2*r.Limit, r.Used+2*r.Needs)
	if r.Scope == ScopeRun {
		who = r.Of[max(0, len(r.Of)-12):]
	}
	amount := strconv.FormatFloat(math.Ceil(most), 'f', -1, 64)
	if r.Kind == limit.KindUSD && most < 10 {
		amount = strconv.FormatFloat(math.Ceil(most*100-1e-6)/100, 'f', 2, 64)
	}
	command := "`oxios budget set " + who + " --" + r.Kind + " " + amount + "`"
	if r.Scope == ScopeDay {
		return sys.Say("Raise it in the window, or with %s. %s", command, k.nextWindow())
	}
	return sys.Say("Raise it in the window, or with %s.", command)
}
