package store

import (
	"context"
	"encoding/json"
	"time"
)

// freeable selects the runs of which the journal can be freed: of families all of
// which had ended before a moment, the one parameter, were not freed yet, and are
// not what a person may still go on with: the end of a branch that did not finish.
// So what a run at work, a request that waits and a continuation need is kept.
const freeable = `SELECT id FROM runs WHERE freed_at IS NULL AND id IN (` + overBefore + `) AND id NOT IN (
	WITH RECURSIVE stopped(id) AS (SELECT id FROM runs s WHERE s.parent_id IS NULL AND s.state <> 'done' AND NOT EXISTS (SELECT 1 FROM runs n WHERE n.after_id = s.id)
		UNION SELECT r.id FROM runs r JOIN stopped t ON r.parent_id = t.id) SELECT id FROM stopped)
	AND EXISTS (SELECT 1 FROM steps t WHERE t.run_id = runs.id)`

// What a step holds that can be freed: the result of a tool, and what a model
// thought. What was said, what was done with which arguments, what came of it in a
// word, and where it came from stay.
const (
	given   = "kind IN ('tool', 'check') AND state = 'closed' AND json_valid(result_json) AND length(result_json ->> '$.text') > 200"
	thought = "kind = 'model' AND state = 'closed' AND json_valid(result_json) AND length(result_json ->> '$.reasoning') > 0"
)

// JournalCut counts what [Store.FreeJournal] would free.
func (s *Store) JournalCut(ctx context.Context, before time.Time) (Cut, error) {
	return s.cut(ctx, `WITH f(id) AS MATERIALIZED (`+freeable+`)
		SELECT count(DISTINCT run_id), 0, coalesce(sum((`+given+") OR ("+thought+`)), 0),
			coalesce(sum(CASE WHEN `+given+" THEN length(CAST(result_json ->> '$.text' AS BLOB)) WHEN "+thought+` THEN length(CAST(result_json ->> '$.reasoning' AS BLOB)) ELSE 0 END), 0),
			coalesce(min(ended), 0), coalesce(max(ended), 0)
		FROM (SELECT s.*, (SELECT ended_at FROM runs r WHERE r.id = s.run_id) AS ended FROM steps s WHERE s.run_id IN (SELECT id FROM f))`, before)
}

// freeBatch is how many runs are freed in one transaction: other writers get their
// turn between them.
const freeBatch = 20

// FreeJournal frees the journals of runs of families that had ended before a
// moment, and writes down when. In place of what a tool gave stands said. It returns
// how many runs it freed.
func (s *Store) FreeJournal(ctx context.Context, before time.Time, said string) (int, error) {
	freed := 0
	for {
		n := 0
		err := s.Write(ctx, func(tx *Tx) error {
			ids, err := stringsOf(tx, freeable+" LIMIT ?2", Millis(before), freeBatch)
			if err != nil || len(ids) == 0 {
				return err
			}
			n = len(ids)
			list, err := json.Marshal(ids)
			if err != nil {
				return err
			}
			for _, query := range []string{
				"UPDATE steps SET result_json = json_set(result_json, '$.text', ?2) WHERE run_id IN (SELECT value FROM json_each(?1)) AND ?3 > 0 AND " + given,
				"UPDATE steps SET result_json = json_remove(result_json, '$.reasoning') WHERE run_id IN (SELECT value FROM json_each(?1)) AND ?2 <> '' AND ?3 > 0 AND " + thought,
				"UPDATE runs SET freed_at = ?3 WHERE id IN (SELECT value FROM json_each(?1)) AND ?2 <> ''",
			} {
				if _, err := tx.Exec(query, string(list), said, Millis(s.now())); err != nil {
					return err
				}
			}
			return nil
		})
		freed += n
		if err != nil || n == 0 {
			return freed, err
		}
	}
}
