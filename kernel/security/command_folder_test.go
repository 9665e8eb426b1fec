package security

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// project makes a folder with these files, in a home of its own. A name with
// -> is a link.
func project(t *testing.T, files ...string) CommandOptions {
	t.Helper()
	home := t.TempDir()
	dir := filepath.Join(home, "project")
	for _, name := range append(files, "README.md") {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return CommandOptions{Dir: dir, Home: home}
}

func eachIn(t *testing.T, o CommandOptions, want string, ok func(Verdict) bool, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if v := ClassifyCommand(line, o); !ok(v) {
			t.Errorf("%q: got tier %d, %s, read-only %v (%s), want %s", line, v.Tier, v.Effect, v.ReadOnly, v.Reason, want)
		}
	}
}

func notFree(v Verdict) bool { return !freely(v) }

func TestFolderThatIsOnlyKnownWhenItRunsHidesNoRead(t *testing.T) {
	t.Parallel()
	o := project(t, "src/a.go", "src/deep/b.go")
	eachIn(t, o, "it asks", notFree,
		"cd */ && cat notes", "cd ?rc; head notes", "cd [s]rc && wc -l notes", "cd s* && cat < notes", "cd */ && git log -p", "cd */ && ls", "cd */ && grep -r x",
		"cd */ && rg x", "cd */ && find", "cd */ && tree", "cd */ && du", "cd */ && [ -f ../x ] && cat ../x", "cd */ && stat x", "cd */ && echo *", "cd */ && sed -n 1p x",
		"cd */ && lspci -i x", "cd */ && jq . x.json", "cd -; cat x", "cd \"$X\"; cat x", "cd $(pwd); cat x", "cd ~root; cat x", "cd */ && cd src && cat x",
		"command cd */ && cat x", "builtin cd */ && cat x", "eval 'cd */' && cat x", "pushd */ && cat x", "popd; cat x", "pushd +1; cat x", "f() { cd */; }; f; cat x",
		"for d in */; do cd $d; cat x; done", "while cd ..; do cat x; done", "CDPATH=/; cd etc && cat shadow", "export CDPATH=/; cd etc; cat x",
		"cd /h*/*/.ssh && cat id_rsa", "cd /e*c && cat shadow", "cd /proc/*/ && cat environ",
		"shopt -s cdable_vars; cd X; cat x", "env -C */ cat x",
	)
	eachIn(t, o, "it asks whatever the mode", func(v Verdict) bool {
		return v.Effect == EffectUnknown || v.Effect == EffectOutside || v.Tier == TierRefuse
	},
		"cd */ && cat notes", "cd */ && git log", "cd \"$X\" && cat x", "for d in */; do cd $d; cat x; done", "pushd \"$D\" && cat x", "cd - && ls", "cd */ && cp .env x", "env -C \"$D\" cat x")
	eachIn(t, o, "it is free", freely, "cd src && cat a.go", "cd src && cd deep && cat b.go", "cd src; cat ../README.md", "cd */ && echo done", "cd */ && pwd", "cd src && cat /usr/share/x", "cd src || exit 1; cat a.go")
}

func TestFolderAfterAChangeThatMayFail(t *testing.T) {
	t.Parallel()
	o := project(t, "src/a.go", "src/deep/b.go")
	outside := func(v Verdict) bool { return (len(v.Outside) > 0 || v.Effect == EffectUnknown) && notFree(v) }
	eachIn(t, o, "it reads outside", outside,
		"cd none; cat ../x", "cd none || true; cat ../x", "false && cd src; cat ../x", "true || cd src; cat ../x", "cd src & cat ../x", "(cd src); cat ../x",
		"cd src | cat; cat ../x", "if test -f y; then cd src; fi; cat ../x", "case $X in a) cd src;; esac; cat ../x", "while test -f y; do cd src; done; cat ../x",
		"f() { cd src; }; cat ../x", "cd src; cd ..; cat ../x", "cd src && cd none; cat ../../x", "for i in 1 2 3; do cd ..; cat x; done; cat ../x",
	)
	eachIn(t, o, "it stays inside", func(v Verdict) bool { return len(v.Outside) == 0 && v.Effect != EffectUnknown },
		"cd src && cat ../README.md", "cd none && cat ../README.md", "cd none || exit 1; cat ../README.md", "cd none || { echo no; exit 1; }; cat ../README.md",
		"if cd src; then cat ../README.md; fi", "cd src; cd ..; cat README.md", "pushd src && cat ../README.md && popd && cat README.md", "f() { cd src; }; f; cat ../README.md",
	)
}

func TestLinksAreFollowedBeforeAPathIsJudged(t *testing.T) {
	t.Parallel()
	o := project(t, "src/a.go", ".env")
	outside := filepath.Join(o.Home, "elsewhere")
	if err := os.MkdirAll(filepath.Join(outside, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{"out": outside, "keys": filepath.Join(o.Home, ".ssh"), "plain.txt": ".env", "in": "src", "sub": filepath.Join(outside, "sub")} {
		if err := os.Symlink(to, filepath.Join(o.Dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	eachIn(t, o, "it asks", notFree, "cat plain.txt", "cat out/x", "cat o*/x", "cd out && cat x", "cat sub/../x", "cd sub && cat ../x", "cd sub; cd ..; cat x", "head < plain.txt", "grep -r x out")
	eachIn(t, o, "it meets a secret", func(v Verdict) bool { return slices.Equal(v.Trees, []string{filepath.Join(o.Dir, ".env")}) }, "cat plain.*")
	eachIn(t, o, "it is refused", refused, "cat keys/id_rsa", "cd keys && cat id_rsa")
	eachIn(t, o, "it is free", freely, "cat in/a.go", "cd in && cat a.go")
}
