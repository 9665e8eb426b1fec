//go:build !windows

package security

import (
	"path/filepath"
	"syscall"
	"testing"
)

func TestPipeAmongTheFilesThatAToolReadsIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	pipe := filepath.Join(t.TempDir(), "package.json")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, ok := digestOf([]string{pipe}); ok {
		t.Error("a pipe has a content that a grant could be bound to")
	}
	if _, err := fileDigest(pipe); err == nil {
		t.Error("a pipe counts as a program")
	}
}
