// Package space tells which context of work a message belongs to.
//
// It promises to look at nothing but what it is given: no file, no network, no
// model, and no clock. The same message and the same spaces, in whatever order,
// give the same answer, and why: a path that lies in a space, a tag or a word of
// it, that the person made it the active one, or what its conversations were about. What is not clear belongs to the
// default space, whose id is "". It only ever proposes to move what is somewhere
// already.
package space

import (
	"cmp"
	"slices"
	"strings"

	"oxios/kernel/retrieval"
)

// Why a message belongs to a space.
const (
	WhyPath   = "path"   // it names a path of the space, or works in one
	WhyWord   = "word"   // it has a tag, a key word or the name of the space
	WhyActive = "active" // the person made it the active one, and nothing they wrote down names another
	WhyTopic  = "topic"  // it is about what the space's conversations are about
	WhyPerson = "person" // somebody chose it
)

// How much is enough.
const (
	leastTopic = 0.24 // likeness to what a space is about, to belong to it
	leastMore  = 0.08 // by which it must be more like it than like the next one
	leastTerms = 2    // different words that a topic can be told from
	perLearned = 0.15 // what a learned word adds to the likeness
	mostWeight = 2    // of one learned word
)

// Space is what is known of a space, as far as messages are told by it.
type Space struct {
	ID      string // "" for the default one, which has neither paths nor words
	Name    string
	Folder  string   // absolute
	Paths   []string // absolute
	Words   []string // tags and key words; a # in front does not matter
	Learned []Word   // what corrections taught
	About   []float32
}

// Word is a word that a correction taught, and how much it says.
type Word struct {
	Word   string
	Weight float64
}

// Message is what is looked at.
type Message struct {
	Text   string
	Folder string // that it works in, absolute; "" when nobody said
	Home   string // the person's home folder, for ~
	Active string // the id of the active space; "" for none
}

// Found is what was found. The zero value is the default space, for which
// nothing spoke.
type Found struct {
	Space string  // its id
	Why   string  // path, word, active, topic, or "" when nothing spoke for one
	Sure  float64 // 0 to 1
	Named string  // the path or the words that told
}

// Detect returns the space that a message belongs to: by the longest path, then
// by tags and words, then the active one, then by what it is about. So what a
// person wrote down for a space, and names, wins over the active one; a guess from
// corrections and conversations does not.
func Detect(m Message, spaces []Space) Found {
	spaces = ordered(spaces)
	by, named, sure := byPath(m, spaces)
	if len(by) == 1 {
		return Found{by[0].ID, WhyPath, sure, named}
	}
	among := spaces
	if len(by) > 1 { // they share it: what else the message says decides between them
		among = by
	}
	t := textOf(m.Text)
	f, found := byWord(t, among)
	if found && f.Why == WhyWord {
		return f
	}
	if m.Active != "" && slices.ContainsFunc(among, func(s Space) bool { return s.ID == m.Active }) {
		return Found{Space: m.Active, Why: WhyActive, Sure: 1}
	}
	if found {
		return f
	}
	if f, ok := byTopic(t, among); ok {
		return f
	}
	if len(by) > 1 {
		return Found{by[0].ID, WhyPath, 0.5, named}
	}
	return Found{}
}

// ordered returns the spaces by id, so that their order says nothing.
func ordered(spaces []Space) []Space {
	out := slices.Clone(spaces)
	slices.SortFunc(out, func(a, b Space) int { return strings.Compare(a.ID, b.ID) })
	return out
}

// text is a message as words and numbers.
type text struct {
	raw    string
	words  []string // in lower case, in their order
	tags   map[string]bool
	vector []float32
	terms  int // different ones
}

func textOf(raw string) text {
	t := text{raw: raw, tags: map[string]bool{}, vector: retrieval.HashVector(raw)}
	t.words = wordsOf(withoutPaths(raw), t.tags)
	terms := retrieval.Terms(raw)
	slices.Sort(terms)
	t.terms = len(slices.Compact(terms))
	return t
}

// byWord finds the space whose tags, words and name stand in a message. What
// corrections taught counts with them, so that a word that misled does so no longer.
func byWord(t text, spaces []Space) (Found, bool) {
	type hit struct {
		space  Space
		score  float64
		length int
		tag    bool
		words  []string
		taught bool
	}
	var hits []hit
	for _, s := range spaces {
		if s.ID == "" {
			continue
		}
		h := hit{space: s}
		seen := map[string]bool{}
		for _, w := range append(slices.Clone(s.Words), s.Name) {
			plain := fold(w)
			if plain == "" || seen[plain] || len(retrieval.Terms(plain)) == 0 {
				continue
			}
			seen[plain] = true
			tagged := t.tags[strings.ReplaceAll(plain, " ", "-")] || t.tags[strings.ReplaceAll(plain, " ", "")]
			if tagged || t.has(plain) {
				h.score, h.length, h.tag, h.words = h.score+1, h.length+len(plain), h.tag || tagged, append(h.words, strings.TrimPrefix(w, "#"))
			}
		}
		learned, words := t.learned(s)
		if len(h.words) == 0 && len(words) >= 2 {
			h.taught, h.words = true, words
		}
		if h.score += 0.6 * learned; len(h.words) > 0 {
			hits = append(hits, h)
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int {
		return cmp.Or(order(b.tag, a.tag), cmp.Compare(b.score, a.score), order(a.taught, b.taught), cmp.Compare(b.length, a.length))
	})
	if len(hits) == 0 || hits[0].taught && hits[0].score < 1.2 {
		return Found{}, false
	}
	best := hits[0]
	if len(hits) > 1 && hits[1].tag == best.tag && hits[1].score == best.score && hits[1].taught == best.taught && hits[1].length == best.length {
		return Found{}, false
	}
	slices.Sort(best.words)
	f := Found{best.space.ID, WhyWord, 0.8, strings.Join(best.words, ", ")}
	switch {
	case best.tag:
		f.Sure = 0.95
	case best.taught:
		f.Why, f.Sure = WhyTopic, 0.6
	}
	return f, true
}

func order(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// learned returns how much of what corrections taught a space stands in a text.
func (t text) learned(s Space) (sum float64, words []string) {
	for _, w := range s.Learned {
		if t.has(w.Word) {
			sum += min(max(w.Weight, 0), mostWeight)
			words = append(words, w.Word)
		}
	}
	slices.Sort(words)
	return sum, words
}

// byTopic finds the space that a message is clearly about. The default one
// takes part: what is like its conversations stays there.
func byTopic(t text, spaces []Space) (Found, bool) {
	if t.terms < leastTerms {
		return Found{}, false
	}
	var best, second float64
	at := -1
	for i, s := range spaces {
		like := t.like(s)
		switch {
		case at < 0 || like > best:
			best, second, at = like, max(best, 0), i
		case like > second:
			second = like
		}
	}
	if at < 0 || spaces[at].ID == "" || best < leastTopic || best < second+leastMore {
		return Found{}, false
	}
	_, words := t.learned(spaces[at])
	return Found{spaces[at].ID, WhyTopic, min(0.9, round(best)), strings.Join(words, ", ")}, true
}

// like is how much a text is like what a space is about, about 0 to 1.
func (t text) like(s Space) float64 {
	learned, _ := t.learned(s)
	return min(1, round(dot(t.vector, s.About))+perLearned*min(learned, 3))
}

// round takes from a number what depends on the machine.
func round(x float64) float64 { return float64(int(x*1000+0.5)) / 1000 }

func dot(a, b []float32) (sum float64) {
	if len(a) != len(b) {
		return 0
	}
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return max(sum, 0)
}

// About is what texts are about: the middle of their vectors, with the length 1.
// It is nil for no words.
func About(texts []string) []float32 {
	sum := make([]float32, retrieval.HashDim)
	some := false
	for _, one := range texts {
		for i, x := range retrieval.HashVector(one) {
			sum[i] += x
			some = some || x != 0
		}
	}
	if !some {
		return nil
	}
	retrieval.Normalize(sum)
	return sum
}
