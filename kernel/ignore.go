package kernel

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"oxios/kernel/security"
)

// maxIgnoreFile is how large an ignore file may be, in bytes. A larger one is
// no list that somebody wrote, and is passed over.
const maxIgnoreFile = 256 << 10

// ignoring is a file tree that knows what its ignore files leave out. As in
// git, a .gitignore holds for its folder and those below, the nearest counts
// first, and .git/info/exclude last. As in ripgrep, .ignore counts before both.
// A .gitignore counts without a repository too. A repository inside the tree is
// not subject to the .gitignore files around it; of one around the tree, the
// files between its top and the tree count. The person's own list
// (core.excludesFile) is not read.
type ignoring struct {
	fs.FS                         // the tree
	top    *security.Root         // of the repository around the tree, else of the tree
	prefix string                 // where the tree lies below top
	start  string                 // the folder that is searched, below top
	around ignoreRules            // what counts where start lies
	inside map[string]ignoreRules // what counts in a folder below top, once it was listed
}

// newIgnoring prepares a search of the folder rel. A folder that is named
// although it is ignored is searched: what ignores it does not count in it. The
// caller closes the result.
func newIgnoring(root *security.Root, rel string) *ignoring {
	t := &ignoring{FS: root.FS().FS(), top: root, inside: map[string]ignoreRules{}}
	dir := realPath(root.Dir())
	if at := repositoryOf(dir); at != dir {
		if top, err := security.OpenRoot(at); err == nil {
			t.top = top
			t.prefix = strings.Trim(filepath.ToSlash(dir[len(at):]), "/")
		}
	}
	t.start = path.Join(t.prefix, rel)
	at := "."
	for name := range strings.SplitSeq(t.start, "/") {
		if name == "." {
			break
		}
		t.around = t.enter(t.around, at, func(name string) bool {
			_, err := t.top.FS().Lstat(path.Join(at, name))
			return err == nil
		})
		if at = path.Join(at, name); t.around.ignore(at, true) {
			t.around = ignoreRules{}
		}
	}
	return t
}

// repositoryOf is the top of the repository that dir lies in, or dir itself.
func repositoryOf(dir string) string {
	if top := repositoryAbove(dir); top != "" {
		return top
	}
	return dir
}

// repositoryAbove is the nearest folder at or above dir in which a repository lies,
// "" for none.
func repositoryAbove(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			return ""
		}
	}
}

// close closes what newIgnoring opened.
func (t *ignoring) close(root *security.Root) {
	if t.top != root {
		t.top.Close()
	}
}

// ReadDir lists a folder of the tree and learns what counts in it.
func (t *ignoring) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(t.FS, name)
	at := path.Join(t.prefix, name)
	r := t.around
	if at != t.start {
		r = t.inside[path.Dir(at)]
	}
	t.inside[at] = t.enter(r, at, func(name string) bool {
		return slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == name })
	})
	return entries, err
}

// ignores reports whether a file or folder of the tree is left out. The folder
// that it lies in was listed before.
func (t *ignoring) ignores(rel string, folder bool) bool {
	at := rel
	if t.prefix != "" {
		at = t.prefix + "/" + rel
	}
	return t.inside[path.Dir(at)].ignore(at, folder)
}

// enter is r with the ignore files of the folder at, in which there is what has
// says.
func (t *ignoring) enter(r ignoreRules, at string, has func(name string) bool) ignoreRules {
	if has(".git") {
		r.git = t.read(nil, at, ".git/info/exclude")
	}
	if has(".gitignore") {
		r.git = t.read(r.git, at, ".gitignore")
	}
	if has(".ignore") {
		r.plain = t.read(r.plain, at, ".ignore")
	}
	return r
}

// read adds the ignore file name of the folder at to list. One that cannot be
// read says nothing.
func (t *ignoring) read(list []ignoreFile, at, name string) []ignoreFile {
	f, info, err := t.top.OpenRegular(path.Join(at, name))
	if err != nil {
		return list
	}
	defer f.Close()
	if info.Size() > maxIgnoreFile {
		return list
	}
	raw, err := io.ReadAll(io.LimitReader(f, maxIgnoreFile))
	if err != nil {
		return list
	}
	file := ignoreFile{lines: parseIgnore(raw)}
	if at != "." {
		file.base = at + "/"
	}
	return append(slices.Clip(list), file) // other folders have the same list
}

// ignoreRules are the ignore files that count in a folder, the nearest last.
type ignoreRules struct {
	git   []ignoreFile // of one repository
	plain []ignoreFile // .ignore, which counts before those
}

// ignore reports whether a path is left out by itself; what lies in a folder
// that is left out is not asked about.
func (r ignoreRules) ignore(at string, folder bool) bool {
	name := path.Base(at)
	for _, list := range [][]ignoreFile{r.plain, r.git} {
		for _, file := range slices.Backward(list) {
			for _, line := range slices.Backward(file.lines) {
				if line.matches(at[len(file.base):], name, folder) {
					return !line.keeps
				}
			}
		}
	}
	return false
}

// ignoreFile is one list. It speaks of what lies below base, which is "" or
// ends with a slash.
type ignoreFile struct {
	base  string
	lines []ignoreLine
}

// ignoreLine is one pattern.
type ignoreLine struct {
	keeps   bool // it takes back what an earlier line left out
	folders bool // it means folders alone
	path    bool // it means a path below the list's folder, not a name anywhere
	how     func(pattern, name string) bool
	pattern string
}

func (l ignoreLine) matches(at, name string, folder bool) bool {
	if l.folders && !folder {
		return false
	}
	if l.path {
		name = at
	}
	return l.how(l.pattern, name)
}

// parseIgnore reads an ignore file as gitignore(5) describes it. A line that is
// no pattern says nothing, as does one with a class like [[:alpha:]].
func parseIgnore(raw []byte) []ignoreLine {
	var lines []ignoreLine
	raw = bytes.TrimPrefix(raw, []byte("\uFEFF"))
	for text := range strings.Lines(string(raw)) {
		text = strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
		for strings.HasSuffix(text, " ") && !strings.HasSuffix(text, `\ `) {
			text = text[:len(text)-1]
		}
		if text == "" || text[0] == '#' {
			continue
		}
		var l ignoreLine
		text, l.keeps = strings.CutPrefix(text, "!")
		text, l.folders = strings.CutSuffix(text, "/")
		l.path = strings.Contains(text, "/")
		l.pattern = strings.TrimPrefix(text, "/")
		switch rest, star := strings.CutPrefix(l.pattern, "*"); {
		case l.pattern == "":
			continue
		case !strings.ContainsAny(l.pattern, `*?[\`):
			l.how = func(pattern, name string) bool { return pattern == name }
		case star && !l.path && !strings.ContainsAny(rest, `*?[\`):
			l.pattern = rest
			l.how = func(ending, name string) bool { return strings.HasSuffix(name, ending) }
		default:
			l.pattern, l.how = globOf(l.pattern), doublestar.MatchUnvalidated
			if !doublestar.ValidatePattern(l.pattern) {
				continue
			}
		}
		lines = append(lines, l)
	}
	return lines
}

// globOf writes a pattern of git for doublestar: braces mean themselves, a
// bracket that comes first in a class belongs to it, and what ends in /** means
// what is inside alone.
func globOf(pattern string) string {
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '{' || c == '}':
			b.WriteByte('\\')
		case c == '\\' && i+1 < len(pattern):
			b.WriteByte(c)
			i++
		case c == '[':
			first := i + 1
			if first < len(pattern) && (pattern[first] == '!' || pattern[first] == '^') {
				first++
			}
			b.WriteString(pattern[i:first])
			if i = first; i < len(pattern) && pattern[i] == ']' {
				b.WriteByte('\\')
			}
		}
		if i < len(pattern) {
			b.WriteByte(pattern[i])
		}
	}
	if strings.HasSuffix(pattern, "/**") {
		b.WriteString("/*")
	}
	return b.String()
}
