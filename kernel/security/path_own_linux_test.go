package security

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// The test runs itself again among mounts of its own, where it may bind.
func TestBindMountOfTheOxiosHomeIsProtected(t *testing.T) {
	t.Parallel()
	if os.Getenv("OXIOS_TEST_MOUNTS") == "" {
		again := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
		again.Env = append(os.Environ(), "OXIOS_TEST_MOUNTS=own")
		again.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
		}
		said := &strings.Builder{}
		again.Stdout, again.Stderr = said, said
		if err := again.Start(); err != nil {
			t.Skipf("this system gives out no namespaces: %v", err)
		}
		if err := again.Wait(); err != nil {
			t.Errorf("among its own mounts: %v\n%s", err, said)
		}
		return
	}
	home, own, alike := ownHome(t)
	alike("work")
	folder := filepath.Join(home, "work")
	for name, target := range map[string]string{"inside": own, "../outside": own, "above": home} {
		at := filepath.Join(folder, name)
		if err := os.Mkdir(at, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mount(target, at, "", syscall.MS_BIND, ""); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := syscall.Unmount(at, syscall.MNT_DETACH); err != nil {
				t.Error(err)
			}
		})
	}
	for p, want := range map[string]bool{
		"inside": true, "inside/config.toml": true, "../outside/x/y": true, "above/oxios/x": true, "above": false, "above/work": false, "x": false,
	} {
		if v := ClassifyFile(p, folder, home, own); v.Protected != want {
			t.Errorf("%s: got %+v, want protected %v", p, v, want)
		}
	}
	if v := ClassifyFile("x", filepath.Join(folder, "inside"), home, own); !v.Protected {
		t.Errorf("got %+v, want a mount of the home protected as a folder too", v)
	}
}
