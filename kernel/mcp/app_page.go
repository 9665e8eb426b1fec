package mcp

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"html"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"oxios/kernel/guard"
	"oxios/kernel/security"
	"oxios/kernel/sys"
)

// sources are the addresses that an app says that it needs, by what for. Frames and base addresses are never allowed.
type sources struct {
	Connect  []string `json:"connectDomains,omitempty"`
	Resource []string `json:"resourceDomains,omitempty"`
}

// origins are what an app may name: an https or wss origin of a machine of the internet, by its name.
var origins = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:https|wss)://((?:\*\.)?[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z][a-z0-9-]*)(?::[0-9]{1,5})?$`)
})

// appHost is the machine of an origin that an app may name, "" for all others.
func appHost(origin string) string {
	m := origins().FindStringSubmatch(origin)
	if m == nil || len(m[1]) > 253 {
		return ""
	}
	host := strings.TrimPrefix(m[1], "*.")
	if _, err := netip.ParseAddr(host); err == nil || !strings.Contains(host, ".") {
		return ""
	}
	for _, own := range []string{".local", ".internal", ".localhost", ".lan", ".home.arpa"} {
		if strings.HasSuffix(host, own) {
			return ""
		}
	}
	return m[1]
}

// cleaned leaves out what nobody may name.
func (s sources) cleaned() sources {
	clean := func(list []string) (out []string) {
		for _, o := range list {
			if o = strings.TrimSuffix(strings.ToLower(o), "/"); appHost(o) != "" && len(out) < maxSource && !slices.Contains(out, o) {
				out = append(out, o)
			}
		}
		return out
	}
	return sources{Connect: clean(s.Connect), Resource: clean(s.Resource)}
}

// cut leaves of the sources what the person allows: machines by name, or *.NAME for all below one. The hosts that are left
// out are named.
func (s sources) cut(allowed []string) (kept sources, blocked []string) {
	may := func(host string) bool {
		return slices.ContainsFunc(allowed, func(a string) bool {
			below, wild := strings.CutPrefix(a, "*")
			return a == host || wild && strings.HasSuffix(host, below)
		})
	}
	pick := func(list []string) (out []string) {
		for _, o := range list {
			host := appHost(o)
			if may(host) {
				out = append(out, o)
			} else if !slices.Contains(blocked, host) {
				blocked = append(blocked, host)
			}
		}
		return out
	}
	kept = sources{Connect: pick(s.Connect), Resource: pick(s.Resource)}
	return kept, blocked
}

// policy is the Content-Security-Policy of an app's page: nothing, but what stands in the page itself and what it was allowed.
func (s sources) policy() string {
	with := func(name, always string, list []string) string {
		words := strings.TrimSpace(always + " " + strings.Join(list, " "))
		if words == "" {
			words = "'none'"
		}
		return name + " " + words
	}
	return strings.Join([]string{
		"default-src 'none'",
		with("script-src", "'unsafe-inline'", s.Resource), with("style-src", "'unsafe-inline'", s.Resource),
		with("img-src", "data: blob:", s.Resource), with("font-src", "data:", s.Resource), with("media-src", "data: blob:", s.Resource),
		with("connect-src", "", s.Connect),
		"frame-src 'none'", "worker-src 'none'", "object-src 'none'", "base-uri 'none'", "form-action 'none'",
	}, "; ")
}

// AppView is an app as a face shows it.
type AppView struct {
	Server  string          `json:"server"`
	Title   string          `json:"title"`
	Page    string          `json:"page,omitempty"`    // its address below that of the face, good once and for a minute; "" for one that is not started
	Input   json.RawMessage `json:"input"`             // what the tool was called with
	Result  json.RawMessage `json:"result"`            // what it gave: a CallToolResult
	Border  bool            `json:"border"`            // it wants to be set apart
	Blocked []string        `json:"blocked,omitempty"` // machines that it says that it needs, and may not reach
	Stopped bool            `json:"stopped,omitempty"` // it did not answer once, and is not started again
}

// AppPage is the page of an app as it is sent: with the policy in the page, and for the header.
type AppPage struct {
	HTML   string `json:"html"`
	Policy string `json:"policy"`
}

// ticket lets one frame load one page.
type ticket struct {
	of  AppOf
	end time.Time
}

const (
	maxTickets = 32
	ticketLife = time.Minute
	// AppPath is where faces serve the pages of apps: what follows is the ticket.
	AppPath = "/app/"
)

// App returns an app, with an address under which its page can be loaded once.
func (a *API) App(ctx context.Context, of AppOf) (AppView, error) {
	return guard.Do(ctx, a.c, guard.Action{Call: "mcp.app", Resource: "mcp:" + sys.Shorten(of.Server, 40)}, func(context.Context) (AppView, error) {
		app, def, err := a.s.app(of)
		if err != nil {
			return AppView{}, err
		}
		_, blocked := app.Sources.cut(def.AppHosts)
		v := AppView{Server: of.Server, Title: app.Title, Input: app.Input, Result: app.Result, Border: app.Border == nil || *app.Border, Blocked: blocked, Stopped: app.Stopped}
		if !app.Stopped {
			v.Page = strings.TrimPrefix(AppPath, "/") + a.s.tickets.add(of, a.s.c.Clock.Now())
		}
		return v, nil
	})
}

// AppPage returns the page that a ticket is for. A ticket is good once.
func (a *API) AppPage(ctx context.Context, number string) (AppPage, error) {
	return guard.Do(ctx, a.c, guard.Action{Call: "mcp.appPage", Resource: "mcp"}, func(context.Context) (AppPage, error) {
		of, ok := a.s.tickets.take(number, a.s.c.Clock.Now())
		if !ok {
			return AppPage{}, sys.Errorf(sys.CodeNotFound, "There is no such page.")
		}
		app, def, err := a.s.app(of)
		if err != nil {
			return AppPage{}, err
		}
		path, _ := a.s.appPath(of)
		raw, err := os.ReadFile(filepath.Join(filepath.Dir(path), app.Hash+".html"))
		if err != nil {
			return AppPage{}, sys.Errorf(sys.CodeNotFound, "This app is no longer kept. Its text is shown instead.")
		}
		kept, _ := app.Sources.cut(def.AppHosts)
		return AppPage{HTML: framed(string(raw), kept.policy()), Policy: kept.policy() + "; sandbox allow-scripts; frame-ancestors 'self'"}, nil
	})
}

// StopApp notes that an app did not answer: it is not started again.
func (a *API) StopApp(ctx context.Context, of AppOf) error {
	_, err := guard.Do(ctx, a.c, guard.Action{Call: "mcp.stopApp", Resource: "mcp:" + sys.Shorten(of.Server, 40)}, func(context.Context) (struct{}, error) {
		app, _, err := a.s.app(of)
		if err != nil || app.Stopped {
			return struct{}{}, err
		}
		app.Stopped = true
		raw, err := json.Marshal(app)
		if err == nil {
			path, _ := a.s.appPath(of)
			err = security.WriteFileAtomic(path, raw, 0o600)
		}
		return struct{}{}, err
	})
	return err
}

// alive answers the page around an app as long as the app's scripts do not hold everything up. It is the first script of the
// page, so that none of the app's own hears of it.
const alive = `<script>addEventListener("message",function(p){return function(e){if(e.source===p&&e.data&&e.data.oxios==="ping"){e.stopImmediatePropagation();p.postMessage({oxios:"pong",n:e.data.n},"*")}}}(parent))</script>`

// framed puts the policy first into a page. What stands before <html> and <head> is taken for the beginning of the head, and
// the page's own tags for more of the same (https://html.spec.whatwg.org/multipage/parsing.html).
func framed(page, policy string) string {
	page = strings.TrimPrefix(page, "\ufeff")
	return `<!doctype html><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="` + html.EscapeString(policy) + `">` + alive + page
}

// tickets are those that were given out and not used.
type tickets struct {
	mu   sync.Mutex
	open map[string]ticket
}

func (t *tickets) add(of AppOf, now time.Time) string {
	number := rand.Text() + rand.Text()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.open == nil {
		t.open = map[string]ticket{}
	}
	for n, k := range t.open {
		if now.After(k.end) || len(t.open) >= maxTickets {
			delete(t.open, n)
		}
	}
	t.open[number] = ticket{of, now.Add(ticketLife)}
	return number
}

func (t *tickets) take(number string, now time.Time) (AppOf, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	k, ok := t.open[number]
	delete(t.open, number)
	return k.of, ok && !now.After(k.end)
}
