package memory

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"oxios/kernel/store"
)

// What a curation does to memories.
const (
	ChangeMerged   = "merged"   // two that say the same became one
	ChangeDated    = "dated"    // tomorrow became a date
	ChangeReplaced = "replaced" // a newer fact about the same holds
	ChangePruned   = "pruned"   // old, of no use so far, and beyond what is kept
	ChangeCleared  = "cleared"  // history that was beyond what is kept is deleted
)

// Pruned is what a memory is replaced by that a curation set aside. It can be
// brought back until it is cleared.
const Pruned = "pruned"

// Limits of what is kept.
const (
	keptPruned     = 30 * 24 * time.Hour
	keptHistory    = 50 // versions of one memory
	keptCurations  = 100
	maxChanges     = 300 // of one curation; the next one goes on
	prunedNotUntil = 180 * 24 * time.Hour
	prunedFrom     = 5000 // memories of one kind in a space
)

// Curating says how to put memories in order.
type Curating struct {
	ID    string
	Night string // whose it is, as 2026-01-31; "" when the person began it
	Zone  *time.Location
	Most  int // memories of a kind in a space before old ones are set aside; 5000 if 0
}

// curation is one under way.
type curation struct {
	ms      *Memories
	tx      *store.Tx
	o       Curating
	now     time.Time
	changes []change
	undone  map[string]bool
}

// Curate puts the memories of all spaces in order, in one transaction with the
// report of it. What a person wrote or pinned is never set aside, and a pinned
// one stays as it is. also runs in the same transaction, unless it is nil.
func (ms *Memories) Curate(ctx context.Context, o Curating, also func(*store.Tx, Curation) error) (out Curation, err error) {
	err = ms.store.Write(ctx, func(tx *store.Tx) error {
		c := &curation{ms: ms, tx: tx, o: o, now: ms.clock.Now()}
		if c.undone, err = undone(tx); err != nil {
			return err
		}
		for _, step := range []func() error{c.merge, c.replace, c.date, c.prune, c.clear} {
			if err := step(); err != nil {
				return err
			}
		}
		if err := ms.addCuration(tx, o, c.now, c.changes); err != nil {
			return err
		}
		if out, err = ms.curation(tx, o.ID); err != nil || also == nil {
			return err
		}
		return also(tx, out)
	})
	return out, err
}

// may reports whether a change is to be made: this curation has made enough, or
// the person took the same one back.
func (c *curation) may(kind, id, other string) bool {
	return len(c.changes) < maxChanges && !c.undone[change{Kind: kind, ID: id, Other: other}.name()]
}

// facts are the facts and episodes that hold, the oldest first.
func (c *curation) facts() ([]Memory, error) {
	return some(c.tx, "WHERE m.replaced_by = '' AND m.kind IN (?, ?) ORDER BY m.n", KindFact, KindEpisode)
}

// merge makes one of those that say the same.
func (c *curation) merge() error {
	all, err := c.facts()
	if err != nil {
		return err
	}
	first := map[string]Memory{}
	for _, m := range all {
		id := m.Space + "\x00" + m.Kind + "\x00" + sameWords(m.Text)
		if m.Kind == KindEpisode { // it may have happened twice
			id += "\x00" + m.SaidAt.In(c.o.Zone).Format(time.DateOnly)
		}
		kept, ok := first[id]
		switch {
		case !ok:
			first[id] = m
			continue
		case !c.may(ChangeMerged, kept.ID, m.ID) || kept.Pinned || m.Pinned:
			continue
		case kept.Key != "" && m.Key != "" && sameWords(kept.Key) != sameWords(m.Key):
			continue // alike, and about something else
		}
		if kept, err = c.join(kept, m); err != nil {
			return err
		}
		first[id] = kept
	}
	return nil
}

// join makes the history of kept of other, which says the same.
func (c *curation) join(kept, other Memory) (Memory, error) {
	ch := change{Kind: ChangeMerged, ID: kept.ID, Other: other.ID, Before: heldOf(kept)}
	text, source := kept.Text, kept.Source
	if len([]rune(other.Text)) > len([]rune(text)) {
		text = other.Text
		var err error
		if ch.Was, err = c.ms.keepOldAs(c.tx, kept, c.now); err != nil {
			return kept, err
		}
	}
	if other.Source == FromPerson {
		source = FromPerson
	}
	used, err := stringsOf(c.tx, "SELECT run_id FROM memory_uses WHERE memory_id = ?1 AND run_id NOT IN (SELECT run_id FROM memory_uses WHERE memory_id = ?2)", other.ID, kept.ID)
	if err != nil {
		return kept, err
	}
	ch.Uses = used
	if _, err := c.tx.Exec("INSERT OR IGNORE INTO memory_uses (memory_id, run_id, at) SELECT ?, run_id, at FROM memory_uses WHERE memory_id = ?", kept.ID, other.ID); err != nil {
		return kept, err
	}
	if err := c.ms.replace(c.tx, other, kept.ID, c.now); err != nil {
		return kept, err
	}
	_, err = c.tx.Exec("UPDATE memories SET text = ?, key = ?, source = ?, labels_json = ?, importance = ?, said_at = ?, updated_at = ? WHERE id = ?",
		text, cmp.Or(kept.Key, other.Key), source, labelsJSON(kept.Labels.Join(other.Labels)), max(kept.Base, other.Base),
		max(store.Millis(kept.SaidAt), store.Millis(other.SaidAt)), store.Millis(c.now), kept.ID)
	if err != nil {
		return kept, err
	}
	c.changes = append(c.changes, ch)
	return c.again(kept.ID)
}

// again reads a memory that was changed, and has the index know it.
func (c *curation) again(id string) (Memory, error) {
	m, err := one(c.tx, "m.id = ?", id)
	if err == nil {
		c.tx.OnCommit(func() { c.ms.put(m) })
	}
	return m, err
}

// replace lets of the facts that are about the same, by a key that is written in
// several ways, the newest hold.
func (c *curation) replace() error {
	all, err := c.facts()
	if err != nil {
		return err
	}
	about := map[string][]Memory{}
	for _, m := range all {
		if key := bare(m.Key); m.Kind == KindFact && key != "" {
			about[m.Space+"\x00"+key] = append(about[m.Space+"\x00"+key], m)
		}
	}
	for _, m := range all { // in their order, so that a curation is the same each time
		group := about[m.Space+"\x00"+bare(m.Key)]
		if len(group) < 2 || group[0].ID != m.ID {
			continue
		}
		slices.SortStableFunc(group, func(a, b Memory) int { return a.SaidAt.Compare(b.SaidAt) })
		newest := group[len(group)-1]
		for _, old := range group[:len(group)-1] {
			if !c.may(ChangeReplaced, newest.ID, old.ID) || old.Pinned || old.Source == FromPerson && newest.Source != FromPerson || newest.Labels.Untrusted() && !old.Labels.Untrusted() {
				continue
			}
			if err := c.ms.replace(c.tx, old, newest.ID, c.now); err != nil {
				return err
			}
			c.changes = append(c.changes, change{Kind: ChangeReplaced, ID: newest.ID, Other: old.ID})
		}
	}
	return nil
}

// date makes relative dates exact.
func (c *curation) date() error {
	all, err := c.facts()
	if err != nil {
		return err
	}
	for _, m := range all {
		text, changed := Exact(m.Text, m.SaidAt.In(c.o.Zone))
		if !changed || m.Pinned || !c.may(ChangeDated, m.ID, "") || len([]rune(text)) > MaxText {
			continue
		}
		was, err := c.ms.keepOldAs(c.tx, m, c.now)
		if err != nil {
			return err
		}
		if _, err := c.tx.Exec("UPDATE memories SET text = ?, updated_at = ? WHERE id = ?", text, store.Millis(c.now), m.ID); err != nil {
			return err
		}
		c.changes = append(c.changes, change{Kind: ChangeDated, ID: m.ID, Was: was, Before: heldOf(m)})
		if _, err := c.again(m.ID); err != nil {
			return err
		}
	}
	return nil
}

// prune sets aside what is old and was never of use, where there is more of it
// than is kept.
func (c *curation) prune() error {
	most := cmp.Or(c.o.Most, prunedFrom)
	old, err := some(c.tx, `JOIN (SELECT id, row_number() OVER (PARTITION BY space, kind ORDER BY said_at DESC, n DESC) AS place FROM memories WHERE replaced_by = '' AND kind <> ?1) p ON p.id = m.id
		WHERE p.place > ?2 AND m.said_at < ?3 AND NOT m.pinned AND m.importance <= 1 AND m.source NOT IN (?4, ?5)
			AND NOT EXISTS (SELECT 1 FROM memory_uses u WHERE u.memory_id = m.id)
		ORDER BY m.said_at, m.n LIMIT ?6`, KindFact, most, store.Millis(c.now.Add(-prunedNotUntil)), FromPerson, FromImport, max(0, maxChanges-len(c.changes)))
	if err != nil {
		return err
	}
	for _, m := range old {
		if !c.may(ChangePruned, m.ID, "") {
			continue
		}
		if err := c.ms.replace(c.tx, m, Pruned, c.now); err != nil {
			return err
		}
		c.changes = append(c.changes, change{Kind: ChangePruned, ID: m.ID})
	}
	return nil
}

// clear deletes what was set aside long ago, and of each memory the history
// beyond its newest versions.
func (c *curation) clear() error {
	gone, err := stringsOf(c.tx, "SELECT id FROM memories WHERE replaced_by = ? AND replaced_at < ?", Pruned, store.Millis(c.now.Add(-keptPruned)))
	if err != nil {
		return err
	}
	rows, err := c.tx.Query("SELECT id, replaced_by FROM memories WHERE replaced_by NOT IN ('', ?) ORDER BY replaced_at DESC, n DESC", Pruned)
	if err != nil {
		return err
	}
	defer rows.Close()
	after := map[string]string{}
	var ids []string
	for rows.Next() {
		var id, by string
		if err := rows.Scan(&id, &by); err != nil {
			return err
		}
		after[id] = by
		ids = append(ids, id)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	versions := map[string]int{}
	for _, id := range ids {
		last := id
		for range len(after) + 1 {
			by, ok := after[last]
			if !ok {
				break
			}
			last = by
		}
		if versions[last]++; versions[last] > keptHistory {
			gone = append(gone, id)
		}
	}
	if len(gone) == 0 {
		return nil
	}
	for _, id := range gone {
		for _, q := range []string{"DELETE FROM memory_uses WHERE memory_id = ?", "DELETE FROM memories WHERE id = ?"} {
			if _, err := c.tx.Exec(q, id); err != nil {
				return err
			}
		}
	}
	c.changes = append(c.changes, change{Kind: ChangeCleared, Count: len(gone)})
	return nil
}

// sameWords is a text as it is compared: in lower case, without articles and the
// signs around words, and without the spaces of Korean, which people set as they
// like. The order of words counts, and so do not, never and the signs of C++.
func sameWords(text string) string {
	var b strings.Builder
	hangul := false
	for w := range strings.FieldsSeq(strings.ToLower(norm.NFC.String(text))) {
		w = strings.Trim(w, `.,;:!?"'“”‘’()[]…`)
		if w == "" || w == "a" || w == "an" || w == "the" {
			continue
		}
		first, _ := utf8.DecodeRuneInString(w)
		now := unicode.Is(unicode.Hangul, first)
		if b.Len() > 0 && (!now || !hangul) {
			b.WriteByte(' ')
		}
		b.WriteString(w)
		hangul = now
	}
	return cmp.Or(b.String(), text)
}

func stringsOf(tx *store.Tx, query string, args ...any) (out []string, err error) {
	rows, err := tx.Query(query, args...)
	if err != nil {
		return nil, fmt.Errorf("curate: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, rows.Err()
}
