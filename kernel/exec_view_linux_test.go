package kernel_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
	"oxios/kernel/security"
	"oxios/kernel/sys"
)

// walled opens a kernel whose commands run at level 3.
func walled(t *testing.T, options ...kerneltest.Option) *kerneltest.Kernel {
	t.Helper()
	k := open(t, options...)
	p, err := k.Person().Security.Policy(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if p.Isolation < sys.IsolationFull {
		t.Skipf("this system has no level 3: %s", p.Problem)
	}
	return k
}

// partly opens a kernel whose commands are contained at level 2, as on a system
// without bubblewrap.
func partly(t *testing.T, options ...kerneltest.Option) *kerneltest.Kernel {
	t.Helper()
	k := open(t, append(options, kerneltest.With(func(o *kernel.Options) { o.Isolation = sys.IsolationPartial }))...)
	p, err := k.Person().Security.Policy(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if p.Isolation != sys.IsolationPartial {
		t.Skipf("this system has no level 2: %s", p.Problem)
	}
	return k
}

// ran runs a command of an agent that asks nobody.
func ran(t *testing.T, h *kernel.Handle, line string) kernel.ExecResult {
	t.Helper()
	r, err := h.Exec.Shell(t.Context(), kernel.ShellArgs{Command: line})
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return r
}

// outside runs a command as the person would, in a terminal.
func outside(t testing.TB, dir, line string) string {
	t.Helper()
	cmd := exec.Command("bash", "-c", line)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
	return string(out)
}

const commits = `export GIT_AUTHOR_NAME=n GIT_AUTHOR_EMAIL=e GIT_COMMITTER_NAME=n GIT_COMMITTER_EMAIL=e; `

func TestACommandThatOnlyLooksDoesNotFindSecrets(t *testing.T) {
	t.Parallel()
	k := walled(t)
	h := k.Agent("guarded")
	for _, name := range []string{".env", "config/.env.local", "deep/a/b/server.pem", "node_modules/x/.npmrc", "credentials.json", "deep/.aws/config"} {
		write(t, filepath.Join(k.Folder, name), "HINT=hunter2\n")
	}
	write(t, filepath.Join(k.Folder, "deep", "readme"), "HINT=public\n")
	write(t, filepath.Join(k.Folder, ".env.example"), "HINT=sample\n")
	free := 0
	for _, line := range []string{
		`grep -rh HINT .`, `grep -r "" . --include=.env`, `grep -r "" --include="*.pem" .`, `find . -type f -exec grep -h HINT {} +`, `head -c 100 deep/a/b/*`, `wc -c -- deep/a/b/*; sort deep/a/b/*`,
		`grep -rh "" deep`, `find deep -name '*.pem' | xargs cat`, `cd deep && grep -r HINT`, `ls -A; grep HINT -r config`,
	} {
		v := security.ClassifyCommand(line, security.CommandOptions{Dir: k.Folder, Home: t.TempDir()}).At(sys.IsolationFull, "")
		if security.DecideCommand(security.ModeGuarded, v, sys.IsolationFull) != security.DecisionFree {
			continue // a person is asked
		}
		free++
		if r := ran(t, h, line); strings.Contains(r.Output, "hunter2") {
			t.Errorf("%s: got %q", line, r.Output)
		}
	}
	if free < 3 {
		t.Errorf("only %d lines run unasked", free)
	}
	r := ran(t, h, "grep -rh HINT .")
	if !strings.Contains(r.Output, "public") || !strings.Contains(r.Output, "sample") || !strings.Contains(r.Note, ".env, credentials.json") || !strings.Contains(r.Note, "Name the one") {
		t.Errorf("got %q, %q", r.Output, r.Note)
	}
	// Named and approved, it is there, and the others are not.
	r, err, _ := answered(t, k, h, true, shell(h, kernel.ShellArgs{Command: "cat .env; cat deep/a/b/*.key; grep -rh HINT config"}))
	if err != nil || strings.Count(r.Output, "HINT=") != 1 {
		t.Errorf("approved: got %q, %v", r.Output, err)
	}
	// Programs of the folder load them.
	write(t, filepath.Join(k.Folder, "run.sh"), "wc -c < .env\n")
	r, err, _ = answered(t, k, h, true, shell(h, kernel.ShellArgs{Command: "sh run.sh"}))
	if err != nil || r.Output != "13\n" {
		t.Errorf("a program: got %q, %v", r.Output, err)
	}
	read, err := k.Person().Security.Labels(t.Context(), kernel.LabelQuery{RunID: h.Principal().ID})
	if err != nil || !strings.Contains(fmt.Sprint(read), "credentials.json") {
		t.Errorf("the run of a program that finds secrets: got labels %+v, %v", read, err)
	}
}

func TestGitDoesNotReportSecretsOutOfViewAsDeleted(t *testing.T) {
	t.Parallel()
	k := walled(t)
	h := k.Agent("guarded")
	write(t, filepath.Join(k.Folder, ".env"), "HINT=hunter2\n")
	write(t, filepath.Join(k.Folder, "a.txt"), "a\n")
	write(t, filepath.Join(k.Folder, "sub", "key.pem"), "hunter2\n")
	write(t, filepath.Join(k.Folder, "sub", "b.txt"), "b\n")
	// The index is as young as the files: git looks into these again.
	outside(t, k.Folder, commits+"git init -q && git add -Af && git commit -qm m && (cd sub && git init -q && git add -Af && git commit -qm m)")
	for line, want := range map[string]string{
		"git status --porcelain":                     "?? sub/.git/\n",
		"git diff --stat":                            "",
		"git ls-files -d -m":                         "",
		"cd sub && git status --porcelain; git diff": "",
	} {
		if line == "git status --porcelain" {
			want = "" // the folder is tracked as files
		}
		if r := ran(t, h, line); r.Output != want {
			t.Errorf("%s: got %q, want %q", line, r.Output, want)
		}
	}
	// What was changed is not shown, and nothing else is hidden by it.
	write(t, filepath.Join(k.Folder, ".env"), "HINT=hunter2 hunter3\n")
	write(t, filepath.Join(k.Folder, "a.txt"), "other\n")
	r := ran(t, h, "git status --porcelain; git diff")
	if strings.Contains(r.Output, "hunter") || strings.Contains(r.Output, " D") || !strings.Contains(r.Output, "M a.txt") || !strings.Contains(r.Output, "+other") || r.ExitCode != 0 {
		t.Errorf("got exit %d: %s", r.ExitCode, r.Output)
	}
	if got := outside(t, k.Folder, "git status --porcelain"); got != " M .env\n M a.txt\n" {
		t.Errorf("outside: got %q", got)
	}
}
