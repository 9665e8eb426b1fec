package skill

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"oxios/kernel/digest"
	"oxios/kernel/sys"
)

// maxHashed bounds the files of a skill that is hashed where it is.
const maxHashed = 100_000

// Hash returns the hash of all that is in a skill's folder: for each file, by its
// path, the path, whether it may be executed, its size and its content; for a
// link what it says. Times, owners and empty folders do not count. A link that
// leads out of the folder, and what is neither file nor folder, is refused:
// nobody could say what it will be tomorrow.
func Hash(ctx context.Context, fsys fs.FS) (string, error) { return hashAnd(ctx, fsys, nil, nil) }

// hashAnd returns the hash of a skill's folder. What it hashes it writes into another folder, if there is one, and what one file
// holds to who wants that.
func hashAnd(ctx context.Context, fsys fs.FS, into *os.Root, also map[string]io.Writer) (string, error) {
	files, err := walk(ctx, fsys)
	if err != nil {
		return "", err
	}
	h := digest.New()
	var left int64 = maxTotal
	for _, f := range files {
		if f.link != "" {
			h.Link(f.path, f.link)
			if err := linkInto(into, f); err != nil {
				return "", err
			}
			continue
		}
		if left -= f.size; left < 0 {
			return "", tooLarge()
		}
		to := h.File(f.path, f.mode, f.size)
		if w, ok := also[f.path]; ok {
			to = io.MultiWriter(to, w)
		}
		if err := contentInto(into, to, fsys, f); err != nil {
			return "", err
		}
	}
	return h.String(), nil
}

// folderInto makes the folder of a file.
func folderInto(into *os.Root, f found) error {
	if dir := path.Dir(f.path); dir != "." {
		return into.MkdirAll(dir, 0o755)
	}
	return nil
}

func linkInto(into *os.Root, f found) error {
	if into == nil {
		return nil
	}
	if err := folderInto(into, f); err != nil {
		return err
	}
	return into.Symlink(f.link, f.path)
}

// contentInto hashes the content of a file, and writes the very bytes into another folder, if there is one.
func contentInto(into *os.Root, h io.Writer, fsys fs.FS, f found) (err error) {
	if into == nil {
		return content(h, fsys, f)
	}
	if err := folderInto(into, f); err != nil {
		return err
	}
	perm := fs.FileMode(0o644)
	if f.mode&0o111 != 0 {
		perm = 0o755
	}
	to, err := into.OpenFile(f.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	if err := content(io.MultiWriter(h, to), fsys, f); err != nil {
		return err
	}
	return to.Chmod(perm) // whatever the mask of this process
}

// content writes the content of a file, which must have the size that it had when
// it was listed.
func content(h io.Writer, fsys fs.FS, f found) error {
	in, err := fsys.Open(f.path)
	if err != nil {
		return fmt.Errorf("open %q: %w", f.path, err)
	}
	defer in.Close()
	n, err := io.Copy(h, io.LimitReader(in, f.size+1))
	if err != nil {
		return fmt.Errorf("read %q: %w", f.path, err)
	}
	if n != f.size {
		return sys.Errorf(sys.CodeConflict, "%q changed while it was read.", visible(f.path)).WithHint("Try again.")
	}
	return nil
}

func tooLarge() *sys.Error {
	return sys.Errorf(sys.CodeTooLarge, "The skill has more than %d files or more than %d MB.", maxHashed, maxTotal>>20).WithHint("Take out of its folder what does not belong to it.")
}

// found is one file of a folder.
type found struct {
	path string
	mode fs.FileMode
	size int64
	link string // what a link says
}

// walk lists the files of a folder, sorted by path, links not followed.
func walk(ctx context.Context, fsys fs.FS) (files []found, err error) {
	folders := 0
	todo := []string{"."}
	for len(todo) > 0 {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		dir := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		list, more, err := entries(fsys, dir)
		if err != nil {
			return nil, fmt.Errorf("list the files of the skill: %w", err)
		}
		if folders++; more || folders > maxHashed {
			return nil, tooLarge()
		}
		for _, e := range list {
			name := path.Join(dir, e.Name())
			if e.IsDir() {
				todo = append(todo, name)
				continue
			}
			f := found{path: name}
			if e.Type()&fs.ModeSymlink != 0 {
				if f.link, err = fs.ReadLink(fsys, name); err != nil {
					return nil, err
				}
				if leaves(name, f.link) {
					return nil, sys.Errorf(sys.CodeInvalid, "%q is a link that leads out of the skill's folder.", visible(name)).WithHint("Put the file itself there.")
				}
			} else {
				info, err := e.Info()
				if err != nil {
					return nil, err
				}
				if !info.Mode().IsRegular() {
					return nil, sys.Errorf(sys.CodeInvalid, "%q is neither a file nor a folder.", visible(name)).WithHint("Take it out of the skill's folder.")
				}
				f.mode, f.size = info.Mode(), info.Size()
			}
			if files = append(files, f); len(files) > maxHashed {
				return nil, tooLarge()
			}
		}
	}
	slices.SortFunc(files, func(a, b found) int { return strings.Compare(a.path, b.path) })
	return files, nil
}
