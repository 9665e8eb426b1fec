package kernel

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"oxios/kernel/security"
	"oxios/kernel/store"
	"oxios/kernel/sys"
	"oxios/kernel/undo"
)

// again says why a person is asked once more about a call.
type again struct {
	old  security.Approval // the request in whose place the new one comes; no id where there is none
	why  sys.Words
	diff string
}

// ask has a person decide about a call. Where a command is not what it was by the
// time of their yes, they are asked again with the difference. held ends the time
// in which its own run may not write what it stands on.
func (c *caller) ask(ctx context.Context, row Syscall, plain action, weighed taint) (ap security.Approval, a action, held func(), err error) {
	bind := func(a action) action {
		if weighed.decision == security.DecisionAsk {
			return weighed.bind(a)
		}
		return a
	}
	held = func() {}
	if plain.command != nil {
		held = c.k.holds.hold(plain.command)
		plain.command.begin(ctx)
	}
	a = bind(plain)
	var more *again
	for {
		if ap, err = c.approve(ctx, row, a, more); err != nil || a.command == nil {
			return ap, a, held, err
		}
		if more, err = a.command.since(ctx, ap); err != nil {
			return ap, a, held, c.unrecorded(ctx, err)
		}
		if more == nil {
			return ap, a, held, nil
		}
		plain.subject = plain.command.subject(plain.command.stood.states())
		a = bind(plain)
	}
}

// anew says why a command is asked about that a person was asked about before: in this
// step, before Oxios was started anew, or for the whole run. It returns nil for one
// that is new.
func (c *caller) anew(ctx context.Context, a action, req security.Request) (*again, error) {
	if a.command == nil {
		return nil, nil
	}
	old, found, err := c.k.approvals.Before(ctx, req)
	if err != nil || !found {
		return nil, err
	}
	out := &again{}
	if req.StepID != "" && old.Request.StepID == req.StepID {
		out.old = old
	}
	if old.Request.Basis == nil {
		out.why = sys.Say("Oxios was updated while this waited. A yes now also covers what the files say that it runs, so it is asked again.")
		return out, nil
	}
	names := changedFiles(old.Request.Basis.Files, req.Basis.Files)
	if len(names) == 0 {
		if out.old.ID == "" {
			return nil, nil
		}
		return out, nil
	}
	out.diff = a.command.basisDiff(old.Request.Basis.Files, req.Basis.Files, names)
	for i, p := range names {
		names[i] = c.scope.relative(p)
	}
	out.why = sys.Say("Since you were asked about this, %s changed, which it runs or reads.", listed(names))
	return out, nil
}

// begin looks at the folder before a person is asked, if another command is at work
// in it whose writing nobody could tell otherwise.
func (c *command) begin(ctx context.Context) {
	u := c.caller.k.undos
	if !c.verdict.Project || len(u.atWork(c)) == 0 {
		return
	}
	u.objects.Clearing.RLock()
	defer u.objects.Clearing.RUnlock()
	if x, err := u.look(ctx, realPath(c.caller.scope.folder)); err == nil {
		c.asked0 = x
	}
}

// since finds what has changed since the person was asked, and takes it over as what
// the next question is about. It returns nil where nothing has.
func (c *command) since(ctx context.Context, ap security.Approval) (*again, error) {
	k := c.caller.k
	if kept, err := k.store.Try(ctx, ap.ID); err != nil || kept != nil && kept.State != store.TryShown {
		return nil, err // what was shown of the try is what happens, and nothing is run
	}
	was, is := c.stood.get(), c.stands()
	names := changedFiles(was, is)
	diff := c.basisDiff(was, is, names)
	for i, p := range names {
		names[i] = c.caller.scope.relative(p)
	}
	why := sys.Words{}
	if len(names) > 0 {
		why = sys.Say("While this waited, %s changed, which it runs or reads. Nothing was run.", listed(names))
	}
	if c.verdict.Project && (ap.Scope != security.ScopeRun || ap.UsedAt == nil) {
		others, more, err := c.writtenSince(ctx, ap, is)
		if err != nil {
			return nil, err
		}
		if len(others) > 0 && len(names) == 0 {
			why = sys.Say("While this waited, an agent changed %s in the folder whose code it runs. Nothing was run.", listed(others))
		}
		names, diff = append(names, others...), capDiff(diff+more, maxCardDiff)
	}
	if len(names) == 0 {
		return nil, nil
	}
	c.stood.set(is)
	c.asked0 = nil
	c.begin(ctx)
	return &again{old: ap, why: why, diff: diff}, nil
}

// listed names some files in words.
func listed(names []string) string {
	const most = 3
	if more := len(names) - most; more > 0 {
		names = append(slices.Clone(names[:most]), fmt.Sprintf("(+%d)", more))
	}
	return strings.Join(names, ", ")
}

// writtenSince finds what agents have written in the folder since the person was
// asked, but for what the command stands on: its run and others, their commands and
// those at work in the background. What somebody changed while such a command is at
// work counts as its doing. Ignored folders, and what nobody writes by hand, are left out.
func (c *command) writtenSince(ctx context.Context, ap security.Approval, stands map[string]security.BasisFile) (names []string, diff string, err error) {
	k, folder := c.caller.k, realPath(c.caller.scope.folder)
	root, err := security.OpenRoot(folder)
	if err != nil {
		return nil, "", err
	}
	defer root.Close()
	marks, err := k.store.FileMarksSince(ctx, ap.CreatedAt)
	if err != nil {
		return nil, "", err
	}
	before := map[string]undo.State{} // by path below the folder
	note := func(abs string, was undo.State) {
		rel, err := filepath.Rel(folder, abs)
		if _, known := before[filepath.ToSlash(rel)]; err == nil && !known && filepath.IsLocal(rel) {
			before[filepath.ToSlash(rel)] = was
		}
	}
	for _, m := range marks {
		was, err := undo.Parse(m.Before)
		if err != nil {
			return nil, "", err
		}
		note(m.Path, was)
	}
	if err := k.undos.unwritten(ctx, c, note); err != nil {
		return nil, "", err
	}
	skipped := newIgnoring(root, ".")
	defer skipped.close(root)
	var b strings.Builder
	for rel, was := range before {
		abs := filepath.Join(folder, filepath.FromSlash(rel))
		_, own := stands[abs]
		if _, also := stands[filepath.Join(c.caller.scope.folder, filepath.FromSlash(rel))]; own || also || skipped.leaves(rel) {
			continue
		}
		now, err := undo.Look(root, rel)
		if err != nil || now == was || now.Kind == undo.Folder || was.Kind == undo.Folder && now.Kind == undo.Absent {
			continue
		}
		names = append(names, rel)
	}
	slices.Sort(names)
	for _, rel := range names {
		if b.Len() < maxCardDiff {
			b.WriteString(textDiff(rel, k.stateSide(before[rel]), side(k.basisFile(filepath.Join(folder, filepath.FromSlash(rel)), maxBasisText))))
		}
	}
	return names, b.String(), nil
}

// stateSide is the text of a file as the undo keeps it.
func (k *Kernel) stateSide(s undo.State) diffSide {
	if s.Kind == undo.Absent {
		return diffSide{kept: true}
	}
	if s.Content == "" || s.Kind != undo.File || s.Size > maxBasisText {
		return diffSide{}
	}
	raw, err := k.undos.objects.Read(s.Content)
	if err != nil {
		return diffSide{}
	}
	text, _, err := decodeText(raw)
	return diffSide{k.masked(text), err == nil}
}

// leaves reports whether a path lies in a folder that ignore files, or the habits
// of programs, leave out.
func (t *ignoring) leaves(rel string) bool {
	at := ""
	for name := range strings.SplitSeq(path.Dir(rel), "/") {
		if name == "." {
			break
		}
		if passedOver[name] {
			return true
		}
		if _, err := t.ReadDir(orDot(at)); err != nil {
			return false
		}
		if at = path.Join(at, name); t.ignores(at, true) {
			return true
		}
	}
	return false
}

func orDot(p string) string {
	if p == "" {
		return "."
	}
	return p
}

// atWork returns the commands, but for c, that may change something in its folder now.
func (u *undos) atWork(c *command) (list []*watched) {
	folder := realPath(c.caller.scope.folder)
	u.looking.Lock()
	defer u.looking.Unlock()
	for w := range u.active {
		if security.Within(w.folder, folder) || security.Within(folder, w.folder) {
			list = append(list, w)
		}
	}
	return list
}

// unwritten notes what differs now because of commands that are still at work.
func (u *undos) unwritten(ctx context.Context, c *command, note func(abs string, was undo.State)) error {
	u.objects.Clearing.RLock()
	defer u.objects.Clearing.RUnlock()
	for _, w := range u.atWork(c) {
		from, in := w.before, w.folder
		if c.asked0 != nil {
			from, in = c.asked0, realPath(c.caller.scope.folder)
		}
		if from == nil {
			continue // the folder holds too much to be looked at
		}
		now, err := u.look(ctx, in)
		if err != nil {
			return notRecorded(err)
		}
		root, err := security.OpenRoot(in)
		if err != nil {
			return err
		}
		for _, d := range undo.Differ(from, now, root) {
			note(filepath.Join(in, filepath.FromSlash(d.Path)), d.Before)
		}
		root.Close()
	}
	return nil
}

// held refuses an agent's call that would write what a command of its run, or of one
// that it was forked from, waits to run.
func (c *caller) held(ctx context.Context, paths []string) error {
	if len(paths) == 0 || c.scope.runID == "" {
		return nil
	}
	waiting, at := c.k.holds.waiting(paths)
	if len(waiting) == 0 {
		return nil
	}
	kin := []string{c.scope.runID}
	over, err := c.k.store.Forebears(ctx, c.scope.runID)
	if err != nil {
		return err
	}
	for _, r := range over {
		kin = append(kin, r.ID)
	}
	for _, w := range waiting {
		if slices.Contains(kin, w.caller.scope.runID) {
			return sys.Errorf(sys.CodeConflict, "%s is what a command of this run, which waits for the person, would run: %s. Nothing was written.", c.scope.relative(at), cutText(w.line, 200)).
				WithHint("Wait for its end, then write.")
		}
	}
	return nil
}

// writes are the files that a call would change, as far as they are known.
func (a action) writes() []string {
	if a.command == nil {
		if a.call == "exec.write" || a.call == "exec.edit" {
			return a.paths
		}
		return nil
	}
	out := make([]string, len(a.command.verdict.Writes))
	for i, p := range a.command.verdict.Writes {
		out[i] = filepath.FromSlash(p)
	}
	return out
}
