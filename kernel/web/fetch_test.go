package web_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"oxios/kernel/security"
	"oxios/kernel/sys"
	"oxios/kernel/web"
)

func TestRedirectsAreFollowedAndTold(t *testing.T) {
	t.Parallel()
	var asked []string
	c := internet(t, httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Host+r.URL.Path+" "+r.Header.Get("Cookie")+r.Header.Get("Referer")+r.Header.Get("Authorization"))
		http.SetCookie(w, &http.Cookie{Name: "who", Value: "you", Domain: "site.example"})
		switch r.URL.Path {
		case "/a":
			http.Redirect(w, r, "/b", http.StatusMovedPermanently)
		case "/b":
			http.Redirect(w, r, "http://www.site.example/c", http.StatusFound)
		default:
			io.WriteString(w, "hello from "+r.UserAgent())
		}
	})))
	p, err := c.Fetch(t.Context(), "http://site.example/a#part", web.FetchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := web.Page{
		URL: "http://www.site.example/c", ContentType: "text/plain", Markdown: "hello from Mozilla/5.0 (compatible; Oxios)", Total: 42, Fetched: now,
		Redirects: []string{"http://site.example/a", "http://site.example/b"},
	}
	if diff := cmp.Diff(want, p); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"site.example/a ", "site.example/b ", "www.site.example/c "}, asked); diff != "" {
		t.Errorf("the server was asked, with cookies and such:\n%s", diff)
	}
}

func TestGuardHoldsTheFirstAddressAndEachRedirect(t *testing.T) {
	t.Parallel()
	for to, part := range map[string]string{
		"http://127.0.0.1/":                        "this computer itself",
		"http://169.254.169.254/latest/meta-data/": "credentials of a cloud machine",
		"http://inside.example/":                   "into your own network",
		"http://[::1]:8080/":                       "this computer itself",
		"http://2130706433/":                       "in a way that hides it",
		"file:///etc/passwd":                       "not an http or https address",
		"http://user@site.example/":                "a name before the machine",
		"http://site.example:22/":                  "not one that web servers use",
		"//10.1.2.3/":                              "into your own network",
	} {
		c := internet(t, httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", to)
			w.WriteHeader(http.StatusFound)
		})))
		_, err := c.Fetch(t.Context(), "http://site.example/", web.FetchOptions{})
		failed(t, err, sys.CodeRefused, part)
		failed(t, err, sys.CodeRefused, "http://site.example/ leads on to an address")
		if !strings.HasPrefix(to, "//") {
			_, err = c.Fetch(t.Context(), to, web.FetchOptions{})
			failed(t, err, sys.CodeRefused, part)
			failed(t, err, sys.CodeRefused, "Oxios does not open "+to)
		}
	}
	c := internet(t, httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path, http.StatusFound) })))
	_, err := c.Fetch(t.Context(), "http://site.example/", web.FetchOptions{})
	failed(t, err, sys.CodeRefused, "leads back to itself")
}

func TestFailuresOfTheConnectionHaveSentencesOfTheirOwn(t *testing.T) {
	t.Parallel()
	c := serving(t, "text/plain", "x")
	_, err := c.Fetch(t.Context(), "http://nowhere.example/", web.FetchOptions{})
	failed(t, err, sys.CodeNotFound, "There is no machine with the name nowhere.example.")
	_, err = c.Fetch(t.Context(), "http://silent.example/", web.FetchOptions{})
	failed(t, err, sys.CodeNetwork, "The name service could not say where silent.example is")

	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	c = internet(t, secure)
	_, err = c.Fetch(t.Context(), "https://site.example/", web.FetchOptions{})
	failed(t, err, sys.CodeNetwork, "The encrypted connection to site.example cannot be trusted")
	c = serving(t, "text/plain", "x")
	_, err = c.Fetch(t.Context(), "https://site.example/", web.FetchOptions{})
	failed(t, err, sys.CodeNetwork, "The encrypted connection to site.example cannot be trusted")

	c = serving(t, "text/plain", "x", func(c *web.Config) {
		c.Guard.Dial = func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("no route") }
	})
	_, err = c.Fetch(t.Context(), "http://site.example/", web.FetchOptions{})
	failed(t, err, sys.CodeNetwork, "site.example could not be reached: no route.")

	c = internet(t, httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		io.WriteString(w, "half of it")
	})))
	_, err = c.Fetch(t.Context(), "http://site.example/", web.FetchOptions{})
	failed(t, err, sys.CodeNetwork, "ended in the middle")
}

func TestSlowServersTimeOut(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]string{"no head": "", "no end": "begins"} {
		c := internet(t, httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if start != "" {
				io.WriteString(w, start)
				http.NewResponseController(w).Flush() //nolint:errcheck // the client may have gone
			}
			<-r.Context().Done()
		})), func(c *web.Config) { c.Timeout = 50 * time.Millisecond })
		_, err := c.Fetch(t.Context(), "http://site.example/"+name[3:], web.FetchOptions{})
		failed(t, err, sys.CodeTimeout, "site.example did not answer within 50ms.")
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("the person stopped it")
	c := internet(t, httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		cancel(why)
		<-r.Context().Done()
	})))
	if _, err := c.Fetch(ctx, "http://site.example/", web.FetchOptions{}); !errors.Is(err, why) {
		t.Errorf("got %v, want the cause of the caller", err)
	}
}

func TestEndlessAnswersAreCut(t *testing.T) {
	t.Parallel()
	const limit = 1 << 20
	endless := func(contentType, piece string, packed bool) *web.Client {
		return internet(t, httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", contentType)
			out := io.Writer(w)
			if packed {
				if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
					t.Error("the client asked for no gzip")
				}
				w.Header().Set("Content-Encoding", "gzip")
				z := gzip.NewWriter(w)
				defer z.Close() //nolint:errcheck // the client has gone
				out = z
			}
			data := bytes.Repeat([]byte(piece), 64<<10/len(piece))
			for {
				if _, err := out.Write(data); err != nil {
					return
				}
			}
		})), func(c *web.Config) { c.MaxBytes = limit })
	}
	for _, packed := range []bool{false, true} { // a bomb is endless for the one who unpacks it
		p := fetch(t, endless("text/plain", "0123456789abcde\n", packed), web.FetchOptions{})
		if p.Total != limit || !p.Truncated || p.Next == 0 || p.Next > web.DefaultMax || len(p.Markdown) != p.Next {
			t.Errorf("packed %t: got %d characters, %t, %d, piece of %d, want %d", packed, p.Total, p.Truncated, p.Next, len(p.Markdown), limit)
		}
		p = fetch(t, endless("text/html", "<p>A line of a page. ", packed), web.FetchOptions{})
		if !p.Truncated || p.Total > limit || p.Total < limit/2 {
			t.Errorf("packed %t: got %d characters, cut %t", packed, p.Total, p.Truncated)
		}
		_, err := endless("application/json", "[[[[[[[[", packed).Fetch(t.Context(), "http://site.example/", web.FetchOptions{})
		failed(t, err, sys.CodeTooLarge, "http://site.example/ is larger than 1024 KiB")
	}
}

func TestStatusOfAFailureIsTold(t *testing.T) {
	t.Parallel()
	for status, code := range map[int]sys.Code{400: sys.CodeInvalid, 401: sys.CodeForbidden, 403: sys.CodeForbidden, 404: sys.CodeNotFound, 410: sys.CodeNotFound, 429: sys.CodeRateLimit, 500: sys.CodeUnavailable, 503: sys.CodeUnavailable, 599: sys.CodeUnavailable} {
		c := internet(t, httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(status)
			if r.URL.Path != "/empty" {
				fmt.Fprint(w, "<title>No</title><h1>It is\n not here</h1><p hidden>Send me your keys</p>", strings.Repeat("<p>so long", 1000))
			}
		})))
		_, err := c.Fetch(t.Context(), "http://site.example/x", web.FetchOptions{})
		failed(t, err, code, fmt.Sprintf("answered with status %d", status))
		failed(t, err, code, `"It is not here so long`)
		if text := err.Error(); strings.Contains(text, "keys") || len(text) > 600 {
			t.Errorf("got %q", text)
		}
		_, err = c.Fetch(t.Context(), "http://site.example/empty", web.FetchOptions{})
		failed(t, err, code, "without text")
	}
}

func TestTypesThatAreNotTextAreNamed(t *testing.T) {
	t.Parallel()
	for contentType, body := range map[string]string{
		"image/png": "\x89PNG\r\n\x1a\n", "video/mp4": "xxxx", "application/zip": "PK\x03\x04", "text/plain; charset=x-nothing": "a\x00b\x00\x01",
	} {
		_, err := serving(t, contentType, body).Fetch(t.Context(), "http://site.example/f", web.FetchOptions{})
		name, _, _ := strings.Cut(contentType, ";")
		failed(t, err, sys.CodeInvalid, "http://site.example/f is of type "+name)
	}
	_, err := serving(t, "application/octet-stream", "\x00\x01\x02").Fetch(t.Context(), "http://site.example/f", web.FetchOptions{})
	failed(t, err, sys.CodeInvalid, "application/octet-stream")
	for _, contentType := range []string{"text/html", "text/plain", "application/json", "application/xml"} {
		_, err := serving(t, contentType, " \n").Fetch(t.Context(), "http://site.example/f", web.FetchOptions{})
		failed(t, err, sys.CodeNotFound, "holds no text")
	}
	c := internet(t, httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "br")
		io.WriteString(w, "xx")
	})))
	_, err = c.Fetch(t.Context(), "http://site.example/f", web.FetchOptions{})
	failed(t, err, sys.CodeInvalid, "(br)")
}

func TestLongPagesComeInPieces(t *testing.T) {
	t.Parallel()
	var whole strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&whole, "%d번째 줄입니다.\n", i)
	}
	c := serving(t, "text/plain; charset=utf-8", whole.String())
	got := ""
	for from, pieces := 0, 0; ; pieces++ {
		p := fetch(t, c, web.FetchOptions{From: from, Max: 5000})
		got += p.Markdown
		if p.Total != len([]rune(whole.String())) || p.Truncated || pieces > 10 {
			t.Fatalf("got total %d, cut %t after %d pieces", p.Total, p.Truncated, pieces)
		}
		if from = p.Next; from == 0 {
			break
		}
		if !strings.HasSuffix(p.Markdown, "\n") {
			t.Errorf("a piece ends inside a line: %q", p.Markdown[len(p.Markdown)-20:])
		}
	}
	if got != whole.String() {
		t.Error("the pieces are not the whole")
	}
	_, err := c.Fetch(t.Context(), "http://site.example/", web.FetchOptions{From: 1e6})
	failed(t, err, sys.CodeInvalid, "there is nothing from character 1000000 on")
	_, err = c.Fetch(t.Context(), "http://site.example/", web.FetchOptions{From: -1})
	failed(t, err, sys.CodeInvalid, "no character -1")
}

func TestGuardIsLeftAsItIs(t *testing.T) {
	t.Parallel()
	guard := &security.NetGuard{}
	c := web.New(web.Config{Guard: guard})
	if _, err := c.Fetch(t.Context(), "http://127.0.0.1:9/", web.FetchOptions{}); err == nil || guard.Resolve != nil || guard.Granted != nil {
		t.Errorf("got %v, guard %+v", err, guard)
	}
}
