package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"oxios/kernel/sys"
)

// The states of a [Mail].
const (
	MailWaiting   = "waiting"   // in its receiver's queue
	MailDelivered = "delivered" // its receiver has read it
	MailAnswered  = "answered"
	MailReturned  = "returned" // its receiver ended before it read it, or before it answered
)

// How a [Mail] came about. One that its sender wrote has "".
const (
	MailOfEnd      = "end"      // the kernel made the sender's last answer an answer to what it was asked
	MailOfFailure  = "failed"   // the sender ended without an answer
	MailOfReturned = "returned" // the sender ended before it read what it was sent
)

// Mail is one message from an agent, or from the person, to another one.
type Mail struct {
	N           int64 // a short number, given by [Store.AddMail]
	ID          string
	SessionID   string
	From, To    string // runs; "" is the person
	FromName    string
	ToName      string
	Kind        string
	Payload     json.RawMessage
	Made        string
	Answers     string // the id of the message that it answers
	Asks        bool   // an answer is expected
	MadeBy      string // the step that sent it
	StepID      string // the step of the receiver that it became
	State       string
	Problem     *sys.Error // why it was returned
	CreatedAt   time.Time
	DeliveredAt *time.Time
}

// MailQuery selects mail, the newest first. All that is set must fit.
type MailQuery struct {
	Run       string // from it or to it
	SessionID string
	To        string // waiting for this run, the oldest first
	Answers   string // answers to this message
	MadeBy    string // sent by this step
	Ref       string // its id, or its number
	Limit     int    // 100 by default; waiting mail has no limit
}

const mailColumns = `n, id, session_id, from_run, to_run, from_name, to_name, kind, payload_json, made, answers, asks, made_by, step_id, state, problem_json,
	created_at, delivered_at`

func scanMail(row scanner) (Mail, error) {
	var m Mail
	var payload string
	var problem sql.NullString
	var created int64
	var delivered sql.NullInt64
	err := row.Scan(&m.N, &m.ID, &m.SessionID, &m.From, &m.To, &m.FromName, &m.ToName, &m.Kind, &payload, &m.Made, &m.Answers, &m.Asks, &m.MadeBy, &m.StepID,
		&m.State, &problem, &created, &delivered)
	if err != nil {
		return m, err
	}
	m.Payload, m.CreatedAt, m.DeliveredAt = json.RawMessage(payload), FromMillis(created), fromNull(delivered)
	return m, fromJSON(problem, &m.Problem)
}

// AddMail saves a message and sets its N, and its ID, State (waiting) and
// CreatedAt where they are empty.
func (s *Store) AddMail(tx *Tx, m *Mail) error {
	if m.ID == "" {
		m.ID = sys.NewID()
	}
	if m.State == "" {
		m.State = MailWaiting
	}
	if m.CreatedAt.IsZero() {
		m.CreatedAt = s.now()
	}
	problem, err := nullJSON(m.Problem)
	if err != nil {
		return err
	}
	return tx.QueryRow(`INSERT INTO mail (id, session_id, from_run, to_run, from_name, to_name, kind, payload_json, made, answers, asks, made_by, step_id, state,
		problem_json, created_at, delivered_at) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?) RETURNING n`,
		m.ID, m.SessionID, m.From, m.To, m.FromName, m.ToName, m.Kind, string(m.Payload), m.Made, m.Answers, m.Asks, m.MadeBy, m.StepID, m.State,
		problem, Millis(m.CreatedAt), nullMillis(m.DeliveredAt)).Scan(&m.N)
}

// SetMail saves the state of a message, with its problem and the step that it
// became.
func (s *Store) SetMail(tx *Tx, m *Mail) error {
	problem, err := nullJSON(m.Problem)
	if err != nil {
		return err
	}
	if m.State != MailWaiting && m.DeliveredAt == nil {
		now := s.now()
		m.DeliveredAt = &now
	}
	_, err = tx.Exec("UPDATE mail SET state = ?, step_id = ?, problem_json = ?, delivered_at = ? WHERE id = ?", m.State, m.StepID, problem, nullMillis(m.DeliveredAt), m.ID)
	return err
}

// Mail returns what q selects. Mail of discarded sessions is not there.
func (s *Store) Mail(ctx context.Context, q MailQuery) ([]Mail, error) {
	var all []Mail
	err := s.Read(ctx, func(tx *Tx) (err error) {
		all, err = s.MailIn(tx, q)
		return err
	})
	return all, err
}

// MailIn is [Store.Mail] inside a transaction.
func (s *Store) MailIn(tx *Tx, q MailQuery) ([]Mail, error) {
	where, args := []string{"session_id NOT IN " + Hidden}, []any{}
	for _, c := range []struct{ condition, value string }{
		{"(from_run = $ OR to_run = $)", q.Run},
		{"session_id = $", q.SessionID},
		{"state = 'waiting' AND to_run = $", q.To},
		{"answers = $", q.Answers},
		{"made_by = $", q.MadeBy},
		{"(id = $ OR n = $)", q.Ref},
	} {
		if c.value != "" {
			args = append(args, c.value)
			where = append(where, strings.ReplaceAll(c.condition, "$", fmt.Sprintf("?%d", len(args))))
		}
	}
	order, most := " ORDER BY n DESC", max(q.Limit, 0)
	switch {
	case q.To != "":
		order, most = " ORDER BY n", -1
	case most == 0:
		most = 100
	}
	return queryMail(tx, most, "SELECT "+mailColumns+" FROM mail WHERE "+strings.Join(where, " AND ")+order, args...)
}

// queryMail returns up to n messages, or all for a negative n.
func queryMail(tx *Tx, n int, query string, args ...any) ([]Mail, error) {
	rows, err := tx.Query(query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []Mail
	for len(all) != n && rows.Next() {
		m, err := scanMail(rows)
		if err != nil {
			return nil, fmt.Errorf("read mail: %w", err)
		}
		all = append(all, m)
	}
	return all, rows.Err()
}

// Waits reports how much mail waits for a run.
func (s *Store) Waits(tx *Tx, run string) (n int, err error) {
	err = tx.QueryRow("SELECT count(*) FROM mail WHERE to_run = ? AND state = 'waiting'", run).Scan(&n)
	return n, err
}

// Unsettled returns the mail of a run to which something has to happen when it
// ends: what it has not read, and what it was asked and has not answered.
func (s *Store) Unsettled(tx *Tx, run string) ([]Mail, error) {
	return queryMail(tx, -1, "SELECT "+mailColumns+" FROM mail WHERE to_run = ? AND (state = 'waiting' OR state = 'delivered' AND asks) ORDER BY n", run)
}

// RunIn is [Store.Run] inside a transaction: a run that ends meanwhile ends
// before or after it.
func (s *Store) RunIn(tx *Tx, id string) (Run, error) { return readRun(tx, id) }

// LastAnswer returns what a run said at its end, "" if it said nothing.
func (s *Store) LastAnswer(tx *Tx, run string) (text string, err error) {
	err = tx.QueryRow("SELECT content FROM messages WHERE run_id = ? AND role = 'assistant' ORDER BY n DESC", run).Scan(&text)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return text, err
}

// LeftMail returns the runs that have ended and whose mail nobody settled: the
// process ended in between.
func (s *Store) LeftMail(ctx context.Context) ([]Run, error) {
	var all []Run
	err := s.Read(ctx, func(tx *Tx) (err error) {
		all, err = queryRuns(tx, "SELECT "+runColumns+" FROM runs WHERE id IN (SELECT to_run FROM mail WHERE state = 'waiting' OR state = 'delivered' AND asks) AND NOT "+openRuns+" ORDER BY pid")
		return err
	})
	return all, err
}
