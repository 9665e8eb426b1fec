package kernel

import (
	"context"
	"os"
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

	checking sync.Mutex // one look at a time; putting aside takes other locks

	mu   sync.Mutex // held for what follows alone, as the list of jobs waits for it
	said []string   // what was put aside so far, in words
	left []string   // what could not be
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
		if len(spec.Kept) < sandbox.MostKept && !c.askedAbout(ctx, func(w string) bool { return security.Within(w, at) }) {
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
	return p, nil
}

// askedAbout reports whether a person was asked about a command's changing a file,
// which its line names.
func (c *command) askedAbout(ctx context.Context, file func(string) bool) bool {
	grant, _ := ctx.Value(grantKey{}).(string)
	if !approved(ctx) && grant == "" {
		return false
	}
	return slices.ContainsFunc(c.verdict.Writes, func(w string) bool { return file(realPath(w)) })
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
		if p.c.askedAbout(ctx, func(w string) bool { return w == path }) {
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
	case roleHook:
	}
	return true
}

// check looks at what the command made, and puts aside what git would run.
func (p *planting) check(ctx context.Context) error {
	if p == nil {
		return nil
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
		return err
	}
	list = slices.DeleteFunc(list, func(n planted) bool {
		if !p.c.background {
			return false
		}
		// In the background it may have been the person: what a command could only
		// read it has not changed.
		return n.was.Kind != undo.Absent && slices.ContainsFunc(p.shut, func(at string) bool { return security.Within(n.path, at) })
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
	return p.tell(ctx, list)
}

func (p *planting) tell(ctx context.Context, list []planted) error {
	done, err := p.c.caller.k.undos.putAside(ctx, p, list)
	for _, n := range list {
		if slices.ContainsFunc(done, func(d planted) bool { return d.path == n.path }) {
			p.say(&p.said, n)
		} else {
			p.say(&p.left, n)
		}
	}
	return err
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
	why, err := u.move(ctx, run, files, marks)
	if err != nil {
		return done, err
	}
	done = append(done, slices.DeleteFunc(list, func(n planted) bool { return why[n.path] != nil })...)
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

// move writes moves down, makes them and writes down what came of them. The caller
// holds the lock of undos.
func (u *undos) move(ctx context.Context, run Run, files []UndoFile, marks []store.FileMark) (map[string]error, error) {
	err := u.keepPresent(only(run), files)
	moves := movesOf(only(run), sys.NewID(), false, true, files)
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
