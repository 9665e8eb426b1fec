package security

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// redirect judges where a command reads from and writes to.
func (w *cmdWalker) redirect(r *syntax.Redirect) {
	if r.Hdoc != nil {
		w.changes(TierAsk, EffectExecute, cmdHereText)
		text := w.single(r.Hdoc)
		w.stdinText, w.stdin = text.text, w.stdin.and(text.facts)
		w.piped = true
		return
	}
	target := w.single(r.Word)
	if target.expands {
		w.v.HasExpansion = true
		w.changes(TierAsk, EffectExecute, cmdExpansion)
	}
	switch r.Op {
	case syntax.WordHdoc:
		w.changes(TierAsk, EffectExecute, cmdHereText)
		w.stdinText, w.stdin = target.text, w.stdin.and(target.facts)
		w.piped = true
	case syntax.RdrIn:
		w.piped = true
		if !w.connection(target.text) {
			w.reads(target, fileRead)
		}
	case syntax.DplIn, syntax.DplOut:
		if !isDescriptor(target.text) && !w.connection(target.text) {
			w.writes(target)
		}
	case syntax.RdrInOut:
		if !w.connection(target.text) {
			w.writes(target)
		}
	default:
		if r.Op != syntax.AppOut && r.Op != syntax.AppAll {
			w.overwrites(target)
		}
		if !w.connection(target.text) {
			w.writes(target)
		}
	}
}

func isDescriptor(s string) bool {
	return s != "" && strings.Trim(strings.TrimSuffix(s, "-"), "0123456789") == ""
}

// connection handles the paths under which the shell opens a connection.
func (w *cmdWalker) connection(target string) bool {
	if !strings.HasPrefix(target, "/dev/tcp/") && !strings.HasPrefix(target, "/dev/udp/") {
		return false
	}
	w.facts.listener = true
	w.changes(TierAsk, EffectNetwork, cmdNetwork)
	return true
}
