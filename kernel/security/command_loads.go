package security

import (
	"path"
	"strings"

	"oxios/kernel/sys"
)

// loads notes the files that program text which stands in the line itself reads as
// more of it: python3 -c 'import a', sqlite3 x.db '.read a.sql'. dirs are where it
// looks for them besides.
func (w *cmdWalker) loads(kind string, rule textRule, code string, dirs []string) {
	code = code[:min(len(code), maxParsed)]
	dirs = append([]string{"."}, dirs...)
	for _, m := range pathsAdded().FindAllStringSubmatch(code, maxLoads) {
		dirs = append(dirs, m[1])
	}
	note := func(name, ends string) {
		for _, dir := range dirs {
			w.loaded(dir, name, ends)
		}
	}
	ends := rule.ends
	switch {
	case pythonNamed[kind]:
		for _, m := range pythonImports().FindAllStringSubmatch(code, maxLoads) {
			for name := range strings.SplitSeq(m[1], ",") {
				base, _, _ := strings.Cut(strings.TrimSpace(name), " ")
				note(strings.ReplaceAll(base, ".", "/"), ".py /__init__.py")
			}
		}
		ends = ""
	case kind == "perl":
		for _, m := range perlModules().FindAllStringSubmatch(code, maxLoads) {
			note(strings.ReplaceAll(m[1], "::", "/"), ".pm")
		}
	case strings.HasSuffix(kind, "jq") || kind == "jaq":
		ends = ".jq"
	case kind == "sed" || kind == "gsed":
		for _, m := range sedRuns().FindAllStringSubmatch(code, maxLoads) {
			w.mayStart(m[1])
		}
		return
	}
	for _, m := range loadedFiles().FindAllStringSubmatch(code, maxLoads) {
		note(m[1], ends)
	}
	if ends == ".jq" || !startsCode().MatchString(code) {
		return // jq starts nothing
	}
	for _, m := range codeLiterals().FindAllStringSubmatch(code, maxLoads) {
		w.mayStart(m[1] + m[2] + m[3])
	}
}

// mayStart notes what a text names that may be a command, or a word of one.
func (w *cmdWalker) mayStart(text string) {
	var words []cmdWord
	for word := range strings.FieldsSeq(text) {
		words = append(words, cmdWord{text: word})
		if fileLike(word) {
			w.isText(cmdWord{text: word})
		}
	}
	w.alsoStarts(words)
}

// maxLoads is how many names of each sort are taken from one text.
const maxLoads = 40

var pythonNamed = map[string]bool{"python": true, "ipython": true, "pypy": true, "jython": true}

var (
	pathsAdded    = sys.Pattern(`(?:\bsys\.path\.\w+\([^)'"]*|\buse\s+lib\s+|\$(?:LOAD_PATH|:)\W+)["']([^"'\n]{1,300})["']`)
	sedRuns       = sys.Pattern(`(?:^|[\s;{}\d/$!])e\s+([^\n]+)`)
	pythonImports = sys.Pattern(`\b(?:import|from)\s+([A-Za-z_][\w.]*(?:\s+as\s+\w+)?(?:\s*,\s*[A-Za-z_][\w.]*(?:\s+as\s+\w+)?)*)`)
	perlModules   = sys.Pattern(`\b(?:use|require)\s+([A-Za-z_][\w:]*)`)
	// What follows a word that loads, of whichever language: a name in quotes, or one by itself where the language has it so.
	loadedFiles = sys.Pattern(`(?:\b(?:require(?:_relative|_once)?|include(?:_once)?|import|from|load(?:file)?|dofile|do|source|so|luafile|runtime|use|run_path|run_module|import_module|execfile|sourceCpp|script|pyfile)|\.read|\.load|\\ir?|\\\.)\s*\(?\s*["'\x60]?([\w.@~+-][\w./@~+-]*)`)
	// What runs text or a program that it is given: then every literal may name it.
	startsCode   = sys.Pattern("(?i)\\b(?:exec\\w*|eval\\w*|compile|system|popen\\w*|open3|spawn\\w*|fork|subprocess|runpy|vm|call|check_\\w+|source_file|instance_eval|class_eval|proc_open|passthru|shell\\w*|qx|Worker|NODE_OPTIONS)\\b")
	codeLiterals = sys.Pattern("\"([^\"\\n]{1,300})\"|'([^'\\n]{1,300})'|`([^`\\n]{1,300})`")
)

// loaded notes a name below a folder, and what its language may add to it. A word that
// can be no file is none.
func (w *cmdWalker) loaded(dir, name, ends string) {
	name = strings.TrimRight(name, ",:")
	if !fileLike(name) {
		return
	}
	whole := ends == "" || path.Ext(name) != "" || strings.Contains(name, "/")
	if !path.IsAbs(name) && name[0] != '~' {
		name = path.Join(dir, name)
	}
	if whole {
		w.isText(cmdWord{text: name})
	}
	for end := range strings.FieldsSeq(ends) {
		w.isText(cmdWord{text: name + end})
	}
}

// fileLike reports whether a word of a program may name a file.
func fileLike(word string) bool {
	return word != "" && !strings.ContainsAny(word, "*?<>|;(){}[]$\"'`") && word[0] != '-' && !strings.Contains(word, "://")
}
