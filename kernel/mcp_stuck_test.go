package kernel_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
)

// starting connects a server that never answers, and returns once its program runs.
func starting(t *testing.T, k *kerneltest.Kernel) (done chan error) {
	t.Helper()
	addServer(t, k, "test", kindOfServer("silent"))
	done = make(chan error, 1)
	h := k.Person()
	go func() {
		_, err := h.MCP.Connect(t.Context(), "test")
		done <- err
	}()
	k.Until("its program runs", func() bool {
		log, err := k.Person().MCP.Log(t.Context(), "test")
		return err == nil && strings.Contains(log, "Started")
	})
	return done
}

// within fails where something takes as long as a start of a server may.
func within(t *testing.T, what string, fn func()) {
	t.Helper()
	began := time.Now()
	fn()
	if took := time.Since(began); took > 40*time.Second {
		t.Errorf("%s took %s", what, took)
	}
}

func TestAServerThatIsStartingCanBeEnded(t *testing.T) {
	t.Parallel()
	t.Run("switched off", func(t *testing.T) {
		t.Parallel()
		k := open(t)
		done := starting(t, k)
		within(t, "to switch it off", func() {
			if _, err := k.Person().MCP.Enable(t.Context(), "test", false); err != nil {
				t.Error(err)
			}
		})
		if err := <-done; err == nil || !strings.Contains(err.Error(), "was ended while it started") {
			t.Errorf("who waited for it got %v", err)
		}
	})
	t.Run("Oxios closes", func(t *testing.T) {
		t.Parallel()
		k := open(t)
		done := starting(t, k)
		within(t, "to close", k.Stop)
		if err := <-done; err == nil {
			t.Error("who waited for it got no error")
		}
	})
}

func TestACallOfAServerThatDoesNotReadCanBeStopped(t *testing.T) {
	t.Parallel()
	k := open(t)
	server(t, k, "test", kindOfServer("deaf"), serves("none"))
	args, err := json.Marshal(map[string]string{"text": strings.Repeat("x", 1<<20)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, stop) // before or after it waits for the server to read: it ends either way
	done := make(chan error, 1)
	go func() {
		_, err := k.Person().MCP.Call(ctx, kernel.MCPCall{Server: "test", Tool: "echo", Args: args})
		done <- err
	}()
	within(t, "to stop", func() {
		if err := <-done; err == nil {
			t.Error("the stopped call gave a result")
		}
	})
}
