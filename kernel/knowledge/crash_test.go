package knowledge

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// ended is what ends a process in a test: nothing after it runs but what Go itself
// runs.
type ended struct{ at int }

// cutOff applies a plan and ends it before the nth thing done to the disk. It
// reports whether there was an nth.
func cutOff(t *testing.T, v *Vault, plan Plan, n int) (was bool) {
	t.Helper()
	count := 0
	v.step = func(string) {
		if count == n {
			panic(ended{n})
		}
		count++
	}
	defer func() {
		switch p := recover().(type) {
		case nil:
		case ended:
			was = true
		default:
			panic(p)
		}
	}()
	if err := v.Apply(t.Context(), plan); err != nil {
		t.Fatalf("Apply: %v", err)
	}
	return false
}

// files are all files of a folder but unfinished ones.
func files(t testing.TB, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(p)
		rel, _ := filepath.Rel(dir, p)
		out[filepath.ToSlash(rel)] = string(raw)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestCutOffChangeIsFinishedOrNotBegun ends a rename with its links before each
// single thing that it does to the disk, and opens the vault again.
func TestCutOffChangeIsFinishedOrNotBegun(t *testing.T) {
	t.Parallel()
	before := map[string]string{"a/Old.md": "[x](../x.md)", "x.md": "[[Old]]", "y.md": "![[Old#Part]] and [[x]]", "a/pic.png": "png"}
	for name, move := range map[string][2]string{"note": {"a/Old", "New folder/deep/New"}, "folder": {"a", "b/c"}} {
		cuts, finished := 0, 0
		for n := 0; ; n++ {
			v := setup(t, before)
			plan, err := v.PlanMove(t.Context(), move[0], move[1])
			if err != nil {
				t.Fatal(err)
			}
			if len(plan.Steps) < 2 {
				t.Fatalf("got %d steps: this tests nothing", len(plan.Steps))
			}
			was := cutOff(t, v, plan, n)
			again := open(t, v.opt)
			got := files(t, v.dir)
			after := expected(before, plan)
			switch {
			case maps.Equal(got, after):
				finished++
			case maps.Equal(got, before) && was:
			default:
				t.Fatalf("%s, cut off before step %d: got %v, want all or nothing", name, n, got)
			}
			if left, err := os.ReadDir(v.opt.State); err != nil || len(left) > 1 || len(left) == 1 && left[0].Name() != "change.json.tmp" {
				t.Errorf("%s, step %d: the journal stays: %v, %v", name, n, left, err)
			}
			if issues, err := again.Check(t.Context()); err != nil || len(issues) > 0 {
				t.Errorf("%s, step %d: got %v, %v", name, n, issues, err)
			}
			if !was {
				break
			}
			cuts++
		}
		if cuts < 10 || finished < cuts/2 {
			t.Errorf("%s: %d cuts, %d finished: this tests little", name, cuts, finished)
		}
	}
}

// expected is what a plan makes of files.
func expected(before map[string]string, plan Plan) map[string]string {
	out := maps.Clone(before)
	for _, s := range plan.Steps {
		switch s.Kind {
		case StepWrite:
			out[s.Path] = string(s.After)
		case StepDelete:
			delete(out, s.Path)
		case StepMove:
			for p, text := range maps.Clone(out) {
				if rest, ok := strings.CutPrefix(p, s.Path); ok && (rest == "" || rest[0] == '/') {
					delete(out, p)
					out[s.To+rest] = text
				}
			}
		}
	}
	return out
}

// TestEditAfterTheCrashIsKept changes a note by hand between the crash and the
// next start: that edit stays, and the rest is finished around it.
func TestEditAfterTheCrashIsKept(t *testing.T) {
	t.Parallel()
	for n := range 40 {
		v := setup(t, map[string]string{"Old.md": "old", "x.md": "[[Old]]", "y.md": "[[Old]]"})
		plan, err := v.PlanMove(t.Context(), "Old", "New")
		if err != nil {
			t.Fatal(err)
		}
		if !cutOff(t, v, plan, n) {
			return
		}
		put(t, v.dir, "y.md", "by hand")
		open(t, v.opt)
		if got := onDiskText(t, v, "y.md"); got != "by hand" {
			t.Errorf("cut off before step %d: got %q, want the edit by hand", n, got)
		}
	}
	t.Error("no cut was the last")
}

func TestOneWriteCutOffLeavesTheOldNoteOrTheNew(t *testing.T) {
	t.Parallel()
	for _, base := range []string{"", "old"} {
		for n := 0; ; n++ {
			v := setup(t, nil)
			hash := ""
			if base != "" {
				put(t, v.dir, "n.md", base)
				hash = hashOf([]byte(base))
			}
			plan, err := v.PlanWrite(t.Context(), "n", "new", hash, WriteOptions{})
			if err != nil {
				t.Fatal(err)
			}
			was := cutOff(t, v, plan, n)
			open(t, v.opt)
			raw, _ := os.ReadFile(filepath.Join(v.dir, "n.md"))
			if got := string(raw); got != base && got != "new" || !was && got != "new" {
				t.Errorf("cut off before step %d: got %q", n, got)
			}
			if !was {
				break
			}
		}
	}
}

// TestRefusedStepTakesTheOthersBack has the disk refuse the second note.
func TestRefusedStepTakesTheOthersBack(t *testing.T) {
	t.Parallel()
	v := setup(t, map[string]string{"a.md": "1", "b.md": "2", "d.md": "4"})
	before := files(t, v.dir)
	plan := Plan{Steps: []Step{
		{Kind: StepWrite, Path: "a.md", Before: []byte("1"), After: []byte("one"), BaseHash: hashOf([]byte("1"))},
		{Kind: StepMove, Path: "b.md", To: "c.md", BaseHash: hashOf([]byte("2"))},
		{Kind: StepDelete, Path: "d.md", Before: []byte("4"), BaseHash: hashOf([]byte("4"))},
		{Kind: StepWrite, Path: "new/inside.md", After: []byte("no folder")},
	}}
	v.step = func(what string) {
		if what == "move" && onDiskText(t, v, "a.md") == "one" { // a file comes to stand where the folder is to be
			put(t, v.dir, "new", "")
		}
	}
	before["new"] = ""
	if err := v.Apply(t.Context(), plan); err == nil {
		t.Fatal("got no error")
	}
	if got := files(t, v.dir); !maps.Equal(got, before) {
		t.Errorf("got %v, want %v", got, before)
	}
	if left, _ := os.ReadDir(v.opt.State); len(left) > 0 {
		t.Errorf("got %v, want no journal", left)
	}
	if n := read(t, v, "a"); n.Text != "1" {
		t.Errorf("got %q", n.Text)
	}
}

func TestTornJournalIsDropped(t *testing.T) {
	t.Parallel()
	v := setup(t, map[string]string{"a.md": "1"})
	put(t, v.opt.State, journalName, fmt.Sprintf("%s\n%s", hashOf([]byte("other")), `{"dir":"`+v.dir+`","plan":{"steps":[{"kind":"delete","path":"a.md"}]}}`))
	again := open(t, v.opt)
	if got := read(t, again, "a").Text; got != "1" {
		t.Errorf("got %q", got)
	}
	if left, _ := os.ReadDir(v.opt.State); len(left) > 0 {
		t.Errorf("got %v, want no journal", left)
	}
}
