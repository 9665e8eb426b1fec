package skill

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// visible shows a text of a stranger: characters that are not seen, or that change
// how others are seen, stand there by their number, ⟨U+202E⟩.
func visible(text string) string {
	clean := utf8.ValidString(text) && !strings.ContainsFunc(text, unseen)
	if clean {
		return text
	}
	var b strings.Builder
	for i, r := range text {
		_, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, "⟨0x%02X⟩", text[i])
		case r == '\t':
			b.WriteByte(' ')
		case unseen(r):
			fmt.Fprintf(&b, "⟨U+%04X⟩", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// hiddenIn returns where in a line the first character is that hides something,
// or -1. What writing needs is nothing of that kind: joiners inside emoji and in
// the scripts that have them, marks of direction where a text has letters from
// right to left, and the flags of regions.
func hiddenIn(line string, rightToLeft bool) int {
	var before rune
	flag := false
	for i, r := range line {
		if r < 0x20 && r != '\t' && r != '\r' && r != '\f' || r == 0x7F {
			return i
		}
		if r >= 0x80 && (unseen(r) || r == utf8.RuneError && !strings.HasPrefix(line[i:], "\uFFFD")) {
			switch {
			case r == 0x200D && (emoji(before) || joins(before)), r == 0x200C && joins(before):
			case (r == 0x200E || r == 0x200F || r == 0x061C) && rightToLeft:
			case r >= 0xE0020 && r <= 0xE007F && flag:
			case unicode.Is(unicode.Co, r) && r < 0xF0000: // symbols of fonts, as in prompts of a terminal
			case r == utf8.RuneError: // another encoding, which is no trick
			case r == 0x180B || r == 0x180C || r == 0x180D || r == 0x180E || r == 0x180F:
				if !unicode.Is(unicode.Mongolian, before) {
					return i
				}
			case r == 0x00AD && unicode.IsLetter(before) && before >= 0x80: // a hyphen for the end of a line
			case (r == 0x115F || r == 0x1160) && hangulJamo(line[i+utf8.RuneLen(r):], before):
			default:
				return i
			}
		}
		if r == 0x1F3F4 {
			flag = true
		} else if r < 0xE0020 || r > 0xE007F {
			flag = false
		}
		before = r
	}
	return -1
}

func emoji(r rune) bool {
	return r == 0xFE0F || r >= 0x1F000 && r < 0x20000 || unicode.Is(unicode.So, r)
}

// joins reports whether a letter is of a script in which joiners shape letters.
func joins(r rune) bool {
	return unicode.In(r, unicode.Arabic, unicode.Syriac, unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya,
		unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Khmer, unicode.Myanmar, unicode.Mongolian)
}

// hangulJamo reports whether a filler stands in for a letter of old Korean.
func hangulJamo(after string, before rune) bool {
	next, _ := utf8.DecodeRuneInString(after)
	is := func(r rune) bool { return r >= 0x1100 && r <= 0x11FF }
	return is(before) || is(next)
}

// hasRightToLeft reports whether a text has letters that are written from right
// to left.
func hasRightToLeft(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool {
		return r >= 0x0590 && unicode.In(r, unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana)
	})
}
