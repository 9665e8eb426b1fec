package kernel

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// repositoryOutside says where the repository is that the folder of a command
// belongs to, when it lies outside the folder of the run: git then finds none.
// It is "" when there is none, or when it lies inside.
func (c *command) repositoryOutside() string {
	top := repositoryOf(c.dir)
	if _, err := os.Lstat(filepath.Join(top, ".git")); err != nil {
		return ""
	}
	folder := c.caller.scope.folder
	at := filepath.Join(top, ".git")
	if leads := gitFile(at); leads != "" {
		if liesIn(leads, folder) && liesIn(at, folder) {
			return ""
		}
		if liesIn(at, folder) {
			return fmt.Sprintf("The repository of this folder is kept elsewhere: its file .git leads to %s, which lies outside the folder of this run and is kept from commands. Git does not work here; tell the person, who can start you in the folder that holds it.", shortenHome(leads))
		}
	}
	if liesIn(at, folder) {
		return ""
	}
	return fmt.Sprintf("The repository of this folder is %s. Its .git lies above the folder of this run and is kept from commands. Git does not work here; tell the person, who can start you in %s.", shortenHome(top), shortenHome(top))
}

// maxGitFile is how long a file .git may be.
const maxGitFile = 4096

// gitFile returns the folder that a file .git, as worktrees and submodules have
// it, leads to; "" when it is none.
func gitFile(path string) string {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxGitFile))
	if err != nil {
		return ""
	}
	leads, ok := strings.CutPrefix(strings.TrimSpace(string(raw)), "gitdir:")
	if leads = strings.TrimSpace(leads); !ok || leads == "" {
		return ""
	}
	if !filepath.IsAbs(leads) {
		leads = filepath.Join(filepath.Dir(path), leads)
	}
	return filepath.Clean(leads)
}
