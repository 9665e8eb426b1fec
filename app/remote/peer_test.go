//go:build unix

package remote

import (
	"os"
	"os/exec"
	"testing"

	"oxios/kernel/sys"
)

func TestForeignAndVanishedPeersAreRefused(t *testing.T) {
	t.Parallel()
	gone := exec.Command("true")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		peer Peer
		want sys.Code
	}{
		{Peer{UID: os.Getuid(), PID: os.Getpid()}, ""},
		{Peer{UID: os.Getuid() + 1, PID: os.Getpid()}, sys.CodeForbidden},
		{Peer{UID: os.Getuid(), PID: 0}, sys.CodeForbidden},
		{Peer{UID: os.Getuid(), PID: -1}, sys.CodeForbidden},
		{Peer{UID: os.Getuid(), PID: gone.Process.Pid}, sys.CodeForbidden},
	} {
		if got := sys.CodeOf(tc.peer.check()); got != tc.want {
			t.Errorf("%+v: got %q, want %q", tc.peer, got, tc.want)
		}
	}
}
