package git_test

import (
	"strings"
	"testing"

	"oxios/kernel/git"
)

func TestVersionsAreTheCommitsThatChangedAFileUnderAllItsNames(t *testing.T) {
	t.Parallel()
	r, _ := setup(t)
	none := func(git.Commit, string) string { return "" }
	if list, more, err := r.Versions(t.Context(), "seeds/a", 9, none); err != nil || len(list) > 0 || more {
		t.Errorf("of an empty history: %v, %v, %v", list, more, err)
	}
	put := func(name, text, message string) string {
		if err := r.Replace(name, []byte(text)); err != nil {
			t.Fatal(err)
		}
		return commit(t, r, message)
	}
	first := put("seeds/sub/a", "one", "first")
	put("seeds/other", "x", "of another file")
	second := put("seeds/sub/a", "two", "second")
	put("seeds/b", "two", "moved")
	third := put("seeds/b", "three", "third")
	moved := func(c git.Commit, name string) string {
		if strings.HasPrefix(c.Message, "moved") && name == "seeds/b" {
			return "seeds/sub/a"
		}
		return ""
	}
	list, more, err := r.Versions(t.Context(), "seeds/b", 9, moved)
	if err != nil || more || len(list) != 3 {
		t.Fatalf("got %+v, %v, %v", list, more, err)
	}
	for i, want := range []struct{ id, path, text string }{{third, "seeds/b", "three"}, {second, "seeds/sub/a", "two"}, {first, "seeds/sub/a", "one"}} {
		raw, err := r.Content(list[i])
		if err != nil || list[i].ID != want.id || list[i].Path != want.path || string(raw) != want.text {
			t.Errorf("version %d: got %+v %q, %v, want %v", i, list[i], raw, err, want)
		}
	}
	if list, more, err := r.Versions(t.Context(), "seeds/b", 2, moved); err != nil || !more || len(list) != 2 {
		t.Errorf("of two: %+v, %v, %v", list, more, err)
	}
	if list, _, err := r.Versions(t.Context(), "seeds/b", 9, none); err != nil || len(list) != 2 {
		t.Errorf("without the move: %+v, %v", list, err)
	}
	if _, _, err := r.Versions(t.Context(), "../out", 9, none); err == nil {
		t.Error("a path outside is looked for")
	}
}
