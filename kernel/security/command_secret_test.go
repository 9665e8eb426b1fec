package security

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

func TestWhatWouldBeReadDecides(t *testing.T) {
	t.Parallel()
	o := project(t, ".env", "config/.env", "server.pem", "credentials.json", "package.json", "src/a.go")
	private := func(v Verdict) bool { return notFree(v) && v.Effect == EffectOutside }
	eachIn(t, o, "it reads something private", private,
		// patterns of the shell
		"cat *credentials*", "cat cred*", "cat .[!.]*", "cat .e*", "cat *.pem", "head -1 *.p?m", "cat config/.e*", "cat */.env", "cat s[e]rver.*", "cat {.env,x}", "shopt -s dotglob; cat *env",
		// patterns of a program that searches folders
		`grep -r "" . --include=.env`, `grep -r "" --include="*.pem" .`, `grep -r x --include '*.pem' .`, `grep -r "" . --include=".*"`, `grep -rd recurse x --include=id_rsa* .`,
		"rg -uu . -g .env", "rg -uu . -g '*.pem'", "rg . '-g*.pem'", "rg . --glob='{*.go,*.pem}'", "rg --iglob '*CREDENTIALS*' x", "rg -g 'config/.env' -uu x",
		// git, as it is now and as it was
		"git log -L1,20:.env", "git log -L 1,20:config/.env", "git show HEAD~3 -- config/.env", "git show HEAD:.env", "git show :.env", "git show :2:.env", "git diff HEAD -- .env",
		"git diff .env", "git cat-file -p HEAD:config/.env", "git log -p -- '*.pem'", "git show HEAD -- ':(glob)**/.env'", "git grep x -- '*.pem'", "git grep '' HEAD -- .env", "git blame server.pem",
		"git log -p -- config/.env", "git diff HEAD~1 HEAD -- :/.env",
		// names that another program found
		"find . -name '*.pem' | xargs cat", "find . -name .env -exec cat {} +", "find . -iname '*credential*' | sort | xargs head", "cat $(find . -name .env)", "find . -regex '.*\\.pem' -exec cp {} x \\;", "find . -path './config/.e*' | parallel cat",
		// programs that copy, pack and encode
		"cp .env x", "mv .env x", "ln .env x", "ln -s .env x", "tar czf x.tgz .env", "zip x.zip .env", "base64 .env", "xxd .env", "dd if=.env of=x", "openssl base64 -in .env", "install .env x", "rsync .env x",
		"paste .env README.md", "sort server.pem", "sed -n 1,9p .env", "awk 1 .env", "python3 -c 'print(1)' .env", "gzip -c .env", "cat README.md .env", "strings config/.env", "nl <.env",
	)
	eachIn(t, o, "it is free", freely,
		"cat *.md", "cat src/*", "ls -la", "grep -rn x src", "cat README*", "git diff", "git log -p README.md", "git show HEAD:src/a.go", "git grep x -- '*.go'", "rg x -g '*.go'", "rg x -g '!*.pem'",
		"grep -r x --include='*.go' .", "find . -name '*.pem'", "ls .e*x", "git ls-files '*.go'", "cut -d/ -f1 README.md")
}

// What programs keep their keys in is private in whatever folder it lies, and so are its
// copies; samples of it, and files of the same ending without keys, are not.
func TestFilesThatHoldKeysArePrivateWhereverTheyLie(t *testing.T) {
	t.Parallel()
	keys := []string{
		".envrc", ".dev.vars", ".dev.vars.production", "local.settings.json", ".my.cnf", ".s3cfg", ".boto", ".databrickscfg", "x-firebase-adminsdk-7f.json", "auth.json", "token.json",
		".credentials.json", "secrets.ini", "secret.txt", "passwords.csv", "kubeconfig", "kubeconfig.yaml", "prod.kubeconfig", "terraform.tfstate.backup", "prod.tfvars.json", "credentials.tfrc.json",
		".docker/config.json", ".kube/config", ".config/gh/hosts.yml", ".cargo/credentials", ".m2/settings.xml", ".vnc/passwd", "_netrc",
	}
	plain := []string{".env.example", ".dev.vars.example", "config.json", "config", "settings.xml", "hosts.yml", "tokens.json", "author.json", "password.go", "secrets.go", ".docker/Dockerfile", ".kube/deployment.yml", ".azure/pipelines.yml", "docs/secrets.md"}
	lines := func(names []string) (out []string) {
		for _, name := range names {
			out = append(out, "cat "+name, "cat backup/"+name)
		}
		return out
	}
	all := append([]string{"README.md"}, append(keys, plain...)...)
	for _, name := range append(slices.Clone(keys), plain...) {
		all = append(all, "backup/"+name)
	}
	o := project(t, all...)
	eachIn(t, o, "it reads something private", func(v Verdict) bool { return notFree(v) && v.Effect == EffectOutside }, lines(keys)...)
	eachIn(t, o, "it is free", freely, lines(plain)...)
}

func TestCommandsThatMeetSecretsSaySo(t *testing.T) {
	t.Parallel()
	o := project(t, ".env", "config/.env", "credentials.json", "src/a.go")
	for line, want := range map[string][]string{
		"cat .env": {".env"}, "cat config/.e*": {"config/.env"}, "cat README.md": nil, "cat cred*": {"credentials.json"}, "diff .env config/.env": {".env", "config/.env"}, "cd config && cat .env": {"config/.env"},
	} {
		v := ClassifyCommand(line, o)
		var got []string
		for _, abs := range v.Secrets {
			rel, err := filepath.Rel(o.Dir, abs)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, rel)
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", line, got, want)
		}
	}
	meets := func(v Verdict) bool { return v.Recurses }
	eachIn(t, o, "it reads whole folders", meets, "grep -r x .", "grep -R x", "rg x", "rg -uu x .", "cat *", "wc -l *.json", "diff -r . src", "git grep x", "tar czf x.tgz .", "zip -r x.zip .", "cp -r . /tmp/x", "rsync -a . x", "grep -rn x --include=*.json")
	eachIn(t, o, "it reads no whole folder", func(v Verdict) bool { return !v.Recurses }, "grep x README.md", "ls -R", "find .", "cat README.md", "du -sh *", "cat src/*.go", "grep -r x --include='*.go' .", "git status", "cp README.md x", "wc -l *.md")
}

func TestSecretsOfAFolderAreFound(t *testing.T) {
	t.Parallel()
	o := project(t, ".env", "a/b/server.key", "a/.ssh/id_rsa", "a/plain", "sample/.env.example")
	if err := os.Symlink("../.env", filepath.Join(o.Dir, "a/plain.txt")); err != nil {
		t.Fatal(err)
	}
	got, all := SecretsBelow(o.Dir, o.Home, 1000)
	for i := range got {
		got[i], _ = filepath.Rel(o.Dir, got[i])
	}
	slices.Sort(got)
	if want := []string{".env", "a/.ssh", "a/b/server.key", "a/plain.txt"}; !slices.Equal(got, want) || !all {
		t.Errorf("got %q, all %v, want %q and all", got, all, want)
	}
	if _, all := SecretsBelow(o.Dir, o.Home, 3); all {
		t.Error("got all of them with three looks, want it told that there are more")
	}
}

func TestPatternsInLargeFoldersAreJudgedQuickly(t *testing.T) {
	t.Parallel()
	o := project(t)
	for i := range 40 {
		dir := filepath.Join(o.Dir, fmt.Sprint("d", i))
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for j := range 150 {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprint("f", j, ".txt")), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	// A reading of the same folders is what such a line may cost, a few times over.
	start := time.Now()
	for i := range 150 {
		if _, err := os.ReadDir(filepath.Join(o.Dir, fmt.Sprint("d", i))); err != nil {
			break
		}
	}
	limit := max(10*time.Millisecond, 20*time.Since(start))
	for _, line := range []string{"cat */*", "wc -l d1/*", "cat */f1*", "cat [a-z]*/*.txt d2/* d3/* d4/*"} {
		best := time.Hour
		for range 5 {
			start := time.Now()
			ClassifyCommand(line, o)
			best = min(best, time.Since(start))
		}
		if best > limit {
			t.Errorf("%q took %v, want less than %v", line, best, limit)
		}
	}
	if v := ClassifyCommand("cat */*", o); !v.Recurses {
		t.Error("a pattern over too many names is taken for one that meets no secret")
	}
}
