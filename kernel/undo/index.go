package undo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"oxios/kernel/security"
	"oxios/kernel/sys"
)

// Entry is one path of an [Index]: its state, and what tells without reading
// whether it may have changed.
type Entry struct {
	Path  string // below the folder, with slashes
	State State
	Stamp Stamp
	Kept  bool // the content is in the store

	Accessed int64  // nanoseconds, when this content was first seen
	Attrs    string // as [sys.EncodeAttrs] writes them
	Fresh    bool   // it changed so lately that the next change may have the same stamp
}

// Stamp is what the file system says of a file. Equal stamps mean an unchanged
// file, unless it was changed at the very moment of the look.
type Stamp struct {
	Size     int64
	Modified int64 // nanoseconds
	Changed  int64 // of the inode, nanoseconds; 0 where the system has none
	Inode    uint64
}

// Index is how a folder was, sorted by path.
type Index struct {
	Version int // what entries hold; one of another version is looked at anew for the rest
	Entries []Entry
	Skipped []string // folders that are not looked into, as node_modules
}

// indexVersion is 1 since entries have attributes.
const indexVersion = 1

// Indexing says what of a folder is looked at.
type Indexing struct {
	Tree    fs.FS                       // the folder as it is walked
	Skip    func(rel, name string) bool // folders that are not looked into
	Ignored func(rel string) bool       // folders that are not looked into unless the index before has them
	Most    int                         // paths
	MaxFile int64                       // bytes of a file that is kept
	MaxAll  int64                       // bytes of all that is kept, the smallest first
}

// ErrTooMany says that a folder has more than can be looked at.
var ErrTooMany = errors.New("the folder holds too many files")

// settling is how long after a change another one may have the same stamp.
const settling = 50 * time.Millisecond

// Scan looks at a folder. What is unchanged since the index before is neither read
// nor copied; of what is new the content is kept and durable then.
func Scan(ctx context.Context, o *Objects, root *security.Root, before *Index, in Indexing) (*Index, error) {
	old := map[string]*Entry{}
	had := map[string]bool{} // folders that the index before has something of
	if before != nil {
		for i := range before.Entries {
			e := &before.Entries[i]
			old[e.Path] = e
			had[path.Dir(e.Path)] = true
			if e.State.Kind == Folder {
				had[e.Path] = true
			}
		}
	}
	now := time.Now().Add(-settling).UnixNano()
	x := &Index{Version: indexVersion}
	var read, bare []int // whose content, and whose attributes alone are not known
	err := fs.WalkDir(in.Tree, ".", func(rel string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil && d != nil && d.IsDir():
			return fs.SkipDir // it may not be read, or went
		case err != nil || rel == ".":
			return nil
		case d.IsDir() && (in.Skip(rel, d.Name()) || in.Ignored(rel) && !had[rel]):
			x.Skipped = append(x.Skipped, rel)
			return fs.SkipDir
		}
		info, err := d.Info()
		if err != nil {
			return nil // it went
		}
		if len(x.Entries) >= in.Most {
			return ErrTooMany
		}
		e := Entry{Path: rel, State: stateOf(info), Stamp: stampOf(info), Accessed: accessedAt(info)}
		e.Fresh = max(e.Stamp.Modified, e.Stamp.Changed) > now
		if known := old[rel]; known != nil && !known.Fresh && known.State.Kind == e.State.Kind && known.Stamp == e.Stamp && (known.Kept || e.State.Kind == Folder) {
			e.State.Content, e.Kept, e.Accessed, e.Attrs = known.State.Content, known.Kept, known.Accessed, known.Attrs
			if before.Version != indexVersion {
				e.Accessed = accessedAt(info)
				bare = append(bare, len(x.Entries))
			}
		} else if e.State.Kind == File || e.State.Kind == Link {
			read = append(read, len(x.Entries))
		} else if e.State.Kind == Folder {
			bare = append(bare, len(x.Entries))
		}
		x.Entries = append(x.Entries, e)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := keepEntries(ctx, o, root, x, read, in); err != nil {
		return nil, err
	}
	for _, i := range bare {
		if e := &x.Entries[i]; e.State.Kind == File || e.State.Kind == Folder {
			if info, err := root.FS().Lstat(e.Path); err == nil {
				e.Attrs = attrsOf(root, e.Path, info)
			}
		}
	}
	slices.SortFunc(x.Entries, func(a, b Entry) int { return strings.Compare(a.Path, b.Path) })
	return x, nil
}

// keepEntries reads what is new, the smallest first, and keeps what has room.
func keepEntries(ctx context.Context, o *Objects, root *security.Root, x *Index, read []int, in Indexing) error {
	room := in.MaxAll
	for _, e := range x.Entries {
		if e.Kept {
			room -= e.State.Size
		}
	}
	slices.SortFunc(read, func(a, b int) int { return int(min(max(x.Entries[a].State.Size-x.Entries[b].State.Size, -1), 1)) })
	put, batch := o.Put, o.Batch()
	if len(read) > 8 { // a pack is made durable at once, but a few objects need none
		put = batch.Put
	}
	for _, i := range read {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		e := &x.Entries[i]
		if e.State.Kind == File && (e.State.Size > in.MaxFile || e.State.Size > room) {
			continue
		}
		content, err := contentOf(root, e)
		if err != nil {
			e.Fresh = true // it may not be read, or is being written to
			continue
		}
		if e.State.Content, err = put(content); err != nil {
			return err
		}
		e.Kept = true
		room -= e.State.Size
	}
	return batch.Close()
}

func contentOf(root *security.Root, e *Entry) ([]byte, error) {
	if e.State.Kind == Link {
		to, err := root.FS().Readlink(e.Path)
		return []byte(to), err
	}
	f, info, err := root.OpenRegular(e.Path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	e.Attrs = sys.EncodeAttrs(sys.ReadAttrs(f))
	content, err := io.ReadAll(io.LimitReader(f, e.State.Size+1))
	if err == nil && (stampOf(info) != e.Stamp || int64(len(content)) != e.State.Size) {
		err = fmt.Errorf("read %s: %w", e.Path, errChanging)
	}
	return content, err
}

// meta is what belonged to an entry.
func (e Entry) meta() Meta {
	return Meta{Modified: e.Stamp.Modified, Accessed: e.Accessed, Attrs: e.Attrs, Known: e.Path != ""}
}

// Difference is a path that is not as it was.
type Difference struct {
	Path          string
	Before, After State
	Meta          Meta // what belonged to it before
}

// Differ compares two indexes of a folder. How a file is that is too large to keep
// is read now, so that an undo knows whether it is still the same.
func Differ(before, after *Index, root *security.Root) []Difference {
	was, is := map[string]Entry{}, map[string]Entry{}
	for _, e := range before.Entries {
		was[e.Path] = e
	}
	var out []Difference
	for _, e := range after.Entries {
		is[e.Path] = e
		old, ok := was[e.Path]
		if !ok {
			old.State = State{Kind: Absent}
		}
		if ok && old.State == e.State && (old.Stamp == e.Stamp || e.State.Kind == Folder || e.Kept && old.Kept) {
			continue
		}
		if e.State.Kind == Other || old.State.Kind == Other {
			continue
		}
		if e.State.Kind == File && e.State.Content == "" {
			if now, err := Look(root, e.Path); err == nil {
				e.State = now
			}
		}
		out = append(out, Difference{e.Path, old.State, e.State, old.meta()})
	}
	skipped := func(p string) bool {
		return slices.ContainsFunc(after.Skipped, func(s string) bool { return p == s || strings.HasPrefix(p, s+"/") })
	}
	for _, e := range before.Entries {
		if _, ok := is[e.Path]; !ok && e.State.Kind != Other && !skipped(e.Path) {
			out = append(out, Difference{e.Path, e.State, State{Kind: Absent}, e.meta()})
		}
	}
	slices.SortFunc(out, func(a, b Difference) int { return strings.Compare(a.Path, b.Path) })
	return out
}
