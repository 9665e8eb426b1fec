package security

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"oxios/kernel/sys"
)

func TestNamedFoldersCanBeDeletedAsAWhole(t *testing.T) {
	t.Parallel()
	o := project(t, "build/a.o", "node_modules/x/y.js", "src/gen/z.go", "my dir/x")
	for line, want := range map[string]string{
		"rm -rf build": "build", "rm -fr node_modules": "node_modules", "rm -r -f -- ./build": "build", "rm --recursive --force build/": "build", "rm build -rf": "build", "rm -Rfv src/gen": "src/gen",
		"rm -rf build node_modules": "build node_modules", "cd src && rm -rf gen": "src/gen", "timeout 5 rm -rf build": "build", "nice -n 5 timeout 5 rm -rf build": "build", "env A=b rm -rf build": "build",
		"nohup rm -rf build": "build", "command rm -rf build": "build", "time rm -rf build": "build", "/bin/rm -rf build": "build", "rm -rf 'my dir'": "my dir", "rm -rf build && npm run build": "build",
		"rm -rf " + o.Dir + "/build": "build", "rm -rf none": "none", "if [ -d build ]; then rm -rf build; fi": "build",
	} {
		v := ClassifyCommand(line, o)
		for i := range v.Removes {
			v.Removes[i], _ = filepath.Rel(o.Dir, v.Removes[i])
		}
		if !asks(v) || !v.Deletes || strings.Join(v.Removes, " ") != want {
			t.Errorf("%q: got tier %d (%s), removes %q, want it to ask about %q", line, v.Tier, v.Reason, v.Removes, want)
		}
		if strings.Contains(line, "npm") {
			continue
		}
		for mode, want := range map[Mode]Decision{ModeAsk: DecisionAsk, ModeGuarded: DecisionAsk, ModeAutonomous: DecisionNotice} {
			if got := DecideCommand(mode, v, sys.IsolationFull); got != want {
				t.Errorf("%q in %s: got %s, want %s", line, mode, got, want)
			}
		}
	}
}

func TestWhatIsNotOneNamedThingOfTheFolderIsNeverDeletedAsAWhole(t *testing.T) {
	t.Parallel()
	o := project(t, "build/a.o", ".git/config", "sub/.git/config")
	outside := filepath.Join(o.Home, "elsewhere")
	if err := os.MkdirAll(filepath.Join(outside, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(o.Dir, "out")); err != nil {
		t.Fatal(err)
	}
	eachIn(t, o, "it is refused", refused,
		"rm -rf *", "rm -rf .", "rm -rf ./", "rm -rf ..", "rm -rf build/..", "rm -rf build/.", "rm -rf build/*", "rm -rf b?ild", "rm -rf b[u]ild", "rm -rf {build,src}", "rm -rf $X", "rm -rf \"$X\"", "rm -rf build$X",
		"rm -rf $(echo build)", "rm -rf `ls`", "rm -rf ~/x", "rm -rf ~", "rm -rf /", "rm -rf /usr", "rm -rf /tmp/x", "rm -rf ../x", "rm -rf sub/../../x", "rm -rf .git", "rm -rf .git/objects", "rm -rf sub/.git", "rm -rf .GIT",
		"rm -rf out", "rm -rf out/sub", "rm -rf out/", "cd out && rm -rf sub", "cd */ && rm -rf x", "cd \"$X\" && rm -rf build", "cd none; rm -rf ../x", "rm -rf "+o.Dir, "rm -rf build .", "rm -rf", "rm -rf --",
		"ssh host rm -rf build", "ssh host 'rm -rf build'", "echo build | xargs rm -rf", "xargs rm -rf build < x", "find . -name x -exec rm -rf build \\;", "find . -exec rm -rf {} +", `python3 -c "import shutil; shutil.rmtree('build')"`,
		`python3 -c "import os; os.system('rm -rf build')"`, "busybox rm -rf build", "watch rm -rf build", "parallel rm -rf ::: build", "docker exec x rm -rf build", "bash -c 'rm -rf build'", "eval 'rm -rf build'", "sudo rm -rf build",
		"env -S 'rm -rf build'", "echo $(rm -rf build)", "r''m -rf build", "a=rm; $a -rf build", "f() { rm \"$@\"; }; f -rf build", "bash <<< 'rm -rf build'", "chroot x rm -rf build", "script -c 'rm -rf build' x", "env -C .. rm -rf build", "git submodule foreach 'rm -rf build'",
	)
}

func TestWhatUndoLeavesOutAsksInEachMode(t *testing.T) {
	t.Parallel()
	o := project(t, ".git/HEAD", "src/a.go")
	for _, line := range []string{
		"rm -r .git/objects", "rm .git/index", "rm -r .git", "truncate -s 0 .git/HEAD", "mv .git x", "echo x > .git/HEAD", "shred .git/HEAD", "cp src/a.go .git/HEAD", "find .git -name '*.pack' -delete", "dd if=x of=.git/index", "cd .git && rm HEAD",
		"git reflog expire --expire=now --all", "git reflog delete HEAD@{1}", "git gc --prune=now", "git gc", "git prune", "git stash clear", "git stash drop", "git stash drop stash@{1}", "git worktree remove x", "git worktree prune",
		"git branch -D x", "git branch --delete --force x", "git branch -f main HEAD~3", "git tag -d v1", "git tag -f v1", "git update-ref -d refs/heads/x", "git filter-branch --all", "git -c alias.x='stash clear' x", "ls && git stash clear",
		"git checkout -B main", "timeout 5 git stash clear", "git repack -ad", "git notes remove HEAD", "sh -c 'git stash clear'",
	} {
		v := ClassifyCommand(line, o)
		for _, mode := range []Mode{ModeAsk, ModeGuarded, ModeAutonomous} {
			if got := DecideCommand(mode, v, sys.IsolationFull); got != DecisionAsk {
				t.Errorf("%q in %s: got %s (%s), want ask", line, mode, got, v.Reason)
			}
		}
	}
	for _, line := range []string{"git stash", "git stash pop", "git commit -m x", "git branch x", "git tag v1", "git checkout -b x", "git reset --hard", "rm src/a.go", "rm -r src"} {
		if got := DecideCommand(ModeAutonomous, ClassifyCommand(line, o), sys.IsolationFull); got != DecisionNotice {
			t.Errorf("%q: got %s, want it free", line, got)
		}
	}
	if v := ClassifyCommand("git reflog", o); !freely(v) || v.Final {
		t.Errorf("git reflog: got %+v, want it free", v)
	}
}
