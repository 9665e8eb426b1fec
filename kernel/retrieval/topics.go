package retrieval

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

//go:embed topics.txt
var topicsText string

// topics is the lexicon of topics.txt.
type topics struct {
	stems  map[string][]string // of one word, or of two with a space between
	korean map[string][]string // what a word begins with
	most   int                 // the longest of those, in runes
}

var lexicon = sync.OnceValue(func() topics {
	t := topics{stems: map[string][]string{}, korean: map[string][]string{}}
	for line := range strings.Lines(topicsText) {
		name, words, ok := strings.Cut(line, ":")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		english, korean, _ := strings.Cut(words, "|")
		topic := "#" + name // no word begins like that
		for w := range strings.FieldsSeq(english) {
			key := strings.Join(stemsOf(strings.ReplaceAll(w, "_", " ")), " ")
			if key != "" && !slices.Contains(t.stems[key], topic) {
				t.stems[key] = append(t.stems[key], topic)
			}
		}
		for w := range strings.FieldsSeq(korean) {
			t.korean[w] = append(t.korean[w], topic)
			t.most = max(t.most, utf8.RuneCountInString(w))
		}
	}
	return t
})

func stemsOf(text string) (out []string) {
	eachWord(text, func(word string, pairs bool) {
		if !pairs {
			if s := stemOf(word); s != "" {
				out = append(out, s)
			}
		}
	})
	return out
}

// Topics are what the words of a text are about, by a lexicon of everyday words
// in English and Korean, each as often as a word of it stands there: so that a
// request is found to fit a description that says the same in other words, or in
// the other language. They are terms, and no word is written like one.
func Topics(text string) (out []string) {
	t := lexicon()
	last := ""
	eachWord(text, func(word string, pairs bool) {
		if pairs {
			last = ""
			out = append(out, t.startsWith(word)...)
			return
		}
		stem := stemOf(word)
		if stem == "" {
			return
		}
		out = append(out, t.stems[stem]...)
		if last != "" {
			out = append(out, t.stems[last+" "+stem]...)
		}
		last = stem
	})
	return out
}

// startsWith returns the topics of the longest entry that a Korean word begins with.
func (t topics) startsWith(word string) []string {
	ends := make([]int, 0, t.most)
	for i := range word {
		if i > 0 {
			ends = append(ends, i)
		}
		if len(ends) == t.most {
			break
		}
	}
	if len(ends) < t.most {
		ends = append(ends, len(word))
	}
	for _, end := range slices.Backward(ends) {
		if found := t.korean[word[:end]]; found != nil {
			return found
		}
	}
	return nil
}
