package kernel

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"oxios/kernel/sandbox"
	"oxios/kernel/security"
	"oxios/kernel/store"
	"oxios/kernel/sys"
	"oxios/kernel/undo"
)

// copied is the copy of a folder that one command works on.
type copied struct {
	sandbox.Copy
	began int64 // by the clock of the disk
}

// copyOf makes room for a copy of a command's folder. The caller removes it.
func (t *tries) copyOf(c *command, trial bool) (copied, error) {
	to := copied{Copy: sandbox.Copy{Folder: realPath(c.caller.scope.folder), Scratch: filepath.Join(t.base(), sys.NewID()), Trial: trial}}
	if err := os.MkdirAll(to.Scratch, 0o700); err != nil {
		return to, sys.Errorf(sys.CodeDiskFull, "No folder could be made for a copy: %w", err)
	}
	made, err := os.Lstat(to.Scratch)
	if err != nil {
		return to, err
	}
	to.began = undo.ChangedAt(made)
	return to, nil
}

// files finds what differs on a copy and keeps its content, durable. What git would
// run is not among it.
func (t *tries) files(ctx context.Context, c copied) (_ []store.TriedFile, aside []planted, _ error) {
	changes, err := c.Changes(ctx, maxTried)
	if err != nil {
		return nil, nil, err
	}
	lower, err := security.OpenRoot(c.Folder)
	if err != nil {
		return nil, nil, err
	}
	defer lower.Close()
	upper, err := security.OpenRoot(c.Upper())
	if err != nil {
		return nil, nil, err
	}
	defer upper.Close()
	most := t.k.config.get().UndoFolderMB
	room := int64(most) << 20
	out := []store.TriedFile{}
	for _, ch := range changes {
		was, err := undo.Look(lower, ch.Path)
		if err != nil {
			return nil, nil, unreadable(ch.Path, err)
		}
		becomes := undo.State{Kind: undo.Absent}
		if !ch.Gone {
			if becomes, err = undo.Look(upper, ch.Path); err != nil {
				return nil, nil, unreadable(ch.Path, err)
			}
		}
		if was == becomes {
			continue // it was only opened
		}
		if room -= was.Size + becomes.Size; room < 0 {
			return nil, nil, sys.Errorf(sys.CodeTooLarge, "What the command changed has more than %d MB, too much to be kept.", most)
		}
		if err := undo.Keep(t.k.undos.objects, upper, ch.Path, becomes); err != nil {
			return nil, nil, unreadable(ch.Path, err)
		}
		out = append(out, store.TriedFile{Path: ch.Path, Was: was.With(undo.MetaOf(lower, ch.Path)), Becomes: becomes.With(undo.MetaOf(upper, ch.Path)), Late: lately(lower, ch.Path, c.began)})
	}
	return t.unplanted(ctx, c.Folder, out)
}

func unreadable(path string, err error) error {
	return sys.Errorf(sys.CodeUnavailable, "What the command did cannot be shown: %s cannot be read: %w", path, err)
}

// lately reports whether somebody changed a path, or took it away, since a
// moment: what was shown then stands on something else.
func lately(root *security.Root, rel string, began int64) bool {
	for {
		info, err := root.FS().Lstat(filepath.FromSlash(rel))
		if err == nil {
			return undo.ChangedAt(info) >= began
		}
		if rel == "." {
			return true
		}
		rel = filepath.ToSlash(filepath.Dir(filepath.FromSlash(rel)))
	}
}

// movedFolder reports whether a program failed because a folder of the lower layer
// cannot be renamed.
func movedFolder(res sandbox.Result) bool {
	return res.ExitCode != 0 && acrossDisks().Match(res.Output)
}

var acrossDisks = sys.Pattern(`(?i)cross-device|EXDEV`)

// onCopy reports whether a command works on a copy of its folder: where the person
// wants that of all of them, and where the folder holds too much to be looked at
// before and after.
func (c *command) onCopy(ctx context.Context, level sys.Isolation) bool {
	k := c.caller.k
	return c.caller.scope.runID != "" && !c.verdict.ReadOnly && level >= sys.IsolationFull &&
		(k.config.get().CommandsOnCopy || k.undos.tooLarge(realPath(c.caller.scope.folder))) && c.noTry(ctx) == nil
}

// notOnCopy tells of a command that should have worked on a copy and did not.
func (c *command) notOnCopy(ctx context.Context, level sys.Isolation) string {
	switch {
	case !c.caller.k.config.get().CommandsOnCopy || c.caller.scope.runID == "" || c.verdict.ReadOnly || c.background:
		return ""
	case level < sys.IsolationFull:
		return fmt.Sprintf("It worked in the folder itself: only at isolation level 3 there is a copy, and this was level %d.", level)
	}
	if err := c.noTry(ctx); err != nil {
		return "It worked in the folder itself: " + sys.AsError(err).Message
	}
	return "" // it was wanted only after this command had begun
}

// runOnCopy runs a command on a copy and brings what it did into the folder when it
// has ended: all of it, written down before the first of it, or nothing.
func (c *command) runOnCopy(ctx context.Context, spec sandbox.Spec, p *planting) (ExecResult, error) {
	k := c.caller.k
	on, err := k.tries.copyOf(c, false)
	if err != nil {
		return ExecResult{}, err
	}
	defer on.Remove()
	spec.Copy = &on.Copy
	res, err := c.contained(ctx, spec)
	out := c.result(res, spec)
	if err != nil {
		return out, err
	}
	if movedFolder(res) {
		out.note("Here commands work on a copy of the folder, on which a folder that was there before cannot be moved or renamed. With background: true it works in the folder itself; what it changes can be undone only as far as that is said then.")
	}
	w := &watched{u: k.undos, by: c.caller, folder: on.Folder}
	if err := w.untold(ctx); err != nil {
		return out, notBrought(err)
	}
	if len(w.unseen.read) > 0 {
		k.undos.begun(w)
		defer k.undos.ended(w)
	}
	done, aside, err := k.undos.bring(ctx, c, on)
	c.meta["copied"] = len(done)
	if err != nil {
		return out, err
	}
	w.show(context.WithoutCancel(ctx), done)
	return out, p.putAside(context.WithoutCancel(ctx), aside)
}

// bring does in the folder what a command did on a copy of it. What somebody
// changed meanwhile is left as it is, and then nothing is brought at all.
func (u *undos) bring(ctx context.Context, c *command, on copied) (_ []store.FileMark, aside []planted, _ error) {
	ctx = context.WithoutCancel(ctx) // the command has ended; nobody stops what it did halfway
	run, err := u.k.run(ctx, c.caller.scope.runID)
	if err != nil {
		return nil, nil, err
	}
	run.Folder = on.Folder
	u.one.Lock()
	defer u.one.Unlock()
	kept := &store.Try{ApprovalID: sys.NewID(), RunID: run.ID, StepID: stepID(ctx), State: store.TryApplying, Result: []byte("null")}
	moves, aside, err := u.planned(ctx, run, kept, on)
	if err != nil {
		return nil, nil, notBrought(err)
	}
	if len(moves) == 0 {
		return nil, aside, nil
	}
	why := u.make(ctx, ctx, only(run), moves, false, nil)
	if err := u.endTry(ctx, run, kept.ApprovalID, moves, why); err != nil {
		return nil, nil, notBrought(err)
	}
	if len(why) > 0 {
		return nil, nil, notBrought(changedMeanwhile(leftOf(why)))
	}
	return triedMarks(run, kept), aside, nil
}

// planned keeps what is there and what comes in its place, and writes down the moves
// between them.
func (u *undos) planned(ctx context.Context, run Run, kept *store.Try, on copied) (moves []store.UndoMove, aside []planted, err error) {
	u.objects.Clearing.RLock()
	defer u.objects.Clearing.RUnlock()
	if kept.Files, aside, err = u.k.tries.files(ctx, on); err != nil {
		return nil, nil, err
	}
	root, err := security.OpenRoot(on.Folder)
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	v := Try{}
	for _, k := range kept.Files {
		f, err := triedFile(root, on.Folder, k)
		if err != nil {
			return nil, nil, err
		}
		v.Files = append(v.Files, f)
	}
	if names := v.inTheWay(); len(names) > 0 {
		return nil, nil, changedMeanwhile(names)
	}
	moves = triedMoves(run, kept.ApprovalID, v.Files)
	if len(moves) == 0 {
		return nil, aside, nil
	}
	if err := u.keepPresent(only(run), v.Files); err != nil {
		return nil, nil, notRecorded(err)
	}
	err = u.k.store.Write(ctx, func(tx *store.Tx) error {
		if err := u.k.store.PutTry(tx, *kept); err != nil {
			return err
		}
		return u.k.store.AddUndoMoves(tx, moves)
	})
	if err != nil {
		return nil, nil, notRecorded(err)
	}
	return moves, aside, nil
}

func changedMeanwhile(names []string) error {
	return sys.Errorf(sys.CodeConflict, "While the command worked on a copy of the folder, this was changed in the folder itself, or is nothing that can be carried over: %s.", strings.Join(names, ", ")).
		WithHint("Look at the folder, and run it again if it is still needed.")
}

// notBrought tells that a command ran, and that the folder has nothing of it.
func notBrought(err error) error {
	e := sys.AsError(err)
	if e.Code == sys.CodeTooLarge {
		e = e.WithHint("With background: true it works in the folder itself, and then not all that it changes can be undone.")
	}
	out := sys.Errorf(e.Code, "The command ran on a copy of the folder, and nothing of what it did was brought into the folder itself: %w", e).WithCause(e.Err)
	out.Message, out.Hint, out.HintKO = strings.TrimSuffix(out.Message, " "+e.Hint), e.Hint, e.HintKO
	return out
}
