package sandbox

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// startFiles are what the person's shell and session run by themselves, with
// what decides who may log in. In the home, and directly in a folder that a
// command writes, they can only be read.
var startFiles = []string{
	".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout",
	".kshrc", ".cshrc", ".tcshrc", ".login", ".logout", ".inputrc", ".xprofile", ".xsession", ".xsessionrc", ".xinitrc", ".pam_environment",
	".gitconfig", ".ssh", ".gnupg", ".config/fish", ".config/git", ".config/autostart", ".config/systemd", ".config/environment.d", ".config/plasma-workspace",
	".local/share/applications", ".local/share/dbus-1", ".local/share/systemd",
}

// How many repositories are guarded part by part, and how many at all: each part
// is a mount, and mounts slow each other down.
const (
	reposInParts = 16
	reposAlone   = 128
)

// guard closes, inside a folder that can be written, what a person's own
// programs run or obey later: the hooks and settings of repositories, the start
// files of shells. What is masked is not there at all.
func (r *Runner) guard(ctx context.Context, v *view, root, home string, masked, kept []string) error {
	info, err := os.Stat(root)
	if err != nil {
		return nil
	}
	if !info.IsDir() {
		if startFile(root, home) || repoPart(root) {
			v.readOnly(root, root)
		}
		return nil
	}
	if repoPart(root) || startFile(root, home) {
		v.readOnly(root, root)
		return nil
	}
	for _, name := range startFiles {
		v.readOnly(root, filepath.Join(root, name))
		if filepath.IsAbs(home) && !within(home, root) {
			v.readOnly(root, filepath.Join(home, name)) // it may be a link to here
		}
	}
	seen, err := r.Survey(ctx, root)
	if err != nil {
		return err
	}
	v.guardRepos(seen, masked)
	for _, p := range kept {
		if within(p, root) && p != root {
			v.keep("--ro-bind", p)
		}
	}
	return nil
}

// guardRepos guards the repositories of a folder. Where there are very many, the
// folders of the root in which the others lie can only be read.
func (v *view) guardRepos(seen *Survey, masked []string) {
	n := 0
	shut := map[string]bool{}
	for _, repo := range seen.Repos {
		switch {
		case slices.ContainsFunc(masked, func(m string) bool { return within(repo.Path, m) }):
			continue
		case n < reposInParts:
			v.guardRepo(seen.Root, repo.Path)
		case n < reposAlone && repo.Path != seen.Root:
			v.keep("--ro-bind", repo.Path)
		default:
			rel, _ := filepath.Rel(seen.Root, repo.Path)
			top, _, _ := strings.Cut(rel, "/")
			if top == ".git" { // its objects and its index stay the command's
				top = ".git/modules"
			}
			if at := filepath.Join(seen.Root, top); !shut[at] && at != seen.Root {
				shut[at] = true
				v.keep("--ro-bind", at)
			}
		}
		n++
	}
}

// guardHome makes the home itself read-only and what lies in it writable again,
// so that no start file can be made that is not there yet. It does nothing where
// the home does not lie in root.
func (v *view) guardHome(root, home string) {
	if !filepath.IsAbs(home) || home == "/" || !within(home, root) {
		return
	}
	entries, err := os.ReadDir(home)
	if err != nil {
		return
	}
	v.pin(root, home)
	v.add("--ro-bind", home, home)
	for _, e := range entries {
		if e.Type()&os.ModeSymlink == 0 && !slices.Contains(startFiles, e.Name()) {
			p := filepath.Join(home, e.Name())
			v.add("--bind", p, p)
		}
	}
	for _, name := range startFiles {
		if strings.Contains(name, "/") {
			v.readOnly(root, filepath.Join(home, name))
		}
	}
}

// startFile reports whether p is a start file of the home, or what one of them
// is a link to.
func startFile(p, home string) bool {
	return slices.ContainsFunc(startFiles, func(name string) bool {
		return filepath.IsAbs(home) && within(p, canonical(filepath.Join(home, name)))
	})
}

// repoPart reports whether p is, or lies in, the hooks or the settings of a
// repository.
func repoPart(p string) bool {
	for at := p; at != "/" && at != "."; at = filepath.Dir(at) {
		switch filepath.Base(at) {
		case "hooks", "config", "config.worktree":
			if isRepo(filepath.Dir(at)) {
				return true
			}
		}
	}
	return false
}

// isRepo reports whether dir is what git keeps a repository in.
func isRepo(dir string) bool {
	for _, name := range []string{"HEAD", "objects", "refs"} {
		if unix.Access(filepath.Join(dir, name), unix.F_OK) != nil {
			return false
		}
	}
	return true
}

// guardRepo makes the hooks and the settings of a repository read-only, those
// of its submodules too, and holds it in its place. Where one of them is a link
// nothing can be put over it, and the whole repository is read-only.
func (v *view) guardRepo(root, repo string) {
	info, err := os.Lstat(repo)
	if err != nil {
		return
	}
	v.pin(root, repo)
	if !info.IsDir() {
		v.keep("--ro-bind", repo)
		return
	}
	hooks, config := filepath.Join(repo, "hooks"), filepath.Join(repo, "config")
	if isLink(hooks) || isLink(config) || isLink(filepath.Join(repo, "commondir")) {
		v.keep("--ro-bind", repo)
		return
	}
	v.hold(repo)
	if !v.keep("--ro-bind", hooks) {
		v.add("--tmpfs", "", hooks)
		v.add("--remount-ro", "", hooks)
	}
	if !v.keep("--ro-bind", config) {
		v.add("--ro-bind", "@"+partEmpty, config)
	}
	for _, part := range []string{"config.worktree", "gitdir", "info/attributes"} {
		v.keep("--ro-bind", filepath.Join(repo, part))
	}
	if !v.keep("--ro-bind", filepath.Join(repo, "commondir")) {
		v.repos = append(v.repos, repo)
	}
}

// unlead takes away the file that a command may have put into a repository to
// lead git to other settings and hooks. Nothing can be mounted where it is not
// yet, and outside of linked work trees git makes none itself.
func unlead(repos []string) (found []string) {
	for _, repo := range repos {
		root, err := os.OpenRoot(repo)
		if err != nil {
			continue
		}
		if _, err := root.Lstat("commondir"); err == nil && root.RemoveAll("commondir") == nil {
			found = append(found, repo)
		}
		root.Close()
	}
	return found
}

// readOnly makes what lies at path read-only, if something does. A link is
// followed where it leads into root.
func (v *view) readOnly(root, path string) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil || !within(real, root) {
		return
	}
	if real != root {
		v.pin(root, real)
	}
	v.keep("--ro-bind", real)
}

func isLink(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&os.ModeSymlink != 0
}
