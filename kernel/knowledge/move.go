package knowledge

import (
	"cmp"
	"context"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"oxios/kernel/sys"
)

// PlanMove plans to rename or move a note, another file, or a folder with all in
// it. Every link in the vault that would lead elsewhere afterwards is rewritten
// in the style it has: a short name stays short while only one file is called
// so, a relative path stays relative. A note that is not in UTF-8 cannot be
// rewritten; [Plan.Notes] names it.
func (v *Vault) PlanMove(ctx context.Context, from, to string) (Plan, error) {
	if _, err := clean(from); err != nil {
		return Plan{}, err
	}
	to, err := clean(to)
	if err != nil {
		return Plan{}, err
	}
	if _, err := v.Rescan(ctx); err != nil { // links that were written a moment ago count
		return Plan{}, err
	}
	if from, err = v.existing(from); err != nil {
		return Plan{}, err
	}
	root, err := v.root()
	if err != nil {
		return Plan{}, err
	}
	defer root.Close()
	h := &hand{v: v, root: root}
	hash, folder, err := h.hash(from)
	if err != nil {
		return Plan{}, errRead(from, err)
	}
	if !folder && isNote(from) && !isNote(to) {
		to += ".md"
	}
	if from == to {
		return Plan{}, nil
	}
	if strings.HasPrefix(to, from+"/") {
		return Plan{}, errInside(from)
	}
	if !h.freeFor(from, to) {
		return Plan{}, errExists(to)
	}
	if err := v.newPath(from, to); err != nil {
		return Plan{}, err
	}
	plan := Plan{Steps: []Step{{Kind: StepMove, Path: from, To: to, BaseHash: hash}}}

	v.mu.RLock()
	m := moving{ix: v.ix, from: from, to: to, now: lookup{ix: v.ix}, moved: map[*file]*file{}}
	m.prepare()
	sources := m.sources()
	v.mu.RUnlock()

	for _, f := range sources {
		if err := ctx.Err(); err != nil {
			return Plan{}, err
		}
		rewrite := v.rewrite
		if isCanvas(f.path) {
			rewrite = v.rewriteCanvas
		}
		step, n, note, err := rewrite(&m, f)
		if err != nil {
			return Plan{}, err
		}
		if note != nil {
			plan.Notes = append(plan.Notes, *note)
		}
		if n > 0 {
			plan.Links += n
			plan.Steps = append(plan.Steps, step)
		}
	}
	return plan, nil
}

// newPath is [Vault.newName] for the end of a move: its own old name is no clash.
func (v *Vault) newPath(from, to string) error {
	err := v.newName(to)
	if sys.CodeOf(err) == sys.CodeConflict && fold(from) == fold(to) {
		return nil
	}
	return err
}

// moving is a rename that is being thought through: the names as they are, and
// as they will be.
type moving struct {
	ix       *index
	from, to string
	now      lookup
	then     lookup
	moved    map[*file]*file // as it is → with its new path
}

// renamed returns the path of a file afterwards.
func (m *moving) renamed(p string) (string, bool) {
	if p == m.from {
		return m.to, true
	}
	if rest, ok := strings.CutPrefix(p, m.from+"/"); ok {
		return m.to + "/" + rest, true
	}
	return p, false
}

// prepare works out the names afterwards, for those names only that change.
func (m *moving) prepare() {
	m.then = lookup{ix: m.ix, byKey: map[string][]*file{}, folded: map[string][]*file{}}
	for p, f := range m.ix.files {
		to, ok := m.renamed(p)
		if !ok {
			continue
		}
		c := *f
		c.path, c.key = to, keyOf(to)
		m.moved[f] = &c
	}
	change := func(lists map[string][]*file, key string, old []*file) {
		if _, ok := lists[key]; !ok {
			lists[key] = slices.DeleteFunc(slices.Clone(old), func(f *file) bool { return m.moved[f] != nil })
		}
	}
	for f, c := range m.moved {
		for _, key := range []string{f.key, c.key} {
			change(m.then.byKey, key, m.ix.byKey[key])
		}
		for _, p := range []string{fold(stem(f.path)), fold(stem(c.path))} {
			change(m.then.folded, p, m.ix.folded[p])
		}
	}
	for _, c := range m.moved {
		m.then.byKey[c.key] = append(m.then.byKey[c.key], c)
		p := fold(stem(c.path))
		m.then.folded[p] = append(m.then.folded[p], c)
	}
}

// sources are the notes whose links may lead elsewhere afterwards: those that
// move, and those with a link of a name that changes hands.
func (m *moving) sources() []*file {
	set := map[*file]bool{}
	for f := range m.moved {
		if len(f.links) > 0 {
			set[f] = true
		}
	}
	for key := range m.then.byKey {
		for _, f := range m.ix.incoming[key] {
			set[f] = true
		}
	}
	for p, f := range m.ix.files {
		if isCanvas(p) {
			set[f] = true
		}
	}
	out := make([]*file, 0, len(set))
	for f := range set {
		out = append(out, f)
	}
	slices.SortFunc(out, func(a, b *file) int { return strings.Compare(a.path, b.path) })
	return out
}

// rewrite plans the new text of one note.
func (v *Vault) rewrite(m *moving, f *file) (step Step, links int, note *sys.Words, err error) {
	v.mu.RLock()
	any := false
	for i := range f.links {
		if m.changes(f.path, &f.links[i].Link) != "" {
			any = true
			break
		}
	}
	v.mu.RUnlock()
	if !any {
		return Step{}, 0, nil, nil
	}
	raw, _, err := v.bytes(f.path, maxNote)
	if err != nil {
		return Step{}, 0, nil, err
	}
	text, encoding, _ := decode(raw)
	at, _ := m.renamed(f.path)
	if encoding != encUTF8 {
		w := sys.Say("The links in %s stay as they are: it is written in %s.", at, encoding)
		return Step{}, 0, &w, nil
	}
	skipped := len(raw) - len(text) // a BOM
	v.mu.RLock()
	after, links := m.relinked(f.path, string(text))
	v.mu.RUnlock()
	return Step{Kind: StepWrite, Path: at, Before: raw, After: slices.Concat(raw[:skipped], []byte(after)), BaseHash: hashOf(raw), Links: links}, links, nil, nil
}

// relinked returns a markdown text of the file at from with the links that have to
// change, and how many these are. The index is locked.
func (m *moving) relinked(from, whole string) (text string, links int) {
	var out strings.Builder
	last := 0
	found := scan(whole).links
	slices.SortFunc(found, func(a, b Link) int { return cmp.Compare(a.start, b.start) })
	for i := range found {
		l := &found[i]
		target := m.changes(from, l)
		if target == "" || l.start < last {
			continue
		}
		out.WriteString(whole[last:l.start])
		out.WriteString(target)
		last = l.end
		links++
	}
	out.WriteString(whole[last:])
	return out.String(), links
}

// changes returns what a link in the note at from has to be called afterwards, as
// it is written, or "" when it may stay.
func (m *moving) changes(from string, l *Link) string {
	target, many := m.now.resolve(from, l)
	if target == nil {
		return "" // it leads nowhere, and that is how the person left it
	}
	want := target
	if c := m.moved[target]; c != nil {
		want = c
	}
	after, _ := m.renamed(from)
	style := m.styleOf(from, l, target)
	if got, _ := m.then.resolve(after, l); got == want && (style != relative || m.stillRelative(after, l, want)) {
		return ""
	}
	for _, name := range m.names(after, l, want, style) {
		c := *l
		c.Target, c.key = name, keyOf(path.Clean(name))
		got, nowMany := m.then.resolve(after, &c)
		if got != want || nowMany && !many && !strings.Contains(name, "/") {
			continue
		}
		if l.Markdown {
			return escape(name, l)
		}
		if !strings.ContainsAny(name, "#|[]^") {
			return name
		}
	}
	return ""
}

// style is how a link names its file.
type style int

const (
	short    style = iota // by its name, or the end of its path
	full                  // by its path from the top
	rooted                // the same, with a slash before it
	relative              // from the folder of the note
)

func (m *moving) styleOf(from string, l *Link, to *file) style {
	switch {
	case strings.HasPrefix(l.Target, "/"):
		return rooted
	case strings.HasPrefix(l.Target, "./") || strings.HasPrefix(l.Target, "../"):
		return relative
	case l.Markdown && fold(stem(path.Join(parent(from), l.Target))) == fold(stem(to.path)):
		return relative
	case strings.Contains(l.Target, "/"):
		return full
	}
	return short
}

// stillRelative reports whether a relative link is one afterwards, for readers
// that know no other.
func (m *moving) stillRelative(from string, l *Link, want *file) bool {
	return fold(stem(path.Join(parent(from), l.Target))) == fold(stem(want.path))
}

// names are what a link may be called, the best first.
func (m *moving) names(from string, l *Link, want *file, s style) []string {
	p := want.path
	if !isNote(l.Target) {
		p = stem(p)
	}
	rel := p
	if r, err := filepath.Rel(filepath.FromSlash(cmpOr(parent(from), ".")), filepath.FromSlash(p)); err == nil {
		rel = filepath.ToSlash(r)
	}
	dotted := rel
	if !strings.HasPrefix(rel, "../") {
		dotted = "./" + rel
	}
	switch s {
	case relative:
		if strings.HasPrefix(l.Target, "./") || !l.Markdown {
			return []string{dotted, p}
		}
		return []string{rel, dotted, p}
	case rooted:
		return []string{"/" + p, p}
	case short:
		return []string{path.Base(p), p, "/" + p, dotted}
	}
	return []string{p, "/" + p, dotted}
}

// escape writes the destination of a markdown link as the old one was written:
// in < > as it is, else with % where markdown needs it, and for letters beyond
// ASCII when the old one did so.
func escape(name string, l *Link) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		c := name[i]
		special := c < ' ' || c == 0x7f || c == '%' || c == '#' || c == '?' || c == '<' || c == '>' || c == '\\'
		if !l.angle {
			special = special || c == ' ' || c == '(' || c == ')'
		}
		if special || c >= utf8.RuneSelf && l.escaped {
			b.WriteByte('%')
			b.WriteByte(hex[c>>4])
			b.WriteByte(hex[c&15])
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}
