package memory

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"oxios/kernel/retrieval"
	"oxios/kernel/store"
)

// spaceIndex is the index of one space.
type spaceIndex struct {
	load sync.Mutex // held while it is built

	mu       sync.RWMutex
	index    *retrieval.Index // nil until it is built
	facts    map[string]ranked
	long     map[string]int // how many passages a long memory has
	embedder Learned        // whose vectors it has beside the built-in ones; the zero one for none
	used     time.Time
}

// ranked is what the order of what was found depends on beside the words.
type ranked struct {
	kind   string
	said   time.Time
	base   float64
	pinned bool
}

// idleIndex is how long an index stays that nobody asks.
const idleIndex = 10 * time.Minute

// of returns the index of a space, built if need be: also when it has the vectors
// of another embedder than the one that is configured now.
func (ms *Memories) of(ctx context.Context, space string) (*spaceIndex, error) {
	ms.mu.Lock()
	x := ms.indexes[space]
	if x == nil {
		x = &spaceIndex{}
		ms.indexes[space] = x
	}
	ms.mu.Unlock()

	x.load.Lock()
	defer x.load.Unlock()
	by, _ := ms.embedder.Learned(ctx)
	x.mu.Lock()
	x.used = ms.clock.Now()
	built := x.index != nil && x.embedder == by
	x.mu.Unlock()
	if built {
		return x, nil
	}
	return x, ms.build(ctx, x, space, by)
}

// build reads a space. It runs as a write: what is remembered meanwhile comes
// after it, and finds the index there.
func (ms *Memories) build(ctx context.Context, x *spaceIndex, space string, by Learned) error {
	return ms.store.Write(ctx, func(tx *store.Tx) error {
		all, err := some(tx, "WHERE m.space = ? AND m.replaced_by = '' ORDER BY m.n", space)
		if err != nil {
			return err
		}
		x.mu.Lock()
		x.index, x.facts, x.long, x.embedder = retrieval.New(), make(map[string]ranked, len(all)), map[string]int{}, by
		for _, m := range all {
			x.put(m)
		}
		err = ms.loadVectors(tx, x, space)
		x.mu.Unlock()
		tx.OnRollback(func() { // others' changes of the same commit may be in it
			x.mu.Lock()
			x.index = nil
			x.mu.Unlock()
		})
		return err
	})
}

// put is called with mu held. A long memory is found as a whole, and by each of its
// passages as a text of its own.
func (x *spaceIndex) put(m Memory) {
	if x.long[m.ID] > 0 {
		x.drop(m.ID)
	}
	x.index.Put(retrieval.Doc{ID: m.ID, Text: m.Text, Extra: m.Key, Thread: m.Thread, At: placeOf(m), Vector: retrieval.HashVector(m.Text)})
	x.facts[m.ID] = ranked{kind: m.Kind, said: m.SaidAt, base: m.Importance, pinned: m.Pinned}
	passages := Passages(m.Text)
	if len(passages) < 2 {
		return
	}
	x.long[m.ID] = len(passages)
	for i, p := range passages {
		x.index.Put(retrieval.Doc{ID: passageID(m.ID, i), Text: p, Thread: m.ID, At: int64(i), Vector: retrieval.HashVector(p)})
	}
}

// drop is called with mu held.
func (x *spaceIndex) drop(id string) {
	x.index.Delete(id)
	for i := range x.long[id] {
		x.index.Delete(passageID(id, i))
	}
	delete(x.facts, id)
	delete(x.long, id)
}

// learn gives a memory the vectors of its passages, and reports whether there is
// one for each. It is called with mu held.
func (x *spaceIndex) learn(id string, vectors [][]float32) bool {
	n, long := x.long[id]
	switch {
	case !long && len(vectors) == 1:
		x.index.SetLearned(id, vectors[0])
		return true
	case !long || len(vectors) != n:
		return false
	}
	for i, v := range vectors {
		x.index.SetLearned(passageID(id, i), v)
	}
	return true
}

// beforePassage stands before the number of a passage. No id of a memory has it.
const beforePassage = "\x00"

// passageID is the id by which an index knows a passage of a memory.
func passageID(id string, n int) string { return id + beforePassage + strconv.Itoa(n) }

// search finds memories by what an index holds, at most k, each once: with the
// best of its own score and those of its passages.
func (x *spaceIndex) search(q retrieval.Query, k int) []retrieval.Hit {
	for q.K = k; ; q.K *= 4 {
		hits := x.index.Search(q)
		if len(x.long) == 0 {
			return hits
		}
		at := make(map[string]int, len(hits))
		out := make([]retrieval.Hit, 0, len(hits))
		for _, h := range hits {
			h.ID, _, _ = strings.Cut(h.ID, beforePassage)
			if i, ok := at[h.ID]; ok {
				out[i].Cover = max(out[i].Cover, h.Cover)
				continue
			}
			at[h.ID] = len(out)
			out = append(out, h)
		}
		if len(out) >= k || len(hits) < q.K {
			return out[:min(k, len(out))]
		}
	}
}

// placeOf is the place of a memory in its conversation: what was said at the
// same time stands in the order in which it came.
func placeOf(m Memory) int64 { return m.SaidAt.UnixMilli()<<21 | m.n&(1<<21-1) }

// put has a loaded index know a memory.
func (ms *Memories) put(m Memory) {
	ms.change(m.Space, func(x *spaceIndex) { x.put(m) })
}

func (ms *Memories) drop(space, id string) {
	ms.change(space, func(x *spaceIndex) { x.drop(id) })
}

// change calls fn with the index of a space, if it is loaded.
func (ms *Memories) change(space string, fn func(*spaceIndex)) {
	ms.mu.Lock()
	x := ms.indexes[space]
	ms.mu.Unlock()
	if x == nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.index != nil {
		fn(x)
	}
}

// Rebuild builds the indexes anew from the database.
func (ms *Memories) Rebuild(ctx context.Context) error {
	ms.mu.Lock()
	var spaces []string
	for s := range ms.indexes {
		spaces = append(spaces, s)
	}
	ms.indexes = map[string]*spaceIndex{}
	ms.mu.Unlock()
	for _, s := range spaces {
		if _, err := ms.of(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// Moved has the indexes built anew when they are needed: memories went from one
// space to another with the commit of tx.
func (ms *Memories) Moved(tx *store.Tx) {
	tx.OnCommit(func() {
		ms.mu.Lock()
		defer ms.mu.Unlock()
		for _, x := range ms.indexes {
			x.mu.Lock()
			x.index = nil
			x.mu.Unlock()
		}
	})
}

// Rest drops the indexes that nobody has asked for a while. The next question
// builds them again.
func (ms *Memories) Rest() {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	ms.restSaid()
	for space, x := range ms.indexes {
		x.mu.RLock()
		idle := ms.clock.Now().Sub(x.used) > idleIndex
		x.mu.RUnlock()
		if idle {
			delete(ms.indexes, space)
		}
	}
}

func (ms *Memories) loaded() (n int) {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	for _, x := range ms.indexes {
		x.mu.RLock()
		n += len(x.facts)
		x.mu.RUnlock()
	}
	return n
}

// Search is what to look for.
type Search struct {
	Space string
	Text  string
	Kind  string // "" for every kind
	K     int    // 10 if 0, at most 1000
}

// Found is a memory that was found.
type Found struct {
	Memory
	Score float64 `json:"score"` // comparable within one search
	Cover float64 `json:"cover"` // which share of what was asked for stands in it, 0 to 1
}

// Search returns the memories of a space that fit best, the best first. Words
// decide; of memories that fit alike the newer and the more important go first.
func (ms *Memories) Search(ctx context.Context, s Search) ([]Found, error) {
	ids, err := ms.SearchIDs(ctx, s)
	if err != nil || len(ids) == 0 {
		return []Found{}, err
	}
	return ms.Read(ctx, s.Space, ids)
}

// Read returns memories of a space that [Memories.SearchIDs] found there. One
// that is not in it any more is left out.
func (ms *Memories) Read(ctx context.Context, space string, ids []ID) ([]Found, error) {
	out := []Found{}
	err := ms.store.Read(ctx, func(tx *store.Tx) error {
		for _, f := range ids {
			m, err := one(tx, "m.id = ?", f.ID)
			if err != nil {
				if errors.Is(err, sql.ErrNoRows) {
					continue // forgotten this moment
				}
				return err
			}
			if m.Space != space {
				continue // moved this moment
			}
			out = append(out, Found{m, f.Score, f.Cover})
		}
		return nil
	})
	return out, err
}

// ID is a memory that was found, by its id alone.
type ID struct {
	ID    string
	Score float64
	Cover float64
}

// SearchIDs is [Memories.Search] without reading the memories.
func (ms *Memories) SearchIDs(ctx context.Context, s Search) ([]ID, error) {
	if s.Kind != "" {
		if err := checkKind(s.Kind); err != nil {
			return nil, err
		}
	}
	s.K = min(cmp.Or(s.K, 10), 1000)
	x, err := ms.of(ctx, s.Space)
	if err != nil {
		return nil, err
	}
	learned, by := ms.queryVector(ctx, x, s.Text)
	x.mu.RLock()
	defer x.mu.RUnlock()
	if x.index == nil {
		return nil, nil // its commit failed this moment
	}
	k := s.K + 16
	if s.Kind != "" {
		k = len(x.facts)
	}
	q := retrieval.Query{Text: s.Text, Vector: retrieval.HashVector(s.Text)}
	if x.embedder == by { // vectors of different embedders have nothing in common
		q.Learned, q.Chance = learned, by.Chance
	}
	hits := x.search(q, k)
	now := ms.clock.Now()
	out := make([]ID, 0, len(hits))
	for _, h := range hits {
		r, ok := x.facts[h.ID]
		if !ok || s.Kind != "" && r.kind != s.Kind {
			continue
		}
		out = append(out, ID{ID: h.ID, Score: float64(h.Score) * r.boost(now), Cover: float64(h.Cover)})
	}
	slices.SortStableFunc(out, func(a, b ID) int { return cmp.Compare(b.Score, a.Score) })
	return out[:min(s.K, len(out))], nil
}

// queryVector is what is looked for as the embedder of an index sees it. Nobody
// is asked while the index has no vector to compare it with.
func (ms *Memories) queryVector(ctx context.Context, x *spaceIndex, text string) ([]float32, Learned) {
	x.mu.RLock()
	by, any := x.embedder, x.index != nil && x.index.HasLearned()
	x.mu.RUnlock()
	if !any {
		return nil, by
	}
	v := ms.embedder.Query(ctx, by, text)
	if len(v) != by.Dim {
		return nil, by
	}
	return v, by
}

// Decay is how long it takes until half of what age takes from a memory is
// gone.
const decay = 90 * 24 * time.Hour

// boost lifts what is new, important or pinned by up to a tenth: words decide.
func (r ranked) boost(now time.Time) float64 {
	age := max(0, now.Sub(r.said))
	b := 1 + 0.03*math.Exp2(-float64(age)/float64(decay)) + 0.03*math.Tanh(r.base/4)
	if r.pinned {
		b += 0.04
	}
	return b
}

// How much of a question must stand in a memory for it to be recalled unasked.
const leastCover = 0.25

// Recall returns what may matter to a message, at most k memories and budget
// characters: the pinned facts of the space, then what fits. Less fitting ones are
// left out: what does not belong to a message only misleads.
func (ms *Memories) Recall(ctx context.Context, space, text string, k, budget int) ([]Memory, error) {
	pinned, err := ms.List(ctx, Query{Space: space, Pinned: true, Limit: k})
	if err != nil {
		return nil, err
	}
	found, err := ms.Search(ctx, Search{Space: space, Text: text, K: k})
	if err != nil {
		return nil, err
	}
	out := []Memory{}
	add := func(m Memory) {
		if len(out) < k && len(m.Text) <= budget && !slices.ContainsFunc(out, func(o Memory) bool { return o.ID == m.ID }) {
			out, budget = append(out, m), budget-len(m.Text)
		}
	}
	for _, m := range pinned {
		add(m)
	}
	for _, f := range found {
		if f.Cover >= leastCover && f.Score >= 0.6*found[0].Score {
			add(f.Memory)
		}
	}
	return out, nil
}
