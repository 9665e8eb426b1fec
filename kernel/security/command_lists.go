package security

import (
	"slices"
	"strings"
)

type cmdList struct{ tools, words, file string }

// cmdLists are the tools that keep a list of what they were asked for in a file of
// the project which other programs run, with the words that have them write it.
var cmdLists = []cmdList{
	{"npm pnpm yarn bun", "i in ins install add remove rm r un uninstall update up upgrade ci link unlink dedupe version pkg init", "package.json"},
	{"uv poetry pdm rye hatch", "add remove lock sync update version install init", "pyproject.toml"},
	{"bundle", "add remove update init", "gemfile"},
	{"pre-commit", "autoupdate", ".pre-commit-config.yaml"},
	{"gradle gradlew", "wrapper", "gradlew"},
	{"mise", "use", "mise.toml"},
	{"asdf", "local set", ".tool-versions"},
}

// keepsList notes the file in which a tool writes down what it is asked for.
func (w *cmdWalker) keepsList(name string, args []cmdWord) {
	i := slices.IndexFunc(cmdLists, func(l cmdList) bool { return slices.Contains(strings.Fields(l.tools), name) })
	if i < 0 {
		return
	}
	most := 1
	if len(args) > 0 && strings.HasPrefix(args[0].text, "-") { // the first operand may belong to an option
		most = 2
	}
	verbs := operands(args)
	verbs = verbs[:min(most, len(verbs))]
	words := strings.Fields(cmdLists[i].words)
	if slices.ContainsFunc(verbs, func(op cmdWord) bool { return slices.Contains(words, op.text) }) || name == "yarn" && len(args) == 0 {
		w.v.Lists = append(w.v.Lists, cmdLists[i].file)
	}
}

// KeepsList reports whether a command is one of a tool that changes a file of that
// name because it was asked to: who adds a package has its name written down.
func (v Verdict) KeepsList(name string) bool {
	return slices.ContainsFunc(v.Lists, func(l string) bool { return strings.EqualFold(l, name) })
}
