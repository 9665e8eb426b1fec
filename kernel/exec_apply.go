package kernel

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"oxios/kernel/security"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// ApplyTry does in the folder exactly what was shown of a try, and approves the
// request: the agent gets how the command ended on the copy, and it is not run
// again. If one path is not as it was when the try began, nothing is applied and
// the request waits as before.
func (a *SecurityAPI) ApplyTry(ctx context.Context, approvalID string, in ApplyInput) (Approval, error) {
	act := action{call: "security.applyTry", resource: "approval:" + approvalID, meta: map[string]any{"hash": in.Hash}}
	return guard(ctx, a.caller, act, func(ctx context.Context) (Approval, error) {
		return a.k.undos.applyTry(ctx, a.who, approvalID, in)
	})
}

func (u *undos) applyTry(ctx context.Context, who sys.Principal, id string, in ApplyInput) (Approval, error) {
	u.one.Lock()
	defer u.one.Unlock()
	ap, err := u.k.approvals.Get(ctx, id)
	if err != nil {
		return Approval{}, err
	}
	kept, err := u.k.store.Try(ctx, id)
	if err != nil {
		return Approval{}, err
	}
	if kept == nil || kept.State != store.TryShown || kept.Hash != in.Hash {
		return Approval{}, sys.Errorf(sys.CodeConflict, "This is not what was last tried. Nothing was changed.").WithHint("Look at it again.")
	}
	run, err := u.k.run(ctx, kept.RunID)
	if err != nil {
		return Approval{}, err
	}
	v, err := u.k.tries.view(ctx, run, kept)
	if err != nil {
		return Approval{}, err
	}
	if names := v.inTheWay(); len(names) > 0 {
		return Approval{}, sys.Errorf(sys.CodeConflict, "Since the command was tried, this was changed in the folder: %s. Nothing was applied.", strings.Join(names, ", ")).
			WithHint("Try it again, or decide without a try.")
	}
	moves := triedMoves(run, id, v.Files)
	// What was shown is done whether or not somebody still waits for it.
	ctx = context.WithoutCancel(ctx)
	u.objects.Clearing.RLock()
	err = u.keepPresent(only(run), v.Files)
	if err == nil {
		// From here on it is done: a crash leaves it to the next start.
		answer := security.Answer{Approve: true, Scope: security.ScopeOnce, Hash: ap.Request.Hash, Comment: in.Comment}
		ap, err = u.k.approvals.Decide(ctx, who, id, answer, func(tx *store.Tx, ap Approval) error {
			if err := u.k.store.SetTry(tx, id, store.TryShown, store.TryApplying); err != nil {
				return err
			}
			if err := u.k.store.AddUndoMoves(tx, moves); err != nil {
				return err
			}
			return u.k.recordDecision(tx, who.Actor(), ap)
		})
	}
	u.objects.Clearing.RUnlock()
	if err != nil {
		return ap, notRecorded(err)
	}
	why := u.make(ctx, ctx, only(run), moves, false, nil)
	if err := u.endTry(ctx, run, id, moves, why); err != nil {
		return ap, err
	}
	if len(why) > 0 {
		return ap, notApplied(why)
	}
	return ap, nil
}

// notApplied tells of paths that somebody changed, or the disk refused, while a
// try was applied.
func notApplied(why map[string]error) error {
	return sys.Errorf(sys.CodeConflict, "What was tried could not be applied, because of %s, and what was done of it was taken back.", strings.Join(leftOf(why), ", ")).
		WithHint("Ask again if it is still needed.")
}

// leftOf are the names of the files that moves left.
func leftOf(why map[string]error) (names []string) {
	for path := range why {
		names = append(names, filepath.Base(path))
	}
	slices.Sort(names)
	return names
}

// endTry writes down what came of applying a try: the step of its command did
// it. What could not be done whole is taken back.
func (u *undos) endTry(ctx context.Context, run Run, id string, moves []store.UndoMove, why map[string]error) error {
	kept, err := u.k.store.Try(ctx, id)
	if err != nil {
		return err
	}
	shut := func(tx *store.Tx) error { return u.k.store.CloseUndoMoves(tx, moves) }
	if kept == nil { // its conversation was deleted
		return u.k.store.Write(ctx, shut)
	}
	if kept.State == store.TryLeft { // these moves took it back
		return u.endBack(ctx, run, kept, moves, shut)
	}
	if len(why) == 0 {
		marks := triedMarks(run, kept)
		labelled, err := u.k.labelledBy(ctx, run.ID, marks)
		if err != nil {
			return err
		}
		return u.k.store.Write(ctx, func(tx *store.Tx) error {
			if err := shut(tx); err != nil {
				return err
			}
			if err := u.k.store.LabelFiles(tx, labelled...); err != nil {
				return err
			}
			if err := u.k.store.AddFileMarks(tx, marks); err != nil {
				return err
			}
			return u.k.store.SetTry(tx, id, store.TryApplying, store.TryApplied)
		})
	}
	back := []store.UndoMove{}
	op := sys.NewID()
	for _, m := range slices.Backward(moves) {
		if m.State == store.MoveDone {
			back = append(back, store.UndoMove{
				OpID: op, N: len(back), RunID: run.ID, Path: m.Path, Was: m.Becomes, Becomes: m.Was, Temp: ".oxios-" + op + "-" + sys.NewID()[24:], State: store.MoveOpen, TryID: id,
			})
		}
	}
	err = u.k.store.Write(ctx, func(tx *store.Tx) error {
		if err := shut(tx); err != nil {
			return err
		}
		if err := u.k.store.AddUndoMoves(tx, back); err != nil {
			return err
		}
		return u.k.store.SetTry(tx, id, store.TryApplying, store.TryLeft)
	})
	if err != nil || len(back) == 0 {
		return err
	}
	u.make(ctx, ctx, only(run), back, false, nil)
	return u.endTry(ctx, run, id, back, nil)
}

// endBack writes down what of a try could not even be taken back, because
// somebody changed that as well: it was the command's doing all the same.
func (u *undos) endBack(ctx context.Context, run Run, kept *store.Try, moves []store.UndoMove, shut func(*store.Tx) error) error {
	marks := slices.DeleteFunc(triedMarks(run, kept), func(m store.FileMark) bool {
		return !slices.ContainsFunc(moves, func(b store.UndoMove) bool { return b.Path == m.Path && b.State == store.MoveLeft })
	})
	return u.k.store.Write(ctx, func(tx *store.Tx) error {
		if err := shut(tx); err != nil {
			return err
		}
		return u.k.store.AddFileMarks(tx, marks)
	})
}

// triedMoves do in the folder what was tried.
func triedMoves(run Run, id string, files []UndoFile) []store.UndoMove {
	moves := movesOf(only(run), sys.NewID(), false, true, files)
	for i := range moves {
		moves[i].TryID = id
	}
	return moves
}

// triedMarks are what a try did, as an undo has it.
func triedMarks(run Run, kept *store.Try) (marks []store.FileMark) {
	for _, f := range kept.Files {
		marks = append(marks, store.FileMark{
			RunID: run.ID, StepID: kept.StepID, Path: filepath.Join(realPath(run.Folder), filepath.FromSlash(f.Path)), Before: f.Was, After: f.Becomes,
		})
	}
	return marks
}

// endTries ends what a crash cut off between two of these writes.
func (u *undos) endTries(ctx context.Context) error {
	ids, err := u.k.store.TriesApplying(ctx)
	if err != nil {
		return err
	}
	for _, id := range ids {
		kept, err := u.k.store.Try(ctx, id)
		if err != nil {
			return err
		}
		run, err := u.k.store.Run(ctx, kept.RunID)
		if err != nil {
			return err
		}
		if err := u.endTry(ctx, run, id, nil, nil); err != nil {
			return err
		}
	}
	return nil
}

// tried returns how a command ended that a person tried on a copy, and applied
// instead of having it run. done is false for one that has to be run.
func (c *command) tried(ctx context.Context) (out ExecResult, done bool, err error) {
	ap := approvalOf(ctx)
	if ap == nil {
		return out, false, nil
	}
	u := c.caller.k.undos
	u.one.Lock() // whoever applies it holds this until it is done
	kept, err := u.k.store.Try(ctx, ap.ID)
	u.one.Unlock()
	switch {
	case err != nil:
		return out, true, err
	case kept == nil:
		return out, false, nil
	case kept.State == store.TryShown: // the person looked, and had it run all the same
		u.k.tries.drop(ctx, ap.ID)
		return out, false, nil
	case kept.State != store.TryApplied:
		return out, true, sys.Errorf(sys.CodeConflict, "The person tried this on a copy, but files had changed when it was applied. Nothing was run.").
			WithHint("Look at the files and ask again if it is still needed.")
	}
	if err := json.Unmarshal(kept.Result, &out); err != nil {
		return out, true, err
	}
	w := &watched{u: u, by: c.caller, folder: realPath(c.caller.scope.folder)}
	w.show(ctx, triedMarks(Run{ID: kept.RunID, Folder: w.folder}, kept))
	c.meta["isolation"], c.meta["tried"] = int(out.Isolation), kept.Hash
	if len(out.Asked) > 0 {
		c.meta["asked"] = out.Asked
	}
	out.Note = strings.TrimSpace("The person tried this command on a copy of the folder, without a network, and applied what it did there. It was not run again. " + out.Note)
	return out, true, nil
}
