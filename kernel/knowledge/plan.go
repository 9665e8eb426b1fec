package knowledge

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"oxios/kernel/sys"
)

// StepKind is what a step does.
type StepKind string

// The kinds of steps.
const (
	StepWrite  StepKind = "write"  // Path gets the bytes After; with BaseHash "" it is new
	StepDelete StepKind = "delete" // Path goes
	StepMove   StepKind = "move"   // Path, a file or a folder with all in it, is called To
)

// Step is one change of one file.
type Step struct {
	Kind     StepKind `json:"kind"`
	Path     string   `json:"path"`
	To       string   `json:"to,omitempty"`        // where a move goes
	Before   []byte   `json:"before,omitempty"`    // the bytes of the file; nil for one that is new or moved
	After    []byte   `json:"after,omitempty"`     // of a write
	BaseHash string   `json:"base_hash,omitempty"` // of the bytes that the step was planned on; "" for a new file and for a folder
	Links    int      `json:"links,omitempty"`     // that a write rewrites
}

// Plan is a change that was thought through and not yet made. Its steps are made
// in order; a path is as the steps before have left it.
type Plan struct {
	Steps []Step      `json:"steps"`
	Links int         `json:"links,omitempty"` // that are rewritten
	Notes []sys.Words `json:"notes,omitempty"` // what a person should know of it, each a sentence
}

// Undo returns the plan that takes p back, once p was applied.
func (p Plan) Undo() Plan {
	out := Plan{Links: p.Links}
	for i := len(p.Steps) - 1; i >= 0; i-- {
		s := p.Steps[i]
		switch {
		case s.Kind == StepMove:
			s.Path, s.To = s.To, s.Path
		case s.Kind == StepDelete:
			s = Step{Kind: StepWrite, Path: s.Path, After: s.Before}
		case s.BaseHash == "":
			s = Step{Kind: StepDelete, Path: s.Path, Before: s.After, BaseHash: hashOf(s.After)}
		default:
			s.Before, s.After, s.BaseHash = s.After, s.Before, hashOf(s.After)
		}
		out.Steps = append(out.Steps, s)
	}
	return out
}

// WriteOptions say more about a write.
type WriteOptions struct {
	// Provenance is written into the frontmatter: an agent wrote this. nil keeps
	// what stands there.
	Provenance *Provenance
	// Exact writes what the text says of it, which may be nothing.
	Exact bool
	// KeepBoth writes the text beside the note, under a name with the date, when
	// the note changed since base.
	KeepBoth bool
}

// standing is a note as it is on the disk now.
type standing struct {
	raw       []byte
	text      string // with \n, unless the file mixes line ends
	hash      string // "" when there is no such note
	crlf, bom bool
	encoding  string
}

func (v *Vault) standing(p string) (standing, error) {
	raw, _, err := v.bytes(p, maxNote)
	if sys.CodeOf(err) == sys.CodeNotFound {
		return standing{}, nil
	}
	if err != nil {
		return standing{}, err
	}
	text, encoding, hasBOM := decode(raw)
	s := standing{raw: raw, hash: hashOf(raw), crlf: onlyCRLF(text), bom: hasBOM, encoding: encoding}
	if s.crlf {
		text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	}
	s.text = string(text)
	return s, nil
}

// based reads a note and makes sure that it still is what the caller saw.
func (v *Vault) based(p, base string) (standing, error) {
	s, err := v.standing(p)
	switch {
	case err != nil:
		return s, err
	case s.hash == "" && base != "":
		return s, errRemoved(p)
	case s.hash == "":
		return s, nil
	case base != "" && base != s.hash:
		return s, errChanged(p)
	case s.encoding != encUTF8:
		return s, errEncoding(p, s.encoding)
	}
	return s, nil
}

// write is the plan of one note's new text.
func (s standing) write(p, text string) (Plan, error) {
	switch {
	case !utf8.ValidString(text):
		return Plan{}, errText(p)
	case len(text) > maxNote:
		return Plan{}, errTextLarge(p, len(text))
	}
	after := dress(text, s.crlf, s.bom)
	if s.hash != "" && bytes.Equal(after, s.raw) {
		return Plan{}, nil
	}
	return Plan{Steps: []Step{{Kind: StepWrite, Path: p, Before: s.raw, After: after, BaseHash: s.hash}}}, nil
}

// PlanWrite plans a note's whole text. base is the [Note.Hash] that the text was
// made from, or "" for a note that is new. It fails with CodeConflict when the
// note is another by now. An empty plan means that nothing would change.
func (v *Vault) PlanWrite(ctx context.Context, name, text, base string, opt WriteOptions) (Plan, error) {
	p, err := v.target(ctx, name)
	if err != nil {
		return Plan{}, err
	}
	s, err := v.standing(p)
	if err != nil {
		return Plan{}, err
	}
	if opt.KeepBoth && s.hash != base {
		was := p
		if p, err = v.beside(p); err != nil {
			return Plan{}, err
		}
		plan, err := v.PlanWrite(ctx, p, text, "", WriteOptions{Provenance: opt.Provenance})
		plan.Notes = append(plan.Notes, sys.Say("%s was changed by somebody else, so your text goes to %s.", was, p))
		return plan, err
	}
	if base == "" && s.hash != "" {
		return Plan{}, errExists(p)
	}
	if s, err = v.based(p, base); err != nil {
		return Plan{}, err
	}
	if base == "" {
		if err := v.newName(p); err != nil {
			return Plan{}, err
		}
	}
	switch {
	case opt.Provenance != nil:
		own := *opt.Provenance
		if own.Date.IsZero() {
			own.Date = v.opt.Clock.Now()
		}
		text = withProvenance(text, own.line())
	case !opt.Exact:
		text = keepProvenance(s.text, text)
	}
	return s.write(p, text)
}

// target is the path of a note to be changed.
func (v *Vault) target(ctx context.Context, name string) (string, error) {
	p, err := cleanNote(name)
	if err != nil {
		return "", err
	}
	return p, v.ready(ctx)
}

// newName refuses a path that is not fit for a new file: a name that some system
// forbids, or one that differs from another file's in case only.
func (v *Vault) newName(p string) error {
	fresh := p
	v.mu.RLock()
	defer v.mu.RUnlock()
	for dir := parent(p); dir != ""; dir = parent(dir) {
		if v.ix.folders[dir] != nil { // the folder is there, whatever it is called
			fresh = p[len(dir)+1:]
			break
		}
	}
	if err := checkName(fresh); err != nil {
		return err
	}
	for _, f := range v.ix.folded[fold(stem(p))] {
		if f.note == isNote(p) && fold(f.path) == fold(p) && f.path != p {
			return errExists(f.path)
		}
	}
	return nil
}

// beside finds a free name next to a note that somebody else changed.
func (v *Vault) beside(p string) (string, error) {
	root, err := v.root()
	if err != nil {
		return "", err
	}
	defer root.Close()
	day := v.opt.Clock.Now().Local().Format(time.DateOnly)
	for n := 1; ; n++ {
		free := fmt.Sprintf("%s (conflict %s).md", stem(p), day)
		if n > 1 {
			free = fmt.Sprintf("%s (conflict %s %d).md", stem(p), day, n)
		}
		if _, found := onDisk(root, free); !found {
			return free, nil
		}
	}
}

// edit plans a change of a note's text. A note that is missing begins as fresh;
// with fresh "" it must be there.
func (v *Vault) edit(ctx context.Context, name, base string, create bool, change func(text string) (string, error)) (Plan, error) {
	p, err := v.target(ctx, name)
	if err != nil {
		return Plan{}, err
	}
	s, err := v.based(p, base)
	if err != nil {
		return Plan{}, err
	}
	if s.hash == "" {
		if !create {
			return Plan{}, errNoNote(p)
		}
		if err := v.newName(p); err != nil {
			return Plan{}, err
		}
	}
	text, err := change(s.text)
	if err != nil {
		return Plan{}, err
	}
	return s.write(p, text)
}

// PlanAppend plans to add a text at the end of a note, on a line of its own. A
// note that is missing is made.
func (v *Vault) PlanAppend(ctx context.Context, name, text string) (Plan, error) {
	if strings.TrimSpace(text) == "" {
		return Plan{}, errNoText()
	}
	return v.edit(ctx, name, "", true, func(old string) (string, error) { return appended(old, text), nil })
}

func appended(old, text string) string {
	if old != "" && !strings.HasSuffix(old, "\n") {
		old += "\n"
	}
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return old + text
}

// PlanDelete plans to delete a note or another file. base is the hash that the
// caller saw, or "" for whatever is there now. A file over 50 MB is refused: its
// deletion could not be undone.
func (v *Vault) PlanDelete(ctx context.Context, name, base string) (Plan, error) {
	if _, err := clean(name); err != nil {
		return Plan{}, err
	}
	if err := v.ready(ctx); err != nil {
		return Plan{}, err
	}
	p, err := v.known(name)
	if err != nil {
		if p, err = v.existing(name); err != nil {
			return Plan{}, err
		}
	}
	raw, _, err := v.bytes(p, maxFile)
	if err != nil {
		return Plan{}, err
	}
	hash := hashOf(raw)
	if base != "" && base != hash {
		return Plan{}, errChanged(p)
	}
	plan := Plan{Steps: []Step{{Kind: StepDelete, Path: p, Before: raw, BaseHash: hash}}}
	back, err := v.Backlinks(ctx, p)
	if err == nil && len(back) > 0 {
		plan.Notes = append(plan.Notes, sys.Say("%d places link to it, and will lead nowhere.", len(back)))
	}
	return plan, nil
}

// existing returns the path of a file on the disk, with .md where that is what
// is there.
func (v *Vault) existing(name string) (string, error) {
	p, err := clean(name)
	if err != nil {
		return "", err
	}
	root, err := v.root()
	if err != nil {
		return "", err
	}
	defer root.Close()
	for _, p := range []string{p, p + ".md"} {
		if _, found := onDisk(root, p); found {
			return p, nil
		}
	}
	return "", errNoNote(p)
}
