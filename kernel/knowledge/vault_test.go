package knowledge

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"oxios/kernel/sys"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// setup opens a vault with the files given, by path.
func setup(t testing.TB, files map[string]string) *Vault {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "vault")
	for p, text := range files {
		put(t, dir, p, text)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return open(t, Options{Dir: dir, State: filepath.Join(filepath.Dir(dir), "state"), Trash: filepath.Join(filepath.Dir(dir), "trash")})
}

func open(t testing.TB, opt Options) *Vault {
	t.Helper()
	v, err := Open(opt)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	return v
}

// put writes a file as another program would.
func put(t testing.TB, dir, p, text string) {
	t.Helper()
	name := filepath.Join(dir, filepath.FromSlash(p))
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func onDiskText(t testing.TB, v *Vault, p string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(v.dir, filepath.FromSlash(p)))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func apply(t testing.TB, v *Vault, plan Plan, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("plan: %v", err)
	}
	if err := v.Apply(t.Context(), plan); err != nil {
		t.Fatalf("Apply: %v", err)
	}
}

func read(t testing.TB, v *Vault, p string) Note {
	t.Helper()
	n, err := v.Read(t.Context(), p)
	if err != nil {
		t.Fatalf("Read(%s): %v", p, err)
	}
	return n
}

// want fails unless err has the code, and a hint.
func want(t testing.TB, err error, code sys.Code) {
	t.Helper()
	if sys.CodeOf(err) != code {
		t.Fatalf("got %v (%s), want code %s", err, sys.CodeOf(err), code)
	}
	if sys.AsError(err).Hint == "" {
		t.Errorf("%v says not what to do", err)
	}
}

func TestNoteIsWrittenReadFoundAndListed(t *testing.T) {
	t.Parallel()
	v := setup(t, nil)
	plan, err := v.PlanWrite(t.Context(), "projects/plan", "# Plan\n\nThe rocket starts on Monday. #space\n- [ ] fuel it\n", "", WriteOptions{})
	apply(t, v, plan, err)

	n := read(t, v, "projects/plan.md")
	if n.Title != "plan" || len(n.Headings) != 1 || len(n.Tags) != 1 || n.Tags[0] != "space" || len(n.Tasks) != 1 || n.Encoding != "UTF-8" {
		t.Errorf("got %+v", n)
	}
	hits, err := v.Search(t.Context(), "rocket", 5)
	if err != nil || len(hits) != 1 || hits[0].Path != "projects/plan.md" || hits[0].Line != 3 {
		t.Fatalf("got %+v, %v", hits, err)
	}
	h := hits[0]
	if len(h.Marks) != 1 || h.Snippet[h.Marks[0][0]:h.Marks[0][1]] != "rocket" {
		t.Errorf("got marks %v in %q", h.Marks, h.Snippet)
	}
	tree, err := v.Tree(t.Context())
	if err != nil || len(tree) != 2 || tree[0].Kind != "folder" || tree[1].Path != "projects/plan.md" {
		t.Errorf("got %+v, %v", tree, err)
	}
	some, err := v.Entries(t.Context(), []string{"gone.md", "projects/plan.md"})
	if err != nil || len(some) != 1 || some[0] != tree[1] {
		t.Errorf("got %+v, %v, want the one that is there", some, err)
	}
}

func TestStaleBaseIsAConflictAndBothTextsAreKept(t *testing.T) {
	t.Parallel()
	v := setup(t, map[string]string{"a.md": "one"})
	base := read(t, v, "a").Hash
	first, err := v.PlanWrite(t.Context(), "a", "first", base, WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	second, err := v.PlanWrite(t.Context(), "a", "second", base, WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	apply(t, v, first, nil)
	want(t, v.Apply(t.Context(), second), sys.CodeConflict)
	if got := onDiskText(t, v, "a.md"); got != "first" {
		t.Errorf("got %q, want the first text", got)
	}
	_, err = v.PlanWrite(t.Context(), "a", "second", base, WriteOptions{})
	want(t, err, sys.CodeConflict)

	both, err := v.PlanWrite(t.Context(), "a", "second", base, WriteOptions{KeepBoth: true})
	apply(t, v, both, err)
	if p := both.Steps[0].Path; p == "a.md" || onDiskText(t, v, p) != "second" || !strings.Contains(both.Notes[0].EN, p) {
		t.Errorf("got %+v", both)
	}
	if got := onDiskText(t, v, "a.md"); got != "first" {
		t.Errorf("got %q, want the first text still", got)
	}
}
