package skill

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"oxios/kernel/sys"
)

// Bounds of what is installed.
const (
	maxStaged = 10_000    // files and folders
	maxTotal  = 256 << 20 // bytes of all files
	maxOne    = 64 << 20  // bytes of one file
	maxRatio  = 100       // bytes that one byte of an archive may become, once there are more than
	freeRatio = 16 << 20  // this many
)

// refused is the error for a package that may not be installed.
func refused(why sys.Words) *sys.Error {
	return sys.Errorf(sys.CodeInvalid, "The skill was not installed: %s.", why).WithHint("Nothing of it was kept. Tell its author, or choose another source.")
}

func refusedSize(why sys.Words) *sys.Error {
	e := refused(why)
	e.Code = sys.CodeTooLarge
	return e
}

// intake writes the files of a package into a staging folder.
type intake struct {
	ctx     context.Context
	root    *os.Root
	names   *names
	entries int
	written int64
	packed  int64 // size of the archive, 0 for a folder
}

// stage opens a staging folder, which must be empty, lets fill write into it, and
// finds the skill. After an error the folder is empty again.
func stage(ctx context.Context, staging string, fill func(*intake) error) (at string, err error) {
	root, err := os.OpenRoot(staging)
	if err != nil {
		return "", fmt.Errorf("open the staging folder: %w", err)
	}
	defer root.Close()
	before, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return "", fmt.Errorf("read the staging folder: %w", err)
	}
	if len(before) > 0 {
		return "", sys.Errorf(sys.CodeConflict, "The staging folder %s is not empty.", staging).WithHint("Use a new folder.")
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, sweep(root))
			at = ""
		}
	}()
	in := &intake{ctx: ctx, root: root, names: newNames()}
	if err := fill(in); err != nil {
		return "", err
	}
	return skillIn(root)
}

// sweep empties a staging folder.
func sweep(root *os.Root) error {
	list, err := fs.ReadDir(root.FS(), ".")
	for _, e := range list {
		err = errors.Join(err, root.RemoveAll(e.Name()))
	}
	return err
}

// entry takes in one file or folder.
func (in *intake) entry(name string, mode fs.FileMode, size uint64, open func() (io.ReadCloser, error)) error {
	if err := context.Cause(in.ctx); err != nil {
		return err
	}
	if in.entries++; in.entries > maxStaged {
		return refusedSize(sys.Say("it has more than %d files", maxStaged))
	}
	name = strings.TrimSuffix(strings.TrimPrefix(name, "./"), "/")
	if (name == "." || name == "") && mode.IsDir() {
		return nil
	}
	shown := sys.Shorten(visible(name), 120)
	if why := checkEntry(name); why.EN != "" {
		return refused(why)
	}
	switch {
	case mode&fs.ModeSymlink != 0:
		return refused(sys.Say("%q is a link", shown))
	case !mode.IsDir() && !mode.IsRegular():
		return refused(sys.Say("%q is not a regular file", shown))
	case strings.HasPrefix(name, "__MACOSX/") || path.Base(name) == ".DS_Store": // what macOS adds to every zip
		return nil
	}
	if why := in.names.add(name, !mode.IsDir()); why.EN != "" {
		return refused(why)
	}
	if mode.IsDir() {
		return in.root.MkdirAll(name, 0o755)
	}
	if size > maxOne {
		return refusedSize(sys.Say("%q has more than %d MB", shown, maxOne>>20))
	}
	if dir := path.Dir(name); dir != "." {
		if err := in.root.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	return in.write(name, mode, open)
}

// write copies one file, whatever size its header claims.
func (in *intake) write(name string, mode fs.FileMode, open func() (io.ReadCloser, error)) (err error) {
	from, err := open()
	if err != nil {
		return err
	}
	defer from.Close()
	perm := fs.FileMode(0o644)
	if mode&0o111 != 0 {
		perm = 0o755
	}
	to, err := in.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	if _, err := io.Copy(to, &counted{in: in, r: from, name: name}); err != nil {
		return err
	}
	if mode&0o111 != 0 { // whatever the mask of this process
		return to.Chmod(perm)
	}
	return nil
}

// counted holds one file and all of them to their bounds while they are read.
type counted struct {
	in   *intake
	r    io.Reader
	name string
	n    int64
}

func (c *counted) Read(p []byte) (int, error) {
	if err := context.Cause(c.in.ctx); err != nil {
		return 0, err
	}
	n, err := c.r.Read(p)
	c.n += int64(n)
	c.in.written += int64(n)
	switch written, packed := c.in.written, c.in.packed; {
	case c.n > maxOne:
		return 0, refusedSize(sys.Say("%q has more than %d MB", sys.Shorten(visible(c.name), 120), maxOne>>20))
	case written > maxTotal:
		return 0, refusedSize(sys.Say("it unpacks to more than %d MB", maxTotal>>20))
	case packed > 0 && written > freeRatio && written/maxRatio > packed:
		return 0, refusedSize(sys.Say("it unpacks to more than %d times its size", maxRatio))
	}
	return n, err
}

// skillIn finds the first SKILL.md at most two folders deep: the least deep one,
// then the first by name.
func skillIn(root *os.Root) (string, error) {
	fsys := root.FS()
	level := []string{"."}
	for range 3 {
		var below []string
		for _, dir := range level {
			list, err := fs.ReadDir(fsys, dir)
			if err != nil {
				return "", err
			}
			for _, e := range list {
				if isSkillFile(e.Name()) && e.Type().IsRegular() {
					return dir, nil
				}
				if e.IsDir() {
					below = append(below, path.Join(dir, e.Name()))
				}
			}
		}
		level = below
	}
	return "", sys.Errorf(sys.CodeInvalid, "There is no SKILL.md in it, or it is more than two folders deep.").
		WithHint("Choose the folder, or an archive of the folder, in which SKILL.md is.")
}
