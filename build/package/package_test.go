//go:build packagetest

// Package deb_test tries the Debian package: what it holds, and what becomes of
// it on a machine. Everywhere it is installed below a folder of its own, which
// needs no rights and touches nothing; where CI=true and the tests run as root,
// it is installed into the system too, by apt.
//
// $OXIOS_DESKTOP_BIN is the window's program. A session bus and a display of the
// tests' own are needed:
//
//	dbus-run-session -- xvfb-run -a go test -tags packagetest ./build/package
package deb_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// The two packages that all tests use: made once, from the same sources.
var older, newer string

const (
	olderVersion = "0.0.1"
	newerVersion = "0.0.2"
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "oxios-package-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if err := pack(dir); err != nil {
		fmt.Fprintln(os.Stderr, "make the packages:", err)
		return 1
	}
	return m.Run()
}

// pack makes both packages. The command line is linked once for each of them,
// so that it knows its version; the window takes half a minute to link, and is
// the same in both.
func pack(dir string) error {
	window := os.Getenv("OXIOS_DESKTOP_BIN")
	if window == "" {
		return errors.New("$OXIOS_DESKTOP_BIN does not say which program to pack; `make test` sets it")
	}
	for version, deb := range map[string]*string{olderVersion: &older, newerVersion: &newer} {
		programs := filepath.Join(dir, version)
		if err := os.Mkdir(programs, 0o700); err != nil {
			return err
		}
		if err := os.Symlink(window, filepath.Join(programs, "oxios-desktop")); err != nil {
			return err
		}
		link := exec.Command("go", "build", "-ldflags", "-s -w -X main.version="+version, "-o", filepath.Join(programs, "oxios"), "oxios")
		link.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := link.CombinedOutput(); err != nil {
			return fmt.Errorf("%w\n%s", err, out)
		}
		*deb = filepath.Join(dir, "oxios-"+version+".deb")
		build := exec.Command("./deb.sh", "v"+version, programs, *deb)
		build.Env = append(os.Environ(), "COMPRESSION=none")
		if out, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("%w\n%s", err, out)
		}
	}
	return nil
}

// sh runs a program to its end, and fails the test when it fails.
func sh(t *testing.T, env []string, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), env...)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, out, said.Bytes())
	}
	return string(out)
}

func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatalf("not within 30 s: %s", what)
}

// files lists what the package installs, with a leading slash; folders end in one.
func files(t *testing.T, deb string) []string {
	t.Helper()
	var list []string
	for line := range strings.Lines(sh(t, nil, "dpkg-deb", "--contents", deb)) {
		fields := strings.Fields(line)
		if path := strings.TrimPrefix(fields[5], "."); path != "/" {
			list = append(list, path)
		}
	}
	return list
}

func TestPackageHoldsBothProgramsAndWhatADesktopNeeds(t *testing.T) {
	t.Parallel()
	list := files(t, newer)
	for _, want := range []string{
		"/usr/bin/oxios", "/usr/bin/oxios-desktop", "/usr/share/applications/oxios.desktop", "/usr/share/metainfo/org.oxios.Oxios.metainfo.xml",
		"/usr/share/icons/hicolor/scalable/apps/oxios.svg", "/usr/share/icons/hicolor/48x48/apps/oxios.png", "/usr/share/icons/hicolor/256x256/apps/oxios.png",
		"/usr/share/man/man1/oxios.1.gz", "/usr/share/bash-completion/completions/oxios", "/usr/share/doc/oxios/copyright", "/usr/share/doc/oxios/third-party.txt.gz",
	} {
		if !slices.Contains(list, want) {
			t.Errorf("%s is missing", want)
		}
	}
	for line := range strings.Lines(sh(t, nil, "dpkg-deb", "--contents", newer)) {
		mode, owner := strings.Fields(line)[0], strings.Fields(line)[1]
		if owner != "root/root" || mode[0] != 'l' && (mode[5] == 'w' || mode[8] == 'w' || strings.ContainsAny(mode, "st")) {
			t.Errorf("got %s, want it owned by root and written by nobody else", strings.TrimSpace(line))
		}
	}
	depends := sh(t, nil, "dpkg-deb", "--field", newer, "Depends")
	for _, want := range []string{"libwebkit2gtk-4.1-0", "libgtk-3-0", "libayatana-appindicator3-1", "libc6", "desktop-file-utils", "xdg-utils"} {
		if !strings.Contains(depends, want) {
			t.Errorf("got Depends: %s, want %s in it", strings.TrimSpace(depends), want)
		}
	}
	root := t.TempDir()
	sh(t, nil, "dpkg-deb", "--extract", newer, root)
	checkout, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, program := range []string{"OXIOS_BIN", "OXIOS_DESKTOP_BIN"} { // as make built them
		raw, err := os.ReadFile(os.Getenv(program))
		if err != nil || bytes.Contains(raw, []byte(checkout+"/")) {
			t.Errorf("%s: got %v, want a program that names no folder of the machine that built it", program, err)
		}
	}
	share := filepath.Join(root, "usr/share")
	sh(t, nil, "desktop-file-validate", filepath.Join(share, "applications/oxios.desktop"))
	sh(t, nil, "appstreamcli", "validate", "--no-net", filepath.Join(share, "metainfo/org.oxios.Oxios.metainfo.xml"))
	sh(t, nil, "bash", "-n", filepath.Join(share, "bash-completion/completions/oxios"))
	if page := sh(t, nil, "zcat", filepath.Join(share, "man/man1/oxios.1.gz")); !strings.Contains(page, "oxios service install") {
		t.Error("the page of man does not know oxios service install")
	}
	if names := sh(t, nil, "zcat", filepath.Join(share, "doc/oxios/third-party.txt.gz")); !strings.Contains(names, "github.com/wailsapp/wails/v2") || !strings.Contains(names, "svelte (LICENSE") {
		t.Error("third-party.txt names neither Wails nor Svelte")
	}
}

func TestPackageHasNothingThatLintianWarnsOf(t *testing.T) {
	t.Parallel()
	// make package compresses, and links the window position-independent; these two were made in a hurry.
	const ours = "hardening-no-pie,uses-no-compression-for-control-tarball,uses-no-compression-for-data-tarball"
	cmd := exec.CommandContext(t.Context(), "lintian", "--allow-root", "--fail-on", "error,warning", "--suppress-tags", ours, newer)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestVersionsSortAsTheyWereBuilt(t *testing.T) {
	t.Parallel()
	var last string
	for _, described := range []string{"aabec39", "v0.1.0-rc1", "v0.1.0-rc1-3-gaabec39", "v0.1.0", "v0.1.0-2-gaabec39", "v0.1.0-10-gaabec39", "v0.1.0-10-gaabec39-dirty", "v0.1.1"} {
		out, err := exec.Command("./deb.sh", "--version", described).Output()
		version := strings.TrimSpace(string(out))
		if err != nil || version == "" {
			t.Fatalf("%s: got %q, %v", described, out, err)
		}
		if last != "" && exec.Command("dpkg", "--compare-versions", last, "lt", version).Run() != nil {
			t.Errorf("%s (%s) does not come after %s", version, described, last)
		}
		last = version
	}
}

// place is where a package is installed.
type place struct {
	t    *testing.T
	root string // "" is the system itself
}

// places are the places of these tests.
func places(t *testing.T, try func(t *testing.T, p *place)) {
	t.Run("below a folder", func(t *testing.T) {
		root := t.TempDir()
		if err := os.MkdirAll(filepath.Join(root, "var/lib/dpkg/updates"), 0o755); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"status", "available"} {
			if err := os.WriteFile(filepath.Join(root, "var/lib/dpkg", name), nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		try(t, &place{t: t, root: root})
	})
	if os.Getenv("CI") != "true" || os.Geteuid() != 0 {
		return // nobody's machine is changed unasked
	}
	t.Run("into the system", func(t *testing.T) {
		if out, err := exec.Command("dpkg-query", "--show", "oxios").Output(); err == nil {
			t.Fatalf("this machine has an Oxios of its own (%s), which stays as it is", bytes.TrimSpace(out))
		}
		p := &place{t: t}
		t.Cleanup(func() { _ = exec.Command("dpkg", "--purge", "oxios").Run() })
		try(t, p)
	})
}

// dpkg runs dpkg on the place. Below a folder nobody's libraries are there, so
// dependencies count in the system alone, where apt brings them.
func (p *place) dpkg(args ...string) string {
	p.t.Helper()
	env := []string{"PATH=" + os.Getenv("PATH") + ":/usr/sbin:/sbin", "DEBIAN_FRONTEND=noninteractive"}
	if p.root == "" {
		return sh(p.t, env, "dpkg", args...)
	}
	own := []string{"dpkg", "--root=" + p.root, "--log=/dev/null", "--force-not-root", "--force-depends", "--force-script-chrootless"}
	if os.Geteuid() != 0 {
		own = append([]string{"fakeroot"}, own...)
	}
	return sh(p.t, env, own[0], append(own[1:], args...)...)
}

func (p *place) install(deb string) {
	p.t.Helper()
	if p.root == "" {
		sh(p.t, []string{"DEBIAN_FRONTEND=noninteractive"}, "apt-get", "install", "--quiet", "--yes", "--no-install-recommends", deb)
		return
	}
	p.dpkg("--install", deb)
	// What the trigger of desktop-file-utils does in the system.
	sh(p.t, nil, "update-desktop-database", p.path("/usr/share/applications"))
}

func (p *place) path(path string) string { return filepath.Join(p.root, path) }

// left is what there still is of the package. Folders of the system are shared, and stay.
func (p *place) left() (list []string) {
	p.t.Helper()
	for _, path := range files(p.t, newer) {
		shared := strings.HasSuffix(path, "/") && !strings.Contains(path, "oxios")
		if _, err := os.Lstat(p.path(path)); !shared && !errors.Is(err, fs.ErrNotExist) {
			list = append(list, path)
		}
	}
	if known, err := os.ReadFile(p.path("/usr/share/applications/mimeinfo.cache")); p.root == "" && (err != nil || bytes.Contains(known, []byte("oxios"))) {
		list = append(list, "oxios:// in mimeinfo.cache")
	}
	return list
}

// env is the environment of a person on this place.
func (p *place) env(home string) []string {
	env := []string{"HOME=" + home, "OXIOS_HOME=" + filepath.Join(home, ".oxios"), "XDG_CONFIG_HOME=" + filepath.Join(home, ".config"), "XDG_DATA_HOME=" + filepath.Join(home, ".local/share"), "LANG=C.UTF-8"}
	if p.root != "" {
		env = append(env, "PATH="+p.path("/usr/bin")+":"+os.Getenv("PATH"), "XDG_DATA_DIRS="+p.path("/usr/share")+":/usr/local/share:/usr/share")
	}
	return env
}

// start starts a program of the place and waits until it has written a line that holds word.
func (p *place) start(env []string, word, name string, args ...string) (line string, stop func()) {
	p.t.Helper()
	cmd := exec.Command(p.path("/usr/bin/"+name), args...)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	stop = sync.OnceFunc(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	})
	p.t.Cleanup(stop)
	read := bufio.NewReader(out)
	line, err = read.ReadString('\n')
	if err != nil || !strings.Contains(line, word) {
		p.t.Fatalf("%s: got %q, %v, want a line with %q", name, line, err, word)
	}
	go func() { _, _ = io.Copy(io.Discard, read) }()
	return strings.TrimSpace(line), stop
}

func TestPackageInstallsUpgradesWithDataKeptAndLeavesNothing(t *testing.T) {
	places(t, func(t *testing.T, p *place) {
		home := t.TempDir()
		env := p.env(home)
		oxios := p.path("/usr/bin/oxios")
		if err := os.MkdirAll(filepath.Join(home, ".oxios"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(home, ".oxios/config.toml"), []byte("keyring = false\n"), 0o600); err != nil {
			t.Fatal(err)
		}

		p.install(older)
		if got := sh(t, env, oxios, "version"); !strings.Contains(got, "oxios "+olderVersion+" ") {
			t.Errorf("got %q, want version %s", got, olderVersion)
		}
		model, _ := p.start(env, "OXIOS_BASE_URL=", "oxios", "demo")
		env = append(env, model, "OXIOS_MODEL=oxios-demo", "OXIOS_API_KEY=test-key-0123456789")
		sh(t, env, oxios, "run", "--folder", t.TempDir(), "Write a hello file")
		before := sh(t, env, oxios, "sessions", "list", "--json")
		if !strings.Contains(before, "Write a hello file") {
			t.Fatalf("got conversations %s, want the one that was had", before)
		}

		// An Oxios that runs goes on over its upgrade, and its home is what it was.
		_, stop := p.start(env, "Oxios is ready", "oxios", "serve")
		p.install(newer)
		if got := sh(t, env, oxios, "version"); !strings.Contains(got, "oxios "+newerVersion+" ") {
			t.Errorf("got %q, want version %s", got, newerVersion)
		}
		if got := sh(t, env, oxios, "sessions", "list", "--json"); got != before {
			t.Errorf("got conversations %s during the upgrade, want %s", got, before)
		}
		stop()
		if got := sh(t, env, oxios, "sessions", "list", "--json"); got != before {
			t.Errorf("got conversations %s after the upgrade, want %s", got, before)
		}
		if got := sh(t, env, oxios, "audit", "verify"); !strings.Contains(got, "intact") {
			t.Errorf("got %q, want the record intact", got)
		}

		if told := p.dpkg("--remove", "oxios"); !strings.Contains(told, "~/.oxios") {
			t.Errorf("got %q, want it said where the data stays", told)
		}
		if left := p.left(); len(left) > 0 {
			t.Errorf("the package left %q", left)
		}
		if _, err := os.Stat(filepath.Join(home, ".oxios/oxios.db")); err != nil {
			t.Errorf("the person's data went with the package: %v", err)
		}
	})
}
