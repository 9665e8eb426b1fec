package kernel_test

import (
	"fmt"
	"strings"
	"testing"

	"oxios/kernel"
	"oxios/kernel/sys"
)

// What the person takes away while a call waits for a yes is gone for that call too.
func TestACallThatWaitedIsMadeWithWhatIsInForceNow(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for name, change := range map[string]func(t *testing.T, h *kernel.Handle) error{
		"switched off": func(t *testing.T, h *kernel.Handle) error {
			_, err := h.MCP.Enable(t.Context(), "test", false)
			return err
		},
		"a folder taken away": func(t *testing.T, h *kernel.Handle) error {
			list, err := h.MCP.Servers(t.Context())
			if err != nil {
				return err
			}
			def := list[0].Server
			def.Write = nil
			_, err = h.MCP.Set(t.Context(), "test", def)
			return err
		},
		"another effect": func(t *testing.T, h *kernel.Handle) error {
			list, err := h.MCP.Servers(t.Context())
			if err != nil {
				return err
			}
			def := list[0].Server
			def.Effect = "network"
			_, err = h.MCP.Set(t.Context(), "test", def)
			return err
		},
		"removed": func(t *testing.T, h *kernel.Handle) error { return h.MCP.Remove(t.Context(), "test") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := open(t)
			server(t, k, "test", func(d *kernel.MCPServer) { d.Write = []string{folder} })
			h := k.Agent("autonomous")
			done := make(chan error, 1)
			go func() {
				_, err := h.MCP.Call(t.Context(), kernel.MCPCall{Server: "test", Tool: "echo", Args: []byte(`{"text":"x"}`)})
				done <- err
			}()
			a := k.Approval(h.Principal().ID)
			if err := change(t, k.Person()); err != nil {
				t.Fatal(err)
			}
			if _, err := k.Person().Security.Approve(t.Context(), a.ID, kernel.ApproveInput{Hash: a.Request.Hash}); err != nil {
				t.Fatal(err)
			}
			if err := <-done; sys.CodeOf(err) != sys.CodeConflict || !strings.Contains(err.Error(), "changed while this waited") {
				t.Errorf("got %v, want a conflict", err)
			}
			list, err := k.Person().MCP.Servers(t.Context())
			if err != nil || name != "another effect" && len(list) == 1 && list[0].State == "running" {
				t.Errorf("got %+v, %v, want no process", list, err)
			}
		})
	}
}

func TestServersThatAreAddedAtOnceAreAllKept(t *testing.T) {
	t.Parallel()
	k := open(t)
	const n = 20
	errs := make(chan error, n)
	for i := range n {
		go func() {
			_, err := k.Person().MCP.Set(t.Context(), fmt.Sprintf("s%d", i), kernel.MCPServer{Command: "none"})
			errs <- err
		}()
	}
	for range n {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if list, err := k.Person().MCP.Servers(t.Context()); err != nil || len(list) != n {
		t.Errorf("got %d servers, %v, want %d", len(list), err, n)
	}
}
