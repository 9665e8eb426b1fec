package knowledge

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"oxios/kernel/sys"
)

// aged gives a file a time long ago, so that its time alone tells of a change.
func aged(t testing.TB, dir, p string, ago time.Duration) {
	t.Helper()
	at := time.Now().Add(-ago)
	if err := os.Chtimes(filepath.Join(dir, filepath.FromSlash(p)), at, at); err != nil {
		t.Fatal(err)
	}
}

func TestSavedIndexKnowsWhatTheFirstDid(t *testing.T) {
	t.Parallel()
	v := setup(t, map[string]string{
		"a.md": "---\ntags: [one, two/three]\naliases: [Alfa]\n---\n# Head\n[[b]] and [[b#x|y]] text\n- [ ] do it 📅 2026-11-30 #tag\n- [x] done",
		"b.md": "한글 노트", "c/pic.png": "x", "bad.md": "---\na: [\n---\nstill found",
	})
	ask := func(v *Vault) []any {
		var out []any
		add := func(x any, err error) {
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, x)
		}
		add(v.Search(t.Context(), "한글", 5))
		add(v.Search(t.Context(), "still found", 5))
		add(v.Search(t.Context(), "tag:two text", 5))
		add(v.Switch(t.Context(), "alf", 5))
		add(v.Backlinks(t.Context(), "b.md"))
		add(v.Tags(t.Context()))
		add(v.Tasks(t.Context(), TaskFilter{}))
		add(v.Tree(t.Context()))
		add(v.Check(t.Context()))
		add(v.Graph(t.Context(), GraphQuery{}))
		return out
	}
	for _, p := range []string{"a.md", "b.md", "c/pic.png", "bad.md"} {
		aged(t, v.dir, p, time.Hour)
	}
	first := ask(v)
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
	again := open(t, v.opt)
	again.load()
	if len(again.ix.files) != 4 {
		t.Fatalf("got %d files from the saved index", len(again.ix.files))
	}
	if got, err := again.Rescan(t.Context()); err != nil || got != (Rescan{}) {
		t.Errorf("got %+v, %v: nothing changed", got, err)
	}
	if got := ask(again); !reflect.DeepEqual(got, first) {
		t.Errorf("got\n%+v\nwant\n%+v", got, first)
	}
}

func TestDamagedIndexIsBuiltAgain(t *testing.T) {
	t.Parallel()
	v := setup(t, map[string]string{"a.md": "rocket"})
	if _, err := v.Rescan(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(v.opt.State, indexName)
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(raw); i += 7 {
		bad := append([]byte{}, raw...)
		bad[i] ^= 0x41
		if err := os.WriteFile(name, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		hits, err := open(t, v.opt).Search(t.Context(), "rocket", 1)
		if err != nil || len(hits) != 1 {
			t.Fatalf("byte %d: got %v, %v", i, hits, err)
		}
	}
}

func TestRescanFindsWhatOthersDid(t *testing.T) {
	t.Parallel()
	v := setup(t, map[string]string{"a.md": "one", "b.md": "[[a]]", "c.md": "gone soon"})
	var told [][]string
	v.opt.OnChange = func(paths []string) { told = append(told, paths) }
	if got, err := v.Rescan(t.Context()); err != nil || got.Added != 3 {
		t.Fatalf("got %+v, %v", got, err)
	}
	put(t, v.dir, "a.md", "two") // the same size, and perhaps the same time
	put(t, v.dir, "new/d.md", "fresh")
	if err := os.Remove(filepath.Join(v.dir, "c.md")); err != nil {
		t.Fatal(err)
	}
	if got, err := v.Rescan(t.Context()); err != nil || got != (Rescan{Added: 1, Changed: 1, Removed: 1}) {
		t.Errorf("got %+v, %v", got, err)
	}
	for query, n := range map[string]int{"one": 0, "two": 1, "fresh": 1, "gone": 0} {
		if hits, err := v.Search(t.Context(), query, 5); err != nil || len(hits) != n {
			t.Errorf("%s: got %v, %v, want %d", query, hits, err, n)
		}
	}
	if len(told) != 2 || len(told[1]) != 3 {
		t.Errorf("OnChange got %v", told)
	}
	if got, err := v.Rescan(t.Context()); err != nil || got != (Rescan{}) {
		t.Errorf("got %+v, %v: nothing changed since", got, err)
	}
}

func TestManyEditsLeaveTheIndexAsABuiltOne(t *testing.T) {
	t.Parallel()
	v := setup(t, nil)
	v.quick = true
	for i := range 1500 { // more than the index holds without gaps
		p := fmt.Sprintf("n%d.md", i%20)
		put(t, v.dir, p, fmt.Sprintf("common word%d [[n%d]]", i, (i+1)%20))
		if err := v.refresh(t.Context(), []string{p}); err != nil {
			t.Fatal(err)
		}
	}
	if len(v.ix.docs) > 1100 {
		t.Errorf("got %d documents for 20 notes", len(v.ix.docs))
	}
	for query, n := range map[string]int{"common": 20, "word1499": 1, "word3": 0, "word148": 10} {
		hits, err := v.Search(t.Context(), query, 50)
		if err != nil || len(hits) != n {
			t.Errorf("%s: got %d hits, %v, want %d", query, len(hits), err, n)
		}
	}
	if back, err := v.Backlinks(t.Context(), "n5.md"); err != nil || len(back) != 1 || back[0].Path != "n4.md" {
		t.Errorf("got %v, %v", back, err)
	}
}

func TestVanishedFolderIsSaidAndComesBack(t *testing.T) {
	t.Parallel()
	v := setup(t, map[string]string{"a.md": "rocket [[b]]", "b.md": "x"})
	if _, err := v.Rescan(t.Context()); err != nil {
		t.Fatal(err)
	}
	away := v.dir + "-away"
	if err := os.Rename(v.dir, away); err != nil {
		t.Fatal(err)
	}
	v.present.Store(0) // the moment has passed for which the last look stands
	ctx := t.Context()
	calls := map[string]func() error{
		"Read":      func() error { _, err := v.Read(ctx, "a"); return err },
		"Search":    func() error { _, err := v.Search(ctx, "rocket", 1); return err },
		"Switch":    func() error { _, err := v.Switch(ctx, "a", 1); return err },
		"Tree":      func() error { _, err := v.Tree(ctx); return err },
		"Backlinks": func() error { _, err := v.Backlinks(ctx, "b.md"); return err },
		"Rescan":    func() error { _, err := v.Rescan(ctx); return err },
		"Check":     func() error { _, err := v.Check(ctx); return err },
		"Graph":     func() error { _, err := v.Graph(ctx, GraphQuery{}); return err },
		"Tags":      func() error { _, err := v.Tags(ctx); return err },
		"Tasks":     func() error { _, err := v.Tasks(ctx, TaskFilter{}); return err },
		"PlanWrite": func() error { _, err := v.PlanWrite(ctx, "n", "x", "", WriteOptions{}); return err },
		"PlanMove":  func() error { _, err := v.PlanMove(ctx, "a", "c"); return err },
		"Apply": func() error {
			return v.Apply(ctx, Plan{Steps: []Step{{Kind: StepWrite, Path: "n.md", After: []byte("x")}}})
		},
	}
	for name, call := range calls {
		if err := call(); sys.CodeOf(err) != sys.CodeUnavailable {
			t.Errorf("%s: got %v, want unavailable", name, err)
		}
	}
	if _, err := os.Stat(v.dir); err == nil {
		t.Error("a call made the folder anew")
	}
	// An empty folder in its place is a drive that is not mounted.
	if err := os.Mkdir(v.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := v.Rescan(ctx)
	want(t, err, sys.CodeUnavailable)
	if err := os.Remove(v.dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(away, v.dir); err != nil {
		t.Fatal(err)
	}
	if hits, err := v.Search(ctx, "rocket", 1); err != nil || len(hits) != 1 {
		t.Errorf("after it came back: got %v, %v", hits, err)
	}
	if got, err := v.Rescan(ctx); err != nil || got != (Rescan{}) {
		t.Errorf("got %+v, %v", got, err)
	}
}
