// Package disk is a disk that loses what was not flushed, and one that fails.
//
// [Run] runs a process under ptrace and writes down what it does to some folders:
// every write, flush, rename and removal, in their order, whoever in the process
// does it: SQLite, our own files, a library. No seam in the code is needed, and none
// is missed. It can also have chosen calls fail. A [Disk] plays such a record back
// and tells what the folders may hold after a power cut at any point of it.
//
// What is written through a shared mapping is not seen: SQLite has one, for an
// index that it makes anew after a crash.
package disk

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Kind is what an [Op] does.
type Kind string

// The kinds. A mark is what the process wrote to its standard output: it tells
// there what it has acknowledged.
const (
	Create   Kind = "create"
	Mkdir    Kind = "mkdir"
	Symlink  Kind = "symlink" // To is where it leads
	Write    Kind = "write"
	Truncate Kind = "truncate"
	Sync     Kind = "sync" // of a file, or of the names in a folder
	Rename   Kind = "rename"
	Exchange Kind = "exchange"
	Link     Kind = "link"
	Remove   Kind = "remove"
	Chmod    Kind = "chmod"
	Mark     Kind = "mark"
)

// Op is one thing that was done.
type Op struct {
	Kind Kind
	Path string
	To   string // of a rename, an exchange and a link
	Off  int64
	Size int64  // of a truncation
	Data []byte // of a write and a mark
	Mode fs.FileMode
}

func (o Op) String() string {
	switch o.Kind {
	case Write:
		return fmt.Sprintf("write %s at %d, %d bytes", o.Path, o.Off, len(o.Data))
	case Mark:
		return fmt.Sprintf("mark %q", o.Data)
	}
	return strings.TrimSpace(fmt.Sprintf("%s %s %s", o.Kind, o.Path, o.To))
}

// file is what a name leads to.
type file struct {
	mode    fs.FileMode
	data    []byte // as the process sees it
	durable []byte // as the disk has it for certain
	pending []Op   // what was done since the last flush
}

// Disk is what some folders hold: for the running process, and for certain.
type Disk struct {
	dirs []string
	now  map[string]*file
	safe map[string]*file
}

// New returns the disk as the folders are: all of it is durable.
func New(dirs ...string) (*Disk, error) {
	d := &Disk{dirs: dirs, now: map[string]*file{}}
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err != nil || shared(path) {
				return err
			}
			info, err := e.Info()
			if err != nil {
				return err
			}
			f := &file{mode: info.Mode()}
			switch {
			case f.mode.IsRegular():
				f.data, err = os.ReadFile(path)
			case f.mode&fs.ModeSymlink != 0:
				var to string
				to, err = os.Readlink(path)
				f.data = []byte(to)
			case !f.mode.IsDir():
				return nil
			}
			f.durable = f.data
			d.now[path] = f
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	d.safe = maps.Clone(d.now)
	return d, nil
}

// shared reports whether a file is the one that SQLite maps and makes anew.
func shared(path string) bool { return strings.HasSuffix(path, "-shm") }

// Apply does what the process did.
func (d *Disk) Apply(o Op) {
	switch o.Kind {
	case Create:
		d.now[o.Path] = &file{mode: o.Mode}
	case Mkdir:
		d.now[o.Path] = &file{mode: fs.ModeDir | o.Mode}
	case Symlink:
		d.now[o.Path] = &file{mode: fs.ModeSymlink, data: []byte(o.To), durable: []byte(o.To)}
	case Write, Truncate:
		if f := d.now[o.Path]; f != nil {
			f.data = o.on(f.data)
			f.pending = append(f.pending, o)
		}
	case Sync:
		f := d.now[o.Path]
		if f == nil {
			return
		}
		f.durable, f.pending = slices.Clone(f.data), nil
		if f.mode.IsDir() {
			below := func(path string, _ *file) bool { return filepath.Dir(path) == o.Path }
			maps.DeleteFunc(d.safe, below)
			for path, f := range d.now {
				if below(path, f) {
					d.safe[path] = f
				}
			}
		}
	case Rename, Exchange:
		from, to := d.now[o.Path], d.now[o.To]
		if from == nil {
			return
		}
		moved := map[string]*file{}
		for path, f := range d.now {
			if rest, ok := strings.CutPrefix(path, o.Path+"/"); ok {
				delete(d.now, path)
				moved[o.To+"/"+rest] = f
			}
		}
		delete(d.now, o.Path)
		d.now[o.To] = from
		maps.Copy(d.now, moved)
		if o.Kind == Exchange && to != nil {
			d.now[o.Path] = to
		}
	case Link:
		d.now[o.To] = d.now[o.Path]
	case Remove:
		delete(d.now, o.Path)
	case Chmod: // no test depends on when it becomes durable
		if f := d.now[o.Path]; f != nil {
			f.mode = f.mode.Type() | o.Mode
		}
	}
}

// on returns what some bytes are after a write or a truncation.
func (o Op) on(data []byte) []byte {
	end := o.Off + int64(len(o.Data))
	if o.Kind == Truncate {
		end = o.Size
	}
	out := make([]byte, max(int64(len(data)), end))
	copy(out, data)
	if o.Kind == Truncate {
		return out[:o.Size]
	}
	copy(out[o.Off:], o.Data)
	return out
}

// State is what the folders hold after a power cut.
type State map[string]Entry

// Entry is one name of a [State].
type Entry struct {
	Mode fs.FileMode
	Data []byte
}

// Flushed is what is left when everything goes that was not flushed: contents and
// names.
func (d *Disk) Flushed() State { return d.state(d.safe, (*file).lost) }

// Named is what is left when names are written before contents, as some file
// systems do: a file that was not flushed has its new name and its old content.
func (d *Disk) Named() State { return d.state(d.now, (*file).lost) }

// Killed is what is left when only the process ends.
func (d *Disk) Killed() State {
	return d.state(d.now, func(f *file) []byte { return f.data })
}

// Torn is what is left when some of what was not flushed had reached the disk, in
// any order, the last of it perhaps in part; for names folder by folder.
func (d *Disk) Torn(r *rand.Rand) State {
	names := map[string]*file{}
	early := map[string]bool{}
	for _, from := range []map[string]*file{d.safe, d.now} {
		for _, path := range slices.Sorted(maps.Keys(from)) {
			dir := filepath.Dir(path)
			if _, ok := early[dir]; !ok {
				early[dir] = r.IntN(2) == 0
			}
		}
	}
	for path, f := range d.safe {
		if !early[filepath.Dir(path)] {
			names[path] = f
		}
	}
	for path, f := range d.now {
		if early[filepath.Dir(path)] {
			names[path] = f
		}
	}
	contents := map[*file][]byte{}
	for _, path := range slices.Sorted(maps.Keys(names)) {
		f := names[path]
		data := f.durable
		for _, o := range f.pending {
			switch r.IntN(3) {
			case 0:
				data = o.on(data)
			case 1:
				const sector = 512
				if o.Kind == Write && len(o.Data) > sector {
					o.Data = o.Data[:r.IntN(len(o.Data)/sector)*sector]
					data = o.on(data)
				}
			}
		}
		contents[f] = data
	}
	return d.state(names, func(f *file) []byte { return contents[f] })
}

func (f *file) lost() []byte { return f.durable }

func (d *Disk) state(names map[string]*file, content func(*file) []byte) State {
	s := State{}
	for path, f := range names {
		if reachable(names, d.dirs, path) {
			s[path] = Entry{f.mode, content(f)}
		}
	}
	return s
}

// reachable reports whether every folder above a name is there.
func reachable(names map[string]*file, dirs []string, path string) bool {
	for !slices.Contains(dirs, path) {
		path = filepath.Dir(path)
		if f := names[path]; f == nil || !f.mode.IsDir() {
			return false
		}
	}
	return true
}

var seed = maphash.MakeSeed()

// Sum tells states apart.
func (s State) Sum() uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	for _, path := range slices.Sorted(maps.Keys(s)) {
		fmt.Fprintf(&h, "%s\x00%d\x00%d\x00", path, s[path].Mode, len(s[path].Data))
		_, _ = h.Write(s[path].Data)
	}
	return h.Sum64()
}

// Unlike returns the names that are not the same in other, or hold something else.
func (s State) Unlike(other State) (names []string) {
	for path, e := range s {
		if o, ok := other[path]; !ok || !bytes.Equal(o.Data, e.Data) {
			names = append(names, path)
		}
	}
	for path := range other {
		if _, ok := s[path]; !ok {
			names = append(names, path)
		}
	}
	slices.Sort(names)
	return names
}

// Put makes the folders hold s.
func (s State) Put(dirs ...string) error {
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	for _, path := range slices.Sorted(maps.Keys(s)) { // a folder comes before what is in it
		var err error
		switch e := s[path]; {
		case e.Mode.IsDir():
			if err = os.MkdirAll(path, 0o700); err == nil {
				err = os.Chmod(path, e.Mode.Perm())
			}
		case e.Mode&fs.ModeSymlink != 0:
			err = os.Symlink(string(e.Data), path)
		default:
			if err = os.WriteFile(path, e.Data, 0o600); err == nil {
				err = os.Chmod(path, e.Mode.Perm())
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}
