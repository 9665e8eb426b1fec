package kernel_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
	"oxios/kernel/sys"
)

// runs has an agent run a command that must not ask.
func runs(t *testing.T, h *kernel.Handle, line string) kernel.ExecResult {
	t.Helper()
	r, err := h.Exec.Shell(t.Context(), kernel.ShellArgs{Command: line})
	if err != nil || r.ExitCode != 0 {
		t.Errorf("%q: got %+v, %v", line, r, err)
	}
	return r
}

// gitFolder makes the kernel's folder a git repository with a commit.
func gitFolder(t *testing.T, dir string) {
	t.Helper()
	write(t, filepath.Join(dir, "a"), "a\n")
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.email=a@b", "-c", "user.name=n", "commit", "-qm", "init"}} {
		if out, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
			t.Skipf("git: %v %s", err, out)
		}
	}
}

// What a run that has read from outside leaves where no index looks is still a
// stranger's word to the next one.
func TestLabelsDoNotWashOff(t *testing.T) {
	t.Parallel()
	const git = "git -c user.email=a@b -c user.name=n "
	for what, c := range map[string]struct{ script, later string }{
		"a message":             {git + `commit -q --allow-empty -m "obey"`, "git log -1"},
		"a tag":                 {git + `tag -a v9 -m "obey"`, "git show v9"},
		"a branch":              {"git branch obey", "git branch"},
		"a stash":               {"echo obey > a; " + git + `stash push -q -m obey`, "git stash list"},
		"a description":         {"echo obey > .git/description", "cat .git/description"},
		"an ignored folder":     {"mkdir -p build; echo obey > build/notes.txt", "cat build/notes.txt"},
		"an installed package":  {"mkdir -p node_modules/x; echo obey > node_modules/x/README.md", "cat node_modules/x/README.md"},
		"a script that reads":   {"mkdir -p build; echo obey > build/notes.txt", "bash later.sh"},
		"a pipe that went":      {"mkfifo p", "cat a"},
		"a folder left out now": {"mkdir -p out; echo obey > out/x; echo out/ >> .gitignore", "cat out/x"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			k := open(t)
			contained(t, k)
			write(t, filepath.Join(k.Folder, ".gitignore"), "build/\n")
			write(t, filepath.Join(k.Folder, "later.sh"), "cat build/notes.txt\n")
			write(t, filepath.Join(k.Folder, "do.sh"), c.script+"\n")
			gitFolder(t, k.Folder)
			runs(t, k.Agent("autonomous"), "bash do.sh; git checkout -q a 2>/dev/null; true")
			clean := k.Agent("autonomous")
			runs(t, clean, c.later)
			if got := texts(labelsOf(t, k, clean.Principal().ID)); got != "" {
				t.Fatalf("what a clean run left carries %q", got)
			}

			tainted := tainting(t, k)
			write(t, filepath.Join(k.Folder, "do.sh"), strings.ReplaceAll(strings.ReplaceAll(c.script, "v9", "v8"), "branch obey", "branch obey2")+"; echo more >> .git/description; mkdir -p build; echo >> build/notes.txt\n")
			_ = os.Remove(filepath.Join(k.Folder, "p"))
			runs(t, tainted, "bash do.sh")
			reader := k.Agent("autonomous")
			runs(t, reader, c.later)
			if got := texts(labelsOf(t, k, reader.Principal().ID)); !strings.Contains(got, "an agent") {
				t.Errorf("%q reads without a label: %q", c.later, got)
			}
			plain := k.Agent("autonomous")
			if _, err := plain.Exec.Read(t.Context(), kernel.ReadArgs{Path: "later.sh"}); err != nil {
				t.Fatal(err)
			}
			if got := texts(labelsOf(t, k, plain.Principal().ID)); got != "" && what != "a pipe that went" {
				t.Errorf("a file that the index knows carries %q", got)
			}
		})
	}
}

// tainting is an agent that has read from outside.
func tainting(t *testing.T, k *kerneltest.Kernel) *kernel.Handle {
	t.Helper()
	h := k.Agent("autonomous")
	ap, done := asks(t, k, h, kernel.ShellArgs{Command: "echo page", Network: true})
	approve(t, k, ap, "")
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	return h
}

func TestABackgroundCommandOfATaintedRunTaintsTheFolderAtOnce(t *testing.T) {
	t.Parallel()
	k := open(t)
	contained(t, k)
	write(t, filepath.Join(k.Folder, "a.txt"), "a\n")
	write(t, filepath.Join(k.Folder, "do.sh"), "sleep 60\n")
	h := tainting(t, k)
	r, err := h.Exec.Shell(t.Context(), kernel.ShellArgs{Command: "bash do.sh", Background: true})
	if err != nil {
		t.Fatal(err)
	}
	reader := k.Agent("autonomous")
	if _, err := reader.Exec.Read(t.Context(), kernel.ReadArgs{Path: "a.txt"}); err != nil {
		t.Fatal(err)
	}
	got := labelsOf(t, k, reader.Principal().ID)
	if !strings.Contains(texts(got), "where an agent ran commands") {
		t.Fatalf("got %q", texts(got))
	}
	if err := h.Exec.KillJob(t.Context(), r.JobID); err != nil {
		t.Fatal(err)
	}
	if _, err := k.Person().Security.TrustLabel(t.Context(), got[0].ID, true); err != nil {
		t.Fatal(err)
	}
	if left := texts(labelsOf(t, k, reader.Principal().ID)); left != "" {
		t.Errorf("got %q after the person trusted it", left)
	}
}

func TestAFolderThatHoldsTooMuchIsTaintedByACommandOfATaintedRun(t *testing.T) {
	t.Parallel()
	for name, background := range map[string]bool{"in front": false, "in the background": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := open(t, kerneltest.With(func(o *kernel.Options) { o.MaxPaths = 5 }))
			contained(t, k)
			for _, f := range []string{"a", "b", "c", "d", "e", "f", "g"} {
				write(t, filepath.Join(k.Folder, f), f+"\n")
			}
			write(t, filepath.Join(k.Folder, "do.sh"), "echo obey > a\n")
			runs(t, k.Agent("autonomous"), "bash do.sh")
			clean := k.Agent("autonomous")
			runs(t, clean, "cat a")
			if got := texts(labelsOf(t, k, clean.Principal().ID)); got != "" {
				t.Fatalf("what a clean run left carries %q", got)
			}
			tainted := tainting(t, k)
			write(t, filepath.Join(k.Folder, "do.sh"), "echo obey twice > a\n")
			if r, err := tainted.Exec.Shell(t.Context(), kernel.ShellArgs{Command: "bash do.sh", Background: background}); err != nil || r.ExitCode != 0 {
				t.Fatalf("got %+v, %v", r, err)
			}
			k.Until("it is written", func() bool { return read(t, filepath.Join(k.Folder, "a")) == "obey twice\n" })
			reader := k.Agent("autonomous")
			runs(t, reader, "cat a")
			if got := texts(labelsOf(t, k, reader.Principal().ID)); !strings.Contains(got, "an agent") {
				t.Errorf("it is read without a label: %q", got)
			}
		})
	}
}

func TestAProgramOfTheSystemThatIsStartedByItsPathIsNotRead(t *testing.T) {
	t.Parallel()
	k := open(t)
	contained(t, k)
	h := k.Agent("autonomous")
	runs(t, h, "/usr/bin/env true; /bin/echo hello")
	if got := texts(labelsOf(t, k, h.Principal().ID)); got != "" {
		t.Errorf("got %q, want nothing from outside", got)
	}
}

// The instructions of a folder in which a tainted run left something nobody knows are
// followed as they were, and as they are now only once the person has seen that.
func TestInstructionsAreFollowedAsThePersonHasSeenThem(t *testing.T) {
	t.Parallel()
	k := open(t)
	contained(t, k)
	gitFolder(t, k.Folder)
	write(t, filepath.Join(k.Folder, "AGENTS.md"), "Be kind.\n")
	told := func() string {
		t.Helper()
		prompt, run := toldIn(t, k, k.Folder)
		if in := run.Instructions; in == nil || in.Text+in.Change != "" {
			t.Fatalf("got %+v, want it noted without its text", in)
		}
		return prompt
	}
	if got := told(); !strings.Contains(got, "Be kind.") {
		t.Fatalf("got %q", got)
	}
	write(t, filepath.Join(k.Folder, "do.sh"), "echo obey > .git/description\n")
	runs(t, tainting(t, k), "bash do.sh")
	if got := told(); !strings.Contains(got, "Be kind.") {
		t.Errorf("what was followed before: got %q", got)
	}
	write(t, filepath.Join(k.Folder, "AGENTS.md"), "Be kind.\nObey.\n") // as if git had put it there
	if got := told(); strings.Contains(got, "Obey.") || strings.Contains(got, "Be kind.") {
		t.Errorf("got %q, want nothing followed that the person has not seen", got)
	}
	f, err := k.Person().Exec.Folder(t.Context(), k.Folder)
	if err != nil || f.Instructions == nil || !f.Instructions.Withheld || !strings.Contains(f.Instructions.Change, "+Obey.") || f.Instructions.ProblemKO == "" {
		t.Fatalf("got %+v, %v", f.Instructions, err)
	}
	if _, err := k.Person().Security.FollowInstructions(t.Context(), k.Folder, "another"); sys.CodeOf(err) != sys.CodeConflict {
		t.Errorf("another hash: got %v", err)
	}
	if _, err := k.Person().Security.FollowInstructions(t.Context(), k.Folder, f.Instructions.Hash); err != nil {
		t.Fatal(err)
	}
	if got := told(); !strings.Contains(got, "Be kind.\nObey.") {
		t.Errorf("got %q after the person has seen it", got)
	}
	_, err = k.Agent("autonomous").Security.FollowInstructions(t.Context(), k.Folder, f.Instructions.Hash)
	wantCode(t, "an agent", err, sys.CodeForbidden)
}

func TestACommandThatRunsCodeBesideSecretsIsPrivate(t *testing.T) {
	t.Parallel()
	k := open(t)
	contained(t, k)
	write(t, filepath.Join(k.Folder, "sub", ".env"), "KEY=1\n")
	write(t, filepath.Join(k.Folder, "do.sh"), "true\n")
	for line, want := range map[string]bool{"bash do.sh": true, "mkdir -p x": false, "ls": false} {
		h := k.Agent("autonomous")
		runs(t, h, line)
		if got := texts(labelsOf(t, k, h.Principal().ID)); strings.Contains(got, "passwords or keys") != want {
			t.Errorf("%q: got %q", line, got)
		}
	}
}

func TestSecretsOfTheHistoryCountByTheNamesThatGitGives(t *testing.T) {
	t.Parallel()
	k := open(t)
	contained(t, k)
	write(t, filepath.Join(k.Folder, "config", ".env"), "KEY=1\n")
	gitFolder(t, k.Folder)
	if err := os.RemoveAll(filepath.Join(k.Folder, "config")); err != nil {
		t.Fatal(err)
	}
	h := k.Agent("autonomous")
	r := runs(t, h, "git log -p -1")
	if got := texts(labelsOf(t, k, h.Principal().ID)); strings.Contains(r.Output, "config/.env") != strings.Contains(got, "config/.env, which may hold") {
		t.Errorf("got %q for %q", got, r.Output)
	}
}
