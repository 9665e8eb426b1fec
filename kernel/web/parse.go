package web

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// parse reads HTML as a browser that runs scripts does: what stands in noscript
// is not for its person. What is too deep to be read becomes text, see [flat].
func parse(text string) *html.Node {
	if doc, err := html.Parse(strings.NewReader(text)); err == nil {
		return doc
	}
	return flat(text)
}

// The bounds of reading a page that is too deep.
const (
	maxFlatRules = 500         // rules of style that are looked at
	maxFlatWork  = 200_000_000 // rules held against tags and what these stand in; reading ends there
)

// flat makes one body of the text of a page whose elements lie too deep in each
// other. Depth must not bring to light what the page hides, so that each tag is
// judged as [hide] does, and what it holds is passed over until the tag of its
// name that closes it; where none does, until the end. What rules show again,
// and rules about neighbours, are not known here.
func flat(text string) *html.Node {
	doc, body := &html.Node{Type: html.DocumentNode}, &html.Node{Type: html.ElementNode, Data: "body", DataAtom: atom.Body}
	doc.AppendChild(body)
	var rules []rule
	var open []*html.Node // the elements that the next tag stands in
	work := 0
	skip, depth, style := "", 0, false
	z := html.NewTokenizer(strings.NewReader(text))
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			return doc
		}
		t := z.Token()
		switch kind {
		case html.StartTagToken:
			if skip != "" {
				if skip == t.Data {
					depth++
				}
				continue
			}
			if void[t.DataAtom] {
				continue
			}
			n := &html.Node{Type: html.ElementNode, Data: t.Data, DataAtom: t.DataAtom, Attr: t.Attr}
			if len(open) > 0 {
				n.Parent = open[len(open)-1]
			}
			if work += len(rules) * (1 + len(open)); work > maxFlatWork {
				return doc
			}
			if hiddenTag(n, rules) {
				skip, depth, style = t.Data, 1, t.DataAtom == atom.Style
				continue
			}
			open = append(open, n)
		case html.EndTagToken:
			if skip == t.Data {
				if depth--; depth == 0 {
					skip, style = "", false
				}
				continue
			}
			for i := len(open) - 1; skip == "" && i >= max(0, len(open)-64); i-- {
				if open[i].Data == t.Data {
					open = open[:i]
					break
				}
			}
		case html.TextToken:
			if style {
				rules = append(rules, readSheet(t.Data, len(rules), 0)...)
				rules = slices.DeleteFunc(rules, func(r rule) bool { return !hides(r.ways) })
				rules = rules[:min(len(rules), maxFlatRules)]
			}
			if skip == "" {
				body.AppendChild(&html.Node{Type: html.TextNode, Data: t.Data + "\n"})
			}
		}
	}
}

// void are the elements that hold nothing and have no tag that closes them.
var void = map[atom.Atom]bool{
	atom.Area: true, atom.Base: true, atom.Br: true, atom.Col: true, atom.Embed: true, atom.Frame: true, atom.Hr: true, atom.Img: true, atom.Input: true,
	atom.Link: true, atom.Meta: true, atom.Param: true, atom.Source: true, atom.Track: true, atom.Wbr: true,
}

// hiddenTag judges an element by its tag and by what it stands in.
func hiddenTag(n *html.Node, rules []rule) bool {
	switch {
	case n.DataAtom == atom.Html, n.DataAtom == atom.Body, n.DataAtom == atom.Main:
		return false
	case n.DataAtom == atom.Script, isHidden(n), hides(readDeclarations(attr(n, "style"))):
		return true
	}
	return slices.ContainsFunc(rules, func(r rule) bool { return r.sel.Match(n) })
}
