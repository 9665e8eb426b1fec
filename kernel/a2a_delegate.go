package kernel

import (
	"context"
	"slices"
	"strings"

	"oxios/kernel/a2a"
	"oxios/kernel/schedule"
	"oxios/kernel/security"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// Delegation is a task for whoever fits it.
type Delegation struct {
	Task         string   `json:"task"`                   // with all that is to be known
	Capabilities []string `json:"capabilities,omitempty"` // what it takes; default what follows from the task
	Name         string   `json:"name,omitempty"`         // of the agent that is started, if one is
	Folder       string   `json:"folder,omitempty"`       // of that one, inside the delegator's
	Profile      string   `json:"profile,omitempty"`      // of that one, default worker
	Priority     string   `json:"priority,omitempty"`
	Wait         bool     `json:"wait,omitempty"`      // for the result; else it comes as a message
	TimeoutS     int      `json:"timeout_s,omitempty"` // of the waiting, default 300, at most 3600
}

// Delegated says who has the task.
type Delegated struct {
	RunID   string        `json:"run_id"`
	PID     int64         `json:"pid"`
	Name    string        `json:"name"`
	Forked  bool          `json:"forked"`           // it was started for this
	Message AgentMessage  `json:"message"`          // the task as it was handed over
	Result  *AgentMessage `json:"result,omitempty"` // when it was waited for
}

// Delegate hands a task to a live agent of the caller's tree that was started
// for such work, and starts a child of the caller where there is none. Nobody
// gets a task who has more rights than the caller, works in another mode or
// outside its folder, has started the caller, or waits for it. The result is
// what that agent replies, or says at its end.
func (a *A2AAPI) Delegate(ctx context.Context, d Delegation) (Delegated, error) {
	d.Task = a.forOthers(d.Task)
	meta := map[string]any{"task": sys.Shorten(d.Task, 200), "capabilities": strings.Join(d.Capabilities, " ")}
	act := action{call: "a2a.delegate", resource: "run:" + a.scope.runID, meta: meta, effect: security.EffectRead, subject: d}
	act.card = handing(sys.Say("Hands a task to another agent: %s", sys.Shorten(d.Task, 200)), d.Task)
	result := ""
	act.brought = a.wordsOf(func() []string { return []string{result} })
	return guard(ctx, a.caller, act, func(ctx context.Context) (Delegated, error) {
		if a.scope.runID == "" {
			return Delegated{}, sys.Errorf(sys.CodeInvalid, "Only an agent delegates. Nothing was started.").WithHint("Send a message to start an agent.")
		}
		p := a2a.TaskDelegation{TaskID: sys.NewID(), Description: d.Task, Priority: d.Priority}
		if err := a2a.Check(p); err != nil {
			return Delegated{}, err
		}
		if _, err := schedule.ParsePriority(d.Priority); err != nil {
			return Delegated{}, err
		}
		out, err := a.handOver(ctx, d, p, false)
		if err != nil || !d.Wait {
			return out, err
		}
		err = a.resultOf(ctx, &out, d.TimeoutS)
		if out.Result != nil && out.Result.Made == store.MailOfReturned && !out.Forked { // it ended before it read the task: nothing of it was done
			if out, err = a.handOver(ctx, d, p, true); err == nil {
				err = a.resultOf(ctx, &out, d.TimeoutS)
			}
		}
		result = out.RunID
		return out, err
	})
}

func (a *A2AAPI) resultOf(ctx context.Context, d *Delegated, timeoutS int) error {
	done, err := a.k.waitsFor(a.scope.runID, d.RunID)
	if err != nil {
		return nil //nolint:nilerr // it began to wait for the caller meanwhile: the task is handed over, and its result comes as a message
	}
	defer done()
	m, err := a.await(ctx, d.Message, timeoutS)
	if m.ID != "" {
		d.Result = &m
	}
	return err
}

// handOver gives the task to somebody; what this very step has handed over
// before a crash is not handed over again.
func (a *A2AAPI) handOver(ctx context.Context, d Delegation, p a2a.TaskDelegation, fork bool) (Delegated, error) {
	if s := store.StepFrom(ctx); s != nil {
		old, err := a.k.exchange.List(ctx, store.MailQuery{MadeBy: s.Step().ID, Limit: 1})
		if err != nil {
			return Delegated{}, err
		}
		if m := first(old); m.ID != "" && (!fork || m.State != store.MailReturned) {
			r, err := a.k.run(ctx, m.To)
			return Delegated{RunID: r.ID, PID: r.PID, Name: r.Name, Forked: r.MadeBy == s.Step().ID, Message: m}, err
		}
	}
	if c, ok, err := a.fitting(ctx, d, func(AgentCard) bool { return true }); err != nil {
		return Delegated{}, err
	} else if ok && !fork {
		m, err := a.send(ctx, a2a.Envelope{To: c.ID, ToName: c.Name, SessionID: c.SessionID, Payload: p, Asks: true})
		if err == nil {
			return Delegated{RunID: c.ID, PID: c.PID, Name: c.Name, Message: m}, nil
		}
		if code := sys.CodeOf(err); code != sys.CodeConflict && code != sys.CodeBusy { // it has ended meanwhile, or has enough to do
			return Delegated{}, err
		}
	}
	var m AgentMessage
	f, err := (&AgentsAPI{a.caller}).fork(ctx, Fork{Goal: d.Task, Name: d.Name, Folder: d.Folder, Profile: d.Profile, Priority: d.Priority}, func(tx *store.Tx, r Run) (err error) {
		m, err = a.k.exchange.Sent(tx, a2a.Envelope{
			From: a.scope.runID, FromName: a.scope.agent, To: r.ID, ToName: r.Name, SessionID: r.SessionID, Payload: p, Asks: true, MadeBy: r.MadeBy,
		})
		return err
	})
	return Delegated{RunID: f.RunID, PID: f.PID, Name: f.Name, Forked: true, Message: m}, err
}

// fitting finds the live agent to which a task may be handed, of those that are
// among the ones asked for the one with the fewest waiting messages.
func (a *A2AAPI) fitting(ctx context.Context, d Delegation, among func(AgentCard) bool) (AgentCard, bool, error) {
	wanted := a2a.Wanted(d.Capabilities...)
	if len(wanted) == 0 {
		wanted = a2a.Inferable(d.Task)
	}
	if len(wanted) == 0 {
		return AgentCard{}, false, nil
	}
	cards, err := a.reachable(ctx)
	if err != nil {
		return AgentCard{}, false, err
	}
	me, err := a.k.run(ctx, a.scope.runID)
	if err != nil {
		return AgentCard{}, false, err
	}
	above, err := a.k.lineage(ctx, me)
	if err != nil {
		return AgentCard{}, false, err
	}
	var best AgentCard
	least := a2a.MaxWaiting
	for _, c := range cards {
		if !among(c) || slices.Contains(above, c.ID) || !c.StartedFor(wanted) || a.k.exchange.WaitsFor(c.ID, me.ID) || !a.within(c, d) {
			continue
		}
		n := 0
		err := a.k.store.Read(ctx, func(tx *store.Tx) (err error) {
			n, err = a.k.store.Waits(tx, c.ID)
			return err
		})
		if err != nil {
			return AgentCard{}, false, err
		}
		if n < least {
			best, least = c, n
		}
	}
	return best, best.ID != "", nil
}

// within reports whether an agent may do no more than the caller, and no less
// than the task was given: a task is no way around one's own rights.
func (a *A2AAPI) within(c AgentCard, d Delegation) bool {
	l := a.k.runs.of(c.ID)
	if !l.rules.Most().SubsetOf(a.role) || l.scope.mode != a.scope.mode {
		return false
	}
	if d.Profile != "" && d.Profile != c.Profile {
		return false
	}
	return d.Folder == "" && security.Within(l.scope.folder, a.scope.folder)
}
