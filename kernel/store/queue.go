package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"oxios/kernel/sys"
)

// Queued is a message that was typed while a run of its session was at work.
type Queued struct {
	ID        string          `json:"id"`
	SessionID string          `json:"session_id"`
	RunID     string          `json:"run_id,omitempty"` // the agent that it is for; "" for the one that answers in the conversation
	Text      string          `json:"text"`
	CreatedAt time.Time       `json:"created_at"`
	Request   json.RawMessage `json:"request,omitempty"` // how it was submitted: the caller's own form

	Attachments []Attachment `json:"attachments,omitempty"`
	Pasted      []Span       `json:"pasted,omitempty"` // the parts that the person did not type
}

// Enqueue saves a message for later. An empty ID and a zero CreatedAt are
// filled in.
func (s *Store) Enqueue(tx *Tx, q *Queued) error {
	if q.ID == "" {
		q.ID = sys.NewID()
	}
	if q.CreatedAt.IsZero() {
		q.CreatedAt = s.now()
	}
	attached, err := attachmentsJSON(q.Attachments)
	if err != nil {
		return err
	}
	pasted, err := spansJSON(q.Pasted)
	if err != nil {
		return err
	}
	_, err = tx.Exec("INSERT INTO queued (id, session_id, run_id, text, created_at, request_json, attachments_json, pasted_json) VALUES (?,?,?,?,?,?,?,?)",
		q.ID, q.SessionID, q.RunID, q.Text, Millis(q.CreatedAt), nullRaw(q.Request), attached, pasted)
	return err
}

// Queued returns the messages that wait in a session, the oldest first: those
// for the agent runID, or with "" those of the conversation.
func (s *Store) Queued(ctx context.Context, sessionID, runID string) ([]Queued, error) {
	var all []Queued
	err := s.Read(ctx, func(tx *Tx) (err error) {
		all, err = queryQueued(tx, sessionID, runID, -1)
		return err
	})
	return all, err
}

// TakeQueued removes up to n messages that [Store.Queued] would list, the oldest
// first, and returns them; n ≤ 0 means all.
func (s *Store) TakeQueued(tx *Tx, sessionID, runID string, n int) ([]Queued, error) {
	if n <= 0 {
		n = -1
	}
	all, err := queryQueued(tx, sessionID, runID, n)
	if err != nil {
		return nil, err
	}
	for _, q := range all {
		if _, err := tx.Exec("DELETE FROM queued WHERE id = ?", q.ID); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// RemoveQueued removes one message and returns it. It fails with not_found
// when it has been taken or removed already.
func (s *Store) RemoveQueued(tx *Tx, id string) (Queued, error) {
	q, err := scanQueued(tx.QueryRow("DELETE FROM queued WHERE id = ? RETURNING "+queuedColumns, id))
	if errors.Is(err, sql.ErrNoRows) {
		return Queued{}, sys.Errorf(sys.CodeNotFound, "This message is not in the queue any more.")
	}
	return q, err
}

const queuedColumns = "id, session_id, run_id, text, created_at, request_json, attachments_json, pasted_json"

// queryQueued returns up to n messages, or all for a negative n. The limit is
// not in the query: SQLite compiles one with a bound limit anew at each use.
func queryQueued(tx *Tx, sessionID, runID string, n int) ([]Queued, error) {
	rows, err := tx.Query("SELECT "+queuedColumns+" FROM queued WHERE session_id = ? AND run_id = ? ORDER BY rowid", sessionID, runID)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []Queued
	for len(all) != n && rows.Next() {
		q, err := scanQueued(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, q)
	}
	return all, rows.Err()
}

func scanQueued(row scanner) (Queued, error) {
	var q Queued
	var created int64
	var request, attached, pasted sql.NullString
	if err := row.Scan(&q.ID, &q.SessionID, &q.RunID, &q.Text, &created, &request, &attached, &pasted); err != nil {
		return q, err
	}
	q.CreatedAt, q.Request = FromMillis(created), fromRaw(request)
	if err := fromJSON(pasted, &q.Pasted); err != nil {
		return q, err
	}
	return q, fromJSON(attached, &q.Attachments)
}

// QueuedSessions returns the sessions in which messages of the conversation
// wait.
func (s *Store) QueuedSessions(ctx context.Context) ([]string, error) {
	var ids []string
	err := s.Read(ctx, func(tx *Tx) (err error) {
		ids, err = stringsOf(tx, "SELECT DISTINCT session_id FROM queued WHERE run_id = '' AND session_id NOT IN "+Hidden)
		return err
	})
	return ids, err
}
