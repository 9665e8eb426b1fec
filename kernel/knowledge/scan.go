package knowledge

import (
	"strings"
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
	skip     int    // inline code, a formula or a comment reaches to here
	paraEnd  int    // where the paragraph ends, once it was looked for
	noCloser map[int]bool

	noFormula, noComment bool // nothing behind here closes one

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
