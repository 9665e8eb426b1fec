package security

import (
	"os"
	"path"
	"slices"
	"strings"

	"oxios/kernel/sys"
)

// textRule says which words of a program name files that it executes or reads as
// program text. What is not known of an option counts as if it took one.
type textRule struct {
	flags  string // short options without a value
	code   string // options whose value is the program itself: then no operand is one
	data   bool   // its operands are data: only values of options name program text
	folder bool   // it loads what stands in the folder, whatever it is told
	ends   string // what the language adds to a name that it looks for
}

// textRules are the interpreters and their kind.
var textRules = func() map[string]textRule {
	shell := textRule{flags: "abefhiklmnprstuvxBCDEHPT", code: "-c"}
	out := map[string]textRule{}
	for name := range cmdShells {
		out[name] = shell
	}
	for names, rule := range map[string]textRule{
		"python ipython pypy jython": {flags: "bBdEhiIOPqsSuvVx", code: "-c -m", folder: true, ends: "/__main__.py"},
		"perl":                       {flags: "acnplwWTtdsSuUvVXfh", code: "-e -E", folder: true},
		"ruby irb pry":               {flags: "aclnpswWdhSvxy", code: "-e", folder: true, ends: ".rb"},
		"node nodejs coffee":         {flags: "ivhc", code: "-e -p -pe --eval --print", folder: true, ends: ".js .cjs .mjs .json .node /index.js /package.json"},
		"tsx ts-node ts-node-esm":    {flags: "ivhTFC", code: "-e -p --eval --print", folder: true, ends: ".ts .js /index.ts /package.json"},
		"php":                        {flags: "aimnqsvw", code: "-r -R -B -E", folder: true},
		"lua luajit":                 {flags: "iEvW", code: "-e", folder: true, ends: ".lua"},
		"Rscript R julia octave guile racket elixir erl groovy scala osascript swift jshell jrunscript ocaml runghc ghc tclsh wish expect gnuplot": {
			code: "-e -E -c --eval", folder: true,
		},
		"awk gawk mawk nawk": {flags: "bcghnOprsStV", code: "", data: true},
		"sed gsed":           {flags: "nrEsuzi", code: "-e --expression", data: true},
		"jq yq gojq jaq":     {flags: "cnerRsSjaCMV", data: true},
		"gdb lldb":           {flags: "q", code: "-ex -eval-command --eval-command", folder: true},
		"vim vi nvim view vimdiff ex rvim emacs ed red": {flags: "nRbdyeEZ", data: true},
		"sqlite3 psql mysql mariadb duckdb":             {flags: "qAtwWbBNs", code: "-c -e -cmd --command --execute", data: true},
		"m4 bc dc":                                      {flags: "lqsi", code: "-e"},
	} {
		for name := range strings.FieldsSeq(names) {
			out[name] = rule
		}
	}
	return out
}()

// programs notes which files a command executes or reads as program text,
// whatever their names and modes, and whether it is a tool that runs what the
// folder defines. It decides nothing: what is noted binds an approval.
func (w *cmdWalker) programs(prog cmdWord, name string, local bool, args []cmdWord) {
	kind := interpreterName(name)
	rule, interprets := textRules[kind]
	if !interprets {
		rule, interprets = textRules[name]
	}
	tool, isTool := projectOf(name)
	hidden := slices.ContainsFunc(args, func(a cmdWord) bool {
		return a.expands || strings.Contains(a.text, cmdUnseen) || strings.HasPrefix(a.text, "/dev/fd/") || a.text == "/dev/stdin"
	})
	if local {
		w.isText(prog)
		w.v.Project = true
	}
	switch {
	case name == "eval":
		w.hiddenText(hidden)
	case name == "source" || name == ".":
		w.hiddenText(hidden)
		for _, a := range args[:min(1, len(args))] {
			w.isText(a)
		}
	case name == "git":
		w.gitTexts(args, hidden)
	case name == "patch":
		w.hiddenText(w.piped || hidden)
		w.options(args, textRule{flags: "bcefElnNRstTuvZ"})
		for _, a := range operands(args)[min(1, len(operands(args))):] {
			w.isText(a)
		}
	case name == "find":
		for i, a := range args {
			if containsWord("-exec -execdir -ok -okdir", a.text) && a.text != "" && i+1 < len(args) {
				w.alsoStarts(args[i+1:])
			}
		}
	case interprets:
		w.interprets(kind, rule, args, hidden)
	case isTool:
	case name == "parallel":
		w.hiddenText(w.piped)
		for _, a := range args {
			w.isText(a)
		}
	default:
		w.otherText(name, local, args)
	}
	if isTool {
		w.tool(name, tool, args, hidden)
	}
	w.startText(name, args)
}

// interprets notes the program of an interpreter and what its options load.
func (w *cmdWalker) interprets(kind string, rule textRule, args []cmdWord, hidden bool) {
	w.v.Project = w.v.Project || rule.folder
	var dirs []string
	for i, a := range args {
		for _, flag := range []string{"-I", "-L"} {
			if value, ok := strings.CutPrefix(a.text, flag); ok && value == "" && i+1 < len(args) {
				dirs = append(dirs, args[i+1].text)
			} else if ok {
				dirs = append(dirs, value)
			}
		}
	}
	program, coded, rest := w.options(args, rule)
	for i, a := range args {
		if len(args)-i <= len(rest) && !rule.data {
			break
		}
		w.module(kind, a.text, args[i+1:], dirs)
		if !cmdShells[kind] && strings.ContainsAny(a.text, " ('\"\\.") {
			w.loads(kind, rule, a.text, dirs)
		}
	}
	if w.piped && !cmdShells[kind] {
		w.loads(kind, rule, w.stdinText, dirs)
	}
	switch {
	case rule.data:
		if kind == "sqlite3" || kind == "psql" || kind == "mysql" || kind == "mariadb" || kind == "ed" || kind == "ex" || kind == "red" {
			w.hiddenText(w.piped)
		}
		for _, m := range awkIncludes().FindAllStringSubmatch(joinWords(args), 20) {
			w.isText(cmdWord{text: m[1]})
		}
		w.hiddenText(hidden && len(rest) > 0 && rest[0].expands)
		return
	case coded:
		w.hiddenText(hidden)
		return
	case program == nil:
		w.hiddenText(w.piped || hidden)
		return
	}
	w.hiddenText(hidden && (program.expands || strings.Contains(program.text, cmdUnseen) || strings.HasPrefix(program.text, "/dev/") || program.text == "-"))
	if program.text == "-" {
		w.hiddenText(w.piped)
		return
	}
	w.v.Project = w.v.Project || cmdShells[kind]
	w.isText(*program)
	if strings.HasPrefix(kind, "node") || strings.HasPrefix(kind, "ts") {
		for _, dir := range []string{".", path.Dir(program.text)} { // they say how it is read
			w.isText(cmdWord{text: path.Join(dir, "package.json")})
			w.isText(cmdWord{text: path.Join(dir, "tsconfig.json")})
		}
	}
	for end := range strings.FieldsSeq(rule.ends) {
		if !strings.HasSuffix(program.text, end) {
			w.isText(cmdWord{text: program.text + end, glob: program.glob})
		}
	}
}

var awkIncludes = sys.Pattern(`@(?:include|load)\s+"([^"]+)"`)

// module notes the files that a module named by an option may be.
func (w *cmdWalker) module(kind, flag string, next []cmdWord, dirs []string) {
	value := ""
	if len(next) > 0 {
		value = next[0].text
	}
	attached := func(f string) bool {
		rest, ok := strings.CutPrefix(flag, f)
		if ok && rest != "" {
			value = strings.TrimPrefix(rest, "=")
		}
		return ok
	}
	var names []string
	switch {
	case (kind == "python" || kind == "pypy" || kind == "ipython") && len(flag) > 1 && flag[0] == '-' && flag[1] != '-' && strings.Contains(flag, "m") && strings.Trim(flag[1:strings.Index(flag, "m")], textRules["python"].flags) == "":
		if rest := flag[strings.Index(flag, "m")+1:]; rest != "" {
			value = rest
		}
		base := strings.ReplaceAll(value, ".", "/")
		names = []string{base + ".py", base + "/__main__.py", base + "/__init__.py", base + ".pyc", base + ".*.so"}
		for up := path.Dir(base); up != "." && up != "/"; up = path.Dir(up) {
			names = append(names, up+"/__init__.py")
		}
		if tool, ok := projectOf(value); ok { // python -m pytest
			w.tool(value, tool, next[min(1, len(next)):], false)
		}
		dirs = append([]string{"."}, dirs...)
		for dir := range strings.SplitSeq(w.vars["PYTHONPATH"], ":") {
			dirs = append(dirs, dir)
		}
	case kind == "perl" && (attached("-M") || attached("-m")):
		base := strings.ReplaceAll(strings.TrimPrefix(strings.FieldsFunc(value+"=", func(r rune) bool { return r == '=' || r == ' ' || r == '(' })[0], "-"), "::", "/")
		names = []string{base + ".pm"}
	case kind == "ruby" && attached("-r"):
		names = []string{value, value + ".rb", value + ".so"}
		dirs = append([]string{"."}, dirs...)
	case kind == "lua" && attached("-l"):
		names = []string{value + ".lua", value + "/init.lua"}
		dirs = append([]string{"."}, dirs...)
	case (kind == "node" || kind == "nodejs" || kind == "tsx") && (attached("--require") || attached("--import") || attached("--loader") || attached("--experimental-loader") || flag == "-r"):
		names = []string{value, value + ".js", value + ".cjs", value + ".mjs", value + "/index.js", value + "/package.json"}
		if !strings.HasPrefix(value, ".") && !path.IsAbs(value) {
			names = append(names, "node_modules/"+value+"/package.json")
		}
		dirs = []string{"."}
	}
	for _, dir := range dirs {
		for _, name := range names {
			if name != "" && !path.IsAbs(name) {
				name = path.Join(dir, name)
			}
			w.isText(cmdWord{text: name, glob: strings.Contains(name, "*")})
		}
	}
}

// options notes the values of options, each as a file that may be read as program
// text, and finds the first operand behind them. coded says that the program
// stands in an option.
func (w *cmdWalker) options(args []cmdWord, rule textRule) (program *cmdWord, coded bool, rest []cmdWord) {
	value := false // the word before was an option that may take this one
	for i := range args {
		a := args[i]
		t := a.text
		switch {
		case t == "--":
			if i+1 < len(args) {
				return &args[i+1], coded, args[i+1:]
			}
			return program, coded, rest
		case len(t) < 2 || t[0] != '-' && t[0] != '+':
			switch {
			case value:
				w.isText(a)
			case !rule.data: // what follows is for the program
				return &args[i], coded, args[i:]
			case program == nil:
				program, rest = &args[i], args[i:]
			}
			value = false
			continue
		}
		value = false
		name, attached, has := strings.Cut(t, "=")
		if rule.code != "" && (containsWord(rule.code, name) || t[1] != '-' && w.endsInCode(t, rule)) {
			if coded = true; !rule.data {
				return nil, coded, args[min(i+2, len(args)):]
			}
			value = false
			continue
		}
		switch {
		case has:
			a.text = attached
			w.isText(a)
		case strings.HasPrefix(t, "--"):
			value = true
		case strings.Trim(t[1:], rule.flags) == "":
		default:
			value = len(t) == 2 || strings.IndexByte(rule.flags, t[1]) >= 0 || rule.data && len(t) > 3 // sqlite3 -init
			if len(t) > 2 {
				a.text = strings.TrimLeft(t[2:], "=")
				w.isText(a)
			}
		}
	}
	return program, coded, rest
}

// endsInCode reports whether a cluster of short options ends in one whose value is
// the program: bash -xc, perl -ne.
func (w *cmdWalker) endsInCode(t string, rule textRule) bool {
	last := "-" + t[len(t)-1:]
	return containsWord(rule.code, last) && strings.Trim(t[1:len(t)-1], rule.flags+"0123456789") == ""
}

// tool notes a tool that runs what the folder defines, the folders in which it may
// do so, and the files that its words name.
func (w *cmdWalker) tool(name string, p projectTool, args []cmdWord, hidden bool) {
	w.v.Project = true
	w.hiddenText(hidden || w.piped && slices.ContainsFunc(args, func(a cmdWord) bool { return a.text == "-" || a.text == "/dev/stdin" }))
	w.toolIn(name, ".")
	var values []string // of options, each perhaps a file, or the folder that the others are in
	value := false
	for i, a := range args {
		t := a.text
		if len(t) > 1 && t[0] == '-' {
			flag, attached, has := strings.Cut(t, "=")
			switch {
			case has:
				values = append(values, attached)
			case t[1] != '-' && len(t) > 2:
				values = append(values, t[2:])
			}
			value = !has && !containsWord("-v -q -s -y -k -B", flag)
			continue
		}
		if value {
			values = append(values, t)
		}
		value = false // and it may be an operand all the same
		switch _, again := projectOf(t); {
		case again && i > 0: // npx jest, docker compose
			w.alsoStarts(args[i:])
		case i == 0 && containsWord("exec x run dlx tool", t):
			w.alsoStarts(args[1:])
		}
		file, _, _ := strings.Cut(t, "::") // pytest tests/a.py::test
		isDir := w.isFolder(file)
		if p.code || !isDir && strings.ContainsAny(file, "/.") {
			a.text = file
			w.isText(a)
		}
		if isDir && !a.glob { // docker build web, cmake src: it reads there first
			w.toolIn(name, file)
		}
	}
	for i, v := range values[:min(len(values), 12)] {
		w.valueOf(name, v)
		for j, dir := range values[:min(len(values), 12)] {
			if i != j && !path.IsAbs(v) {
				w.isText(cmdWord{text: path.Join(dir, v)})
			}
		}
	}
	if containsWord("npx pnpx bunx uvx", name) {
		w.alsoStarts(operands(args))
	}
}

// valueOf notes what the option of a tool names: a file, or the folder that it works in.
func (w *cmdWalker) valueOf(tool, word string) {
	w.isText(cmdWord{text: word})
	w.toolIn(tool, word)
	if dir := path.Dir(word); dir != "." {
		w.toolIn(tool, dir)
	}
}

// isFolder reports whether a word of the line names a folder that is there.
func (w *cmdWalker) isFolder(word string) bool {
	abs, ok := w.abs(word)
	if !ok {
		return false
	}
	info, err := os.Stat(abs)
	return err == nil && info.IsDir()
}

func (w *cmdWalker) toolIn(name, dir string) {
	abs, ok := w.abs(dir)
	if !ok {
		for deep := range maxUnknownDepth {
			for _, file := range strings.Fields(mustProject(name).reads) {
				w.pattern(path.Join(slashClean(w.o.Dir), strings.Repeat("*/", deep), file))
			}
		}
		return
	}
	for _, from := range w.where.all() {
		if w.where.known() {
			abs = pathAbs(dir, from, w.o.Home)
		}
		if t := (Tool{name, abs}); !slices.Contains(w.v.Tools, t) && len(w.v.Tools) < maxTexts {
			w.v.Tools = append(w.v.Tools, t)
		}
	}
}

func mustProject(name string) projectTool {
	p, _ := projectOf(name)
	return p
}

// alsoStarts is programs for a command that the words of another one start, where
// the walk does not come by.
func (w *cmdWalker) alsoStarts(words []cmdWord) {
	if len(words) == 0 || !w.deep() || words[0].text == "" || words[0].text[0] == '-' {
		return
	}
	w.depth++
	defer func() { w.depth-- }()
	name, dir := path.Base(words[0].text), path.Dir(words[0].text)
	w.programs(words[0], name, dir != "." && !slices.Contains(binFolders, dir) || strings.HasPrefix(words[0].text, "."), words[1:])
}

// gitTexts notes patches, settings and hooks that git reads.
func (w *cmdWalker) gitTexts(args []cmdWord, hidden bool) {
	i := 0
	for ; i < len(args) && strings.HasPrefix(args[i].text, "-"); i++ {
		flag, value, has := strings.Cut(args[i].text, "=")
		if containsWord("-c -C --git-dir --work-tree --exec-path --namespace --config-env", flag) && flag != "" {
			if !has && i+1 < len(args) {
				i++
				value = args[i].text
			}
			if _, after, ok := strings.Cut(value, "="); ok {
				value = after
			}
			for word := range strings.FieldsSeq(value) {
				w.isText(cmdWord{text: word})
			}
			w.repository(value)
		}
	}
	if i == len(args) {
		return
	}
	verb, rest := args[i].text, args[i+1:]
	switch verb {
	case "apply", "am":
		w.hiddenText(w.piped || hidden)
		w.options(rest, textRule{flags: "3RNuqvsik"})
		for _, op := range operands(rest) {
			w.isText(op)
		}
	case "bisect", "submodule", "rebase", "difftool", "mergetool", "filter-branch":
		w.options(rest, textRule{})
		for j, a := range rest {
			if a.text == "run" || a.text == "foreach" || a.text == "-x" || a.text == "--exec" {
				w.alsoStarts(rest[min(j+1, len(rest)):])
				for _, b := range rest[min(j+1, len(rest)):] {
					for word := range strings.FieldsSeq(b.text) {
						w.isText(cmdWord{text: word})
					}
				}
			}
		}
	}
	if _, looks := gitReaders[verb]; !looks {
		w.repository(".")
	}
}

// repository notes what says which programs git starts.
func (w *cmdWalker) repository(dir string) {
	for _, file := range []string{".git", ".git/config", ".git/config.worktree", ".git/info/attributes", ".gitattributes", ".gitmodules"} {
		w.isText(cmdWord{text: path.Join(dir, file)})
	}
	w.isText(cmdWord{text: path.Join(dir, ".git/hooks/*"), glob: true})
	w.isText(cmdWord{text: path.Join(dir, ".husky/*"), glob: true})
}

// textOptions are options whose value most programs read as a program or as
// settings that name one.
const textOptions = "-f -c -C -F -K -x -S --file --config --conf --config-file --configfile --script --script-file --rcfile --rc --init --init-file --load --require --import --plugin --filter --commands --command-file --playbook --from-file --include --template"

// otherText notes what a program names that is no interpreter and no tool of a
// project. Of one that is not known, every word may be what it runs.
func (w *cmdWalker) otherText(name string, local bool, args []cmdWord) {
	_, looks := cmdReaders()[name]
	_, wraps := cmdWrappers[name]
	_, known := cmdOthers()[name]
	known = known || slices.Contains(dangerousNames(), name)
	switch {
	case wraps: // what it starts comes by itself, but for what stands in one word
		for _, a := range args {
			if fields := strings.Fields(a.text); len(fields) > 1 {
				for _, f := range fields {
					w.isText(cmdWord{text: f})
				}
			}
		}
		return
	case looks:
		return
	case !known && !local && !strings.Contains(name, "/"):
		w.isText(cmdWord{text: name}) // found in the folder by a PATH that leads there
	}
	if !known {
		w.v.Project = true
	}
	for i, a := range args {
		flag, value, has := strings.Cut(a.text, "=")
		switch {
		case has && strings.HasPrefix(flag, "-") && (!known || containsWord(textOptions, flag)):
			a.text = value
			w.isText(a)
		case strings.HasPrefix(a.text, "-"):
			if !known && len(a.text) > 2 && a.text[1] != '-' {
				a.text = a.text[2:]
				w.isText(a)
			}
		case !known, i > 0 && containsWord(textOptions, args[i-1].text) && args[i-1].text != "":
			a.text = strings.TrimLeft(a.text, "@<")
			w.isText(a)
		}
	}
}

// variable notes the files that a variable names which steers programs.
func (w *cmdWalker) variable(name, value string) {
	upper := strings.ToUpper(name)
	if !steering[name] && !strings.HasPrefix(name, "GIT_") && !strings.HasPrefix(upper, "LD_") && !containsWord("MAKEFILES JUST_JUSTFILE CLASSPATH npm_config_userconfig", name) || name == "PATH" || name == "HOME" {
		return
	}
	for _, word := range strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(" :=,", r) }) {
		w.isText(cmdWord{text: word})
	}
}

const (
	maxTexts        = 500
	maxUnknownDepth = 3 // folders down to which a file is looked for whose folder is not known
)

// isText notes one word that names program text.
func (w *cmdWalker) isText(word cmdWord) {
	text := word.text
	if text == "" || text == "-" || strings.HasPrefix(text, "/dev/") || strings.ContainsAny(text, "\n\x01") || len(text) > 1024 {
		return
	}
	pattern := word.glob || strings.Contains(text, cmdUnseen)
	text = strings.ReplaceAll(text, cmdUnseen, "*")
	abs, ok := w.abs(text)
	if !ok {
		for deep := range maxUnknownDepth {
			w.pattern(path.Join(slashClean(w.o.Dir), strings.Repeat("*/", deep), text))
		}
		return
	}
	for _, from := range w.where.all() {
		if w.where.known() {
			abs = pathAbs(text, from, w.o.Home)
		}
		switch {
		case pattern:
			w.pattern(abs)
		case !slices.Contains(w.v.Texts, abs) && len(w.v.Texts) < maxTexts:
			w.v.Texts = append(w.v.Texts, abs)
		}
	}
}

func (w *cmdWalker) pattern(p string) {
	if !slices.Contains(w.v.Patterns, p) && len(w.v.Patterns) < maxTexts {
		w.v.Patterns = append(w.v.Patterns, p)
	}
}

// hiddenText notes, where a program comes from somewhere that its words do not show (a
// pipe, a substitution, a variable), every file that the line has looked at so far.
func (w *cmdWalker) hiddenText(yes bool) {
	if !yes {
		return
	}
	for _, word := range w.named {
		w.isText(word)
	}
}
