package kernel

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"oxios/kernel/event"
	"oxios/kernel/schedule"
	"oxios/kernel/security"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// Fork is an agent that another one starts to do a part of its work.
type Fork struct {
	Goal     string `json:"goal"`               // what it is told: it reads nothing else of the conversation
	Name     string `json:"name,omitempty"`     // for people; default the beginning of the goal
	Folder   string `json:"folder,omitempty"`   // inside that of its parent, the default
	Profile  string `json:"profile,omitempty"`  // default worker; never wider than its parent's
	Role     string `json:"role,omitempty"`     // default its parent's; narrowed by it in any case
	Priority string `json:"priority,omitempty"` // low, normal, high or critical; never above its parent's, and by default its parent's but at least normal
	Model    string `json:"model,omitempty"`    // of its parent's provider; default its parent's

	share *store.Share // the part of a seed that it is for
}

// Forked is what came of a [Fork].
type Forked struct {
	RunID string `json:"run_id"`
	PID   int64  `json:"pid"`
	Name  string `json:"name"`
}

// Killed says which runs were told to end.
type Killed struct {
	Runs int `json:"runs"` // with those that it had forked
}

// Fork starts an agent below the one that calls. It returns at once; Wait gives
// what came of it. The child works in its parent's folder and mode, with the
// same rights or fewer. How deep and how many is bounded by max_depth and
// max_children.
func (a *AgentsAPI) Fork(ctx context.Context, f Fork) (Forked, error) {
	return a.fork(ctx, f, nil)
}

// fork is Fork; also runs in the transaction that makes the run, unless it is
// nil.
func (a *AgentsAPI) fork(ctx context.Context, f Fork, also func(*store.Tx, Run) error) (Forked, error) {
	f.Goal = a.forOthers(f.Goal)
	meta := map[string]any{"goal": sys.Shorten(f.Goal, 200), "profile": f.Profile, "role": f.Role}
	act := action{call: "agents.fork", resource: "run:" + a.scope.runID, meta: meta, effect: security.EffectRead, subject: f}
	act.card = handing(sys.Say("Starts another agent: %s", sys.Shorten(f.Goal, 200)), f.Goal)
	return guard(ctx, a.caller, act, func(ctx context.Context) (Forked, error) {
		if a.scope.runID == "" {
			return Forked{}, sys.Errorf(sys.CodeInvalid, "Only an agent forks. Nothing was started.").WithHint("Send a message to start an agent.")
		}
		run, err := a.k.forkOf(ctx, a.caller, f)
		if err != nil {
			return Forked{}, err
		}
		if old, ok, err := a.k.forkedBefore(ctx, run); ok || err != nil {
			return Forked{RunID: old.ID, PID: old.PID, Name: old.Name}, err
		}
		err = a.k.store.Write(ctx, func(tx *store.Tx) error {
			if err := a.k.admit(tx, run); err != nil {
				return err
			}
			if err := a.k.store.CreateRun(tx, &run); err != nil || also == nil {
				return err
			}
			return also(tx, run)
		})
		if err != nil {
			return Forked{}, err
		}
		a.k.publish(event.RunCreated, scope{runID: run.ID, sessionID: run.SessionID}, run)
		if err := a.k.launch(run, nil); err != nil {
			return Forked{}, err
		}
		return Forked{RunID: run.ID, PID: run.PID, Name: run.Name}, nil
	})
}

// checkAgents refuses a number of agents that nobody can mean, or that the
// configuration does not allow.
func (k *Kernel) checkAgents(n int) error {
	if most := k.mostAgents(); n < 0 || n > most {
		return sys.Errorf(sys.CodeInvalid, "%d agents are asked for, but it must be from 1 to %d (max_children). Nothing was sent.", n, most)
	}
	return nil
}

// mostAgents is how many agents a message may be given.
func (k *Kernel) mostAgents() int { return max(k.config.get().MaxChildren, 1) }

// admit refuses a fork when its parent has forked as many as it may, and while
// as many agents work on its task as may. It is asked in the transaction that
// makes the run: of several at once none is one too many.
func (k *Kernel) admit(tx *store.Tx, run Run) error {
	forked, err := k.store.CountForks(tx, run.ParentID)
	if err != nil {
		return err
	}
	if forked >= k.config.get().MaxChildren {
		return sys.Errorf(sys.CodeRefused, "This agent has forked %d agents already, the most there may be (max_children). Nothing was started.", forked).
			WithHint("Do the rest of the work yourself.")
	}
	if run.Agents == 0 {
		return nil
	}
	if run.Agents == 1 {
		return sys.Errorf(sys.CodeRefused, "The person wants one agent for this task. Nothing was started.").WithHint("Do the work yourself.")
	}
	n, err := k.store.Together(tx, run.ParentID)
	if err != nil || n < run.Agents {
		return err
	}
	return sys.Errorf(sys.CodeRefused, "At most %d agents may work on this task at once, and as many do. Nothing was started.", run.Agents).
		WithHint("Wait for one of them with action wait, then fork again; or do this part yourself.")
}

// forkedBefore finds the run that this very step forked before Oxios went down.
func (k *Kernel) forkedBefore(ctx context.Context, run Run) (Run, bool, error) {
	if run.MadeBy == "" {
		return Run{}, false, nil
	}
	list, err := k.store.Runs(ctx, store.RunQuery{MadeBy: run.MadeBy})
	for _, r := range list {
		if r.Text == run.Text && r.Name == run.Name {
			return r, true, err
		}
	}
	return Run{}, false, err
}

// forkOf makes the run of a fork, if its parent may have it.
func (k *Kernel) forkOf(ctx context.Context, c *caller, f Fork) (Run, error) {
	parent, err := k.run(ctx, c.scope.runID)
	if err != nil {
		return Run{}, err
	}
	cfg := k.config.get()
	goal := strings.TrimSpace(f.Goal)
	switch {
	case goal == "":
		return Run{}, sys.Errorf(sys.CodeInvalid, "A fork needs a goal. Nothing was started.").WithHint("Say in goal what it should do, with all that it must know.")
	case len(goal) > maxMessage:
		return Run{}, sys.Errorf(sys.CodeTooLarge, "The goal has more than 1 MB. Nothing was started.").WithHint("Put the material into a file and name the file.")
	case parent.Depth >= cfg.MaxDepth:
		return Run{}, sys.Errorf(sys.CodeRefused, "Agents fork at most %d deep (max_depth), and this one is at the end. Nothing was started.", cfg.MaxDepth).
			WithHint("Do the work yourself.")
	}
	step := ""
	if s := store.StepFrom(ctx); s != nil {
		step = s.Step().ID
	}
	name := titleOf(cmp.Or(strings.TrimSpace(f.Name), goal))
	rules, err := k.forkRules(parent, f, name)
	if err != nil {
		return Run{}, err
	}
	most := max(schedule.Priority(parent.Priority), schedule.Normal)
	priority := most
	if f.Priority != "" {
		if priority, err = schedule.ParsePriority(f.Priority); err != nil {
			return Run{}, err
		}
	}
	choice, err := k.engine.choose(ctx, parent.Provider, cmp.Or(f.Model, parent.Model))
	if err != nil {
		return Run{}, err
	}
	run := Run{
		ID: sys.NewID(), SessionID: parent.SessionID, ParentID: parent.ID, Name: name, State: store.RunQueued,
		Profile: rules.Most().Profile, Role: rules.Role.Name, Rules: rulesText(rules), Folder: parent.Folder, Provider: choice.provider, Model: choice.model, Mode: parent.Mode, Via: parent.Via,
		Text: goal, CreatedAt: k.clock.Now(), Priority: int(min(priority, most)), Depth: parent.Depth + 1, MadeBy: step, Share: f.share,
		Agents: parent.Agents,
	}
	if f.Folder != "" {
		p := c.place(f.Folder)
		if p.err != nil {
			return Run{}, p.err
		}
		if !p.inside || !isFolder(p.abs) {
			return Run{}, sys.Errorf(sys.CodeRefused, "%s is no folder inside the one of this agent. Nothing was started.", f.Folder).
				WithHint("Leave folder out, or name one inside %s.", parent.Folder)
		}
		run.Folder = p.abs
	}
	return run, nil
}

// PauseRun keeps a run, and those that it has forked, from beginning a new step,
// or lets them go on. Steps that are open finish. It is remembered: a paused run
// stays paused over a restart.
func (a *AgentsAPI) PauseRun(ctx context.Context, id string, on bool) error {
	_, err := guard(ctx, a.caller, action{call: "agents.pauseRun", resource: "run:" + id, stops: on, meta: map[string]any{"on": on}}, func(ctx context.Context) (struct{}, error) {
		id, err := a.reach(ctx, id)
		if err != nil {
			return struct{}{}, err
		}
		if !a.k.runs.Live(id) {
			return struct{}{}, sys.Errorf(sys.CodeConflict, "Nobody works on that run, so there is nothing to pause.").WithHint("`oxios ps` lists those that are at work.")
		}
		for _, one := range append(a.k.runs.Below(id), id) {
			if err := a.k.pauseRun(ctx, one, on); err != nil {
				return struct{}{}, err
			}
		}
		a.k.publishStatus()
		return struct{}{}, nil
	})
	return err
}

func (k *Kernel) pauseRun(ctx context.Context, id string, on bool) error {
	if err := k.store.Write(ctx, func(tx *store.Tx) error { return k.store.UpdateRun(tx, id, store.RunPatch{Paused: &on}) }); err != nil {
		return err
	}
	if g := k.runs.of(id).gate; g != nil {
		g.set(on)
	}
	r, err := k.store.Run(ctx, id)
	if err != nil {
		return err
	}
	k.publish(event.RunState, scope{runID: r.ID, sessionID: r.SessionID}, r)
	k.retellSession(ctx, r.SessionID)
	return nil
}

// Message says something to an agent that is at work: it reads it before its
// next model call.
func (a *AgentsAPI) Message(ctx context.Context, id, text string) (Submitted, error) {
	return guard(ctx, a.caller, action{call: "agents.message", resource: "run:" + id, meta: map[string]any{"bytes": len(text)}}, func(ctx context.Context) (Submitted, error) {
		id, err := a.reach(ctx, id)
		if err != nil {
			return Submitted{}, err
		}
		r, err := a.k.run(ctx, id)
		switch {
		case err != nil:
			return Submitted{}, err
		case strings.TrimSpace(text) == "":
			return Submitted{}, sys.Errorf(sys.CodeInvalid, "The message is empty. Nothing was sent.")
		case checkSize(text) != nil:
			return Submitted{}, checkSize(text)
		case r.State.Ended() || !a.k.runs.Live(id):
			return Submitted{}, sys.Errorf(sys.CodeConflict, "That agent is not at work any more, so it would not read the message. Nothing was sent.").
				WithHint("Write in its conversation instead.")
		}
		if a.who.Kind == sys.KindAgent { // it is read as what that agent says, not as what the person does
			return (&A2AAPI{a.caller}).tell(ctx, r, text)
		}
		s, err := a.k.store.Session(ctx, r.SessionID)
		if err != nil {
			return Submitted{}, err
		}
		return a.k.enqueue(ctx, s, r, Submit{Text: text}, nil)
	})
}

// reach returns the id of a run, which may be named by its pid, if the caller
// may act on it: the person on every one, an agent on itself and on those that
// descend from it.
func (a *AgentsAPI) reach(ctx context.Context, name string) (string, error) {
	id, err := a.k.runID(ctx, name)
	if err != nil || a.who.Kind != sys.KindAgent {
		return id, err
	}
	r, err := a.k.run(ctx, id)
	if err != nil {
		return id, err
	}
	all, err := a.k.lineage(ctx, r)
	if err == nil && !slices.Contains(all, a.scope.runID) {
		err = sys.Errorf(sys.CodeForbidden, "The run %s is none that this agent has forked.", id).WithHint("List yours with action list.")
	}
	return id, err
}

// family returns those of list that descend from the run id, and the run
// itself.
func family(list []Run, id string) []Run {
	in := map[string]bool{id: true}
	byPID := slices.Clone(list)
	slices.SortFunc(byPID, func(a, b Run) int { return int(a.PID - b.PID) }) // parents come before their children
	var out []Run
	for _, r := range byPID {
		if in[r.ID] || in[r.ParentID] {
			in[r.ID] = true
			out = append(out, r)
		}
	}
	return out
}
