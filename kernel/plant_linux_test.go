package kernel_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

func exists(parts ...string) bool {
	_, err := os.Lstat(filepath.Join(parts...))
	return err == nil
}

// gone fails where something is.
func gone(t *testing.T, what string, parts ...string) {
	t.Helper()
	if exists(parts...) {
		t.Errorf("%s: %s is there", what, filepath.Join(parts...))
	}
}

const repository = commits + "git init -q && git commit -q --allow-empty -m first"

func TestWhatACommandPlantsForGitIsPutAside(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before, line string
		person       string   // what runs afterwards, outside
		aside        []string // what the result names
	}{
		"a repository that a link in the index leads to": {
			repository,
			`mkdir lib && cd lib && ` + repository + ` && printf '#!/bin/sh\ntouch PWNED\n' > .git/evil.sh && chmod +x .git/evil.sh && git config core.fsmonitor "$PWD/.git/evil.sh" && cd .. && git update-index --add --cacheinfo 160000,$(git -C lib rev-parse HEAD),lib`,
			"git status --short",
			[]string{"lib/.git/config (core.fsmonitor)"},
		},
		"a submodule that is not there yet": {
			repository,
			`mkdir -p .git/modules && git init -q --bare .git/modules/sub && printf '[core]\n\tbare = false\n\tworktree = ../../../sub\n\tfsmonitor = touch PWNED\n' > .git/modules/sub/config && printf '#!/bin/sh\ntouch PWNED\n' > .git/modules/sub/hooks/post-checkout && chmod +x .git/modules/sub/hooks/post-checkout && mkdir sub && echo 'gitdir: ../.git/modules/sub' > sub/.git`,
			"cd sub && git status --short; git checkout -q -b x; true",
			[]string{".git/modules/sub/config (core.fsmonitor)", ".git/modules/sub/hooks/post-checkout"},
		},
		"settings and a folder of hooks that lead elsewhere": {
			repository,
			`mkdir -p a/b/c/d/e && cd a/b/c/d/e && ` + repository + ` && mkdir h && printf '#!/bin/sh\ntouch PWNED\n' > h/post-checkout && chmod +x h/post-checkout && git config core.hooksPath h && git config alias.co '!touch PWNED' && git config include.path ../more && git config filter.x.clean 'touch PWNED'`,
			"cd a/b/c/d/e && git checkout -q -b x; git co; git status --short; true",
			[]string{"a/b/c/d/e/.git/config (core.hookspath, alias.co, include.path, filter.x.clean)"},
		},
		"commondir": {
			repository,
			`git init -q --bare other && git -C other config core.fsmonitor 'touch PWNED' && git -C other config core.bare false; echo ../other > .git/commondir`,
			"git status --short; true",
			[]string{".git/commondir", "other/config (core.fsmonitor)"},
		},
		"settings of a work tree": {
			repository + " && git config extensions.worktreeConfig true",
			`printf '[core]\n\tfsmonitor = touch PWNED\n' > .git/config.worktree`,
			"git status --short",
			[]string{".git/config.worktree (core.fsmonitor)"},
		},
		"a file .git that leads into a repository": {
			repository,
			`mkdir -p .git/store w && git init -q --bare .git/store/r && git -C .git/store/r config core.bare false && git -C .git/store/r config core.fsmonitor 'touch PWNED' && echo 'gitdir: ../.git/store/r' > w/.git`,
			"cd w && git status --short; true",
			[]string{".git/store/r/config (core.fsmonitor)"},
		},
		"a file that the settings include and that is missing": {
			repository + " && git config include.path ../shared.conf",
			`printf '[core]\n\tfsmonitor = touch PWNED\n' > shared.conf`,
			"git status --short",
			[]string{"shared.conf (core.fsmonitor)"},
		},
		"a hook in a folder that is missing": {
			repository + " && git config core.hooksPath scripts/hooks",
			`mkdir -p scripts/hooks && printf '#!/bin/sh\ntouch PWNED\n' > scripts/hooks/post-checkout && chmod +x scripts/hooks/post-checkout`,
			"git checkout -q -b x",
			[]string{"scripts/hooks/post-checkout"},
		},
		"a folder of hooks that is a link": {
			repository,
			`mkdir -p lib elsewhere && git init -q lib && rm -rf lib/.git/hooks && printf '#!/bin/sh\ntouch PWNED\n' > elsewhere/post-checkout && chmod +x elsewhere/post-checkout && ln -s ../../elsewhere lib/.git/hooks`,
			"cd lib && " + commits + "git commit -q --allow-empty -m m && git checkout -q -b x",
			[]string{"lib/.git/hooks"},
		},
		"a rebase that waits to be gone on with": {
			repository,
			`mkdir .git/rebase-merge && cd .git/rebase-merge && git rev-parse HEAD | tee onto orig-head > /dev/null && echo refs/heads/master > head-name && : > interactive && echo 1 > msgnum && echo 1 > end && printf 'exec touch PWNED\n' > git-rebase-todo && : > done`,
			commits + "git rebase --continue; true",
			[]string{".git/rebase-merge/git-rebase-todo (exec)"},
		},
		"a link in the place of settings": {
			repository,
			`git init -q lib && printf '[core]\n\tfsmonitor = touch PWNED\n' > conf && ln -sf ../../conf lib/.git/config`,
			"cd lib && git status --short; true",
			[]string{"lib/.git/config"},
		},
		"every kind of setting": {
			repository,
			`git init -q lib && cd lib && for k in core.fsmonitor core.hooksPath core.sshCommand core.pager core.editor core.askPass core.gitProxy sequence.editor credential.helper credential.https://x.helper gpg.program gpg.ssh.program diff.external diff.x.textconv diff.x.command merge.x.driver filter.x.clean filter.x.smudge filter.x.process uploadpack.packObjectsHook remote.o.uploadpack remote.o.receivepack remote.o.vcs remote.o.proxy pager.log include.path includeIf.gitdir:/.path browser.x.cmd mergetool.x.cmd difftool.x.cmd interactive.diffFilter trailer.x.command url.ext::sh.insteadOf init.templateDir not.known; do git config "$k" 'touch PWNED'; done; git config alias.co '!touch PWNED'; git config submodule.x.update '!touch PWNED'`,
			"cd lib && git status --short; git co; git log -p; git config -l --local | grep -c PWNED > n; test $(cat n) = 0",
			[]string{"lib/.git/config (core.fsmonitor, core.hookspath,"},
		},
		"after four hundred folders": {
			"mkdir -p zproj && cd zproj && " + repository,
			`for i in $(seq 400); do mkdir a$i; done; (echo x > zproj/.git/hooks/post-checkout) 2>/dev/null && touch PWNED; (echo x >> zproj/.git/config) 2>/dev/null && touch PWNED; true`,
			"cd zproj && git checkout -q -b x", nil,
		},
	} {
		for where, options := range inFolderAndOnCopy() {
			t.Run(name+" "+where, func(t *testing.T) {
				t.Parallel()
				k := walled(t, options...)
				h := k.Agent("autonomous")
				pwned := filepath.Join(t.TempDir(), "pwned")
				outside(t, k.Folder, c.before)
				write(t, filepath.Join(k.Folder, "p.sh"), strings.ReplaceAll(c.line, "PWNED", pwned))
				r := ran(t, h, "bash p.sh")
				if r.ExitCode != 0 {
					t.Errorf("the command itself: %s", r.Output)
				}
				outside(t, k.Folder, c.person)
				gone(t, "a program of the command ran", pwned)
				for _, want := range c.aside {
					if !strings.Contains(r.Note, want) {
						t.Errorf("got note %q, want %q in it", r.Note, want)
					}
				}
				if len(c.aside) == 0 {
					return
				}
				// It is kept: the person can have it.
				id := ended(t, k, h)
				again := goBack(t, k, kernel.UndoQuery{RunID: id, Redo: true})
				if got := statuses(again); !strings.Contains(got, strings.Fields(c.aside[0])[0]+" ") {
					t.Errorf("redo: got %q", got)
				}
			})
		}
	}
}

// inFolderAndOnCopy are the two ways in which commands work: in the folder itself,
// and where it holds too much, on a copy.
func inFolderAndOnCopy() map[string][]kerneltest.Option {
	return map[string][]kerneltest.Option{"in the folder": nil, "on a copy": {kerneltest.With(func(o *kernel.Options) { o.MaxPaths = 5 })}}
}

// TestWhatWasPlantedOnACopyNeverComesIntoTheFolder watches the folder itself while
// the copy is brought into it.
func TestWhatWasPlantedOnACopyNeverComesIntoTheFolder(t *testing.T) {
	t.Parallel()
	k := walled(t, inFolderAndOnCopy()["on a copy"]...)
	h := k.Agent("autonomous")
	outside(t, k.Folder, repository+" && git init -q old && mkdir scripts half && git config core.hooksPath scripts && mkdir -p half/objects half/refs && printf '[core]\n\tfsmonitor = x\n' > half/config")
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	for _, dir := range []string{".", ".git", "old/.git", "half"} {
		if _, err := unix.InotifyAddWatch(fd, filepath.Join(k.Folder, dir), unix.IN_CREATE|unix.IN_MOVED_TO); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(k.Folder, "p.sh"), "echo ../old > .git/commondir; printf '[core]\n\tfsmonitor = x\n' > .git/config.worktree; echo 'ref: refs/heads/main' > half/HEAD; echo 'gitdir: /nowhere' > .x; mv .x sub.git; echo x > plain\n")
	r := ran(t, h, "bash p.sh")
	buf := make([]byte, 1<<16)
	n, err := unix.Read(fd, buf)
	if err != nil {
		t.Fatal(err)
	}
	seen := string(buf[:n])
	if !strings.Contains(seen, "plain") || strings.Contains(seen, "commondir") {
		t.Errorf("got %q", seen)
	}
	if raw, _ := os.ReadFile(filepath.Join(k.Folder, ".git", "config.worktree")); strings.Contains(string(raw), "fsmonitor") {
		t.Errorf("got %s", raw)
	}
	if raw, _ := os.ReadFile(filepath.Join(k.Folder, "half", "config")); strings.Contains(string(raw), "fsmonitor") {
		t.Errorf("got %s", raw)
	}
	for _, want := range []string{".git/commondir", ".git/config.worktree (core.fsmonitor)", "half/config (core.fsmonitor)"} {
		if !strings.Contains(r.Note, want) {
			t.Errorf("got note %q, want %s in it", r.Note, want)
		}
	}
}

func TestHooksThatSettingsNameAreGuardedWhereTheyLie(t *testing.T) {
	t.Parallel()
	k := walled(t)
	h := k.Agent("autonomous")
	outside(t, k.Folder, repository+" && mkdir -p .husky tools && echo '#!/bin/sh' > .husky/pre-commit && echo '#!/bin/sh' > tools/clean && chmod +x .husky/pre-commit tools/clean && git config core.hooksPath .husky && git config filter.x.clean ./tools/clean && echo '[user]' > team.conf && git config include.path ../team.conf")
	for _, file := range []string{".husky/pre-commit", "tools/clean", "team.conf", ".husky/new"} {
		write(t, filepath.Join(k.Folder, "p.sh"), "echo evil > "+file+"\n")
		r := ran(t, h, "bash p.sh")
		raw, _ := os.ReadFile(filepath.Join(k.Folder, file))
		if r.ExitCode == 0 || strings.Contains(string(raw), "evil") {
			t.Errorf("%s: got exit %d and %q", file, r.ExitCode, raw)
		}
		if !strings.Contains(r.Note, strings.TrimSuffix(strings.TrimSuffix(file, "/pre-commit"), "/new")) || !strings.Contains(r.Note, "the person is asked then") {
			t.Errorf("%s: got note %q", file, r.Note)
		}
	}
	// Who names the file is asked, and then it is written and stays.
	h = k.Agent("guarded")
	r, err, _ := answered(t, k, h, true, shell(h, kernel.ShellArgs{Command: "echo good > .husky/pre-commit"}))
	raw, _ := os.ReadFile(filepath.Join(k.Folder, ".husky", "pre-commit"))
	if err != nil || r.ExitCode != 0 || string(raw) != "good\n" || r.Note != "" {
		t.Errorf("got %+v, %v, %q", r, err, raw)
	}
}

func TestGitWorksForACommandAsItDid(t *testing.T) {
	t.Parallel()
	k := walled(t)
	h := k.Agent("autonomous")
	outside(t, k.Folder, repository)
	for _, line := range []string{
		"echo x > f && git add f && " + commits + "git commit -qm second",
		"git checkout -q -b topic && git tag t1 && git branch other",
		"mkdir new && cd new && git init -q && git config user.name n && git config user.email e && echo y > y && git add y && git commit -qm one && git branch -M main",
		"git worktree add -q wt other && cd wt && git status --short",
		"git fsck",
	} {
		write(t, filepath.Join(k.Folder, "p.sh"), "set -e\n"+line+"\n")
		r, err := h.Exec.Shell(t.Context(), kernel.ShellArgs{Command: "bash p.sh"})
		if err != nil || r.ExitCode != 0 || strings.Contains(r.Note, "Put aside") {
			t.Errorf("%s: got exit %d, %v: %s %s", line, r.ExitCode, err, r.Output, r.Note)
		}
	}
	if got := outside(t, filepath.Join(k.Folder, "new"), "git config user.name"); got != "n\n" {
		t.Errorf("the settings of a new repository: got %q", got)
	}
	if got := outside(t, filepath.Join(k.Folder, "wt"), "git rev-parse --abbrev-ref HEAD"); got != "other\n" {
		t.Errorf("a new work tree: got %q", got)
	}
}

func TestWhatABackgroundCommandPlantsForGitIsPutAsideWhileItRuns(t *testing.T) {
	t.Parallel()
	k := walled(t)
	h := k.Agent("autonomous")
	outside(t, k.Folder, repository)
	write(t, filepath.Join(k.Folder, "p.sh"), "git init -q lib; printf '#!/bin/sh\n' > lib/.git/hooks/post-checkout; echo /x > .git/commondir; touch planted; sleep 1000\n")
	r, err := h.Exec.Shell(t.Context(), kernel.ShellArgs{Command: "bash p.sh", Background: true})
	if err != nil {
		t.Fatal(err)
	}
	// Whoever looks at the jobs meanwhile waits for nothing that is being put aside.
	ctx, leave := context.WithCancel(t.Context())
	var looking sync.WaitGroup
	for range 4 {
		looking.Go(func() {
			for ctx.Err() == nil {
				k.Person().Exec.Jobs(ctx)
			}
		})
	}
	k.Until("the hook is put aside", func() bool {
		return exists(k.Folder, "planted") && !exists(k.Folder, "lib/.git/hooks/post-checkout") && !exists(k.Folder, ".git/commondir")
	})
	leave()
	looking.Wait()
	k.Until("the job says so", func() bool {
		jobs, err := k.Person().Exec.Jobs(t.Context())
		return err == nil && len(jobs) == 1 && jobs[0].Running && strings.Contains(jobs[0].Note, "lib/.git/hooks/post-checkout") && strings.Contains(jobs[0].Note, ".git/commondir")
	})
	if err := k.Person().Exec.KillJob(t.Context(), r.JobID); err != nil {
		t.Fatal(err)
	}
}

// plants are files that other programs run.
var plants = []string{
	".envrc", ".vscode/tasks.json", ".vscode/settings.json", ".idea/workspace.xml", ".mcp.json", "package.json", "Makefile", "deep/a/b/c/d/Makefile", ".github/workflows/x.yml", "AGENTS.md",
	"CLAUDE.md", ".cursorrules", ".npmrc", ".pre-commit-config.yaml", ".husky/pre-commit", ".devcontainer/devcontainer.json", ".claude/settings.json", ".cargo/config.toml",
	"conftest.py", "setup.py", ".gdbinit", "Justfile", "docker-compose.yml", ".tool-versions", "flake.nix",
}

func TestFilesThatOtherProgramsRunAreReadOnlyForCommands(t *testing.T) {
	t.Parallel()
	k := walled(t)
	h := k.Agent("autonomous")
	for _, name := range plants {
		write(t, filepath.Join(k.Folder, name), "good\n")
	}
	write(t, filepath.Join(k.Folder, "p.sh"), "for f in "+strings.Join(plants, " ")+"; do (echo evil >> $f) 2>/dev/null && echo open $f; (mv $f $f.x) 2>/dev/null && echo moved $f; (rm -f $f) 2>/dev/null && echo removed $f; done; cat Makefile >/dev/null && echo x > other && echo evil > Makefile\n")
	r := ran(t, h, "bash p.sh")
	if strings.Contains(r.Output, "open") || strings.Contains(r.Output, "moved") || strings.Contains(r.Output, "removed") || !exists(k.Folder, "other") {
		t.Errorf("got %q", r.Output)
	}
	if !strings.Contains(r.Note, "Makefile") || !strings.Contains(r.Note, "name the very file in the command") {
		t.Errorf("got note %q", r.Note)
	}
	// Who names it is asked, and then it is open.
	r, err, ap := answered(t, k, h, true, shell(h, kernel.ShellArgs{Command: "echo evil >> Makefile"}))
	raw, _ := os.ReadFile(filepath.Join(k.Folder, "Makefile"))
	if err != nil || r.ExitCode != 0 || string(raw) != "good\nevil\n" {
		t.Errorf("got %+v, %v, %q for %q", r, err, raw, ap.Request.Title)
	}
}

func TestFilesThatOtherProgramsRunAndACommandMadeAreAskedAboutOnce(t *testing.T) {
	t.Parallel()
	for name, options := range map[string][]kerneltest.Option{"in the folder": nil, "on a copy": {kerneltest.With(func(o *kernel.Options) { o.MaxPaths = 5 })}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := walled(t, options...)
			for _, yes := range []bool{false, true} {
				h := k.Agent("autonomous")
				write(t, filepath.Join(k.Folder, "p.sh"), "for f in "+strings.Join(plants, " ")+"; do mkdir -p $(dirname $f); echo run > $f; done; mkdir -p node_modules/x build; echo 1 > node_modules/x/package.json; echo 1 > build/Makefile; echo src > main.c\n")
				write(t, filepath.Join(k.Folder, ".gitignore"), "build/\n.idea\n")
				r, err, ap := answered(t, k, h, yes, shell(h, kernel.ShellArgs{Command: "bash p.sh"}))
				if err != nil || r.ExitCode != 0 {
					t.Fatalf("got %+v, %v", r, err)
				}
				for _, f := range plants {
					if exists(k.Folder, f) != yes {
						t.Errorf("answered %v: %s is there: %v", yes, f, !yes)
					}
					if !yes && f != "deep/a/b/c/d/Makefile" && !strings.Contains(ap.Request.Diff, f) {
						t.Errorf("the card does not show %s", f)
					}
				}
				if !exists(k.Folder, "node_modules/x/package.json") || !exists(k.Folder, "build/Makefile") || !exists(k.Folder, "main.c") {
					t.Error("what tools make for themselves was taken away")
				}
				if strings.Contains(r.Note, "Put aside") == yes || !strings.Contains(ap.Request.Title, "Keep 25 files") || !strings.Contains(ap.Request.TitleKO, "25개") {
					t.Errorf("answered %v: got note %q, title %q", yes, r.Note, ap.Request.Title)
				}
				ended(t, k, h)
			}
		})
	}
}

func TestGitMayBringFilesThatOtherProgramsRunAndThePersonSeesThem(t *testing.T) {
	t.Parallel()
	k := walled(t)
	h := k.Agent("autonomous")
	outside(t, k.Folder, repository+" && echo one > Makefile && git add . && git commit -qm m && git checkout -q -b topic && echo two > Makefile && git commit -qam two && git checkout -q -")
	r, err, ap := answered(t, k, h, true, shell(h, kernel.ShellArgs{Command: "git checkout -q topic"}))
	raw, _ := os.ReadFile(filepath.Join(k.Folder, "Makefile"))
	if err != nil || r.ExitCode != 0 || string(raw) != "two\n" || !strings.Contains(ap.Request.Diff, "-one\n+two") {
		t.Errorf("got %+v, %v, %q, %s", r, err, raw, ap.Request.Diff)
	}
	// What was there, and what the person has seen, comes back unasked.
	for _, line := range []string{"git checkout -q -", "git checkout topic 2>&1 | tail -1"} {
		if r := ran(t, h, line); r.ExitCode != 0 || strings.Contains(r.Note, "Put aside") {
			t.Errorf("%s: got %+v", line, r)
		}
	}
}

func TestToolsWriteDownWhatTheyWereAskedFor(t *testing.T) {
	t.Parallel()
	k := walled(t)
	h := k.Agent("autonomous")
	npm := filepath.Join(t.TempDir(), "npm")
	write(t, npm, "#!/bin/sh\necho '{\"x\": 1}' > package.json\n")
	if err := os.Chmod(npm, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(k.Folder, "package.json"), "{}\n")
	write(t, filepath.Join(k.Folder, "p.sh"), "echo evil > package.json\n")
	// The words alone open nothing: a tool has to be told.
	for _, line := range []string{"bash p.sh # npm install left-pad", "echo npm install; bash p.sh", "npm --version; bash p.sh"} {
		r, err, _ := answered(t, k, h, true, shell(h, kernel.ShellArgs{Command: line, Network: true}))
		if raw, _ := os.ReadFile(filepath.Join(k.Folder, "package.json")); err != nil || string(raw) != "{}\n" || !strings.Contains(r.Output, "Read-only") {
			t.Errorf("%s: got %+v, %v, %q", line, r, err, raw)
		}
	}
	r, err, _ := answered(t, k, h, true, shell(h, kernel.ShellArgs{Command: npm + " install left-pad"}))
	raw, _ := os.ReadFile(filepath.Join(k.Folder, "package.json"))
	if err != nil || r.ExitCode != 0 || !strings.Contains(string(raw), "x") || strings.Contains(r.Note, "Put aside") {
		t.Errorf("got %+v, %v, %q", r, err, raw)
	}
}

func TestAtLevel2WhatACommandChangedIsPutBackAndAskedAbout(t *testing.T) {
	t.Parallel()
	k := partly(t)
	for _, yes := range []bool{false, true} {
		h := k.Agent("autonomous")
		write(t, filepath.Join(k.Folder, "Makefile"), "good\n")
		write(t, filepath.Join(k.Folder, "p.sh"), "echo evil > Makefile; mkdir -p .vscode; echo '{}' > .vscode/tasks.json; echo src > main.c\n")
		done := make(chan kernel.ExecResult, 1)
		go func() {
			r, err := h.Exec.Shell(t.Context(), kernel.ShellArgs{Command: "bash p.sh", Network: true})
			if err != nil {
				t.Error(err)
			}
			done <- r
		}()
		first := k.Approval(h.Principal().ID)
		if _, err := k.Person().Security.Approve(t.Context(), first.ID, kernel.ApproveInput{Hash: first.Request.Hash}); err != nil {
			t.Fatal(err)
		}
		second := k.Approval(h.Principal().ID)
		if second.Request.Contained != sys.IsolationPartial || !strings.Contains(second.Request.Diff, "-good\n+evil") || !strings.Contains(second.Request.Diff, ".vscode/tasks.json") || strings.Contains(second.Request.Diff, "main.c") {
			t.Errorf("got %+v", second.Request)
		}
		if got := read(t, filepath.Join(k.Folder, "Makefile")); got != "good\n" || exists(k.Folder, ".vscode") || !exists(k.Folder, "main.c") {
			t.Errorf("while it waits: got %q", got)
		}
		want := "good\n"
		var err error
		if yes {
			want = "evil\n"
			_, err = k.Person().Security.Approve(t.Context(), second.ID, kernel.ApproveInput{Hash: second.Request.Hash})
		} else {
			_, err = k.Person().Security.Deny(t.Context(), second.ID, "no")
		}
		if err != nil {
			t.Fatal(err)
		}
		r := <-done
		if got := read(t, filepath.Join(k.Folder, "Makefile")); r.Isolation != sys.IsolationPartial || got != want || exists(k.Folder, ".vscode/tasks.json") != yes {
			t.Errorf("answered %v: got %q, %+v", yes, got, r)
		}
		ended(t, k, h)
	}
}

func TestWhatACommandPlantedWhenOxiosWentDownIsPutAsideAtTheNextStart(t *testing.T) {
	t.Parallel()
	home, folder := filepath.Join(t.TempDir(), "home"), t.TempDir()
	k := walled(t, kerneltest.At(home, folder))
	h := k.Agent("autonomous")
	outside(t, folder, repository+" && printf '#!/bin/sh\n' > .git/hooks/pre-push && git config extensions.worktreeConfig true")
	ran(t, h, "touch begun")
	id := h.Principal().ID
	k.Stop()
	st, err := store.Open(t.Context(), filepath.Join(home, "oxios.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	err = st.Write(t.Context(), func(tx *store.Tx) error {
		return st.BeginUndoCommand(tx, store.UndoCommand{ID: sys.NewID(), RunID: id, Folder: folder})
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	outside(t, folder, "git init -q lib && printf '#!/bin/sh\n' > lib/.git/hooks/post-checkout && git -C lib config core.fsmonitor /x && echo ../lib/.git > .git/commondir && printf '[core]\n\tfsmonitor = /x\n' > .git/config.worktree")
	k.Restart()
	k.Until("it is put aside", func() bool {
		raw, err := os.ReadFile(filepath.Join(folder, ".git", "config.worktree"))
		return !exists(folder, ".git/commondir") && !exists(folder, "lib/.git/hooks/post-checkout") && (err != nil || !strings.Contains(string(raw), "fsmonitor"))
	})
	if !exists(folder, ".git/hooks/pre-push") || !exists(folder, "begun") || !exists(folder, "lib/.git/HEAD") {
		t.Error("more was taken away than was planted")
	}
}

// BenchmarkGuards is what a look at all that commands may not change adds to a
// command, before it and after it, in folders of 10,000 and of 100,000 paths that
// were looked at before. Goal: at most 20 ms for the smaller one.
func BenchmarkGuards(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		k := open(b)
		for i := range n / 10 {
			at := filepath.Join(k.Folder, fmt.Sprintf("%d/%d/%d", i%10, i/10%10, i))
			for j := range 9 {
				name := fmt.Sprint("f", j, ".go")
				if i%200 == 0 && j == 0 {
					name = "Makefile"
				}
				write(b, filepath.Join(at, name), "x\n")
			}
		}
		outside(b, k.Folder, repository+" && sleep 1")
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			if err := k.LookForGuards(b.Context(), k.Folder); err != nil {
				b.Fatal(err)
			}
			var took []time.Duration
			for b.Loop() {
				start := time.Now()
				if err := k.LookForGuards(b.Context(), k.Folder); err != nil {
					b.Fatal(err)
				}
				if err := k.LookForGuards(b.Context(), k.Folder); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(start))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds()), "median_us(goal<=20000)")
		})
	}
}

func TestATryLeavesOutWhatGitWouldRun(t *testing.T) {
	t.Parallel()
	k := walled(t)
	h := k.Agent("guarded")
	outside(t, k.Folder, repository)
	write(t, filepath.Join(k.Folder, "p.sh"), "git init -q lib; printf '#!/bin/sh\n' > lib/.git/hooks/post-checkout; git -C lib config core.fsmonitor x; echo plain > f\n")
	a := tryable(t, k, h, "bash p.sh")
	v := a.mustTry(t)
	if !strings.Contains(v.Result.Note, "Left out, because git would run it: ") || !strings.Contains(v.Result.Note, "lib/.git/hooks/post-checkout") || !strings.Contains(v.NoteKO, "제외") {
		t.Errorf("got note %q, %q", v.Result.Note, v.NoteKO)
	}
	if err := a.apply(t, v.Hash); err != nil {
		t.Fatal(err)
	}
	<-a.done
	raw, err := os.ReadFile(filepath.Join(k.Folder, "lib", ".git", "config"))
	if err != nil || strings.Contains(string(raw), "fsmonitor") || exists(k.Folder, "lib/.git/hooks/post-checkout") || !exists(k.Folder, "f") {
		t.Errorf("got %s, %v", raw, err)
	}
}

func TestFoldersThatACommandClosedAreLookedIntoAllTheSame(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("root looks into every folder")
	}
	k := walled(t)
	h := k.Agent("autonomous")
	write(t, filepath.Join(k.Folder, "p.sh"), "mkdir -p shut/in; git init -q shut/in/lib; git -C shut/in/lib config core.fsmonitor x; chmod 111 shut/in/lib/.git shut/in shut\n")
	if r := ran(t, h, "bash p.sh"); !strings.Contains(r.Note, "shut/in/lib/.git/config (core.fsmonitor)") {
		t.Errorf("got note %q", r.Note)
	}
}

func TestFilesThatGitRunsAskBeforeTheyAreWritten(t *testing.T) {
	t.Parallel()
	k := open(t)
	h := k.Agent("autonomous")
	outside(t, k.Folder, repository+" && mkdir -p scripts/hooks && git config core.hooksPath scripts/hooks && git config include.path ../team.conf")
	for _, file := range []string{"scripts/hooks/pre-commit", "team.conf"} {
		_, err, ap := answered(t, k, h, true, func(ctx context.Context) (kernel.FileEffect, error) {
			return h.Exec.Write(ctx, kernel.WriteArgs{Path: file, Content: "x\n"})
		})
		if err != nil || !exists(k.Folder, file) || !strings.Contains(ap.Request.Path, file) {
			t.Errorf("%s: got %v, %q", file, err, ap.Request.Path)
		}
	}
	if _, err := h.Exec.Write(t.Context(), kernel.WriteArgs{Path: "scripts/plain", Content: "x\n"}); err != nil {
		t.Error(err)
	}
}
