package kernel

import (
	"context"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"oxios/kernel/sandbox"
	"oxios/kernel/security"
	"oxios/kernel/sys"
	"oxios/kernel/undo"
)

// role is why a command may not change a file unasked.
type role int

const (
	roleHook     role = iota + 1 // git runs it
	roleSettings                 // git obeys it
	roleLead                     // ".git", where it is no folder: it leads git to a repository
	roleCommon                   // it leads git from one repository to another
	roleTodo                     // git goes on with it
	roleRuns                     // other programs run it, or do as it says
)

// guarded is how what a command may not change unasked was at one moment.
type guarded struct {
	folder string // without links
	repos  map[string]bool
	files  map[string]guardedFile // by absolute path
	kept   []string               // what the command can only read, the outer before the inner
	shut   map[string]bool        // folders that cannot be looked into

	hookDirs map[string]bool // from which git runs programs
	named    map[string]role // what the settings name, be it there or not
}

type guardedFile struct {
	role  role
	state undo.State
}

// guards finds what a command may not change unasked in a folder.
type guards struct {
	k      *Kernel
	root   *security.Root
	out    *guarded
	trees  []string // folders with files of a repository beside it
	hidden []string // Oxios' own
	parsed map[string]bool
	ignore *ignoredFolders
}

// guardedIn looks at a folder. With states, what is in the files is kept for undo.
func (k *Kernel) guardedIn(ctx context.Context, folder string, states bool) (*guarded, error) {
	folder = realPath(folder)
	seen, err := k.sandbox.Survey(ctx, folder)
	if err != nil {
		return nil, err
	}
	g := k.guards(folder)
	if g.root, err = security.OpenRoot(folder); err != nil {
		return nil, err
	}
	defer g.root.Close()
	g.ignore = newIgnoredFolders(g.root)
	defer g.ignore.close()
	for _, p := range seen.Shut {
		g.out.shut[p] = true
	}
	g.repositories(seen)
	g.runs(seen)
	for p, f := range g.out.files {
		if f.state, err = g.stateOf(p, states); err != nil {
			return nil, err
		}
		if f.state.Kind == undo.Absent {
			delete(g.out.files, p)
			continue
		}
		g.out.files[p] = f
	}
	return g.out, nil
}

// guards begins to look at a folder without links.
func (k *Kernel) guards(folder string) *guards {
	return &guards{
		k: k, hidden: each(k.hiddenFrom(folder), realPath), parsed: map[string]bool{},
		out: &guarded{
			folder: folder, repos: map[string]bool{}, files: map[string]guardedFile{}, shut: map[string]bool{}, hookDirs: map[string]bool{}, named: map[string]role{},
		},
	}
}

func (g *guards) stateOf(p string, keep bool) (undo.State, error) {
	if !keep {
		return undo.State{Kind: undo.File}, nil
	}
	rel := g.rel(p)
	is, err := undo.Look(g.root, rel)
	if err != nil {
		return undo.State{Kind: undo.Other}, nil // it may not be read, or is being written: as if it were another one
	}
	if is.Size <= int64(g.k.config.get().UndoFileMB)<<20 && (is.Kind == undo.File || is.Kind == undo.Link) {
		if err := undo.Keep(g.k.undos.objects, g.root, rel, is); err != nil {
			return is, notRecorded(err)
		}
	}
	return is, nil
}

func (g *guards) rel(p string) string {
	rel, err := filepath.Rel(g.out.folder, p)
	if err != nil {
		return "."
	}
	return filepath.ToSlash(rel)
}

// inside reports whether a path lies in the folder and is not Oxios' own.
func (g *guards) inside(p string) bool {
	return security.Within(p, g.out.folder) && p != g.out.folder && !slices.ContainsFunc(g.hidden, func(h string) bool { return security.Within(p, h) })
}

func (g *guards) file(p string, r role) {
	if old, known := g.out.files[p]; (!known || old.role == roleHook && r == roleRuns) && g.inside(p) && !isFolder(p) {
		g.out.files[p] = guardedFile{role: r}
	}
}

// keep notes what is there already and can only be read.
func (g *guards) keep(p string) {
	if g.inside(p) && !slices.ContainsFunc(g.out.kept, func(k string) bool { return security.Within(p, k) }) {
		if _, err := os.Lstat(p); err == nil {
			g.out.kept = append(g.out.kept, p)
		}
	}
}

func (g *guards) repositories(seen *sandbox.Survey) {
	var dirs []string
	for _, r := range seen.Repos {
		switch {
		case r.Leads:
			g.trees = append(g.trees, filepath.Dir(r.Path))
			g.file(r.Path, roleLead)
			if to := gitLeadsTo(r.Path); to != "" && g.inside(to) {
				dirs = append(dirs, to)
				for _, part := range []string{"hooks", "config", "config.worktree"} {
					g.keep(filepath.Join(to, part))
				}
			}
		case g.inside(r.Path) || r.Path == g.out.folder:
			dirs = append(dirs, r.Path)
			if filepath.Base(r.Path) == ".git" {
				g.trees = append(g.trees, filepath.Dir(r.Path))
			}
		}
	}
	around := gitAround(g.out.folder)
	if len(dirs) == 0 && around == "" {
		return
	}
	if around != "" {
		g.trees = append(g.trees, filepath.Dir(around))
		g.settings(filepath.Join(around, "config"), 0)
	}
	home := homeFolder()
	for _, p := range []string{filepath.Join(home, ".gitconfig"), filepath.Join(home, ".config", "git", "config")} {
		g.settings(p, 0)
	}
	for _, dir := range dirs {
		if g.out.repos[dir] {
			continue
		}
		g.out.repos[dir] = true
		g.file(filepath.Join(dir, "commondir"), roleCommon)
		g.file(filepath.Join(dir, "rebase-merge", "git-rebase-todo"), roleTodo)
		g.hooks(filepath.Join(dir, "hooks"))
		for _, name := range []string{"config", "config.worktree"} {
			g.file(filepath.Join(dir, name), roleSettings)
			g.settings(filepath.Join(dir, name), 0)
		}
	}
}

// gitAround is the repository in which a folder lies, "" for none.
func gitAround(folder string) string {
	for dir := filepath.Dir(folder); ; dir = filepath.Dir(dir) {
		if at := filepath.Join(dir, ".git"); isFolder(at) {
			return at
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}

// hooks are the files of a folder from which git runs some.
func (g *guards) hooks(dir string) {
	if isLink(dir) && g.inside(dir) { // it may lead to what nobody looks after
		g.out.files[dir] = guardedFile{role: roleHook}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	if dir = realPath(dir); !g.inside(dir) {
		return
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".sample") && !e.IsDir() {
			g.file(filepath.Join(dir, e.Name()), roleHook)
		}
	}
}

// maxIncludes is how deep settings lead to more settings.
const maxIncludes = 10

// settings follows what a file of settings names: folders of hooks, more settings
// and programs.
func (g *guards) settings(p string, depth int) {
	if depth > maxIncludes || g.parsed[p] {
		return
	}
	g.parsed[p] = true
	f, info, err := sys.OpenRegular(p)
	if err != nil {
		return
	}
	defer f.Close()
	if info.Size() > maxFile {
		return
	}
	raw, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil {
		return
	}
	list, _ := security.ParseGitSettings(raw)
	hooks, more, programs := security.GitLeads(list)
	for _, h := range hooks {
		for _, at := range g.places(h, g.trees) {
			g.keep(at)
			g.out.hookDirs[at] = true
			g.hooks(at)
		}
	}
	for _, m := range more {
		for _, at := range g.places(m, []string{filepath.Dir(p)}) {
			g.file(at, roleSettings)
			g.out.named[at] = roleSettings
			g.keep(at)
			g.settings(at, depth+1)
		}
	}
	for _, w := range programs {
		for _, at := range g.places(w, g.trees) {
			if info, err := os.Stat(at); err == nil && info.Mode().IsRegular() {
				g.file(at, roleHook)
				g.keep(at)
			}
			g.out.named[at] = roleHook
		}
	}
}

// places are what a path in git's settings may mean.
func (g *guards) places(p string, from []string) (out []string) {
	p = expandHome(p)
	if filepath.IsAbs(p) {
		return []string{realPath(p)}
	}
	for _, dir := range from {
		out = append(out, realPath(filepath.Join(dir, p)))
	}
	return out
}

// settingsName reports whether the settings of the repositories around a file name it:
// as one that git runs, or as more settings.
func (k *Kernel) settingsName(folder, file string) bool {
	real := realPath(folder)
	rel, err := filepath.Rel(folder, file)
	if err != nil {
		return true
	}
	file = filepath.Join(real, rel)
	g := k.guards(real)
	seen := &sandbox.Survey{Root: real}
	for dir := filepath.Dir(file); security.Within(dir, real); dir = filepath.Dir(dir) {
		if info, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			seen.Repos = append(seen.Repos, sandbox.Repo{Path: filepath.Join(dir, ".git"), Leads: !info.IsDir()})
		}
		if dir == real { // it may be the root of the disk
			break
		}
	}
	g.repositories(seen)
	return g.out.named[file] != 0 || g.out.hookDirs[filepath.Dir(file)]
}

// runs finds the files that other programs run. What git ignores as a whole
// folder is made by tools, and stays theirs.
func (g *guards) runs(seen *sandbox.Survey) {
	for _, f := range seen.Found {
		if f.Kind&kindRuns == 0 || g.ignore.ignored(path.Dir(runsFrom(f.Path))) {
			continue
		}
		p := filepath.Join(g.out.folder, filepath.FromSlash(f.Path))
		if !f.Folder {
			g.file(p, roleRuns)
		}
		g.keep(p)
	}
}

// runsFrom is the outermost part of a path that other programs run.
func runsFrom(rel string) string {
	for i := range rel {
		if rel[i] == '/' && security.RunsLater(rel[:i]) {
			return rel[:i]
		}
	}
	return rel
}

// ignoredFolders tells which folders git ignores.
type ignoredFolders struct {
	root  *security.Root
	known map[string]bool
	trees map[string]*ignoring
}

func newIgnoredFolders(root *security.Root) *ignoredFolders {
	return &ignoredFolders{root: root, known: map[string]bool{".": false}, trees: map[string]*ignoring{}}
}

func (i *ignoredFolders) close() {
	for _, t := range i.trees {
		t.close(i.root)
	}
}

func (i *ignoredFolders) ignored(rel string) bool {
	is, ok := i.known[rel]
	if ok {
		return is
	}
	up := path.Dir(rel)
	if is = i.ignored(up); !is {
		t := i.trees[up]
		if t == nil {
			t = newIgnoring(i.root, up)
			_, _ = t.ReadDir(up)
			i.trees[up] = t
		}
		is = passedOver[path.Base(rel)] || t.ignores(rel, true)
	}
	i.known[rel] = is
	return is
}

// isGuarded reports whether what a command made is to be looked at: at isolation 2
// and above, of a run.
func (c *command) isGuarded(level sys.Isolation) bool {
	return c.caller.scope.runID != "" && level.Contained()
}
