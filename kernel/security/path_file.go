package security

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"oxios/kernel/sys"
)

// OpenRegular opens a regular file for reading. Folders, pipes, sockets and
// devices are refused at once: opening them never waits.
func (r *Root) OpenRegular(rel string) (*os.File, os.FileInfo, error) {
	info, err := r.root.Stat(rel)
	if err != nil {
		return nil, nil, pathError("open", rel, r.dir, err)
	}
	if err := regular(rel, info); err != nil {
		return nil, nil, err // before opening: that alone can have an effect on a device
	}
	f, err := r.root.OpenFile(rel, os.O_RDONLY|openNonblock, 0)
	if err != nil {
		return nil, nil, pathError("open", rel, r.dir, err)
	}
	if info, err = f.Stat(); err == nil {
		err = regular(rel, info) // it may have been replaced since
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

func regular(rel string, info os.FileInfo) error {
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		return sys.Errorf(sys.CodeInvalid, "%q is a folder, not a file.", shortPart(rel)).WithHint("List it instead.")
	case mode&fs.ModeNamedPipe != 0, mode&fs.ModeSocket != 0:
		return sys.Errorf(sys.CodeRefused, "%q is a pipe or a socket of another program.", shortPart(rel)).WithHint("Only regular files can be read and written.")
	}
	return sys.Errorf(sys.CodeRefused, "%q is a device.", shortPart(rel)).WithHint("Only regular files can be read and written.")
}

// Stat describes what rel leads to. A link that leads out of the folder is an
// error.
func (r *Root) Stat(rel string) (os.FileInfo, error) {
	info, err := r.root.Stat(rel)
	if err != nil {
		return nil, pathError("look at", rel, r.dir, err)
	}
	return info, nil
}

// HardLinked reports whether rel is a file with further names. They may lie
// outside the folder, which no path shows: changing such a file asks.
func (r *Root) HardLinked(rel string) (bool, error) {
	info, err := r.root.Stat(rel)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, pathError("look at", rel, r.dir, err)
	}
	return info.Mode().IsRegular() && linkCount(info) > 1, nil
}

// WriteFileAtomic writes a whole file: it is the old one or the new one at any
// moment, also after a power cut. The mode of an existing file is kept, perm
// is for a new one. A link inside the folder is followed and stays. A file
// with several hard links is refused: see [Root.WriteFileApart].
func (r *Root) WriteFileAtomic(rel string, data []byte, perm os.FileMode) error {
	return r.replace(rel, data, perm, false)
}

// WriteFileApart is [Root.WriteFileAtomic] for a file with several hard links,
// once a person agreed: rel gets a file of its own, and the other names keep
// the old content.
func (r *Root) WriteFileApart(rel string, data []byte, perm os.FileMode) error {
	return r.replace(rel, data, perm, true)
}

func (r *Root) replace(rel string, data []byte, perm os.FileMode, apart bool) error {
	real, err := r.Resolve(rel)
	if err != nil {
		return err
	}
	info, err := r.root.Lstat(real)
	exists := err == nil
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return pathError("write", rel, r.dir, err)
	default:
		if err := regular(rel, info); err != nil {
			return err
		}
		if linkCount(info) > 1 && !apart {
			return sys.Errorf(sys.CodeRefused, "%q has other names, which may lie outside the folder. Nothing was written.", shortPart(rel)).
				WithHint("Write to a new file, or ask the person.")
		}
		perm = info.Mode().Perm()
	}
	if err := putFile(r.root, real, data, perm, exists); err != nil {
		return pathError("write", rel, r.dir, err)
	}
	return nil
}

// WriteFileAtomic is [Root.WriteFileAtomic] for files of Oxios itself: a link
// is followed wherever it leads, and the mode is perm, also where the file
// exists.
func WriteFileAtomic(name string, data []byte, perm os.FileMode) error {
	if real, err := filepath.EvalSymlinks(name); err == nil {
		name = real
	}
	dir, err := os.OpenRoot(filepath.Dir(name))
	if err != nil {
		return err
	}
	defer dir.Close()
	return putFile(dir, filepath.Base(name), data, perm, true)
}

// putFile replaces a file below root in one step, and makes it durable. With
// exact, perm is not narrowed by the umask.
func putFile(root *os.Root, name string, data []byte, perm os.FileMode, exact bool) error {
	temp := path.Join(path.Dir(name), ".oxios-"+rand.Text()[:12]+".tmp")
	err := writeNew(root, temp, name, data, perm, exact)
	if err == nil {
		err = root.Rename(temp, name)
	}
	if err != nil {
		_ = root.Remove(temp)
		return err
	}
	return syncDir(root, path.Dir(name))
}

// writeNew writes a file that takes the place of another one, if that is there,
// and gets its attributes.
func writeNew(root *os.Root, name, of string, data []byte, perm os.FileMode, exact bool) error {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if exact {
		if old, oerr := root.OpenFile(of, os.O_RDONLY|openNonblock, 0); oerr == nil { // one that may not be read keeps its mode alone
			sys.WriteAttrs(f, sys.ReadAttrs(old))
			_ = old.Close()
		}
	}
	if err == nil && exact {
		err = f.Chmod(perm) // the umask is for new files alone
	}
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

// MkdirAll makes a folder and its parents, durably: what is written into it would
// go with it. One that exists is no error.
func (r *Root) MkdirAll(rel string, perm os.FileMode) error {
	var holds []string // the folders that get a new name
	for at := path.Clean(filepath.ToSlash(rel)); at != "." && at != "/"; at = path.Dir(at) {
		if _, err := r.root.Lstat(at); err == nil {
			break
		}
		holds = append(holds, path.Dir(at))
	}
	if err := r.root.MkdirAll(rel, perm); err != nil {
		return pathError("make", rel, r.dir, err)
	}
	for _, dir := range holds {
		if err := syncDir(r.root, dir); err != nil {
			return err
		}
	}
	return nil
}

// Remove deletes a file, a link itself, or an empty folder. The folder of the
// run stays.
func (r *Root) Remove(rel string) error {
	if path.Clean(rel) == "." {
		return sys.Errorf(sys.CodeRefused, "The folder of the run itself cannot be deleted.")
	}
	if err := r.root.Remove(rel); err != nil {
		return pathError("delete", rel, r.dir, err)
	}
	return nil
}

// ReadDir lists a folder, sorted by name. Links are listed as links.
func (r *Root) ReadDir(rel string) ([]os.DirEntry, error) {
	info, err := r.root.Stat(rel)
	if err != nil {
		return nil, pathError("list", rel, r.dir, err)
	}
	if !info.IsDir() {
		return nil, sys.Errorf(sys.CodeInvalid, "%q is not a folder.", shortPart(rel)).WithHint("Read it instead.")
	}
	d, err := r.root.OpenFile(rel, os.O_RDONLY|openNonblock, 0)
	if err != nil {
		return nil, pathError("list", rel, r.dir, err)
	}
	defer d.Close()
	entries, err := d.ReadDir(-1)
	if err != nil {
		return nil, pathError("list", rel, r.dir, err)
	}
	slices.SortFunc(entries, func(a, b os.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, nil
}

func syncDir(root *os.Root, name string) error {
	d, err := root.OpenFile(name, os.O_RDONLY|openNonblock, 0)
	if err != nil {
		return fmt.Errorf("open the folder to secure the new name: %w", err)
	}
	defer d.Close()
	return syncFile(d)
}

// Sync makes the names in a folder durable.
func (r *Root) Sync(folder string) error { return syncDir(r.root, folder) }
