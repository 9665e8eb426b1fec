package knowledge

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxUnlinked is how many places [Vault.Unlinked] returns at most.
const maxUnlinked = 100

// Unlinked returns the places where other notes name a note, by its title, its
// file's name or an alias, without a link: at most 100, by path and line. Code is
// left out, and names of a single letter.
func (v *Vault) Unlinked(ctx context.Context, name string) ([]Backlink, error) {
	if err := v.ready(ctx); err != nil {
		return nil, err
	}
	p, err := v.known(name)
	if err != nil {
		return nil, err
	}
	v.mu.RLock()
	target := v.ix.files[p]
	var names []string
	found := map[*file]bool{}
	for _, n := range target.names {
		if strings.Contains(n, "/") || utf8.RuneCountInString(n) < 2 {
			continue
		}
		names = append(names, n)
		for _, s := range v.ix.score(parse(`"` + n + `"`)) {
			if s.file != target {
				found[s.file] = true
			}
		}
	}
	v.mu.RUnlock()

	var out []Backlink
	for f := range found {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		body, low := v.text(f)
		if len(body) == len(low) {
			out = append(out, mentions(f, body, low, names)...)
		}
	}
	slices.SortFunc(out, func(a, b Backlink) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line))
	})
	return out[:min(len(out), maxUnlinked)], nil
}

// mentions are the lines of a note that name one of names.
func mentions(f *file, body, low string, names []string) []Backlink {
	s := scanner{text: body, blank: true, record: true}
	s.all()
	closed := s.codes
	for _, l := range s.out.links {
		from, to := l.start, l.end
		if !l.Markdown {
			to += strings.Index(body[to:], "]]")
		} else {
			from = strings.LastIndexByte(body[:from], '\n') + 1
			if i := strings.LastIndexByte(body[from:l.start], '['); i >= 0 {
				from += i
			}
		}
		closed = append(closed, [2]int{from, to})
	}
	_, rest := frontmatterOf(body)
	closed = append(closed, [2]int{0, rest})
	var out []Backlink
	lines := map[int]bool{}
	for _, name := range names {
		for at := rest; ; {
			i := strings.Index(low[at:], name)
			if i < 0 {
				break
			}
			from, to := at+i, at+i+len(name)
			at = to
			if !standsAlone(low, from, to) || slices.ContainsFunc(closed, func(c [2]int) bool { return from < c[1] && to > c[0] }) {
				continue
			}
			line := 1 + strings.Count(body[:from], "\n")
			if !lines[line] {
				lines[line] = true
				out = append(out, Backlink{f.path, f.title, line, lineAt(body, from)})
			}
		}
	}
	return out
}

// standsAlone reports whether a name is no part of a longer word. A particle may
// follow a Hangul word.
func standsAlone(s string, from, to int) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:from])
	first, _ := utf8.DecodeRuneInString(s[from:])
	last, _ := utf8.DecodeLastRuneInString(s[:to])
	after, _ := utf8.DecodeRuneInString(s[to:])
	if k := kindOf(first); k != apart && k != ideo && from > 0 && kindOf(before) == k {
		return false
	}
	return to == len(s) || kindOf(last) != latin || kindOf(after) != latin
}
