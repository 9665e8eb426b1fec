package kernel

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/netip"
	"net/url"
	"strings"

	"oxios/kernel/security"
	"oxios/kernel/sys"
	"oxios/kernel/web"
)

// The types of pages and results live in web.
type (
	WebPage   = web.Page
	WebResult = web.Result
)

// WebFetch is a page to be read.
type WebFetch struct {
	URL  string `json:"url"`            // http or https
	Raw  bool   `json:"raw,omitempty"`  // as it was sent, instead of readable markdown
	From int    `json:"from,omitempty"` // the character to begin at, as a page's next said
	Max  int    `json:"max,omitempty"`  // characters; 40,000 by default
}

// WebSearch is what to look for in the web.
type WebSearch struct {
	Query     string `json:"query"`
	Count     int    `json:"count,omitempty"`     // 8 by default, at most 20
	Lang      string `json:"lang,omitempty"`      // ko, en-US; "" is any
	Freshness string `json:"freshness,omitempty"` // day, week, month or year; "" is any time
}

// SearchService says who answers searches of the web.
type SearchService struct {
	Kind string `json:"kind"` // duckduckgo, searxng, brave or tavily
	URL  string `json:"url"`  // of an instance of its own; "" for the public one
	Key  bool   `json:"key"`  // whether there is one
}

// Fetch reads a page of the web as markdown, through the network guard. What
// comes back was written by strangers: an agent's run carries that from then on.
// Where a page leads to an address that an agent may not be led to unasked, that
// address is a call of its own.
func (a *BrowserAPI) Fetch(ctx context.Context, f WebFetch) (WebPage, error) {
	var before []string // the addresses that led here
	agent := a.who.Kind == sys.KindAgent
	var open []netip.Prefix // addresses of the own network that a person has to open for it
	if agent {
		open = a.k.opts.Net.Closed(ctx, strings.TrimSpace(f.URL), false)
	}
	for {
		page, next, err := a.fetch(ctx, f, before, open)
		if refused, ok := errors.AsType[*security.NetRefusal](err); ok && agent && len(before)+len(open) == 0 && refused.Verdict.Tier == security.TierAsk {
			// Only now that the guard has let the name pass may it be looked up.
			if open = a.k.opts.Net.Closed(ctx, strings.TrimSpace(f.URL), true); len(open) > 0 {
				continue
			}
		}
		if next == nil {
			return page, err
		}
		open = nil
		if before = append(before, next.From...); len(before) > maxLed {
			return WebPage{}, sys.Errorf(sys.CodeRefused, "%s leads on from address to address too often.", sys.Shorten(before[0], 300)).WithHint("Use another source.")
		}
		f.URL = next.To
	}
}

// maxLed is how many addresses may lead to one that a person is asked about.
const maxLed = 5

// fetch reads one page, or tells where it leads if that is to be asked for apart.
// open are the addresses of the own network that a person has to open for it.
func (a *BrowserAPI) fetch(ctx context.Context, f WebFetch, before []string, open []netip.Prefix) (WebPage, *web.Elsewhere, error) {
	if err := a.noMarkSent(f.URL); err != nil {
		return WebPage{}, nil, err
	}
	host := hostOf(f.URL)
	title := sys.Say("Reads the page %s", sys.Shorten(f.URL, 300))
	if len(before) > 0 {
		title = sys.Say("Reads the page %s, where %s leads", sys.Shorten(f.URL, 300), sys.Shorten(before[len(before)-1], 300))
	}
	act := a.reaching("browser.fetch", host, f.URL, title, f)
	if a.who.Kind == sys.KindAgent {
		act.words = &wording{host: security.HostOf(f.URL), address: strings.TrimSpace(f.URL), goesOn: f.From > 0}
	}
	if len(open) > 0 {
		var err error
		if act, err = a.opening(ctx, act, strings.TrimSpace(f.URL), open); err != nil {
			return WebPage{}, nil, err
		}
	}
	at := f.URL // where the page was in the end
	act.brought = func(ctx context.Context) (Labels, error) {
		if net := a.k.opts.Net; net.Inside(ctx, strings.TrimSpace(f.URL)) || net.Inside(ctx, at) {
			return Labels{insideLabel(host, f.URL)}, nil
		}
		return Labels{webLabel(host, f.URL)}, nil
	}
	var next *web.Elsewhere
	page, err := guard(ctx, a.caller, act, func(ctx context.Context) (WebPage, error) {
		opt := web.FetchOptions{Raw: f.Raw, From: f.From, Max: f.Max, Open: open}
		var unknown error
		if first := wordedOf(ctx); a.who.Kind == sys.KindAgent {
			opt.Follow = func(from, to *url.URL) bool {
				ok, err := a.follows(ctx, first, from, to)
				unknown = err
				return ok && err == nil
			}
		}
		page, err := a.k.web.Fetch(ctx, f.URL, opt)
		if unknown != nil {
			return WebPage{}, unknown
		}
		if to, ok := errors.AsType[*web.Elsewhere](err); ok {
			next = to
			return WebPage{}, nil
		}
		if err != nil {
			return page, err
		}
		at = page.URL
		page.Redirects = append(before, page.Redirects...)
		texts := []string{page.Title, page.Markdown}
		if n := len(page.Redirects); n > 0 { // the first address is the agent's own; the server led to the others
			texts = append(append(texts, page.Redirects[1:]...), page.URL)
		}
		err = a.heard(ctx, strings.TrimSpace(f.URL), texts...)
		if a.who.Kind == sys.KindAgent {
			page.Title, page.Markdown = a.k.masked(page.Title), a.k.masked(page.Markdown)
		}
		return page, err
	})
	if err != nil {
		next = nil
	}
	return page, next, err
}

// Search asks the search service that the person chose. Nothing found is no
// error.
func (a *BrowserAPI) Search(ctx context.Context, s WebSearch) ([]WebResult, error) {
	if err := a.noMarkSent(s.Query); err != nil {
		return nil, err
	}
	kind := a.k.config.get().SearchService
	act := a.reaching("browser.search", kind, kind, sys.Say("Searches the web for: %s", sys.Shorten(s.Query, 300)), s)
	if a.who.Kind == sys.KindAgent {
		_, at := a.k.searchKey()
		act.words = &wording{host: security.HostOf(at), query: s.Query + s.Lang}
	}
	return guard(ctx, a.caller, act, func(ctx context.Context) ([]WebResult, error) {
		service, err := a.k.searchService(ctx)
		if err != nil {
			return nil, err
		}
		found, err := a.k.web.With(service).Search(ctx, s.Query, web.SearchOptions{Count: s.Count, Lang: s.Lang, Freshness: s.Freshness})
		if err != nil {
			return nil, err
		}
		var texts []string
		for _, r := range found {
			texts = append(texts, r.URL, r.Title, r.Snippet)
		}
		return found, a.heard(ctx, "", texts...)
	})
}

// noMarkSent refuses what an agent would send with a mark in it, also as addresses
// write one.
func (a *BrowserAPI) noMarkSent(text string) error {
	if plain, err := url.QueryUnescape(text); err == nil {
		text += "\n" + plain
	}
	return a.noMark(text)
}

// reaching is a call that reads the web. Unlike a command with the network it
// sends nothing but an address or the words of a search, so it asks in mode ask
// alone, or where the rule of taint does.
func (a *BrowserAPI) reaching(call, host, source string, title sys.Words, subject any) action {
	return action{
		call: call, resource: "web:" + host, effect: security.EffectRead, network: true, subject: subject, asks: a.scope.mode == security.ModeAsk,
		meta: map[string]any{"host": host},
		card: func(r *security.Request) { r.Title, r.TitleKO = title.EN, title.In(true) },
		brought: func(context.Context) (Labels, error) {
			return Labels{webLabel(host, source)}, nil
		},
	}
}

// hostOf is the machine of an address, in lower case; "" for none.
func hostOf(address string) string {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Hostname())
}

// Service says who answers searches.
func (a *BrowserAPI) Service(ctx context.Context) (SearchService, error) {
	return guard(ctx, a.caller, action{call: "browser.service", resource: "web"}, func(ctx context.Context) (SearchService, error) {
		return a.k.describeSearch(ctx)
	})
}

// SetKey keeps the key of the search service, bound to its machine; "" removes
// it.
func (a *BrowserAPI) SetKey(ctx context.Context, key string) (SearchService, error) {
	return guard(ctx, a.caller, action{call: "browser.setKey", resource: "web"}, func(ctx context.Context) (SearchService, error) {
		name, at := a.k.searchKey()
		var err error
		if strings.TrimSpace(key) == "" {
			if err = a.k.keys.Delete(ctx, name); sys.CodeOf(err) == sys.CodeNotFound {
				err = nil
			}
		} else {
			_, err = a.k.keys.Set(ctx, name, at, key)
			a.k.redact.AddSecret(key)
		}
		if err != nil {
			return SearchService{}, err
		}
		return a.k.describeSearch(ctx)
	})
}

func (k *Kernel) describeSearch(ctx context.Context) (SearchService, error) {
	s, err := k.searchService(ctx)
	return SearchService{Kind: cmp.Or(s.Kind, web.DuckDuckGo), URL: s.URL, Key: s.Key != ""}, err
}

// searchKey names the key of the search service, and the machine that it is for.
func (k *Kernel) searchKey() (name, at string) {
	cfg := k.config.get()
	return "search-" + cfg.SearchService, cmp.Or(cfg.SearchURL, web.Home(cfg.SearchService))
}

// searchService is the search service that the person chose, with its key.
func (k *Kernel) searchService(ctx context.Context) (web.Service, error) {
	cfg := k.config.get()
	s := web.Service{Kind: cfg.SearchService, URL: cfg.SearchURL, Private: cfg.SearchURL != ""}
	name, at := k.searchKey()
	if at == "" {
		return s, nil
	}
	key, err := k.keys.Get(ctx, name, at)
	if sys.CodeOf(err) == sys.CodeNotFound {
		return s, nil
	}
	if err != nil {
		return s, err
	}
	s.Key = key
	k.redact.AddSecret(key)
	return s, nil
}

// newWeb makes what reads the web.
func (k *Kernel) newWeb() *web.Client {
	return web.New(web.Config{Guard: k.opts.Net, Clock: k.clock, Document: k.readDocument})
}

// checkSearchURL says what is wrong with the address of a search service.
func checkSearchURL(address string) error {
	if address == "" {
		return nil
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || net.ParseIP(u.Hostname()) == nil && strings.ContainsAny(u.Hostname(), " _") {
		return sys.Errorf(sys.CodeInvalid, "search_url is %q, but must be an http or https address, or empty", address)
	}
	return nil
}
