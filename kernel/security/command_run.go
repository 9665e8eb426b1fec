package security

import (
	"path"
	"slices"
	"strings"
)

// run judges one simple command, its words resolved.
func (w *cmdWalker) run(words []cmdWord) {
	for len(words) > 0 && words[0].text == "" && words[0].expands {
		words = words[1:] // a variable that is empty
	}
	if len(words) == 0 || !w.deep() {
		return
	}
	w.depth++
	defer func() { w.depth-- }()
	w.reader(words)

	w.plain = !slices.ContainsFunc(words, func(c cmdWord) bool { return c.glob || c.expands || c.odd || c.decoded || !c.seen() })

	prog := words[0]
	if !prog.seen() || prog.text == "" {
		w.unseenProgram(words)
		return
	}
	name, dir := path.Base(prog.text), path.Dir(prog.text)
	if strings.HasSuffix(strings.ToLower(name), ".exe") {
		name = name[:len(name)-4]
	}
	w.addProgram(name)
	if prog.odd || prog.decoded || prog.expands {
		w.disguised(prog, words[1:])
	}
	if body, ok := w.funcs[name]; ok && dir == "." {
		w.changes(TierAsk, EffectExecute, cmdShellLogic)
		args := w.args
		w.args = words[1:]
		w.stmt(body)
		w.args = args
		return
	}
	if !isASCII(name) || strings.ContainsAny(name, " \t\n") {
		w.changes(TierAsk, EffectUnknown, cmdHiddenProgram)
		return
	}
	known := name
	if !isKnownProgram(known) && isKnownProgram(strings.ToLower(known)) {
		known = strings.ToLower(known) // it is that program where file names ignore case
	}
	switch name {
	case "echo", "printf":
		w.said = joinWords(words[1:])
	case "cat":
		w.said = w.stdinText
	case "read", "mapfile", "readarray":
		w.readsInto(words[1:])
	}
	local := dir != "." && !slices.Contains(binFolders, dir) || dir == "." && strings.HasPrefix(prog.text, ".")
	if local {
		w.look(prog)
		w.changes(TierAsk, EffectExecute, cmdLocalProgram)
		w.runsFile(prog.text, false)
	}
	args := words[1:]
	w.programs(prog, known, local, args)
	w.keepsList(known, args)
	w.headElsewhere(known, args)
	w.headFiles(known, args)
	switch {
	case !local && known == name && w.showsPlainly(known, args):
	case w.dangerous(known, args):
	case w.wrapper(known, args):
	case w.shell(known, args):
	case w.interpreter(known, args):
	case !local && known == name && w.readOnly(known, args):
	default:
		w.otherProgram(known, args)
	}
}

var binFolders = []string{"/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin", "/usr/local/sbin", "/opt/homebrew/bin"}

// reader notes what the words of a command hide from who reads it.
func (w *cmdWalker) reader(words []cmdWord) {
	for _, word := range words {
		w.v.HasGlob = w.v.HasGlob || word.glob
		w.facts = w.facts.and(word.facts)
		if word.expands {
			w.v.HasExpansion = true
			w.changes(TierAsk, EffectExecute, cmdExpansion)
		}
		if t := word.text; t == ".." || strings.HasPrefix(t, "../") || strings.HasSuffix(t, "/..") || strings.Contains(t, "/../") {
			w.v.HasDotDot = true
		}
	}
}

// unseenProgram judges a command whose program is only known when it runs.
func (w *cmdWalker) unseenProgram(words []cmdWord) {
	w.addProgram("…")
	w.changes(TierAsk, EffectUnknown, cmdHiddenProgram)
	w.hiddenText(true)
	for _, word := range words {
		w.isText(word)
	}
	w.mentions(words[1:])
	if w.stdin.shell || words[0].facts.network || words[0].facts.decodes {
		w.refuse(cmdRunsDownload)
	}
	if args := words[1:]; hasFlag(args, "rR", "recursive") && hasFlag(args, "f", "force") {
		for _, op := range operands(args) { // whatever it is, nobody else is called like this
			w.deletesBeyond(op)
		}
	}
	pattern := path.Base(words[0].text)
	if words[0].glob && 2*len(strings.Trim(pattern, "?*[]")) >= len(pattern) {
		for _, name := range dangerousNames() {
			if matchesGlob(pattern, name) {
				w.probeWords(append([]cmdWord{{text: name}}, words[1:]...))
			}
		}
	}
}

// disguised judges a program whose name is pieced together.
func (w *cmdWalker) disguised(prog cmdWord, args []cmdWord) {
	w.changes(TierAsk, EffectUnknown, cmdObscured)
	if prog.decoded {
		w.refuse(cmdDisguised)
		return
	}
	if !prog.odd && !prog.expands {
		return
	}
	for _, a := range args {
		if !namesFile(a.text) {
			continue
		}
		if abs, ok := w.abs(a.text); ok && prog.expands && Within(abs, "/etc") {
			w.refuse(cmdDisguised)
		}
	}
}

func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

func isKnownProgram(name string) bool {
	if slices.Contains(dangerousNames(), name) || cmdShells[name] {
		return true
	}
	_, reads := cmdReaders()[name]
	_, wraps := cmdWrappers[name]
	_, other := cmdOthers()[name]
	return reads || wraps || other
}

// texts returns the text of words, for matching.
func texts(words []cmdWord) []string {
	out := make([]string, len(words))
	for i, word := range words {
		out[i] = word.text
	}
	return out
}

func joinWords(words []cmdWord) string { return strings.Join(texts(words), " ") }

// hasFlag reports whether words hold the option: a letter in a cluster of
// short ones, or a long name or an abbreviation of it of at least three
// letters. Options end at --.
func hasFlag(words []cmdWord, letters string, long ...string) bool {
	for _, word := range words {
		t := word.text
		if t == "--" {
			return false
		}
		if flag, ok := strings.CutPrefix(t, "--"); ok {
			flag, _, _ = strings.Cut(flag, "=")
			for _, l := range long {
				if l == flag || len(flag) >= 3 && strings.HasPrefix(l, flag) {
					return true
				}
			}
			continue
		}
		if len(t) > 1 && t[0] == '-' && strings.ContainsAny(t[1:], letters) {
			return true
		}
	}
	return false
}

// operands returns the words that are not options.
func operands(words []cmdWord) []cmdWord {
	var out []cmdWord
	for i, word := range words {
		if word.text == "--" {
			return append(out, words[i+1:]...)
		}
		if len(word.text) < 2 || word.text[0] != '-' {
			out = append(out, word)
		}
	}
	return out
}

// first returns the text of the first operand, or "".
func first(words []cmdWord) string {
	if ops := operands(words); len(ops) > 0 {
		return ops[0].text
	}
	return ""
}
