package git_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"oxios/kernel/git"
)

// program runs the person's own git in a workspace and returns what it said.
func program(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := tryProgram(t, dir, args...)
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return out
}

func tryProgram(t *testing.T, dir string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull,
		"GIT_AUTHOR_NAME=Person", "GIT_AUTHOR_EMAIL=person@localhost", "GIT_COMMITTER_NAME=Person", "GIT_COMMITTER_EMAIL=person@localhost")
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// sound wants nothing wrong with the history, and a status that says no more than
// want.
func sound(t *testing.T, dir string, want ...string) {
	t.Helper()
	if out := program(t, dir, "fsck", "--strict", "--no-dangling"); out != "" {
		t.Errorf("git fsck says:\n%s", out)
	}
	if out := program(t, dir, "status", "--porcelain"); out != strings.TrimSpace(strings.Join(want, "\n")) {
		t.Errorf("git status says:\n%s\nwant:\n%s", out, strings.Join(want, "\n"))
	}
}

// put writes a file as others than we do.
func put(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// both is a workspace in which we and the person's git are at work.
type both struct {
	t     *testing.T
	r     *git.Repo
	dir   string
	files map[string]string // as they are on the disk
	newer map[string]bool   // written since the last commit of ours
	count int               // commits
}

func (b *both) write(name, text string) {
	b.t.Helper()
	if err := b.r.Replace(name, []byte(text)); err != nil {
		b.t.Fatal(err)
	}
	b.files[name] = text
	b.newer[name] = true
}

func (b *both) commit() {
	b.t.Helper()
	id, err := b.r.Commit(b.t.Context(), "ours", "seeds", "evals")
	if err != nil {
		b.t.Fatal(err)
	}
	if id != "" {
		b.count++
		if got := program(b.t, b.dir, "rev-parse", "HEAD"); got != id {
			b.t.Fatalf("HEAD is %s, want %s", got, id)
		}
	}
	b.newer = map[string]bool{}
}

func TestThePersonsGitAgreesWhateverHappensInBetween(t *testing.T) {
	t.Parallel()
	runs, steps := uint64(2), 24
	if os.Getenv("OXIOS_WHOLE") != "" {
		runs, steps = 20, 100
	}
	for seed := range runs {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 1))
			r, dir := setup(t)
			b := &both{t, r, dir, map[string]string{}, map[string]bool{}, 0}
			b.write("seeds/00/first-v1.json", "first")
			b.commit()
			if seed%2 == 1 { // so many that the index is split
				for n := range 700 {
					name := fmt.Sprintf("seeds/%02x/many-%d.json", n%7, n)
					b.files[name] = fmt.Sprint(n)
					put(t, filepath.Join(dir, name), b.files[name])
				}
				b.r = git.New(dir, nil)
				b.commit()
			}
			name := func() string {
				return fmt.Sprintf("%s/%02x/%d-v1.json", []string{"seeds", "evals"}[random.IntN(2)], random.IntN(4), random.IntN(40))
			}
			some := func() string {
				names := slices.Sorted(maps.Keys(b.files))
				return names[random.IntN(len(names))]
			}
			for step := range steps {
				what := random.IntN(12)
				switch what {
				case 0, 1, 2:
					b.write(name(), fmt.Sprint("text ", step))
					b.commit()
				case 3:
					for range 1 + random.IntN(5) {
						b.write(name(), fmt.Sprint("texts ", step))
					}
					b.commit()
				case 4: // the process ends before it has committed
					b.write(name(), fmt.Sprint("left ", step))
					b.r = git.New(dir, nil)
					b.commit()
				case 5:
					b.write(some(), fmt.Sprint("again ", step))
					b.commit()
				case 6: // a file is lost and comes back
					gone := some()
					if err := os.Remove(filepath.Join(dir, gone)); err != nil {
						t.Fatal(err)
					}
					b.commit()
					if err := b.r.Restore(gone, "HEAD"); err != nil {
						t.Fatal(err)
					}
					b.commit()
				case 7:
					b.person(name(), fmt.Sprint("theirs ", step))
				case 8:
					program(t, dir, "gc", "--quiet", "--prune=now")
				case 9: // the index as git itself would rather have it
					program(t, dir, slices.Concat([]string{"update-index"}, [][]string{{"--split-index"}, {"--no-split-index"}, {"--index-version", "4"}, {"--index-version", "2"}, {"--untracked-cache"}}[random.IntN(5)])...)
				case 10:
					if step%2 == 0 {
						program(t, dir, "checkout", "-q", "-B", fmt.Sprint("branch/", step))
					} else {
						program(t, dir, "checkout", "-q", "--detach")
					}
				case 11: // the index is gone, or nothing that could be read
					index := filepath.Join(dir, ".git", "index")
					if err := os.Truncate(index, 50); err != nil {
						t.Fatal(err)
					}
					if step%2 == 0 {
						if err := os.Remove(index); err != nil {
							t.Fatal(err)
						}
					}
					b.write(name(), fmt.Sprint("anew ", step))
					b.commit()
				}
				sound(t, dir)
				if got := program(t, dir, "rev-list", "--count", "HEAD"); got != fmt.Sprint(b.count) {
					t.Errorf("there are %s commits, want %d", got, b.count)
				}
				for _, name := range []string{some(), some()} {
					if got := program(t, dir, "show", "HEAD:"+name); got != b.files[name] {
						t.Errorf("git shows %q of %s, want %q", got, name, b.files[name])
					}
					if got, err := b.r.Show(name, "HEAD"); err != nil || string(got) != b.files[name] {
						t.Errorf("got %q, %v of %s, want %q", got, err, name, b.files[name])
					}
				}
				if changed, err := b.r.Verify(t.Context()); err != nil || len(changed) > 0 {
					t.Errorf("got %q, %v", changed, err)
				}
				if t.Failed() {
					t.Fatalf("step %d was %d", step, what)
				}
			}
		})
	}
}

// person commits a file with the program.
func (b *both) person(name, text string) {
	b.t.Helper()
	b.write(name, text)
	program(b.t, b.dir, "add", name)
	program(b.t, b.dir, "commit", "-q", "-m", "theirs")
	b.count++
	b.commit() // what it wrote is in the history already
}

func TestWhatThePersonStagedStaysStaged(t *testing.T) {
	t.Parallel()
	for _, many := range []int{3, 700} {
		t.Run(fmt.Sprint(many), func(t *testing.T) {
			t.Parallel()
			r, dir := setup(t)
			for n := range many {
				put(t, filepath.Join(dir, fmt.Sprintf("seeds/a/v%d.json", n)), fmt.Sprint(n))
			}
			commit(t, r, "first")
			put(t, filepath.Join(dir, "notes.txt"), "mine")
			put(t, filepath.Join(dir, "loose.txt"), "untracked")
			program(t, dir, "add", "notes.txt")
			program(t, dir, "rm", "-q", "--cached", "seeds/a/v1.json")
			want := []string{"A  notes.txt", "D  seeds/a/v1.json", "?? loose.txt", "?? seeds/a/v1.json"}
			sound(t, dir, want...)
			create(t, r, "seeds/b/v1.json", "ours")
			commit(t, r, "second")
			sound(t, dir, want...)
			again := git.New(dir, nil)
			create(t, again, "seeds/c/v1.json", "ours too")
			commit(t, again, "third")
			sound(t, dir, want...)
			if out := program(t, dir, "show", "--stat", "--format=", "HEAD"); !strings.Contains(out, "1 file changed") {
				t.Errorf("the commit holds\n%s", out)
			}
		})
	}
}

func TestTheIndexIsCaughtUpWithWhenThePersonsGitLetsGoOfIt(t *testing.T) {
	t.Parallel()
	r, dir := setup(t)
	create(t, r, "seeds/a/v1.json", "one")
	commit(t, r, "first")
	lock := filepath.Join(dir, ".git", "index.lock")
	if err := os.WriteFile(lock, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	create(t, r, "seeds/a/v2.json", "two")
	if id := commit(t, r, "second"); id == "" {
		t.Fatal("nothing was committed")
	}
	if got := program(t, dir, "show", "HEAD:seeds/a/v2.json"); got != "two" {
		t.Errorf("got %q", got)
	}
	if _, err := os.Stat(lock); err != nil {
		t.Fatalf("the person's lock is gone: %v", err)
	}
	for _, next := range []*git.Repo{r, git.New(dir, nil)} {
		if err := os.Remove(lock); err != nil {
			t.Fatal(err)
		}
		create(t, next, "seeds/a/"+fmt.Sprintf("%p", next), "three")
		commit(t, next, "third")
		sound(t, dir)
		if err := os.WriteFile(lock, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, more := range []string{"4", "5"} {
			create(t, next, "seeds/b/"+fmt.Sprintf("%p", next)+more, more)
			commit(t, next, more)
		}
	}
}

func TestAnIndexThatCannotBeReadIsLeftAlone(t *testing.T) {
	t.Parallel()
	r, dir := setup(t)
	create(t, r, "seeds/a/v1.json", "one")
	create(t, r, "evals/a/v1.json", "result")
	commit(t, r, "first")
	program(t, dir, "sparse-checkout", "set", "--cone", "--sparse-index", "seeds")
	index := filepath.Join(dir, ".git", "index")
	before, err := os.ReadFile(index)
	if err != nil {
		t.Fatal(err)
	}
	create(t, r, "seeds/a/v2.json", "two")
	if id := commit(t, r, "second"); id == "" {
		t.Fatal("nothing was committed")
	}
	if after, err := os.ReadFile(index); err != nil || string(after) != string(before) {
		t.Errorf("the index was changed: %v", err)
	}
	if got := program(t, dir, "show", "HEAD:seeds/a/v2.json"); got != "two" {
		t.Errorf("got %q", got)
	}
}

func TestALockOfAnotherKeepsTheBranchAsItIs(t *testing.T) {
	t.Parallel()
	r, dir := setup(t)
	create(t, r, "seeds/a/v1.json", "one")
	first := commit(t, r, "first")
	lock := filepath.Join(dir, ".git/refs/heads/main.lock")
	if err := os.WriteFile(lock, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	create(t, r, "seeds/a/v2.json", "two")
	if id, err := r.Commit(t.Context(), "second", "seeds"); err == nil {
		t.Errorf("commit %s was made", id)
	}
	if got := program(t, dir, "rev-parse", "HEAD"); got != first {
		t.Errorf("HEAD is %s, want %s", got, first)
	}
	if err := os.Remove(lock); err != nil {
		t.Fatal(err)
	}
	if id := commit(t, r, "third"); id == "" {
		t.Error("what was left is not made up for")
	}
	sound(t, dir)
}

func TestCommitsOfManyAtOnceAllArrive(t *testing.T) {
	t.Parallel()
	r, dir := setup(t)
	create(t, r, "seeds/first", "first")
	commit(t, r, "first")
	ended := make(chan error)
	const many = 12
	for n := range many {
		go func() {
			err := r.Create(fmt.Sprintf("seeds/%d/v1.json", n), fmt.Append(nil, n))
			if err == nil {
				_, err = r.Commit(t.Context(), fmt.Sprint(n), "seeds")
			}
			ended <- err
		}()
		if n%3 == 0 { // and the person's
			go func() {
				_, err := tryProgram(t, dir, "commit", "-q", "--allow-empty", "-m", "theirs")
				ended <- err
			}()
		}
	}
	failed := 0
	for range many + many/3 {
		if err := <-ended; err != nil { // a branch that others hold all the time
			failed++
			t.Log(err)
		}
	}
	if failed > many/2 {
		t.Errorf("%d failed", failed)
	}
	commit(t, r, "the rest")
	sound(t, dir)
	for n := range many {
		if got := program(t, dir, "show", fmt.Sprintf("HEAD:seeds/%d/v1.json", n)); got != fmt.Sprint(n) {
			t.Errorf("got %q, want %d", got, n)
		}
	}
}
