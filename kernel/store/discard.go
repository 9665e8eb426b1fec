package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"oxios/kernel/sys"
)

// Hidden is a subquery: the ids of the sessions that were discarded. No list
// and no lookup shows them or what belongs to them.
const Hidden = "(SELECT id FROM sessions WHERE discarded_at IS NOT NULL)"

// DiscardSession hides a session with all that belongs to it, until
// [Store.RecoverSession] or [Store.DeleteDiscarded]. It fails with not_found,
// and with busy while a run of the session is open.
func (s *Store) DiscardSession(tx *Tx, id string) error {
	if err := notAtWork(tx, id); err != nil {
		return err
	}
	res, err := tx.Exec("UPDATE sessions SET discarded_at = ? WHERE id = ? AND discarded_at IS NULL", Millis(s.now()), id)
	return must(res, err, func() error { return errNotFound("session", id) })
}

// RecoverSession shows a discarded session again, as it was. It fails with
// not_found when there is none, or when its deletion has begun.
func (s *Store) RecoverSession(tx *Tx, id string) error {
	res, err := tx.Exec("UPDATE sessions SET discarded_at = NULL WHERE id = ? AND discarded_at > 0", id)
	return must(res, err, func() error { return errNotFound("session", id) })
}

// Discarded returns the ids of the sessions that were discarded.
func (s *Store) Discarded(ctx context.Context) ([]string, error) {
	var ids []string
	err := s.Read(ctx, func(tx *Tx) (err error) {
		ids, err = stringsOf(tx, "SELECT id FROM sessions WHERE discarded_at IS NOT NULL ORDER BY id")
		return err
	})
	return ids, err
}

// deleteBatch is how many messages go in one transaction. Taking one out of
// the full-text index, so that nothing of it stays there, takes up to 60 ms
// in a database of ten thousand, and other writers wait meanwhile.
const deleteBatch = 2

// DeleteDiscarded deletes a discarded session, in several transactions: other
// writers get their turn between them. Once it has begun, the session cannot be
// recovered; what a crash leaves is still discarded and can be deleted again.
// also runs in the last transaction, unless it is nil. It fails with not_found
// when the session is not discarded, or no longer.
func (s *Store) DeleteDiscarded(ctx context.Context, id string, also func(*Tx) error) error {
	err := s.Write(ctx, func(tx *Tx) error {
		res, err := tx.Exec("UPDATE sessions SET discarded_at = 0 WHERE id = ? AND discarded_at IS NOT NULL", id)
		return must(res, err, func() error { return errNotFound("session", id) })
	})
	for gone := int64(1); err == nil && gone > 0; {
		err = s.Write(ctx, func(tx *Tx) error {
			res, err := tx.Exec("DELETE FROM messages WHERE n IN (SELECT n FROM messages WHERE session_id = ? ORDER BY n LIMIT ?)", id, deleteBatch)
			if err != nil {
				return err
			}
			gone, err = res.RowsAffected()
			return err
		})
	}
	if err != nil {
		return err
	}
	return s.Write(ctx, func(tx *Tx) error {
		if err := s.deleteSession(tx, id); err != nil {
			return err
		}
		if also == nil {
			return nil
		}
		return also(tx)
	})
}

// stringsOf returns the one column of a query.
func stringsOf(tx *Tx, query string, args ...any) ([]string, error) {
	rows, err := tx.Query(query, args...)
	if err != nil {
		return nil, err
	}
	var all []string
	for rows.Next() {
		var t string
		if err := rows.Scan(&t); err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, rows.Err()
}

// notAtWork fails with busy while a run of the session is open.
func notAtWork(tx *Tx, id string) error {
	var open int
	if err := tx.QueryRow("SELECT count(*) FROM runs WHERE session_id = ? AND "+openRuns, id).Scan(&open); err != nil {
		return err
	}
	if open > 0 {
		return sys.Errorf(sys.CodeBusy, "An agent is still at work in this conversation, so it was not deleted.").WithHint("Stop it first.")
	}
	return nil
}

// SessionExtent is how much belongs to a session.
type SessionExtent struct {
	Session  Session
	Messages int
	Runs     int
	Branches int
	Written  []string // the absolute paths of the files that its runs created or modified, each once
	Audit    int      // entries of the audit chain that name the session or one of its runs
}

// Extent counts what belongs to a session, or fails with not_found. It reads
// the whole audit chain, which takes about a second for a million entries.
func (s *Store) Extent(ctx context.Context, id string) (SessionExtent, error) {
	var e SessionExtent
	err := s.Read(ctx, func(tx *Tx) (err error) {
		if e.Session, err = readSession(tx, id); err != nil {
			return err
		}
		if err := tx.QueryRow("SELECT count(*), (SELECT count(*) FROM runs WHERE session_id = ?1) FROM messages WHERE session_id = ?1", id).Scan(&e.Messages, &e.Runs); err != nil {
			return err
		}
		tree, err := readTree(tx, id)
		if err != nil {
			return err
		}
		e.Branches = tree.Branches()
		if e.Written, err = stringsOf(tx, `SELECT path FROM (SELECT path, kind, max(rowid) FROM changes WHERE run_id IN (SELECT id FROM runs WHERE session_id = ?) GROUP BY path)
			WHERE kind <> 'deleted' ORDER BY path`, id); err != nil {
			return err
		}
		return tx.QueryRow(`SELECT count(*) FROM audit WHERE instr(metadata, ?1) > 0 OR resource = 'session:' || ?2`,
			fmt.Sprintf(`"session_id":%q`, id), id).Scan(&e.Audit)
	})
	return e, err
}

// eraseTries is how often [Store.Erase] looks for a moment without readers.
const eraseTries = 20

// Erase moves the write-ahead log into the database file and empties it. Until
// then a copy of what was deleted can still stand in the log, although the
// database itself overwrites what it deletes. It fails with busy when readers
// are in the way for several seconds; closing the store erases too.
func (s *Store) Erase(ctx context.Context) error {
	// A connection of its own: neither the writer nor the readers wait for it longer than for a checkpoint.
	db, err := sql.Open("sqlite", dsn(s.path, "mode=rw&_pragma=busy_timeout(200)&_pragma=checkpoint_fullfsync(1)"))
	if err != nil {
		return fmt.Errorf("erase: %w", err)
	}
	defer func() { _ = db.Close() }()
	for range eraseTries {
		var blocked, logged, moved int
		if err := db.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&blocked, &logged, &moved); err != nil {
			return classify(fmt.Errorf("erase: %w", err))
		}
		if blocked == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
	return sys.Errorf(sys.CodeBusy, "The database is being read all the time, so its log could not be emptied.").WithHint("Its log is emptied when Oxios ends.")
}
