// Package retrieval finds texts: memories, notes of tools, whatever is short and
// many. It is an index in memory, built from what its owner keeps.
//
// It promises that a text which was put is found by each of its words from then
// on and one that was deleted by none; that equal contents give equal rankings, in
// whichever order they were put; and that it may be used from many goroutines.
//
// Texts are ranked by BM25 (Robertson et al.) over [Terms], with the neighbours
// of a text in its thread as context, and by the likeness of vectors; both are
// fused.
package retrieval

import (
	"cmp"
	"math"
	"slices"
	"sync"
)

// Doc is a text to be found.
type Doc struct {
	ID     string
	Text   string
	Extra  string    // further words that it is found by
	Owner  string    // and those of what brings it
	Aside  string    // and those that count less
	Thread string    // the conversation that it stands in; "" for none
	At     int64     // its place in the thread: any numbers that grow
	Weight float32   // what its score is multiplied by; 0 is 1
	Vector []float32 // of length 1; nil for none. All of an index have the same dimension.
}

// Hit is a text that was found.
type Hit struct {
	ID    string
	Score float32 // higher is better; comparable within one search
	Cover float32 // which share of what was asked for stands in the text itself, 0 to 1, weighed by how rare the words are; at least Near
	Like  float32 // the cosine of the vectors, 0 without one
	Near  float32 // how far the learned vectors are above chance, 0 to 1
}

// Query is what to look for.
type Query struct {
	Text   string
	Vector []float32 // of length 1; nil to go by words alone
	Weight float32   // what the likeness of vectors adds, where finding all words is 1; 0 is as hashed ones are worth
	K      int       // how many; 10 if 0

	// Learned is the vector of a learned embedder, of length 1, which is compared
	// with those of [Index.SetLearned] alone. Chance is the cosine that unrelated
	// texts have by that embedder: only what is above it counts.
	Learned []float32
	Chance  float32
}

// Index holds texts. The zero Index is not usable: see [New].
type Index struct {
	mu       sync.RWMutex
	postings map[string]*posting
	slots    map[string]int32 // by ID
	docs     []slot
	places   []place // of the same slots: what each search reads of many, close together
	free     []int32
	threads  threads
	length   float64 // of all texts together, in terms
	vectors  vectors
	learned  vectors // those of a learned embedder, of the texts that have one
	scratch  sync.Pool
	topical  bool

	ofServers bool
	sounds    sounds // of the words of tools, those of deleted ones too
}

type slot struct {
	id    string
	terms []string // each once, sorted
	at    int64
}

type place struct {
	thread     int32 // its number; 0 for none
	prev, next int32 // in the thread; -1 at its ends
	length     float32
	weight     float32
}

// posting says which texts hold a term, and how often. They are in no order: a
// place that a deletion freed is filled with the last one.
type posting struct {
	docs []int32
	tf   []float32
	at   map[int32]int32 // where a text stands, for long lists; nil while a scan is as quick
}

// longPosting is from which length on a posting knows where its texts stand.
const longPosting = 64

// New returns an empty index.
func New() *Index {
	return &Index{postings: map[string]*posting{}, slots: map[string]int32{}, threads: newThreads()}
}

// NewTopical returns an empty index whose texts are also found by what their words
// are about: see [Topics].
func NewTopical() *Index {
	x := New()
	x.topical = true
	return x
}

// NewOfServers returns an empty index of tools as servers bring them: many that are about one thing, with names that say
// what is done to it. They are also found by that, and by how their words are written in Hangul.
func NewOfServers() *Index {
	x := NewTopical()
	x.ofServers = true
	return x
}

// Len returns how many texts there are.
func (x *Index) Len() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return len(x.slots)
}

// What a word beside the text counts, against one in it.
const (
	extraWeight = 1.5
	asideWeight = 0.5
	ownerWeight = 2
)

// Put adds a text, or replaces the one with its ID.
func (x *Index) Put(d Doc) {
	counts := map[string]float32{}
	length := float32(0)
	for _, t := range Terms(d.Text) {
		counts[t]++
		length++
	}
	for _, t := range Terms(d.Extra) {
		counts[t] += extraWeight
	}
	for _, t := range Terms(d.Owner) {
		counts[t] += ownerWeight
	}
	for _, t := range Terms(d.Aside) {
		counts[t] += asideWeight
	}
	for _, t := range x.topicsOf(d.Text+" "+d.Owner, d.Extra) {
		counts[t]++
	}
	terms := make([]string, 0, len(counts))
	for t := range counts {
		terms = append(terms, t)
	}
	slices.Sort(terms)

	x.mu.Lock()
	defer x.mu.Unlock()
	x.remove(d.ID)
	if x.ofServers {
		x.sounds.add(d.Text + " " + d.Extra + " " + d.Owner)
	}
	var n int32
	if last := len(x.free) - 1; last >= 0 {
		n, x.free = x.free[last], x.free[:last]
	} else {
		n = int32(len(x.docs)) //nolint:gosec // two thousand million texts do not fit in memory
		x.docs, x.places = append(x.docs, slot{}), append(x.places, place{})
	}
	x.docs[n] = slot{id: d.ID, terms: terms, at: d.At}
	x.places[n] = place{thread: x.threads.number(d.Thread), prev: -1, next: -1, length: length, weight: cmp.Or(d.Weight, 1)}
	x.slots[d.ID] = n
	x.length += float64(length)
	for _, t := range terms {
		p := x.postings[t]
		if p == nil {
			p = &posting{}
			x.postings[t] = p
		}
		p.add(n, counts[t])
	}
	x.link(n)
	x.vectors.put(n, d.Vector)
}

// SetLearned gives a text the vector of a learned embedder, of length 1, which
// stays until the text is put anew. It is no error when there is no such text;
// a vector of another dimension than the others is left out.
func (x *Index) SetLearned(id string, vector []float32) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if n, ok := x.slots[id]; ok {
		x.learned.remove(n)
		x.learned.put(n, vector)
	}
}

// HasLearned reports whether a text has a vector of [Index.SetLearned].
func (x *Index) HasLearned() bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.learned.count > 0
}

// Delete takes a text out. It is no error when there is none.
func (x *Index) Delete(id string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.remove(id)
}

func (x *Index) remove(id string) {
	n, ok := x.slots[id]
	if !ok {
		return
	}
	for _, t := range x.docs[n].terms {
		if p := x.postings[t]; p.remove(n) {
			delete(x.postings, t)
		}
	}
	x.unlink(n)
	x.length -= float64(x.places[n].length)
	x.vectors.remove(n)
	x.learned.remove(n)
	delete(x.slots, id)
	x.docs[n], x.places[n] = slot{}, place{prev: -1, next: -1}
	x.free = append(x.free, n)
}

func (p *posting) add(n int32, tf float32) {
	if p.at != nil {
		p.at[n] = int32(len(p.docs)) //nolint:gosec // see Put
	}
	p.docs, p.tf = append(p.docs, n), append(p.tf, tf)
	if p.at == nil && len(p.docs) > longPosting {
		p.at = make(map[int32]int32, 2*longPosting)
		for i, d := range p.docs {
			p.at[d] = int32(i) //nolint:gosec // see Put
		}
	}
}

// remove takes a text out and reports whether none is left.
func (p *posting) remove(n int32) bool {
	i := 0
	if p.at != nil {
		i = int(p.at[n])
		delete(p.at, n)
	} else {
		i = slices.Index(p.docs, n)
	}
	last := len(p.docs) - 1
	if moved := p.docs[last]; moved != n {
		p.docs[i], p.tf[i] = moved, p.tf[last]
		if p.at != nil {
			p.at[moved] = int32(i) //nolint:gosec // see Put
		}
	}
	p.docs, p.tf = p.docs[:last], p.tf[:last]
	return last == 0
}

// idf is how much a term that stands in df of n texts tells; it is never
// negative.
func idf(n, df int) float32 {
	return float32(math.Log(1 + (float64(n)-float64(df)+0.5)/(float64(df)+0.5)))
}
