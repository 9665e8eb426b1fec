package retrieval

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Passages cuts a text into parts of at most so many characters, each given as
// from and to in bytes; one that is no longer is one part. Parts end between
// paragraphs: a heading stays with the paragraph behind it, and small paragraphs
// stay together. A paragraph that is too long is cut behind a sentence, else
// between words, else wherever it is full. Together the parts are the whole text.
func Passages(text string, most int) [][2]int {
	var out [][2]int
	for from := 0; from < len(text); {
		// What does not end within so many bytes is too long in any script.
		near := text[:min(len(text), from+utf8.UTFMax*most+1)]
		to := from
		for to < len(near) {
			end := paragraphEnd(near, to)
			if end-from > most && utf8.RuneCountInString(near[from:end]) > most {
				break
			}
			to = end
		}
		if to == from {
			to += cutAt(near[from:], most)
		}
		out, from = append(out, [2]int{from, to}), to
	}
	return out
}

// paragraphEnd is where the paragraph that begins at a place ends, with the empty
// lines behind it.
func paragraphEnd(text string, at int) int {
	content, blank := false, false // a line that is no heading was seen; an empty one behind it
	for at < len(text) {
		next := len(text)
		if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
			next = at + i + 1
		}
		line := strings.TrimSpace(text[at:next])
		switch {
		case line == "":
			blank = content
		case blank, content && line[0] == '#':
			return at
		default:
			content = line[0] != '#'
		}
		at = next
	}
	return at
}

// cutAt is where a text of more than so many characters is cut: in its second
// half, if there is a place.
func cutAt(text string, most int) int {
	full, half, n := 0, 0, 0
	for full = range text {
		if n == most/2 {
			half = full
		}
		if n == most {
			break
		}
		n++
	}
	word := full
	for at := full; at > half; {
		r, size := utf8.DecodeLastRuneInString(text[:at])
		if unicode.IsSpace(r) {
			if before, _ := utf8.DecodeLastRuneInString(text[:at-size]); r == '\n' || strings.ContainsRune(".!?…。！？", before) {
				return at
			}
			if word == full {
				word = at
			}
		}
		at -= size
	}
	return word
}
