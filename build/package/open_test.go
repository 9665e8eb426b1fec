//go:build packagetest

package deb_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// link is one that Oxios takes; the conversation need not exist.
const link = "oxios://session/01932c07-9f5d-7f3a-9a51-4b1f6a0c0d1e"

// desk is a person at a screen where the package is installed.
type desk struct {
	*place
	home string
	vars []string
}

// sit gives the place a window manager and a person.
func sit(t *testing.T, p *place) *desk {
	t.Helper()
	wm := exec.Command("openbox")
	if err := wm.Start(); err != nil {
		t.Fatalf("start a window manager: %v", err)
	}
	t.Cleanup(func() {
		_ = wm.Process.Kill()
		_ = wm.Wait()
	})
	until(t, "windows are managed", func() bool { return exec.Command("wmctrl", "-m").Run() == nil })
	home := t.TempDir()
	if err := os.MkdirAll(filepath.Join(home, ".oxios"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, ".oxios/config.toml"), []byte("keyring = false\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	// No desktop: what a link does is then decided by the entry alone, and xdg-open waits for what it starts.
	vars := append(p.env(home), "XDG_CURRENT_DESKTOP=", "DESKTOP_SESSION=", "KDE_FULL_SESSION=", "GNOME_DESKTOP_SESSION_ID=")
	d := &desk{place: p, home: home, vars: vars}
	t.Cleanup(d.quit)
	return d
}

// running is the command line of the window's process, "" while there is none.
func (d *desk) running() (pid string, args []string) {
	list, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range list {
		env, err := os.ReadFile(path)
		if err != nil || !strings.Contains("\x00"+string(env), "\x00OXIOS_HOME="+filepath.Join(d.home, ".oxios")+"\x00") {
			continue
		}
		raw, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
		if words := strings.Split(strings.TrimRight(string(raw), "\x00"), "\x00"); filepath.Base(words[0]) == "oxios-desktop" {
			return filepath.Base(filepath.Dir(path)), words
		}
	}
	return "", nil
}

func (d *desk) quit() {
	d.t.Helper()
	until(d.t, "the window ends", func() bool {
		pid, _ := d.running()
		if pid != "" {
			_ = exec.Command("kill", "-TERM", pid).Run()
		}
		// The window manager lists a window for a moment after its process: it is not the next one's.
		return pid == "" && len(d.windows()) == 0
	})
}

// windows lists the class of each window of Oxios, in the order of wmctrl.
func (d *desk) windows() (classes []string) {
	out, _ := exec.Command("wmctrl", "-l", "-x").Output()
	for line := range strings.Lines(string(out)) {
		if f := strings.Fields(line); len(f) > 2 && strings.HasSuffix(strings.TrimSpace(line), " Oxios") {
			classes = append(classes, f[2])
		}
	}
	return classes
}

// does starts what a click in a desktop starts, and does not wait for its end.
func (d *desk) does(name string, args ...string) {
	d.t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), d.vars...)
	said, err := os.Create(filepath.Join(d.t.TempDir(), "said"))
	if err != nil {
		d.t.Fatal(err)
	}
	defer said.Close()
	cmd.Stdout, cmd.Stderr = said, said
	if err := cmd.Start(); err != nil {
		d.t.Fatalf("%s: %v", name, err)
	}
	d.t.Cleanup(func() {
		if text, _ := os.ReadFile(said.Name()); d.t.Failed() && len(text) > 0 {
			d.t.Logf("%s %s said:\n%s", name, strings.Join(args, " "), text)
		}
	})
	go func() { _ = cmd.Wait() }() // xdg-open lives as long as what it started
}

func TestInstalledOxiosOpensByItsIconAndByItsLinks(t *testing.T) {
	places(t, func(t *testing.T, p *place) {
		p.install(newer)
		d := sit(t, p)
		if got := strings.TrimSpace(sh(t, d.vars, "xdg-mime", "query", "default", "x-scheme-handler/oxios")); got != "oxios.desktop" {
			t.Fatalf("got %q for oxios:// links, want oxios.desktop", got)
		}

		d.does("xdg-open", link)
		until(t, "a link opens the window", func() bool { return len(d.windows()) == 1 })
		if _, args := d.running(); len(args) != 2 || args[1] != link {
			t.Errorf("got %q, want the link handed over whole", args)
		}
		entry, err := os.ReadFile(p.path("/usr/share/applications/oxios.desktop"))
		if err != nil {
			t.Fatal(err)
		}
		// wmctrl writes both names of the class; desktops match either, in lower case.
		names := strings.Split(strings.ToLower(d.windows()[0]), ".")
		if !strings.Contains(string(entry), "StartupWMClass="+names[0]+"\n") && !strings.Contains(string(entry), "StartupWMClass="+names[1]+"\n") {
			t.Errorf("got a window of class %q, which the entry does not name: its icon would stand apart\n%s", d.windows()[0], entry)
		}
		first, _ := d.running()
		sh(t, d.vars, "xdg-open", link) // hands over and ends
		if again, _ := d.running(); again != first || len(d.windows()) != 1 {
			t.Errorf("got process %s with windows %q, want those of %s alone", again, d.windows(), first)
		}
		d.quit()

		d.does("gtk-launch", "oxios")
		until(t, "its icon opens the window", func() bool { return len(d.windows()) == 1 })
		d.quit()

		// The entry for automatic starts leads to the installed program, and shows nothing.
		sh(t, d.vars, p.path("/usr/bin/oxios"), "autostart", "on")
		d.does("gio", "launch", filepath.Join(d.home, ".config/autostart/oxios.desktop"))
		until(t, "an automatic start runs", func() bool {
			_, args := d.running()
			return len(args) == 2 && args[1] == "--hidden"
		})
		until(t, "its kernel answers", func() bool {
			cmd := exec.Command(p.path("/usr/bin/oxios"), "sessions", "list")
			cmd.Env = append(os.Environ(), d.vars...)
			return cmd.Run() == nil
		})
		if got := d.windows(); len(got) != 0 {
			t.Errorf("got windows %q, want none", got)
		}
	})
}
