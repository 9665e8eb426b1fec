package kernel_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
	"oxios/kernel/store"
	"oxios/kernel/undo"
)

// cut leaves an undo in the database the way a process does that goes down after
// its plan is durable.
func cut(t *testing.T, home string, moves []store.UndoMove) {
	t.Helper()
	st, err := store.Open(t.Context(), filepath.Join(home, "oxios.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := st.Write(t.Context(), func(tx *store.Tx) error { return st.AddUndoMoves(tx, moves) }); err != nil {
		t.Fatal(err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestUndoThatACrashCutOffIsFinishedAtTheNextStart(t *testing.T) {
	t.Parallel()
	names := []string{"a", "b", "c", "d"}
	for done := range len(names) + 1 { // so many moves were made before
		home, folder := filepath.Join(t.TempDir(), "home"), t.TempDir()
		k := open(t, kerneltest.At(home, folder))
		h := k.Agent("guarded")
		for _, n := range names {
			write(t, filepath.Join(folder, n), "before "+n)
			put(t, h, n, "by the agent "+n)
		}
		id := ended(t, k, h)
		k.Stop()
		var moves []store.UndoMove
		for i, n := range names {
			was, becomes := "by the agent "+n, "before "+n
			state := func(text string) string {
				return undo.State{Kind: undo.File, Content: undo.ID([]byte(text)), Size: int64(len(text)), Mode: 0o644}.String()
			}
			moves = append(moves, store.UndoMove{
				OpID: "op", N: i, RunID: id, Path: filepath.Join(folder, n), Was: state(was), Becomes: state(becomes), Temp: ".oxios-op-" + n, State: store.MoveOpen,
			})
			if i < done {
				write(t, filepath.Join(folder, n), becomes)
			}
		}
		// The move at which it went down had come as far as its other name, or to a part of it.
		if done < len(names) {
			part := ".part"
			if done%2 == 0 {
				part = ""
			}
			write(t, filepath.Join(folder, ".oxios-op-"+names[done]+part), map[string]string{"": "before " + names[done], ".part": "bef"}[part])
		}
		cut(t, home, moves)
		if done < 3 {
			write(t, filepath.Join(folder, "d"), "mine since")
		}
		k = open(t, kerneltest.At(home, folder))
		want := "a -rw-r--r-- before a\nb -rw-r--r-- before b\nc -rw-r--r-- before c\n"
		if done < 3 {
			want += "d -rw-r--r-- mine since\n"
		} else {
			want += "d -rw-r--r-- before d\n"
		}
		if got := treeOf(t, folder); got != want {
			t.Errorf("after %d moves: got\n%s\nwant\n%s", done, got, want)
		}
		goBack(t, k, kernel.UndoQuery{RunID: id, Redo: true, Paths: []string{"a"}})
		if got := read(t, filepath.Join(folder, "a")); got != "by the agent a" {
			t.Errorf("after %d moves the redo gives %q", done, got)
		}
		storeIsClean(t, k)
		k.Stop()
	}
}

func TestWhatACommandChangedBeforeACrashIsFoundAndAsked(t *testing.T) {
	t.Parallel()
	home, folder := filepath.Join(t.TempDir(), "home"), t.TempDir()
	k := open(t, kerneltest.At(home, folder))
	h := k.Agent("autonomous")
	write(t, filepath.Join(folder, "a"), "before")
	write(t, filepath.Join(folder, "b"), "before")
	runLine(t, h, "printf after > b") // the index of the folder is known then
	id := ended(t, k, h)
	k.Stop()
	st, err := store.Open(t.Context(), filepath.Join(home, "oxios.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	err = st.Write(t.Context(), func(tx *store.Tx) error {
		return st.BeginUndoCommand(tx, store.UndoCommand{ID: "c", RunID: id, StepID: "s", Folder: folder, At: time.Now()})
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(folder, "a"), "nobody knows by whom")
	k = open(t, kerneltest.At(home, folder))
	if got, want := statuses(preview(t, k, kernel.UndoQuery{RunID: id})), "a restores conflict\nb restores ready"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	goBack(t, k, kernel.UndoQuery{RunID: id})
	if got, want := treeOf(t, folder), "a -rw-r--r-- nobody knows by whom\nb -rw-r--r-- before\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) != 2 {
		t.Errorf("got %v, %v", left, err)
	}
}

// BenchmarkUndo measures what undoing costs: of a write, of a command in a folder
// of 10,000 files, in it and on a copy, and of going back over 1,000.
func BenchmarkUndo(t *testing.B) {
	k := open(t)
	h := k.Agent("autonomous")
	for i := range 10_000 {
		write(t, filepath.Join(k.Folder, "src", string(rune('a'+i%26)), "f"+time.Duration(i).String()), "some text of a file "+time.Duration(i).String())
	}
	took := func(unit string, fn func()) {
		began := time.Now()
		fn()
		t.ReportMetric(float64(time.Since(began).Microseconds())/1000, unit)
	}
	took("ms_looking_command", func() { runLine(t, h, "true") })
	took("ms_first_command", func() { runLine(t, h, "echo x > one") })
	runLine(t, h, "echo y > one")
	took("ms_later_command", func() { runLine(t, h, "echo z > one") })
	many := func(dir string) string {
		return "mkdir " + dir + "; cd " + dir + "; yes | head -n 1000 | split -l 1 -a 3"
	}
	took("ms_command_of_1000_files", func() { runLine(t, h, many("m1")) })
	onCopies(t, k)
	took("ms_on_copy_command", func() { runLine(t, h, "echo a > one") })
	took("ms_on_copy_of_1000_files", func() { runLine(t, h, many("m2")) })
	h = k.AgentIn(t.TempDir(), "autonomous")
	took("ms_100_writes", func() {
		for i := range 100 {
			put(t, h, "f"+time.Duration(i).String(), "text")
		}
	})
	p := k.Person().In(t.TempDir())
	took("ms_100_writes_unrecorded", func() {
		for i := range 100 {
			put(t, p, "f"+time.Duration(i).String(), "text")
		}
	})
	for i := range 900 {
		put(t, h, "g"+time.Duration(i).String(), "text")
	}
	id := ended(t, k, h)
	took("ms_undo_1000_files", func() { goBack(t, k, kernel.UndoQuery{RunID: id}) })
}
