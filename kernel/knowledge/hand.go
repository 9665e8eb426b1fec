package knowledge

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"oxios/kernel/sys"
)

// do makes one step.
func (h *hand) do(s Step) error {
	switch s.Kind {
	case StepWrite:
		return h.write(s)
	case StepDelete:
		disk, _ := onDisk(h.root, s.Path)
		h.v.step("delete")
		if err := h.root.Remove(disk); err != nil {
			return errWrite(s.Path, err)
		}
		return h.sync(parent(disk))
	case StepMove:
		return h.move(s)
	}
	return sys.Errorf(sys.CodeInternal, "A plan holds a step of an unknown kind. Nothing was changed.")
}

func (h *hand) move(s Step) error {
	from, _ := onDisk(h.root, s.Path)
	if err := h.folders(parent(s.To)); err != nil {
		return errWrite(s.To, err)
	}
	to, _ := onDisk(h.root, s.To)
	if fold(s.Path) == fold(s.To) {
		to = join(parent(to), path.Base(s.To)) // the disk may have answered with the old form
	}
	h.v.step("move")
	if err := h.root.Rename(from, to); err != nil {
		return errWrite(s.Path, err)
	}
	if err := h.sync(parent(from)); err != nil {
		return err
	}
	if parent(from) == parent(to) {
		return nil
	}
	return h.sync(parent(to))
}

// write puts bytes into a file: whole and durable, or not at all.
func (h *hand) write(s Step) error {
	if err := h.folders(parent(s.Path)); err != nil {
		return errWrite(s.Path, err)
	}
	disk, err := h.behind(s.Path)
	if err != nil {
		return errWrite(s.Path, err)
	}
	perm := fs.FileMode(0o644)
	if info, err := h.root.Stat(disk); err == nil {
		perm = info.Mode().Perm()
	}
	// The name follows from the content: what a crash leaves, its redo finds.
	tmp := join(parent(disk), temporary+hashOf(append([]byte(disk+"\x00"), s.After...))[:20])
	if err := h.temp(tmp, s.After, perm); err != nil {
		_ = h.root.Remove(tmp)
		return errWrite(s.Path, err)
	}
	// Once more, now that the slow part is done: an editor may have saved since.
	if err := h.same(s.Path, s); err != nil {
		_ = h.root.Remove(tmp)
		return err
	}
	h.v.step("rename")
	if err := h.place(tmp, disk, s.BaseHash == ""); err != nil {
		_ = h.root.Remove(tmp)
		if errors.Is(err, fs.ErrExist) {
			return errExists(s.Path)
		}
		return errWrite(s.Path, err)
	}
	return h.sync(parent(disk))
}

func (h *hand) temp(tmp string, raw []byte, perm fs.FileMode) error {
	h.v.step("create")
	_ = h.root.Remove(tmp)
	f, err := h.root.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	h.v.step("fill")
	_, err = f.Write(raw)
	if err == nil && !h.v.quick {
		h.v.step("sync")
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// place gives the finished file its name. A new one never takes the place of
// another: a link, other than a rename, fails then.
func (h *hand) place(tmp, disk string, fresh bool) error {
	if fresh {
		err := h.root.Link(tmp, disk)
		if err == nil {
			h.v.step("unlink")
			return h.root.Remove(tmp)
		}
		if errors.Is(err, fs.ErrExist) {
			return err
		}
		// A disk without hard links: exFAT, some network drives.
		if _, err := h.root.Lstat(disk); err == nil {
			return fs.ErrExist
		}
	}
	return h.root.Rename(tmp, disk)
}

// behind follows symbolic links inside the vault, so that the file is replaced
// and not the link.
func (h *hand) behind(p string) (string, error) {
	disk, found := onDisk(h.root, p)
	for range 8 {
		info, err := h.root.Lstat(disk)
		if !found || err != nil || info.Mode()&fs.ModeSymlink == 0 {
			return disk, nil
		}
		to, err := h.root.Readlink(disk)
		if err != nil {
			return "", err
		}
		if filepath.IsAbs(to) {
			return "", errEscapes(p)
		}
		disk = path.Join(parent(disk), filepath.ToSlash(to))
	}
	return "", errEscapes(p)
}

// folders makes the folders that are missing, and their names durable.
func (h *hand) folders(p string) error {
	if p == "" {
		return nil
	}
	disk, found := onDisk(h.root, p)
	if found {
		return nil
	}
	if err := h.folders(parent(p)); err != nil {
		return err
	}
	h.v.step("mkdir")
	if err := h.root.Mkdir(disk, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return h.sync(parent(disk))
}

// sync makes the names in a folder durable.
func (h *hand) sync(dir string) error {
	if h.v.quick {
		return nil
	}
	h.v.step("syncdir")
	if err := syncDir(h.root, cmpOr(dir, ".")); err != nil {
		return errWrite(cmpOr(dir, "."), err)
	}
	return nil
}

// back takes steps back, the last first. What somebody changed since stays.
func (h *hand) back(done []Step) error {
	undo := Plan{Steps: done}.Undo()
	for _, s := range undo.Steps {
		if h.same(s.Path, s) != nil {
			continue
		}
		if s.Kind == StepMove && !h.freeFor(s.Path, s.To) {
			continue
		}
		if err := h.do(s); err != nil {
			return err
		}
	}
	return nil
}
