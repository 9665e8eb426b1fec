package git_test

import (
	"os"
	"path/filepath"
	"testing"

	"oxios/kernel/git"
	"oxios/kernel/sys"
)

func setup(t *testing.T) (*git.Repo, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "workspace")
	return git.New(dir, nil), dir
}

func create(t *testing.T, r *git.Repo, name, text string) {
	t.Helper()
	if err := r.Create(name, []byte(text)); err != nil {
		t.Fatal(err)
	}
}

func commit(t *testing.T, r *git.Repo, message string) string {
	t.Helper()
	id, err := r.Commit(t.Context(), message, "seeds", "evals")
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestFileIsNeverOverwritten(t *testing.T) {
	t.Parallel()
	r, _ := setup(t)
	create(t, r, "seeds/a/v1.json", "one")
	if err := r.Create("seeds/a/v1.json", []byte("two")); sys.CodeOf(err) != sys.CodeConflict {
		t.Errorf("got %v, want a conflict", err)
	}
	if got, err := r.Read("seeds/a/v1.json"); err != nil || string(got) != "one" {
		t.Errorf("got %q, %v, want what was written first", got, err)
	}
}

func TestPathOutsideTheFolderIsRefused(t *testing.T) {
	t.Parallel()
	r, dir := setup(t)
	for _, name := range []string{"../out", "/etc/x", "a/../../out", ".git/config", "seeds/.git/x", "", "."} {
		if err := r.Create(name, nil); err == nil {
			t.Errorf("%q was written", name)
		}
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(dir), "out")); err == nil {
		t.Error("a file lies outside")
	}
}

func TestCommitTakesAlongWhatAnEarlierOneMissed(t *testing.T) {
	t.Parallel()
	r, dir := setup(t)
	create(t, r, "seeds/a/v1.json", "one")
	// The history cannot be written; the file is there all the same.
	if err := os.WriteFile(filepath.Join(dir, ".git"), []byte("in the way"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Commit(t.Context(), "first", "seeds"); err == nil {
		t.Fatal("the commit succeeded")
	}
	if err := os.Remove(filepath.Join(dir, ".git")); err != nil {
		t.Fatal(err)
	}
	create(t, r, "evals/a/v1.json", "result")
	if id := commit(t, r, "second"); id == "" {
		t.Fatal("nothing was committed")
	}
	for name, want := range map[string]string{"seeds/a/v1.json": "one", "evals/a/v1.json": "result"} {
		if got, err := r.Show(name, "HEAD"); err != nil || string(got) != want {
			t.Errorf("%s: got %q, %v, want %q", name, got, err, want)
		}
	}
	if id := commit(t, r, "nothing new"); id != "" {
		t.Errorf("got commit %s of nothing", id)
	}
}

func TestHistoryShowsTagsAndRestores(t *testing.T) {
	t.Parallel()
	r, dir := setup(t)
	if log, err := r.Log("", 10); err != nil || len(log) != 0 {
		t.Errorf("got %v, %v of an empty history", log, err)
	}
	create(t, r, "seeds/a/v1.json", "one")
	first := commit(t, r, "first")
	if err := r.Tag("passed/a/v1"); err != nil {
		t.Fatal(err)
	}
	if err := r.Tag("passed/a/v1"); sys.CodeOf(err) != sys.CodeConflict {
		t.Errorf("got %v for a second tag", err)
	}
	create(t, r, "seeds/a/v2.json", "two")
	commit(t, r, "second")
	log, err := r.Log("seeds/a/v1.json", 10)
	if err != nil || len(log) != 1 || log[0].ID != first || log[0].Message != "first" {
		t.Errorf("got %+v, %v, want the first commit", log, err)
	}
	if _, err := r.Show("seeds/a/v2.json", "passed/a/v1"); sys.CodeOf(err) != sys.CodeNotFound {
		t.Errorf("got %v, want the second version not in the tag", err)
	}
	if changed, err := r.Verify(t.Context()); err != nil || len(changed) != 0 {
		t.Errorf("got %q, %v", changed, err)
	}
	if err := os.Remove(filepath.Join(dir, "seeds/a/v1.json")); err != nil {
		t.Fatal(err)
	}
	if changed, err := r.Verify(t.Context()); err != nil || len(changed) != 1 {
		t.Errorf("got %q, %v, want the missing file", changed, err)
	}
	// Another process, as after a restart.
	again := git.New(dir, nil)
	if err := again.Restore("seeds/a/v1.json", "HEAD"); err != nil {
		t.Fatal(err)
	}
	if got, _ := again.Read("seeds/a/v1.json"); string(got) != "one" {
		t.Errorf("got %q", got)
	}
}
