// Package git keeps the history of a folder, in process: no program git is
// needed, and none of the person's own configuration is read.
//
// It promises that a file is whole or absent, whatever happens while it is
// written; that a file written with [Repo.Create] is never overwritten; and that
// the files are the truth: a commit that fails loses nothing and is made up for
// by the next one.
package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"

	"oxios/kernel/sys"
)

// Repo is a folder under version control. Its methods take paths relative to
// the folder, with slashes. They may be called from any goroutine.
type Repo struct {
	dir   string
	clock sys.Clock

	mu   sync.Mutex // one writer of the index at a time
	repo *gogit.Repository
}

// New returns the repository of a folder. Nothing is read or made before the
// first use.
func New(dir string, clock sys.Clock) *Repo { return &Repo{dir: dir, clock: clock} }

// Commit is one entry of the history.
type Commit struct {
	ID      string    `json:"id"`
	Message string    `json:"message"`
	At      time.Time `json:"at"`
}

// open opens the repository, or makes it. The caller holds the lock.
func (r *Repo) open() (*gogit.Repository, error) {
	if r.repo != nil {
		return r.repo, nil
	}
	if err := os.MkdirAll(r.dir, 0o700); err != nil {
		return nil, err
	}
	repo, err := gogit.PlainOpen(r.dir)
	if errors.Is(err, gogit.ErrRepositoryNotExists) {
		repo, err = gogit.PlainInitWithOptions(r.dir, &gogit.PlainInitOptions{InitOptions: gogit.InitOptions{DefaultBranch: plumbing.NewBranchReferenceName("main")}})
	}
	if err != nil {
		return nil, fmt.Errorf("open the history of %s: %w", r.dir, err)
	}
	r.repo = repo
	return repo, nil
}

// Create writes a new file, whole and durable. It fails with conflict when
// there is one already.
func (r *Repo) Create(name string, content []byte) error {
	to, err := r.path(name)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(to), ".new-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }()
	_, err = f.Write(content)
	err = errors.Join(err, f.Sync(), f.Close())
	if err != nil {
		return err
	}
	// A link fails where the name is taken; a rename would replace what is there.
	if err := os.Link(f.Name(), to); errors.Is(err, fs.ErrExist) {
		return sys.Errorf(sys.CodeConflict, "%s exists already and is never changed.", name)
	} else if err != nil {
		if _, serr := os.Lstat(to); serr == nil {
			return sys.Errorf(sys.CodeConflict, "%s exists already and is never changed.", name)
		}
		if err := os.Rename(f.Name(), to); err != nil { // a disk without links
			return err
		}
	}
	return syncDir(filepath.Dir(to))
}

// Replace writes a file, whole and durable, in place of one that may be there.
func (r *Repo) Replace(name string, content []byte) error {
	to, err := r.path(name)
	if err != nil {
		return err
	}
	if err := os.Remove(to); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return r.Create(name, content)
}

// Read returns a file as it is now.
func (r *Repo) Read(name string) ([]byte, error) {
	from, err := r.path(name)
	if err != nil {
		return nil, err
	}
	return os.ReadFile(from)
}

func (r *Repo) path(name string) (string, error) {
	if !fs.ValidPath(name) || name == "." || slices.Contains(strings.Split(name, "/"), ".git") {
		return "", sys.Errorf(sys.CodeInternal, "%q is no path of the workspace.", name)
	}
	return filepath.Join(r.dir, filepath.FromSlash(name)), nil
}

// Commit puts every new or changed file below the folders into the history, so
// also those of an earlier commit that failed. It returns "" when there is
// nothing to put.
func (r *Repo) Commit(ctx context.Context, message string, folders ...string) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	repo, err := r.open()
	if err != nil {
		return "", err
	}
	known, err := tracked(repo)
	if err != nil {
		return "", err
	}
	tree, err := repo.Worktree()
	if err != nil {
		return "", err
	}
	added := 0
	for _, folder := range folders {
		err := fs.WalkDir(os.DirFS(r.dir), folder, func(name string, d fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil || !d.Type().IsRegular() || strings.HasPrefix(path.Base(name), ".") {
				return err
			}
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if hash, ok := known[name]; ok {
				now, err := r.hash(name)
				if err != nil || now == hash {
					return err
				}
			}
			added++
			return tree.AddWithOptions(&gogit.AddOptions{Path: name, SkipStatus: true})
		})
		if err != nil {
			return "", fmt.Errorf("add %s to the history: %w", folder, err)
		}
	}
	if added == 0 {
		return "", nil
	}
	who := &object.Signature{Name: "Oxios", Email: "oxios@localhost", When: r.clock.Now()}
	id, err := tree.Commit(message, &gogit.CommitOptions{Author: who, Committer: who})
	if err != nil {
		return "", fmt.Errorf("commit: %w", err)
	}
	return id.String(), nil
}

func (r *Repo) hash(name string) (plumbing.Hash, error) {
	raw, err := r.Read(name)
	return plumbing.ComputeHash(plumbing.BlobObject, raw), err
}

// tracked returns the files of the newest commit.
func tracked(repo *gogit.Repository) (map[string]plumbing.Hash, error) {
	known := map[string]plumbing.Hash{}
	head, err := repo.Head()
	if errors.Is(err, plumbing.ErrReferenceNotFound) {
		return known, nil
	}
	if err != nil {
		return nil, err
	}
	c, err := repo.CommitObject(head.Hash())
	if err != nil {
		return nil, err
	}
	files, err := c.Files()
	if err != nil {
		return nil, err
	}
	return known, files.ForEach(func(f *object.File) error {
		known[f.Name] = f.Hash
		return nil
	})
}

// Log returns the newest commits that changed a file, or any for "".
func (r *Repo) Log(name string, most int) ([]Commit, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	repo, err := r.open()
	if err != nil {
		return nil, err
	}
	o := &gogit.LogOptions{}
	if name != "" {
		o.FileName = &name
	}
	iter, err := repo.Log(o)
	if errors.Is(err, plumbing.ErrReferenceNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer iter.Close()
	var out []Commit
	for len(out) < most {
		c, err := iter.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return out, err
		}
		out = append(out, Commit{ID: c.Hash.String(), Message: strings.TrimSpace(c.Message), At: c.Committer.When.UTC()})
	}
	return out, nil
}

// Show returns a file as it was at a revision: the id of a commit, a tag, HEAD.
func (r *Repo) Show(name, revision string) ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	repo, err := r.open()
	if err != nil {
		return nil, err
	}
	return show(repo, name, revision)
}

func show(repo *gogit.Repository, name, revision string) ([]byte, error) {
	id, err := repo.ResolveRevision(plumbing.Revision(revision))
	if err != nil {
		return nil, sys.Errorf(sys.CodeNotFound, "The history has no %q.", revision)
	}
	c, err := repo.CommitObject(*id)
	if err != nil {
		return nil, err
	}
	f, err := c.File(name)
	if err != nil {
		return nil, sys.Errorf(sys.CodeNotFound, "%s is not in the history at %s.", name, revision)
	}
	in, err := f.Reader()
	if err != nil {
		return nil, err
	}
	raw, err := io.ReadAll(in)
	return raw, errors.Join(err, in.Close())
}

// Tag names the newest commit.
func (r *Repo) Tag(name string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	repo, err := r.open()
	if err != nil {
		return err
	}
	head, err := repo.Head()
	if err != nil {
		return err
	}
	if _, err := repo.CreateTag(name, head.Hash(), nil); errors.Is(err, gogit.ErrTagExists) {
		return sys.Errorf(sys.CodeConflict, "The history has a tag %q already.", name)
	} else if err != nil {
		return err
	}
	return nil
}

// Restore writes a file that is missing as it was at a revision. One that is
// there stays.
func (r *Repo) Restore(name, revision string) error {
	raw, err := r.Show(name, revision)
	if err != nil {
		return err
	}
	return r.Create(name, raw)
}

// neverCommitted fails when the history has commits, but none that is the newest.
func (r *Repo) neverCommitted(repo *gogit.Repository) error {
	all, err := repo.CommitObjects()
	if err != nil {
		return err
	}
	defer all.Close()
	if _, err := all.Next(); errors.Is(err, io.EOF) {
		return nil
	}
	return sys.Errorf(sys.CodeInternal, "The newest commit of the history is not known any more.")
}

// Verify reads every object that the newest commit reaches and compares each
// with its name. It returns the files that differ from it or are missing.
func (r *Repo) Verify(ctx context.Context) (changed []string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, err := r.open(); err != nil {
		return nil, err
	}
	// Opened anew: what one that is open has read before it takes from its memory.
	repo, err := gogit.PlainOpen(r.dir)
	if err != nil {
		return nil, fmt.Errorf("open the history of %s: %w", r.dir, err)
	}
	known, err := tracked(repo)
	if err == nil && len(known) == 0 {
		err = r.neverCommitted(repo)
	}
	if err != nil {
		return nil, err
	}
	for name, hash := range known {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		raw, err := show(repo, name, plumbing.HEAD.String())
		if err != nil {
			return nil, err
		}
		if plumbing.ComputeHash(plumbing.BlobObject, raw) != hash {
			return nil, sys.Errorf(sys.CodeInternal, "The history of %s is damaged.", name)
		}
		if now, err := r.Read(name); err != nil || !bytes.Equal(now, raw) {
			changed = append(changed, name)
		}
	}
	slices.Sort(changed)
	return changed, nil
}
