package security

import (
	"strings"
)

// cmdWrap describes a program that starts the command in its arguments.
type cmdWrap struct {
	values string // its short options that take a value
	long   string // its long options that take a value, as separate words
	own    int    // how many operands come before the command
	plain  string // the short options with which it changes nothing about what the command does
	asks   bool   // it asks even around a command that only looks
}

// cmdWrappers are programs that start another one. What is not plain asks.
var cmdWrappers = map[string]cmdWrap{
	"nice":    {values: "n", long: "adjustment", plain: "n0123456789"},
	"timeout": {values: "ks", long: "kill-after signal", own: 1, plain: "ksv"},
	"time":    {values: "of", long: "output format", plain: "pv"},
	"stdbuf":  {values: "ioe", long: "input output error", plain: "ioe"},
	"command": {plain: "p"},
	"builtin": {},
	"exec":    {values: "a", asks: true},
	"nohup":   {asks: true}, "setsid": {asks: true}, "ionice": {values: "cnp", asks: true}, "chrt": {own: 1, values: "TPDp", asks: true},
	"taskset": {own: 1, asks: true}, "caffeinate": {values: "tw", asks: true}, "watch": {values: "nd", long: "interval", asks: true},
	"strace": {values: "oeEpsSPuaIOX", asks: true}, "ltrace": {values: "oeplsuaAFnD", asks: true}, "flock": {values: "wEF", own: 1, asks: true},
	"unshare": {values: "SGRw", asks: true}, "fakeroot": {values: "lsib", asks: true}, "fakechroot": {asks: true}, "proot": {values: "rbwqk", asks: true},
	"firejail": {asks: true}, "bwrap": {asks: true}, "xvfb-run": {values: "efnspw", asks: true}, "dbus-run-session": {asks: true},
	"dbus-launch": {asks: true}, "setarch": {own: 1, asks: true}, "linux32": {asks: true}, "linux64": {asks: true}, "i386": {asks: true},
	"prlimit": {asks: true}, "numactl": {values: "NmCpi", asks: true}, "chronic": {asks: true}, "unbuffer": {asks: true}, "rlwrap": {asks: true},
	"systemd-run": {values: "pMHuE", long: "property unit slice uid gid description", asks: true}, "systemd-inhibit": {asks: true}, "cgexec": {values: "g", asks: true},
	"busybox": {asks: true}, "toybox": {asks: true}, "sbase-box": {asks: true}, "dumb-init": {asks: true}, "tini": {asks: true}, "catchsegv": {asks: true},
	"parallel": {values: "jSIadNLnPX", asks: true}, "xargs": {values: "IdEnLPsa", long: "max-args max-procs arg-file delimiter max-lines max-chars process-slot-var", asks: true},
	"env": {values: "uC", long: "unset chdir"}, "script": {values: "cIOBTEmoF", asks: true},
	"entr": {asks: true}, "nodemon": {values: "xew", asks: true}, "watchexec": {values: "wefi", asks: true}, "proxychains": {values: "f", asks: true},
	"proxychains4": {values: "f", asks: true}, "torsocks": {asks: true}, "torify": {asks: true}, "valgrind": {asks: true}, "perf": {own: 1, asks: true},
	"gdbserver": {own: 1, asks: true}, "sshpass": {values: "pfdeP", asks: true}, "start-stop-daemon": {asks: true}, "daemonize": {asks: true},
	"choom": {values: "np", asks: true}, "trickle": {asks: true}, "faketime": {own: 1, asks: true}, "xcrun": {asks: true}, "arch": {values: "ed", asks: true},
	"sandbox-exec": {values: "fnpD", asks: true}, "direnv": {own: 2, asks: true}, "dotenv": {values: "fe", asks: true}, "chpst": {values: "uUbemdolpfcrt/nP", asks: true},
	"softlimit": {asks: true}, "expect": {values: "c", asks: true}, "runcon": {asks: true}, "uv": {own: 1, asks: true}, "poetry": {own: 1, asks: true},
	"pipenv": {own: 1, asks: true}, "bundle": {own: 1, asks: true}, "conda": {own: 1, asks: true}, "rbenv": {own: 1, asks: true}, "pyenv": {own: 1, asks: true},
	"nix-shell": {asks: true}, "nix": {own: 1, asks: true}, "tmux": {own: 1, asks: true}, "screen": {asks: true}, "hyperfine": {asks: true}, "apply": {asks: true},
	"capsh": {asks: true}, "setpriv": {asks: true}, "chroot": {own: 1, asks: true},
}

// runsHere are wrappers that do nothing but run the command, once and at once.
const runsHere = "nice timeout time stdbuf command builtin exec nohup setsid ionice"

// wrapper unwraps a program that starts another one.
func (w *cmdWalker) wrapper(name string, args []cmdWord) bool {
	spec, ok := cmdWrappers[name]
	if !ok {
		return false
	}
	if name == "arch" && len(args) == 0 || name == "command" && len(args) > 0 && (args[0].text == "-v" || args[0].text == "-V") {
		return true
	}
	if name == "env" {
		w.env(args)
		return true
	}
	if spec.asks {
		w.changes(TierAsk, EffectExecute, cmdStartsOther)
	}
	own := spec.own
	rest := args
	for len(rest) > 0 {
		t := rest[0].text
		switch {
		case t == "--":
			rest = rest[1:]
			if own > 0 && len(rest) > 0 {
				rest = rest[min(own, len(rest)):]
			}
			own = -1
		case strings.HasPrefix(t, "--"):
			flag, value, attached := strings.Cut(t[2:], "=")
			if !spec.asks {
				w.changes(TierAsk, EffectExecute, cmdStartsOther)
			}
			w.probe(value)
			rest = rest[1:]
			if !attached && containsWord(spec.long, flag) && len(rest) > 0 {
				rest = rest[1:]
			}
		case len(t) > 1 && t[0] == '-':
			if !spec.asks && strings.Trim(t[1:], spec.plain+"0123456789.sSLMKG") != "" {
				w.changes(TierAsk, EffectExecute, cmdStartsOther)
			}
			rest = rest[1:]
			if strings.IndexByte(spec.values, t[len(t)-1]) >= 0 && len(t) == 2 && len(rest) > 0 {
				if t == "-c" || t == "-x" || t == "-o" && name == "time" {
					w.changes(TierAsk, EffectExecute, cmdStartsOther)
					w.probe(rest[0].text)
				}
				rest = rest[1:]
			}
		case name == "prlimit" && strings.HasPrefix(t, "-"):
			rest = rest[1:]
		case own > 0:
			own--
			rest = rest[1:]
		default:
			own = -1
		}
		if own < 0 {
			break
		}
	}
	w.started(name, args, rest, spec.asks)
	return true
}

// started judges the command that a wrapper starts. A wrapper whose options
// are not known exactly may start it at any word.
func (w *cmdWalker) started(name string, args, rest []cmdWord, asks bool) {
	if name == "exec" && len(rest) == 0 && w.facts.listener {
		w.refuse(cmdReverseShell)
	}
	if name == "xargs" || name == "parallel" {
		w.readsNames(w.stdin)
		if name == "parallel" {
			for _, a := range args {
				w.probe(a.text)
			}
			if len(rest) == 0 && (w.stdin.network || w.stdin.decodes) {
				w.refuse(cmdRunsDownload)
			}
		}
		if len(rest) > 0 && (cmdShells[rest[0].text] || w.stdin.network && isInterpreter(rest[0].text)) && (w.stdin.network || w.stdin.decodes) {
			w.refuse(cmdRunsDownload)
		}
		rest = append(rest[:len(rest):len(rest)], cmdWord{text: cmdUnseen})
	}
	if len(rest) > 1 && rest[0].text == "-c" {
		rest = rest[1:] // flock's
	}
	switch {
	case len(rest) == 0:
	case strings.ContainsAny(rest[0].text, " ;|&\n"):
		w.text(rest) // it hands the text to a shell
	case containsWord(runsHere, name):
		w.run(rest)
	default:
		w.elsewhere(func() { w.run(rest) })
	}
	if (name == "strace" || name == "ltrace") && hasFlag(args, "p", "attach") {
		w.refuse(cmdInjects)
	}
	if !asks {
		return
	}
	for i := 0; i < len(args) && i < 12; i++ {
		if len(args)-i == len(rest) {
			continue
		}
		if strings.ContainsAny(args[i].text, " ;|&") {
			w.probe(args[i].text)
		} else if isKnownProgram(args[i].text) || strings.Contains(args[i].text, "/") {
			w.probeWords(args[i:])
		}
	}
}

// env judges env: alone it shows the environment, with a command it runs it.
func (w *cmdWalker) env(args []cmdWord) {
	where, missed := w.where, w.missed
	defer func() { w.where, w.missed = where, missed }()
	for i := 0; i < len(args); i++ {
		t := args[i].text
		if folder := optionValues(args[i:i+1+boolInt(i+1 < len(args))], "C", "chdir"); len(folder) > 0 {
			w.goes(cmdWord{text: folder[0], expands: args[i].expands})
		}
		switch {
		case t == "--":
			continue
		case strings.HasPrefix(t, "-S") || strings.HasPrefix(t, "--split") || strings.HasPrefix(t, "-") && strings.HasSuffix(t, "S") && !strings.HasPrefix(t, "--"):
			w.changes(TierAsk, EffectUnknown, cmdStartsOther)
			text := joinWords(args[i:])
			for _, cut := range []string{"--split-string=", "--split-string", "-vS", "-iS", "-S"} {
				text = strings.TrimPrefix(text, cut)
			}
			w.elsewhere(func() { w.script(strings.TrimSpace(text)) })
			return
		case strings.HasPrefix(t, "-"):
			w.changes(TierAsk, EffectExecute, cmdSetsVariable)
			if t == "-u" || t == "-C" || t == "--unset" || t == "--chdir" {
				i++
			}
		case strings.Contains(t, "="):
			name, value, _ := strings.Cut(t, "=")
			w.setsVariable(name, value)
		default:
			w.run(args[i:])
			return
		}
	}
	w.environment()
}

// environment judges a command that shows the environment.
func (w *cmdWalker) environment() {
	w.facts.secret = true
	w.changes(TierAsk, EffectOutside, cmdReadsEnv)
}

func containsWord(list, word string) bool {
	return strings.Contains(" "+list+" ", " "+word+" ")
}
