package knowledge

import (
	"bytes"
	"context"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Hit is one note that a search found.
type Hit struct {
	Path    string   `json:"path"`
	Title   string   `json:"title"`
	Snippet string   `json:"snippet,omitempty"` // the best line, of at most about 200 bytes
	Marks   [][2]int `json:"marks,omitempty"`   // what was found in Snippet: from, to in bytes
	Line    int      `json:"line,omitempty"`    // of the snippet, from 1; 0 when only the name matched
	Score   float64  `json:"score"`             // higher is better; compare within one search only
}

// query is what a person typed, taken apart.
type query struct {
	clauses []clause
	phrases []string // folded
	tags    []string // folded
	paths   []string // folded
}

// clause is one word of a query.
type clause struct {
	exact  [][]byte // terms as they are
	prefix string   // a term that may go on: what it begins with …
	lo, hi rune     // … and the range of the syllable after that, 0 for any letter
	need   int      // how many of the terms a note must have
	needle string   // what is marked in the snippet

	worth     []float32 // of each of the terms, once a search has looked
	openWorth float32   // of what the open end matches
}

func parse(text string) query {
	var q query
	text = norm.NFC.String(unpair(text))
	open := text != "" && !strings.HasSuffix(text, " ") && !strings.HasSuffix(text, `"`)
	var words []string
	for i, part := range strings.Split(text, `"`) {
		if i%2 == 1 {
			if p := strings.Join(strings.Fields(fold(part)), " "); p != "" {
				q.phrases = append(q.phrases, p)
				q.add(p, false, true)
			}
			continue
		}
		words = append(words, strings.Fields(part)...)
	}
	for i, w := range words {
		low := fold(w)
		switch {
		case low == "tag:" || low == "path:": // still being typed
		case strings.HasPrefix(low, "tag:"):
			q.tags = append(q.tags, strings.TrimPrefix(low[4:], "#"))
		case strings.HasPrefix(low, "path:"):
			q.paths = append(q.paths, low[5:])
		default:
			q.add(low, open && i == len(words)-1, false)
		}
	}
	return q
}

// add takes in one word, which may be several runs: v2버전.
func (q *query) add(word string, last, whole bool) {
	first := len(q.clauses)
	runs([]byte(word), func(k kind, run []byte) {
		c := clause{needle: string(run), need: 1}
		switch n := utf8.RuneCount(run); {
		case k == latin:
			c.exact = [][]byte{bytes.Clone(run)}
		case n == 1:
			c.grow(run)
		default:
			prev, i := 0, 0
			for count := 0; i < len(run); count++ {
				_, size := utf8.DecodeRune(run[i:])
				if count > 0 {
					c.exact = append(c.exact, bytes.Clone(run[prev:i+size]))
				}
				prev = i
				i += size
			}
			c.need = max(1, (len(c.exact)+1)/2)
			if whole {
				c.need = len(c.exact)
			}
		}
		q.clauses = append(q.clauses, c)
	})
	if !last || len(q.clauses) == first {
		return
	}
	c := &q.clauses[len(q.clauses)-1]
	switch r, _ := utf8.DecodeLastRuneInString(c.needle); kindOf(r) {
	case latin:
		c.prefix = c.needle
	case hangul:
		if n := len(c.exact); n > 0 { // the last pair may still grow
			pair := c.exact[n-1]
			c.exact = c.exact[:n-1]
			c.grow(pair)
		}
	}
}

// grow makes the end of a clause match what may become of it.
func (c *clause) grow(term []byte) {
	r, size := utf8.DecodeLastRune(term)
	lo, hi, ok := grown(r)
	if !ok {
		c.prefix = string(term)
		return
	}
	c.prefix, c.lo, c.hi = string(term[:len(term)-size]), lo, hi
}

// between returns the range of terms, in order of their bytes, that the open end
// of a clause matches.
func (c *clause) between() (from, to string, ok bool) {
	switch {
	case c.lo != 0:
		return c.prefix + string(c.lo), c.prefix + string(c.hi+1), true
	case c.prefix != "":
		return c.prefix, c.prefix + "\xff", true
	}
	return "", "", false
}

// Search finds notes by their words, the best first, at most k of them. Words
// stand for themselves, the last one also for what begins with it; "a phrase" is
// in quotes; tag:x and path:x narrow. A note has all the words; when none has,
// those with the most are found.
func (v *Vault) Search(ctx context.Context, text string, k int) ([]Hit, error) {
	if err := v.ready(ctx); err != nil {
		return nil, err
	}
	if k <= 0 {
		k = 20
	}
	if onlyInitials(text) {
		return v.byInitials(ctx, text, k)
	}
	q := parse(text)
	// A phrase is looked for in the texts of those that have its words, the best
	// first: of more of them each time, until enough have it.
	for among := k; ; among *= 8 {
		v.mu.RLock()
		found := v.ix.score(q, among)
		v.mu.RUnlock()
		v.byPassage(&q, found, k)
		hits := make([]Hit, 0, min(k, len(found)))
		for _, s := range found {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			body, low := v.text(s.file)
			if !holds(s.file, low, q.phrases) {
				continue
			}
			hit := Hit{Path: s.file.path, Title: s.file.title, Score: float64(s.score)}
			hit.Snippet, hit.Line, hit.Marks = snippet(body, low, q, s.best)
			if hits = append(hits, hit); len(hits) == k {
				return hits, nil
			}
		}
		if len(found) < among {
			return hits, nil
		}
	}
}

func holds(f *file, low string, phrases []string) bool {
	for _, p := range phrases {
		if !strings.Contains(low, p) && !strings.Contains(fold(f.title), p) {
			return false
		}
	}
	return true
}
