package knowledge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
)

// journalName is the file in State that holds the change under way, when it has
// several steps.
const journalName = "change.json"

// underway is what the journal says.
type underway struct {
	Dir  string `json:"dir"` // the vault: State may be used with another one later
	Plan Plan   `json:"plan"`
}

// writeJournal writes down what is about to be done.
func (v *Vault) writeJournal(plan Plan) error {
	raw, err := json.Marshal(underway{v.dir, plan})
	if err != nil {
		return errState(v.opt.State, err)
	}
	name := filepath.Join(v.opt.State, journalName)
	tmp := name + ".tmp"
	v.step("journal")
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return errState(v.opt.State, err)
	}
	_, err = f.WriteString(hashOf(raw) + "\n")
	if err == nil {
		_, err = f.Write(raw)
	}
	if err == nil && !v.quick {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		v.step("journal rename")
		err = os.Rename(tmp, name)
	}
	if err == nil {
		v.step("journal syncdir")
		err = v.syncState()
	}
	if err != nil {
		return errState(v.opt.State, err)
	}
	return nil
}

func (v *Vault) dropJournal() error {
	v.step("journal remove")
	err := os.Remove(filepath.Join(v.opt.State, journalName))
	if err == nil {
		v.step("journal remove syncdir")
		err = v.syncState()
	}
	if err != nil && !isMissing(err) {
		return errState(v.opt.State, err)
	}
	return nil
}

func (v *Vault) syncState() error {
	if v.quick {
		return nil
	}
	root, err := os.OpenRoot(v.opt.State)
	if err != nil {
		return err
	}
	return errors.Join(syncDir(root, "."), root.Close())
}

// finish carries through what a crash cut off. Each step is made unless it is
// made already; a file that somebody changed since keeps that change.
func (v *Vault) finish(ctx context.Context) error {
	v.applying.Lock()
	defer v.applying.Unlock()
	if !v.redo.Load() {
		return nil
	}
	raw, err := os.ReadFile(filepath.Join(v.opt.State, journalName))
	if isMissing(err) {
		v.redo.Store(false)
		return nil
	}
	if err != nil {
		return errState(v.opt.State, err)
	}
	sum, body, _ := bytes.Cut(raw, []byte("\n"))
	var u underway
	if string(sum) != hashOf(body) || json.Unmarshal(body, &u) != nil {
		// Torn: its own writing was cut off, so that nothing else had begun.
		v.log.WarnContext(ctx, "Unfinished journal of a change was dropped")
		v.redo.Store(false)
		return v.dropJournal()
	}
	if u.Dir != v.dir {
		v.log.WarnContext(ctx, "A change of another vault folder is unfinished and stays so", "folder", u.Dir)
		v.redo.Store(false)
		return os.Rename(filepath.Join(v.opt.State, journalName), filepath.Join(v.opt.State, "change-other-folder.json"))
	}
	root, err := v.root()
	if err != nil {
		return err
	}
	defer root.Close()
	h := &hand{v: v, root: root}
	for _, s := range u.Plan.Steps {
		if checkStep(s) != nil {
			continue
		}
		if err := h.again(s); err != nil {
			v.log.ErrorContext(ctx, "Cut-off change could not be finished yet", "path", s.Path, "error", err)
			return err
		}
	}
	v.log.InfoContext(ctx, "Cut-off change was finished", "steps", len(u.Plan.Steps))
	v.redo.Store(false)
	return v.dropJournal()
}

// again makes a step if it is still to be made.
func (h *hand) again(s Step) error {
	if s.Kind == StepMove {
		if _, found := onDisk(h.root, s.Path); !found || !h.freeFor(s.Path, s.To) {
			return nil
		}
		return h.do(s)
	}
	hash, _, err := h.hash(s.Path)
	if err != nil && !isMissing(err) {
		return errRead(s.Path, err)
	}
	if s.Kind == StepWrite {
		disk, _ := onDisk(h.root, s.Path)
		_ = h.root.Remove(join(parent(disk), temporary+hashOf(append([]byte(disk+"\x00"), s.After...))[:20]))
	}
	if hash != s.BaseHash || s.Kind == StepDelete && hash == "" {
		return nil
	}
	return h.do(s)
}
