package kernel

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"oxios/kernel/security"
	"oxios/kernel/sys"
)

// action is what the guard is told about a command.
func (c *command) action(call string) action {
	v := c.verdict
	c.meta = map[string]any{"dir": c.dir, "background": c.background, "network": v.Network, "tier": int(v.Tier)}
	a := action{
		call: call, resource: "command:" + sys.Shorten(c.line, 500), effect: v.Effect, tier: v.Tier, readOnly: v.ReadOnly,
		meta: c.meta, command: c,
		subject: struct {
			Line, Dir, Executable string
			Argv                  []string
			Scripts               map[string]string
			Background, Network   bool
		}{c.line, c.dir, c.executable, c.argv, c.scripts, c.background, v.Network},
		card: func(r *security.Request) {
			c.card(r)
			kind, why := c.kind(call)
			r.Kind, r.NoKind, r.NoKindKO = kind, why.EN, why.KO
		},
		kind: func() (*security.Kind, sys.Words) { return c.kind(call) },
		asks: v.Final, reads: c.reads, leaves: v.Network, control: c.controls(), work: true,
		beyond: !v.ReadOnly && len(v.Outside) > 0 || v.Effect == security.EffectOutside || v.Effect == security.EffectUnknown,
	}
	a.paths, a.network = c.touches(), v.Network
	switch {
	case v.Tier >= security.TierRefuse:
		a.refusal = sys.Words{EN: "this " + v.Reason, KO: v.ReasonKO}
		if v.Part != "" && v.Part != strings.TrimSpace(c.line) {
			a.refusal = sys.Words{EN: a.refusal.EN + " (" + v.Part + ")", KO: a.refusal.KO + " (" + v.Part + ")"}
		}
		a.hint = "Do not try the same in another way. Go on without it, or tell the person what they could run themselves."
	case c.err != nil: // it will fail, so nobody needs to be asked
		a.effect, a.tier, a.readOnly = security.EffectRead, security.TierFree, false
	}
	return a
}

// longestSimple is how many bytes of a command a notification shows.
const longestSimple = 200

// card fills in what a person needs to decide about a command.
func (c *command) card(r *security.Request) {
	v := c.verdict
	r.Command, r.Dir = c.line, c.dir
	if c.structured {
		r.Argv = c.argv
	}
	r.Programs, r.Executable, r.Claim = v.Programs, c.executable, sys.Shorten(c.claim, 1000)
	r.Contained = c.level(v.Network)
	r.Network, r.Outside, r.Hidden = v.Network, v.Outside, v.Hidden()
	r.Title, r.TitleKO = c.title()
	r.Why, r.WhyKO = because(v.Reason), v.ReasonKO
	if v.Part != "" && v.Part != strings.TrimSpace(c.line) {
		r.Why += " (" + v.Part + ")"
		r.WhyKO += " (" + v.Part + ")"
	}
	r.Try = c.noTry(c.caller.k.background) == nil
	if !v.ReadOnly && len(v.Outside) == 0 && !v.Network {
		w := c.undoWords(r.Contained)
		r.Undo, r.UndoKO = w.EN, w.KO
	}
	if c.deletion != nil {
		w := c.deletion.words()
		r.Undo, r.UndoKO = w.EN, w.KO
	}
	odd := strings.ContainsFunc(c.line, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) })
	r.Simple = len(c.line) <= longestSimple && !odd && !r.Hidden && len(v.Outside) == 0
}

// title names the effect of a command in words: "Deletes files in Downloads".
func (c *command) title() (en, ko string) {
	v, where := c.verdict, filepath.Base(c.dir)
	lines := countLines(strings.TrimSpace(c.line))
	what := firstWords(c.line, v)
	switch {
	case lines > 1:
		return fmt.Sprintf("Runs a script of %d lines", lines), fmt.Sprintf("%d줄짜리 스크립트를 실행합니다", lines)
	case v.Deletes && len(v.Outside) > 0:
		return "Deletes files outside " + where, where + " 폴더 밖의 파일을 삭제합니다"
	case v.Deletes:
		return "Deletes files in " + where, where + "에서 파일을 삭제합니다"
	case v.Network:
		return "Reaches the network: " + what, "네트워크를 사용합니다: " + what
	case len(v.Outside) > 0:
		return "Uses files outside " + where + ": " + what, where + " 폴더 밖의 파일을 사용합니다: " + what
	case v.Effect == security.EffectExecute && v.Tier >= security.TierAsk && sayable(v.Reason):
		return strings.ToUpper(v.Reason[:1]) + v.Reason[1:] + " in " + where + ": " + what, where + "에서 " + v.ReasonKO + ": " + what
	}
	return "Runs " + what + " in " + where, where + "에서 실행합니다: " + what
}

// sayable reports whether a reason names an effect, and not how the line is
// written.
func sayable(reason string) bool {
	verb, _, _ := strings.Cut(reason, " ")
	return slices.Contains([]string{"writes", "changes", "discards", "installs", "controls", "works", "opens", "ends"}, verb)
}

// firstWords is a short name for a command: its part that matters.
func firstWords(line string, v security.Verdict) string {
	text := strings.TrimSpace(line)
	if v.Part != "" && !strings.ContainsRune(v.Part, '\n') {
		text = v.Part
	}
	text, _, _ = strings.Cut(text, "\n")
	if len(text) <= 60 {
		return text
	}
	cut := cutText(text, 60)
	if i := strings.LastIndexByte(cut, ' '); i > 20 {
		cut = cut[:i]
	}
	return cut + " …"
}
