package retrieval

import (
	"strings"
	"unicode"
)

// Names makes words of names as programs write them, also of those that are
// written in one: it knows the words that the texts around them use.
type Names struct{ known map[string]bool }

// leastPart is from how many letters on a word is looked for inside of a name.
const leastPart = 4

// NewNames returns what knows the words of these texts.
func NewNames(texts []string) *Names {
	n := &Names{known: map[string]bool{}}
	for _, t := range texts {
		eachWord(t, func(word string, pairs bool) {
			if !pairs && len(word) >= leastPart && !stops[word] {
				n.known[word] = true
			}
		})
	}
	return n
}

// Words are the words of a name: webSearch_v2 gives web, Search and v2, and
// airqualityindex air, quality and index where texts speak of them. What no text
// knows stays whole.
func (n *Names) Words(name string) string {
	split := splitName(name)
	words := []string{split}
	eachWord(split, func(word string, pairs bool) {
		if !pairs && !n.known[word] {
			words = append(words, n.inside(word)...)
		}
	})
	return strings.Join(words, " ")
}

// inside finds the longest known words in a word, from its beginning on.
func (n *Names) inside(word string) (out []string) {
	for from := 0; from+leastPart <= len(word); {
		to := len(word)
		for to-from >= leastPart && !n.known[word[from:to]] {
			to--
		}
		if to-from < leastPart {
			from++
			continue
		}
		out = append(out, word[from:to])
		from = to
	}
	return out
}

// splitName puts blanks where a name has marks, or a small letter before a
// capital or a digit.
func splitName(name string) string {
	var b strings.Builder
	var before rune
	for _, r := range name {
		if unicode.IsLower(before) && (unicode.IsUpper(r) || unicode.IsDigit(r)) {
			b.WriteByte(' ')
		}
		if r == '_' || r == '-' || r == '.' {
			r = ' '
		}
		b.WriteRune(r)
		before = r
	}
	return b.String()
}
