package security

import (
	"strings"
	"testing"
)

func TestOneProgramIsNoShellNoWrapperAndNoCodeInItsArguments(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"sh", "bash|-c|id", "/bin/bash|x.sh", "dash|-c|id", "zsh|-lc|id", "fish|-c|id", "pwsh|-Command|ls", "cmd.exe|/c|dir", `C:\Windows\System32\cmd.exe|/c|dir`,
		"env|ls", "env|-i|sh", "timeout|5|ls", "nice|ls", "nohup|ls", "xargs|rm", "setsid|ls", "busybox|sh", "stdbuf|-o0|ls", "time|ls", "chroot|/|ls", "parallel|rm",
		"python3|-c|print(1)", "python3.12|-c|x", "python|-Bc|x", "python|-W|ignore|-c|x", "python|-X|dev|-c|x", "perl|-e|x", "perl|-ne|x", "perl|-E|x", "ruby|-e|x",
		"ruby|-rjson|-e|x", "node|-e|x", "node|--eval|x", "node|--eval=x", "node|-p|x", "node|-pe|x", "php|-r|x", "lua|-e|x", "bun|-e|x", "deno|eval|x", "julia|-e|x",
		"Rscript|-e|x", "node|--require|./a.js|-e|x", "/usr/bin/python3|-c|x", "tsx|--eval|x",
	} {
		if !StartsAnother(strings.Split(line, "|")) {
			t.Errorf("%s counts as one program", line)
		}
	}
	for _, line := range []string{
		"", "ls|-l", "git|commit|-m|a;b $(id)", "grep|-e|x|a.txt", "python3|run.py", "python3|run.py|-c|x", "python3|-m|pytest|-q", "node|app.js|-e|x", "go|test|./...", "sed|-e|s/a/b/|a.txt",
		"awk|{print}|a.txt", "jq|.a|x.json", "make|-e|all", "tar|-c|a", "psql|-c|select 1", "cat|-e|x", "python3|-u|run.py|-c", "perl|x.pl|-e", "node|--test|--test-reporter|spec|a.mjs",
		"rustc|-e", "echo|sh|-c|id", "deno|run|x.ts",
	} {
		if StartsAnother(strings.Split(line, "|")) {
			t.Errorf("%s counts as more than one program", line)
		}
	}
}
