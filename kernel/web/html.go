package web

import (
	"cmp"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"codeberg.org/readeck/go-readability/v2"
	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/strikethrough"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"oxios/kernel/sys"
)

// The bounds of what is made of a page; past them it becomes plain text.
const (
	maxArticle  = 30_000  // elements among which an article is looked for
	maxElements = 150_000 // elements that are made into markdown
	maxAlt      = 300     // bytes of a picture's description
	enough      = 250     // characters of an article, below which the whole page is better
)

var (
	asksForScript = sys.Pattern(`(?i)java\s?script|자바\s?스크립트`)
	manyLines     = sys.Pattern(`\n(?:[ \t]*\n){2,}`)
)

// renderHTML makes markdown of a page.
func renderHTML(r *reading, text string) (markdown string, err error) {
	p := r.page
	doc := parse(text)
	scripts, pleads := needsScript(doc)
	to := refreshOf(doc)
	hide(doc)
	count := 0
	elements(doc, func(*html.Node) { count++ })
	absolute(doc, r.at)
	tame(doc)
	main := articleOf(doc, r, count)
	body := main
	if body == nil {
		body = doc
		elements(doc, func(n *html.Node) {
			if n.DataAtom == atom.Title && p.Title == "" {
				p.Title = textOf(n)
			}
		})
	}
	seen := strings.TrimSpace(visible(textOf(body)))
	if size := utf8.RuneCountInString(seen); size < 200 && (scripts > 0 && (size == 0 || pleads) || size < enough && pleads && asksForScript().MatchString(seen)) {
		return "", sys.Errorf(sys.CodeUnavailable, "%s shows its text only to browsers that run JavaScript, which is not done here.", shown(p.URL)).
			WithHint("Look for the same content elsewhere: another page, a feed, or the address of its data.")
	}
	if seen == "" && to != "" {
		return "", sys.Errorf(sys.CodeNotFound, "%s holds no text and sends on to %s.", shown(p.URL), shown(to)).
			WithHint("Fetch that address if it is one that you want.")
	}
	if count > maxElements {
		return squeeze(seen), nil
	}
	elements(body, func(n *html.Node) {
		if n.DataAtom == atom.A && attr(n, "href") != "" {
			p.Links++
		}
	})
	markdown = squeeze(toMarkdown(body))
	if markdown == "" {
		markdown = squeeze(seen)
	}
	if markdown == "" {
		return "", errEmpty(p.URL)
	}
	return markdown, nil
}

// articleOf finds the main article of a page and what it says of itself, and
// returns nil when nothing stands out: a list of links, a front page.
func articleOf(doc *html.Node, r *reading, count int) (main *html.Node) {
	if count > maxArticle {
		return nil
	}
	defer func() {
		if p := recover(); p != nil { // a page can be stranger than the library thinks
			main = nil
		}
	}()
	finder := readability.NewParser()
	finder.KeepClasses = true // the language of code is one
	a, err := finder.ParseDocument(doc, r.at)
	if err != nil {
		return nil
	}
	p := r.page
	p.Title, p.Author, p.Site = a.Title(), a.Byline(), a.SiteName()
	if at, err := a.PublishedTime(); err == nil {
		p.Published = at.Format(time.RFC3339)
	}
	if a.Node == nil {
		return nil
	}
	size, whole := utf8.RuneCountInString(textOf(a.Node)), utf8.RuneCountInString(textOf(doc))
	if size < enough || size*10 < whole || !finder.CheckDocument(doc) {
		return nil
	}
	return a.Node
}

// needsScript counts the scripts of a page, and reports whether it says to
// those who run none that they should.
func needsScript(doc *html.Node) (scripts int, pleads bool) {
	elements(doc, func(n *html.Node) {
		switch n.DataAtom {
		case atom.Script:
			scripts++
		case atom.Noscript:
			pleads = pleads || asksForScript().MatchString(textOf(n))
		}
		switch id := attr(n, "id"); id {
		case "root", "app", "__next", "__nuxt", "svelte", "app-root":
			pleads = pleads || n.FirstChild == nil
		}
	})
	return scripts, pleads
}

// refreshOf is the address that a page without text sends on to.
func refreshOf(doc *html.Node) (to string) {
	elements(doc, func(n *html.Node) {
		if n.DataAtom == atom.Meta && strings.EqualFold(attr(n, "http-equiv"), "refresh") {
			_, to, _ = strings.Cut(attr(n, "content"), "=")
			to = strings.Trim(strings.TrimSpace(to), `"'`)
		}
	})
	return to
}

// absolute completes the addresses of a page, and takes away those that lead
// nowhere outside it or are no addresses: links into the page itself, scripts,
// pictures inside the text.
func absolute(doc *html.Node, at *url.URL) {
	from := at
	elements(doc, func(n *html.Node) {
		if n.DataAtom == atom.Base && from == at {
			if u, err := at.Parse(attr(n, "href")); err == nil && (u.Scheme == "http" || u.Scheme == "https") {
				from = u
			}
		}
	})
	full := func(ref string, schemes ...string) string {
		ref = strings.TrimSpace(visible(ref))
		if ref == "" || strings.HasPrefix(ref, "#") || len(ref) > 4096 {
			return ""
		}
		u, err := from.Parse(ref)
		if err != nil {
			return ""
		}
		for _, s := range schemes {
			if u.Scheme == s {
				return u.String()
			}
		}
		return ""
	}
	elements(doc, func(n *html.Node) {
		switch n.DataAtom {
		case atom.A:
			set(n, "href", full(attr(n, "href"), "http", "https", "mailto", "tel"))
			set(n, "title", "")
		case atom.Img:
			src := ""
			first, _, _ := strings.Cut(strings.TrimSpace(cmp.Or(attr(n, "srcset"), attr(n, "data-srcset"))), " ")
			for _, ref := range []string{attr(n, "data-src"), attr(n, "data-original"), attr(n, "data-lazy-src"), attr(n, "src"), first} {
				src = cmp.Or(src, full(ref, "http", "https"))
			}
			set(n, "src", src)
			set(n, "srcset", "")
			set(n, "title", "")
			set(n, "alt", oneLine(attr(n, "alt"), maxAlt))
		}
	})
}

// set gives an attribute a value; "" takes it away.
func set(n *html.Node, key, value string) {
	for i, a := range n.Attr {
		if a.Key == key && a.Namespace == "" {
			if value == "" {
				n.Attr = append(n.Attr[:i:i], n.Attr[i+1:]...)
				return
			}
			n.Attr[i].Val = value
			return
		}
	}
	if value != "" {
		n.Attr = append(n.Attr, html.Attribute{Key: key, Val: value})
	}
}

// toMarkdown converts a node; "" when the library cannot.
func toMarkdown(n *html.Node) (markdown string) {
	defer func() {
		if p := recover(); p != nil {
			markdown = ""
		}
	}()
	// Nothing is escaped: it takes the square of the length of a page full of
	// brackets, and whoever reads the text is no program that draws it.
	c := converter.NewConverter(converter.WithEscapeMode(converter.EscapeModeDisabled), converter.WithPlugins(
		base.NewBasePlugin(),
		commonmark.NewCommonmarkPlugin(commonmark.WithLinkEmptyContentBehavior(commonmark.LinkBehaviorSkip), commonmark.WithLinkEmptyHrefBehavior(commonmark.LinkBehaviorSkip), commonmark.WithListEndComment(false)),
		strikethrough.NewStrikethroughPlugin(),
		table.NewTablePlugin(table.WithCellPaddingBehavior(table.CellPaddingBehaviorMinimal), table.WithHeaderPromotion(true), table.WithSkipEmptyRows(true), table.WithNewlineBehavior(table.NewlineBehaviorPreserve)),
	))
	out, err := c.ConvertNode(n)
	if err != nil {
		return ""
	}
	return string(out)
}

// squeeze takes away empty lines beyond one, and spaces around the whole.
func squeeze(s string) string {
	return strings.TrimSpace(manyLines().ReplaceAllString(s, "\n\n"))
}

// plainText makes one text of a piece of HTML, as feeds and search services
// have it in their summaries.
func plainText(fragment string) string {
	if !strings.ContainsAny(fragment, "<&") {
		return visible(fragment)
	}
	return visible(textOf(hide(parse(fragment))))
}

// markdownOf makes markdown of a piece of HTML from a feed.
func markdownOf(fragment string, at *url.URL) string {
	if !strings.ContainsAny(fragment, "<&") {
		return strings.TrimSpace(fragment)
	}
	doc := hide(parse(fragment))
	absolute(doc, at)
	tame(doc)
	return cmp.Or(squeeze(toMarkdown(doc)), strings.TrimSpace(textOf(doc)))
}
