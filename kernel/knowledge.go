package kernel

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"oxios/kernel/knowledge"
	"oxios/kernel/security"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// The types of notes live in knowledge.
type (
	Note           = knowledge.Note
	VaultEntry     = knowledge.Entry
	VaultHit       = knowledge.Hit
	VaultBacklink  = knowledge.Backlink
	VaultTag       = knowledge.TagCount
	VaultTask      = knowledge.Task
	VaultTaskQuery = knowledge.TaskFilter
	VaultIssue     = knowledge.Issue
	VaultImported  = knowledge.Imported
	VaultGraph     = knowledge.Graph
	VaultGraphOf   = knowledge.GraphQuery
	VaultNode      = knowledge.Node
	VaultEdge      = knowledge.Edge
	VaultDay       = knowledge.JournalDay
	VaultTrashed   = knowledge.Trashed
	VaultEmbed     = knowledge.Embedded
	VaultPlaces    = knowledge.Places
	VaultBlock     = knowledge.Block
)

// VaultState says where the vault is and how it is.
type VaultState struct {
	Dir     string     `json:"dir"`
	Notes   int        `json:"notes"`
	History bool       `json:"history"`           // changes are kept in git; only in the folder of the home, never in one of the person's
	Problem *sys.Error `json:"problem,omitempty"` // the folder is not there, or that of config.toml cannot be used
}

// NoteWrite is the whole text of a note.
type NoteWrite struct {
	Path   string   `json:"path"` // .md is added where it is missing
	Text   string   `json:"text"`
	Base   string   `json:"base,omitempty"`   // the hash of the note that the text was made from; "" for a new one
	Source []string `json:"source,omitempty"` // the addresses that an agent has it from
	RunID  string   `json:"run_id,omitempty"` // the run whose words a person saves: the note carries what that run had read
	// Exact writes the text with just the head that it has. Otherwise the lines that
	// say which agent wrote a note stay. A person's only.
	Exact bool `json:"exact,omitempty"`
}

// VaultChange says what became of notes.
type VaultChange struct {
	Path    string      `json:"path"` // of the note, as it is now
	Hash    string      `json:"hash"` // of it; "" when it is gone
	Changed int         `json:"changed"`
	Links   int         `json:"links"`           // that were rewritten
	Trash   string      `json:"trash,omitempty"` // what was deleted comes back from the trash by this
	Notes   []sys.Words `json:"notes"`
}

// VaultRemoved says what became of a folder.
type VaultRemoved struct {
	Path  string   `json:"path"`
	Trash []string `json:"trash"` // each of its files comes back from the trash by one of these
}

// VaultMove says what a rename or a move would do.
type VaultMove struct {
	From  string            `json:"from"`
	To    string            `json:"to"`
	Links int               `json:"links"` // that would be rewritten
	In    []VaultMoveChange `json:"in"`    // the notes in which they stand, by path
	Notes []sys.Words       `json:"notes"` // what would stay as it is, each a sentence
}

// VaultMoveChange is a note whose links would be rewritten.
type VaultMoveChange struct {
	Path  string `json:"path"`
	Links int    `json:"links"`
}

// State says where the vault is and how it is.
func (a *KnowledgeAPI) State(ctx context.Context) (VaultState, error) {
	return guard(ctx, a.caller, action{call: "knowledge.state", resource: "vault"}, func(ctx context.Context) (VaultState, error) {
		v := a.k.vault()
		s := VaultState{Dir: shortenHome(v.Dir()), History: v.log != nil, Problem: a.k.vaults.refused.Load()}
		all, err := v.Tree(ctx)
		if err != nil {
			s.Problem = sys.AsError(err)
		}
		for _, e := range all {
			if e.Kind == "note" {
				s.Notes++
			}
		}
		return s, nil
	})
}

// Tree returns all folders, notes and files of the vault.
func (a *KnowledgeAPI) Tree(ctx context.Context) ([]VaultEntry, error) {
	return guard(ctx, a.caller, a.looking("knowledge.tree"), func(ctx context.Context) ([]VaultEntry, error) { return a.k.vault().Tree(ctx) })
}

// Entries returns the notes and files of some paths that are there: what an event
// names, without reading the whole tree anew.
func (a *KnowledgeAPI) Entries(ctx context.Context, paths []string) ([]VaultEntry, error) {
	return guard(ctx, a.caller, a.looking("knowledge.entries"), func(ctx context.Context) ([]VaultEntry, error) {
		return a.k.vault().Entries(ctx, paths)
	})
}

// Read returns a note by its path, or by a name that a link would find it by.
func (a *KnowledgeAPI) Read(ctx context.Context, name string) (Note, error) {
	path := "" // on the disk
	var n Note
	act := a.looking("knowledge.read")
	act.brought = func(ctx context.Context) (Labels, error) {
		if n.Path == "" || a.who.Kind != sys.KindAgent {
			return nil, nil
		}
		return a.k.noteLabels(ctx, n.Path, path, a.scope.runID)
	}
	return guard(ctx, a.caller, act, func(ctx context.Context) (_ Note, err error) {
		v := a.k.vault()
		n, err = v.Read(ctx, name)
		if sys.CodeOf(err) == sys.CodeNotFound {
			if found, rerr := v.Resolve(ctx, "", name); rerr == nil && found != "" {
				n, err = v.Read(ctx, found)
			}
		}
		path = v.path(n.Path)
		if a.foreign() && err == nil {
			marked := a.k.marked(path, n.Text)
			a.sawMarks(marked)
			n.Text = marked.Shown()
		}
		return n, err
	})
}

// Search returns the notes in which the words of a query stand, the best first.
func (a *KnowledgeAPI) Search(ctx context.Context, query string, k int) ([]VaultHit, error) {
	return guard(ctx, a.caller, a.looking("knowledge.search"), func(ctx context.Context) ([]VaultHit, error) {
		found, err := a.k.vault().Search(ctx, query, min(cmp.Or(k, 20), 200))
		if !a.foreign() {
			return found, err
		}
		for i, f := range found {
			if masked := a.k.masked(f.Snippet); masked != f.Snippet {
				found[i].Snippet, found[i].Marks = masked, nil
			}
		}
		return found, err
	})
}

// Find returns notes by their names, as one is typed: 초성 and letters in order
// too.
func (a *KnowledgeAPI) Find(ctx context.Context, name string, k int) ([]VaultHit, error) {
	return guard(ctx, a.caller, a.looking("knowledge.find"), func(ctx context.Context) ([]VaultHit, error) {
		return a.k.vault().Switch(ctx, name, min(cmp.Or(k, 20), 200))
	})
}

// Backlinks returns the places that link to a note, which is named as [KnowledgeAPI.Read] names it.
func (a *KnowledgeAPI) Backlinks(ctx context.Context, name string) ([]VaultBacklink, error) {
	return guard(ctx, a.caller, a.looking("knowledge.backlinks"), func(ctx context.Context) ([]VaultBacklink, error) {
		found, err := a.k.vault().Backlinks(ctx, name)
		return a.maskedLinks(found), err
	})
}

// maskedLinks are places as an agent sees them.
func (a *KnowledgeAPI) maskedLinks(found []VaultBacklink) []VaultBacklink {
	if !a.foreign() {
		return found
	}
	found = slices.Clone(found) // it is the vault's
	for i := range found {
		found[i].Text = a.k.masked(found[i].Text)
	}
	return found
}

// Unlinked returns places in other notes that name a note without linking to it,
// at most 100.
func (a *KnowledgeAPI) Unlinked(ctx context.Context, name string) ([]VaultBacklink, error) {
	return guard(ctx, a.caller, a.looking("knowledge.unlinked"), func(ctx context.Context) ([]VaultBacklink, error) {
		found, err := a.k.vault().Unlinked(ctx, name)
		return a.maskedLinks(found), err
	})
}

// Graph returns notes and who links to whom: of the whole vault, or around one.
func (a *KnowledgeAPI) Graph(ctx context.Context, q VaultGraphOf) (VaultGraph, error) {
	return guard(ctx, a.caller, a.looking("knowledge.graph"), func(ctx context.Context) (VaultGraph, error) { return a.k.vault().Graph(ctx, q) })
}

// MovePreview says what [KnowledgeAPI.Move] would do now. It changes nothing, and
// fails where that would.
func (a *KnowledgeAPI) MovePreview(ctx context.Context, from, to string) (VaultMove, error) {
	return guard(ctx, a.caller, a.looking("knowledge.movePreview"), func(ctx context.Context) (VaultMove, error) {
		plan, err := a.k.vault().PlanMove(ctx, from, to)
		out := VaultMove{From: from, To: to, Links: plan.Links, In: []VaultMoveChange{}, Notes: slices.Concat([]sys.Words{}, plan.Notes)}
		for _, s := range plan.Steps {
			switch s.Kind {
			case knowledge.StepMove:
				out.From, out.To = s.Path, s.To
			case knowledge.StepWrite:
				out.In = append(out.In, VaultMoveChange{s.Path, s.Links})
			}
		}
		return out, err
	})
}

// Tags returns all tags and how many notes have each.
func (a *KnowledgeAPI) Tags(ctx context.Context) ([]VaultTag, error) {
	return guard(ctx, a.caller, a.looking("knowledge.tags"), func(ctx context.Context) ([]VaultTag, error) { return a.k.vault().Tags(ctx) })
}

// Tasks returns the items of checklists.
func (a *KnowledgeAPI) Tasks(ctx context.Context, q VaultTaskQuery) ([]VaultTask, error) {
	return guard(ctx, a.caller, a.looking("knowledge.tasks"), func(ctx context.Context) ([]VaultTask, error) {
		found, err := a.k.vault().Tasks(ctx, q)
		if !a.foreign() {
			return found, err
		}
		found = slices.Clone(found) // it is the vault's
		for i := range found {
			found[i].Text = a.k.masked(found[i].Text)
		}
		return found, err
	})
}

// Check looks through the vault for what may surprise a person. It changes
// nothing.
func (a *KnowledgeAPI) Check(ctx context.Context) ([]VaultIssue, error) {
	return guard(ctx, a.caller, a.looking("knowledge.check"), func(ctx context.Context) ([]VaultIssue, error) { return a.k.vault().Check(ctx) })
}

// Import copies the notes of a folder, an Obsidian vault say, into this one.
// Nothing is overwritten: a file whose name is taken is left out and named, or
// with beside comes in under another name.
func (a *KnowledgeAPI) Import(ctx context.Context, dir string, beside bool) (VaultImported, error) {
	return guard(ctx, a.caller, action{call: "knowledge.import", resource: "vault", paths: namedPaths(dir), meta: map[string]any{"from": dir}}, func(ctx context.Context) (VaultImported, error) {
		return a.k.vault().Import(ctx, expandHome(dir), importMode(beside))
	})
}

// ImportPreview says what [KnowledgeAPI.Import] would do now. It changes nothing.
func (a *KnowledgeAPI) ImportPreview(ctx context.Context, dir string, beside bool) (VaultImported, error) {
	return guard(ctx, a.caller, action{call: "knowledge.importPreview", resource: "vault", paths: namedPaths(dir)}, func(ctx context.Context) (VaultImported, error) {
		return a.k.vault().ImportPreview(ctx, expandHome(dir), importMode(beside))
	})
}

func importMode(beside bool) knowledge.ImportMode {
	if beside {
		return knowledge.ImportBeside
	}
	return knowledge.ImportSkip
}

// Write makes a note, or replaces its text. It fails with conflict when the note
// is another than the one that the text was made from.
func (a *KnowledgeAPI) Write(ctx context.Context, in NoteWrite) (VaultChange, error) {
	opt := knowledge.WriteOptions{Exact: in.Exact && a.who.Kind == sys.KindPerson}
	switch a.who.Kind {
	case sys.KindAgent:
		in.RunID = a.scope.runID
	case sys.KindClient: // no run wrote it
		in.RunID, in.Source = "", nil
	default:
	}
	if in.RunID != "" {
		opt.Provenance = &knowledge.Provenance{Run: in.RunID, Source: in.Source, Date: a.k.clock.Now().UTC().Truncate(time.Second)}
	}
	var from *keptWords
	if a.who.Kind == sys.KindPerson && in.RunID != "" {
		from = &keptWords{runID: in.RunID}
	}
	return a.changeOf(ctx, from, "knowledge.write", in.Path, sys.Say("Write the note %s", in.Path), in, func(ctx context.Context, v *vault) (knowledge.Plan, error) {
		if in.RunID != "" {
			r, err := a.k.run(ctx, in.RunID)
			if err != nil {
				return knowledge.Plan{}, err
			}
			opt.Provenance.Session = r.SessionID
			if len(in.Source) == 0 {
				opt.Provenance.Source = a.k.pagesOf(ctx, in.RunID)
			}
		}
		return v.PlanWrite(ctx, in.Path, in.Text, in.Base, opt)
	})
}

// Append adds a text to the end of a note, which is made when it is missing.
func (a *KnowledgeAPI) Append(ctx context.Context, path, text string) (VaultChange, error) {
	return a.change(ctx, "knowledge.append", path, sys.Say("Add to the note %s", path), text, func(ctx context.Context, v *vault) (knowledge.Plan, error) {
		return v.PlanAppend(ctx, path, text)
	})
}

// Delete takes a note or another file away; base is the hash that the caller
// saw, or "" for whatever is there. The trash keeps it.
func (a *KnowledgeAPI) Delete(ctx context.Context, path, base string) (VaultChange, error) {
	return a.change(ctx, "knowledge.delete", path, sys.Say("Delete the note %s", path), base, func(ctx context.Context, v *vault) (knowledge.Plan, error) {
		return v.PlanDelete(ctx, path, base)
	})
}

// Move renames or moves a note, another file or a folder, and rewrites all links
// that lead there: all of it or nothing.
func (a *KnowledgeAPI) Move(ctx context.Context, from, to string) (VaultChange, error) {
	return a.change(ctx, "knowledge.move", from, sys.Say("Move %s to %s", from, to), to, func(ctx context.Context, v *vault) (knowledge.Plan, error) {
		return v.PlanMove(ctx, from, to)
	})
}

// MakeFolder makes a folder, and those above it that are missing. It returns its
// path.
func (a *KnowledgeAPI) MakeFolder(ctx context.Context, path string) (string, error) {
	return guard(ctx, a.caller, action{call: "knowledge.makeFolder", resource: "note:" + cleanVaultName(path)}, func(ctx context.Context) (string, error) {
		return a.k.vault().MakeFolder(ctx, path)
	})
}

// RemoveFolder puts all files of a folder into the trash, and takes the folder
// away: all of it or nothing.
func (a *KnowledgeAPI) RemoveFolder(ctx context.Context, path string) (VaultRemoved, error) {
	return guard(ctx, a.caller, action{call: "knowledge.removeFolder", resource: "note:" + cleanVaultName(path)}, func(ctx context.Context) (VaultRemoved, error) {
		out := VaultRemoved{Path: cleanVaultName(path), Trash: []string{}}
		v := a.k.vault()
		plan, err := v.PlanDeleteFolder(ctx, path)
		if err != nil {
			return out, err
		}
		ctx = context.WithoutCancel(ctx)
		_, trash, err := a.applyAll(ctx, v, path, plan)
		out.Trash = append(out.Trash, trash...)
		if err == nil {
			err = v.RemoveFolder(ctx, path)
		}
		return out, err
	})
}

// Link makes the first mention of a note in a line of another one a link. line
// counts from 1; base is the hash of the note in which it was seen, or "".
func (a *KnowledgeAPI) Link(ctx context.Context, path string, line int, to, base string) (VaultChange, error) {
	return a.change(ctx, "knowledge.link", path, sys.Say("Link %s to %s", path, to), []any{line, to}, func(ctx context.Context, v *vault) (knowledge.Plan, error) {
		return v.PlanLink(ctx, path, line, to, base)
	})
}

// Toggle ticks an item of a checklist, or opens it again. line counts from 1;
// base is the hash of the note in which it was seen, or "".
func (a *KnowledgeAPI) Toggle(ctx context.Context, path string, line int, base string) (VaultChange, error) {
	return a.change(ctx, "knowledge.toggle", path, sys.Say("Tick an item of %s", path), line, func(ctx context.Context, v *vault) (knowledge.Plan, error) {
		return v.PlanToggle(ctx, path, line, base)
	})
}

// AddTask adds an item to the checklist of a note.
func (a *KnowledgeAPI) AddTask(ctx context.Context, path, text string) (VaultChange, error) {
	return a.change(ctx, "knowledge.addTask", path, sys.Say("Add an item to %s", path), text, func(ctx context.Context, v *vault) (knowledge.Plan, error) {
		return v.PlanTaskAdd(ctx, path, text)
	})
}

// Journal adds a text to a day's note, which is made from the template when it is
// missing. date is YYYY-MM-DD, or "" for today.
func (a *KnowledgeAPI) Journal(ctx context.Context, date, text string) (VaultChange, error) {
	day := a.k.clock.Now().In(time.Local)
	var bad error
	if date != "" {
		if day, bad = time.ParseInLocation(time.DateOnly, date, time.Local); bad != nil {
			bad = sys.Errorf(sys.CodeInvalid, "%q is no day. Nothing was written.", date).WithHint("Write it like 2026-11-23.")
		}
	}
	path, err := a.k.vault().JournalPath(day)
	bad = cmp.Or(bad, err)
	return a.change(ctx, "knowledge.journal", path, sys.Say("Write in the journal of %s", day.Format(time.DateOnly)), text, func(ctx context.Context, v *vault) (knowledge.Plan, error) {
		if bad != nil {
			return knowledge.Plan{}, bad
		}
		return v.PlanJournal(ctx, day, text)
	})
}

// JournalPreview says how the note of today would be with other settings of the
// journal, in the words of config.toml.
func (a *KnowledgeAPI) JournalPreview(ctx context.Context, folder, format, template string) (VaultDay, error) {
	return guard(ctx, a.caller, action{call: "knowledge.journalPreview", resource: "vault"}, func(ctx context.Context) (VaultDay, error) {
		return a.k.vault().PreviewJournal(ctx, journalOf(folder, format, template), a.k.clock.Now().In(time.Local))
	})
}

// looking is a call that reads the vault. To an agent its notes are the person's
// private things.
func (a *KnowledgeAPI) looking(call string) action {
	act := action{call: call, resource: "vault", effect: security.EffectRead}
	if a.who.Kind == sys.KindAgent && call != "knowledge.read" {
		act.brought = func(context.Context) (Labels, error) { return Labels{vaultLabel("")}, nil }
	}
	return act
}

// vaultLabel is of notes that a run has read; "" is any.
func vaultLabel(path string) Label {
	text := sys.Say("notes of the vault")
	if path != "" {
		text = sys.Say("the note %s", path)
	}
	return store.NewLabel(Label{Origin: store.LabelVault, Sensitive: true, Name: cmp.Or(path, "vault")}, "", text)
}

// noteLabels are the labels of a note, which lies at abs, to a run: private, unless
// that run wrote it, and what an agent had read who wrote it.
func (k *Kernel) noteLabels(ctx context.Context, path, abs, runID string) (Labels, error) {
	written, err := k.labelsAt(ctx, abs, hashOf(abs))
	if err != nil {
		return nil, err
	}
	var out Labels
	own := false
	for _, f := range written {
		mine := runID != "" && f.RunID == runID
		own = own || mine
		if !mine {
			out = out.Join(Labels{writtenLabel(f)})
		}
	}
	if !own {
		out = out.Join(Labels{vaultLabel(path)})
	}
	return out, nil
}

// cleanVaultName is a path of the vault as its records name it.
func cleanVaultName(name string) string { return strings.Trim(strings.ReplaceAll(name, `\`, "/"), "/") }
