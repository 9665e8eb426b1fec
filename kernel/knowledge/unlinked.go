package knowledge

import (
	"cmp"
	"context"
	"path"
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
	p, err := v.named(ctx, name)
	if err != nil {
		return nil, err
	}
	v.mu.RLock()
	target := v.ix.files[p]
	names := mentionedAs(target)
	found := map[*file]bool{}
	for _, n := range names {
		for _, s := range v.ix.score(parse(`"`+n+`"`), len(v.ix.docs)+1) {
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
		if len(body) != len(low) {
			continue
		}
		lines := map[int]bool{}
		for _, m := range mentions(body, low, names) {
			if line := 1 + strings.Count(body[:m[0]], "\n"); !lines[line] {
				lines[line] = true
				out = append(out, Backlink{f.path, f.title, line, lineAt(body, m[0])})
			}
		}
	}
	slices.SortFunc(out, func(a, b Backlink) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line))
	})
	return out[:min(len(out), maxUnlinked)], nil
}

// mentionedAs are the folded names that a text may call a note by.
func mentionedAs(f *file) (names []string) {
	for _, n := range f.names {
		if !strings.Contains(n, "/") && utf8.RuneCountInString(n) >= 2 {
			names = append(names, n)
		}
	}
	return names
}

// mentions are the places of a text, as bytes, that name one of names.
func mentions(body, low string, names []string) [][2]int {
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
	var out [][2]int
	for _, name := range names {
		for at := rest; ; {
			i := strings.Index(low[at:], name)
			if i < 0 {
				break
			}
			from, to := at+i, at+i+len(name)
			at = to
			if standsAlone(low, from, to) && !slices.ContainsFunc(closed, func(c [2]int) bool { return from < c[1] && to > c[0] }) {
				out = append(out, [2]int{from, to})
			}
		}
	}
	return out
}

// PlanLink plans to make the first unlinked mention of a note in a line of
// another one a link. line counts from 1; base is the hash of the note that the
// line was seen in, or "" for whatever is there now.
func (v *Vault) PlanLink(ctx context.Context, name string, line int, to, base string) (Plan, error) {
	if err := v.ready(ctx); err != nil {
		return Plan{}, err
	}
	target, err := v.known(to)
	if err != nil {
		return Plan{}, err
	}
	return v.edit(ctx, name, base, false, func(text string) (string, error) {
		p, err := v.known(name)
		if err != nil {
			return "", err
		}
		v.mu.RLock()
		defer v.mu.RUnlock()
		f := v.ix.files[target]
		low := strings.ToLower(text)
		if f == nil || len(low) != len(text) {
			return "", errMention(p, line)
		}
		var at [2]int
		for _, m := range mentions(text, low, mentionedAs(f)) {
			// The first in the line, and of two that begin there the longer.
			if 1+strings.Count(text[:m[0]], "\n") == line && (at[1] == 0 || m[0] < at[0] || m[0] == at[0] && m[1] > at[1]) {
				at = m
			}
		}
		if at[1] == 0 {
			return "", errMention(p, line)
		}
		said := text[at[0]:at[1]]
		link := v.ix.linkTo(p, f)
		if link != said {
			link += "|" + said
		}
		return text[:at[0]] + "[[" + link + "]]" + text[at[1]:], nil
	})
}

// linkTo is the shortest name by which a link in the note at from finds a file.
func (ix *index) linkTo(from string, f *file) string {
	name := stem(path.Base(f.path))
	if !f.note {
		name = path.Base(f.path)
	}
	if to, many := (lookup{ix: ix}).resolve(from, &Link{Target: name, key: keyOf(name)}); to == f && !many {
		return name
	}
	return stem(f.path)
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
