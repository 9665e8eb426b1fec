package web

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"oxios/kernel/document"
	"oxios/kernel/sys"
)

// FetchOptions choose what of a page comes back.
type FetchOptions struct {
	Raw  bool // the text as it was sent, HTML with its tags and with what the page hides
	From int  // the character to begin at, as a Next said
	Max  int  // characters; 0 is [DefaultMax]

	// Follow says whether an address that the page leads to is asked for; nil
	// follows all that the guard lets through. Where it says no, the fetch fails
	// with [*Elsewhere].
	Follow func(from, to *url.URL) bool

	// Open are addresses of the own machine or network that the person opened for
	// this page.
	Open []netip.Prefix
}

// Page is what an address holds. All of its texts are written by strangers.
type Page struct {
	URL         string    `json:"url"` // where the page was in the end
	Title       string    `json:"title,omitempty"`
	Author      string    `json:"author,omitempty"`
	Published   string    `json:"published,omitempty"` // RFC 3339 where the page says it in a way that can be read
	Site        string    `json:"site,omitempty"`      // its name for itself
	ContentType string    `json:"content_type"`        // without parameters: "text/html"
	Markdown    string    `json:"markdown"`            // the piece that was asked for
	Links       int       `json:"links,omitempty"`     // in the whole text
	Total       int       `json:"total"`               // characters of the whole text
	Next        int       `json:"next,omitempty"`      // the From with which it goes on, 0 at the end
	Truncated   bool      `json:"truncated,omitempty"` // more was sent than is read: the text has no end
	Fetched     time.Time `json:"fetched"`             // UTC
	Redirects   []string  `json:"redirects,omitempty"` // the addresses that led to URL, the one asked for first
}

// reading is a page as it was sent.
type reading struct {
	page  *Page
	at    *url.URL
	data  []byte
	cut   bool   // data is only the beginning
	typed string // Content-Type as the server wrote it
}

// Fetch reads the page at address, http or https. HTML becomes markdown of its
// main article, or of all of it where none stands out; feeds become a list;
// JSON is indented; PDF and Word files become text; other text stays as it is.
// Each call asks the server anew, also one that goes on at From.
//
// The codes of its errors: refused (the guard), not_found, network (also TLS),
// timeout, forbidden, rate_limit, unavailable, too_large, invalid (also a type
// that cannot be read).
func (c *Client) Fetch(ctx context.Context, address string, opt FetchOptions) (Page, error) {
	opt.Max = cmp.Or(opt.Max, DefaultMax)
	if opt.From < 0 || opt.Max < 0 {
		return Page{}, sys.Errorf(sys.CodeInvalid, "A page has no character %d.", min(opt.From, opt.Max)).
			WithHint("Give 0, or the number with which the last piece said it goes on.")
	}
	r, err := c.get(ctx, strings.TrimSpace(address), opt)
	if err != nil {
		return Page{}, err
	}
	p := r.page
	text, err := c.render(ctx, r, opt.Raw)
	if err != nil {
		return Page{}, err
	}
	p.Title, p.Author, p.Site = oneLine(p.Title, 300), oneLine(p.Author, 200), oneLine(p.Site, 200)
	p.Markdown, p.Total, p.Next = part(visible(text), opt.From, opt.Max)
	if opt.From > 0 && opt.From >= p.Total {
		return Page{}, sys.Errorf(sys.CodeInvalid, "%s has %d characters: there is nothing from character %d on.", shown(p.URL), p.Total, opt.From).
			WithHint("Begin before that. The page may have changed since it was read last.")
	}
	return *p, nil
}

// get asks for a page and reads its answer.
func (c *Client) get(ctx context.Context, address string, opt FetchOptions) (*reading, error) {
	within, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	t := &trip{userAgent: c.UserAgent, follow: opt.Follow, accept: "text/html,application/xhtml+xml,application/json;q=0.9,application/xml;q=0.9,text/plain;q=0.8,*/*;q=0.5"}
	g := c.guard(t)
	g.Granted = slices.Concat(g.Granted, opt.Open) // the list of the client is shared by all its readings
	transport := g.Transport()
	transport.ResponseHeaderTimeout = c.Timeout
	t.base = transport
	if u, err := url.Parse(address); err == nil && u.Fragment != "" {
		address, _, _ = strings.Cut(address, "#") // it is for whoever reads, not for the server
	}
	res, err := g.Get(within, t, address)
	if elsewhere, ok := errors.AsType[*Elsewhere](err); ok {
		return nil, elsewhere
	}
	if err != nil {
		return nil, c.failure(ctx, err, address, t)
	}
	defer res.Body.Close()
	at := t.addresses[len(t.addresses)-1]
	r := &reading{typed: res.Header.Get("Content-Type"), at: res.Request.URL, page: &Page{URL: at, Fetched: c.Clock.Now(), Redirects: slices.Clone(t.addresses[:len(t.addresses)-1])}}
	if packed := res.Header.Get("Content-Encoding"); packed != "" && packed != "identity" {
		return nil, sys.Errorf(sys.CodeInvalid, "%s is packed in a way that was not asked for and is not read (%s).", shown(at), sys.Shorten(visible(packed), 40)).
			WithHint("Use another source.")
	}
	limit := c.MaxBytes
	failed := res.StatusCode < 200 || res.StatusCode > 299
	if failed {
		limit = min(limit, 64<<10)
	}
	r.data, r.cut, err = readAll(res.Body, limit)
	if failed {
		return nil, refusedStatus(at, res.StatusCode, c.gist(r))
	}
	if err != nil {
		return nil, c.unread(ctx, err, t, at)
	}
	r.page.Truncated = r.cut
	return r, nil
}

// gist is the text of an answer that is a failure.
func (c *Client) gist(r *reading) string {
	switch kindOf(r) {
	case kindHTML:
		doc := parse(decode(r.data, r.typed))
		return textOf(hide(doc))
	case kindText, kindJSON, kindXML:
		return decode(r.data, r.typed)
	}
	return ""
}

// kind is how an answer is read.
type kind int

const (
	kindOther kind = iota
	kindHTML
	kindXML
	kindJSON
	kindText
	kindDocument // PDF, Word
)

// textTypes are types that are text though their names do not say so.
var textTypes = []string{
	"application/javascript", "application/x-javascript", "application/ecmascript", "application/typescript", "application/yaml", "application/x-yaml", "application/toml",
	"application/sql", "application/x-sh", "application/x-tex", "application/x-httpd-php", "application/x-ndjson", "application/jsonl", "application/graphql",
	"application/x-subrip", "application/x-bibtex", "application/pgp-signature", "application/x-www-form-urlencoded", "message/rfc822",
}

// kindOf tells how r is read, and sets the type that it has in the end. What
// the server declares counts, except for documents, which are known by their content.
func kindOf(r *reading) kind {
	declared := mediaType(r.typed)
	r.page.ContentType = declared
	if is, err := document.Sniff(bytes.NewReader(r.data), int64(len(r.data))); err == nil && (is == document.PDF || is == document.Word) {
		r.page.ContentType = cmp.Or(declared, "application/pdf")
		return kindDocument
	}
	if declared == "" {
		declared = mediaType(http.DetectContentType(r.data))
		if !strings.HasPrefix(declared, "text/") && sys.PlainText(r.data[:min(len(r.data), 512)]) {
			declared = "text/plain"
		}
		r.page.ContentType = cmp.Or(declared, "application/octet-stream")
	}
	switch {
	case declared == "text/html", declared == "application/xhtml+xml":
		return kindHTML
	case declared == "application/json", declared == "text/json", strings.HasSuffix(declared, "+json"):
		return kindJSON
	case declared == "text/xml", declared == "application/xml", strings.HasSuffix(declared, "+xml") && declared != "image/svg+xml":
		return kindXML
	case strings.HasPrefix(declared, "text/"), slices.Contains(textTypes, declared), declared == "image/svg+xml":
		return kindText
	}
	return kindOther
}

// render makes text of what came, and fills in what it says of itself.
func (c *Client) render(ctx context.Context, r *reading, raw bool) (string, error) {
	p, is := r.page, kindOf(r)
	if len(bytes.TrimSpace(r.data)) == 0 {
		return "", errEmpty(p.URL)
	}
	if is == kindDocument {
		return c.renderDocument(ctx, r)
	}
	if is == kindOther {
		return "", errType(p)
	}
	text := decode(r.data, r.typed)
	if strings.ContainsRune(text[:min(len(text), 4096)], 0) {
		return "", errType(p) // it is no text, whatever the server says
	}
	if raw || is == kindText {
		return text, nil
	}
	if r.cut && is != kindHTML {
		return "", tooLarge(p.URL, c.MaxBytes)
	}
	switch is {
	case kindJSON:
		var out bytes.Buffer
		if err := json.Indent(&out, []byte(strings.TrimSpace(text)), "", "  "); err == nil {
			return out.String(), nil
		}
		return text, nil // several values, or nearly JSON
	case kindXML:
		return renderXML(r, text)
	}
	return renderHTML(r, text)
}

func (c *Client) renderDocument(ctx context.Context, r *reading) (string, error) {
	p := r.page
	if r.cut {
		return "", tooLarge(p.URL, c.MaxBytes)
	}
	if c.Document == nil {
		return "", sys.Errorf(sys.CodeUnavailable, "%s is a PDF or Word file, and the part of Oxios that reads those is missing here.", shown(p.URL)).
			WithHint("Look for the same text as a page.")
	}
	name := oneLine(path.Base(r.at.Path), 100)
	if name == "/" || name == "." || name == "" {
		name = r.at.Hostname()
	}
	got, err := c.Document(ctx, bytes.NewReader(r.data), name)
	if err != nil {
		return "", err
	}
	if got.Kind != document.PDF && got.Kind != document.Word {
		return "", errType(p)
	}
	p.Title = name
	text := string(got.Content)
	if got.Note.EN != "" {
		text += "\n\n" + got.Note.EN
	}
	return text, nil
}

func errEmpty(address string) error {
	return sys.Errorf(sys.CodeNotFound, "%s holds no text.", shown(address)).
		WithHint("Use another source, or another page of the same site.")
}

func errType(p *Page) error {
	return sys.Errorf(sys.CodeInvalid, "%s is of type %s, which is not read here.", shown(p.URL), sys.Shorten(visible(p.ContentType), 100)).
		WithHint("Pages, text, JSON, XML, feeds, PDF and Word files are read. A program in a command can fetch other files.")
}
