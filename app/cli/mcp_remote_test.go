package cli

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"oxios/kernel/mcp/mcptest"
)

// visitor reads what a command says, and visits the page of a sign-in as soon as it is named.
type visitor struct {
	visit func(page string)
	once  bool
}

var pageLine = regexp.MustCompile(`http://127\.0\.0\.1:\d+/authorize\S+`)

func (v *visitor) Write(p []byte) (int, error) {
	if page := pageLine.FindString(string(p)); page != "" && !v.once {
		v.once = true
		go v.visit(page)
	}
	return len(p), nil
}

func TestAServerIsAddedByItsAddressAndSignedInAt(t *testing.T) {
	t.Parallel()
	d := setup(t)
	remote := mcptest.NewRemote(t)
	remote.SignIn("")
	contains(t, "neither", d.must(exitUsage, "mcp", "add", "test").err, "needs a command or an address")
	contains(t, "both", d.must(exitUsage, "mcp", "add", "test", "--url", remote.URL, "--", "x").err, "not both")
	contains(t, "no encryption", d.must(exitFailed, "mcp", "add", "test", "--url", "http://mcp.example.com/mcp").err, "must begin with https")
	r := d.must(exitFailed, "mcp", "add", "test", "--url", remote.URL, "--allow", "none")
	contains(t, "add", r.err, "The server was added, but not connected", "needs the person to sign in", "oxios mcp login test")
	contains(t, "show", d.must(0, "mcp", "show", "test").out, "test: sign in needed", "Address: "+remote.URL, "not signed in")
	visits := make(chan string, 1)
	v := &visitor{visit: func(page string) {
		said, err := remote.Visit(t.Context(), page)
		if err != nil {
			said = err.Error()
		}
		visits <- said
	}}
	r = d.with(typing{err: v}, "mcp", "login", "test", "--no-browser")
	r.check(t, 0, "mcp", "login", "test", "--no-browser")
	contains(t, "login", r.out, "test: running", "test__echo", "signed in at "+remote.Issuer)
	contains(t, "the page", <-visits, "You are signed in")
	contains(t, "call", d.must(0, "mcp", "call", "test", "echo", `{"text": "hello"}`).out, "You said: hello")
	contains(t, "no log", d.must(exitFailed, "mcp", "log", "test").err, "runs elsewhere")
	contains(t, "logout", d.must(0, "mcp", "logout", "test").out, "not signed in")
	contains(t, "a call then", d.must(exitFailed, "mcp", "call", "test", "echo", `{"text": "x"}`).err, "needs the person to sign in")
	d.must(0, "mcp", "remove", "test", "--yes")
}

func TestTheKeyOfAHeaderIsNoSettingAndIsSentToItsServerAlone(t *testing.T) {
	t.Parallel()
	d := setup(t)
	remote := mcptest.NewRemote(t)
	remote.Instead(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Header.Get("X-Api-Key") == "key-of-the-test-0123" {
			return false
		}
		http.Error(w, "no key", http.StatusUnauthorized)
		return true
	})
	args := []string{"mcp", "add", "test", "--url", remote.URL, "--allow", "none", "--header", "X-Api-Key", "--stdin"}
	r := d.with(typing{stdin: strings.NewReader("key-of-the-test-0123\n")}, args...)
	r.check(t, 0, args...)
	contains(t, "add", r.out, "test: running", "Headers: X-Api-Key")
	raw, err := os.ReadFile(filepath.Join(d.Home, "config.toml"))
	if err != nil || strings.Contains(string(raw), "0123") || !strings.Contains(string(raw), "X-Api-Key") {
		t.Errorf("config.toml says %q, %v", raw, err)
	}
	contains(t, "no such header", d.must(exitFailed, "mcp", "key", "test", "X-Other", "--remove").err, `no header "X-Other"`)
	d.must(0, "mcp", "key", "test", "X-Api-Key", "--remove")
	contains(t, "a call without it", d.must(exitFailed, "mcp", "call", "test", "echo", `{"text": "x"}`).err, "needs a value for the header X-Api-Key", "oxios mcp key test X-Api-Key")
	d.with(typing{stdin: strings.NewReader("wrong-key-of-the-test\n")}, "mcp", "key", "test", "X-Api-Key", "--stdin").check(t, 0, "key")
	d.must(exitFailed, "mcp", "call", "test", "echo", `{"text": "x"}`)
}

func TestALoginNamesTheMachineThatGetsTheToken(t *testing.T) {
	t.Parallel()
	d := setup(t)
	remote, other := mcptest.NewRemote(t), mcptest.NewRemote(t)
	remote.SignIn("")
	remote.Change(func(doc string, m map[string]any) {
		if doc == "issuer" {
			m["token_endpoint"] = other.Issuer + "/token"
		}
	})
	d.must(exitFailed, "mcp", "add", "test", "--url", remote.URL, "--allow", "none")
	v := &visitor{visit: func(page string) { _, _ = remote.Visit(t.Context(), page) }}
	r := d.with(typing{err: v}, "mcp", "login", "test", "--no-browser")
	r.check(t, exitFailed, "mcp", "login", "test", "--no-browser") // that machine knows nothing of the sign-in
	contains(t, "login", r.err, "handed to another machine, "+strings.TrimPrefix(other.Issuer, "http://"))
}
