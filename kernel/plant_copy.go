package kernel

import (
	"context"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"oxios/kernel/security"
	"oxios/kernel/store"
	"oxios/kernel/undo"
)

// plantedCopy looks at what a command did on a copy of a folder before any of it
// comes into the folder itself.
type plantedCopy struct {
	u       *undos
	root    *security.Root // the folder as it is
	changes map[string]undo.State
	before  *guarded
	after   *guarded
	found   []planted
}

// unplanted takes out of what a command did on a copy what git would run, and
// names it. What it only makes seem so, by links that lead elsewhere, is found when
// it is there.
func (t *tries) unplanted(ctx context.Context, folder string, list []store.TriedFile) (rest []store.TriedFile, aside []planted, err error) {
	before, err := t.k.guardedIn(ctx, folder, true)
	if err != nil {
		return nil, nil, err
	}
	root, err := security.OpenRoot(folder)
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	c := &plantedCopy{
		u: t.k.undos, root: root, changes: map[string]undo.State{}, before: before,
		after: &guarded{folder: before.folder, repos: map[string]bool{}},
	}
	for _, f := range list {
		if c.changes[f.Path], err = undo.Parse(f.Becomes); err != nil {
			return nil, nil, err
		}
	}
	for _, f := range list {
		c.repository(path.Dir(f.Path))
		if path.Base(f.Path) == ".git" {
			c.repository(f.Path)
			if at, ok := c.rel(c.leads(f.Path)); ok {
				c.repository(at)
			}
		}
	}
	for _, f := range list {
		c.look(f.Path)
	}
	for _, n := range c.found {
		if !c.u.harmful(&n, before, c.after) {
			continue
		}
		rel, _ := c.rel(n.path)
		i := slices.IndexFunc(list, func(f store.TriedFile) bool { return f.Path == rel })
		switch {
		case i < 0: // it was there, and became part of a repository
			list = append(list, store.TriedFile{Path: rel, Was: n.is.String(), Becomes: n.becomes.String()})
		case list[i].Was == n.becomes.String():
			list = slices.Delete(list, i, i+1)
		default:
			list[i].Becomes = n.becomes.String()
		}
		aside = append(aside, n)
	}
	return list, aside, nil
}

func (c *plantedCopy) rel(abs string) (string, bool) {
	rel, err := filepath.Rel(c.before.folder, abs)
	return filepath.ToSlash(rel), err == nil && abs != "" && security.Within(abs, c.before.folder)
}

func (c *plantedCopy) abs(rel string) string {
	return filepath.Join(c.before.folder, filepath.FromSlash(rel))
}

// state is how a path will be.
func (c *plantedCopy) state(rel string) undo.State {
	if is, ok := c.changes[rel]; ok {
		return is
	}
	is, err := undo.Look(c.root, rel)
	if err != nil {
		return undo.State{Kind: undo.Other}
	}
	return is
}

func (c *plantedCopy) has(dir, name string) bool {
	rel := path.Join(dir, name)
	if is, ok := c.changes[rel]; ok {
		return is.Kind != undo.Absent
	}
	_, err := c.root.FS().Lstat(rel)
	return err == nil
}

func (c *plantedCopy) isRepo(dir string) bool {
	return path.Base(dir) == ".git" || c.has(dir, "HEAD") && (c.has(dir, "commondir") || c.has(dir, "objects") && c.has(dir, "refs"))
}

// repository notes that a folder becomes a repository, and looks at what it brings
// along from before.
func (c *plantedCopy) repository(dir string) {
	at := c.abs(dir)
	if c.after.repos[at] || !c.isRepo(dir) {
		return
	}
	c.after.repos[at] = true
	if c.before.repos[at] {
		return
	}
	names := []string{"config", "config.worktree", "commondir", "hooks", "rebase-merge/git-rebase-todo"}
	if f, err := c.root.FS().Open(path.Join(dir, "hooks")); err == nil {
		entries, _ := f.Readdirnames(-1)
		f.Close()
		for _, name := range entries {
			names = append(names, "hooks/"+name)
		}
	}
	for _, name := range names {
		c.look(path.Join(dir, name))
	}
}

// look notes what git would make of a path.
func (c *plantedCopy) look(rel string) {
	at, dir, base := c.abs(rel), path.Dir(rel), path.Base(rel)
	is := c.state(rel)
	n := planted{path: at, is: is, was: undo.State{Kind: undo.Absent}}
	sample := strings.HasSuffix(base, ".sample")
	switch {
	case is.Kind == undo.Absent || is.Kind == undo.Folder || slices.ContainsFunc(c.found, func(f planted) bool { return f.path == at }):
		return
	case base == ".git":
		n.role, n.leads = roleLead, c.leads(rel)
	case (base == "config" || base == "config.worktree") && c.isRepo(dir):
		n.role = roleSettings
	case base == "commondir" && c.isRepo(dir):
		n.role = roleCommon
	case base == "git-rebase-todo" && path.Base(dir) == "rebase-merge" && c.isRepo(path.Dir(dir)):
		n.role = roleTodo
	case base == "hooks" && c.isRepo(dir),
		path.Base(dir) == "hooks" && c.isRepo(path.Dir(dir)) && !sample,
		c.before.hookDirs[filepath.Dir(at)] && !sample:
		n.role = roleHook
	default:
		if n.role = c.before.named[at]; n.role == 0 {
			return
		}
	}
	if old, had := c.before.files[at]; had {
		n.was = old.state
	}
	n.becomes = n.was
	if n.was == n.is {
		return
	}
	c.found = append(c.found, n)
}

// leads is the folder that a ".git" that is none will lead to.
func (c *plantedCopy) leads(rel string) string {
	is, made := c.changes[rel]
	if !made {
		return gitLeadsTo(c.abs(rel))
	}
	raw, err := c.u.objects.Read(is.Content)
	if err != nil {
		return ""
	}
	dir := filepath.Dir(c.abs(rel))
	if is.Kind == undo.Link {
		return pathFrom(dir, strings.TrimSpace(string(raw)))
	}
	return gitLead(raw, dir)
}
