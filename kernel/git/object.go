package git

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
)

// mostHeld is how many objects wait in memory to be flushed together.
const mostHeld = 256

// mostKept is how many folders of a commit are remembered.
const mostKept = 8

// objects are those of a commit that is being made. Each is a file of its own.
// What is in them is durable before any of them has its name, and those that are
// named by others come first, so that none ever names one that is not whole.
type objects struct {
	dir  string // objects of the history
	held []made
	seen map[plumbing.Hash]bool
	kept map[plumbing.Hash][]byte // folders, which the next commit begins with
}

type made struct {
	id   plumbing.Hash
	kind plumbing.ObjectType
	body []byte
	temp string
}

// add takes an object up and returns its name. It is written when enough have
// come together, or by flush.
func (o *objects) add(kind plumbing.ObjectType, body []byte) (plumbing.Hash, error) {
	id := plumbing.ComputeHash(kind, body)
	if o.seen[id] {
		return id, nil
	}
	if o.seen == nil {
		o.seen = map[plumbing.Hash]bool{}
	}
	o.seen[id] = true
	if kind == plumbing.TreeObject && len(o.kept) < mostKept {
		if o.kept == nil {
			o.kept = map[plumbing.Hash][]byte{}
		}
		o.kept[id] = body
	}
	o.held = append(o.held, made{id: id, kind: kind, body: body})
	if len(o.held) < mostHeld {
		return id, nil
	}
	return id, o.flush()
}

// flush makes what was added durable, and does more beside it. An object that is
// there already is written all the same: whether it is whole and durable would
// cost as much to find out.
func (o *objects) flush(more ...func() error) error {
	held := o.held
	o.held = nil
	work := more
	for i := range held {
		work = append(work, func() error { return o.write(&held[i]) })
	}
	if err := together(work); err != nil {
		for _, b := range held {
			if b.temp != "" {
				_ = os.Remove(b.temp)
			}
		}
		return err
	}
	var folders []string
	dirty := map[string]bool{}
	for _, b := range held {
		name := b.id.String()
		folder := filepath.Join(o.dir, name[:2])
		if !dirty[folder] {
			dirty[folder] = true
			folders = append(folders, folder)
			err := os.Mkdir(folder, 0o777)
			if err == nil && !dirty[o.dir] {
				dirty[o.dir] = true
				folders = append(folders, o.dir)
			} else if err != nil && !errors.Is(err, os.ErrExist) {
				return err
			}
		}
		to := filepath.Join(folder, name[2:])
		if err := os.Rename(b.temp, to); err != nil {
			_ = os.Remove(b.temp)
			if _, there := os.Lstat(to); there != nil { // Windows replaces no file that must not be written
				return err
			}
		}
	}
	work = nil
	for _, folder := range folders {
		work = append(work, func() error { return syncDir(folder) })
	}
	return together(work)
}

// together does all of some work at once: a disk makes many files durable in
// little more than the time of one.
func together(work []func() error) error {
	const most = 16
	var all sync.WaitGroup
	errs := make([]error, len(work))
	turn := make(chan struct{}, most)
	for i, do := range work {
		turn <- struct{}{}
		all.Go(func() {
			errs[i] = do()
			<-turn
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// mostLoose is up to where an object is not compressed: most of what a commit
// writes are hashes, and a file takes up whole blocks of the disk.
const mostLoose = 16 << 10

var plain, packing = packers(zlib.NoCompression), packers(zlib.BestSpeed)

func packers(level int) *sync.Pool {
	return &sync.Pool{New: func() any {
		w, _ := zlib.NewWriterLevel(io.Discard, level) // the level is one that there is
		return w
	}}
}

// write makes an object a file that has no name yet. git removes such files
// when they are old.
func (o *objects) write(b *made) error {
	packers := plain
	if len(b.body) > mostLoose {
		packers = packing
	}
	var out bytes.Buffer
	w := packers.Get().(*zlib.Writer) //nolint:errcheck // nothing else is in there
	defer packers.Put(w)
	w.Reset(&out)
	fmt.Fprintf(w, "%s %d\x00", b.kind, len(b.body))
	_, err := w.Write(b.body)
	if err = errors.Join(err, w.Close()); err != nil {
		return err
	}
	f, err := os.CreateTemp(o.dir, "tmp_obj_*")
	if err != nil {
		return err
	}
	b.temp = f.Name()
	_, err = f.Write(out.Bytes())
	if runtime.GOOS != "windows" {
		err = errors.Join(err, f.Chmod(0o444))
	}
	return errors.Join(err, f.Sync(), f.Close())
}

// content reads an object.
func content(repo *gogit.Repository, kind plumbing.ObjectType, id plumbing.Hash) ([]byte, error) {
	o, err := repo.Storer.EncodedObject(kind, id)
	if err != nil {
		return nil, fmt.Errorf("read %s of the history: %w", id, err)
	}
	in, err := o.Reader()
	if err != nil {
		return nil, err
	}
	raw, err := io.ReadAll(in)
	return raw, errors.Join(err, in.Close())
}
