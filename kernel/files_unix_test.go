//go:build !windows

package kernel_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
	"oxios/kernel/sys"
)

func TestPipesOfAFolderThatIsNotTrustedHangNoTool(t *testing.T) {
	t.Parallel()
	script := "[[scenario]]\nmatch = \"^look\"\n"
	for _, call := range []string{
		`read {"path": "pipe"}`, `read {"path": "link"}`, `grep {"pattern": "x", "path": "pipe"}`, `ls {"path": "pipe"}`,
		`find {"pattern": "*", "path": "pipe"}`, `edit {"path": "pipe", "old": "a", "new": "b"}`, `write {"path": "pipe", "content": "x"}`,
		`exec {"command": "test -f pipe; echo looked"}`, `exec {"command": "test -f link package.json; echo looked"}`,
	} {
		name, args, _ := strings.Cut(call, " ")
		script += "[[scenario.turn]]\n[[scenario.turn.call]]\ntool = \"" + name + "\"\nargs = '" + args + "'\n"
	}
	k := open(t, kerneltest.Script(script+"[[scenario.turn]]\ntext = \"Done.\"\n"))
	dir := t.TempDir()
	for _, name := range []string{"pipe", "AGENTS.md", "package.json"} {
		if err := syscall.Mkfifo(filepath.Join(dir, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("pipe", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if r := k.Ask("look", func(m *kernel.Submit) { m.Folder, m.Mode = dir, "autonomous" }); r.Response != "Done." {
		t.Errorf("got %+v", r)
	}
}

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
