package memory

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"oxios/kernel/retrieval"
	"oxios/kernel/store"
)

// SaidFor is how long what was said in the conversations of a space is found:
// the short-term part of what agents remember.
const SaidFor = 7 * 24 * time.Hour

// Limits of what is found of a message.
const (
	saidIndexed = 4000 // characters by which it is found
	saidShown   = 1200 // characters that are returned
)

// said is the index of what was said in one space. The messages are in the
// database alone, and each search looks which of them there are: one that was
// deleted, moved or is too old is found no more.
type said struct {
	mu    sync.Mutex
	index *retrieval.Index
	has   map[string]bool
	used  time.Time
}

// SaidSearch is what to look for in the conversations of a space.
type SaidSearch struct {
	Space  string
	Text   string
	Except string // a conversation that is left out
	K      int
}

// SearchSaid returns what the person and agents said in the conversations of a
// space in the last seven days, the best first: as memories of kind conversation,
// with the title of the conversation as key. Their ids are those of messages.
func (ms *Memories) SearchSaid(ctx context.Context, s SaidSearch) ([]Found, error) {
	ms.mu.Lock()
	x := ms.said[s.Space]
	if x == nil {
		x = &said{index: retrieval.New(), has: map[string]bool{}}
		ms.said[s.Space] = x
	}
	ms.mu.Unlock()

	x.mu.Lock()
	defer x.mu.Unlock()
	x.used = ms.clock.Now()
	out := []Found{}
	err := ms.store.Read(ctx, func(tx *store.Tx) error {
		out = out[:0]
		if err := x.follow(tx, s.Space, x.used.Add(-SaidFor)); err != nil {
			return err
		}
		hits := x.index.Search(retrieval.Query{Text: s.Text, Vector: retrieval.HashVector(s.Text), K: s.K + 32})
		for _, h := range hits {
			m, err := saidMessage(tx, h.ID)
			if err != nil {
				return err
			}
			if m.Thread == s.Except && s.Except != "" {
				continue
			}
			m.Space = s.Space
			if out = append(out, Found{m, float64(h.Score), float64(h.Cover)}); len(out) == s.K {
				break
			}
		}
		return nil
	})
	return out, err
}

// saidSince are the messages that are found: the person's, and whole answers.
const saidSince = `FROM messages m JOIN sessions s ON s.id = m.session_id
	WHERE s.space = ?1 AND s.discarded_at IS NULL AND s.updated_at >= ?2 AND m.timestamp >= ?2 AND m.content <> '' AND (m.role = 'user' OR m.role = 'assistant' AND m.status = '')`

// follow brings the index up to what there is.
func (x *said) follow(tx *store.Tx, space string, since time.Time) error {
	rows, err := tx.Query("SELECT m.id "+saidSince, space, store.Millis(since))
	if err != nil {
		return err
	}
	defer rows.Close()
	now := make(map[string]bool, len(x.has))
	var fresh []string
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return err
		}
		if now[id] = true; !x.has[id] {
			fresh = append(fresh, id)
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for id := range x.has {
		if !now[id] {
			x.index.Delete(id)
			delete(x.has, id)
		}
	}
	return x.add(tx, fresh)
}

func (x *said) add(tx *store.Tx, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	list, err := json.Marshal(ids)
	if err != nil {
		return err
	}
	rows, err := tx.Query("SELECT id, session_id, n, substr(content, 1, ?2) FROM messages WHERE id IN (SELECT value FROM json_each(?1))", string(list), saidIndexed)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var d retrieval.Doc
		if err := rows.Scan(&d.ID, &d.Thread, &d.At, &d.Text); err != nil {
			return err
		}
		d.Vector = retrieval.HashVector(d.Text)
		x.index.Put(d)
		x.has[d.ID] = true
	}
	return rows.Err()
}

// saidMessage reads a message as a memory.
func saidMessage(tx *store.Tx, id string) (Memory, error) {
	m := Memory{ID: id, Kind: KindConversation, Base: 1, Importance: 1}
	var role string
	var at int64
	err := tx.QueryRow("SELECT m.session_id, m.run_id, m.role, m.timestamp, substr(m.content, 1, ?2), s.title FROM messages m JOIN sessions s ON s.id = m.session_id WHERE m.id = ?1", id, saidShown).
		Scan(&m.Thread, &m.RunID, &role, &at, &m.Text, &m.Key)
	m.Source = FromAgent
	if role == store.RoleUser {
		m.Source = FromPerson
	}
	m.SaidAt = store.FromMillis(at)
	m.CreatedAt, m.UpdatedAt = m.SaidAt, m.SaidAt
	return m, err
}

// Together are the best of two searches, at most k: both tell which share of what
// was asked for they found.
func Together(a, b []Found, k int) []Found {
	all := slices.Concat(a, b)
	slices.SortStableFunc(all, func(a, b Found) int { return cmp.Compare(b.Score, a.Score) })
	return all[:min(cmp.Or(k, 10), len(all))]
}

// restSaid drops the indexes of what was said that nobody has asked for a while.
// It is called with mu held.
func (ms *Memories) restSaid() {
	for space, x := range ms.said {
		if !x.mu.TryLock() {
			continue // it is asked now
		}
		if ms.clock.Now().Sub(x.used) > idleIndex {
			delete(ms.said, space)
		}
		x.mu.Unlock()
	}
}
