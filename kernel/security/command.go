package security

import (
	"os"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// Tier says how careful a call is treated.
type Tier int

// The tiers.
const (
	TierFree   Tier = 0 // it runs
	TierTell   Tier = 1 // it runs, and the person is told
	TierAsk    Tier = 2 // a person decides first; also whatever could not be understood
	TierRefuse Tier = 3 // refused, and nobody can approve it
)

// Effect is the kind of effect that a call has. The zero value is no known
// effect; [Decide] asks for it.
type Effect string

// The effects, from the least to the most severe.
const (
	EffectRead    Effect = "read"    // looks at files inside the folder
	EffectWrite   Effect = "write"   // a file tool changes files inside the folder
	EffectExecute Effect = "execute" // runs a program that may change files inside the folder
	EffectNetwork Effect = "network" // reaches another machine
	EffectOutside Effect = "outside" // touches something outside the folder, or secrets inside it
	EffectUnknown Effect = "unknown" // what it does is hidden
)

var effectRank = map[Effect]int{
	EffectRead: 1, EffectWrite: 2, EffectExecute: 3, EffectNetwork: 4, EffectOutside: 5, EffectUnknown: 6,
}

// Verdict is what the command policy found out about a command line: the
// worst of all its parts.
type Verdict struct {
	Tier     Tier   `json:"tier"`
	Effect   Effect `json:"effect"`
	ReadOnly bool   `json:"read_only"` // every part only looks
	Reason   string `json:"reason"`    // why the tier is what it is: "deletes files"
	ReasonKO string `json:"reason_ko"` // the same as a Korean sentence
	Part     string `json:"part"`      // the sub-command that is the reason

	Network  bool     `json:"network"`
	Deletes  bool     `json:"deletes"`
	Programs []string `json:"programs"` // every program that it names, in order, each once
	Paths    []string `json:"paths"`    // the words that name files
	Outside  []string `json:"outside"`  // those of them outside the folder

	// What it executes or reads as program text, as absolute paths, there or not.
	Texts    []string `json:"texts,omitempty"`
	Patterns []string `json:"patterns,omitempty"` // the same, where a word stands for several
	Tools    []Tool   `json:"tools,omitempty"`    // that run what a project defines
	Project  bool     `json:"project,omitempty"`  // it may run what else stands in the folder

	Opens  []Opening `json:"-"`                // what it uses outside the folder
	Writes []string  `json:"writes,omitempty"` // the files that it is known to change, as absolute paths
	Lists  []string  `json:"-"`                // the names of files in which its tools write down what they were asked for

	// What the reader of the line cannot see in it.
	HasGlob      bool `json:"has_glob"`
	HasExpansion bool `json:"has_expansion"` // a variable or a substitution
	HasDotDot    bool `json:"has_dot_dot"`

	// Removes are the folders that it deletes as a whole, as absolute paths. Final says
	// that it takes away what undo does not bring back.
	Removes []string `json:"removes,omitempty"`
	Final   bool     `json:"final,omitempty"`

	// Secrets are the files inside the folder that may hold passwords or keys and
	// that the line names, or picks by a pattern made for them. Recurses says that it
	// reads what is in whole folders, so that it meets those that lie there as well.
	Secrets  []string `json:"secrets,omitempty"`
	Recurses bool     `json:"recurses,omitempty"`
	Trees    []string `json:"-"` // where it does: absolute folders, or secret files among others

	Repositories []string `json:"-"` // the folders in which git looks
	ChangesGit   bool     `json:"-"` // a command of git in it does more than look
	Repository   string   `json:"-"` // what it changes outside the folder, as [Verdict.InRepository] was told

	heads []headline // the effects that [Verdict.Headline] chooses from, one of each kind
}

// Hidden reports whether the line leaves something to the shell that its
// reader cannot see: such a command is not to be approved from a summary.
func (v Verdict) Hidden() bool { return v.HasGlob || v.HasExpansion || v.HasDotDot }

// CommandOptions says where a command would run.
type CommandOptions struct {
	Shell string // bash (the default), powershell or cmd
	Dir   string // the absolute folder; "" makes every absolute path an outside one
	Home  string // the person's home; "" leaves ~ unresolved, and outside

	OxiosHome string // the home of Oxios, which no command may touch; ~/.oxios is known without it
}

// The bounds of the policy. A line is parsed up to maxParsed; a longer one is
// searched for the worst and asks.
const (
	maxCommand      = 1 << 20
	maxParsed       = 64 << 10
	maxCommandDepth = 24
	maxCommandSteps = 6000
	maxNesting      = 200 // brackets within brackets
	maxBrackets     = 20000
	maxVariable     = 4 << 10
)

// ClassifyCommand judges a command line before anything runs. It parses the
// line, looks at every command in it and unwraps those that start others. It
// never panics, and what it does not understand asks.
func ClassifyCommand(line string, o CommandOptions) (v Verdict) {
	defer failClosed(&v, line)
	if len(line) > maxCommand {
		w := newCmdWalker(o)
		w.note(TierRefuse, EffectUnknown, cmdTooLong, shortPart(line))
		return w.verdict()
	}
	if o.Shell == "powershell" || o.Shell == "cmd" {
		w := newCmdWalker(o)
		w.windowsLine(line)
		return w.verdict()
	}
	w := newCmdWalker(o)
	w.oddText(line)
	w.script(line)
	return w.verdict()
}

// ClassifyArgv judges a program with its arguments that is started without a
// shell. Nothing in argv is expanded.
func ClassifyArgv(argv []string, o CommandOptions) (v Verdict) {
	defer failClosed(&v, strings.Join(argv, " "))
	w := newCmdWalker(o)
	size := 0
	words := make([]cmdWord, len(argv))
	for i, a := range argv {
		size += len(a) + 1
		words[i] = cmdWord{text: a, quoted: true}
	}
	switch {
	case size > maxCommand:
		w.note(TierRefuse, EffectUnknown, cmdTooLong, "")
	case len(argv) == 0 || argv[0] == "":
		w.note(TierAsk, EffectUnknown, cmdHiddenProgram, "")
	default:
		w.oddText(strings.Join(argv, " "))
		w.run(words)
	}
	return w.verdict()
}

// failClosed turns a panic into a question: whatever breaks the policy must
// not pass it.
func failClosed(v *Verdict, line string) {
	if recover() != nil {
		*v = Verdict{
			Tier: TierAsk, Effect: EffectUnknown, Part: shortPart(line),
			Reason: cmdUnparsable.en, ReasonKO: cmdUnparsable.ko,
		}
	}
}

// cmdReason is why a part of a command is not free. Of two reasons for the
// same tier, the one with more weight tells the person more.
type cmdReason struct {
	weight int
	en, ko string
}

// cmdFacts are what a stage of a pipeline does, as far as the stages beside it
// make something worse of it.
type cmdFacts struct {
	network  bool // fetches from or sends to another machine
	decodes  bool // turns encoded text into plain text
	secret   bool // reads a credential
	beyond   bool // reads outside the folder
	outside  bool // reads the system, or hides a read outside the folder inside an argument
	shell    bool // runs what comes from its standard input
	listener bool // a raw connection
	names    bool // puts out the names of secret files
}

func (f cmdFacts) and(g cmdFacts) cmdFacts {
	return cmdFacts{
		f.network || g.network, f.decodes || g.decodes, f.secret || g.secret,
		f.beyond || g.beyond, f.outside || g.outside, f.shell || g.shell, f.listener || g.listener, f.names || g.names,
	}
}

// cmdWalker goes through a command line and collects the verdict.
type cmdWalker struct {
	o      CommandOptions
	v      Verdict
	reason cmdReason

	vars    map[string]string   // the variables that the line sets; cmdUnseen for a hidden value
	tainted map[string]cmdFacts // where the hidden values came from
	arrays  map[string][]cmdWord
	args    []cmdWord // the positional parameters
	arg0    string
	where   cmdWhere  // where the command runs by now
	missed  *cmdWhere // where it goes on when the last cd failed
	pushed  []cmdWhere
	chained bool   // the statement is a part of a list with && or ||
	real    string // the folder, links followed; "" until it is asked for
	src     string // the script that is walked
	funcs   map[string]*syntax.Stmt

	depth, steps int
	facts        cmdFacts // of the stage that is walked
	stdin        cmdFacts // of the stages whose output the command reads
	piped        bool     // it reads a pipe, a here-document or a file
	part         string   // the source of the command that is walked
	stdinText    string   // what a here-document or a here-string gives it
	said         string   // the plain text that the command puts out

	assigned bool                // the line has set a variable, or may have
	plain    bool                // every word of the command that runs is written as it is
	handed   bool                // another program is handed the command that is walked
	reals    map[string]foundDir // folders that were looked up
	listed   map[string][]os.DirEntry
	looked   int // how many names

	dotGlob bool // patterns stand for names with a leading dot too

	files  map[string]cmdWrote // what the line itself has written, by path
	copied bool                // what is mentioned now is only read
	named  []cmdWord           // the files that the line has named so far, as absolute paths
}

func newCmdWalker(o CommandOptions) *cmdWalker {
	w := &cmdWalker{
		o: o, arg0: "bash", funcs: map[string]*syntax.Stmt{},
		vars: map[string]string{"IFS": " \t\n"}, tainted: map[string]cmdFacts{}, arrays: map[string][]cmdWord{}, files: map[string]cmdWrote{},
	}
	w.v.Effect, w.v.ReadOnly = EffectRead, true
	if o.Dir != "" {
		w.where.dir = slashClean(o.Dir)
		w.vars["PWD"] = w.where.dir
	}
	if o.Home != "" {
		w.vars["HOME"] = path.Clean(o.Home)
	}
	return w
}

// note makes the verdict at least as severe as tier and effect. Anything but a
// read ends ReadOnly.
func (w *cmdWalker) note(tier Tier, effect Effect, why cmdReason, part string) {
	if effectRank[effect] > effectRank[w.v.Effect] {
		w.v.Effect = effect
	}
	if tier > w.v.Tier || tier == w.v.Tier && why.weight > w.reason.weight {
		w.reason, w.v.Part = why, shortPart(part)
		w.v.Reason, w.v.ReasonKO = why.en, why.ko
	}
	w.v.Tier = max(w.v.Tier, tier)
	w.head(headOf(effect, why), why, part)
}

// changes is note for a part that does more than look.
func (w *cmdWalker) changes(tier Tier, effect Effect, why cmdReason) {
	w.v.ReadOnly = false
	switch effect {
	case EffectNetwork:
		w.v.Network = true
		w.facts.network = true
	case EffectRead, EffectWrite, EffectExecute, EffectOutside, EffectUnknown:
	}
	w.note(tier, effect, why, w.part)
}

// refuse is changes with tier 3.
func (w *cmdWalker) refuse(why cmdReason) { w.changes(TierRefuse, EffectExecute, why) }

// deep reports whether the walk may go one level deeper, and counts the step.
// A line that is too deep to follow asks.
func (w *cmdWalker) deep() bool {
	w.steps++
	if w.depth < maxCommandDepth && w.steps < maxCommandSteps {
		return true
	}
	w.changes(TierAsk, EffectUnknown, cmdTooDeep)
	return false
}

func (w *cmdWalker) verdict() Verdict {
	v := w.v
	if v.Tier >= TierAsk && v.Effect == EffectRead {
		v.Effect = EffectExecute // a read that asks must not pass as a free one
	}
	if v.Reason == "" {
		v.Reason, v.ReasonKO = cmdOnlyReads.en, cmdOnlyReads.ko
	}
	return v
}

func (w *cmdWalker) addProgram(name string) {
	if name != "" && name != "/" && name != "." && !slices.Contains(w.v.Programs, name) {
		w.v.Programs = append(w.v.Programs, name)
	}
}

// shortPart cuts a part of a command to what fits on a card.
func shortPart(s string) string {
	const most = 200
	s = strings.TrimSpace(s)
	if len(s) <= most {
		return s
	}
	cut := most
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}
