package kernel

import (
	"context"
	"fmt"
	"slices"

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
// when enough of them are independent and there is room for agents, waits for
// them, and returns what the agent that began the task reads of it; "" when
// there was nothing to split. After a crash it finds the agents that it had
// forked before.
func (a *AgentsAPI) split(ctx context.Context, seed Seed) (string, error) {
	parts, rest, err := a.parts(ctx, seed)
	if err != nil || len(parts) == 0 {
		return "", err
	}
	var runs []string
	for _, part := range parts {
		numbers := make([]int, len(part))
		for i, n := range part {
			numbers[i] = n + 1
		}
		f := Fork{Goal: orchestrator.Goal(seed, part), Name: orchestrator.Name(seed, part), share: &store.Share{SeedID: seed.ID, Version: seed.Version, Criteria: numbers}}
		forked, err := a.Fork(ctx, f)
		if sys.CodeOf(err) == sys.CodeRefused { // there is no place for one more: its part is for the agent itself
			rest = append(rest, part...)
			continue
		}
		if err != nil {
			return "", err
		}
		runs = append(runs, forked.RunID)
	}
	if len(runs) == 0 {
		return "", nil
	}
	a.k.publish(event.GroupCreated, scope{runID: a.scope.runID, sessionID: a.scope.sessionID}, seed.Name())
	for _, id := range runs { // one after the other: they work at the same time anyhow
		if _, err := a.Wait(ctx, id); err != nil {
			return "", err
		}
	}
	group, err := a.k.group(ctx, a.scope.runID, seed.ID)
	if err != nil {
		return "", err
	}
	return orchestrator.Join(seed, group.shares(seed.Version), rest), nil
}

// parts are what a seed is split into: none where its agent may not fork.
func (a *AgentsAPI) parts(ctx context.Context, seed Seed) (parts [][]int, rest []int, err error) {
	cfg := a.k.config.get()
	run, err := a.k.store.Run(ctx, a.scope.runID)
	if err != nil || run.Depth >= cfg.MaxDepth || a.allowed(syscalls["agents.fork"]) != nil {
		return nil, nil, err
	}
	others, err := a.k.store.Runs(ctx, store.RunQuery{ParentID: run.ID, Limit: 500})
	room := cfg.MaxChildren
	for _, r := range others {
		if r.Share == nil || r.Share.SeedID != seed.ID {
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
