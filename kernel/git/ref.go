package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/storage/filesystem"

	"oxios/kernel/sys"
)

const (
	ownLock   = "oxios.lock" // what our locks are links to
	lockText  = "Oxios holds this for the moment of a commit.\n"
	lockTries = 20
	lockPause = 5 * time.Millisecond
)

// errMoved says that a reference is not any more what it was.
var errMoved = errors.New("the history went on meanwhile")

// open opens the repository, or makes it. The caller holds the lock.
func (r *Repo) open() (*gogit.Repository, error) {
	if r.repo != nil {
		// What was packed meanwhile is found only by one that is opened anew.
		if info, err := os.Stat(filepath.Join(r.git, "objects", "pack")); err == nil && info.ModTime().Equal(r.packs) {
			return r.repo, nil
		}
		r.repo = nil
	}
	repo, err := gogit.PlainOpen(r.dir)
	if errors.Is(err, gogit.ErrRepositoryNotExists) {
		if err = r.begin(); err == nil {
			repo, err = gogit.PlainOpen(r.dir)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("open the history of %s: %w", r.dir, err)
	}
	store, ok := repo.Storer.(*filesystem.Storage)
	if !ok {
		return nil, fmt.Errorf("open the history of %s: it is not in a folder", r.dir)
	}
	r.git = store.Filesystem().Root()
	if info, err := os.Stat(filepath.Join(r.git, "objects", "pack")); err == nil {
		r.packs = info.ModTime()
	}
	r.repo = repo
	// One that a crash left behind would keep the person's git out.
	r.freed(filepath.Join(r.git, "index"))
	return repo, nil
}

// begin makes the repository. It is one for git from its last file on, HEAD, and
// what a crash has cut off is made again.
func (r *Repo) begin() error {
	git := filepath.Join(r.dir, gogit.GitDirName)
	if err := makeDirs(r.dir, 0o700); err != nil {
		return err
	}
	for _, dir := range []string{"info", "objects/info", "objects/pack", "refs/heads", "refs/tags"} {
		if err := makeDirs(filepath.Join(git, filepath.FromSlash(dir)), 0o777); err != nil {
			return err
		}
	}
	config := fmt.Sprintf("[core]\n\trepositoryformatversion = 0\n\tfilemode = %t\n\tbare = false\n", runtime.GOOS != "windows")
	for _, f := range [][2]string{
		{"info/exclude", ".new-*\n"}, // files that a crash left half written are none of the person's
		{ownLock, lockText},
		{"config", config},
		{"HEAD", "ref: refs/heads/main\n"},
	} {
		name := filepath.Join(git, filepath.FromSlash(f[0]))
		if _, err := os.Lstat(name); err == nil && f[0] != ownLock {
			continue
		}
		if err := writeSynced(name+".new", []byte(f[1])); err != nil {
			return err
		}
		if err := os.Rename(name+".new", name); err != nil {
			return err
		}
		if err := syncDir(filepath.Dir(name)); err != nil {
			return err
		}
	}
	return nil
}

// tip is what the next commit goes on from.
type tip struct {
	ref plumbing.ReferenceName // what moves: a branch, or HEAD when none is checked out
	id  plumbing.Hash          // zero: no commit yet
}

// tip finds where HEAD is.
func (r *Repo) tip(repo *gogit.Repository) (tip, error) {
	t := tip{ref: plumbing.HEAD}
	for range 5 {
		ref, err := repo.Storer.Reference(t.ref)
		switch {
		case errors.Is(err, plumbing.ErrReferenceNotFound):
			// A file that cannot be read is taken for none, and a history must not begin anew for that.
			if _, err := os.Lstat(r.file(t.ref)); !errors.Is(err, fs.ErrNotExist) {
				return t, sys.Errorf(sys.CodeInternal, "The newest commit of the history is not known any more.")
			}
			return t, nil
		case err != nil:
			return t, err
		case ref.Type() == plumbing.HashReference:
			t.id = ref.Hash()
			return t, nil
		}
		t.ref = ref.Target()
	}
	return t, fmt.Errorf("HEAD of %s leads nowhere", r.dir)
}

func (r *Repo) file(ref plumbing.ReferenceName) string {
	return filepath.Join(r.git, filepath.FromSlash(ref.String()))
}

// prepareRef writes what a reference will hold, to be made it by move.
func (r *Repo) prepareRef(id plumbing.Hash) error {
	return writeSynced(filepath.Join(r.git, "oxios-ref"), []byte(id.String()+"\n"))
}

// move makes a reference what was prepared, if still says that nothing came in
// between.
func (r *Repo) move(ctx context.Context, ref plumbing.ReferenceName, still func() error) error {
	to := r.file(ref)
	if err := makeDirs(filepath.Dir(to), 0o777); err != nil {
		return err
	}
	var free func()
	for try := 0; ; try++ {
		var err error
		if free, err = r.lock(to); err == nil {
			break
		}
		if !errors.Is(err, fs.ErrExist) || try == lockTries {
			return fmt.Errorf("lock %s: %w", ref, err)
		}
		select { // git holds it for as long as a write takes
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(lockPause):
		}
	}
	defer free()
	if err := still(); err != nil {
		return err
	}
	if err := os.Rename(filepath.Join(r.git, "oxios-ref"), to); err != nil {
		return err
	}
	return syncDir(filepath.Dir(to))
}

// lock takes a file as git does, by making one beside it. It fails with
// [fs.ErrExist] while somebody else has it.
func (r *Repo) lock(name string) (free func(), err error) {
	name += ".lock"
	r.freed(name[:len(name)-len(".lock")])
	own := filepath.Join(r.git, ownLock)
	err = os.Link(own, name)
	if errors.Is(err, fs.ErrNotExist) { // a history that was not begun by us
		if err = writeSynced(own, []byte(lockText)); err == nil {
			err = os.Link(own, name)
		}
	}
	if err != nil && !errors.Is(err, fs.ErrExist) { // a disk without links
		var f *os.File
		if f, err = os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666); err == nil {
			_, err = f.WriteString(lockText)
			err = errors.Join(err, f.Close())
		}
	}
	if err != nil {
		return nil, err
	}
	return func() { _ = os.Remove(name) }, nil
}

// freed removes a lock of ours that a crash left behind: nobody else of this
// program has one while r is locked.
func (r *Repo) freed(name string) {
	name += ".lock"
	info, err := os.Lstat(name)
	if err != nil || info.Size() != int64(len(lockText)) {
		return
	}
	if text, err := sys.ReadRegular(name); err == nil && string(text) == lockText {
		_ = os.Remove(name)
	}
}

// writeSynced writes a file in place of one that may be there.
func writeSynced(name string, content []byte) error {
	_ = os.Remove(name) // it may have got a second name before a crash
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Sync(), f.Close())
}

// makeDirs makes a folder and those above it, all of them durable.
func makeDirs(dir string, mode fs.FileMode) error {
	err := os.Mkdir(dir, mode)
	switch {
	case err == nil:
		return syncDir(filepath.Dir(dir))
	case errors.Is(err, fs.ErrExist):
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if err := makeDirs(filepath.Dir(dir), mode); err != nil {
		return err
	}
	return makeDirs(dir, mode)
}

// Tag names the newest commit.
func (r *Repo) Tag(name string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	repo, err := r.open()
	if err != nil {
		return err
	}
	head, err := r.tip(repo)
	if err != nil {
		return err
	}
	if head.id.IsZero() {
		return plumbing.ErrReferenceNotFound
	}
	ref := plumbing.NewTagReferenceName(name)
	if err := ref.Validate(); err != nil {
		return err
	}
	if err := r.prepareRef(head.id); err != nil {
		return err
	}
	return r.move(context.Background(), ref, func() error {
		_, err := repo.Storer.Reference(ref)
		if err == nil {
			return sys.Errorf(sys.CodeConflict, "The history has a tag %q already.", name)
		}
		if !errors.Is(err, plumbing.ErrReferenceNotFound) {
			return err
		}
		return nil
	})
}
