package kernel

import (
	"context"
	"errors"
	"slices"
	"time"

	"oxios/kernel/security"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// What a command does is known when it ends. Until then whatever lies in its folder may
// come from it, once its run has read from outside: whoever reads there meanwhile has
// read that too.

// begun notes that a command may change its folder from now on.
func (u *undos) begun(w *watched) {
	u.working.Lock()
	defer u.working.Unlock()
	u.carrying[w] = struct{}{}
}

func (u *undos) ended(w *watched) {
	u.working.Lock()
	defer u.working.Unlock()
	delete(u.carrying, w)
}

// covering are labels for what commands that are at work may be writing just now.
func (u *undos) covering(ctx context.Context) (out []store.FileLabel, err error) {
	u.working.Lock()
	var at []*watched
	for w := range u.carrying {
		at = append(at, w)
	}
	u.working.Unlock()
	for _, w := range at {
		read, err := w.readSoFar(ctx)
		if err != nil {
			return nil, err
		}
		if len(read) > 0 {
			id := w.by.scope.runID
			out = append(out, store.FileLabel{Path: w.folder, Content: store.CoversAll + id, RunID: id, Labels: read})
		}
	}
	return out, nil
}

// readSoFar is what a command may have carried into its folder from outside: what its
// run had read when it began, and in the background what it has read since, because it
// can hand that on in a file.
func (w *watched) readSoFar(ctx context.Context) (Labels, error) {
	w.u.working.Lock()
	read := w.unseen.read
	w.u.working.Unlock()
	if !w.unsure {
		return read, nil
	}
	now, err := w.u.k.labelsOf(ctx, w.by.scope.runID)
	if now = now.WithoutWork(); err != nil || !now.Untrusted() {
		return read, err
	}
	return read.Join(roots(now)), nil
}

// carries adds to what a command may have carried into its folder. Others look at that
// while it is at work.
func (w *watched) carries(more Labels) {
	w.u.working.Lock()
	defer w.u.working.Unlock()
	w.unseen.read = w.unseen.read.Join(more)
}

// anyLabel reports whether anything may carry a label because of who wrote it.
func (k *Kernel) anyLabel(ctx context.Context) (bool, error) {
	now, err := k.undos.covering(ctx)
	if err != nil || len(now) > 0 {
		return true, err
	}
	return k.store.AnyFileLabel(ctx)
}

// labelsAt are the labels of a file by its path, by what is in it, and by where it lies.
func (k *Kernel) labelsAt(ctx context.Context, path, content string) ([]store.FileLabel, error) {
	list, err := k.store.FileLabels(ctx, path, content)
	if err != nil {
		return nil, err
	}
	now, err := k.undos.covering(ctx)
	for _, f := range now {
		if security.Within(path, f.Path) {
			list = append(list, f)
		}
	}
	return list, err
}

// labelsBelow are the labels of what lies in a folder and below it, and of all that the
// folder lies in.
func (k *Kernel) labelsBelow(ctx context.Context, folder string) ([]store.FileLabel, error) {
	list, err := k.store.FileLabelsBelow(ctx, folder)
	if err != nil {
		return nil, err
	}
	now, err := k.undos.covering(ctx)
	for _, f := range now {
		if security.Within(folder, f.Path) || security.Within(f.Path, folder) {
			list = append(list, f)
		}
	}
	return list, err
}

// arrived are the labels that came to a folder in a time, but for those of one run; until
// now where to is zero. What is at work then may have read what carries them.
func (k *Kernel) arrived(ctx context.Context, folder string, from, to time.Time, but string) (Labels, error) {
	list, err := k.labelsBelow(ctx, folder)
	if err != nil {
		return nil, err
	}
	var out Labels
	for _, f := range list {
		now := f.At.IsZero() && to.IsZero() // it is being written
		if f.RunID != but && (now || !f.At.Before(from) && (to.IsZero() || !f.At.After(to))) {
			out = out.Join(Labels{writtenLabel(f)})
		}
	}
	return k.liveLabels(ctx, out)
}

// late takes what a command may have read that came into its folder after it began: its
// run has read it too, and nobody looked at how the hidden places were before that.
func (w *watched) late(ctx context.Context) error {
	k, id := w.u.k, w.by.scope.runID
	came, err := k.arrived(ctx, w.folder, w.began, time.Time{}, id)
	if err != nil {
		return err
	}
	if came.Untrusted() {
		if w.unsure { // its step has been written down long ago
			k.runs.label(id, came)
			err = k.store.Write(ctx, func(tx *store.Tx) error { return k.store.AddRunLabels(tx, id, came) })
		} else {
			err = w.by.take(ctx, came)
		}
		if err != nil {
			return err
		}
		w.carries(roots(came))
	}
	read, err := w.readSoFar(ctx)
	w.carries(read)
	return err
}

// unknown taints the folder of a command of which nobody knows what it did, with all that
// it may have read until its end.
func (w *watched) unknown(ctx context.Context) {
	if err := errors.Join(w.late(ctx), w.taint(ctx)); err != nil {
		w.u.k.log.ErrorContext(ctx, "A folder could not be labelled", "run_id", w.by.scope.runID, "error", err)
	}
}

// readMeanwhile is what a command that only looks may have read beside what was there
// when it began.
func (c *command) readMeanwhile(ctx context.Context) (Labels, error) {
	if !c.verdict.ReadOnly || c.began.IsZero() || c.caller.scope.runID == "" {
		return c.told, nil // of one that writes, what it left is looked at
	}
	came, err := c.caller.k.arrived(ctx, realPath(c.caller.scope.folder), c.began, time.Time{}, c.caller.scope.runID)
	if err != nil || len(came) == 0 {
		return c.told, err
	}
	read, err := c.reads(ctx)
	return read.Join(c.told), err
}

// loggedBy is what the output of a command in the background may hold beside what its
// run had read.
func (c *caller) loggedBy(ctx context.Context, id string) (Labels, error) {
	j, err := c.k.commands().job(c, id)
	if err != nil {
		return nil, nil // it is told nothing
	}
	v := j.view(c.k)
	to := time.Time{}
	if v.EndedAt != nil {
		to = *v.EndedAt
	}
	return c.k.arrived(ctx, realPath(j.by.folder), v.StartedAt.Truncate(time.Millisecond), to, j.by.runID)
}

// relabel gives what undo put at a path a label of its own, where what it replaced had
// one: what the person has said of that was not said of this.
func (u *undos) relabel(ctx context.Context, path string) error {
	list, err := u.k.store.FileLabels(ctx, path, "")
	if err != nil {
		return err
	}
	i := slices.IndexFunc(list, func(f store.FileLabel) bool { return f.Path == path && f.Covers() == "" })
	if i < 0 {
		return nil
	}
	f := list[i]
	if now := hashOf(path); now == "" {
		f.Content = sys.NewID()
	} else if f.Content == now {
		return nil
	} else {
		f.Content = now
	}
	return u.k.store.Write(ctx, func(tx *store.Tx) error { return u.k.store.LabelFiles(tx, f) })
}
