package store

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"
)

// What corrections may teach a space at most.
const (
	maxLearned = 64 // words
	maxWeight  = 3  // of each
)

// SpaceWord is a word that corrections taught a space.
type SpaceWord struct {
	Word   string  `json:"word"`
	Weight float64 `json:"weight"`
}

// TeachSpace has words count for a space, or, where more is below 0, less than
// before. The least of them are forgotten where there are too many.
func (s *Store) TeachSpace(tx *Tx, space string, words []string, more float64) error {
	for _, w := range words {
		if more < 0 {
			if _, err := tx.Exec("UPDATE space_words SET weight = weight + ? WHERE space = ? AND word = ?", more, space, w); err != nil {
				return err
			}
			continue
		}
		_, err := tx.Exec("INSERT INTO space_words (space, word, weight) VALUES (?, ?, ?) ON CONFLICT (space, word) DO UPDATE SET weight = min(weight + excluded.weight, ?)", space, w, more, maxWeight)
		if err != nil {
			return err
		}
	}
	_, err := tx.Exec("DELETE FROM space_words WHERE space = ?1 AND (weight <= 0 OR word NOT IN (SELECT word FROM space_words WHERE space = ?1 ORDER BY weight DESC, word LIMIT ?2))", space, maxLearned)
	return err
}

// SpaceWords returns what corrections taught, by space.
func (s *Store) SpaceWords(tx *Tx) (map[string][]SpaceWord, error) {
	rows, err := tx.Query("SELECT space, word, weight FROM space_words ORDER BY space, word")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := map[string][]SpaceWord{}
	for rows.Next() {
		var space string
		var w SpaceWord
		if err := rows.Scan(&space, &w.Word, &w.Weight); err != nil {
			return nil, err
		}
		out[space] = append(out[space], w)
	}
	return out, rows.Err()
}

// SpaceTexts returns what the person said last in the conversations of a space,
// but for one conversation, at most n messages and the beginning of each.
func (s *Store) SpaceTexts(tx *Tx, space, but string, n int) ([]string, error) {
	return stringsOf(tx, `SELECT substr(m.content, 1, 1000) FROM messages m JOIN sessions c ON c.id = m.session_id
		WHERE c.space = ? AND c.discarded_at IS NULL AND c.id <> ? AND m.role = 'user' ORDER BY m.n DESC LIMIT ?`, space, but, n)
}

// Said returns what the person said last in a conversation, the oldest first, at
// most n messages and the beginning of each.
func (s *Store) Said(tx *Tx, session string, n int) ([]string, error) {
	out, err := stringsOf(tx, "SELECT substr(content, 1, 1000) FROM messages WHERE session_id = ? AND role = 'user' ORDER BY n DESC LIMIT ?", session, n)
	slices.Reverse(out)
	return out, err
}

// DeclineProposal notes that the person does not want what was proposed.
func (s *Store) DeclineProposal(tx *Tx, id string, at time.Time) error {
	_, err := tx.Exec("INSERT OR IGNORE INTO space_declined (id, at) VALUES (?, ?)", id, Millis(at))
	return err
}

// Declined returns the ids of the proposals that the person declined.
func (s *Store) Declined(ctx context.Context) (map[string]bool, error) {
	out := map[string]bool{}
	err := s.Read(ctx, func(tx *Tx) error {
		ids, err := stringsOf(tx, "SELECT id FROM space_declined")
		for _, id := range ids {
			out[id] = true
		}
		return err
	})
	return out, err
}

// MoveSession puts a conversation into another space, with what is remembered
// of it, and returns where it was. Of a fact that has another of the same key
// there, that one holds, and what came is its history.
func (s *Store) MoveSession(tx *Tx, id, to, why string) (from Session, err error) {
	if from, err = readSession(tx, id); err != nil {
		return from, err
	}
	if _, err := tx.Exec("UPDATE sessions SET space = ?, space_why = ? WHERE id = ?", to, why, id); err != nil {
		return from, err
	}
	if from.Space != to {
		_, err = s.moveMemories(tx, "thread = ? AND space = ?", to, id, from.Space)
	}
	return from, err
}

// MovedMemory is a memory that a merge moved.
type MovedMemory struct {
	ID    string `json:"id"`
	Under string `json:"under,omitempty"` // it was put there as history: another fact of the same key held
}

// moveMemories puts the memories of which where holds into a space.
func (s *Store) moveMemories(tx *Tx, where, to string, args ...any) ([]MovedMemory, error) {
	ids, err := stringsOf(tx, "SELECT id FROM memories WHERE "+where+" ORDER BY n", args...)
	if err != nil {
		return nil, err
	}
	var out []MovedMemory
	for _, id := range ids {
		m := MovedMemory{ID: id}
		holds, err := stringsOf(tx, `SELECT o.id FROM memories m JOIN memories o ON o.key = m.key AND o.space = ? AND o.replaced_by = '' AND o.id <> m.id
			WHERE m.id = ? AND m.key <> '' AND m.replaced_by = '' ORDER BY o.n LIMIT 1`, to, id)
		if err != nil {
			return nil, err
		}
		if _, err = tx.Exec("UPDATE memories SET space = ? WHERE id = ?", to, id); err != nil {
			return nil, err
		}
		if len(holds) > 0 {
			m.Under = holds[0]
			if _, err = tx.Exec("UPDATE memories SET replaced_by = ?, replaced_at = ? WHERE id = ?", m.Under, Millis(s.now()), id); err != nil {
				return nil, err
			}
		}
		out = append(out, m)
	}
	return out, nil
}

// without returns all that is not in some, whatever its case.
func without(all, some []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(a string) bool {
		return slices.ContainsFunc(some, func(b string) bool { return cmp.Compare(strings.ToLower(a), strings.ToLower(b)) == 0 })
	})
}
