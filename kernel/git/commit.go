package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"

	"oxios/kernel/sys"
)

const (
	author      = "Oxios"
	address     = "oxios@localhost"
	commitTries = 5 // how often somebody else may commit in between
)

// Commit puts what was written below the folders since the last commit into the
// history. The first one of a process, and the one after one that failed, looks
// at every file below them: nothing that was written is left out for good. It
// returns "" when there is nothing to put. Files that are gone stay in the
// history.
//
// It goes on from whatever is checked out, and puts nothing else along: what
// the person has staged stays staged.
func (r *Repo) Commit(ctx context.Context, message string, folders ...string) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	id, err := r.commit(ctx, message, folders)
	if err != nil {
		r.looked, r.repo, r.last = nil, nil, last{} // also what is held open may be the reason
		return "", fmt.Errorf("commit: %w", err)
	}
	return id, nil
}

// Touched says that files were written in another way: the next commit looks at
// them.
func (r *Repo) Touched(names ...string) {
	for _, name := range names {
		r.wrote(name)
	}
}

// Recheck says that files came in another way than by writing them here: the next
// commit looks at all of them.
func (r *Repo) Recheck() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.looked, r.repo = nil, nil
}

func (r *Repo) commit(ctx context.Context, message string, folders []string) (string, error) {
	repo, err := r.open()
	if err != nil {
		return "", err
	}
	files, whole, err := r.candidates(ctx, folders)
	if err != nil || len(files) == 0 && len(whole) == 0 {
		return "", err
	}
	var known map[string]entry
	if len(whole) > 0 {
		known = r.knownFiles()
	}
	var id plumbing.Hash
	var t tip
	for try := 0; ; try++ {
		if t, err = r.tip(repo); err != nil {
			return "", err
		}
		id, err = r.commitOn(ctx, repo, t, message, files, known)
		if err == nil {
			break
		}
		if !errors.Is(err, errMoved) || try == commitTries {
			return "", err
		}
	}
	r.updateIndex(repo, t.id, files, len(whole) > 0)
	for _, folder := range whole {
		if r.looked == nil {
			r.looked = map[string]bool{}
		}
		r.looked[folder] = true
	}
	if id.IsZero() {
		return "", nil
	}
	return id.String(), nil
}

// candidates returns the files that may have to be committed, and those of the
// folders of which all files are among them.
func (r *Repo) candidates(ctx context.Context, folders []string) (files []*file, whole []string, err error) {
	r.writes.Lock()
	seen := map[string]bool{}
	for name := range r.written {
		for _, folder := range folders {
			if folder == "." || name == folder || strings.HasPrefix(name, folder+"/") {
				seen[name] = true
			}
		}
	}
	for name := range seen {
		delete(r.written, name)
	}
	r.writes.Unlock()
	for name := range seen {
		files = append(files, &file{path: name})
	}
	for _, folder := range folders {
		if r.looked[folder] {
			continue
		}
		whole = append(whole, folder)
		err := fs.WalkDir(os.DirFS(r.dir), folder, func(name string, d fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err == nil && d.IsDir() && name != folder && strings.HasPrefix(d.Name(), ".") {
				return fs.SkipDir // the history itself, and what other programs keep
			}
			if err != nil || !d.Type().IsRegular() || strings.HasPrefix(path.Base(name), ".") {
				return err
			}
			if !seen[name] {
				seen[name] = true
				files = append(files, &file{path: name})
			}
			return context.Cause(ctx)
		})
		if err != nil {
			return nil, nil, fmt.Errorf("look at %s: %w", folder, err)
		}
	}
	return files, whole, nil
}

// commitOn makes a commit that follows t, and makes it the newest. It returns
// zero when t has all files as they are.
func (r *Repo) commitOn(ctx context.Context, repo *gogit.Repository, t tip, message string, files []*file, known map[string]entry) (id plumbing.Hash, err error) {
	root := r.last.root
	if r.last.id != t.id || t.id.IsZero() {
		r.last = last{}
		if root, err = rootOf(repo, t.id); err != nil {
			return id, err
		}
	}
	var all branch
	for _, f := range files {
		all.put(f.path, f)
	}
	g := growth{repo: repo, recent: r.last.folders, objects: objects{dir: filepath.Join(r.git, "objects")}}
	g.look = func(f *file, trust bool) ([]byte, error) {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if !trust {
			return r.look(f, nil)
		}
		return r.look(f, known)
	}
	to, err := g.grow(&all, root)
	if err != nil || to == root {
		return id, err
	}
	now := object.Signature{Name: author, Email: address, When: r.clock.Now()}
	c := object.Commit{Author: now, Committer: now, Message: message, TreeHash: to}
	if !t.id.IsZero() {
		c.ParentHashes = []plumbing.Hash{t.id}
	}
	var encoded plumbing.MemoryObject
	if err := c.Encode(&encoded); err != nil {
		return id, err
	}
	in, err := encoded.Reader()
	if err != nil {
		return id, err
	}
	var body bytes.Buffer
	if _, err := body.ReadFrom(in); err != nil {
		return id, err
	}
	if id, err = g.add(plumbing.CommitObject, body.Bytes()); err != nil {
		return id, err
	}
	if err := g.flush(func() error { return r.prepareRef(id) }); err != nil {
		return id, err
	}
	err = r.move(ctx, t.ref, func() error {
		if now, err := r.tip(repo); err != nil || now != t {
			return errors.Join(errMoved, err)
		}
		return nil
	})
	if err == nil {
		r.last = last{id: id, root: to, folders: g.kept}
	}
	return id, err
}

// last is a commit of ours, as far as the next one needs it.
type last struct {
	id, root plumbing.Hash
	folders  map[plumbing.Hash][]byte
}

// rootOf returns the folder of a commit; zero for no commit.
func rootOf(repo *gogit.Repository, id plumbing.Hash) (plumbing.Hash, error) {
	if id.IsZero() {
		return id, nil
	}
	c, err := repo.CommitObject(id)
	if err != nil {
		return plumbing.ZeroHash, fmt.Errorf("read commit %s: %w", id, err)
	}
	return c.TreeHash, nil
}

// look finds out how a file is now, and reads it if the index does not know it
// as it is.
func (r *Repo) look(f *file, known map[string]entry) ([]byte, error) {
	name, err := r.path(f.path)
	if err != nil {
		return nil, err
	}
	info, err := os.Lstat(name) // before it is read: what changes later is seen to differ
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		f.gone = true
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	f.now, f.gone = entryOf(f.path, info), false
	if was, ok := known[f.path]; ok && was.stat == f.now.stat {
		f.now.id = was.id
		return nil, nil
	}
	raw, err := sys.ReadRegular(name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, sys.ErrSpecial) {
		f.gone = true
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	f.now.id = plumbing.ComputeHash(plumbing.BlobObject, raw)
	if raw == nil {
		raw = []byte{}
	}
	return raw, nil
}
