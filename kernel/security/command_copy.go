package security

import (
	"path"
	"strings"
)

func (w *cmdWalker) containers(args []cmdWord, text string) bool {
	w.changes(TierAsk, EffectOutside, cmdServices)
	for i, a := range args {
		t := a.text
		if (t == "-v" || t == "--volume" || t == "--mount") && i+1 < len(args) {
			t = args[i+1].text
		}
		t = strings.TrimPrefix(strings.TrimPrefix(t, "--volume="), "-v")
		source, _, ok := strings.Cut(t, ":")
		source = strings.TrimPrefix(source, "type=bind,source=")
		if ok && (source == "/" || isSystemPath(source) && strings.HasPrefix(source, "/")) || strings.Contains(t, "docker.sock") ||
			strings.Contains(t, "source=/,") || strings.Contains(t, "src=/,") {
			w.refuse(cmdEscapes)
		}
	}
	if strings.Contains(text, "--privileged") || strings.Contains(text, "--pid=host") || strings.Contains(text, "--pid host") || strings.Contains(text, "SYS_ADMIN") || strings.Contains(text, "--userns=host") {
		w.refuse(cmdEscapes)
	}
	switch first(args) {
	case "pull", "push", "login", "build", "run", "search", "compose":
		w.changes(TierAsk, EffectNetwork, cmdServices)
	}
	for i, a := range args {
		if i > 1 && (cmdShells[path.Base(a.text)] || a.text == "rm" && hasFlag(args[i:], "r")) && (first(args) == "exec" || first(args) == "run") {
			w.probeWords(args[i:])
		}
	}
	return true
}

// copies judges programs that put files somewhere.
func (w *cmdWalker) copies(name string, args []cmdWord) bool {
	w.headCopies(name, args)
	ops := operands(args)
	target := len(ops) - 1
	if hasFlag(args, "t", "target-directory") && name != "rsync" && name != "tee" {
		target = -1
	}
	if name == "install" {
		w.rights("chmod", append(modeWords(args), cmdWord{text: "."}))
	}
	remote := false
	for i, op := range ops {
		switch {
		case name == "rsync" && (strings.Contains(op.text, "::") || isRemote(op.text) || strings.HasPrefix(op.text, "rsync://")):
			remote = true
		case i == target || name == "tee" || name == "mkfifo" || target < 0:
			w.writes(op)
			w.opensFolder(op, i == target && hasFlag(args, "rRa", "recursive", "archive"))
			if name == "tee" {
				w.wrote(op.text, w.stdinText, w.stdin)
			}
			if abs, _ := w.abs(op.text); name == "mv" && abs == "/dev/null" {
				w.refuse(cmdDeletesTree)
			}
		case name == "mv":
			w.touches(op, cmdWritesFile)
			w.mentions([]cmdWord{op})
			w.movesAway(op)
		default:
			w.copied = true
			w.mentions([]cmdWord{op})
			w.copied = false
		}
		if name == "ln" && isHistory(op.text) {
			w.refuse(cmdHidesTraces)
		}
	}
	w.changes(TierAsk, EffectExecute, cmdWritesFile)
	if name == "rsync" || name == "cp" && hasFlag(args, "rRa", "recursive", "archive") {
		if sources := w.folders(ops[:max(0, target)]); len(sources) > 0 {
			w.recursesInto(sources)
		}
	}
	if name != "rsync" {
		return true
	}
	if remote {
		w.changes(TierAsk, EffectNetwork, cmdNetwork)
		w.takesHome(ops[:max(0, target)])
	}
	for i, a := range args {
		if (a.text == "-e" || strings.HasPrefix(a.text, "--rsh") || strings.HasPrefix(a.text, "--rsync-path")) && i+1 < len(args) {
			w.changes(TierAsk, EffectExecute, cmdStartsOther)
			_, value, ok := strings.Cut(a.text, "=")
			if !ok {
				value = args[i+1].text
			}
			w.probe(value)
		}
	}
	if strings.Contains(joinWords(args), "--delete") || hasFlag(args, "", "remove-source-files") {
		w.v.Deletes = true
		w.changes(TierAsk, EffectExecute, cmdDeletes)
		if len(ops) > 0 && !isRemote(ops[len(ops)-1].text) {
			w.deletesBeyond(ops[len(ops)-1])
		}
	}
	return true
}

// modeWords returns the mode that install is given.
func modeWords(args []cmdWord) []cmdWord {
	for i, a := range args {
		if a.text == "-m" && i+1 < len(args) {
			return args[i+1 : i+2 : i+2]
		}
		if mode, ok := strings.CutPrefix(a.text, "--mode="); ok {
			return []cmdWord{{text: mode}}
		}
	}
	return nil
}

func (w *cmdWalker) movesAway(source cmdWord) {
	abs, ok := w.abs(source.text)
	if !ok {
		return
	}
	bare := strings.TrimSuffix(abs, "/*")
	if bare == "" || Within(slashClean(w.home()), bare) {
		w.refuse(cmdDeletesHome)
	}
}

// isRemote reports whether a word names a file on another machine: host:path.
func isRemote(s string) bool {
	host, _, ok := strings.Cut(s, ":")
	return ok && host != "" && !strings.ContainsAny(host, "/ ")
}

// keyPrograms judges programs that keep keys: some of what they do shows them.
func (w *cmdWalker) keyPrograms(name, text string) bool {
	shows := false
	switch name {
	case "gpg", "gpg2":
		shows = strings.Contains(text, "--export-secret") || strings.Contains(text, "--export-ssh")
	case "secret-tool", "kwallet-query", "lpass":
		shows = true
	case "security":
		shows = strings.Contains(text, "find-") || strings.Contains(text, "dump-keychain") || strings.Contains(text, "export")
	case "gh":
		shows = strings.Contains(text, "auth token") || strings.Contains(text, "--show-token")
	case "gcloud", "az":
		shows = strings.Contains(text, "print-access-token") || strings.Contains(text, "print-identity-token") || strings.Contains(text, "get-access-token")
	case "pass", "op", "bw", "vault":
		shows = true
	case "aws":
		shows = strings.Contains(text, "configure get") || strings.Contains(text, "export-credentials") || strings.Contains(text, "get-session-token") || strings.Contains(text, "get-secret-value")
	case "keyctl":
		shows = strings.Contains(text, "print") || strings.Contains(text, "read") || strings.Contains(text, "pipe")
	}
	if !shows {
		return false
	}
	w.facts.secret = true
	w.changes(TierRefuse, EffectOutside, cmdReadsSecret)
	return true
}
