package knowledge

import (
	"net/url"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Heading is one heading of a note.
type Heading struct {
	Level int    `json:"level"` // 1 to 6
	Text  string `json:"text"`
	Line  int    `json:"line"` // from 1
}

// Link is one link from a note to a file of the vault.
type Link struct {
	Target   string `json:"target"`             // what it names, as written, without % escapes
	Fragment string `json:"fragment,omitempty"` // after the #: a heading, or ^block
	Alias    string `json:"alias,omitempty"`    // what a [[link|alias]] shows
	Markdown bool   `json:"markdown,omitempty"` // [text](path) rather than [[name]]
	Embed    bool   `json:"embed,omitempty"`
	Line     int    `json:"line"`         // from 1
	To       string `json:"to,omitempty"` // the path it leads to, "" when there is none

	start, end int  // the bytes of the target in the text
	angle      bool // the target stands in < >
	escaped    bool // letters beyond ASCII are written with %
	key        string
}

// Task is one item of a list with a box.
type Task struct {
	Path string   `json:"path"`
	Line int      `json:"line"` // from 1
	Text string   `json:"text"`
	Done bool     `json:"done"`
	Mark string   `json:"mark"`          // what stands in the box: " ", "x", or another sign
	Due  string   `json:"due,omitempty"` // YYYY-MM-DD after 📅 or in [due:: ]
	Tags []string `json:"tags,omitempty"`
}

// outline is what stands in a text, apart from its words.
type outline struct {
	headings []Heading
	links    []Link
	tags     []string
	tasks    []Task
}

// scanner reads markdown line by line. It knows as much of CommonMark and of
// Obsidian's additions as decides whether something is a link or code; a full
// parser takes twenty times as long, and a vault has ten thousand notes.
type scanner struct {
	text string
	out  outline

	fence    string // the run that opened the code block, "" outside
	fenceIn  int    // how many > stand before the block
	list     bool   // inside a list, where an indent is no code
	blank    bool   // the line before was empty
	code     bool   // the line before was indented code
	skip     int    // inline code reaches to here
	paraEnd  int    // where the paragraph ends, once it was looked for
	noCloser map[int]bool

	record bool     // note where code stands
	codes  [][2]int // code, from and to
}

// scan reads the outline of a text without BOM.
func scan(text string) outline {
	s := scanner{text: text, blank: true}
	s.all()
	return s.out
}

func (s *scanner) all() {
	text := s.text
	line, at := 1, 0
	if _, rest := frontmatterOf(text); rest > 0 {
		line += s.frontmatter(rest)
		at = rest
	}
	for at < len(text) {
		end := strings.IndexByte(text[at:], '\n')
		next := at + end + 1
		if end < 0 {
			next, end = len(text), len(text)-at
		}
		s.line(at, at+end, line)
		at = next
		line++
	}
}

// frontmatter finds the links in it: strings that are a [[link]] as a whole.
// It returns the number of its lines.
func (s *scanner) frontmatter(rest int) int {
	line, at := 0, 0
	for l := range strings.Lines(s.text[:rest]) {
		line++
		for i := 0; ; {
			j := strings.Index(l[i:], "[[")
			if j < 0 {
				break
			}
			i += j + 2
			end := strings.Index(l[i:], "]]")
			if end < 0 {
				break
			}
			after := i + end + 2
			if i >= 3 && after < len(l) && (l[i-3] == '"' || l[i-3] == '\'') && l[after] == l[i-3] {
				s.wiki(at+i, at+i+end, line, false)
			}
			i = after
		}
		at += len(l)
	}
	return line
}

func (s *scanner) line(from, to, number int) {
	if to > from && s.text[to-1] == '\r' {
		to--
	}
	at, quotes, indent := prefix(s.text, from, to)
	rest := s.text[at:to]
	if s.fence != "" {
		if quotes < s.fenceIn { // the quote that the block stands in has ended
			s.fence = ""
		} else {
			run := fenceRun(rest)
			if len(run) >= len(s.fence) && run[0] == s.fence[0] && strings.TrimSpace(rest[len(run):]) == "" {
				s.fence = ""
				s.blank = true
			}
			s.isCode(from, to)
			return
		}
	}
	if rest == "" {
		s.blank, s.paraEnd, s.noCloser = true, 0, nil
		return
	}
	wasBlank := s.blank
	s.blank = false
	if from < s.skip && to <= s.skip { // inside inline code over several lines
		return
	}
	item := listMarker(rest)
	if indent >= 4 && item == 0 && !s.list && (wasBlank || s.code) {
		s.code = true
		s.isCode(from, to)
		return
	}
	s.code = false
	switch {
	case item > 0:
		s.list = true
		s.paraEnd, s.noCloser = 0, nil
	case indent == 0 && wasBlank:
		s.list = false
	}
	if run := fenceRun(rest[item:]); run != "" && (run[0] == '~' || !strings.Contains(rest[item+len(run):], "`")) {
		s.fence, s.fenceIn = run, quotes
		s.paraEnd, s.noCloser = 0, nil
		return
	}
	if n := headingLevel(rest); n > 0 {
		s.paraEnd, s.noCloser = 0, nil
		s.out.headings = append(s.out.headings, Heading{n, strings.TrimSpace(strings.TrimRight(strings.TrimSpace(rest[n:]), "#")), number})
	} else if item > 0 && len(rest) > item+3 && rest[item] == '[' && rest[item+2] == ']' && (rest[item+3] == ' ' || rest[item+3] == '\t') {
		s.task(rest[item+1:], number)
		item += 3
	} else if rest[0] == '[' {
		if dest := definition(rest); dest > 0 {
			s.destination(at+dest, to, number, false)
			return
		}
	}
	s.inline(max(at+item, s.skip), to, number)
}

// prefix passes the indent and the > of quotes.
func prefix(text string, from, to int) (at, quotes, indent int) {
	for at = from; at < to; at++ {
		switch text[at] {
		case ' ':
			indent++
		case '\t':
			indent += 4
		case '>':
			if indent >= 4 {
				return at, quotes, indent
			}
			quotes++
			indent = 0
			if at+1 < to && text[at+1] == ' ' {
				at++
			}
		default:
			return at, quotes, indent
		}
	}
	return at, quotes, indent
}

func fenceRun(s string) string {
	n := 0
	for n < len(s) && s[n] == s[0] {
		n++
	}
	if n >= 3 && (s[0] == '`' || s[0] == '~') {
		return s[:n]
	}
	return ""
}

// listMarker returns the length of "- ", "3. " and their like, 0 where there is none.
func listMarker(s string) int {
	i := 0
	for i < len(s) && i < 9 && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	if i > 0 {
		if i >= len(s) || s[i] != '.' && s[i] != ')' {
			return 0
		}
	} else if s == "" || s[0] != '-' && s[0] != '*' && s[0] != '+' {
		return 0
	}
	i++
	if i >= len(s) || s[i] != ' ' && s[i] != '\t' {
		return 0
	}
	for i < len(s) && (s[i] == ' ' || s[i] == '\t') {
		i++
	}
	return i
}

func headingLevel(s string) int {
	n := 0
	for n < len(s) && s[n] == '#' {
		n++
	}
	if n == 0 || n > 6 || n < len(s) && s[n] != ' ' && s[n] != '\t' {
		return 0
	}
	return n
}

// definition returns where the destination of a "[name]: destination" begins.
// A footnote, [^1]:, is none.
func definition(s string) int {
	end := strings.Index(s, "]:")
	if end < 2 || s[1] == '^' || strings.ContainsAny(s[1:end], "[]") {
		return 0
	}
	at := end + 2
	for at < len(s) && (s[at] == ' ' || s[at] == '\t') {
		at++
	}
	if at == len(s) {
		return 0
	}
	return at
}

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
		case '<':
			if end := strings.IndexByte(s.text[i:to], '>'); end > 0 && strings.Contains(s.text[i:i+end], "://") {
				i += end
			}
		}
	}
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
	s.out.links = append(s.out.links, Link{Target: trimmed, Fragment: fragment, Alias: alias, Embed: embed, Line: number,
		start: from, end: from + len(trimmed), key: keyOf(trimmed)})
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
	s.out.links = append(s.out.links, Link{Target: decoded, Fragment: unescape(fragment), Markdown: true, Embed: embed, Line: number,
		start: from, end: from + len(target), angle: angle, escaped: strings.Contains(target, "%E") || strings.Contains(target, "%e"), key: keyOf(path.Clean(decoded))})
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
