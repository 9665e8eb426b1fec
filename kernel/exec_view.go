package kernel

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"oxios/kernel/git"
	"oxios/kernel/sandbox"
	"oxios/kernel/security"
	"oxios/kernel/sys"
)

// What of a folder commands are kept from.
const (
	kindSecret sandbox.Kind = 1 << iota // it may hold passwords or keys
	kindRuns                            // other programs run it, or do as it says
)

// kindOf says what a path in the folder of a command is.
func kindOf(root, rel string, folder bool) (kind sandbox.Kind) {
	if !folder && security.SecretName(filepath.Join(root, filepath.FromSlash(rel)), homeFolder()) {
		kind |= kindSecret
	}
	if security.RunsLater(rel) {
		kind |= kindRuns
	}
	return kind
}

// outOfView takes from a command that only looks the files of its folder that may
// hold passwords or keys, but for those that a person saw named and approved. They
// keep their place: git is not to report them as deleted. The returned function
// is called when the command has ended.
func (c *command) outOfView(ctx context.Context, spec *sandbox.Spec) (done func(), err error) {
	done = func() {}
	if c.ran != nil {
		return c.withoutSecrets(ctx, spec)
	}
	if !c.verdict.ReadOnly || spec.Level < sys.IsolationFull || c.caller.who.Kind == sys.KindPerson {
		return done, nil
	}
	seen, err := c.caller.k.sandbox.Survey(ctx, c.caller.scope.folder)
	if err != nil {
		return done, err
	}
	var named []string
	if approved(ctx) {
		for _, p := range c.verdict.Secrets {
			named = append(named, realPath(p))
		}
	}
	for _, p := range seen.Of(kindSecret) {
		if info, err := os.Lstat(p); err != nil || !info.Mode().IsRegular() { // what a link leads to has a name of its own
			continue
		}
		if !slices.ContainsFunc(named, func(n string) bool { return security.Within(p, n) }) {
			spec.Unread = append(spec.Unread, p)
		}
	}
	if len(spec.Unread) == 0 {
		return done, nil
	}
	spec.Env = append(slices.Clone(spec.Env), "GIT_OPTIONAL_LOCKS=0") // nothing can be written
	if !slices.Contains(c.verdict.Programs, "git") {
		return done, nil
	}
	dir, err := os.MkdirTemp("", "oxios-index-")
	if err != nil {
		return done, sys.Errorf(sys.CodeDiskFull, "No temporary folder could be made for the command: %w", err)
	}
	done = func() { _ = os.RemoveAll(dir) }
	for i, repo := range seen.Repos {
		index, tree := gitIndex(repo)
		raw, err := git.Assuming(index, tree, below(tree, spec.Unread))
		if err != nil || raw == nil {
			continue // git looks at the files itself, and finds that it cannot read what has changed
		}
		file := filepath.Join(dir, strconv.Itoa(i))
		if err := os.WriteFile(file, raw, 0o600); err != nil {
			done()
			return func() {}, sys.Errorf(sys.CodeDiskFull, "No temporary folder could be made for the command: %w", err)
		}
		spec.Instead = append(spec.Instead, sandbox.Instead{File: file, At: index})
	}
	return done, nil
}

// mostHidden is how many files are hidden from a script of a skill. Each is a mount.
const mostHidden = 4 * sandbox.MostKept

// withoutSecrets has a script of a skill find empty files in the place of those of the folder that may hold passwords or keys:
// it may write the folder, whose programs load them, but somebody else wrote it.
func (c *command) withoutSecrets(ctx context.Context, spec *sandbox.Spec) (done func(), err error) {
	done = func() {}
	if spec.Level < sys.IsolationFull {
		return done, nil
	}
	seen, err := c.caller.k.sandbox.Survey(ctx, c.caller.scope.folder)
	if err != nil || len(seen.Of(kindSecret)) == 0 {
		return done, err
	}
	if n := len(seen.Of(kindSecret)); n > mostHidden {
		return done, sys.Errorf(sys.CodeTooLarge, "The folder has %d files that may hold passwords or keys, and at most %d can be hidden from a script of a skill. It was not run.", n, mostHidden).
			WithHint("Work in a smaller folder.")
	}
	dir, remove, err := c.caller.k.scratch()
	if err != nil {
		return done, err
	}
	empty := filepath.Join(dir, "empty")
	if err := os.WriteFile(empty, nil, 0o400); err != nil {
		remove()
		return done, notWritten(err)
	}
	for _, p := range seen.Of(kindSecret) {
		if info, err := os.Lstat(p); err == nil && info.Mode().IsRegular() {
			spec.Instead = append(spec.Instead, sandbox.Instead{File: empty, At: p})
		}
	}
	return remove, nil
}

// mostSecrets is how many secret files a command is said to have read, one by one.
const mostSecrets = 8

// readsSecrets tells which files that may hold passwords or keys a command reads,
// because it names or picks them, or because it runs code of the folder, which
// finds all of them. One that only looks finds the others at level 3 alone not.
func (c *command) readsSecrets(ctx context.Context) (out Labels, err error) {
	files := slices.Clone(c.verdict.Secrets)
	if c.verdict.Project || c.verdict.Recurses && (!c.verdict.ReadOnly || c.caller.k.isolation() < sys.IsolationFull) {
		seen, err := c.caller.k.sandbox.Survey(ctx, c.caller.scope.folder)
		if err != nil {
			return nil, err
		}
		files = append(files, seen.Of(kindSecret)...)
	}
	for _, p := range files {
		if info, err := os.Stat(p); err != nil || !info.Mode().IsRegular() {
			continue
		}
		if out = out.Join(Labels{secretLabel(realPath(p))}); len(out) == mostSecrets {
			break
		}
	}
	return out, nil
}

// gitIndex is where git keeps what it knows of the files beside a repository, and
// where these are.
func gitIndex(repo sandbox.Repo) (index, tree string) {
	tree, at := filepath.Dir(repo.Path), repo.Path
	if repo.Leads {
		at = gitLeadsTo(repo.Path)
	}
	return filepath.Join(at, "index"), tree
}

// below are the paths that lie in a folder, as git names them.
func below(folder string, paths []string) (out []string) {
	for _, p := range paths {
		if rel, err := filepath.Rel(folder, p); err == nil && security.Within(p, folder) {
			out = append(out, filepath.ToSlash(rel))
		}
	}
	return out
}

// unreadNames names what a command could not read.
func (c *command) unreadNames(spec sandbox.Spec) string {
	const most = 5
	names := below(realPath(c.caller.scope.folder), spec.Unread)
	if len(names) > most {
		names = append(slices.Clone(names[:most]), fmt.Sprintf("%d more", len(spec.Unread)-most))
	}
	return c.caller.k.masked(strings.Join(names, ", "))
}
