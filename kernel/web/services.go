package web

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"

	"oxios/kernel/sys"
)

// SearXNG: https://docs.searxng.org/dev/search_api.html

func askSearXNG(ctx context.Context, base *url.URL, _ Service, q string, opt SearchOptions) (*http.Request, error) {
	query := url.Values{"q": {q}, "format": {"json"}, "language": {cmp.Or(opt.Lang, "all")}}
	if opt.Freshness != "" {
		query.Set("time_range", opt.Freshness)
	}
	return get(ctx, base.JoinPath("search"), query)
}

func readSearXNG(body []byte) ([]Result, error) {
	var a struct {
		Results *[]struct {
			Title, URL, Content string
			PublishedDate       string `json:"publishedDate"`
		}
		Unresponsive [][]any `json:"unresponsive_engines"`
	}
	if err := readJSON("SearXNG", body, &a); err != nil {
		return nil, err
	}
	if a.Results == nil {
		return nil, errStrange("SearXNG")
	}
	var out []Result
	for _, r := range *a.Results {
		out = append(out, Result{Title: r.Title, URL: r.URL, Snippet: r.Content, Published: r.PublishedDate})
	}
	if len(out) == 0 && len(a.Unresponsive) > 0 {
		return nil, sys.Errorf(sys.CodeUnavailable, "SearXNG found nothing, since %d of the services that it asks did not answer.", len(a.Unresponsive)).
			WithHint("Try again later, or look at its settings.")
	}
	return out, nil
}

func refuseSearXNG(status int, body []byte) error {
	page := bytes.HasPrefix(bytes.TrimSpace(body), []byte("<"))
	if status == http.StatusForbidden || status == http.StatusOK && page {
		return sys.Errorf(sys.CodeUnavailable, "This SearXNG does not give its results as JSON.").
			WithHint("Add `json` under `search: formats:` in its settings.yml, and start it again.")
	}
	return nil
}

// Brave: https://api-dashboard.search.brave.com/app/documentation/web-search

func askBrave(ctx context.Context, base *url.URL, s Service, q string, opt SearchOptions) (*http.Request, error) {
	query := url.Values{"q": {q}, "count": {strconv.Itoa(opt.Count)}, "text_decorations": {"false"}}
	code, region, _ := strings.Cut(opt.Lang, "-")
	// Its names for some languages are its own, and an unknown one is an error.
	switch known := map[string]string{"ja": "jp", "zh": "zh-hans", "pt": "pt-pt"}; {
	case code == "zh" && (region == "TW" || region == "HK" || region == "HANT"):
		query.Set("search_lang", "zh-hant")
	case code == "pt" && region == "BR":
		query.Set("search_lang", "pt-br")
	case known[code] != "":
		query.Set("search_lang", known[code])
	case code != "":
		query.Set("search_lang", code)
	}
	if opt.Freshness != "" {
		query.Set("freshness", "p"+opt.Freshness[:1])
	}
	req, err := get(ctx, base.JoinPath("res/v1/web/search"), query)
	if err == nil {
		req.Header.Set("Accept", "application/json")
		req.Header.Set("X-Subscription-Token", s.Key)
	}
	return req, err
}

func readBrave(body []byte) ([]Result, error) {
	var a struct {
		Type string
		Web  struct {
			Results []struct {
				Title, URL, Description, Age string
				PageAge                      string `json:"page_age"`
			}
		}
	}
	if err := readJSON("Brave Search", body, &a); err != nil {
		return nil, err
	}
	if a.Type != "search" && a.Web.Results == nil {
		return nil, errStrange("Brave Search")
	}
	var out []Result
	for _, r := range a.Web.Results {
		out = append(out, Result{Title: r.Title, URL: r.URL, Snippet: r.Description, Published: cmp.Or(r.PageAge, r.Age)})
	}
	return out, nil
}

func refuseBrave(status int, body []byte) error {
	switch { // the codes stand in error.code
	case status == http.StatusUnprocessableEntity && bytes.Contains(body, []byte("SUBSCRIPTION_TOKEN_INVALID")):
		return engine{name: "Brave Search"}.badKey()
	case status == http.StatusTooManyRequests && (bytes.Contains(body, []byte("QUOTA_LIMITED")) || bytes.Contains(body, []byte("USAGE_LIMIT_EXCEEDED"))):
		return engine{name: "Brave Search"}.spent()
	}
	return nil
}

// Tavily: https://docs.tavily.com/documentation/api-reference/endpoint/search

func askTavily(ctx context.Context, base *url.URL, s Service, q string, opt SearchOptions) (*http.Request, error) {
	body := map[string]any{"query": q, "max_results": opt.Count, "search_depth": "basic"}
	if opt.Freshness != "" {
		body["time_range"] = opt.Freshness
	}
	raw, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	req, err := post(ctx, base.JoinPath("search"), bytes.NewReader(raw))
	if err == nil {
		req.Header.Set("Authorization", "Bearer "+s.Key)
	}
	return req, err
}

func readTavily(body []byte) ([]Result, error) {
	var a struct {
		Results *[]struct {
			Title, URL, Content string
			Published           string `json:"published_date"`
		}
	}
	if err := readJSON("Tavily", body, &a); err != nil {
		return nil, err
	}
	if a.Results == nil {
		return nil, errStrange("Tavily")
	}
	var out []Result
	for _, r := range *a.Results {
		out = append(out, Result{Title: r.Title, URL: r.URL, Snippet: r.Content, Published: r.Published})
	}
	return out, nil
}

func refuseTavily(status int, _ []byte) error {
	if status == 432 || status == 433 { // the plan's limit, the limit of paying as one goes
		return engine{name: "Tavily"}.spent()
	}
	return nil
}

// DuckDuckGo: the page for browsers without scripts. It has no interface for
// programs, so that a change of the page must show as an error.

func askDuckDuckGo(ctx context.Context, base *url.URL, _ Service, q string, opt SearchOptions) (*http.Request, error) {
	// A word with an exclamation mark in front sends on to another site.
	words := strings.Fields(q)
	for i, w := range words {
		words[i] = strings.TrimLeft(w, `!\`)
	}
	query := url.Values{"q": {strings.Join(words, " ")}, "kl": {ddgRegion(opt.Lang)}}
	if opt.Freshness != "" {
		query.Set("df", opt.Freshness[:1])
	}
	// As the form on the page sends it: a GET is sooner taken for a robot's.
	req, err := post(ctx, base.JoinPath("html/"), strings.NewReader(query.Encode()))
	if err == nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Accept", "text/html")
	}
	return req, err
}

// ddgRegion is the region that stands for a language.
func ddgRegion(lang string) string {
	code, region, _ := strings.Cut(lang, "-")
	usual := map[string]string{"ko": "kr-kr", "en": "us-en", "ja": "jp-jp", "zh": "cn-zh", "de": "de-de", "fr": "fr-fr", "es": "es-es", "it": "it-it", "pt": "br-pt", "ru": "ru-ru", "nl": "nl-nl", "pl": "pl-pl", "sv": "se-sv", "tr": "tr-tr"}
	switch special := map[string]string{"ko": "kr-kr", "ja": "jp-jp"}; {
	case special[code] != "":
		return special[code]
	case len(region) == 2:
		return strings.ToLower(region) + "-" + code
	}
	return cmp.Or(usual[code], "wt-wt")
}

var (
	ddgResult  = cascadia.MustCompile("div.result:not(.result--ad)")
	ddgLink    = cascadia.MustCompile("a.result__a")
	ddgSnippet = cascadia.MustCompile(".result__snippet")
	ddgExtra   = cascadia.MustCompile(".result__extras")
	ddgNone    = cascadia.MustCompile(".no-results, .result--no-result")
	ddgBlock   = cascadia.MustCompile("#challenge-form, .anomaly-modal__title, .anomaly-modal__modal")
	noResults  = sys.Pattern(`No\s+results`)
	isoDate    = sys.Pattern(`\b\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}`)
)

func refuseDuckDuckGo(status int, body []byte) error {
	blocked := status == http.StatusAccepted || status == http.StatusForbidden || status == http.StatusTeapot
	if !blocked && status == http.StatusOK {
		if doc, err := html.Parse(bytes.NewReader(body)); err == nil {
			blocked = cascadia.Query(doc, ddgBlock) != nil
		}
	}
	if blocked {
		return sys.Errorf(sys.CodeRateLimit, "DuckDuckGo takes this for a robot and shows no results.").
			WithHint("Wait a few minutes, or choose a service with a key in Settings → Web search.")
	}
	return nil
}

func readDuckDuckGo(body []byte) ([]Result, error) {
	doc, err := html.Parse(bytes.NewReader(body))
	if err != nil {
		return nil, errStrange("DuckDuckGo")
	}
	var out []Result
	for _, n := range cascadia.QueryAll(doc, ddgResult) {
		link := cascadia.Query(n, ddgLink)
		if link == nil {
			continue
		}
		r := Result{Title: textOf(link), URL: ddgTarget(attr(link, "href"))}
		if s := cascadia.Query(n, ddgSnippet); s != nil {
			r.Snippet = html.EscapeString(textOf(s)) // it is text by now, which tidy takes for HTML
		}
		if x := cascadia.Query(n, ddgExtra); x != nil {
			r.Published = isoDate().FindString(textOf(x))
		}
		r.Title = html.EscapeString(r.Title)
		out = append(out, r)
	}
	if len(out) == 0 && cascadia.Query(doc, ddgNone) == nil && !noResults().MatchString(textOf(doc)) {
		return nil, errStrange("DuckDuckGo")
	}
	return out, nil
}

// ddgTarget is the page behind a link of the result page, which leads through
// the service: //duckduckgo.com/l/?uddg=<address>. Advertisements have none.
func ddgTarget(href string) string {
	if strings.HasPrefix(href, "//") {
		href = "https:" + href
	}
	u, err := url.Parse(href)
	if err != nil {
		return ""
	}
	if to := u.Query().Get("uddg"); to != "" {
		href = to
	}
	if u, err = url.Parse(href); err != nil || strings.HasSuffix(u.Hostname(), "duckduckgo.com") && u.Path == "/y.js" {
		return ""
	}
	return href
}
