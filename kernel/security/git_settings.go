package security

import (
	"bytes"
	"slices"
	"strings"
)

// GitSetting is one of git's settings as it stands in a file.
type GitSetting struct {
	Key        string // "core.fsmonitor", "filter.x.clean"; the part in the middle as it is written
	Value      string
	start, end int // its bytes, without the end of the line
}

// ParseGitSettings reads a file of git's settings the way git does. It is not ok
// where git would not understand it either.
func ParseGitSettings(raw []byte) (list []GitSetting, ok bool) {
	p := settingsParser{raw: bytes.TrimPrefix(raw, []byte("\uFEFF"))}
	p.skipped = len(raw) - len(p.raw)
	for {
		switch c := p.peek(); {
		case c == 0 && p.at >= len(p.raw):
			return p.out, true
		case c == '\n' || c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f':
			p.at++
		case c == '#' || c == ';':
			p.comment()
		case c == '[':
			if !p.section() {
				return p.out, false
			}
		default:
			if !p.setting() {
				return p.out, false
			}
		}
	}
}

type settingsParser struct {
	raw         []byte
	at, skipped int
	name        string // of the section
	out         []GitSetting
}

func (p *settingsParser) peek() byte {
	if p.at < len(p.raw) {
		return p.raw[p.at]
	}
	return 0
}

func (p *settingsParser) comment() {
	for p.at < len(p.raw) && p.raw[p.at] != '\n' {
		p.at++
	}
}

func isWordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-'
}

func (p *settingsParser) section() bool {
	p.at++
	from := p.at
	for isWordByte(p.peek()) || p.peek() == '.' {
		p.at++
	}
	p.name = strings.ToLower(string(p.raw[from:p.at]))
	if p.peek() == ']' {
		p.at++
		return p.name != ""
	}
	for p.peek() == ' ' || p.peek() == '\t' {
		p.at++
	}
	if p.peek() != '"' {
		return false
	}
	var sub []byte
	for p.at++; ; p.at++ {
		switch c := p.peek(); {
		case c == 0 || c == '\n':
			return false
		case c == '\\':
			p.at++
			if p.peek() == 0 || p.peek() == '\n' {
				return false
			}
			sub = append(sub, p.peek())
		case c == '"':
			p.at++
			if p.peek() != ']' {
				return false
			}
			p.at++
			p.name += "." + string(sub)
			return true
		default:
			sub = append(sub, c)
		}
	}
}

func (p *settingsParser) setting() bool {
	s := GitSetting{start: p.at + p.skipped}
	from := p.at
	for isWordByte(p.peek()) {
		p.at++
	}
	if from == p.at || p.name == "" {
		return false
	}
	s.Key = p.name + "." + strings.ToLower(string(p.raw[from:p.at]))
	for p.peek() == ' ' || p.peek() == '\t' || p.peek() == '\r' {
		p.at++
	}
	switch p.peek() {
	case '=':
		p.at++
		value, ok := p.value()
		if !ok {
			return false
		}
		s.Value = value
	case '\n', 0:
		s.Value = "true"
	case '#', ';':
		p.comment()
		s.Value = "true"
	default:
		return false
	}
	s.end = p.at + p.skipped
	p.out = append(p.out, s)
	return true
}

func (p *settingsParser) value() (string, bool) {
	var v []byte
	quoted, solid := false, 0
	for ; ; p.at++ {
		c := p.peek()
		switch {
		case c == 0 || c == '\n':
			return strings.TrimSpace(string(v[:max(solid, 0)])), !quoted && (c == '\n' || p.at >= len(p.raw))
		case c == '\r' && p.at+1 < len(p.raw) && p.raw[p.at+1] == '\n':
		case !quoted && (c == '#' || c == ';'):
			p.comment()
			p.at--
		case !quoted && (c == ' ' || c == '\t'):
			if len(v) > 0 {
				v = append(v, c)
			}
		case c == '"':
			quoted = !quoted
			solid = len(v)
		case c == '\\':
			p.at++
			switch e := p.peek(); e {
			case '\n':
			case 't':
				v = append(v, '\t')
			case 'b':
				v = append(v, '\b')
			case 'n':
				v = append(v, '\n')
			case '\\', '"':
				v = append(v, e)
			case '\r':
				if p.at++; p.peek() != '\n' {
					return "", false
				}
			default:
				return "", false
			}
			solid = len(v)
		default:
			v = append(v, c)
			solid = len(v)
		}
	}
}

// gitPlain are the settings that start no program and lead git to no other file,
// by section; "*" is all of one. What is not here is taken for one that does.
var gitPlain = map[string]string{
	"core": `repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode symlinks autocrlf eol safecrlf quotepath
		untrackedcache compression abbrev commentchar longpaths sharedrepository sparsecheckout sparsecheckoutcone checkstat trustctime preloadindex
		fscache hidedotfiles worktree whitespace`,
	"user": "name email useconfigonly", "author": "name email", "committer": "name email", "init": "defaultbranch",
	"branch": "remote merge rebase description pushremote autosetupmerge autosetuprebase sort",
	"pull":   "rebase ff", "push": "default autosetupremote followtags", "fetch": "*",
	"merge": "ff conflictstyle log stat renames", "diff": "renames algorithm context mnemonicprefix noprefix colormoved",
	"commit": "gpgsign verbose status cleanup", "tag": "gpgsign sort", "rebase": "autostash autosquash updaterefs", "stash": "*", "log": "date decorate follow",
	"color": "*", "column": "*", "advice": "*", "gc": "*", "pack": "*", "index": "*", "status": "*", "rerere": "*", "blame": "*", "feature": "*",
	"checkout": "*", "apply": "*", "clean": "*", "fsck": "*", "grep": "*", "i18n": "*", "maintenance": "*", "repack": "*", "transfer": "*", "worktree": "*",
	"extensions": "*", "http": "postbuffer sslverify version lowspeedlimit lowspeedtime", "receive": "denycurrentbranch denynonfastforwards denydeletes", "lfs": "repositoryformatversion",
}

// plain reports whether a setting starts nothing and leads nowhere.
func (s GitSetting) plain() bool {
	section, rest, _ := strings.Cut(s.Key, ".")
	last := rest[strings.LastIndexByte(rest, '.')+1:]
	switch section {
	case "core":
		if last == "fsmonitor" { // the one that git brings along
			return slices.Contains([]string{"", "true", "false", "yes", "no", "on", "off", "1", "0"}, strings.ToLower(s.Value))
		}
	case "remote":
		switch last {
		case "fetch", "push", "tagopt", "prune", "mirror", "promisor", "partialclonefilter":
			return true
		case "url", "pushurl":
			return !strings.Contains(s.Value, "::") && !strings.HasPrefix(s.Value, "-")
		}
		return false
	case "submodule":
		switch last {
		case "url":
			return !strings.Contains(s.Value, "::") && !strings.HasPrefix(s.Value, "-")
		case "update":
			return !strings.HasPrefix(s.Value, "!")
		case "active", "branch", "ignore", "path", "recurse", "fetchrecursesubmodules":
			return true
		}
		return false
	case "alias":
		return !strings.HasPrefix(strings.TrimSpace(s.Value), "!")
	case "merge", "diff": // with a name between them they are drivers
		if rest != last {
			return false
		}
	}
	plain := gitPlain[section]
	return plain == "*" || slices.Contains(strings.Fields(plain), last)
}

// GitStarts are the settings of a file that start a program or lead git to other
// settings.
func GitStarts(list []GitSetting) (out []GitSetting) {
	for _, s := range list {
		if !s.plain() {
			out = append(out, s)
		}
	}
	return out
}

// GitWithout returns settings without those that start a program and that were
// not there before, and names these. It is not ok where the file cannot be
// understood: then nothing of it is to be trusted.
func GitWithout(raw, before []byte) (rest []byte, taken []string, ok bool) {
	list, ok := ParseGitSettings(raw)
	if !ok {
		return nil, nil, false
	}
	old, _ := ParseGitSettings(before)
	at := 0
	for _, s := range GitStarts(list) {
		if slices.ContainsFunc(old, func(o GitSetting) bool { return o.Key == s.Key && o.Value == s.Value }) {
			continue
		}
		rest = append(rest, raw[at:s.start]...)
		at = s.end
		taken = append(taken, s.Key)
	}
	rest = append(rest, raw[at:]...)
	if len(taken) == 0 {
		return raw, nil, true
	}
	list, ok = ParseGitSettings(rest) // cut out, nothing may have come together that says something else
	for _, s := range GitStarts(list) {
		ok = ok && slices.ContainsFunc(old, func(o GitSetting) bool { return o.Key == s.Key && o.Value == s.Value })
	}
	return rest, taken, ok
}

// GitTodoWithout returns the list of what an interactive rebase has still to do
// without the programs that it would run and that it did not name before, and how
// many these are.
func GitTodoWithout(raw, before []byte) (rest []byte, taken int) {
	old := map[string]bool{}
	for line := range bytes.Lines(before) {
		old[string(bytes.TrimSpace(line))] = true
	}
	for line := range bytes.Lines(raw) {
		word, _, _ := bytes.Cut(bytes.TrimSpace(line), []byte(" "))
		word, _, _ = bytes.Cut(word, []byte("\t"))
		if (string(word) == "exec" || string(word) == "x") && !old[string(bytes.TrimSpace(line))] {
			taken++
			continue
		}
		rest = append(rest, line...)
	}
	return rest, taken
}

// GitLeads are the files and folders that settings name: of hooks, of more
// settings, and of programs. Relative ones are as they are written.
func GitLeads(list []GitSetting) (hooks, more, programs []string) {
	for _, s := range GitStarts(list) {
		section, _, _ := strings.Cut(s.Key, ".")
		switch {
		case s.Key == "core.hookspath":
			hooks = append(hooks, s.Value)
		case section == "include" || section == "includeif":
			more = append(more, s.Value)
		default:
			for word := range strings.FieldsSeq(strings.NewReplacer("'", " ", `"`, " ", ";", " ", "!", " ").Replace(s.Value)) {
				if strings.ContainsRune(word, '/') {
					programs = append(programs, word)
				}
			}
		}
	}
	return hooks, more, programs
}
