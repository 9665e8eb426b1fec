package security

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// cmdWhere is where a command may run by now. A cd that may fail, or may not
// be reached, leaves more than one folder.
type cmdWhere struct {
	dir    string   // cwdUnknown where it cannot be told
	also   []string // the other folders that it may be
	linked bool     // reached through a link, after which .. means two things
}

// cwdUnknown stands for a folder that only the running shell knows: after
// cd */, cd "$X" or cd -.
const cwdUnknown = "\x00"

const maxWheres = 8

var nowhere = cmdWhere{dir: cwdUnknown}

func (c cmdWhere) known() bool { return c.dir != cwdUnknown }

func (c cmdWhere) all() []string { return append([]string{c.dir}, c.also...) }

func (c cmdWhere) same(d cmdWhere) bool {
	return c.dir == d.dir && c.linked == d.linked && slices.Equal(c.also, d.also)
}

// or is where a command may run when either happened.
func (c cmdWhere) or(d cmdWhere) cmdWhere {
	if !c.known() || !d.known() {
		return nowhere
	}
	out := cmdWhere{dir: c.dir, also: slices.Clone(c.also), linked: c.linked || d.linked}
	for _, dir := range d.all() {
		if dir != out.dir && !slices.Contains(out.also, dir) {
			out.also = append(out.also, dir)
		}
	}
	if len(out.also) > maxWheres {
		return nowhere
	}
	return out
}

// changeFolder follows cd, so that later relative paths are judged right.
func changeFolder(w *cmdWalker, args []cmdWord) bool {
	ops := operands(args)
	switch {
	case len(ops) == 0 && len(args) == 0:
		ops = []cmdWord{{text: w.home()}}
	case len(ops) != 1 || ops[0].text == "-" || ops[0].text == "":
		w.where = nowhere
		w.changes(TierAsk, EffectExecute, cmdUnknownOption)
		return true
	}
	w.goes(ops[0])
	return true
}

// goes changes the folder to the one that a word names.
func (w *cmdWalker) goes(to cmdWord) {
	w.look(to)
	_, search := w.vars["CDPATH"]
	relative := !path.IsAbs(to.text)
	if to.glob || strings.Contains(to.text, cmdUnseen) || relative && (search || !w.where.known() || w.where.linked && hasDotDot(to.text)) {
		w.where = nowhere
		return
	}
	before := w.where
	after := cmdWhere{dir: ""}
	sure := true
	for _, from := range before.all() {
		if !relative {
			from = ""
		}
		abs := pathAbs(to.text, from, w.o.Home)
		if real, ok := realFolder(from, to.text); ok {
			real = w.back(real)
			after.linked = after.linked || real != abs
			abs = real
		} else {
			sure = false
		}
		if !Within(abs, w.folder()) {
			w.note(TierAsk, EffectOutside, cmdReadsOutside, w.part)
		}
		if after.dir == "" {
			after.dir = abs
		} else if abs != after.dir && !slices.Contains(after.also, abs) {
			after.also = append(after.also, abs)
		}
	}
	w.where = after
	if !sure {
		w.failed(before)
	}
}

// realFolder resolves a folder as the system does, links followed.
func realFolder(from, name string) (string, bool) {
	full := name
	if !path.IsAbs(name) {
		full = from + "/" + name // not cleaned: link/.. is not where the link lies
	}
	real, err := filepath.EvalSymlinks(filepath.FromSlash(full))
	if err != nil {
		return "", false
	}
	info, err := os.Stat(real)
	return filepath.ToSlash(real), err == nil && info.IsDir()
}

// failed notes that the command may go on in another folder, because a cd
// before may have failed.
func (w *cmdWalker) failed(in cmdWhere) {
	if w.missed != nil {
		in = in.or(*w.missed)
	}
	w.missed = &in
}

// settle takes over what was missed, where a list does not end with a failure.
func (w *cmdWalker) settle() {
	if w.missed != nil {
		w.where = w.where.or(*w.missed)
		w.missed = nil
	}
}

// pushes follows pushd and popd.
func (w *cmdWalker) pushes(name string, args []cmdWord) {
	w.changes(TierAsk, EffectExecute, cmdShellLogic)
	if name == "popd" && len(args) == 0 && len(w.pushed) > 0 {
		w.where = w.pushed[len(w.pushed)-1]
		w.pushed = w.pushed[:len(w.pushed)-1]
		return
	}
	if ops := operands(args); name == "pushd" && len(args) == 1 && len(ops) == 1 && !strings.HasPrefix(ops[0].text, "+") {
		before := w.where
		w.goes(ops[0])
		if w.missed != nil {
			w.where = nowhere // the stack is then another one too
		}
		w.pushed = append(w.pushed, before)
		return
	}
	w.pushed = nil
	w.where = nowhere
}

// andOr walks two commands of which the second one depends on the first.
func (w *cmdWalker) andOr(c *syntax.BinaryCmd) {
	w.chained = true
	w.stmt(c.X)
	if c.Op == syntax.AndStmt {
		before, certain := w.where, isCd(c.X) && w.missed == nil
		w.chained = true
		w.stmt(c.Y)
		if !certain && !before.same(w.where) {
			w.failed(before)
		}
		return
	}
	worked, missed := w.where, w.missed
	w.missed = nil
	if missed != nil {
		w.where = *missed
		if !isCd(c.X) {
			w.where = w.where.or(worked)
		}
	}
	w.stmt(c.Y)
	if !leaves(c.Y) {
		worked = worked.or(w.where)
	}
	w.where = worked
}

func isCd(s *syntax.Stmt) bool {
	c, ok := s.Cmd.(*syntax.CallExpr)
	return ok && len(c.Args) > 0 && c.Args[0].Lit() == "cd" && !s.Background && !s.Negated
}

// leaves reports whether nothing of the list runs after a statement.
func leaves(s *syntax.Stmt) bool {
	if b, ok := s.Cmd.(*syntax.Block); ok && len(b.Stmts) > 0 && !s.Background && !s.Negated {
		return leaves(b.Stmts[len(b.Stmts)-1])
	}
	c, ok := s.Cmd.(*syntax.CallExpr)
	return ok && len(c.Args) > 0 && containsWord("exit return", c.Args[0].Lit()) && !s.Background && !s.Negated
}

// branch walks what may run or not, and returns where the command is after it.
func (w *cmdWalker) branch(walk func()) cmdWhere {
	before := w.where
	walk()
	after := w.where
	w.where = before
	return after
}

// loop walks what may run again and again. Where a turn ends in another folder
// than it began in, the next one begins there.
func (w *cmdWalker) loop(walk func()) {
	for range 3 {
		before := w.where
		walk()
		after := before.or(w.where)
		w.where = after
		if after.same(before) {
			return
		}
	}
	w.where = nowhere
	walk()
	w.where = nowhere
}

func hasDotDot(text string) bool {
	return text == ".." || strings.HasPrefix(text, "../") || strings.HasSuffix(text, "/..") || strings.Contains(text, "/../")
}

func (w *cmdWalker) folder() string { return slashClean(w.o.Dir) }

// realFolder is the folder of the command, links followed.
func (w *cmdWalker) realFolder() string {
	if w.real == "" {
		w.real = w.folder()
		if real, err := filepath.EvalSymlinks(filepath.FromSlash(w.o.Dir)); err == nil && w.o.Dir != "" {
			w.real = filepath.ToSlash(real)
		}
	}
	return w.real
}

// back writes a path whose links were followed as one of the folder.
func (w *cmdWalker) back(real string) string {
	if rest, ok := strings.CutPrefix(real, w.realFolder()); ok && (rest == "" || rest[0] == '/') && w.folder() != "" {
		return w.folder() + rest
	}
	return real
}

// unknownFolder notes a word, or a program, that reads a folder of which
// nobody knows where it is. It reports whether it is such a one.
func (w *cmdWalker) unknownFolder() bool {
	if w.where.known() {
		return false
	}
	w.note(TierAsk, EffectUnknown, cmdUnknownFolder, w.part)
	return true
}
