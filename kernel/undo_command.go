package kernel

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/gob"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"oxios/kernel/security"
	"oxios/kernel/store"
	"oxios/kernel/sys"
	"oxios/kernel/undo"
)

// What of a folder is looked at for a command.
const (
	maxLooked  = 100_000          // paths
	indexTime  = 20 * time.Second // of one look
	maxShownOf = 500              // changed files of one command that the Changes panel lists
)

// watched is a command whose changes are found when it ends.
type watched struct {
	u      *undos
	id     string
	by     *caller
	step   string
	folder string // without links
	before *undo.Index
	began  time.Time
	unsure bool   // somebody else may change the folder meanwhile: it works in the background
	missed string // why its changes are not found, in words
	unseen unseen // what nobody will know of it
}

// watch looks at the folder of a command before it begins, and keeps what it may
// change. A command that only reads is not watched. What cannot be kept because the
// folder holds too much is told with the result; what cannot be written down is not
// begun.
func (u *undos) watch(ctx context.Context, c *command) (*watched, error) {
	if c.caller.scope.runID == "" || c.verdict.ReadOnly {
		return nil, nil
	}
	return u.watchFolder(ctx, c.caller, c.caller.scope.folder, c.background)
}

// watchFolder does the same for anything of a run that may change a folder.
func (u *undos) watchFolder(ctx context.Context, by *caller, folder string, unsure bool) (*watched, error) {
	w := &watched{u: u, id: sys.NewID(), by: by, folder: realPath(folder), unsure: unsure, began: u.k.clock.Now().Truncate(time.Millisecond), step: stepID(ctx)}
	if err := w.untold(ctx); err != nil {
		return nil, notRecorded(err)
	}
	u.objects.Clearing.RLock()
	defer u.objects.Clearing.RUnlock()
	if !u.tooLarge(w.folder) {
		var hidden looking
		if len(w.unseen.read) > 0 {
			hidden = lookAt(w.folder, u.skippedLast(w.folder))
		}
		var err error
		w.before, err = u.look(ctx, w.folder)
		switch {
		case errors.Is(err, undo.ErrTooMany), errors.Is(err, context.DeadlineExceeded):
			u.looking.Lock()
			u.large[w.folder] = w.began
			u.looking.Unlock()
		case err != nil:
			return nil, notRecorded(err)
		case hidden != nil:
			w.unseen.hidden = hidden(w.before.Skipped)
		}
	}
	if w.before == nil {
		w.missed = fmt.Sprintf("The folder holds too much (over %d files) to be looked at: what this command changed cannot be undone.", u.k.opts.MaxPaths)
		return w, nil
	}
	err := u.k.store.Write(ctx, func(tx *store.Tx) error {
		return u.k.store.BeginUndoCommand(tx, store.UndoCommand{ID: w.id, RunID: w.by.scope.runID, StepID: w.step, Folder: w.folder})
	})
	if err != nil {
		return nil, notRecorded(err)
	}
	u.looking.Lock()
	u.active[w] = struct{}{}
	u.looking.Unlock()
	return w, nil
}

// skippedLast are the places that the last look at a folder left out.
func (u *undos) skippedLast(folder string) []string {
	u.looking.Lock()
	defer u.looking.Unlock()
	if x := u.indexes[folder]; x != nil {
		return x.Skipped
	}
	return nil
}

// largeFor is how long a folder counts as one that holds too much for a look.
const largeFor = 10 * time.Minute

// tooLarge reports whether a folder held too much when it was last looked at.
func (u *undos) tooLarge(folder string) bool {
	u.looking.Lock()
	defer u.looking.Unlock()
	found, ok := u.large[folder]
	if ok && u.k.clock.Now().Sub(found) >= largeFor {
		delete(u.large, folder)
		ok = false
	}
	return ok
}

// look makes the index of a folder, from the last one that is known.
func (u *undos) look(ctx context.Context, folder string) (*undo.Index, error) {
	ctx, cancel := context.WithTimeout(ctx, indexTime)
	defer cancel()
	root, err := security.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	u.looking.Lock()
	defer u.looking.Unlock()
	last := u.indexes[folder]
	if last == nil {
		last = u.readIndex(folder)
	}
	ignores := newIgnoring(root, ".")
	defer ignores.close(root)
	own, _ := os.Stat(u.k.opts.Home)
	cfg := u.k.config.get()
	x, err := undo.Scan(ctx, u.objects, root, last, undo.Indexing{
		Skip: func(rel, name string) bool {
			if passedOver[name] {
				return true
			}
			info, err := root.FS().Lstat(rel)
			return err == nil && own != nil && os.SameFile(info, own)
		},
		Tree: ignores, Ignored: func(rel string) bool { return ignores.ignores(rel, true) },
		Most: u.k.opts.MaxPaths, MaxFile: int64(cfg.UndoFileMB) << 20, MaxAll: int64(cfg.UndoFolderMB) << 20,
	})
	if err != nil {
		return nil, err
	}
	if last == nil || last.Version != x.Version || !slices.Equal(last.Entries, x.Entries) {
		if err := u.writeIndex(folder, x); err != nil {
			return nil, err
		}
	}
	u.indexes[folder] = x
	return x, nil
}

// The index of a folder lies beside the content, for the next start and for what
// has to be found out after a crash.

func (u *undos) indexPath(folder string) string {
	sum := sha256.Sum256([]byte(folder))
	return filepath.Join(u.k.opts.Home, undoFolder, "folders", hex.EncodeToString(sum[:12]))
}

func (u *undos) writeIndex(folder string, x *undo.Index) error {
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(x); err != nil {
		return err
	}
	file := u.indexPath(folder)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	return security.WriteFileAtomic(file, b.Bytes(), 0o600)
}

// readIndex returns nil where there is none that can be read: all is looked at
// anew then.
func (u *undos) readIndex(folder string) *undo.Index {
	raw, err := os.ReadFile(u.indexPath(folder))
	if err != nil {
		return nil
	}
	x := &undo.Index{}
	if err := gob.NewDecoder(bytes.NewReader(raw)).Decode(x); err != nil {
		return nil
	}
	return x
}

// done finds what a command changed and writes it down. It returns what a person
// should know besides.
func (w *watched) done(ctx context.Context) string {
	if w == nil {
		return ""
	}
	defer w.u.ended(w)
	ctx = context.WithoutCancel(ctx) // it has happened, whether or not somebody still waits
	if w.missed != "" {
		w.unknown(ctx)
		return w.missed
	}
	defer func() {
		w.u.looking.Lock()
		delete(w.u.active, w)
		w.u.looking.Unlock()
	}()
	changed, err := w.found(ctx)
	if err != nil {
		w.u.k.log.WarnContext(ctx, "What a command changed could not be recorded", "run_id", w.by.scope.runID, "error", err)
		w.unknown(ctx)
		return "What this command changed could not be recorded, so it cannot be undone."
	}
	w.show(ctx, changed)
	return ""
}

func (w *watched) why() string {
	if w == nil {
		return ""
	}
	return w.missed
}

func (w *watched) found(ctx context.Context) ([]store.FileMark, error) {
	u := w.u
	u.objects.Clearing.RLock()
	defer u.objects.Clearing.RUnlock()
	now := unlooked(w.folder)
	if w.unseen.hidden != nil {
		now = lookAt(w.folder, w.before.Skipped)
	}
	after, err := u.look(ctx, w.folder)
	if err != nil {
		return nil, err
	}
	root, err := security.OpenRoot(w.folder)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	// What was written down meanwhile was done by others, or by another tool of the run.
	known, err := u.k.store.FileMarksSince(ctx, w.began)
	if err != nil {
		return nil, err
	}
	last := map[string]store.FileMark{}
	for _, m := range known {
		last[m.Path] = m
	}
	var marks []store.FileMark
	for _, d := range undo.Differ(w.before, after, root) {
		m := store.FileMark{
			RunID: w.by.scope.runID, StepID: w.step, Path: filepath.Join(w.folder, filepath.FromSlash(d.Path)), Before: d.Before.With(d.Meta), After: d.After.String(), Unsure: w.unsure,
		}
		if other, ok := last[m.Path]; ok {
			m.Before = other.After
		}
		if !undo.Same(m.Before, m.After) {
			marks = append(marks, m)
		}
	}
	if err := w.late(ctx); err != nil {
		return nil, err
	}
	labelled, err := u.k.labelledBy(ctx, w.by.scope.runID, marks)
	if err != nil {
		return nil, err
	}
	if err := w.settle(ctx, after, now); err != nil {
		return nil, err
	}
	err = u.k.store.Write(ctx, func(tx *store.Tx) error {
		if err := u.k.store.EndUndoCommand(tx, w.id); err != nil {
			return err
		}
		if err := u.k.store.LabelFiles(tx, labelled...); err != nil {
			return err
		}
		return u.k.store.AddFileMarks(tx, marks)
	})
	return marks, err
}

// show lists the files that a command changed in the Changes panel.
func (w *watched) show(ctx context.Context, marks []store.FileMark) {
	listed := 0
	for _, m := range marks {
		if listed == maxShownOf {
			break
		}
		before, err := undo.Parse(m.Before)
		if err != nil {
			continue
		}
		after, err := undo.Parse(m.After)
		if err != nil || before.Kind == undo.Folder || after.Kind == undo.Folder {
			continue
		}
		listed++
		c := store.Change{RunID: m.RunID, StepID: m.StepID, Path: m.Path, Kind: store.ChangeModified, BeforeSize: before.Size, AfterSize: after.Size}
		var binary [2]bool
		c.Before, binary[0] = w.content(before)
		c.After, binary[1] = w.content(after)
		c.Binary = binary[0] || binary[1]
		switch {
		case before.Kind == undo.Absent:
			c.Kind = store.ChangeCreated
		case after.Kind == undo.Absent:
			c.Kind = store.ChangeDeleted
		}
		if c.After != nil {
			c.AfterHash = contentHash(c.After)
		}
		s := ChangeSummary{Path: w.by.scope.relative(m.Path), Kind: c.Kind, Binary: c.Binary}
		if !c.Binary {
			was, _, _ := decodeText(c.Before) // a text, or nothing
			is, _, _ := decodeText(c.After)
			s.Added, s.Removed = countChanged(was, is)
		}
		if err := w.by.addChange(ctx, c, s); err != nil {
			w.u.k.log.WarnContext(ctx, "A change of a command could not be listed", "run_id", m.RunID, "error", err)
			return
		}
	}
}

// content returns what a state holds, if it is kept and small.
func (w *watched) content(s undo.State) (raw []byte, binary bool) {
	if s.Content == "" || s.Size > maxKept {
		return nil, s.Kind != undo.Absent
	}
	raw, err := w.u.objects.Read(s.Content)
	if err != nil {
		return nil, true
	}
	_, _, err = decodeText(raw)
	return raw, err != nil
}

// missing finds what commands changed that were at work when Oxios went down.
// Nobody knows whether it was them or the person since.
func (u *undos) missing(ctx context.Context) error {
	left, err := u.k.store.UndoCommands(ctx)
	if err != nil {
		return err
	}
	for _, c := range left {
		u.plantedBefore(ctx, c)
		w := &watched{
			u: u, id: c.ID, step: c.StepID, folder: c.Folder, began: c.At, unsure: true, before: u.readIndex(c.Folder),
			by: &caller{k: u.k, scope: scope{runID: c.RunID, folder: c.Folder}},
		}
		read, err := u.k.labelsOf(ctx, c.RunID)
		if err != nil {
			return err
		}
		if read = read.WithoutWork(); read.Untrusted() { // nobody knows what it did last
			w.unseen.read = roots(read)
			if err := w.taint(ctx); err != nil {
				return err
			}
		}
		var changed []store.FileMark
		if w.before != nil {
			changed, err = w.found(ctx)
		}
		if w.before == nil || err != nil {
			u.k.log.WarnContext(ctx, "What a command changed before a crash is not known", "run_id", c.RunID, "error", err)
			if err := u.k.store.Write(ctx, func(tx *store.Tx) error { return u.k.store.EndUndoCommand(tx, c.ID) }); err != nil {
				return err
			}
			continue
		}
		w.show(ctx, changed)
		if run, err := u.k.store.Run(ctx, c.RunID); err == nil && run.State.Ended() {
			u.sealed(ctx, run)
		}
	}
	return nil
}

// later writes down what a command in the background changed, when it has ended.
func (w *watched) later(ctx context.Context) {
	if w == nil {
		return
	}
	_ = w.done(ctx) // the log has what went wrong; nobody waits for a result
	if run, err := w.u.k.store.Run(ctx, w.by.scope.runID); err == nil && run.State.Ended() {
		w.u.sealed(ctx, run)
	}
}

// kept adds the content that the indexes of folders name, and forgets those of
// folders in which nothing was done for long, sooner where no run changed anything.
func (u *undos) kept(wanted map[string]bool, old time.Time, changed map[string]bool) error {
	if err := u.keptGuards(wanted, old); err != nil {
		return err
	}
	dir := filepath.Join(u.k.opts.Home, undoFolder, "folders")
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	u.looking.Lock()
	defer u.looking.Unlock()
	live := map[string]*undo.Index{}
	for folder, x := range u.indexes {
		live[u.indexPath(folder)] = x
	}
	var list []*undo.Index
	unchanged := u.k.clock.Now().Add(-unchangedFor)
	if old.After(unchanged) {
		unchanged = old
	}
	for _, e := range entries {
		file := filepath.Join(dir, e.Name())
		info, err := e.Info()
		if err != nil {
			return err
		}
		idle := !changed[file] && info.ModTime().Before(unchanged)
		if x := live[file]; x != nil && !idle {
			list = append(list, x)
			continue
		}
		x := &undo.Index{}
		raw, err := os.ReadFile(file)
		if err == nil {
			err = gob.NewDecoder(bytes.NewReader(raw)).Decode(x)
		}
		if err != nil || idle || info.ModTime().Before(old) || strings.HasPrefix(e.Name(), ".") {
			if err := os.Remove(file); err != nil {
				return err
			}
			maps.DeleteFunc(u.indexes, func(folder string, _ *undo.Index) bool { return u.indexPath(folder) == file })
			continue
		}
		list = append(list, x)
	}
	for _, x := range list {
		for _, e := range x.Entries {
			if e.Kept {
				wanted[e.State.Content] = true
			}
		}
	}
	return nil
}

// undoWords say on a card how a command can be undone.
func (c *command) undoWords(level sys.Isolation) sys.Words {
	k := c.caller.k
	switch {
	case c.onCopy(k.background, level):
		return sys.Say("yes, all in its folder: it works on a copy; up to %d files and %d MB", maxTried, k.config.get().UndoFolderMB)
	case k.undos.tooLarge(realPath(c.caller.scope.folder)):
		return sys.Say("no: its folder holds more than %d files", k.opts.MaxPaths)
	}
	return sys.Say("yes, in its folder; not files above %d MB, nor .git, node_modules and folders that .gitignore leaves out", k.config.get().UndoFileMB)
}
