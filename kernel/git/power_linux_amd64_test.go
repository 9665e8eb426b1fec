package git

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"oxios/kernel/kerneltest/disk"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv("OXIOS_GIT_POWER"); dir != "" {
		poweredLife(dir)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// poweredLife writes and commits, and says what was acknowledged.
func poweredLife(dir string) {
	mostOwn = 3 // so that the index is split soon
	r := New(dir, nil)
	must := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, "the life failed:", err)
			os.Exit(1)
		}
	}
	say := func(format string, args ...any) {
		_, err := os.Stdout.WriteString(fmt.Sprintf(format, args...))
		must(err)
	}
	commit := func() {
		id, err := r.Commit(context.Background(), "life", "seeds", "evals")
		must(err)
		say("commit %s", id)
	}
	put := func(name, text string) {
		must(r.Replace(name, []byte(text)))
		say("file %s %s", name, text)
	}
	put("seeds/00/a-v1.json", "one")
	commit()
	put("seeds/00/b-v1.json", strings.Repeat("two", 500))
	put("evals/00/a-v1.json", "result")
	commit()
	must(r.Tag("passed/a"))
	say("tag passed/a")
	put("evals/00/a-v1.json", "another result")
	commit()
	for n := range 3 {
		put(fmt.Sprintf("seeds/0%d/c-v1.json", n), fmt.Sprint(n))
		commit()
	}
}

// survivor is what a power cut has left of a workspace.
type survivor struct {
	*testing.T
	dir    string
	files  map[string]string // acknowledged
	commit string            // acknowledged last
	tag    bool
}

func (s *survivor) hear(mark string) {
	what, rest, _ := strings.Cut(mark, " ")
	switch what {
	case "file":
		name, text, _ := strings.Cut(rest, " ")
		s.files[name] = text
	case "commit":
		s.commit = rest
	case "tag":
		s.tag = true
	}
}

func (s *survivor) git(args ...string) (string, error) {
	cmd := exec.CommandContext(s.Context(), "git", args...)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull, "GIT_CEILING_DIRECTORIES="+filepath.Dir(s.dir))
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// check wants the history whole before anything is mended, and everything in it
// after the next commit.
func (s *survivor) check(where string) {
	if _, err := os.Stat(filepath.Join(s.dir, ".git")); err == nil {
		head, err := s.git("rev-parse", "--verify", "--quiet", "HEAD")
		if err == nil {
			if out, err := s.git("rev-list", "--objects", "--quiet", "HEAD"); err != nil {
				s.Errorf("%s: HEAD %s reaches what is missing: %s", where, head, out)
			}
		}
		if s.commit != "" {
			if out, err := s.git("merge-base", "--is-ancestor", s.commit, "HEAD"); err != nil {
				s.Errorf("%s: commit %s was acknowledged and is lost: %s", where, s.commit, out)
			}
		}
		if s.tag {
			if out, err := s.git("rev-parse", "--verify", "passed/a^{tree}"); err != nil {
				s.Errorf("%s: the tag is lost: %s", where, out)
			}
		}
	} else if s.commit != "" {
		s.Errorf("%s: the history is lost: %v", where, err)
	}
	r := New(s.dir, nil)
	if err := r.Replace("seeds/00/after-v1.json", []byte("after")); err != nil {
		s.Fatalf("%s: %v", where, err)
	}
	if _, err := r.Commit(s.Context(), "after", "seeds", "evals"); err != nil {
		s.Errorf("%s: %v", where, err)
	}
	if changed, err := r.Verify(s.Context()); err != nil || len(changed) > 0 {
		s.Errorf("%s: got %q, %v", where, changed, err)
	}
	for name, text := range s.files {
		now, err := r.Read(name)
		if err != nil { // it was being replaced
			continue
		}
		if got, err := r.Show(name, "HEAD"); err != nil || string(got) != string(now) {
			s.Errorf("%s: got %q, %v of %s, want %q", where, got, err, name, text)
		}
	}
	if out, err := s.git("status", "--porcelain"); err != nil || out != "" {
		s.Errorf("%s: git status says %s, %v", where, out, err)
	}
	// What a commit that was cut off left behind is nobody's.
	if out, err := s.git("prune", "--expire=now"); err != nil {
		s.Errorf("%s: git prune says %s", where, out)
	}
	if out, err := s.git("fsck", "--strict", "--no-dangling"); err != nil || out != "" {
		s.Errorf("%s: git fsck says %s, %v", where, out, err)
	}
}

func TestAPowerCutAnywhereInACommitLeavesAHistoryThatIsWhole(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &survivor{T: t, dir: filepath.Join(base, "workspace"), files: map[string]string{}}
	d, err := disk.New(base)
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self) // it is waited for as a tracer does, not by Wait
	cmd.Env = append(os.Environ(), "OXIOS_GIT_POWER="+s.dir)
	cmd.Stderr = os.Stderr
	ops, err := disk.Run(cmd, disk.Watch{Dirs: []string{base}})
	if err != nil {
		t.Fatal(err)
	}
	every := 29 // a prime, so that each kind of cut is tried at each kind of operation
	if os.Getenv("OXIOS_WHOLE") != "" {
		every = 1
	}
	random := rand.New(rand.NewPCG(1, 2))
	seen := map[uint64]bool{}
	tried, began := 0, time.Now()
	for i, o := range ops {
		d.Apply(o)
		if o.Kind == disk.Mark {
			s.hear(string(o.Data))
		}
		states := []struct {
			name string
			disk.State
		}{{"all that was not flushed is gone", d.Flushed()}, {"names without contents", d.Named()}, {"killed", d.Killed()}, {"torn", d.Torn(random)}}
		for n, state := range states {
			if seen[state.Sum()] || (i+3*n)%every != 0 && o.Kind != disk.Mark {
				continue
			}
			seen[state.Sum()] = true
			tried++
			if err := state.Put(base); err != nil {
				t.Fatal(err)
			}
			s.check(fmt.Sprintf("after operation %d (%s), %s", i, o, state.name))
			if t.Failed() {
				return // one is enough to look at
			}
		}
	}
	t.Logf("%d operations, %d states of the disk in %s", len(ops), tried, time.Since(began).Round(time.Millisecond))
}
