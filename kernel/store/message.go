package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"oxios/kernel/sys"
)

// The roles of a [Message].
const (
	RoleUser      = "user"
	RoleAssistant = "assistant"
	RoleTool      = "tool"
	RoleSystem    = "system"
)

// How the making of a [Message] ended. A whole one has "".
const (
	StatusStopped = "stopped" // a person stopped it
	StatusCut     = "cut"     // the stream ended in the middle
	StatusFailed  = "failed"
	StatusForced  = "forced" // the run had used up its turns
	StatusMissed  = "missed" // the work does not meet all criteria that were agreed on
)

// Message is one thing that was said in a session.
type Message struct {
	ID        string     `json:"id"`
	SessionID string     `json:"session_id"`
	RunID     string     `json:"run_id"`
	Role      string     `json:"role"`
	Content   string     `json:"content"`
	Reasoning string     `json:"reasoning"`
	At        time.Time  `json:"at"`
	Cost      *Cost      `json:"cost,omitempty"`
	ToolCalls []ToolCall `json:"tool_calls"`
	Provider  string     `json:"provider"`
	Model     string     `json:"model"`
	Status    string     `json:"status"` // "" | stopped | cut | failed | forced | missed
	Demo      bool       `json:"demo"`   // scripted, no language model

	Attachments []Attachment `json:"attachments,omitempty"` // of a person's message
	Pasted      []Span       `json:"pasted,omitempty"`      // the parts of it that the person did not type
}

// ToolCall is what a model asked for and what became of it.
type ToolCall struct {
	ID      string          `json:"id"`
	Name    string          `json:"name"`
	Args    json.RawMessage `json:"args,omitempty"`
	Outcome string          `json:"outcome"`
	Summary string          `json:"summary"`
}

// AddMessage appends a message to its session and makes that session the
// newest in the list. An empty ID and a zero At are filled in. It fails with
// not_found when the session has been deleted.
func (s *Store) AddMessage(tx *Tx, m Message) error {
	if m.ID == "" {
		m.ID = sys.NewID()
	}
	if m.At.IsZero() {
		m.At = s.now()
	}
	var cost, calls any
	if m.Cost != nil {
		text, err := json.Marshal(m.Cost)
		if err != nil {
			return fmt.Errorf("encode cost: %w", err)
		}
		cost = string(text)
	}
	if len(m.ToolCalls) > 0 {
		text, err := json.Marshal(m.ToolCalls)
		if err != nil {
			return fmt.Errorf("encode tool calls: %w", err)
		}
		calls = string(text)
	}
	attached, err := attachmentsJSON(m.Attachments)
	if err != nil {
		return err
	}
	pasted, err := spansJSON(m.Pasted)
	if err != nil {
		return err
	}
	res, err := tx.Exec("UPDATE sessions SET updated_at = max(updated_at, ?) WHERE id = ? AND discarded_at IS NULL", Millis(m.At), m.SessionID)
	if err := must(res, err, func() error { return errNotFound("session", m.SessionID) }); err != nil {
		return err
	}
	_, err = tx.Exec(`INSERT INTO messages (id, session_id, run_id, role, content, reasoning, timestamp, cost_json, tool_calls_json, provider, model, status, demo, attachments_json, pasted_json)
		VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`, m.ID, m.SessionID, m.RunID, m.Role, m.Content, m.Reasoning, Millis(m.At), cost, calls,
		m.Provider, m.Model, m.Status, m.Demo, attached, pasted)
	return err
}

// Messages returns the messages of a session in the order in which they were
// added. A session that does not exist has none.
func (s *Store) Messages(ctx context.Context, sessionID string) ([]Message, error) {
	return s.queryMessages(ctx, "", sessionID)
}

// MessagesOf returns those of some runs of a session, and those of no run.
func (s *Store) MessagesOf(ctx context.Context, sessionID string, runIDs []string) ([]Message, error) {
	ids, err := json.Marshal(runIDs)
	if err != nil {
		return nil, err
	}
	return s.queryMessages(ctx, "AND (run_id = '' OR run_id IN (SELECT value FROM json_each(?)))", sessionID, string(ids))
}

func (s *Store) queryMessages(ctx context.Context, which string, args ...any) ([]Message, error) {
	var all []Message
	err := s.Read(ctx, func(tx *Tx) error {
		rows, err := tx.Query(`SELECT id, session_id, run_id, role, content, reasoning, timestamp, cost_json, tool_calls_json, provider, model, status, demo, attachments_json, pasted_json
			FROM messages WHERE session_id = ? `+which+` ORDER BY n`, args...)
		if err != nil {
			return err
		}
		for rows.Next() {
			var m Message
			var at int64
			var cost, calls, attached, pasted sql.NullString
			if err := rows.Scan(&m.ID, &m.SessionID, &m.RunID, &m.Role, &m.Content, &m.Reasoning, &at, &cost, &calls,
				&m.Provider, &m.Model, &m.Status, &m.Demo, &attached, &pasted); err != nil {
				return err
			}
			m.At = FromMillis(at)
			if err := fromJSON(cost, &m.Cost); err != nil {
				return fmt.Errorf("read the cost of message %s: %w", m.ID, err)
			}
			if err := fromJSON(calls, &m.ToolCalls); err != nil {
				return fmt.Errorf("read the tool calls of message %s: %w", m.ID, err)
			}
			if err := fromJSON(attached, &m.Attachments); err != nil {
				return fmt.Errorf("read the attachments of message %s: %w", m.ID, err)
			}
			if err := fromJSON(pasted, &m.Pasted); err != nil {
				return fmt.Errorf("read what was pasted into message %s: %w", m.ID, err)
			}
			all = append(all, m)
		}
		return rows.Err()
	})
	return all, err
}
