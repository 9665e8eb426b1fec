package store

import (
	"context"
	"database/sql"
	"strings"
	"time"
)

// The states of a version of a seed.
const (
	SeedActive = "active" // its run works on it
	SeedPassed = "passed"
	SeedFailed = "failed" // it was evaluated, and did not pass
	SeedEnded  = "ended"  // its run ended before it was evaluated
)

// Seed is a version of a seed, as the index knows it.
type Seed struct {
	ID        string    `json:"id"`
	Version   int       `json:"version"`
	RunID     string    `json:"run_id"`
	SessionID string    `json:"session_id"`
	Goal      string    `json:"goal"`
	Ambiguity float64   `json:"ambiguity"`
	State     string    `json:"state"`
	Score     *float64  `json:"score"` // null until it is evaluated
	CreatedAt time.Time `json:"created_at"`
	MadeBy    string    `json:"made_by,omitempty"` // the step that began it
}

// SeedQuery selects versions of seeds, the newest first.
type SeedQuery struct {
	ID        string `json:"id,omitempty"`
	RunID     string `json:"run_id,omitempty"`
	SessionID string `json:"session_id,omitempty"`
	State     string `json:"state,omitempty"`
	Newest    bool   `json:"newest,omitempty"` // of each seed its newest version alone
	Limit     int    `json:"limit,omitempty"`  // 50 by default, at most 500
}

// InsertSeed saves a new version.
func (s *Store) InsertSeed(tx *Tx, d Seed) error {
	_, err := tx.Exec("INSERT INTO seeds (id, version, run_id, session_id, goal, ambiguity, state, score, created_at, made_by) VALUES (?,?,?,?,?,?,?,?,?,?)",
		d.ID, d.Version, d.RunID, d.SessionID, d.Goal, d.Ambiguity, d.State, d.Score, Millis(d.CreatedAt), d.MadeBy)
	return err
}

// EvaluatedSeed notes what came of a version.
func (s *Store) EvaluatedSeed(tx *Tx, id string, version int, state string, score float64) error {
	_, err := tx.Exec("UPDATE seeds SET state = ?, score = ? WHERE id = ? AND version = ?", state, score, id, version)
	return err
}

// EndSeeds notes that a run has ended that worked on a seed.
func (s *Store) EndSeeds(tx *Tx, runID string) error {
	_, err := tx.Exec("UPDATE seeds SET state = 'ended' WHERE run_id = ? AND state = 'active'", runID)
	return err
}

// Seeds lists versions of seeds. Those of a session that was discarded are not
// shown while that can be undone.
func (s *Store) Seeds(ctx context.Context, q SeedQuery) ([]Seed, error) {
	where, args := []string{"session_id NOT IN " + Hidden}, []any{}
	for column, value := range map[string]string{"id": q.ID, "run_id": q.RunID, "session_id": q.SessionID, "state": q.State} {
		if value != "" {
			where, args = append(where, column+" = ?"), append(args, value)
		}
	}
	if q.Newest {
		where = append(where, "version = (SELECT max(version) FROM seeds n WHERE n.id = seeds.id)")
	}
	all := []Seed{}
	err := s.Read(ctx, func(tx *Tx) error {
		rows, err := tx.Query("SELECT id, version, run_id, session_id, goal, ambiguity, state, score, created_at, made_by FROM seeds WHERE "+
			strings.Join(where, " AND ")+" ORDER BY created_at DESC, id DESC, version DESC LIMIT ?", append(args, limit(q.Limit))...)
		if err != nil {
			return err
		}
		for rows.Next() {
			var d Seed
			var score sql.NullFloat64
			var at int64
			if err := rows.Scan(&d.ID, &d.Version, &d.RunID, &d.SessionID, &d.Goal, &d.Ambiguity, &d.State, &score, &at, &d.MadeBy); err != nil {
				return err
			}
			if score.Valid {
				d.Score = &score.Float64
			}
			d.CreatedAt = FromMillis(at)
			all = append(all, d)
		}
		return rows.Err()
	})
	return all, err
}
