package security

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"oxios/kernel/sys"
)

// proxied starts a proxy whose public internet is one server, and returns a
// client that goes through it, the proxy, and how often something was dialled.
func proxied(t *testing.T, closed sys.Words, server *httptest.Server) (*http.Client, *NetProxy, *atomic.Int32) {
	t.Helper()
	dialled := &atomic.Int32{}
	p := &NetProxy{Closed: closed, Guard: &NetGuard{
		Resolve: func(_ context.Context, name string) ([]netip.Addr, error) {
			if name == "inside.example.com" {
				return []netip.Addr{netip.MustParseAddr("10.0.0.7")}, nil
			}
			return []netip.Addr{netip.MustParseAddr("93.184.215.14")}, nil
		},
		Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
			dialled.Add(1)
			if !strings.HasPrefix(address, "93.184.215.14:") {
				t.Errorf("dialled %s", address)
			}
			return (&net.Dialer{}).DialContext(ctx, network, server.Listener.Addr().String())
		},
	}}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close() //nolint:errcheck // the test has what it wants
				p.Serve(ctx, c)
			}()
		}
	}()
	transport := server.Client().Transport.(*http.Transport).Clone()
	transport.Proxy = http.ProxyURL(&url.URL{Scheme: "http", Host: l.Addr().String()})
	transport.DisableKeepAlives = true
	t.Cleanup(func() { cancel(); _ = l.Close(); <-done })
	return &http.Client{Transport: transport}, p, dialled
}

func body(t *testing.T, c *http.Client, address string) (int, string) {
	t.Helper()
	res, err := c.Get(address)
	if err != nil {
		return 0, err.Error()
	}
	defer res.Body.Close() //nolint:errcheck // it is read
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

func TestProxyLetsPublicMachinesPassAndTellsTheOthersWhy(t *testing.T) {
	t.Parallel()
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		_, _ = io.WriteString(w, q.Host+q.URL.Path+" "+q.Header.Get("Proxy-Connection")+q.Header.Get("Proxy-Authorization"))
	}))
	t.Cleanup(plain.Close)
	client, p, dialled := proxied(t, sys.Words{}, plain)
	if code, text := body(t, client, "http://example.com/a"); code != 200 || text != "example.com/a " {
		t.Errorf("got %d %q", code, text)
	}
	body(t, client, "http://example.com/b")
	for address, want := range map[string]string{
		"http://inside.example.com/":     "Oxios refused inside.example.com:80: It leads into your own network.\n",
		"http://127.0.0.1:8080/":         "Oxios refused 127.0.0.1:8080: It leads to this computer itself.\n",
		"http://169.254.169.254/latest/": "Oxios refused 169.254.169.254:80: It leads to the service that gives out the credentials of a cloud machine.\n",
		"http://example.com:22/":         "Oxios refused example.com:22: The port is not one that web servers use.\n",
		"http://0x7f.1/":                 "Oxios refused 0x7f.1:80: It writes the number of a machine in a way that hides it.\n",
	} {
		if code, text := body(t, client, address); code != http.StatusForbidden || text != want {
			t.Errorf("%s: got %d %q, want 403 %q", address, code, text, want)
		}
	}
	if dialled.Load() != 2 {
		t.Errorf("got %d connections, want the two to the public machine", dialled.Load())
	}
	tries := p.Tries()
	if diff := cmp.Diff(NetTry{Host: "example.com:80", Allowed: true, Times: 2}, tries[0]); diff != "" || len(tries) != 6 {
		t.Errorf("got %d tries, the first (-want +got):\n%s", len(tries), diff)
	}
	for _, try := range tries[1:] {
		if try.Allowed || try.Reason == "" || try.ReasonKO == "" || try.Times != 1 {
			t.Errorf("got %+v", try)
		}
	}
}

func TestProxyAsksForItsPassword(t *testing.T) {
	t.Parallel()
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		_, _ = io.WriteString(w, "here"+q.Header.Get("Proxy-Authorization"))
	}))
	t.Cleanup(plain.Close)
	client, p, dialled := proxied(t, sys.Words{}, plain)
	p.Password = "word"
	proxy, _ := client.Transport.(*http.Transport).Proxy(nil) //nolint:bodyclose // nothing is asked
	for _, user := range []*url.Userinfo{nil, url.User("oxios"), url.UserPassword("oxios", "other"), url.UserPassword("word", "word")} {
		proxy.User = user
		if code, _ := body(t, client, "http://example.com/"); code != http.StatusProxyAuthRequired || dialled.Load() > 0 {
			t.Errorf("%v: got %d, %d connections; want 407 and none", user, code, dialled.Load())
		}
	}
	proxy.User = url.UserPassword("oxios", "word")
	if code, text := body(t, client, "http://example.com/"); code != 200 || text != "here" {
		t.Errorf("got %d %q, want it, and the password kept to the proxy", code, text)
	}
}

func TestProxyOpensThePortsOfThisComputerThatItIsTold(t *testing.T) {
	t.Parallel()
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "here") }))
	t.Cleanup(plain.Close)
	client, p, _ := proxied(t, sys.Words{}, plain)
	_, port, _ := net.SplitHostPort(plain.Listener.Addr().String())
	open, _ := strconv.Atoi(port)
	p.Ports = []int{open}
	for host, want := range map[string]int{"127.0.0.1": 200, "localhost": 200, "127.0.0.2": 403, "192.168.0.1": 403} {
		if code, text := body(t, client, "http://"+host+":"+port+"/"); code != want {
			t.Errorf("%s: got %d %q, want %d", host, code, text, want)
		}
	}
	if code, text := body(t, client, "http://127.0.0.1:8081/"); code != http.StatusForbidden {
		t.Errorf("another port: got %d %q", code, text)
	}
	p.Closed = sys.Say("This command has no network, because nobody approved it for this command.")
	if code, text := body(t, client, "http://127.0.0.1:"+port+"/"); code != http.StatusForbidden {
		t.Errorf("closed: got %d %q", code, text)
	}
}

func TestProxyCarriesTunnels(t *testing.T) {
	t.Parallel()
	secure := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "secret") }))
	t.Cleanup(secure.Close)
	client, p, _ := proxied(t, sys.Words{}, secure)
	if code, text := body(t, client, "https://example.com/"); code != 200 || text != "secret" {
		t.Errorf("got %d %q", code, text)
	}
	if _, text := body(t, client, "https://inside.example.com/"); !strings.Contains(text, "Forbidden") {
		t.Errorf("got %q", text)
	}
	want := []NetTry{
		{Host: "example.com:443", Allowed: true, Times: 1},
		{Host: "inside.example.com:443", Reason: "It leads into your own network.", ReasonKO: "내부 네트워크로 가는 주소입니다.", Own: "10.0.0.7", Times: 1},
	}
	if diff := cmp.Diff(want, p.Tries()); diff != "" {
		t.Errorf("tries (-want +got):\n%s", diff)
	}
}

func TestClosedProxyLetsNothingPass(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	client, p, dialled := proxied(t, sys.Words{EN: "Nobody approved it."}, server)
	if code, text := body(t, client, "http://example.com/"); code != http.StatusForbidden || text != "Oxios refused example.com:80: Nobody approved it.\n" {
		t.Errorf("got %d %q", code, text)
	}
	if tries := p.Tries(); dialled.Load() != 0 || len(tries) != 1 || tries[0].Allowed {
		t.Errorf("got %d connections, %+v", dialled.Load(), tries)
	}
}

func TestProxyEndsWithItsCommandAndIsNotFilled(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close() //nolint:errcheck // the test is over
	p := &NetProxy{Guard: &NetGuard{
		Resolve: func(context.Context, string) ([]netip.Addr, error) {
			return []netip.Addr{netip.MustParseAddr("93.184.215.14")}, nil
		},
		Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, silent.Addr().String())
		},
	}}
	for _, request := range []string{"GET http://example.com/ HTTP/1.1\r\nHost: example.com\r\n\r\n", "CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n"} {
		near, far := net.Pipe()
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			defer far.Close() //nolint:errcheck // it is a pipe
			p.Serve(ctx, far)
		}()
		if _, err := io.WriteString(near, request); err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(request, "CONNECT") {
			if line, err := bufio.NewReader(near).ReadString('\n'); err != nil || !strings.Contains(line, "200") {
				t.Errorf("got %q, %v", line, err)
			}
		} else if _, err := silent.Accept(); err != nil {
			t.Fatal(err)
		}
		cancel()
		select {
		case <-done:
		case <-time.After(10 * time.Second):
			t.Fatal("the proxy outlived its command")
		}
		_ = near.Close()
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	_, unread := net.Pipe()
	p.Serve(gone, unread)
	near, far := net.Pipe()
	go func() {
		defer far.Close() //nolint:errcheck // it is a pipe
		p.Serve(t.Context(), far)
	}()
	go func() {
		line := strings.Repeat("x", 1000)
		for range 1000 {
			if _, err := io.WriteString(near, "A: "+line+"\r\n"); err != nil {
				return
			}
		}
	}()
	answer, err := io.ReadAll(near)
	if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 400 ") {
		t.Errorf("got %q, %v, want 400", answer, err)
	}
}
