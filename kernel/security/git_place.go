package security

import (
	"io"
	"os"
	"path/filepath"
	"strings"

	"oxios/kernel/sys"
)

// GitPlace is where git finds the repository of a folder.
type GitPlace struct {
	Tree string // the nearest folder at or above it with a ".git", links followed
	Dir  string // the git dir that it leads to, links followed
	// Common is what several work trees share, and holds Dir: else it is Dir itself.
	Common string
	// Owns says that the git dir lies in Tree, or names Tree back: it then belongs to
	// it, whoever wrote the ".git".
	Owns bool
}

// maxGitLead is how long a file that leads to a git dir may be, in bytes.
const maxGitLead = 8 << 10

// FindGit finds the repository of a folder, the way git does. ok is false where there
// is none, or where its ".git" leads to something that is no git dir.
func FindGit(dir string) (place GitPlace, ok bool) {
	at := realDir(dir)
	for ; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			break
		}
		if isGitDir(at) || at == filepath.Dir(at) {
			return GitPlace{}, false
		}
	}
	place.Tree = at
	dot := filepath.Join(at, ".git")
	info, err := os.Lstat(dot)
	switch {
	case err != nil:
		return place, false
	case info.IsDir():
		place.Dir, place.Owns = dot, true
	case info.Mode()&os.ModeSymlink != 0:
		if place.Dir, err = filepath.EvalSymlinks(dot); err != nil {
			return place, false
		}
		if info, err := os.Stat(place.Dir); err != nil || !info.IsDir() {
			return place, false // a link to a file that leads on: git takes it, but nothing makes it
		}
	default:
		to, found := strings.CutPrefix(gitLine(dot), "gitdir:")
		if to = strings.TrimSpace(to); !found || to == "" {
			return place, false
		}
		place.Dir = realDir(gitPathFrom(at, to))
	}
	place.Common = place.Dir
	if common := gitLine(filepath.Join(place.Dir, "commondir")); common != "" {
		common = realDir(gitPathFrom(place.Dir, common))
		// A git dir that shares one in which it does not lie was not made by git.
		if filepath.Dir(place.Dir) != filepath.Join(common, "worktrees") {
			place.Owns = false
			return place, false
		}
		place.Common = common
	}
	if !isGitDir(place.Common) || gitLine(filepath.Join(place.Dir, "HEAD")) == "" {
		place.Owns = false
		return place, false
	}
	place.Owns = place.Owns || namesBack(place)
	return place, true
}

// namesBack reports whether a git dir says that the ".git" is its own: that of a
// linked work tree by its file "gitdir", that of a submodule by core.worktree.
func namesBack(p GitPlace) bool {
	if p.Common != p.Dir {
		back := gitLine(filepath.Join(p.Dir, "gitdir"))
		return back != "" && realDir(gitPathFrom(p.Dir, back)) == filepath.Join(p.Tree, ".git")
	}
	raw, ok := readGitFile(filepath.Join(p.Dir, "config"))
	if !ok {
		return false
	}
	settings, ok := ParseGitSettings(raw)
	tree := ""
	for _, s := range settings {
		if strings.EqualFold(s.Key, "core.worktree") {
			tree = s.Value
		}
	}
	return ok && tree != "" && realDir(gitPathFrom(p.Dir, tree)) == p.Tree
}

// gitLine is the one line of a small file with which git leads to something; "" where
// there is none.
func gitLine(file string) string {
	f, info, err := sys.OpenRegular(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxGitLead))
	line := strings.TrimSpace(string(raw))
	if err != nil || info.Size() > maxGitLead || strings.ContainsAny(line, "\n\x00") {
		return ""
	}
	return line
}

// gitPathFrom is a path as a file in dir means it.
func gitPathFrom(dir, to string) string {
	if to = filepath.FromSlash(to); filepath.IsAbs(to) {
		return filepath.Clean(to)
	}
	return filepath.Join(dir, to)
}
