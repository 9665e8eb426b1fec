package kernel

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"oxios/kernel/agent"
	"oxios/kernel/event"
	"oxios/kernel/security"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// ReplayQuery names the run to replay, and with a policy what to ask of it.
type ReplayQuery struct {
	RunID  string        `json:"run_id"`
	Policy *ReplayPolicy `json:"policy,omitempty"`
}

// ReplayPolicy is what would have been in force. What is left out stays as it
// is, or as it was for the run.
type ReplayPolicy struct {
	Mode      string   `json:"mode,omitempty" toml:"mode"`           // ask, guarded or autonomous
	Profile   string   `json:"profile,omitempty" toml:"profile"`     // the rights of the agent
	ToolsOff  []string `json:"tools_off,omitempty" toml:"tools_off"` // tools that are switched off
	Isolation *int     `json:"isolation,omitempty" toml:"isolation"` // how strongly commands are contained, 0 to 2
}

// Replay is what came of a replay.
type Replay struct {
	RunID     string           `json:"run_id"`
	Events    []ReplayEvent    `json:"events,omitempty"`    // without a policy: what happened, step by step
	Same      bool             `json:"same"`                // the loop did again what the journal has; with a policy: no decision differs
	Differs   string           `json:"differs,omitempty"`   // how not, as a diff
	Decisions []ReplayDecision `json:"decisions,omitempty"` // with a policy: the decisions that differ
}

// ReplayEvent is what became of one step, or of the run: without times, and
// with the pieces of a stream joined.
type ReplayEvent struct {
	Kind      string          `json:"kind"` // that of the step, or run
	Name      string          `json:"name,omitempty"`
	States    []string        `json:"states,omitempty"` // through which it went
	Outcome   string          `json:"outcome,omitempty"`
	Args      json.RawMessage `json:"args,omitempty"`
	Text      string          `json:"text,omitempty"`
	Reasoning string          `json:"reasoning,omitempty"`
	Output    string          `json:"output,omitempty"`
}

// ReplayDecision is a decision that would have been another one.
type ReplayDecision struct {
	Step  int    `json:"step"`
	Tool  string `json:"tool"`
	Title string `json:"title"`
	Was   string `json:"was"` // free, ask or never
	Now   string `json:"now"`
	Why   string `json:"why,omitempty"`
}

// Replay runs the loop of an ended run again, from its journal: the model's
// answers and the tools' results come from there, so that nothing is asked,
// paid or done. With a policy it says instead which of its tool calls would be
// decided otherwise.
func (a *AgentsAPI) Replay(ctx context.Context, q ReplayQuery) (Replay, error) {
	return guard(ctx, a.caller, action{call: "agents.replay", resource: "run:" + q.RunID}, func(ctx context.Context) (Replay, error) {
		id, err := a.k.runID(ctx, q.RunID)
		if err != nil {
			return Replay{}, err
		}
		run, err := a.k.run(ctx, id)
		if err != nil {
			return Replay{}, err
		}
		if !run.State.Ended() {
			return Replay{}, sys.Errorf(sys.CodeConflict, "That run has not ended, so it cannot be replayed yet.").WithHint("Wait for its end, or stop it.")
		}
		if run.FreedAt != nil {
			return Replay{}, sys.Errorf(sys.CodeNotFound, "The journal of that run was freed on %s, so it cannot be replayed.", run.FreedAt.Local().Format(time.DateTime)).
				WithHint("What it said and did still stands in its conversation. journal_days says how long journals are kept.")
		}
		steps, err := a.k.store.Steps(ctx, id)
		if err != nil {
			return Replay{}, err
		}
		steps = slices.DeleteFunc(steps, madeAgain)
		if q.Policy != nil {
			return a.k.redecide(ctx, run, steps, *q.Policy)
		}
		return a.k.replay(ctx, run, steps)
	})
}

// madeAgain reports a model call that a crash cut off: the one behind it is the
// same once more.
func madeAgain(s store.Step) bool {
	return s.State != store.StepClosed || (s.Kind == store.StepModel || s.Kind == store.StepContext) && s.Outcome == store.OutcomeCanceled && strings.Contains(string(s.Result), agent.CutByCrash)
}

// replay runs the loop in a database of its own.
func (k *Kernel) replay(ctx context.Context, run Run, steps []store.Step) (Replay, error) {
	dir, err := os.MkdirTemp("", "oxios-replay-")
	if err != nil {
		return Replay{}, sys.Errorf(sys.CodeUnavailable, "There is no place for a replay: %w.", err)
	}
	defer os.RemoveAll(dir)
	st, err := store.Open(ctx, filepath.Join(dir, "replay.db"), store.Options{Clock: k.clock})
	if err != nil {
		return Replay{}, err
	}
	defer st.Close()
	copied := Run{ID: run.ID, Name: run.Name, Text: run.Text, Attachments: run.Attachments, Model: run.Model, Provider: run.Provider, Folder: run.Folder}
	session := Session{ID: sys.NewID(), Title: "replay"}
	copied.SessionID = session.ID
	err = st.Write(ctx, func(tx *store.Tx) error {
		if err := st.InsertSession(tx, &session); err != nil {
			return err
		}
		return st.CreateRun(tx, &copied)
	})
	if err != nil {
		return Replay{}, err
	}
	bus := event.NewBus(k.clock)
	defer bus.Close()
	within, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	p := &player{steps: slices.Clone(steps), run: run, cancel: cancel}
	spec := agent.Spec{
		Run: copied, Model: p, Toolset: agent.Toolset{Tools: p.tools()}, System: "replay", Queued: p.queued, Notes: p.notes, Mailbox: p, Task: p, Recorded: p.room,
		MaxTurns: p.maxTurns(), MaxConcurrent: agent.DefaultMaxConcurrent,
	}
	if _, err := (&agent.Runner{Store: st, Bus: bus, Log: k.log, Clock: k.clock}).Execute(within, spec); err != nil {
		return Replay{}, err
	}
	again, err := st.Steps(ctx, copied.ID)
	if err != nil {
		return Replay{}, err
	}
	ended, err := st.Run(ctx, copied.ID)
	if err != nil {
		return Replay{}, err
	}
	out := Replay{RunID: run.ID, Events: canonical(again, ended)}
	recorded, err := told(canonical(steps, run))
	if err != nil {
		return Replay{}, err
	}
	replayed, err := told(out.Events)
	if err != nil {
		return Replay{}, err
	}
	out.Differs = unifiedDiff("events", recorded, replayed)
	out.Same = out.Differs == ""
	return out, nil
}

// told is events as text, a field a line.
func told(events []ReplayEvent) (string, error) {
	text, err := json.MarshalIndent(events, "", "  ")
	return string(text) + "\n", err
}

// canonical tells steps and the end of their run as events.
func canonical(steps []store.Step, run Run) []ReplayEvent {
	events := []ReplayEvent{}
	for _, s := range steps {
		v := agent.View(s)
		e := ReplayEvent{Kind: string(s.Kind), Name: s.Name, Outcome: s.Outcome, Text: v.Text, Reasoning: v.Detail, Output: v.Output}
		if s.Kind == store.StepTool {
			e.Args = v.Args
		}
		e.States = append(e.States, string(store.StepProposed))
		if s.ApprovalID != "" {
			e.States = append(e.States, string(store.StepWaiting))
		}
		if s.StartedAt != nil {
			e.States = append(e.States, string(store.StepStarted))
		}
		if s.State == store.StepClosed {
			e.States = append(e.States, string(store.StepClosed))
		}
		events = append(events, e)
	}
	return append(events, ReplayEvent{Kind: "run", Outcome: string(run.State), Text: run.EndReason})
}

// redecide asks the guard about each tool call of a run, as it would decide
// under another policy.
func (k *Kernel) redecide(ctx context.Context, run Run, steps []store.Step, p ReplayPolicy) (Replay, error) {
	mode, err := security.ParseMode(cmp.Or(p.Mode, run.Mode))
	if err != nil {
		return Replay{}, err
	}
	who := sys.Principal{Kind: sys.KindAgent, ID: run.ID, Name: run.Name, Profile: cmp.Or(p.Profile, run.Profile)}
	trial := &trial{isolation: k.isolation(), read: run.Labels}
	if p.Isolation != nil {
		trial.isolation = sys.Isolation(*p.Isolation)
	}
	c := &caller{k: k, who: who, trial: trial, scope: scope{runID: run.ID, sessionID: run.SessionID, folder: run.Folder, mode: mode, agent: run.Name}}
	if c.cspace, err = security.SpaceOf(who); err != nil {
		return Replay{}, err
	}
	c.rules = rulesOf(run)
	c.rules.Role.Profile = who.Profile
	c.role = c.rules.Most()
	set, err := k.opts.Tools(ctx, handleOf(c), run.Text)
	if err != nil {
		return Replay{}, err
	}
	out := Replay{RunID: run.ID}
	for _, s := range steps {
		if s.Kind != store.StepTool || s.StartedAt == nil && s.ApprovalID == "" && s.Outcome != store.OutcomeDenied {
			continue // nothing came to the guard
		}
		d := ReplayDecision{Step: s.Seq, Tool: s.Name, Title: agent.View(s).Title, Was: decided(s)}
		var args agent.CallArgs
		_ = json.Unmarshal(s.Args, &args)
		i := slices.IndexFunc(set.Tools, func(t agent.Tool) bool { return t.Name() == s.Name })
		switch {
		case i < 0 || slices.Contains(p.ToolsOff, s.Name):
			d.Now, d.Why = string(security.DecisionNever), "the tool is not offered"
		default:
			trial.decision, trial.why = security.DecisionFree, ""
			_, _ = set.Tools[i].Call(ctx, args.Args) // the guard notes its decision and lets nothing through
			d.Now, d.Why = string(trial.decision), trial.why
		}
		trial.read = trial.read.Join(s.Labels)
		if d.Now == string(security.DecisionNotice) {
			d.Now = string(security.DecisionFree)
		}
		if d.Now != d.Was {
			out.Decisions = append(out.Decisions, d)
		}
	}
	out.Same = len(out.Decisions) == 0
	return out, nil
}

// decided is what the guard decided about a step when it ran.
func decided(s store.Step) string {
	switch {
	case s.ApprovalID != "":
		return string(security.DecisionAsk)
	case s.Outcome == store.OutcomeDenied:
		return string(security.DecisionNever)
	}
	return string(security.DecisionFree)
}

// trial is a policy that is only tried: the guard says what it would decide, and
// lets nothing through.
type trial struct {
	isolation sys.Isolation
	read      Labels // what the run had read when it made the call
	decision  security.Decision
	why       string
}

// errTrial ends each call of a trial.
var errTrial = &sys.Error{Code: sys.CodeRefused, Message: "It is only tried."}

func (c *caller) try(ctx context.Context, row Syscall, a action) error {
	t := c.trial
	weighed, err := c.weigh(ctx, row, a)
	if err != nil {
		return err
	}
	decision, why := security.DecisionFree, ""
	err = cmp.Or(c.allowed(ctx, row), c.permits(row, a))
	switch {
	case err != nil:
		decision, why = security.DecisionNever, err.Error()
	case a.subject != nil && a.tier >= 3:
		decision, why = security.DecisionNever, a.refusal.EN
	case a.subject != nil:
		decision = security.Decide(c.scope.mode, a.effect, a.tier, a.readOnly, t.isolation)
		if why = string(a.effect); a.asks {
			decision = security.DecisionAsk
		}
		if weighed.decision == security.DecisionNever || weighed.decision == security.DecisionAsk {
			decision, why = weighed.decision, string(weighed.reason)
		}
	}
	t.decision, t.why = decision, why
	return errTrial
}
