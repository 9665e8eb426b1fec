package kernel

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"unicode"

	"oxios/kernel/security"
	"oxios/kernel/sys"
)

// action is what the guard is told about a command.
func (c *command) action() action {
	v := c.verdict
	c.meta = map[string]any{"dir": c.dir, "background": c.background, "network": v.Network, "tier": int(v.Tier)}
	a := action{
		call: c.call, resource: "command:" + sys.Shorten(c.line, 500), effect: v.Effect, tier: v.Tier, readOnly: v.ReadOnly,
		meta: c.meta, command: c,
		subject: c.subject(c.stood.states()),
		card: func(r *security.Request) {
			c.card(r)
			kind, why := c.kind()
			r.Kind, r.NoKind, r.NoKindKO = kind, why.EN, why.KO
		},
		kind: func() (*security.Kind, sys.Words) { return c.kind() },
		asks: v.Final, asksAlways: c.changesRepository(), reads: c.reads, leaves: v.Network, control: c.controls(), work: true,
		brought: c.readMeanwhile,
		beyond:  !v.ReadOnly && len(v.Outside) > 0 || v.Effect == security.EffectOutside || v.Effect == security.EffectUnknown || c.changesRepository(),
	}
	a.paths, a.network = c.touches(), v.Network
	switch {
	case v.Tier >= security.TierRefuse:
		a.refusal = sys.Words{EN: "this " + v.Reason, KO: v.ReasonKO}
		if v.Part != "" && v.Part != strings.TrimSpace(c.line) {
			a.refusal = sys.Words{EN: a.refusal.EN + " (" + v.Part + ")", KO: a.refusal.KO + " (" + v.Part + ")"}
		}
		a.hint = "Do not try the same in another way. Go on without it, or tell the person what they could run themselves."
	case c.closedWhy(&a):
	case c.err != nil: // it will fail, so nobody needs to be asked
		a.effect, a.tier, a.readOnly = security.EffectRead, security.TierFree, false
	}
	return a
}

// subject is the exact call that an approval is bound to, on what it stands.
func (c *command) subject(files map[string]string) any {
	return struct {
		Line, Dir, Executable string
		Argv                  []string
		Files                 map[string]string
		Background, Network   bool
	}{c.line, c.dir, c.executable, c.argv, files, c.background, c.verdict.Network}
}

// longestSimple is how many bytes of a command a notification shows.
const longestSimple = 200

// card fills in what a person needs to decide about a command.
func (c *command) card(r *security.Request) {
	v := c.verdict
	r.Command, r.Dir = c.line, c.dir
	if c.call != "exec.shell" {
		r.Argv = c.argv
	}
	r.Programs, r.Executable, r.Claim = v.Programs, c.executable, sys.Shorten(c.claim, 1000)
	r.Contained = c.caller.k.isolation()
	r.Network, r.Outside, r.Hidden = v.Network, v.Outside, v.Hidden()
	if r.Guarded = c.guarded(); v.Network && r.Guarded {
		r.Own, r.Ports = c.ownAddresses(), c.ports()
	}
	title := c.title()
	r.Title, r.TitleKO = title.EN, title.KO
	r.Why, r.WhyKO = because(v.Reason), v.ReasonKO
	if v.Part != "" && v.Part != strings.TrimSpace(c.line) {
		r.Why += " (" + v.Part + ")"
		r.WhyKO += " (" + v.Part + ")"
	}
	r.Project = v.Project
	r.NoRun = len(v.Tools) > 0 && (v.Network || !r.Contained.Contained())
	r.Basis = &security.Basis{Call: security.RequestHash(r.Call, c.subject(nil)), Files: c.stood.get()}
	r.Try = c.noTry(c.caller.k.background) == nil
	if !v.ReadOnly && len(v.Outside) == 0 && !v.Network && !c.changesRepository() {
		w := c.undoWords(r.Contained)
		r.Undo, r.UndoKO = w.EN, w.KO
	}
	if c.deletion != nil {
		w := c.deletion.words()
		r.Undo, r.UndoKO = w.EN, w.KO
	}
	odd := strings.ContainsFunc(c.line, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) })
	r.Simple = len(c.line) <= longestSimple && !odd && !r.Hidden && len(v.Outside) == 0 && !c.changesRepository()
}

// title names the worst effect of a command in words, over all that stands in
// its line and in the scripts that it runs: "Deletes files in Downloads".
func (c *command) title() sys.Words {
	if c.script != nil {
		return c.scriptTitle()
	}
	v := c.verdict
	files := c.stood.get()
	for _, path := range v.Texts {
		if f := files[filepath.FromSlash(path)]; f.Kept {
			v = v.WithScript(path, f.Text, c.options("bash"))
		}
	}
	return v.Headline(c.line, filepath.ToSlash(c.dir), isFile)
}

// isFile reports whether something other than a folder is at path, or could be.
func isFile(path string) bool {
	info, err := os.Stat(filepath.FromSlash(path))
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR)
	}
	return !info.IsDir() && (info.Size() > 0 || !info.Mode().IsRegular())
}
