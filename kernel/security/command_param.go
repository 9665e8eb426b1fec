package security

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// param adds what a variable expands to: its value where the line itself sets
// it, otherwise an unseen part.
func (b *wordBuilder) param(p *syntax.ParamExp, quoted bool) {
	w := b.w
	if p.Param == nil {
		b.value(cmdUnseen, quoted)
		return
	}
	name := p.Param.Value
	if f, ok := w.tainted[name]; ok {
		b.cur.facts = b.cur.facts.and(f)
		w.facts = w.facts.and(f)
	}
	if list, ok := w.list(p); ok {
		b.value(joinWords(list), quoted)
		return
	}
	value, known := w.lookup(name)
	if element, ok := w.element(p); ok {
		b.cur.facts = b.cur.facts.and(element.facts)
		b.value(element.text, quoted)
		return
	}
	if p.Excl && known {
		value, known = w.lookup(value)
	}
	switch {
	case p.Length || p.Width || p.IsSet || p.Index != nil || p.Slice != nil || p.Repl != nil || p.Names != 0 || p.NestedParam != nil:
		w.nested(p)
		b.value(cmdUnseen, quoted)
	case p.Exp != nil:
		word := w.single(p.Exp.Word)
		b.cur.facts = b.cur.facts.and(word.facts)
		switch p.Exp.Op {
		case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
			if !known || value == "" {
				value = word.text
				if p.Exp.Op == syntax.AssignUnset || p.Exp.Op == syntax.AssignUnsetOrNull {
					w.vars[name] = value[:min(len(value), maxVariable)]
				}
			}
			b.value(value, quoted)
		case syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
			b.value(word.text, quoted)
		default: // trimmed, or changed in another way
			b.value(cmdUnseen, quoted)
		}
	case known:
		b.value(value, quoted)
	default:
		b.value(cmdUnseen, quoted)
	}
}

// list returns the words of $@ and of ${array[@]}.
func (w *cmdWalker) list(p *syntax.ParamExp) ([]cmdWord, bool) {
	if p.Param == nil || p.Exp != nil || p.Slice != nil || p.Repl != nil || p.Length || p.Excl {
		return nil, false
	}
	if p.Param.Value == "@" || p.Param.Value == "*" {
		return w.args, true
	}
	index, ok := p.Index.(*syntax.Word)
	if !ok || index.Lit() != "@" && index.Lit() != "*" {
		return nil, false
	}
	list, ok := w.arrays[p.Param.Value]
	return list, ok
}

// element returns the word of ${array[2]}.
func (w *cmdWalker) element(p *syntax.ParamExp) (cmdWord, bool) {
	index, ok := p.Index.(*syntax.Word)
	if !ok || p.Exp != nil || p.Slice != nil || p.Repl != nil || p.Length || p.Excl {
		return cmdWord{}, false
	}
	list := w.arrays[p.Param.Value]
	n, err := strconv.Atoi(index.Lit())
	if n < 0 {
		n += len(list)
	}
	if err != nil || n < 0 || n >= len(list) {
		return cmdWord{}, false
	}
	return list[n], true
}

// lookup returns the value of a variable as far as the line shows it.
func (w *cmdWalker) lookup(name string) (string, bool) {
	switch name {
	case "0":
		return w.arg0, true
	case "SHELL", "BASH":
		return "bash", true
	case "PWD":
		return w.where.dir, w.where.known() && w.where.dir != "" && len(w.where.also) == 0 && !w.where.linked
	}
	if n, err := strconv.Atoi(name); err == nil {
		if n >= 1 && n <= len(w.args) {
			return w.args[n-1].text, true
		}
		return "", n >= 1
	}
	v, ok := w.vars[name]
	return v, ok && v != cmdUnseen
}

// nested walks the commands that stand inside an expression.
func (w *cmdWalker) nested(n syntax.Node) {
	if n == nil {
		return
	}
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			w.elsewhere(func() { w.inside(func() { w.stmts(n.Stmts) }) })
			return false
		case *syntax.ProcSubst:
			w.elsewhere(func() { w.inside(func() { w.stmts(n.Stmts) }) })
			return false
		}
		return true
	})
}

// saidBy returns what a substitution puts out when it only repeats plain
// words: $(echo rm).
func (w *cmdWalker) saidBy(stmts []*syntax.Stmt) (string, bool) {
	if len(stmts) != 1 || len(stmts[0].Redirs) > 0 {
		return "", false
	}
	c, ok := stmts[0].Cmd.(*syntax.CallExpr)
	if ok && len(c.Assigns) == 0 {
		if n := len(c.Args); n == 2 && c.Args[0].Lit() == "which" || n == 3 && (c.Args[0].Lit() == "command" || c.Args[0].Lit() == "type") && containsWord("-v -V -p -P", c.Args[1].Lit()) {
			name := c.Args[n-1].Lit()
			return name, name != "" && !strings.ContainsAny(name, `\*?[-`)
		}
	}
	if !ok || len(c.Args) < 2 || len(c.Assigns) > 0 || c.Args[0].Lit() != "echo" && c.Args[0].Lit() != "printf" {
		return "", false
	}
	said := make([]string, 0, len(c.Args))
	for _, a := range c.Args[1:] {
		lit := a.Lit()
		if len(a.Parts) == 1 {
			if q, ok := a.Parts[0].(*syntax.SglQuoted); ok && !q.Dollar {
				lit = q.Value
			}
		}
		if lit == "" || strings.ContainsAny(lit, `\%*?[`) || strings.HasPrefix(lit, "-") {
			return "", false
		}
		said = append(said, lit)
	}
	return strings.Join(said, " "), true
}

// inside walks one level deeper, and brings back what a subshell cannot
// change: variables and the current folder.
func (w *cmdWalker) inside(walk func()) {
	if !w.deep() {
		return
	}
	where, missed, pushed, chained := w.where, w.missed, w.pushed, w.chained
	w.missed, w.chained = nil, false
	part, stdin, piped, text := w.part, w.stdin, w.piped, w.stdinText
	w.depth++
	walk()
	w.depth--
	w.where, w.missed, w.pushed, w.chained = where, missed, pushed, chained
	w.part, w.stdin, w.piped, w.stdinText = part, stdin, piped, text
}

// assign takes a variable over that the line sets.
func (w *cmdWalker) assign(a *syntax.Assign, command bool) {
	if a.Index != nil {
		w.nested(a.Index)
	}
	if a.Array != nil {
		var list []*syntax.Word
		for _, e := range a.Array.Elems {
			if e.Index != nil {
				w.nested(e.Index)
			}
			if e.Value != nil {
				list = append(list, e.Value)
			}
		}
		words := w.words(list)
		if a.Name != nil {
			if a.Append {
				words = append(w.arrays[a.Name.Value], words...)
			}
			w.arrays[a.Name.Value] = words
		}
	}
	if a.Name == nil {
		w.changes(TierAsk, EffectExecute, cmdSetsVariable)
		w.single(a.Value)
		return
	}
	name := a.Name.Value
	value := w.single(a.Value)
	if a.Naked {
		return
	}
	w.setsVariable(name, value.text)
	if command {
		return // it lasts only as long as the command
	}
	if a.Append {
		if old, ok := w.vars[name]; ok {
			value.text = old + value.text
		} else {
			value.text = cmdUnseen
		}
	}
	if a.Array != nil || a.Index != nil {
		value.text = cmdUnseen
	}
	if len(value.text) > maxVariable {
		value.text = cmdUnseen // a=$a$a again and again
	}
	w.vars[name] = value.text
	if value.facts != (cmdFacts{}) {
		w.tainted[name] = value.facts
	}
}

// steering are variables that decide which code programs load or start.
var steering = map[string]bool{
	"PATH": true, "IFS": true, "ENV": true, "BASH_ENV": true, "SHELLOPTS": true, "BASHOPTS": true, "PS0": true, "PS1": true, "PS2": true, "PS4": true,
	"PROMPT_COMMAND": true, "PAGER": true, "MANPAGER": true, "LESSOPEN": true, "LESSCLOSE": true, "EDITOR": true,
	"VISUAL": true, "BROWSER": true, "PYTHONSTARTUP": true, "PYTHONPATH": true, "PYTHONHOME": true, "NODE_OPTIONS": true,
	"NODE_PATH": true, "PERL5OPT": true, "PERL5LIB": true, "RUBYOPT": true, "RUBYLIB": true, "JAVA_TOOL_OPTIONS": true,
	"_JAVA_OPTIONS": true, "SSH_ASKPASS": true, "SUDO_ASKPASS": true, "RIPGREP_CONFIG_PATH": true, "RUSTC_WRAPPER": true,
	"GOFLAGS": true, "MAKEFLAGS": true, "CC": true, "CXX": true, "LD_LIBRARY_PATH": true, "SHELL": true, "HOME": true,
	"ZDOTDIR": true, "INPUTRC": true, "OPENSSL_CONF": true, "npm_config_registry": true,
}

func (w *cmdWalker) setsVariable(name, value string) {
	w.assigned = true
	w.variable(name, value)
	upper := strings.ToUpper(name)
	w.dotGlob = w.dotGlob || name == "GLOBIGNORE"
	switch {
	case upper == "LD_PRELOAD" || upper == "LD_AUDIT" || strings.HasPrefix(upper, "DYLD_"):
		w.refuse(cmdInjects)
	case name == "HISTFILE" || name == "HISTSIZE" && value == "0" || name == "HISTFILESIZE" && value == "0":
		w.refuse(cmdHidesTraces)
	case steering[name] || strings.HasPrefix(name, "GIT_") || strings.HasPrefix(name, "BASH_FUNC"):
		w.changes(TierAsk, EffectUnknown, cmdSteersProgram)
		if strings.ContainsAny(value, " ;|&$`") {
			w.probe(value)
		}
	default:
		w.changes(TierAsk, EffectExecute, cmdSetsVariable)
	}
}
