package kernel_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
	"oxios/kernel/security"
	"oxios/kernel/sys"
)

// ask is a command that asks a machine for its page through the proxy.
func ask(host string) string {
	return `exec 3<>/dev/tcp/127.0.0.1/${http_proxy##*:}; printf 'GET http://` + host + `/ HTTP/1.1\r\nHost: ` + host + `\r\n\r\n' >&3; cat <&3`
}

func TestContainedCommandReachesWhatTheGuardAllowsAndTellsWhatItAskedFor(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "the page") }))
	t.Cleanup(server.Close)
	k := open(t, kerneltest.With(func(o *kernel.Options) {
		o.Net = &security.NetGuard{
			Resolve: func(_ context.Context, name string) ([]netip.Addr, error) {
				if name == "inside.example.com" {
					return []netip.Addr{netip.MustParseAddr("192.168.0.1")}, nil
				}
				return []netip.Addr{netip.MustParseAddr("93.184.215.14")}, nil
			},
			Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
				return (&net.Dialer{}).DialContext(ctx, network, server.Listener.Addr().String())
			},
		}
	}))
	h := k.Agent("autonomous")
	if p, err := k.Person().Security.Policy(t.Context()); err != nil || p.Isolation < sys.IsolationFull {
		t.Skipf("level 3 does not hold here: %s, %v", p.Problem, err)
	}
	write(t, k.Folder+"/page.sh", ask("example.com"))
	write(t, k.Folder+"/inside.sh", ask("inside.example.com"))
	r, err, ap := answered(t, k, h, true, shell(h, kernel.ShellArgs{Command: "bash page.sh", Network: true}))
	if err != nil || !strings.HasSuffix(r.Output, "the page") || !strings.Contains(r.Note, "Network: reached example.com:80.") || ap.Request.Contained != sys.IsolationFull {
		t.Errorf("got %+v, %v at level %d", r, err, ap.Request.Contained)
	}
	if len(r.Asked) != 1 || !r.Asked[0].Allowed || r.Asked[0].Host != "example.com:80" {
		t.Errorf("got %+v", r.Asked)
	}
	r, err, _ = answered(t, k, h, true, shell(h, kernel.ShellArgs{Command: "bash inside.sh", Network: true}))
	if err != nil || !strings.Contains(r.Output, "403") || !strings.Contains(r.Output, "It leads into your own network.") || len(r.Asked) != 1 || r.Asked[0].Allowed ||
		!strings.Contains(r.Note, "`oxios permissions grant-address 192.168.0.1`") {
		t.Errorf("got %+v, %v", r, err)
	}
	_, _, ap = answered(t, k, h, false, shell(h, kernel.ShellArgs{Command: "curl http://192.168.0.1/ http://93.184.215.14/", Network: true}))
	if !slices.Equal(ap.Request.Own, []string{"192.168.0.1"}) {
		t.Errorf("got the addresses %q on the card", ap.Request.Own)
	}
	// Nobody approved the network: nothing passes, and the attempt is told.
	r, err = h.Exec.Shell(t.Context(), kernel.ShellArgs{Command: "bash page.sh"})
	if err != nil || !strings.Contains(r.Output, "403") || !strings.Contains(r.Note, "refused example.com:80 (This command has no network") {
		t.Errorf("got %+v, %v", r, err)
	}
	entries, err := k.Person().Security.Audit(t.Context(), kernel.AuditQuery{Newest: true, Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, e := range entries {
		if text := string(e.Metadata); strings.Contains(text, `"asked"`) {
			told = append(told, text)
		}
	}
	all := strings.Join(told, "\n")
	if len(told) != 3 || !strings.Contains(all, `"isolation":3`) || !strings.Contains(all, "inside.example.com:80") || !strings.Contains(all, "own network") {
		t.Errorf("the audit chain tells %q", told)
	}
}
