package kernel

import (
	"context"
	"fmt"
	"sync"

	"oxios/kernel/agent"
	door "oxios/kernel/guard"
	"oxios/kernel/mcp"
	"oxios/kernel/security"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// The types of what a server asks.
type (
	ServerForm   = security.Form
	ServerField  = security.FormField
	ServerOption = security.FormOption
)

// askForServer has the person answer what a server of tools asks in the middle of a call, and waits for them. The question is
// as durable as an approval, but belongs to a program that runs: when the call ends before it, it is taken back.
func (k *Kernel) askForServer(ctx context.Context, dc *door.Caller, f security.Form) (security.Answers, error) {
	c := k.callerOf(dc)
	act := action{
		call: "mcp.elicit", resource: "mcp:" + f.Server, effect: security.EffectRead, asks: true, subject: f, meta: map[string]any{"server": f.Server, "host": f.Host, "fields": len(f.Fields)},
		card: func(r *security.Request) {
			title := mcp.Title(f)
			r.Title, r.TitleKO, r.Form = title.EN, title.In(true), &f
		},
	}
	defer k.takeBack(ctx, c, act)
	return guard(ctx, c, act, func(ctx context.Context) (security.Answers, error) {
		ap := approvalOf(ctx)
		if ap == nil { // the person's own call
			made, err := c.approve(ctx, syscalls[act.call], act, nil)
			if err != nil {
				return security.Answers{}, err
			}
			if err := k.store.Write(ctx, func(tx *store.Tx) error { return k.approvals.Use(tx, made.ID, made.Request.Hash) }); err != nil {
				return security.Answers{}, err
			}
			ap = &made
		}
		if ap.Answers == nil {
			return security.Answers{Action: security.FormCancel}, nil
		}
		act.meta["answer"] = ap.Answers.Action
		return *ap.Answers, nil
	})
}

// takeBack ends a question that nobody waits for any more.
func (k *Kernel) takeBack(ctx context.Context, c *caller, a action) {
	if ctx.Err() == nil || context.Cause(ctx) == agent.ErrShutdown { //nolint:errorlint // the cause is this very error
		return
	}
	hash := security.RequestHash(a.call, a.subject)
	keep := context.WithoutCancel(ctx)
	open, err := k.approvals.List(keep, security.ApprovalQuery{State: security.ApprovalPending, RunID: c.scope.runID})
	for _, ap := range open {
		if err == nil && ap.Request.Hash == hash && ap.Request.RunID == c.scope.runID {
			err = k.store.Write(keep, func(tx *store.Tx) error {
				return k.approvals.Withdraw(tx, ap.ID, security.FormOver)
			})
		}
	}
	if err != nil {
		k.log.WarnContext(keep, "A question of a server could not be taken back", "error", err)
	}
}

// loseForms ends the questions of servers that an earlier process of Oxios asked: their servers ended with it, so that no answer
// can reach them.
func (k *Kernel) loseForms(ctx context.Context) error {
	open, err := k.approvals.List(ctx, security.ApprovalQuery{State: security.ApprovalPending})
	if err != nil {
		return fmt.Errorf("find the questions of servers: %w", err)
	}
	for _, ap := range open {
		if ap.Request.Form == nil {
			continue
		}
		if err := k.store.Write(ctx, func(tx *store.Tx) error { return k.approvals.Withdraw(tx, ap.ID, security.FormLost) }); err != nil {
			return err
		}
	}
	return nil
}

// lostForms are what runs are told of questions that ended with an earlier process.
type lostForms struct {
	mu    sync.Mutex
	notes map[string][]agent.Note
}

// remember finds the question of a server among the open steps of a run that is taken up.
func (l *lostForms) remember(ctx context.Context, k *Kernel, run string, steps []store.Step) {
	for _, s := range steps {
		if s.State != store.StepStarted || s.ApprovalID == "" || k.mcp.Holds(s.ID) {
			continue // one whose server has a task asks again
		}
		ap, err := k.approvals.Get(ctx, s.ApprovalID)
		if err != nil || ap.Request.Form == nil || ap.Comment != security.FormLost {
			continue
		}
		server := ap.Request.Form.Server
		l.mu.Lock()
		if l.notes == nil {
			l.notes = map[string][]agent.Note{}
		}
		l.notes[run] = append(l.notes[run], agent.Note{
			Text:  "(Oxios: the server " + server + " had asked the person something in the middle of its call. Oxios stopped, and the server ended with it, so the question is lost and was never answered. What the call did before it asked is not known.)",
			Title: sys.Say("The server %s ended together with Oxios, so its question is lost", server),
		})
		l.mu.Unlock()
	}
}

// take gives a run its notes.
func (l *lostForms) take(run string) []agent.Note {
	l.mu.Lock()
	defer l.mu.Unlock()
	notes := l.notes[run]
	delete(l.notes, run)
	return notes
}

// formOf returns the request in which a server asks something.
func (k *Kernel) formOf(ctx context.Context, id string) (Approval, bool, error) {
	if id == "" {
		return Approval{}, false, nil
	}
	ap, err := k.approvals.Get(ctx, id)
	if sys.CodeOf(err) == sys.CodeNotFound {
		return Approval{}, false, nil // the run that is named may ask something else by now
	}
	return ap, err == nil && ap.Request.Form != nil, err
}

// answerForm says to a server what the person filled in, or that they decline.
func (a *AgentsAPI) answerForm(ctx context.Context, ap Approval, in AnswerInput, err error) (Approval, error) {
	if err != nil {
		return Approval{}, err
	}
	said := security.Answers{Values: in.Values, Action: in.Action}
	return a.k.approvals.Decide(ctx, a.who, ap.ID, security.Answer{Approve: true, Hash: ap.Request.Hash, Answers: &said}, func(tx *store.Tx, ap Approval) error {
		return a.k.recordDecision(tx, a.who.Actor(), ap)
	})
}
