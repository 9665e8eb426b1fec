package knowledge

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// running starts Run, waits until the vault is watched, and returns what
// OnChange tells.
func running(t *testing.T, v *Vault, first string) <-chan []string {
	t.Helper()
	told := make(chan []string, 100)
	v.opt.OnChange = func(paths []string) { told <- paths }
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- v.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	await(t, told, first)
	return told
}

// await waits until each path was told.
func await(t *testing.T, told <-chan []string, paths ...string) {
	t.Helper()
	late := time.After(20 * time.Second)
	for len(paths) > 0 {
		select {
		case got := <-told:
			paths = slices.DeleteFunc(paths, func(p string) bool { return slices.Contains(got, p) })
		case <-late:
			t.Fatalf("nobody told of %v", paths)
		}
	}
}

func TestChangesFromOutsideAreTold(t *testing.T) {
	t.Parallel()
	v := setup(t, map[string]string{"a.md": "one", "dir/b.md": "x"})
	told := running(t, v, "a.md")

	// The first telling comes from building the index; a file made now may still
	// be found by the walk after the watches are set. Either way it is told.
	put(t, v.dir, "c.md", "fresh rocket")
	await(t, told, "c.md")
	if hits, err := v.Search(t.Context(), "rocket", 1); err != nil || len(hits) != 1 {
		t.Errorf("got %v, %v", hits, err)
	}
	put(t, v.dir, "new/deep/d.md", "in a new folder")
	await(t, told, "new/deep/d.md")
	put(t, v.dir, "new/deep/d.md", "in a new folder, changed")
	await(t, told, "new/deep/d.md")
	if err := os.Rename(filepath.Join(v.dir, "new"), filepath.Join(v.dir, "other")); err != nil {
		t.Fatal(err)
	}
	await(t, told, "new/deep/d.md", "other/deep/d.md")
	put(t, v.dir, "other/deep/d.md", "changed in the renamed folder")
	await(t, told, "other/deep/d.md")
	if err := os.Remove(filepath.Join(v.dir, "a.md")); err != nil {
		t.Fatal(err)
	}
	await(t, told, "a.md")
	put(t, v.dir, ".obsidian/app.json", "{}")
	put(t, v.dir, "z.md", "last")
	if got := <-told; !slices.Equal(got, []string{"z.md"}) {
		t.Errorf("got %v, want z.md alone", got)
	}
}

func TestOwnChangeIsToldOnce(t *testing.T) {
	t.Parallel()
	v := setup(t, map[string]string{"a.md": "one"})
	told := running(t, v, "a.md")
	plan, err := v.PlanWrite(t.Context(), "own", "text", "", WriteOptions{})
	apply(t, v, plan, err)
	await(t, told, "own.md")
	put(t, v.dir, "z.md", "after it")
	if got := <-told; !slices.Equal(got, []string{"z.md"}) {
		t.Errorf("got %v, want z.md alone", got)
	}
}

func TestFolderThatWentBeforeItWasWatchedIsTold(t *testing.T) {
	t.Parallel()
	v := setup(t, map[string]string{"a.md": "one"})
	if _, err := v.Tree(t.Context()); err != nil { // it is known by now
		t.Fatal(err)
	}
	if err := os.Rename(v.dir, v.dir+"-away"); err != nil {
		t.Fatal(err)
	}
	if err := v.there(); err == nil {
		t.Fatal("got a folder that went")
	}
	v.pace.absent = 5 * time.Millisecond
	told := make(chan []string, 8)
	v.opt.OnChange = func(paths []string) { told <- paths }
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { _ = v.Run(ctx); close(ended) }()
	t.Cleanup(func() { cancel(); <-ended })
	if got := <-told; got != nil {
		t.Errorf("got %v, want that all has to be read anew", got)
	}
}

func TestWatchWaitsForAFolderThatVanished(t *testing.T) {
	t.Parallel()
	v := setup(t, map[string]string{"a.md": "one"})
	v.pace.absent = 5 * time.Millisecond
	told := running(t, v, "a.md")
	if err := os.Rename(v.dir, v.dir+"-away"); err != nil {
		t.Fatal(err)
	}
	put(t, v.dir+"-away", "b.md", "written while it was away")
	if err := os.Rename(v.dir+"-away", v.dir); err != nil {
		t.Fatal(err)
	}
	await(t, told, "b.md")
}
