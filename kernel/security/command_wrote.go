package security

import (
	"net/url"
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// cmdWrote is what is known of a file that the line itself writes, for the
// moment in which the same line runs it.
type cmdWrote struct {
	text  string
	facts cmdFacts
}

// wrote remembers what a command puts into a file.
func (w *cmdWalker) wrote(name string, text string, f cmdFacts) {
	abs, ok := w.abs(name)
	if !ok || len(w.files) >= 100 || len(text) > maxParsed {
		return
	}
	old := w.files[abs]
	w.files[abs] = cmdWrote{old.text + text + "\n", old.facts.and(f)}
}

// redirected remembers what a statement puts into the files that it is
// redirected to.
func (w *cmdWalker) redirected(s *syntax.Stmt) {
	for _, r := range s.Redirs {
		switch r.Op {
		case syntax.RdrOut, syntax.AppOut, syntax.RdrAll, syntax.AppAll, syntax.RdrClob:
			if r.Word != nil && (w.said != "" || w.facts.network || w.facts.decodes) {
				w.wrote(w.plainWord(r.Word), w.said, w.facts)
			}
		}
	}
}

// plainWord resolves a word that was walked before, without walking the
// commands in it again.
func (w *cmdWalker) plainWord(word *syntax.Word) string {
	if lit := word.Lit(); lit != "" {
		return unescape(lit, "", nil)
	}
	for _, p := range word.Parts {
		switch p.(type) {
		case *syntax.Lit, *syntax.SglQuoted, *syntax.DblQuoted, *syntax.ParamExp:
		default:
			return cmdUnseen
		}
	}
	return w.single(word).text
}

// runsFile judges a file that the line runs, by what the line has put into it.
func (w *cmdWalker) runsFile(name string, code bool) {
	abs, ok := w.abs(name)
	f, known := w.files[abs]
	if !ok || !known {
		return
	}
	switch {
	case f.facts.network || f.facts.decodes:
		w.refuse(cmdRunsDownload)
	case code:
		w.code(f.text)
	default:
		w.probe(f.text)
	}
}

// downloads remembers the files that a program for transfers makes.
func (w *cmdWalker) downloads(name string, args []cmdWord) {
	fetched := cmdFacts{network: true}
	remote := name == "wget" || name == "aria2c" || name == "axel"
	target := ""
	for i, a := range args {
		t := a.text
		next := ""
		if i+1 < len(args) {
			next = args[i+1].text
		}
		short := len(t) > 1 && t[0] == '-' && t[1] != '-'
		switch value, attached := strings.CutPrefix(t, "--output="); {
		case attached:
			target = value
		case strings.HasPrefix(t, "--output-document="):
			target = t[len("--output-document="):]
		case t == "--output" || t == "--output-document":
			target = next
		case t == "--remote-name" || t == "--remote-name-all" || t == "--remote-header-name":
			remote = true
		case name == "wget" && short && strings.Contains(t, "O"), name != "wget" && short && strings.Contains(t, "o"):
			if at := strings.IndexAny(t, "oO"); at < len(t)-1 {
				target = t[at+1:]
			} else {
				target = next
			}
		case name == "curl" && short && strings.Contains(t, "O"):
			remote = true
		}
	}
	if target != "" && target != "-" {
		w.wrote(target, "", fetched)
		return
	}
	for _, a := range args {
		if u, err := url.Parse(a.text); remote && err == nil && strings.Contains(a.text, ".") {
			if base := path.Base(u.Path); base != "." && base != "/" {
				w.wrote(base, "", fetched)
			}
		}
	}
}

// forksForever reports whether a loop without end starts something in the
// background at each turn and waits for nothing.
func forksForever(c *syntax.WhileClause) bool {
	if len(c.Cond) != 1 {
		return false
	}
	call, ok := c.Cond[0].Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 {
		return false
	}
	always := map[bool]string{false: "true : 1", true: "false"}[c.Until]
	if !containsWord(always, call.Args[0].Lit()) {
		return false
	}
	starts, waits := false, false
	for _, s := range c.Do {
		syntax.Walk(s, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.Stmt:
				starts = starts || n.Background
			case *syntax.CallExpr:
				waits = waits || len(n.Args) > 0 && containsWord("sleep wait break read exit return", n.Args[0].Lit())
			}
			return true
		})
	}
	return starts && !waits
}

// readsInto follows what read puts into variables: the text that it is given,
// or something from where its input comes from.
func (w *cmdWalker) readsInto(args []cmdWord) {
	w.assigned = true
	value := cmdUnseen
	if names := operands(args); len(names) == 1 && w.stdinText != "" {
		value = strings.TrimSpace(w.stdinText)[:min(len(strings.TrimSpace(w.stdinText)), maxVariable)]
	}
	for _, a := range operands(args) {
		w.vars[a.text] = value
		if w.stdin != (cmdFacts{}) {
			w.tainted[a.text] = w.stdin
		}
	}
}
