package kernel

import (
	"context"

	"oxios/kernel/security"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// approve waits until a person has decided about a. The request is durable:
// it outlives this process, and so does the decision.
func (c *caller) approve(ctx context.Context, row Syscall, a action, more *again) (security.Approval, error) {
	req := c.request(row, a)
	step := store.StepFrom(ctx)
	if step != nil {
		req.StepID = step.Step().ID
	}
	// An identical call of this run may be approved already, and a run that was
	// taken up again finds the question that it asked before.
	old, ok, err := c.k.approvals.Match(ctx, c.scope.runID, req.StepID, req.Hash)
	if err != nil {
		return security.Approval{}, c.unrecorded(ctx, err)
	}
	if ok && more == nil {
		defer c.k.tries.offer(old.ID, a.command)()
		return c.answered(ctx, a, old)
	}
	if more == nil {
		if more, err = c.anew(ctx, a, req); err != nil {
			return security.Approval{}, c.unrecorded(ctx, err)
		}
	}
	if more != nil {
		req.Again, req.AgainKO, req.Simple = more.why.EN, more.why.In(true), false
		if more.diff != "" {
			req.Diff = more.diff
		}
	}
	if err := c.introduce(ctx, &req); err != nil {
		return security.Approval{}, c.unrecorded(ctx, err)
	}
	var made security.Approval
	req.ID = sys.NewID()
	defer c.k.tries.offer(req.ID, a.command)() // whoever sees the request may try it at once
	create := func(tx *store.Tx) error {
		var err error
		if more != nil && more.old.ID != "" {
			if err := c.k.approvals.Supersede(tx, more.old.ID); err != nil {
				return err
			}
		}
		if made, err = c.k.approvals.Create(tx, req); err != nil || c.scope.runID == "" {
			return err
		}
		waiting := store.RunWaiting
		return c.k.store.UpdateRun(tx, c.scope.runID, store.RunPatch{State: &waiting})
	}
	if step != nil {
		err = step.Wait(ctx, req.ID, create)
	} else {
		err = c.k.store.Write(ctx, create)
	}
	if err != nil {
		return security.Approval{}, c.unrecorded(ctx, err)
	}
	if step != nil {
		c.k.publishStep(c.scope, step.Step())
	}
	return c.answered(ctx, a, made)
}

// introduce says who asks: the agent's parents, and what its run has cost.
func (c *caller) introduce(ctx context.Context, r *security.Request) error {
	if r.RunID == "" {
		return nil
	}
	run, err := c.k.store.Run(ctx, r.RunID)
	if err != nil {
		return err
	}
	if run.Cost.Calls > 0 {
		r.Spent = &run.Cost
	}
	for run.ParentID != "" {
		if run, err = c.k.store.Run(ctx, run.ParentID); err != nil {
			return err
		}
		r.Ancestry = append(r.Ancestry, run.Name)
	}
	return nil
}

func (c *caller) await(ctx context.Context, a security.Approval) (security.Approval, error) {
	if a.State == security.ApprovalPending {
		c.k.waits(ctx, c.scope, +1)
		back := sys.Park(ctx)
		decided, err := c.k.approvals.Await(ctx, a.ID)
		back()
		c.k.waits(ctx, c.scope, -1)
		if ctx.Err() != nil {
			return a, context.Cause(ctx)
		}
		if err != nil {
			return a, err
		}
		a = decided
	} else if step := store.StepFrom(ctx); step != nil && step.Step().State == store.StepWaiting {
		// It was decided while nobody ran: the run waited until now.
		c.k.waits(ctx, c.scope, +1)
		c.k.waits(ctx, c.scope, -1)
	}
	return a, a.Err()
}

// request is what a person sees of a.
func (c *caller) request(row Syscall, a action) security.Request {
	r := security.Request{
		Call: row.Name, Hash: security.RequestHash(a.call, a.subject),
		Effect: a.effect, Tier: a.tier, Dir: c.scope.folder,
		Contained: c.k.isolation(), Undo: "no",
		Agent: c.scope.agent, RunID: c.scope.runID, SessionID: c.scope.sessionID,
	}
	if a.card != nil {
		a.card(&r)
	}
	if r.Labels = a.labels; r.Labels.Untrusted() {
		r.Simple = false // where it came from has to be read first
	}
	r.Dir = shortenHome(r.Dir)
	return r
}
