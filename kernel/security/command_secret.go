package security

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// What a pattern may be looked up for on the disk.
const (
	maxPatternNames   = 2000
	maxPatternMatches = 200
)

// SecretName reports whether a file below home may hold passwords or keys, by
// its absolute path. File tools, commands and what hides files from commands
// all go by it.
func SecretName(abs, home string) bool {
	return pathSecrecy(pathFold(slashClean(abs)), pathFold(slashClean(home))) > TierFree
}

// SecretsBelow finds the files and folders of a folder that may hold passwords
// or keys, as absolute paths; what lies in such a folder is not named again. It
// looks at most names, without following links, and says whether these were all.
func SecretsBelow(folder, home string, most int) (secrets []string, all bool) {
	all = true
	var walk func(dir string)
	walk = func(dir string) {
		entries, err := os.ReadDir(dir)
		if err != nil && !os.IsNotExist(err) {
			all = false
		}
		for _, e := range entries {
			if most--; most < 0 {
				all = false
				return
			}
			abs := filepath.Join(dir, e.Name())
			switch {
			case SecretName(abs, home):
				secrets = append(secrets, abs)
			case e.IsDir():
				walk(abs)
			case e.Type()&os.ModeSymlink != 0:
				if real, err := filepath.EvalSymlinks(abs); err == nil && SecretName(real, home) {
					secrets = append(secrets, abs)
				}
			}
			if most < 0 {
				return
			}
		}
	}
	if folder = filepath.Clean(folder); SecretName(folder, home) {
		return []string{folder}, true
	}
	if info, err := os.Stat(folder); err == nil && info.IsDir() {
		walk(folder)
	}
	return secrets, all
}

// sampleSecrets are names that stand for those of [privateNames].
var sampleSecrets = sync.OnceValue(func() []string {
	var out []string
	for _, name := range privateNames {
		switch base := strings.TrimSuffix(name, "*"); {
		case strings.HasPrefix(base, "*"):
			out = append(out, "server"+base[1:])
		case base == ".env." || base == ".*_history":
			out = append(out, ".env.local", ".bash_history")
		default:
			out = append(out, strings.NewReplacer("y*ml", "yml", "*", "").Replace(base), strings.ReplaceAll(base, "*", "-x"))
		}
	}
	return out
})

// aimed reports whether a pattern picks secret files by their name. One that
// takes all files, or all of a common kind, does not: *, *.json, [a-z]*. With dots
// it may stand for names that begin with one, which the shell leaves out.
func aimed(pattern string, dots bool) bool {
	base := strings.ToLower(path.Base(strings.TrimSuffix(pattern, "/")))
	stem := base
	for _, end := range []string{".json", ".toml", ".yml", ".yaml", ".y*ml", ".ini", ".properties", ".txt", ".csv", ".md", ".*"} {
		if len(stem) > len(end) {
			stem = strings.TrimSuffix(stem, end)
		}
	}
	if literals(stem) == "" {
		return false
	}
	for _, name := range sampleSecrets() {
		if shellMatches(base, name, dots) {
			return true
		}
	}
	return false
}

// literals returns the letters of a pattern that stand for themselves.
func literals(pattern string) string {
	var out strings.Builder
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; c {
		case '*', '?', '{', '}', ',':
		case '\\':
		case '[':
			if end := strings.IndexByte(pattern[i:], ']'); end > 0 {
				i += end
			}
		default:
			out.WriteByte(c)
		}
	}
	return out.String()
}

// shellMatches reports whether a pattern of the shell may stand for a name. A
// leading dot has to be written, unless dots says otherwise. A pattern that is not
// understood may stand for any.
func shellMatches(pattern, name string, dots bool) bool {
	if strings.HasPrefix(name, ".") && !dots && !strings.HasPrefix(strings.TrimPrefix(pattern, `\`), ".") {
		return false
	}
	if strings.ContainsAny(pattern, "(|@+") && strings.Contains(pattern, "(") || strings.Contains(pattern, cmdUnseen) || strings.Contains(pattern, "[:") {
		return true
	}
	ok, err := path.Match(strings.ReplaceAll(pattern, "[!", "[^"), name)
	return ok || err != nil
}

// standsFor returns the paths that a pattern of the shell stands for now. ok is
// false where they cannot be told.
func (w *cmdWalker) standsFor(abs string) (found []string, ok bool) {
	if strings.Contains(abs, cmdUnseen) {
		return nil, false
	}
	parts := strings.Split(strings.TrimPrefix(abs, "/"), "/")
	found = []string{"/"}
	for i, part := range parts {
		if part == "" {
			continue
		}
		var next []string
		for _, dir := range found {
			if !strings.ContainsAny(part, "*?[\\(") {
				next = append(next, path.Join(dir, part))
				continue
			}
			entries, err := w.entries(dir)
			if err != nil {
				if i < len(parts)-1 || !os.IsNotExist(err) || dir == w.where.dir {
					return nil, false
				}
				continue
			}
			if w.looked += len(entries); w.looked > maxPatternNames {
				return nil, false
			}
			deep := strings.Contains(part, "**")
			for _, e := range entries {
				if shellMatches(part, e.Name(), w.dotGlob) {
					next = append(next, path.Join(dir, e.Name()))
				}
				if deep && e.IsDir() {
					return nil, false
				}
			}
		}
		if found = next; len(found) > maxPatternMatches {
			return nil, false
		}
	}
	return found, true
}

// entries lists a folder once.
func (w *cmdWalker) entries(dir string) ([]os.DirEntry, error) {
	if listed, ok := w.listed[dir]; ok {
		return listed, nil
	}
	entries, err := os.ReadDir(filepath.FromSlash(dir))
	if err == nil {
		if w.listed == nil {
			w.listed = map[string][]os.DirEntry{}
		}
		w.listed[dir] = entries
	}
	return entries, err
}

// couldMean judges a pattern by the worst that it stands for: by what is there,
// and where that is not known by the names that it could be made for.
func (w *cmdWalker) couldMean(abs string, v PathVerdict) PathVerdict {
	found, ok := []string(nil), false
	if v.Inside {
		found, ok = w.standsFor(abs)
	}
	v = w.couldBe(abs, v, !ok)
	if pattern := strings.ReplaceAll(abs, cmdUnseen, "*"); !ok && v.Inside && aimed(pattern, w.dotGlob) {
		v.Sensitive, v.Read = true, max(v.Read, TierAsk)
	}
	if v.Inside && !ok && !v.Sensitive && couldPick(strings.ReplaceAll(abs, cmdUnseen, "*")) {
		from, _, _ := strings.Cut(strings.ReplaceAll(abs, cmdUnseen, "*"), "*")
		w.recurses(path.Dir(from + "x"))
	}
	option := false
	for _, name := range found {
		one := w.through(name, name)
		option = option || strings.HasPrefix(path.Base(name), "-")
		if one.Inside && one.Sensitive && one.Read == TierAsk && !aimed(abs, w.dotGlob) {
			w.recurses(one.Abs) // it takes what is there, and is not about secrets
			continue
		}
		v = worstPath(v, one)
		if one.Inside && one.Sensitive {
			w.names(name)
		}
	}
	if option && !strings.Contains(path.Dir(abs), "*") {
		w.note(TierAsk, EffectExecute, cmdGlobOption, w.part)
	}
	return v
}

// worstPath joins two verdicts on what one word may name.
func worstPath(a, b PathVerdict) PathVerdict {
	if b.Protected && !a.Protected || b.Read > a.Read || b.Read == a.Read && (b.Write > a.Write || a.Inside && !b.Inside) {
		a, b = b, a
	}
	a.Inside = a.Inside && b.Inside
	a.Sensitive, a.Protected = a.Sensitive || b.Sensitive, a.Protected || b.Protected
	a.Read, a.Write = max(a.Read, b.Read), max(a.Write, b.Write)
	return a
}

// through judges a path, and what it leads to when it is a link or lies behind
// one. as is the path as it is written, with its .. in it.
func (w *cmdWalker) through(abs, as string) PathVerdict {
	v := classifyPath(abs, w.folder(), w.o.Home, w.o.OxiosHome)
	if !v.Inside && !hasDotDot(as) || w.folder() == "" || strings.Contains(as, cmdUnseen) {
		return v
	}
	real, ok := w.follow(as)
	if !ok {
		return v
	}
	if real = w.back(real); real != abs {
		v = worstPath(v, classifyPath(real, w.folder(), w.o.Home, w.o.OxiosHome))
	}
	return v
}

// follow is realPath, with each folder looked up once.
func (w *cmdWalker) follow(as string) (string, bool) {
	dir, name := path.Split(as)
	if name == "" || name == "." || name == ".." || dir == "" {
		return realPath(as)
	}
	in, known := w.reals[dir]
	if !known {
		real, ok := realPath(strings.TrimRight(dir, "/") + "/.")
		if in = (foundDir{real, ok, false}); ok {
			_, err := os.Lstat(filepath.FromSlash(real))
			in.exists = err == nil
		}
		if w.reals == nil {
			w.reals = map[string]foundDir{}
		}
		w.reals[dir] = in
	}
	real := path.Join(in.path, name)
	if !in.ok || !in.exists {
		return real, in.ok
	}
	if w.looked++; w.looked > maxPatternNames {
		w.note(TierAsk, EffectUnknown, cmdTooDeep, w.part)
		return "", false
	}
	if info, err := os.Lstat(filepath.FromSlash(real)); err == nil && info.Mode()&os.ModeSymlink != 0 {
		return realPath(real)
	}
	return real, true
}

// foundDir is where a folder is, links followed.
type foundDir struct {
	path       string
	ok, exists bool
}

// realPath follows the links of a path; what does not exist lies where the
// folder before it does.
func realPath(as string) (string, bool) {
	rest := ""
	for range 64 {
		real, err := filepath.EvalSymlinks(filepath.FromSlash(as))
		if err == nil {
			return path.Join(filepath.ToSlash(real), rest), true
		}
		as = strings.TrimSuffix(as, "/.")
		dir, name := path.Split(strings.TrimRight(as, "/"))
		if dir == "" || name == ".." || name == "" {
			return "", false
		}
		as, rest = strings.TrimRight(dir, "/"), path.Join(name, rest)
		if as == "" {
			as = "/"
		}
	}
	return "", false
}

// names notes a secret file of the folder that the line names.
func (w *cmdWalker) names(abs string) {
	if !slices.Contains(w.v.Secrets, abs) && len(w.v.Secrets) < maxPatternMatches {
		w.v.Secrets = append(w.v.Secrets, abs)
	}
}

// recurses notes that a command reads what lies in a folder, without being told
// the files one by one.
func (w *cmdWalker) recurses(abs string) {
	w.v.Recurses = true
	if !slices.Contains(w.v.Trees, abs) && len(w.v.Trees) < maxPatternMatches {
		w.v.Trees = append(w.v.Trees, abs)
	}
}

// reads whole folders: those that the words name, else the one that it is in.
func (w *cmdWalker) recursesInto(words []cmdWord) {
	if len(words) == 0 {
		words = []cmdWord{{text: "."}}
	}
	for _, word := range words {
		if !w.where.known() && !path.IsAbs(word.text) || word.glob || strings.Contains(word.text, cmdUnseen) {
			w.recurses(w.folder())
			continue
		}
		for _, from := range w.where.all() {
			if abs := pathAbs(word.text, from, w.o.Home); Within(abs, w.folder()) {
				w.recurses(abs)
			}
		}
	}
}

// picks judges a pattern by which a program that searches folders chooses the
// files that it reads.
func (w *cmdWalker) picks(pattern string) {
	if strings.HasPrefix(pattern, "!") || !aimed(braceless(pattern), true) {
		return
	}
	w.facts.secret = true
	w.note(TierAsk, EffectOutside, cmdReadsPrivate, w.part)
}

// couldPick reports whether such a pattern can choose a secret file at all.
func couldPick(pattern string) bool {
	base := strings.ToLower(path.Base(braceless(pattern)))
	return slices.ContainsFunc(sampleSecrets(), func(name string) bool { return shellMatches(base, name, true) })
}

// folders returns the words that may name a folder of which the files are read.
func (w *cmdWalker) folders(words []cmdWord) (out []cmdWord) {
	for _, word := range words {
		abs, ok := w.abs(word.text)
		info, err := os.Stat(filepath.FromSlash(abs))
		if !ok || word.glob || err == nil && info.IsDir() {
			out = append(out, word)
		}
	}
	return out
}

// searches judges what a program that searches in files goes through.
func (w *cmdWalker) searches(name string, args, files []cmdWord) {
	var picked []string
	switch name {
	case "grep", "egrep", "fgrep":
		deep := hasFlag(args, "rR", "recursive", "dereference-recursive")
		for _, how := range optionValues(args, "d", "directories") {
			deep = deep || how != "skip" && how != "read"
		}
		if !deep {
			return
		}
		picked = optionValues(args, "", "include")
	case "rg":
		for _, glob := range optionValues(args, "g", "glob", "iglob") {
			if !strings.HasPrefix(glob, "!") {
				picked = append(picked, glob)
			}
		}
	case "diff":
		if !hasFlag(args, "r", "recursive") {
			return
		}
	default:
		return
	}
	for _, pattern := range picked {
		w.picks(pattern)
	}
	if len(picked) == 0 || slices.ContainsFunc(picked, couldPick) {
		w.recursesInto(files)
	}
}

// optionValues returns the values that options are given, attached or not.
func optionValues(args []cmdWord, letters string, long ...string) (values []string) {
	for i, a := range args {
		next := ""
		if i+1 < len(args) {
			next = args[i+1].text
		}
		t := a.text
		if t == "--" {
			return values
		}
		if flag, ok := strings.CutPrefix(t, "--"); ok {
			flag, value, attached := strings.Cut(flag, "=")
			if !attached {
				value = next
			}
			if slices.Contains(long, flag) {
				values = append(values, value)
			}
			continue
		}
		if len(t) < 2 || t[0] != '-' || letters == "" {
			continue
		}
		if at := strings.IndexAny(t[1:], letters); at >= 0 {
			if value := strings.TrimPrefix(t[at+2:], "="); value != "" {
				values = append(values, value)
			} else {
				values = append(values, next)
			}
		}
	}
	return values
}

// braceless takes a choice {a,b} as anything.
func braceless(pattern string) string {
	for {
		from := strings.IndexByte(pattern, '{')
		if from < 0 {
			return pattern
		}
		to := strings.IndexByte(pattern[from:], '}')
		if to < 0 {
			return pattern
		}
		for _, choice := range strings.Split(pattern[from+1:from+to], ",") {
			if one := pattern[:from] + choice + pattern[from+to+1:]; aimed(one, true) {
				return one
			}
		}
		pattern = pattern[:from] + "*" + pattern[from+to+1:]
	}
}
