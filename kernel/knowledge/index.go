package knowledge

import (
	"path"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"oxios/kernel/sys"
)

// file is what is known of one file of the vault. A note that changes gets a new
// one: what a reader holds does not change under it.
type file struct {
	path, disk string // as people and links write it; as the disk does
	key        string // see keyOf
	size       int64
	mtime      int64 // nanoseconds
	racy       bool  // written so shortly before it was read that its time may not tell the next change
	note       bool
	large      bool // a note over maxNote: only its name is known
	hash       [32]byte

	title, encoding string
	fault           sys.Words // of the frontmatter
	aliases, tags   []string
	headings        []Heading
	links           []indexedLink
	tasks           []Task
	names           []string // what Switch compares: folded title, name, aliases, path
	lowTags         []string // the tags, folded

	doc  uint32 // its number in the postings
	seen uint32 // the walk that met it last
	seq  uint64 // when the index learned of it
}

// indexedLink is a link with the line that it stands in.
type indexedLink struct {
	Link
	text string
}

// index is all that is known of the vault. It is guarded by [Vault.mu].
type index struct {
	files   map[string]*file            // by path
	folded  map[string][]*file          // by folded path without .md
	byKey   map[string][]*file          // by name
	folders map[string]map[string]*file // by folder and name, both as on the disk
	twins   map[string]string           // path → a second file of the same name in another form
	outside map[string]bool             // symbolic links that lead out of the vault

	incoming map[string][]*file               // key → notes with a link of that name
	back     map[string]map[string][]Backlink // key → path → who links there; made when asked for

	terms  map[string]uint32
	names  []string
	posts  [][]uint32 // by term: document << 8 | weight, ascending
	sorted []uint32   // the terms by name, but for those added since
	docs   []*file    // by number; nil where a note changed since
	length []float32  // by number, in terms
	total  float64    // of the lengths of those that live
	live   int

	walk   uint32
	seq    uint64
	forgot map[string]uint64 // removed since the walk began
}

func newIndex() *index {
	return &index{
		files: map[string]*file{}, folded: map[string][]*file{}, byKey: map[string][]*file{}, folders: map[string]map[string]*file{"": {}},
		twins: map[string]string{}, outside: map[string]bool{}, incoming: map[string][]*file{}, back: map[string]map[string][]Backlink{},
		terms: map[string]uint32{}, forgot: map[string]uint64{},
	}
}

// put takes a file in, in the place of what was known by its path.
func (ix *index) put(f *file, weights []uint32, toTerm func(uint32) uint32, length int) {
	old := ix.files[f.path]
	ix.seq++
	f.seq, f.seen, f.key = ix.seq, ix.walk, keyOf(f.path)
	if old != nil {
		ix.unlink(old)
	}
	ix.files[f.path] = f
	dir, base := path.Split(f.disk)
	dir = strings.TrimSuffix(dir, "/")
	if ix.folders[dir] == nil {
		ix.folder(dir)
	}
	if old != nil && old.disk != f.disk {
		ix.unplace(old)
	}
	ix.folders[dir][base] = f
	fp := fold(stem(f.path))
	if old == nil {
		ix.folded[fp] = append(ix.folded[fp], f)
		ix.byKey[f.key] = append(ix.byKey[f.key], f)
		delete(ix.back, f.key)
	} else {
		replace(ix.folded[fp], old, f)
		replace(ix.byKey[f.key], old, f)
	}
	for i := range f.links {
		key := f.links[i].key
		delete(ix.back, key)
		if in := ix.incoming[key]; len(in) == 0 || in[len(in)-1] != f {
			ix.incoming[key] = append(in, f)
		}
	}
	if !f.note || f.large {
		return
	}
	f.doc = uint32(len(ix.docs))
	ix.docs = append(ix.docs, f)
	ix.length = append(ix.length, float32(length))
	ix.total += float64(length)
	ix.live++
	for _, w := range weights {
		t := toTerm(w >> 8)
		ix.posts[t] = append(ix.posts[t], f.doc<<8|w&0xFF)
	}
	if dead := len(ix.docs) - ix.live; dead > 1000 && dead > ix.live/2 {
		ix.compact()
	}
}

func replace(in []*file, old, with *file) {
	if i := slices.Index(in, old); i >= 0 {
		in[i] = with
	}
}

func without(in []*file, f *file) []*file {
	return slices.DeleteFunc(in, func(o *file) bool { return o == f })
}

// unlink takes away what a file's content brought in.
func (ix *index) unlink(f *file) {
	for i := range f.links {
		key := f.links[i].key
		delete(ix.back, key)
		if in := without(ix.incoming[key], f); len(in) > 0 {
			ix.incoming[key] = in
		} else {
			delete(ix.incoming, key)
		}
	}
	if f.note && !f.large && int(f.doc) < len(ix.docs) && ix.docs[f.doc] == f {
		ix.docs[f.doc] = nil
		ix.total -= float64(ix.length[f.doc])
		ix.live--
	}
}

// remove forgets a file.
func (ix *index) remove(f *file) {
	if ix.files[f.path] != f {
		return
	}
	ix.seq++
	ix.forgot[f.path] = ix.seq
	ix.unlink(f)
	ix.unplace(f)
	delete(ix.files, f.path)
	fp := fold(stem(f.path))
	if ix.folded[fp] = without(ix.folded[fp], f); len(ix.folded[fp]) == 0 {
		delete(ix.folded, fp)
	}
	if ix.byKey[f.key] = without(ix.byKey[f.key], f); len(ix.byKey[f.key]) == 0 {
		delete(ix.byKey, f.key)
	}
	delete(ix.back, f.key)
}

func (ix *index) unplace(f *file) {
	dir, base := path.Split(f.disk)
	if names := ix.folders[strings.TrimSuffix(dir, "/")]; names[base] == f {
		delete(names, base)
	}
}

// folder makes sure that a folder and those above it are known.
func (ix *index) folder(dir string) {
	for ; ix.folders[dir] == nil; dir = parent(dir) {
		ix.folders[dir] = map[string]*file{}
		if dir == "" {
			return
		}
	}
}

// term returns the number of a term.
func (ix *index) term(name string) uint32 {
	t, ok := ix.terms[name]
	if !ok {
		t = uint32(len(ix.names))
		ix.terms[name] = t
		ix.names = append(ix.names, name)
		ix.posts = append(ix.posts, nil)
	}
	return t
}

// sort orders the terms by name once so many are new that looking through them
// one by one would be felt.
func (ix *index) sort(limit int) {
	if len(ix.names)-len(ix.sorted) <= limit {
		return
	}
	for t := len(ix.sorted); t < len(ix.names); t++ {
		ix.sorted = append(ix.sorted, uint32(t))
	}
	slices.SortFunc(ix.sorted, func(a, b uint32) int { return strings.Compare(ix.names[a], ix.names[b]) })
}

// compact numbers the documents anew, without those that are gone. Terms that
// nobody uses any more stay: they are few, and others hold their numbers.
func (ix *index) compact() {
	to := make([]uint32, len(ix.docs))
	n := uint32(0)
	for i, f := range ix.docs {
		to[i] = ^uint32(0)
		if f != nil {
			to[i] = n
			f.doc = n
			ix.docs[n], ix.length[n] = f, ix.length[i]
			n++
		}
	}
	clear(ix.docs[n:])
	ix.docs, ix.length = ix.docs[:n], ix.length[:n]
	for t, posts := range ix.posts {
		kept := posts[:0]
		for _, p := range posts {
			if d := to[p>>8]; d != ^uint32(0) {
				kept = append(kept, d<<8|p&0xFF)
			}
		}
		ix.posts[t] = kept
	}
}

// counter counts the terms of texts. It keeps a vocabulary of its own, so that
// several of them work side by side; a reader of what it counted gets names as
// far as they are needed and never changed.
type counter struct {
	ids     map[string]uint32
	pairs   pairTable // of two letters, which are in no map
	names   []string
	counts  []uint16
	touched []uint32
	length  int

	global []uint32 // id → number in the index + 1, 0 where it was not asked for; only the index's writer uses it
}

func newCounter() *counter { return &counter{ids: map[string]uint32{}, pairs: newPairTable(1 << 10)} }

// The weights of a term by where it stands.
const (
	weightText    = 1
	weightHeading = 3
	weightTitle   = 8
)

func (c *counter) add(text []byte, weight uint16) {
	if !norm.NFC.IsNormal(text) {
		text = norm.NFC.Bytes(text)
	}
	one := func(id uint32) {
		if c.counts[id] == 0 {
			c.touched = append(c.touched, id)
		}
		c.counts[id] = min(c.counts[id]+weight, 255)
		if weight == weightText {
			c.length++
		}
	}
	term := func(term []byte) {
		id, ok := c.ids[string(term)]
		if !ok {
			name := string(term)
			id = c.fresh(name)
			c.ids[name] = id
		}
		one(id)
	}
	terms(text, func(a, b rune, both []byte) {
		if a > 0xFFFF || b > 0xFFFF {
			term(both)
			return
		}
		at := c.pairs.find(uint32(a)<<16 | uint32(b))
		if c.pairs.ids[at] == 0 {
			id := c.fresh(string(both))
			c.pairs.set(at, uint32(a)<<16|uint32(b), id+1)
			one(id)
			return
		}
		one(c.pairs.ids[at] - 1)
	}, term)
}

// fresh gives a new term its number.
func (c *counter) fresh(name string) uint32 {
	c.names = append(c.names, name)
	c.counts = append(c.counts, 0)
	return uint32(len(c.names) - 1)
}

// pairTable finds the number of two letters. Korean text is mostly pairs, and
// this takes a third of the time of a map of texts.
type pairTable struct {
	keys, ids []uint32 // id 0: free
	used      int
}

func newPairTable(size int) pairTable {
	return pairTable{keys: make([]uint32, size), ids: make([]uint32, size)}
}

// find returns the place of a key, or the free place where it belongs.
func (t *pairTable) find(key uint32) int {
	mask := len(t.keys) - 1
	at := int(uint64(key)*0x9E3779B97F4A7C15>>32) & mask
	for t.ids[at] != 0 && t.keys[at] != key {
		at = (at + 1) & mask
	}
	return at
}

func (t *pairTable) set(at int, key, id uint32) {
	t.keys[at], t.ids[at] = key, id
	if t.used++; t.used*2 < len(t.keys) {
		return
	}
	bigger := newPairTable(len(t.keys) * 4)
	bigger.used = t.used
	for i, id := range t.ids {
		if id != 0 {
			at := bigger.find(t.keys[i])
			bigger.keys[at], bigger.ids[at] = t.keys[i], id
		}
	}
	*t = bigger
}

// take returns what was counted, as term << 8 | weight, and begins anew.
func (c *counter) take() (weights []uint32, length int) {
	weights = make([]uint32, len(c.touched))
	for i, id := range c.touched {
		weights[i] = id<<8 | uint32(c.counts[id])
		c.counts[id] = 0
	}
	length = c.length
	c.touched, c.length = c.touched[:0], 0
	return weights, length
}
