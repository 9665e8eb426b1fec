package kernel_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"oxios/kernel/mcp/mcptest"
	"oxios/kernel/sys"
)

// says reports whether the body of a request names a method. It can be read again.
func says(r *http.Request, method string) bool {
	raw, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(raw))
	return bytes.Contains(raw, []byte(fmt.Sprintf(`"method":%q`, method)))
}

// A stream that breaks off after the tool did its work looks like a session that was forgotten.
func TestACallThatReachedItsServerIsNotMadeTwice(t *testing.T) {
	t.Parallel()
	k := open(t)
	remote := mcptest.NewRemote(t)
	var calls atomic.Int32
	remote.Instead(func(w http.ResponseWriter, r *http.Request) bool {
		switch {
		case r.Header.Get("Mcp-Protocol-Version") >= "2026-07-28", r.Header.Get("Last-Event-ID") != "":
			http.Error(w, "no such session", http.StatusNotFound)
			return true
		case r.Method == http.MethodPost && r.URL.Path == "/mcp" && says(r, "tools/call") && calls.Add(1) == 2:
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "id: 1\ndata:\n\n")
			return true
		}
		return false
	})
	addRemote(t, k, remote.URL)
	if _, err := k.Person().MCP.Connect(t.Context(), "test"); err != nil {
		t.Fatal(err)
	}
	if _, err := echo(t, k.Person()); err != nil {
		t.Fatal(err)
	}
	_, err := echo(t, k.Person())
	if err == nil || !strings.Contains(err.Error(), "Check what it did before you try again") {
		t.Errorf("got %v", err)
	}
	if n := calls.Load(); n != 2 {
		t.Errorf("the tool was called %d times, want 2", n)
	}
	if r, err := echo(t, k.Person()); err != nil || r.Text != "You said: hello" {
		t.Errorf("after that: got %+v, %v", r, err)
	}
}

func TestACallBesideTheFirstOneIsComparedToo(t *testing.T) {
	t.Parallel()
	k := open(t)
	remote := mcptest.NewRemote(t)
	addRemote(t, k, remote.URL)
	if _, err := k.Person().MCP.Connect(t.Context(), "test"); err != nil {
		t.Fatal(err)
	}
	k.Restart()
	remote.Other()
	asked, goOn, called := make(chan struct{}, 8), make(chan struct{}), make(chan struct{}, 8)
	remote.Instead(func(_ http.ResponseWriter, r *http.Request) bool {
		switch r.Header.Get("Mcp-Method") {
		case "tools/list":
			asked <- struct{}{}
			<-goOn
		case "tools/call":
			called <- struct{}{}
		}
		return false
	})
	done := make(chan error, 2)
	for range 2 {
		h := k.Person()
		go func() {
			_, err := echo(t, h)
			done <- err
		}()
	}
	<-asked
	select { // nothing tells that the other call waits; it was called at once
	case <-called:
	case <-time.After(200 * time.Millisecond):
	}
	close(goOn)
	for range 2 {
		if err := <-done; sys.CodeOf(err) != sys.CodeUnavailable || !strings.Contains(err.Error(), "has not accepted") {
			t.Errorf("got %v, want a refusal", err)
		}
	}
	if n := remote.Count("mcp"); n == 0 || len(called) != 0 {
		t.Errorf("a tool was called that nobody accepted (%d)", len(called))
	}
}
