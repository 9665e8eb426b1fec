//go:build !windows

package kernel_test

import (
	"context"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"oxios/kernel"
	"oxios/kernel/sys"
)

func TestPipeInTheFolderDoesNotHangAnything(t *testing.T) {
	t.Parallel()
	k := open(t)
	h := k.Agent("guarded")
	if err := syscall.Mkfifo(filepath.Join(k.Folder, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	_, err := h.Exec.Read(ctx, kernel.ReadArgs{Path: "pipe"})
	wantCode(t, "read", err, sys.CodeRefused, "pipe")
	_, err = h.Exec.Write(ctx, kernel.WriteArgs{Path: "pipe", Content: "x"})
	wantCode(t, "write", err, sys.CodeRefused, "pipe")
	if r, err := h.Exec.Grep(ctx, kernel.GrepArgs{Pattern: "x"}); err != nil || len(r.Matches) != 0 {
		t.Errorf("got %+v, %v", r, err)
	}
}
