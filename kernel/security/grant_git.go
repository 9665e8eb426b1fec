package security

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"oxios/kernel/sys"
)

// gitStarts are the settings of a repository that name a program, a place of
// programs or another file with settings. They are looked for as text: what
// merely looks like one asks too.
var gitStarts = []string{
	"hookspath", "[include", "fsmonitor", "sshcommand", "[filter", "textconv", "gitproxy", "askpass", "[merge ", "[diff ", "[gpg", "gpg.", "helper",
	"uploadpack", "receivepack", "ext::", "worktree", "attributesfile", "editor", "pager", "[credential", "[remote-", "vcs", "fetchrecursesubmodules", "recurse",
	"[sendemail", "proxy", "alternaterefscommand", "[maintenance", "[submodule", "template", "[trailer", "partialclone",
}

// gitSettings binds a kind to the settings and the hooks of its repository. One
// that says which programs git starts is asked for each time; with hooks of its
// own it runs what stands in the folder.
func gitSettings(k *Kind) sys.Words {
	each := sys.Say("This repository's settings name other programs, so it is asked for each time.")
	var place GitPlace
	leads := false
	repo, ok := gitFolder(k.Dir)
	if !ok {
		place, ok = FindGit(k.Dir)
		repo, leads, ok = place.Common, place.Common == place.Dir, ok && place.Owns
	}
	if !ok {
		return sys.Say("Which repository this is cannot be told for sure, so it is asked for each time.")
	}
	hooks, err := os.ReadDir(filepath.Join(repo, "hooks"))
	if err != nil && !os.IsNotExist(err) {
		return each
	}
	files := []string{filepath.Join(repo, "config"), filepath.Join(repo, "config.worktree"), filepath.Join(repo, "info", "attributes")}
	if place.Dir != repo && place.Dir != "" {
		files = append(files, filepath.Join(place.Dir, "config.worktree"))
	}
	_, settings, ok := digestOf(files)
	if !ok {
		return each
	}
	low := strings.ToLower(string(settings))
	if leads { // it was found by this setting, which leads back
		low = ownTree().ReplaceAllString(low, "")
	}
	if slices.ContainsFunc(gitStarts, func(word string) bool { return strings.Contains(low, word) }) {
		return each
	}
	for _, h := range hooks {
		if strings.HasSuffix(h.Name(), ".sample") {
			continue
		}
		k.Project = true
		files = append(files, filepath.Join(repo, "hooks", h.Name()))
	}
	if k.Settings, _, ok = digestOf(files); !ok {
		return each
	}
	return sys.Words{}
}

// ownTree is the setting of a submodule that says where its files are.
var ownTree = sys.Pattern(`(?m)^\s*worktree\s*=.*$`)

// gitFolder finds the folder in which git keeps the repository of dir, the way
// git does. A repository without files beside it, a link and a linked copy are
// not told apart from a trick.
func gitFolder(dir string) (string, bool) {
	for {
		repo := filepath.Join(dir, ".git")
		if info, err := os.Lstat(repo); err == nil {
			return repo, info.IsDir()
		}
		if _, err := os.Lstat(filepath.Join(dir, "HEAD")); err == nil {
			return "", false
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", false
		}
		dir = up
	}
}
