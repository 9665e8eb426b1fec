package knowledge

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"
)

// Rescan says what a walk over the vault found changed, in files.
type Rescan struct {
	Added   int `json:"added"`
	Changed int `json:"changed"`
	Removed int `json:"removed"`
}

// Rescan compares the vault with the index: by size and time, reading only what
// differs. It fails with CodeUnavailable, and keeps the index, when the folder is
// not there, or is empty where notes were.
func (v *Vault) Rescan(ctx context.Context) (Rescan, error) {
	if !v.loaded.Load() {
		if err := v.there(); err != nil {
			return Rescan{}, err
		}
		v.scanning.Lock()
		if !v.loaded.Load() {
			v.load()
		}
		v.scanning.Unlock()
	}
	if err := v.there(); err != nil {
		return Rescan{}, err
	}
	v.scanning.Lock()
	defer v.scanning.Unlock()
	out, err := v.rescan(ctx)
	if err == nil {
		v.loaded.Store(true)
	}
	return out, err
}

// racyFor is how near its reading a file's time may lie for the next change to
// show no other time: two seconds on FAT.
const racyFor = 2 * time.Second

// pending is a file to read.
type pending struct {
	disk, path string
	info       fs.FileInfo
	plain      bool // met as a file itself, not through a symbolic link
}

func (v *Vault) rescan(ctx context.Context) (Rescan, error) {
	v.mu.Lock()
	v.ix.walk++
	since := v.ix.seq
	clear(v.ix.forgot)
	v.mu.Unlock()

	w := walker{v: v, ctx: ctx}
	if err := w.folder(""); err != nil {
		return Rescan{}, err
	}
	if w.entries == 0 {
		v.mu.RLock()
		had := len(v.ix.files)
		v.mu.RUnlock()
		if had > 0 {
			return Rescan{}, errEmptied(v.dir, had)
		}
	}
	var out Rescan
	var paths []string
	err := v.readAll(ctx, w.found, func(r reading) {
		v.mu.Lock()
		defer v.mu.Unlock()
		old := v.ix.files[r.file.path]
		if old != nil && old.seq > since || v.ix.forgot[r.file.path] > since {
			return // Apply knew better in the meantime
		}
		if same := old != nil && old.hash == r.file.hash && old.size == r.file.size && old.disk == r.file.disk && r.file.note; same || old != nil && !r.file.note && old.mtime == r.file.mtime && old.size == r.file.size {
			old.mtime, old.racy, old.seen = r.file.mtime, r.file.racy, v.ix.walk // touched, or read once more to be sure
			return
		}
		v.take(r)
		paths = append(paths, r.file.path)
		if old == nil {
			out.Added++
		} else {
			out.Changed++
		}
	})
	if err != nil {
		v.tell(paths)
		return out, err
	}
	v.mu.Lock()
	for _, f := range v.ix.files {
		if f.seen != v.ix.walk && f.seq <= since && !w.unread[parent(f.disk)] {
			v.ix.remove(f)
			paths = append(paths, f.path)
			out.Removed++
		}
	}
	for dir := range v.ix.folders {
		if !w.dirs[dir] && len(v.ix.folders[dir]) == 0 && dir != "" {
			delete(v.ix.folders, dir)
		}
	}
	v.ix.twins, v.ix.outside = w.twins, w.outside
	v.ix.sort(4096)
	v.mu.Unlock()
	v.tell(paths)
	return out, nil
}

// walker lists the vault and compares each file with the index by its stat.
type walker struct {
	v       *Vault
	ctx     context.Context
	entries int // in the folder itself, also hidden ones
	found   []pending
	dirs    map[string]bool
	unread  map[string]bool // folders that could not be listed: what is known of them stays
	twins   map[string]string
	outside map[string]bool
}

// temporary is how the names of our own unfinished files begin.
const temporary = ".oxios-tmp-"

func (w *walker) folder(dir string) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	if w.dirs == nil {
		w.dirs, w.unread, w.twins, w.outside = map[string]bool{}, map[string]bool{}, map[string]string{}, map[string]bool{}
	}
	w.dirs[dir] = true
	where := w.v.dir
	if dir != "" {
		where += string(filepath.Separator) + filepath.FromSlash(dir)
	}
	entries, err := list(where)
	if err != nil {
		if dir == "" {
			return errGone(w.v.dir, err)
		}
		if !isMissing(err) {
			w.v.log.WarnContext(w.ctx, "Folder of the vault could not be listed", "folder", dir, "error", err)
			w.keep(dir)
		}
		return nil
	}
	if dir == "" {
		w.entries = len(entries)
	}
	infos := make([]fs.FileInfo, len(entries))
	var below []string
	for i, e := range entries {
		name := e.Name()
		if name[0] == '.' {
			if strings.HasPrefix(name, temporary) {
				w.v.sweep(join(dir, name), e)
			}
			continue
		}
		switch mode := e.Type(); {
		case mode.IsDir():
			below = append(below, join(dir, name))
		case mode.IsRegular():
			infos[i], _ = e.Info() // an error: it is gone again
		case mode&fs.ModeSymlink != 0:
			infos[i] = w.linked(join(dir, name))
		}
	}
	w.compare(dir, entries, infos)
	for _, d := range below {
		if err := w.folder(d); err != nil {
			return err
		}
	}
	return nil
}

// list is [os.ReadDir] without its order.
func list(dir string) ([]fs.DirEntry, error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.ReadDir(-1)
}

// keep marks everything below a folder that cannot be listed as seen.
func (w *walker) keep(dir string) {
	w.v.mu.Lock()
	defer w.v.mu.Unlock()
	for known := range w.v.ix.folders {
		if known == dir || strings.HasPrefix(known, dir+"/") {
			w.unread[known] = true
		}
	}
}

// linked returns what a symbolic link leads to, when that is a file of the vault.
func (w *walker) linked(disk string) fs.FileInfo {
	root, err := w.v.root()
	if err != nil {
		return nil
	}
	defer root.Close()
	info, err := root.Stat(disk)
	if err != nil {
		w.outside[norm.NFC.String(disk)] = true
		return nil
	}
	if !info.Mode().IsRegular() {
		return nil
	}
	return info
}

func (w *walker) compare(dir string, entries []fs.DirEntry, infos []fs.FileInfo) {
	now := time.Now()
	w.v.mu.Lock()
	defer w.v.mu.Unlock()
	ix := w.v.ix
	known := ix.folders[dir]
	if known == nil {
		ix.folder(dir)
		known = ix.folders[dir]
	}
	for i, info := range infos {
		if info == nil {
			continue
		}
		name := entries[i].Name()
		if f := known[name]; f != nil {
			f.seen = ix.walk
			if f.size == info.Size() && f.mtime == info.ModTime().UnixNano() && (!f.racy || now.Sub(info.ModTime()) < racyFor && now.After(info.ModTime())) {
				continue
			}
			w.found = append(w.found, pending{f.disk, f.path, info, entries[i].Type().IsRegular()})
			continue
		}
		disk := join(dir, name)
		p := norm.NFC.String(disk)
		if other := ix.files[p]; other != nil && other.disk != disk {
			if _, err := os.Lstat(filepath.Join(w.v.dir, filepath.FromSlash(other.disk))); err == nil {
				w.twins[p] = disk
				continue
			}
		}
		w.found = append(w.found, pending{disk, p, info, entries[i].Type().IsRegular()})
	}
}

// sweep removes what a process left behind that was killed while it wrote.
func (v *Vault) sweep(disk string, e fs.DirEntry) {
	if info, err := e.Info(); err == nil && info.Mode().IsRegular() && time.Since(info.ModTime()) > time.Hour {
		_ = os.Remove(filepath.Join(v.dir, filepath.FromSlash(disk)))
	}
}
