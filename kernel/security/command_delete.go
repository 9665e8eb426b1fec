package security

import (
	"path"
	"strings"
)

// deletes judges rm and the like. A forced recursive delete is refused but where
// each operand is the written name of something inside the folder; outside the
// folder one of the two is enough.
func (w *cmdWalker) deletes(name string, args []cmdWord) {
	w.v.Deletes = true
	recursive, forced := hasFlag(args, "rR", "recursive"), hasFlag(args, "f", "force")
	targets := operands(args)
	w.changes(TierAsk, EffectExecute, cmdDeletes)
	for _, t := range targets {
		w.touches(t, cmdDeletes)
		if t.text == cmdUnseen && !recursive {
			w.changes(TierAsk, EffectUnknown, cmdDeletes)
		}
	}
	if strings.Contains(joinWords(args), "--no-preserve-root") {
		w.refuse(cmdDeletesHome)
	}
	switch {
	case name == "shred":
		if hasFlag(args, "uz", "remove") || len(w.v.Outside) > 0 {
			w.refuse(cmdHidesTraces)
		}
	case recursive && forced:
		w.deletesTrees(name, targets)
		for _, t := range targets {
			w.deletesBeyond(t)
		}
	case name == "rm" && (recursive || forced):
		for _, t := range targets {
			w.deletesBeyond(t)
		}
	}
}

// deletesTrees judges a forced recursive delete.
func (w *cmdWalker) deletesTrees(name string, targets []cmdWord) {
	var trees []string
	known := name == "rm" && len(targets) > 0 && w.plain && !w.handed && w.where.known()
	for _, t := range targets {
		for _, from := range w.where.all() {
			if known = known && w.isBelow(from, t.text); known {
				trees = append(trees, pathAbs(t.text, from, w.o.Home))
			}
		}
	}
	if !known {
		w.refuse(cmdDeletesTree)
		return
	}
	w.changes(TierAsk, EffectExecute, cmdDeletesFolder)
	w.v.Removes = append(w.v.Removes, trees...)
}

// isBelow reports whether a word is the name of something inside the folder that
// no repository needs and that no link leads out of.
func (w *cmdWalker) isBelow(from, text string) bool {
	if text == "" || strings.HasPrefix(text, "~") || strings.HasSuffix(text, "/.") || hasDotDot(text) || w.folder() == "" {
		return false
	}
	abs := pathAbs(text, from, w.o.Home)
	rel, inside := strings.CutPrefix(abs, strings.TrimSuffix(w.folder(), "/")+"/")
	if !inside || rel == "" || Within(from, abs) || hasPart("/"+pathFold(rel), ".git") {
		return false
	}
	as := text
	if !path.IsAbs(as) {
		as = from + "/" + as
	}
	return w.through(abs, as).Inside
}

// elsewhere walks commands that another program is handed.
func (w *cmdWalker) elsewhere(walk func()) {
	outer := w.handed
	w.handed = true
	walk()
	w.handed = outer
}

// beyondUndo notes a change that undo does not bring back.
func (w *cmdWalker) beyondUndo() { w.v.Final = true }
