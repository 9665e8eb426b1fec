//go:build unix

package remote_test

import (
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"oxios/app/remote"
	"oxios/kernel/sys"
)

func TestSocketIsPrivateAndGoesWithItsOwner(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	run := filepath.Join(home, "run")
	if err := os.Mkdir(run, 0o755); err != nil {
		t.Fatal(err)
	}
	ln, err := remote.Listen(home)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]fs.FileMode{run: fs.ModeDir | 0o700, filepath.Join(run, "oxios.sock"): fs.ModeSocket | 0o600} {
		info, err := os.Lstat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode() != want {
			t.Errorf("%s: got %v, want %v", path, info.Mode(), want)
		}
	}
	if err := ln.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(filepath.Join(run, "oxios.sock")); !os.IsNotExist(err) {
		t.Errorf("after Close: got %v, want no socket", err)
	}
}

func TestStaleSocketIsReplacedAndALivingOneIsNot(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	run := filepath.Join(home, "run")
	if err := os.Mkdir(run, 0o700); err != nil {
		t.Fatal(err)
	}
	// What a killed process leaves: a socket in the folder that nobody listens on.
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(run, "oxios.sock"), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	dead.SetUnlinkOnClose(false)
	dead.Close()
	ln, err := remote.Listen(home)
	if err != nil {
		t.Fatalf("with a dead socket: got %v, want none", err)
	}
	_, err = remote.Listen(home)
	wantCode(t, err, sys.CodeBusy)
	if err := ln.Close(); err != nil {
		t.Error(err)
	}
}

func TestFilesInTheSocketsPlaceAreLeftAlone(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	path := filepath.Join(home, "run", "oxios.sock")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := remote.Listen(home)
	wantCode(t, err, sys.CodeConflict)
	if got, err := os.ReadFile(path); err != nil || string(got) != "mine" {
		t.Errorf("got %q and %v, want the file as it was", got, err)
	}

	elsewhere := t.TempDir()
	home = t.TempDir()
	if err := os.Symlink(elsewhere, filepath.Join(home, "run")); err != nil {
		t.Fatal(err)
	}
	_, err = remote.Listen(home)
	wantCode(t, err, sys.CodeForbidden)
}

func TestPathThatIsTooLongStillGetsItsSocket(t *testing.T) {
	t.Parallel()
	home := filepath.Join(t.TempDir(), strings.Repeat("long/", 40)+"home")
	f := newFake()
	s := serve(t, home, func(remote.Peer) (*remote.Handle, error) { return f.handle(), nil })
	if _, err := os.Lstat(filepath.Join(home, "run", "oxios.sock")); err != nil {
		t.Errorf("the socket is not in its folder: %v", err)
	}
	c := dial(t, home)
	if _, err := c.Handle().State.Session(t.Context(), "1"); err != nil {
		t.Errorf("got %v, want an answer", err)
	}
	s.stop()
	if _, err := os.Lstat(filepath.Join(home, "run", "oxios.sock")); !os.IsNotExist(err) {
		t.Errorf("after the end: got %v, want no socket", err)
	}
}
