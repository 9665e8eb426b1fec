package kernel

import (
	"context"
	"slices"

	"oxios/kernel/store"
	"oxios/kernel/undo"
)

// UndoState says whether something of a run, or of the runs that it forked, can be
// undone or redone.
type UndoState struct {
	Undo int `json:"undo"` // files that were not undone, folders where there are no files
	Redo int `json:"redo"` // files that were undone
}

// kin are the runs of which an undo or a redo is.
type kin struct {
	runs  []Run // the one that a person named, then what came of it
	alone bool  // nothing that came of it is meant
	size  int   // how many they were if it was not alone
}

// kinOf finds the runs of an undo.
func (k *Kernel) kinOf(ctx context.Context, run Run, alone bool) (kin, error) {
	all, err := k.store.Family(ctx, run.ID)
	if err != nil || len(all) == 0 {
		return kin{runs: []Run{run}, alone: alone, size: 1}, err
	}
	f := kin{runs: all, alone: alone, size: len(all)}
	if alone {
		f.runs = all[:1]
	}
	return f, nil
}

// only is a run without what came of it.
func only(run Run) kin { return kin{runs: []Run{run}, alone: true, size: 1} }

func (f kin) run() Run { return f.runs[0] }

func (f kin) ids() []string {
	out := make([]string, len(f.runs))
	for i, r := range f.runs {
		out[i] = r.ID
	}
	return out
}

// folders are those of the runs, the innermost not before the outer ones: a path is
// looked at from the folder that a person gave.
func (f kin) folders() []string {
	var out []string
	for _, r := range f.runs {
		if !slices.Contains(out, r.Folder) {
			out = append(out, r.Folder)
		}
	}
	return out
}

// trace is all that happened to a path through some runs.
type trace struct {
	path   string
	by     []string     // the runs, in the order of their first time
	before undo.State   // where the last stretch began in which nobody else wrote
	at     undo.State   // how the runs, or the last undo or redo, left it
	undone []undo.State // what undos took away that was not redone, the last one at the end

	beforeMeta undo.Meta   // what belonged to before
	undoneMeta []undo.Meta // what belonged to each of undone
	mixed      bool        // somebody else wrote between two steps of the runs
	unsure     bool
	moved      bool // it was undone or redone since the runs last wrote to it
	joined     bool // it was undone together with what other runs did to it, and only with these it comes back
}

// traces returns what runs did to each path, in the order of the first time. Marks
// and moves come in the order in which they were made; shared are the paths that
// runs changed too of which joined moves are, those of an undo of more than these runs.
func traces(marks []store.FileMark, moves, joined []store.UndoMove, shared map[string]bool) ([]*trace, error) {
	of := map[string]*trace{}
	var order []*trace
	all, err := turns(append(slices.Clone(moves), joined...))
	if err != nil {
		return nil, err
	}
	mine := map[string]bool{}
	for _, m := range moves {
		mine[m.OpID] = true
	}
	move := func(before int64) {
		for len(all) > 0 && all[0].after < before {
			m := all[0]
			all = all[1:]
			if t := of[m.path]; t != nil {
				t.move(m, !mine[m.op] && shared[m.path])
			}
		}
	}
	for _, m := range marks {
		move(m.N)
		before, err := undo.Parse(m.Before)
		if err != nil {
			return nil, err
		}
		after, err := undo.Parse(m.After)
		if err != nil {
			return nil, err
		}
		t := of[m.Path]
		switch {
		case t == nil:
			t = &trace{path: m.Path, before: before, beforeMeta: undo.ParseMeta(m.Before), unsure: m.Unsure}
			of[m.Path] = t
			order = append(order, t)
		case t.at != before:
			t.before, t.beforeMeta, t.mixed, t.unsure = before, undo.ParseMeta(m.Before), true, m.Unsure
		default:
			t.unsure = t.unsure || m.Unsure
		}
		if !slices.Contains(t.by, m.RunID) {
			t.by = append(t.by, m.RunID)
		}
		t.at, t.undone, t.undoneMeta, t.moved, t.joined = after, nil, nil, false, false
	}
	move(1 << 62)
	return slices.DeleteFunc(order, func(t *trace) bool { return t.before == t.at && !t.moved }), nil
}

// turn is what one undo or redo made of one path. That takes two moves where a
// folder becomes a file.
type turn struct {
	op, path     string
	after        int64
	redo         bool
	was, becomes undo.State
	wasMeta      undo.Meta
}

// turns puts moves that were made together, in their order.
func turns(moves []store.UndoMove) ([]turn, error) {
	slices.SortStableFunc(moves, func(a, b store.UndoMove) int {
		switch {
		case a.OpID < b.OpID:
			return -1
		case a.OpID > b.OpID:
			return 1
		}
		return a.N - b.N
	})
	var out []turn
	last := map[string]int{}
	for _, m := range moves {
		if m.State != store.MoveDone || m.TryID != "" { // what a try applied stands in the marks
			continue
		}
		was, err := undo.Parse(m.Was)
		if err != nil {
			return nil, err
		}
		becomes, err := undo.Parse(m.Becomes)
		if err != nil {
			return nil, err
		}
		if i, ok := last[m.Path]; ok && out[i].op == m.OpID {
			out[i].becomes = becomes
			continue
		}
		last[m.Path] = len(out)
		out = append(out, turn{op: m.OpID, path: m.Path, after: m.After, redo: m.Redo, was: was, becomes: becomes, wasMeta: undo.ParseMeta(m.Was)})
	}
	return out, nil
}

func (t *trace) move(m turn, joined bool) {
	if joined {
		t.joined = !m.redo
		return
	}
	if m.redo {
		if m.was != t.at { // somebody else's, which a person gave up for this: an undo brings it back
			t.before, t.beforeMeta = m.was, m.wasMeta
		}
		for n := len(t.undone); n > 0; n = len(t.undone) {
			top := t.undone[n-1]
			t.undone, t.undoneMeta = t.undone[:n-1], t.undoneMeta[:n-1]
			if top == m.becomes {
				break
			}
		}
	} else {
		t.undone, t.undoneMeta = append(t.undone, m.was), append(t.undoneMeta, m.wasMeta)
	}
	t.at, t.moved = m.becomes, true
}

// ends are what must be there, and what is put there, for one direction. It
// reports false when the direction means nothing for this path.
func (t *trace) ends(redo bool) (was, becomes undo.State, ok bool) {
	n := len(t.undone)
	switch {
	case t.joined:
		return t.at, t.at, false
	case redo && n == 0:
		return t.at, t.at, false
	case redo:
		return t.at, t.undone[n-1], true
	}
	return t.at, t.before, t.at != t.before
}

// meta is what belongs to what is put back.
func (t *trace) meta(redo bool) undo.Meta {
	if n := len(t.undoneMeta); redo && n > 0 {
		return t.undoneMeta[n-1]
	}
	return t.beforeMeta
}

// undoState counts what can be undone and redone of a run and its forks.
func (k *Kernel) undoState(ctx context.Context, run Run) (*UndoState, error) {
	f, err := k.kinOf(ctx, run, false)
	if err != nil {
		return nil, err
	}
	list, err := k.traces(ctx, f)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	s := &UndoState{}
	folders := !slices.ContainsFunc(list, func(t *trace) bool { return !t.folder() })
	for _, t := range list {
		if t.folder() && !folders {
			continue // people count files
		}
		if _, _, ok := t.ends(false); ok {
			s.Undo++
		}
		if _, _, ok := t.ends(true); ok {
			s.Redo++
		}
	}
	return s, nil
}

// undone are the paths of which all that a run itself did was undone, alone or with
// its family.
func (k *Kernel) undone(ctx context.Context, run Run) (map[string]bool, error) {
	over, err := k.store.Forebears(ctx, run.ID)
	if err != nil {
		return nil, err
	}
	moves, err := k.store.UndoMoves(ctx, (kin{runs: append([]Run{run}, over...)}).ids()...)
	if err != nil || len(moves) == 0 {
		return nil, err
	}
	list, err := k.traces(ctx, kin{runs: []Run{run}, size: 1})
	if err != nil {
		return nil, err
	}
	out := map[string]bool{}
	for _, t := range list {
		if _, _, ok := t.ends(false); !ok && (t.moved || t.joined) {
			out[t.path] = true
		}
	}
	return out, nil
}

func (t *trace) folder() bool {
	is := func(s undo.State) bool { return s.Kind == undo.Folder || s.Kind == undo.Absent }
	return is(t.before) && is(t.at) && !slices.ContainsFunc(t.undone, func(s undo.State) bool { return !is(s) })
}

// traces reads what is written down of some runs.
func (k *Kernel) traces(ctx context.Context, f kin) ([]*trace, error) {
	marks, err := k.store.FileMarks(ctx, f.ids()...)
	if err != nil || len(marks) == 0 {
		return nil, err
	}
	moves, err := k.store.UndoMoves(ctx, f.ids()...)
	if err != nil {
		return nil, err
	}
	over, err := k.store.Forebears(ctx, f.run().ID)
	if err != nil {
		return nil, err
	}
	var above []string
	for _, r := range over {
		above = append(above, r.ID)
	}
	var joined []store.UndoMove
	if len(above) > 0 {
		if joined, err = k.store.UndoMoves(ctx, above...); err != nil {
			return nil, err
		}
	}
	if f.alone {
		joined = append(joined, moves...)
		moves = slices.DeleteFunc(moves, func(m store.UndoMove) bool { return m.Tree })
	}
	joined = slices.DeleteFunc(joined, func(m store.UndoMove) bool { return !m.Tree })
	shared := map[string]bool{}
	if len(joined) > 0 {
		top := f.run()
		if len(over) > 0 {
			top = over[len(over)-1]
		}
		all, err := k.store.Family(ctx, top.ID)
		if err != nil {
			return nil, err
		}
		mine := f.ids()
		others, err := k.store.FileMarks(ctx, (kin{runs: slices.DeleteFunc(all, func(r Run) bool { return slices.Contains(mine, r.ID) })}).ids()...)
		if err != nil {
			return nil, err
		}
		for _, m := range others {
			shared[m.Path] = true
		}
	}
	return traces(marks, moves, joined, shared)
}
