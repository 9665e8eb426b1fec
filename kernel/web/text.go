package web

import (
	"bytes"
	"mime"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/korean"

	"oxios/kernel/sys"
)

// visible leaves out the characters that nobody sees and that carry text to a
// model all the same, or turn it around: zero-width and bidirectional marks,
// tags, the selectors and fillers that stand for nothing. Emoji lose their
// joiners, which is the lesser harm. Invalid UTF-8 is replaced.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t':
			return r
		case r == '\r', r == '\u2028', r == '\u2029', r == '\v', r == '\f', r == '\u0085':
			return '\n'
		case r == '\uFE0F': // asks for the coloured emoji; alone it says nothing
			return r
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Co, r), unicode.Is(unicode.Variation_Selector, r),
			r == '\u034F', r == '\u115F', r == '\u1160', r == '\u17B4', r == '\u17B5', r == '\u2800', r == '\u3164', r == '\uFFA0',
			r >= 0xE0000 && r <= 0xE0FFF, // tags and what Unicode keeps free beside them
			unicode.Is(unicode.Noncharacter_Code_Point, r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(strings.ReplaceAll(s, "\r\n", "\n"), "\uFFFD"))
}

// oneLine makes a title or a name of s: visible characters in one line, n bytes at most.
func oneLine(s string, n int) string {
	return sys.Shorten(strings.Join(strings.Fields(visible(s)), " "), n)
}

var xmlEncoding = sys.Pattern(`^\s*<\?xml[^>]{0,200}?encoding=["']([A-Za-z0-9._:-]+)["']`)

// decode makes UTF-8 of a text: by its first bytes, by what the server says, by
// what the text says of itself, and where nobody says anything, by what it looks like.
func decode(data []byte, contentType string) string {
	head := data[:min(len(data), 1024)]
	if m := xmlEncoding().FindSubmatch(head); m != nil && !strings.Contains(contentType, "charset") {
		if e, _ := charset.Lookup(string(m[1])); e != nil {
			return decodeAs(data, e)
		}
	}
	e, name, certain := charset.DetermineEncoding(head, contentType)
	if !certain {
		// Only the beginning was looked at, and it may be all ASCII.
		switch whole := bytes.TrimRightFunc(data, func(r rune) bool { return r == utf8.RuneError }); {
		case utf8.Valid(whole):
			return strings.ToValidUTF8(string(data), "\uFFFD")
		case name != "utf-8" && looksKorean(data):
			e = korean.EUCKR
		}
	}
	return decodeAs(data, e)
}

func decodeAs(data []byte, e encoding.Encoding) string {
	// A mark of the byte order stands above what was declared, as in browsers.
	for mark, name := range map[string]string{"\xEF\xBB\xBF": "utf-8", "\xFE\xFF": "utf-16be", "\xFF\xFE": "utf-16le"} {
		if bytes.HasPrefix(data, []byte(mark)) {
			e, _ = charset.Lookup(name)
			data = data[len(mark):]
			break
		}
	}
	text, err := e.NewDecoder().Bytes(data)
	if err != nil {
		text = data
	}
	return strings.ToValidUTF8(string(text), "\uFFFD")
}

// looksKorean reports whether bytes that declare nothing are Korean of before
// UTF-8: read so, their letters are those of Korean and nothing is wrong.
func looksKorean(data []byte) bool {
	sample := data[:min(len(data), 64<<10)]
	text, err := korean.EUCKR.NewDecoder().Bytes(sample)
	if err != nil {
		return false
	}
	var letters sys.Hangul
	letters.Add(strings.ReplaceAll(string(text), "\uFFFD", ""))
	return letters.Certain() && bytes.Count(text, []byte("\uFFFD")) <= 1 // the sample may end inside a character
}

// mediaType is the type that a server declared, in lower case without its
// parameters; "" when it declared none that says anything.
func mediaType(contentType string) string {
	t, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		t, _, _ = strings.Cut(contentType, ";")
		t = strings.ToLower(strings.TrimSpace(t))
	}
	if t == "application/octet-stream" || t == "binary/octet-stream" || !strings.Contains(t, "/") {
		return ""
	}
	return t
}

// part returns max characters of text from the one at from, and where to go
// on; 0 at the end. It ends at the end of a line where one is near.
func part(text string, from, max int) (piece string, total, next int) {
	runes := []rune(text)
	total = len(runes)
	if from >= total {
		return "", total, 0
	}
	end := min(from+max, total)
	if end < total {
		for i := end; i > end-max/5; i-- {
			if runes[i-1] == '\n' {
				end = i
				break
			}
		}
		next = end
	}
	return string(runes[from:end]), total, next
}
