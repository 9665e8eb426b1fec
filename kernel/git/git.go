// Package git keeps the history of a folder, in process: no program git is
// needed, and none of the person's own configuration is read.
//
// It promises that a file is whole or absent, whatever happens while it is
// written; that a file written with [Repo.Create] is never overwritten; and that
// the files are the truth: a commit that fails loses nothing and is made up for
// by the next one. A commit costs the same however many files there are, and the
// person's own git may be at work beside it: what it staged stays staged.
//
//	commit.go   from changed files to a commit that is durable
//	tree.go     folders as objects; object.go: objects as files
//	ref.go      names of commits, and git's locks
//	version.go  how a file was before
//	index.go    what git's own status goes by; index_file.go: its format
package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"

	"oxios/kernel/sys"
)

// Repo is a folder under version control. Its methods take paths relative to
// the folder, with slashes. They may be called from any goroutine.
type Repo struct {
	dir   string
	clock sys.Clock

	mu     sync.Mutex // one works with the history at a time
	repo   *gogit.Repository
	git    string           // the folder of the history itself
	packs  time.Time        // when its packs changed last
	looked map[string]bool  // folders of which nothing is known to be left to commit, but written
	last   last             // the commit that was made last
	behind map[string]entry // what was committed and does not stand in the index yet

	writes  sync.Mutex      // after mu
	written map[string]bool // files written since the last commit
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

// Create writes a new file, whole and durable. It fails with conflict when
// there is one already.
func (r *Repo) Create(name string, content []byte) error {
	return r.write(name, content, func(temp, to string) error {
		// A link fails where the name is taken; a rename would replace what is there.
		err := os.Link(temp, to)
		if err == nil {
			return nil
		}
		if _, there := os.Lstat(to); there == nil {
			return sys.Errorf(sys.CodeConflict, "%s exists already and is never changed.", name)
		}
		return os.Rename(temp, to) // a disk without links
	})
}

// Replace writes a file, whole and durable, in place of one that may be there.
func (r *Repo) Replace(name string, content []byte) error {
	return r.write(name, content, os.Rename)
}

// write writes a file that becomes what place makes of it.
func (r *Repo) write(name string, content []byte, place func(temp, to string) error) error {
	to, err := r.path(name)
	if err != nil {
		return err
	}
	if err := makeDirs(filepath.Dir(to), 0o700); err != nil {
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
	if err := place(f.Name(), to); err != nil {
		return err
	}
	r.wrote(name) // also when only its name may get lost
	return syncDir(filepath.Dir(to))
}

// wrote keeps in mind that a file may have to be committed.
func (r *Repo) wrote(name string) {
	r.writes.Lock()
	defer r.writes.Unlock()
	if r.written == nil {
		r.written = map[string]bool{}
	}
	r.written[name] = true
}

// Read returns a file as it is now.
func (r *Repo) Read(name string) ([]byte, error) {
	from, err := r.path(name)
	if err != nil {
		return nil, err
	}
	return sys.ReadRegular(from)
}

func (r *Repo) path(name string) (string, error) {
	if !fs.ValidPath(name) || name == "." || slices.Contains(strings.Split(name, "/"), ".git") {
		return "", sys.Errorf(sys.CodeInternal, "%q is no path of the workspace.", name)
	}
	return filepath.Join(r.dir, filepath.FromSlash(name)), nil
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
	t, err := r.tip(repo)
	if err == nil && t.id.IsZero() {
		err = r.neverCommitted(repo)
	}
	if err != nil {
		return nil, err
	}
	root, err := rootOf(repo, t.id)
	if err != nil {
		return nil, err
	}
	known := map[string]plumbing.Hash{}
	if err := each(repo, root, "", func(path string, i item) {
		if i.mode == modeFile || i.mode == modeProgram {
			known[path] = i.id
		}
	}); err != nil {
		return nil, err
	}
	for name, hash := range known {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		raw, err := content(repo, plumbing.BlobObject, hash)
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
