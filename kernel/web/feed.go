package web

import (
	"encoding/xml"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"golang.org/x/net/html"
)

// The bounds of an XML document.
const (
	maxXMLDepth = 200
	maxEntries  = 200
)

// element is a piece of an XML document: an element, or text when it has no name.
type element struct {
	name  xml.Name
	attrs []xml.Attr
	kids  []*element
	data  string
}

// renderXML makes a list of a feed. A document that is none stays as it is.
func renderXML(r *reading, text string) (string, error) {
	root := readXML(text)
	if root == nil {
		return text, nil
	}
	switch strings.ToLower(root.name.Local) {
	case "html":
		return renderHTML(r, text)
	case "rss", "rdf", "feed":
		if list := renderFeed(r, root); list != "" {
			return list, nil
		}
	}
	return text, nil
}

// readXML reads a document, nil when it is none. Entities of its own are not
// known to the reader, so that they cannot grow.
func readXML(text string) *element {
	d := xml.NewDecoder(strings.NewReader(text))
	d.Strict, d.AutoClose, d.Entity = false, nil, xml.HTMLEntity
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil } // it is UTF-8 by now
	top := &element{}
	open := []*element{top}
	for {
		token, err := d.RawToken()
		if err != nil { // the end, or damage: what came before it counts
			break
		}
		in := open[len(open)-1]
		switch t := token.(type) {
		case xml.StartElement:
			e := &element{name: t.Name, attrs: append([]xml.Attr(nil), t.Attr...)}
			in.kids = append(in.kids, e)
			if len(open) > maxXMLDepth {
				return nil
			}
			open = append(open, e)
		case xml.EndElement:
			if len(open) > 1 {
				open = open[:len(open)-1]
			}
		case xml.CharData:
			in.kids = append(in.kids, &element{data: string(t)})
		}
	}
	for _, k := range top.kids {
		if k.name.Local != "" {
			return k
		}
	}
	return nil
}

// child is the first child with one of these names, in their order. A prefix
// is part of a name: media:title is not the title.
func (e *element) child(names ...string) *element {
	for _, name := range names {
		space, local, ok := strings.Cut(name, ":")
		if !ok {
			space, local = "", name
		}
		for _, k := range e.kids {
			if strings.EqualFold(k.name.Local, local) && (k.name.Space == space || space == "" && k.name.Space == "atom") {
				return k
			}
		}
	}
	return &element{}
}

// text is what an element holds. Elements in it are written out, as Atom
// puts XHTML there.
func (e *element) text() string {
	var b strings.Builder
	var write func(e *element)
	write = func(e *element) {
		if e.name.Local == "" {
			b.WriteString(html.EscapeString(e.data))
			return
		}
		b.WriteString("<" + e.name.Local)
		for _, a := range e.attrs {
			b.WriteString(" " + a.Name.Local + `="` + html.EscapeString(a.Value) + `"`)
		}
		b.WriteString(">")
		for _, k := range e.kids {
			write(k)
		}
		b.WriteString("</" + e.name.Local + ">")
	}
	for _, k := range e.kids {
		if k.name.Local == "" {
			b.WriteString(k.data)
		} else {
			write(k)
		}
	}
	return strings.TrimSpace(b.String())
}

func (e *element) attr(name string) string {
	for _, a := range e.attrs {
		if a.Name.Local == name && a.Name.Space == "" {
			return a.Value
		}
	}
	return ""
}

// link is where an entry or a feed leads: Atom has several links with a
// purpose each, RSS has the address as text, or in the name of the entry.
func (e *element) link(at *url.URL) string {
	ref := ""
	for _, k := range e.kids {
		if k.name.Local != "link" || k.name.Space != "" && k.name.Space != "atom" {
			continue
		}
		switch rel := k.attr("rel"); {
		case k.attr("href") != "" && (rel == "" || rel == "alternate"):
			ref = k.attr("href")
		case k.attr("href") == "" && k.text() != "":
			ref = k.text()
		default:
			continue
		}
		break
	}
	if guid := e.child("guid"); ref == "" && guid.attr("isPermaLink") != "false" {
		ref = guid.text()
	}
	u, err := at.Parse(strings.TrimSpace(visible(ref)))
	if ref == "" || err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	return u.String()
}

// renderFeed lists the entries of a feed, "" when root is none after all.
func renderFeed(r *reading, root *element) string {
	channel, entries := root, root.kids
	if c := root.child("channel"); c.name.Local != "" {
		channel = c
		if strings.EqualFold(root.name.Local, "rss") {
			entries = c.kids
		}
	}
	p := r.page
	p.Title = plainText(channel.child("title").text())
	p.Published = date(channel.child("pubDate", "lastBuildDate", "updated", "dc:date").text())
	if p.Author = plainText(channel.child("author").child("name").text()); p.Author == "" {
		p.Author = plainText(channel.child("managingEditor", "dc:creator", "itunes:author").text())
	}
	var b strings.Builder
	if p.Title != "" {
		b.WriteString("# " + oneLine(p.Title, 300) + "\n\n")
	}
	if about := oneLine(plainText(channel.child("description", "subtitle").text()), 1000); about != "" {
		b.WriteString(about + "\n\n")
	}
	found, left := 0, 0
	for _, e := range entries {
		if name := strings.ToLower(e.name.Local); name != "item" && name != "entry" || e.name.Space != "" {
			continue
		}
		if found == maxEntries {
			left++
			continue
		}
		found++
		title := headline(oneLine(plainText(e.child("title").text()), 300))
		if link := e.link(r.at); link != "" {
			p.Links++
			title = "[" + title + "](" + strings.NewReplacer("(", "%28", ")", "%29").Replace(link) + ")"
		}
		b.WriteString("## " + title + "\n\n")
		by := oneLine(plainText(e.child("dc:creator", "itunes:author").text()), 200)
		if author := e.child("author"); by == "" {
			by = oneLine(plainText(author.child("name").text()), 200)
			if by == "" && author.child("name").name.Local == "" {
				by = oneLine(plainText(author.text()), 200)
			}
		}
		about := []string{}
		for _, s := range []string{date(e.child("pubDate", "published", "dc:date", "updated").text()), by} {
			if s != "" {
				about = append(about, s)
			}
		}
		if len(about) > 0 {
			b.WriteString(strings.Join(about, " · ") + "\n\n")
		}
		if says := markdownOf(e.child("description", "summary", "content:encoded", "content", "media:description").text(), r.at); says != "" {
			b.WriteString(says + "\n\n")
		}
	}
	if found == 0 && p.Title == "" {
		return ""
	}
	if left > 0 {
		fmt.Fprintf(&b, "(%d older entries of the feed are left out.)\n", left)
	}
	return strings.TrimSpace(b.String())
}

func headline(s string) string {
	if s == "" {
		return "(no title)"
	}
	return strings.NewReplacer("[", "\\[", "]", "\\]").Replace(s)
}

// date is a date of a feed as RFC 3339, or as it is written.
func date(s string) string {
	s = oneLine(s, 60)
	for _, layout := range []string{time.RFC3339, time.RFC1123Z, time.RFC1123, time.RFC822Z, time.RFC822, "Mon, 2 Jan 2006 15:04:05 -0700", "Mon, 2 Jan 2006 15:04:05 MST", "2 Jan 2006 15:04:05 -0700", "2006-01-02T15:04:05", time.DateTime, time.DateOnly} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.Format(time.RFC3339)
		}
	}
	return s
}
