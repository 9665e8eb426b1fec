package kernel

import (
	"context"
	"fmt"
	"slices"

	"oxios/kernel/a2a"
	"oxios/kernel/agent"
	"oxios/kernel/event"
	"oxios/kernel/orchestrator"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// SeedShare is a part of a version of a seed, and the agent that works on it.
type SeedShare struct {
	Criteria []int    `json:"criteria"` // their numbers, from 1
	RunID    string   `json:"run_id"`
	PID      int64    `json:"pid"`
	Name     string   `json:"name"`
	State    RunState `json:"state"`
}

// split deals the criteria of a seed out to agents that work at the same time,
// when enough of them are independent and there is room for agents: each part to
// a child that was started for such work and is at it, else to a fork. It waits for
// them, and returns what the agent that began the task reads of it; "" when
// there was nothing to split. After a crash it finds the agents that it had
// forked before.
func (a *AgentsAPI) split(ctx context.Context, seed Seed) (string, error) {
	parts, rest, err := a.parts(ctx, seed)
	if err != nil || len(parts) == 0 {
		return "", err
	}
	var given []assignment
	for _, part := range parts {
		numbers := make([]int, len(part))
		for i, n := range part {
			numbers[i] = n + 1
		}
		f := Fork{Goal: orchestrator.Goal(seed, part), Name: orchestrator.Name(seed, part), share: &store.Share{SeedID: seed.ID, Version: seed.Version, Criteria: numbers}}
		one, err := a.assign(ctx, f)
		if sys.CodeOf(err) == sys.CodeRefused { // there is no place for one more: its part is for the agent itself
			rest = append(rest, part...)
			continue
		}
		if err != nil {
			return "", err
		}
		given = append(given, one)
	}
	if len(given) == 0 {
		return "", nil
	}
	a.k.publish(event.GroupCreated, scope{runID: a.scope.runID, sessionID: a.scope.sessionID}, seed.Name())
	for _, one := range given { // one after the other: they work at the same time anyhow
		if err := a.ended(ctx, one); err != nil {
			return "", err
		}
	}
	group, err := a.k.group(ctx, a.scope.runID, seed.ID)
	if err != nil {
		return "", err
	}
	return orchestrator.Join(seed, group.shares(seed.Version), rest), nil
}

// assignment is a part of a seed with the agent that has it.
type assignment struct {
	Fork
	run  string
	mail string // the message that asked an agent at work to do it; "" for a fork
}

// assign gives a part to somebody. What this step has given before a crash stays
// where it is.
func (a *AgentsAPI) assign(ctx context.Context, f Fork) (assignment, error) {
	if m, err := a.hand(ctx, f); err != nil || m.ID != "" && m.State != store.MailReturned {
		return assignment{f, m.To, m.ID}, err
	}
	forked, err := a.Fork(ctx, f)
	return assignment{f, forked.RunID, ""}, err
}

// hand asks a child that was started for such work, and has no other part, to do
// this one too. There is no message when there is no such child.
func (a *AgentsAPI) hand(ctx context.Context, f Fork) (AgentMessage, error) {
	step := store.StepFrom(ctx)
	if step == nil {
		return AgentMessage{}, nil
	}
	old, err := a.k.exchange.List(ctx, store.MailQuery{MadeBy: step.Step().ID})
	if err != nil {
		return AgentMessage{}, err
	}
	if i := slices.IndexFunc(old, func(m AgentMessage) bool { return m.Text == f.Goal }); i >= 0 {
		return old[i], nil
	}
	mail := &A2AAPI{a.caller}
	c, ok, err := mail.fitting(ctx, Delegation{Task: f.Name}, func(c AgentCard) bool {
		r, err := a.k.store.Run(ctx, c.ID)
		return err == nil && r.ParentID == a.scope.runID && r.Share == nil
	})
	if err != nil || !ok || !a.may("a2a.delegate") {
		return AgentMessage{}, err
	}
	share := *f.share
	share.GivenBy = step.Step().ID
	m, err := guard(ctx, a.caller, action{call: "a2a.delegate", resource: "run:" + c.ID, meta: map[string]any{"task": f.Name}}, func(ctx context.Context) (m AgentMessage, err error) {
		err = a.k.store.Write(ctx, func(tx *store.Tx) error {
			m, err = a.k.exchange.Send(tx, a2a.Envelope{
				From: a.scope.runID, FromName: a.scope.agent, To: c.ID, ToName: c.Name, SessionID: c.SessionID,
				Payload: a2a.TaskDelegation{TaskID: sys.NewID(), Description: f.Goal}, Asks: true, MadeBy: share.GivenBy,
			})
			if err != nil {
				return err
			}
			return a.k.store.SetShare(tx, c.ID, &share)
		})
		return m, err
	})
	if code := sys.CodeOf(err); code == sys.CodeConflict || code == sys.CodeBusy { // it has ended meanwhile, or has enough to do
		return AgentMessage{}, nil
	}
	return m, err
}

// ended waits until the agent of a part has ended. A fork takes the place of one
// that ended before it had read of it.
func (a *AgentsAPI) ended(ctx context.Context, one assignment) error {
	if _, err := a.Wait(ctx, one.run); err != nil || one.mail == "" {
		return err
	}
	list, err := a.k.exchange.List(ctx, store.MailQuery{Ref: one.mail, Limit: 1})
	if err != nil || first(list).State != store.MailReturned {
		return err
	}
	if err := a.k.store.Write(ctx, func(tx *store.Tx) error { return a.k.store.SetShare(tx, one.run, nil) }); err != nil {
		return err
	}
	forked, err := a.Fork(ctx, one.Fork)
	if err != nil {
		return err
	}
	_, err = a.Wait(ctx, forked.RunID)
	return err
}

// parts are what a seed is split into: none where its agent may not fork.
func (a *AgentsAPI) parts(ctx context.Context, seed Seed) (parts [][]int, rest []int, err error) {
	cfg := a.k.config.get()
	run, err := a.k.store.Run(ctx, a.scope.runID)
	if err != nil || run.Depth >= cfg.MaxDepth || !a.may("agents.fork") {
		return nil, nil, err
	}
	others, err := a.k.store.Runs(ctx, store.RunQuery{ParentID: run.ID, Limit: 500})
	room := cfg.MaxChildren
	for _, r := range others {
		if r.Share == nil || r.Share.SeedID != seed.ID || r.Share.GivenBy != "" {
			room--
		}
	}
	if run.Agents > 0 {
		room = min(room, run.Agents-1)
	}
	parts, rest = orchestrator.Split(seed, cfg.SplitFrom, room)
	return parts, rest, err
}

// member is an agent that worked on a part of a seed, and what came of it.
type member struct {
	Run
	result RunResult
}

// team are the agents that worked on parts of a seed, of any version, in the
// order in which they were forked.
type team []member

func (k *Kernel) group(ctx context.Context, runID, seedID string) (list team, err error) {
	children, err := k.store.Runs(ctx, store.RunQuery{ParentID: runID, Limit: 500})
	for _, r := range slices.Backward(children) {
		if r.Share == nil || r.Share.SeedID != seedID {
			continue
		}
		result, err := k.result(ctx, r.ID)
		if err != nil {
			return nil, err
		}
		list = append(list, member{k.unwritten.over(r), result})
	}
	return list, err
}

// shares says what came of the parts of a version of the seed.
func (g team) shares(version int) (list []orchestrator.Share) {
	for _, m := range g {
		if m.Share.Version != version {
			continue
		}
		s := orchestrator.Share{Agent: fmt.Sprintf("agent %d", m.PID), Answer: m.result.Response, Failed: undone(m.result, m.Run)}
		for _, n := range m.Share.Criteria {
			s.Criteria = append(s.Criteria, n-1)
		}
		list = append(list, s)
	}
	return list
}

// undone says why a run does not count as done, in words; none for one that
// does.
func undone(res RunResult, r Run) sys.Words {
	switch {
	case res.State == store.RunDone && res.Status == "":
		return sys.Words{}
	case res.Error != nil:
		message, _ := res.Error.Words()
		return message
	case res.Status == store.StatusForced:
		return sys.Say("it reached the limit of its turns")
	case res.Status == store.StatusMissed:
		return sys.Say("its own criteria do not hold")
	case res.State == store.RunStopped:
		return sys.Say("it was stopped")
	case res.State == store.RunDone:
		return sys.Say("its answer was cut off")
	}
	return sys.Say("it ended as %s", string(r.State))
}

// workOf tells a judge what these agents did, and what they said.
func (k *Kernel) workOf(ctx context.Context, g team) (work, said string, err error) {
	for _, m := range g {
		steps, err := k.store.Steps(ctx, m.ID)
		if err != nil {
			return "", "", err
		}
		told, open := agent.Tell(agent.Plain(m.Text, nil), steps, agent.Plain)
		work += orchestrator.MaterialOf(append(told.Own, agent.Unfinished(open)...), "").Work
		said += "\n\n" + m.result.Response
	}
	return work, said, nil
}
