package kernel_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"oxios/kernel"
)

func TestGitThatFindsNoRepositoryIsToldWhereItIs(t *testing.T) {
	t.Parallel()
	k := open(t)
	if !level(t, k).Contained() {
		t.Skip("commands are not contained here")
	}
	for name, c := range map[string]struct {
		make func(top string) (folder string, err error)
		says string
	}{
		"a subfolder": {func(top string) (string, error) {
			return filepath.Join(top, "sub"), errors.Join(os.MkdirAll(filepath.Join(top, ".git"), 0o700), os.Mkdir(filepath.Join(top, "sub"), 0o700))
		}, "lies above the folder"},
		"a worktree": {func(top string) (string, error) {
			wt := filepath.Join(top, "wt")
			return wt, errors.Join(os.MkdirAll(filepath.Join(top, "repo", ".git", "worktrees", "wt"), 0o700), os.Mkdir(wt, 0o700),
				os.WriteFile(filepath.Join(wt, ".git"), []byte("gitdir: ../repo/.git/worktrees/wt\n"), 0o600))
		}, "leads to"},
		"a separate git dir": {func(top string) (string, error) {
			wt := filepath.Join(top, "wt")
			return wt, errors.Join(os.Mkdir(wt, 0o700), os.WriteFile(filepath.Join(wt, ".git"), []byte("gitdir: "+filepath.Join(top, "elsewhere.git")), 0o600))
		}, "elsewhere.git"},
		"no repository": {func(top string) (string, error) { return top, nil }, ""},
	} {
		top := realTemp(t, t.TempDir())
		folder, err := c.make(top)
		if err != nil {
			t.Fatal(err)
		}
		// As git says it, so that the test needs none.
		r, err := k.AgentIn(folder, "autonomous").Exec.Shell(t.Context(), kernel.ShellArgs{Command: "echo 'fatal: not a git repository (or any of the parent directories): .git' >&2; echo rc 128"})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(r.Note, c.says) || (c.says == "") != (r.Note == "") {
			t.Errorf("%s: got the note %q, want %q in it", name, r.Note, c.says)
		}
	}
}
