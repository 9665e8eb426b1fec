package sandbox

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func folders(t testing.TB, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRepositoriesAreGuardedAtAnyDepthAndAmongManyFolders(t *testing.T) {
	t.Parallel()
	r, dir := walled(t, Config{})
	for i := range 400 {
		folders(t, dir, fmt.Sprint("a", i))
	}
	places := []string{"zproj/.git", "deep/a/b/c/d/e/.git", "node_modules/x/y/z/.git", ".git/modules/hooks/evil", ".git/modules/one/modules/two"}
	for i := range reposInParts + 4 {
		places = append(places, fmt.Sprintf("many/%02d/.git", i))
	}
	repo(t, filepath.Join(dir, ".git"))
	for _, p := range places {
		repo(t, filepath.Join(dir, p))
	}
	for _, line := range []string{"echo x > $p/hooks/post-checkout", "echo x >> $p/config", "rm $p/config"} {
		line = fmt.Sprintf("for p in %s; do if { %s; } 2>/dev/null; then echo open $p; fi; done", strings.Join(places, " "), line)
		if res := bash(t, r, Spec{Dir: dir}, line); len(res.Output) > 0 {
			t.Errorf("%q got through: %s", line, res.Output)
		}
	}
	if res := bash(t, r, Spec{Dir: dir}, "echo x > .git/index && echo x > a7/f && echo x > zproj/.git/index"); res.ExitCode != 0 {
		t.Errorf("got exit %d: %s", res.ExitCode, res.Output)
	}
}

func TestVeryManyRepositoriesLeaveNoneUnguarded(t *testing.T) {
	t.Parallel()
	r, dir := walled(t, Config{})
	for i := range reposAlone + 5 {
		folders(t, dir, fmt.Sprintf("all/%03d/.git/hooks", i))
	}
	last := fmt.Sprintf("all/%03d/.git", reposAlone+4)
	if res := bash(t, r, Spec{Dir: dir}, "echo x > "+last+"/config"); res.ExitCode == 0 {
		t.Error("the last repository can be written")
	}
	if res := bash(t, r, Spec{Dir: dir}, "echo x > new"); res.ExitCode != 0 {
		t.Errorf("got exit %d: %s", res.ExitCode, res.Output)
	}
}

func TestSurveySeesWhatCameAndWentSinceTheLastOne(t *testing.T) {
	t.Parallel()
	dir := canonical(t.TempDir())
	asked := map[string]int{}
	r := New(Config{Kinds: func(_, rel string, folder bool) Kind {
		asked[rel]++
		if !folder && path.Ext(rel) == ".pem" {
			return 2
		}
		return 0
	}})
	folders(t, dir, "a/b/c", "old")
	write(t, filepath.Join(dir, "a", "b", "x.pem"), "k")
	settled := func(name string) {
		long := time.Now().Add(-time.Hour)
		if err := os.Chtimes(filepath.Join(dir, name), long, long); err != nil {
			t.Fatal(err)
		}
	}
	look := func() string {
		t.Helper()
		s, err := r.Survey(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, p := range s.Repos {
			out = append(out, strings.TrimPrefix(p.Path, dir+"/"))
		}
		for _, f := range s.Found {
			out = append(out, fmt.Sprint(f.Path, f.Kind))
		}
		return strings.Join(out, " ")
	}
	if got := look(); got != "a/b/x.pem2" {
		t.Errorf("got %q", got)
	}
	settled("a/b")
	for range 3 {
		if got := look(); got != "a/b/x.pem2" {
			t.Errorf("again: got %q", got)
		}
	}
	repo(t, filepath.Join(dir, "a", "b", "c", ".git"))
	write(t, filepath.Join(dir, "old", "y.pem"), "k")
	write(t, filepath.Join(dir, "old", ".git"), "gitdir: ../x\n")
	if err := os.Remove(filepath.Join(dir, "a", "b", "x.pem")); err != nil {
		t.Fatal(err)
	}
	if got, want := look(), "old/.git a/b/c/.git old/y.pem2"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if err := os.RemoveAll(filepath.Join(dir, "a")); err != nil {
		t.Fatal(err)
	}
	if got, want := look(), "old/.git old/y.pem2"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Survey(ctx, dir); err == nil {
		t.Error("a survey that was stopped says that it is complete")
	}
}

func TestUnreadFilesStayInTheirPlaceAndCannotBeRead(t *testing.T) {
	t.Parallel()
	r, dir := walled(t, Config{})
	folders(t, dir, "sub/in", "src")
	for _, name := range []string{".env", "sub/in/key.pem", "src/main.go", "sub/ok"} {
		write(t, filepath.Join(dir, name), "hunter2 in "+name)
	}
	if err := os.Symlink(".env", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	spec := Spec{Dir: dir, Unread: []string{filepath.Join(dir, ".env"), filepath.Join(dir, "sub/in/key.pem")}}
	for _, line := range []string{
		"cat .env", "cat link", "cat sub/in/key.pem", "cat sub/in/*", "cp .env /tmp/x && cat /tmp/x", "ln .env src/hard && cat src/hard", "mv .env src/moved; cat src/moved",
		"mv sub/in /tmp/in; cat /tmp/in/key.pem", "dd if=.env", "cat /proc/self/cwd/.env", "cat < .env", "ln .env /tmp/x && cat /tmp/x", "echo x > .env",
	} {
		if res := bash(t, r, spec, line); res.ExitCode == 0 || strings.Contains(string(res.Output), "hunter2") {
			t.Errorf("%q: got exit %d: %s", line, res.ExitCode, res.Output)
		}
	}
	for line, want := range map[string]string{
		"cat src/main.go sub/ok":                              "hunter2 in src/main.gohunter2 in sub/ok",
		"ls -A; ls sub/in":                                    ".env\nlink\nsrc\nsub\nkey.pem\n",
		"stat -c %s .env":                                     "15\n",
		"echo x > /dev/shm/t && cat /dev/shm/t":               "x\n",
		"grep -rhs hunter2 . | sort":                          "hunter2 in src/main.go\nhunter2 in sub/ok\n",
		"find . -name '*.pem'":                                "./sub/in/key.pem\n",
		"bash -c 'cat <(echo y)' && git --version >/dev/null": "y\n",
	} {
		if res := bash(t, r, spec, line); string(res.Output) != want {
			t.Errorf("%q: got %q, want %q", line, res.Output, want)
		}
	}
	if res := bash(t, r, Spec{Dir: dir}, "cat .env"); string(res.Output) != "hunter2 in .env" {
		t.Errorf("without it: got %q", res.Output)
	}
}

func TestGitTakesUnreadFilesForUnchanged(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	r, dir := walled(t, Config{})
	res := bash(t, r, Spec{Dir: dir}, "git init -q && echo S=hunter2 > .env && echo x > f && touch -d '1 hour ago' .env f && git add . && git -c user.email=e@x -c user.name=n commit -qm m && echo y > f")
	if res.ExitCode != 0 {
		t.Fatalf("%s", res.Output)
	}
	res = bash(t, r, Spec{Dir: dir, Unread: []string{filepath.Join(dir, ".env")}}, "git status --porcelain; git diff --stat --no-color; git ls-files -d -m")
	if got := string(res.Output); got != " M f\n f | 2 +-\n 1 file changed, 1 insertion(+), 1 deletion(-)\nf\n" {
		t.Errorf("got exit %d: %s", res.ExitCode, got)
	}
}

func TestKeptFilesCanOnlyBeRead(t *testing.T) {
	t.Parallel()
	r, dir := walled(t, Config{})
	folders(t, dir, ".vscode")
	write(t, filepath.Join(dir, ".vscode", "tasks.json"), "{}")
	write(t, filepath.Join(dir, "Makefile"), "all:\n")
	spec := Spec{Dir: dir, Kept: []string{filepath.Join(dir, ".vscode"), filepath.Join(dir, "Makefile"), filepath.Join(dir, "none")}}
	for _, line := range []string{"echo x > Makefile", "rm Makefile", "mv Makefile y", "echo x > .vscode/tasks.json", "echo x > .vscode/new", "mv .vscode y"} {
		if res := bash(t, r, spec, line); res.ExitCode == 0 {
			t.Errorf("%q got through", line)
		}
	}
	if res := bash(t, r, spec, "cat Makefile && echo x > other && mkdir d && mv other d/"); res.ExitCode != 0 {
		t.Errorf("got exit %d: %s", res.ExitCode, res.Output)
	}
}

// BenchmarkSurvey is one look at a folder of 10,000 and of 100,000 paths that was
// looked at before, and of one that was not. Goal: at most 20 ms for the 10,000.
func BenchmarkSurvey(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		dir := b.TempDir()
		for i := range n / 10 {
			at := fmt.Sprintf("%d/%d/%d", i%10, i/10%10, i)
			folders(b, dir, at)
			for j := range 9 {
				if err := os.WriteFile(filepath.Join(dir, at, fmt.Sprint("f", j, ".go")), nil, 0o600); err != nil {
					b.Fatal(err)
				}
			}
		}
		long := time.Now().Add(time.Second)
		for time.Now().Before(long) { // what is new is listed again
			time.Sleep(10 * time.Millisecond)
		}
		b.Run(fmt.Sprint("first/", n), func(b *testing.B) {
			for b.Loop() {
				if _, err := New(Config{}).Survey(b.Context(), dir); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprint("again/", n), func(b *testing.B) {
			r := New(Config{})
			var took []time.Duration
			for b.Loop() {
				start := time.Now()
				if _, err := r.Survey(b.Context(), dir); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(start))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds()), "median_us(goal<=20000)")
		})
	}
}
