package sandbox

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"oxios/kernel/sys"
)

// contained is setup for tests that need level 2.
func contained(t *testing.T, cfg Config) (*Runner, string) {
	t.Helper()
	if landlockABI() < 1 {
		t.Skip("this kernel has no Landlock")
	}
	if cfg.Helper == "" {
		cfg.Helper = helper
	}
	r := New(cfg)
	t.Cleanup(r.Close)
	r.noWalls = true
	if rep := r.Probe(t.Context()); rep.Level != sys.IsolationPartial {
		t.Fatalf("got level %d, want 2: %s", rep.Level, rep.Problem)
	}
	return r, canonical(t.TempDir())
}

func TestProbeHoldsAtLevel2AndIsQuick(t *testing.T) {
	t.Parallel()
	start := time.Now()
	r, _ := contained(t, Config{})
	t.Logf("probe: %v", time.Since(start))
	rep := r.Probe(t.Context())
	if rep.Landlock != landlockABI() || !strings.Contains(rep.Problem, "apt install bubblewrap") || len(rep.Canaries) < 30 {
		t.Errorf("got %+v", rep)
	}
	for _, c := range rep.Canaries {
		if !c.Held && !c.Advisory {
			t.Errorf("%s did not hold: %s", c.Name, c.Detail)
		}
	}
	if again := r.Probe(t.Context()); !again.At.Equal(rep.At) {
		t.Error("the probe ran twice, want the kept answer")
	}
}

func TestOldLandlockStillHoldsAndSaysWhatItLacks(t *testing.T) {
	t.Parallel()
	if landlockABI() < 6 {
		t.Skip("this kernel has an old Landlock itself")
	}
	for _, abi := range []int{-1, 1, 2, 3, 4, 5} {
		r := New(Config{Helper: helper})
		r.noRooms = abi > 0
		abi = max(abi, -abi)
		r.abi, r.noWalls = abi, true
		rep := r.Probe(t.Context())
		r.Close()
		if rep.Level != sys.IsolationPartial || rep.Landlock != abi {
			t.Errorf("ABI %d: got level %d, ABI %d: %s", abi, rep.Level, rep.Landlock, rep.Problem)
		}
		lacks := map[string]string{"signal a process outside": "ABI 6"}
		if r.rooms.ok {
			clear(lacks) // it is not seen from there
		}
		if abi == 1 {
			lacks["move between folders inside"] = "ABI 2"
		}
		for _, c := range rep.Canaries {
			if want := lacks[c.Name]; want != "" && (c.Held || !strings.Contains(c.Detail, want)) {
				t.Errorf("ABI %d: got %+v, want it told as open", abi, c)
			}
		}
	}
}

func TestCanariesGetThroughWithoutLimits(t *testing.T) {
	t.Parallel()
	r, _ := setup(t, Config{})
	list, err := r.canaries(t.Context(), sys.IsolationNone, landlockABI())
	if err != nil {
		t.Fatal(err)
	}
	open := map[string]bool{}
	for _, c := range list {
		open[c.Name] = !c.Held
	}
	// A canary that cannot fail would prove nothing.
	for _, name := range []string{
		"read a file outside", "read a hidden file", "list a folder outside", "write outside", "make an entry beside a hidden one",
		"truncate a file that may be read", "move a file out", "connect to a unix socket", "connect to an abstract unix socket", "make a datagram socket pair",
		"make a seqpacket socket pair", "connect over TCP", "make a UDP socket", "clone3", "signal a process outside", "signal the helper",
		"files outside unchanged", "unshare a user namespace", "read the keyring", "type into a terminal",
	} {
		if !open[name] {
			t.Errorf("%q held without any limits", name)
		}
	}
}

func TestLevelThatCannotBeAppliedIsAnError(t *testing.T) {
	t.Parallel()
	r, dir := setup(t, Config{})
	j, err := r.start(t.Context(), Spec{Argv: []string{"true"}, Dir: dir, Writable: []string{filepath.Join(dir, "gone")}}, sys.IsolationPartial, false)
	if err == nil {
		<-j.done
	}
	if sys.CodeOf(err) != sys.CodeUnavailable || !strings.Contains(err.Error(), "level 2") {
		t.Errorf("got %v, want an error that names the level", err)
	}
	broken := New(Config{Helper: "/bin/true"})
	defer broken.Close()
	if rep := broken.Probe(t.Context()); rep.Level != sys.IsolationNone || rep.Problem == "" {
		t.Errorf("a helper that is none: got %+v, want level 0 and a reason", rep)
	}
	if _, err := broken.Run(t.Context(), Spec{Argv: []string{"true"}, Dir: dir}); err == nil {
		t.Error("a command ran without the helper that was configured")
	}
}

func TestLevel2KeepsProgramsToTheirFolders(t *testing.T) {
	t.Parallel()
	cache := t.TempDir()
	r, dir := contained(t, Config{CacheDir: cache})
	outside := t.TempDir()
	secret := filepath.Join(outside, "secret")
	write(t, secret, "hunter2")
	programs := map[string][]string{
		"bash": {
			"cat %[1]s", "echo x > %[2]s/new", "cp /etc/hostname %[2]s/", "ln %[1]s here", "mv mine %[2]s/",
			"ln -s %[1]s link; cat link", "cat /proc/%[3]d/environ", "rm -f %[1]s; test ! -e %[1]s", "ls %[2]s",
		},
		"python3": {"print(open('%[1]s').read())", "import os; os.truncate('%[1]s', 0)", "import socket; socket.socket(socket.AF_UNIX)", "import socket; socket.socket()"},
		"node":    {"console.log(require('fs').readFileSync('%[1]s','utf8'))", "require('fs').writeFileSync('%[2]s/new','x')"},
		"git":     {"-C %[2]s init", "clone file://%[2]s copy"},
	}
	for name, attempts := range programs {
		if _, err := exec.LookPath(name); err != nil {
			continue // not installed here
		}
		for _, a := range attempts {
			text := fmt.Sprintf(a+"%[4]s", secret, outside, os.Getpid(), "")
			argv := []string{name, "-c", text}
			switch name {
			case "node":
				argv[1] = "-e"
			case "git":
				argv = append([]string{"git"}, strings.Fields(text)...)
			}
			write(t, filepath.Join(dir, "mine"), "x")
			res, err := r.Run(t.Context(), Spec{Argv: argv, Dir: dir, Level: 2})
			if err != nil {
				t.Fatal(err)
			}
			if res.ExitCode == 0 || strings.Contains(string(res.Output), "hunter2") {
				t.Errorf("%s %q got through: %s", name, text, res.Output)
			}
		}
	}
	if data, err := os.ReadFile(secret); err != nil || string(data) != "hunter2" {
		t.Errorf("got %q, %v, want the secret untouched", data, err)
	}
	if list, _ := os.ReadDir(outside); len(list) != 1 {
		t.Errorf("got %v outside, want the secret alone", list)
	}
}

func TestLevel2LetsProgramsWork(t *testing.T) {
	t.Parallel()
	cache, grant := t.TempDir(), canonical(t.TempDir())
	temp := t.TempDir()
	r, dir := contained(t, Config{TempDir: temp, CacheDir: cache})
	write(t, filepath.Join(grant, "given"), "given")
	for program, line := range map[string]string{
		"bash": `set -e; mkdir -p a/b; echo x > a/b/f; mv a/b/f a/; cat <(echo y) /dev/null > z; test "$PWD" = ` + dir + `; ` +
			`echo t > "$TMPDIR/t"; mktemp; echo c > "$XDG_CACHE_HOME/c"; cat ` + grant + `/given; echo n > ` + grant + `/new; ` +
			`chmod 000 z; mkdir "$TMPDIR/shut"; touch "$TMPDIR/shut/f"; chmod 000 "$TMPDIR/shut"; ls /usr >/dev/null; ps >/dev/null || true`,
		"python3": `python3 -c 'import threading,subprocess,socket,tempfile,multiprocessing as m
t=threading.Thread(target=print); t.start(); t.join()
a,b=socket.socketpair(); a.send(b"x"); assert b.recv(1)==b"x"
print(subprocess.check_output(["echo","sub"]), tempfile.mkdtemp())
with m.get_context("fork").Pool(2) as p: assert p.map(abs,[-1])==[1]'`,
		"node": `node -e 'require("os").networkInterfaces();console.log(require("child_process").execSync("echo sub")+"")'`,
		"git":  `git init -q repo && cd repo && echo x > f && git add f && git -c user.name=n -c user.email=e@x commit -qm m && git log --oneline`,
	} {
		if _, err := exec.LookPath(program); err != nil {
			continue
		}
		res := bash(t, r, Spec{Dir: dir, Writable: []string{grant}}, line)
		if res.ExitCode != 0 || res.Level != sys.IsolationPartial {
			t.Errorf("%s: got exit %d at level %d: %s", program, res.ExitCode, res.Level, res.Output)
		}
	}
	if _, err := os.Stat(filepath.Join(grant, "new")); err != nil {
		t.Error(err)
	}
	r.Close()
	if left, _ := os.ReadDir(temp); len(left) != 0 {
		t.Errorf("temporary folders are left: %v", left)
	}
}

func TestHiddenFolderInsideAGrantedOneIsOutOfReach(t *testing.T) {
	t.Parallel()
	r, dir := contained(t, Config{})
	hidden := filepath.Join(dir, "deep", "oxios")
	for _, d := range []string{hidden, filepath.Join(dir, "work"), filepath.Join(dir, "deep", "open")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(hidden, "key"), "hunter2")
	if err := os.Symlink(hidden, filepath.Join(dir, "alias")); err != nil {
		t.Fatal(err)
	}
	spec := Spec{Dir: dir, Hidden: []string{filepath.Join(dir, "alias")}}
	for line, want := range map[string]bool{
		"echo x > work/f && cat work/f": true,
		"echo x > deep/open/f":          true,
		"cat deep/oxios/key":            false,
		"cat alias/key":                 false,
		"ls deep/oxios":                 false,
		"echo x > deep/oxios/key":       false,
		"echo x > new":                  false, // told in the package comment
		"mv deep moved":                 false,
		"mv deep/oxios work/":           false,
	} {
		if res := bash(t, r, spec, line); (res.ExitCode == 0) != want {
			t.Errorf("%q: got exit %d (%s), want success %v", line, res.ExitCode, res.Output, want)
		}
	}
	if data, _ := os.ReadFile(filepath.Join(hidden, "key")); string(data) != "hunter2" {
		t.Errorf("got %q in the hidden file", data)
	}
}

func TestSecretsInToolFoldersOfTheHomeStayOut(t *testing.T) {
	t.Parallel()
	home := canonical(t.TempDir())
	for name, text := range map[string]string{
		".cargo/bin/tool": "#!/bin/sh\ncat ~/.cargo/data\n", ".cargo/data": "open", ".cargo/credentials.toml": "hunter2",
		"bin/mine": "x", "diary": "hunter2", ".local/bin/x": "x", ".local/share/keyrings/login": "hunter2", ".local/lib/x": "open",
		".gitconfig": "open", ".config/git/ignore": "open", ".config/git/credentials": "hunter2", ".config/other": "hunter2",
	} {
		p := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, p, text)
		if err := os.Chmod(p, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	env := []string{"HOME=" + home, "PATH=" + home + "/.cargo/bin:" + home + "/bin:" + home + "/.local/bin:/usr/bin:/bin"}
	r, dir := contained(t, Config{Env: func() []string { return env }})
	res := bash(t, r, Spec{Dir: dir}, `tool && cat ~/.local/lib/x ~/.gitconfig ~/.config/git/ignore ~/bin/mine`)
	if res.ExitCode != 0 {
		t.Errorf("got exit %d: %s", res.ExitCode, res.Output)
	}
	res = bash(t, r, Spec{Dir: dir}, `cd ~; cat .cargo/credentials.toml diary .local/share/keyrings/login .config/git/credentials .config/other`)
	if strings.Contains(string(res.Output), "hunter2") {
		t.Errorf("a secret was read: %s", res.Output)
	}
	// A PATH that an agent wrote opens nothing.
	res = bash(t, r, Spec{Dir: dir, Env: []string{"HOME=" + dir, "PATH=" + home + "/.config/bin:" + home + "/x/y:/usr/bin:/bin"}}, "cat "+home+"/.config/other")
	if res.ExitCode == 0 || strings.Contains(string(res.Output), "hunter2") {
		t.Errorf("a secret was read: %s", res.Output)
	}
}

func TestNetworkIsClosedUnlessGranted(t *testing.T) {
	t.Parallel()
	r, dir := contained(t, Config{})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	line := "exec 3<>/dev/tcp/127.0.0.1/" + port
	if res := bash(t, r, Spec{Dir: dir}, line); res.ExitCode == 0 {
		t.Error("a command without the network connected")
	}
	if res := bash(t, r, Spec{Dir: dir, Network: true}, line); res.ExitCode != 0 {
		t.Errorf("a command with the network did not connect: %s", res.Output)
	}
	low, err := r.Run(t.Context(), Spec{Argv: []string{"bash", "-c", line}, Dir: dir, Level: sys.IsolationLimits})
	if err != nil || low.ExitCode == 0 || low.Level != sys.IsolationLimits {
		t.Errorf("level 1: got %+v, %v", low, err)
	}
}

func TestSwappedFolderIsNotGranted(t *testing.T) {
	t.Parallel()
	dir, outside := canonical(t.TempDir()), canonical(t.TempDir())
	link := filepath.Join(dir, "link")
	if err := os.Symlink(outside, link); err != nil {
		t.Fatal(err)
	}
	set, err := unix.Open(dir, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(set)
	// The rule is refused while its path is opened, before the set is touched.
	if err := addRule(set, rule{Path: filepath.Join(link, "sub"), Access: accessWrite, Strict: true}, fsV1); !errors.Is(err, unix.ELOOP) {
		t.Errorf("got %v, want ELOOP", err)
	}
}

func TestHelperAndCommandHideTheirPlan(t *testing.T) {
	t.Parallel()
	r, dir := setup(t, Config{})
	j, err := r.Start(t.Context(), Spec{Argv: []string{"sleep", "60"}, Dir: dir, Env: []string{"PATH=/usr/bin:/bin", "TOKEN=hunter2"}, Level: r.Level()})
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"cmdline", "environ"} {
		data, _ := os.ReadFile("/proc/" + strconv.Itoa(j.root) + "/" + file)
		if strings.Contains(string(data), "hunter2") || strings.Contains(string(data), dir) {
			t.Errorf("the helper's %s tells the plan: %q", file, data)
		}
	}
	// The loader opens libraries for a moment.
	eventually(t, 5*time.Second, "the command has more than three open files", func() bool {
		fds, err := os.ReadDir("/proc/" + strconv.Itoa(j.PID) + "/fd")
		return err == nil && len(fds) == 3
	})
	j.Kill()
	<-j.Done()
}
