package kernel_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"oxios/kernel"
)

// A pipe in the place of .git has no other end: whoever opens it waits for ever.
func TestAPipeInPlaceOfARepositoryHangsNoCommand(t *testing.T) {
	t.Parallel()
	k := walled(t)
	h := k.Agent("autonomous")
	if err := syscall.Mkfifo(filepath.Join(k.Folder, ".git"), 0o600); err != nil {
		t.Fatal(err)
	}
	done := make(chan string, 1)
	go func() {
		r, err := h.Exec.Shell(t.Context(), kernel.ShellArgs{Command: "git status; echo done > f; cat f"})
		if err != nil {
			t.Error(err)
		}
		done <- r.Output
	}()
	select {
	case out := <-done:
		if !strings.Contains(out, "done") {
			t.Errorf("got %q", out)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("the command hangs")
	}
}
