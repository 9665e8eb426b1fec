package store

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"oxios/kernel/sys"
)

// SpaceMerge is a merge of one space into another, and what it moved.
type SpaceMerge struct {
	ID       string
	Source   string
	Target   string
	At       time.Time
	Sessions []MovedSession
	Memories []MovedMemory
	Words    []string // that the target got
	Paths    []string
	Active   bool        // the source was the active space, and the target became it
	Unshared bool        // the target was shared and the source was not, so that it is not any more
	Learned  []SpaceWord // of what corrections taught the source, by how much it counts more for the target
}

// MovedSession is a conversation that a merge moved.
type MovedSession struct {
	ID  string `json:"id"`
	Why string `json:"why"` // it was in the source
}

// movedJSON is what stands in the database of a merge.
type movedJSON struct {
	Sessions []MovedSession `json:"sessions"`
	Memories []MovedMemory  `json:"memories"`
	Words    []string       `json:"words"`
	Paths    []string       `json:"paths"`
	Learned  []SpaceWord    `json:"learned,omitempty"`
	Active   bool           `json:"active,omitempty"`
	Unshared bool           `json:"unshared,omitempty"`
}

// MergeSpaces moves all conversations and memories of a space into another,
// which gets its words and paths too, and what corrections taught it, and archives
// it. Where it was the active one, the other is. Where it kept its memories to itself,
// the other does so too.
func (s *Store) MergeSpaces(tx *Tx, source, target string) (m SpaceMerge, err error) {
	from, err := s.Space(tx, source)
	if err != nil {
		return m, err
	}
	into, err := s.Space(tx, target)
	if err != nil {
		return m, err
	}
	m = SpaceMerge{ID: sys.NewID(), Source: source, Target: target, At: s.now(), Active: from.Active, Unshared: into.Shared && !from.Shared}
	rows, err := tx.Query("SELECT id, space_why FROM sessions WHERE space = ? ORDER BY n", source)
	if err != nil {
		return m, err
	}
	defer rows.Close()
	for rows.Next() {
		var one MovedSession
		if err := rows.Scan(&one.ID, &one.Why); err != nil {
			return m, err
		}
		m.Sessions = append(m.Sessions, one)
	}
	if err := rows.Err(); err != nil {
		return m, err
	}
	if _, err := tx.Exec("UPDATE sessions SET space = ? WHERE space = ?", target, source); err != nil {
		return m, err
	}
	if m.Memories, err = s.moveMemories(tx, "space = ?", target, source); err != nil {
		return m, err
	}
	m.Words, m.Paths = without(append(slices.Clone(from.Words), from.Name), append(slices.Clone(into.Words), into.Name)), without(from.Paths, into.Paths)
	into.Words, into.Paths = append(into.Words, m.Words...), append(into.Paths, m.Paths...)
	into.Shared = into.Shared && !m.Unshared
	into.UsedAt = latest(into.UsedAt, from.UsedAt)
	if err := s.SaveSpace(tx, &into); err != nil {
		return m, err
	}
	if m.Learned, err = s.passOn(tx, source, target); err != nil {
		return m, err
	}
	if m.Active {
		if err := s.ActivateSpace(tx, target); err != nil {
			return m, err
		}
	}
	at := m.At
	from.ArchivedAt = &at
	if err := s.SaveSpace(tx, &from); err != nil {
		return m, err
	}
	raw, err := json.Marshal(movedJSON{m.Sessions, m.Memories, m.Words, m.Paths, m.Learned, m.Active, m.Unshared})
	if err != nil {
		return m, err
	}
	_, err = tx.Exec("INSERT INTO space_merges (id, source, target, at, moved_json) VALUES (?, ?, ?, ?, ?)", m.ID, source, target, Millis(m.At), string(raw))
	return m, err
}

// passOn has what corrections taught one space count for another too. It keeps
// more words than a space learns otherwise: the next lesson forgets the least.
func (s *Store) passOn(tx *Tx, source, target string) (more []SpaceWord, err error) {
	all, err := s.SpaceWords(tx)
	if err != nil {
		return nil, err
	}
	has := map[string]float64{}
	for _, w := range all[target] {
		has[w.Word] = w.Weight
	}
	for _, w := range all[source] {
		by := min(w.Weight, maxWeight-has[w.Word])
		if by <= 0 {
			continue
		}
		more = append(more, SpaceWord{w.Word, by})
		_, err := tx.Exec("INSERT INTO space_words (space, word, weight) VALUES (?, ?, ?) ON CONFLICT (space, word) DO UPDATE SET weight = weight + excluded.weight", target, w.Word, by)
		if err != nil {
			return nil, err
		}
	}
	return more, nil
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// OpenMerge returns the newest merge of a space into another that was not
// undone, by the merge's own id or the source's.
func (s *Store) OpenMerge(tx *Tx, id string) (SpaceMerge, bool, error) {
	var m SpaceMerge
	var at int64
	var raw string
	err := tx.QueryRow("SELECT id, source, target, at, moved_json FROM space_merges WHERE (id = ?1 OR source = ?1) AND undone_at IS NULL ORDER BY n DESC LIMIT 1", id).Scan(&m.ID, &m.Source, &m.Target, &at, &raw)
	if errors.Is(err, sql.ErrNoRows) {
		return m, false, nil
	}
	if err != nil {
		return m, false, err
	}
	var moved movedJSON
	if err := json.Unmarshal([]byte(raw), &moved); err != nil {
		return m, false, fmt.Errorf("read what the merge %s moved: %w", m.ID, err)
	}
	m.At, m.Sessions, m.Memories, m.Words, m.Paths, m.Learned, m.Active, m.Unshared = FromMillis(at), moved.Sessions, moved.Memories, moved.Words, moved.Paths, moved.Learned, moved.Active, moved.Unshared
	return m, true, nil
}

// UnmergeSpaces puts back what a merge moved and what is still where it put it,
// with what was remembered of those conversations since. It returns the
// conversations that went back. The source is the active one again where the
// target became it by the merge, and still is.
func (s *Store) UnmergeSpaces(tx *Tx, m SpaceMerge) (back []string, err error) {
	into, err := s.Space(tx, m.Target)
	if err != nil {
		return nil, err
	}
	from, err := s.Space(tx, m.Source)
	if err != nil {
		return nil, err
	}
	for _, moved := range m.Memories {
		if moved.Under != "" {
			_, err = tx.Exec("UPDATE memories SET replaced_by = '', replaced_at = NULL WHERE id = ? AND space = ? AND replaced_by = ?", moved.ID, m.Target, moved.Under)
			if err != nil {
				return nil, err
			}
		}
		if _, err = s.moveMemories(tx, "id = ? AND space = ?", m.Source, moved.ID, m.Target); err != nil {
			return nil, err
		}
	}
	for _, moved := range m.Sessions {
		res, err := tx.Exec("UPDATE sessions SET space = ?, space_why = ? WHERE id = ? AND space = ?", m.Source, moved.Why, moved.ID, m.Target)
		if err != nil {
			return nil, err
		}
		if n, err := res.RowsAffected(); err != nil || n == 0 {
			if err != nil {
				return nil, err
			}
			continue
		}
		back = append(back, moved.ID)
		if _, err := s.moveMemories(tx, "thread = ? AND space = ? AND created_at >= ?", m.Source, moved.ID, m.Target, Millis(m.At)); err != nil {
			return nil, err
		}
	}
	into.Words, into.Paths = without(into.Words, m.Words), without(into.Paths, m.Paths)
	into.Shared = into.Shared || m.Unshared
	if err := s.SaveSpace(tx, &into); err != nil {
		return nil, err
	}
	for _, w := range m.Learned {
		if err := s.TeachSpace(tx, m.Target, []string{w.Word}, -w.Weight); err != nil {
			return nil, err
		}
	}
	from.ArchivedAt = nil
	if err := s.SaveSpace(tx, &from); err != nil {
		return nil, err
	}
	if m.Active && into.Active {
		if err := s.ActivateSpace(tx, m.Source); err != nil {
			return nil, err
		}
	}
	_, err = tx.Exec("UPDATE space_merges SET undone_at = ? WHERE id = ?", Millis(s.now()), m.ID)
	return back, err
}
