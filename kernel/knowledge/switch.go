package knowledge

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// ease prepares what is compared with each query.
func (f *file) ease() {
	f.names, f.lowTags = namesOf(f), nil
	for _, t := range f.tags {
		f.lowTags = append(f.lowTags, fold(t))
	}
}

// namesOf are what a file can be called: title, name, aliases, and its path.
func namesOf(f *file) []string {
	names := []string{fold(stem(path.Base(f.path)))}
	add := func(s string) {
		if s = fold(s); s != "" && !slices.Contains(names, s) {
			names = append(names, s)
		}
	}
	add(f.title)
	for _, a := range f.aliases {
		add(a)
	}
	add(stem(f.path))
	return names
}

// Switch finds notes and files by title, name, alias or path, as it is typed:
// from the beginning, inside, by initials (ㅎㅋㄴㅅ for 해커뉴스), or by letters in
// order. An empty query gives the notes changed last. At most k are returned, the
// best first.
func (v *Vault) Switch(ctx context.Context, text string, k int) ([]Hit, error) {
	if err := v.ready(ctx); err != nil {
		return nil, err
	}
	if k <= 0 {
		k = 20
	}
	pattern := []rune(strings.ReplaceAll(fold(unpair(text)), " ", ""))
	v.mu.RLock()
	defer v.mu.RUnlock()
	found := top{k: k}
	for _, f := range v.ix.files {
		if len(pattern) == 0 {
			if f.note {
				found.offer(f, 1)
			}
			continue
		}
		if s := nameScore(f, pattern); s > 0 {
			if !f.note {
				s *= 0.8
			}
			found.offer(f, s)
		}
	}
	var hits []Hit
	for _, s := range found.best() {
		hits = append(hits, Hit{Path: s.file.path, Title: cmp.Or(s.file.title, path.Base(s.file.path)), Score: float64(s.score)})
	}
	return hits, nil
}

// byInitials makes a search for ㅎㅋㄴㅅ one among titles: no text is written so.
func (v *Vault) byInitials(ctx context.Context, text string, k int) ([]Hit, error) {
	hits, err := v.Switch(ctx, text, k)
	if strings.TrimSpace(text) == "" {
		return nil, err
	}
	return hits, err
}

func nameScore(f *file, pattern []rune) float32 {
	var best float32
	for i, name := range f.names {
		s := match(name, pattern)
		if i > 0 {
			s *= 0.95
		}
		if i > 0 && i == len(f.names)-1 && strings.Contains(name, "/") {
			s *= 0.7
		}
		best = max(best, s)
	}
	return best
}

// match says how well a name fits: 4 as a whole, 3 at its beginning, 2 at the
// beginning of a word, 1.5 inside, below 1 in order only, 0 not at all; a little
// more the shorter the name.
func match(name string, pattern []rune) float32 {
	if len(name) < len(pattern) {
		return 0
	}
	short := 1 / float32(8+len(name))
	var prev rune = ' '
	for i, r := range name {
		if r != ' ' {
			if end, ok := matchAt(name, i, pattern); ok {
				switch {
				case i == 0 && end == len(name):
					return 4 + short
				case i == 0:
					return 3 + short
				case kindOf(prev) == apart:
					return 2 + short
				}
				return 1.5 + short
			}
		}
		prev = r
	}
	if len(pattern) < 2 {
		return 0
	}
	at, gaps, last := 0, 0, -1
	for i, r := range name {
		if at < len(pattern) && typed(pattern[at], r, at == len(pattern)-1) {
			if last >= 0 && i > last {
				gaps++
			}
			at++
			last = i + utf8.RuneLen(r)
		}
	}
	if at < len(pattern) || gaps > len(pattern)/2+1 {
		return 0
	}
	return 0.5/float32(1+gaps) + short
}

// matchAt reports whether the pattern fits from a place on, spaces aside, and
// where it ends.
func matchAt(name string, at int, pattern []rune) (end int, ok bool) {
	for i, p := range pattern {
		for at < len(name) && name[at] == ' ' {
			at++
		}
		r, size := utf8.DecodeRuneInString(name[at:])
		if size == 0 || !typed(p, r, i == len(pattern)-1) {
			return 0, false
		}
		at += size
	}
	return at, true
}

// typed reports whether what was typed may stand for a letter: itself, its
// initial, and at the end a syllable that is not finished.
func typed(p, r rune, last bool) bool {
	if p == r {
		return true
	}
	if !isHangul(r) || !isJamo(p) && !(last && isHangul(p)) {
		return false
	}
	from, to, ok := grown(p)
	return ok && r >= from && r <= to
}
