package security

import (
	"os"
	"path/filepath"
	"testing"
)

func TestWhatOnlyShowsIsFree(t *testing.T) {
	t.Parallel()
	o := project(t, "x.yml")
	eachIn(t, o, "it is free", freely,
		"man ls", "man 3 printf", "git commit --help", "git rebase --help", "npm help", "npm -h", "npm config get registry", "npm c get prefix", "env", "env | grep PATH", "printenv PATH", "printenv", "lsof -i :8080", "lsof -nP -iTCP:3000 -sTCP:LISTEN",
		"ss -tlnp", "ss -tuln", "netstat -tlnp", "cargo metadata --no-deps", "cargo metadata --no-deps --format-version 1", "cargo --version", "go doc fmt.Println", "go doc -all net/http", "go help build", "yq . x.yml", "yq -r '.a.b[0]' x.yml", "yq '.a | keys' x.yml",
		"git -c color.ui=false status", "git -c core.quotepath=off ls-files", "git -c log.date=iso log",
	)
	eachIn(t, o, "it asks", notFree,
		"man ./x", "man -P sh ls", "man /etc/x", "man $X", "git x --help", "git commit --help x", "npm help x", "npm config get //registry.npmjs.org/:_authToken", "npm config get _auth", "npm config list", "npm config get", "A=b env", "set -a; . ./.env; env", "env -0 x",
		"lsof", "lsof -i", "lsof -p 1", "lsof +D .", "ss", "ss -K", "ss -tn", "ss -tlnp dst x", "netstat -r", "cargo metadata", "cargo metadata --no-deps --manifest-path /x/Cargo.toml", "cargo tree", "go doc -http", "go doc -C /x fmt", "go doc ../x", "go list ./...",
		"yq -i . x.yml", "yq 'load(\"/etc/shadow\")' x.yml", "yq 'env(HOME)' x.yml", "yq --split-exp x . x.yml", "yq . .env", "yq . /etc/x", "git -c core.pager=x status", "git -c alias.x=y x", "git -c core.fsmonitor=x status", "git -c diff.external=x diff",
		"make -n", "docker ps", "kubectl get pods", "python3 -m json.tool x.json", "wc -l $(git ls-files)", "cd */ && cargo --version",
	)
	if err := os.WriteFile(filepath.Join(o.Dir, "rust-toolchain.toml"), []byte("[toolchain]\npath = \"tools\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	eachIn(t, o, "it asks, as a file of the folder chooses the program", notFree, "cargo metadata --no-deps", "cargo --version", "rustc --version")
}
