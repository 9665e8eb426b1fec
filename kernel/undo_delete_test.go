package kernel_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
)

// A whole folder that is deleted by name runs by itself in Autonomous where undo
// brings all of it back, and asks everywhere else, with what would be lost.
func TestDeletedFolderAsksForWhatUndoDoesNotBringBack(t *testing.T) {
	t.Parallel()
	k := open(t)
	contained(t, k)
	folder := k.Folder
	fill := func() {
		write(t, filepath.Join(folder, ".gitignore"), "dist/\n")
		for _, name := range []string{"build/a.o", "build/sub/b.o", "node_modules/x/i.js", "node_modules/x/j.js", "dist/out.js", "mixed/kept.txt", "mixed/__pycache__/x.pyc"} {
			if err := os.MkdirAll(filepath.Dir(filepath.Join(folder, name)), 0o755); err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(folder, name), "1234")
		}
	}
	fill()
	for line, says := range map[string]string{
		"rm -rf build":           "yes, all of it: 2 files (8 bytes)",
		"rm -rf node_modules":    "no: undo brings back none of 2 files (8 bytes)",
		"rm -rf dist build":      "not all of it: of 3 files (12 bytes) undo does not bring back 1 (4 bytes)",
		"timeout 5 rm -rf mixed": "not all of it: of 2 files (8 bytes) undo does not bring back 1 (4 bytes)",
	} {
		for _, mode := range []string{"ask", "guarded"} {
			h := k.Agent(mode)
			_, err, ap := answered(t, k, h, false, shell(h, kernel.ShellArgs{Command: line}))
			if err == nil || ap.Request.Undo != says || ap.Request.UndoKO == "" {
				t.Errorf("%s in %s: got %v, undo %q, %q, want %q", line, mode, err, ap.Request.Undo, ap.Request.UndoKO, says)
			}
		}
		h := k.Agent("autonomous")
		if !strings.HasPrefix(says, "yes") {
			_, err, ap := answered(t, k, h, false, shell(h, kernel.ShellArgs{Command: line}))
			if err == nil || ap.Request.Undo != says {
				t.Errorf("%s: got %v, undo %q, want it to ask, with %q", line, err, ap.Request.Undo, says)
			}
			continue
		}
		if r, err := h.Exec.Shell(t.Context(), kernel.ShellArgs{Command: line}); err != nil || r.ExitCode != 0 {
			t.Errorf("%s: got %+v, %v, want it to run", line, r, err)
		}
		fill()
	}
	h := k.Agent("autonomous")
	if r, err := h.Exec.Shell(t.Context(), kernel.ShellArgs{Command: "rm -rf nothing-there"}); err != nil || r.ExitCode != 0 {
		t.Errorf("got %+v, %v, want nothing to be deleted without a question", r, err)
	}
	_, err, _ := answered(t, k, h, false, shell(h, kernel.ShellArgs{Command: "git stash clear"}))
	if err == nil {
		t.Error("a stash was thrown away")
	}
}

func TestDeletedFolderAsksWhereNothingIsContained(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Uncontained())
	write(t, filepath.Join(k.Folder, "a.txt"), "ab")
	h := k.Agent("autonomous")
	_, err, ap := answered(t, k, h, true, shell(h, kernel.ShellArgs{Command: "rm -rf a.txt"}))
	if _, gone := os.Stat(filepath.Join(k.Folder, "a.txt")); err != nil || gone == nil || ap.Request.Undo != "yes, all of it: 1 file (2 bytes)" {
		t.Errorf("got %v, %v, undo %q", err, gone, ap.Request.Undo)
	}
}
