package memory

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"oxios/kernel/store"
)

// What came of looking through a conversation.
const (
	OutcomeBegun   = "begun"   // the model was asked; a crash leaves it so
	OutcomeOK      = "ok"      // something is remembered
	OutcomeNothing = "nothing" // there was nothing to remember
	OutcomeBad     = "bad"     // the answer could not be used
	OutcomeFailed  = "failed"  // the model could not be asked
)

// Extraction says how far a conversation was looked through.
type Extraction struct {
	Session  string    `json:"session"`
	Through  string    `json:"through"`  // the newest message that was looked at
	Tried    string    `json:"tried"`    // the newest message of the last attempt
	Attempts int       `json:"attempts"` // that came to no use, at Tried
	At       time.Time `json:"at"`
	Outcome  string    `json:"outcome"`
}

// Call is one model call that looked for what to remember.
type Call struct {
	Session, Provider, Model string
	At                       time.Time
	Outcome                  string
	Facts                    int
	Cost                     store.Cost
}

// Extraction returns how far a conversation was looked through; the zero value,
// with its session, if it never was.
func (ms *Memories) Extraction(ctx context.Context, session string) (x Extraction, err error) {
	x.Session = session
	err = ms.store.Read(ctx, func(tx *store.Tx) error {
		var at int64
		err := tx.QueryRow("SELECT through, tried, attempts, at, outcome FROM memory_extractions WHERE session_id = ?", session).
			Scan(&x.Through, &x.Tried, &x.Attempts, &at, &x.Outcome)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		x.At = store.FromMillis(at)
		return err
	})
	return x, err
}

// SetExtraction notes how far a conversation was looked through.
func (ms *Memories) SetExtraction(tx *store.Tx, x Extraction) error {
	_, err := tx.Exec(`INSERT INTO memory_extractions (session_id, through, tried, attempts, at, outcome) VALUES (?,?,?,?,?,?)
		ON CONFLICT (session_id) DO UPDATE SET through = excluded.through, tried = excluded.tried, attempts = excluded.attempts, at = excluded.at, outcome = excluded.outcome`,
		x.Session, x.Through, x.Tried, x.Attempts, store.Millis(x.At), x.Outcome)
	if err != nil {
		return fmt.Errorf("note how far conversation %s was looked through: %w", x.Session, err)
	}
	return nil
}

// AddCall notes a call with what it cost. The account of the day is the
// caller's to keep.
func (ms *Memories) AddCall(tx *store.Tx, c Call) error {
	cost, err := json.Marshal(c.Cost)
	if err != nil {
		return err
	}
	_, err = tx.Exec("INSERT INTO memory_calls (session_id, provider, model, at, outcome, facts, cost_json) VALUES (?,?,?,?,?,?,?)",
		c.Session, c.Provider, c.Model, store.Millis(c.At), c.Outcome, c.Facts, string(cost))
	return err
}

// Calls returns what the calls since from have cost together, and the newest
// call of all; nil when there was none.
func (ms *Memories) Calls(ctx context.Context, from time.Time) (sum store.Cost, last *Call, err error) {
	err = ms.store.Read(ctx, func(tx *store.Tx) error {
		rows, err := tx.Query("SELECT cost_json FROM memory_calls WHERE at >= ?", store.Millis(from))
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var text string
			var c store.Cost
			if err := rows.Scan(&text); err != nil {
				return err
			}
			if err := json.Unmarshal([]byte(text), &c); err != nil {
				return err
			}
			sum = sum.Add(c)
		}
		if err := rows.Err(); err != nil {
			return err
		}
		var c Call
		var at int64
		err = tx.QueryRow("SELECT session_id, provider, model, at, outcome, facts FROM memory_calls ORDER BY n DESC LIMIT 1").
			Scan(&c.Session, &c.Provider, &c.Model, &at, &c.Outcome, &c.Facts)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		c.At, last = store.FromMillis(at), &c
		return err
	})
	return sum, last, err
}

// MaxAttempts is how often an answer to the same messages may be of no use.
// Then they are left until something new is said.
const MaxAttempts = 2

// Finished returns the conversations that have messages nobody has looked
// through, the oldest first: with their newest one from since on, and said
// before idle. Those at work are not among them.
func (ms *Memories) Finished(ctx context.Context, since, idle time.Time, limit int) (ids []string, err error) {
	err = ms.store.Read(ctx, func(tx *store.Tx) error {
		rows, err := tx.Query(`SELECT id FROM (
				SELECT s.id, s.updated_at, (SELECT m.id FROM messages m WHERE m.session_id = s.id ORDER BY m.n DESC LIMIT 1) AS newest
				FROM sessions s WHERE s.discarded_at IS NULL AND s.updated_at >= ?1 AND s.updated_at <= ?2
					AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.session_id = s.id AND r.state IN ('queued', 'running', 'waiting', 'paused'))) f
			LEFT JOIN memory_extractions e ON e.session_id = f.id
			WHERE f.newest IS NOT NULL AND f.newest <> coalesce(e.through, '') AND NOT (coalesce(e.attempts, 0) >= ?3 AND e.tried = f.newest)
			ORDER BY f.updated_at LIMIT ?4`, store.Millis(since), store.Millis(idle), MaxAttempts, limit)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var id string
			if err := rows.Scan(&id); err != nil {
				return err
			}
			ids = append(ids, id)
		}
		return rows.Err()
	})
	return ids, err
}

// Summary returns what is remembered as the summary of a conversation; the zero
// value without one.
func (ms *Memories) Summary(ctx context.Context, session string) (m Memory, err error) {
	err = ms.store.Read(ctx, func(tx *store.Tx) error {
		m, err = ms.SummaryIn(tx, session)
		return err
	})
	return m, err
}

// ReplaceIn remembers n in the place of the memory old, which becomes its
// history. One that no longer holds, or is of another space, stays as it is.
func (ms *Memories) ReplaceIn(tx *store.Tx, old string, n New) (Memory, error) {
	m, err := ms.RememberIn(tx, n)
	if err != nil || m.ID == old {
		return m, err
	}
	before, err := one(tx, "m.id = ? AND m.space = ? AND m.replaced_by = ''", old, n.Space)
	if errors.Is(err, sql.ErrNoRows) {
		return m, nil
	}
	if err == nil {
		err = ms.replace(tx, before, m.ID, ms.clock.Now())
	}
	return m, err
}

// OfThread counts the memories that hold and stand in a conversation.
func (ms *Memories) OfThread(ctx context.Context, session string) (n int, err error) {
	err = ms.store.Read(ctx, func(tx *store.Tx) error {
		return tx.QueryRow("SELECT count(*) FROM memories WHERE thread = ? AND replaced_by = ''", session).Scan(&n)
	})
	return n, err
}

// SummaryIn is [Memories.Summary] inside a transaction; the zero value without
// one.
func (ms *Memories) SummaryIn(tx *store.Tx, session string) (Memory, error) {
	m, err := one(tx, "m.thread = ? AND m.kind = ? AND m.source = ? AND m.replaced_by = '' ORDER BY m.n DESC", session, KindSession, FromConversation)
	if errors.Is(err, sql.ErrNoRows) {
		return Memory{}, nil
	}
	return m, err
}

// About returns the fact of a space that holds about key, and whether there is
// one.
func (ms *Memories) About(tx *store.Tx, space, key string) (Memory, bool, error) {
	if key == "" {
		return Memory{}, false, nil
	}
	return found(one(tx, "m.space = ? AND m.key = ? AND m.replaced_by = ''", space, key))
}

// Holds returns a memory, and whether there is one that holds.
func (ms *Memories) Holds(tx *store.Tx, id string) (Memory, bool, error) {
	return found(one(tx, "m.id = ? AND m.replaced_by = ''", id))
}

func found(m Memory, err error) (Memory, bool, error) {
	if errors.Is(err, sql.ErrNoRows) {
		return Memory{}, false, nil
	}
	return m, err == nil, err
}
