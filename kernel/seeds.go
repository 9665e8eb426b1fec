package kernel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"oxios/kernel/agent"
	"oxios/kernel/event"
	"oxios/kernel/git"
	"oxios/kernel/orchestrator"
	"oxios/kernel/ouroboros"
	"oxios/kernel/schedule"
	"oxios/kernel/security"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// The types of seeds live in ouroboros and store.
type (
	Seed            = ouroboros.Seed
	SeedChange      = ouroboros.Change
	SeedGiven       = ouroboros.Given
	SeedInfo        = store.Seed
	SeedQuery       = store.SeedQuery
	Evaluation      = ouroboros.Evaluation
	CriterionResult = ouroboros.Result
	Commit          = git.Commit
)

// SeedVersion is one version of a seed, and what came of it.
type SeedVersion struct {
	Info       SeedInfo    `json:"info"`
	Seed       Seed        `json:"seed"`
	Evaluation *Evaluation `json:"evaluation"` // null until it was evaluated
	Shares     []SeedShare `json:"shares"`     // the agents that work on parts of it; none when it was not split
}

// SeedView is a seed with all its versions, the oldest first.
type SeedView struct {
	ID       string        `json:"id"`
	Versions []SeedVersion `json:"versions"`
	History  []Commit      `json:"history"` // of its newest version, as git has it
	Most     int           `json:"most"`    // how often it may evolve
}

// Seeds lists seeds, the newest first. An agent sees those of its own run.
func (a *AgentsAPI) Seeds(ctx context.Context, q SeedQuery) ([]SeedInfo, error) {
	return guard(ctx, a.caller, action{call: "agents.seeds", resource: "seeds"}, func(ctx context.Context) ([]SeedInfo, error) {
		if a.who.Kind == sys.KindAgent {
			q.RunID = a.who.ID
		}
		return a.k.store.Seeds(ctx, q)
	})
}

// Seed returns a seed with all its versions and evaluations.
func (a *AgentsAPI) Seed(ctx context.Context, id string) (SeedView, error) {
	return guard(ctx, a.caller, action{call: "agents.seed", resource: "seed:" + id}, func(ctx context.Context) (SeedView, error) {
		list, err := a.k.store.Seeds(ctx, SeedQuery{ID: id})
		if err != nil {
			return SeedView{}, err
		}
		v := SeedView{ID: id, Versions: []SeedVersion{}, History: []Commit{}, Most: orchestrator.MaxEvolutions}
		if len(list) == 0 || a.who.Kind == sys.KindAgent && list[0].RunID != a.who.ID {
			return v, sys.Errorf(sys.CodeNotFound, "There is no seed %q.", id).WithHint("`oxios seeds list` lists them.")
		}
		group, err := a.k.group(ctx, list[0].RunID, id)
		if err != nil {
			return v, err
		}
		for i := len(list) - 1; i >= 0; i-- {
			one := SeedVersion{Info: list[i], Shares: []SeedShare{}}
			if one.Seed, err = a.k.readSeed(id, list[i].Version); err != nil {
				return v, err
			}
			if list[i].Score != nil {
				var e Evaluation
				if err := a.k.readWork("evals", id, list[i].Version, &e); err != nil {
					return v, err
				}
				one.Evaluation = &e
			}
			for _, r := range group {
				if r.Share.Version == list[i].Version {
					one.Shares = append(one.Shares, SeedShare{Criteria: r.Share.Criteria, RunID: r.ID, PID: r.PID, Name: r.Name, State: r.State})
				}
			}
			v.Versions = append(v.Versions, one)
		}
		v.History, err = a.k.workspace.Log(seedFile(id, list[0].Version), 20)
		if err == nil && len(v.History) == 0 {
			v.History, err = a.k.workspace.Log(olderFile("seeds", id, list[0].Version), 20)
		}
		if err != nil {
			a.k.log.WarnContext(ctx, "Could not read the history of a seed", "seed", id, "error", err)
			v.History = []Commit{}
		}
		return v, nil
	})
}

func seedFile(id string, version int) string { return workFile("seeds", id, version) }

func evalFile(id string, version int) string { return workFile("evals", id, version) }

// workFile returns where something of a seed lies: in one of 256 folders. A commit
// writes the folders above its file anew, with a line for each of their names; one
// folder for all would make it dearer with each seed.
func workFile(kind, id string, version int) string {
	return fmt.Sprintf("%s/%s/%s-v%d.json", kind, id[max(0, len(id)-2):], id, version)
}

// olderFile returns where it lies in homes in which seeds had a folder each.
func olderFile(kind, id string, version int) string {
	return fmt.Sprintf("%s/%s/v%d.json", kind, id, version)
}

func (k *Kernel) readSeed(id string, version int) (Seed, error) {
	var s Seed
	return s, k.readWork("seeds", id, version, &s)
}

// readWork reads a file of the workspace. One that is missing comes back from
// the history.
func (k *Kernel) readWork(kind, id string, version int, into any) error {
	name, older := workFile(kind, id, version), olderFile(kind, id, version)
	raw, err := k.workspace.Read(name)
	if errors.Is(err, fs.ErrNotExist) {
		raw, err = k.workspace.Read(older)
	}
	if errors.Is(err, fs.ErrNotExist) {
		for _, lost := range []string{name, older} {
			if err = k.workspace.Restore(lost, "HEAD"); err == nil {
				raw, err = k.workspace.Read(lost)
				break
			}
		}
	}
	if err == nil {
		err = json.Unmarshal(raw, into)
	}
	if err != nil {
		return sys.Errorf(sys.CodeUnavailable, "workspace/%s cannot be read: %w.", name, err).WithHint("Bring the folder workspace of the home back from a backup.")
	}
	return nil
}

// keepWork writes a file of the workspace that is never changed. replace is for
// one that a crash left behind before it counted.
func (k *Kernel) keepWork(name string, v any, replace bool) error {
	raw, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	raw = append([]byte(k.masked(string(raw))), '\n')
	write := k.workspace.Create
	if replace {
		write = k.workspace.Replace
	}
	if err := write(name, raw); err != nil {
		return sys.Errorf(sys.CodeUnavailable, "workspace/%s cannot be written: %w. Nothing was begun.", name, err)
	}
	return nil
}

// freeze keeps the first version of a seed.
func (k *Kernel) freeze(ctx context.Context, run Run, s Seed) error {
	k.publishPhase(event.PhaseStarted, run, orchestrator.PhaseSeed, s)
	if err := k.keepWork(seedFile(s.ID, s.Version), s, false); err != nil {
		return err
	}
	info := indexed(run, s)
	info.MadeBy = stepID(ctx)
	if err := k.store.Write(ctx, func(tx *store.Tx) error { return k.insertSeed(tx, info) }); err != nil {
		return err
	}
	k.publishSeed(info)
	k.publishPhase(event.PhaseCompleted, run, orchestrator.PhaseSeed, s)
	k.publishPhase(event.PhaseStarted, run, workPhase(s), s)
	k.commitWork(ctx, "Seed "+s.Name()+": "+s.Goal)
	return nil
}

func indexed(run Run, s Seed) SeedInfo {
	return SeedInfo{
		ID: s.ID, Version: s.Version, RunID: run.ID, SessionID: run.SessionID, Goal: s.Goal, Ambiguity: s.Ambiguity,
		State: store.SeedActive, CreatedAt: s.CreatedAt,
	}
}

// publishPhase tells that a phase of a run's work begins, or is over.
func (k *Kernel) publishPhase(kind string, run Run, phase orchestrator.Phase, seed Seed) {
	k.publish(kind, scope{runID: run.ID, sessionID: run.SessionID}, event.Phase{Phase: string(phase), Seed: seed.ID, Version: seed.Version})
}

// publishInterview tells that the person is asked, or that they have answered.
func (k *Kernel) publishInterview(a Approval) {
	kind := event.PhaseCompleted
	switch {
	case len(a.Request.Questions) == 0 || a.State == security.ApprovalUsed: // it was told when they answered
		return
	case a.State == security.ApprovalPending:
		kind = event.PhaseStarted
	}
	k.publishPhase(kind, Run{ID: a.Request.RunID, SessionID: a.Request.SessionID}, orchestrator.PhaseInterview, Seed{})
}

// workPhase is what a run does for a version of a seed: later ones evolve it.
func workPhase(s Seed) orchestrator.Phase {
	if s.Version > 1 {
		return orchestrator.PhaseEvolve
	}
	return orchestrator.PhaseExecute
}

func (k *Kernel) publishSeed(s SeedInfo) {
	k.publish(event.SeedChanged, scope{runID: s.RunID, sessionID: s.SessionID}, s)
}

// commitWork puts what was written into the history. The files are the truth:
// what fails here is made up for by the next commit.
func (k *Kernel) commitWork(ctx context.Context, message string) {
	id, err := k.workspace.Commit(context.WithoutCancel(ctx), message, "seeds", "evals")
	if err != nil {
		k.log.WarnContext(ctx, "Could not commit the workspace; the next commit takes it along", "error", err)
	}
	k.recordCommit(ctx, "workspace", id)
}

// insertSeed keeps a version of a seed, and the record says so with it.
func (k *Kernel) insertSeed(tx *store.Tx, s SeedInfo) error {
	if err := k.store.InsertSeed(tx, s); err != nil {
		return err
	}
	return k.recordSeed(tx, s, map[string]any{"state": "frozen"})
}

// recordSeed puts what became of a version of a seed into the record.
func (k *Kernel) recordSeed(tx *store.Tx, s SeedInfo, meta map[string]any) error {
	meta["version"], meta["run_id"], meta["session_id"], meta["node"] = s.Version, s.RunID, s.SessionID, k.node
	_, err := k.audit.Append(tx, k.newEntry("agent:"+s.RunID, security.ActionOther, "seed:"+s.ID, meta))
	return err
}

// recordCommit puts a commit that the kernel made into the record; id is "" where
// there was nothing to commit. The history stands without it: what fails here is
// told in the log.
func (k *Kernel) recordCommit(ctx context.Context, folder, id string) {
	if id == "" {
		return
	}
	err := k.store.Write(context.WithoutCancel(ctx), func(tx *store.Tx) error {
		_, err := k.audit.Append(tx, k.newEntry("kernel", security.ActionGitCommit, folder, map[string]any{"commit": id, "node": k.node}))
		return err
	})
	if err != nil {
		k.log.WarnContext(ctx, "Could not record a commit", "folder", folder, "commit", id, "error", err)
	}
}

// runTask is what a run has begun, as its loop sees it.
type runTask struct {
	k    *Kernel
	h    *Handle
	run  Run
	task *orchestrator.Task
}

// Active reports whether the run works on a seed.
func (t *runTask) Active() bool {
	_, ok := t.task.Seed()
	return ok
}

// Evaluate finds out what came of the seed, and keeps it.
func (t *runTask) Evaluate(ctx context.Context, e *agent.Evaluation) (agent.Verdict, error) {
	seed, _ := t.task.Seed()
	t.k.publishPhase(event.PhaseCompleted, t.run, workPhase(seed), seed)
	t.k.publishPhase(event.PhaseStarted, t.run, orchestrator.PhaseEvaluate, seed)
	group, err := t.k.group(ctx, t.run.ID, seed.ID)
	if err != nil {
		return agent.Verdict{}, err
	}
	work, said, err := t.k.workOf(ctx, group)
	if err != nil {
		return agent.Verdict{}, err
	}
	of := orchestrator.MaterialOf(e.Talk(), e.Answer)
	of.Work, of.Answer = work+of.Work, of.Answer+said
	o, err := t.task.Evaluate(ctx, &checker{t, e}, e, of, group.shares(seed.Version), e.Last)
	if err != nil {
		return agent.Verdict{}, err
	}
	s, ev := o.Seed, o.Evaluation
	if err := t.k.keepWork(evalFile(s.ID, s.Version), ev, true); err != nil {
		return agent.Verdict{}, err
	}
	if o.Next != nil {
		if err := t.k.keepWork(seedFile(s.ID, o.Next.Version), o.Next, true); err != nil {
			return agent.Verdict{}, err
		}
	}
	record, err := json.Marshal(ev)
	if err != nil {
		return agent.Verdict{}, err
	}
	info := indexed(t.run, s)
	info.State, info.Score = store.SeedFailed, &ev.Score
	v := agent.Verdict{Record: record, Text: o.Text, Again: o.Next != nil, Said: o.Said}
	switch {
	case ev.Passed:
		info.State, v.Reason = store.SeedPassed, "All criteria hold."
	case !v.Again:
		v.Status, v.Reason = store.StatusMissed, fmt.Sprintf("%d of %d criteria do not hold.", len(ev.Missed()), len(ev.Results))
	}
	v.Also = func(tx *store.Tx) error {
		if err := t.k.store.EvaluatedSeed(tx, s.ID, s.Version, info.State, ev.Score); err != nil {
			return err
		}
		judged := map[string]any{"state": "evaluated", "passed": ev.Passed, "score": ev.Score}
		if err := t.k.recordSeed(tx, info, judged); err != nil || o.Next == nil {
			return err
		}
		high := int(schedule.High)
		if err := t.k.store.UpdateRun(tx, t.run.ID, store.RunPatch{Priority: &high}); err != nil {
			return err
		}
		return t.k.insertSeed(tx, indexed(t.run, *o.Next))
	}
	v.Then = func() { t.evaluated(ctx, o, info) }
	return v, nil
}

// evaluated tells what is durable by now, and puts it into the history.
func (t *runTask) evaluated(ctx context.Context, o orchestrator.Outcome, info SeedInfo) {
	t.k.publishSeed(info)
	t.k.publishPhase(event.PhaseCompleted, t.run, orchestrator.PhaseEvaluate, o.Seed)
	message := fmt.Sprintf("Evaluation of %s: %.2f", o.Seed.Name(), o.Evaluation.Score)
	if o.Next == nil {
		t.task.End()
	} else {
		t.task.Work(*o.Next)
		t.k.runs.scheduler.Raise(t.run.ID, schedule.High)
		t.k.publishSeed(indexed(t.run, *o.Next))
		t.k.publishPhase(event.PhaseStarted, t.run, workPhase(*o.Next), *o.Next)
	}
	t.k.commitWork(ctx, message)
	if o.Evaluation.Passed {
		if err := t.k.workspace.Tag("passed/" + o.Seed.Name()); err != nil && sys.CodeOf(err) != sys.CodeConflict {
			t.k.log.WarnContext(ctx, "Could not tag a seed", "seed", o.Seed.Name(), "error", err)
		}
	}
}

// checkWorkspace compares the files of the workspace with their history.
func (k *Kernel) checkWorkspace(ctx context.Context) Check {
	c := Check{Name: "workspace", State: CheckOK, Detail: sys.Say("no seeds so far")}
	dir := filepath.Join(k.opts.Home, "workspace")
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return c
	}
	changed, err := k.workspace.Verify(ctx)
	switch {
	case err != nil:
		c.State, c.Detail = CheckFail, sys.TextOf(err)
	case len(changed) > 0:
		c.State, c.Detail = CheckWarn, sys.Say("workspace/%s is not as it was written", strings.Join(changed, ", "))
		c.Hint = sys.Say("Seeds are never changed by Oxios. `git -C %s checkout -- .` brings back what was written.", shortenHome(dir))
	default:
		c.Detail = sys.Say("seeds and evaluations are as they were written")
	}
	return c
}
