package knowledge

import (
	"unicode"
	"unicode/utf8"
)

// maxWord is the length in bytes over which a run of letters is no word: a key,
// a picture in base64.
const maxWord = 64

const (
	firstSyllable = '가'
	lastSyllable  = '힣'
)

func isHangul(r rune) bool { return r >= firstSyllable && r <= lastSyllable }

// isJamo reports a single Hangul letter, as a keyboard sends it.
func isJamo(r rune) bool { return r >= 'ㄱ' && r <= 'ㅣ' }

// isIdeograph reports the letters of scripts without spaces.
func isIdeograph(r rune) bool {
	return r >= 0x3040 && r <= 0x30FF || r >= 0x3400 && r <= 0x9FFF || r >= 0xF900 && r <= 0xFAFF || r >= 0x20000 && r <= 0x3FFFF
}

// kind of a run of letters.
type kind uint8

const (
	apart  kind = iota // no letter
	latin              // one word
	hangul             // bigrams, and the word itself
	ideo               // bigrams
)

func kindOf(r rune) kind {
	switch {
	case isHangul(r) || isJamo(r):
		return hangul
	case isIdeograph(r):
		return ideo
	case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
		return latin
	}
	return apart
}

// runs cuts a text in NFC into runs of letters of one kind. What it gives to
// run is lower-cased and valid during the call only.
func runs(text []byte, run func(k kind, word []byte)) {
	var low [maxWord + utf8.UTFMax]byte
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf {
			if !asciiWord[c] {
				i++
				continue
			}
		}
		r, size := rune(c), 1
		if c >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(text[i:])
		}
		k := kindOf(r)
		if k == apart {
			i += size
			continue
		}
		if k != latin {
			from := i
			for i < len(text) {
				r, size = utf8.DecodeRune(text[i:])
				if kindOf(r) != k {
					break
				}
				i += size
			}
			run(k, text[from:i])
			continue
		}
		n := 0
		for i < len(text) {
			c := text[i]
			if c < utf8.RuneSelf {
				if !asciiWord[c] {
					break
				}
				if n < maxWord {
					low[n] = asciiLower[c]
				}
				n++
				i++
				continue
			}
			r, size := utf8.DecodeRune(text[i:])
			if kindOf(r) != latin {
				break
			}
			if n < maxWord {
				utf8.EncodeRune(low[n:], unicode.ToLower(r))
			}
			n += utf8.RuneLen(unicode.ToLower(r))
			i += size
		}
		if n <= maxWord {
			run(latin, low[:n])
		}
	}
}

var asciiWord, asciiLower = func() (word [256]bool, lower [256]byte) {
	for c := range 256 {
		word[c] = c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' && c < 128
		lower[c] = byte(c)
		if c >= 'A' && c <= 'Z' {
			lower[c] = byte(c) | 0x20
		}
	}
	return word, lower
}()

// terms are what the index knows a text by: words as they are; Hangul and
// ideographs as pairs of neighbours, so that a word is found inside another and
// before any particle; and a Hangul word of one syllable, or of three and more,
// as a whole.
func terms(text []byte, pair func(a, b rune, both []byte), term func([]byte)) {
	runs(text, func(k kind, word []byte) {
		if k == latin {
			term(word)
			return
		}
		n, prev := 0, 0
		var last rune
		for i := 0; i < len(word); {
			r, size := utf8.DecodeRune(word[i:])
			if n > 0 {
				pair(last, r, word[prev:i+size])
			}
			prev, last = i, r
			i += size
			n++
		}
		if n == 1 || n > 2 && k == hangul && len(word) <= maxWord {
			term(word)
		}
	})
}

// The 19 letters that begin a syllable, as a keyboard writes them.
var initials = []rune("ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ")

var initialOf = func() map[rune]int {
	m := map[rune]int{}
	for i, r := range initials {
		m[r] = i
	}
	return m
}()

// pairs are the letters that a keyboard makes of two initials typed in a row.
var pairs = map[rune]string{'ㄳ': "ㄱㅅ", 'ㄵ': "ㄴㅈ", 'ㄶ': "ㄴㅎ", 'ㄺ': "ㄹㄱ", 'ㄻ': "ㄹㅁ", 'ㄼ': "ㄹㅂ", 'ㄽ': "ㄹㅅ", 'ㄾ': "ㄹㅌ", 'ㄿ': "ㄹㅍ", 'ㅀ': "ㄹㅎ", 'ㅄ': "ㅂㅅ"}

// unpair takes such letters apart again.
func unpair(s string) string {
	for _, r := range s {
		if _, ok := pairs[r]; ok {
			var out []rune
			for _, r := range s {
				if two, ok := pairs[r]; ok {
					out = append(out, []rune(two)...)
				} else {
					out = append(out, r)
				}
			}
			return string(out)
		}
	}
	return s
}

// grown returns the syllables that r may become while it is being typed: ㅎ any
// that begins with it, 하 also 한, 한 itself.
func grown(r rune) (from, to rune, ok bool) {
	if i, found := initialOf[r]; found {
		from = firstSyllable + rune(i)*588
		return from, from + 587, true
	}
	if !isHangul(r) {
		return r, r, false
	}
	if (r-firstSyllable)%28 == 0 {
		return r, r + 27, true
	}
	return r, r, true
}

// onlyInitials reports whether a query is typed in initials: ㅎㅋㄴㅅ.
func onlyInitials(s string) bool {
	found := false
	for _, r := range s {
		if _, ok := initialOf[r]; !ok && r != ' ' {
			return false
		}
		found = found || r != ' '
	}
	return found
}
