package kernel_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"oxios/kernel"
	"oxios/kernel/event"
	"oxios/kernel/kerneltest"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// deleted is a run of which a command deleted so many files, in folders of an old
// time.
func deleted(t *testing.T, k *kerneltest.Kernel, files int) (id string, old time.Time, at func(i int) string) {
	t.Helper()
	old = time.Date(2021, 1, 1, 0, 0, 0, 0, time.UTC)
	at = func(i int) string {
		return filepath.Join(k.Folder, "many", fmt.Sprint("d", i%5), fmt.Sprint("f", i, ".txt"))
	}
	for i := range files {
		if err := os.MkdirAll(filepath.Dir(at(i)), 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, at(i), fmt.Sprint("content ", i))
	}
	for i := range files {
		for _, path := range []string{at(i), filepath.Dir(at(i))} {
			if err := os.Chtimes(path, old, old); err != nil {
				t.Fatal(err)
			}
		}
	}
	h := k.Agent("autonomous")
	runLine(t, h, "rm -r many")
	return ended(t, k, h), old, at
}

func TestAStoppedUndoSaysHowFarItCameAndGoesOn(t *testing.T) {
	t.Parallel()
	const files = 600
	k := open(t)
	k.SmallUndoBatches(4)
	id, old, at := deleted(t, k, files)
	if err := k.Person().Agents.StopUndo(t.Context(), id); sys.CodeOf(err) != sys.CodeNotFound {
		t.Errorf("with nothing at work got %v", err)
	}
	events, err := k.Person().Infra.Events(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	type result struct {
		plan kernel.UndoPlan
		err  error
	}
	over := make(chan result, 1)
	plan := preview(t, k, kernel.UndoQuery{RunID: id})
	go func() {
		p, err := k.Person().Agents.Undo(t.Context(), kernel.UndoInput{RunID: id, Hash: plan.Hash})
		over <- result{p, err}
	}()
	seen := 0
	var r result
	for r.plan.Files == nil && r.err == nil {
		select {
		case r = <-over:
		case e := <-events:
			p, ok := event.As[kernel.UndoProgress](e)
			if e.Kind != event.UndoAtWork || !ok {
				continue
			}
			if p.Files != files || p.Done < seen || e.RunID != id {
				t.Errorf("got %+v of %s after %d", p, e.RunID, seen)
			}
			if seen == 0 && p.Done > 0 {
				if err := k.Person().Agents.StopUndo(t.Context(), id); err != nil {
					t.Error(err)
				}
			}
			seen = p.Done
		}
	}
	if r.err != nil {
		t.Fatal(r.err)
	}
	count := map[string]int{}
	for _, f := range r.plan.Files {
		if !f.Folder {
			count[f.Status]++
		}
	}
	there := 0
	for i := range files {
		if _, err := os.Lstat(at(i)); err == nil {
			there++
		}
	}
	if there == 0 || there == files || count[kernel.UndoDone] != there || count[kernel.UndoStopped] != files-there {
		t.Fatalf("%d files are there, told are %v", there, count)
	}
	// The same again does the rest, and is no conflict with what the first one did.
	plan = goBack(t, k, kernel.UndoQuery{RunID: id})
	if plan.Ready != files-there || plan.Conflicts+plan.Impossible > 0 {
		t.Errorf("the rest: %d ready of %d, %d conflicts", plan.Ready, files-there, plan.Conflicts)
	}
	for i := range files {
		for _, path := range []string{at(i), filepath.Dir(at(i))} {
			if info, err := os.Lstat(path); err != nil || !info.ModTime().Equal(old) {
				t.Fatalf("%s: got %v, %v", path, info, err)
			}
		}
	}
	if plan := goBack(t, k, kernel.UndoQuery{RunID: id, Redo: true}); plan.Ready < files {
		t.Errorf("the redo is of %d", plan.Ready)
	}
	if _, err := os.Lstat(filepath.Join(k.Folder, "many")); err == nil {
		t.Error("the redo left the folder")
	}
	storeIsClean(t, k)
}

func TestOneRunIsNotUndoneTwiceAtOnce(t *testing.T) {
	t.Parallel()
	const files = 300
	k := open(t)
	k.SmallUndoBatches(4)
	id, _, _ := deleted(t, k, files)
	events, err := k.Person().Infra.Events(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	plan := preview(t, k, kernel.UndoQuery{RunID: id})
	over := make(chan error, 1)
	go func() {
		_, err := k.Person().Agents.Undo(t.Context(), kernel.UndoInput{RunID: id, Hash: plan.Hash})
		over <- err
	}()
	for e := range events {
		if e.Kind == event.UndoAtWork {
			break
		}
	}
	if _, err := k.Person().Agents.Undo(t.Context(), kernel.UndoInput{RunID: id, Hash: plan.Hash}); sys.CodeOf(err) != sys.CodeBusy {
		t.Errorf("got %v, want busy", err)
	}
	if err := <-over; err != nil {
		t.Error(err)
	}
}

func TestMarksOfEarlierVersionsHaveNoTimes(t *testing.T) {
	t.Parallel()
	home, folder := filepath.Join(t.TempDir(), "home"), t.TempDir()
	at := func(name string) string { return filepath.Join(folder, name) }
	old := time.Date(2020, 2, 3, 4, 5, 6, 0, time.UTC)
	k := open(t, kerneltest.At(home, folder))
	h := k.Agent("autonomous")
	for _, name := range []string{"gone.txt", "written.txt"} {
		write(t, at(name), "before")
		if err := os.Chtimes(at(name), old, old); err != nil {
			t.Fatal(err)
		}
	}
	runLine(t, h, "rm gone.txt")
	put(t, h, "written.txt", "after")
	id := ended(t, k, h)
	k.Stop()
	st, err := store.Open(t.Context(), filepath.Join(home, "oxios.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	err = st.Write(t.Context(), func(tx *store.Tx) error {
		_, err := tx.Exec("UPDATE file_marks SET before = substr(before, 1, instr(before, ' @') - 1) WHERE instr(before, ' @') > 0")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	k = open(t, kerneltest.At(home, folder))
	plan := preview(t, k, kernel.UndoQuery{RunID: id})
	if got, want := statuses(plan), "gone.txt returns ready\nwritten.txt restores ready"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if _, err := k.Person().Agents.Undo(t.Context(), kernel.UndoInput{RunID: id, Times: true, Hash: plan.Hash}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"gone.txt", "written.txt"} {
		info, err := os.Lstat(at(name))
		if err != nil || read(t, at(name)) != "before" || info.ModTime().Before(old.AddDate(1, 0, 0)) {
			t.Errorf("%s: got %v, %v, want what it was, of now", name, info, err)
		}
	}
	if left, err := filepath.Glob(at(".oxios-*")); err != nil || len(left) > 0 {
		t.Error(strings.Join(left, " "), err)
	}
}

func TestChangesSayWhatWasUndone(t *testing.T) {
	t.Parallel()
	k := open(t)
	h := k.Agent("autonomous")
	put(t, h, "a.txt", "by the agent")
	put(t, h, "b.txt", "by the agent")
	id := ended(t, k, h)
	told := func(want string) {
		t.Helper()
		list, err := k.Person().Agents.Changes(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range list {
			got = append(got, fmt.Sprint(c.Path, " ", c.Undone))
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	told("a.txt false, b.txt false")
	goBack(t, k, kernel.UndoQuery{RunID: id, Paths: []string{"a.txt"}})
	told("a.txt true, b.txt false")
	goBack(t, k, kernel.UndoQuery{RunID: id, Redo: true})
	told("a.txt false, b.txt false")
	goBack(t, k, kernel.UndoQuery{RunID: id})
	told("a.txt true, b.txt true")
}
