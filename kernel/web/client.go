// Package web reads pages of the web and asks search services, for agents.
//
// It promises, whatever a server sends:
//
//   - Every connection is the network guard's ([security.NetGuard]): the first
//     one and each to which a redirect leads. No cookie is kept, no key is sent
//     to a page, and nothing is asked that the caller did not ask for.
//   - What is read is bounded in bytes, counted after unpacking, and in time.
//   - What a person would not see on the page is left out as far as the page
//     itself tells: see [hide]. What comes out is still written by strangers, so
//     are titles, snippets and the pieces of a page that errors quote.
//   - A failure is a [sys.Error] with a sentence of its own.
package web

import (
	"cmp"
	"context"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"time"

	"oxios/kernel/document"
	"oxios/kernel/security"
	"oxios/kernel/sys"
)

// The defaults of a [Config], and of the options.
const (
	DefaultMaxBytes  = 10 << 20         // bytes of an answer, unpacked
	DefaultTimeout   = 30 * time.Second // from the first look-up to the last byte
	DefaultMax       = 40_000           // characters of a page that one call returns
	DefaultResults   = 8
	MaxResults       = 20
	MaxQuery         = 400 // characters
	defaultUserAgent = "Mozilla/5.0 (compatible; Oxios)"
)

// Config is what a client works with. Only Guard must be set.
type Config struct {
	// Guard judges and makes every connection. It is not changed.
	Guard *security.NetGuard
	// Clock tells when a page was fetched; nil is the real time.
	Clock sys.Clock
	// UserAgent is what servers are told; "" says that it is Oxios.
	UserAgent string
	// MaxBytes bounds an answer, unpacked; 0 is [DefaultMaxBytes].
	MaxBytes int64
	// Timeout bounds a call until the last byte came; 0 is [DefaultTimeout].
	Timeout time.Duration
	// Document reads PDF and Word files, in a process of its own as
	// [document.Command] has it. nil reads none: a fetch of one says so.
	Document func(ctx context.Context, file io.Reader, name string) (document.Result, error)
	// Service answers searches; the zero value is DuckDuckGo.
	Service Service
}

// Client fetches pages and searches. It may be used by many at once.
type Client struct{ Config }

// New makes a client. It starts nothing.
func New(c Config) *Client {
	c.UserAgent = cmp.Or(c.UserAgent, defaultUserAgent)
	c.MaxBytes = cmp.Or(c.MaxBytes, DefaultMaxBytes)
	c.Timeout = cmp.Or(c.Timeout, DefaultTimeout)
	return &Client{c}
}

// With returns a client that asks another search service.
func (c *Client) With(s Service) *Client {
	d := *c
	d.Service = s
	return &d
}

// Elsewhere is the error of a page that leads to an address which
// [FetchOptions.Follow] does not follow. Nothing was asked of that one.
type Elsewhere struct {
	From []string // the addresses that led there, the one asked for first
	To   string
}

func (e *Elsewhere) Error() string { return "the page leads to " + e.To }

// trip is the way of one request: it says who asks, and remembers the
// addresses that it came by and why a name was not found.
type trip struct {
	base      http.RoundTripper
	userAgent string
	accept    string
	follow    func(from, to *url.URL) bool // nil follows wherever it leads
	at        *url.URL
	addresses []string // in their order; the last one answered, or failed
	lookup    error
}

// RoundTrip implements [http.RoundTripper] for [security.NetGuard.Get].
func (t *trip) RoundTrip(req *http.Request) (*http.Response, error) {
	if t.at != nil && t.follow != nil && !t.follow(t.at, req.URL) {
		return nil, &Elsewhere{From: t.addresses, To: req.URL.String()}
	}
	t.at = req.URL
	t.addresses = append(t.addresses, req.URL.String())
	r := req.Clone(req.Context()) // a round tripper leaves its request as it is
	r.Header.Set("User-Agent", t.userAgent)
	if t.accept != "" {
		r.Header.Set("Accept", t.accept)
	}
	return t.base.RoundTrip(r)
}

// guard returns a copy of the client's guard that tells t why a name was not
// found: the guard itself only says that it was not.
func (c *Client) guard(t *trip) *security.NetGuard {
	g := *c.Guard
	g.Granted = slices.Clone(g.Granted)
	resolve := c.resolver()
	g.Resolve = func(ctx context.Context, name string) ([]netip.Addr, error) {
		answers, err := resolve(ctx, name)
		if err == nil && len(answers) == 0 {
			err = &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
		}
		t.lookup = err
		return answers, err
	}
	return &g
}

func (c *Client) resolver() func(context.Context, string) ([]netip.Addr, error) {
	if c.Guard.Resolve != nil {
		return c.Guard.Resolve
	}
	return func(ctx context.Context, name string) ([]netip.Addr, error) {
		return net.DefaultResolver.LookupNetIP(ctx, "ip", name+".") // never through the search list
	}
}

// readAll reads at most limit bytes and reports whether there were more.
func readAll(r io.Reader, limit int64) (data []byte, more bool, err error) {
	data, err = io.ReadAll(io.LimitReader(r, limit+1))
	if int64(len(data)) > limit {
		return data[:limit], true, nil
	}
	return data, false, err
}
