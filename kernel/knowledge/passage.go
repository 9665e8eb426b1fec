package knowledge

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"oxios/kernel/retrieval"
)

// How a long note is looked at in parts.
const (
	longNote     = 2000 // bytes of a note that is
	passageText  = 500  // characters of a passage at most
	mostPassages = 256  // the rest of a longer note counts within the whole of it alone

	passageWeight = 3 // what the best passage counts, against the note
)

// passage is the part of a note that answers a query best.
type passage struct {
	from, to int // in its text; 0, 0 for none
	score    float32
}

// byPassage has those of the k best notes that are long ranked by their best
// passage too: words that stand together tell more than words that are scattered
// over twenty pages. The passages are not kept: to find them takes less time than
// to read the note, whose text a search shows anyway.
func (v *Vault) byPassage(q *query, found []scored, k int) {
	if len(q.clauses) < 2 { // one word stands together anywhere
		return
	}
	found = found[:min(len(found), k)]
	for i := range found {
		s := &found[i]
		if s.file.size <= longNote {
			continue
		}
		_, low := v.text(s.file)
		s.best = q.passage(s.file, low, s.norm)
		s.score = (s.score + passageWeight*s.best.score) / (1 + passageWeight)
	}
	slices.SortStableFunc(found, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
}

// passage returns the passage of a note, whose text is given in lower case, that is
// worth most. Each stands below the names of the note. norm is what the length of
// the whole is held against it.
func (q *query) passage(f *file, low string, norm float32) passage {
	if low == "" { // it cannot be read now
		return passage{}
	}
	all := retrieval.Passages(low, passageText)
	all = all[:min(len(all), mostPassages)]
	scores, counts := make([]float32, len(all)), make([]float32, len(all))
	names := fold(strings.Join(append([]string{f.title, stem(path.Base(f.path))}, f.aliases...), "\n"))
	// find calls found with the places of a word that ends before a place.
	find := func(text, word string, end int, fits func(text string, from, to int) bool, found func(from int)) {
		for at := 0; word != "" && at < end; {
			i := strings.Index(text[at:end], word)
			if i < 0 {
				return
			}
			from := at + i
			at = from + len(word)
			if fits(text, from, at) {
				found(from)
			}
		}
	}
	add := func(word string, worth float32, fits func(text string, from, to int) bool) {
		named := float32(0)
		find(names, word, len(names), fits, func(int) { named += weightTitle })
		p := 0
		find(low, word, all[len(all)-1][1], fits, func(from int) {
			for all[p][1] <= from {
				p++
			}
			counts[p]++
		})
		for p, tf := range counts {
			if tf += named; tf > 0 {
				length := norm * float32(all[p][1]-all[p][0]) / float32(len(low))
				scores[p] += worth * tf / (tf + k1*(1-b) + length)
				counts[p] = 0
			}
		}
	}
	anywhere := func(string, int, int) bool { return true }
	begins := func(text string, from, _ int) bool {
		r, _ := utf8.DecodeLastRuneInString(text[:from])
		return kindOf(r) != latin
	}
	whole := func(text string, from, to int) bool {
		r, _ := utf8.DecodeRuneInString(text[to:])
		return begins(text, from, to) && kindOf(r) != latin
	}
	for i := range q.clauses {
		c := &q.clauses[i]
		for j, term := range c.exact {
			fits := anywhere
			if r, _ := utf8.DecodeRune(term); kindOf(r) == latin {
				fits = whole
			}
			add(string(term), c.worth[j], fits)
		}
		fits := begins
		if c.lo != 0 {
			fits = func(text string, _, to int) bool {
				r, _ := utf8.DecodeRuneInString(text[to:])
				return r >= c.lo && r <= c.hi
			}
		}
		add(c.prefix, c.openWorth, fits)
	}
	var best passage
	for p, score := range scores {
		if score > best.score {
			best = passage{all[p][0], all[p][1], score}
		}
	}
	return best
}
