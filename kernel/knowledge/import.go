package knowledge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/text/unicode/norm"

	"oxios/kernel/sys"
)

// ImportMode says what becomes of a file whose name is taken by another one.
type ImportMode string

// The modes of [Vault.Import].
const (
	ImportSkip   ImportMode = "skip"   // it is left out, and named
	ImportBeside ImportMode = "beside" // it comes in under "name (2)", and is named
)

// Clash is a file whose name was taken.
type Clash struct {
	Path string `json:"path"`
	As   string `json:"as,omitempty"` // what it is called now; "" when it was left out
}

// Left is a file that was not taken over, with the reason as a sentence.
type Left struct {
	Path string    `json:"path"`
	Text sys.Words `json:"text"`
}

// Imported says what an import did, in files.
type Imported struct {
	Copied  int     `json:"copied"`
	Bytes   int64   `json:"bytes"` // of what was copied
	Same    int     `json:"same"`  // that were there already, byte for byte
	Clashes []Clash `json:"clashes,omitempty"`
	Left    []Left  `json:"left,omitempty"`
}

// Import copies the files of a folder, an Obsidian vault say, into this one, by
// the same paths. Nothing is overwritten, and nothing in the folder is changed;
// hidden files stay behind. What came in before ctx ends, stays.
func (v *Vault) Import(ctx context.Context, dir string, mode ImportMode) (Imported, error) {
	return v.takeIn(ctx, dir, mode, true)
}

// ImportPreview says what [Vault.Import] would do now. It changes nothing.
func (v *Vault) ImportPreview(ctx context.Context, dir string, mode ImportMode) (Imported, error) {
	return v.takeIn(ctx, dir, mode, false)
}

func (v *Vault) takeIn(ctx context.Context, dir string, mode ImportMode, copies bool) (Imported, error) {
	var out Imported
	dir, err := filepath.Abs(dir)
	if err != nil {
		return out, errImport(dir, err)
	}
	if rel, err := filepath.Rel(v.dir, dir); err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return out, errImport(dir, errors.New("it lies in the vault already"))
	}
	if rel, err := filepath.Rel(dir, v.dir); err == nil && !strings.HasPrefix(rel, "..") {
		return out, errImport(dir, errors.New("the vault lies in it"))
	}
	from, err := os.OpenRoot(dir)
	if err != nil {
		return out, errImport(dir, err)
	}
	defer from.Close()
	if _, err := v.Rescan(ctx); err != nil {
		return out, err
	}
	root, err := v.root()
	if err != nil {
		return out, err
	}
	defer root.Close()
	h := &hand{v: v, root: root}
	v.mu.RLock()
	taken := map[string]string{} // folded → path
	for p := range v.ix.files {
		taken[fold(p)] = p
	}
	v.mu.RUnlock()
	err = fs.WalkDir(from.FS(), ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case p == "." && err != nil:
			return errImport(dir, err)
		case p == ".":
			return nil
		case err != nil:
			out.Left = append(out.Left, Left{p, sys.Say("It could not be read: %v.", err)})
			return nil
		case d.Name()[0] == '.':
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir():
			return nil
		case !d.Type().IsRegular():
			out.Left = append(out.Left, Left{p, sys.Say("It is a symbolic link, a pipe or a device.")})
			return nil
		}
		return h.takeOver(from, p, mode, copies, taken, &out)
	})
	if !copies {
		return out, err
	}
	if _, scan := v.Rescan(context.WithoutCancel(ctx)); err == nil {
		err = scan
	}
	return out, err
}

// takeOver copies one file, or says what would become of it.
func (h *hand) takeOver(from *os.Root, name string, mode ImportMode, copies bool, taken map[string]string, out *Imported) error {
	p, err := clean(norm.NFC.String(name))
	if err != nil {
		message, _ := sys.AsError(err).Words()
		out.Left = append(out.Left, Left{name, message})
		return nil
	}
	if there, ok := taken[fold(p)]; ok {
		theirs, _, errA := (&hand{root: from}).hash(name)
		ours, _, errB := h.hash(there)
		if errA == nil && errB == nil && theirs == ours && there == p {
			out.Same++
			return nil
		}
		clash := Clash{Path: p}
		if mode == ImportBeside {
			p = freeName(p, func(p string) bool { _, ok := taken[fold(p)]; return ok })
			clash.As = p
		}
		out.Clashes = append(out.Clashes, clash)
		if mode != ImportBeside {
			return nil
		}
	}
	f, err := from.Open(name)
	if err != nil {
		out.Left = append(out.Left, Left{p, sys.Say("It could not be read: %v.", err)})
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && copies {
		err = h.copyIn(f, p, info)
	}
	if err != nil {
		return err
	}
	taken[fold(p)] = p
	out.Copied++
	out.Bytes += info.Size()
	return nil
}

// freeName adds a number to a name that is taken.
func freeName(p string, taken func(string) bool) string {
	ext := path.Ext(p)
	for n := 2; ; n++ {
		free := fmt.Sprintf("%s (%d)%s", strings.TrimSuffix(p, ext), n, ext)
		if !taken(free) {
			return free
		}
	}
}

// copyIn makes a new file of a stream, with the time of info.
func (h *hand) copyIn(from io.Reader, p string, info fs.FileInfo) error {
	if err := h.folders(parent(p)); err != nil {
		return errWrite(p, err)
	}
	disk, found := onDisk(h.root, p)
	if found {
		return errExists(p)
	}
	tmp := join(parent(disk), temporary+hashOf([]byte(disk))[:20])
	_ = h.root.Remove(tmp)
	f, err := h.root.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return errWrite(p, err)
	}
	_, err = io.Copy(f, from)
	if err = errors.Join(err, f.Close()); err == nil {
		err = h.root.Chtimes(tmp, info.ModTime(), info.ModTime())
	}
	if err == nil {
		err = h.place(tmp, disk, true)
	}
	if err != nil {
		_ = h.root.Remove(tmp)
		if errors.Is(err, fs.ErrExist) {
			return errExists(p)
		}
		return errWrite(p, err)
	}
	return nil
}
