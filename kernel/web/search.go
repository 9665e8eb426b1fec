package web

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"oxios/kernel/security"
	"oxios/kernel/sys"
)

// The kinds of search services.
const (
	DuckDuckGo = "duckduckgo" // its page without scripts; no key; the default
	SearXNG    = "searxng"    // an instance with its JSON format switched on; needs a URL
	Brave      = "brave"      // needs a key
	Tavily     = "tavily"     // needs a key
)

// Service is who answers searches.
type Service struct {
	Kind string `json:"kind"`          // "" is [DuckDuckGo]
	URL  string `json:"url,omitempty"` // where it is, without the path of a search; "" is the public one
	Key  string `json:"-"`
	// Private says that the person named URL themself and that it may lie on
	// their own machine or network: exactly this machine is opened then, for
	// searches alone. What gives out credentials of a cloud stays closed.
	Private bool `json:"private,omitempty"`
}

// SearchOptions narrow a search. A service that knows no such thing leaves it out.
type SearchOptions struct {
	Count     int    // results, at most [MaxResults]; 0 is [DefaultResults]
	Lang      string // "ko", "en-US"; "" is any. Tavily knows no languages
	Freshness string // "day", "week", "month" or "year"; "" is any time
}

// Result is a page that a search found. Its texts are written by strangers.
type Result struct {
	Title     string `json:"title"`
	URL       string `json:"url"`
	Snippet   string `json:"snippet,omitempty"`
	Published string `json:"published,omitempty"` // RFC 3339, or as the service writes it
	Site      string `json:"site"`                // the machine, without www.
}

// maxAnswer bounds the answer of a search service.
const maxAnswer = 4 << 20

// engine is how one service is asked and answers. read gets answers of status
// 200 only; refuse may name a failure in a sentence of its own, or return nil.
type engine struct {
	name   string // as people know it
	home   string // its public address, "" when there is none
	key    bool   // whether it needs one
	ask    func(ctx context.Context, base *url.URL, s Service, q string, opt SearchOptions) (*http.Request, error)
	read   func(body []byte) ([]Result, error)
	refuse func(status int, body []byte) error
}

var engines = map[string]engine{
	DuckDuckGo: {name: "DuckDuckGo", home: "https://html.duckduckgo.com", ask: askDuckDuckGo, read: readDuckDuckGo, refuse: refuseDuckDuckGo},
	SearXNG:    {name: "SearXNG", ask: askSearXNG, read: readSearXNG, refuse: refuseSearXNG},
	Brave:      {name: "Brave Search", home: "https://api.search.brave.com", key: true, ask: askBrave, read: readBrave, refuse: refuseBrave},
	Tavily:     {name: "Tavily", home: "https://api.tavily.com", key: true, ask: askTavily, read: readTavily, refuse: refuseTavily},
}

// Home is the public address of a kind of service; "" where there is none.
func Home(kind string) string { return engines[cmp.Or(kind, DuckDuckGo)].home }

// Search asks the configured service for pages about q, of [MaxQuery]
// characters at most. Nothing found is an empty list and no error.
//
// The codes of its errors: invalid, auth (the key), rate_limit, quota,
// refused (the guard), network, timeout, unavailable (the service fails, or
// answers in a way that is not understood).
func (c *Client) Search(ctx context.Context, q string, opt SearchOptions) ([]Result, error) {
	q = strings.Join(strings.Fields(visible(q)), " ")
	switch n := utf8.RuneCountInString(q); {
	case n == 0:
		return nil, sys.Errorf(sys.CodeInvalid, "There is nothing to search for.").WithHint("Give a few words.")
	case n > MaxQuery:
		return nil, sys.Errorf(sys.CodeInvalid, "A search has at most %d characters, and this one has %d.", MaxQuery, n).
			WithHint("Give a few words that the page would contain.")
	}
	if !slices.Contains([]string{"", "day", "week", "month", "year"}, opt.Freshness) {
		return nil, sys.Errorf(sys.CodeInvalid, "A search knows no freshness %q.", sys.Shorten(opt.Freshness, 40)).WithHint("Give day, week, month or year, or leave it out.")
	}
	if opt.Count = min(opt.Count, MaxResults); opt.Count <= 0 {
		opt.Count = DefaultResults
	}
	opt.Lang = cleanLang(opt.Lang)
	s := c.Service
	e, ok := engines[cmp.Or(s.Kind, DuckDuckGo)]
	if !ok {
		return nil, sys.Errorf(sys.CodeInvalid, "There is no search service %q.", sys.Shorten(s.Kind, 40)).
			WithHint("Choose duckduckgo, searxng, brave or tavily.")
	}
	if e.key && s.Key == "" {
		return nil, sys.Errorf(sys.CodeAuth, "%s needs a key, and none is set.", e.name).
			WithHint("Set it with `oxios web key`.")
	}
	base, err := e.base(s)
	if err != nil {
		return nil, err
	}
	req, err := e.ask(ctx, base, s, q, opt)
	if err != nil {
		return nil, err
	}
	body, err := c.exchange(ctx, e, req)
	if err != nil {
		return nil, err
	}
	found, err := e.read(body)
	if err != nil {
		return nil, err
	}
	return tidy(found, opt.Count), nil
}

// base is where the service is.
func (e engine) base(s Service) (*url.URL, error) {
	at := cmp.Or(s.URL, e.home)
	if at == "" {
		return nil, sys.Errorf(sys.CodeInvalid, "%s needs the address of an instance, and none is set.", e.name).
			WithHint("Set it in Settings → Web search.")
	}
	u, err := url.Parse(at)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https" {
		return nil, sys.Errorf(sys.CodeInvalid, "The address of the search service cannot be used: %s.", shown(at)).
			WithHint("Give one like https://search.example.org, without a name or password in it.")
	}
	if u.Scheme == "http" && s.Key != "" && e.key && !s.Private {
		return nil, sys.Errorf(sys.CodeInvalid, "The key of %s is not sent to %s, which is not encrypted.", e.name, shown(at)).
			WithHint("Give an address that begins with https://.")
	}
	u.RawQuery, u.Fragment = "", ""
	return u, nil
}

// exchange sends a request to a service and returns the answer. It follows no
// redirect: a key and a query are for the service alone.
func (c *Client) exchange(ctx context.Context, e engine, req *http.Request) ([]byte, error) {
	within, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	t := &trip{userAgent: c.UserAgent}
	g := c.guard(t)
	at := req.URL.Scheme + "://" + req.URL.Host + req.URL.Path // what is searched for is no part of a sentence
	if c.Service.Private {
		if err := open(within, g, req.URL.Hostname()); err != nil {
			return nil, c.failure(ctx, err, at, t)
		}
	}
	transport := g.Transport()
	transport.ResponseHeaderTimeout = c.Timeout
	t.base = transport
	res, err := t.RoundTrip(req.WithContext(within))
	if t.addresses[0] = at; err != nil {
		return nil, c.failure(ctx, err, at, t)
	}
	defer res.Body.Close()
	body, more, err := readAll(res.Body, maxAnswer)
	switch {
	case err != nil:
		return nil, c.unread(ctx, err, t, at)
	case more:
		return nil, errStrange(e.name)
	}
	if err := e.failed(res, body); err != nil {
		return nil, err
	}
	return body, nil
}

// open lets g reach the machine that the person named, at the addresses that
// it has now, and nothing else of their network.
func open(ctx context.Context, g *security.NetGuard, host string) error {
	g.Granted, g.Grants = nil, nil
	if a, err := netip.ParseAddr(host); err == nil {
		g.Granted = []netip.Prefix{prefixOf(a)}
		return nil
	}
	answers, err := g.Resolve(ctx, strings.TrimSuffix(host, "."))
	if err != nil || len(answers) == 0 {
		return cmp.Or(err, error(&net.DNSError{Err: "no such host", Name: host, IsNotFound: true}))
	}
	for _, a := range answers {
		g.Granted = append(g.Granted, prefixOf(a))
	}
	g.Resolve = func(context.Context, string) ([]netip.Addr, error) { return answers, nil }
	return nil
}

func prefixOf(a netip.Addr) netip.Prefix {
	a = a.Unmap().WithZone("")
	return netip.PrefixFrom(a, a.BitLen())
}

// failed says what is wrong with an answer, nil when nothing is.
func (e engine) failed(res *http.Response, body []byte) error {
	if e.refuse != nil {
		if err := e.refuse(res.StatusCode, body); err != nil {
			return err
		}
	}
	switch status := res.StatusCode; {
	case status == http.StatusOK:
		return nil
	case status == http.StatusTooManyRequests:
		err := sys.Errorf(sys.CodeRateLimit, "%s takes no more searches for the moment.", e.name)
		if wait, bad := strconv.Atoi(res.Header.Get("Retry-After")); bad == nil && wait > 0 && wait < 86400 {
			return err.WithHint("Wait %d seconds, and search again.", wait)
		}
		return err.WithHint("Wait a little, and search again.")
	case status == http.StatusPaymentRequired:
		return e.spent()
	case (status == http.StatusUnauthorized || status == http.StatusForbidden) && e.key:
		return e.badKey()
	case status >= 300 && status < 400:
		return sys.Errorf(sys.CodeUnavailable, "%s sends on to another address, which is not followed with a search.", e.name).
			WithHint("Set the address of the service as it is now in Settings → Web search.")
	default:
		said := plainText(string(body[:min(len(body), 4096)]))
		return sys.Errorf(sys.CodeUnavailable, "%s answered with status %d: %q", e.name, status, oneLine(said, 300)).
			WithHint("Try again later, or choose another service in Settings → Web search.")
	}
}

func (e engine) badKey() error {
	return sys.Errorf(sys.CodeAuth, "%s does not accept the key.", e.name).
		WithHint("Set another one with `oxios web key`.")
}

func (e engine) spent() error {
	return sys.Errorf(sys.CodeQuota, "The plan at %s has no searches left.", e.name).
		WithHint("Raise the plan there, or choose another service in Settings → Web search.")
}

// errStrange says that an answer is not what the service is known for.
func errStrange(name string) error {
	return sys.Errorf(sys.CodeUnavailable, "%s answered in a way that Oxios does not understand.", name).
		WithHint("Try again later, or choose another service in Settings → Web search.")
}

// readJSON reads the answer of a service that is called name.
func readJSON(name string, body []byte, into any) error {
	if err := json.Unmarshal(body, into); err != nil {
		e := sys.AsError(errStrange(name))
		return e.WithCause(err)
	}
	return nil
}

func get(ctx context.Context, u *url.URL, query url.Values) (*http.Request, error) {
	v := *u
	v.RawQuery = query.Encode()
	return http.NewRequestWithContext(ctx, http.MethodGet, v.String(), http.NoBody)
}

func post(ctx context.Context, u *url.URL, body io.Reader) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), body)
	if err == nil {
		req.Header.Set("Content-Type", "application/json")
	}
	return req, err
}

// cleanLang keeps a language that is written as one: "ko", "en-US".
func cleanLang(lang string) string {
	code, region, _ := strings.Cut(strings.ReplaceAll(lang, "_", "-"), "-")
	letters := func(s string, least, most int) bool {
		return len(s) >= least && len(s) <= most && strings.Trim(strings.ToLower(s), "abcdefghijklmnopqrstuvwxyz") == ""
	}
	switch {
	case !letters(code, 2, 3):
		return ""
	case !letters(region, 2, 4):
		return strings.ToLower(code)
	}
	return strings.ToLower(code) + "-" + strings.ToUpper(region)
}

// tidy makes the texts of results one line each, leaves out what is no page or
// comes twice, and keeps count of them.
func tidy(found []Result, count int) []Result {
	out := []Result{}
	seen := map[string]bool{}
	for _, r := range found {
		u, err := url.Parse(strings.TrimSpace(visible(r.URL)))
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || len(r.URL) > 4096 || seen[u.String()] {
			continue
		}
		r.URL = u.String()
		seen[r.URL] = true
		r.Site = strings.TrimPrefix(oneLine(u.Hostname(), 200), "www.")
		r.Title = cmp.Or(oneLine(plainText(r.Title), 200), r.Site)
		r.Snippet = oneLine(plainText(r.Snippet), 600)
		r.Published = date(r.Published)
		if out = append(out, r); len(out) == count {
			break
		}
	}
	return out
}
