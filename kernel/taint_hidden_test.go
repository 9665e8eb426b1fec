package kernel

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestAHiddenPlaceDiffersByWhateverChangesInIt(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	at := func(name string) string { return filepath.Join(folder, "build", name) }
	for i := range 10 {
		if err := os.MkdirAll(at(fmt.Sprint(i)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at(fmt.Sprint(i, "/f")), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	places := []string{"build"}
	was := hiddenPlaces(folder, places)
	if again := hiddenPlaces(folder, places); len(changedHidden(was, again)) != 0 {
		t.Error("it differs though nothing changed")
	}
	long := time.Now().Add(-time.Hour)
	for what, change := range map[string]func() error{
		"a file":          func() error { return os.WriteFile(at("3/f"), []byte("more"), 0o600) },
		"a time set back": func() error { return os.Chtimes(at("4/f"), long, long) },
		"another name":    func() error { return os.Rename(at("5/f"), at("5/g")) },
		"two that exchange": func() error {
			return errors.Join(os.Rename(at("1/f"), at("1/x")), os.Rename(at("2/f"), at("1/f")), os.Rename(at("1/x"), at("2/f")))
		},
		"a folder": func() error { return os.Mkdir(at("new"), 0o700) },
		"all gone": func() error { return os.RemoveAll(at("7")) },
	} {
		was = hiddenPlaces(folder, places)
		if err := change(); err != nil {
			t.Fatal(what, err)
		}
		if got := changedHidden(was, hiddenPlaces(folder, places)); len(got) != 1 {
			t.Errorf("%s: got %q", what, got)
		}
	}
}

// BenchmarkHiddenPlaces is one look at 10,000 paths that no index looks at. A command
// of a run that has read from outside has two.
func BenchmarkHiddenPlaces(b *testing.B) {
	folder := b.TempDir()
	for i := range 100 {
		at := filepath.Join(folder, "build", fmt.Sprint(i%10), fmt.Sprint(i))
		if err := os.MkdirAll(at, 0o700); err != nil {
			b.Fatal(err)
		}
		for j := range 99 {
			if err := os.WriteFile(filepath.Join(at, fmt.Sprint(j)), nil, 0o600); err != nil {
				b.Fatal(err)
			}
		}
	}
	for b.Loop() {
		hiddenPlaces(folder, []string{"build"})
	}
}
