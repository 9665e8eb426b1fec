package knowledge

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"oxios/kernel/sys"
)

// Trashed is a file that was deleted and can come back.
type Trashed struct {
	ID        string    `json:"id"`
	Path      string    `json:"path"` // where it lay
	At        time.Time `json:"at"`
	Size      int64     `json:"size"` // bytes
	Hash      string    `json:"hash"`
	RunID     string    `json:"run_id,omitempty"` // of the agent that deleted it; "" for the person
	SessionID string    `json:"session_id,omitempty"`
}

// Each file of the trash is one file in its folder: a line of JSON, and the bytes
// behind it. It is whole or absent.

// Discard keeps a file that is about to be deleted in the trash. It fills in ID,
// At, Size and Hash.
func (v *Vault) Discard(t Trashed, raw []byte) (Trashed, error) {
	t.ID, t.At, t.Size, t.Hash = sys.NewID(), v.opt.Clock.Now().UTC(), int64(len(raw)), hashOf(raw)
	head, err := json.Marshal(t)
	if err != nil {
		return t, errTrash(err)
	}
	if err := os.MkdirAll(v.opt.Trash, 0o700); err != nil {
		return t, errTrash(err)
	}
	dir, err := os.OpenRoot(v.opt.Trash)
	if err != nil {
		return t, errTrash(err)
	}
	defer dir.Close()
	temp := ".new-" + t.ID
	f, err := dir.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return t, errTrash(err)
	}
	_, err = f.Write(slices.Concat(head, []byte("\n"), raw))
	if !v.quick {
		err = errors.Join(err, f.Sync())
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = dir.Rename(temp, t.ID)
	}
	if err == nil && !v.quick {
		err = syncDir(dir, ".")
	}
	if err != nil {
		_ = dir.Remove(temp)
		return t, errTrash(err)
	}
	return t, nil
}

// Trash returns what was deleted, the newest first. What lies in its place again
// as it was is no trash, and is dropped.
func (v *Vault) Trash(ctx context.Context) ([]Trashed, error) {
	names, err := os.ReadDir(v.opt.Trash)
	if err != nil && !isMissing(err) {
		return nil, errTrash(err)
	}
	root, _ := v.root() // without the folder nothing lies in its place
	if root != nil {
		defer root.Close()
	}
	out := []Trashed{}
	for _, d := range names {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if strings.HasPrefix(d.Name(), ".") {
			continue
		}
		t, _, err := v.trashed(d.Name(), false)
		if isMissing(err) {
			continue
		}
		if err != nil {
			v.log.WarnContext(ctx, "File of the trash cannot be read", "id", d.Name(), "error", err)
			continue
		}
		if root != nil {
			if hash, _, err := (&hand{v: v, root: root}).hash(t.Path); err == nil && hash == t.Hash {
				if err := v.Forget(t.ID); err == nil {
					continue
				}
			}
		}
		out = append(out, t)
	}
	slices.SortFunc(out, func(a, b Trashed) int { return cmp.Or(b.At.Compare(a.At), strings.Compare(b.ID, a.ID)) })
	return out, nil
}

// trashed reads a file of the trash, with its bytes where they are wanted.
func (v *Vault) trashed(id string, whole bool) (t Trashed, raw []byte, err error) {
	f, err := os.Open(filepath.Join(v.opt.Trash, id))
	if err != nil {
		return t, nil, err
	}
	defer f.Close()
	in := bufio.NewReader(f)
	head, err := in.ReadBytes('\n')
	if err != nil {
		return t, nil, err
	}
	if err := json.Unmarshal(head, &t); err != nil {
		return t, nil, err
	}
	if t.ID != id {
		return t, nil, errors.New("it names itself otherwise")
	}
	if _, err := clean(t.Path); err != nil || !whole {
		return t, nil, err
	}
	if raw, err = io.ReadAll(io.LimitReader(in, maxFile+1)); err == nil && hashOf(raw) != t.Hash {
		err = errors.New("its bytes are not those that were deleted")
	}
	return t, raw, err
}

// Discarded returns a file of the trash with its bytes.
func (v *Vault) Discarded(id string) (Trashed, []byte, error) {
	if !trashName(id) {
		return Trashed{}, nil, errNoTrash()
	}
	t, raw, err := v.trashed(id, true)
	switch {
	case isMissing(err):
		return t, nil, errNoTrash()
	case err != nil:
		return t, nil, errTrash(err)
	}
	return t, raw, nil
}

// trashName keeps a name inside the folder of the trash.
func trashName(id string) bool {
	return id != "" && fs.ValidPath(id) && !strings.ContainsAny(id, `/\:`) && id[0] != '.'
}

// PlanRestore plans to put a file of the trash back where it lay, or beside it
// under a free name, which [Plan.Notes] then says.
func (v *Vault) PlanRestore(ctx context.Context, id string) (Plan, error) {
	if err := v.ready(ctx); err != nil {
		return Plan{}, err
	}
	t, raw, err := v.Discarded(id)
	if err != nil {
		return Plan{}, err
	}
	root, err := v.root()
	if err != nil {
		return Plan{}, err
	}
	defer root.Close()
	taken := func(p string) bool {
		v.mu.RLock()
		known := slices.ContainsFunc(v.ix.folded[fold(stem(p))], func(f *file) bool { return fold(f.path) == fold(p) })
		v.mu.RUnlock()
		_, found := onDisk(root, p)
		return found || known
	}
	plan, p := Plan{}, t.Path
	if taken(p) {
		p = freeName(p, taken)
		plan.Notes = append(plan.Notes, sys.Say("Another file is called %s now, so it came back as %s.", t.Path, p))
	}
	plan.Steps = []Step{{Kind: StepWrite, Path: p, After: append([]byte{}, raw...)}}
	return plan, nil
}

// Forget takes a file out of the trash for good.
func (v *Vault) Forget(id string) error {
	if !trashName(id) {
		return errNoTrash()
	}
	err := os.Remove(filepath.Join(v.opt.Trash, id))
	switch {
	case isMissing(err):
		return errNoTrash()
	case err != nil:
		return errTrash(err)
	}
	return nil
}
