package retrieval

import (
	"strings"
	"unicode"
	"unicode/utf8"

	porterstemmer "github.com/blevesearch/go-porterstemmer"
	"golang.org/x/text/unicode/norm"
)

// maxWord is the most bytes of a word that is looked at; longer ones are data.
const maxWord = 64

// Terms are what a text is found by, in their order and as often as they stand
// in it. Words of the Latin script are stemmed after Porter (1980), and words
// that stand everywhere are left out. Hangul and Han are told in pairs of
// neighbouring characters, so that particles behind a word, which Korean writes
// together with it, do not hide it; a word of one character is that character.
func Terms(text string) []string {
	out := make([]string, 0, len(text)/5+1)
	eachWord(text, func(word string, pairs bool) {
		if !pairs {
			if stem := stemOf(word); stem != "" {
				out = append(out, stem)
			}
			return
		}
		if koreanStop(word) {
			return
		}
		out = appendPairs(out, word)
	})
	return out
}

// eachWord calls fn with the words of a text in lower case; pairs says that a
// word is of a script that is told in pairs.
func eachWord(text string, fn func(word string, pairs bool)) {
	if !norm.NFC.IsNormalString(text) {
		text = norm.NFC.String(text)
	}
	start, kind := 0, other
	flush := func(end int) {
		if kind == other || end-start > maxWord && kind == letters {
			return
		}
		fn(strings.ToLower(text[start:end]), kind == paired)
	}
	for i, r := range text {
		if now := kindOf(r); now != kind {
			flush(i)
			start, kind = i, now
		}
	}
	flush(len(text))
}

type runeKind uint8

const (
	other runeKind = iota
	letters
	paired
)

func kindOf(r rune) runeKind {
	switch {
	case r < utf8.RuneSelf:
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' {
			return letters
		}
		return other
	case r >= 0xAC00 && r <= 0xD7A3, unicode.In(r, unicode.Hangul, unicode.Han, unicode.Hiragana, unicode.Katakana):
		return paired
	case unicode.IsLetter(r), unicode.IsMark(r), unicode.IsDigit(r):
		return letters
	}
	return other
}

func appendPairs(out []string, word string) []string {
	_, first := utf8.DecodeRuneInString(word)
	if first == len(word) {
		return append(out, word)
	}
	for i := 0; ; {
		_, a := utf8.DecodeRuneInString(word[i:])
		_, b := utf8.DecodeRuneInString(word[i+a:])
		if b == 0 {
			return out
		}
		out = append(out, word[i:i+a+b])
		i += a
	}
}

// stemOf is the stem of a word in lower case; "" for one that stands everywhere.
func stemOf(word string) string {
	if stops[word] {
		return ""
	}
	if len(word) < 3 || strings.IndexFunc(word, func(r rune) bool { return r < 'a' || r > 'z' }) >= 0 {
		return word
	}
	return string(porterstemmer.StemWithoutLowerCasing([]rune(word)))
}

// stops are English words that say nothing of what a text is about, after the
// lists that search engines use, with those that questions begin with.
var stops = func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(`a an the and or but if then else of at by for with about against between into through during before after
		above below to from up down in out on off over under again further once here there all any both each few more most other some such no nor not only own same so
		than too very s t can will just don should now d ll m o re ve y i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her
		hers herself it its itself they them their theirs themselves what which who whom this that these those am is are was were be been being have has had having do does
		did doing would could ought when where why how as until while because might may must shall also us im ive id isn aren wasn weren hasn haven hadn doesn didn won
		wouldn couldn shouldn let lets get got go going`) {
		m[w] = true
	}
	return m
}()

// koreanStop reports whether a Korean word only asks or joins.
func koreanStop(word string) bool {
	for _, s := range koreanStops {
		if rest, ok := strings.CutPrefix(word, s); ok && utf8.RuneCountInString(rest) <= 2 {
			return true
		}
	}
	return false
}

var koreanStops = strings.Fields("무엇 어디 언제 누구 누가 어떤 어느 어떻 얼마 몇 그리고 그러나 하지만 그래서 있는 있나 있어 없나 무슨 왜")
