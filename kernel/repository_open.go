package kernel

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"oxios/kernel/sandbox"
	"oxios/kernel/security"
	"oxios/kernel/sys"
)

// mostRepositories is how many repositories outside the folder one line can use.
const mostRepositories = 4

// findRepositories finds the repositories outside the folder that a line of git may
// use: the one around the folder, one whose git dir names the ".git" back, so that
// nobody else's can be pointed at, and that of a work tree which the person trusts.
func (c *command) findRepositories(ctx context.Context, v security.Verdict) security.Verdict {
	if len(v.Repositories) == 0 || c.err != nil {
		return v
	}
	for _, dir := range v.Repositories {
		place, ok := security.FindGit(dir)
		folder := realPath(c.caller.scope.folder)
		if !ok || security.Within(place.Dir, folder) && security.Within(place.Common, folder) || len(c.repos) == mostRepositories || slices.Contains(c.repos, place) {
			continue
		}
		if !place.Owns {
			if trust, err := c.caller.k.trust(ctx, place.Tree); err != nil || trust != FolderTrusted {
				continue
			}
		}
		if !c.mayOpen(place, folder) {
			continue
		}
		c.repos = append(c.repos, place)
		v = v.InRepository(shortenHome(repositoryName(place)))
	}
	return v
}

// repositoryName is how a person calls a repository: by the folder that it is in.
func repositoryName(place security.GitPlace) string {
	if filepath.Base(place.Common) == ".git" {
		return filepath.Dir(place.Common)
	}
	return place.Common
}

// mayOpen reports whether no more than a repository is opened with it: not the home,
// nor what programs keep for themselves there, nor Oxios' own.
func (c *command) mayOpen(place security.GitPlace, folder string) bool {
	home, own := realPath(homeFolder()), realPath(c.caller.k.opts.Home)
	opens := []string{place.Common}
	if !security.Within(place.Tree, folder) {
		opens = append(opens, place.Tree)
	}
	for _, p := range opens {
		if p == filepath.Dir(p) || security.Within(home, p) || security.Within(own, p) || security.Within(p, own) || c.caller.judge(p, p).Read >= security.TierRefuse {
			return false
		}
		if rel, err := filepath.Rel(home, p); err == nil && security.Within(p, home) && strings.HasPrefix(rel, ".") {
			return false
		}
	}
	return true
}

// changesRepository reports whether the line changes a repository outside the folder.
func (c *command) changesRepository() bool { return c.verdict.Repository != "" }

// openRepositories lets git find the repositories outside the folder. They can only be
// read, unless the line changes one, which is let through only where the person
// allowed it: then the sandbox still holds their hooks and settings. Files beside the
// folder that belong to the same work tree can be read where the sandbox can take
// those with secrets out.
func (c *command) openRepositories(ctx context.Context, s *sandbox.Spec) error {
	folder := realPath(c.caller.scope.folder)
	for _, place := range c.repos {
		if now, ok := security.FindGit(place.Tree); !ok || now != place || !c.mayOpen(place, folder) {
			continue // it leads elsewhere than when it was judged
		}
		full := s.Level >= sys.IsolationFull
		if full && c.changesRepository() {
			s.Writable = append(s.Writable, place.Common)
		} else {
			s.Readable = append(s.Readable, place.Common)
		}
		if security.Within(place.Tree, folder) {
			continue
		}
		seen, err := c.caller.k.sandbox.Survey(ctx, place.Tree)
		if err != nil {
			return err
		}
		secrets := slices.DeleteFunc(seen.Of(kindSecret), func(p string) bool { return security.Within(p, folder) || security.Within(p, place.Common) })
		if full {
			s.Readable, s.Unread = append(s.Readable, place.Tree), append(s.Unread, secrets...)
		} else if open, ok := openWithout(place.Tree, secrets); ok {
			s.Readable = append(s.Readable, open...)
		}
	}
	return nil
}

// mostOpened is how many paths stand for a folder of which some is kept.
const mostOpened = 1000

// openWithout returns what to open of a folder so that none of the paths is: the
// folder, or what lies in it.
func openWithout(dir string, shut []string) (open []string, ok bool) {
	for todo := []string{dir}; len(todo) > 0; {
		at := todo[0]
		todo = todo[1:]
		if slices.Contains(shut, at) {
			continue
		}
		if !slices.ContainsFunc(shut, func(p string) bool { return security.Within(p, at) }) {
			open = append(open, at)
			continue
		}
		entries, err := os.ReadDir(at)
		if err != nil || len(open)+len(todo)+len(entries) > mostOpened {
			return nil, false
		}
		for _, e := range entries {
			if e.Type()&os.ModeSymlink == 0 {
				todo = append(todo, filepath.Join(at, e.Name()))
			}
		}
	}
	return open, true
}
