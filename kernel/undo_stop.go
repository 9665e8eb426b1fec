package kernel

import (
	"context"
	"path/filepath"

	"oxios/kernel/store"
	"oxios/kernel/sys"
	"oxios/kernel/undo"
)

// UndoProgress says how far a large undo or redo is.
type UndoProgress struct {
	Redo  bool `json:"redo"`
	Done  int  `json:"done"`  // files that are durably as they will be
	Files int  `json:"files"` // of how many
}

// StopUndo stops the undo or redo of a run after what it is about to put back. What
// was put back stays so, and the same undo does the rest.
func (a *AgentsAPI) StopUndo(ctx context.Context, runID string) error {
	_, err := guard(ctx, a.caller, action{call: "agents.stopUndo", resource: "run:" + runID, stops: true}, func(ctx context.Context) (struct{}, error) {
		id, err := a.k.runID(ctx, runID)
		if err != nil {
			return struct{}{}, err
		}
		return struct{}{}, a.k.undos.stop(id)
	})
	return err
}

func (u *undos) stop(run string) error {
	u.stopping.Lock()
	defer u.stopping.Unlock()
	stop := u.stops[run]
	if stop == nil {
		return sys.Errorf(sys.CodeNotFound, "Nothing of this run is being undone or redone.")
	}
	stop()
	return nil
}

// begin begins an undo or redo of a run. The context ends when a person stops it.
func (u *undos) begin(ctx context.Context, run string) (asked context.Context, over func(), err error) {
	u.stopping.Lock()
	defer u.stopping.Unlock()
	if u.stops[run] != nil {
		return nil, nil, sys.Errorf(sys.CodeBusy, "This run is being undone or redone already. Nothing was changed.").WithHint("Wait for its end, or stop it.")
	}
	asked, stop := context.WithCancel(ctx)
	u.stops[run] = stop
	return asked, func() {
		u.stopping.Lock()
		defer u.stopping.Unlock()
		delete(u.stops, run)
		stop()
	}, nil
}

// openedFolders are those that an earlier undo brought back, into which more comes
// now, as after one that was stopped. They can be written to until back gives them
// their modes and times again.
func openedFolders(of kin, folders []UndoFile, moves []store.UndoMove) (back func()) {
	above := map[string]bool{}
	for _, m := range moves {
		for dir := filepath.Dir(m.Path); !above[dir]; dir = filepath.Dir(dir) {
			above[dir] = true
		}
	}
	at := topsOf(of.folders())
	var all []undo.Move
	for _, f := range folders {
		if !above[f.path] {
			continue
		}
		root, rel, err := at.open(f.path)
		if err != nil {
			continue
		}
		now, err := undo.Look(root, rel)
		if err != nil || now != f.becomes || !undo.Direct(root, rel) {
			continue // it is another one, or somebody has changed its mode
		}
		if now.Mode&0o700 != 0o700 && root.FS().Chmod(rel, now.Mode|0o700) != nil {
			continue
		}
		all = append(all, undo.Move{Root: root, Rel: rel, Becomes: f.becomes, Meta: f.meta})
	}
	return func() {
		defer at.close()
		for _, v := range all {
			_ = undo.Mover{}.Finish(v) // the files are back whatever becomes of it
		}
	}
}
