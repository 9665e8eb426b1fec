package space

import (
	"slices"
	"strings"
)

// What is proposed.
const (
	ProposeMove = "move" // into a space that there is
	ProposeNew  = "new"  // into one that is made
)

// How a change of topic is noticed.
const (
	shiftWindow = 3    // the last messages that must be of one topic
	newWindow   = 4    // before a new space is thought of
	shiftMore   = 0.12 // by which another space must fit better
	fitsNone    = 0.14 // less than this is like nothing
	maxName     = 40   // bytes of a proposed name
)

// Proposal says where a conversation may belong better. It is never carried out
// unasked.
type Proposal struct {
	Kind  string // move or new
	Space string // to move to
	Name  string // of the new space
	Words []string
	Sure  float64
}

// Shift looks at the last messages of a conversation, the oldest first, for a
// topic that another space, or none, is about. About of the space that the
// conversation is in must not hold the conversation itself.
func Shift(current string, recent []string, spaces []Space) (Proposal, bool) {
	if len(recent) < shiftWindow {
		return Proposal{}, false
	}
	spaces = ordered(spaces)
	last := recent[len(recent)-shiftWindow:]
	if p, ok := better(current, last, spaces); ok {
		return p, true
	}
	if len(recent) < newWindow {
		return Proposal{}, false
	}
	last = recent[len(recent)-newWindow:]
	t := textOf(strings.Join(last, "\n"))
	for _, s := range spaces {
		if t.like(s) >= fitsNone {
			return Proposal{}, false
		}
	}
	if f := Detect(Message{Text: t.raw}, spaces); f.Why != "" {
		return Proposal{}, false
	}
	words := repeated(last)
	if len(words) < 2 {
		return Proposal{}, false
	}
	return Proposal{Kind: ProposeNew, Name: nameOf(words), Words: words, Sure: 0.5}, true
}

// better finds a space that fits the last messages together, and most of them
// alone, clearly better than the one that they are in.
func better(current string, last []string, spaces []Space) (Proposal, bool) {
	found := Detect(Message{Text: strings.Join(last, "\n")}, spaces)
	if found.Space == current || found.Space == "" {
		return Proposal{}, false
	}
	i := slices.IndexFunc(spaces, func(s Space) bool { return s.ID == found.Space })
	j := slices.IndexFunc(spaces, func(s Space) bool { return s.ID == current })
	fits := 0
	for _, one := range last {
		t := textOf(one)
		f := Detect(Message{Text: one}, spaces)
		here := 0.0
		if j >= 0 {
			here = t.like(spaces[j])
		}
		if f.Space == found.Space || f.Space != current && t.like(spaces[i]) >= here+shiftMore {
			fits++
		}
	}
	if fits*3 < len(last)*2 {
		return Proposal{}, false
	}
	p := Proposal{Kind: ProposeMove, Space: found.Space, Sure: found.Sure, Words: []string{}}
	if found.Named != "" {
		p.Words = strings.Split(found.Named, ", ")
	}
	return p, true
}

// repeated returns the telling words that at least half of the texts have.
func repeated(texts []string) (out []string) {
	for _, w := range Telling(texts, 12) {
		n := 0
		for _, one := range texts {
			if textOf(one).has(w) {
				n++
			}
		}
		if 2*n >= len(texts) {
			out = append(out, w)
		}
	}
	return out
}

// nameOf makes a name of the two most telling words.
func nameOf(words []string) string {
	name := ""
	for _, w := range words[:min(2, len(words))] {
		r := []rune(w)
		if one := strings.ToUpper(string(r[:1])) + string(r[1:]); len(name)+len(one) < maxName {
			name = strings.TrimSpace(name + " " + one)
		}
	}
	return name
}
