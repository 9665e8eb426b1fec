package space

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"oxios/kernel/retrieval"
)

// fold is a tag or a word as it is compared.
func fold(word string) string {
	return strings.ToLower(strings.Join(strings.Fields(strings.TrimPrefix(strings.TrimSpace(norm.NFC.String(word)), "#")), " "))
}

// wordsOf returns the words of a text in lower case, and notes its #tags.
func wordsOf(raw string, tags map[string]bool) (words []string) {
	raw = strings.ToLower(norm.NFC.String(raw))
	inWord := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r) }
	start, before := -1, ' '
	for i, r := range raw + " " {
		if inWord(r) {
			if start < 0 {
				start = i
			}
			continue
		}
		if start >= 0 {
			words, start = append(words, raw[start:i]), -1
			before, _ = utf8.DecodeLastRuneInString(raw[:i])
		}
		if r == '#' && !inWord(before) {
			end := i + 1
			for j, c := range raw[i+1:] {
				if !inWord(c) && c != '-' && c != '_' {
					break
				}
				end = i + 1 + j + utf8.RuneLen(c)
			}
			if tag := strings.Trim(raw[i+1:end], "-_"); tag != "" && tags != nil {
				tags[tag] = true
			}
		}
		before = r
	}
	return words
}

// has reports whether a word, or words behind each other, stand in a text as
// whole words: a plural in English, and particles behind the last one in Korean,
// do not matter.
func (t text) has(phrase string) bool {
	want := wordsOf(phrase, nil)
	if len(want) == 0 {
		return false
	}
	for i := 0; i+len(want) <= len(t.words); i++ {
		last := len(want) - 1
		if slices.Equal(t.words[i:i+last], want[:last]) && sameWord(t.words[i+last], want[last]) {
			return true
		}
	}
	return false
}

// sameWord reports whether what stands in a text is a word.
func sameWord(there, word string) bool {
	rest, ok := strings.CutPrefix(there, word)
	switch {
	case !ok:
		return false
	case rest == "":
		return true
	case rest == "s" || rest == "es":
		return len(word) >= 4
	}
	return particles(rest, 3)
}

// particles reports whether nothing but Korean particles, n at most, follow a
// word.
func particles(rest string, n int) bool {
	if rest == "" {
		return true
	}
	if n == 0 {
		return false
	}
	for _, p := range koreanParticles {
		if more, ok := strings.CutPrefix(rest, p); ok && particles(more, n-1) {
			return true
		}
	}
	return false
}

// The particles that Korean writes together with the word before them. Those
// that words end with by chance too stand apart.
var (
	clearParticles = strings.Fields("은 는 을 를 에서 에게 에는 에서는 에게서 으로 으로는 부터 까지 하고 처럼 이라고 라고 입니다 이에요 예요 인데 이라는 라는 에 한테 께서 보다 마다 밖에 조차")
	doubtful       = strings.Fields("이 가 로 와 과 의 도 만 나 이나 랑 이랑 들 야 아 께 인 요 다 이다")

	koreanParticles = append(slices.Clone(clearParticles), doubtful...)
)

// idle are words that say nothing of what a conversation is about.
var idle = func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(`please help want need make like thanks thank yes okay tell show give write read look find use using used new one two thing things way time today tomorrow
		yesterday also maybe really good well know think see say said file files next first last much many still back work works
		해줘 해주세요 알려줘 알려주세요 주세요 해 좀 그 저 것 수 더 또 잘 안 못 다시 지금 오늘 내일 어제 그럼 네 예 아니 고마워 감사합니다 부탁해 하는 하고 있는 없는 싶어 싶어요 할까 할까요 어때 이거 그거 저거 우리 제가 내가 나는 저는 대한 대해 위해 위한 때 등 및 파일 작업`) {
		m[w] = true
	}
	return m
}()

// Telling returns the words that texts are about, those that most of them have
// first, n at most: with each word as it can be shown.
func Telling(texts []string, n int) []string {
	counts, there := map[string]int{}, map[string]bool{}
	var all [][]string
	for _, one := range texts {
		words := wordsOf(one, nil)
		all = append(all, words)
		for _, w := range words {
			there[w] = true
		}
	}
	first := map[string]int{}
	for i, words := range all {
		seen := map[string]bool{}
		for _, w := range words {
			w = plain(w, there)
			if seen[w] || !telling(w) {
				continue
			}
			seen[w] = true
			if counts[w]++; counts[w] == 1 {
				first[w] = i*10000 + len(seen)
			}
		}
	}
	out := make([]string, 0, len(counts))
	for w := range counts {
		out = append(out, w)
	}
	slices.SortFunc(out, func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(first[a], first[b]), strings.Compare(a, b))
	})
	return out[:min(n, len(out))]
}

// telling reports whether a word can say what a text is about.
func telling(word string) bool {
	n := utf8.RuneCountInString(word)
	r, _ := utf8.DecodeRuneInString(word)
	switch {
	case idle[word], n < 2, n > 40, !unicode.IsLetter(r), r < utf8.RuneSelf && n < 3:
		return false
	}
	return len(retrieval.Terms(word)) > 0
}

// plain takes the particles from a word: those that could belong to it only
// where the texts have it without them, or with others.
func plain(word string, there map[string]bool) string {
	for _, p := range clearParticles {
		if stem, ok := strings.CutSuffix(word, p); ok && utf8.RuneCountInString(stem) >= 2 && hangul(stem) {
			return stem
		}
	}
	for _, p := range doubtful {
		stem, ok := strings.CutSuffix(word, p)
		if !ok || utf8.RuneCountInString(stem) < 2 {
			continue
		}
		if there[stem] {
			return stem
		}
		for _, other := range clearParticles {
			if there[stem+other] {
				return stem
			}
		}
	}
	return word
}

// hangul reports whether particles can stand behind a word: they follow names of
// other scripts too, but one letter of them is no word.
func hangul(stem string) bool {
	r, _ := utf8.DecodeLastRuneInString(stem)
	return r >= 0xAC00 && r <= 0xD7A3 || r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r))
}
