package web_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"oxios/kernel/document"
	"oxios/kernel/security"
	"oxios/kernel/sys"
	"oxios/kernel/web"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

var (
	public = netip.MustParseAddr("93.184.215.14")
	now    = time.Date(2026, 7, 1, 9, 0, 0, 0, time.UTC)
)

// internet makes a client whose public internet is one server: each name is
// there, except inside.example, which leads into the own network, and
// nowhere.example, which does not exist. The guard is the real one.
func internet(t testing.TB, server *httptest.Server, change ...func(*web.Config)) *web.Client {
	t.Helper()
	t.Cleanup(server.Close)
	c := web.Config{Clock: func() time.Time { return now }, Guard: &security.NetGuard{
		Resolve: func(_ context.Context, name string) ([]netip.Addr, error) {
			switch name {
			case "inside.example":
				return []netip.Addr{netip.MustParseAddr("10.0.0.7")}, nil
			case "nowhere.example":
				return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
			case "silent.example":
				return nil, &net.DNSError{Err: "server misbehaving", Name: name}
			}
			return []netip.Addr{public}, nil
		},
		Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
			if !strings.HasPrefix(address, public.String()+":") {
				t.Errorf("dialled %s", address)
				return nil, errors.New("not the internet")
			}
			return (&net.Dialer{}).DialContext(ctx, network, server.Listener.Addr().String())
		},
	}}
	for _, f := range change {
		f(&c)
	}
	return web.New(c)
}

// serving is a client whose whole internet is one page.
func serving(t testing.TB, contentType, body string, change ...func(*web.Config)) *web.Client {
	t.Helper()
	return internet(t, httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		io.WriteString(w, body)
	})), change...)
}

// fetch reads http://site.example/dir/page, which must work.
func fetch(t testing.TB, c *web.Client, opt web.FetchOptions) web.Page {
	t.Helper()
	p, err := c.Fetch(t.Context(), "http://site.example/dir/page", opt)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// failed checks an error: its code, a piece of its sentence, and that it has a
// hint and Korean.
func failed(t testing.TB, err error, code sys.Code, part string) {
	t.Helper()
	if err == nil {
		t.Fatalf("got no error, want %s with %q", code, part)
	}
	e := sys.AsError(err)
	if e.Code != code || !strings.Contains(e.Message, part) || e.Hint == "" || e.MessageKO == "" || e.HintKO == "" {
		t.Errorf("got %s %q, hint %q, Korean %q, %q; want %s with %q, a hint and Korean", e.Code, e.Message, e.Hint, e.MessageKO, e.HintKO, code, part)
	}
}

// readDocument has a program of its own read a file, as the kernel has its helper
// do it: with the race detector this binary would take minutes for it.
func readDocument(t testing.TB) func(context.Context, io.Reader, string) (document.Result, error) {
	t.Helper()
	reader := filepath.Join(t.TempDir(), "reader")
	build := exec.Command("go", "build", "-o", reader, "../document/testdata/reader")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the reader: %v\n%s", err, out)
	}
	return func(ctx context.Context, file io.Reader, name string) (document.Result, error) {
		data, err := io.ReadAll(file)
		if err != nil {
			return document.Result{}, err
		}
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			return document.Result{}, err
		}
		argv := document.Command(reader, path, name, "")
		said, err := exec.CommandContext(ctx, argv[0], argv[1:]...).Output()
		if err != nil {
			return document.Result{}, err
		}
		return document.Parse(said, name)
	}
}
