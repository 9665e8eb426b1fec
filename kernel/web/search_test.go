package web_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"oxios/kernel/security"
	"oxios/kernel/sys"
	"oxios/kernel/web"
)

// ddgPage is the result page as it looks with two results, an advertisement
// and one result twice.
const ddgPage = `<!DOCTYPE html><html><body><div class="serp__results"><div id="links" class="results">
<div class="result results_links results_links_deep result--ad"><h2 class="result__title"><a class="result__a" href="https://duckduckgo.com/y.js?ad_domain=x">Buy tides</a></h2><a class="result__snippet">Buy</a></div>
<div class="result results_links results_links_deep web-result "><div class="links_main links_deep result__body">
<h2 class="result__title"><a rel="nofollow" class="result__a" href="//duckduckgo.com/l/?uddg=https%3A%2F%2Fwww.sea.example%2Ftides%3Fa%3D1%26b%3D2&amp;rut=abc">Tides &amp; <b>seas</b> &lt;i&gt;</a></h2>
<div class="result__extras"><div class="result__extras__url"><a class="result__url" href="x"> www.sea.example/tides </a><span>&nbsp; &nbsp; 2026-06-30T00:00:00.0000000</span></div></div>
<a class="result__snippet" href="x">The <b>sea</b> rises` + "\u200B\u202E" + ` twice.</a></div></div>
<div class="result web-result"><a class="result__a" href="https://moon.example/">Moon</a><a class="result__snippet">It pulls.</a></div>
<div class="result web-result"><a class="result__a" href="https://moon.example/">Moon again</a></div>
<div class="result web-result"><a class="result__a" href="javascript:alert(1)">Bad</a></div>
</div></div></body></html>`

// What each service is asked, what it answers, and what becomes of that.
func TestEachServiceIsAskedAndReadInItsOwnWay(t *testing.T) {
	t.Parallel()
	want := []web.Result{
		{Title: "Tides & seas <i>", URL: "https://www.sea.example/tides?a=1&b=2", Snippet: "The sea rises twice.", Published: "2026-06-30T00:00:00Z", Site: "sea.example"},
		{Title: "Moon", URL: "https://moon.example/", Snippet: "It pulls.", Site: "moon.example"},
	}
	results := func(list, snippet, published, more string) string {
		return fmt.Sprintf(`{%s "results":[
{"title":"Tides &amp; <strong>seas</strong> &lt;i&gt;","url":"https://www.sea.example/tides?a=1&b=2","%s":"The <strong>sea</strong> rises\u200b\u202e twice.","%s":"2026-06-30T00:00:00"},
{"title":"Moon","url":"https://moon.example/","%s":"It pulls.","%s":null},{"title":"Moon","url":"https://moon.example/","%s":""},{"title":"Bad","url":"file:///etc/passwd"}]%s`, list, snippet, published, snippet, published, snippet, more)
	}
	for kind, c := range map[string]struct{ method, path, query, header, answer string }{
		web.DuckDuckGo: {"POST", "/html/", "df=w&kl=kr-kr&q=sea+tides+bang", "application/x-www-form-urlencoded||", ddgPage},
		web.SearXNG:    {"GET", "/base/search", "format=json&language=ko-KR&q=sea+tides+%21bang&time_range=week", "||", results("", "content", "publishedDate", "}")},
		web.Brave:      {"GET", "/res/v1/web/search", "count=5&freshness=pw&q=sea+tides+%21bang&search_lang=ko&text_decorations=false", "|secret|", results(`"type":"search","web":{`, "description", "page_age", "}}")},
		web.Tavily:     {"POST", "/search", `{"max_results":5,"query":"sea tides !bang","search_depth":"basic","time_range":"week"}`, "application/json||Bearer secret", results("", "content", "published_date", "}")},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked := r.URL.RawQuery
			if r.Method == http.MethodPost {
				body, _ := io.ReadAll(r.Body)
				asked = string(body)
			}
			header := r.Header.Get("Content-Type") + "|" + r.Header.Get("X-Subscription-Token") + "|" + r.Header.Get("Authorization")
			if r.Method != c.method || r.URL.Path != c.path || asked != c.query || header != c.header || r.Header.Get("Cookie") != "" {
				t.Errorf("%s was asked %s %s %s, %s; want %+v", kind, r.Method, r.URL.Path, asked, header, c)
			}
			io.WriteString(w, c.answer)
		}))
		s := web.Service{Kind: kind, URL: "http://search.example", Key: "secret", Private: true}
		if kind == web.SearXNG {
			s.URL += "/base/"
		}
		got, err := internet(t, server).With(s).Search(t.Context(), " sea\ntides !bang ", web.SearchOptions{Count: 5, Lang: "ko_kr", Freshness: "week"})
		if err != nil {
			t.Errorf("%s: %v", kind, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", kind, diff)
		}
	}
}

func TestFailuresOfServicesAreTold(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind   string
		status int
		body   string
		code   sys.Code
		part   string
	}{
		{web.DuckDuckGo, 202, "<html>", sys.CodeRateLimit, "takes this for a robot"},
		{web.DuckDuckGo, 200, `<form id="challenge-form"><div class="anomaly-modal__title">Unfortunately, bots use DuckDuckGo too.</div>`, sys.CodeRateLimit, "takes this for a robot"},
		{web.DuckDuckGo, 403, "", sys.CodeRateLimit, "takes this for a robot"},
		{web.DuckDuckGo, 200, "<p>A new page.", sys.CodeUnavailable, "DuckDuckGo answered in a way"},
		{web.DuckDuckGo, 200, "", sys.CodeUnavailable, "DuckDuckGo answered in a way"},
		{web.SearXNG, 403, "<title>403</title>", sys.CodeUnavailable, "does not give its results as JSON"},
		{web.SearXNG, 200, "<!DOCTYPE html>", sys.CodeUnavailable, "does not give its results as JSON"},
		{web.SearXNG, 200, "{}", sys.CodeUnavailable, "SearXNG answered in a way"},
		{web.SearXNG, 200, `{"results":[],"unresponsive_engines":[["a","timeout"],["b","CAPTCHA"]]}`, sys.CodeUnavailable, "since 2 of the services"},
		{web.SearXNG, 302, "", sys.CodeUnavailable, "sends on to another address"},
		{web.SearXNG, 500, "<b>broken</b>", sys.CodeUnavailable, `SearXNG answered with status 500: "broken"`},
		{web.Brave, 401, "", sys.CodeAuth, "Brave Search does not accept the key."},
		{web.Brave, 422, `{"error":{"code":"SUBSCRIPTION_TOKEN_INVALID"}}`, sys.CodeAuth, "Brave Search does not accept the key."},
		{web.Brave, 422, `{"error":{"code":"VALIDATION"}}`, sys.CodeUnavailable, "status 422"},
		{web.Brave, 429, `{"error":{"code":"RATE_LIMITED"}}`, sys.CodeRateLimit, "Brave Search takes no more searches"},
		{web.Brave, 429, `{"error":{"code":"QUOTA_LIMITED"}}`, sys.CodeQuota, "The plan at Brave Search has no searches left."},
		{web.Brave, 402, "", sys.CodeQuota, "The plan at Brave Search has no searches left."},
		{web.Brave, 200, `{"type":"ErrorResponse"}`, sys.CodeUnavailable, "Brave Search answered in a way"},
		{web.Tavily, 401, `{"detail":{"error":"Unauthorized"}}`, sys.CodeAuth, "Tavily does not accept the key."},
		{web.Tavily, 429, "", sys.CodeRateLimit, "Tavily takes no more searches"},
		{web.Tavily, 432, "", sys.CodeQuota, "The plan at Tavily has no searches left."},
		{web.Tavily, 200, "[1", sys.CodeUnavailable, "Tavily answered in a way"},
		{web.Tavily, 200, `{"results":"` + strings.Repeat("x", 5<<20) + `"}`, sys.CodeUnavailable, "Tavily answered in a way"},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "http://other.example/")
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(c.status)
			io.WriteString(w, c.body)
		}))
		got, err := internet(t, server).With(web.Service{Kind: c.kind, URL: "http://search.example", Key: "secret-key", Private: true}).Search(t.Context(), "tides", web.SearchOptions{})
		failed(t, err, c.code, c.part)
		if got != nil || strings.Contains(fmt.Sprint(err), "secret-key") {
			t.Errorf("got %v, %v", got, err)
		}
		if e := sys.AsError(err); e.Code == sys.CodeRateLimit && c.kind != web.DuckDuckGo && e.Hint != "Wait 7 seconds, and search again." {
			t.Errorf("got hint %q", e.Hint)
		}
	}
}

func TestNothingFoundIsNoFailure(t *testing.T) {
	t.Parallel()
	for kind, body := range map[string]string{
		web.DuckDuckGo: `<div class="result result--no-result"><div class="no-results">No  results.</div></div>`, web.SearXNG: `{"results":[]}`,
		web.Brave: `{"type":"search"}`, web.Tavily: `{"results":[]}`,
	} {
		got, err := serving(t, "x/y", body).With(web.Service{Kind: kind, URL: "http://search.example", Key: "k", Private: true}).Search(t.Context(), "tides", web.SearchOptions{})
		if err != nil || got == nil || len(got) != 0 {
			t.Errorf("%s: got %v, %v", kind, got, err)
		}
	}
}

func TestSearchesThatMakeNoSenseAreRefusedBeforeTheyAreSent(t *testing.T) {
	t.Parallel()
	c := internet(t, httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the service was asked") })))
	search := func(s web.Service, q string, opt web.SearchOptions) error {
		_, err := c.With(s).Search(t.Context(), q, opt)
		return err
	}
	failed(t, search(web.Service{}, " \u200B\n", web.SearchOptions{}), sys.CodeInvalid, "nothing to search for")
	failed(t, search(web.Service{}, strings.Repeat("밀", 401), web.SearchOptions{}), sys.CodeInvalid, "at most 400 characters, and this one has 401")
	failed(t, search(web.Service{}, "x", web.SearchOptions{Freshness: "soon"}), sys.CodeInvalid, `no freshness "soon"`)
	failed(t, search(web.Service{Kind: "askme"}, "x", web.SearchOptions{}), sys.CodeInvalid, `no search service "askme"`)
	failed(t, search(web.Service{Kind: web.SearXNG}, "x", web.SearchOptions{}), sys.CodeInvalid, "needs the address of an instance")
	for _, at := range []string{"file:///x", "search.example", "https://me:pw@search.example", "http://%zz"} {
		failed(t, search(web.Service{Kind: web.SearXNG, URL: at}, "x", web.SearchOptions{}), sys.CodeInvalid, "cannot be used")
	}
	failed(t, search(web.Service{Kind: web.Brave, Key: "k", URL: "http://search.example"}, "x", web.SearchOptions{}), sys.CodeInvalid, "is not sent to http://search.example")
	for kind, name := range map[string]string{web.Brave: "Brave Search", web.Tavily: "Tavily"} {
		err := search(web.Service{Kind: kind}, "x", web.SearchOptions{})
		failed(t, err, sys.CodeAuth, name+" needs a key")
		if hint := sys.AsError(err).Hint; hint != "Set it with `oxios web key`." {
			t.Errorf("got %q", hint)
		}
	}
}

func TestCountOfResultsIsBounded(t *testing.T) {
	t.Parallel()
	var list strings.Builder
	for i := range 50 {
		fmt.Fprintf(&list, `,{"title":"t","url":"https://x.example/%d"}`, i)
	}
	c := serving(t, "application/json", `{"results":[`+list.String()[1:]+`]}`).With(web.Service{Kind: web.SearXNG, URL: "http://search.example"})
	for count, want := range map[int]int{0: web.DefaultResults, 3: 3, 20: 20, 1000: web.MaxResults} {
		if got, err := c.Search(t.Context(), "x", web.SearchOptions{Count: count}); err != nil || len(got) != want {
			t.Errorf("count %d: got %d, %v, want %d", count, len(got), err, want)
		}
	}
}

// The person's own service: exactly its machine is opened, and only for those
// who said that it is their own. Real dials on this machine.
func TestPrivateServiceOpensItsMachineAlone(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"results":[{"title":"t","url":"https://x.example/"}]}`)
	}))
	t.Cleanup(server.Close)
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	named := "http://nas.local:" + u.Port()
	var dialled []string
	guard := &security.NetGuard{
		Resolve: func(_ context.Context, name string) ([]netip.Addr, error) {
			if name == "metadata.google.internal" {
				return []netip.Addr{netip.MustParseAddr("169.254.169.254")}, nil
			}
			return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
		},
		Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
			dialled = append(dialled, address)
			return (&net.Dialer{}).DialContext(ctx, network, address)
		},
	}
	c := web.New(web.Config{Guard: guard})
	for _, at := range []string{server.URL, named} {
		dialled = nil
		if got, err := c.With(web.Service{Kind: web.SearXNG, URL: at, Private: true}).Search(t.Context(), "x", web.SearchOptions{}); err != nil || len(got) != 1 || len(dialled) != 1 {
			t.Errorf("%s: got %v, %v after %q", at, got, err, dialled)
		}
		dialled = nil
		_, err := c.With(web.Service{Kind: web.SearXNG, URL: at}).Search(t.Context(), "x", web.SearchOptions{})
		failed(t, err, sys.CodeRefused, "Oxios does not open "+at)
		_, err = c.With(web.Service{Kind: web.SearXNG, URL: at, Private: true}).Fetch(t.Context(), at, web.FetchOptions{})
		failed(t, err, sys.CodeRefused, "Oxios does not open "+at)
		if len(dialled) > 0 {
			t.Errorf("dialled %q", dialled)
		}
	}
	for _, at := range []string{"http://169.254.169.254", "http://metadata.google.internal"} {
		_, err := c.With(web.Service{Kind: web.SearXNG, URL: at, Private: true}).Search(t.Context(), "x", web.SearchOptions{})
		failed(t, err, sys.CodeRefused, "credentials of a cloud machine")
	}
	if guard.Granted != nil {
		t.Errorf("the guard itself was opened: %v", guard.Granted)
	}
}

func TestSlowServiceTimesOut(t *testing.T) {
	t.Parallel()
	c := internet(t, httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })), func(c *web.Config) {
		c.Timeout = 50 * time.Millisecond
	})
	_, err := c.With(web.Service{Kind: web.SearXNG, URL: "http://search.example"}).Search(t.Context(), "private words", web.SearchOptions{})
	failed(t, err, sys.CodeTimeout, "search.example did not answer")
	_, err = c.With(web.Service{Kind: web.SearXNG, URL: "http://nowhere.example"}).Search(t.Context(), "private words", web.SearchOptions{})
	failed(t, err, sys.CodeNotFound, "no machine with the name nowhere.example")
	if strings.Contains(err.Error(), "private") {
		t.Errorf("got %v", err)
	}
}
