package knowledge

import (
	"context"
	"io/fs"
	"slices"
	"strings"

	"oxios/kernel/sys"
)

// maxFolder is how many bytes a folder that is deleted may hold together: all of it
// is held at once, so that it goes as a whole or not at all.
const maxFolder = 100 << 20

// shadow is what the file manager of macOS leaves in every folder that it shows.
const shadow = ".DS_Store"

// MakeFolder makes a folder, and those above it that are missing. It returns its
// path.
func (v *Vault) MakeFolder(ctx context.Context, name string) (string, error) {
	p, err := clean(strings.TrimSpace(name))
	if err != nil {
		return "", err
	}
	if err := v.ready(ctx); err != nil {
		return "", err
	}
	if err := v.newName(p); err != nil {
		return "", err
	}
	v.applying.Lock()
	defer v.applying.Unlock()
	root, err := v.root()
	if err != nil {
		return "", err
	}
	defer root.Close()
	if same := v.folderLike(p); same != "" {
		return "", errExists(same)
	}
	if _, found := onDisk(root, p); found {
		return "", errExists(p)
	}
	if err := (&hand{v: v, root: root}).folders(p); err != nil {
		return "", errWrite(p, err)
	}
	disk, _ := onDisk(root, p)
	v.mu.Lock()
	v.ix.folder(disk)
	v.mu.Unlock()
	v.tell([]string{p})
	return p, nil
}

// folderLike is a folder whose path differs from p in case at most; "" for none.
func (v *Vault) folderLike(p string) string {
	v.mu.RLock()
	defer v.mu.RUnlock()
	for dir := range v.ix.folders {
		if fold(dir) == fold(p) {
			return dir
		}
	}
	return ""
}

// PlanDeleteFolder plans to delete all files of a folder; [Vault.RemoveFolder] then
// takes the empty folder away. A folder that holds what the vault does not show, or
// more than 100 MB, is refused.
func (v *Vault) PlanDeleteFolder(ctx context.Context, name string) (Plan, error) {
	files, _, err := v.inFolder(ctx, name)
	if err != nil {
		return Plan{}, err
	}
	plan, size := Plan{}, 0
	for _, p := range files {
		one, err := v.PlanDelete(ctx, p, "")
		if err != nil {
			return Plan{}, err
		}
		for _, s := range one.Steps {
			size += len(s.Before)
		}
		if size > maxFolder {
			return Plan{}, sys.Errorf(sys.CodeTooLarge, "%s holds more than 100 MB. Nothing was deleted.", name).WithHint("Delete its files one by one.")
		}
		plan.Steps = append(plan.Steps, one.Steps...)
	}
	return plan, nil
}

// RemoveFolder takes away a folder in which no file lies.
func (v *Vault) RemoveFolder(ctx context.Context, name string) error {
	v.applying.Lock()
	defer v.applying.Unlock()
	files, dirs, err := v.inFolder(ctx, name)
	if err != nil {
		return err
	}
	if len(files) > 0 {
		return errFolder(name, files[0])
	}
	root, err := v.root()
	if err != nil {
		return err
	}
	defer root.Close()
	slices.Reverse(dirs) // those inside come first
	for _, disk := range dirs {
		_ = root.Remove(join(disk, shadow))
		if err := root.Remove(disk); err != nil {
			return errWrite(disk, err)
		}
		v.mu.Lock()
		if len(v.ix.folders[disk]) == 0 {
			delete(v.ix.folders, disk)
		}
		v.mu.Unlock()
	}
	err = (&hand{v: v, root: root}).sync(parent(dirs[len(dirs)-1]))
	v.tell([]string{name})
	return err
}

// inFolder lists the files of a folder by their paths, and its folders as they are
// on the disk, itself first.
func (v *Vault) inFolder(ctx context.Context, name string) (files, dirs []string, err error) {
	p, err := clean(name)
	if err != nil {
		return nil, nil, err
	}
	if err := v.ready(ctx); err != nil {
		return nil, nil, err
	}
	root, err := v.root()
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	top, _ := onDisk(root, p)
	err = fs.WalkDir(root.FS(), top, func(disk string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (disk == top || !strings.HasPrefix(d.Name(), ".")):
			dirs = append(dirs, disk)
		case d.Name() == shadow:
		case strings.HasPrefix(d.Name(), ".") || !d.Type().IsRegular():
			return errFolder(p, disk)
		default:
			files = append(files, disk)
		}
		return ctx.Err()
	})
	switch {
	case isMissing(err):
		return nil, nil, errNoNote(p)
	case err != nil && sys.CodeOf(err) == sys.CodeInternal:
		return nil, nil, errRead(p, err)
	case err == nil && len(dirs) == 0:
		return nil, nil, sys.Errorf(sys.CodeInvalid, "%s is no folder. Nothing was changed.", p)
	}
	return files, dirs, err
}

func errFolder(folder, held string) error {
	return sys.Errorf(sys.CodeConflict, "%s holds %s, which the list of notes does not show. The folder stays as it is.", folder, held).
		WithHint("Look into the folder with your file manager.")
}
