package kernel

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"oxios/kernel/security"
	"oxios/kernel/store"
	"oxios/kernel/sys"
	"oxios/kernel/undo"
)

// keptGuards is how what is guarded in a folder is written down, for what has to be
// found out after a crash.
type keptGuards struct {
	Repos []string
	Files []keptGuard
}

type keptGuard struct {
	Path  string
	Role  int
	State string
}

func (u *undos) guardsPath(folder string) string {
	return filepath.Join(u.k.opts.Home, undoFolder, "guards", filepath.Base(u.indexPath(folder)))
}

// writeGuards writes down how what is guarded was before a command, where that is
// not written down already.
func (u *undos) writeGuards(g *guarded) error {
	list := keptGuards{Repos: slices.Sorted(maps.Keys(g.repos))}
	for _, p := range slices.Sorted(maps.Keys(g.files)) {
		f := g.files[p]
		list.Files = append(list.Files, keptGuard{p, int(f.role), f.state.String()})
	}
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(list); err != nil {
		return err
	}
	file := u.guardsPath(g.folder)
	if old, err := os.ReadFile(file); err == nil && bytes.Equal(old, b.Bytes()) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return notRecorded(err)
	}
	if err := security.WriteFileAtomic(file, b.Bytes(), 0o600); err != nil {
		return notRecorded(err)
	}
	return nil
}

func readGuards(file, folder string) (*guarded, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var list keptGuards
	if err := gob.NewDecoder(bytes.NewReader(raw)).Decode(&list); err != nil {
		return nil, err
	}
	g := &guarded{folder: folder, repos: map[string]bool{}, files: map[string]guardedFile{}}
	for _, r := range list.Repos {
		g.repos[r] = true
	}
	for _, f := range list.Files {
		is, err := undo.Parse(f.State)
		if err != nil {
			return nil, err
		}
		g.files[f.Path] = guardedFile{role(f.Role), is}
	}
	return g, nil
}

// plantedBefore puts aside what a command planted for git that was at work when
// Oxios went down.
func (u *undos) plantedBefore(ctx context.Context, c store.UndoCommand) {
	before, err := readGuards(u.guardsPath(c.Folder), c.Folder)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	by := &caller{k: u.k, scope: scope{runID: c.RunID, folder: c.Folder}}
	p := &planting{c: &command{caller: by, background: true}, level: sys.IsolationFull, before: before, began: c.At}
	if err == nil {
		_, err = p.check(ctx, false)
	}
	switch {
	case err != nil:
		u.k.log.WarnContext(ctx, "What a command planted before a crash is not known", "run_id", c.RunID, "error", err)
	case len(p.said) > 0:
		u.k.log.WarnContext(ctx, "What a command planted before a crash was put aside", "run_id", c.RunID, "files", p.said)
	}
}

// keptGuards adds the content that is needed to put guarded files back, and
// forgets folders in which nothing was done since old.
func (u *undos) keptGuards(wanted map[string]bool, old time.Time) error {
	dir := filepath.Join(u.k.opts.Home, undoFolder, "guards")
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		file := filepath.Join(dir, e.Name())
		info, err := e.Info()
		if err != nil {
			return err
		}
		g, err := readGuards(file, "")
		if err != nil || info.ModTime().Before(old) {
			if err := os.Remove(file); err != nil {
				return err
			}
			continue
		}
		for _, f := range g.files {
			if f.state.Content != "" {
				wanted[f.state.Content] = true
			}
		}
	}
	return nil
}
