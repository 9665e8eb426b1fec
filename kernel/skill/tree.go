package skill

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"oxios/kernel/sys"
)

// maxEntries bounds how many names of one folder are read.
const maxEntries = 20_000

// Open opens a folder on the disk for reading. Nothing outside of it is reached,
// whatever links lie in it, and what is no regular file is not opened. Close it
// afterwards.
func Open(dir string) (*Tree, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &Tree{root}, nil
}

// Tree is an open folder on the disk. It is an [fs.FS].
type Tree struct{ root *os.Root }

// Close closes the folder.
func (t *Tree) Close() error { return t.root.Close() }

// Open opens a regular file or a folder. It never waits for the other end of a
// pipe.
func (t *Tree) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	flags := os.O_RDONLY
	if runtime.GOOS != "windows" {
		flags |= syscall.O_NONBLOCK
	}
	f, err := t.root.OpenFile(name, flags, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		err = &fs.PathError{Op: "open", Path: name, Err: sys.ErrSpecial}
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// Lstat tells what a name is, links not followed.
func (t *Tree) Lstat(name string) (fs.FileInfo, error) { return t.root.Lstat(name) }

// ReadLink returns what a link says.
func (t *Tree) ReadLink(name string) (string, error) { return t.root.Readlink(name) }

// entries returns what is in a folder by name, at most maxEntries, and whether
// there is more.
func entries(fsys fs.FS, dir string) (list []fs.DirEntry, more bool, err error) {
	f, err := fsys.Open(dir)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	d, ok := f.(fs.ReadDirFile)
	if !ok {
		return nil, false, &fs.PathError{Op: "readdir", Path: dir, Err: fs.ErrInvalid}
	}
	for len(list) <= maxEntries {
		part, err := d.ReadDir(512)
		list = append(list, part...)
		if errors.Is(err, io.EOF) || err == nil && len(part) == 0 {
			break
		}
		if err != nil {
			return nil, false, err
		}
	}
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	if len(list) > maxEntries {
		list, more = list[:maxEntries], true
	}
	return list, more, nil
}

// leaves reports whether a link at the slash path from leads out of its tree, by
// its words alone.
func leaves(from, target string) bool {
	target = strings.ReplaceAll(target, `\`, "/")
	if target == "" || strings.HasPrefix(target, "/") || len(target) > 1 && target[1] == ':' {
		return true
	}
	to := path.Join(path.Dir(from), target)
	return to == ".." || strings.HasPrefix(to, "../")
}

// readUpTo reads a regular file, at most limit bytes of it; size is the whole
// file's.
func readUpTo(fsys fs.FS, name string, limit int64) (content []byte, size int64, err error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, &fs.PathError{Op: "read", Path: name, Err: sys.ErrSpecial}
	}
	content, err = io.ReadAll(io.LimitReader(f, limit))
	return content, max(info.Size(), int64(len(content))), err
}
