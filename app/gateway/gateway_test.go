package gateway_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"go.uber.org/goleak"

	"oxios/app/gateway"
	"oxios/app/remote"
	"oxios/kernel"
	"oxios/kernel/event"
	"oxios/kernel/sys"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// site is a gateway that runs.
type site struct {
	t    *testing.T
	g    *gateway.Gateway
	addr net.Addr
	host string
	port string
	fake *fake
	now  *atomic.Int64 // nanoseconds that its clock is ahead
	http *http.Client
	stop func()
}

var page = fstest.MapFS{
	"index.html":       {Data: []byte("<!doctype html><title>Oxios</title>")},
	"assets/app-1.js":  {Data: []byte("export {}")},
	"assets/a.woff2":   {Data: []byte("font")},
	"secret.unknown":   {Data: []byte("not a kind of file that a front end has")},
	"assets/.gitkeep":  {},
	"nested/page.html": {Data: []byte("nested")},
}

func setup(t *testing.T, frontend fs.FS) *site {
	t.Helper()
	s := &site{t: t, fake: newFake(), now: &atomic.Int64{}}
	ln, err := gateway.Listen(0)
	if err != nil {
		t.Fatal(err)
	}
	s.addr, s.host = ln.Addr(), ln.Addr().String()
	_, s.port, _ = net.SplitHostPort(s.host)
	s.g = gateway.New(gateway.Config{
		Handle:   func(via string) *remote.Handle { return s.fake.handle(via) },
		Frontend: frontend,
		Log:      slog.New(slog.DiscardHandler),
		Clock:    func() time.Time { return time.Now().Add(time.Duration(s.now.Load())) },
	})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.g.Run(ctx, ln) }()
	s.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run: got %v, want nil after its context ended", err)
		}
	})
	transport := &http.Transport{}
	s.http = &http.Client{Transport: transport}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		s.stop()
	})
	return s
}

// do sends a request to the server whatever host it names.
func (s *site) do(method, path, host, body string, headers ...string) (*http.Response, string) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, "http://"+s.host+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Host = host
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	resp, err := s.http.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return resp, string(b)
}

// exchange posts a code as the page does.
func (s *site) exchange(code string) (status int, cookie *http.Cookie, secret string) {
	s.t.Helper()
	body, err := json.Marshal(map[string]string{"code": code})
	if err != nil {
		s.t.Fatal(err)
	}
	resp, text := s.do("POST", "/auth", s.host, string(body), "Origin", "http://"+s.host, "Content-Type", "application/json")
	var out struct {
		Secret string `json:"secret"`
	}
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		s.t.Fatalf("%v in %q", err, text)
	}
	if cookies := resp.Cookies(); len(cookies) == 1 {
		cookie = cookies[0]
	}
	return resp.StatusCode, cookie, out.Secret
}

func TestOnlyItsOwnPageReachesTheServer(t *testing.T) {
	t.Parallel()
	s := setup(t, page)
	_, cookie, _ := s.exchange(s.g.Code())
	hosts := map[string]bool{
		"127.0.0.1:" + s.port: true, "localhost:" + s.port: true, "[::1]:" + s.port: true,
		"evil.example:" + s.port: false, "evil.example": false, "127.0.0.1": false, "localhost": false, "127.0.0.1:1": false,
		"127.0.0.1.evil.example:" + s.port: false, "127.0.0.2:" + s.port: false, "0.0.0.0:" + s.port: false, "localhost.:" + s.port: false, "x@127.0.0.1:" + s.port: false,
	}
	kinds := []struct {
		method, path    string
		upgrade, origin bool // origin: it must carry one
		want            int  // when everything is right
	}{
		{"GET", "/", false, false, 200},
		{"HEAD", "/", false, false, 200},
		{"GET", "/healthz", false, false, 200},
		{"GET", "/nothing.js", false, false, 404},
		{"POST", "/auth", false, true, 0}, // 401, or 429 when the matrix asks too fast
		{"POST", "/", false, true, 405},
		{"PUT", "/auth", false, true, 405},
		{"DELETE", "/", false, true, 405},
		{"OPTIONS", "/auth", false, true, 405},
		{"GET", "/ws", true, true, 0}, // 101, or 429
		{"GET", "/auth", false, false, 0},
	}
	for host, ours := range hosts {
		origins := map[string]bool{
			"": false, "http://" + host: true, "https://" + host: false, "null": false, "http://evil.example": false,
			"http://127.0.0.1:1": false, "http://127.0.0.1": false, "http://" + host + ".evil.example": false, "http://" + host + "/": false,
		}
		for origin, same := range origins {
			for _, k := range kinds {
				headers := []string{"Content-Type", "application/json", "Cookie", cookie.Name + "=" + cookie.Value}
				if origin != "" {
					headers = append(headers, "Origin", origin)
				}
				if k.upgrade {
					headers = append(headers, "Connection", "Upgrade", "Upgrade", "websocket", "Sec-WebSocket-Version", "13", "Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==")
				}
				got := s.status(k.method, k.path, host, `{"code":"wrong"}`, headers...)
				name := fmt.Sprintf("%s %s, Host %q, Origin %q", k.method, k.path, host, origin)
				passes := ours && (same || (origin == "" && !k.origin))
				switch {
				case !passes && got != http.StatusMisdirectedRequest && got != http.StatusForbidden:
					t.Errorf("%s: got %d, want a refusal", name, got)
				case passes && (got == http.StatusMisdirectedRequest || got == http.StatusForbidden):
					t.Errorf("%s: got %d, want it to pass", name, got)
				case passes && k.want != 0 && got != k.want:
					t.Errorf("%s: got %d, want %d", name, got, k.want)
				}
			}
		}
	}
}

// status sends one request over a connection of its own and returns the status
// alone: an upgraded connection has no end to read.
func (s *site) status(method, path, host, body string, headers ...string) int {
	s.t.Helper()
	conn, err := net.Dial("tcp", s.host)
	if err != nil {
		s.t.Fatal(err)
	}
	defer conn.Close()
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\n", method, path, host, len(body))
	for i := 0; i < len(headers); i += 2 {
		fmt.Fprintf(&b, "%s: %s\r\n", headers[i], headers[i+1])
	}
	fmt.Fprintf(&b, "\r\n%s", body)
	if _, err := conn.Write(b.Bytes()); err != nil {
		s.t.Fatal(err)
	}
	var status int
	if _, err := fmt.Fscanf(conn, "HTTP/1.1 %d", &status); err != nil {
		s.t.Fatalf("%s %s: %v", method, path, err)
	}
	if status == http.StatusBadRequest && strings.Contains(host, "@") {
		return http.StatusForbidden // the library itself refuses such a name
	}
	return status
}

func TestSecondOriginHeaderIsRefused(t *testing.T) {
	t.Parallel()
	s := setup(t, page)
	origin := "http://" + s.host
	for _, headers := range [][]string{{"Origin", origin, "Origin", "http://evil.example"}, {"Origin", origin, "Origin", origin}} {
		if resp, _ := s.do("POST", "/auth", s.host, `{}`, headers...); resp.StatusCode != http.StatusForbidden {
			t.Errorf("%v: got %d, want 403", headers, resp.StatusCode)
		}
	}
}

func TestFilesAreServedWithTheirTypesAndNoListings(t *testing.T) {
	t.Parallel()
	s := setup(t, page)
	for path, want := range map[string]struct {
		status      int
		kind, cache string
	}{
		"/":                          {200, "text/html; charset=utf-8", "no-store"},
		"/index.html":                {200, "text/html; charset=utf-8", "no-store"},
		"/assets/app-1.js":           {200, "text/javascript; charset=utf-8", "private, max-age=31536000, immutable"},
		"/assets/a.woff2":            {200, "font/woff2", "private, max-age=31536000, immutable"},
		"/assets/":                   {404, "application/json", "no-store"},
		"/assets":                    {404, "application/json", "no-store"},
		"/secret.unknown":            {404, "application/json", "no-store"},
		"/assets/.gitkeep":           {404, "application/json", "no-store"},
		"/gone.js":                   {404, "application/json", "no-store"},
		"/%2e%2e/%2e%2e/etc/passwd":  {0, "", ""},
		"/..%2f..%2fetc%2fpasswd.js": {404, "application/json", "no-store"},
		"/healthz":                   {200, "text/plain; charset=utf-8", "no-store"},
	} {
		resp, body := s.do("GET", path, s.host, "")
		h := resp.Header
		if want.status != 0 && (resp.StatusCode != want.status || h.Get("Content-Type") != want.kind || h.Get("Cache-Control") != want.cache) {
			t.Errorf("%s: got %d %q %q, want %+v", path, resp.StatusCode, h.Get("Content-Type"), h.Get("Cache-Control"), want)
		}
		csp := h.Get("Content-Security-Policy")
		for _, part := range []string{"default-src 'none'", "script-src 'self';", "frame-ancestors 'none'", "ws://" + s.host} {
			if !strings.Contains(csp, part) {
				t.Errorf("%s: the policy %q lacks %q", path, csp, part)
			}
		}
		if h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Referrer-Policy") != "no-referrer" {
			t.Errorf("%s: got headers %v, want nosniff and no-referrer", path, h)
		}
		if strings.Contains(body, "root:") || len(h.Values("Set-Cookie")) != 0 || len(h.Values("Access-Control-Allow-Origin")) != 0 {
			t.Errorf("%s: a GET gave away more than a file: %v", path, h)
		}
	}
	if _, body := s.do("GET", "/healthz", s.host, ""); body != "ok\n" {
		t.Errorf("healthz: got %q, want ok alone", body)
	}
}

func TestMissingFrontEndSaysHowToBuildIt(t *testing.T) {
	t.Parallel()
	for _, frontend := range []fs.FS{fstest.MapFS{".gitkeep": {}}, nil} {
		s := setup(t, frontend)
		resp, body := s.do("GET", "/", s.host, "")
		if resp.StatusCode != http.StatusServiceUnavailable || body != "front end not built: make build\n" {
			t.Errorf("got %d %q, want 503 and the sentence", resp.StatusCode, body)
		}
	}
}

func TestOtherInterfacesAreRefused(t *testing.T) {
	t.Parallel()
	ln, err := net.Listen("tcp4", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	err = gateway.New(gateway.Config{Log: slog.New(slog.DiscardHandler)}).Run(t.Context(), ln)
	if sys.CodeOf(err) != sys.CodeForbidden {
		t.Errorf("got %v, want forbidden", err)
	}
	if _, err := net.Dial("tcp", ln.Addr().String()); err == nil {
		t.Error("the port is still open")
	}
}

func TestTakenPortIsSaid(t *testing.T) {
	t.Parallel()
	s := setup(t, page)
	_, err := gateway.Listen(s.addr.(*net.TCPAddr).Port)
	if e := sys.AsError(err); e == nil || e.Code != sys.CodeBusy || e.Hint == "" {
		t.Errorf("got %v, want busy with a hint", err)
	}
}

// fake is a kernel that answers a few calls.
type fake struct {
	bus     *event.Bus
	via     atomic.Value
	waiting chan string
	ended   chan error
	front   chan bool // what pages say of their windows
}

func newFake() *fake {
	return &fake{bus: event.NewBus(nil), waiting: make(chan string, 512), ended: make(chan error, 512), front: make(chan bool, 8)}
}

func (f *fake) handle(via string) *remote.Handle {
	f.via.Store(via)
	return &remote.Handle{State: fakeState{f: f}, Agents: fakeAgents{f: f}, Infra: fakeInfra{f: f}}
}

type fakeState struct {
	remote.StateAPI
	f *fake
}

func (fakeState) Session(_ context.Context, id string) (kernel.SessionView, error) {
	switch id {
	case "missing":
		return kernel.SessionView{}, sys.Errorf(sys.CodeNotFound, "There is no session.").WithHint("List them.")
	case "panic":
		panic("a bug of ours")
	}
	return kernel.SessionView{Session: kernel.Session{ID: id}}, nil
}

func (fakeState) ExportSession(_ context.Context, id, _ string) (string, error) {
	return strings.Repeat(id, 17<<20), nil
}

type fakeAgents struct {
	remote.AgentsAPI
	f *fake
}

func (a fakeAgents) Wait(ctx context.Context, id string) (kernel.RunResult, error) {
	a.f.waiting <- id
	<-ctx.Done()
	a.f.ended <- ctx.Err()
	return kernel.RunResult{}, ctx.Err()
}

type fakeInfra struct {
	remote.InfraAPI
	f *fake
}

func (i fakeInfra) ReportFocus(_ context.Context, focused bool) error {
	i.f.front <- focused
	return nil
}

func (i fakeInfra) Events(ctx context.Context, from uint64) (<-chan kernel.Event, error) {
	return i.f.bus.Read(from, nil).Chan(ctx), nil
}
