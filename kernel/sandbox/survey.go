package sandbox

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"oxios/kernel/sys"
)

// Kind is what [Config.Kinds] says of a path; 0 is nothing of interest.
type Kind uint8

// Survey is what lies in a folder that a command must not change or not see:
// repositories, and what [Config.Kinds] names.
type Survey struct {
	Root  string    // without links
	Repos []Repo    // sorted by depth, then by path
	Found []Finding // the same
	Shut  []string  // folders that may not be looked into; absolute
}

// Repo is what git takes for a repository: a folder that holds one, or a file or
// a link ".git" that leads to one.
type Repo struct {
	Path  string // absolute
	Leads bool   // it is no folder
}

// Finding is a path that [Config.Kinds] named.
type Finding struct {
	Path   string // below the root, with slashes
	Kind   Kind
	Folder bool
}

// surveyTime is how long a survey may take. What was not seen cannot be guarded.
const surveyTime = 20 * time.Second

// keptSurveys is how many folders a runner remembers.
const keptSurveys = 8

// surveys remembers what was found where, by folder: a folder whose time stamps
// are the same has the same entries.
type surveys struct {
	mu    sync.Mutex
	known map[string]*surveyed
	order []string // the root that was used last at the end
}

type surveyed struct {
	mu      sync.Mutex
	folders map[string]listing // by the path below the root
}

// listing is what a folder holds, as far as it matters.
type listing struct {
	stamp   stamp
	fresh   bool // it changed so lately that the next change may have the same stamp
	folders []string
	found   []Finding
	repo    bool // git keeps a repository in it, or will once it is complete: it is called ".git"
	leads   bool // a file or a link ".git" lies in it
}

// settling is how long after a change another one may have the same stamp.
const settling = 50 * time.Millisecond

// Survey looks at a folder, at any depth. Only what changed since the last look
// is listed anew.
func (r *Runner) Survey(ctx context.Context, root string) (*Survey, error) {
	root = canonical(root)
	r.surveys.mu.Lock()
	known := r.surveys.known[root]
	if known == nil {
		known = &surveyed{folders: map[string]listing{}}
		if r.surveys.known == nil {
			r.surveys.known = map[string]*surveyed{}
		}
		r.surveys.known[root] = known
	}
	r.surveys.order = append(slices.DeleteFunc(r.surveys.order, func(s string) bool { return s == root }), root)
	if len(r.surveys.order) > keptSurveys {
		delete(r.surveys.known, r.surveys.order[0])
		r.surveys.order = r.surveys.order[1:]
	}
	r.surveys.mu.Unlock()
	known.mu.Lock()
	defer known.mu.Unlock()
	return known.look(ctx, root, r.cfg.Kinds)
}

func (s *surveyed) look(ctx context.Context, root string, kinds func(root, rel string, folder bool) Kind) (*Survey, error) {
	end := time.Now().Add(surveyTime)
	out, now := &Survey{Root: root}, make(map[string]listing, len(s.folders))
	for todo := []string{"."}; len(todo) > 0; {
		rel := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		at := root
		if rel != "." {
			at = root + "/" + rel
		}
		if ctx.Err() != nil {
			return nil, stopped(ctx)
		}
		if time.Now().After(end) {
			return nil, sys.Errorf(sys.CodeUnavailable, "The folder %s holds too much to be looked through for repositories.", root).
				WithHint("Work in a folder inside it.")
		}
		is, fresh, err := stampAt(at)
		if err != nil {
			continue // it went, or may not be read
		}
		l, ok := s.folders[rel]
		if !ok || l.fresh || l.stamp != is {
			if l, err = list(root, at, rel, kinds); errors.Is(err, fs.ErrPermission) {
				out.Shut = append(out.Shut, at)
				continue
			}
			if err != nil {
				continue
			}
			l.stamp, l.fresh = is, fresh
		}
		now[rel] = l
		if l.repo {
			out.Repos = append(out.Repos, Repo{Path: at})
		}
		if l.leads {
			out.Repos = append(out.Repos, Repo{Path: at + "/.git", Leads: true})
		}
		out.Found = append(out.Found, l.found...)
		for _, name := range l.folders {
			todo = append(todo, path.Join(rel, name))
		}
	}
	s.folders = now
	slices.SortFunc(out.Repos, func(a, b Repo) int {
		return cmp.Or(strings.Count(a.Path, "/")-strings.Count(b.Path, "/"), strings.Compare(a.Path, b.Path))
	})
	slices.SortFunc(out.Found, func(a, b Finding) int {
		return cmp.Or(strings.Count(a.Path, "/")-strings.Count(b.Path, "/"), strings.Compare(a.Path, b.Path))
	})
	return out, nil
}

// What of a repository is looked into: of ".git" where it keeps other ones, of
// those all but what git stores.
var (
	insideGit = map[string]bool{"modules": true, "worktrees": true}
	gitStore  = map[string]bool{"objects": true, "refs": true, "logs": true}
)

// list reads one folder.
func list(root, at, rel string, kinds func(root, rel string, folder bool) Kind) (listing, error) {
	entries, err := readFolder(at)
	if err != nil {
		return listing{}, err
	}
	l := listing{}
	parts := 0
	git := path.Base(rel) == ".git"
	kept := git || strings.HasPrefix(rel, ".git/") || strings.Contains(rel, "/.git/")
	for _, e := range entries {
		name, folder := e.Name(), e.IsDir()
		switch name {
		case "HEAD":
			parts |= 1
		case "objects":
			parts |= 2
		case "refs":
			parts |= 4
		case "commondir":
			parts |= 6
		case ".git":
			if folder {
				l.folders = append(l.folders, name)
			} else {
				l.leads = true
			}
			continue
		}
		below := path.Join(rel, name)
		if kinds != nil && !kept {
			if kind := kinds(root, below, folder); kind != 0 {
				l.found = append(l.found, Finding{Path: below, Kind: kind, Folder: folder})
			}
		}
		if folder && (!git || insideGit[name]) {
			l.folders = append(l.folders, name)
		}
	}
	l.repo = parts == 7 || git
	if kept && l.repo {
		l.folders = slices.DeleteFunc(l.folders, func(name string) bool { return gitStore[name] })
	}
	return l, nil
}

func readFolder(at string) ([]fs.DirEntry, error) {
	f, err := os.Open(at)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.ReadDir(-1)
}

// below is where a finding lies.
func (s *Survey) below(f Finding) string { return filepath.Join(s.Root, filepath.FromSlash(f.Path)) }

// Of returns the absolute paths of the findings of a kind.
func (s *Survey) Of(kind Kind) (out []string) {
	for _, f := range s.Found {
		if f.Kind&kind != 0 {
			out = append(out, s.below(f))
		}
	}
	return out
}
