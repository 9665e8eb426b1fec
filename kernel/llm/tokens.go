package llm

import (
	"unicode"
	"unicode/utf8"
)

// Tokens estimates how many tokens text is. It counts as the tokenizers of
// today cut: words of Latin letters by their length and their capitals, three
// digits at once, signs in pairs, and one for each character of the scripts that
// have no letters of Latin. It is meant to be a little too much rather than too
// little, and costs no memory; what a provider has counted is better.
func Tokens(text string) int {
	n := 0
	for i := 0; i < len(text); {
		kind, end := piece(text, i)
		size := end - i
		switch kind {
		case pieceWord:
			n += 1 + max(0, size-wholeWord+letters-1)/letters
		case pieceDigits:
			n += (size + 2) / 3
		case pieceSigns:
			n += (size + 1) / 2
		case pieceSpaces:
			if size > 1 || text[i] != ' ' { // one space belongs to the word behind it
				n++
			}
		case pieceAlphabet:
			n += (size + 3) / 4 // letters of two bytes
		case pieceOther:
			r, _ := utf8.DecodeRuneInString(text[i:])
			if n++; size == 4 || size == 3 && !unicode.IsLetter(r) {
				n++ // pictures, and signs that are seldom
			}
		}
		i = end
	}
	return n
}

// How long a word is that is one token, and how many letters each further token
// of a longer one has.
const (
	wholeWord = 8
	letters   = 4
)

// The pieces that a text is cut into.
const (
	pieceWord     = iota // of ASCII, with one case
	pieceDigits          // of ASCII
	pieceSigns           // of ASCII
	pieceSpaces          // of ASCII
	pieceAlphabet        // Greek, Cyrillic, Latin with accents: two bytes a letter
	pieceOther           // one character
)

// piece returns the piece of text that begins at i.
func piece(text string, i int) (kind, end int) {
	first := text[i]
	if first < utf8.RuneSelf {
		kind = kindOf(first)
		for end = i + 1; end < len(text) && text[end] < utf8.RuneSelf && kindOf(text[end]) == kind; end++ {
			if kind == pieceWord && upper(text[end]) && !upper(text[end-1]) {
				break
			}
		}
		return kind, end
	}
	_, size := utf8.DecodeRuneInString(text[i:])
	end = i + size
	if size != 2 {
		return pieceOther, end
	}
	for end < len(text) {
		if _, size = utf8.DecodeRuneInString(text[end:]); size != 2 {
			break
		}
		end += size
	}
	return pieceAlphabet, end
}

func upper(c byte) bool { return c >= 'A' && c <= 'Z' }

func kindOf(c byte) int {
	switch {
	case c >= 'a' && c <= 'z', upper(c):
		return pieceWord
	case c >= '0' && c <= '9':
		return pieceDigits
	case c == ' ', c == '\n', c == '\t', c == '\r':
		return pieceSpaces
	}
	return pieceSigns
}
