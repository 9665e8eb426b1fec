//go:build !windows && !darwin

package kernel_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
	"oxios/kernel/security"
	"oxios/kernel/sys"
)

// session is a kernel whose window's program lies in a folder called name, in a
// person's session of its own. It returns where the entry of the session lies.
func session(t *testing.T, name string) (k *kerneltest.Kernel, window, entry string) {
	t.Helper()
	config := filepath.Join(t.TempDir(), "config")
	t.Setenv("XDG_CONFIG_HOME", config)
	window = filepath.Join(t.TempDir(), name, "oxios-desktop")
	if err := os.MkdirAll(filepath.Dir(window), 0o700); err != nil {
		t.Fatal(err)
	}
	program := "#!/bin/sh\nprintf '%s\\n%s\\n' \"$*\" \"$OXIOS_HOME\" > \"$0.started.new\" && mv \"$0.started.new\" \"$0.started\"\n"
	if err := os.WriteFile(window, []byte(program), 0o700); err != nil {
		t.Fatal(err)
	}
	k = open(t, kerneltest.Uncontained(), kerneltest.With(func(o *kernel.Options) { o.Window = window }))
	return k, window, filepath.Join(config, "autostart", "oxios.desktop")
}

func setAutostart(t *testing.T, k *kerneltest.Kernel, on bool) kernel.Autostart {
	t.Helper()
	v, err := k.Person().Infra.SetAutostart(t.Context(), on)
	if err != nil {
		t.Fatal(err)
	}
	if v.On != on {
		t.Errorf("got on = %v, want %v", v.On, on)
	}
	return v
}

func TestAutostartWritesAndRemovesTheEntryOfTheSession(t *testing.T) {
	k, window, entry := session(t, "bin")
	v := setAutostart(t, k, true)
	if v.Entry != entry || v.Program != window || v.Problem != nil {
		t.Errorf("got %+v, want the entry %s for %s", v, entry, window)
	}
	raw, err := os.ReadFile(entry)
	if err != nil || !strings.Contains(string(raw), "\nTryExec="+window+"\n") || !strings.Contains(string(raw), `"`+window+`" --hidden`) {
		t.Errorf("got %s, %v, want %s started with --hidden", raw, err, window)
	}
	setAutostart(t, k, false)
	if _, err := os.Stat(entry); !os.IsNotExist(err) {
		t.Errorf("the entry is still there (%v)", err)
	}
	setAutostart(t, k, false) // what is off can be turned off

	list, err := k.Person().Security.Audit(t.Context(), security.AuditQuery{Action: security.ActionConfigChange})
	if err != nil || len(list) != 6 {
		t.Errorf("got %d records, %v, want an intent and an outcome for each of three changes", len(list), err)
	}
}

func TestAutostartEntryWorksFromAnyFolder(t *testing.T) {
	k, window, entry := session(t, "a \"b\" $HOME `c` 100% \\d 한글")
	if v := setAutostart(t, k, true); v.Program != window || v.Problem != nil {
		t.Errorf("got %+v, want %s", v, window)
	}
	gio, err := exec.LookPath("gio")
	if err != nil {
		t.Skip("gio, which starts entries as a desktop does, is not installed")
	}
	if out, err := exec.Command(gio, "launch", entry).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	k.Until("the program was started", func() bool {
		_, err := os.Stat(window + ".started")
		return err == nil
	})
	if got, err := os.ReadFile(window + ".started"); err != nil || string(got) != "--hidden\n"+k.Home+"\n" {
		t.Errorf("got %q, %v, want the flag and the home %s", got, err, k.Home)
	}
}

func TestAutostartTurnedOffInTheSystemsSettingsIsOff(t *testing.T) {
	for _, line := range []string{"Hidden=true", "X-GNOME-Autostart-enabled=false"} {
		k, _, entry := session(t, "bin")
		setAutostart(t, k, true)
		raw, err := os.ReadFile(entry)
		if err != nil {
			t.Fatal(err)
		}
		key, _, _ := strings.Cut(line, "=")
		changed := strings.ReplaceAll(string(raw), key+"=true", "") + line + "\n"
		if err := os.WriteFile(entry, []byte(changed), 0o600); err != nil {
			t.Fatal(err)
		}
		if v, err := k.Person().Infra.Autostart(t.Context()); err != nil || v.On {
			t.Errorf("%s: got %+v, %v, want off", line, v, err)
		}
		setAutostart(t, k, true)
	}
}

func TestAutostartSaysThatItsProgramMovedAndIsMendedByTurningItOn(t *testing.T) {
	k, window, _ := session(t, "old")
	setAutostart(t, k, true)
	moved := filepath.Join(t.TempDir(), "oxios-desktop")
	if err := os.Rename(window, moved); err != nil {
		t.Fatal(err)
	}
	v, err := k.Person().Infra.Autostart(t.Context())
	if err != nil || !v.On || v.Problem == nil || !strings.Contains(v.Problem.Message, window) {
		t.Errorf("got %+v, %v, want a problem that names %s", v, err, window)
	}
	k.Stop()
	o := k.Options()
	o.Window = moved
	again, err := kernel.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if v, err := again.As(sys.Person("test")).Infra.SetAutostart(t.Context(), true); err != nil || v.Program != moved || v.Problem != nil {
		t.Errorf("got %+v, %v, want %s", v, err, moved)
	}
}

func TestAutostartPrefersTheNameThatThePathKnows(t *testing.T) {
	k, window, _ := session(t, "1.2.3")
	dir := t.TempDir()
	link := filepath.Join(dir, "oxios-desktop")
	if err := os.Symlink(window, link); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	if v := setAutostart(t, k, true); v.Program != link {
		t.Errorf("got %s, want %s, which outlives an upgrade", v.Program, link)
	}
}

func TestAutostartWithoutAWindowIsRefusedAndSaysWhatToDo(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	k := open(t, kerneltest.Uncontained())
	v, err := k.Person().Infra.Autostart(t.Context())
	if err != nil || v.On || v.Problem == nil {
		t.Errorf("got %+v, %v, want off with a reason", v, err)
	}
	_, err = k.Person().Infra.SetAutostart(t.Context(), true)
	if sys.CodeOf(err) != sys.CodeUnavailable || !strings.Contains(sys.AsError(err).Hint, "oxios service install") {
		t.Errorf("got %v, want unavailable with the way without a window", err)
	}
	if _, err := os.Stat(v.Entry); !os.IsNotExist(err) {
		t.Errorf("an entry was written (%v)", err)
	}
}

func TestAutostartIsClosedToAgents(t *testing.T) {
	k, _, entry := session(t, "bin")
	_, err := k.Agent("autonomous").Infra.SetAutostart(t.Context(), true)
	if sys.CodeOf(err) != sys.CodeForbidden {
		t.Errorf("got %v, want forbidden", err)
	}
	if _, err := os.Stat(entry); !os.IsNotExist(err) {
		t.Errorf("an entry was written (%v)", err)
	}
	list, err := k.Person().Security.Audit(t.Context(), security.AuditQuery{Action: security.ActionAccessDenied})
	if err != nil || len(list) != 1 {
		t.Errorf("got %d refusals on record, %v, want 1", len(list), err)
	}
}
