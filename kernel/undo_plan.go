package kernel

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"oxios/kernel/security"
	"oxios/kernel/sys"
	"oxios/kernel/undo"
)

// What an undo or a redo means for a path.
const (
	UndoReady      = "ready"      // it is as the run left it
	UndoConflict   = "conflict"   // it is not: nothing is done unless a person chooses this path
	UndoImpossible = "impossible" // it cannot be put back
	UndoDone       = "done"       // it was put back, or is so already
	UndoLeft       = "left"       // it was not put back: somebody was quicker, or the disk refused
	UndoStopped    = "stopped"    // it was not put back yet: a person stopped the undo before it
)

// What happens to a path.
const (
	UndoRestores = "restores" // its content or its mode goes back
	UndoReturns  = "returns"  // it comes back
	UndoRemoves  = "removes"  // it goes
)

// What a try did to a path.
const (
	TryCreates = "creates"
	TryChanges = "changes"
	TryDeletes = "deletes"
	TryMode    = "mode" // only its permissions
)

// UndoFile is what an undo or a redo means for one path, or a try of a command.
type UndoFile struct {
	Path    string `json:"path"` // below the run's folder, absolute outside of it
	Does    string `json:"does"` // restores, returns or removes; of a try creates, changes, deletes or mode
	Folder  bool   `json:"folder,omitempty"`
	Status  string `json:"status"` // ready, conflict, impossible, done, left or stopped
	Why     string `json:"why,omitempty"`
	WhyKO   string `json:"why_ko,omitempty"`
	Forces  bool   `json:"forces,omitempty"` // a conflict that a person can decide for
	Size    int64  `json:"size"`             // bytes that it will have
	Added   int    `json:"added"`            // lines, from how it is now
	Removed int    `json:"removed"`
	Binary  bool   `json:"binary"`
	Diff    string `json:"diff,omitempty"` // from how it is now to how it will be
	// The ids of the runs that changed it, in that order; among those of [UndoPlan.Runs].
	By []string `json:"by"`

	path              string // absolute
	now, was, becomes undo.State
	meta              undo.Meta // what belongs to becomes
	nowMeta           undo.Meta // what belongs to now, once it is about to be replaced
}

// UndoRun is a run of which an undo or a redo puts something back.
type UndoRun struct {
	ID    string `json:"id"`
	PID   int64  `json:"pid"`
	Name  string `json:"name"`
	Files int    `json:"files"` // how many paths of the plan it changed
}

// UndoPlan is what an undo or a redo of a run would do, or did.
type UndoPlan struct {
	RunID      string     `json:"run_id"`
	Alone      bool       `json:"alone"`  // without what its forks did
	Runs       []UndoRun  `json:"runs"`   // whose changes are in it, the run itself first
	Family     int        `json:"family"` // of how many runs changes could be in it: the run, its forks and theirs
	Redo       bool       `json:"redo"`
	Files      []UndoFile `json:"files"`
	Ready      int        `json:"ready"`
	Conflicts  int        `json:"conflicts"`
	Impossible int        `json:"impossible"`
	Hash       string     `json:"hash"` // of exactly this; [AgentsAPI.Undo] takes it

	back []UndoFile // folders that an earlier undo brought back
}

// plan works out an undo or a redo without doing it. With paths it is about
// those alone, and what lies below them.
func (u *undos) plan(ctx context.Context, f kin, redo bool, paths []string) (UndoPlan, error) {
	p := UndoPlan{RunID: f.run().ID, Alone: f.alone, Runs: []UndoRun{}, Family: f.size, Redo: redo, Files: []UndoFile{}}
	list, err := u.k.traces(ctx, f)
	if err != nil {
		return p, err
	}
	later, err := u.later(ctx, f, list)
	if err != nil {
		return p, err
	}
	s := scope{folder: f.run().Folder}
	at := topsOf(f.folders())
	defer at.close()
	found := make([]bool, len(paths))
	for _, t := range list {
		if err := ctx.Err(); err != nil {
			return p, err
		}
		shown := s.relative(t.path)
		if len(paths) > 0 {
			i := slices.IndexFunc(paths, func(want string) bool { return security.Within(shown, want) || security.Within(t.path, want) })
			if i < 0 {
				continue
			}
			found[i] = true
		}
		was, becomes, ok := t.ends(redo)
		if !ok {
			if t.moved && !redo && t.at.Kind == undo.Folder && t.beforeMeta.Known {
				p.back = append(p.back, UndoFile{path: t.path, becomes: t.at, meta: t.beforeMeta})
			}
			continue
		}
		file, err := u.file(ctx, at, len(p.Files) < maxShownOf, t, was, becomes, later[t.path])
		if err != nil {
			return p, err
		}
		file.Path, file.By, file.meta = shown, t.by, t.meta(redo)
		p.Files = append(p.Files, file)
	}
	if i := slices.Index(found, false); i >= 0 {
		return p, sys.Errorf(sys.CodeNotFound, "That run did not change %s, as far as Oxios knows. Nothing was changed.", paths[i]).
			WithHint("`oxios undo RUN --dry-run` lists what it changed.")
	}
	u.foldersStay(&p, at)
	slices.SortStableFunc(p.Files, func(a, b UndoFile) int { return strings.Compare(a.Path, b.Path) })
	for _, file := range p.Files {
		switch file.Status {
		case UndoReady:
			p.Ready++
		case UndoConflict:
			p.Conflicts++
		case UndoImpossible:
			p.Impossible++
		}
	}
	for _, r := range f.runs {
		n := 0
		for _, file := range p.Files {
			if slices.Contains(file.By, r.ID) {
				n++
			}
		}
		if n > 0 {
			p.Runs = append(p.Runs, UndoRun{ID: r.ID, PID: r.PID, Name: r.Name, Files: n})
		}
	}
	p.Hash, err = p.hash()
	return p, err
}

// hash binds what a person saw to what is then done.
func (p UndoPlan) hash() (string, error) {
	type line struct{ Path, Now, Was, Becomes, Status string }
	lines := []line{}
	for _, f := range p.Files {
		lines = append(lines, line{f.path, f.now.String(), f.was.String(), f.becomes.String(), f.Status})
	}
	raw, err := json.Marshal(struct {
		Run   string
		Alone bool
		Redo  bool
		Lines []line
	}{p.RunID, p.Alone, p.Redo, lines})
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:]), err
}

// later names the runs that wrote to a path after these did.
func (u *undos) later(ctx context.Context, f kin, list []*trace) (map[string]string, error) {
	var paths []string
	for _, t := range list {
		paths = append(paths, t.path)
	}
	marks, err := u.k.store.FileMarksAfter(ctx, f.ids(), paths)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, m := range marks {
		if r, err := u.k.store.Run(ctx, m.RunID); err == nil {
			out[m.Path] = r.Name
		}
	}
	return out, nil
}

// file looks at a path and decides what an undo or redo means for it.
func (u *undos) file(ctx context.Context, at *tops, differences bool, t *trace, was, becomes undo.State, later string) (UndoFile, error) {
	f := UndoFile{path: t.path, was: was, becomes: becomes, Does: UndoRestores, Size: becomes.Size, Folder: was.Kind == undo.Folder || becomes.Kind == undo.Folder, Status: UndoReady}
	switch {
	case becomes.Kind == undo.Absent:
		f.Does = UndoRemoves
	case was.Kind == undo.Absent:
		f.Does = UndoReturns
	}
	say := func(status string, w sys.Words) { f.Status, f.Why, f.WhyKO = status, w.EN, w.KO }
	root, rel, err := at.open(t.path)
	if err != nil {
		say(UndoImpossible, sys.Say("Its folder is not there any more."))
		return f, nil
	}
	if !undo.Direct(root, rel) {
		say(UndoImpossible, sys.Say("A folder above it is a link now."))
		return f, nil
	}
	if f.now, err = undo.Look(root, rel); err != nil {
		say(UndoImpossible, sys.Say("It cannot be read now."))
		return f, nil
	}
	if becomes.Kind == undo.File || becomes.Kind == undo.Link {
		has := false
		if becomes.Content != "" {
			if has, err = u.objects.Has(becomes.Content); err != nil {
				return f, err
			}
		}
		sameContent := becomes.Kind == undo.File && f.now.Kind == undo.File && becomes.Content == f.now.Content && becomes.Content != ""
		if !has && !sameContent {
			say(UndoImpossible, sys.Say("How it was is not kept: it was too large."))
			return f, nil
		}
	}
	// The mode of a folder is the system's and the person's matter.
	sameFolder := f.now.Kind == undo.Folder && was.Kind == undo.Folder && becomes.Kind != undo.Folder
	switch {
	case f.now == becomes, f.now.Kind == undo.Folder && becomes.Kind == undo.Folder && was.Kind != undo.Folder:
		say(UndoDone, sys.Say("It is so already."))
	case f.now.Kind == undo.Other:
		say(UndoImpossible, sys.Say("A pipe, a socket or a device stands there now."))
	case f.now.Kind == undo.Folder && was.Kind != undo.Folder:
		say(UndoImpossible, sys.Say("A folder stands there now."))
	case becomes.Kind == undo.Folder && f.now.Kind != undo.Folder && f.now != was:
		say(UndoImpossible, sys.Say("A file stands there now."))
	case f.now != was && !sameFolder:
		f.Forces = true
		switch {
		case later != "":
			say(UndoConflict, sys.Say("Another run changed it later: %s.", sys.Shorten(later, 80)))
		case t.moved:
			say(UndoConflict, sys.Say("It was changed after that."))
		case f.now.Kind == undo.Absent:
			say(UndoConflict, sys.Say("It was removed after the run."))
		default:
			say(UndoConflict, sys.Say("It was changed after the run, by you or by another program."))
		}
	case t.unsure && !t.moved:
		f.Forces = true
		say(UndoConflict, sys.Say("It was changed while a command worked in the background, or Oxios went down; it may have been you."))
	case t.mixed && !t.moved:
		w := sys.Say("Somebody else changed it while the run was at work: it goes back to that.")
		f.Why, f.WhyKO = w.EN, w.KO
	}
	if !differences {
		return f, nil
	}
	return f, u.show(ctx, &f, root, rel)
}

// maxUndoDiff is how many bytes a file may have of which the difference is shown.
const maxUndoDiff = 1 << 20

// show adds the difference between how a file is and how it will be.
func (u *undos) show(_ context.Context, f *UndoFile, root *security.Root, rel string) error {
	if f.Folder || f.Status == UndoDone || f.Status == UndoImpossible {
		return nil
	}
	text := func(s undo.State, now bool) (string, bool) {
		if s.Kind == undo.Absent {
			return "", true
		}
		if s.Size > maxUndoDiff || s.Kind == undo.Folder {
			return "", false
		}
		var raw []byte
		var err error
		switch {
		case now && s.Kind == undo.File:
			file, _, oerr := root.OpenRegular(rel)
			if oerr != nil {
				return "", false
			}
			raw, err = io.ReadAll(io.LimitReader(file, maxUndoDiff))
			file.Close()
		case now:
			var to string
			to, err = root.FS().Readlink(rel)
			raw = []byte(to + "\n")
		default:
			raw, err = u.objects.Read(s.Content)
		}
		if err != nil {
			return "", false
		}
		out, _, err := decodeText(raw)
		return out, err == nil
	}
	now, ok := text(f.now, true)
	then, ok2 := text(f.becomes, false)
	if !ok || !ok2 {
		f.Binary = true
		return nil
	}
	f.Added, f.Removed = countChanged(now, then)
	f.Diff = u.k.masked(capDiff(markedDiff(filepath.ToSlash(filepath.Base(f.path)), u.k.marked(f.path, now), u.k.marked(f.path, then)), maxCardDiff))
	return nil
}

// foldersStay finds the folders that are not removed because something else is in
// them.
func (u *undos) foldersStay(p *UndoPlan, at *tops) {
	goes := map[string]bool{}
	for _, f := range p.Files {
		if f.Does == UndoRemoves && f.Status == UndoReady || f.now.Kind == undo.Absent {
			goes[f.path] = true
		}
	}
	order := make([]int, len(p.Files))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return len(p.Files[b].path) - len(p.Files[a].path) }) // the deepest first
	for _, i := range order {
		f := &p.Files[i]
		if !f.Folder || f.Does != UndoRemoves || f.Status != UndoReady {
			continue
		}
		root, rel, err := at.open(f.path)
		if err != nil {
			continue
		}
		entries, err := fs.ReadDir(root.FS().FS(), rel)
		if err != nil || slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return !goes[filepath.Join(f.path, e.Name())] }) {
			delete(goes, f.path)
			w := sys.Say("The folder stays: other things are in it.")
			f.Status, f.Why, f.WhyKO = UndoDone, w.EN, w.KO
		}
	}
}
