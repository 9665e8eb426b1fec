package security

import (
	"path"
	"path/filepath"
	"strings"

	"oxios/kernel/sys"
)

// cmdShells are the programs that run shell commands.
var cmdShells = map[string]bool{
	"sh": true, "bash": true, "dash": true, "zsh": true, "ksh": true, "ash": true, "rbash": true, "mksh": true, "fish": true,
	"csh": true, "tcsh": true, "rksh": true, "pdksh": true, "yash": true, "elvish": true, "nu": true, "hush": true,
}

// plainShells speak the language in which lines are read here.
var plainShells = map[string]bool{"sh": true, "bash": true, "dash": true, "ash": true, "rbash": true}

// shell judges a shell, and what runs text as commands.
func (w *cmdWalker) shell(name string, args []cmdWord) bool {
	switch name {
	case "eval":
		w.assigned = true
		w.changes(TierAsk, EffectExecute, cmdRunsHidden)
		w.text(args)
		return true
	case "source", ".":
		w.sources(args)
		return true
	case "pushd", "popd":
		w.pushes(name, args)
		return true
	case "shopt":
		w.changes(TierAsk, EffectExecute, cmdShellLogic)
		for _, a := range args {
			w.dotGlob = w.dotGlob || a.text == "dotglob" || a.expands
			if a.text == "cdable_vars" || a.text == "autocd" || a.text == "cdspell" {
				w.where = nowhere
			}
		}
		return true
	case "mapfile", "readarray", "complete", "compopt", "bind", "enable", "hash":
		w.changes(TierAsk, EffectExecute, cmdShellLogic)
		for _, a := range args {
			w.probe(a.text)
			if _, command, ok := strings.Cut(a.text, ":"); ok {
				w.probe(command)
			}
		}
		return true
	case "ztcp":
		w.refuse(cmdReverseShell)
		return true
	case "trap":
		w.changes(TierAsk, EffectExecute, cmdShellLogic)
		if ops := operands(args); len(ops) > 0 {
			w.text(ops[:1])
		}
		return true
	case "alias":
		w.changes(TierAsk, EffectExecute, cmdShellLogic)
		for _, a := range args {
			_, value, _ := strings.Cut(a.text, "=")
			w.probe(value)
		}
		return true
	case "pwsh", "powershell", "cmd":
		w.windowsLine(joinWords(args))
		return true
	}
	if !cmdShells[name] {
		return false
	}
	if !plainShells[name] {
		w.changes(TierAsk, EffectExecute, cmdRunsScript) // its language is another one than the one that is read here
	}
	script, rest, state := shellArgs(args)
	switch state {
	case shellText:
		outerArgs, outer0 := w.args, w.arg0
		w.args = nil
		if len(rest) > 0 {
			w.arg0, w.args = rest[0].text, rest[1:]
		}
		w.text([]cmdWord{script})
		w.args, w.arg0 = outerArgs, outer0
	case shellOdd:
		w.changes(TierAsk, EffectExecute, cmdRunsScript)
		for _, a := range args {
			if strings.ContainsAny(a.text, " ;|&\n") {
				w.probe(a.text)
			}
		}
		w.facts.shell = true
		w.readsCommands()
	case shellFile:
		w.scriptFile(script)
	case shellInput:
		w.facts.shell = true
		w.changes(TierAsk, EffectUnknown, cmdRunsHidden)
		w.readsCommands()
	}
	return true
}

type shellState int

const (
	shellInput shellState = iota // commands come from its input
	shellText                    // -c and a text
	shellFile                    // a script
	shellOdd                     // options that change how it starts
)

func shellArgs(args []cmdWord) (script cmdWord, rest []cmdWord, state shellState) {
	text, odd := false, false
	for i := 0; i < len(args); i++ {
		t := args[i].text
		switch {
		case t == "--" || t == "-":
			continue
		case t == "--login" || t == "--norc" || t == "--noprofile" || t == "--posix":
			continue
		case strings.HasPrefix(t, "--"):
			odd = true
			continue
		case len(t) > 1 && (t[0] == '-' || t[0] == '+'):
			if t[0] == '-' && strings.Contains(t, "s") && !strings.Contains(t, "c") {
				return script, args[i+1:], shellInput
			}
			text = text || t[0] == '-' && strings.Contains(t, "c")
			odd = odd || strings.Trim(t[1:], "clexu") != ""
			if strings.HasSuffix(t, "o") || strings.HasSuffix(t, "O") {
				i++
			}
			continue
		}
		switch {
		case text && !odd:
			return args[i], args[i+1:], shellText
		case text:
			return args[i], args[i+1:], shellOdd
		case strings.HasPrefix(t, "/dev/fd/") || t == "/dev/stdin":
			return args[i], args[i+1:], shellFile
		}
		return args[i], args[i+1:], shellFile
	}
	if odd {
		return script, nil, shellOdd
	}
	return script, nil, shellInput
}

// text runs words as a script.
func (w *cmdWalker) text(words []cmdWord) {
	var f cmdFacts
	for _, word := range words {
		f = f.and(word.facts)
	}
	src := joinWords(words)
	if strings.Contains(src, cmdUnseen) {
		w.changes(TierAsk, EffectUnknown, cmdRunsHidden)
		if f.network || f.decodes {
			w.refuse(cmdRunsDownload)
		}
	}
	part := w.part
	w.elsewhere(func() { w.script(src) })
	w.part = part
}

// readsCommands judges a shell that takes its commands from its input.
func (w *cmdWalker) readsCommands() {
	switch {
	case w.stdin.network || w.stdin.decodes:
		w.refuse(cmdRunsDownload)
	case w.stdinText != "":
		w.elsewhere(func() { w.script(w.stdinText) })
	case w.stdin.listener:
		w.refuse(cmdReverseShell)
	case w.piped:
		w.refuse(cmdRunsInput)
	}
}

// sources judges source and the dot.
func (w *cmdWalker) sources(args []cmdWord) {
	w.changes(TierAsk, EffectExecute, cmdRunsScript)
	if len(args) > 0 {
		w.scriptFile(args[0])
	}
}

func (w *cmdWalker) scriptFile(file cmdWord) {
	w.changes(TierAsk, EffectExecute, cmdRunsScript)
	if file.facts.network || file.facts.decodes {
		w.refuse(cmdRunsDownload)
	}
	if file.text == "/dev/stdin" || strings.HasPrefix(file.text, "/dev/fd/") && file.facts == (cmdFacts{}) {
		w.facts.shell = true
		w.readsCommands()
		return
	}
	w.runsFile(file.text, false)
	w.assigned = true // a sourced file may
	w.reads(file, fileRead)
	if v, ok := w.look(file); ok && !v.Inside && !isPublicPath(v.Abs) {
		w.changes(TierAsk, EffectOutside, cmdRunsScript)
	}
}

// interpreterFlags are the interpreters and the letters that make them run
// code from the command line.
var interpreterFlags = map[string]string{
	"python": "c", "ipython": "c", "pypy": "c", "perl": "eE", "ruby": "e", "node": "ep", "nodejs": "ep", "deno": "", "bun": "ep",
	"php": "rBRE", "lua": "e", "luajit": "e", "tclsh": "", "wish": "", "Rscript": "e", "R": "e", "julia": "eE", "osascript": "e",
	"groovy": "e", "scala": "e", "ghc": "e", "runghc": "", "guile": "c", "racket": "e", "elixir": "e", "erl": "", "irb": "", "pry": "",
	"jshell": "", "swift": "e", "jrunscript": "e", "gawk": "", "awk": "", "mawk": "", "nawk": "", "jython": "c", "octave": "", "gdb": "",
	"vim": "c", "vi": "c", "nvim": "c", "view": "c", "vimdiff": "c", "ex": "c", "rvim": "c", "emacs": "", "ed": "", "red": "", "tsx": "e", "ts-node": "e",
	"sqlite3": "", "psql": "c", "mysql": "e", "mariadb": "e", "m4": "", "bc": "", "dc": "e", "sed": "e", "gsed": "e", "ocaml": "", "coffee": "e", "expect": "c",
	"less": "", "more": "", "most": "", "man": "P", "info": "", "pager": "",
}

func isInterpreter(name string) bool {
	_, ok := interpreterFlags[interpreterName(name)]
	return ok
}

// Interprets reports whether a program runs code of a language of its own that its arguments name.
func Interprets(program string) bool { return isInterpreter(filepath.Base(program)) }

// interpreterName drops the version: python3.12 is python.
func interpreterName(name string) string {
	name = path.Base(name)
	if trimmed := strings.TrimRight(name, "0123456789."); trimmed != "" && name != "sqlite3" && name != "m4" {
		return strings.TrimSuffix(trimmed, "-")
	}
	return name
}

// interpreter judges programs that run code of their own language.
func (w *cmdWalker) interpreter(name string, args []cmdWord) bool {
	kind := interpreterName(name)
	flags, ok := interpreterFlags[kind]
	if !ok || w.onlyVersion(kind, args) || (kind == "sed" || kind == "gsed") && w.printsWithSed(args) {
		return ok
	}
	why := cmdRunsScript
	switch kind {
	case "vim", "vi", "nvim", "view", "vimdiff", "ex", "rvim", "emacs", "ed", "red", "less", "more", "most", "man", "info", "pager":
		why = cmdOpensEditor
	case "sqlite3", "psql", "mysql", "mariadb":
		why = cmdDatabase
	case "sed", "gsed":
		if why = cmdInlineCode; hasFlag(args, "i", "in-place") {
			why = cmdWritesFile
		}
	}
	w.changes(TierAsk, EffectExecute, why)
	if kind == "psql" || kind == "mysql" || kind == "mariadb" {
		w.changes(TierAsk, EffectNetwork, cmdDatabase)
	}
	ops := operands(args)
	for i, a := range args {
		t := a.text
		short := len(t) > 1 && t[0] == '-' && t[1] != '-' && strings.ContainsAny(t[1:], flags) && flags != ""
		long := strings.HasPrefix(t, "--eval") || strings.HasPrefix(t, "--print") || strings.HasPrefix(t, "--command") ||
			strings.HasPrefix(t, "--execute") || strings.HasPrefix(t, "--expression") || strings.HasPrefix(t, "--run")
		if (short || long) && i+1 < len(args) {
			w.changes(TierAsk, EffectExecute, cmdInlineCode)
			w.code(args[i+1].text)
		}
		if strings.ContainsAny(t, " ;(!|\n") {
			w.code(t)
		}
	}
	if w.stdinText != "" {
		w.changes(TierAsk, EffectExecute, cmdInlineCode)
		w.code(w.stdinText)
	}
	takesInput := len(ops) == 0 || ops[0].text == "-" || ops[0].text == "/dev/stdin"
	if takesInput && (w.stdin.network || w.stdin.decodes) && why == cmdRunsScript && !strings.HasSuffix(kind, "awk") {
		w.refuse(cmdRunsDownload)
	}
	if why == cmdRunsScript && len(ops) > 0 {
		w.runsFile(ops[0].text, true)
		if ops[0].text == "run" && len(ops) > 1 { // deno run, bun run
			w.runsFile(ops[1].text, true)
		}
	}
	for _, op := range ops {
		if op.facts.network && strings.HasPrefix(op.text, "/dev/fd/") && why == cmdRunsScript {
			w.refuse(cmdRunsDownload)
		}
	}
	if kind == "gdb" && (hasFlag(args, "p", "pid") || strings.Contains(joinWords(args), "attach ")) {
		w.refuse(cmdInjects)
	}
	if hasFlag(args, "i", "in-place") && (kind == "sed" || kind == "gsed" || kind == "perl" || kind == "ruby" || kind == "awk" || kind == "gawk") ||
		why == cmdOpensEditor && kind != "less" && kind != "more" && kind != "man" {
		for _, op := range ops {
			w.head(headEdits, cmdWritesFile, w.part)
			w.changesFile(op)
			if namesFile(op.text) && !strings.ContainsAny(op.text, " ;\n") {
				w.writes(op)
			}
		}
	}
	w.mentions(args)
	return true
}

var (
	codeDeletesTree   = sys.Pattern(`(?i)\b(rmtree|rm_rf|rm_r|remove_dir_all|removeall|remove_tree|rimraf|deltree|delete-item|remove-item)\b|\b(rmSync|rmdirSync|rm|rmdir)\s*\([^)]*recursive|rm\s+-[a-z]*r[a-z]*f|rm\s+-[a-z]*f[a-z]*r`)
	codeSocket        = sys.Pattern(`(?i)\bsocket\b|fsockopen|TCPSocket|net\.connect|net\.socket|net\.dial|Socket::INET|IO::Socket|/inet/(tcp|udp)/|/dev/(tcp|udp)/|stream_socket_client`)
	codeTakesOver     = sys.Pattern(`(?i)dup2|pty\.spawn|subprocess|/bin/(ba|z|da)?sh\b|child_process|\bexec\b|popen|proc_open|shell_exec|getline`)
	codeDecodes       = sys.Pattern(`(?i)b64decode|decode_base64|base64_decode|\batob\(|['"]base64['"]|unpack\(?\s*['"]m|fromhex|unhexlify|codecs\.decode|gzinflate|str_rot13|zlib\.decompress|pack\(?\s*['"]H\*`)
	codeEvaluatesText = sys.Pattern(`(?i)\b(exec|eval|execfile|instance_eval|assert|Function|system|popen)\b\s*[\s("'$]`)
	codeFetches       = sys.Pattern(`(?i)urlopen|urlretrieve|requests\.(get|post)|https?['"]?\)?\.(get|request)\(|LWP::UserAgent|URI\.open|\bfetch\(|net::http|open-uri|LWP::|file_get_contents\(\s*['"]https?:|curl_exec|http\.request`)
	codeEvaluates     = sys.Pattern(`(?i)\b(exec|eval|execfile|system|popen|compile|instance_eval|Function|execSync|spawn)\b\s*\(?`)
	codeForks         = sys.Pattern(`fork\s+while|while\s*\(?\s*(1|true)\s*\)?.{0,20}fork|while True:?.{0,20}fork`)
	codeStarts        = sys.Pattern("(?i)system|exec|spawn|popen|subprocess|backtick|`|\\bsh\\b|shell|![a-z/]|\\|\\s*\"|%x|qx|doshellscript|do shell script|run_cmd|getoutput|Runtime")
	codeStrings       = sys.Pattern("\"((?:[^\"\\\\]|\\\\.)+)\"|'((?:[^'\\\\]|\\\\.)+)'|`([^`]+)`|!\\s*([^\"'`\n]+)")
	codePaths         = sys.Pattern(`(?:~|\$HOME|/)[A-Za-z0-9_.\-/]+`)
	codeDevice        = sys.Pattern(`/dev/(sd[a-z]|nvme|vd[a-z]|hd[a-z]|mmcblk|disk\d)`)
)

// code judges program text that is not shell: only what is surely bad counts,
// since running it asks in any case.
func (w *cmdWalker) code(text string) {
	if len(text) > maxParsed {
		text = text[:maxParsed]
	}
	w.headsInCode(text)
	switch {
	case codeDeletesTree().MatchString(text):
		w.v.Deletes = true
		w.refuse(cmdDeletesTree)
	case codeSocket().MatchString(text) && codeTakesOver().MatchString(text):
		w.refuse(cmdReverseShell)
	case codeFetches().MatchString(text) && codeEvaluates().MatchString(text), codeDecodes().MatchString(text) && codeEvaluatesText().MatchString(text):
		w.refuse(cmdRunsDownload)
	case codeForks().MatchString(text):
		w.refuse(cmdForkBomb)
	case strings.Contains(text, "administrator privileges"):
		w.refuse(cmdAdmin)
	case codeDevice().MatchString(text):
		w.refuse(cmdDisk)
	}
	for _, p := range codePaths().FindAllString(text, 50) {
		p = strings.Replace(p, "$HOME", "~", 1)
		if abs, ok := w.abs(p); ok {
			v := classifyPath(abs, slashClean(w.o.Dir), w.o.Home, w.o.OxiosHome)
			if v.Protected || v.Sensitive && v.Read == TierRefuse {
				w.facts.secret = true
				w.refuse(cmdReadsSecret)
			}
		}
	}
	if !codeStarts().MatchString(text) {
		return
	}
	var all []string
	for _, m := range codeStrings().FindAllStringSubmatch(text, 40) {
		for _, s := range m[1:] {
			if s = strings.TrimSpace(s); s != "" {
				all = append(all, s)
				w.probe(s)
			}
		}
	}
	if len(all) > 1 { // a list of words: ["rm", "-rf", "/"]
		for i := range all {
			words := make([]cmdWord, 0, len(all)-i)
			for _, s := range all[i:] {
				words = append(words, cmdWord{text: s, quoted: true})
			}
			if i < 6 {
				w.probeWords(words)
			}
		}
	}
}

// crude looks for the worst in a line that cannot be parsed. It reads it as
// plain words between the signs that separate commands.
func (w *cmdWalker) crude(src string) {
	if len(src) > maxParsed {
		src = src[:maxParsed] + "\n" + src[len(src)-min(maxParsed, len(src)-maxParsed):]
	}
	parts := strings.FieldsFunc(src, func(r rune) bool { return strings.ContainsRune("\n;|&(){}`", r) })
	plain := strings.NewReplacer(`"`, "", `'`, "", `\`, "", "$HOME", w.home(), "${HOME", w.home())
	for _, part := range parts {
		var words []cmdWord
		for f := range strings.FieldsSeq(part) {
			f = plain.Replace(strings.Trim(f, `"'`))
			switch f {
			case "if", "then", "else", "elif", "do", "while", "until", "!", "time":
				continue
			}
			if f != "" {
				if len(words) == 1 && !w.worth(words[0].text) {
					break
				}
				words = append(words, cmdWord{text: strings.Replace(f, "~", w.home(), boolInt(strings.HasPrefix(f, "~")))})
			}
		}
		if len(words) == 0 {
			continue
		}
		if w.worth(words[0].text) {
			w.probeWords(words)
		}
	}
}

// worth reports whether a program in text that cannot be parsed may be refused:
// it is known, and not one of those that only look.
func (*cmdWalker) worth(program string) bool {
	name := path.Base(program)
	_, looks := cmdReaders()[name]
	return !looks && isKnownProgram(name)
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
