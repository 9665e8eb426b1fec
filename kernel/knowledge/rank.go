package knowledge

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"sync"
)

// scored is a note with what it is worth.
type scored struct {
	file  *file
	score float32
	mtime int64   // of the file, read under the lock
	norm  float32 // what its length is held against it
	best  passage // of a long one
}

// top keeps the k best of the notes that it is offered: the newer one of two that
// are worth the same, then the one whose path comes first.
type top struct {
	k     int
	least float32 // what a note must be worth at least, by what was offered so far
	kept  []scored
}

// offer takes in a note. Most are turned away by their score alone, and the file
// need not be looked at.
func (t *top) offer(f *file, score float32) {
	if score < t.least {
		return
	}
	t.kept = append(t.kept, scored{file: f, score: score, mtime: f.mtime})
	if len(t.kept) >= 2*t.k+64 {
		t.best()
	}
}

// best returns what was kept, the best first.
func (t *top) best() []scored {
	slices.SortFunc(t.kept, func(a, b scored) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.mtime, a.mtime), strings.Compare(a.file.path, b.file.path))
	})
	if len(t.kept) >= t.k {
		t.kept = t.kept[:t.k]
		t.least = t.kept[t.k-1].score
	}
	return t.kept
}

// sums are the arrays of one search, by document.
type sums struct {
	score   []float32
	full    []uint8  // clauses that the note satisfies
	have    []uint8  // terms of the clause at hand
	touched []uint32 // documents with a score
	mine    []uint32 // documents of the clause at hand
}

var sumsPool = sync.Pool{New: func() any { return new(sums) }}

// The constants of BM25: how soon a word's repetition stops to count, and how
// much a long text is held against it.
const (
	k1 = 1.2
	b  = 0.6
)

// score returns the k notes that are worth most, the best first. The caller holds
// the lock.
func (ix *index) score(q query, k int) []scored {
	out := top{k: k}
	keep := func(f *file) bool {
		for _, t := range q.tags {
			if !hasFolded(f.lowTags, t) {
				return false
			}
		}
		for _, p := range q.paths {
			if !strings.Contains(fold(f.path), p) {
				return false
			}
		}
		return true
	}
	narrow := len(q.tags)+len(q.paths) > 0
	if len(q.clauses) == 0 {
		for _, f := range ix.docs {
			if narrow && f != nil && keep(f) {
				out.offer(f, 1)
			}
		}
		return out.best()
	}
	s := sumsPool.Get().(*sums)
	defer sumsPool.Put(s)
	if len(s.score) < len(ix.docs) {
		n := len(ix.docs) + len(ix.docs)/8
		*s = sums{make([]float32, n), make([]uint8, n), make([]uint8, n), s.touched[:0], s.mine[:0]}
	}
	mean := float32(1)
	if ix.live > 0 {
		mean = max(1, float32(ix.total)/float32(ix.live))
	}
	best := uint8(0)
	for i := range q.clauses {
		best = max(best, ix.clause(&q.clauses[i], s, mean))
	}
	for _, d := range s.touched {
		if best > 0 && s.full[d] == best && s.score[d] >= out.least && (!narrow || keep(ix.docs[d])) {
			out.offer(ix.docs[d], s.score[d])
		}
		s.score[d], s.full[d] = 0, 0
	}
	s.touched = s.touched[:0]
	found := out.best()
	for i := range found {
		found[i].norm = k1 * b / mean * ix.length[found[i].file.doc]
	}
	return found
}

// clause adds one word's worth to the sums, and returns the most clauses that any
// note satisfies by now.
func (ix *index) clause(c *clause, s *sums, mean float32) (most uint8) {
	c.worth, c.openWorth = c.worth[:0], 0
	add := func(posts []uint32, df int, factor float32, once bool) {
		idf := factor * ix.worth(df)
		for _, p := range posts {
			d := p >> 8
			if ix.docs[d] == nil {
				continue
			}
			switch {
			case s.have[d] == 0:
				s.mine = append(s.mine, d)
				if s.score[d] == 0 {
					s.touched = append(s.touched, d)
				}
				s.have[d] = 1
			case !once:
				s.have[d] = min(s.have[d]+1, 250)
			}
			tf := float32(p & 0xFF)
			s.score[d] += idf * tf / (tf + k1*(1-b) + k1*b/mean*ix.length[d])
		}
	}
	for _, term := range c.exact {
		var posts []uint32
		if t, ok := ix.terms[string(term)]; ok {
			posts = ix.posts[t]
			add(posts, len(posts), 1, false)
		}
		c.worth = append(c.worth, ix.worth(len(posts)))
	}
	if from, to, ok := c.between(); ok {
		ix.open(c, from, to, add)
	}
	for _, d := range s.mine {
		if int(s.have[d]) >= c.need {
			s.full[d]++
			most = max(most, s.full[d])
		}
		s.have[d] = 0
	}
	s.mine = s.mine[:0]
	return most
}

// worth is what a term tells that stands in so many notes.
func (ix *index) worth(df int) float32 {
	n := float64(max(ix.live, df))
	return (k1 + 1) * float32(math.Log(1+(n-float64(df)+0.5)/(float64(df)+0.5)))
}

// maxOpen bounds how many entries the open end of a query may touch, so that one
// letter costs no more than a word.
const maxOpen = 400_000

// open adds the terms in a range.
func (ix *index) open(c *clause, from, to string, add func([]uint32, int, float32, bool)) {
	var found []uint32
	at, _ := slices.BinarySearchFunc(ix.sorted, from, func(t uint32, s string) int { return strings.Compare(ix.names[t], s) })
	for ; at < len(ix.sorted) && ix.names[ix.sorted[at]] < to; at++ {
		found = append(found, ix.sorted[at])
	}
	for t := len(ix.sorted); t < len(ix.names); t++ {
		if n := ix.names[t]; n >= from && n < to {
			found = append(found, uint32(t))
		}
	}
	total := 0
	for _, t := range found {
		total += len(ix.posts[t])
	}
	if total > maxOpen { // the shortest words are nearest to what was typed
		slices.SortFunc(found, func(a, b uint32) int { return cmp.Compare(len(ix.names[a]), len(ix.names[b])) })
	}
	df := min(total, max(ix.live, 1))
	c.openWorth = 0.6 * ix.worth(df)
	exact := c.needle
	if len(c.exact) > 0 && c.lo != 0 {
		exact = c.prefix + string(c.lo)
	}
	// A note counts once, however many of the terms it has.
	left := maxOpen
	already := len(c.exact)
	for _, t := range found {
		if left -= len(ix.posts[t]); left < 0 {
			break
		}
		factor := float32(0.6)
		if ix.names[t] == exact {
			factor = 1.2
			add(ix.posts[t], len(ix.posts[t]), factor, already == 0)
			continue
		}
		add(ix.posts[t], df, factor, already == 0)
	}
}
