package web

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// unseen are elements that a browser shows nothing of, or nothing that is text.
var unseen = map[atom.Atom]bool{
	atom.Style: true, atom.Noscript: true, atom.Template: true, atom.Iframe: true, atom.Frame: true, atom.Frameset: true, atom.Noframes: true,
	atom.Object: true, atom.Embed: true, atom.Applet: true, atom.Canvas: true, atom.Svg: true, atom.Audio: true, atom.Video: true, atom.Map: true,
	atom.Input: true, atom.Select: true, atom.Datalist: true, atom.Textarea: true, atom.Noembed: true, atom.Param: true, atom.Progress: true, atom.Meter: true,
}

// hide takes out of a page what a person who looks at it does not see, since
// it is there that orders to a model are hidden: comments, scripts, templates,
// what is marked hidden, and what the styles in the page make invisible, tiny,
// transparent or of no size, or put outside the window. Styles in other files
// and text in the colour of its background are not known here. It returns doc.
//
// Scripts with data about the page stay: they are no text, and name its author.
func hide(doc *html.Node) *html.Node {
	styled := hiddenByStyle(doc)
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		for child := n.FirstChild; child != nil; {
			next := child.NextSibling
			if isHidden(child) || styled[child] {
				n.RemoveChild(child)
			} else {
				walk(child)
			}
			child = next
		}
	}
	walk(doc)
	return doc
}

func isHidden(n *html.Node) bool {
	switch n.Type {
	case html.CommentNode:
		return true
	case html.ElementNode:
	default:
		return false
	}
	if n.Namespace != "" && n.Namespace != "math" || unseen[n.DataAtom] {
		return true
	}
	switch n.DataAtom {
	case atom.Html, atom.Body, atom.Head:
		// Many pages hide all of themselves until a script ran.
		return false
	case atom.Script:
		return !strings.EqualFold(strings.TrimSpace(attr(n, "type")), "application/ld+json")
	case atom.Dialog:
		return !has(n, "open")
	}
	return has(n, "hidden") || strings.EqualFold(strings.TrimSpace(attr(n, "aria-hidden")), "true")
}

func attr(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Namespace == "" && a.Key == key {
			return a.Val
		}
	}
	return ""
}

func has(n *html.Node, key string) bool {
	for _, a := range n.Attr {
		if a.Namespace == "" && a.Key == key {
			return true
		}
	}
	return false
}

// textOf is the text of a node, words of different blocks apart.
func textOf(n *html.Node) string {
	var b strings.Builder
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		switch {
		case n.Type == html.TextNode:
			b.WriteString(n.Data)
		case n.Type == html.ElementNode && (n.DataAtom == atom.Script || n.DataAtom == atom.Style || n.DataAtom == atom.Head):
			return
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c)
		}
		if n.Type == html.ElementNode && !inline[n.DataAtom] {
			b.WriteByte('\n')
		}
	}
	walk(n)
	return strings.TrimSpace(b.String())
}

var inline = map[atom.Atom]bool{
	atom.A: true, atom.B: true, atom.I: true, atom.Em: true, atom.Strong: true, atom.Span: true, atom.Code: true, atom.Small: true, atom.Sub: true,
	atom.Sup: true, atom.U: true, atom.S: true, atom.Mark: true, atom.Abbr: true, atom.Time: true, atom.Kbd: true, atom.Q: true, atom.Font: true, atom.Wbr: true,
}

// elements calls f for each element of a document, in order.
func elements(doc *html.Node, f func(*html.Node)) {
	for n := range doc.Descendants() {
		if n.Type == html.ElementNode {
			f(n)
		}
	}
}
