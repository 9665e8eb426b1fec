package kernel

import (
	"context"
	"errors"
	"fmt"

	programs "oxios/kernel/client"
	"oxios/kernel/security"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// action is one call on its way through the guard.
type action struct {
	call     string // its row in the table
	resource string // what it is about, as the audit chain names it

	// What policy found. The zero value is a call without an effect outside
	// the kernel.
	effect   security.Effect
	tier     security.Tier
	readOnly bool
	paths    []string  // absolute, links followed: what the rules of the caller are asked about
	folders  []string  // the same, of a part: what it may write, with all below
	network  bool      // it reaches the network
	stops    bool      // it only holds agents up, or ends what they do: no rule keeps the person from it
	refusal  sys.Words // why tier 3 refuses it
	hint     string    // what to do instead

	budget func(context.Context) error // reserves what the call may use; it may wait for a limit

	subject    any                                // the exact call: what an approval is bound to
	asks       bool                               // a person is needed in every mode: only they can answer
	asksAlways bool                               // the same, but what they granted before counts
	card       func(*security.Request)            // what a person needs to see to decide
	kind       func() (*security.Kind, sys.Words) // what a grant may cover, or why none can; nil for what is no command
	meta       map[string]any                     // for the audit record

	command *command // what can be tried on a copy first; nil for what is no command

	// What taint is about.
	reads   func(context.Context) (Labels, error) // where what it reads comes from, as far as that is known beforehand
	brought func(context.Context) (Labels, error) // the rest, when it has been made
	leaves  bool                                  // something could leave this machine
	beyond  bool                                  // something outside the folder could change
	control bool                                  // what agents may do or are told would change
	labels  Labels                                // what its run has read, with it: found by the guard
	work    bool                                  // it shows files of the folder, or what a command said
	words   *wording                              // what an agent sends with it, as it worded that itself
}

// guard is the gate around every call of the Handle, model calls included. In
// order: capability, role and denied paths, policy, taint, mode, approval, budget, the intent in the
// audit chain, then fn, then the outcome. fn learns from its context whether a person
// approved this very call.
func guard[T any](ctx context.Context, c *caller, a action, fn func(context.Context) (T, error)) (T, error) {
	var none T
	row, ok := syscalls[a.call]
	if !ok {
		return none, sys.Errorf(sys.CodeInternal, "There is no system call %q.", a.call)
	}
	if c.trial != nil {
		return none, c.try(ctx, row, a)
	}
	agent, app := c.who.Kind == sys.KindAgent, c.who.Kind == sys.KindApp
	var weighed taint
	if agent {
		var err error
		if weighed, err = c.weigh(ctx, row, a); err != nil {
			return none, c.turnAway(ctx, a, c.unrecorded(ctx, err))
		}
		a.labels = weighed.live
		if a.words == nil {
			a.labels = a.labels.WithoutWork()
		}
	}
	if app {
		weighed = c.weighApp(row, a)
		a.labels = weighed.live
	}
	if err := c.allowed(ctx, row); err != nil {
		return none, c.turnAway(ctx, a, err)
	}
	if err := c.permits(row, a); err != nil {
		return none, c.turnAway(ctx, a, err)
	}
	var granted *security.Approval
	var grant string // the kind of step that was allowed beforehand
	effect := (agent || app) && a.subject != nil
	if effect && a.tier >= 3 {
		err := sys.Errorf(sys.CodeRefused, "Refused: %s. Nothing was done, and nobody can approve it.", a.refusal)
		err.Hint = a.hint
		return none, c.turnAway(ctx, a, err)
	}
	if weighed.decision == security.DecisionNever {
		return none, c.turnAway(ctx, a, weighed.closed())
	}
	if agent {
		if err := c.held(ctx, a.writes()); err != nil {
			return none, c.turnAway(ctx, a, err)
		}
	}
	if effect {
		ask, plain := c.mustAsk(a), a
		if weighed.decision == security.DecisionAsk { // no grant and no earlier yes covers what was not known then
			ask, a = true, weighed.bind(a)
		}
		if ask {
			var err error
			if grant, err = c.grantFor(ctx, a); err != nil {
				return none, c.turnAway(ctx, a, c.unrecorded(ctx, err))
			}
		}
		if ask && grant == "" {
			approval, bound, held, err := c.ask(ctx, row, plain, weighed)
			defer held()
			if a = bound; err != nil {
				return none, c.turnAway(ctx, a, err)
			}
			granted = &approval
		}
	}
	if a.budget != nil {
		if err := a.budget(ctx); err != nil {
			return none, c.turnAway(ctx, a, err)
		}
	}
	if agent {
		if err := c.take(ctx, weighed.own); err != nil {
			return none, err
		}
	}
	if agent && ctx.Err() != nil { // its run was stopped, and may have gone on without it
		return none, context.Cause(ctx)
	}
	recorded := row.Audit != "" || agent || app || c.who.Kind == sys.KindClient && row.Name != programs.Self
	if recorded {
		if err := c.intend(ctx, row, a, granted, grant); err != nil {
			return none, err
		}
	}
	if agent && a.writing() {
		c.k.share(ctx, c.scope)
	}
	ctx = context.WithValue(ctx, wordedKey{}, weighed.wording)
	v, err := fn(context.WithValue(context.WithValue(ctx, approvedKey{}, granted), grantKey{}, grant))
	if agent && a.brought != nil {
		more, terr := a.brought(context.WithoutCancel(ctx))
		if terr = errors.Join(terr, c.take(ctx, more)); terr != nil {
			return none, errors.Join(err, fmt.Errorf("note where it came from: %w", terr)) // what cannot be labelled is not read
		}
	}
	if recorded {
		if aerr := c.outcome(ctx, row, a, err); aerr != nil {
			return v, errors.Join(err, aerr)
		}
	}
	return v, err
}

type (
	approvedKey struct{}
	grantKey    struct{}
	wordedKey   struct{}
)

// wordedOf returns who chose the words of the request that ctx belongs to.
func wordedOf(ctx context.Context) security.Wording {
	w, _ := ctx.Value(wordedKey{}).(security.Wording)
	return w
}

// networkOpen reports whether the call that ctx belongs to may reach the
// network: a person approved this very call, or its kind, which says so.
func networkOpen(ctx context.Context) bool {
	grant, _ := ctx.Value(grantKey{}).(string)
	return approved(ctx) || grant != ""
}

// approved reports whether a person approved the call that ctx belongs to.
func approved(ctx context.Context) bool { return approvalOf(ctx) != nil }

// approvalOf returns the approval of the call that ctx belongs to, or nil.
func approvalOf(ctx context.Context) *security.Approval {
	a, _ := ctx.Value(approvedKey{}).(*security.Approval)
	return a
}

// mustAsk reports whether a person decides about an agent's call.
func (c *caller) mustAsk(a action) bool {
	if a.asks || a.asksAlways {
		return true
	}
	d := security.Decide(c.scope.mode, a.effect, a.tier, a.readOnly, c.k.isolation())
	if a.command != nil && a.command.err == nil { // one that will fail does nothing
		d = security.DecideCommand(c.scope.mode, security.Verdict{Effect: a.effect, Tier: a.tier, ReadOnly: a.readOnly}, c.k.isolation())
	}
	return d != security.DecisionFree && d != security.DecisionNotice
}

func (c *caller) allowed(ctx context.Context, row Syscall) error {
	if c.who.Kind == sys.KindClient { // its scopes name every call that it may make, those of the person's included
		return c.k.clients.Allows(ctx, c.who.ID, row.Name)
	}
	if row.Person && c.who.Kind != sys.KindPerson {
		return sys.Errorf(sys.CodeForbidden, "Only the person may do this (%s).", row.Name).
			WithHint("Ask the person to do it.")
	}
	if !c.cspace.Allows(row.Domain, row.Rights) {
		return sys.Errorf(sys.CodeForbidden, "%s does not hold the right %s on %s, which %s needs.", c.who.Actor(), row.Rights, row.Domain, row.Name).
			WithHint("Work without it, or ask the person to use an agent with a wider profile.")
	}
	return nil
}

// turnAway records that a call was not let through, and returns why.
func (c *caller) turnAway(ctx context.Context, a action, why error) error {
	if ctx.Err() != nil || sys.CodeOf(why) == sys.CodeCanceled {
		return why
	}
	entry := c.entry(security.ActionAccessDenied, a, map[string]any{"code": string(sys.CodeOf(why)), "reason": why.Error(), "labels": recordLabels(a.labels)})
	err := c.k.store.Write(context.WithoutCancel(ctx), func(tx *store.Tx) error {
		_, err := c.k.audit.Append(tx, entry)
		return err
	})
	if err != nil {
		c.k.log.ErrorContext(ctx, "Could not record a refusal", "call", a.call, "error", err)
	}
	return why
}

// intend puts the intent into the chain. For a step of a run that is the moment
// in which the step starts: one transaction holds the step, the intent and the
// use of an approval.
func (c *caller) intend(ctx context.Context, row Syscall, a action, granted *security.Approval, grant string) error {
	meta := map[string]any{"phase": "intent", "via": c.who.Via}
	if granted != nil {
		meta["approval"] = granted.ID
	}
	meta["grant"] = grant
	if row.Sink != security.SinkNone {
		meta["labels"] = recordLabels(a.labels)
	}
	step := store.StepFrom(ctx)
	if step != nil {
		meta["step_id"] = step.Step().ID
	}
	write := func(tx *store.Tx) error {
		if granted != nil {
			if err := c.k.approvals.Use(tx, granted.ID, granted.Request.Hash); err != nil {
				return err
			}
		}
		if grant != "" {
			if err := c.k.grants.Use(tx, grant); err != nil {
				return err
			}
			if step != nil {
				if err := step.SetGrant(tx, grant); err != nil {
					return err
				}
			}
		}
		e, err := c.k.audit.Append(tx, c.entry(actionOf(row), a, meta))
		if err != nil {
			return err
		}
		if step != nil {
			return step.SetAudit(tx, e.Seq)
		}
		return nil
	}
	var err error
	if step != nil {
		before := step.Step().State
		if err = step.Start(ctx, write); err == nil && before != store.StepStarted {
			c.k.publishStep(c.scope, step.Step())
		}
	} else {
		err = c.k.store.Write(ctx, write)
	}
	if err != nil {
		return c.unrecorded(ctx, err)
	}
	return nil
}

// unrecorded explains a call that was not made because it could not be recorded.
func (c *caller) unrecorded(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	e := sys.AsError(err)
	if e.Code == sys.CodeInternal {
		return sys.Errorf(sys.CodeUnavailable, "It could not be recorded, so it was not done: %w.", err)
	}
	return e
}

// outcome puts the outcome into the chain: with the end of the step, if there
// is one, else at once.
func (c *caller) outcome(ctx context.Context, row Syscall, a action, result error) error {
	meta := map[string]any{"phase": "outcome", "ok": result == nil}
	if result != nil {
		meta["code"] = string(sys.CodeOf(result))
		meta["error"] = sys.Shorten(result.Error(), 500)
	}
	kind := actionOf(row)
	if kind == security.ActionToolCall {
		kind = security.ActionToolResult
	}
	if step := store.StepFrom(ctx); step != nil {
		meta["step_id"] = step.Step().ID
	}
	entry := c.entry(kind, a, meta)
	write := func(tx *store.Tx) error {
		_, err := c.k.audit.Append(tx, entry)
		return err
	}
	if step := store.StepFrom(ctx); step != nil {
		step.OnClose(write)
		return nil
	}
	if err := c.k.store.Write(context.WithoutCancel(ctx), write); err != nil {
		return fmt.Errorf("record the outcome of %s: %w", a.call, err)
	}
	return nil
}

// actionOf is how the chain names a call. A row that names none is one that only
// looks: what it looks at decides.
func actionOf(row Syscall) security.Action {
	switch {
	case row.Audit != "":
		return row.Audit
	case row.Domain == security.DomainMemory:
		return security.ActionMemoryRead
	}
	return security.ActionToolCall
}

// entry makes an audit record of a. The node, run, step and syscall stand in
// its metadata: the fields of the chain are fixed.
func (c *caller) entry(kind security.Action, a action, meta map[string]any) security.Entry {
	m := map[string]any{"syscall": a.call, "node": c.k.node}
	for k, v := range meta {
		if v != "" {
			m[k] = v
		}
	}
	for k, v := range a.meta {
		m[k] = v
	}
	if c.scope.sessionID != "" {
		m["session_id"] = c.scope.sessionID
	}
	if c.scope.runID != "" {
		m["run_id"] = c.scope.runID
	}
	return c.k.newEntry(c.who.Actor(), kind, a.resource, m)
}
