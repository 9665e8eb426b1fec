package sandbox

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"oxios/kernel/sys"
)

// roomy is contained for tests that need a room.
func roomy(t *testing.T) (*Runner, string) {
	t.Helper()
	r, dir := contained(t, Config{})
	if !r.hasRooms(t.Context()) {
		t.Skip("this system lets nobody make namespaces")
	}
	return r, dir
}

// Whoever ends the kernel may end its helpers at the same time, as a call that
// ends all programs of a name does.
func TestNothingOutlivesTheKernelAndItsHelpers(t *testing.T) {
	t.Parallel()
	roomy(t)
	for _, level := range []sys.Isolation{sys.IsolationPartial, sys.IsolationFull} {
		dir := canonical(t.TempDir())
		host := exec.Command(helper, "host", dir, stubborn, strconv.Itoa(int(level)))
		out, err := host.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		host.Stderr = os.Stderr
		if err := host.Start(); err != nil {
			t.Fatal(err)
		}
		if line, err := bufio.NewReader(out).ReadString('\n'); line != "started\n" {
			t.Fatalf("got %q, %v", line, err)
		}
		eventually(t, 10*time.Second, "the tree does not stand", func() bool { return exists(filepath.Join(dir, "ready")) })
		if len(inFolder(dir)) < 5 {
			t.Fatal("the tree is not seen")
		}
		helpers := children(host.Process.Pid)
		unix.Kill(host.Process.Pid, unix.SIGSTOP) // so that it cannot tidy up
		signalAll(append(helpers, host.Process.Pid), unix.SIGKILL)
		host.Wait()
		eventually(t, 5*time.Second, fmt.Sprintf("the tree at level %d outlived them", level), func() bool { return len(inFolder(dir)) == 0 })
	}
}

func TestACommandInARoomSeesItsOwnProcessesAlone(t *testing.T) {
	t.Parallel()
	r, dir := roomy(t)
	res := bash(t, r, Spec{Dir: dir, Level: sys.IsolationPartial}, `sleep 60 & kill -0 $! && kill $!; kill -9 -- 1 $PPID -1; test ! -e /proc/`+strconv.Itoa(os.Getpid())+`/stat && echo alone`)
	if string(res.Stdout) != "alone\n" {
		t.Errorf("got %d: %s", res.ExitCode, res.Output)
	}
}

// Landlock does not see any of these. The owner needs no right for them, and root
// owns the system's files.
func TestACommandInARoomChangesNothingOfFilesThatItMayNotWrite(t *testing.T) {
	t.Parallel()
	r, dir := roomy(t)
	outside := canonical(t.TempDir())
	file := filepath.Join(outside, "file")
	write(t, file, "x")
	inside := filepath.Join(dir, "file")
	for name, line := range map[string]string{
		"mode":           `chmod 600 "$1"`,
		"owner":          `chown "$(id -u):$(id -g)" "$1"`,
		"times":          `touch -d 2001-01-01 "$1"`,
		"attribute":      `python3 -c 'import os, sys; os.setxattr(sys.argv[1], "user.x", b"y")' "$1"`,
		"mode by handle": `python3 -c 'import os, sys; os.fchmod(os.open(sys.argv[1], os.O_RDONLY), 0o600)' "$1"`,
		"mode by proc":   `exec 9< "$1"; chmod 600 /proc/self/fd/9`,
		"mode by link":   `ln -sf "$1" link; chmod 600 link`,
	} {
		write(t, inside, "x")
		try := func(path string, readable ...string) Result {
			t.Helper()
			res, err := r.Run(t.Context(), Spec{Argv: []string{"bash", "-c", line, "sh", path}, Dir: dir, Readable: readable, Level: sys.IsolationPartial})
			if err != nil {
				t.Fatal(err)
			}
			return res
		}
		if res := try(inside); res.ExitCode != 0 {
			t.Logf("%s cannot be tried here: %s", name, res.Output)
			continue
		}
		before := stateOf(t, file)
		for _, readable := range [][]string{nil, {outside}} {
			if res := try(file, readable...); res.ExitCode == 0 || stateOf(t, file) != before {
				t.Errorf("%s: got through: %s", name, res.Output)
			}
		}
		if os.Getuid() == 0 {
			before := stateOf(t, "/etc/hostname")
			if res := try("/etc/hostname"); res.ExitCode == 0 || stateOf(t, "/etc/hostname") != before {
				t.Errorf("%s: a file of the system was changed: %s", name, res.Output)
			}
		}
	}
}

func stateOf(t *testing.T, path string) string {
	t.Helper()
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(st.Mode, st.Uid, st.Gid, st.Mtim, st.Ctim)
}

func TestWithoutRoomsCommandsAtLevel2Run(t *testing.T) {
	t.Parallel()
	r, dir := contained(t, Config{})
	r.noRooms = true
	if res := bash(t, r, Spec{Dir: dir, Level: sys.IsolationPartial}, `echo x > file && chmod 600 file && cat file`); string(res.Stdout) != "x\n" {
		t.Errorf("got %d: %s", res.ExitCode, res.Output)
	}
	if _, err := os.Stat(filepath.Join(dir, "file")); err != nil {
		t.Error(err)
	}
}
