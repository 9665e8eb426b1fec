package kernel

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"oxios/kernel/knowledge"
	"oxios/kernel/security"
	"oxios/kernel/store"
	"oxios/kernel/sys"
	"oxios/kernel/undo"
)

// change plans a change of the vault, has the guard decide about it, and makes it:
// what an agent's run did can be undone then as what it did to other files.
func (a *KnowledgeAPI) change(ctx context.Context, call, name string, title sys.Words, args any, make func(context.Context, *vault) (knowledge.Plan, error)) (VaultChange, error) {
	return a.changeOf(ctx, nil, call, name, title, args, make)
}

// keptWords are where words are from that a person keeps.
type keptWords struct {
	runID  string // whose words they are, or that read them; "" for none
	labels Labels // of the words themselves
}

// changeOf is a change whose words a person saves; from is nil where they are their
// own.
func (a *KnowledgeAPI) changeOf(ctx context.Context, from *keptWords, call, name string, title sys.Words, args any, make func(context.Context, *vault) (knowledge.Plan, error)) (VaultChange, error) {
	if a.who.Kind == sys.KindClient {
		from = &keptWords{labels: a.said()}
	}
	v := a.k.vault()
	var lends []lent
	plan, planned := make(ctx, v)
	switch {
	case planned != nil:
	case a.who.Kind == sys.KindAgent:
		planned = a.putSecrets(v, plan, &lends)
	default:
		planned = a.k.keepsSecrets(v, plan)
	}
	act := action{call: call, resource: "note:" + cleanVaultName(name), effect: security.EffectWrite, subject: struct {
		Steps []knowledge.Step
		Args  any
	}{plan.Steps, args}, meta: map[string]any{"steps": len(plan.Steps), "links": plan.Links}}
	if planned != nil { // it will fail, so nobody needs to be asked
		act.effect = security.EffectRead
	}
	act.asks = len(lends) > 0 && planned == nil
	act.card = func(r *security.Request) {
		r.Title, r.TitleKO = title.EN, title.In(true)
		tellLent(r, lends, cleanVaultName(name))
		for _, s := range plan.Steps {
			if s.Kind != knowledge.StepMove {
				r.Diff += a.k.stepDiff(v, s)
			}
		}
		r.Diff = capDiff(r.Diff, maxCardDiff)
		w := sys.Say("yes")
		r.Undo, r.UndoKO = w.EN, w.KO
	}
	return guard(ctx, a.caller, act, func(ctx context.Context) (VaultChange, error) {
		if planned != nil {
			return VaultChange{}, planned
		}
		if from != nil { // the labels come first: what stands in the vault never lacks them
			if err := a.k.carry(ctx, v, *from, plan); err != nil {
				return VaultChange{}, err
			}
		}
		// It takes milliseconds: an end of the kernel waits for it.
		return a.apply(context.WithoutCancel(ctx), v, name, plan)
	})
}

// stepDiff is what a step does to a text; of another file it says as git does that
// it differs.
func (k *Kernel) stepDiff(v *vault, s knowledge.Step) string {
	if isBinary(s.Before) || isBinary(s.After) {
		return "Binary files a/" + s.Path + " and b/" + s.Path + " differ\n"
	}
	file := v.path(s.Path)
	return markedDiff(s.Path, k.marked(file, string(s.Before)), k.marked(file, string(s.After)))
}

func isBinary(raw []byte) bool { return bytes.IndexByte(raw[:min(len(raw), sniffed)], 0) >= 0 }

// carry notes that what a plan writes holds words from elsewhere, and so what a run
// had read.
func (k *Kernel) carry(ctx context.Context, v *vault, from keptWords, plan knowledge.Plan) error {
	read, err := k.labelsOf(ctx, from.runID)
	if read = roots(from.labels.Join(read)); err != nil || len(read) == 0 {
		return err
	}
	var files []store.FileLabel
	for _, s := range plan.Steps {
		files = append(files, store.FileLabel{Path: v.path(s.Path), Content: contentHash(s.After), RunID: from.runID, Labels: read})
	}
	return k.store.Write(ctx, func(tx *store.Tx) error { return k.store.LabelFiles(tx, files...) })
}

// pagesOf are the addresses of the pages that a run has read.
func (k *Kernel) pagesOf(ctx context.Context, runID string) (out []string) {
	read, err := k.labelsOf(ctx, runID)
	if err != nil {
		return nil // the note is worth keeping all the same
	}
	for _, l := range read {
		if l.Origin == store.LabelWeb && strings.Contains(l.Name, "://") {
			out = append(out, l.Name)
		}
	}
	return out
}

// putSecrets puts the values of secrets in the place of the marks that an agent
// wrote into notes. What it never saw stays masked.
func (a *KnowledgeAPI) putSecrets(v *vault, plan knowledge.Plan, lends *[]lent) error {
	for i, s := range plan.Steps {
		if s.Kind == knowledge.StepMove {
			if err := a.keepsCovered(v, s); err != nil {
				return err
			}
		}
		if s.Kind != knowledge.StepWrite || isBinary(s.Before) || isBinary(s.After) {
			continue
		}
		file := v.path(s.Path)
		before, after := a.k.marked(file, string(s.Before)), string(s.After)
		r := before.Restore(after, a.lending(before, lends))
		if r.Bad != "" {
			return unknownMark(r.Bad, s.Path)
		}
		kept := append(r.Put, keptAround(before, r.Text)...)
		if len(kept) == 0 {
			continue
		}
		if name := a.k.marked(file, r.Text).Uncovered(kept); name != "" {
			return uncovers(name, s.Path)
		}
		plan.Steps[i].After = []byte(r.Text)
	}
	return nil
}

// keepsSecrets refuses a text that a person saves, as an agent's answer, in which a mark
// would take the place of a secret of the note. Other marks are the person's own words.
func (k *Kernel) keepsSecrets(v *vault, plan knowledge.Plan) error {
	for _, s := range plan.Steps {
		if s.Kind != knowledge.StepWrite || isBinary(s.After) {
			continue
		}
		marks := security.MarkPattern().FindAllString(string(s.After), -1)
		if len(marks) == 0 {
			continue
		}
		before := k.marked(v.path(s.Path), string(s.Before))
		for _, m := range marks {
			if before.Hides(m) && !strings.Contains(before.Text, m) {
				return wouldBeLost(m)
			}
		}
	}
	return nil
}

// keepsCovered refuses to move a file to a name of another kind, where what is masked
// in it would be shown.
func (a *KnowledgeAPI) keepsCovered(v *vault, s knowledge.Step) error {
	if filepath.Base(s.Path) == filepath.Base(s.To) {
		return nil
	}
	raw, err := sys.ReadRegular(v.path(s.Path))
	if err != nil || isBinary(raw) { // a folder, whose files keep their names
		return nil //nolint:nilerr // the move itself says what is wrong
	}
	now := a.k.marked(v.path(s.Path), string(raw))
	if len(now.Secrets) == 0 {
		return nil
	}
	if name := a.k.marked(v.path(s.To), string(raw)).Uncovered(now.Secrets); name != "" {
		return uncovers(name, s.To)
	}
	return nil
}

// keptAround are the secrets in what a change leaves of a text as it was: whole lines,
// and the beginning and the end of what changed between them.
func keptAround(before *security.MarkedText, after string) (kept []security.Secret) {
	old := before.Text
	if len(before.Secrets) == 0 || after == old {
		return nil
	}
	end, by := 0, 0
	for _, e := range udiff.Lines(old, after) {
		was, most := old[e.Start:e.End], min(e.End-e.Start, len(e.New))
		from, to := 0, 0
		for from < most && was[from] == e.New[from] {
			from++
		}
		for to < most-from && was[len(was)-1-to] == e.New[len(e.New)-1-to] {
			to++
		}
		kept = append(kept, before.Within(end, e.Start+from, by)...)
		by += len(e.New) - len(was)
		kept = append(kept, before.Within(e.End-to, e.End, by)...)
		end = e.End
	}
	return append(kept, before.Within(end, len(old), by)...)
}

func (a *KnowledgeAPI) apply(ctx context.Context, v *vault, name string, plan knowledge.Plan) (VaultChange, error) {
	out, trash, err := a.applyAll(ctx, v, name, plan)
	if len(trash) > 0 {
		out.Trash = trash[0]
	}
	return out, err
}

// applyAll makes a plan, and returns by what each file that it deletes comes back.
func (a *KnowledgeAPI) applyAll(ctx context.Context, v *vault, name string, plan knowledge.Plan) (out VaultChange, trash []string, err error) {
	k := a.k
	out = VaultChange{Path: cleanVaultName(name), Links: plan.Links, Notes: slices.Concat([]sys.Words{}, plan.Notes)}
	k.vaultWrites.Lock() // what is written down is how things are when it happens
	defer k.vaultWrites.Unlock()
	if k.vault() != v {
		return out, nil, sys.Errorf(sys.CodeConflict, "The notes were put in another folder meanwhile: %s. Nothing was written.", shortenHome(k.vault().Dir())).
			WithHint("Do it again, and it is done there.")
	}
	files, err := v.files(plan)
	if err != nil {
		return out, nil, err
	}
	var labels []store.FileLabel
	for _, f := range files {
		if f.after != nil {
			labels = append(labels, store.FileLabel{Path: v.path(f.path), Content: contentHash(f.after)})
		}
	}
	if err := k.wrote(ctx, a.scope, labels...); err != nil {
		return out, nil, err
	}
	if err := a.markVault(ctx, v, files); err != nil {
		return out, nil, err
	}
	ends := k.beginCommit(ctx, v, a.scope, plan, files)
	for _, s := range plan.Steps {
		if s.Kind == knowledge.StepDelete {
			kept, err := v.Discard(VaultTrashed{Path: s.Path, RunID: a.scope.runID, SessionID: a.scope.sessionID}, s.Before)
			if err != nil {
				return out, nil, errors.Join(err, v.forgetAll(trash))
			}
			trash = append(trash, kept.ID)
		}
	}
	if err := v.Apply(ctx, plan); err != nil {
		return out, nil, errors.Join(err, v.forgetAll(trash))
	}
	ends()
	out.Changed = len(files)
	for _, f := range files {
		if err := a.recordVault(ctx, v, f); err != nil {
			return out, trash, err
		}
	}
	if len(files) > 0 { // the note itself is what the first step is about
		if s := plan.Steps[0]; s.Kind == knowledge.StepMove {
			out.Path = s.To
		} else {
			out.Path = s.Path
		}
	}
	if n, err := v.Read(ctx, out.Path); err == nil {
		out.Path, out.Hash = n.Path, n.Hash
	} else {
		out.Hash = hashOf(v.path(out.Path)) // of another file; "" of a folder, and of what is gone
	}
	return out, trash, nil
}

// forgetAll takes out of the trash what was not deleted after all.
func (v *vault) forgetAll(trash []string) (err error) {
	for _, id := range trash {
		err = errors.Join(err, v.Forget(id))
	}
	return err
}

// vaultFile is a file that a plan changes, before and after; nil for none.
type vaultFile struct {
	path          string
	before, after []byte
}

// files works out what a plan does to each file: of a folder that moves, to
// all in it.
func (v *vault) files(plan knowledge.Plan) ([]vaultFile, error) {
	var out []vaultFile
	at := func(path string) *vaultFile {
		i := slices.IndexFunc(out, func(f vaultFile) bool { return f.path == path })
		if i < 0 {
			raw, err := sys.ReadRegular(v.path(path))
			if err != nil {
				raw = nil
			} else if raw == nil {
				raw = []byte{}
			}
			out = append(out, vaultFile{path: path, before: raw, after: raw})
			i = len(out) - 1
		}
		return &out[i]
	}
	for _, s := range plan.Steps {
		switch s.Kind {
		case knowledge.StepWrite:
			at(s.Path).after = slices.Concat([]byte{}, s.After)
		case knowledge.StepDelete:
			at(s.Path).after = nil
		case knowledge.StepMove:
			moved := []string{}
			err := filepath.WalkDir(v.path(s.Path), func(p string, d fs.DirEntry, err error) error {
				if err == nil && d.Type().IsRegular() {
					rel, rerr := filepath.Rel(v.Dir(), p)
					moved = append(moved, filepath.ToSlash(rel))
					err = rerr
				}
				return err
			})
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, err
			}
			for _, from := range moved {
				content := at(from).after
				at(from).after = nil
				at(s.To + strings.TrimPrefix(from, s.Path)).after = content
			}
		}
	}
	return slices.DeleteFunc(out, func(f vaultFile) bool {
		return (f.before == nil) == (f.after == nil) && bytes.Equal(f.before, f.after)
	}), nil
}

// markVault writes down how files are that a run is about to change, and what
// they will be.
func (a *KnowledgeAPI) markVault(ctx context.Context, v *vault, files []vaultFile) error {
	if a.scope.runID == "" || len(files) == 0 {
		return nil
	}
	u := a.k.undos
	u.objects.Clearing.RLock()
	defer u.objects.Clearing.RUnlock()
	var marks []store.FileMark
	for _, f := range files {
		abs := v.path(f.path)
		mode := fs.FileMode(0o644)
		if info, err := os.Lstat(abs); err == nil {
			mode = info.Mode().Perm()
		}
		state := func(raw []byte) (undo.State, error) {
			if raw == nil {
				return undo.State{Kind: undo.Absent}, nil
			}
			id, err := u.objects.Put(raw)
			return undo.State{Kind: undo.File, Content: id, Size: int64(len(raw)), Mode: mode}, err
		}
		before, err := state(f.before)
		if err != nil {
			return notRecorded(err)
		}
		after, err := state(f.after)
		if err != nil {
			return notRecorded(err)
		}
		marks = append(marks, store.FileMark{RunID: a.scope.runID, StepID: stepID(ctx), Path: abs, Before: before.String(), After: after.String()})
	}
	if err := a.k.store.Write(ctx, func(tx *store.Tx) error { return a.k.store.AddFileMarks(tx, marks) }); err != nil {
		return notRecorded(err)
	}
	return nil
}

// recordVault notes a change of a file for the run that made it.
func (a *KnowledgeAPI) recordVault(ctx context.Context, v *vault, f vaultFile) error {
	c := store.Change{RunID: a.scope.runID, Path: v.path(f.path), Kind: store.ChangeModified, BeforeSize: int64(len(f.before)), AfterSize: int64(len(f.after))}
	switch {
	case f.before == nil:
		c.Kind = store.ChangeCreated
	case f.after == nil:
		c.Kind = store.ChangeDeleted
	}
	if f.after != nil {
		c.AfterHash = contentHash(f.after)
	}
	if len(f.before) <= maxKept {
		c.Before = f.before
	}
	if len(f.after) <= maxKept {
		c.After = f.after
	}
	var added, removed int
	if !isBinary(f.before) && !isBinary(f.after) {
		added, removed = countChanged(string(f.before), string(f.after))
	}
	return a.addChange(ctx, c, ChangeSummary{Path: a.scope.relative(c.Path), Kind: c.Kind, Added: added, Removed: removed})
}
