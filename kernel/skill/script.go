package skill

import (
	"bytes"
	"context"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"oxios/kernel/guard"
	"oxios/kernel/sys"
)

// Rights are what the person gave the scripts of one skill, by its name. Without any they have no network and no keys.
type Rights struct {
	Network bool     `json:"network"`
	Env     []string `json:"env"` // variables of Oxios' own environment, of those that the skill names
}

// of are the rights that a skill has: of the variables those that it names still.
func (r Rights) of(k Skill) Rights {
	named := k.named()
	r.Env = slices.DeleteFunc(slices.Clone(r.Env), func(name string) bool { return !slices.Contains(named, name) })
	return r
}

// Script is a script of a skill that may be run.
type Script struct {
	Skill   string
	Dir     string   // the folder of the skill, absolute
	Path    string   // the script, absolute
	Program []string // what runs it, as its ending says; empty: it runs by itself
	Rights  Rights

	hash string // of the skill, as it was reviewed
}

// Copy writes the whole skill into an empty folder and returns its script there, to be run in its place: what is run is what was
// hashed, whatever others make of the skill's own folder meanwhile. It is the skill that [Service.Script] found, or an error.
func (x Script) Copy(ctx context.Context, into string) (Script, error) {
	from, err := Open(x.Dir)
	if err != nil {
		return Script{}, sys.Errorf(sys.CodeNotFound, "The skill %q cannot be opened: %w.", x.Skill, err)
	}
	defer from.Close()
	to, err := os.OpenRoot(into)
	if err != nil {
		return Script{}, err
	}
	defer to.Close()
	is, err := hashAnd(ctx, from, to, nil)
	if err != nil {
		return Script{}, err
	}
	if is != x.hash {
		return Script{}, notReviewed(x.Skill)
	}
	rel, err := filepath.Rel(x.Dir, x.Path)
	if err != nil {
		return Script{}, err
	}
	x.Dir, x.Path = into, filepath.Join(into, rel)
	return x, nil
}

// Script finds a script of a skill for somebody who works in a folder. The skill is ready, and as it was reviewed.
func (s *Service) Script(ctx context.Context, folder, name, file string) (Script, error) {
	x, first, exec, err := s.program(ctx, folder, name, file)
	if err != nil {
		return Script{}, err
	}
	if IsModule(x.Path) {
		return Script{}, sys.Errorf(sys.CodeInvalid, "%q of the skill %q is a module. Nothing was run.", sys.Shorten(file, 200), x.Skill).
			WithHint("Call it with input, which is JSON, and without args.")
	}
	if x.Program = programOf(x.Path, first); len(x.Program) == 0 && !exec {
		return Script{}, sys.Errorf(sys.CodeInvalid, "Nothing says which program runs %q of the skill %q. Nothing was run.", sys.Shorten(file, 200), x.Skill).
			WithHint("Read it, and do what it says with the commands that you have.")
	}
	return x, nil
}

// program finds a file of a skill that may be run, as it was reviewed, with how it begins and whether it is marked as a program.
func (s *Service) program(ctx context.Context, folder, name, file string) (x Script, first []byte, exec bool, err error) {
	views, err := s.views(ctx, folder)
	if err != nil {
		return Script{}, nil, false, err
	}
	i := slices.IndexFunc(views, func(v View) bool { return v.Name == name })
	if i < 0 {
		return Script{}, nil, false, noSkill(name)
	}
	v := views[i]
	fsys, done, err := files(v.Skill)
	if err != nil {
		return Script{}, nil, false, err
	}
	defer done()
	if err := asReviewed(ctx, v, fsys); err != nil {
		return Script{}, nil, false, err
	}
	clean := path.Clean(strings.TrimPrefix(filepath.ToSlash(file), "./"))
	info, err := fs.Stat(fsys, clean)
	if err != nil || !info.Mode().IsRegular() || v.Source == SourceBundled { // those that come with Oxios have none
		return Script{}, nil, false, sys.Errorf(sys.CodeNotFound, "The skill %q has no script %q. Nothing was run.", v.Name, sys.Shorten(file, 200)).
			WithHint("Read the skill without a file to see which files it has.")
	}
	first, _, err = readUpTo(fsys, clean, 256)
	x = Script{Skill: v.Name, Dir: v.Dir, Path: filepath.Join(v.Dir, filepath.FromSlash(clean)), Rights: v.Rights, hash: v.Hash}
	return x, first, info.Mode().Perm()&0o100 != 0, err
}

// programs run the scripts with these endings.
var programs = map[string][]string{
	".py": {"python3"}, ".sh": {"sh"}, ".bash": {"bash"}, ".js": {"node"}, ".mjs": {"node"}, ".cjs": {"node"}, ".ts": {"node"},
	".rb": {"ruby"}, ".pl": {"perl"}, ".php": {"php"}, ".lua": {"lua"}, ".r": {"Rscript"}, ".ps1": {"pwsh", "-NoProfile", "-File"},
}

// programOf says what runs a script: its first line, or else the ending of its name; nil where neither does.
func programOf(name string, first []byte) []string {
	line, _, _ := bytes.Cut(first, []byte("\n"))
	if rest, ok := bytes.CutPrefix(line, []byte("#!")); ok {
		words := strings.Fields(string(rest))
		if len(words) > 1 && path.Base(words[0]) == "env" {
			words = slices.DeleteFunc(words[1:], func(w string) bool { return w == "-S" })
		}
		if len(words) > 0 && !strings.Contains(words[0], "=") {
			words[0] = path.Base(words[0])
			return words
		}
	}
	return slices.Clone(programs[strings.ToLower(path.Ext(name))])
}

// named are the variables that a skill says it needs.
func (s Skill) named() []string {
	out := slices.Clone(s.Requires.Env)
	if s.PrimaryEnv != "" && !slices.Contains(out, s.PrimaryEnv) {
		out = append(out, s.PrimaryEnv)
	}
	return out
}

// Allow sets what the scripts of a skill have besides its own folder and that of the run: the network, and variables that the
// skill itself names.
func (a *API) Allow(ctx context.Context, name string, r Rights) (View, error) {
	r.Env = slices.Compact(slices.Sorted(slices.Values(r.Env)))
	meta := map[string]any{"network": r.Network, "env": r.Env}
	return guard.Do(ctx, a.c, guard.Action{Call: "skills.allow", Resource: "skill:" + name, Meta: meta}, func(ctx context.Context) (View, error) {
		v, err := a.find(ctx, name)
		if err != nil {
			return View{}, err
		}
		if v.Source == SourceBundled {
			return View{}, sys.Errorf(sys.CodeConflict, "The skill %q comes with Oxios and has no scripts. Nothing was changed.", name)
		}
		for _, env := range r.Env {
			if !slices.Contains(v.named(), env) {
				return View{}, sys.Errorf(sys.CodeInvalid, "The skill %q does not ask for the variable %q. Nothing was changed.", name, sys.Shorten(env, 100)).
					WithHint("`oxios skills show %s` names those that it asks for.", name)
			}
		}
		err = a.s.decide(func(d *decisions) {
			d.Rights = maps.Clone(d.Rights)
			if d.Rights == nil {
				d.Rights = map[string]Rights{}
			}
			if d.Rights[v.Dir] = r; !r.Network && len(r.Env) == 0 {
				delete(d.Rights, v.Dir)
			}
		})
		if err != nil {
			return View{}, err
		}
		a.s.c.Told(name)
		return a.find(ctx, name)
	})
}
