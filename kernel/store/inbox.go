package store

import (
	"context"
	"encoding/json"
	"fmt"
)

// news is the condition of an end that a person wants to see. They stopped the
// other runs themselves; what a fork did stands in its parent's answer, unless
// that one ended first, and a copy never ran. With seen_at IS NULL before it, it is that of the index
// runs_unseen, word for word.
const news = "state IN ('done', 'failed', 'interrupted') AND (parent_id IS NULL OR orphan) AND copy_of = ''"

// unseen is the condition of a run that stands in the inbox.
const unseen = "seen_at IS NULL AND " + news

// EndedRun is a run that has ended, with what a list says about it.
type EndedRun struct {
	Run    Run    `json:"run"`
	Title  string `json:"title"`  // of its conversation
	Answer string `json:"answer"` // its first 300 characters
	Files  int    `json:"files"`  // that it changed
	Seen   bool   `json:"seen"`
}

// Inbox returns the runs whose end nobody has seen, or with all those that
// were seen too, the last end first and at most limit, and how many nobody has
// seen.
func (s *Store) Inbox(ctx context.Context, all bool, limit int) (list []EndedRun, unseenCount int, err error) {
	where := unseen
	if all {
		where = news
	}
	err = s.Read(ctx, func(tx *Tx) error {
		if err := tx.QueryRow("SELECT count(*) FROM runs WHERE " + unseen + " AND " + shown).Scan(&unseenCount); err != nil {
			return err
		}
		rows, err := tx.Query("SELECT "+runColumns+`,
			coalesce((SELECT title FROM sessions WHERE id = runs.session_id), ''),
			coalesce((SELECT substr(content, 1, 300) FROM messages WHERE id = runs.id || '-answer'), ''),
			(SELECT count(DISTINCT path) FROM changes WHERE run_id = runs.id), seen_at IS NOT NULL
			FROM runs WHERE `+where+" AND "+shown+" ORDER BY ended_at DESC LIMIT ?", limit)
		if err != nil {
			return err
		}
		for rows.Next() {
			var e EndedRun
			if e.Run, err = scanRun(rows, &e.Title, &e.Answer, &e.Files, &e.Seen); err != nil {
				return err
			}
			list = append(list, e)
		}
		return rows.Err()
	})
	return list, unseenCount, err
}

// MarkSeen notes whether a person saw how runs ended, and returns how many of
// them that changed. Runs that have not ended, or that do not exist, are left
// alone.
func (s *Store) MarkSeen(tx *Tx, ids []string, seen bool) (int64, error) {
	list, err := json.Marshal(ids)
	if err != nil {
		return 0, fmt.Errorf("encode ids: %w", err)
	}
	var at any
	if seen {
		at = Millis(s.now())
	}
	res, err := tx.Exec("UPDATE runs SET seen_at = ?1 WHERE id IN (SELECT value FROM json_each(?2)) AND (seen_at IS NULL) = (?1 IS NOT NULL) AND "+news, at, string(list))
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// SeeSession is [Store.MarkSeen] for all runs of a session.
func (s *Store) SeeSession(tx *Tx, sessionID string) (int64, error) {
	res, err := tx.Exec("UPDATE runs SET seen_at = ? WHERE session_id = ? AND "+unseen, Millis(s.now()), sessionID)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// CountNotMet returns how many runs stand in the inbox whose task was not met.
func (s *Store) CountNotMet(ctx context.Context) (n int, err error) {
	err = s.Read(ctx, func(tx *Tx) error {
		return tx.QueryRow("SELECT count(*) FROM runs WHERE " + unseen + " AND " + shown + " AND " + notMet).Scan(&n)
	})
	return n, err
}

// SeeDone marks every finished run of the inbox as seen, and returns their ids;
// not those that failed, nor those whose task was not met.
func (s *Store) SeeDone(tx *Tx) ([]string, error) {
	return stringsOf(tx, "UPDATE runs SET seen_at = ? WHERE "+unseen+" AND state = 'done' AND NOT coalesce("+notMet+", FALSE) AND "+shown+" RETURNING id", Millis(s.now()))
}
