package knowledge

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"oxios/kernel/sys"
)

// maxEmbed is how much of a note is shown in another one: 64 KB.
const maxEmbed = 64 << 10

// Embedded is what a link in a note leads to, as it is shown in that note.
type Embedded struct {
	Target   string `json:"target"` // as the link was read
	Fragment string `json:"fragment,omitempty"`
	Alias    string `json:"alias,omitempty"`
	Kind     string `json:"kind"`              // "note", "image" or "file"; "" when it leads nowhere
	Missing  string `json:"missing,omitempty"` // "file", "heading" or "block": what is not there
	FileInfo
	Line int    `json:"line,omitempty"` // where the part of a note begins, from 1
	Text string `json:"text,omitempty"` // of the part, without ids of blocks
	Cut  bool   `json:"cut,omitempty"`  // it is longer
}

// Embed returns what ![[link]] or ![text](link) shows in the note at from: a part
// of a note, or what the file is.
func (v *Vault) Embed(ctx context.Context, from, link string) (Embedded, error) {
	l, ok := linkIn(link)
	if !ok {
		return Embedded{}, sys.Errorf(sys.CodeInvalid, "%q is no link to a file of the vault.", sys.Shorten(link, 120)).
			WithHint("Write it like ![[name]].")
	}
	out := Embedded{Target: l.Target, Fragment: l.Fragment, Alias: l.Alias}
	if err := v.ready(ctx); err != nil {
		return out, err
	}
	v.mu.RLock()
	to := v.ix.files[from]
	if l.Target != "" {
		to = v.ix.resolve(from, &l)
	}
	v.mu.RUnlock()
	if to == nil {
		out.Missing = "file"
		return out, nil
	}
	info, _, err := v.Peek(to.path, 0, 0)
	if sys.CodeOf(err) == sys.CodeNotFound { // it went in this moment
		out.Missing = "file"
		return out, nil
	}
	if err != nil {
		return out, err
	}
	out.FileInfo = info
	switch {
	case to.note:
		out.Kind = "note"
	case info.MIME != "":
		out.Kind = "image"
		return out, nil
	default:
		out.Kind = "file"
		return out, nil
	}
	n, err := v.Read(ctx, to.path)
	if err != nil {
		return out, err
	}
	out.part(n)
	return out, nil
}

// linkIn reads the one link of a text.
func linkIn(text string) (Link, bool) {
	if links := scan(text).links; len(links) > 0 {
		return links[0], true
	}
	inside, ok := strings.CutPrefix(strings.TrimPrefix(text, "!"), "[[#")
	inside, closed := strings.CutSuffix(inside, "]]")
	if !ok || !closed {
		return Link{}, false
	}
	fragment, alias, _ := strings.Cut(inside, "|")
	return Link{Fragment: fragment, Alias: alias}, true
}

// part takes the part of a note that the fragment names.
func (e *Embedded) part(n Note) {
	lines := strings.Split(n.Text, "\n")
	blocks := blocksOf(n.Text)
	from, to := 1, len(lines)
	if _, rest := frontmatterOf(n.Text); rest > 0 {
		from += strings.Count(n.Text[:rest], "\n")
	}
	fragment := strings.TrimSpace(e.Fragment)
	switch id, isBlock := strings.CutPrefix(fragment, "^"); {
	case isBlock:
		i := slices.IndexFunc(blocks, func(b Block) bool { return strings.EqualFold(b.ID, id) })
		if i < 0 {
			e.Missing = "block"
			return
		}
		from, to = blocks[i].Line, blocks[i].whole
	case fragment != "":
		i, end := section(n.Headings, fragment)
		if i < 0 {
			e.Missing = "heading"
			return
		}
		from = n.Headings[i].Line
		if end > 0 {
			to = end - 1
		}
	}
	e.Line = from
	if from <= to {
		e.Text = strings.Trim(dedent(withoutIDs(lines, blocks, from, to)), "\n")
	}
	if len(e.Text) > maxEmbed {
		cut := strings.ToValidUTF8(e.Text[:maxEmbed], "")
		if i := strings.LastIndexByte(cut, '\n'); i > 0 {
			cut = cut[:i]
		}
		e.Text, e.Cut = cut, true
	}
}

// section finds the heading that a fragment names, A#B for B below A, and the
// line of the heading that ends its section, 0 for the end of the note.
func section(headings []Heading, fragment string) (at, end int) {
	at = -1
	level := 0
	for name := range strings.SplitSeq(fragment, "#") {
		i := slices.IndexFunc(headings[at+1:], func(h Heading) bool { return headingKey(h.Text) == headingKey(name) })
		if i < 0 || slices.ContainsFunc(headings[at+1:at+1+i+1], func(h Heading) bool { return h.Level <= level }) {
			return -1, 0
		}
		at += 1 + i
		level = headings[at].Level
	}
	for _, h := range headings[at+1:] {
		if h.Level <= level {
			return at, h.Line
		}
	}
	return at, 0
}

// headingKey is a heading as a link can write it: without the signs that end a link or
// dress a text.
func headingKey(heading string) string {
	return strings.Join(strings.FieldsFunc(fold(heading), func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune(`#^|[]\:*_`+"`", r)
	}), " ")
}

// dedent moves an item of a list that stood below another one to the margin.
func dedent(text string) string {
	least := text[:len(text)-len(strings.TrimLeft(text, " \t"))]
	if least == "" {
		return text
	}
	var b strings.Builder
	for l := range strings.Lines(text) {
		b.WriteString(strings.TrimPrefix(l, least))
	}
	return b.String()
}
