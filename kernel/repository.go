package kernel

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"oxios/kernel/sys"
)

// repositoryOutside says where the repository is that the folder of a command
// belongs to, when it lies outside the folder of the run: git then finds none.
// It is "" when there is none, or when it lies inside.
func (c *command) repositoryOutside() string {
	top := repositoryAbove(c.dir)
	if top == "" {
		return ""
	}
	folder := c.caller.scope.folder
	at := filepath.Join(top, ".git")
	if leads := gitLeadsTo(at); leads != "" {
		if liesIn(leads, folder) && liesIn(at, folder) {
			if common := firstLine(filepath.Join(leads, "commondir")); common != "" {
				leads = realPath(pathFrom(leads, filepath.FromSlash(common)))
			}
			if liesIn(leads, folder) {
				return ""
			}
		}
		if liesIn(at, folder) {
			return fmt.Sprintf("The repository of this folder is kept elsewhere: its file .git leads to %s, which lies outside the folder of this run and is kept from commands: a line that names git reads it only if it names this folder back, or if the person trusts this folder.", shortenHome(leads))
		}
	}
	if liesIn(at, folder) {
		return ""
	}
	return fmt.Sprintf("The repository of this folder is %s. Its .git lies above the folder of this run and is kept from commands, but for lines that name git themselves. Where git does not work even so, tell the person, who can start you in %s.", shortenHome(top), shortenHome(top))
}

// maxGitFile is how long a file .git may be, in bytes.
const maxGitFile = 8 << 10

// gitLeadsTo is the folder that a ".git" leads to: itself, where it is one, and else
// what a link or a file, as worktrees and submodules have it, names; "" for none.
func gitLeadsTo(path string) string {
	if to, err := filepath.EvalSymlinks(path); err == nil && isFolder(to) {
		return to
	}
	f, info, err := sys.OpenRegular(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxGitFile))
	to := gitLead(raw, filepath.Dir(path))
	if err != nil || info.Size() > maxGitFile || to == "" {
		return ""
	}
	return realPath(to)
}

// gitLead is the folder that the content of a file ".git" names, which lies in dir;
// "" where it names none.
func gitLead(raw []byte, dir string) string {
	to, ok := strings.CutPrefix(string(raw), "gitdir:")
	if to = strings.TrimSpace(to); !ok || to == "" {
		return ""
	}
	return pathFrom(dir, to)
}

// pathFrom is a path as it is meant by what lies in dir.
func pathFrom(dir, to string) string {
	if filepath.IsAbs(to) {
		return filepath.Clean(to)
	}
	return filepath.Join(dir, to)
}
