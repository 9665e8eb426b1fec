package knowledge

import (
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// textCache keeps the texts that searches showed last, as they were indexed.
type textCache struct {
	mu   sync.Mutex
	all  map[*file][2]string
	size int
}

// maxTexts bounds it, in bytes.
const maxTexts = 16 * mega

func (c *textCache) drop(f *file) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t, ok := c.all[f]; ok {
		c.size -= len(t[0]) * 2
		delete(c.all, f)
	}
}

func (c *textCache) get(f *file) ([2]string, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t, ok := c.all[f]
	return t, ok
}

func (c *textCache) keep(f *file, t [2]string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all == nil || c.size > maxTexts {
		c.all, c.size = map[*file][2]string{}, 0
	}
	c.all[f] = t
	c.size += len(t[0]) * 2
}

// text returns the text of a note in NFC and the same in lower case, both ""
// when it cannot be read now.
func (v *Vault) text(f *file) (body, low string) {
	if t, ok := v.texts.get(f); ok {
		return t[0], t[1]
	}
	raw, _, err := v.bytes(f.disk, maxNote)
	if err != nil {
		return "", ""
	}
	text, _, _ := decode(raw)
	body = norm.NFC.String(string(text))
	low = strings.ToLower(body)
	v.texts.keep(f, [2]string{body, low})
	return body, low
}

// snippet finds the line that shows most of the query, and where; in a passage if
// there is one.
func snippet(body, low string, q query, in passage) (line string, number int, marks [][2]int) {
	if in.to > 0 && len(body) == len(low) {
		line, number, marks = snippet(body[in.from:in.to], low[in.from:in.to], q, passage{})
		if number > 0 {
			number += strings.Count(low[:in.from], "\n")
		}
		return line, number, marks
	}
	// A line with the rare words shows more than one with many that stand everywhere.
	var needles []string
	var worth []float32
	for _, p := range q.phrases {
		needles, worth = append(needles, p), append(worth, phraseWorth)
	}
	for i := range q.clauses {
		c := &q.clauses[i]
		if len(q.phrases) > 0 && strings.Contains(q.phrases[0], c.needle) {
			continue
		}
		found := c.needles(low)
		needles = append(needles, found...)
		for range found {
			worth = append(worth, c.each(len(found)))
		}
	}
	_, rest := frontmatterOf(low)
	best, bestAt := float32(0), -1
	seen := map[int]bool{}
	for _, needle := range needles {
		at := rest
		for range 16 {
			i := strings.Index(low[at:], needle)
			if i < 0 {
				break
			}
			at += i
			from := strings.LastIndexByte(low[:at], '\n') + 1
			to := endOfLine(low, at)
			if !seen[from] {
				seen[from] = true
				n := float32(0)
				for j, other := range needles {
					if strings.Contains(low[from:to], other) {
						n += worth[j]
					}
				}
				if n > best {
					best, bestAt = n, from
				}
			}
			at = to
		}
	}
	if bestAt < 0 || len(body) != len(low) { // a letter whose small form is longer: no offsets then
		return firstLine(body), 0, nil
	}
	to := endOfLine(low, bestAt)
	first := to
	for _, needle := range needles {
		if i := strings.Index(low[bestAt:to], needle); i >= 0 {
			first = min(first, bestAt+i)
		}
	}
	from, to := window(body, bestAt, to, first)
	line = body[from:to]
	for _, needle := range needles {
		for at := from; ; {
			i := strings.Index(low[at:to], needle)
			if i < 0 {
				break
			}
			marks = append(marks, [2]int{at + i - from, at + i + len(needle) - from})
			at += i + len(needle)
		}
	}
	return line, 1 + strings.Count(low[:bestAt], "\n"), merge(marks)
}

// phraseWorth is what a phrase is worth in a snippet: more than its words.
const phraseWorth = 100

// each is what one of so many needles of a clause is worth.
func (c *clause) each(n int) float32 {
	sum := c.openWorth
	for _, w := range c.worth {
		sum += w
	}
	return sum / float32(n)
}

// needles are what of a clause stands in a text: the word, what it grew to, or
// its pairs.
func (c *clause) needles(low string) []string {
	if strings.Contains(low, c.needle) {
		return []string{c.needle}
	}
	var out []string
	for _, e := range c.exact {
		if strings.Contains(low, string(e)) {
			out = append(out, string(e))
		}
	}
	if c.lo != 0 && c.hi-c.lo < 30 {
		for r := c.lo; r <= c.hi; r++ {
			if s := c.prefix + string(r); strings.Contains(low, s) {
				out = append(out, s)
			}
		}
	}
	return out
}

func endOfLine(s string, at int) int {
	if i := strings.IndexByte(s[at:], '\n'); i >= 0 {
		return at + i
	}
	return len(s)
}

func firstLine(body string) string {
	_, rest := frontmatterOf(body)
	for line := range strings.Lines(body[rest:]) {
		if line = strings.TrimSpace(line); line != "" {
			return cut(line, 0)
		}
	}
	return ""
}

// maxSnippet is the length of a snippet in bytes.
const maxSnippet = 200

// window returns the part of a line that is shown, with the place at in it, cut
// at letters.
func window(s string, from, to, at int) (int, int) {
	for from < to && isSpace(s[from]) {
		from++
	}
	for to > from && (isSpace(s[to-1]) || s[to-1] == '\r') {
		to--
	}
	if to-from <= maxSnippet {
		return from, to
	}
	if at-from > maxSnippet/3 {
		from = at - maxSnippet/3
		for from < at && !utf8.RuneStart(s[from]) {
			from++
		}
	}
	if to-from > maxSnippet {
		to = from + maxSnippet
		for !utf8.RuneStart(s[to]) {
			to--
		}
	}
	return from, to
}

// cut shortens a line to what stands around a place.
func cut(line string, at int) string {
	from, to := window(line, 0, len(line), min(max(at, 0), len(line)))
	return strings.Clone(line[from:to])
}

// merge orders marks and joins those that overlap.
func merge(marks [][2]int) [][2]int {
	for i := 1; i < len(marks); i++ { // few: insertion keeps it simple
		for j := i; j > 0 && (marks[j][0] < marks[j-1][0] || marks[j][0] == marks[j-1][0] && marks[j][1] > marks[j-1][1]); j-- {
			marks[j], marks[j-1] = marks[j-1], marks[j]
		}
	}
	out := marks[:0]
	for _, m := range marks {
		if n := len(out); n > 0 && m[0] <= out[n-1][1] {
			out[n-1][1] = max(out[n-1][1], m[1])
			continue
		}
		out = append(out, m)
	}
	return out
}
