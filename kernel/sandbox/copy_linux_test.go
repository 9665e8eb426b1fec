package sandbox

import (
	"context"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"oxios/kernel/sys"
)

// copied is setup for tests that run commands on copies. Where there can be
// none, it sees to it that this is told.
func copied(t *testing.T, cfg Config) (*Runner, string) {
	t.Helper()
	r, dir := setup(t, cfg)
	r.Probe(t.Context())
	if why := r.CanCopy(t.Context(), canonical(t.TempDir())); why != nil {
		if e := sys.AsError(why); e.Code != sys.CodeUnavailable || e.Hint == "" {
			t.Fatalf("got %v (%s), want a clear refusal", why, e.Hint)
		}
		t.Skip(why)
	}
	return r, dir
}

// onCopy runs a line on a copy of dir and tells what changed.
func onCopy(t *testing.T, r *Runner, dir, line string, with Spec) (Result, Copy, string) {
	t.Helper()
	c := Copy{Folder: dir, Scratch: canonical(t.TempDir())}
	if with.Copy != nil {
		c.Trial = with.Copy.Trial
	}
	with.Argv, with.Dir, with.Copy, with.Level = []string{"bash", "-c", line}, dir, &c, sys.IsolationFull
	res, err := r.Run(t.Context(), with)
	if err != nil {
		t.Fatal(err)
	}
	list, err := c.Changes(t.Context(), 1000)
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, ch := range list {
		if ch.Gone {
			ch.Path = "-" + ch.Path
		}
		said = append(said, ch.Path)
	}
	return res, c, strings.Join(said, " ")
}

func layOut(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// stand tells all of a folder, with the times of its files.
func stand(t *testing.T, dir string) string {
	t.Helper()
	var out strings.Builder
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		raw := []byte{}
		if info.Mode().IsRegular() {
			raw, err = os.ReadFile(p)
		}
		fmt.Fprintln(&out, p, info.Mode(), info.ModTime().UnixNano(), string(raw))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestCommandOnACopyLeavesItsFolderAsItWas(t *testing.T) {
	t.Parallel()
	leavesItsFolder(t)
}

func leavesItsFolder(t *testing.T) {
	t.Helper()
	r, base := copied(t, Config{CacheDir: canonical(t.TempDir())})
	for _, name := range []string{"plain", "a:b", "c,d", `e\f`, "with space", "한글 폴더"} {
		dir := filepath.Join(base, name)
		layOut(t, dir, map[string]string{
			"keep": "k", "edit": "old", "gone": "g", "mode": "m", "sub/x": "x", "sub/y": "y", "whole/a": "a", "whole/deep/b": "b", "file": "f", "swap/in": "i",
			".git/HEAD": "ref", ".git/config": "[core]", ".git/objects/o": "o", ".git/refs/r": "r",
		})
		before := stand(t, dir)
		res, c, got := onCopy(t, r, dir, `set -e
			echo new > made; echo more >> edit; rm gone; chmod 600 mode; rm -r whole
			rm -r sub; mkdir sub; echo z > sub/z; rm file; mkdir file; echo in > file/in; rm -r swap; echo s > swap
			mkdir -p fresh/er; ln -s keep link; cat made edit`, Spec{})
		if string(res.Stdout) != "new\noldmore\n" || res.ExitCode != 0 {
			t.Errorf("%s: got %d, %s", name, res.ExitCode, res.Output)
		}
		want := "edit file file/in fresh fresh/er -gone link made mode -sub/x -sub/y sub/z swap -swap/in -whole -whole/a -whole/deep -whole/deep/b"
		if got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
		}
		if after := stand(t, dir); after != before {
			t.Errorf("%s: the folder is\n%s\nwant\n%s", name, after, before)
		}
		if raw, err := os.ReadFile(filepath.Join(c.Upper(), "edit")); err != nil || string(raw) != "oldmore\n" {
			t.Errorf("%s: got %q, %v", name, raw, err)
		}
		c.Remove()
		if exists(c.Scratch) {
			t.Errorf("%s: the scratch folder is left", name)
		}
	}
}

func TestNothingButTheCopyCanBeWrittenInATrial(t *testing.T) {
	t.Parallel()
	cache := canonical(t.TempDir())
	r, dir := copied(t, Config{CacheDir: cache})
	other := canonical(t.TempDir())
	layOut(t, other, map[string]string{"theirs": "t"})
	cache = filepath.Join(cache, cacheID(dir, ""), cacheFiles)
	layOut(t, cache, map[string]string{"old": "o"})
	before, had := stand(t, other), stand(t, cache)
	res, _, got := onCopy(t, r, dir, `cat '`+other+`/theirs'; echo x > '`+other+`/new' || echo shut
		echo c > "$XDG_CACHE_HOME/new" && cat "$XDG_CACHE_HOME/new"; echo t > "$TMPDIR/t" && echo in`, Spec{Writable: []string{other}, Copy: &Copy{Trial: true}})
	if want := "tshut\nc\nin\n"; string(res.Stdout) != want || got != "" {
		t.Errorf("got %q and %q, want %q and nothing changed: %s", res.Stdout, got, want, res.Stderr)
	}
	if stand(t, other) != before || stand(t, cache) != had {
		t.Error("something was written outside")
	}
}

func TestWhatWasGrantedBesidesIsWrittenFromACopyThatIsNoTrial(t *testing.T) {
	t.Parallel()
	cache := canonical(t.TempDir())
	r, dir := copied(t, Config{CacheDir: cache})
	other := canonical(t.TempDir())
	res, _, got := onCopy(t, r, dir, `echo x > '`+other+`/new'; echo c > "$XDG_CACHE_HOME/new"; echo m > made`, Spec{Writable: []string{other}})
	if res.ExitCode != 0 || got != "made" {
		t.Errorf("got %d and %q: %s", res.ExitCode, got, res.Output)
	}
	if !exists(filepath.Join(other, "new")) || !exists(filepath.Join(cache, cacheID(dir, ""), cacheFiles, "new")) || exists(filepath.Join(dir, "made")) {
		t.Error("the other folder or the cache lacks what was written, or the folder has it")
	}
}

func TestHooksStayShutOnACopyAndTheWallsLeaveNoTrace(t *testing.T) {
	t.Parallel()
	r, dir := copied(t, Config{})
	layOut(t, dir, map[string]string{"r/.git/HEAD": "ref", "r/.git/objects/o": "o", "r/.git/refs/r": "r"}) // no hooks, no config
	res, _, got := onCopy(t, r, dir, `echo x > r/.git/hooks/pre-commit || echo shut; echo y > r/.git/config || echo shut; echo z > r/.git/commondir; echo i > r/.git/index`, Spec{})
	if string(res.Stdout) != "shut\nshut\n" || got != "r/.git/index" {
		t.Errorf("got %q and %q: %s", res.Stdout, got, res.Stderr)
	}
}

func TestCopyTellsWhatWasAskedOfTheNetworkAndNothingIsReached(t *testing.T) {
	t.Parallel()
	r, dir := copied(t, Config{})
	asked := make(chan string, 10)
	res, _, _ := onCopy(t, r, dir, `exec 3<>/dev/tcp/127.0.0.1/3128; printf 'GET http://example.org/ HTTP/1.1\r\n\r\n' >&3; cat <&3`, Spec{Hole: func(_ context.Context, c net.Conn) {
		buf := make([]byte, 100)
		n, _ := c.Read(buf)
		asked <- string(buf[:n])
		fmt.Fprint(c, "HTTP/1.1 403 Forbidden\r\n\r\nno")
	}})
	if got := <-asked; !strings.HasPrefix(got, "GET http://example.org/") || !strings.Contains(string(res.Stdout), "403 Forbidden") {
		t.Errorf("got %q and %q", got, res.Stdout)
	}
}

func TestMovingAFolderOnACopyFailsWithAnErrorThatCanBeKnown(t *testing.T) {
	t.Parallel()
	r, dir := copied(t, Config{})
	layOut(t, dir, map[string]string{"sub/x": "x"})
	res, _, _ := onCopy(t, r, dir, `perl -e 'rename("sub", "other") or die "rename: $!"'`, Spec{})
	if res.ExitCode == 0 || !strings.Contains(string(res.Stderr), unix.EXDEV.Error()) && !strings.Contains(string(res.Stderr), "cross-device") {
		t.Errorf("got %d, %s", res.ExitCode, res.Stderr)
	}
}

func TestCopyIsRefusedWhereItCannotBe(t *testing.T) {
	t.Parallel()
	r, dir := copied(t, Config{})
	c := Copy{Folder: dir, Scratch: canonical(t.TempDir())}
	for name, s := range map[string]Spec{
		"a lower level":               {Dir: dir, Copy: &c, Level: sys.IsolationPartial},
		"a scratch folder inside":     {Dir: dir, Copy: &Copy{Folder: dir, Scratch: filepath.Join(dir, "s")}, Level: sys.IsolationFull},
		"a folder outside of the one": {Dir: canonical(t.TempDir()), Copy: &c, Level: sys.IsolationFull},
	} {
		s.Argv = []string{"bash", "-c", "echo x > made"}
		if res, err := r.Run(t.Context(), s); err == nil {
			t.Errorf("%s: got %d, want a refusal", name, res.ExitCode)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("got %v, %v", entries, err)
	}
	if why := CopyOf("/proc"); why == nil || !strings.Contains(why.Error(), "mounted in it") {
		if why := CopyOf("/"); why == nil {
			t.Error("a folder with other disks in it can be copied")
		}
	}
	low := New(Config{Helper: helper})
	defer low.Close()
	low.noWalls = true
	if why := low.CanCopy(t.Context(), canonical(t.TempDir())); why == nil || !strings.Contains(why.Error(), "isolation level 3") {
		t.Errorf("got %v", why)
	}
}

// TestCopiesForAnOrdinaryUser runs the first test of this file as nobody.
func TestCopiesForAnOrdinaryUser(t *testing.T) {
	t.Parallel()
	copied(t, Config{})
	if os.Getuid() == 0 {
		again(t)
		return
	}
	leavesItsFolder(t)
}

func TestCommandOnACopyIsEndedWithAllThatItStarted(t *testing.T) {
	t.Parallel()
	r, dir := copied(t, Config{})
	c := Copy{Folder: dir, Scratch: canonical(t.TempDir())}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := r.Run(ctx, Spec{Argv: []string{"bash", "-c", "touch ready; " + "setsid sleep 600 & sleep 600"}, Dir: dir, Copy: &c, Level: sys.IsolationFull})
		done <- err
	}()
	eventually(t, 10*time.Second, "it does not run", func() bool { return exists(filepath.Join(c.Upper(), "ready")) })
	stop()
	if err := <-done; sys.CodeOf(err) != sys.CodeCanceled {
		t.Errorf("got %v", err)
	}
	wantGone(t, dir)
	c.Remove()
	if exists(c.Scratch) {
		t.Error("the scratch folder is left")
	}
}
