package kernel

import (
	"fmt"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"oxios/kernel/store"
	"oxios/kernel/undo"
)

// Runs that forked each other write to some paths in turn, and in between some of
// them are undone and redone, alone or with their forks. Where nobody else writes,
// undoing the first run brings back how each path was at first, whatever came
// before, and redoing it brings back how it was just then. Where somebody else
// writes, what they wrote is what a path goes back to, or a conflict.
func TestAFamilyGoesBackToWhereItBeganWhateverWasUndoneBefore(t *testing.T) {
	t.Parallel()
	st, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "oxios.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	k := &Kernel{store: st}
	n, op := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		must := func(err error) {
			rt.Helper()
			if err != nil {
				rt.Fatal(err)
			}
		}
		n++
		session := Session{Title: "x"}
		runs := make([]Run, 4) // the second and third are forks of the first, the last is one of the second
		must(st.Write(t.Context(), func(tx *store.Tx) error {
			if err := st.InsertSession(tx, &session); err != nil {
				return err
			}
			for i, parent := range []int{-1, 0, 0, 1} {
				runs[i] = Run{SessionID: session.ID, Name: fmt.Sprint(i)}
				if parent >= 0 {
					runs[i].ParentID = runs[parent].ID
				}
				if err := st.CreateRun(tx, &runs[i]); err != nil {
					return err
				}
			}
			return nil
		}))
		paths := []string{fmt.Sprintf("/%d/a", n), fmt.Sprintf("/%d/b", n)}
		is, first, foreign := map[string]undo.State{}, map[string]undo.State{}, map[string]bool{}
		state := func(text string) undo.State {
			return undo.State{Kind: undo.File, Content: undo.ID([]byte(text)), Size: int64(len(text)), Mode: 0o644}
		}
		for _, p := range paths {
			is[p] = undo.State{Kind: undo.Absent}
			if rapid.Bool().Draw(rt, "there") {
				is[p] = state("at first")
			}
			first[p] = is[p]
		}
		// goBack does what a trace says, where the path is as it must be.
		goBack := func(run Run, alone, redo bool) map[string]bool {
			f, err := k.kinOf(t.Context(), run, alone)
			must(err)
			list, err := k.traces(t.Context(), f)
			must(err)
			op++
			var moves []store.UndoMove
			refused := map[string]bool{}
			for _, tr := range list {
				was, becomes, ok := tr.ends(redo)
				if !ok {
					continue
				}
				if was != is[tr.path] {
					refused[tr.path] = true
					continue
				}
				moves = append(moves, store.UndoMove{OpID: fmt.Sprintf("%09d", op), N: len(moves), RunID: run.ID, Tree: !alone, Redo: redo, Path: tr.path, Was: was.String(), Becomes: becomes.String()})
				is[tr.path] = becomes
			}
			for i := range moves {
				moves[i].State = store.MoveDone
			}
			must(st.Write(t.Context(), func(tx *store.Tx) error {
				if err := st.AddUndoMoves(tx, moves); err != nil {
					return err
				}
				return st.CloseUndoMoves(tx, moves)
			}))
			return refused
		}
		for i := range rapid.IntRange(1, 14).Draw(rt, "events") {
			run := rapid.SampledFrom(runs).Draw(rt, "run")
			p := rapid.SampledFrom(paths).Draw(rt, "path")
			next := state(fmt.Sprint("written ", i))
			switch rapid.SampledFrom([]string{"write", "write", "write", "remove", "undo", "redo", "else"}).Draw(rt, "event") {
			case "remove":
				next = undo.State{Kind: undo.Absent}
				fallthrough
			case "write":
				must(st.Write(t.Context(), func(tx *store.Tx) error {
					return st.AddFileMarks(tx, []store.FileMark{{RunID: run.ID, Path: p, Before: is[p].String(), After: next.String()}})
				}))
				is[p] = next
			case "undo":
				goBack(run, rapid.Bool().Draw(rt, "alone"), false)
			case "redo":
				goBack(run, rapid.Bool().Draw(rt, "alone"), true)
			case "else":
				is[p], foreign[p] = next, true
			}
		}
		before := map[string]undo.State{}
		for _, p := range paths {
			before[p] = is[p]
		}
		refused := goBack(runs[0], false, false)
		for _, p := range paths {
			if !foreign[p] && (is[p] != first[p] || refused[p]) {
				rt.Fatalf("undone: %s is %s (refused: %v), want %s", p, is[p], refused[p], first[p])
			}
		}
		left := goBack(runs[0], false, false)
		for _, p := range paths {
			if !foreign[p] && (left[p] || is[p] != first[p]) {
				rt.Fatalf("undone once more: %s is %s", p, is[p])
			}
		}
		goBack(runs[0], false, true)
		for _, p := range paths {
			if !foreign[p] && before[p] != first[p] && is[p] != before[p] {
				rt.Fatalf("redone: %s is %s, want %s", p, is[p], before[p])
			}
		}
	})
}
