package security

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// plainSettings are settings of a repository with which git starts nothing while
// it only looks: sections, and where a colon follows, the keys of it.
var plainSettings = map[string]string{
	"core": `repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode autocrlf symlinks eol safecrlf quotepath abbrev
		compression untrackedcache sparsecheckout sparsecheckoutcone longpaths protectntfs protecthfs whitespace trustctime checkstat bigfilethreshold
		commentchar warnambiguousrefs preloadindex multipackindex commitgraph`,
	"remote": "url fetch push pushurl tagopt prune prunetags mirror gh-resolved", "branch": "*", "user": "*", "author": "*", "committer": "*", "color": "*", "column": "*", "pull": "*", "push": "*", "fetch": "*",
	"init": "defaultbranch", "merge": "ff conflictstyle renames stat", "rebase": "autostash autosquash updaterefs", "rerere": "*", "submodule": "url active path branch recurse", "gc": "*", "index": "*", "status": "*",
	"extensions": "worktreeconfig objectformat refstorage relativeworktrees preciousobjects", "log": "date decorate abbrevcommit", "diff": "renames renamelimit algorithm context noprefix mnemonicprefix colormoved", "advice": "*",
	"maintenance": "*", "pack": "*", "feature": "*", "commit": "cleanup verbose status", "tag": "sort", "lfs": "repositoryformatversion url", "apply": "*", "am": "keepcr", "stash": "*", "svn-remote": "*", "gui": "*", "i18n": "*", "http": "postbuffer", "receive": "denycurrentbranch denynonfastforwards",
}

// plainDrivers are ways of comparing files that git knows itself.
const plainDrivers = "ada bash bibtex cpp csharp css dts elixir fortran fountain golang html ini java kotlin markdown matlab objc pascal perl php python ruby rust scheme tex"

// maxGitFile is how much of a file of a repository is looked at, in bytes. A
// larger one counts as naming a program.
const maxGitFile = 4 << 20

// GitRunsPrograms reports whether git, which is only to look in a folder, would
// start a program that the repository around it names: in its settings, in what
// these include, in its attributes, in a hook or in a repository inside it. What it
// does not understand counts as one.
func GitRunsPrograms(dir string) bool {
	dir = filepath.Clean(dir)
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	for at := dir; ; at = filepath.Dir(at) {
		if isGitDir(at) {
			return gitDirRuns(at)
		}
		dot := filepath.Join(at, ".git")
		if info, err := os.Stat(dot); err == nil {
			if !info.IsDir() {
				raw, ok := readGitFile(dot)
				to, found := strings.CutPrefix(strings.TrimSpace(string(raw)), "gitdir:")
				if dot = strings.TrimSpace(to); !ok || !found || dot == "" {
					return true
				}
				if !filepath.IsAbs(dot) {
					dot = filepath.Join(at, dot)
				}
			}
			return gitDirRuns(dot) || slices.ContainsFunc([]string{dir, at}, func(in string) bool { return attributesRun(filepath.Join(in, ".gitattributes")) })
		}
		if at == filepath.Dir(at) {
			return false
		}
	}
}

// isGitDir reports whether git takes a folder for a repository without a .git.
func isGitDir(dir string) bool {
	for _, name := range []string{"HEAD", "objects", "refs"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err != nil {
			return false
		}
	}
	return true
}

func gitDirRuns(dir string) bool {
	dirs := []string{dir}
	if raw, ok := readGitFile(filepath.Join(dir, "commondir")); ok {
		common := strings.TrimSpace(string(raw))
		if !filepath.IsAbs(common) {
			common = filepath.Join(dir, common)
		}
		dirs = append(dirs, common)
	} else if _, err := os.Lstat(filepath.Join(dir, "commondir")); err == nil {
		return true
	}
	for _, d := range dirs {
		if settingsRun(filepath.Join(d, "config"), 0) || settingsRun(filepath.Join(d, "config.worktree"), 0) || attributesRun(filepath.Join(d, "info", "attributes")) {
			return true
		}
		if _, err := os.Lstat(filepath.Join(d, "hooks", "post-index-change")); err == nil { // status writes the index anew
			return true
		}
		if entries, err := os.ReadDir(filepath.Join(d, "modules")); err == nil && len(entries) > 0 {
			return true
		}
	}
	index, ok := readGitFile(filepath.Join(dir, "index"))
	if _, err := os.Lstat(filepath.Join(dir, "index")); err == nil && !ok {
		return true
	}
	return bytes.Contains(index, []byte{0, 0, 0xe0, 0}) // it has a repository inside, with settings of its own
}

// readGitFile reads a file of a repository. ok is false where there is none, or
// one that cannot be read as a whole.
func readGitFile(name string) (raw []byte, ok bool) {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 16*maxGitFile {
		return nil, false
	}
	raw, err = os.ReadFile(name)
	return raw, err == nil
}

// settingsRun reports whether a file of settings has any that is not known to
// start nothing.
func settingsRun(file string, depth int) bool {
	raw, ok := readGitFile(file)
	if !ok || len(raw) > maxGitFile || depth > 8 {
		_, err := os.Lstat(file)
		return err == nil
	}
	section := ""
	for line := range strings.Lines(strings.TrimPrefix(string(raw), "\ufeff")) {
		line = strings.TrimSpace(line)
		if strings.HasSuffix(line, `\`) {
			return true // it goes on in the next line
		}
		if strings.HasPrefix(line, "[") {
			head, rest, found := cutHead(line)
			if !found {
				return true
			}
			section, line = head, strings.TrimSpace(rest)
		}
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		key, value, _ := strings.Cut(line, "=")
		key = strings.ToLower(strings.TrimSpace(key))
		if (section == "include" || section == "includeif") && key == "path" {
			value = strings.Trim(strings.TrimSpace(value), `"`)
			if value == "" || strings.HasPrefix(value, "~") || strings.ContainsAny(value, "\\#;%") {
				return true
			}
			if !filepath.IsAbs(value) {
				value = filepath.Join(filepath.Dir(file), value)
			}
			if settingsRun(value, depth+1) {
				return true
			}
			continue
		}
		known, ok := plainSettings[section]
		if !ok || known != "*" && !containsWord(strings.Join(strings.Fields(known), " "), key) {
			return true
		}
	}
	return false
}

// cutHead splits [section "name"] and what follows it in the line.
func cutHead(line string) (section, rest string, ok bool) {
	quoted := false
	for i := 1; i < len(line); i++ {
		switch {
		case line[i] == '\\' && quoted:
			i++
		case line[i] == '"':
			quoted = !quoted
		case line[i] == ']' && !quoted:
			name, _, _ := strings.Cut(line[1:i], " ")
			name, _, _ = strings.Cut(strings.TrimSpace(name), ".")
			return strings.ToLower(strings.Trim(name, "\t")), line[i+1:], true
		}
	}
	return "", "", false
}

// attributesRun reports whether attributes choose a program that settings,
// the person's too, name.
func attributesRun(file string) bool {
	raw, ok := readGitFile(file)
	if !ok || len(raw) > maxGitFile {
		_, err := os.Lstat(file)
		return err == nil
	}
	for line := range strings.Lines(string(raw)) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "#") {
			continue
		}
		for _, field := range strings.Fields(line) {
			attribute, value, _ := strings.Cut(field, "=")
			if value != "" && (attribute == "filter" || attribute == "merge" && !containsWord("union binary text ours", value) || attribute == "diff" && !containsWord(plainDrivers, value)) {
				return true
			}
		}
	}
	return false
}
