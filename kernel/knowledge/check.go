package knowledge

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"oxios/kernel/sys"
)

// The kinds of issues that [Vault.Check] finds.
const (
	IssueBroken      = "broken_link"
	IssueAmbiguous   = "ambiguous_link"
	IssueCase        = "case_clash"
	IssueName        = "name"
	IssueEncoding    = "encoding"
	IssueLarge       = "large"
	IssueFrontmatter = "frontmatter"
	IssueOutside     = "outside"
)

// Issue is something in the vault that may surprise a person.
type Issue struct {
	Kind   string    `json:"kind"`
	Path   string    `json:"path"`
	Line   int       `json:"line,omitempty"`   // from 1; 0 for the whole file
	Target string    `json:"target,omitempty"` // what a link names, or the other file
	Text   sys.Words `json:"text"`             // what it is, as a sentence
}

// Check looks through the vault, and returns what it finds by path and line. It
// changes nothing.
func (v *Vault) Check(ctx context.Context) ([]Issue, error) {
	if _, err := v.Rescan(ctx); err != nil {
		return nil, err
	}
	v.mu.RLock()
	defer v.mu.RUnlock()
	var out []Issue
	add := func(kind, p string, line int, target string, text sys.Words) {
		out = append(out, Issue{kind, p, line, target, text})
	}
	l := lookup{ix: v.ix}
	clash := map[string][]string{}
	for p, f := range v.ix.files {
		clash[fold(p)] = append(clash[fold(p)], p)
		for i := range f.links {
			link := &f.links[i]
			switch to, many := l.resolve(p, &link.Link); {
			case to == nil:
				add(IssueBroken, p, link.Line, link.Target, sys.Say("The link to %s leads nowhere.", link.Target))
			case many:
				add(IssueAmbiguous, p, link.Line, link.Target, sys.Say("Several files are called %s; the link leads to %s.", link.Target, to.path))
			}
		}
		if forbidden(p) {
			add(IssueName, p, 0, "", sys.Say("Windows cannot hold a file of this name."))
		}
		if f.note && !f.large && f.encoding != encUTF8 {
			add(IssueEncoding, p, 0, "", sys.Say("It is written in %s: Oxios shows it and does not change it.", f.encoding))
		}
		switch {
		case f.size > maxFile:
			add(IssueLarge, p, 0, "", sys.Say("It has %d MB; many programs that keep folders in step refuse files over %d MB.", f.size/mega, maxFile/mega))
		case f.large:
			add(IssueLarge, p, 0, "", sys.Say("It has %d MB; a note over %d MB is neither read nor searched.", f.size/mega, maxNote/mega))
		}
		if f.fault.EN != "" {
			add(IssueFrontmatter, p, 1, "", sys.Words{
				EN: sys.Say("The frontmatter cannot be read: %s", f.fault.EN).EN,
				KO: sys.Say("The frontmatter cannot be read: %s", f.fault.In(true)).KO,
			})
		}
	}
	for _, same := range clash {
		slices.Sort(same)
		for _, p := range same[1:] {
			add(IssueCase, p, 0, same[0], sys.Say("It differs from %s by case only: Windows and Macs keep one of the two.", same[0]))
		}
	}
	for p, other := range v.ix.twins {
		add(IssueCase, p, 0, other, sys.Say("Two files have this name, written in different bytes; one of them is not shown."))
	}
	for p := range v.ix.outside {
		add(IssueOutside, p, 0, "", sys.Say("It is a link that leads out of the vault or nowhere, and is not followed."))
	}
	slices.SortFunc(out, func(a, b Issue) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), strings.Compare(a.Kind, b.Kind), strings.Compare(a.Target, b.Target))
	})
	return out, nil
}
