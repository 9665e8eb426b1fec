package kernel

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"oxios/kernel/event"
	"oxios/kernel/store"
	"oxios/kernel/sys"
	"oxios/kernel/undo"
)

// UndoQuery asks what an undo or a redo would do.
type UndoQuery struct {
	RunID string   `json:"run_id"` // or its pid
	Redo  bool     `json:"redo,omitempty"`
	Alone bool     `json:"alone,omitempty"` // not what its forks did, nor what these forked
	Paths []string `json:"paths,omitempty"` // only these, and what lies below them; none for all
}

// UndoInput undoes or redoes what a preview showed.
type UndoInput struct {
	RunID string   `json:"run_id"` // or its pid
	Alone bool     `json:"alone,omitempty"`
	Paths []string `json:"paths,omitempty"`
	Force []string `json:"force,omitempty"` // paths in conflict that are put back all the same; what is there is kept first
	Times bool     `json:"times,omitempty"` // files whose content is put back get their old times too; else that of the undo, by which build tools go
	Hash  string   `json:"hash"`            // of the preview
}

// UndoPreview says what an undo or a redo of a run would do, with the difference
// for each file. What came of the run goes with it: what its forks did. Nothing is
// changed.
func (a *AgentsAPI) UndoPreview(ctx context.Context, q UndoQuery) (UndoPlan, error) {
	return guard(ctx, a.caller, action{call: "agents.undoPreview", resource: "run:" + q.RunID}, func(ctx context.Context) (UndoPlan, error) {
		f, err := a.k.undoable(ctx, q.RunID, q.Alone)
		if err != nil {
			return UndoPlan{}, err
		}
		return a.k.undos.plan(ctx, f, q.Redo, q.Paths)
	})
}

// Undo puts back what a run and its forks changed, created and deleted, as its preview
// showed.
// A file that is not as the run left it is never touched, unless Force names it. It
// can be redone.
func (a *AgentsAPI) Undo(ctx context.Context, in UndoInput) (UndoPlan, error) {
	return a.goBack(ctx, "agents.undo", in, false)
}

// Redo takes an undo back, by the same rules.
func (a *AgentsAPI) Redo(ctx context.Context, in UndoInput) (UndoPlan, error) {
	return a.goBack(ctx, "agents.redo", in, true)
}

func (a *AgentsAPI) goBack(ctx context.Context, call string, in UndoInput, redo bool) (UndoPlan, error) {
	meta := map[string]any{"paths": len(in.Paths), "force": in.Force, "alone": in.Alone, "hash": in.Hash}
	return guard(ctx, a.caller, action{call: call, resource: "run:" + in.RunID, meta: meta}, func(ctx context.Context) (UndoPlan, error) {
		f, err := a.k.undoable(ctx, in.RunID, in.Alone)
		if err != nil {
			return UndoPlan{}, err
		}
		return a.k.undos.goBack(ctx, f, in, redo)
	})
}

// undoable finds a run whose changes may be looked at: one that has ended, with
// those that it forked and the commands that they left in the background.
func (k *Kernel) undoable(ctx context.Context, id string, alone bool) (kin, error) {
	id, err := k.runID(ctx, id)
	if err != nil {
		return kin{}, err
	}
	run, err := k.run(ctx, id)
	if err != nil {
		return kin{}, err
	}
	if !run.State.Ended() {
		return kin{}, sys.Errorf(sys.CodeBusy, "That run has not ended. Nothing was changed.").WithHint("Stop it first, or wait for its end.")
	}
	f, err := k.kinOf(ctx, run, alone)
	if err != nil {
		return f, err
	}
	jobs := k.cmds.list(&caller{k: k, who: sys.Person("")})
	for _, r := range f.runs {
		if r = k.unwritten.over(r); !r.State.Ended() {
			return f, sys.Errorf(sys.CodeBusy, "An agent that this run started is still at work: %s. Nothing was changed.", sys.Shorten(r.Name, 80)).
				WithHint("Stop it first, wait for its end, or undo this run alone.")
		}
		if slices.ContainsFunc(jobs, func(j Job) bool { return j.RunID == r.ID && j.Running }) {
			return f, sys.Errorf(sys.CodeBusy, "A command that this run began is still at work in the background. Nothing was changed.").WithHint("Stop it first.")
		}
	}
	return f, nil
}

func (u *undos) goBack(ctx context.Context, f kin, in UndoInput, redo bool) (UndoPlan, error) {
	// What was shown is done whether or not somebody still waits for it, unless a person stops it.
	ctx = context.WithoutCancel(ctx)
	asked, over, err := u.begin(ctx, f.run().ID)
	if err != nil {
		return UndoPlan{}, err
	}
	defer over()
	u.one.Lock()
	defer u.one.Unlock()
	plan, err := u.plan(asked, f, redo, in.Paths)
	if asked.Err() != nil {
		return plan, sys.Errorf(sys.CodeCanceled, "It was stopped. Nothing was changed.")
	}
	if err != nil {
		return plan, err
	}
	if plan.Hash != in.Hash {
		return plan, sys.Errorf(sys.CodeConflict, "Something has changed since this was shown. Nothing was changed.").WithHint("Look at it again.")
	}
	for _, path := range in.Force {
		i := slices.IndexFunc(plan.Files, func(f UndoFile) bool { return f.Path == path })
		if i < 0 || !plan.Files[i].Forces {
			return plan, sys.Errorf(sys.CodeInvalid, "%s is no conflict that can be decided. Nothing was changed.", path)
		}
		plan.Files[i].Status = UndoReady
	}
	if !slices.ContainsFunc(plan.Files, func(f UndoFile) bool { return f.Status == UndoReady }) {
		return plan, nil
	}
	op := sys.NewID()
	var moves []store.UndoMove
	u.objects.Clearing.RLock()
	err = u.keepPresent(f, plan.Files)
	if err == nil {
		moves = movesOf(f, op, redo, in.Times, plan.Files)
		err = u.k.store.Write(ctx, func(tx *store.Tx) error { return u.k.store.AddUndoMoves(tx, moves) })
	}
	u.objects.Clearing.RUnlock()
	if err != nil {
		return plan, notRecorded(err)
	}
	back := openedFolders(f, plan.back, moves)
	why := u.make(ctx, asked, f, moves, false, u.progress(ctx, f, moves, redo))
	back()
	err = u.close(ctx, f, moves)
	u.tell(&plan, moves, why)
	return plan, err
}

// keepPresent puts what is about to be replaced into the store, whoever wrote it.
func (u *undos) keepPresent(of kin, files []UndoFile) error {
	at := topsOf(of.folders())
	defer at.close()
	for i := range files {
		f := &files[i]
		if f.Status != UndoReady || f.now.Kind == undo.Absent {
			continue
		}
		root, rel, err := at.open(f.path)
		if err == nil {
			f.nowMeta = undo.MetaOf(root, rel)
			err = undo.Keep(u.objects, root, rel, f.now)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// metaThen is what belongs to a file after it is put back. What was not there, or
// was something else, comes back as it was. A file whose content goes back is new
// for the tools that go by times, unless its times are wanted; it keeps the
// attributes of now where older ones are not known.
func (f *UndoFile) metaThen(times bool) undo.Meta {
	m := f.meta
	switch {
	case f.now.Kind != f.becomes.Kind:
		return m
	case !m.Known:
		m = f.nowMeta
		m.Modified, m.Accessed = 0, 0
	case !times:
		m.Modified, m.Accessed = 0, 0
	}
	if f.now.Kind == undo.File && f.now.Content == f.becomes.Content && m.Modified == 0 { // only its mode goes back
		m.Modified, m.Accessed = f.nowMeta.Modified, f.nowMeta.Accessed
	}
	return m
}

// movesOf puts what is to be done into an order in which it can be done: what goes
// goes first, folders come before what is in them.
func movesOf(of kin, op string, redo, times bool, files []UndoFile) []store.UndoMove {
	type step struct {
		path          string
		was, becomes  undo.State
		meta, nowMeta undo.Meta
		rank          int
	}
	absent := undo.State{Kind: undo.Absent}
	var steps []step
	for _, f := range files {
		if f.Status != UndoReady {
			continue
		}
		was, becomes, meta := f.now, f.becomes, f.metaThen(times)
		if was.Kind != undo.Absent && becomes.Kind != undo.Absent && (was.Kind == undo.Folder) != (becomes.Kind == undo.Folder) {
			rank := 0
			if was.Kind == undo.Folder {
				rank = 1
			}
			steps = append(steps, step{f.path, was, absent, undo.Meta{}, f.nowMeta, rank})
			was = absent
		}
		rank := 3
		switch {
		case becomes.Kind == undo.Absent && was.Kind == undo.Folder:
			rank = 1
		case becomes.Kind == undo.Absent:
			rank = 0
		case becomes.Kind == undo.Folder:
			rank = 2
		}
		steps = append(steps, step{f.path, was, becomes, meta, f.nowMeta, rank})
	}
	slices.SortStableFunc(steps, func(a, b step) int {
		if a.rank == 1 && b.rank == 1 {
			return strings.Compare(b.path, a.path) // the deepest first
		}
		return cmp.Or(a.rank-b.rank, strings.Compare(a.path, b.path))
	})
	moves := make([]store.UndoMove, len(steps))
	for i, s := range steps {
		moves[i] = store.UndoMove{
			OpID: op, N: i, RunID: of.run().ID, Tree: !of.alone, Redo: redo, Path: s.path, Was: s.was.With(s.nowMeta), Becomes: s.becomes.With(s.meta), Temp: ".oxios-" + op + "-" + sys.NewID()[24:], State: store.MoveOpen,
		}
	}
	return moves
}

// progress writes down the files that are durably back, so that what a crash cuts
// off goes on from there. Folders are not finished before the end.
func (u *undos) progress(ctx context.Context, of kin, moves []store.UndoMove, redo bool) func(upTo int) {
	from, p := 0, UndoProgress{Redo: redo}
	files := func(moves []store.UndoMove) (n int) {
		for _, m := range moves {
			if !strings.HasPrefix(m.Was, undo.Folder) && !strings.HasPrefix(m.Becomes, undo.Folder) {
				n++
			}
		}
		return n
	}
	if p.Files = files(moves); p.Files == 0 {
		p.Files = len(moves)
	}
	return func(upTo int) {
		p.Done += files(moves[from:upTo])
		u.k.publish(event.UndoAtWork, scope{runID: of.run().ID, sessionID: of.run().SessionID}, p)
		done := slices.DeleteFunc(slices.Clone(moves[from:upTo]), func(m store.UndoMove) bool {
			return m.State != store.MoveDone || strings.HasPrefix(m.Becomes, undo.Folder)
		})
		from = upTo
		if err := u.k.store.Write(ctx, func(tx *store.Tx) error { return u.k.store.CloseUndoMoves(tx, done) }); err != nil {
			u.k.log.WarnContext(ctx, "Could not write down how far an undo is", "run_id", of.run().ID, "error", err)
		}
	}
}

// close writes down what came of moves.
func (u *undos) close(ctx context.Context, of kin, moves []store.UndoMove) error {
	err := u.k.store.Write(ctx, func(tx *store.Tx) error { return u.k.store.CloseUndoMoves(tx, moves) })
	if err != nil {
		return err
	}
	u.sealed(ctx, of.run())
	for _, r := range of.runs[1:] {
		u.announce(ctx, r)
	}
	return nil
}

// sealed seals what a run did, and tells the faces what of it can be undone, and of
// those of which it came.
func (u *undos) sealed(ctx context.Context, run Run) {
	if err := u.seal(ctx, run.ID); err != nil {
		u.k.log.WarnContext(ctx, "Could not seal what a run did", "run_id", run.ID, "error", err)
		return
	}
	u.announce(ctx, run)
	over, err := u.k.store.Forebears(ctx, run.ID)
	if err != nil {
		u.k.log.WarnContext(ctx, "Could not tell what can be undone", "run_id", run.ID, "error", err)
	}
	for _, r := range over {
		if r.State.Ended() {
			u.announce(ctx, r)
		}
	}
}

// announce tells the faces what of a run can be undone.
func (u *undos) announce(ctx context.Context, run Run) {
	s, err := u.k.undoState(ctx, run)
	if err != nil {
		u.k.log.WarnContext(ctx, "Could not tell what can be undone", "run_id", run.ID, "error", err)
		return
	}
	if s != nil {
		u.k.publish(event.UndoChanged, scope{runID: run.ID, sessionID: run.SessionID}, *s)
	}
}

// tell puts what came of each file into the plan.
func (u *undos) tell(plan *UndoPlan, moves []store.UndoMove, why map[string]error) {
	made := map[string]string{}
	for _, m := range moves {
		if made[m.Path] != store.MoveLeft {
			made[m.Path] = m.State
		}
	}
	plan.Ready = 0
	for i := range plan.Files {
		f := &plan.Files[i]
		switch made[f.path] {
		case store.MoveDone:
			f.Status, f.Why, f.WhyKO = UndoDone, "", ""
			plan.Ready++
		case store.MoveLeft:
			var w sys.Words
			status := UndoLeft
			switch err := why[f.path]; {
			case errors.Is(err, undo.ErrForeign):
				w = sys.Say("It was changed in this moment, and stays as it is.")
			case errors.Is(err, errUndoStopped):
				w = sys.Say("It was stopped before this one. Do it again for the rest.")
				status = UndoStopped
			case errors.Is(err, undo.ErrNotEmpty):
				w = sys.Say("The folder stays: other things are in it.")
			default:
				w = sys.Say("The disk refused it: %v.", err)
			}
			f.Status, f.Why, f.WhyKO = status, w.EN, w.KO
		}
	}
}

// afterCrash takes up what a crash cut off. What cannot be read or written now is
// tried again at the next start.
func (u *undos) afterCrash(ctx context.Context) {
	var left bool
	err := u.k.store.Write(ctx, func(tx *store.Tx) (err error) { // no reader, see [Kernel.nodeID]
		left, err = u.k.store.UndoLeft(tx)
		return err
	})
	if left {
		err = u.recover(ctx)
		if merr := u.missing(ctx); merr != nil {
			u.k.log.WarnContext(ctx, "Could not find what commands changed before a crash", "error", merr)
		}
	}
	if err != nil {
		u.k.log.WarnContext(ctx, "Could not finish an undo that was cut off", "error", err)
	}
}

// recover ends the undos that a crash cut off.
func (u *undos) recover(ctx context.Context) error {
	open, err := u.k.store.UndoMoves(ctx)
	if err != nil {
		return err
	}
	for len(open) > 0 {
		n := slices.IndexFunc(open, func(m store.UndoMove) bool { return m.OpID != open[0].OpID })
		if n < 0 {
			n = len(open)
		}
		moves := open[:n]
		open = open[n:]
		run, err := u.k.store.Run(ctx, moves[0].RunID)
		if err != nil {
			return err
		}
		f, err := u.k.kinOf(ctx, run, !moves[0].Tree)
		if err != nil {
			return err
		}
		why := u.make(ctx, ctx, f, moves, true, nil)
		if id := moves[0].TryID; id != "" {
			if err := u.endTry(ctx, run, id, moves, why); err != nil {
				return err
			}
			continue
		}
		u.k.log.InfoContext(ctx, "Finished an undo that was cut off", "run_id", run.ID, "left", len(why))
		if err := u.close(ctx, f, moves); err != nil {
			return err
		}
	}
	return u.endTries(ctx)
}
