package kernel

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"oxios/kernel/sandbox"
	"oxios/kernel/security"
	"oxios/kernel/sys"
	"oxios/kernel/undo"
)

// end looks at what a command made when it has ended, asks about what may stay, and
// says in words what was put aside.
func (p *planting) end(ctx context.Context) string {
	if p == nil {
		return ""
	}
	defer p.drop()
	ask, err := p.check(ctx, true)
	if err != nil {
		p.c.caller.k.log.WarnContext(ctx, "What a command made could not be looked at", "run_id", p.c.caller.scope.runID, "error", err)
		return "Whether this command made something that other programs run could not be found out: " + sys.AsError(err).Message
	}
	if len(ask) > 0 && !p.c.background {
		if err := p.asks(ctx, ask); err == nil {
			for _, n := range ask {
				name := p.c.caller.scope.relative(n.path)
				p.said = slices.DeleteFunc(p.said, func(s string) bool { return s == name })
			}
		} else if ctx.Err() == nil {
			p.c.caller.k.log.DebugContext(ctx, "What a command made stays aside", "error", err)
		}
	}
	return p.words()
}

// drop says that the command is not at work any more, or never was.
func (p *planting) drop() {
	if p != nil {
		p.gone.Do(func() { p.c.caller.k.seen.enter(p.before.folder, -1) })
	}
}

// words says what was put aside so far.
func (p *planting) words() string {
	if p == nil {
		return ""
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	out := ""
	if len(p.said) > 0 {
		out = "Put aside, because git or another program would run it: " + p.names(p.said) +
			". It is kept: after this run the person can bring it back with `oxios redo`. Ask for such a file with the write tool; what nobody can approve, the person makes themselves."
	}
	if len(p.left) > 0 {
		out += " Git or another program would run this, and it could not be put aside: " + p.names(p.left) + ". Tell the person before they use git here."
	}
	return strings.TrimSpace(out)
}

func (p *planting) names(list []string) string {
	const most = 10
	if len(list) > most {
		list = append(slices.Clone(list[:most]), "…")
	}
	return p.c.caller.k.masked(strings.Join(list, ", "))
}

// asks has a person decide whether files stay that a command made and that other
// programs run. They are put aside until then.
func (p *planting) asks(ctx context.Context, list []planted) error {
	c := p.c
	type file struct{ Path, Was, Is string }
	var files []file
	for _, n := range list {
		files = append(files, file{n.path, n.was.String(), n.is.String()})
	}
	a := action{
		call: c.call, resource: "files:" + sys.Shorten(c.line, 500), effect: security.EffectOutside, tier: security.TierAsk, asks: true,
		meta:    map[string]any{"files": len(files)},
		subject: struct{ Keeps []file }{files},
		card:    func(r *security.Request) { p.card(r, list) },
	}
	_, err := guard(ctx, c.caller, a, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, c.caller.k.undos.bringBack(context.WithoutCancel(ctx), p, list)
	})
	return err
}

func (p *planting) card(r *security.Request, list []planted) {
	c := p.c
	var title sys.Words
	first := c.caller.scope.relative(list[0].path)
	if len(list) == 1 {
		title = sys.Say("Keep %s, which other programs run?", first)
	} else {
		title = sys.Say("Keep %d files that other programs run?", len(list))
	}
	why := sys.Say("The command has ended. It made or changed files that other programs run or follow. They are put aside until you decide.")
	how := sys.Say("yes, with the run")
	r.Title, r.TitleKO, r.Why, r.WhyKO, r.Undo, r.UndoKO = title.EN, title.KO, why.EN, why.KO, how.EN, how.KO
	r.Command, r.Dir, r.Path, r.Contained = c.line, c.dir, first, p.level
	var diff strings.Builder
	for _, n := range list {
		diff.WriteString(p.diff(n))
	}
	r.Diff = c.caller.k.masked(capDiff(diff.String(), maxCardDiff))
}

// diff is the difference that a file would make.
func (p *planting) diff(n planted) string {
	k := p.c.caller.k
	text := func(s undo.State) string {
		if s.Content == "" {
			return ""
		}
		raw, err := k.undos.objects.Read(s.Content)
		if err != nil {
			return ""
		}
		if s.Kind == undo.Link {
			return "-> " + string(raw) + "\n"
		}
		out, _, err := decodeText(raw)
		if err != nil {
			return "(" + sizeText(s.Size) + ")\n"
		}
		return out
	}
	return unifiedDiff(p.c.caller.scope.relative(n.path), text(n.was), text(n.is))
}

// lookEvery is how often what a command in the background makes is looked at.
const lookEvery = 2 * time.Second

// follow looks again and again at what a command in the background makes, until it
// has ended, and tells when it put something aside.
func (p *planting) follow(ctx context.Context, done <-chan struct{}, tell func()) {
	if p == nil {
		return
	}
	t := time.NewTicker(lookEvery)
	defer t.Stop()
	for {
		select {
		case <-done:
			return
		case <-t.C:
			before := p.words()
			_, err := p.check(ctx, false)
			if p.words() != before {
				tell()
			}
			if err != nil {
				p.c.caller.k.log.WarnContext(ctx, "What a command made could not be looked at", "run_id", p.c.caller.scope.runID, "error", err)
			}
		}
	}
}

// keptFailure finds the files that a command could only read and failed to change.
func (c *command) keptFailure(res sandbox.Result, spec sandbox.Spec) string {
	var names []string
	for line := range strings.Lines(string(res.Output)) {
		if !lockedFailure().MatchString(line) {
			continue
		}
		for _, p := range spec.Kept {
			rel := c.caller.scope.relative(p)
			if strings.Contains(line, filepath.Base(p)) && !slices.Contains(names, rel) {
				names = append(names, rel)
			}
		}
	}
	return strings.Join(names, ", ")
}

var lockedFailure = sys.Pattern(`(?i)read-only file system|device or resource busy|EROFS|EBUSY`)
