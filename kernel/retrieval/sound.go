package retrieval

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// sounds finds words of the Latin script by how they are written in Hangul: Korean takes names and loanwords over by their
// sound (슬랙 is Slack, 파이프라인 a pipeline), so that a Korean request has no letter of the word that it means. Consonants
// that one language tells apart and the other does not are one class here. Vowels only rank what has the same consonants.
type sounds struct {
	words map[string][]spoken // by their consonants
	known map[string]bool
}

type spoken struct {
	word string
	full string // with its vowels
}

// The words that are compared: shorter ones, and fewer consonants than two, are alike by chance.
const (
	leastSpoken     = 3
	leastConsonants = 2
)

// likeSounds is from which likeness on two words are one: the fewer consonants, the more.
func likeSounds(consonants int) float32 {
	switch consonants {
	case 2:
		return 0.8
	case 3:
		return 0.75
	}
	return 0.65
}

// A beginning of a word that no particle follows is a word only if it is long and sounds much alike.
const (
	compoundConsonants = 3
	compoundLike       = 0.85
)

// oneSyllable is how much a word of one syllable must sound alike: most of them are words of the language.
const oneSyllable = 0.95

// particles follow a noun and are written together with it; so does the verb "to do", in the forms of a request.
var particles = strings.Fields("에서 에게 한테 으로 까지 부터 이랑 하고 에서만 에도 에는 에 를 을 이 가 은 는 로 와 과 랑 도 만 의 들 들을 " +
	"해줘 해 해서 하고 할 하는 해봐 하자 됐 되는 된 시켜줘 해주세요 해주라")

// add has the words of a text be found.
func (s *sounds) add(text string) {
	if s.words == nil {
		s.words, s.known = map[string][]spoken{}, map[string]bool{}
	}
	eachWord(text, func(word string, pairs bool) {
		if pairs || s.known[word] || len(word) < leastSpoken || stops[word] || strings.IndexFunc(word, func(r rune) bool { return r < 'a' || r > 'z' }) >= 0 {
			return
		}
		s.known[word] = true
		for _, full := range soundsOfLatin(word) {
			if key := consonantsOf(full); len(key) >= leastConsonants {
				s.words[key] = append(s.words[key], spoken{word, full})
			}
		}
	})
}

// of returns the stems of the words that a Korean word can be by its sound, each once. Names are written together, so that
// what stands behind one is looked at too.
func (s *sounds) of(word string) (stems []string) {
	if len(s.words) == 0 || koreanStop(word) {
		return nil
	}
	for word != "" {
		found, size := s.beginning(word)
		if size == 0 {
			return stems
		}
		for _, w := range found {
			if stem := stemOf(w); stem != "" && !slices.Contains(stems, stem) {
				stems = append(stems, stem)
			}
		}
		word = word[size:]
	}
	return stems
}

// beginning returns the words that a Korean word, or the longest beginning of it, sounds like, and the bytes of that.
func (s *sounds) beginning(word string) (found []string, size int) {
	known := everyday().startsWith(word) != nil || ofServers().startsWith(word) != nil // a word of the language, as far as anybody knows
	var full []byte
	consonants, best := 0, float32(0)
	n := 0
	for at, r := range word {
		if r < 0xAC00 || r > 0xD7A3 {
			break
		}
		full = appendSyllable(full, r)
		n++
		end := at + utf8.RuneLen(r)
		sound := strings.TrimSuffix(string(full), "i")
		if len(sound) == 0 || coarse(sound[len(sound)-1]) != 'S' { // an i behind what hisses is not of the word
			sound = string(full)
		}
		key := consonantsOf(sound)
		whole := end == len(word) || slices.Contains(particles, word[end:])
		if n == 1 && (known || !whole) || known && (len(key) <= leastConsonants || !whole) || !whole && len(key) < compoundConsonants {
			continue
		}
		for _, w := range s.words[key] {
			like := likeness(sound, w.full)
			if n == 1 && like < oneSyllable || like < likeSounds(len(key)) || !whole && like < compoundLike || len(key) < consonants || len(key) == consonants && like < best {
				continue
			}
			if len(key) > consonants || like > best {
				found = found[:0]
			}
			consonants, best, size = len(key), like, end
			found = append(found, w.word)
		}
	}
	return found, size
}

// coarse is the class of a consonant, which Korean and English do not divide alike.
func coarse(c byte) byte {
	switch c {
	case 'B':
		return 'P'
	case 'D':
		return 'T'
	case 'G':
		return 'K'
	case 'J', 'C':
		return 'S'
	}
	return c
}

// consonantsOf are the classes of consonants, and whether a vowel begins.
func consonantsOf(full string) string {
	var b strings.Builder
	for i := range len(full) {
		if c := coarse(full[i]); 'A' <= c && c <= 'Z' {
			b.WriteByte(c)
		} else if i == 0 {
			b.WriteByte('a')
		}
	}
	return b.String()
}

// likeness compares two words that have the same consonants: 1 is alike. Another vowel is half as far as one too many.
func likeness(a, b string) float32 {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = 2 * j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = 2 * (i + 1)
		for j := range len(b) {
			cost := diagonal
			switch {
			case a[i] == b[j]:
			case a[i] >= 'a' && b[j] >= 'a', coarse(a[i]) == coarse(b[j]):
				cost++
			default:
				cost += 2
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+2, row[j+1]+2)
		}
	}
	return 1 - float32(row[len(b)])/float32(2*max(len(a), len(b), 1))
}

// The consonants: what is written with capitals of the same class is one sound for the search, and ranks lower. A point is
// silent.
const (
	onsets = "GKNDDLMBBSS.JJCKTPH"
	codas  = ".KKKNNNTLKMPLLPLMPPTTNSSKTPH"
)

var hangulVowels = strings.Fields("a e ia ie o e io ie o ua ue ue io u uo ue ui iu . i i")

// appendSyllable adds a syllable of Hangul.
func appendSyllable(full []byte, r rune) []byte {
	i := int(r - 0xAC00)
	full = appendConsonant(full, onsets[i/588])
	if v := hangulVowels[i%588/28]; v != "." {
		full = append(full, v...)
	}
	return appendConsonant(full, codas[i%28])
}

func appendConsonant(full []byte, c byte) []byte {
	if c == '.' || len(full) > 0 && coarse(full[len(full)-1]) == coarse(c) {
		return full
	}
	return append(full, c)
}

// soundsOfLatin are how a word in lower case may sound, in classes of consonants and with the vowels as they are written.
func soundsOfLatin(word string) []string {
	out := []string{soundOf(word, false)}
	if other := soundOf(word, true); other != out[0] {
		out = append(out, other)
	}
	return out
}

// soundOf is one way to say a word. The other way is the rarer one of g before e and i, of th, and of a first letter that
// is said by its name.
func soundOf(word string, otherWay bool) string {
	if n := len(word); n > leastSpoken && word[n-1] == 's' && word[n-2] != 's' {
		word = word[:n-1]
	}
	silent, long := false, -1 // whether an e behind is silent, and the vowel that it makes long
	if n := len(word); n > leastSpoken && word[n-1] == 'e' && !isVowel(word[n-2]) {
		word, silent = word[:n-1], true
		if n := len(word); isVowel(word[n-2]) && !otherWay {
			long = n - 2
		}
	}
	var full []byte
	for i := 0; i < len(word); {
		rest := word[i:]
		next := byte(0)
		if len(rest) > 1 {
			next = rest[1]
		}
		soft := next == 0 && silent || next == 'e' || next == 'i' || next == 'y'
		sound, size := classOf[rest[0]], 1
		switch c := rest[0]; {
		case strings.HasPrefix(rest, "tion"), strings.HasPrefix(rest, "sion"):
			full = append(appendConsonant(full, 'S'), "io"...)
			sound, size = 'N', 4
		case rest == "tur" || strings.HasPrefix(rest, "ture"):
			full = append(appendConsonant(full, 'C'), 'o')
			sound, size = '.', len("tur")
		case strings.HasPrefix(rest, "tch"):
			sound, size = 'C', 3
		case strings.HasPrefix(rest, "ph"):
			sound, size = 'P', 2
		case strings.HasPrefix(rest, "th") && !otherWay, strings.HasPrefix(rest, "sh"):
			sound, size = 'S', 2
		case strings.HasPrefix(rest, "ch"):
			sound, size = 'C', 2
		case strings.HasPrefix(rest, "ng") && (len(rest) == 2 || !isVowel(rest[2])):
			sound, size = 'N', 2
		case strings.HasPrefix(rest, "gh") && i > 0:
			sound, size = '.', 2
		case strings.HasPrefix(rest, "qu"):
			full = append(appendConsonant(full, 'K'), 'u')
			sound, size = '.', 2
		case c == 'c' && soft:
			sound = 'S'
		case c == 'g' && soft && !otherWay, c == 'g' && i == 0 && otherWay && next == 'm':
			sound = 'J'
		case c == 'x':
			full = appendConsonant(full, 'K')
			sound = 'S'
		case (c == 'r' || c == 'h') && (next == 0 || !isVowel(next)):
			sound = '.'
		}
		switch {
		case sound != 0:
			full = appendConsonant(full, sound)
		case i == long && rest[0] == 'a':
			full = append(full, "ei"...)
		case i == long && rest[0] == 'i':
			full = append(full, "ai"...)
		case strings.HasPrefix(rest, "oo"):
			full, size = append(full, 'u'), 2
		case strings.HasPrefix(rest, "ee"), strings.HasPrefix(rest, "ea") && !otherWay:
			full, size = append(full, 'i'), 2
		case rest[0] == 'y':
			full = append(full, 'i')
		case rest[0] == 'w':
			full = append(full, 'u')
		default:
			full = append(full, rest[0])
		}
		i += size
	}
	return string(full)
}

func isVowel(c byte) bool { return strings.IndexByte("aeiouyw", c) >= 0 }

// classOf says of each consonant how it sounds; 0 is a vowel.
var classOf = [256]byte{
	'b': 'B', 'c': 'K', 'd': 'D', 'f': 'P', 'g': 'G', 'h': 'H', 'j': 'J', 'k': 'K', 'l': 'L', 'm': 'M', 'n': 'N', 'p': 'P', 'q': 'K', 'r': 'L',
	's': 'S', 't': 'T', 'v': 'B', 'x': 'S', 'z': 'J',
}
