package security

import (
	"context"
	"encoding/json"
	"fmt"

	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// Decide records a person's answer. It refuses everybody but a person, an
// approval of something else than what was shown, an unknown scope, and a
// question that has ended. also runs in the same transaction as the decision,
// for its audit record; it may be nil. If it fails, nothing is decided.
func (a *Approvals) Decide(ctx context.Context, by sys.Principal, id string, d Answer, also func(*store.Tx, Approval) error) (Approval, error) {
	if err := onlyAPerson(by); err != nil {
		return Approval{}, err
	}
	if d.Scope == "" {
		d.Scope = ScopeOnce
	}
	if d.Scope != ScopeOnce && d.Scope != ScopeRun {
		return Approval{}, sys.Errorf(sys.CodeInvalid, "There is no scope %q.", d.Scope).WithHint("Use once or run.")
	}
	var (
		ap      Approval
		refusal error
	)
	err := a.st.Write(ctx, func(tx *store.Tx) (err error) {
		refusal = nil
		if ap, err = a.get(tx, id); err != nil {
			return err
		}
		if refusal = answerable(ap, d); refusal != nil {
			return nil
		}
		var filled *Answers
		if ap.Request.Form != nil && d.Approve {
			if filled, refusal = answersToForm(*ap.Request.Form, d.Answers); refusal != nil {
				return nil
			}
		}
		now := a.now()
		ap.State, ap.Scope, ap.DecidedBy, ap.Comment, ap.DecidedAt = ApprovalDenied, d.Scope, by.Actor(), trimComment(d.Comment), &now
		if d.Approve {
			ap.State = ApprovalApproved
			ap.ExpiresAt = now.Add(a.cfg.TTL) // from now on it is the use that must not wait for ever
			ap.Answers = answersTo(ap.Request.Questions, d.Answers)
			if filled != nil {
				ap.Answers = filled
			}
		}
		if err := a.move(tx, ap, ApprovalPending); err != nil {
			return err
		}
		if also != nil {
			return also(tx, ap)
		}
		return nil
	})
	if err != nil {
		return Approval{}, err
	}
	return ap, refusal
}

// answersTo makes answers fit the questions. An approval that says nothing to
// them leaves them open: assume, and start.
func answersTo(questions []Question, given *Answers) *Answers {
	if len(questions) == 0 {
		return nil
	}
	out := Answers{Given: make([]string, len(questions)), Assume: true}
	if given != nil {
		out.Assume, out.Text = given.Assume, trimComment(given.Text)
		for i := range min(len(given.Given), len(questions)) {
			out.Given[i] = trimComment(given.Given[i])
		}
	}
	return &out
}

// answersToForm makes answers fit a form. Nothing is sent to a server that nobody filled in.
func answersToForm(f Form, given *Answers) (*Answers, error) {
	switch {
	case given == nil:
		return nil, sys.Errorf(sys.CodeInvalid, "The server %s asks for values, which an approval does not give. Nothing was sent.", f.Server).
			WithHint("Answer it in the window, or with `oxios answer`.")
	case given.Action == FormDecline || given.Action == FormCancel:
		return &Answers{Given: []string{}, Action: given.Action}, nil
	case given.Action != "":
		return nil, sys.Errorf(sys.CodeInvalid, "There is no answer %q. Nothing was sent.", sys.Shorten(given.Action, 40)).WithHint("Use decline or cancel, or give the values.")
	}
	values, err := f.Check(given.Values)
	return &Answers{Given: []string{}, Values: values}, err
}

// onlyAPerson refuses agents and the kernel's own checks: nobody approves
// their own request. A program answers where the guard let it: the person gave it the scope for that.
func onlyAPerson(by sys.Principal) error {
	if by.Kind == sys.KindPerson || by.Kind == sys.KindClient {
		return nil
	}
	return sys.Errorf(sys.CodeForbidden, "Only a person can decide about an approval.").
		WithHint("Wait for the person, or go on without it.")
}

// answerable says why an answer cannot be taken, if so.
func answerable(ap Approval, d Answer) error {
	switch {
	case ap.State == ApprovalExpired:
		return sys.Errorf(sys.CodeConflict, "This request has ended: %s. Nothing was run.", ap.Comment).
			WithHint("The agent can ask again.")
	case ap.State == ApprovalCanceled:
		return sys.Errorf(sys.CodeConflict, "This request has ended: %s.", commentOf(ap))
	case ap.State != ApprovalPending:
		word := ApprovalApproved
		if ap.State == ApprovalDenied {
			word = ApprovalDenied
		}
		return sys.Errorf(sys.CodeConflict, "This request was already %s by %s.", word, ap.DecidedBy)
	case d.Approve && d.Scope == ScopeRun && ap.Request.NoRun:
		return sys.Errorf(sys.CodeRefused, "This runs what the folder defines, and nothing contains it or it has the network, so it cannot be approved for a whole run. Nothing was decided.").
			WithHint("Approve it once.")
	case d.Approve && d.Scope == ScopeRun && ap.Request.Form != nil:
		return sys.Errorf(sys.CodeInvalid, "What a server asks is answered once. Nothing was decided.")
	case d.Hash == "" && d.Approve:
		return sys.Errorf(sys.CodeInvalid, "An approval must say which request was shown.")
	case d.Hash != "" && d.Hash != ap.Request.Hash:
		return sys.Errorf(sys.CodeConflict, "The request changed since it was shown. Nothing was decided.").
			WithHint("Look at it again.")
	}
	return nil
}

// Waits fails unless the question waits for an answer now.
func (a *Approvals) Waits(tx *store.Tx, id string) error {
	ap, err := a.get(tx, id)
	if err == nil && ap.State != ApprovalPending {
		err = sys.Errorf(sys.CodeConflict, "This request does not wait any more: it is %s.", ap.State)
	}
	return err
}

// move writes ap, if it is still in the state from.
func (a *Approvals) move(tx *store.Tx, ap Approval, from string) error {
	var decided any
	if ap.DecidedAt != nil {
		decided = ap.DecidedAt.UnixMilli()
	}
	var answers any
	if ap.Answers != nil {
		raw, err := json.Marshal(ap.Answers)
		if err != nil {
			return fmt.Errorf("write the answers: %w", err)
		}
		answers = string(raw)
	}
	res, err := tx.Exec(`UPDATE approvals SET state = ?, scope = ?, decided_by = ?, comment = ?, decided_at = ?, expires_at = ?, answers_json = ?
		WHERE id = ? AND state = ?`,
		ap.State, ap.Scope, ap.DecidedBy, ap.Comment, decided, ap.ExpiresAt.UnixMilli(), answers, ap.ID, from)
	if err != nil {
		return fmt.Errorf("write approval: %w", err)
	}
	if n, err := res.RowsAffected(); err != nil || n != 1 {
		return sys.Errorf(sys.CodeConflict, "The approval changed in the meantime.").WithHint("Look at it again.")
	}
	a.tell(tx, ap)
	return nil
}

// Use takes an approval for the call with this hash, in the transaction that
// starts the call. One of scope once can be used one time; one of scope run
// stays. Whatever cannot be used gives an error that says why.
func (a *Approvals) Use(tx *store.Tx, id, hash string) error {
	ap, err := a.get(tx, id)
	if err != nil {
		return err
	}
	switch {
	case hash == "" || hash != ap.Request.Hash:
		return sys.Errorf(sys.CodeConflict, "The call is not the one that was approved.").WithHint("Ask again.")
	case ap.State == ApprovalPending:
		return sys.Errorf(sys.CodeWaiting, "This waits for a person.")
	case ap.State != ApprovalApproved:
		return ap.Err()
	}
	now := a.now()
	if ap.UsedAt == nil {
		ap.UsedAt = &now
	}
	if ap.Scope == ScopeOnce {
		ap.State = ApprovalUsed
	}
	res, err := tx.Exec(`UPDATE approvals SET state = ?, used_at = ? WHERE id = ? AND state = ? AND hash = ?`,
		ap.State, ap.UsedAt.UnixMilli(), id, ApprovalApproved, hash)
	if err != nil {
		return fmt.Errorf("use approval: %w", err)
	}
	if n, err := res.RowsAffected(); err != nil || n != 1 {
		return sys.Errorf(sys.CodeConflict, "The approval changed in the meantime.").WithHint("Ask again.")
	}
	a.tell(tx, ap)
	return nil
}

// Match finds the approval that already stands for the call with this hash:
// the newest one of this very step that is pending, approved, denied or timed
// out unanswered, so that a run which goes on after a restart does not ask
// twice; otherwise an approved one of scope run. The caller awaits what it
// gets, looks at [Approval.Err] and uses it.
func (a *Approvals) Match(ctx context.Context, runID, stepID, hash string) (Approval, bool, error) {
	var (
		ap    Approval
		found bool
	)
	if runID == "" || hash == "" {
		return ap, false, nil
	}
	err := a.st.Read(ctx, func(tx *store.Tx) (err error) {
		rows, err := tx.Query(`SELECT `+approvalColumns+` FROM approvals
			WHERE run_id = ? AND hash = ? ORDER BY id DESC`, runID, hash)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			next, err := a.scan(rows)
			if err != nil {
				return err
			}
			if stepID != "" && next.Request.StepID == stepID && answers(next) {
				ap, found = next, true
				break
			}
			if !found && next.State == ApprovalApproved && next.Scope == ScopeRun {
				ap, found = next, true
			}
		}
		return rows.Err()
	})
	if err != nil {
		return Approval{}, false, fmt.Errorf("match approval: %w", err)
	}
	return ap, found, nil
}

// answers reports whether ap still speaks for its step. A used one does not,
// nor one that was taken back or went unused: then the step must ask again.
func answers(ap Approval) bool {
	switch ap.State {
	case ApprovalPending, ApprovalApproved, ApprovalDenied:
		return true
	case ApprovalExpired:
		return ap.DecidedAt == nil
	}
	return false
}

// Revoke takes back an approval that was given and not yet used, or one of
// scope run. Only a person can. also is as in [Approvals.Decide].
func (a *Approvals) Revoke(ctx context.Context, by sys.Principal, id string, also func(*store.Tx, Approval) error) error {
	if err := onlyAPerson(by); err != nil {
		return err
	}
	return a.st.Write(ctx, func(tx *store.Tx) error {
		ap, err := a.get(tx, id)
		if err != nil {
			return err
		}
		if ap.State != ApprovalApproved {
			return sys.Errorf(sys.CodeConflict, "There is nothing to take back: the approval is %s.", ap.State)
		}
		now := a.now()
		ap.State, ap.DecidedBy, ap.DecidedAt = ApprovalCanceled, by.Actor(), &now
		ap.Comment = "the person took the approval back"
		if err := a.move(tx, ap, ApprovalApproved); err != nil {
			return err
		}
		if also != nil {
			return also(tx, ap)
		}
		return nil
	})
}

// Withdraw ends an open question that nobody waits for any more, and says why. One that was decided stays.
func (a *Approvals) Withdraw(tx *store.Tx, id, why string) error {
	ap, err := a.get(tx, id)
	if err != nil || ap.State != ApprovalPending {
		return err
	}
	ap.State, ap.Comment = ApprovalCanceled, why
	return a.move(tx, ap, ApprovalPending)
}

// CancelRun ends every open question and unused approval of a run, inside the
// caller's transaction.
func (a *Approvals) CancelRun(tx *store.Tx, runID string) error {
	open, err := a.query(tx, `run_id = ? AND state IN (?, ?)`, runID, ApprovalPending, ApprovalApproved)
	if err != nil {
		return err
	}
	for _, ap := range open {
		if ap.State == ApprovalExpired {
			continue // its time was over before the run's
		}
		was := ap.State
		ap.State, ap.Comment = ApprovalCanceled, "the run has ended"
		if err := a.move(tx, ap, was); err != nil {
			return err
		}
	}
	return nil
}
