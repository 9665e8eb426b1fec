package memory

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"oxios/kernel/retrieval"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// Patch changes what is not nil.
type Patch struct {
	Text   *string
	Key    *string
	Pinned *bool
	Space  *string
}

// Update changes a memory. A new text makes a new memory, with the same id, and
// keeps the old one as its history.
func (ms *Memories) Update(ctx context.Context, id string, p Patch) (m Memory, err error) {
	by, _ := ms.embedder.Learned(ctx)
	err = ms.store.Write(ctx, func(tx *store.Tx) error {
		old, err := one(tx, "m.id = ?", id)
		if err != nil {
			return missing(err, id)
		}
		if old.ReplacedBy == Pruned {
			return sys.Errorf(sys.CodeConflict, "This was set aside when the memories were put in order. Nothing was changed.").WithHint("Undo that in the report of the night first.")
		}
		if old.ReplacedBy != "" {
			return sys.Errorf(sys.CodeConflict, "A newer memory has replaced this one. Nothing was changed.").WithHint("Change the newer one.")
		}
		now := ms.clock.Now()
		n := New{ID: old.ID, Space: old.Space, Kind: old.Kind, Text: old.Text, Key: old.Key, Importance: old.Base, SaidAt: old.SaidAt}
		for field, value := range map[*string]*string{&n.Text: p.Text, &n.Key: p.Key, &n.Space: p.Space} {
			if value != nil {
				*field = *value
			}
		}
		if err := ms.Check(&n); err != nil {
			return err
		}
		if n.Key != "" && (n.Key != old.Key || n.Space != old.Space) {
			other, err := one(tx, "m.space = ? AND m.key = ? AND m.replaced_by = '' AND m.id <> ?", n.Space, n.Key, id)
			if err == nil {
				return sys.Errorf(sys.CodeConflict, "Another fact is about %q already: %s", n.Key, sys.Shorten(other.Text, 200)).WithHint("Change that one, or forget it first.")
			}
			if !errors.Is(err, sql.ErrNoRows) {
				return err
			}
		}
		if n.Text != old.Text {
			if err := ms.keepOld(tx, old, now); err != nil {
				return err
			}
		}
		pinned := old.Pinned
		if p.Pinned != nil {
			pinned = *p.Pinned
		}
		source := old.Source
		if n.Text != old.Text {
			source = FromPerson // it is their word now, whatever it was made from
		}
		_, err = tx.Exec("UPDATE memories SET text = ?, key = ?, space = ?, pinned = ?, source = ?, labels_json = CASE WHEN text = ?1 THEN labels_json END, updated_at = ? WHERE id = ?",
			n.Text, n.Key, n.Space, pinned, source, store.Millis(now), id)
		if err != nil {
			return err
		}
		if m, err = one(tx, "m.id = ?", id); err != nil {
			return err
		}
		vectors, err := vectorsIn(tx, by, id)
		after := m
		tx.OnCommit(func() {
			if after.Space != old.Space {
				ms.drop(old.Space, id)
			}
			ms.put(after)
			ms.embedded(after.Space, id, by.ID, vectors)
		})
		return err
	})
	return m, err
}

// keepOld keeps a copy of a memory, as the history of it.
func (ms *Memories) keepOld(tx *store.Tx, old Memory, now time.Time) error {
	_, err := ms.keepOldAs(tx, old, now)
	return err
}

// keepOldAs is keepOld, and returns the id of the copy.
func (ms *Memories) keepOldAs(tx *store.Tx, old Memory, now time.Time) (string, error) {
	id := sys.NewID()
	_, err := tx.Exec(`INSERT INTO memories (id, space, kind, text, key, source, thread, run_id, labels_json, importance, said_at, created_at, updated_at, replaced_by, replaced_at)
		SELECT ?, space, kind, text, key, source, thread, run_id, labels_json, importance, said_at, created_at, updated_at, id, ? FROM memories WHERE id = ?`,
		id, store.Millis(now), old.ID)
	return id, err
}

// Forget deletes memories with all that they replaced, and the notes of where
// they were used. It returns how many it found.
func (ms *Memories) Forget(ctx context.Context, ids ...string) (gone int, err error) {
	err = ms.store.Write(ctx, func(tx *store.Tx) error {
		gone = 0
		for _, id := range ids {
			m, err := one(tx, "m.id = ?", id)
			if errors.Is(err, sql.ErrNoRows) {
				continue
			}
			if err == nil {
				_, err = tx.Exec("DELETE FROM memory_uses WHERE memory_id IN "+chain, id)
			}
			if err == nil {
				_, err = tx.Exec("DELETE FROM memories WHERE id IN "+chain, id)
			}
			if err != nil {
				return err
			}
			gone++
			tx.OnCommit(func() { ms.drop(m.Space, m.ID) })
		}
		return nil
	})
	return gone, err
}

// Used notes that a run was given memories, or looked them up.
func (ms *Memories) Used(tx *store.Tx, runID string, ids []string, at time.Time) error {
	for _, id := range ids {
		if _, err := tx.Exec("INSERT OR IGNORE INTO memory_uses (memory_id, run_id, at) VALUES (?, ?, ?)", id, runID, store.Millis(at)); err != nil {
			return fmt.Errorf("note that run %s used a memory: %w", runID, err)
		}
	}
	return nil
}

// LabelsOf reports whether a run used memories, and where what stands in them
// came from.
func (ms *Memories) LabelsOf(ctx context.Context, runID string) (used bool, out store.Labels, err error) {
	err = ms.store.Read(ctx, func(tx *store.Tx) error {
		used, out = false, nil
		rows, err := tx.Query("SELECT DISTINCT m.labels_json FROM memory_uses u JOIN memories m ON m.id = u.memory_id WHERE u.run_id = ?", runID)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var raw sql.NullString
			if err := rows.Scan(&raw); err != nil {
				return err
			}
			used = true
			if !raw.Valid {
				continue
			}
			var labels store.Labels
			if err := json.Unmarshal([]byte(raw.String), &labels); err != nil {
				return fmt.Errorf("read the labels of what run %s used: %w", runID, err)
			}
			out = out.Join(labels)
		}
		return rows.Err()
	})
	return used, out, err
}

// Use is a conversation in which a memory was used.
type Use struct {
	SessionID string    `json:"session_id"`
	Title     string    `json:"title"`
	At        time.Time `json:"at"` // the last time
}

// mostUses is how many conversations UsedIn returns.
const mostUses = 20

// UsedIn returns the conversations in which a memory was used last, the newest
// first.
func (ms *Memories) UsedIn(ctx context.Context, id string) (out []Use, err error) {
	err = ms.store.Read(ctx, func(tx *store.Tx) error {
		out = []Use{}
		rows, err := tx.Query(`SELECT s.id, s.title, max(u.at) FROM memory_uses u JOIN runs r ON r.id = u.run_id JOIN sessions s ON s.id = r.session_id
			WHERE u.memory_id = ? GROUP BY s.id ORDER BY max(u.at) DESC, s.id DESC LIMIT ?`, id, mostUses)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var u Use
			var at int64
			if err := rows.Scan(&u.SessionID, &u.Title, &at); err != nil {
				return err
			}
			u.At = store.FromMillis(at)
			out = append(out, u)
		}
		return rows.Err()
	})
	return out, err
}

// CountUses returns how many memories each run used, of those that used any.
func (ms *Memories) CountUses(ctx context.Context, runIDs []string) (map[string]int, error) {
	ids, err := json.Marshal(runIDs)
	if err != nil {
		return nil, err
	}
	out := map[string]int{}
	err = ms.store.Read(ctx, func(tx *store.Tx) error {
		rows, err := tx.Query("SELECT run_id, count(*) FROM memory_uses WHERE run_id IN (SELECT value FROM json_each(?)) GROUP BY run_id", string(ids))
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var id string
			var n int
			if err := rows.Scan(&id, &n); err != nil {
				return err
			}
			out[id] = n
		}
		return rows.Err()
	})
	return out, err
}

// Import keeps memories as they came, all of them or none. One whose id is
// there already is changed to what came. It returns how many were new.
func (ms *Memories) Import(ctx context.Context, all []New) (added int, err error) {
	for i := range all {
		if err := ms.Check(&all[i]); err != nil {
			return 0, fmt.Errorf("memory %d: %w", i+1, err)
		}
	}
	err = ms.store.Write(ctx, func(tx *store.Tx) error {
		added = 0
		for _, n := range all {
			old, err := one(tx, "m.id = ?", n.ID)
			switch {
			case errors.Is(err, sql.ErrNoRows):
				added++
			case err != nil:
				return err
			default:
				if _, err := tx.Exec("DELETE FROM memories WHERE id = ?", n.ID); err != nil {
					return err
				}
				tx.OnCommit(func() { ms.drop(old.Space, old.ID) })
			}
			if _, err := ms.insert(tx, n); err != nil {
				return err
			}
		}
		return nil
	})
	return added, err
}

// Stats says how much is remembered.
type Stats struct {
	Memories int            `json:"memories"` // that hold
	Replaced int            `json:"replaced"` // kept as history
	Pinned   int            `json:"pinned"`
	Kinds    map[string]int `json:"kinds"`
	Spaces   map[string]int `json:"spaces"`
	Uses     int            `json:"uses"`
	Loaded   int            `json:"loaded"` // in the index now
	Embedder string         `json:"embedder"`
	Vectors  int            `json:"vectors"` // of that embedder, in the database; the built-in one needs none
}

// Stats counts the memories of all spaces.
func (ms *Memories) Stats(ctx context.Context) (s Stats, err error) {
	s = Stats{Kinds: map[string]int{}, Spaces: map[string]int{}, Loaded: ms.loaded(), Embedder: retrieval.HashName}
	by, learned := ms.embedder.Learned(ctx)
	if learned {
		s.Embedder = by.ID
	}
	err = ms.store.Read(ctx, func(tx *store.Tx) error {
		rows, err := tx.Query("SELECT space, kind, count(*), sum(pinned) FROM memories WHERE replaced_by = '' GROUP BY space, kind")
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var space, kind string
			var n, pinned int
			if err := rows.Scan(&space, &kind, &n, &pinned); err != nil {
				return err
			}
			s.Memories, s.Pinned = s.Memories+n, s.Pinned+pinned
			s.Kinds[kind] += n
			s.Spaces[space] += n
		}
		if err := rows.Err(); err != nil {
			return err
		}
		return tx.QueryRow("SELECT (SELECT count(*) FROM memories WHERE replaced_by <> ''), (SELECT count(*) FROM memory_uses), (SELECT count(*) FROM memory_vectors WHERE embedder = ?)", by.ID).
			Scan(&s.Replaced, &s.Uses, &s.Vectors)
	})
	return s, err
}

// Find returns the memories whose id ends in tail.
func (ms *Memories) Find(ctx context.Context, tail string) (out []Memory, err error) {
	tail = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(tail)
	err = ms.store.Read(ctx, func(tx *store.Tx) error {
		out, err = some(tx, `WHERE m.id LIKE ? ESCAPE '\' LIMIT 10`, "%"+tail)
		return err
	})
	return out, err
}
