package git

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"

	"oxios/kernel/sys"
)

// mostOwn is how many entries an index has before they are put where they are
// shared. It is written anew with each commit, so this, and not the number of
// files, is what a commit costs.
var mostOwn = 512

// sharedFor is how long shared entries are kept that the index does not need any
// more, as git does: another index may go by them.
const sharedFor = 14 * 24 * time.Hour

// readIndex returns the index, or why it cannot be read.
func (r *Repo) readIndex() (x *index, err error) { return readIndexFile(filepath.Join(r.git, "index")) }

// knownFiles returns the files that the index knows, except those that changed at
// the moment when it was written: they may have changed once more. An index that
// cannot be read knows none.
func (r *Repo) knownFiles() map[string]entry {
	known := map[string]entry{}
	x, err := r.readIndex()
	if err == nil {
		err = x.join(r.git)
	}
	if err != nil {
		return known
	}
	for _, e := range x.entries {
		if e.flags == 0 && e.modified() < x.written {
			known[e.name] = e
		}
	}
	return known
}

// updateIndex tells the index what was committed after on. While the person's git
// holds it, or when it is of a kind that is not known here, that is left for the
// next commit: the files and the history are right without it.
func (r *Repo) updateIndex(repo *gogit.Repository, on plumbing.Hash, files []*file, whole bool) {
	if r.behind == nil {
		r.behind = map[string]entry{}
	}
	for _, f := range files {
		if f.changed {
			r.behind[f.path] = f.now
		}
	}
	if len(r.behind) == 0 && !whole {
		return
	}
	if err := r.tellIndex(repo, on, files, whole); err == nil {
		r.behind = nil
		_ = os.Remove(r.noteFile())
	} else if len(r.behind) > 0 { // for a process that comes later
		_ = os.WriteFile(r.noteFile(), []byte(strings.Join(slices.Collect(maps.Keys(r.behind)), "\x00")), 0o600)
	}
}

func (r *Repo) tellIndex(repo *gogit.Repository, on plumbing.Hash, files []*file, whole bool) error {
	name := filepath.Join(r.git, "index")
	free, err := r.lock(name)
	if err != nil {
		return err
	}
	defer free()
	x, err := r.readIndex()
	if err == nil && whole {
		all := *x
		if err = all.join(r.git); err == nil {
			r.missed(repo, on, &all, files)
		}
	}
	if err == nil && len(r.behind)+len(x.entries) > mostOwn {
		err = x.join(r.git)
	}
	if errors.Is(err, errNoIndex) || errors.Is(err, errBroken) { // by a crash: git could do nothing with it either
		if x, err = r.indexOf(repo); err == nil {
			for _, f := range files {
				if !f.gone {
					r.behind[f.path] = f.now
				}
			}
		}
	}
	if err != nil || len(r.behind) == 0 {
		return err
	}
	x.put(r.behind)
	if len(x.entries) > mostOwn && x.shared.IsZero() && !keptWhole(repo) {
		if err := r.share(x); err != nil {
			return err
		}
	}
	// Not flushed, as git does not either: it can be made anew from the history.
	temp := filepath.Join(r.git, "oxios-index")
	_ = os.Remove(temp)
	if err := os.WriteFile(temp, x.encode(), 0o666); err != nil {
		return err
	}
	return os.Rename(temp, name)
}

// put replaces entries, also those of a conflict, and adds new ones.
func (x *index) put(put map[string]entry) {
	x.entries = slices.DeleteFunc(x.entries, func(e entry) bool {
		_, ok := put[e.name]
		return ok
	})
	for _, e := range put {
		x.entries = append(x.entries, e)
	}
	slices.SortFunc(x.entries, compareEntries)
}

// share moves all entries to a file that stays as it is.
func (r *Repo) share(x *index) error {
	raw := (&index{version: x.version, entries: x.entries}).encode()
	temp := filepath.Join(r.git, "oxios-shared")
	var shared plumbing.Hash
	copy(shared[:], raw[len(raw)-len(shared):])
	// Without it git could not read the index at all, so it is durable first.
	if err := writeSynced(temp, raw); err != nil {
		return err
	}
	if err := os.Rename(temp, sharedFile(r.git, shared)); err != nil {
		return err
	}
	if err := syncDir(r.git); err != nil {
		return err
	}
	x.entries, x.shared, x.bits = nil, shared, slices.Concat(noBits, noBits)
	list, err := os.ReadDir(r.git)
	if err != nil {
		return err
	}
	for _, d := range list {
		name := filepath.Join(r.git, d.Name())
		info, err := d.Info()
		if err == nil && strings.HasPrefix(d.Name(), "sharedindex.") && name != sharedFile(r.git, shared) && time.Since(info.ModTime()) > sharedFor {
			_ = os.Remove(name)
		}
	}
	return nil
}

// keptWhole reports whether the person wants the index in one file: git has a
// setting for that, because not every program can read one that is split.
func keptWhole(repo *gogit.Repository) bool {
	c, err := repo.Config()
	if err != nil {
		return false
	}
	switch strings.ToLower(c.Raw.Section("core").Option("splitIndex")) {
	case "false", "no", "off", "0":
		return true
	}
	return false
}

// indexOf returns an index of the newest commit. What the files are like is not
// known to it: git finds out.
func (r *Repo) indexOf(repo *gogit.Repository) (*index, error) {
	t, err := r.tip(repo)
	if err != nil {
		return nil, err
	}
	root, err := rootOf(repo, t.id)
	if err != nil {
		return nil, err
	}
	x := &index{version: 2}
	err = each(repo, root, "", func(path string, i item) {
		x.entries = append(x.entries, i.entry(path))
	})
	slices.SortFunc(x.entries, compareEntries)
	return x, err
}

// missed finds what an earlier process committed and could not tell the index:
// what it left a note of, and what stands in the index as it was before one of
// its commits, last being the newest, that the index cannot know of. Whatever else
// is there is the person's.
func (r *Repo) missed(repo *gogit.Repository, last plumbing.Hash, x *index, files []*file) {
	noted := map[string]bool{}
	if raw, err := sys.ReadRegular(r.noteFile()); err == nil {
		for name := range strings.SplitSeq(string(raw), "\x00") {
			noted[name] = true
		}
	}
	known := map[string]entry{}
	for _, e := range x.entries {
		known[e.name] = e
	}
	unseen := r.unseen(repo, last, x.written)
	for _, f := range files {
		e, ok := known[f.path]
		if f.changed || f.gone || ok && e.id == f.now.id {
			continue
		}
		if noted[f.path] || slices.ContainsFunc(unseen, func(root plumbing.Hash) bool {
			before, err := find(repo, root, f.path)
			return err == nil && before.id == e.id // zero for none
		}) {
			r.behind[f.path] = f.now
		}
	}
}

// unseen returns what the history was before each of our commits that are newer
// than the index: a crash may have taken what it was told of them.
func (r *Repo) unseen(repo *gogit.Repository, last plumbing.Hash, index int64) (roots []plumbing.Hash) {
	const most = 100
	for len(roots) < most && !last.IsZero() {
		c, err := repo.CommitObject(last)
		if err != nil || c.Committer.Email != address {
			break
		}
		name := last.String()
		info, err := os.Stat(filepath.Join(r.git, "objects", name[:2], name[2:]))
		if err != nil || info.ModTime().UnixNano() < index {
			break
		}
		last = plumbing.ZeroHash
		if len(c.ParentHashes) > 0 {
			last = c.ParentHashes[0]
		}
		root, err := rootOf(repo, last)
		if err != nil {
			break
		}
		roots = append(roots, root)
	}
	return roots
}

func (r *Repo) noteFile() string { return filepath.Join(r.git, "oxios-behind") }
