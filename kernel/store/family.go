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

// UndoCut is what forgetting how to undo old runs takes with it.
type UndoCut struct {
	Runs  int
	Files int // that can no longer be put back
	Since time.Time
	Until time.Time // when the first and the last of these runs ended
}

// UndoCut counts what [Store.DropUndo] would forget.
func (s *Store) UndoCut(ctx context.Context, before time.Time) (UndoCut, error) {
	var c UndoCut
	err := s.Read(ctx, func(tx *Tx) error {
		var since, until int64
		err := tx.QueryRow(`SELECT count(DISTINCT m.run_id), count(DISTINCT m.run_id || m.path), coalesce(min(r.ended_at), 0), coalesce(max(r.ended_at), 0)
			FROM file_marks m JOIN runs r ON r.id = m.run_id WHERE m.run_id IN (`+overBefore+")", Millis(before)).Scan(&c.Runs, &c.Files, &since, &until)
		if c.Runs > 0 {
			c.Since, c.Until = FromMillis(since), FromMillis(until)
		}
		return err
	})
	return c, err
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
