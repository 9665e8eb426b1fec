package kernel

import (
	"context"
	"errors"
	"path"
	"path/filepath"

	"oxios/kernel/security"
	"oxios/kernel/store"
	"oxios/kernel/undo"
)

// Few moves are made durable one by one. Of many, what is to be there is written
// under other names first; then one flush of the disk makes a batch of it, and the
// names that the batch before got, durable. So a crash finds each path as it was or
// as it will be, and what is written down as done has happened.
const (
	fewMoves = 64
	oneBatch = 4096
)

// errUndoStopped says that a move was not made because a person stopped the undo.
var errUndoStopped = errors.New("stopped")

// tops are the folders from which paths are looked at. Each is opened once.
type tops struct {
	dirs  [][2]string // a folder without links and as it was given
	roots map[string]*security.Root
}

func topsOf(folders []string) *tops {
	t := &tops{roots: map[string]*security.Root{}}
	for _, f := range folders {
		t.dirs = append(t.dirs, [2]string{realPath(f), f})
	}
	return t
}

func (t *tops) close() {
	for _, r := range t.roots {
		r.Close()
	}
}

// open opens the folder for a path, and returns the path below it.
func (t *tops) open(abs string) (*security.Root, string, error) {
	dir, rel := t.where(abs)
	if r := t.roots[dir]; r != nil {
		return r, rel, nil
	}
	r, err := security.OpenRoot(dir)
	if err == nil {
		t.roots[dir] = r
	}
	return r, rel, err
}

// where is the folder to open for a path, and the path below it.
func (t *tops) where(abs string) (root, rel string) {
	for _, both := range t.dirs {
		for _, f := range both {
			if rest, err := filepath.Rel(f, abs); err == nil && security.Within(abs, f) {
				return f, filepath.ToSlash(rest)
			}
		}
	}
	root = filepath.Dir(abs)
	for !isFolder(root) && root != filepath.Dir(root) {
		root = filepath.Dir(root)
	}
	rest, err := filepath.Rel(root, abs)
	if err != nil { // never: root lies above it
		rest = filepath.Base(abs)
	}
	return root, filepath.ToSlash(rest)
}

// making is an undo or a redo at work.
type making struct {
	u     *undos
	mover undo.Mover
	tops  *tops
	moves []store.UndoMove
	steps []undo.Move // each of moves, once it was looked at
	why   map[string]error
	label bool // there are files with labels, which follow what is put back
}

// make makes moves, each as far as it can be made, and says what hindered the
// others, by path. With recovering they are what a crash cut off. When asked ends,
// the moves behind the present batch are not made. told hears of many moves how many
// of them are durable, before each batch.
func (u *undos) make(ctx, asked context.Context, of kin, moves []store.UndoMove, recovering bool, told func(upTo int)) map[string]error { //nolint:revive // the context of the work comes first
	k := making{u: u, mover: undo.Mover{Objects: u.objects, Lazy: len(moves) > fewMoves && undo.CanFlush}, tops: topsOf(of.folders()), moves: moves, why: map[string]error{}}
	defer k.tops.close()
	some, err := u.k.store.AnyFileLabel(ctx)
	k.label = some || err != nil
	k.steps = make([]undo.Move, len(moves))
	apply := func(i int) error { return k.apply(ctx, i) }
	k.each(ctx, 0, len(moves), func(i int) error { return k.begin(ctx, i, recovering) })
	files := 0 // the first move that puts a file or a link there: what goes, and folders, come before
	for files < len(moves) && (k.steps[files].Root == nil || k.steps[files].Becomes.Kind == undo.Absent || k.steps[files].Becomes.Kind == undo.Folder) {
		files++
	}
	last := 0 // those before it are durable
	for from, to := 0, 0; from < len(moves); from = to {
		to = min(from+u.batch, len(moves))
		if from < files {
			to = min(to, files) // the folders are there before anything is prepared in them
		}
		if k.stopped(asked, from) {
			break
		}
		if k.mover.Lazy {
			k.each(ctx, from, to, k.prepare)
			k.flush(ctx, last, to)
			if told != nil {
				told(from)
			}
		}
		k.each(ctx, from, to, apply)
		last = from
	}
	k.each(ctx, 0, files, k.finish)
	if k.mover.Lazy {
		k.flush(ctx, 0, len(moves))
	}
	return k.why
}

// each does something with a part of the moves, unless they were hindered or are
// done already.
func (k *making) each(ctx context.Context, from, to int, do func(i int) error) {
	for i := from; i < to; i++ {
		m := &k.moves[i]
		if k.why[m.Path] != nil {
			m.State = store.MoveLeft // or its first half was not made
			continue
		}
		if err := do(i); err != nil {
			k.why[m.Path] = err
			m.State = store.MoveLeft
			if !errors.Is(err, undo.ErrForeign) && !errors.Is(err, undo.ErrNotEmpty) {
				k.u.k.log.WarnContext(ctx, "A file could not be put back", "run_id", m.RunID, "error", err)
			}
		}
	}
}

// begin reads what a move is. What a crash left of it is put in order.
func (k *making) begin(ctx context.Context, i int, recovering bool) error {
	m := &k.moves[i]
	m.State = store.MoveOpen
	root, rel, err := k.tops.open(m.Path)
	if err != nil {
		return err
	}
	v := undo.Move{Root: root, Rel: rel, Meta: undo.ParseMeta(m.Becomes), Temp: path.Join(path.Dir(rel), m.Temp)}
	if v.Was, err = undo.Parse(m.Was); err != nil {
		return err
	}
	if v.Becomes, err = undo.Parse(m.Becomes); err != nil {
		return err
	}
	k.steps[i] = v
	if !recovering {
		return nil
	}
	defer k.u.k.cmds.lockFile(m.Path)()
	made, err := k.mover.Settle(v)
	if made && err == nil {
		k.made(ctx, m)
	}
	return err
}

// prepare writes what is to be there, where it is not there already.
func (k *making) prepare(i int) error {
	if k.moves[i].State == store.MoveDone {
		return nil
	}
	return k.mover.Prepare(&k.steps[i])
}

func (k *making) apply(ctx context.Context, i int) error {
	m := &k.moves[i]
	if m.State == store.MoveDone {
		return nil
	}
	defer k.u.k.cmds.lockFile(m.Path)()
	err := k.mover.Apply(k.steps[i])
	if err == nil {
		k.made(ctx, m)
	}
	return err
}

// made notes that a move was made.
func (k *making) made(ctx context.Context, m *store.UndoMove) {
	m.State = store.MoveDone
	if !k.label {
		return
	}
	if err := k.u.relabel(ctx, m.Path); err != nil {
		k.u.k.log.ErrorContext(ctx, "A file that was put back could not be labelled", "run_id", m.RunID, "error", err)
	}
}

// finish dresses and dates a folder that came back.
func (k *making) finish(i int) error {
	v := k.steps[i]
	if k.moves[i].State != store.MoveDone || v.Becomes.Kind != undo.Folder {
		return nil
	}
	return k.mover.Finish(v)
}

// flush makes what was done so far durable. Where the disk refuses, none of these
// moves counts as made.
func (k *making) flush(ctx context.Context, from, to int) {
	for _, root := range k.tops.roots {
		if err := undo.Flush(root); err != nil {
			k.each(ctx, from, to, func(int) error { return err })
			return
		}
	}
}

// stopped reports whether a person stopped the undo, and leaves the rest then.
func (k *making) stopped(asked context.Context, from int) bool {
	if asked.Err() == nil {
		return false
	}
	for i := from; i < len(k.moves); i++ {
		if k.moves[i].State == store.MoveDone {
			continue // before a crash
		}
		k.why[k.moves[i].Path] = errUndoStopped
		k.moves[i].State = store.MoveLeft
	}
	return true
}
