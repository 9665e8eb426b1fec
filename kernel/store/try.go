package store

import (
	"context"
	"encoding/json"
	"time"
)

// The states of a [Try].
const (
	TryShown    = "shown"    // a person may apply it
	TryApplying = "applying" // it is being applied
	TryApplied  = "applied"
	TryLeft     = "left" // it could not be applied, and what was done of it was taken back
)

// Try is what a command did on a copy of its folder.
type Try struct {
	ApprovalID    string // or an id of its own, where nobody was asked
	RunID, StepID string
	Hash          string // of exactly what was shown
	Result        []byte // JSON
	Files         []TriedFile
	State         string
	At            time.Time
}

// TriedFile is one path that differs on the copy.
type TriedFile struct {
	Path    string `json:"path"` // below the folder, with slashes
	Was     string `json:"was"`  // a state in words
	Becomes string `json:"becomes"`
	Late    bool   `json:"late,omitempty"` // somebody changed it in the folder meanwhile
}

// PutTry keeps a try in place of the one that its request may have.
func (s *Store) PutTry(tx *Tx, t Try) error {
	files, err := json.Marshal(t.Files)
	if err != nil {
		return err
	}
	_, err = tx.Exec("INSERT OR REPLACE INTO tries (approval_id, run_id, step_id, hash, result_json, files_json, state, at) VALUES (?,?,?,?,?,?,?,?)",
		t.ApprovalID, t.RunID, t.StepID, t.Hash, string(t.Result), string(files), t.State, Millis(s.now()))
	return err
}

// Try returns what came of trying the command of a request, nil where there is
// nothing.
func (s *Store) Try(ctx context.Context, approvalID string) (t *Try, err error) {
	err = s.Read(ctx, func(tx *Tx) error {
		rows, err := tx.Query("SELECT run_id, step_id, hash, result_json, files_json, state, at FROM tries WHERE approval_id = ?", approvalID)
		if err != nil {
			return err
		}
		defer rows.Close()
		t = nil
		for rows.Next() {
			var result, files string
			var at int64
			t = &Try{ApprovalID: approvalID}
			if err := rows.Scan(&t.RunID, &t.StepID, &t.Hash, &result, &files, &t.State, &at); err != nil {
				return err
			}
			t.Result, t.At = []byte(result), FromMillis(at)
			if err := json.Unmarshal([]byte(files), &t.Files); err != nil {
				return err
			}
		}
		return rows.Err()
	})
	return t, err
}

// TriesApplying returns the requests whose tries are being applied.
func (s *Store) TriesApplying(ctx context.Context) (ids []string, err error) {
	err = s.Read(ctx, func(tx *Tx) error {
		rows, err := tx.Query("SELECT approval_id FROM tries WHERE state = 'applying' ORDER BY approval_id")
		if err != nil {
			return err
		}
		ids = nil
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

// SetTry moves a try on, if it is in the state from.
func (s *Store) SetTry(tx *Tx, approvalID, from, to string) error {
	res, err := tx.Exec("UPDATE tries SET state = ? WHERE approval_id = ? AND state = ?", to, approvalID, from)
	return must(res, err, func() error { return errNotFound("try", approvalID) })
}

// DropTry forgets a try that is only shown.
func (s *Store) DropTry(tx *Tx, approvalID string) error {
	_, err := tx.Exec("DELETE FROM tries WHERE approval_id = ? AND state = 'shown'", approvalID)
	return err
}

// DropTries forgets the tries from before a moment whose requests are over.
func (s *Store) DropTries(tx *Tx, before time.Time) error {
	_, err := tx.Exec(`DELETE FROM tries WHERE state <> 'applying' AND at < ?
		AND approval_id NOT IN (SELECT id FROM approvals WHERE state IN ('pending', 'approved'))`, Millis(before))
	return err
}
