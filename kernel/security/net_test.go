package security

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"
)

// What an address that cannot be reached looks like, by the reason it is told
// with.
func TestAddressesAreHeldBackForTheRightReason(t *testing.T) {
	t.Parallel()
	dialled := func(_ context.Context, _, address string) (net.Conn, error) {
		t.Errorf("dialled %s", address)
		return nil, errors.New("no")
	}
	g := &NetGuard{Dial: dialled, Resolve: func(context.Context, string) ([]netip.Addr, error) { return nil, errors.New("no name service") }}
	for why, list := range map[*netReason][]string{
		&netLoopback: {"http://127.0.0.1/", "http://[::1]/", "http://0.0.0.0/", "http://[::]/", "http://[::ffff:7f00:1]/", "http://[64:ff9b::7f00:1]/", "http://[2002:7f00:1::]/", "http://[2001:db9:1::5efe:127.0.0.1]/"},
		&netPrivate:  {"http://10.1.2.3/", "http://172.16.0.1/", "http://172.31.255.255/", "http://192.168.0.1:8080/", "http://[fd12::1]/", "http://[64:ff9b:1::c0a8:101]/", "http://[2001:0:0:0:0:0:3f57:fefe]/", "http://[64:ff9b:1:c0a8:0:100::]/"},
		&netShared:   {"http://100.64.0.1/", "http://100.127.255.255/"}, &netLinkLocal: {"http://[fe80::1]/"},
		&netMetadata: {
			"http://169.254.169.254/", "http://169.254.170.2/", "http://100.100.100.200/", "http://168.63.129.16/", "http://[::ffff:169.254.169.254]/", "http://[fd00:ec2::254]/",
			"http://METADATA.google.internal./", "http://x.metadata.goog/", "http://instance-data/", "http://[2002:a9fe:a9fe::]/",
		},
		&netMulticast: {"http://224.0.0.251/", "http://[ff02::fb]/", "http://255.255.255.255/"},
		&netReserved:  {"http://192.0.2.1/", "http://198.18.0.1/", "http://240.0.0.1/", "http://[2001:db8::1]/", "http://[::7f00:1]/", "http://[100::1]/", "http://[4000::1]/"},
		&netZone:      {"http://[fe80::1%25eth0]/", "http://[fe80::1%eth0]/"},
		&netScheme:    {"file:///etc/passwd", "gopher://x.example/", "ftp://x.example/", "data:text/html,x", "javascript:alert(1)", "x.example", "", "httpx://a.example/", "unix:///run/x"},
		&netUserInfo:  {"http://a@b.example/", "https://example.com:443@127.0.0.1/", "http://@b.example/"},
		&netHidden:    {"http://a.example\\@127.0.0.1/", "http://127.0.0.1%2fx.example/", "http://a.exa%6dple/", "http://a.example/\r\nHost: x", "http://a\u200b.example/", "http:// a.example/", "http://a.example\t/"},
		&netOddNumber: {"http://2130706433/", "http://0x7f000001/", "http://0177.0.0.1/", "http://127.1/", "http://127.0.0.01/", "http://0x7f.1/", "http://1.2.3.4.5/", "http://a.0x1/", "http://10.1./", "http://256.1.1.1/"},
		&netOddLetters: {
			"http://①②⑦.0.0.1/", "http://１２７.0.0.1/", "http://127。0。0。1/", "http://ｌocalhost/", "http://gооgle.com/", "http://xn--a/", "http://[::ⓕⓕⓕⓕ:1]/",
		},
		&netPort:       {"http://a.example:22/", "http://a.example:6379/", "http://a.example:25/", "https://a.example:27017/"},
		&netOwnName:    {"http://localhost/", "http://LOCALHOST./", "http://a.localhost/", "http://printer/", "http://nas.local/", "http://x.internal/", "http://router.lan/", "http://a.svc.cluster.local/", "http://x.home.arpa/"},
		&netUnreadable: {"http:/a.example", "http:a.example", "http://", "http:///x", "http://:80/", "http://a.example:0/", "http://a.example:65536/", "http://a.example:+80/", "http://a.example:080/", "http://[::1", "http://[1.2.3.4]/", "http://a..example/", "http://-a.example/", "http://a!b.example/", "http://" + strings.Repeat("a.", 200) + "example/", "http://a.example/" + strings.Repeat("x", maxURL), "http://\xff.example/"},
		&netNoAnswer:   {"http://nobody.example/", "http://nobody.example./"},
	} {
		for _, raw := range list {
			if v := g.Look(t.Context(), raw); v.Allowed || v.Reason != why.en || v.ReasonKO != why.ko || v.Tier < TierAsk || why.grant != (v.Tier == TierAsk) {
				t.Errorf("%.60q: got %+v, want %q", raw, v, why.en)
			}
		}
	}
}

func TestPublicAddressesPass(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{
		"http://1.1.1.1/", "https://8.8.8.8:8443/x", "http://[2606:4700:4700::1111]/", "http://[64:ff9b::808:808]/", "http://11.0.0.1/", "http://172.32.0.1/", "http://100.128.0.1/", "http://169.253.1.1/",
		"HTTPS://Example.COM./a%20b?c=d#e", "https://a_b.example:8080/", "https://bücher.example/", "https://예시.example/한글", "https://xn--bcher-kva.example/", "https://localhost.example.com/", "https://x.example/?u=http://127.0.0.1/", "https://x.example/a@b:c", "https://1password.com:443", "https://x.example:/",
	} {
		if _, refused := (&NetGuard{}).read(raw); refused != nil {
			t.Errorf("%q: got %+v, want it allowed", raw, refused.Verdict)
		}
	}
}

// A real server on this machine: what is granted is reached, by the number that
// was checked, and TLS still checks the name.
func TestGrantedMachineIsReachedByTheCheckedAddress(t *testing.T) {
	t.Parallel()
	for _, secure := range []bool{false, true} {
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "hello "+r.Host) }))
		if secure {
			server.StartTLS()
		} else {
			server.Start()
		}
		t.Cleanup(server.Close)
		at := netip.MustParseAddrPort(server.Listener.Addr().String())
		var dialled []string
		g := &NetGuard{
			Granted: []netip.Prefix{netip.PrefixFrom(at.Addr(), 32)},
			Resolve: func(context.Context, string) ([]netip.Addr, error) { return []netip.Addr{at.Addr()}, nil },
			Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
				dialled = append(dialled, address)
				return (&net.Dialer{}).DialContext(ctx, network, address)
			},
		}
		transport := g.Transport()
		scheme := "http"
		if secure {
			scheme = "https"
			transport.TLSClientConfig = server.Client().Transport.(*http.Transport).TLSClientConfig
		}
		_, port, _ := net.SplitHostPort(at.String())
		res, err := g.Get(t.Context(), transport, scheme+"://example.com:"+port+"/")
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		res.Body.Close()
		if want := "hello example.com:" + port; err != nil || string(body) != want || !slices.Equal(dialled, []string{at.String()}) {
			t.Errorf("%s: got %q, %v after %q, want %q after one dial of %s", scheme, body, err, dialled, want, at)
		}
		g.Granted = nil
		dialled = nil
		if _, err := g.Get(t.Context(), transport, scheme+"://example.com:"+port+"/"); err == nil || len(dialled) > 0 {
			t.Errorf("without the grant: got %v after %q, want it refused and nothing dialled", err, dialled)
		}
	}
}

// A name service that lies: whichever of its answers is private, and whenever,
// the private machine is never dialled.
func TestRebindingNeverReachesThePrivateAddress(t *testing.T) {
	t.Parallel()
	public, private := netip.MustParseAddr("93.184.216.34"), netip.MustParseAddr("192.168.1.1")
	for name, answers := range map[string][][]netip.Addr{
		"second": {{public}, {private}}, "first": {{private}, {public}}, "mixed": {{public, private}}, "mixed later": {{public}, {public, private}}, "third": {{public}, {public}, {private}, {private}},
		"mapped": {{netip.MustParseAddr("::ffff:192.168.1.1")}}, "zone": {{netip.MustParseAddr("fe80::1%eth0")}}, "none": {{}}, "many": {slices.Repeat([]netip.Addr{public}, 100)},
	} {
		asked := 0
		var dialled []string
		g := &NetGuard{
			Resolve: func(context.Context, string) ([]netip.Addr, error) {
				asked++
				return answers[min(asked, len(answers))-1], nil
			},
			Dial: func(_ context.Context, _, address string) (net.Conn, error) {
				dialled = append(dialled, address)
				return nil, errors.New("nobody is there")
			},
		}
		v := g.Look(t.Context(), "https://x.example/")
		want := []string(nil)
		if name == "third" {
			want = []string{"93.184.216.34:443"} // what was checked, not what it says by then
		}
		if v.Allowed || !slices.Equal(dialled, want) {
			t.Errorf("%s: got %+v after %q, want %q dialled", name, v, dialled, want)
		}
	}
}

func TestLocalhostIsThisComputerWithoutANameServer(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(server.Close)
	at, err := ReadAddress(strings.Replace(server.URL, "127.0.0.1", "localhost", 1))
	if err != nil {
		t.Fatal(err)
	}
	g := NetGuard{}
	transport := g.Opened(at.Open).Transport()
	t.Cleanup(transport.CloseIdleConnections)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at.URL, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	res, err := transport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
}

func TestNextAddressIsDialledWhenOneDoesNotAnswer(t *testing.T) {
	t.Parallel()
	var dialled []string
	g := &NetGuard{
		Resolve: func(context.Context, string) ([]netip.Addr, error) {
			return []netip.Addr{netip.MustParseAddr("93.184.216.34"), netip.MustParseAddr("2606:4700::1")}, nil
		},
		Dial: func(_ context.Context, _, address string) (net.Conn, error) {
			dialled = append(dialled, address)
			return nil, errors.New("nobody is there")
		},
	}
	if v := g.Look(t.Context(), "http://x.example/"); v.Reason != netUnanswered.en || !slices.Equal(dialled, []string{"93.184.216.34:80", "[2606:4700::1]:80"}) {
		t.Errorf("got %+v after %q", v, dialled)
	}
}

func FuzzAddress(f *testing.F) {
	for _, s := range []string{
		"http://127.0.0.1/", "http://[::ffff:10.0.0.1]:80/", "https://a.example:443/x?y#z", "http://①②⑦.0.0.1/", "http://a@b\\c/", "http://0x7f.1", "http://[fe80::1%25x]/", "https://xn--bcher-kva.example./", "http://a.example:0", "javascript:x",
	} {
		f.Add(s)
	}
	rows, err := os.ReadFile("testdata/ssrf.jsonl")
	if err != nil {
		f.Fatal(err)
	}
	for line := range bytes.Lines(rows) {
		var row struct{ URL string }
		if err := json.Unmarshal(line, &row); err != nil {
			f.Fatal(err)
		}
		f.Add(row.URL)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		var dialled []string
		g := &NetGuard{
			Resolve: func(context.Context, string) ([]netip.Addr, error) {
				return []netip.Addr{netip.MustParseAddr("93.184.216.34")}, nil
			},
			Dial: func(_ context.Context, _, address string) (net.Conn, error) {
				dialled = append(dialled, address)
				return nil, errors.New("nobody is there")
			},
		}
		v := g.Look(t.Context(), raw)
		if v.Allowed || v.Reason == "" || v.ReasonKO == "" {
			t.Errorf("%q: got %+v", raw, v)
		}
		for _, d := range dialled {
			if at, err := netip.ParseAddrPort(d); err != nil || judgeAddr(at.Addr()) != nil || judgePort(at.Port()) != nil {
				t.Errorf("%q dialled %s", raw, d)
			}
		}
		_, strict := readURL(raw)
		if a, ok := looseAddr(raw); ok && strict == nil {
			t.Errorf("%q is a bare number %s and an address", raw, a)
		}
	})
}
