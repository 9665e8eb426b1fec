package security

import (
	"path"
	"slices"
	"strings"

	"oxios/kernel/sys"
)

// noArgumentFiles judges programs that read more of their arguments from a
// file whose name stands after @.
func noArgumentFiles(w *cmdWalker, args []cmdWord) bool {
	plain := true
	for _, a := range args {
		if file, ok := strings.CutPrefix(a.text, "@"); ok {
			a.text, plain = file, false
			w.reads(a, fileRead)
		}
	}
	return plain
}

func tputOnlyAsks(_ *cmdWalker, args []cmdWord) bool {
	return len(args) == 1 && containsWord("cols lines colors longname", args[0].text)
}

// listsArchive judges tar and unzip when they show what is in an archive. It
// returns false when they do anything else.
func (w *cmdWalker) listsArchive(name string, args []cmdWord) bool {
	if w.onlyVersion(name, args) {
		return true
	}
	if name == "unzip" {
		if len(args) != 2 || args[0].text != "-l" && args[0].text != "-Z1" || strings.HasPrefix(args[1].text, "-") || args[1].glob {
			return false
		}
		w.reads(args[1], fileRead)
		return true
	}
	args = slices.Clone(args)
	lists, file := false, -1
	for i, a := range args {
		letters, short := strings.CutPrefix(a.text, "-")
		value, long := strings.CutPrefix(a.text, "--file=")
		switch {
		case i == file:
		case a.text == "--list":
			lists = true
		case long:
			file = i
			args[i].text = value
		case strings.HasPrefix(a.text, "--") && !containsWord("--verbose --gzip --bzip2 --xz --zstd", a.text):
			return false
		case strings.HasPrefix(a.text, "--"):
		case short || i == 0:
			if letters == "" || strings.Trim(letters, "tvfzjJ") != "" {
				return false
			}
			lists = lists || strings.Contains(letters, "t")
			if strings.Contains(letters, "f") {
				if !strings.HasSuffix(letters, "f") && short {
					return false // the rest is the name
				}
				file = i + 1
			}
		}
	}
	if !lists || file < 0 || file >= len(args) || args[file].glob || isRemote(args[file].text) {
		return false
	}
	w.reads(args[file], fileRead)
	return true
}

var harmlessSet = sys.Pattern(`^([-+][euxfvho]+|pipefail|errexit|nounset|xtrace|verbose|noglob)$`)

func setsOptions(w *cmdWalker, args []cmdWord) bool {
	if len(args) == 0 {
		w.environment()
		return true
	}
	if args[0].text == "--" {
		w.args = args[1:]
		w.changes(TierAsk, EffectExecute, cmdShellLogic)
		return true
	}
	for i, a := range args {
		if a.text == "history" && i > 0 && strings.HasPrefix(args[i-1].text, "+") {
			w.refuse(cmdHidesTraces)
		} else if !harmlessSet().MatchString(a.text) {
			w.changes(TierAsk, EffectExecute, cmdShellLogic)
		}
	}
	return true
}

var sedPrints = sys.Pattern(`^\s*(\d+|\$|/[^/\\]*/)(,\s*(\d+|\$|/[^/\\]*/))?\s*p\s*(;\s*(\d+|\$)(,\s*(\d+|\$))?\s*p\s*)*$`)

// printsWithSed reports whether sed is used to print lines of a file.
func (w *cmdWalker) printsWithSed(args []cmdWord) bool {
	quiet, script, files := false, "", []cmdWord(nil)
	for _, a := range args {
		switch {
		case a.text == "-n" || a.text == "--quiet" || a.text == "--silent":
			quiet = true
		case a.text == "-E" || a.text == "-r":
		case len(a.text) > 1 && a.text[0] == '-':
			return false
		case script == "":
			script = a.text
		default:
			files = append(files, a)
		}
	}
	if !quiet || !sedPrints().MatchString(script) {
		return false
	}
	for _, f := range files {
		if f.glob && strings.IndexAny(f.text, "*?[") == 0 {
			return false
		}
		w.reads(f, fileRead)
	}
	return true
}

// findOnlyLooks judges find: its tests look, its actions do not.
func findOnlyLooks(w *cmdWalker, args []cmdWord) bool {
	var starts []cmdWord
	i := 0
	for ; i < len(args); i++ {
		t := args[i].text
		if t == "-H" || t == "-L" || t == "-P" || t == "--" {
			continue
		}
		if strings.HasPrefix(t, "-") || t == "(" || t == "!" {
			break
		}
		starts = append(starts, args[i])
	}
	for _, s := range starts {
		w.reads(s, fileList)
		if s.glob && strings.IndexAny(s.text, "*?[") == 0 {
			w.changes(TierAsk, EffectExecute, cmdGlobOption)
		}
	}
	if len(starts) == 0 && (w.where.dir != w.folder() || len(w.where.also) > 0) {
		starts = append(starts, cmdWord{text: "."})
		w.reads(starts[0], fileList)
	}
	narrow := false
	for ; i < len(args); i++ {
		t := args[i].text
		switch t {
		case "-delete":
			w.findDeletes(starts, narrow)
		case "-exec", "-execdir", "-ok", "-okdir":
			end := i + 1
			for end < len(args) && args[end].text != ";" && (args[end].text != "+" || args[end-1].text != "{}") {
				end++
			}
			w.changes(TierAsk, EffectExecute, cmdStartsOther)
			if i+1 < end {
				sub := slices.Clone(args[i+1 : end])
				for k := range sub {
					if strings.Contains(sub[k].text, "{}") {
						sub[k].text = strings.ReplaceAll(sub[k].text, "{}", findTarget(starts))
					}
				}
				w.readsNames(w.facts)
				w.elsewhere(func() { w.run(sub) })
			}
			i = end
		case "-name", "-iname", "-path", "-ipath", "-wholename", "-regex", "-iregex", "-newer", "-mtime", "-mmin", "-atime", "-amin",
			"-ctime", "-cmin", "-size", "-user", "-group", "-perm", "-links", "-inum", "-samefile", "-newermt", "-uid", "-gid", "-lname", "-used":
			narrow = true
			if i+1 < len(args) && containsWord("-name -iname -path -ipath -wholename -regex -iregex", t) && (i == 0 || args[i-1].text != "!" && args[i-1].text != "-not") {
				w.facts.names = w.facts.names || aimed(braceless(findPattern(t, args[i+1].text)), true)
			}
			if i++; i < len(args) && len(w.v.Outside) > 0 && pathSecrecy("/"+strings.Trim(pathFold(args[i].text), "*"), "") > TierFree {
				w.note(TierAsk, EffectOutside, cmdReadsPrivate, w.part)
			}
		case "-type", "-xtype", "-maxdepth", "-mindepth", "-printf", "-fstype", "-regextype":
			i++
		case "-empty":
			narrow = true
		case "-print", "-print0", "-ls", "-prune", "-quit", "-depth", "-xdev", "-mount", "-follow", "-not", "-o", "-or", "-a", "-and",
			"!", "(", ")", ",", "-readable", "-writable", "-executable", "-true", "-false", "-daystart", "-nouser", "-nogroup", "-noleaf":
		default:
			w.changes(TierAsk, EffectExecute, cmdUnknownOption)
			if strings.HasPrefix(t, "-fprint") || t == "-fls" {
				if i++; i < len(args) {
					w.writes(args[i])
				}
			}
		}
	}
	return true
}

// findPattern writes the pattern of a test of find for the shell.
func findPattern(test, pattern string) string {
	if strings.HasSuffix(test, "regex") {
		pattern = strings.NewReplacer(".*", "*", `\.`, ".").Replace(pattern)
	}
	return pattern
}

// findTarget is a path that stands for what find hands to a command.
func findTarget(starts []cmdWord) string {
	if len(starts) == 0 {
		return "./" + cmdUnseen
	}
	return path.Clean(starts[0].text) + "/" + cmdUnseen
}

func (w *cmdWalker) findDeletes(starts []cmdWord, narrow bool) {
	w.v.Deletes = true
	w.changes(TierAsk, EffectExecute, cmdDeletes)
	if !narrow {
		w.refuse(cmdDeletesTree)
	}
	for _, s := range starts {
		w.deletesBeyond(s)
		if abs, ok := w.abs(s.text); ok && hasPart(pathFold(abs), ".git") {
			w.beyondUndo()
		}
	}
}

// deletesBeyond refuses a forced delete outside the folder.
func (w *cmdWalker) deletesBeyond(target cmdWord) {
	abs, ok := w.abs(target.text)
	if !ok {
		return
	}
	home := slashClean(w.home())
	bare := strings.TrimSuffix(strings.TrimSuffix(abs, "/*"), "/.*")
	switch {
	case bare == "" || bare == "/" || Within(home, bare) || bare == "/~" || isSystemPath(pathFold(bare)):
		w.refuse(cmdDeletesHome)
	case !Within(abs, w.folder()):
		w.refuse(cmdDeletesBeyond)
	}
}
