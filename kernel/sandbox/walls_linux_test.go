package sandbox

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"oxios/kernel/sys"
)

// walled is setup for tests that need level 3. Where there is no bubblewrap, it
// sees to it that this is told.
func walled(t *testing.T, cfg Config) (*Runner, string) {
	t.Helper()
	r, dir := setup(t, cfg)
	rep := r.Probe(t.Context())
	if _, err := findBwrap(); err != nil {
		if rep.Level >= sys.IsolationFull || !strings.Contains(rep.Problem, err.Error()) {
			t.Fatalf("got level %d, %q, want less than 3 and %q", rep.Level, rep.Problem, err)
		}
		t.Skip(rep.Problem)
	}
	if rep.Level != sys.IsolationFull {
		t.Fatalf("got level %d, want 3: %s", rep.Level, rep.Problem)
	}
	return r, dir
}

func TestProbeHoldsAtLevel3WithEveryLandlock(t *testing.T) {
	t.Parallel()
	walled(t, Config{})
	for _, abi := range []int{0, 1, 3} {
		r := New(Config{Helper: helper})
		r.abi = abi
		rep := r.Probe(t.Context())
		r.Close()
		if rep.Level != sys.IsolationFull || rep.Problem != "" || len(rep.Canaries) < 40 {
			t.Errorf("ABI %d: got level %d with %d trials: %s", abi, rep.Level, len(rep.Canaries), rep.Problem)
		}
		for _, c := range rep.Canaries {
			if !c.Held && !c.Advisory {
				t.Errorf("ABI %d: %s did not hold: %s", abi, c.Name, c.Detail)
			}
		}
	}
}

// opened are the trials that get through, by the level below which they do. (The
// environment of others is closed to an ordinary user at level 1 too, because
// Landlock's scopes hold there.)
var opened = map[sys.Isolation][]string{
	sys.IsolationFull: {
		"ask for the size of a file outside", "change the mode of a file outside", "read the command line of a process outside", "read shared memory of others",
		"write to a hook", "make a hook", "change a repository's settings", "exchange a repository's settings", "move a repository away",
	},
	sys.IsolationPartial: {
		"read a file outside", "read a hidden file", "list a folder outside", "write outside", "make an entry beside a hidden one", "truncate a file that may be read",
		"open it for reading, emptied", "move a file out", "link a file in", "files outside unchanged",
	},
}

// inRooms are those of them that level 2 holds where there are rooms.
var inRooms = []string{"change the mode of a file outside", "read the command line of a process outside"}

// TestEscapesFailForAnOrdinaryUser runs all trials at each level as somebody who
// is not root. Started by root, it starts itself again as nobody.
func TestEscapesFailForAnOrdinaryUser(t *testing.T) {
	t.Parallel()
	walled(t, Config{})
	if os.Getuid() == 0 {
		again(t)
		return
	}
	r, _ := setup(t, Config{})
	rooms := r.hasRooms(t.Context())
	for i, level := range []sys.Isolation{sys.IsolationFull, sys.IsolationPartial, sys.IsolationLimits, sys.IsolationPartial} {
		r.noRooms = i > 2
		list, err := r.canaries(t.Context(), level, landlockABI())
		if err != nil {
			t.Fatal(err)
		}
		var want, got []string
		for below, names := range opened {
			if level < below {
				want = append(want, names...)
			}
		}
		if level == sys.IsolationPartial && rooms && !r.noRooms {
			want = slices.DeleteFunc(want, func(name string) bool { return slices.Contains(inRooms, name) })
		}
		for _, c := range list {
			if !c.Held {
				got = append(got, c.Name)
			}
		}
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("level %d: got through: %q, want %q", level, got, want)
		}
	}
}

// again runs the calling test in another process, as the user nobody.
func again(t *testing.T, with ...func(*syscall.SysProcAttr)) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	mine, err := os.Open(self)
	if err != nil {
		t.Fatal(err)
	}
	defer mine.Close()
	dir, err := os.MkdirTemp("", "oxios-again-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	for _, p := range []string{dir, filepath.Join(dir, "home")} {
		if err := os.MkdirAll(p, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(p, 65534, 65534); err != nil {
			t.Fatal(err)
		}
	}
	// A program that another test starts meanwhile would have the file open for a
	// moment too, and Linux runs no file that somebody writes.
	syscall.ForkLock.RLock()
	theirs, err := os.OpenFile(filepath.Join(dir, "tests"), os.O_WRONLY|os.O_CREATE, 0o755)
	if err == nil {
		_, err = io.Copy(theirs, mine)
		err = errors.Join(err, theirs.Close())
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(theirs.Name(), "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Dir = dir
	cmd.Env = []string{"PATH=/usr/bin:/bin", "HOME=" + filepath.Join(dir, "home"), helperEnv + "=" + helper}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	for _, f := range with {
		f(cmd.SysProcAttr)
	}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Errorf("as nobody: %v\n%s", err, out)
	}
}

func TestLevel3ShowsOnlyWhatIsGranted(t *testing.T) {
	t.Parallel()
	cache, given, outside := t.TempDir(), canonical(t.TempDir()), canonical(t.TempDir())
	r, dir := walled(t, Config{CacheDir: cache})
	write(t, filepath.Join(given, "given"), "given")
	write(t, filepath.Join(outside, "secret"), "hunter2")
	spec := Spec{Dir: dir, Readable: []string{given}}
	for line, want := range map[string]bool{
		"cat " + given + "/given":                  true,
		"echo x > " + given + "/new":               false,
		"ls " + outside:                            false,
		"stat " + outside:                          false,
		"stat " + outside + "/secret":              false,
		"chmod 777 " + outside:                     false,
		"echo x > /new":                            false,
		"echo x > /etc/new":                        false,
		"mkdir ~/new":                              false,
		"echo x > /tmp/t && cat /tmp/t":            true,
		"echo x > /dev/shm/t":                      true,
		"echo x > $TMPDIR/t":                       true,
		"echo x > $XDG_CACHE_HOME/c":               true,
		"echo 1 > /proc/sys/vm/compact_memory":     false,
		"test $(ls -d /proc/[0-9]* | wc -l) -lt 8": true,
		"kill -9 1":                                false,
		"unshare -U true":                          false,
		"mount -t tmpfs x /tmp":                    false,
		"test -z \"$SSH_AUTH_SOCK$DBUS_SESSION_BUS_ADDRESS$OXIOS_CANARY\"":                    true,
		`python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect("/run/oxios/net")'`: false,
	} {
		if strings.Contains(line, "python3") {
			if _, err := exec.LookPath("python3"); err != nil {
				continue // not installed here
			}
		}
		res := bash(t, r, spec, line)
		if (res.ExitCode == 0) != want || res.Level != sys.IsolationFull || strings.Contains(string(res.Output), "hunter2") {
			t.Errorf("%q: got exit %d at level %d (%s), want success %v", line, res.ExitCode, res.Level, res.Output, want)
		}
	}
	if exists(filepath.Join(os.TempDir(), "t")) || exists("/dev/shm/t") || !exists(filepath.Join(cache, cacheID(dir, ""), cacheFiles, "c")) {
		t.Error("temporary files got out, or the cache was not written")
	}
}

func TestLevel3LetsProgramsWork(t *testing.T) {
	t.Parallel()
	temp := t.TempDir()
	r, dir := walled(t, Config{TempDir: temp})
	for program, line := range map[string]string{
		"bash": `set -e; mkdir -p a/b; echo x > a/b/f; mv a/b/f a/; cat <(echo y) /dev/null > z; test "$PWD" = ` + dir + `; mktemp; ps >/dev/null; (sleep 0.01 & wait)`,
		"python3": `python3 -c 'import threading,subprocess,socket,tempfile,multiprocessing as m, http.server, urllib.request
s=http.server.HTTPServer(("127.0.0.1",0), http.server.SimpleHTTPRequestHandler); threading.Thread(target=s.serve_forever,daemon=True).start()
assert urllib.request.urlopen("http://127.0.0.1:%d/" % s.server_port).status==200
a,b=socket.socketpair(); a.send(b"x"); assert b.recv(1)==b"x"
print(subprocess.check_output(["echo","sub"]), tempfile.mkdtemp())
with m.get_context("fork").Pool(2) as p: assert p.map(abs,[-1])==[1]'`,
		"node": `node -e 'require("os").networkInterfaces();console.log(require("child_process").execSync("echo sub")+"")'`,
		"git":  `git init -q repo && cd repo && git config user.name n && echo x > f && git add f && git -c user.email=e@x commit -qm m && git log --oneline`,
	} {
		if _, err := exec.LookPath(program); err != nil {
			continue // not installed here
		}
		if res := bash(t, r, Spec{Dir: dir}, line); res.ExitCode != 0 {
			t.Errorf("%s: got exit %d: %s", program, res.ExitCode, res.Output)
		}
	}
	r.Close()
	if left, _ := os.ReadDir(temp); len(left) != 0 {
		t.Errorf("temporary folders are left: %v", left)
	}
}

func TestLevel3HiddenFolderIsEmptyAndStaysInItsPlace(t *testing.T) {
	t.Parallel()
	r, dir := walled(t, Config{})
	hidden := filepath.Join(dir, "deep", "er", "oxios")
	if err := os.MkdirAll(hidden, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(hidden, "key"), "hunter2")
	for line, want := range map[string]bool{
		"echo x > new":                    true, // below level 3 it cannot be granted
		"echo x > deep/new":               true,
		"cat deep/er/oxios/key":           false,
		"echo x > deep/er/oxios/key":      false,
		"test -z \"$(ls deep/er/oxios)\"": true,
		"mv deep moved":                   false,
		"mv deep/er moved":                false,
		"mv deep/er/oxios .":              false,
		"rm -rf deep":                     false,
	} {
		if res := bash(t, r, Spec{Dir: dir, Hidden: []string{hidden}}, line); (res.ExitCode == 0) != want {
			t.Errorf("%q: got exit %d (%s), want success %v", line, res.ExitCode, res.Output, want)
		}
	}
	if data, _ := os.ReadFile(filepath.Join(hidden, "key")); string(data) != "hunter2" {
		t.Errorf("got %q in the hidden file", data)
	}
}

// repo makes the parts of a repository that git looks for.
func repo(t *testing.T, dir string) {
	t.Helper()
	for _, name := range []string{"objects", "refs", "hooks"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(dir, "HEAD"), "ref: refs/heads/main\n")
	write(t, filepath.Join(dir, "config"), "[core]\n\trepositoryformatversion = 0\n")
	write(t, filepath.Join(dir, "hooks", "pre-commit"), "#!/bin/sh\n")
}

func TestLevel3NeverWritesHooksSettingsAndStartFiles(t *testing.T) {
	t.Parallel()
	home := canonical(t.TempDir())
	env := []string{"HOME=" + home, "PATH=/usr/bin:/bin"}
	r, dir := walled(t, Config{Env: func() []string { return env }})
	repo(t, filepath.Join(dir, ".git"))
	repo(t, filepath.Join(dir, ".git", "modules", "sub"))
	repo(t, filepath.Join(dir, "nested", "deep", ".git"))
	repo(t, filepath.Join(dir, "bare.git"))
	bareHooks := filepath.Join(dir, "unhooked", ".git")
	repo(t, bareHooks)
	os.RemoveAll(filepath.Join(bareHooks, "hooks"))
	linked := filepath.Join(dir, "linked", ".git")
	repo(t, linked)
	os.RemoveAll(filepath.Join(linked, "hooks"))
	if err := os.Symlink("../scripts", filepath.Join(linked, "hooks")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"sub", "work"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(dir, "sub", ".git"), "gitdir: ../.git/modules/sub\n")
	write(t, filepath.Join(dir, ".bashrc"), "true\n")
	dotfile := filepath.Join(dir, "work", "zshrc")
	write(t, dotfile, "true\n")
	if err := os.Symlink(dotfile, filepath.Join(home, ".zshrc")); err != nil {
		t.Fatal(err)
	}
	spec := Spec{Dir: dir, Env: env}
	for _, line := range []string{
		"echo x > .git/hooks/pre-commit", "echo x > .git/hooks/new", "rm .git/hooks/pre-commit", "chmod 777 .git/hooks/pre-commit", "echo x >> .git/config",
		"echo x > .git/c; mv .git/c .git/config", "rm .git/config", "mv .git gone", "mv .git/hooks gone", "rm -rf .git/hooks", "ln -sfn /tmp .git/hooks/x",
		"echo x > .git/modules/sub/hooks/new", "echo x > .git/modules/sub/config", "mv .git/modules gone",
		"echo x > nested/deep/.git/hooks/new", "echo x > nested/deep/.git/config", "mv nested gone", "mv nested/deep gone",
		"echo x > bare.git/hooks/new", "echo x > bare.git/config", "mv bare.git gone",
		"echo x > unhooked/.git/hooks/new", "mkdir unhooked/.git/hooks", "rm linked/.git/hooks", "echo x > linked/.git/HEAD",
		"echo x > sub/.git", "rm sub/.git", "mv sub gone", "echo x >> .bashrc", "rm .bashrc", "mv .bashrc x", "echo x > work/zshrc", "mv work gone",
	} {
		if res := bash(t, r, spec, line); res.ExitCode == 0 {
			t.Errorf("%q got through: %s", line, res.Output)
		}
	}
	for _, line := range []string{"echo x > .git/index.lock && mv .git/index.lock .git/index", "echo x > work/new", "mkdir made && mv made other", "echo x > .git/objects/o"} {
		if res := bash(t, r, spec, line); res.ExitCode != 0 {
			t.Errorf("%q: got exit %d: %s", line, res.ExitCode, res.Output)
		}
	}
	if res := bash(t, r, spec, "echo /tmp > .git/commondir"); res.ExitCode != 0 || exists(filepath.Join(dir, ".git", "commondir")) {
		t.Errorf("got exit %d, and git is led elsewhere: %v", res.ExitCode, exists(filepath.Join(dir, ".git", "commondir")))
	}
	// A yes of the person to such a path opens nothing either.
	for _, grant := range []string{filepath.Join(dir, ".git", "config"), filepath.Join(dir, ".git", "hooks"), filepath.Join(home, ".zshrc")} {
		spec := spec
		spec.Dir, spec.Writable = filepath.Join(dir, "sub"), []string{grant}
		if res := bash(t, r, spec, "echo x >> "+grant+" || echo x >> "+grant+"/new"); res.ExitCode == 0 {
			t.Errorf("a grant opened %s", grant)
		}
	}
}

func TestLevel3InTheHomeItselfMakesNoStartFiles(t *testing.T) {
	t.Parallel()
	home := canonical(t.TempDir())
	env := []string{"HOME=" + home, "PATH=/usr/bin:/bin"}
	r, _ := walled(t, Config{Env: func() []string { return env }, CacheDir: filepath.Join(home, ".oxios", "cache")})
	for _, name := range []string{
		".oxios/key", ".oxios/undo/HEAD", ".oxios/undo/objects/x", ".oxios/undo/refs/x", ".oxios/workspace/.git/HEAD", // repositories of its own, in what is hidden
		".bashrc", ".config/fish/config.fish", ".config/app", "work/f", ".ssh/config",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(home, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(home, name), "hunter2")
	}
	spec := Spec{Dir: home, Env: env, Hidden: []string{filepath.Join(home, ".oxios")}}
	for line, want := range map[string]bool{
		"echo x > work/f":                   true,
		"echo x > .config/app":              true,
		"echo x > $XDG_CACHE_HOME/x":        true,
		"echo x > .bashrc":                  false,
		"echo x > .bash_profile":            false,
		"echo x > .config/fish/config.fish": false,
		"mv .config moved":                  false,
		"echo x > .ssh/rc":                  false,
		"cat .oxios/key":                    false,
		"mv .oxios moved":                   false,
		"echo x > .oxios/x":                 false,
	} {
		if res := bash(t, r, spec, line); (res.ExitCode == 0) != want {
			t.Errorf("%q: got exit %d (%s), want success %v", line, res.ExitCode, res.Output, want)
		}
	}
}

func TestExchangedFolderIsNotEnteredAtLevel3(t *testing.T) {
	t.Parallel()
	dir := canonical(t.TempDir())
	sub := filepath.Join(dir, "sub")
	if err := os.Mkdir(sub, 0o700); err != nil {
		t.Fatal(err)
	}
	v := &view{}
	if !v.keep("--bind", sub) {
		t.Fatal("the folder is not seen")
	}
	if got := changed(v.same); got != "" {
		t.Errorf("got %q changed, want nothing", got)
	}
	if err := os.Rename(sub, filepath.Join(dir, "old")); err != nil {
		t.Fatal(err)
	}
	for what, exchange := range map[string]func() error{
		"nothing":        func() error { return nil },
		"another folder": func() error { return os.Mkdir(sub, 0o700) },
		"a link":         func() error { return os.Symlink("/etc", sub) },
	} {
		if err := exchange(); err != nil {
			t.Fatal(err)
		}
		if got := changed(v.same); got != sub {
			t.Errorf("%s in its place: got %q", what, got)
		}
		os.Remove(sub)
	}
}

func TestNextCommandFindsItsWallsStanding(t *testing.T) {
	t.Parallel()
	r, dir := walled(t, Config{})
	repo(t, filepath.Join(dir, ".git"))
	first := bash(t, r, Spec{Dir: dir}, "echo x > /tmp/left; echo fine")
	pid := ready(t, r)
	j, err := r.Start(t.Context(), Spec{Argv: []string{"bash", "-c", "ls /tmp; echo listed"}, Dir: dir, Level: r.Level()})
	if err != nil || string(first.Output) != "fine\n" {
		t.Fatal(err, string(first.Output))
	}
	if j.root != pid {
		t.Errorf("the command runs under helper %d, want %d, which waited", j.root, pid)
	}
	if out := string(j.Result().Output); !strings.HasSuffix(out, "listed\n") || strings.Contains(out, "left") {
		t.Errorf("got %q in the temporary folder, want nothing of another command", out)
	}
	// Other walls are built for another view, and for one that has changed.
	for what, spec := range map[string]Spec{"another folder": {Dir: canonical(t.TempDir())}, "other settings": {Dir: dir}} {
		bash(t, r, Spec{Dir: dir}, "true")
		pid := ready(t, r)
		if what == "other settings" {
			write(t, filepath.Join(dir, "new"), "[core]\n")
			if err := os.Rename(filepath.Join(dir, "new"), filepath.Join(dir, ".git", "config")); err != nil {
				t.Fatal(err)
			}
		}
		spec.Argv, spec.Level = []string{"bash", "-c", "echo x > .git/config"}, r.Level()
		j, err := r.Start(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		if res := j.Result(); j.root == pid || res.ExitCode == 0 {
			t.Errorf("%s: got helper %d and exit %d, want another one and a failure", what, j.root, res.ExitCode)
		}
	}
}

func TestOneHoleLeadsOutOfLevel3(t *testing.T) {
	t.Parallel()
	r, dir := walled(t, Config{})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	asked := make(chan string, 4)
	spec := Spec{Dir: dir, Network: true, Hole: func(_ context.Context, c net.Conn) {
		buf := make([]byte, 100)
		n, _ := c.Read(buf)
		asked <- string(buf[:n])
		fmt.Fprint(c, "answer\n")
	}}
	res := bash(t, r, spec, `exec 3<>/dev/tcp/127.0.0.1/${https_proxy##*:}; echo question >&3; cat <&3`)
	if got := <-asked; string(res.Output) != "answer\n" || got != "question\n" {
		t.Errorf("got %q and %q", res.Output, got)
	}
	if res := bash(t, r, spec, "exec 3<>/dev/tcp/127.0.0.1/"+port); res.ExitCode == 0 {
		t.Error("a command reached the machine's own loopback")
	}
	spec.Hole = nil
	if res := bash(t, r, spec, `test -z "$http_proxy" && ! exec 3<>/dev/tcp/127.0.0.1/`+holePort); res.ExitCode != 0 {
		t.Errorf("without a hole: got exit %d: %s", res.ExitCode, res.Output)
	}
}

func TestPortsThatAreNamedLeadThroughTheHole(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("there is no python3 to talk with")
	}
	r, dir := walled(t, Config{})
	asked := make(chan string, 4)
	hole := func(_ context.Context, c net.Conn) {
		q, err := http.ReadRequest(bufio.NewReader(c))
		if err != nil {
			return
		}
		asked <- q.Method + " " + q.Host
		fmt.Fprint(c, "HTTP/1.1 200 OK\r\n\r\nfrom this computer\n")
	}
	port := freePort(t)
	spec := Spec{Dir: dir, Network: true, Hole: hole, Reach: []int{port}}
	res := bash(t, r, spec, fmt.Sprintf("exec 3<>/dev/tcp/127.0.0.1/%d; cat <&3; ! exec 4<>/dev/tcp/127.0.0.1/%d", port, freePort(t)))
	if got := <-asked; string(res.Stdout) != "from this computer\n" || got != fmt.Sprint("CONNECT 127.0.0.1:", port) || res.ExitCode != 0 {
		t.Errorf("got %+v and %q", res, got)
	}

	serving := freePort(t)
	spec = Spec{Dir: dir, Network: true, Hole: hole, Serve: []int{serving}}
	spec.Argv, spec.Level = []string{"python3", "-c", fmt.Sprintf(`
import socket
s = socket.create_server(("127.0.0.1", %d))
while True:
	c, _ = s.accept()
	c.sendall(b"served " + c.recv(100))
	c.close()
`, serving)}, r.Level()
	j, err := r.Start(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	for i := range 20 { // more than one at a time, and again after each
		wait.Go(func() {
			want := fmt.Sprintf("served %d", i)
			var got []byte
			for end := time.Now().Add(20 * time.Second); string(got) != want && time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
				c, err := net.Dial("tcp", fmt.Sprint("127.0.0.1:", serving))
				if err != nil {
					t.Error(err)
					return
				}
				fmt.Fprint(c, i)
				got, _ = io.ReadAll(c) // nothing, until it serves
				c.Close()
			}
			if string(got) != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
	wait.Wait()
	j.Kill()
	j.Result()
	if c, err := net.Dial("tcp", fmt.Sprint("127.0.0.1:", serving)); err == nil {
		c.Close()
		t.Error("the port is open when the command is over")
	}
}

func TestOneDoorLeadsOutOfLevel2(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("there is no python3 to talk with")
	}
	r := New(Config{Helper: helper, Most: sys.IsolationPartial})
	t.Cleanup(r.Close)
	if rep := r.Probe(t.Context()); !rep.GuardsNetwork() {
		t.Skipf("level %d, Landlock %d", rep.Level, rep.Landlock)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	said := make(chan string, 4)
	spec := Spec{Dir: canonical(t.TempDir()), Network: true, HolePassword: "word", Hole: func(_ context.Context, c net.Conn) {
		buf := make([]byte, 100)
		n, _ := c.Read(buf)
		said <- string(buf[:n])
		fmt.Fprint(c, "answer\n")
	}}
	res := bash(t, r, spec, `echo "${https_proxy%%@*}"; exec 3<>/dev/tcp/127.0.0.1/${https_proxy##*:}; echo question >&3; cat <&3`)
	if got := <-said; string(res.Output) != "http://oxios:word\nanswer\n" || got != "question\n" || res.Level != sys.IsolationPartial {
		t.Errorf("got %+v and %q", res, got)
	}
	for name, line := range map[string]string{
		"a port of this computer":            "exec 3<>/dev/tcp/127.0.0.1/" + port,
		"a datagram":                         "exec 3<>/dev/udp/127.0.0.1/" + port,
		"another stream":                     `python3 -c 'import socket; socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262)'`, // MPTCP, which Landlock does not see
		"what is sent with the first packet": `python3 -c 'import socket; socket.socket().sendto(b"x", 0x20000000, ("127.0.0.1", ` + port + `))'`,
		"a raw socket":                       `python3 -c 'import socket; socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)'`,
	} {
		if res := bash(t, r, spec, line); res.ExitCode == 0 {
			t.Errorf("%s: it leads out: %s", name, res.Output)
		}
	}
	// It may serve: whoever connects does so from outside.
	if res := bash(t, r, spec, `python3 -c 'import socket; socket.create_server(("127.0.0.1", 0)).listen()'`); res.ExitCode != 0 {
		t.Errorf("serve: got exit %d: %s", res.ExitCode, res.Output)
	}
}

// freePort is a port on which nothing listens.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

func TestBubblewrapThatOthersCanWriteIsNotUsed(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "bwrap")
	write(t, file, "x")
	if rootsOwn(file) {
		t.Errorf("%s lies in a folder that everybody can write", file)
	}
	for said, want := range map[string]error{
		"bwrap: No permissions to create new namespace, likely because the kernel does not allow non-privileged user namespaces.": errNoNamespaces,
		"bwrap: setting up uid map: Permission denied": errNoNamespaces,
	} {
		if got := bwrapProblem(said); !errors.Is(got, want) {
			t.Errorf("%q: got %v", said, got)
		}
	}
	if got := bwrapProblem("bwrap: Can't find source path /x\n").Error(); got != "bwrap: Can't find source path /x" {
		t.Errorf("got %q", got)
	}
}
