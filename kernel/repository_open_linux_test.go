package kernel_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
)

const newRepository = `git init -q repo && cd repo && git config user.name n && git config user.email e && mkdir -p sub && echo a > sub/f && echo b > above && echo HINT=hunter2 > .env && git add sub above && git commit -qm one`

// The ways in which a repository lies outside the folder of a run: how it is made,
// the folder, and where its settings and hooks are.
var outsideRepositories = map[string]struct{ make, folder, git string }{
	"a subfolder":                {newRepository, "repo/sub", "repo/.git"},
	"a worktree beside it":       {newRepository + ` && git worktree add -q ../wt -b feat`, "wt", "repo/.git"},
	"a worktree inside it":       {newRepository + ` && git worktree add -q .trees/wt -b feat`, "repo/.trees/wt", "repo/.git"},
	"a subfolder of a worktree":  {newRepository + ` && git worktree add -q ../wt -b feat`, "wt/sub", "repo/.git"},
	"a submodule":                {newRepository + ` && cd .. && git init -q super && cd super && git -c protocol.file.allow=always submodule -q add ../repo part && git -C part config user.name n && git -C part config user.email e`, "super/part", "super/.git/modules/part"},
	"a trusted separate git dir": {newRepository + ` && git init -q --separate-git-dir ../elsewhere`, "repo", "elsewhere"},
}

func TestGitReadsTheRepositoryAroundItsFolder(t *testing.T) {
	t.Parallel()
	for name, c := range outsideRepositories {
		for level, open := range map[string]func(*testing.T, ...kerneltest.Option) *kerneltest.Kernel{"level 3": walled, "level 2": partly} {
			t.Run(name+" at "+level, func(t *testing.T) {
				t.Parallel()
				k := open(t)
				top := realTemp(t, t.TempDir())
				outside(t, top, c.make)
				folder := filepath.Join(top, c.folder)
				if strings.Contains(name, "trusted") {
					if _, err := k.Person().Security.TrustFolder(t.Context(), folder, kernel.FolderTrusted); err != nil {
						t.Fatal(err)
					}
				}
				r := ran(t, k.AgentIn(folder, "guarded"), "git status --short; git log --oneline; git diff")
				if r.ExitCode != 0 || !strings.Contains(r.Output, " one\n") || strings.Contains(r.Output, " D ") {
					t.Errorf("got exit code %d, %q, note %q", r.ExitCode, r.Output, r.Note)
				}
			})
		}
	}
}

func TestAChangeOfARepositoryOutsideTheFolderAsksByItsName(t *testing.T) {
	t.Parallel()
	for name, c := range outsideRepositories {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := walled(t)
			top := realTemp(t, t.TempDir())
			outside(t, top, c.make)
			folder, git := filepath.Join(top, c.folder), filepath.Join(top, c.git)
			if strings.Contains(name, "trusted") {
				if _, err := k.Person().Security.TrustFolder(t.Context(), folder, kernel.FolderTrusted); err != nil {
					t.Fatal(err)
				}
			}
			write(t, filepath.Join(folder, "new"), "new\n")
			write(t, filepath.Join(folder, "plant.sh"), "echo x > '"+git+"/hooks/post-commit'; echo '[x]' >> '"+git+"/config'; true\n")
			before, err := os.ReadFile(filepath.Join(git, "config"))
			if err != nil {
				t.Fatal(err)
			}
			for i, line := range []string{"git add new", "git commit -qm two", "git stash push -q", "git add -A . && sh plant.sh"} {
				if i == 2 {
					write(t, filepath.Join(folder, "new"), "newer\n") // for the stash
				}
				ap, done := shellAsks(t, k, k.AgentIn(folder, "autonomous"), kernel.ShellArgs{Command: line})
				if !strings.Contains(line, "plant") && !strings.HasPrefix(ap.Request.Title, "Changes the repository at ") || !strings.Contains(line, "plant") && !strings.Contains(ap.Request.TitleKO, "에 있는 저장소를 변경합니다") {
					t.Errorf("%s: the request says %q, %q", line, ap.Request.Title, ap.Request.TitleKO)
				}
				approveOnce(t, k, ap, "once")
				if end := <-done; end.err != nil || end.r.ExitCode != 0 {
					t.Errorf("%s: got %+v, %v", line, end.r, end.err)
				}
			}
			if log := outside(t, folder, "git log --format=%s"); !strings.HasPrefix(log, "two\n") {
				t.Errorf("the log says %q", log)
			}
			if _, err := os.Stat(filepath.Join(git, "hooks", "post-commit")); err == nil {
				t.Error("a hook was made")
			}
			if now, err := os.ReadFile(filepath.Join(git, "config")); err != nil || string(now) != string(before) {
				t.Errorf("the settings are %q, %v", now, err)
			}
		})
	}
}

func TestAGitFileThatPointsAtSomebodyElsesRepositoryIsNotFollowed(t *testing.T) {
	t.Parallel()
	for name, lie := range map[string]string{
		"the repository":            `echo "gitdir: $PWD/repo/.git" > bait/.git`,
		"a worktree of it":          `git -C repo worktree add -q ../wt && echo "gitdir: $PWD/repo/.git/worktrees/wt" > bait/.git`,
		"a git dir that shares it":  `mkdir bait/x && echo "ref: refs/heads/main" > bait/x/HEAD && echo "$PWD/repo/.git" > bait/x/commondir && echo "$PWD/bait/.git" > bait/x/gitdir && echo "gitdir: x" > bait/.git`,
		"a link":                    `ln -s ../repo/.git bait/.git`,
		"a separate one, untrusted": `rm -rf bait && mkdir bait && git init -q --separate-git-dir elsewhere bait`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := walled(t)
			top := realTemp(t, t.TempDir())
			outside(t, top, newRepository+" && cd .. && mkdir bait && "+lie)
			h := k.AgentIn(filepath.Join(top, "bait"), "autonomous")
			r := ran(t, h, "git log --oneline")
			if r.ExitCode == 0 || strings.Contains(r.Output, " one") {
				t.Errorf("got %q", r.Output)
			}
			if !strings.Contains(r.Note, "outside") && !strings.Contains(r.Note, "shares") {
				t.Errorf("the note is %q", r.Note)
			}
			if r := ran(t, h, "echo x > x; git add x"); r.ExitCode == 0 {
				t.Errorf("it was changed: %q", r.Output)
			}
		})
	}
}

func TestSecretsBesideTheFolderStayOutOfViewOfGit(t *testing.T) {
	t.Parallel()
	k := walled(t)
	top := realTemp(t, t.TempDir())
	outside(t, top, newRepository)
	folder := filepath.Join(top, "repo", "sub")
	write(t, filepath.Join(folder, "look.sh"), "git status --short; cat ../.env ../above\n")
	r := ran(t, k.AgentIn(folder, "autonomous"), "git status --short && sh look.sh")
	if strings.Contains(r.Output, "hunter2") || !strings.Contains(r.Output, "b\n") {
		t.Errorf("got %q", r.Output)
	}
}

func TestAChangeOfARepositoryOutsideTheFolderCanBeGrantedAsAKind(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a subfolder", "a worktree beside it", "a submodule"} {
		c := outsideRepositories[name]
		k := walled(t)
		top := realTemp(t, t.TempDir())
		outside(t, top, c.make)
		folder := filepath.Join(top, c.folder)
		write(t, filepath.Join(folder, "new"), "new\n")
		ap, done := shellAsks(t, k, k.AgentIn(folder, "autonomous"), kernel.ShellArgs{Command: "git add new"})
		if ap.Request.Kind == nil {
			t.Errorf("%s: it cannot be granted: %s", name, ap.Request.NoKind)
		}
		approveOnce(t, k, ap, "once")
		<-done
	}
}

func TestToolsDoNotWriteAFileThatLeadsGitElsewhere(t *testing.T) {
	t.Parallel()
	k := open(t)
	h := k.Agent("autonomous")
	for _, path := range []string{".git", "sub/.git", "sub/.GIT"} {
		_, err := h.Exec.Write(t.Context(), kernel.WriteArgs{Path: path, Content: "gitdir: /elsewhere\n"})
		if err == nil || !strings.Contains(err.Error(), "leads git to another repository") || exists(k.Folder, path) {
			t.Errorf("%s: got %v", path, err)
		}
	}
	if _, err := h.Exec.Write(t.Context(), kernel.WriteArgs{Path: ".gitignore", Content: "build/\n"}); err != nil {
		t.Error(err)
	}
}
