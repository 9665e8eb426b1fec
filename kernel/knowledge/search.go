package knowledge

import (
	"bytes"
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Hit is one note that a search found.
type Hit struct {
	Path    string   `json:"path"`
	Title   string   `json:"title"`
	Snippet string   `json:"snippet,omitempty"` // the best line, of at most about 200 bytes
	Marks   [][2]int `json:"marks,omitempty"`   // what was found in Snippet: from, to in bytes
	Line    int      `json:"line,omitempty"`    // of the snippet, from 1; 0 when only the name matched
	Score   float64  `json:"score"`             // higher is better; compare within one search only
}

// query is what a person typed, taken apart.
type query struct {
	clauses []clause
	phrases []string // folded
	tags    []string // folded
	paths   []string // folded
}

// clause is one word of a query.
type clause struct {
	exact  [][]byte // terms as they are
	prefix string   // a term that may go on: what it begins with …
	lo, hi rune     // … and the range of the syllable after that, 0 for any letter
	need   int      // how many of the terms a note must have
	needle string   // what is marked in the snippet
}

func parse(text string) query {
	var q query
	text = norm.NFC.String(unpair(text))
	open := text != "" && !strings.HasSuffix(text, " ") && !strings.HasSuffix(text, `"`)
	var words []string
	for i, part := range strings.Split(text, `"`) {
		if i%2 == 1 {
			if p := strings.Join(strings.Fields(fold(part)), " "); p != "" {
				q.phrases = append(q.phrases, p)
				q.add(p, false, true)
			}
			continue
		}
		words = append(words, strings.Fields(part)...)
	}
	for i, w := range words {
		low := fold(w)
		switch {
		case low == "tag:" || low == "path:": // still being typed
		case strings.HasPrefix(low, "tag:"):
			q.tags = append(q.tags, strings.TrimPrefix(low[4:], "#"))
		case strings.HasPrefix(low, "path:"):
			q.paths = append(q.paths, low[5:])
		default:
			q.add(low, open && i == len(words)-1, false)
		}
	}
	return q
}

// add takes in one word, which may be several runs: v2버전.
func (q *query) add(word string, last, whole bool) {
	first := len(q.clauses)
	runs([]byte(word), func(k kind, run []byte) {
		c := clause{needle: string(run), need: 1}
		switch n := utf8.RuneCount(run); {
		case k == latin:
			c.exact = [][]byte{bytes.Clone(run)}
		case n == 1:
			c.grow(run)
		default:
			prev, i := 0, 0
			for count := 0; i < len(run); count++ {
				_, size := utf8.DecodeRune(run[i:])
				if count > 0 {
					c.exact = append(c.exact, bytes.Clone(run[prev:i+size]))
				}
				prev = i
				i += size
			}
			c.need = max(1, (len(c.exact)+1)/2)
			if whole {
				c.need = len(c.exact)
			}
		}
		q.clauses = append(q.clauses, c)
	})
	if !last || len(q.clauses) == first {
		return
	}
	c := &q.clauses[len(q.clauses)-1]
	switch r, _ := utf8.DecodeLastRuneInString(c.needle); kindOf(r) {
	case latin:
		c.prefix = c.needle
	case hangul:
		if n := len(c.exact); n > 0 { // the last pair may still grow
			pair := c.exact[n-1]
			c.exact = c.exact[:n-1]
			c.grow(pair)
		}
	}
}

// grow makes the end of a clause match what may become of it.
func (c *clause) grow(term []byte) {
	r, size := utf8.DecodeLastRune(term)
	lo, hi, ok := grown(r)
	if !ok {
		c.prefix = string(term)
		return
	}
	c.prefix, c.lo, c.hi = string(term[:len(term)-size]), lo, hi
}

// between returns the range of terms, in order of their bytes, that the open end
// of a clause matches.
func (c *clause) between() (from, to string, ok bool) {
	switch {
	case c.lo != 0:
		return c.prefix + string(c.lo), c.prefix + string(c.hi+1), true
	case c.prefix != "":
		return c.prefix, c.prefix + "\xff", true
	}
	return "", "", false
}

// Search finds notes by their words, the best first, at most k of them. Words
// stand for themselves, the last one also for what begins with it; "a phrase" is
// in quotes; tag:x and path:x narrow. A note has all the words; when none has,
// those with the most are found.
func (v *Vault) Search(ctx context.Context, text string, k int) ([]Hit, error) {
	if err := v.ready(ctx); err != nil {
		return nil, err
	}
	if k <= 0 {
		k = 20
	}
	if onlyInitials(text) {
		return v.byInitials(ctx, text, k)
	}
	q := parse(text)
	v.mu.RLock()
	found := v.ix.score(q)
	v.mu.RUnlock()

	hits := make([]Hit, 0, min(k, len(found)))
	// The best come to the front only as far as they are wanted: of ten thousand
	// that match, ten are shown.
	for h := heapOf(found); len(hits) < k && len(h) > 0; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		best := h.pop()
		body, low := v.text(best.file)
		if !holds(best.file, low, q.phrases) {
			continue
		}
		hit := Hit{Path: best.file.path, Title: best.file.title, Score: float64(best.score)}
		hit.Snippet, hit.Line, hit.Marks = snippet(body, low, q)
		hits = append(hits, hit)
	}
	return hits, nil
}

func holds(f *file, low string, phrases []string) bool {
	for _, p := range phrases {
		if !strings.Contains(low, p) && !strings.Contains(fold(f.title), p) {
			return false
		}
	}
	return true
}

// scored is a note with what it is worth.
type scored struct {
	file  *file
	score float32
	mtime int64 // of the file, read under the lock
}

// heap has the best note on top, the newer one of two.
type heap []scored

func heapOf(h heap) heap {
	for i := len(h)/2 - 1; i >= 0; i-- {
		h.down(i)
	}
	return h
}

func (h heap) before(a, b int) bool {
	if h[a].score != h[b].score {
		return h[a].score > h[b].score // nearly always enough, and the files need not be looked at
	}
	return cmp.Or(cmp.Compare(h[a].mtime, h[b].mtime), strings.Compare(h[b].file.path, h[a].file.path)) > 0
}

func (h heap) down(i int) {
	for {
		best := i
		for c := 2*i + 1; c <= 2*i+2 && c < len(h); c++ {
			if h.before(c, best) {
				best = c
			}
		}
		if best == i {
			return
		}
		h[i], h[best] = h[best], h[i]
		i = best
	}
}

func (h *heap) pop() scored {
	old := *h
	top := old[0]
	old[0] = old[len(old)-1]
	*h = old[:len(old)-1]
	h.down(0)
	return top
}

// sums are the arrays of one search, by document.
type sums struct {
	score   []float32
	full    []uint8 // clauses that the note satisfies
	have    []uint8 // terms of the clause at hand
	touched []uint32
}

var sumsPool = sync.Pool{New: func() any { return new(sums) }}

// The constants of BM25: how soon a word's repetition stops to count, and how
// much a long text is held against it.
const (
	k1 = 1.2
	b  = 0.6
)

// score adds up what each note is worth. The caller holds the lock.
func (ix *index) score(q query) heap {
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
	if len(q.clauses) == 0 {
		if len(q.tags)+len(q.paths) == 0 {
			return nil
		}
		var all heap
		for _, f := range ix.docs {
			if f != nil && keep(f) {
				all = append(all, scored{f, 1, f.mtime})
			}
		}
		return all
	}
	s := sumsPool.Get().(*sums)
	defer sumsPool.Put(s)
	if len(s.score) < len(ix.docs) {
		n := len(ix.docs) + len(ix.docs)/8
		*s = sums{make([]float32, n), make([]uint8, n), make([]uint8, n), s.touched[:0]}
	}
	mean := float32(1)
	if ix.live > 0 {
		mean = max(1, float32(ix.total)/float32(ix.live))
	}
	best := uint8(0)
	for i := range q.clauses {
		best = max(best, ix.clause(&q.clauses[i], s, mean))
	}
	narrow := len(q.tags)+len(q.paths) > 0
	out := make(heap, 0, len(s.touched))
	for _, d := range s.touched {
		if s.full[d] == best && best > 0 && (!narrow || keep(ix.docs[d])) {
			out = append(out, scored{ix.docs[d], s.score[d], ix.docs[d].mtime})
		}
		s.score[d], s.full[d] = 0, 0
	}
	s.touched = s.touched[:0]
	return out
}

// clause adds one word's worth to the sums, and returns the most clauses that any
// note satisfies by now.
func (ix *index) clause(c *clause, s *sums, mean float32) (most uint8) {
	var mine []uint32 // documents of this clause
	add := func(posts []uint32, df int, factor float32, once bool) {
		n := float64(max(ix.live, df))
		idf := factor * float32(math.Log(1+(n-float64(df)+0.5)/(float64(df)+0.5)))
		for _, p := range posts {
			d := p >> 8
			if ix.docs[d] == nil {
				continue
			}
			tf := float32(p & 0xFF)
			if s.have[d] == 0 {
				mine = append(mine, d)
				if s.full[d] == 0 && s.score[d] == 0 {
					s.touched = append(s.touched, d)
				}
			}
			if !once || s.have[d] == 0 {
				s.have[d] = min(s.have[d]+1, 250)
			}
			s.score[d] += idf * tf * (k1 + 1) / (tf + k1*(1-b+b*ix.length[d]/mean))
		}
	}
	for _, term := range c.exact {
		if t, ok := ix.terms[string(term)]; ok {
			add(ix.posts[t], len(ix.posts[t]), 1, false)
		}
	}
	if from, to, ok := c.between(); ok {
		ix.open(c, from, to, s, add)
	}
	for _, d := range mine {
		if int(s.have[d]) >= c.need {
			s.full[d]++
			most = max(most, s.full[d])
		}
		s.have[d] = 0
	}
	return most
}

// maxOpen bounds how many entries the open end of a query may touch, so that one
// letter costs no more than a word.
const maxOpen = 400_000

// open adds the terms in a range.
func (ix *index) open(c *clause, from, to string, s *sums, add func([]uint32, int, float32, bool)) {
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
