package kernel_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
	"oxios/kernel/sys"
)

// A process that is killed while it starts another leaves its lock to that one
// until it has become what it was to be.
func TestALockThatADeadOwnerLeftIsWaitedForAMoment(t *testing.T) {
	t.Parallel()
	k := kerneltest.Open(t)
	o := k.Options()
	k.Stop()
	dead := exec.Command("true")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	left := flock.New(filepath.Join(o.Home, "run", "lock"))
	if ok, err := left.TryLock(); !ok || err != nil {
		t.Fatalf("got %t, %v", ok, err)
	}
	owner := func(pid int) {
		if err := os.WriteFile(filepath.Join(o.Home, "run", "owner"), []byte("serve, process "+strconv.Itoa(pid)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	owner(os.Getpid())
	if _, err := kernel.Open(t.Context(), o); sys.CodeOf(err) != sys.CodeBusy {
		t.Errorf("a living owner: got %v, want busy", err)
	}
	owner(dead.Process.Pid)
	time.AfterFunc(100*time.Millisecond, func() { _ = left.Unlock() })
	again, err := kernel.Open(t.Context(), o)
	if err != nil {
		t.Fatalf("a dead owner: %v", err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}
