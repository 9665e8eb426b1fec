package kernel

import (
	"os"
	"path"
	"path/filepath"
	"strings"

	"oxios/kernel/security"
	"oxios/kernel/sys"
)

// place is a path of a call: where it is, and what policy says of it.
type place struct {
	root   string // the folder to open: that of the caller, or one outside of it
	rel    string // below root, links followed
	abs    string // both together
	shown  string // as the caller knows it: below its folder, else absolute
	folder string // the caller's
	inside bool
	shut   security.Shut // the paths that nobody's hint may name to the caller

	verdict security.PathVerdict
	escape  *sys.Error // why it cannot be approved: a link that leads out of the folder
	err     error      // why it cannot be used; told by the call itself, once it is let through
}

// place finds out where p is. Nothing that it learns reaches the caller before
// the guard has let the call through.
func (c *caller) place(p string) place {
	at := place{folder: c.scope.folder, root: c.scope.folder, rel: ".", abs: c.scope.folder, shown: p, inside: true, shut: c.shut()}
	root, err := c.k.openFolder(c.scope.folder)
	if err != nil {
		at.err = err
		return at
	}
	defer root.Close()
	rel, err := root.Rel(p)
	if sys.CodeOf(err) == sys.CodeRefused {
		return c.outside(p, at)
	}
	if err != nil {
		at.err = err
		return at
	}
	rel = onDisk(root, rel)
	at.shown = path.Clean(rel)
	switch at.rel, err = root.Resolve(rel); {
	case sys.CodeOf(err) == sys.CodeRefused:
		at.escape, at.rel, at.err = sys.AsError(err), rel, err
	case err != nil:
		at.rel, at.err = rel, err
	case strings.Contains(rel, ".."):
		at.shown = at.rel
	}
	at.abs = filepath.Join(at.root, filepath.FromSlash(at.rel))
	at.verdict = c.judge(filepath.Join(at.root, filepath.FromSlash(at.shown)), at.abs)
	return at
}

// outside is place for what lies outside the folder: a person is asked about
// the file that it really is.
func (c *caller) outside(p string, at place) place {
	abs := expandHome(p)
	if !filepath.IsAbs(abs) {
		abs = filepath.Join(at.folder, abs)
	}
	if top, err := security.OpenRoot("/"); err == nil && !isASCII(abs) && filepath.Separator == '/' {
		abs = "/" + onDisk(top, strings.TrimPrefix(filepath.ToSlash(filepath.Clean(abs)), "/"))
		top.Close()
	}
	at.abs = realPath(abs)
	at.inside, at.shown = false, at.abs
	at.verdict = c.judge(abs, at.abs)
	// The nearest folder that exists is the border of the call.
	at.root, at.rel = filepath.Dir(at.abs), filepath.Base(at.abs)
	for at.root != filepath.Dir(at.root) {
		if info, err := os.Stat(at.root); err == nil && info.IsDir() {
			break
		}
		at.root, at.rel = filepath.Dir(at.root), path.Join(filepath.Base(at.root), at.rel)
	}
	if at.abs == at.root { // "/" itself
		at.rel = "."
	}
	return at
}

// judge asks policy about a path as it was written and as it really is.
func (c *caller) judge(written, real string) security.PathVerdict {
	home, own := homeFolder(), c.k.opts.Home
	v := security.ClassifyFile(real, c.scope.folder, home, own)
	if written != real {
		v = worse(v, security.Classify(written, c.scope.folder, home, own))
	}
	if c.k.isWitness(real) {
		v = v.Own()
	}
	return v
}

// homeFolder is the person's home; "" when it is not known.
func homeFolder() string {
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return home
}

// worse is what two looks at one file say together.
func worse(a, b security.PathVerdict) security.PathVerdict {
	if max(b.Read, b.Write) > max(a.Read, a.Write) {
		a, b = b, a
	}
	a.Read, a.Write = max(a.Read, b.Read), max(a.Write, b.Write)
	a.Sensitive, a.Protected, a.Inside = a.Sensitive || b.Sensitive, a.Protected || b.Protected, a.Inside && b.Inside
	return a
}

// open opens the folder that the place is in.
func (p place) open() (*security.Root, error) {
	if p.err != nil {
		return nil, p.err
	}
	return security.OpenRoot(p.root)
}

// name is the last part of the path, for a title.
func (p place) name() string {
	if p.rel == "." {
		return filepath.Base(p.root)
	}
	return path.Base(p.rel)
}

// show names a path below the place's root as the caller knows it.
func (p place) show(rel string) string {
	if p.inside {
		return rel
	}
	return filepath.Join(p.root, filepath.FromSlash(rel))
}

// openFolder opens the folder of a run.
func (k *Kernel) openFolder(folder string) (*security.Root, error) {
	if folder == "" {
		return nil, sys.Errorf(sys.CodeUnavailable, "There is no folder to work in.").WithHint("Choose one.")
	}
	if _, err := os.Stat(folder); err != nil {
		if _, err := k.checkFolder(folder); err != nil {
			return nil, sys.Errorf(sys.CodeNotFound, "The folder of this run, %s, cannot be used any more. Nothing was done.", shortenHome(folder)).
				WithHint("Ask the person where the folder went.")
		}
	}
	return security.OpenRoot(folder)
}

// realPath follows the links in the part of p that exists.
func realPath(p string) string {
	p = filepath.Clean(p)
	if real, err := filepath.EvalSymlinks(p); err == nil {
		return real
	}
	parent := filepath.Dir(p)
	if parent == p {
		return p
	}
	return filepath.Join(realPath(parent), filepath.Base(p))
}

// The ways in which a call uses a file.
type fileUse struct {
	write    bool
	en, ko   string // what it does, before and after the name: "Reads", "읽습니다"
	objectKO string // what it is done to, in Korean: "파일을"
}

var (
	useRead   = fileUse{en: "Reads", ko: "읽습니다", objectKO: "파일을"}
	useCreate = fileUse{write: true, en: "Writes", ko: "씁니다", objectKO: "파일을"}
	useChange = fileUse{write: true, en: "Changes", ko: "바꿉니다", objectKO: "파일을"}
	useSearch = fileUse{en: "Searches", ko: "검색합니다", objectKO: "내용을"}
	useFind   = fileUse{en: "Looks for files in", ko: "찾아봅니다", objectKO: "안을"}
	useList   = fileUse{en: "Lists", ko: "봅니다", objectKO: "목록을"}
)

// fileAction is the action of a call that uses one place.
func (c *caller) fileAction(call string, p place, use fileUse, subject any) action {
	a := action{call: call, resource: "file:" + p.abs, effect: security.EffectRead, tier: p.verdict.Read, subject: subject, paths: p.paths()}
	a.work = call != "exec.write"
	if use.write {
		a.effect, a.tier = security.EffectWrite, p.verdict.Write
		a.beyond, a.control = !p.inside, isInstructions(p.abs)
		if p.err == nil && p.inside && a.tier < security.TierAsk && c.k.settingsName(p.root, p.abs) {
			a.effect, a.tier = security.EffectOutside, security.TierAsk
		}
	}
	switch {
	case p.escape != nil:
		a.tier, a.refusal, a.hint = security.TierRefuse, sys.Say("a link in this path leads out of the folder"), p.escape.Hint
	case use.write && strings.EqualFold(filepath.Base(p.abs), ".git"): // a trusted folder lets git follow it
		a.tier, a.refusal = security.TierRefuse, sys.Say("a file .git leads git to another repository")
		a.hint = "Go on without it. If the person wants it, they can do it themselves."
	case a.tier >= security.TierRefuse:
		a.refusal = sys.Words{EN: p.verdict.Reason + " (" + shortenHome(p.abs) + ")", KO: p.verdict.ReasonKO + " (" + shortenHome(p.abs) + ")"}
		a.hint = "Go on without it. If the person wants it, they can do it themselves."
	case !p.inside || p.verdict.Sensitive:
		a.effect, a.tier = security.EffectOutside, max(a.tier, security.TierAsk)
	case p.err != nil: // it will fail, so nobody needs to be asked
		a.effect, a.tier = security.EffectRead, security.TierFree
	}
	a.card = func(r *security.Request) {
		name, where := p.name(), filepath.Base(p.folder)
		r.Path, r.Dir = p.abs, p.folder
		r.Title = use.en + " " + name + " in " + where
		r.TitleKO = where + "에서 " + name + " " + use.objectKO + " " + use.ko
		if !p.inside {
			r.Title = use.en + " " + name + ", outside the folder"
			r.TitleKO = "폴더 밖의 " + name + " " + use.objectKO + " " + use.ko
			r.Outside = []string{p.abs}
		}
		if use.write {
			w := sys.Say("yes")
			r.Undo, r.UndoKO = w.EN, w.KO
		}
		if p.verdict.Reason != "" {
			r.Why, r.WhyKO = because(p.verdict.Reason), p.verdict.ReasonKO
		}
	}
	return a
}

// because is a reason of policy as a sentence.
func because(reason string) string { return "This " + reason + "." }
