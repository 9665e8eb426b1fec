package cli

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"oxios/kernel"
)

func TestUnitIsReadBackAsItWasWritten(t *testing.T) {
	t.Parallel()
	for _, u := range []unit{
		{program: "/usr/bin/oxios"},
		{program: "/opt/1.0 (beta)/$HOME/100%/oxios", home: `/srv/a "b" \c 100% $HOME 한글`},
		{program: "/usr/bin/oxios", home: `/srv/%%h\\\"`},
	} {
		got, err := parseUnit(u.text())
		if err != nil || got != u {
			t.Errorf("got %+v, %v, want %+v", got, err, u)
		}
	}
	if u, err := parseUnit("[Service]\nExecStart=/bin/true\n"); err == nil {
		t.Errorf("got %+v of somebody else's unit, want an error", u)
	}
}

func TestUnitIsOneThatSystemdTakes(t *testing.T) {
	t.Parallel()
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not installed")
	}
	dir := filepath.Join(t.TempDir(), "a $HOME 100%")
	bin := filepath.Join(dir, "oxios")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(bin, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), unitName)
	u := unit{program: bin, home: `/srv/a "b" \c 100% $HOME`}
	if err := os.WriteFile(path, []byte(u.text()), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), analyze, "--user", "verify", path)
	cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+t.TempDir())
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
}

// realSystemd starts a systemd of the machine's own, in a mount and control
// group namespace where the system seems to have been booted with it.
const realSystemd = `
set -e
mkdir "$XDG_RUNTIME_DIR/cg"
mount -t cgroup2 none "$XDG_RUNTIME_DIR/cg"
group="$XDG_RUNTIME_DIR/cg/oxios-test-$$"
mkdir "$group"
sh -c 'echo $$ > "$0/cgroup.procs"; exec unshare --mount --cgroup sh -c "
	mount -t tmpfs tmpfs /run
	mkdir -p /run/systemd/system
	umount -l /sys/fs/cgroup
	mount -t cgroup2 none /sys/fs/cgroup
	exec /lib/systemd/systemd --user --log-target=console"' "$group" || true
find "$group" -depth -type d -exec rmdir {} \;
umount "$XDG_RUNTIME_DIR/cg"
`

// underSystemd gives m a person's systemd until the test ends.
func underSystemd(t *testing.T, m *machine) {
	t.Helper()
	if os.Getenv("CI") != "true" || os.Geteuid() != 0 {
		t.Skip("a systemd of its own needs root, and is only started where CI=true")
	}
	run, err := os.MkdirTemp("", "sd") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(run) })
	m.env = append(m.env, "XDG_RUNTIME_DIR="+run)
	cmd := exec.Command("unshare", "--mount", "sh", "-c", realSystemd)
	var said buffer
	cmd.Env, cmd.Stdout, cmd.Stderr = m.env, &said, &said
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
	t.Cleanup(func() {
		_ = m.systemctl("exit").Run()
		select {
		case <-ended:
		case <-time.After(20 * time.Second):
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
			<-ended
			t.Error("systemd did not end")
		}
	})
	for end := time.Now().Add(10 * time.Second); m.systemctl("show-environment").Run() != nil; time.Sleep(20 * time.Millisecond) {
		select {
		case <-ended:
			t.Skipf("no systemd can be started here: %s", said.String())
		default:
		}
		if time.Now().After(end) {
			t.Fatalf("systemd does not answer: %s", said.String())
		}
	}
}

func (m *machine) systemctl(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(context.Background(), "systemctl", append([]string{"--user"}, args...)...)
	cmd.Env = m.env
	return cmd
}

func (m *machine) service() serviceView {
	m.t.Helper()
	return decode[serviceView](m.t, m.must(0, "service", "status", "--json").out)
}

func (m *machine) isolation() string {
	m.t.Helper()
	for _, check := range decode[kernel.DoctorReport](m.t, m.do("doctor", "--json").out).Checks {
		if check.Name == "isolation" {
			return check.Detail.EN
		}
	}
	m.t.Fatal("the doctor does not tell the isolation")
	return ""
}

func TestServiceRunsAgentsAsContainedAsAnybody(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	underSystemd(t, m)
	want := m.isolation()
	m.must(0, "service", "install")
	contains(t, "start", m.must(0, "service", "start").out, "runs as a service")
	if v := m.service(); !v.Installed || !v.Enabled || v.State != "active" || v.PID == 0 || v.Owner != kernel.OwnerServe || v.Problem != "" {
		t.Errorf("got %+v, want it installed, enabled and active", v)
	}
	until(t, "the trials are over", func() bool { return m.isolation() == want })
	contains(t, "run", m.must(0, "run", writes).out, "is written")
	if !strings.HasPrefix(m.must(0, "address").out, "http://127.0.0.1:") {
		t.Error("it tells no address of its page")
	}
	m.must(0, "service", "stop")
	if v := m.service(); v.State != "inactive" || v.PID != 0 || v.Owner != "" {
		t.Errorf("got %+v, want it stopped", v)
	}
	m.must(0, "service", "uninstall")
	if v := m.service(); v.Installed || v.Enabled {
		t.Errorf("got %+v, want it gone", v)
	}
	if _, err := os.Stat(filepath.Join(m.home, "oxios.db")); err != nil {
		t.Errorf("the home was not kept: %v", err)
	}
}

func TestServiceComesBackAfterItWasKilled(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	underSystemd(t, m)
	m.must(0, "service", "install")
	m.must(0, "service", "start")
	killed := m.service().PID
	if err := syscall.Kill(killed, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	until(t, "another process has the home", func() bool {
		v := m.service()
		return v.State == "active" && v.PID != killed && v.Owner == kernel.OwnerServe
	})
}

func TestServiceWaitsForAnotherOwnerAndTakesOver(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	underSystemd(t, m)
	stop, _ := m.serve()
	m.must(0, "service", "install")
	contains(t, "start", m.must(0, "service", "start").out, "waits", "takes over")
	pid := m.service().PID
	stop()
	until(t, "the service has the home", func() bool {
		owner, err := ownerOf(t.Context(), m.home)
		return err == nil && owner.PID == pid
	})
}
