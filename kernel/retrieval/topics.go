package retrieval

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

var (
	//go:embed topics.txt
	topicsText string
	//go:embed deeds.txt
	deedsText string
)

// deed is how the topics begin that say what is to be done: creating, sending, deleting. A tool is asked for by the one
// of its name; the text behind a name speaks of others too.
const deed = "#to-"

// topics is a lexicon.
type topics struct {
	joins  bool // whether a pair can have a word that stands everywhere, as turning on differs from turning off
	names  map[string]bool
	stems  map[string][]string // of one word, or of two with a space between
	korean map[string][]string // what a word begins with
	most   int                 // the longest of those, in runes
}

// The lexicons of topics.txt and of deeds.txt.
var (
	everyday  = sync.OnceValue(func() topics { return lexiconOf(topicsText, false) })
	ofServers = sync.OnceValue(func() topics { return lexiconOf(deedsText, true) })
)

func lexiconOf(text string, joins bool) topics {
	t := topics{joins: joins, names: map[string]bool{}, stems: map[string][]string{}, korean: map[string][]string{}}
	for line := range strings.Lines(text) {
		name, words, ok := strings.Cut(line, ":")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		english, korean, _ := strings.Cut(words, "|")
		t.names["#"+name] = true
		topic := "#" + name // no word begins like that
		for w := range strings.FieldsSeq(english) {
			key := strings.Join(t.partsOf(strings.ReplaceAll(w, "_", " ")), " ")
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
}

// partsOf are the stems of a text's words that a pair can have.
func (t topics) partsOf(text string) (out []string) {
	eachWord(text, func(word string, pairs bool) {
		if part := t.part(word); !pairs && part != "" {
			out = append(out, part)
		}
	})
	return out
}

func (t topics) part(word string) string {
	if stem := stemOf(word); stem != "" || !t.joins {
		return stem
	}
	return word
}

// Topics are what the words of a text are about, by a lexicon of everyday words
// in English and Korean, each as often as a word of it stands there: so that a
// request is found to fit a description that says the same in other words, or in
// the other language. They are terms, and no word is written like one.
func Topics(text string) []string { return everyday().of(text) }

func (t topics) of(text string) (out []string) {
	last := ""
	eachWord(text, func(word string, pairs bool) {
		if pairs {
			last = ""
			out = append(out, t.startsWith(word)...)
			return
		}
		part := t.part(word)
		if part == "" {
			return
		}
		if !stops[word] {
			out = append(out, t.stems[part]...)
		}
		if last != "" {
			out = append(out, t.stems[last+" "+part]...)
		}
		last = part
	})
	return out
}

// topicsOf are the topics of a text with the name before it, as the index has them: a deed is of the name alone, and once.
func (x *Index) topicsOf(text, name string) (out []string) {
	if !x.topical {
		return nil
	}
	out = Topics(text + " " + name)
	if !x.ofServers {
		return out
	}
	t := ofServers()
	out = slices.DeleteFunc(out, func(topic string) bool { return t.names[deed+topic[1:]] })
	for _, topic := range t.of(text) {
		if !strings.HasPrefix(topic, deed) {
			out = append(out, topic)
		}
	}
	for _, topic := range t.of(name) {
		if !strings.HasPrefix(topic, deed) || !slices.Contains(out, topic) {
			out = append(out, topic)
		}
	}
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
		if end == len(word) || slices.Contains(particles, word[end:]) {
			if found := t.korean[word[:end]+"="]; found != nil {
				return found
			}
		}
		if found := t.korean[word[:end]]; found != nil {
			return found
		}
	}
	return nil
}
