package kernel

import (
	"context"
	"path"
	"path/filepath"
	"sync"
	"time"

	"oxios/kernel/security"
	"oxios/kernel/store"
	"oxios/kernel/sys"
	"oxios/kernel/undo"
)

// undos is what the kernel keeps so that what runs did to files can be undone.
type undos struct {
	k       *Kernel
	objects *undo.Objects
	batch   int            // moves that are made durable at once, where there are many
	one     sync.Mutex     // held while something is undone or redone
	ending  sync.WaitGroup // commands in the background whose changes are being found

	stopping sync.Mutex
	stops    map[string]context.CancelFunc // of the undos at work, by their runs

	looking sync.Mutex
	indexes map[string]*undo.Index // of folders, as they were at the last look
	large   map[string]time.Time   // folders that held too much for a look, and when that was found
	active  map[*watched]struct{}  // commands at work

	working  sync.Mutex
	carrying map[*watched]struct{} // commands that may bring into their folders what their runs have read
}

func newUndos(k *Kernel) *undos {
	return &undos{k: k, batch: oneBatch, objects: undo.At(filepath.Join(k.opts.Home, undoFolder)), indexes: map[string]*undo.Index{}, large: map[string]time.Time{}, active: map[*watched]struct{}{}, stops: map[string]context.CancelFunc{}, carrying: map[*watched]struct{}{}}
}

// stepID is the step that a call belongs to, "" for none.
func stepID(ctx context.Context) string {
	if step := store.StepFrom(ctx); step != nil {
		return step.Step().ID
	}
	return ""
}

// undoFolder is where the content lies, in the home.
const undoFolder = "undo"

// recorded is one write that is written down before it happens.
type recorded struct {
	u     *undos
	marks []store.FileMark // of missing folders, then of the file
	path  string           // of the file, below the root
}

// before writes down how a file is that a run is about to write, what it will be,
// and which folders are made for it. All of it is durable then. A person's own
// writing belongs to no run and is not written down.
func (u *undos) before(ctx context.Context, s scope, p place, root *security.Root, plan filePlan) (*recorded, error) {
	r := &recorded{u: u, path: p.rel}
	if s.runID == "" {
		return r, nil
	}
	u.objects.Clearing.RLock()
	defer u.objects.Clearing.RUnlock()
	mark := func(rel string, before, after undo.State) {
		var meta undo.Meta
		if before.Kind != undo.Absent {
			meta = undo.MetaOf(root, rel)
		}
		r.marks = append(r.marks, store.FileMark{
			RunID: s.runID, StepID: stepID(ctx), Path: filepath.Join(p.root, filepath.FromSlash(rel)), Before: before.With(meta), After: after.String(),
		})
	}
	absent := undo.State{Kind: undo.Absent}
	var missing []string
	for dir := path.Dir(p.rel); dir != "."; dir = path.Dir(dir) {
		if _, err := root.FS().Lstat(dir); err == nil {
			break
		}
		missing = append([]string{dir}, missing...)
	}
	for _, dir := range missing {
		mark(dir, absent, undo.State{Kind: undo.Folder, Mode: 0o755})
	}
	before, after := absent, undo.State{Kind: undo.File, Size: int64(len(plan.raw)), Mode: 0o644}
	var err error
	if plan.old.exists {
		before = undo.State{Kind: undo.File, Size: int64(len(plan.old.raw)), Mode: plan.old.mode}
		after.Mode = before.Mode
		if before.Content, err = u.objects.Put(plan.old.raw); err != nil {
			return nil, notRecorded(err)
		}
	}
	if after.Content, err = u.objects.Put(plan.raw); err != nil {
		return nil, notRecorded(err)
	}
	mark(p.rel, before, after)
	if security.RunsLater(p.rel) { // whoever had to be asked was
		u.k.seen.add(filepath.Join(p.root, filepath.FromSlash(p.rel)), after.Content)
	}
	if err := u.k.store.Write(ctx, func(tx *store.Tx) error { return u.k.store.AddFileMarks(tx, r.marks) }); err != nil {
		return nil, notRecorded(err)
	}
	return r, nil
}

func notRecorded(err error) error {
	if e := sys.AsError(err); e.Code != sys.CodeInternal {
		return e
	}
	return sys.Errorf(sys.CodeUnavailable, "How to undo it could not be recorded, so it was not done: %w.", err).WithHint("Free some space, or look at the disk.")
}

// takeBack forgets what was written down of a write that failed, unless it
// came to be all the same.
func (r *recorded) takeBack(ctx context.Context, root *security.Root) {
	if len(r.marks) == 0 {
		return
	}
	m := r.marks[len(r.marks)-1] // the folders may have been made
	if is, err := undo.Look(root, r.path); err != nil || !undo.Same(is.String(), m.Before) {
		return
	}
	err := r.u.k.store.Write(context.WithoutCancel(ctx), func(tx *store.Tx) error { return r.u.k.store.RemoveFileMark(tx, m.N) })
	if err != nil {
		r.u.k.log.WarnContext(ctx, "Could not forget a write that failed", "error", err)
	}
}

// settle corrects what was written down by how things are: the system decides
// about the mode of what is new.
func (r *recorded) settle(ctx context.Context, root *security.Root) error {
	var wrong []store.FileMark
	for i, m := range r.marks {
		rel := r.path
		for range len(r.marks) - 1 - i {
			rel = path.Dir(rel)
		}
		info, err := root.FS().Lstat(rel)
		if err != nil {
			continue // it went again; an undo will see that
		}
		is, err := undo.Parse(m.After)
		if err != nil {
			return err
		}
		if is.Mode == info.Mode().Perm() {
			continue
		}
		is.Mode = info.Mode().Perm()
		m.After = is.String()
		wrong = append(wrong, m)
	}
	if len(wrong) == 0 {
		return nil
	}
	write := func(tx *store.Tx) error {
		for _, m := range wrong {
			if err := r.u.k.store.SetFileMark(tx, m.N, m.After); err != nil {
				return err
			}
		}
		return nil
	}
	if step := store.StepFrom(ctx); step != nil {
		step.OnClose(write)
		return nil
	}
	return r.u.k.store.Write(context.WithoutCancel(ctx), write)
}

// seal gives what a run did a commit in the store, so that git knows what belongs
// to it. What is not sealed is kept as well: the database names it.
func (u *undos) seal(ctx context.Context, runID string) error {
	marks, err := u.k.store.FileMarks(ctx, runID)
	if err != nil {
		return err
	}
	moves, err := u.k.store.UndoMoves(ctx, runID)
	if err != nil || len(marks)+len(moves) == 0 {
		return err
	}
	var list []undo.Kept
	for _, m := range marks {
		list = append(list, undo.Kept{Path: m.Path, Before: m.Before, After: m.After})
	}
	for _, m := range moves {
		list = append(list, undo.Kept{Path: m.Path, Before: m.Was, After: m.Becomes})
	}
	u.objects.Clearing.RLock()
	defer u.objects.Clearing.RUnlock()
	return u.objects.Keep(runID, list, u.k.clock.Now())
}
