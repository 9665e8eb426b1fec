//go:build desktoptest

package desktop_test

import (
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
)

func TestAutomaticStartStaysInTheTrayUntilItIsOpened(t *testing.T) {
	home, _, env := prepare(t, "")
	p := begin(t, home, env, "--hidden")
	p.findTray()
	p.dial()
	p.until("the page is there", func() bool { return strings.Contains(p.out.String(), "The page is there") })
	if p.visible() {
		t.Error("the window of an automatic start is on the screen")
	}

	// A second automatic start leaves the first one alone; a person's does not.
	second := exec.Command(binary(t, "OXIOS_DESKTOP_BIN"), "--hidden")
	second.Env = env
	if out, err := second.CombinedOutput(); err != nil {
		t.Fatalf("a second start: %v %s", err, out)
	}
	if p.visible() {
		t.Error("a second automatic start showed the window")
	}
	p.click("Open Oxios")
	p.until("the window is on the screen", p.visible)
	p.click("Quit")
	if code := p.wait(); code != 0 {
		t.Errorf("got exit code %d, want 0", code)
	}
}

func TestAutomaticStartWithoutATrayIsMinimised(t *testing.T) {
	if _, err := session.ReleaseName(watcherName); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if _, err := session.RequestName(watcherName, dbus.NameFlagDoNotQueue); err != nil {
			t.Fatal(err)
		}
	}()
	home, _, env := prepare(t, "")
	p := begin(t, home, env, "--hidden")
	p.dial()
	p.until("the task bar leads to the window, which is minimised", func() bool {
		out, _ := exec.CommandContext(t.Context(), "wmctrl", "-l").Output()
		return strings.Contains(string(out), " Oxios\n") && !p.visible()
	})
	// Starting Oxios again brings it up.
	again := exec.Command(binary(t, "OXIOS_DESKTOP_BIN"))
	again.Env = env
	if out, err := again.CombinedOutput(); err != nil {
		t.Fatalf("a second start: %v %s", err, out)
	}
	p.until("the window is on the screen", p.visible)
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case <-p.ended:
	case <-time.After(10 * time.Second):
		t.Error("it did not end")
	}
}
