package kernel

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"oxios/kernel/sys"
)

// maxDiffer bounds how many files that differ are named.
const maxDiffer = 20

// placing puts files into the home and can take them back.
type placing struct {
	k      *Kernel
	root   *os.Root // the home: no link leads out of it
	dry    bool
	report *RestoreReport
	placed []string
	made   []string // folders
}

// place puts a file to its name unless one is there. It reports whether it did,
// or would.
func (p *placing) place(ctx context.Context, name string, e packed) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	local := filepath.FromSlash(name)
	info, err := p.root.Lstat(local)
	if err == nil && info.Mode().IsRegular() && info.Size() == e.Size && p.same(local, e) {
		p.report.Files.Present++
		return false, nil
	}
	// Also where a file stands in place of a folder, or a link leads out of the home: what is here stays.
	if !errors.Is(err, fs.ErrNotExist) {
		p.report.Files.Kept++
		if p.report.Files.Kept <= maxDiffer {
			p.report.Differ = append(p.report.Differ, name)
		}
		return false, nil
	}
	p.report.Files.Added++
	if p.dry {
		return true, nil
	}
	if err := p.folders(filepath.Dir(local)); err != nil {
		return false, err
	}
	return true, p.write(local, e)
}

// same compares a file of the home with one of the backup.
func (p *placing) same(local string, e packed) bool {
	f, err := p.root.Open(local)
	if err != nil {
		return false
	}
	defer f.Close()
	other, err := os.Open(e.from)
	if err != nil {
		return false
	}
	defer other.Close()
	a, b := make([]byte, 64<<10), make([]byte, 64<<10)
	for {
		n, err := io.ReadFull(f, a)
		m, oerr := io.ReadFull(other, b)
		if n != m || !bytes.Equal(a[:n], b[:m]) {
			return false
		}
		if err != nil || oerr != nil {
			return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		}
	}
}

func (p *placing) folders(dir string) error {
	if dir == "." {
		return nil
	}
	if err := p.folders(filepath.Dir(dir)); err != nil {
		return err
	}
	err := p.root.Mkdir(dir, 0o700)
	if err == nil {
		p.made = append(p.made, dir)
	}
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// write copies a file under another name first: after a crash there is the
// whole file or none.
func (p *placing) write(local string, e packed) error {
	tmp := filepath.Join(filepath.Dir(local), ".new-"+sys.NewID())
	in, err := os.Open(e.from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := p.root.OpenFile(tmp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, fs.FileMode(e.Mode)&0o700)
	if err != nil {
		return err
	}
	defer func() { _ = p.root.Remove(tmp) }()
	_, err = io.Copy(out, in)
	if err == nil {
		err = out.Sync()
	}
	if err = errors.Join(err, out.Close()); err != nil {
		return fmt.Errorf("write %s: %w", local, err)
	}
	if err := p.root.Link(tmp, local); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return sys.Errorf(sys.CodeConflict, "%s was made while the backup was being restored. Nothing was changed.", local).WithHint("Try again.")
		}
		if err := p.root.Rename(tmp, local); err != nil { // a disk without links
			return fmt.Errorf("write %s: %w", local, err)
		}
	}
	p.placed = append(p.placed, local)
	return nil
}

// undo takes back what was placed, the last first.
func (p *placing) undo() {
	if p.root == nil {
		return
	}
	root, err := os.OpenRoot(p.k.opts.Home) // the first one is closed by now
	if err != nil {
		p.k.log.Error("Could not take back the files of a restore", "error", err)
		return
	}
	defer root.Close()
	for _, list := range [][]string{p.placed, p.made} {
		for _, name := range slices.Backward(list) {
			if err := root.Remove(name); err != nil {
				p.k.log.Warn("Could not take back a file of a restore", "file", name, "error", err)
			}
		}
	}
}
