package git

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
)

// What a name in a folder stands for.
const (
	modeFile    = "100644"
	modeProgram = "100755"
	modeFolder  = "40000"
)

var errTree = errors.New("a folder of the history is damaged")

// item is one name in a folder, as an object of git has it.
type item struct {
	mode string
	name string
	id   plumbing.Hash
}

// entry returns how the item stands in an index that knows nothing of the file.
func (i item) entry(path string) entry {
	e := entry{name: path, id: i.id}
	var mode uint32
	if _, err := fmt.Sscanf(i.mode, "%o", &mode); err == nil {
		binary.BigEndian.PutUint32(e.stat[24:], mode)
	}
	return e
}

// order is what git sorts a folder by: folders as if their names ended in a
// slash.
func (i item) order() string {
	if i.mode == modeFolder {
		return i.name + "/"
	}
	return i.name
}

// next cuts the first item off a folder and returns it, the bytes that it is
// made of, and the others.
func next(folder []byte) (i item, raw, rest []byte, err error) {
	space := bytes.IndexByte(folder, ' ')
	null := bytes.IndexByte(folder, 0)
	end := null + 1 + len(i.id)
	if space < 1 || null < space || end > len(folder) {
		return i, nil, nil, errTree
	}
	i.mode, i.name = string(folder[:space]), string(folder[space+1:null])
	copy(i.id[:], folder[null+1:])
	return i, folder[:end], folder[end:], nil
}

// lookup finds a name in a folder.
func lookup(folder []byte, name string) (item, error) {
	for len(folder) > 0 {
		i, _, rest, err := next(folder)
		if err != nil || i.name == name {
			return i, err
		}
		folder = rest
	}
	return item{}, nil
}

// with returns a folder with some items put in, in place of those of the same
// names. All others stay as they are, byte by byte.
func with(folder []byte, put map[string]item) ([]byte, error) {
	var sorted []item
	for _, i := range put {
		sorted = append(sorted, i)
	}
	slices.SortFunc(sorted, func(a, b item) int { return strings.Compare(a.order(), b.order()) })
	out := make([]byte, 0, len(folder)+64*len(put))
	add := func(i item) {
		out = append(out, i.mode...)
		out = append(out, ' ')
		out = append(out, i.name...)
		out = append(out, 0)
		out = append(out, i.id[:]...)
	}
	for len(folder) > 0 {
		i, raw, rest, err := next(folder)
		if err != nil {
			return nil, err
		}
		folder = rest
		for len(sorted) > 0 && sorted[0].order() < i.order() {
			add(sorted[0])
			sorted = sorted[1:]
		}
		if _, gone := put[i.name]; !gone {
			out = append(out, raw...)
		}
	}
	for _, i := range sorted {
		add(i)
	}
	return out, nil
}

// branch is what may have changed below a folder.
type branch struct {
	files    map[string]*file
	branches map[string]*branch
}

// file is one that is looked at for a commit.
type file struct {
	path    string
	now     entry // how it stands in the index when it is committed
	changed bool  // it is not in the history as it is
	gone    bool  // there is none; that is not committed
}

func (b *branch) put(name string, f *file) {
	first, rest, deeper := strings.Cut(name, "/")
	if !deeper {
		if b.files == nil {
			b.files = map[string]*file{}
		}
		b.files[name] = f
		return
	}
	if b.branches == nil {
		b.branches = map[string]*branch{}
	}
	if b.branches[first] == nil {
		b.branches[first] = &branch{}
	}
	b.branches[first].put(rest, f)
}

// growth is a commit that is being made. look finds out about a file, and
// returns what is in it unless it trusts the index to know.
type growth struct {
	repo *gogit.Repository
	objects
	look   func(f *file, trust bool) ([]byte, error)
	recent map[plumbing.Hash][]byte // folders of the last commit
}

// grow makes the objects of all below a folder that is not as it was, and
// returns the folder's new name: the old one when nothing changed. was is zero
// for a folder that is not in the history.
func (g *growth) grow(b *branch, was plumbing.Hash) (plumbing.Hash, error) {
	var folder []byte
	var err error
	if !was.IsZero() {
		var known bool
		if folder, known = g.recent[was]; !known {
			if folder, err = content(g.repo, plumbing.TreeObject, was); err != nil {
				return was, err
			}
		}
	}
	old := map[string]item{}
	for rest := folder; len(rest) > 0; {
		var i item
		if i, _, rest, err = next(rest); err != nil {
			return was, err
		}
		if b.files[i.name] != nil || b.branches[i.name] != nil {
			old[i.name] = i
		}
	}
	put := map[string]item{}
	for name, f := range b.files {
		raw, err := g.look(f, true)
		if err != nil {
			return was, err
		}
		same := func() bool { return f.gone || old[name] == item{mode: f.now.mode(), name: name, id: f.now.id} }
		if !same() && raw == nil { // git has it perhaps, but not durably
			if raw, err = g.look(f, false); err != nil {
				return was, err
			}
		}
		if f.changed = !same(); !f.changed {
			continue
		}
		if _, err := g.add(plumbing.BlobObject, raw); err != nil {
			return was, err
		}
		put[name] = item{mode: f.now.mode(), name: name, id: f.now.id}
	}
	for name, below := range b.branches {
		before := plumbing.ZeroHash
		if old[name].mode == modeFolder {
			before = old[name].id
		}
		id, err := g.grow(below, before)
		if err != nil {
			return was, err
		}
		if id != before {
			put[name] = item{mode: modeFolder, name: name, id: id}
		}
	}
	if len(put) == 0 {
		return was, nil
	}
	if folder, err = with(folder, put); err != nil {
		return was, err
	}
	return g.add(plumbing.TreeObject, folder)
}

// find returns what a path stands for below a folder; an item without a mode
// for nothing.
func find(repo *gogit.Repository, root plumbing.Hash, path string) (item, error) {
	i := item{mode: modeFolder, id: root}
	for name := range strings.SplitSeq(path, "/") {
		if i.mode != modeFolder || i.id.IsZero() {
			return item{}, nil
		}
		folder, err := content(repo, plumbing.TreeObject, i.id)
		if err != nil {
			return item{}, err
		}
		if i, err = lookup(folder, name); err != nil {
			return item{}, err
		}
	}
	return i, nil
}

// each calls do for every file below a folder, with its path.
func each(repo *gogit.Repository, root plumbing.Hash, path string, do func(path string, i item)) error {
	if root.IsZero() {
		return nil
	}
	folder, err := content(repo, plumbing.TreeObject, root)
	if err != nil {
		return err
	}
	for len(folder) > 0 {
		i, _, rest, err := next(folder)
		if err != nil {
			return err
		}
		folder = rest
		if i.mode != modeFolder {
			do(path+i.name, i)
		} else if err := each(repo, i.id, path+i.name+"/", do); err != nil {
			return err
		}
	}
	return nil
}
