package kernel

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"oxios/kernel/sandbox"
	"oxios/kernel/sys"
)

// end looks at what a command made when it has ended, and says in words what was put
// aside.
func (p *planting) end(ctx context.Context) string {
	if p == nil {
		return ""
	}
	if err := p.check(ctx); err != nil {
		p.c.caller.k.log.WarnContext(ctx, "What a command made could not be looked at", "run_id", p.c.caller.scope.runID, "error", err)
		return strings.TrimSpace(p.words() + " Whether this command made something that git would run could not be found out: " + sys.AsError(err).Message)
	}
	return p.words()
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
		out = "Put aside, because git would run it: " + p.names(p.said) +
			". It is kept: after this run the person can bring it back with `oxios redo`. The person can make it themselves."
	}
	if len(p.left) > 0 {
		out += " Git would run this, and it could not be put aside: " + p.names(p.left) + ". Tell the person before they use git here."
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
			err := p.check(ctx)
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
