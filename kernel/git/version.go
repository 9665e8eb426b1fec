package git

import (
	"context"
	"strings"

	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
)

// mostWalked is how many commits are looked through for the versions of a file.
const mostWalked = 20_000

// Version is a file as a commit left it.
type Version struct {
	Commit
	Path string `json:"path"` // what it was called
	blob plumbing.Hash
}

// Versions returns the newest commits that changed what a file holds, at most
// most of them, along the first parents. moved says what a file was called before
// a commit, "" where the commit did not move it. more reports that there are
// older ones, which were not looked for.
func (r *Repo) Versions(ctx context.Context, name string, most int, moved func(c Commit, name string) string) (list []Version, more bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, err := r.path(name); err != nil {
		return nil, false, err
	}
	repo, err := r.open()
	if err != nil {
		return nil, false, err
	}
	t, err := r.tip(repo)
	if err != nil || t.id.IsZero() {
		return nil, false, err
	}
	c, err := repo.CommitObject(t.id)
	if err != nil {
		return nil, false, err
	}
	blob, err := blobOf(repo, c.TreeHash, name)
	for walked := 0; err == nil; walked++ {
		if ctx.Err() != nil {
			return list, false, context.Cause(ctx)
		}
		here := Commit{ID: c.Hash.String(), Message: strings.TrimSpace(c.Message), At: c.Committer.When.UTC()}
		before := name
		if was := moved(here, name); was != "" {
			before = was
		}
		root, older := plumbing.ZeroHash, plumbing.ZeroHash
		if len(c.ParentHashes) > 0 {
			if c, err = repo.CommitObject(c.ParentHashes[0]); err != nil {
				return list, false, err
			}
			root = c.TreeHash
			if older, err = blobOf(repo, root, before); err != nil {
				return list, false, err
			}
		}
		if older != blob && !blob.IsZero() {
			if len(list) == most {
				return list, true, nil
			}
			list = append(list, Version{Commit: here, Path: name, blob: blob})
		}
		if root.IsZero() {
			return list, false, nil
		}
		if walked == mostWalked {
			return list, true, nil
		}
		name, blob = before, older
	}
	return list, false, err
}

// Content returns what a file held in a version of it.
func (r *Repo) Content(v Version) ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	repo, err := r.open()
	if err != nil {
		return nil, err
	}
	return content(repo, plumbing.BlobObject, v.blob)
}

// blobOf is what a folder holds of a file; zero for none.
func blobOf(repo *gogit.Repository, folder plumbing.Hash, name string) (plumbing.Hash, error) {
	for {
		part, rest, below := strings.Cut(name, "/")
		raw, err := content(repo, plumbing.TreeObject, folder)
		if err != nil {
			return plumbing.ZeroHash, err
		}
		i, err := lookup(raw, part)
		switch {
		case err != nil:
			return plumbing.ZeroHash, err
		case below && i.mode == modeFolder:
			folder, name = i.id, rest
		case below || i.mode != modeFile && i.mode != modeProgram:
			return plumbing.ZeroHash, nil
		default:
			return i.id, nil
		}
	}
}
