package memory

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"strings"

	"oxios/kernel/retrieval"
	"oxios/kernel/store"
)

// Learned is an embedder that learned what words mean, and whose vectors the
// database keeps. The built-in one is none: its vectors are computed in less time
// than they are read.
type Learned struct {
	ID     string  // provider/model
	Dim    int     // how many numbers its vectors have
	Chance float32 // the cosine that unrelated texts have
}

// Embedder is who turns what is looked for into a vector.
type Embedder interface {
	// Learned returns the embedder that is configured; false while there is none
	// beside the built-in one, or nothing is known of it yet.
	Learned(ctx context.Context) (Learned, bool)

	// Query returns the vector of what somebody looks for, of length 1; nil when
	// there is none in time, or another embedder is configured by now.
	Query(ctx context.Context, by Learned, text string) []float32
}

// noEmbedder leaves the built-in one alone.
type noEmbedder struct{}

func (noEmbedder) Learned(context.Context) (Learned, bool)          { return Learned{}, false }
func (noEmbedder) Query(context.Context, Learned, string) []float32 { return nil }

// UseEmbedder has searches ask e, and damaged called when vectors were dropped
// that cannot be read. It is called once, before the first search.
func (ms *Memories) UseEmbedder(e Embedder, damaged func()) { ms.embedder, ms.onDamage = e, damaged }

// Unembedded is a memory without a vector.
type Unembedded struct {
	ID, Text string
}

// Embedded are the vectors of a memory's text as it was read: one for each of its
// [Passages].
type Embedded struct {
	Unembedded
	Vectors [][]float32 // each of length 1
	Cut     bool        // one is of the beginning of its passage alone
}

// passageText is how many characters of a memory are looked at together at most:
// words that stand pages apart say little of each other, models that embed read no
// more than some hundred words, and one vector for several pages is like none of
// what they say.
const passageText = 1000

// Passages are the parts of a memory's text that are found each by itself; most
// memories are one.
func Passages(text string) (out []string) {
	for _, p := range retrieval.Passages(text, passageText) {
		if part := strings.TrimSpace(text[p[0]:p[1]]); part != "" {
			out = append(out, part)
		}
	}
	return out
}

// KnownEmbedder returns what is known of an embedder that gave vectors.
func (ms *Memories) KnownEmbedder(ctx context.Context, id string) (l Learned, ok bool, err error) {
	l.ID = id
	err = ms.store.Read(ctx, func(tx *store.Tx) error {
		err := tx.QueryRow("SELECT dim, chance FROM embedders WHERE id = ?", id).Scan(&l.Dim, &l.Chance)
		if ok = err == nil; errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return err
	})
	return l, ok, err
}

// KeepEmbedder notes what is known of an embedder.
func (ms *Memories) KeepEmbedder(ctx context.Context, l Learned) error {
	return ms.store.Write(ctx, func(tx *store.Tx) error {
		_, err := tx.Exec("INSERT OR REPLACE INTO embedders (id, dim, chance, made_at) VALUES (?,?,?,?)", l.ID, l.Dim, l.Chance, store.Millis(ms.clock.Now()))
		return err
	})
}

// without are the memories that hold and have no vector of an embedder.
const without = `FROM memories m WHERE m.replaced_by = '' AND NOT EXISTS (SELECT 1 FROM memory_vectors v WHERE v.embedder = ?1 AND v.memory_id = m.id)`

// Unembedded returns memories without a vector of an embedder, the newest first.
func (ms *Memories) Unembedded(ctx context.Context, embedder string, limit int) (out []Unembedded, err error) {
	err = ms.store.Read(ctx, func(tx *store.Tx) error {
		rows, err := tx.Query("SELECT m.id, m.text "+without+" ORDER BY m.n DESC LIMIT ?2", embedder, limit)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var u Unembedded
			if err := rows.Scan(&u.ID, &u.Text); err != nil {
				return err
			}
			out = append(out, u)
		}
		return rows.Err()
	})
	return out, err
}

// Coverage is how far the vectors of an embedder have come.
type Coverage struct {
	Total   int // memories that hold
	Done    int // of them, those that have a vector
	Cut     int // of which not all was embedded
	Damaged int // vectors that could not be read since the start, and are made anew
}

// Coverage counts the vectors of an embedder.
func (ms *Memories) Coverage(ctx context.Context, embedder string) (c Coverage, err error) {
	err = ms.store.Read(ctx, func(tx *store.Tx) error {
		var left int
		err := tx.QueryRow("SELECT (SELECT count(*) FROM memories WHERE replaced_by = ''), (SELECT count(*) "+without+"), (SELECT coalesce(sum(cut), 0) FROM memory_vectors WHERE embedder = ?1)", embedder).
			Scan(&c.Total, &left, &c.Cut)
		c.Done = c.Total - left
		return err
	})
	c.Damaged = int(ms.damaged.Load())
	return c, err
}

// KeepVectors keeps vectors of an embedder, all of them or none, and has the
// indexes know them. One whose memory was forgotten, replaced or changed
// meanwhile is left out.
func (ms *Memories) KeepVectors(ctx context.Context, by Learned, all []Embedded) error {
	return ms.store.Write(ctx, func(tx *store.Tx) error {
		var known bool
		if err := tx.QueryRow("SELECT EXISTS (SELECT 1 FROM embedders WHERE id = ? AND dim = ?)", by.ID, by.Dim).Scan(&known); err != nil || !known {
			return err // dropped meanwhile, to be made anew
		}
		for _, e := range all {
			for _, v := range e.Vectors {
				if len(v) != by.Dim {
					return fmt.Errorf("a vector of %d numbers is none of %s, which have %d", len(v), by.ID, by.Dim)
				}
			}
			m, err := one(tx, "m.id = ? AND m.text = ? AND m.replaced_by = ''", e.ID, e.Text)
			if errors.Is(err, sql.ErrNoRows) {
				continue
			}
			if err != nil {
				return err
			}
			blob := encodeVectors(e.Vectors)
			_, err = tx.Exec("INSERT OR REPLACE INTO memory_vectors (memory_id, embedder, dim, vector, sum, cut, made_at) VALUES (?,?,?,?,?,?,?)",
				e.ID, by.ID, by.Dim, blob, sumOf(blob), e.Cut, store.Millis(ms.clock.Now()))
			if err != nil {
				return err
			}
			tx.OnCommit(func() { ms.embedded(m.Space, m.ID, by.ID, e.Vectors) })
		}
		return nil
	})
}

// embedded has a loaded index know the vectors of a memory.
func (ms *Memories) embedded(space, id, embedder string, vectors [][]float32) {
	ms.change(space, func(x *spaceIndex) {
		if x.embedder.ID == embedder && len(vectors) > 0 {
			x.learn(id, vectors)
		}
	})
}

// DropOthers deletes the vectors of all embedders but one, and what is known of
// those; "" is the built-in one, which keeps none. It returns how many went.
func (ms *Memories) DropOthers(ctx context.Context, embedder string) (int64, error) {
	any := false
	err := ms.store.Read(ctx, func(tx *store.Tx) error {
		return tx.QueryRow("SELECT EXISTS (SELECT 1 FROM memory_vectors WHERE embedder <> ?1) OR EXISTS (SELECT 1 FROM embedders WHERE id <> ?1)", embedder).Scan(&any)
	})
	if err != nil || !any {
		return 0, err
	}
	return ms.dropVectors(ctx, "<> ?", embedder)
}

// DropEmbedder deletes the vectors of an embedder, and what is known of it.
func (ms *Memories) DropEmbedder(ctx context.Context, embedder string) error {
	_, err := ms.dropVectors(ctx, "= ?", embedder)
	return err
}

func (ms *Memories) dropVectors(ctx context.Context, which, embedder string) (gone int64, err error) {
	err = ms.store.Write(ctx, func(tx *store.Tx) error {
		r, err := tx.Exec("DELETE FROM memory_vectors WHERE embedder "+which, embedder)
		if err != nil {
			return err
		}
		if gone, err = r.RowsAffected(); err != nil {
			return err
		}
		if _, err := tx.Exec("DELETE FROM embedders WHERE id "+which, embedder); err != nil {
			return err
		}
		ms.Moved(tx) // no index keeps a vector that the database has not
		return nil
	})
	return gone, err
}

// loadVectors gives an index the vectors that its embedder made of a space. One
// that is damaged is deleted, so that it is made anew.
func (ms *Memories) loadVectors(tx *store.Tx, x *spaceIndex, space string) error {
	if x.embedder.ID == "" {
		return nil
	}
	rows, err := tx.Query("SELECT v.memory_id, v.dim, v.vector, v.sum FROM memory_vectors v JOIN memories m ON m.id = v.memory_id WHERE v.embedder = ? AND m.space = ? AND m.replaced_by = ''", x.embedder.ID, space)
	if err != nil {
		return err
	}
	defer rows.Close()
	var damaged []string
	for rows.Next() {
		var id string
		var r vectorRow
		if err := rows.Scan(&id, &r.dim, &r.blob, &r.sum); err != nil {
			return err
		}
		if !x.learn(id, r.decode(x.embedder.Dim)) {
			damaged = append(damaged, id)
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for _, id := range damaged {
		if _, err := tx.Exec("DELETE FROM memory_vectors WHERE embedder = ? AND memory_id = ?", x.embedder.ID, id); err != nil {
			return err
		}
	}
	if len(damaged) > 0 {
		tx.OnCommit(func() {
			ms.damaged.Add(int64(len(damaged)))
			if ms.onDamage != nil {
				ms.onDamage()
			}
		})
	}
	return nil
}

// vectorsIn reads the vectors of a memory; nil for none.
func vectorsIn(tx *store.Tx, by Learned, id string) ([][]float32, error) {
	var r vectorRow
	err := tx.QueryRow("SELECT dim, vector, sum FROM memory_vectors WHERE embedder = ? AND memory_id = ?", by.ID, id).Scan(&r.dim, &r.blob, &r.sum)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return r.decode(by.Dim), err
}

// vectorRow are the vectors of a memory as they stand in the database, one behind
// the other.
type vectorRow struct {
	dim  int
	blob []byte
	sum  int64
}

// decode returns the vectors; nil where one is damaged, or of another dimension
// than dim.
func (r vectorRow) decode(dim int) (out [][]float32) {
	if r.dim != dim || dim <= 0 || len(r.blob)%(4*dim) != 0 || sumOf(r.blob) != r.sum {
		return nil
	}
	for blob := range slices.Chunk(r.blob, 4*dim) {
		v := make([]float32, dim)
		var length float64
		for i := range v {
			v[i] = math.Float32frombits(binary.LittleEndian.Uint32(blob[4*i:]))
			length += float64(v[i]) * float64(v[i])
		}
		if !(math.Abs(length-1) < 0.01) { // also no NaN
			return nil
		}
		retrieval.Normalize(v)
		out = append(out, v)
	}
	return out
}

func encodeVectors(all [][]float32) (out []byte) {
	for _, v := range all {
		for _, x := range v {
			out = binary.LittleEndian.AppendUint32(out, math.Float32bits(x))
		}
	}
	return out
}

func sumOf(blob []byte) int64 {
	return int64(crc32.Checksum(blob, crc32.MakeTable(crc32.Castagnoli)))
}
