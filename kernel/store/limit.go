package store

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// Limits are the most that may be used: nil is no limit, and 0 allows nothing.
type Limits struct {
	Tokens *int64   `json:"tokens,omitempty"` // input and output together
	Calls  *int64   `json:"calls,omitempty"`  // of a model
	USD    *float64 `json:"usd,omitempty"`
}

// None reports whether nothing is limited.
func (l Limits) None() bool { return l.Tokens == nil && l.Calls == nil && l.USD == nil }

// scopeRun is the scope of a limit that holds for a run and for all that it
// starts.
const scopeRun = "run"

// SetRunLimits sets the limits of a run, in place of those that it had.
func (s *Store) SetRunLimits(tx *Tx, runID string, l Limits) error {
	_, err := tx.Exec(`INSERT INTO limits (scope, id, tokens, calls, usd, set_at) VALUES (?,?,?,?,?,?)
		ON CONFLICT (scope, id) DO UPDATE SET tokens = excluded.tokens, calls = excluded.calls, usd = excluded.usd, set_at = excluded.set_at`,
		scopeRun, runID, l.Tokens, l.Calls, l.USD, Millis(s.now()))
	return err
}

// RunLimits returns the limits of a run, and whether it has any of its own.
func (s *Store) RunLimits(ctx context.Context, runID string) (l Limits, ok bool, err error) {
	err = s.Read(ctx, func(tx *Tx) error {
		err := tx.QueryRow("SELECT tokens, calls, usd FROM limits WHERE scope = ? AND id = ?", scopeRun, runID).Scan(&l.Tokens, &l.Calls, &l.USD)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		ok = err == nil
		return err
	})
	return l, ok, err
}

// costSums adds up the costs of the rows of a question whose column cost_json
// is one; a row without one counts nothing.
const costSums = `coalesce(sum(json_extract(cost_json, '$.calls')), 0), coalesce(sum(json_extract(cost_json, '$.input')), 0),
	coalesce(sum(json_extract(cost_json, '$.output')), 0), coalesce(sum(json_extract(cost_json, '$.cached')), 0),
	coalesce(sum(json_extract(cost_json, '$.reasoning')), 0), coalesce(sum(json_extract(cost_json, '$.usd')), 0.0),
	coalesce(max(json_extract(cost_json, '$.unknown')), 0), coalesce(min(json_extract(cost_json, '$.free')), 0)`

// TreeCost returns what a run has cost, with all runs that it started.
func (s *Store) TreeCost(ctx context.Context, runID string) (Cost, error) {
	var c Cost
	err := s.Read(ctx, func(tx *Tx) error {
		return tx.QueryRow(`WITH RECURSIVE tree (id) AS (SELECT ? UNION SELECT r.id FROM runs r JOIN tree t ON r.parent_id = t.id)
			SELECT `+costSums+` FROM runs WHERE id IN tree`, runID).
			Scan(&c.Calls, &c.Input, &c.Output, &c.Cached, &c.Reasoning, &c.USD, &c.Unknown, &c.Free)
	})
	return c, err
}

// SlotCost is what all runs together have cost in a quarter of an hour.
type SlotCost struct {
	From time.Time
	Cost
}

// SlotCosts returns the account since from, a quarter of an hour at a time;
// those in which nothing was spent are left out.
func (s *Store) SlotCosts(ctx context.Context, from time.Time) ([]SlotCost, error) {
	var all []SlotCost
	err := s.Read(ctx, func(tx *Tx) error {
		rows, err := tx.Query("SELECT slot, calls, input, output, cached, reasoning, usd, unknown, free FROM spend WHERE slot >= ? ORDER BY slot", Millis(from.Truncate(slot)))
		if err != nil {
			return err
		}
		for rows.Next() {
			var c SlotCost
			var at int64
			if err := rows.Scan(&at, &c.Calls, &c.Input, &c.Output, &c.Cached, &c.Reasoning, &c.USD, &c.Unknown, &c.Free); err != nil {
				return err
			}
			c.From = FromMillis(at)
			all = append(all, c)
		}
		return rows.Err()
	})
	return all, err
}

// RunCost is what a run has cost in a time.
type RunCost struct {
	RunID     string `json:"run_id"`
	SessionID string `json:"session_id"`
	Name      string `json:"name"`
	Provider  string `json:"provider"`
	Model     string `json:"model"`
	Cost
}

// RunCosts returns what each run has cost since from, by its model calls that
// ended since then, the most expensive first. Deleted conversations are not
// among them.
func (s *Store) RunCosts(ctx context.Context, from time.Time) ([]RunCost, error) {
	var all []RunCost
	err := s.Read(ctx, func(tx *Tx) error {
		rows, err := tx.Query(`SELECT id, session_id, name, provider, model, `+costSums+` FROM (
				SELECT r.id, coalesce(r.session_id, '') AS session_id, r.name, r.provider, r.model, json_extract(s.result_json, '$.cost') AS cost_json
				FROM runs r JOIN steps s ON s.run_id = r.id
				WHERE r.copy_of = '' AND `+shownRun+` AND coalesce(r.ended_at, ?1) >= ?1 AND s.kind = 'model' AND s.closed_at >= ?1)
			GROUP BY id HAVING sum(json_extract(cost_json, '$.calls')) > 0
			ORDER BY sum(json_extract(cost_json, '$.usd')) DESC, sum(json_extract(cost_json, '$.input')) DESC, id`, Millis(from))
		if err != nil {
			return err
		}
		for rows.Next() {
			var c RunCost
			if err := rows.Scan(&c.RunID, &c.SessionID, &c.Name, &c.Provider, &c.Model,
				&c.Calls, &c.Input, &c.Output, &c.Cached, &c.Reasoning, &c.USD, &c.Unknown, &c.Free); err != nil {
				return err
			}
			all = append(all, c)
		}
		return rows.Err()
	})
	return all, err
}

// shownRun is [shown] for runs that are called r.
const shownRun = "(r.session_id IS NULL OR r.session_id NOT IN " + Hidden + ")"

// CountFailed counts the runs that ended since from with an error of this code.
func (s *Store) CountFailed(ctx context.Context, from time.Time, code string) (n int, err error) {
	err = s.Read(ctx, func(tx *Tx) error {
		return tx.QueryRow("SELECT count(*) FROM runs r WHERE ended_at >= ? AND copy_of = '' AND json_extract(error_json, '$.code') = ? AND "+shownRun, Millis(from), code).Scan(&n)
	})
	return n, err
}
