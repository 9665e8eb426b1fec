package kernel

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"oxios/kernel/sandbox"
	"oxios/kernel/security"
	"oxios/kernel/store"
	"oxios/kernel/sys"
	"oxios/kernel/undo"
)

// planted is one thing that a command put where others run it.
type planted struct {
	path        string
	role        role
	was, is     undo.State
	becomes     undo.State // what is there when it was put aside
	leads       string     // where a ".git" leads
	settingKeys []string   // what was taken out of a file of settings
}

// planting looks after what a command makes that others would run.
type planting struct {
	c      *command
	level  sys.Isolation
	before *guarded
	shut   []string // of what was there: what the command could only read
	began  time.Time
	gone   sync.Once // the command is not at work any more

	checking sync.Mutex // one look at a time; putting aside takes other locks

	mu   sync.Mutex // held for what follows alone, as the list of jobs waits for it
	said []string   // what was put aside so far, in words
	left []string   // what could not be
}

// seenFiles are contents that a person has seen at a path, or that were there
// before a command came.
type seenFiles struct {
	mu    sync.Mutex
	known map[string]bool
	live  map[string]int // commands at work, by folder
}

func (s *seenFiles) add(path, content string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil {
		s.known = map[string]bool{}
	}
	s.known[path+"\x00"+content] = true
}

func (s *seenFiles) has(path, content string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return content != "" && s.known[path+"\x00"+content]
}

// enter counts a command that begins in a folder, and reports whether it is alone:
// what another one has made by then nobody has looked at.
func (s *seenFiles) enter(folder string, by int) (alone bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.live == nil {
		s.live = map[string]int{}
	}
	s.live[folder] += by
	return s.live[folder] == 1
}

// beginPlanting takes note of how things are before a command begins, and closes
// to it what it may not change.
func (c *command) beginPlanting(ctx context.Context, spec *sandbox.Spec) (*planting, error) {
	if !c.isGuarded(spec.Level) {
		return nil, nil
	}
	k := c.caller.k
	p := &planting{c: c, level: spec.Level, began: k.clock.Now().Truncate(time.Millisecond)}
	var err error
	objects := k.undos.objects
	objects.Clearing.RLock()
	defer objects.Clearing.RUnlock()
	if p.before, err = k.guardedIn(ctx, c.caller.scope.folder, !c.verdict.ReadOnly); err != nil {
		return nil, err
	}
	for _, at := range p.before.kept {
		if len(spec.Kept) < sandbox.MostKept && !c.movesFiles(at) && !c.askedOwn(ctx, at) && !c.askedAbout(ctx, func(w string) bool { return security.Within(w, at) }) {
			spec.Kept = append(spec.Kept, at)
		}
	}
	if spec.Level >= sys.IsolationFull {
		p.shut = slices.Clone(spec.Kept)
		for repo := range p.before.repos {
			for _, part := range []string{"hooks", "config", "config.worktree"} {
				p.shut = append(p.shut, filepath.Join(repo, part))
			}
		}
	}
	if c.verdict.ReadOnly {
		return nil, nil
	}
	if err := k.undos.writeGuards(p.before); err != nil {
		return nil, err
	}
	spec.Checked = true
	if k.seen.enter(p.before.folder, 1) {
		for at, f := range p.before.files {
			k.seen.add(at, f.state.Content)
		}
	}
	return p, nil
}

// treeMoves are git's commands that bring the files of another commit.
var treeMoves = sys.Pattern(`\bgit\b[^;&|]*\s(checkout|switch|merge|pull|rebase|stash|reset|cherry-pick|revert|restore|clean|am|apply|worktree|mv|rm|read-tree|bisect|submodule|checkout-index)\b`)

// movesFiles reports whether a command is one of git that brings files from a
// repository. It may replace those that others run, and a person sees what came.
func (c *command) movesFiles(at string) bool {
	rel, err := filepath.Rel(realPath(c.caller.scope.folder), at)
	if err != nil || !security.RunsLater(filepath.ToSlash(rel)) || !treeMoves().MatchString(c.line) {
		return false
	}
	return !slices.ContainsFunc(c.verdict.Programs, func(p string) bool { return !slices.Contains(besideGit, p) })
}

// besideGit are the programs that may stand in a line with git: what they write is
// written by the line itself, which is judged.
var besideGit = []string{"git", "cd", "echo", "true", "test", "printf", "pwd", "head", "tail", "cat", "grep", "wc", "ls", "sort"}

// askedAbout reports whether a person was asked about a command's changing a file,
// which its line names.
func (c *command) askedAbout(ctx context.Context, file func(string) bool) bool {
	return c.isAsked(ctx) && slices.ContainsFunc(c.verdict.Writes, func(w string) bool { return file(realPath(w)) })
}

func (c *command) isAsked(ctx context.Context) bool {
	grant, _ := ctx.Value(grantKey{}).(string)
	return approved(ctx) || grant != ""
}

// askedOwn reports whether a person was asked about a file that other programs run:
// the line names it or a folder of such files, or its tool keeps its list there.
func (c *command) askedOwn(ctx context.Context, at string) bool {
	folder := realPath(c.caller.scope.folder)
	return c.isAsked(ctx) && c.verdict.KeepsList(filepath.Base(at)) || c.askedAbout(ctx, func(w string) bool {
		rel, err := filepath.Rel(folder, w)
		return err == nil && security.Within(at, w) && security.RunsLater(filepath.ToSlash(rel))
	})
}

// planted finds what a command made or changed that others would run.
func (p *planting) found(ctx context.Context) ([]planted, error) {
	k := p.c.caller.k
	after, err := k.guardedIn(ctx, p.before.folder, true)
	for n := 0; err == nil && n < maxShut && p.unshut(after); n++ {
		after, err = k.guardedIn(ctx, p.before.folder, true)
	}
	if err != nil {
		return nil, err
	}
	var out []planted
	for path, f := range after.files {
		old, had := p.before.files[path]
		if !had {
			old.state = undo.State{Kind: undo.Absent}
		}
		if old.state == f.state || f.state.Kind == undo.Folder {
			continue
		}
		n := planted{path: path, role: f.role, was: old.state, is: f.state, becomes: old.state}
		if f.role == roleLead {
			n.leads = gitLeadsTo(path)
		}
		asked := p.c.askedAbout(ctx, func(w string) bool { return w == path })
		if asked || f.role == roleRuns && (p.c.askedOwn(ctx, path) || k.seen.has(path, f.state.Content)) {
			continue
		}
		if !k.undos.harmful(&n, p.before, after) {
			continue
		}
		out = append(out, n)
	}
	slices.SortFunc(out, func(a, b planted) int { return strings.Compare(a.path, b.path) })
	return out, nil
}

// maxShut is how many times folders in folders are opened.
const maxShut = 100

// unshut lets the person's programs look again into the folders and files that the
// command closed to them: git could still find what lies in one whose name it
// knows, and run what it cannot read.
func (p *planting) unshut(after *guarded) (opened bool) {
	root, err := security.OpenRoot(p.before.folder)
	if err != nil {
		return false
	}
	defer root.Close()
	open := func(at string, mode os.FileMode) {
		rel, err := filepath.Rel(p.before.folder, at)
		if err != nil {
			return
		}
		info, err := root.FS().Lstat(rel)
		if err != nil {
			return
		}
		if more := mode.Perm() | info.Mode().Perm(); info.Mode().Type() == mode.Type() && more != info.Mode().Perm() {
			opened = root.FS().Chmod(rel, more) == nil || opened
		}
	}
	for at := range after.shut {
		if !p.before.shut[at] {
			open(at, os.ModeDir|0o700)
		}
	}
	for at, f := range after.files {
		if _, had := p.before.files[at]; !had && f.state.Kind == undo.Other {
			open(at, 0o400)
		}
	}
	return opened
}

// harmful judges one file, and says what becomes of it.
func (u *undos) harmful(n *planted, before, after *guarded) bool {
	read := func(s undo.State) []byte {
		if s.Kind != undo.File || s.Content == "" {
			return nil
		}
		raw, err := u.objects.Read(s.Content)
		if err != nil {
			return nil
		}
		return raw
	}
	without := func(rest []byte) {
		if id, err := u.objects.Put(rest); err == nil {
			n.becomes = undo.State{Kind: undo.File, Content: id, Size: int64(len(rest)), Mode: n.is.Mode}
		}
	}
	known := func(to string) bool { return before.repos[to] || after.repos[to] }
	switch n.role {
	case roleSettings:
		if n.is.Kind != undo.File || n.is.Content == "" {
			return true
		}
		rest, taken, ok := security.GitWithout(read(n.is), read(n.was))
		if ok && len(taken) == 0 {
			return false
		}
		if n.settingKeys = taken; ok {
			without(rest)
		}
	case roleTodo:
		if n.is.Kind != undo.File || n.is.Content == "" {
			return true
		}
		rest, taken := security.GitTodoWithout(read(n.is), read(n.was))
		if taken == 0 {
			return false
		}
		n.settingKeys = []string{"exec"}
		without(rest)
	case roleLead:
		return !known(n.leads)
	case roleCommon:
		dir := filepath.Dir(n.path)
		to := strings.TrimSpace(string(read(n.is)))
		if !filepath.IsAbs(to) {
			to = filepath.Join(dir, to)
		}
		to = realPath(to)
		return to == dir || !known(to) || !security.Within(dir, filepath.Join(to, "worktrees"))
	case roleHook, roleRuns:
	}
	return true
}

// check looks at what the command made, puts aside what others would run, and
// returns the files about which a person can be asked. While it works in the
// background only what git would run is looked at.
func (p *planting) check(ctx context.Context, ended bool) (ask []planted, err error) {
	if p == nil {
		return nil, nil
	}
	p.checking.Lock()
	defer p.checking.Unlock()
	ctx = context.WithoutCancel(ctx)
	u := p.c.caller.k.undos
	u.one.Lock() // before the other one, as everywhere
	defer u.one.Unlock()
	u.objects.Clearing.RLock()
	defer u.objects.Clearing.RUnlock()
	list, err := p.found(ctx)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(n planted) bool {
		if !p.c.background {
			return false
		}
		// In the background it may have been the person: what a command could only
		// read it has not changed.
		return n.role == roleRuns && !ended || n.was.Kind != undo.Absent && slices.ContainsFunc(p.shut, func(at string) bool { return security.Within(n.path, at) })
	})
	return p.tell(ctx, list)
}

// putAside notes down what a command made on a copy, and what never came into the
// folder itself.
func (p *planting) putAside(ctx context.Context, list []planted) error {
	if p == nil || len(list) == 0 {
		return nil
	}
	p.checking.Lock()
	defer p.checking.Unlock()
	u := p.c.caller.k.undos
	u.one.Lock()
	defer u.one.Unlock()
	u.objects.Clearing.RLock()
	defer u.objects.Clearing.RUnlock()
	_, err := p.tell(ctx, list)
	return err
}

func (p *planting) tell(ctx context.Context, list []planted) (ask []planted, err error) {
	done, err := p.c.caller.k.undos.putAside(ctx, p, list)
	for _, n := range list {
		switch {
		case !slices.ContainsFunc(done, func(d planted) bool { return d.path == n.path }):
			p.say(&p.left, n)
		case n.role == roleRuns:
			ask = append(ask, n)
			fallthrough
		default:
			p.say(&p.said, n)
		}
	}
	return ask, err
}

// say notes what was put aside, or could not be.
func (p *planting) say(list *[]string, n planted) {
	name := p.c.caller.scope.relative(n.path)
	if len(n.settingKeys) > 0 {
		name += " (" + strings.Join(n.settingKeys, ", ") + ")"
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !slices.Contains(*list, name) {
		*list = append(*list, name)
	}
}

// putAside makes things as they were, as an undo of them alone: redo brings them
// back.
func (u *undos) putAside(ctx context.Context, p *planting, list []planted) (done []planted, err error) {
	list = slices.DeleteFunc(slices.Clone(list), func(n planted) bool {
		switch {
		case n.is.Kind == undo.Other: // a pipe or the like, which has no content to be kept
			if n.becomes.Kind == undo.Absent && p.remove(n.path) {
				done = append(done, n)
			}
			return true
		case n.becomes.Kind != undo.File && n.becomes.Kind != undo.Link:
			return n.becomes.Kind == undo.Other
		}
		has, err := u.objects.Has(n.becomes.Content)
		return n.becomes.Content == "" || err != nil || !has
	})
	if len(list) == 0 {
		return done, nil
	}
	run, err := u.k.run(ctx, p.c.caller.scope.runID)
	if err != nil {
		return done, err
	}
	run.Folder = p.before.folder
	known, err := u.k.store.FileMarksSince(ctx, p.began)
	if err != nil {
		return done, err
	}
	last := map[string]store.FileMark{}
	for _, m := range known {
		last[m.Path] = m
	}
	var marks []store.FileMark
	var files []UndoFile
	for _, n := range list {
		if m, ok := last[n.path]; !ok || !undo.Same(m.After, n.is.String()) {
			before := n.was.String()
			if ok {
				before = m.After
			}
			marks = append(marks, store.FileMark{RunID: run.ID, StepID: stepID(ctx), Path: n.path, Before: before, After: n.is.String(), Unsure: p.c.background})
		}
		files = append(files, UndoFile{path: n.path, Status: UndoReady, now: n.is, becomes: n.becomes})
	}
	why, err := u.move(ctx, run, files, marks, false)
	if err != nil {
		return done, err
	}
	done = append(done, slices.DeleteFunc(list, func(n planted) bool { return why[n.path] != nil })...)
	p.clearFolders(done)
	return done, nil
}

func (p *planting) remove(at string) bool {
	root, err := security.OpenRoot(p.before.folder)
	if err != nil {
		return false
	}
	defer root.Close()
	rel, err := filepath.Rel(p.before.folder, at)
	return err == nil && root.FS().Remove(rel) == nil
}

// clearFolders removes the folders that a command made for files that others run
// and that are empty now. To put the files back makes them anew.
func (p *planting) clearFolders(list []planted) {
	root, err := security.OpenRoot(p.before.folder)
	if err != nil {
		return
	}
	defer root.Close()
	for _, n := range list {
		if n.role != roleRuns || n.becomes.Kind != undo.Absent {
			continue
		}
		rel, err := filepath.Rel(p.before.folder, n.path)
		if err != nil {
			continue
		}
		for dir := path.Dir(filepath.ToSlash(rel)); dir != "." && security.RunsLater(dir) && !slices.Contains(p.before.kept, filepath.Join(p.before.folder, filepath.FromSlash(dir))); dir = path.Dir(dir) {
			if root.FS().Remove(dir) != nil { // it is not empty
				break
			}
		}
	}
}

// bringBack puts there again what a person decided to keep.
func (u *undos) bringBack(ctx context.Context, p *planting, list []planted) error {
	u.one.Lock()
	defer u.one.Unlock()
	u.objects.Clearing.RLock()
	defer u.objects.Clearing.RUnlock()
	run, err := u.k.run(ctx, p.c.caller.scope.runID)
	if err != nil {
		return err
	}
	run.Folder = p.before.folder
	var files []UndoFile
	for _, n := range list {
		u.k.seen.add(n.path, n.is.Content)
		files = append(files, UndoFile{path: n.path, Status: UndoReady, now: n.becomes, becomes: n.is})
	}
	why, err := u.move(ctx, run, files, nil, true)
	if err == nil && len(why) > 0 {
		err = sys.Errorf(sys.CodeConflict, "Not all of it could be put back, because of %s. The rest is there.", strings.Join(leftOf(why), ", ")).
			WithHint("Look at these files; `oxios redo` brings back what is missing.")
	}
	return err
}

// move writes moves down, makes them and writes down what came of them. The caller
// holds the lock of undos.
func (u *undos) move(ctx context.Context, run Run, files []UndoFile, marks []store.FileMark, redo bool) (map[string]error, error) {
	err := u.keepPresent(only(run), files)
	moves := movesOf(only(run), sys.NewID(), redo, true, files)
	if err == nil {
		err = u.k.store.Write(ctx, func(tx *store.Tx) error {
			if err := u.k.store.AddFileMarks(tx, marks); err != nil {
				return err
			}
			return u.k.store.AddUndoMoves(tx, moves)
		})
	}
	if err != nil {
		return nil, notRecorded(err)
	}
	// A move may have been made already: what a command did on a copy never comes into the folder where it is to be put aside.
	why := u.make(ctx, ctx, only(run), moves, true, nil)
	return why, u.k.store.Write(ctx, func(tx *store.Tx) error { return u.k.store.CloseUndoMoves(tx, moves) })
}
