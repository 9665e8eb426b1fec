package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"
)

// StepKind says what a step does.
type StepKind string

// The kinds of steps.
const (
	StepModel   StepKind = "model"   // a call of a model
	StepTool    StepKind = "tool"    // a call of a tool
	StepMessage StepKind = "message" // something that was said to the run
	StepNote    StepKind = "note"    // something that the kernel told it
	StepContext StepKind = "context" // what came before is put shorter, so that the model's window holds it

	// How a run's work is evaluated.
	StepCheck      StepKind = "check"      // a command or a file that shows whether a criterion holds
	StepJudge      StepKind = "judge"      // a call of a model about the criteria without a check
	StepEvaluation StepKind = "evaluation" // what came of it
)

// StepState says how far a step has come.
type StepState string

// The states of a step, in their order; waiting and started may be skipped.
const (
	StepProposed StepState = "proposed"
	StepWaiting  StepState = "waiting" // for a decision; it had no effect so far
	StepStarted  StepState = "started" // it may have had its effect
	StepClosed   StepState = "closed"
)

// The outcomes of a closed step.
const (
	OutcomeOK       = "ok"
	OutcomeError    = "error"
	OutcomeDenied   = "denied"
	OutcomeCut      = "cut"      // the stream ended in the middle
	OutcomeCanceled = "canceled" // a person stopped it
	OutcomeUnknown  = "unknown"  // it was started, and nobody knows what became of it
)

// Step is one step of a run.
type Step struct {
	ID         string          `json:"id"`
	RunID      string          `json:"run_id"`
	Seq        int             `json:"seq"` // 1, 2, 3 … in the run
	Kind       StepKind        `json:"kind"`
	Name       string          `json:"name"`
	CallID     string          `json:"call_id"` // the model's name for a tool call
	Args       json.RawMessage `json:"args,omitempty"`
	State      StepState       `json:"state"`
	ApprovalID string          `json:"approval_id"`
	Result     json.RawMessage `json:"result,omitempty"`
	Outcome    string          `json:"outcome"` // "" until it is closed
	ProposedAt time.Time       `json:"proposed_at"`
	StartedAt  *time.Time      `json:"started_at,omitempty"`
	ClosedAt   *time.Time      `json:"closed_at,omitempty"`
	AuditSeq   int64           `json:"audit_seq"`        // of its intent in the audit chain; 0 for none
	GrantID    string          `json:"grant_id"`         // the grant under which it ran without asking; "" if none
	Labels     Labels          `json:"labels,omitempty"` // where what it read came from
}

// Steps returns the steps of a run in their order. Nothing is returned for a
// run that does not exist.
func (s *Store) Steps(ctx context.Context, runID string) ([]Step, error) {
	of, err := s.StepsOf(ctx, []string{runID})
	return of[runID], err
}

// StepsOf returns the steps of several runs, by run: a long conversation is
// read in one question.
func (s *Store) StepsOf(ctx context.Context, runIDs []string) (map[string][]Step, error) {
	ids, err := json.Marshal(runIDs)
	if err != nil {
		return nil, err
	}
	of := map[string][]Step{}
	err = s.Read(ctx, func(tx *Tx) error {
		rows, err := tx.Query(`SELECT id, run_id, seq, kind, name, call_id, args_json, state, approval_id, result_json, outcome,
			proposed_at, started_at, closed_at, audit_seq, grant_id, labels_json FROM steps WHERE run_id IN (SELECT value FROM json_each(?)) ORDER BY run_id, seq`, string(ids))
		if err != nil {
			return err
		}
		for rows.Next() {
			var t Step
			var args, result, labels sql.NullString
			var proposed int64
			var started, closed sql.NullInt64
			if err := rows.Scan(&t.ID, &t.RunID, &t.Seq, &t.Kind, &t.Name, &t.CallID, &args, &t.State, &t.ApprovalID, &result, &t.Outcome,
				&proposed, &started, &closed, &t.AuditSeq, &t.GrantID, &labels); err != nil {
				return err
			}
			if err := fromJSON(labels, &t.Labels); err != nil {
				return err
			}
			t.Args, t.Result = fromRaw(args), fromRaw(result)
			t.ProposedAt, t.StartedAt, t.ClosedAt = FromMillis(proposed), fromNull(started), fromNull(closed)
			of[t.RunID] = append(of[t.RunID], t)
		}
		return rows.Err()
	})
	return of, err
}

// OldestOpenAudit returns the first audit entry that a step which is not closed
// refers to; 0 when there is none.
func (s *Store) OldestOpenAudit(ctx context.Context) (seq int64, err error) {
	err = s.Read(ctx, func(tx *Tx) error {
		return tx.QueryRow("SELECT coalesce(min(audit_seq), 0) FROM steps WHERE state != 'closed' AND audit_seq > 0").Scan(&seq)
	})
	return seq, err
}
