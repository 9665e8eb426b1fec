package knowledge

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/zeebo/blake3"
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

// reading is a file that was read, on its way into the index.
type reading struct {
	file    *file
	weights []uint32
	length  int
	names   []string // of the counter, as far as weights need them
	counter *counter
}

// readAll reads files side by side and hands each to take, one at a time.
func (v *Vault) readAll(ctx context.Context, found []pending, take func(reading)) error {
	if len(found) == 0 {
		return nil
	}
	root, err := v.root()
	if err != nil {
		return err
	}
	defer root.Close()
	workers := min(runtime.GOMAXPROCS(0), (len(found)+15)/16)
	if workers == 1 {
		c := newCounter()
		for _, p := range found {
			if err := ctx.Err(); err != nil {
				return err
			}
			if r, ok := v.readOne(root, p, c); ok {
				take(r)
			}
		}
		return nil
	}
	out := make(chan reading, 256)
	work := make(chan []pending)
	go func() {
		defer close(work)
		for part := range slices.Chunk(found, 64) {
			select {
			case work <- part:
			case <-ctx.Done():
				return
			}
		}
	}()
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			c := newCounter()
			for part := range work {
				for _, p := range part {
					if r, ok := v.readOne(root, p, c); ok {
						out <- r
					}
				}
			}
		})
	}
	go func() {
		group.Wait()
		close(out)
	}()
	for r := range out {
		take(r)
	}
	return ctx.Err()
}

// readOne reads one file for the index. A file that cannot be read is left out
// until it can be.
func (v *Vault) readOne(root *os.Root, p pending, c *counter) (reading, bool) {
	f := &file{path: p.path, disk: p.disk, note: isNote(p.path)}
	if f.note && p.info.Size() <= maxNote {
		raw, info, err := v.readFound(root, p)
		if err != nil {
			if !isMissing(err) {
				v.log.Warn("Note could not be read", "path", p.path, "error", err)
			}
			return reading{}, false
		}
		p.info = info
		f.hash = blake3.Sum256(raw)
		fill(f, raw, c)
	} else {
		f.large = f.note
		if f.note {
			f.title = stem(path.Base(f.path))
		}
	}
	f.size, f.mtime = p.info.Size(), p.info.ModTime().UnixNano()
	age := time.Since(p.info.ModTime())
	f.racy = f.note && age < racyFor && age > -racyFor
	f.ease()
	weights, length := c.take()
	return reading{f, weights, length, c.names, c}, true
}

// readFound reads a file that a walk met. One that is a file itself, in folders
// that are none but folders, needs no second look at where its path leads.
func (v *Vault) readFound(root *os.Root, p pending) ([]byte, fs.FileInfo, error) {
	if !p.plain {
		return readIn(root, p.disk, maxNote)
	}
	f, err := os.Open(v.dir + string(filepath.Separator) + filepath.FromSlash(p.disk))
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if !os.SameFile(info, p.info) || info.Size() > maxNote {
		return readIn(root, p.disk, maxNote)
	}
	raw := make([]byte, info.Size()+1)
	n, err := io.ReadFull(f, raw)
	if err == nil { // it grew since
		return readIn(root, p.disk, maxNote)
	}
	if !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return nil, nil, err
	}
	return raw[:n], info, nil
}

// fill reads what a note says into f, and counts its words.
func fill(f *file, raw []byte, c *counter) {
	text, encoding, _ := decode(raw)
	whole := string(text)
	facts := factsOf(f.path, whole)
	f.title, f.aliases, f.tags, f.encoding, f.fault = facts.title, facts.aliases, facts.tags, encoding, facts.fault
	f.headings, f.tasks = facts.headings, facts.tasks
	if len(facts.links) > 0 {
		f.links = make([]indexedLink, len(facts.links))
		for i, l := range facts.links {
			f.links[i] = indexedLink{l, lineAt(whole, l.start)}
			if i > 0 && f.links[i-1].Line == l.Line {
				f.links[i].text = f.links[i-1].text
			}
			// Parts of the text would keep the whole of it in memory.
			f.links[i].Target, f.links[i].Fragment, f.links[i].Alias = strings.Clone(l.Target), strings.Clone(l.Fragment), strings.Clone(l.Alias)
			f.links[i].key = strings.Clone(l.key)
		}
	}
	for i := range f.headings {
		f.headings[i].Text = strings.Clone(f.headings[i].Text)
		c.add([]byte(f.headings[i].Text), weightHeading-weightText)
	}
	for i := range f.tasks {
		t := &f.tasks[i]
		t.Text, t.Mark, t.Due = strings.Clone(t.Text), strings.Clone(t.Mark), strings.Clone(t.Due)
		for j := range t.Tags {
			t.Tags[j] = strings.Clone(t.Tags[j])
		}
	}
	f.title = strings.Clone(f.title)
	for i := range f.tags {
		f.tags[i] = strings.Clone(f.tags[i])
	}
	for i := range f.aliases {
		f.aliases[i] = strings.Clone(f.aliases[i])
	}
	for _, name := range append([]string{f.title, stem(path.Base(f.path))}, f.aliases...) {
		c.add([]byte(name), weightTitle)
	}
	c.add(text, weightText)
}

// lineAt returns the line around a place, shortened to 200 bytes.
func lineAt(text string, at int) string {
	from := strings.LastIndexByte(text[:at], '\n') + 1
	to := strings.IndexByte(text[at:], '\n')
	if to < 0 {
		to = len(text) - at
	}
	line := strings.TrimSpace(text[from : at+to])
	if len(line) > 200 {
		return cut(line, at-from)
	}
	return strings.Clone(line)
}

// take puts a reading into the index. The caller holds mu.
func (v *Vault) take(r reading) {
	if old := v.ix.files[r.file.path]; old != nil {
		v.texts.drop(old)
	}
	c := r.counter
	if n := len(r.names); len(c.global) < n {
		c.global = append(c.global, make([]uint32, n-len(c.global))...)
	}
	v.ix.put(r.file, r.weights, func(t uint32) uint32 {
		if c.global[t] == 0 {
			c.global[t] = v.ix.term(r.names[t]) + 1
		}
		return c.global[t] - 1
	}, r.length)
}

// refresh reads paths anew, each a file or nothing, and tells of those that
// changed.
func (v *Vault) refresh(ctx context.Context, paths []string) error {
	root, err := v.root()
	if err != nil {
		return err
	}
	defer root.Close()
	var changed []string
	c := newCounter()
	for _, p := range paths {
		disk, _ := onDisk(root, p)
		info, err := root.Stat(disk)
		if err == nil && info.Mode().IsRegular() {
			v.mu.RLock()
			old := v.ix.files[p]
			same := old != nil && old.disk == disk && old.size == info.Size() && old.mtime == info.ModTime().UnixNano() && !old.racy
			v.mu.RUnlock()
			if same {
				continue
			}
			if r, ok := v.readOne(root, pending{disk, p, info, false}, c); ok {
				v.mu.Lock()
				old := v.ix.files[p]
				if old == nil || old.hash != r.file.hash || old.size != r.file.size || !r.file.note && old.mtime != r.file.mtime || old.disk != disk {
					v.take(r)
					changed = append(changed, p)
				} else {
					old.mtime, old.racy = r.file.mtime, r.file.racy
				}
				v.mu.Unlock()
			}
			continue
		}
		if err != nil && !isMissing(err) && !isEscape(err) {
			continue
		}
		v.mu.Lock()
		if old := v.ix.files[p]; old != nil {
			v.texts.drop(old)
			v.ix.remove(old)
			changed = append(changed, p)
		}
		v.mu.Unlock()
	}
	v.mu.Lock()
	v.ix.sort(4096)
	v.mu.Unlock()
	v.tell(changed)
	return ctx.Err()
}
