package retrieval

import (
	"cmp"
	"container/heap"
	"slices"
	"strings"
)

// The numbers of the ranking, measured on conversations and articles that were
// asked about in English and in Korean; docs/decisions.md has the figures.
const (
	k1 = 0.8  // how soon a term that stands in a text once more tells nothing new
	b  = 0.35 // how far long texts are held against them

	nextWeight   = 0.45 // what the neighbour of a text in its thread adds to it
	next2Weight  = 0.35 // and the one behind that
	threadWeight = 0.6  // and the best text of the thread

	// What the likeness of vectors adds, against all words of the query found.
	hashWeight = 0.03

	// What a text adds whose learned vector is the query's own, against all words
	// of the query found. Nobody has measured it: see docs/decisions.md.
	learnedWeight = 0.5

	likeFloor = 0.1 // likeness below this is chance

	soundWeight = 0.9 // what a word counts that a Korean one sounds like

	unknownWeight = 0.35 // what a word that no text holds counts in the share that was found

	// Of many texts, those that rarer terms have found are only ranked by the more
	// common ones, when they are enough.
	manyTexts   = 5000
	enough      = 2000
	commonShare = 0.02
)

// scratch is what a search needs and the next one can use again.
type scratch struct {
	own     []float32 // the score of each text by its own words
	cover   []float32
	touched []int32
	marked  []bool
	thread  []float32 // the best of each thread, by its number; 0 is no thread
	heap    worstFirst
	found   []int32 // by their vectors
	looked  looked
	scale   float32 // of the length of texts
}

// Search returns the texts that fit a query best, the best first; those that are
// equal in the order of their IDs.
func (x *Index) Search(q Query) []Hit {
	q.K, q.Weight = cmp.Or(q.K, 10), cmp.Or(q.Weight, hashWeight)
	terms := x.termsOf(q.Text)
	x.mu.RLock()
	defer x.mu.RUnlock()
	s, _ := x.scratch.Get().(*scratch)
	if s == nil {
		s = &scratch{}
	}
	defer x.scratch.Put(s)
	s.grow(len(x.docs), len(x.threads.names))
	defer s.reset(x)

	most := x.byWords(s, terms, false)
	x.withNeighbours(s)
	x.withThreads(s)
	return x.best(s, terms, most, q)
}

type queryTerm struct {
	text   string
	weight float32 // what it counts
	idf    float32
	list   *posting
	part   bool // only those that rarer terms had found were scored by it
}

// termsOf returns the terms of a query, each once.
func (x *Index) termsOf(text string) (out []queryTerm) {
	add := func(terms []string, weight float32) {
		for _, t := range terms {
			if !slices.ContainsFunc(out, func(o queryTerm) bool { return o.text == t }) {
				out = append(out, queryTerm{text: t, weight: weight})
			}
		}
	}
	terms := Terms(text)
	if x.ofServers {
		terms = slices.DeleteFunc(terms, isNumber)
	}
	add(terms, 1)
	add(x.topicsOf("", text), 1)
	if x.ofServers {
		add(x.heard(text), soundWeight)
	}
	return out
}

// isNumber reports whether a term has digits alone: in a request it is a value, and says nothing of what fits.
func isNumber(term string) bool {
	return strings.IndexFunc(term, func(r rune) bool { return r < '0' || r > '9' }) < 0
}

// heard returns the stems of the words that the Korean ones of a text sound like.
func (x *Index) heard(text string) (out []string) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	eachWord(text, func(word string, pairs bool) {
		if pairs {
			out = append(out, x.sounds.of(word)...)
		}
	})
	return out
}

// share is the part of what was asked for that the words found make up.
type share struct {
	score float32 // the most that a text could score
	all   float32 // what all words together weigh
}

// score is what a term that stands tf times in a text adds to it (BM25).
func (t *queryTerm) score(tf, scaled float32) float32 {
	return t.idf * (k1 + 1) * tf / (tf + k1*(1-b) + scaled)
}

// byWords scores the texts by their own words: of many texts not all of them,
// unless every one is asked for.
func (x *Index) byWords(s *scratch, terms []queryTerm, every bool) share {
	var most share
	n := len(x.slots)
	if n == 0 {
		return most
	}
	for i := range terms {
		t := &terms[i]
		t.list = x.postings[t.text]
		if t.list == nil {
			most.all += unknownWeight * t.weight * idf(n, 0)
			continue
		}
		t.idf = t.weight * idf(n, len(t.list.docs))
		most.score += t.idf * (k1 + 1)
		most.all += t.idf
	}
	slices.SortFunc(terms, func(a, c queryTerm) int { return cmp.Or(cmp.Compare(c.idf, a.idf), cmp.Compare(a.text, c.text)) })
	average := float32(x.length / float64(n))
	scale := float32(0)
	if average > 0 {
		scale = k1 * b / average
	}
	s.scale = scale
	for i := range terms {
		t := &terms[i]
		if t.list == nil {
			continue
		}
		t.part = !every && n > manyTexts && len(t.list.docs) > int(commonShare*float64(n)) && len(s.touched) > enough
		for i, d := range t.list.docs {
			if !s.marked[d] {
				if t.part {
					continue
				}
				s.mark(d)
			}
			s.own[d] += t.score(t.list.tf[i], scale*x.places[d].length)
			s.cover[d] += t.idf
		}
	}
	return most
}

// withNeighbours adds to each text what those around it in its thread score: a
// turn is often about what the one before it named.
func (x *Index) withNeighbours(s *scratch) {
	known := len(s.touched)
	for _, d := range s.touched[:known] {
		for _, n := range [...]int32{x.places[d].prev, x.places[d].next} {
			if n >= 0 {
				s.mark(n)
			}
		}
	}
}

// withThreads finds the best score of each thread.
func (x *Index) withThreads(s *scratch) {
	for _, n := range s.touched {
		if t := x.places[n].thread; t > 0 {
			s.thread[t] = max(s.thread[t], s.own[n])
		}
	}
}

// wordsOf is the score of a text by its words and those around it.
func (x *Index) wordsOf(s *scratch, n int32) float32 {
	sum := s.own[n] + threadWeight*s.thread[x.places[n].thread]
	if p := x.places[n].prev; p >= 0 {
		sum += nextWeight * s.own[p]
		if pp := x.places[p].prev; pp >= 0 {
			sum += next2Weight * s.own[pp]
		}
	}
	if p := x.places[n].next; p >= 0 {
		sum += nextWeight * s.own[p]
		if pp := x.places[p].next; pp >= 0 {
			sum += next2Weight * s.own[pp]
		}
	}
	return sum
}

// complete scores the neighbours of a text that have only common terms of the
// query, which were left out before.
func (x *Index) complete(s *scratch, terms []queryTerm, n int32) {
	p := &x.places[n]
	for _, next := range [...]int32{p.prev, p.next} {
		if next < 0 {
			continue
		}
		x.own(s, terms, next)
		if behind := x.places[next].prev; next == p.prev && behind >= 0 {
			x.own(s, terms, behind)
		} else if behind := x.places[next].next; next == p.next && behind >= 0 {
			x.own(s, terms, behind)
		}
	}
}

// own scores one text by the terms that were left out, once.
func (x *Index) own(s *scratch, terms []queryTerm, n int32) {
	if s.cover[n] > 0 {
		return
	}
	s.mark(n)
	for i := range terms {
		t := &terms[i]
		if !t.part {
			continue
		}
		if at, ok := t.list.at[n]; ok {
			s.own[n] += t.score(t.list.tf[at], s.scale*x.places[n].length)
			s.cover[n] += t.idf
		}
	}
}

// best takes the k best: of those that score most by words, and of those whose
// vectors are nearest.
func (x *Index) best(s *scratch, terms []queryTerm, most share, q Query) []Hit {
	h, many := s.heap[:0], max(4*q.K, 64)
	for _, n := range s.touched {
		c := candidate{score: x.wordsOf(s, n) * x.places[n].weight, n: n}
		switch {
		case c.score <= 0:
		case len(h) < many:
			if h = append(h, c); len(h) == many {
				heap.Init(&h)
			}
		case c.before(h[0], x):
			h[0] = c
			heap.Fix(&h, 0)
		}
	}
	s.found = x.vectors.nearest(q.Vector, max(2*q.K, 32), &s.looked, s.found[:0])
	s.found = x.learned.nearest(q.Learned, max(2*q.K, 32), &s.looked, s.found)
	for _, n := range s.found {
		if !slices.ContainsFunc(h, func(c candidate) bool { return c.n == n }) {
			h = append(h, candidate{n: n, score: x.wordsOf(s, n) * x.places[n].weight})
		}
	}
	s.heap = h
	if slices.ContainsFunc(terms, func(t queryTerm) bool { return t.part }) {
		for i := range h {
			x.complete(s, terms, h[i].n)
			h[i].score = x.wordsOf(s, h[i].n) * x.places[h[i].n].weight
		}
	}
	out := make([]Hit, 0, len(h))
	for _, c := range h {
		hit := Hit{ID: x.docs[c.n].id, Like: x.vectors.like(c.n, q.Vector)}
		if most.score > 0 {
			hit.Score = c.score / most.score
		}
		if most.all > 0 {
			hit.Cover = min(1, s.cover[c.n]/most.all)
		}
		if hit.Like > likeFloor {
			hit.Score += q.Weight * hit.Like * x.places[c.n].weight
		}
		if hit.Near = q.above(x.learned.like(c.n, q.Learned)); hit.Near > 0 {
			hit.Score += learnedWeight * hit.Near * x.places[c.n].weight
			hit.Cover = max(hit.Cover, hit.Near)
		}
		if hit.Score > 0 {
			out = append(out, hit)
		}
	}
	slices.SortFunc(out, func(a, c Hit) int {
		if a.Score != c.Score {
			return cmp.Compare(c.Score, a.Score)
		}
		return cmp.Compare(a.ID, c.ID)
	})
	return out[:min(q.K, len(out))]
}

// above is how far a likeness is above chance, 0 to 1.
func (q Query) above(like float32) float32 {
	if len(q.Learned) == 0 || q.Chance >= 1 {
		return 0
	}
	return min(1, max(0, (like-q.Chance)/(1-q.Chance)))
}

// candidate is a text with its score by words.
type candidate struct {
	score float32
	n     int32
}

func (c candidate) before(o candidate, x *Index) bool {
	return c.score > o.score || c.score == o.score && x.docs[c.n].id < x.docs[o.n].id
}

// worstFirst is a heap of candidates. Which of two that are equal goes first
// does not matter here: [Index.best] sorts.
type worstFirst []candidate

func (h worstFirst) Len() int           { return len(h) }
func (h worstFirst) Less(i, j int) bool { return h[i].score < h[j].score }
func (h worstFirst) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *worstFirst) Push(any)          { panic("a search replaces the worst") }
func (h *worstFirst) Pop() any          { panic("a search replaces the worst") }

func (s *scratch) grow(docs, threads int) {
	if len(s.own) < docs {
		docs += docs / 8
		s.own, s.cover, s.marked = make([]float32, docs), make([]float32, docs), make([]bool, docs)
	}
	if len(s.thread) < threads {
		s.thread = make([]float32, threads+threads/8)
	}
}

// mark has a search look at a text.
func (s *scratch) mark(n int32) {
	if !s.marked[n] {
		s.marked[n] = true
		s.touched = append(s.touched, n)
	}
}

func (s *scratch) reset(x *Index) {
	for _, n := range s.touched {
		s.own[n], s.cover[n], s.marked[n], s.thread[x.places[n].thread] = 0, 0, false, 0
	}
	s.touched = s.touched[:0]
}
