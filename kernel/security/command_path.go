package security

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// fileUse is what a read-only program does with the files it is given.
type fileUse int

const (
	fileNone fileUse = iota // its words are not files
	fileName                // says whether it exists, how large it is
	fileList                // shows the names in it
	fileRead                // shows what is in it
)

// abs resolves the path that a word names. ok is false where that is hidden.
func (w *cmdWalker) abs(text string) (abs string, ok bool) {
	if strings.Contains(text, cmdUnseen) && !path.IsAbs(text) {
		return "", false
	}
	if !path.IsAbs(text) && text != "~" && !strings.HasPrefix(text, "~/") {
		if !w.where.known() {
			return "", false
		}
	}
	return pathAbs(text, w.where.dir, w.o.Home), true
}

// look records a word that names a file, and returns what policy says of it.
func (w *cmdWalker) look(word cmdWord) (v PathVerdict, ok bool) {
	text := word.text
	if text == "" || text == "-" {
		return v, false
	}
	if text == ".." || strings.HasPrefix(text, "../") || strings.HasSuffix(text, "/..") || strings.Contains(text, "/../") {
		w.v.HasDotDot = true
	}
	shown := strings.ReplaceAll(text, cmdUnseen, "…")
	if !slices.Contains(w.v.Paths, shown) && len(w.v.Paths) < 100 {
		w.v.Paths = append(w.v.Paths, shown)
	}
	if !path.IsAbs(text) && !w.where.known() {
		w.named = append(w.named, word)
		return v, false
	}
	seen := false
	for _, from := range w.where.all() {
		if strings.Contains(text, cmdUnseen) && !path.IsAbs(text) {
			return v, false
		}
		one := w.lookFrom(from, word)
		w.named = append(w.named, cmdWord{text: one.Abs, glob: word.glob})
		if !one.Inside && !isHarmlessDevice(one.Abs) {
			w.opens(one.Abs, word, UseNone)
		}
		if !seen {
			v, seen = one, true
		} else {
			v = worstPath(v, one)
		}
		if path.IsAbs(text) {
			break
		}
	}
	if v.Sensitive && v.Inside && !word.glob && !strings.Contains(v.Abs, cmdUnseen) {
		w.names(v.Abs)
	}
	if !v.Inside && !isHarmlessDevice(v.Abs) && !isPublicPath(v.Abs) && !slices.Contains(w.v.Outside, shown) && len(w.v.Outside) < 100 {
		w.v.Outside = append(w.v.Outside, shown)
	}
	return v, true
}

// lookFrom judges a word in one of the folders in which the command may run.
func (w *cmdWalker) lookFrom(from string, word cmdWord) PathVerdict {
	abs := pathAbs(word.text, from, w.o.Home)
	if word.glob || strings.Contains(abs, cmdUnseen) {
		return w.couldMean(abs, classifyPath(abs, w.folder(), w.o.Home, w.o.OxiosHome))
	}
	as := word.text
	if !path.IsAbs(as) {
		as = from + "/" + as
	}
	return w.through(abs, as)
}

// couldBe judges a pattern by well-known places that it could stand for.
func (w *cmdWalker) couldBe(abs string, v PathVerdict, local bool) PathVerdict {
	pattern := strings.ReplaceAll(abs, cmdUnseen, "*")
	home := slashClean(w.home())
	candidates := []string{
		"/etc/shadow", "/etc/passwd", "/etc/sudoers", home + "/.ssh/id_rsa", home + "/.ssh/id_ed25519", home + "/.aws/credentials",
		home + "/.netrc", home + "/.bashrc", "/root/.ssh/id_rsa", "/proc/1/environ", "/proc/self/environ", "/dev/sda", "/dev/nvme0n1",
		home + "/.oxios/config.toml",
	}
	dir := path.Dir(abs)
	names := []string{".bashrc"}
	if local {
		names = append(names, ".env", "id_rsa", "id_ed25519", "server.key", "cert.pem", ".npmrc", "credentials.json")
	}
	for _, name := range names {
		if strings.HasPrefix(path.Base(pattern), name[:1]) { // a leading dot is never matched by *
			candidates = append(candidates, dir+"/"+name)
		}
	}
	for _, c := range candidates {
		if !matchesGlob(pattern, c) {
			continue
		}
		worse := classifyPath(c, slashClean(w.o.Dir), w.o.Home, w.o.OxiosHome)
		v.Inside = v.Inside && worse.Inside
		v.Sensitive = v.Sensitive || worse.Sensitive
		v.Read, v.Write = max(v.Read, worse.Read), max(v.Write, worse.Write)
	}
	return v
}

// reads judges a file that a read-only program is given.
func (w *cmdWalker) reads(word cmdWord, use fileUse) {
	w.readsNames(word.facts)
	deep, trees := w.v.Recurses, w.v.Trees
	v, ok := w.look(word)
	if use != fileRead {
		w.v.Recurses, w.v.Trees = deep, trees // their names are seen, not what is in them
	}
	if !ok && word.text != "" && word.text != "-" && use != fileNone && !w.unknownFolder() {
		w.unseenFile(word, use)
	}
	if !ok || use == fileNone || use == fileName {
		return
	}
	w.opens(v.Abs, word, UseRead)
	if isHarmlessDevice(v.Abs) || v.Inside && v.Read == TierFree && !v.Sensitive {
		return
	}
	switch {
	case v.Protected:
		w.note(TierRefuse, EffectOutside, cmdProtected, w.part)
	case isRawDevice(pathFold(v.Abs)) && use == fileRead:
		w.note(TierRefuse, EffectOutside, cmdRawDisk, w.part)
	case v.Sensitive && v.Read == TierRefuse && use == fileRead:
		w.facts.secret = true
		w.note(TierRefuse, EffectOutside, cmdReadsSecret, w.part)
	case v.Sensitive:
		w.facts.secret = use == fileRead || w.facts.secret
		w.note(TierAsk, EffectOutside, cmdReadsPrivate, w.part)
	case isPublicPath(v.Abs):
	case strings.HasPrefix(v.Abs, "/dev/"):
		w.note(TierAsk, EffectOutside, cmdReadsDevice, w.part)
	default:
		w.facts.beyond = w.facts.beyond || use == fileRead
		w.facts.outside = w.facts.outside || use == fileRead && isSystemPath(pathFold(v.Abs))
		w.note(TierAsk, EffectOutside, cmdReadsOutside, w.part)
	}
}

// unseenFile judges a file whose name is only known when the command runs, by
// what of the name is written.
func (w *cmdWalker) unseenFile(word cmdWord, use fileUse) {
	if use != fileRead {
		return
	}
	w.recurses(w.folder())
	if pattern := strings.ReplaceAll(word.text, cmdUnseen, "*"); aimed(pattern, true) {
		w.facts.secret = true
		w.note(TierAsk, EffectOutside, cmdReadsPrivate, w.part)
	}
}

// readsNames judges a command that is handed the names that another one found.
func (w *cmdWalker) readsNames(f cmdFacts) {
	if f.names {
		w.facts.secret = true
		w.note(TierAsk, EffectOutside, cmdReadsPrivate, w.part)
	}
}

// writes judges a file that a command creates or overwrites.
func (w *cmdWalker) writes(word cmdWord) {
	if isHarmlessDevice(word.text) {
		return
	}
	w.touches(word, cmdWritesFile)
}

// touches judges a file that a command changes in some way.
func (w *cmdWalker) touches(word cmdWord, why cmdReason) {
	v, ok := w.look(word)
	if !ok {
		w.headUnresolved(why)
		w.changes(TierAsk, EffectUnknown, why)
		return
	}
	if hasPart(pathFold(v.Abs), ".git") {
		w.beyondUndo()
	}
	w.opens(v.Abs, word, UseWrite)
	w.changesFile(word)
	switch {
	case v.Protected:
		w.changes(TierRefuse, EffectOutside, cmdProtected)
	case isRawDevice(pathFold(v.Abs)):
		w.changes(TierRefuse, EffectOutside, cmdDisk)
	case Within(v.Abs, "/proc") || Within(v.Abs, "/sys"):
		w.changes(TierRefuse, EffectOutside, cmdKernel)
	case Within(v.Abs, "/boot") || Within(v.Abs, "/efi"):
		w.changes(TierRefuse, EffectOutside, cmdBoot)
	case Within(v.Abs, "/var/log") || isHistory(v.Abs):
		w.changes(TierRefuse, EffectOutside, cmdHidesTraces)
	case v.Write == TierRefuse && isSystemPath(pathFold(v.Abs)):
		w.changes(TierRefuse, EffectOutside, cmdSystemFiles)
	case v.Write == TierRefuse:
		w.changes(TierRefuse, EffectOutside, cmdReason{7, v.Reason, v.ReasonKO})
	case !v.Inside:
		w.headBeyond(why)
		w.changes(TierAsk, EffectOutside, cmdUsesOutside)
	case v.Write == TierAsk && !v.Sensitive && w.runsLater(v.Abs): // as for a file tool
		w.changes(TierAsk, EffectOutside, cmdPersists)
	default:
		w.changes(TierAsk, EffectExecute, why)
	}
}

// runsLater reports whether other programs run a file of the folder.
func (w *cmdWalker) runsLater(abs string) bool {
	rel, err := filepath.Rel(w.o.Dir, abs)
	return err == nil && RunsLater(rel)
}

// changesFile notes a file that the command is known to change.
func (w *cmdWalker) changesFile(word cmdWord) {
	if abs, ok := w.abs(word.text); ok && len(w.v.Writes) < maxTexts && !slices.Contains(w.v.Writes, abs) {
		w.v.Writes = append(w.v.Writes, abs)
	}
}

// mentions looks for files in the words of a program that is not known in
// detail: whole words, values of options, and what follows @.
func (w *cmdWalker) mentions(words []cmdWord) {
	for _, word := range words {
		text := word.text
		if strings.HasPrefix(text, "-") {
			switch i := strings.IndexAny(text, "=/~"); {
			case i < 0:
				continue
			case text[i] == '=':
				text = text[i+1:]
			case !strings.HasPrefix(text, "--"):
				text = text[i:]
			}
		} else if i := strings.IndexByte(text, '='); i > 0 && !strings.ContainsAny(text[:i], "/ ") {
			text = text[i+1:]
		}
		text = strings.TrimLeft(text, "@<")
		if strings.Contains(text, "://") {
			if rest, ok := strings.CutPrefix(strings.ToLower(text), "file://"); ok {
				text = text[len(text)-len(rest):]
			} else {
				w.address(text)
				continue
			}
		}
		if strings.ContainsAny(text, "\n{}()<>|;\"'`") || len(text) > 4096 || !namesFile(text) {
			continue
		}
		word.text = text
		w.mention(word)
	}
}

func (w *cmdWalker) mention(word cmdWord) {
	v, ok := w.look(word)
	if !ok && !w.unknownFolder() {
		w.unseenFile(word, fileRead)
	}
	if !ok || isHarmlessDevice(v.Abs) {
		return
	}
	if w.copied {
		w.opens(v.Abs, word, UseRead)
	} else {
		w.opens(v.Abs, word, UsePerhaps)
	}
	switch {
	case v.Protected:
		w.changes(TierRefuse, EffectOutside, cmdProtected)
	case isRawDevice(pathFold(v.Abs)):
		w.changes(TierRefuse, EffectOutside, cmdRawDisk)
	case v.Sensitive && v.Read == TierRefuse:
		w.facts.secret = true
		w.changes(TierRefuse, EffectOutside, cmdReadsSecret)
	case v.Sensitive:
		w.facts.secret = true
		w.changes(TierAsk, EffectOutside, cmdReadsPrivate)
	case !v.Inside && !isPublicPath(v.Abs):
		w.facts.beyond = true
		w.changes(TierAsk, EffectOutside, cmdUsesOutside)
	}
}

// namesFile reports whether a word looks like the name of a file rather than
// like text.
func namesFile(s string) bool {
	if s == "" || s == "." || s == "-" {
		return false
	}
	if strings.Contains(s, "/") || strings.HasPrefix(s, "~") || s == ".." {
		return true
	}
	return pathSecrecy("/"+pathFold(s), "") > TierFree
}

func isHistory(p string) bool {
	base := path.Base(p)
	return strings.HasPrefix(base, ".") && strings.HasSuffix(base, "_history")
}

// isHarmlessDevice reports whether p is a device that reading and writing
// cannot hurt.
func isHarmlessDevice(p string) bool {
	switch p {
	case "/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr":
		return true
	}
	return strings.HasPrefix(p, "/dev/fd/")
}

// isPublicPath reports whether p belongs to the installed system rather than
// to a person, and holds no secrets.
func isPublicPath(p string) bool {
	switch p {
	case "/proc/cpuinfo", "/proc/meminfo", "/proc/loadavg", "/proc/uptime", "/proc/version", "/proc/stat", "/proc/filesystems",
		"/proc/swaps", "/proc/partitions", "/proc/diskstats", "/etc/os-release", "/etc/lsb-release", "/etc/debian_version",
		"/etc/issue", "/etc/timezone", "/etc/localtime", "/etc/shells", "/etc/protocols", "/etc/services", "/etc/mime.types":
		return true
	}
	for _, root := range []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt"} {
		if Within(p, root) {
			return true
		}
	}
	return false
}
