package kernel_test

import (
	"path/filepath"
	"strings"
	"testing"

	"oxios/kernel"
	"oxios/kernel/sys"
)

// TestWhatOnlyLooksDoesNotReadSecretsThatItDoesNotName searches a folder with a
// secret in it. Nothing is asked, nothing of the secret is read, and git does not
// take its file for deleted.
func TestWhatOnlyLooksDoesNotReadSecretsThatItDoesNotName(t *testing.T) {
	t.Parallel()
	k := open(t)
	if p, err := k.Person().Security.Policy(t.Context()); err != nil || p.Isolation < sys.IsolationFull {
		t.Skip("commands are not contained at level 3 here")
	}
	write(t, filepath.Join(k.Folder, "sub", ".env"), "DEPLOY_HINT=correct-horse\n")
	write(t, filepath.Join(k.Folder, "sub", "a.txt"), "plain words\n")
	h := k.Agent("guarded")
	res, err := h.Exec.Shell(t.Context(), kernel.ShellArgs{Command: `grep -r "" .`})
	if err != nil || !strings.Contains(res.Output, "plain words") || strings.Contains(res.Output, "horse") {
		t.Errorf("got %q, %v, want the plain file alone", res.Output, err)
	}
}
