package memory

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// change is what the database keeps of one. It holds no text.
type change struct {
	Kind   string   `json:"kind"`
	ID     string   `json:"id,omitempty"`    // of the memory that holds, or that was set aside
	Other  string   `json:"other,omitempty"` // which became its history
	Was    string   `json:"was,omitempty"`   // the copy that has its earlier text; "" where that stayed
	Before *held    `json:"before,omitempty"`
	Uses   []string `json:"uses,omitempty"` // runs that used the other alone
	Count  int      `json:"count,omitempty"`
	Undone bool     `json:"undone,omitempty"`
}

// held is what a memory was beside its text.
type held struct {
	Key        string       `json:"key,omitempty"`
	Source     string       `json:"source"`
	Labels     store.Labels `json:"labels,omitempty"`
	Importance float64      `json:"importance"`
	SaidAt     int64        `json:"said_at"`
}

func heldOf(m Memory) *held {
	return &held{Key: m.Key, Source: m.Source, Labels: m.Labels, Importance: m.Base, SaidAt: store.Millis(m.SaidAt)}
}

// Change is one thing that a curation did.
type Change struct {
	Kind     string   `json:"kind"` // merged, dated, replaced, pruned or cleared
	ID       string   `json:"id"`   // of the memory that holds now, or that was set aside
	Space    string   `json:"space"`
	Before   []string `json:"before"`          // the texts that there were; empty when they were forgotten
	After    string   `json:"after"`           // the text that holds; "" when nothing does
	Count    int      `json:"count,omitempty"` // of cleared: how many versions
	Undone   bool     `json:"undone"`
	Undoable bool     `json:"undoable"`
}

// Curation is the report of what was done to the memories.
type Curation struct {
	ID       string    `json:"id"`
	At       time.Time `json:"at"`
	Night    string    `json:"night,omitempty"` // whose it is, as 2026-01-31; "" when the person began it
	Merged   int       `json:"merged"`          // without what was undone, as the other counts
	Dated    int       `json:"dated"`
	Replaced int       `json:"replaced"`
	Pruned   int       `json:"pruned"`
	Cleared  int       `json:"cleared"` // versions of the history
	Changes  []Change  `json:"changes"`
}

func (ms *Memories) addCuration(tx *store.Tx, o Curating, at time.Time, changes []change) error {
	raw, err := json.Marshal(append([]change{}, changes...))
	if err != nil {
		return err
	}
	if _, err := tx.Exec("INSERT INTO memory_curations (id, at, night, changes_json) VALUES (?,?,?,?)", o.ID, store.Millis(at), o.Night, string(raw)); err != nil {
		return fmt.Errorf("keep the report of the memories: %w", err)
	}
	_, err = tx.Exec("DELETE FROM memory_curations WHERE n NOT IN (SELECT n FROM memory_curations ORDER BY n DESC LIMIT ?) AND changes_json NOT LIKE ?", keptCurations, `%"undone":true%`)
	return err
}

// Curations returns the reports, the newest first.
func (ms *Memories) Curations(ctx context.Context, limit int) (out []Curation, err error) {
	out = []Curation{}
	err = ms.store.Read(ctx, func(tx *store.Tx) error {
		ids, err := stringsOf(tx, "SELECT id FROM memory_curations ORDER BY n DESC LIMIT ?", limit)
		for _, id := range ids {
			c, err := ms.curation(tx, id)
			if err != nil {
				return err
			}
			out = append(out, c)
		}
		return err
	})
	return out, err
}

// LastNight returns the newest night whose report there is; "" without one.
func (ms *Memories) LastNight(ctx context.Context) (night string, err error) {
	err = ms.store.Read(ctx, func(tx *store.Tx) error {
		return tx.QueryRow("SELECT coalesce(max(night), '') FROM memory_curations").Scan(&night)
	})
	return night, err
}

// curation reads a report, with the texts as they are kept now.
func (ms *Memories) curation(tx *store.Tx, id string) (Curation, error) {
	c, changes, err := readCuration(tx, id)
	if err != nil {
		return c, err
	}
	for i, ch := range changes {
		v, err := view(tx, ch)
		if err != nil {
			return c, err
		}
		v.Undoable = !ch.Undone && ch.Kind != ChangeCleared && undoable(tx, c.At, changes, i) == nil
		c.Changes = append(c.Changes, v)
		if ch.Undone {
			continue
		}
		switch ch.Kind {
		case ChangeMerged:
			c.Merged++
		case ChangeDated:
			c.Dated++
		case ChangeReplaced:
			c.Replaced++
		case ChangePruned:
			c.Pruned++
		case ChangeCleared:
			c.Cleared += ch.Count
		}
	}
	return c, nil
}

func readCuration(tx *store.Tx, id string) (Curation, []change, error) {
	c := Curation{ID: id, Changes: []Change{}}
	var at int64
	var raw string
	err := tx.QueryRow("SELECT at, night, changes_json FROM memory_curations WHERE id = ?", id).Scan(&at, &c.Night, &raw)
	if errors.Is(err, sql.ErrNoRows) {
		return c, nil, sys.Errorf(sys.CodeNotFound, "There is no report %q of the memories.", id).WithHint("`oxios memory curate --last` shows the newest.")
	}
	if err != nil {
		return c, nil, err
	}
	c.At = store.FromMillis(at)
	var changes []change
	if err := json.Unmarshal([]byte(raw), &changes); err != nil {
		return c, nil, fmt.Errorf("read report %s of the memories: %w", id, err)
	}
	return c, changes, nil
}

func view(tx *store.Tx, ch change) (Change, error) {
	v := Change{Kind: ch.Kind, ID: ch.ID, Before: []string{}, Count: ch.Count, Undone: ch.Undone}
	text := func(id string) (string, error) {
		if id == "" {
			return "", nil
		}
		m, err := one(tx, "m.id = ?", id)
		if errors.Is(err, sql.ErrNoRows) {
			return "", nil
		}
		v.Space = m.Space
		return m.Text, err
	}
	var texts [3]string
	for i, id := range []string{ch.Was, ch.Other, ch.ID} {
		var err error
		if texts[i], err = text(id); err != nil {
			return v, err
		}
	}
	was, other, now := texts[0], texts[1], texts[2]
	switch ch.Kind {
	case ChangeMerged:
		if was == "" {
			was = now
		}
		v.Before, v.After = []string{was, other}, now
	case ChangeDated:
		v.Before, v.After = []string{was}, now
	case ChangeReplaced:
		v.Before, v.After = []string{other}, now
	case ChangePruned:
		v.Before = []string{now}
	}
	v.Before = slices.DeleteFunc(v.Before, func(s string) bool { return s == "" })
	return v, nil
}

// undoable says why the change at place i cannot be undone; nil if it can.
func undoable(tx *store.Tx, at time.Time, changes []change, i int) error {
	changed := sys.Errorf(sys.CodeConflict, "The memory was changed, or forgotten, since then. Nothing was changed.").WithHint("Its history shows what it was.")
	ch := changes[i]
	m, err := one(tx, "m.id = ?", ch.ID)
	if errors.Is(err, sql.ErrNoRows) || err == nil && (ch.Kind == ChangePruned) != (m.ReplacedBy != "") || err == nil && ch.Kind == ChangePruned && m.ReplacedBy != Pruned {
		return changed
	}
	if err != nil || ch.Kind == ChangePruned {
		return err
	}
	if ch.Kind != ChangeReplaced { // an older fact can hold beside the newer one, whatever became of that
		for _, later := range changes[i+1:] {
			if later.ID == ch.ID && !later.Undone {
				return sys.Errorf(sys.CodeConflict, "The memory was changed once more in the same night. Nothing was changed.").WithHint("Undo that first.")
			}
		}
		newer, err := stringsOf(tx, "SELECT id FROM memories WHERE replaced_by = ? AND replaced_at > ? LIMIT 1", ch.ID, store.Millis(at))
		if err != nil {
			return err
		}
		if len(newer) > 0 {
			return changed
		}
	}
	for _, id := range []string{ch.Was, ch.Other} {
		if id == "" {
			continue
		}
		old, err := one(tx, "m.id = ? AND m.replaced_by = ?", id, ch.ID)
		if errors.Is(err, sql.ErrNoRows) {
			return changed
		}
		if err != nil {
			return err
		}
		if id == ch.Other && (ch.Kind == ChangeReplaced || old.Key != m.Key) {
			if err := free(tx, old.Space, old.Key); err != nil {
				return err
			}
		}
	}
	return nil
}

// undone are the changes that a person took back, of all reports: they are not
// made again.
func undone(tx *store.Tx) (map[string]bool, error) {
	raws, err := stringsOf(tx, "SELECT changes_json FROM memory_curations WHERE changes_json LIKE ?", `%"undone":true%`)
	if err != nil {
		return nil, err
	}
	out := map[string]bool{}
	for _, raw := range raws {
		var changes []change
		if err := json.Unmarshal([]byte(raw), &changes); err != nil {
			return nil, err
		}
		for _, ch := range changes {
			if ch.Undone {
				out[ch.name()] = true
			}
		}
	}
	return out, nil
}

// name is what tells a change from others, whichever memory of the two holds.
func (ch change) name() string {
	ids := []string{ch.ID, ch.Other}
	slices.Sort(ids)
	return ch.Kind + " " + ids[0] + " " + ids[1]
}

// free says which fact is about key already.
func free(tx *store.Tx, space, key string) error {
	if key == "" {
		return nil
	}
	other, err := one(tx, "m.space = ? AND m.key = ? AND m.replaced_by = ''", space, key)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	return sys.Errorf(sys.CodeConflict, "Another fact is about %q already: %s", key, sys.Shorten(other.Text, 200)).WithHint("Change that one, or forget it first.")
}

// Uncurate undoes the change at place i of a report, and returns the report as it
// is then.
func (ms *Memories) Uncurate(ctx context.Context, id string, i int) (out Curation, err error) {
	err = ms.store.Write(ctx, func(tx *store.Tx) error {
		c, changes, err := readCuration(tx, id)
		if err != nil {
			return err
		}
		switch {
		case i < 0 || i >= len(changes):
			return sys.Errorf(sys.CodeNotFound, "The report has no change %d. Nothing was changed.", i+1)
		case changes[i].Undone:
			return sys.Errorf(sys.CodeConflict, "That is undone already. Nothing was changed.")
		case changes[i].Kind == ChangeCleared:
			return sys.Errorf(sys.CodeInvalid, "What was deleted of the history is gone. Nothing was changed.").WithHint("If you have a backup, restoring it brings it back.")
		}
		if err := undoable(tx, c.At, changes, i); err != nil {
			return err
		}
		if err := ms.undo(tx, changes[i]); err != nil {
			return err
		}
		changes[i].Undone = true
		raw, err := json.Marshal(changes)
		if err != nil {
			return err
		}
		if _, err := tx.Exec("UPDATE memory_curations SET changes_json = ? WHERE id = ?", string(raw), id); err != nil {
			return err
		}
		out, err = ms.curation(tx, id)
		return err
	})
	return out, err
}

func (ms *Memories) undo(tx *store.Tx, ch change) error {
	now := store.Millis(ms.clock.Now())
	if b := ch.Before; b != nil {
		_, err := tx.Exec(`UPDATE memories SET text = coalesce((SELECT text FROM memories WHERE id = ?), text), key = ?, source = ?, labels_json = ?, importance = ?, said_at = ?, updated_at = ? WHERE id = ?`,
			ch.Was, b.Key, b.Source, labelsJSON(b.Labels), b.Importance, b.SaidAt, now, ch.ID)
		if err == nil && ch.Was != "" {
			_, err = tx.Exec("DELETE FROM memories WHERE id = ?", ch.Was)
		}
		if err != nil {
			return err
		}
	}
	for _, run := range ch.Uses {
		if _, err := tx.Exec("DELETE FROM memory_uses WHERE memory_id = ? AND run_id = ?", ch.ID, run); err != nil {
			return err
		}
	}
	back := []string{ch.ID}
	if ch.Other != "" {
		back = append(back, ch.Other)
	}
	for _, id := range back {
		if _, err := tx.Exec("UPDATE memories SET replaced_by = '', replaced_at = NULL, updated_at = ? WHERE id = ?", now, id); err != nil {
			return err
		}
		m, err := one(tx, "m.id = ?", id)
		if err != nil {
			return err
		}
		tx.OnCommit(func() { ms.put(m) })
	}
	return nil
}
