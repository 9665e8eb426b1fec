package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"oxios/kernel/sys"
)

func TestEachFolderHasACacheOfItsOwn(t *testing.T) {
	t.Parallel()
	for _, level := range []sys.Isolation{sys.IsolationFull, sys.IsolationPartial} {
		r, a := contained(t, Config{CacheDir: t.TempDir()})
		if r.Level() < level {
			continue
		}
		b := canonical(t.TempDir())
		say := func(c Cache, dir, line string) string {
			t.Helper()
			res, err := r.Run(t.Context(), Spec{Argv: []string{"bash", "-c", line}, Dir: dir, Level: level, Cache: c})
			if err != nil {
				t.Fatal(err)
			}
			return strings.TrimSpace(string(res.Output))
		}
		const read = `cat "$XDG_CACHE_HOME/x" "$GOCACHE/y" 2>/dev/null`
		say(Cache{}, a, `mkdir -p "$GOCACHE"; echo one > "$XDG_CACHE_HOME/x"; echo two > "$GOCACHE/y"`)
		if got := say(Cache{}, a, read); got != "one\ntwo" {
			t.Errorf("level %d: the next command in the folder finds %q", level, got)
		}
		if got := say(Cache{}, b, read); got != "" {
			t.Errorf("level %d: another folder finds %q", level, got)
		}
		if got := say(Cache{Folder: a}, b, read); got != "one\ntwo" {
			t.Errorf("level %d: a folder that shares the cache finds %q", level, got)
		}
		if got := say(Cache{Kind: "untrusted"}, a, read); got != "" {
			t.Errorf("level %d: another kind of the same folder finds %q", level, got)
		}
		outside := Cache{Run: "run-1"}
		seen := say(outside, a, read)
		layered := level >= sys.IsolationFull && r.CanCopy(t.Context(), canonical(filepath.Join(r.cfg.CacheDir, CacheLayers))) == nil
		if want := map[bool]string{true: "one\ntwo", false: ""}[layered]; seen != want {
			t.Errorf("level %d: a run with a layer begins with %q, want %q", level, seen, want)
		}
		say(outside, a, `mkdir -p "$GOCACHE"; echo three > "$XDG_CACHE_HOME/x"; echo four > "$GOCACHE/y"`)
		if got := say(outside, a, read); got != "three\nfour" {
			t.Errorf("level %d: the run's next command finds %q", level, got)
		}
		if got := say(Cache{}, a, read); got != "one\ntwo" {
			t.Errorf("level %d: what the run wrote is found by others: %q", level, got)
		}
		r.DropLayer("run-1")
		if got := say(outside, a, read); got != seen {
			t.Errorf("level %d: after its end the run's layer holds %q", level, got)
		}
	}
}

func TestCachesAreHeldToTheirLimit(t *testing.T) {
	t.Parallel()
	r, a := setup(t, Config{CacheDir: t.TempDir()})
	b, c := canonical(t.TempDir()), canonical(t.TempDir())
	fill := `head -c 1000000 /dev/zero > "$XDG_CACHE_HOME/x"`
	for i, dir := range []string{a, b, c} {
		bash(t, r, Spec{Dir: dir}, fill)
		at := time.Now().Add(time.Duration(i-10) * time.Hour)
		if err := os.Chtimes(filepath.Join(r.cfg.CacheDir, cacheID(dir, ""), cacheOwner), at, at); err != nil {
			t.Fatal(err)
		}
	}
	has := func(dir string) bool { return exists(filepath.Join(r.cfg.CacheDir, cacheID(dir, ""))) }
	if err := r.SweepCaches(t.Context(), 4<<20); err != nil || !has(a) || !has(b) || !has(c) {
		t.Errorf("below the limit something went: %v", err)
	}
	j, err := r.Start(t.Context(), Spec{Argv: []string{"sleep", "60"}, Dir: a, Level: r.Level()})
	if err != nil {
		t.Fatal(err)
	}
	at := time.Now().Add(-10 * time.Hour)
	if err := os.Chtimes(filepath.Join(r.cfg.CacheDir, cacheID(a, ""), cacheOwner), at, at); err != nil {
		t.Fatal(err)
	}
	if err := r.SweepCaches(t.Context(), 2<<20+1<<19); err != nil || !has(a) || has(b) || !has(c) {
		t.Errorf("got a %v, b %v, c %v (%v); want the one that is not in use and was used the longest ago to go", has(a), has(b), has(c), err)
	}
	j.Kill()
	<-j.Done()
}

func TestWhatGoHasBuiltIsNotBuiltAgain(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("there is no go")
	}
	for _, level := range []sys.Isolation{sys.IsolationFull, sys.IsolationPartial} {
		r, dir := contained(t, Config{CacheDir: t.TempDir()})
		if r.Level() < level {
			continue
		}
		write(t, filepath.Join(dir, "go.mod"), "module lib\n\ngo 1.20\n")
		write(t, filepath.Join(dir, "lib.go"), "package lib\n\nfunc One() int { return 1 }\n")
		layered := level >= sys.IsolationFull && r.CanCopy(t.Context(), canonical(filepath.Join(r.cfg.CacheDir, CacheLayers))) == nil
		for i, c := range []Cache{{}, {}, {Run: "run-1"}} {
			res, err := r.Run(t.Context(), Spec{
				Argv: []string{"bash", "-c", "HOME=$TMPDIR GOFLAGS= GOTOOLCHAIN=local go build -x ."}, Dir: dir, Level: level, Cache: c, Timeout: 2 * time.Minute,
			})
			if err != nil || res.ExitCode != 0 {
				t.Fatalf("level %d: %s, %v", level, res.Output, err)
			}
			compiled := strings.Contains(string(res.Output), "/compile")
			if want := i == 0 || i == 2 && !layered; compiled != want {
				t.Errorf("level %d, build %d: compiled %v, want %v", level, i, compiled, want)
			}
		}
	}
}
