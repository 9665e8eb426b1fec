package skill

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"oxios/kernel/guard"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// API holds the calls about skills.
type API struct {
	c *guard.Caller
	s *Service
}

// The states of a skill.
const (
	StateReady   = "ready"
	StateNew     = "new"     // the person has not reviewed it: agents do not have it
	StateChanged = "changed" // it is not what was reviewed: agents do not have it
	StateMissing = "missing" // something that it requires is not there
	StateOff     = "off"     // the person switched it off
)

// View is a skill as a face shows it.
type View struct {
	Skill
	State   string    `json:"state"`
	Missing []Missing `json:"missing,omitempty"`
	Rights  Rights    `json:"rights"`         // what the person gave its scripts
	Asks    []string  `json:"asks,omitempty"` // the variables that it asks for
	Origin  *Origin   `json:"origin,omitempty"`
}

// Details are a skill with all that a person needs to decide about it.
type Details struct {
	View
	Review  Review   `json:"review"`
	Now     string   `json:"now"`               // the hash of what it holds now: what [API.Accept] takes
	Body    string   `json:"body"`              // its instructions
	Changes []Change `json:"changes,omitempty"` // what changed since it was accepted
	Servers string   `json:"servers,omitempty"` // the file in it that names MCP servers, absolute: the person may import them
}

// Change is one file of a skill that is not what was accepted.
type Change struct {
	Path   string `json:"path"`
	Diff   string `json:"diff,omitempty"`   // unified
	Binary bool   `json:"binary,omitempty"` // no text, or too long: only that it may have changed is known
}

// Text is what an agent reads of a skill.
type Text struct {
	Name  string   `json:"name"`
	File  string   `json:"file"`
	Text  string   `json:"text"`
	Files []string `json:"files,omitempty"` // its other files, with the instructions
}

// List lists the skills that the caller has where it works, by source and name. Who is not the person sees those that are ready.
func (a *API) List(ctx context.Context) ([]View, error) {
	return guard.Do(ctx, a.c, guard.Action{Call: "skills.list", Resource: "skills"}, func(ctx context.Context) ([]View, error) {
		if a.c.Who().Kind != sys.KindPerson {
			return a.s.Ready(ctx, a.c.Scope().Folder)
		}
		return a.s.views(ctx, a.c.Scope().Folder)
	})
}

// Ready are the skills that agents have who work in a folder. The kernel asks it when it makes the tools of a run.
func (s *Service) Ready(ctx context.Context, folder string) ([]View, error) {
	views, err := s.views(ctx, folder)
	return slices.DeleteFunc(views, func(v View) bool { return v.State != StateReady }), err
}

// LeftOut lists the folders that hold a skill which is not used, and why.
func (a *API) LeftOut(ctx context.Context) ([]LeftOut, error) {
	return guard.Do(ctx, a.c, guard.Action{Call: "skills.leftOut", Resource: "skills"}, func(ctx context.Context) ([]LeftOut, error) {
		return append([]LeftOut{}, a.s.catalog(ctx, a.c.Scope().Folder).Left...), nil
	})
}

// find returns a skill by its name.
func (a *API) find(ctx context.Context, name string) (View, error) {
	views, err := a.s.views(ctx, a.c.Scope().Folder)
	if err != nil {
		return View{}, err
	}
	if i := slices.IndexFunc(views, func(v View) bool { return v.Name == name }); i >= 0 {
		return views[i], nil
	}
	return View{}, noSkill(name)
}

func noSkill(name string) error {
	return sys.Errorf(sys.CodeNotFound, "There is no skill %q. Nothing was done.", sys.Shorten(name, 100)).WithHint("`oxios skills list` shows them.")
}

// Show returns a skill with its review: its files, its licence, the machines that it names, what looks dangerous in it, and
// what changed since it was accepted.
func (a *API) Show(ctx context.Context, name string) (Details, error) {
	return guard.Do(ctx, a.c, guard.Action{Call: "skills.show", Resource: "skill:" + name}, func(ctx context.Context) (Details, error) {
		v, err := a.find(ctx, name)
		if err != nil {
			return Details{}, err
		}
		fsys, done, err := files(v.Skill)
		if err != nil {
			return Details{}, err
		}
		defer done()
		d := Details{View: v}
		if d.Review, err = Examine(ctx, fsys, v.Skill); err != nil {
			return Details{}, err
		}
		if d.Now, err = Hash(ctx, fsys); err != nil {
			return Details{}, err
		}
		file, err := fs.ReadFile(fsys, v.File)
		if err != nil {
			return Details{}, err
		}
		d.Body = v.Skill.Body(file)
		for _, name := range serverFiles {
			if info, err := fs.Stat(fsys, name); err == nil && info.Mode().IsRegular() && v.Source != SourceBundled && d.Servers == "" {
				d.Servers = filepath.Join(v.Dir, name)
			}
		}
		a.s.mu.Lock()
		was, ok := a.s.decided.Accepted[v.Dir]
		a.s.mu.Unlock()
		if ok && was.Hash != d.Now {
			d.Changes = a.s.changesOf(was.Files, textsOf(fsys, d.Review))
		}
		return d, nil
	})
}

// serverFiles are the files in which a skill names MCP servers. They are nothing to Oxios before the person imports them.
var serverFiles = []string{".mcp.json", "mcp.json"}

// maxShown is how large a text file may be whose changes are shown.
const maxShown = 256 << 10

// textsOf are the texts of a skill by their paths; "" for what is no text or too long.
func textsOf(fsys fs.FS, r Review) map[string]string {
	out := map[string]string{}
	for _, f := range r.Files {
		out[f.Path] = ""
		if !f.Text || f.Size > maxShown {
			continue
		}
		if raw, _, err := readUpTo(fsys, f.Path, maxShown); err == nil && utf8.Valid(raw) {
			out[f.Path] = string(raw)
		}
	}
	return out
}

func (s *Service) changesOf(before, after map[string]string) (out []Change) {
	var names []string
	for name := range before {
		names = append(names, name)
	}
	for name := range after {
		if _, ok := before[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		was, had := before[name]
		is, has := after[name]
		switch {
		case had && has && was == "" && is == "":
			out = append(out, Change{Path: name, Binary: true})
		case was != is || had != has:
			out = append(out, Change{Path: name, Diff: s.c.Diff(name, was, is)})
		}
	}
	return out
}

// Accept lets agents have a skill as it is now. now is the hash that was shown: a skill that changed meanwhile is not accepted.
func (a *API) Accept(ctx context.Context, name, now string) (View, error) {
	return guard.Do(ctx, a.c, guard.Action{Call: "skills.accept", Resource: "skill:" + name, Meta: map[string]any{"hash": now}}, func(ctx context.Context) (View, error) {
		v, err := a.find(ctx, name)
		if err != nil {
			return View{}, err
		}
		if v.Source == SourceBundled {
			return View{}, sys.Errorf(sys.CodeConflict, "The skill %q comes with Oxios and needs no review. Nothing was changed.", name)
		}
		fsys, done, err := files(v.Skill)
		if err != nil {
			return View{}, err
		}
		defer done()
		is, file, err := hashesOf(ctx, fsys, v.File)
		if err != nil {
			return View{}, err
		}
		if is != now {
			return View{}, sys.Errorf(sys.CodeConflict, "The skill %q is not what was shown. Nothing was accepted.", name).WithHint("Review it again.")
		}
		review, err := Examine(ctx, fsys, v.Skill)
		if err != nil {
			return View{}, err
		}
		yes := accepted{Hash: is, File: file, At: a.s.c.Clock.Now().UTC(), Files: textsOf(fsys, review)}
		if err := a.s.decide(func(d *decisions) { d.Accepted[v.Dir] = yes }); err != nil {
			return View{}, err
		}
		a.s.c.Told(name)
		return a.find(ctx, name)
	})
}

// Enable switches a skill on or off for all agents, from their next step on.
func (a *API) Enable(ctx context.Context, name string, on bool) (View, error) {
	return guard.Do(ctx, a.c, guard.Action{Call: "skills.enable", Resource: "skill:" + name, Meta: map[string]any{"on": on}}, func(ctx context.Context) (View, error) {
		v, err := a.find(ctx, name)
		if err != nil {
			return View{}, err
		}
		err = a.s.decide(func(d *decisions) {
			d.Off = slices.DeleteFunc(d.Off, func(dir string) bool { return dir == v.Dir })
			if !on {
				d.Off = append(d.Off, v.Dir)
			}
		})
		if err != nil {
			return View{}, err
		}
		a.s.c.Told(name)
		return a.find(ctx, name)
	})
}

// Install brings a skill into the home: from a folder or an archive (zip, tar, tar.gz) of this computer, from a git repository,
// an archive or the list of a site at an https address. #FOLDER or #NAME at the end of an address says which of several is
// meant, @REF behind that which branch, tag or commit. It is not used before it was reviewed. One of the same name that is
// installed is replaced, and has to be reviewed again.
func (a *API) Install(ctx context.Context, from string) (View, error) {
	return a.installs(ctx, guard.Action{Call: "skills.install", Resource: "skill:" + sys.Shorten(from, 300)}, func() (string, string, error) { return from, "", nil })
}

// Update installs a skill again from where it came from. What differs has to be reviewed.
func (a *API) Update(ctx context.Context, name string) (View, error) {
	return a.installs(ctx, guard.Action{Call: "skills.update", Resource: "skill:" + name}, func() (string, string, error) {
		v, err := a.find(ctx, name)
		if err == nil && v.Origin == nil {
			err = sys.Errorf(sys.CodeConflict, "The skill %q was not installed by Oxios: it is in %s. Nothing was changed.", name, v.Dir).WithHint("Update it there.")
		}
		if err != nil {
			return "", "", err
		}
		return v.Origin.From, name, nil
	})
}

// installs installs what find says; as, where it is set, is the name that the skill has to have.
func (a *API) installs(ctx context.Context, act guard.Action, find func() (from, as string, err error)) (View, error) {
	return guard.Do(ctx, a.c, act, func(ctx context.Context) (View, error) {
		from, as, err := find()
		if err != nil {
			return View{}, err
		}
		name, err := a.s.install(ctx, from, as)
		if err != nil {
			return View{}, err
		}
		select {
		case a.s.came <- struct{}{}:
		default: // it is known already
		}
		a.s.c.Told(name)
		return a.find(ctx, name)
	})
}

// Pin leaves an installed skill as it is when all are updated, or no longer.
func (a *API) Pin(ctx context.Context, name string, on bool) (View, error) {
	return guard.Do(ctx, a.c, guard.Action{Call: "skills.pin", Resource: "skill:" + name, Meta: map[string]any{"on": on}}, func(ctx context.Context) (View, error) {
		v, err := a.find(ctx, name)
		if err == nil && v.Origin == nil {
			err = sys.Errorf(sys.CodeConflict, "The skill %q was not installed by Oxios: it is in %s. Nothing was changed.", name, v.Dir)
		}
		if err != nil {
			return View{}, err
		}
		o := *v.Origin
		o.Pinned = on
		if err := a.s.decide(func(d *decisions) { d.Origins[v.Dir] = o }); err != nil {
			return View{}, err
		}
		a.s.c.Told(name)
		return a.find(ctx, name)
	})
}

// install stages a skill outside of every folder in which skills are looked for, and puts it in its place when it is whole.
func (s *Service) install(ctx context.Context, from, as string) (name string, err error) {
	from = strings.TrimSpace(from)
	p, err := placeOf(from)
	if err == nil {
		p, err = s.registered(p)
	}
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(s.c.Dir, 0o700); err != nil {
		return "", sys.Errorf(sys.CodeUnavailable, "The folder %s cannot be made: %w.", s.c.Dir, err)
	}
	staging, err := os.MkdirTemp(filepath.Dir(s.c.Dir), ".new-skill-")
	if err != nil {
		return "", sys.Errorf(sys.CodeUnavailable, "The folder %s cannot be made: %w.", filepath.Dir(s.c.Dir), err)
	}
	defer func() {
		if rerr := os.RemoveAll(staging); rerr != nil {
			s.c.Log.Warn("What was left of an installation could not be deleted", "folder", staging, "error", rerr)
		}
	}()
	at, commit, err := s.fetch(ctx, p, staging)
	if err != nil {
		return "", err
	}
	tree, err := Open(filepath.Join(staging, filepath.FromSlash(at)))
	if err != nil {
		return "", err
	}
	k, err := Load(tree, ".")
	if cerr := tree.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return "", err
	}
	folder := folderOf(k.Name)
	if folder == "" {
		return "", sys.Errorf(sys.CodeInvalid, "The skill's name %q cannot be the name of a folder. Nothing was installed.", k.Name).WithHint("Its author can give it a name of small letters, digits and hyphens.")
	}
	if as != "" && k.Name != as {
		return "", sys.Errorf(sys.CodeConflict, "What is at %s is the skill %q now, and not %q. Nothing was changed.", from, k.Name, as).WithHint("Install that one by its address, if you want it.")
	}
	place := filepath.Join(s.c.Dir, folder)
	old := staging + "-old"
	if err := os.Rename(place, old); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", sys.Errorf(sys.CodeUnavailable, "The skill %q that is installed could not be replaced: %w. It is still there.", k.Name, err)
	}
	if err := os.Rename(filepath.Join(staging, filepath.FromSlash(at)), place); err != nil {
		return "", errors.Join(sys.Errorf(sys.CodeUnavailable, "The skill %q could not be installed: %w.", k.Name, err), os.Rename(old, place))
	}
	if err := os.RemoveAll(old); err != nil {
		s.c.Log.Warn("The skill that was replaced could not be deleted", "folder", old, "error", err)
	}
	return k.Name, s.decide(func(d *decisions) {
		if d.Origins == nil {
			d.Origins = map[string]Origin{}
		}
		was := d.Origins[place]
		if was.From != from { // another skill of the name: what was given to the one that it replaces is not its own
			was = Origin{}
			delete(d.Rights, place)
		}
		d.Origins[place] = Origin{From: from, Commit: commit, At: s.c.Clock.Now().UTC(), Pinned: was.Pinned}
	})
}

// folderOf is the name of the folder of a skill; "" where its name can be none.
func folderOf(name string) string {
	if name == "" || name == "." || name == ".." || strings.HasPrefix(name, ".") || strings.ContainsAny(name, `/\:*?"<>|`) || checkEntry(name).EN != "" {
		return ""
	}
	return name
}

// Remove deletes an installed skill with what was decided about it. Others are not ours to delete.
func (a *API) Remove(ctx context.Context, name string) error {
	_, err := guard.Do(ctx, a.c, guard.Action{Call: "skills.remove", Resource: "skill:" + name}, func(ctx context.Context) (struct{}, error) {
		v, err := a.find(ctx, name)
		if err != nil {
			return struct{}{}, err
		}
		if filepath.Dir(v.Dir) != filepath.Clean(a.s.c.Dir) {
			return struct{}{}, sys.Errorf(sys.CodeConflict, "The skill %q was not installed by Oxios: it is in %s. Nothing was changed.", name, v.Dir).
				WithHint("Turn it off, or delete it there.")
		}
		if err := os.RemoveAll(v.Dir); err != nil {
			return struct{}{}, sys.Errorf(sys.CodeUnavailable, "The skill %q could not be deleted: %w.", name, err).WithHint("Delete %s yourself.", v.Dir)
		}
		err = a.s.decide(func(d *decisions) {
			delete(d.Accepted, v.Dir)
			delete(d.Rights, v.Dir)
			delete(d.Origins, v.Dir)
			d.Off = slices.DeleteFunc(d.Off, func(dir string) bool { return dir == v.Dir })
		})
		a.s.c.Told(name)
		return struct{}{}, err
	})
	return err
}

// Check says where the skill in a folder is not as the specification wants it, and nothing where it is: strictly by its letter,
// or else only what Oxios itself warns of.
func (a *API) Check(ctx context.Context, folder string, strict bool) ([]Problem, error) {
	return guard.Do(ctx, a.c, guard.Action{Call: "skills.check", Resource: "file:" + folder}, func(context.Context) ([]Problem, error) {
		if strict {
			return append([]Problem{}, Strict(folder)...), nil
		}
		tree, err := Open(folder)
		if err != nil {
			return nil, sys.Errorf(sys.CodeNotFound, "%s cannot be opened: %w.", folder, err).WithHint("Choose the folder in which SKILL.md is.")
		}
		defer tree.Close()
		k, err := Load(tree, ".")
		if err != nil {
			return []Problem{{Text: sys.TextOf(err)}}, nil
		}
		out := []Problem{}
		for _, w := range k.Warnings {
			out = append(out, Problem{Text: w})
		}
		return out, nil
	})
}

// maxRead is how many bytes of a file of a skill an agent reads at once.
const maxRead = 60 << 10

// Read returns the instructions of a skill, or one of its files. What others wrote taints the run that reads it. A skill is
// read only as it was reviewed.
func (a *API) Read(ctx context.Context, name, file string) (Text, error) {
	var v View
	act := guard.Action{Call: "skills.read", Resource: "skill:" + sys.Shorten(name, 100), Meta: map[string]any{"file": sys.Shorten(file, 200)}}
	act.Brought = func(context.Context) (store.Labels, error) {
		if v.Source == SourceBundled || v.Name == "" {
			return nil, nil
		}
		return a.s.c.Brings(v.Name), nil
	}
	return guard.Do(ctx, a.c, act, func(ctx context.Context) (out Text, err error) {
		if v, err = a.find(ctx, name); err != nil {
			return Text{}, err
		}
		fsys, done, err := files(v.Skill)
		if err != nil {
			return Text{}, err
		}
		defer done()
		if a.c.Who().Kind != sys.KindPerson { // who reads all
			if err := asReviewed(ctx, v, fsys); err != nil {
				return Text{}, err
			}
		}
		if file == "" {
			raw, err := fs.ReadFile(fsys, v.File)
			if err != nil {
				return Text{}, err
			}
			found, err := walk(ctx, fsys)
			if err != nil {
				return Text{}, err
			}
			out = Text{Name: v.Name, File: v.File, Text: v.Skill.Body(raw)}
			for _, f := range found {
				if f.path != v.File && len(out.Files) < 200 {
					out.Files = append(out.Files, f.path)
				}
			}
			return out, nil
		}
		clean := path.Clean(strings.TrimPrefix(file, "./"))
		if !fs.ValidPath(clean) {
			return Text{}, sys.Errorf(sys.CodeInvalid, "%q is not a file of the skill %q. Nothing was read.", sys.Shorten(file, 200), v.Name).WithHint("Read the skill without a file to see which files it has.")
		}
		raw, size, err := readUpTo(fsys, clean, maxRead)
		switch {
		case err != nil:
			return Text{}, sys.Errorf(sys.CodeNotFound, "The skill %q has no file %q that can be read. Nothing was read.", v.Name, sys.Shorten(file, 200)).WithHint("Read the skill without a file to see which files it has.")
		case !utf8.Valid(raw) && size <= maxRead:
			return Text{}, sys.Errorf(sys.CodeInvalid, "%q of the skill %q is not text. Nothing was read.", clean, v.Name)
		}
		text := strings.ToValidUTF8(string(raw), "")
		if size > maxRead {
			text += "\n[the rest is left out]"
		}
		return Text{Name: v.Name, File: clean, Text: text}, nil
	})
}

// asReviewed says why a skill is not to be used now: nil where it is on, and is what the person reviewed.
func asReviewed(ctx context.Context, v View, fsys fs.FS) error {
	switch v.State {
	case StateOff:
		return sys.Errorf(sys.CodeForbidden, "The skill %q is off. Nothing was done.", v.Name)
	case StateNew:
		return toReview(sys.Errorf(sys.CodeForbidden, "The person has not reviewed the skill %q. Nothing was done.", v.Name), v.Name)
	}
	if v.Source == SourceBundled {
		return nil
	}
	is, err := Hash(ctx, fsys)
	if err != nil {
		return err
	}
	if is != v.Hash {
		return notReviewed(v.Name)
	}
	return nil
}

func notReviewed(name string) error {
	return toReview(sys.Errorf(sys.CodeForbidden, "The skill %q is not what the person reviewed. Nothing was done.", name), name)
}

func toReview(e *sys.Error, name string) error {
	return e.WithHint("The person can review it: `oxios skills review %s`.", name)
}
