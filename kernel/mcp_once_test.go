package kernel_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"oxios/kernel/mcp/mcptest"
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
