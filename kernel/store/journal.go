package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"oxios/kernel/sys"
)

// Journal appends the steps of one run. It holds the run's last sequence and
// its fencing token, and makes both a condition of each append, in the same
// transaction: after [Store.TakeOver] by somebody else, or after another
// Journal has appended, every append fails with conflict and writes nothing.
// Its methods may be called from any goroutine.
type Journal struct {
	s     *Store
	runID string
	token int64
	seq   int64 // read and written inside transactions alone, that is by the writer's goroutine
}

// Journal returns the journal of a run, or not_found.
func (s *Store) Journal(ctx context.Context, runID string) (*Journal, error) {
	j := &Journal{s: s, runID: runID}
	err := s.Read(ctx, func(tx *Tx) error {
		return tx.QueryRow("SELECT token, seq FROM runs WHERE id = ?", runID).Scan(&j.token, &j.seq)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return nil, errNotFound("run", runID)
	}
	if err != nil {
		return nil, fmt.Errorf("open the journal of run %s: %w", runID, err)
	}
	return j, nil
}

// Propose appends steps in their order. It sets RunID, Seq, State and
// ProposedAt, and ID where it is empty.
func (j *Journal) Propose(tx *Tx, steps ...*Step) error {
	if err := j.reserve(tx, steps...); err != nil {
		return err
	}
	for _, step := range steps {
		if err := insertStep(tx, step); err != nil {
			return err
		}
	}
	return nil
}

// reserve gives steps their places in the run. Their rows must follow in the
// same transaction.
func (j *Journal) reserve(tx *Tx, steps ...*Step) error {
	if len(steps) == 0 {
		return nil
	}
	seq := j.seq
	res, err := tx.Exec("UPDATE runs SET seq = ? WHERE id = ? AND token = ? AND seq = ?", seq+int64(len(steps)), j.runID, j.token, seq)
	if err := must(res, err, func() error { return errTakenOver(j.runID) }); err != nil {
		return err
	}
	// Ahead of the commit: the next transaction of the same batch builds on it.
	j.seq += int64(len(steps))
	tx.OnRollback(func() { j.seq = seq })
	now := j.s.now()
	for i, step := range steps {
		if step.ID == "" {
			step.ID = sys.NewID()
		}
		step.RunID, step.Seq, step.State, step.ProposedAt = j.runID, int(seq)+i+1, StepProposed, now
	}
	return nil
}

func insertStep(tx *Tx, t *Step) error {
	_, err := tx.Exec(`INSERT INTO steps (id, run_id, seq, kind, name, call_id, args_json, state, approval_id, result_json, outcome,
		proposed_at, started_at, closed_at, audit_seq, grant_id, labels_json) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`,
		t.ID, t.RunID, t.Seq, t.Kind, t.Name, t.CallID, nullRaw(t.Args), t.State, t.ApprovalID, nullRaw(t.Result), t.Outcome,
		Millis(t.ProposedAt), nullMillis(t.StartedAt), nullMillis(t.ClosedAt), t.AuditSeq, t.GrantID, labelsJSON(t.Labels))
	if err != nil {
		return fmt.Errorf("insert step: %w", err)
	}
	return nil
}

// fence fails with conflict when this journal is no longer the run's: it tells
// that case from a bug when an append wrote nothing.
func (j *Journal) fence(tx *Tx) error {
	var ours int
	if err := tx.QueryRow("SELECT count(*) FROM runs WHERE id = ? AND token = ? AND seq = ?", j.runID, j.token, j.seq).Scan(&ours); err != nil {
		return fmt.Errorf("check the owner of run %s: %w", j.runID, err)
	}
	if ours == 0 {
		return errTakenOver(j.runID)
	}
	return nil
}

// Open returns the handle of a step under way: one that was proposed, or one
// that [Store.Steps] returned. There is one handle for a step; its methods may
// be called from any goroutine.
func (j *Journal) Open(step *Step) *OpenStep { return &OpenStep{j: j, step: *step} }

// OpenStep is a step under way. An order of calls that the states do not allow
// is a bug of the caller and fails with internal.
type OpenStep struct {
	j *Journal

	mu       sync.Mutex // guards the fields below
	step     Step
	planned  bool // not in the journal yet
	deferred []func(*Tx) error
}

// Plan is Propose and Open without a transaction of their own: the step enters
// the journal with its first change of state.
func (j *Journal) Plan(step *Step) *OpenStep {
	o := &OpenStep{j: j, step: *step, planned: true}
	if o.step.ID == "" {
		o.step.ID = sys.NewID()
	}
	return o
}

// Step returns a copy of the step as it is now.
func (o *OpenStep) Step() Step {
	t, _ := o.now()
	return t
}

// Wait records that the step waits for the approval, in one transaction with
// fn, which saves the approval. Waiting again, after a restart or for a second
// syscall, records the newer approval. A step that has started stays started:
// it may have had an effect.
func (o *OpenStep) Wait(ctx context.Context, approvalID string, fn func(*Tx) error) error {
	return o.j.s.Write(ctx, func(tx *Tx) error {
		return o.advance(tx, "wait", func(t *Step) bool {
			t.ApprovalID = approvalID
			if t.State == StepProposed {
				t.State = StepWaiting
			}
			return t.State != StepClosed
		}, fn)
	})
}

// Start records that the step's effect may happen from now on, in one
// transaction with fn: the audit intent and the use of an approval. For a
// second syscall of the same step only fn runs.
func (o *OpenStep) Start(ctx context.Context, fn func(*Tx) error) error {
	return o.j.s.Write(ctx, func(tx *Tx) error {
		return o.advance(tx, "start", func(t *Step) bool {
			if t.State == StepProposed || t.State == StepWaiting {
				now := o.j.s.now()
				t.State, t.StartedAt = StepStarted, &now
			}
			return t.State == StepStarted
		}, fn)
	})
}

// SetAudit notes where the step's intent stands in the audit chain. It is
// called from Start's fn; the first one is kept.
func (o *OpenStep) SetAudit(tx *Tx, seq int64) error {
	return o.move(tx, "note the audit entry of", func(t *Step) bool {
		if t.AuditSeq == 0 {
			t.AuditSeq = seq
		}
		return t.State == StepStarted
	})
}

// SetGrant notes the grant under which the step runs without asking. It is
// called from Start's fn.
func (o *OpenStep) SetGrant(tx *Tx, id string) error {
	return o.move(tx, "note the grant of", func(t *Step) bool {
		t.GrantID = id
		return t.State == StepStarted
	})
}

// Label notes where what the step reads came from. It is durable with the
// step's next change of state, so at the latest with its result.
func (o *OpenStep) Label(labels Labels) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.step.Labels = o.step.Labels.Join(labels)
}

// OnClose has fn run in the transaction that closes the step, before Close's
// own function: the audit outcome. When that transaction fails, fn runs again
// with the next Close.
func (o *OpenStep) OnClose(fn func(*Tx) error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.deferred = append(o.deferred, fn)
}

// Close records the outcome, in one transaction with the deferred work and
// with also, which may be nil: the next steps, a message. It does so even when
// ctx has ended, because what happened has happened.
func (o *OpenStep) Close(ctx context.Context, outcome string, result json.RawMessage, also func(*Tx) error) error {
	switch outcome {
	case OutcomeOK, OutcomeError, OutcomeDenied, OutcomeCut, OutcomeCanceled, OutcomeUnknown:
	default:
		return sys.Errorf(sys.CodeInternal, "A step cannot be closed with the outcome %q.", outcome)
	}
	return o.j.s.Write(context.WithoutCancel(ctx), func(tx *Tx) error {
		return o.advance(tx, "close", func(t *Step) bool {
			allowed := t.State != StepClosed
			now := o.j.s.now()
			t.State, t.Outcome, t.Result, t.ClosedAt = StepClosed, outcome, result, &now
			return allowed
		}, func(tx *Tx) error {
			o.mu.Lock()
			deferred := o.deferred
			o.mu.Unlock()
			for _, fn := range deferred {
				if err := fn(tx); err != nil {
					return err
				}
			}
			return then(tx, nil, also)
		})
	})
}

// advance moves the step and then runs fn, which may be nil. The row of a
// planned step is written when both are done: once.
func (o *OpenStep) advance(tx *Tx, verb string, change func(*Step) bool, fn func(*Tx) error) error {
	was, planned := o.now()
	if !planned {
		return then(tx, o.move(tx, verb, change), fn)
	}
	t := was
	if err := o.j.reserve(tx, &t); err != nil {
		return err
	}
	o.set(t, true)
	tx.OnRollback(func() { o.set(was, true) })
	if err := then(tx, o.move(tx, verb, change), fn); err != nil {
		return err
	}
	t, _ = o.now()
	o.set(t, false)
	return insertStep(tx, &t)
}

// move changes the step: change edits a copy and reports whether the step's
// state allowed it. The row, if there is one so far, must be as this handle
// knows it.
func (o *OpenStep) move(tx *Tx, verb string, change func(*Step) bool) error {
	was, planned := o.now()
	t := was
	if !change(&t) {
		return errIllegal(verb, was)
	}
	if planned {
		o.set(t, true)
		return nil
	}
	res, err := tx.Exec(`UPDATE steps SET state = ?, approval_id = ?, result_json = ?, outcome = ?, started_at = ?, closed_at = ?, audit_seq = ?, grant_id = ?, labels_json = ?
		WHERE run_id = ? AND seq = ? AND id = ? AND state = ? AND EXISTS (SELECT 1 FROM runs WHERE id = ? AND token = ? AND seq = ?)`,
		t.State, t.ApprovalID, nullRaw(t.Result), t.Outcome, nullMillis(t.StartedAt), nullMillis(t.ClosedAt), t.AuditSeq, t.GrantID, labelsJSON(t.Labels),
		o.j.runID, t.Seq, t.ID, was.State, o.j.runID, o.j.token, o.j.seq)
	err = must(res, err, func() error {
		if err := o.j.fence(tx); err != nil {
			return err
		}
		return errIllegal(verb, was)
	})
	if err != nil {
		return err
	}
	o.set(t, false)
	tx.OnRollback(func() { o.set(was, false) })
	return nil
}

// now returns the step as it is, and whether it has no row so far.
func (o *OpenStep) now() (t Step, planned bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.step, o.planned
}

func (o *OpenStep) set(t Step, planned bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	t.Labels = t.Labels.Join(o.step.Labels) // what was read stays read, whatever became of the transaction
	o.step, o.planned = t, planned
}

func errIllegal(verb string, t Step) error {
	return sys.Errorf(sys.CodeInternal, "Cannot %s step %s, which this handle knows as %q.", verb, t.ID, t.State)
}

// then runs fn, which may be nil, when err is nil.
func then(tx *Tx, err error, fn func(*Tx) error) error {
	if err != nil || fn == nil {
		return err
	}
	return fn(tx)
}

type stepKey struct{}

// WithStep returns a context that carries the step under way to the guard.
func WithStep(ctx context.Context, o *OpenStep) context.Context {
	return context.WithValue(ctx, stepKey{}, o)
}

// StepFrom returns the step under way, or nil outside of one.
func StepFrom(ctx context.Context) *OpenStep {
	o, _ := ctx.Value(stepKey{}).(*OpenStep)
	return o
}
