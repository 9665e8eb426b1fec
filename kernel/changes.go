package kernel

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"oxios/kernel/event"
	"oxios/kernel/security"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// ChangeSummary says what a run did to a file.
type ChangeSummary struct {
	ID      string `json:"id"`
	RunID   string `json:"run_id"`
	StepID  string `json:"step_id"` // the last step that changed it
	Path    string `json:"path"`    // relative to the run's folder, absolute outside of it
	Kind    string `json:"kind"`    // created, modified or deleted
	Added   int    `json:"added"`   // lines
	Removed int    `json:"removed"` // lines
	Binary  bool   `json:"binary"`

	// Undone says that it was undone since, and is not there any more.
	Undone bool `json:"undone,omitempty"`
}

// Change is a change with its unified diff. A file that is not text, or whose
// content was too large to keep, has none.
type Change struct {
	ChangeSummary
	Diff string `json:"diff"`
}

// maxDiff is how many bytes of a diff are shown.
const maxDiff = 256 << 10

// Changes lists what a run's file tools changed: one entry for each file, from
// how the run found it to how the run left it. A file that ended as it was is
// left out. What commands changed is not in it.
func (a *AgentsAPI) Changes(ctx context.Context, runID string) ([]Change, error) {
	return guard(ctx, a.caller, action{call: "agents.changes", resource: "run:" + runID, work: true}, func(ctx context.Context) ([]Change, error) {
		if a.who.Kind == sys.KindAgent && runID != a.who.ID {
			return nil, sys.Errorf(sys.CodeForbidden, "An agent sees its own changes only.")
		}
		return a.k.changes(ctx, runID)
	})
}

func (k *Kernel) changes(ctx context.Context, runID string) ([]Change, error) {
	rows, err := k.store.Changes(ctx, runID)
	if err != nil || len(rows) == 0 {
		return []Change{}, err
	}
	run, err := k.store.Run(ctx, runID)
	if err != nil {
		return nil, err
	}
	type span struct{ first, last store.Change }
	spans := map[string]*span{}
	var order []*span
	for _, c := range rows {
		if s, ok := spans[c.Path]; ok {
			s.last = c
			continue
		}
		s := &span{c, c}
		spans[c.Path] = s
		order = append(order, s)
	}
	undone, err := k.undone(ctx, run)
	if err != nil {
		return nil, err
	}
	out := []Change{}
	for _, s := range order {
		if s.first, err = k.store.Change(ctx, s.first.ID); err != nil {
			return nil, err
		}
		if s.last.ID == s.first.ID {
			s.last = s.first
		} else if s.last, err = k.store.Change(ctx, s.last.ID); err != nil {
			return nil, err
		}
		if c, ok := k.joined(scope{folder: run.Folder}, s.first, s.last); ok {
			c.Undone = undone[s.last.Path]
			out = append(out, c)
		}
	}
	return out, nil
}

// joined is all that happened to a file from its first change to its last. It
// reports false when nothing is left of it.
func (k *Kernel) joined(s scope, first, last store.Change) (Change, bool) {
	was, is := first.Kind != store.ChangeCreated, last.Kind != store.ChangeDeleted
	c := Change{ChangeSummary: ChangeSummary{
		ID: last.ID, RunID: last.RunID, StepID: last.StepID, Path: s.relative(last.Path), Kind: store.ChangeModified, Binary: first.Binary || last.Binary,
	}}
	switch {
	case !was && !is:
		return c, false
	case !was:
		c.Kind = store.ChangeCreated
	case !is:
		c.Kind = store.ChangeDeleted
	}
	kept := (!was || first.Before != nil) && (!is || last.After != nil)
	if was && is && kept && bytes.Equal(first.Before, last.After) {
		return c, false
	}
	if !kept {
		return c, true
	}
	before, _, err := decodeText(first.Before)
	if err != nil {
		c.Binary = true
	}
	after, _, err := decodeText(last.After)
	if err != nil {
		c.Binary = true
	}
	if c.Binary {
		return c, true
	}
	c.Added, c.Removed = countChanged(before, after)
	c.Diff = k.masked(capDiff(markedDiff(c.Path, k.marked(last.Path, before), k.marked(last.Path, after)), maxDiff))
	return c, true
}

// relative names a path below the folder by what follows it.
func (s scope) relative(path string) string {
	for _, folder := range []string{s.folder, realPath(s.folder)} {
		if rel, err := filepath.Rel(folder, path); err == nil && security.Within(path, folder) {
			return filepath.ToSlash(rel)
		}
	}
	return path
}

// addChange keeps a change with the step that made it, and tells the faces once
// it is durable. A person's own changes belong to no run and are not kept.
func (c *caller) addChange(ctx context.Context, change store.Change, summary ChangeSummary) error {
	if change.RunID == "" {
		return nil
	}
	change.ID = sys.NewID()
	step := store.StepFrom(ctx)
	if step != nil {
		change.StepID = step.Step().ID
	}
	summary.ID, summary.RunID, summary.StepID = change.ID, change.RunID, change.StepID
	write := func(tx *store.Tx) error {
		tx.OnCommit(func() { c.k.publish(event.ChangeMade, c.scope, summary) })
		return c.k.store.AddChange(tx, change)
	}
	if step != nil {
		step.OnClose(write)
		return nil
	}
	return c.k.store.Write(context.WithoutCancel(ctx), write)
}

// unifiedDiff is the diff of a file; "" when nothing changed.
func unifiedDiff(name, before, after string) string {
	diff, err := udiff.ToUnified("a/"+name, "b/"+name, before, udiff.Lines(before, after), udiff.DefaultContextLines)
	if err != nil { // never with edits that udiff made itself
		return ""
	}
	return diff
}

// capDiff cuts a diff to whole lines of at most n bytes, and says so in a line
// that readers of diffs pass over.
func capDiff(diff string, n int) string {
	if len(diff) <= n {
		return diff
	}
	cut := cutText(diff, n)
	if i := strings.LastIndexByte(cut, '\n'); i >= 0 {
		cut = cut[:i+1]
	}
	return cut + "\\ The rest of this diff is left out: it has " + sizeText(int64(len(diff))) + ".\n"
}

// countChanged counts the lines that were added and removed.
func countChanged(before, after string) (added, removed int) {
	if before == "" {
		return countLines(after), 0
	}
	diff, err := udiff.ToUnifiedDiff("", "", before, udiff.Lines(before, after), 0)
	if err != nil { // never with edits that udiff made itself
		return countLines(after), countLines(before)
	}
	for _, h := range diff.Hunks {
		for _, l := range h.Lines {
			switch l.Kind {
			case udiff.Insert:
				added++
			case udiff.Delete:
				removed++
			case udiff.Equal:
			}
		}
	}
	return added, removed
}
