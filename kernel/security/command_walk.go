package security

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// script parses and walks the text of a shell script.
func (w *cmdWalker) script(src string) {
	if !w.deep() {
		return
	}
	outer := w.src
	w.src = strings.ReplaceAll(src, cmdUnseen, "${__}")
	w.depth++
	defer func() { w.src, w.depth = outer, w.depth-1 }()

	w.part = src
	if len(w.src) > maxParsed || tooNested(w.src) {
		w.changes(TierAsk, EffectUnknown, cmdTooDeep)
		w.crude(src)
		return
	}
	parser := syntax.NewParser(syntax.Variant(syntax.LangBash))
	line := uint(0)
	for stmt, err := range parser.StmtsSeq(strings.NewReader(w.src)) {
		if err != nil {
			// The shell runs what stands before a mistake.
			w.part = src
			w.changes(TierAsk, EffectUnknown, cmdUnparsable)
			w.crude(src)
			return
		}
		if line != 0 && stmt.Pos().Line() != line {
			w.part = src
			w.changes(TierAsk, EffectExecute, cmdManyLines)
		}
		line = stmt.End().Line()
		w.stmt(stmt)
	}
}

// tooNested reports whether the brackets of a script stand so deep in each
// other that parsing it would take long. It counts without knowing quotes, and
// so errs a little on both sides.
func tooNested(src string) bool {
	depth, all := 0, 0
	for i := 0; i < len(src); i++ {
		switch src[i] {
		case '(', '{', '[':
			depth++
			all++
		case ')', '}', ']':
			depth = max(0, depth-1)
		}
		if depth > maxNesting || all > maxBrackets {
			return true
		}
	}
	return false
}

// probe judges text that some program may run as a command. Only the worst
// counts, as the text may as well be something else.
func (w *cmdWalker) probe(text string) {
	p := w.fork()
	if p == nil {
		return
	}
	p.script(text)
	w.adopt(p)
}

// probeWords is probe for a command that is split into words.
func (w *cmdWalker) probeWords(words []cmdWord) {
	p := w.fork()
	if p == nil || len(words) == 0 {
		return
	}
	p.part = w.part
	p.run(words)
	w.adopt(p)
}

func (w *cmdWalker) fork() *cmdWalker {
	if !w.deep() {
		return nil
	}
	p := newCmdWalker(w.o)
	p.handed = true
	p.depth, p.steps, p.where, p.real = w.depth+1, w.steps, w.where, w.real
	return p
}

func (w *cmdWalker) adopt(p *cmdWalker) {
	w.steps = p.steps
	w.headsOf(p)
	if p.v.Tier < TierRefuse {
		return
	}
	w.v.ReadOnly = false
	w.v.Deletes = w.v.Deletes || p.v.Deletes
	for _, name := range p.v.Programs {
		w.addProgram(name)
	}
	w.note(TierRefuse, p.v.Effect, p.reason, p.v.Part)
}

func (w *cmdWalker) stmts(list []*syntax.Stmt) {
	for _, s := range list {
		w.stmt(s)
	}
}

// stmt walks one statement: its redirections first, then its command.
func (w *cmdWalker) stmt(s *syntax.Stmt) {
	chained := w.chained
	w.chained = false
	if s == nil || !w.deep() {
		return
	}
	before := w.where
	outer, stdin, piped, text := w.facts, w.stdin, w.piped, w.stdinText
	w.facts, w.said = cmdFacts{}, ""
	w.depth++
	w.part = w.source(s)
	if s.Negated || s.Coprocess || s.Disown {
		w.changes(TierAsk, EffectExecute, cmdShellLogic)
	}
	if s.Background {
		w.changes(TierAsk, EffectExecute, cmdBackground)
	}
	for _, r := range s.Redirs {
		w.redirect(r)
	}
	if s.Cmd != nil {
		w.command(s.Cmd)
	}
	w.part = w.source(s)
	switch s.Cmd.(type) {
	case *syntax.CallExpr, *syntax.ForClause, *syntax.DeclClause:
		w.joined()
	}
	w.redirected(s)
	w.depth--
	w.facts = outer.and(w.facts)
	w.stdin, w.piped, w.stdinText = stdin, piped, text
	if s.Background || s.Coprocess {
		w.where, w.missed = before, nil // in a shell of its own
	}
	if !chained || s.Negated {
		w.settle()
	}
}

// joined judges what the parts of one command or pipeline do together.
func (w *cmdWalker) joined() {
	f := w.facts
	switch {
	case f.listener && f.shell:
		w.refuse(cmdReverseShell)
	case f.network && (f.secret || f.outside), f.listener && f.beyond:
		w.v.Network = true
		w.refuse(cmdSendsSecrets)
	}
}

func (w *cmdWalker) source(n syntax.Node) string {
	from, to := n.Pos(), n.End()
	if !from.IsValid() || !to.IsValid() || int(to.Offset()) > len(w.src) || from.Offset() > to.Offset() {
		return w.part
	}
	return w.src[from.Offset():to.Offset()]
}

func (w *cmdWalker) command(c syntax.Command) {
	switch c := c.(type) {
	case *syntax.CallExpr:
		w.call(c)
		return
	case *syntax.BinaryCmd:
		if c.Op == syntax.Pipe || c.Op == syntax.PipeAll {
			w.pipeline(c)
			return
		}
		w.andOr(c)
		return
	case *syntax.TimeClause:
		w.stmt(c.Stmt)
		return
	}
	w.changes(TierAsk, EffectExecute, cmdShellLogic)
	switch c := c.(type) {
	case *syntax.Block:
		w.stmts(c.Stmts)
	case *syntax.Subshell:
		w.inside(func() { w.stmts(c.Stmts) })
	case *syntax.IfClause:
		w.choices(c)
	case *syntax.WhileClause:
		if forksForever(c) {
			w.refuse(cmdForkBomb)
		}
		w.loop(func() {
			w.stmts(c.Cond)
			w.stmts(c.Do)
		})
	case *syntax.ForClause:
		if it, ok := c.Loop.(*syntax.WordIter); ok {
			items := w.words(it.Items)
			w.vars[it.Name.Value] = cmdUnseen
			if len(items) == 1 {
				w.vars[it.Name.Value] = items[0].text
			}
			var f cmdFacts
			for _, item := range items {
				f = f.and(item.facts)
			}
			w.tainted[it.Name.Value] = f
		} else {
			w.nested(c.Loop)
		}
		w.loop(func() { w.stmts(c.Do) })
	case *syntax.CaseClause:
		w.single(c.Word)
		after := w.where
		for _, item := range c.Items {
			for _, p := range item.Patterns {
				w.single(p)
			}
			after = after.or(w.branch(func() { w.stmts(item.Stmts) }))
			if item.Op != syntax.Break {
				w.where = w.where.or(after) // it goes on with the next one
			}
		}
		w.where = after
	case *syntax.FuncDecl:
		w.function(c)
	case *syntax.DeclClause:
		for _, a := range c.Args {
			w.assign(a, false)
		}
		w.addProgram(c.Variant.Value)
		w.changes(TierAsk, EffectExecute, cmdSetsVariable)
		if len(c.Args) == 0 || c.Args[0].Naked && c.Args[0].Value != nil && strings.HasPrefix(w.source(c.Args[0].Value), "-p") {
			w.environment()
		}
	case *syntax.CoprocClause:
		w.stmt(c.Stmt)
	default: // arithmetic and tests
		w.nested(c)
	}
}

// choices walks if, elif and else. Where the command is after it depends on
// which of them ran.
func (w *cmdWalker) choices(c *syntax.IfClause) {
	var after *cmdWhere
	last := c
	for ; c != nil; c = c.Else {
		w.stmts(c.Cond)
		then := w.branch(func() { w.stmts(c.Then) })
		if after != nil {
			then = then.or(*after)
		}
		after, last = &then, c
	}
	if len(last.Cond) > 0 { // without an else nothing may have run
		*after = after.or(w.where)
	}
	w.where = *after
}

// function walks the body of a function once as it stands, and again wherever
// it is called. One that pipes or forks into itself grows without end.
func (w *cmdWalker) function(f *syntax.FuncDecl) {
	names := f.Names
	if f.Name != nil {
		names = append(names[:len(names):len(names)], f.Name)
	}
	for _, name := range names {
		w.funcs[name.Value] = f.Body
		if callsItself(f.Body, name.Value) {
			w.refuse(cmdForkBomb)
		}
	}
	args := w.args
	w.args = nil
	w.branch(func() { w.stmt(f.Body) })
	w.args = args
}

func callsItself(body *syntax.Stmt, name string) (found bool) {
	calls := func(s *syntax.Stmt) (yes bool) {
		syntax.Walk(s, func(n syntax.Node) bool {
			if c, ok := n.(*syntax.CallExpr); ok && len(c.Args) > 0 && c.Args[0].Lit() == name {
				yes = true
			}
			return !yes
		})
		return yes
	}
	syntax.Walk(body, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Stmt:
			found = found || n.Background && calls(n)
		case *syntax.BinaryCmd:
			if n.Op == syntax.Pipe || n.Op == syntax.PipeAll {
				found = found || calls(n.X) && calls(n.Y)
			}
		}
		return !found
	})
	return found
}

func (w *cmdWalker) call(c *syntax.CallExpr) {
	for _, a := range c.Assigns {
		w.assign(a, len(c.Args) > 0)
	}
	if len(c.Args) == 0 {
		return
	}
	words := w.words(c.Args)
	w.part = w.source(c)
	w.run(words)
}

// pipeline walks the stages of a pipeline; each reads what those before it
// put out.
func (w *cmdWalker) pipeline(c *syntax.BinaryCmd) {
	stages := []*syntax.Stmt{c.Y}
	left := c.X
	for {
		b, ok := left.Cmd.(*syntax.BinaryCmd)
		if !ok || len(left.Redirs) > 0 || left.Negated || b.Op != syntax.Pipe && b.Op != syntax.PipeAll {
			break
		}
		stages = append(stages, b.Y)
		left = b.X
	}
	stages = append(stages, left)

	whole := w.part
	outer, piped := w.stdin, w.piped
	where := w.where
	for i := len(stages) - 1; i >= 0; i-- {
		before := w.facts
		w.facts = cmdFacts{}
		w.stmt(stages[i])
		w.stdin = w.stdin.and(w.facts)
		w.facts = before.and(w.facts)
		w.piped = true
		w.where = where
	}
	w.stdin, w.piped, w.part = outer, piped, whole
	w.joined()
}
