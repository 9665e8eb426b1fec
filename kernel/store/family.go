package store

import (
	"context"
	"time"
)

// Family returns a run with all that came of it: those that it forked, and what
// these forked. The run itself is the first. It is empty when there is no such run.
func (s *Store) Family(ctx context.Context, runID string) ([]Run, error) {
	return s.relatives(ctx, `WITH RECURSIVE f(id) AS (SELECT id FROM runs WHERE id = ?1 UNION SELECT r.id FROM runs r JOIN f ON r.parent_id = f.id)
		SELECT `+runColumns+" FROM runs WHERE id IN (SELECT id FROM f) ORDER BY id <> ?1, pid", runID)
}

// Forebears returns the run that forked one, the run that forked that, and so on.
func (s *Store) Forebears(ctx context.Context, runID string) ([]Run, error) {
	return s.relatives(ctx, `WITH RECURSIVE f(id) AS (SELECT parent_id FROM runs WHERE id = ?1 UNION SELECT r.parent_id FROM runs r JOIN f ON r.id = f.id)
		SELECT `+runColumns+" FROM runs WHERE id IN (SELECT id FROM f) ORDER BY pid DESC", runID)
}

func (s *Store) relatives(ctx context.Context, query, runID string) ([]Run, error) {
	var all []Run
	err := s.Read(ctx, func(tx *Tx) (err error) {
		all, err = queryRuns(tx, query, runID)
		return err
	})
	return all, err
}

// overBefore selects the runs of the families all of which had ended before a
// moment, the one parameter: what a run and its forks did to one file in turn is kept
// or goes together, and nothing goes that a run at work may need.
const overBefore = `WITH RECURSIVE kept(id) AS (SELECT id FROM runs WHERE ended_at IS NULL OR ended_at >= ?1
		UNION SELECT r.parent_id FROM runs r JOIN kept k ON r.id = k.id WHERE r.parent_id IS NOT NULL),
	whole(id) AS (SELECT id FROM runs WHERE parent_id IS NULL AND id IN (SELECT id FROM kept) UNION SELECT r.id FROM runs r JOIN whole w ON r.parent_id = w.id)
	SELECT id FROM runs WHERE ended_at < ?1 AND id NOT IN (SELECT id FROM whole) AND id NOT IN (SELECT id FROM kept)`

// Cut is what freeing the undo data or the journal of old runs takes with it.
type Cut struct {
	Runs  int
	Files int // that can no longer be put back
	Steps int // of which is gone what they gave
	Bytes int64
	Since time.Time
	Until time.Time // when the first and the last of these runs ended
}

// UndoCut counts what [Store.DropUndo] would forget. Bytes is left to who has the
// contents.
func (s *Store) UndoCut(ctx context.Context, before time.Time) (Cut, error) {
	return s.cut(ctx, `SELECT count(DISTINCT m.run_id), count(DISTINCT m.path), 0, 0, coalesce(min(r.ended_at), 0), coalesce(max(r.ended_at), 0)
		FROM file_marks m JOIN runs r ON r.id = m.run_id WHERE m.run_id IN (`+overBefore+")", before)
}

func (s *Store) cut(ctx context.Context, query string, before time.Time) (Cut, error) {
	var c Cut
	err := s.Read(ctx, func(tx *Tx) error {
		var since, until int64
		err := tx.QueryRow(query, Millis(before)).Scan(&c.Runs, &c.Files, &c.Steps, &c.Bytes, &since, &until)
		if c.Runs > 0 {
			c.Since, c.Until = FromMillis(since), FromMillis(until)
		}
		return err
	})
	return c, err
}

// UndoStatesBefore returns the states that only runs need which [Store.DropUndo]
// would forget, and those that others need, each once.
func (s *Store) UndoStatesBefore(ctx context.Context, before time.Time) (gone, stay []string, err error) {
	err = s.Read(ctx, func(tx *Tx) error {
		rows, err := tx.Query(`WITH old(id) AS MATERIALIZED (`+overBefore+`),
			all_of(run_id, state) AS (SELECT run_id, before FROM file_marks UNION SELECT run_id, after FROM file_marks
				UNION SELECT run_id, was FROM undo_moves UNION SELECT run_id, becomes FROM undo_moves)
			SELECT state, max(run_id NOT IN (SELECT id FROM old)) FROM all_of GROUP BY state`, Millis(before))
		if err != nil {
			return err
		}
		for rows.Next() {
			var state string
			var needed bool
			if err := rows.Scan(&state, &needed); err != nil {
				return err
			}
			if needed {
				stay = append(stay, state)
			} else {
				gone = append(gone, state)
			}
		}
		return rows.Err()
	})
	return gone, stay, err
}

// DropUndo forgets what families of runs did that had ended before a moment: it
// cannot be undone any more.
func (s *Store) DropUndo(tx *Tx, before time.Time) error {
	for _, query := range []string{
		"DELETE FROM undo_moves WHERE state <> 'open' AND run_id IN (" + overBefore + ")",
		// A mark is needed as long as an undo of it is not finished.
		"DELETE FROM file_marks WHERE run_id IN (" + overBefore + ") AND run_id NOT IN (SELECT run_id FROM undo_moves)",
	} {
		if _, err := tx.Exec(query, Millis(before)); err != nil {
			return err
		}
	}
	return nil
}
