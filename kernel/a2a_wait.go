package kernel

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"oxios/kernel/a2a"
	"oxios/kernel/event"
	"oxios/kernel/security"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// How long an answer is waited for.
const (
	askTime = 300 * time.Second // unless the question says otherwise
	askMost = time.Hour
)

// AgentAsk is a question to another agent, or a small task.
type AgentAsk struct {
	To       string `json:"to"` // a run, its pid, or the name on its card
	Text     string `json:"text"`
	TimeoutS int    `json:"timeout_s,omitempty"` // default 300, at most 3600
}

// Ask sends a message and waits for its answer; meanwhile the caller's run gives
// its place to others. It fails with timeout when none came in time: then the
// answer comes as a message. It fails with conflict when the other one ended
// before it read or answered, and, before anything is sent, when the other one
// waits for the caller.
func (a *A2AAPI) Ask(ctx context.Context, q AgentAsk) (AgentMessage, error) {
	q.Text = a.forOthers(q.Text)
	act := action{call: "a2a.ask", resource: "agent:" + q.To, meta: map[string]any{"bytes": len(q.Text)}}
	told := ""
	act.brought = a.wordsOf(func() []string { return []string{told} })
	return guard(ctx, a.caller, act, func(ctx context.Context) (AgentMessage, error) {
		p := a2a.TaskDelegation{TaskID: sys.NewID(), Description: q.Text}
		if err := a2a.Check(p); err != nil {
			return AgentMessage{}, err
		}
		to, err := a.peer(ctx, q.To)
		if err != nil {
			return AgentMessage{}, err
		}
		done, err := a.k.waitsFor(a.scope.runID, to.ID)
		if err != nil {
			return AgentMessage{}, err
		}
		defer done()
		told = to.ID
		m, err := a.send(ctx, a2a.Envelope{To: to.ID, ToName: to.Name, SessionID: to.SessionID, Payload: p, Asks: true})
		if err != nil {
			return AgentMessage{}, err
		}
		return a.await(ctx, m, q.TimeoutS)
	})
}

// waitsFor notes that one agent waits for another. The person waits for nobody.
func (k *Kernel) waitsFor(from, to string) (done func(), err error) {
	if from == "" {
		return func() {}, nil
	}
	return k.exchange.Wait(from, to)
}

// await waits for what answers m.
func (a *A2AAPI) await(ctx context.Context, m AgentMessage, timeoutS int) (AgentMessage, error) {
	limit := askTime
	if timeoutS > 0 {
		limit = min(time.Duration(timeoutS)*time.Second, askMost)
	}
	within, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	back := sys.Park(ctx)
	answer, err := a.k.exchange.Answer(within, m.ID)
	back()
	switch {
	case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
		return answer, sys.Errorf(sys.CodeTimeout, "%s has not answered within %d seconds. It may still: then its answer comes as a message.", m.ToName, int(limit.Seconds())).
			WithHint("Go on with something else meanwhile.")
	case err != nil:
		return answer, err
	}
	if err := a.took(ctx, answer); err != nil {
		return answer, err
	}
	if answer.Made == store.MailOfReturned || answer.Made == store.MailOfFailure {
		return answer, a.problem(ctx, m, answer)
	}
	return answer, nil
}

// took notes that an answer is read: with the end of the step that waited for
// it, or at once. One that nobody took is read before the next model call.
func (a *A2AAPI) took(ctx context.Context, answer AgentMessage) error {
	if step := store.StepFrom(ctx); step != nil {
		step.OnClose(func(tx *store.Tx) error { return a.k.exchange.Read(tx, answer.ID, step.Step().ID) })
		return nil
	}
	return a.k.store.Write(ctx, func(tx *store.Tx) error { return a.k.exchange.Read(tx, answer.ID, "") })
}

// problem is why a message has no answer.
func (a *A2AAPI) problem(ctx context.Context, m, answer AgentMessage) error {
	list, err := a.k.exchange.List(ctx, store.MailQuery{Ref: m.ID, Limit: 1})
	if err != nil {
		return err
	}
	if p := first(list).Problem; p != nil {
		return p.WithHint("Ask another agent, start one, or do it yourself.")
	}
	return sys.Errorf(sys.CodeConflict, "%s", answer.Text)
}

// register gives a run its card. The goal is that of the task that it has
// begun, else what it was told.
func (k *Kernel) register(ctx context.Context, run Run) error {
	tools, err := k.tools(ctx)
	if err != nil {
		return err
	}
	if _, err := security.Profile(run.Profile); err != nil {
		return err
	}
	rules := rulesOf(run).Most()
	space := rules.Space()
	goal := run.Text
	if task := k.runs.task(run.ID); task != nil {
		if seed, ok := task.Seed(); ok {
			goal = seed.Goal
		}
	}
	var names []string
	for _, t := range tools {
		if t.On && rules.HasTool(t.Name) && space[security.Domain(t.Domain)] != 0 {
			names = append(names, t.Name)
		}
	}
	skills := a2a.Skills(run.Name+"\n"+goal, names)
	k.exchange.Register(a2a.Card{
		ID: run.ID, PID: run.PID, Name: run.Name, Description: sys.Shorten(goal, 500), Capabilities: a2a.Capabilities(skills), Skills: skills,
		SessionID: run.SessionID, ParentID: run.ParentID, Profile: run.Profile,
	})
	return nil
}

// newExchange makes the exchange of a kernel, which tells of each message on
// the bus.
func (k *Kernel) newExchange() *a2a.Exchange {
	return a2a.New(k.store, func(m a2a.Message) {
		k.publish(event.AgentMessage, scope{runID: cmp.Or(m.To, m.From), sessionID: m.SessionID}, m)
	})
}

// settleMail does what an earlier process was killed before: runs ended, and
// what was sent to them was not given back.
func (k *Kernel) settleMail(ctx context.Context) error {
	left, err := k.store.LeftMail(ctx)
	for _, r := range slices.Clip(left) {
		if err == nil {
			err = k.store.Write(ctx, func(tx *store.Tx) error { return k.exchange.Settle(tx, r) })
		}
	}
	return err
}
