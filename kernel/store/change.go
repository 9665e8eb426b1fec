package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"oxios/kernel/sys"
)

// The kinds of a [Change].
const (
	ChangeCreated  = "created"
	ChangeModified = "modified"
	ChangeDeleted  = "deleted"
)

// Change is what one step did to one file.
type Change struct {
	ID         string    `json:"id"`
	RunID      string    `json:"run_id"`
	StepID     string    `json:"step_id"`
	Path       string    `json:"path"` // absolute
	Kind       string    `json:"kind"` // created | modified | deleted
	Before     []byte    `json:"-"`    // the content before; nil when there was none or it was not kept
	After      []byte    `json:"-"`    // the content after, likewise
	AfterHash  string    `json:"after_hash"`
	BeforeSize int64     `json:"before_size"` // bytes
	AfterSize  int64     `json:"after_size"`  // bytes
	Binary     bool      `json:"binary"`
	At         time.Time `json:"at"`
}

const changeColumns = "id, run_id, step_id, path, kind, after_hash, before_size, after_size, binary, at"

// AddChange records a change. An empty ID and a zero At are filled in.
func (s *Store) AddChange(tx *Tx, c Change) error {
	if c.ID == "" {
		c.ID = sys.NewID()
	}
	if c.At.IsZero() {
		c.At = s.now()
	}
	_, err := tx.Exec("INSERT INTO changes ("+changeColumns+", before, after) VALUES (?,?,?,?,?,?,?,?,?,?,?,?)",
		c.ID, c.RunID, c.StepID, c.Path, c.Kind, c.AfterHash, c.BeforeSize, c.AfterSize, c.Binary, Millis(c.At), nullBlob(c.Before), nullBlob(c.After))
	return err
}

// nullBlob keeps an empty file apart from none.
func nullBlob(b []byte) any {
	if b == nil {
		return nil
	}
	return b
}

// Changes returns the changes of a run in the order in which they were made,
// without the contents; see [Store.Change].
func (s *Store) Changes(ctx context.Context, runID string) ([]Change, error) {
	var all []Change
	err := s.Read(ctx, func(tx *Tx) error {
		rows, err := tx.Query("SELECT "+changeColumns+" FROM changes WHERE run_id = ? ORDER BY rowid", runID)
		if err != nil {
			return err
		}
		for rows.Next() {
			c, err := scanChange(rows)
			if err != nil {
				return err
			}
			all = append(all, c)
		}
		return rows.Err()
	})
	return all, err
}

// Changed says which of some runs have changes.
func (s *Store) Changed(ctx context.Context, runIDs []string) (map[string]bool, error) {
	ids, err := json.Marshal(runIDs)
	if err != nil {
		return nil, err
	}
	changed := map[string]bool{}
	err = s.Read(ctx, func(tx *Tx) error {
		rows, err := tx.Query("SELECT DISTINCT run_id FROM changes WHERE run_id IN (SELECT value FROM json_each(?))", string(ids))
		if err != nil {
			return err
		}
		for rows.Next() {
			var id string
			if err := rows.Scan(&id); err != nil {
				return err
			}
			changed[id] = true
		}
		return rows.Err()
	})
	return changed, err
}

// Change returns one change with the contents before and after, or not_found.
func (s *Store) Change(ctx context.Context, id string) (Change, error) {
	var c Change
	err := s.Read(ctx, func(tx *Tx) (err error) {
		var before, after []byte
		var hadBefore, hadAfter bool
		c, err = scanChange(tx.QueryRow("SELECT "+changeColumns+", before, before IS NOT NULL, after, after IS NOT NULL FROM changes WHERE id = ?", id),
			&before, &hadBefore, &after, &hadAfter)
		if hadBefore {
			c.Before = append([]byte{}, before...) // an empty blob comes back as nil
		}
		if hadAfter {
			c.After = append([]byte{}, after...)
		}
		return err
	})
	if errors.Is(err, sql.ErrNoRows) {
		return Change{}, errNotFound("change", id)
	}
	return c, err
}

func scanChange(row scanner, more ...any) (Change, error) {
	var c Change
	var at int64
	err := row.Scan(append([]any{&c.ID, &c.RunID, &c.StepID, &c.Path, &c.Kind, &c.AfterHash, &c.BeforeSize, &c.AfterSize, &c.Binary, &at}, more...)...)
	c.At = FromMillis(at)
	return c, err
}
