package store

import (
	"context"
	"encoding/json"
	"slices"
)

// OfferedTools returns the names of the tools that a tool found in the runs of a conversation, the newest find first: at most
// limit of them, out of its last 100 runs.
func (s *Store) OfferedTools(ctx context.Context, sessionID, tool string, limit int) (names []string, err error) {
	err = s.Read(ctx, func(tx *Tx) error {
		rows, err := tx.Query(`SELECT s.result_json FROM (SELECT id FROM runs WHERE session_id = ? ORDER BY pid DESC LIMIT 100) r JOIN steps s ON s.run_id = r.id
			WHERE s.kind = ? AND s.name = ? AND s.outcome = ? ORDER BY s.id DESC LIMIT 50`, sessionID, StepTool, tool, OutcomeOK)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() && len(names) < limit {
			var raw []byte
			if err := rows.Scan(&raw); err != nil {
				return err
			}
			var found struct {
				Offered []string `json:"offered"`
			}
			if json.Unmarshal(raw, &found) != nil {
				continue // the journal of an old run holds no results any more
			}
			for _, name := range found.Offered {
				if !slices.Contains(names, name) && len(names) < limit {
					names = append(names, name)
				}
			}
		}
		return rows.Err()
	})
	return names, err
}
