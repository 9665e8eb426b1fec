package knowledge

import (
	"net/url"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

func (s *scanner) inline(at, to, number int) {
	depth := 0 // of [ that are open
	embed := 0 // of them, those with a ! before
	for i := at; i < to; i++ {
		switch s.text[i] {
		case '\\':
			i++
		case '`':
			if i = s.inlineCode(i) - 1; i >= to {
				return
			}
		case '[':
			if i+1 < to && s.text[i+1] == '[' {
				if end := strings.Index(s.text[i+2:to], "]]"); end >= 0 && !strings.Contains(s.text[i+2:i+2+end], "[[") {
					s.wiki(i+2, i+2+end, number, i > at && s.text[i-1] == '!')
					i += end + 3
					continue
				}
			}
			depth++
			if i > at && s.text[i-1] == '!' {
				embed = depth
			}
		case ']':
			if depth == 0 {
				continue
			}
			if i+1 < to && s.text[i+1] == '(' {
				if end := s.destination(i+2, to, number, embed == depth); end > 0 {
					i = end
				}
			}
			if embed == depth {
				embed = 0
			}
			depth--
		case '#':
			if i == at || isSpace(s.text[i-1]) || s.text[i-1] == '(' || s.text[i-1] == ',' {
				if n := tagLength(s.text[i+1 : to]); n > 0 {
					s.out.tags = append(s.out.tags, s.text[i+1:i+1+n])
					i += n
				}
			}
		case '$':
			if end := s.formula(i, at, to); end > 0 {
				i = end - 1
			}
		case '<':
			if end := s.element(i, to); end > 0 {
				i = end - 1
			}
		}
	}
}

// formula returns where the formula ends that begins at i, 0 where none does.
// Inside there are no links and tags: A = [[1,2],[3,4]].
func (s *scanner) formula(i, lineStart, to int) int {
	if i+1 < to && s.text[i+1] == '$' {
		limit := to
		if strings.TrimSpace(s.text[lineStart:i]) == "" { // a block of its own
			limit = len(s.text)
		}
		if s.noFormula && limit > to {
			return i + 2
		}
		end := strings.Index(s.text[i+2:limit], "$$")
		if end < 0 {
			s.noFormula = s.noFormula || limit > to
			return i + 2
		}
		return s.over(i, i+2+end+2)
	}
	if i+1 >= to || isSpace(s.text[i+1]) {
		return 0
	}
	for j := i + 1; j < to; j++ {
		switch {
		case s.text[j] == '\\':
			j++
		case s.text[j] == '$' && !isSpace(s.text[j-1]) && (j+1 >= to || s.text[j+1] < '0' || s.text[j+1] > '9'): // else it is money
			return s.over(i, j+1)
		}
	}
	return 0
}

// element returns where the address in < >, the tag or the comment of HTML ends
// that begins at i, 0 where none does.
func (s *scanner) element(i, to int) int {
	if strings.HasPrefix(s.text[i:to], "<!--") {
		if s.noComment {
			return 0
		}
		end := strings.Index(s.text[i+4:], "-->")
		if end < 0 {
			s.noComment = true
			return 0
		}
		return s.over(i, i+4+end+3)
	}
	end := strings.IndexByte(s.text[i:to], '>')
	if end <= 0 {
		return 0
	}
	inside := strings.TrimPrefix(s.text[i+1:i+end], "/")
	name := strings.TrimLeft(strings.ToLower(inside), "abcdefghijklmnopqrstuvwxyz0123456789-")
	tag := len(name) < len(inside) && (name == "" || isSpace(name[0]) || name[0] == '/')
	if tag || strings.Contains(inside, "://") {
		return i + end + 1
	}
	return 0
}

// over passes what holds no links and tags, over several lines too.
func (s *scanner) over(from, to int) int {
	s.skip = max(s.skip, to)
	s.isCode(from, to)
	return to
}

func isSpace(b byte) bool { return b == ' ' || b == '\t' || b == '\n' }

// inlineCode returns where the code ends that begins at i, or the end of the run
// of ` where nothing closes it.
func (s *scanner) inlineCode(i int) int {
	n := runLength(s.text, i)
	if s.noCloser[n] {
		return i + n
	}
	if s.paraEnd <= i {
		s.paraEnd = s.endOfParagraph(i)
		s.noCloser = nil
	}
	for j := i + n; j < s.paraEnd; j++ {
		if s.text[j] == '`' {
			m := runLength(s.text, j)
			if m == n {
				s.skip = j + m
				s.isCode(i, j+m)
				return j + m
			}
			j += m - 1
		}
	}
	if s.noCloser == nil { // so that many runs without an end cost no more than one look each
		s.noCloser = map[int]bool{}
	}
	s.noCloser[n] = true
	return i + n
}

func (s *scanner) isCode(from, to int) {
	if s.record {
		s.codes = append(s.codes, [2]int{from, to})
	}
}

func runLength(text string, i int) int {
	n := i
	for n < len(text) && text[n] == text[i] {
		n++
	}
	return n - i
}

// endOfParagraph looks for the line that begins another block.
func (s *scanner) endOfParagraph(i int) int {
	for {
		nl := strings.IndexByte(s.text[i:], '\n')
		if nl < 0 {
			return len(s.text)
		}
		i += nl + 1
		end := strings.IndexByte(s.text[i:], '\n')
		if end < 0 {
			end = len(s.text) - i
		}
		at, _, _ := prefix(s.text, i, i+end)
		rest := strings.TrimRight(s.text[at:i+end], "\r")
		if rest == "" || fenceRun(rest) != "" || headingLevel(rest) > 0 || listMarker(rest) > 0 {
			return i
		}
	}
}

func tagLength(s string) int {
	letter := false
	for i, r := range s {
		switch {
		case r >= '0' && r <= '9' || r == '-' || r == '/':
		case r == '_' || unicode.IsLetter(r) || unicode.IsMark(r) || unicode.Is(unicode.So, r):
			letter = true
		case letter && (r == 0x200D || 0x1F3FB <= r && r <= 0x1F3FF || 0xE0020 <= r && r <= 0xE007F): // joins emoji, colours their skin, ends a flag
		default:
			if !letter {
				return 0
			}
			return i
		}
	}
	if !letter {
		return 0
	}
	return len(s)
}

// wiki adds the [[link]] whose inside stands between from and to.
func (s *scanner) wiki(from, to, number int, embed bool) {
	target, alias, _ := strings.Cut(s.text[from:to], "|")
	target = strings.TrimSuffix(target, `\`) // in a table the bar is escaped
	target, fragment, _ := strings.Cut(target, "#")
	trimmed := strings.TrimLeft(target, " ")
	from += len(target) - len(trimmed)
	trimmed = strings.TrimRight(trimmed, " ")
	if trimmed == "" || !utf8.ValidString(trimmed) {
		return // a heading of the same note
	}
	s.out.links = append(s.out.links, Link{
		Target: trimmed, Fragment: fragment, Alias: alias, Embed: embed, Line: number,
		start: from, end: from + len(trimmed), key: keyOf(trimmed),
	})
}

// destination adds the link whose destination begins at from, and returns where
// the destination ends, 0 where there is none.
func (s *scanner) destination(from, to, number int, embed bool) int {
	for from < to && isSpace(s.text[from]) {
		from++
	}
	end, angle := from, false
	if from < to && s.text[from] == '<' {
		angle = true
		from++
		n := strings.IndexByte(s.text[from:to], '>')
		if n < 0 {
			return 0
		}
		end = from + n
	} else {
		depth := 0
	loop:
		for ; end < to; end++ {
			switch c := s.text[end]; {
			case c == '\\':
				end++
			case c == '(':
				depth++
			case c == ')' && depth == 0, isSpace(c):
				break loop
			case c == ')':
				depth--
			}
		}
		end = min(end, to)
	}
	raw := s.text[from:end]
	target, fragment, _ := strings.Cut(raw, "#")
	if target == "" || strings.HasPrefix(target, "//") || hasScheme(target) {
		return end
	}
	decoded := unescape(target)
	if !utf8.ValidString(decoded) || strings.ContainsRune(decoded, 0) {
		return end
	}
	s.out.links = append(s.out.links, Link{
		Target: decoded, Fragment: unescape(fragment), Markdown: true, Embed: embed, Line: number,
		start: from, end: from + len(target), angle: angle, escaped: strings.Contains(target, "%E") || strings.Contains(target, "%e"), key: keyOf(path.Clean(decoded)),
	})
	return end
}

func hasScheme(s string) bool {
	i := strings.IndexAny(s, ":/?")
	if i < 2 || s[i] != ':' {
		return false
	}
	for _, c := range []byte(s[:i]) {
		if (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9') && c != '+' && c != '.' && c != '-' {
			return false
		}
	}
	return true
}

func unescape(s string) string {
	if strings.IndexByte(s, '\\') >= 0 {
		var b strings.Builder
		for i := 0; i < len(s); i++ {
			if s[i] == '\\' && i+1 < len(s) && s[i+1] < utf8.RuneSelf && unicode.IsPunct(rune(s[i+1])) {
				i++
			}
			b.WriteByte(s[i])
		}
		s = b.String()
	}
	if decoded, err := url.PathUnescape(s); err == nil {
		return decoded
	}
	return s
}

func (s *scanner) task(rest string, number int) {
	t := Task{Line: number, Mark: rest[:1], Done: rest[0] == 'x' || rest[0] == 'X', Text: strings.TrimSpace(rest[2:])}
	for _, sign := range []string{"📅", "[due::", "(due::"} {
		if _, after, ok := strings.Cut(t.Text, sign); ok {
			if after = strings.TrimSpace(after); len(after) >= 10 && after[4] == '-' && after[7] == '-' {
				t.Due = after[:10]
			}
		}
	}
	for word := range strings.FieldsSeq(t.Text) {
		if word[0] == '#' {
			if n := tagLength(word[1:]); n > 0 {
				t.Tags = append(t.Tags, word[1:1+n])
			}
		}
	}
	s.out.tasks = append(s.out.tasks, t)
}
