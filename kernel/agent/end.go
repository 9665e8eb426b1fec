package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"oxios/kernel/event"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// ending is how a run ends.
type ending struct {
	state     store.RunState
	status    string // of the message: "", stopped, cut, failed, forced, missed
	reason    string
	err       *sys.Error
	text      string // partial text of the last turn
	committed bool   // the end is in the journal already
}

// failed turns an error into the ending that it means.
func (x *run) failed(ctx context.Context, err error, partial string) ending {
	cause := context.Cause(ctx)
	if errors.Is(cause, ErrStopped) {
		reason := "It was stopped."
		if errors.Is(cause, ErrParentStopped) {
			reason = "It was stopped with the agent that had forked it."
		}
		return ending{state: store.RunStopped, status: "stopped", reason: reason, text: partial}
	}
	if ended, ok := errors.AsType[*sys.Error](cause); ok {
		err = ended
	}
	e := sys.AsError(err)
	end := ending{state: store.RunFailed, status: "failed", reason: e.Message, err: e, text: partial}
	if e.Code == sys.CodeStreamCut {
		end.status = "cut"
	}
	return end
}

func outcomeOf(ctx context.Context, err error) string {
	switch {
	case errors.Is(context.Cause(ctx), ErrStopped):
		return store.OutcomeCanceled
	case errors.Is(err, ErrUnknown):
		return store.OutcomeUnknown
	case sys.CodeOf(err) == sys.CodeStreamCut:
		return store.OutcomeCut
	case sys.CodeOf(err) == sys.CodeDenied, sys.CodeOf(err) == sys.CodeRefused, sys.CodeOf(err) == sys.CodeForbidden:
		return store.OutcomeDenied
	}
	return store.OutcomeError
}

// finish ends the run in a transaction of its own.
func (x *run) finish(ctx context.Context, end ending, also func(*store.Tx) error) error {
	err := x.Store.Write(ctx, func(tx *store.Tx) error {
		if also != nil {
			if err := also(tx); err != nil {
				return err
			}
		}
		return x.finishIn(tx, &end)
	})
	if err != nil {
		return fmt.Errorf("end run %s: %w", x.id, err)
	}
	x.announceEnd(end)
	return nil
}

func (x *run) finishIn(tx *store.Tx, end *ending) error {
	now := x.Clock.Now()
	if err := x.Store.UpdateRun(tx, x.id, store.RunPatch{
		State: &end.state, EndedAt: &now, Turns: &x.turns, Cost: &x.cost, EndReason: &end.reason, Error: end.err,
	}); err != nil {
		return err
	}
	x.ended(*end, now)
	msg, ok := x.message(*end)
	if !ok {
		return nil
	}
	return x.Store.AddMessage(tx, msg)
}

// ended makes the run stand as it ended.
func (x *run) ended(end ending, at time.Time) {
	r := &x.spec.Run
	r.State, r.EndedAt, r.EndReason, r.Error = end.state, &at, end.reason, end.err
	r.Turns, r.Cost = x.turns, x.cost
	r.NotMet = end.status == store.StatusMissed
}

// message is what the run leaves in the session: the texts of all its turns
// merged, and its tool calls one after the other.
func (x *run) message(end ending) (store.Message, bool) {
	said := x.said
	if end.text != "" {
		said = append(append([]string{}, said...), end.text)
	}
	text := strings.Join(said, "\n\n")
	if text == "" && end.state != store.RunDone {
		return store.Message{}, false
	}
	cost := x.cost
	msg := store.Message{
		ID: x.id + "-answer", SessionID: x.spec.Run.SessionID, RunID: x.id, Role: "assistant",
		Content: text, Reasoning: x.reason.String(), At: x.Clock.Now(), Cost: &cost, ToolCalls: x.calls,
		Provider: x.spec.Run.Provider, Model: x.spec.Run.Model, Status: end.status, Demo: x.spec.Demo,
	}
	if s := x.stand; s != nil {
		msg.Provider, msg.Model, msg.Demo = s.Provider, s.Model, s.Demo
	}
	return msg, true
}

func (x *run) announceEnd(end ending) {
	if msg, ok := x.message(end); ok {
		x.publish(event.MessageAdded, msg)
	}
	x.publish(event.RunEnded, x.spec.Run)
	x.Log.Info("Run ended", "run_id", x.id, "state", string(x.spec.Run.State), "turns", x.turns)
}
