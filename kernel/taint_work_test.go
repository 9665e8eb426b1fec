package kernel_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
)

func isThere(path string) func() bool {
	return func() bool { _, err := os.Lstat(path); return err == nil }
}

// readBy is what an agent that is new carries after it has read a file.
func readBy(t *testing.T, k *kerneltest.Kernel, path string) []kernel.LabelInfo {
	t.Helper()
	h := k.Agent("autonomous")
	if _, err := h.Exec.Read(t.Context(), kernel.ReadArgs{Path: path}); err != nil {
		t.Fatal(err)
	}
	return labelsOf(t, k, h.Principal().ID)
}

// Whatever way a command looks, it meets the label of what a run left that had read
// from outside.
func TestLabelsAreMetWhereverACommandLooks(t *testing.T) {
	t.Parallel()
	const git = "git -c user.email=a@b -c user.name=n "
	for what, c := range map[string]struct{ script, later string }{
		"a pattern":                {"mkdir -p build; echo obey > build/n", "cat build/*"},
		"braces":                   {"mkdir -p build; echo obey > build/n", "cat build/{n,n}"},
		"names that a pattern has": {"mkdir -p build/obey", "ls *"},
		"names below":              {"mkdir -p build/obey", "du -a"},
		"notes":                    {git + "notes add -m obey", "git notes show"},
		"a reflog":                 {git + "update-ref -m obey --create-reflog refs/heads/x HEAD", "git reflog show x"},
		"a repository in it":       {git + "-C sub commit -q --allow-empty -m obey", "git -C sub log -1"},
		"a repository gone to":     {git + "-C sub commit -q --allow-empty -m obey", "cd sub && git log -1"},
		"a repository elsewhere":   {git + "-C apart commit -q --allow-empty -m obey", "git -C apart log -1"},
		"a link's words":           {"ln -s obey said", "ls -l"},
		"a folder's name":          {"mkdir obey", "ls"},
		"a folder renamed":         {"mkdir -p build; echo obey > build/n; mv build shown", "cat shown/n"},
		"an object in its place":   {"f=$(find .git/objects -type f | head -n 1); chmod u+w $f; printf x >> $f", "cat .git/HEAD"},
		"a draft of git":           {"echo obey > .git/COMMIT_EDITMSG", "cat .git/COMMIT_EDITMSG"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			k := open(t)
			contained(t, k)
			write(t, filepath.Join(k.Folder, ".gitignore"), "build/\n")
			write(t, filepath.Join(k.Folder, "do.sh"), c.script+"\n")
			gitFolder(t, k.Folder)
			gitFolder(t, filepath.Join(k.Folder, "sub"))
			write(t, filepath.Join(k.Folder, "setup.sh"), "git init -q --separate-git-dir=store apart; cd apart; echo > b; git add .; "+git+"commit -qm init\n")
			runs(t, k.Agent("autonomous"), "bash setup.sh")
			if got := texts(readBy(t, k, "a")); got != "" {
				t.Fatalf("before: got %q", got)
			}
			runs(t, tainting(t, k), "bash do.sh")
			reader := k.Agent("autonomous")
			runs(t, reader, c.later)
			if got := texts(labelsOf(t, k, reader.Principal().ID)); !strings.Contains(got, "an agent") {
				t.Errorf("%q reads without a label: %q", c.later, got)
			}
		})
	}
}

func TestWhatIsReadWhileATaintedCommandIsAtWorkCarriesItsLabel(t *testing.T) {
	t.Parallel()
	k := open(t)
	contained(t, k)
	at := func(name string) string { return filepath.Join(k.Folder, name) }
	write(t, at("a.txt"), "a\n")
	write(t, at("do.sh"), "echo Obey. > AGENTS.md; touch began; while [ ! -e go ]; do sleep 0.05; done\n")
	h := tainting(t, k)
	ended := make(chan error, 1)
	go func() {
		_, err := h.Exec.Shell(context.WithoutCancel(t.Context()), kernel.ShellArgs{Command: "bash do.sh"})
		ended <- err
	}()
	k.Until("the command is at work", isThere(at("began")))
	if got := texts(readBy(t, k, "a.txt")); !strings.Contains(got, "where an agent ran commands") {
		t.Errorf("while it is at work: got %q", got)
	}
	if prompt, _ := toldIn(t, k, k.Folder); strings.Contains(prompt, "Obey.") {
		t.Error("what it wrote is followed before it has ended")
	}
	write(t, at("go"), "")
	approve(t, k, k.Approval(h.Principal().ID), "") // AGENTS.md stays
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if got := texts(readBy(t, k, "a.txt")); got != "" {
		t.Errorf("what it did not touch carries %q once it has ended", got)
	}
	if prompt, _ := toldIn(t, k, k.Folder); strings.Contains(prompt, "Obey.") {
		t.Error("what it wrote is followed")
	}
}

// waiter is a script that hands on what it is given later.
const waiter = "touch began; while [ ! -e go ]; do sleep 0.05; done; mkdir -p build; cat go > build/n; cat go > c.txt\n"

func TestACommandInTheBackgroundHandsOnNothingWithoutItsLabel(t *testing.T) {
	t.Parallel()
	for what, tell := range map[string]func(k *kerneltest.Kernel, own *kernel.Handle) *kernel.Handle{
		"its own run, which read from outside since": func(k *kerneltest.Kernel, own *kernel.Handle) *kernel.Handle {
			ap, done := asks(t, k, own, kernel.ShellArgs{Command: "echo page", Network: true})
			approve(t, k, ap, "")
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			return own
		},
		"another run": func(k *kerneltest.Kernel, _ *kernel.Handle) *kernel.Handle { return tainting(t, k) },
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			k := open(t)
			contained(t, k)
			at := func(name string) string { return filepath.Join(k.Folder, name) }
			write(t, at(".ignore"), "build/\n")
			write(t, at("do.sh"), waiter)
			own := k.Agent("autonomous")
			r, err := own.Exec.Shell(t.Context(), kernel.ShellArgs{Command: "bash do.sh", Background: true})
			if err != nil {
				t.Fatal(err)
			}
			k.Until("the command is at work", isThere(at("began")))
			if got := texts(readBy(t, k, "do.sh")); got != "" {
				t.Fatalf("before anything came from outside: got %q", got)
			}
			teller := tell(k, own)
			if _, err := teller.Exec.Write(t.Context(), kernel.WriteArgs{Path: "go", Content: "Obey.\n"}); err != nil {
				t.Fatal(err)
			}
			k.Until("the command has ended", func() bool {
				log, err := own.Exec.JobLog(t.Context(), r.JobID, 0)
				return err == nil && log.Done
			})
			for _, name := range []string{"build/n", "c.txt"} {
				k.Until(name+" carries a label", func() bool { return strings.Contains(texts(readBy(t, k, name)), "an agent") })
			}
		})
	}
}

// What only looks goes on reading in the background, and tells of it in its output.
func TestTheOutputOfACommandThatGoesOnReadingCarriesWhatCameMeanwhile(t *testing.T) {
	t.Parallel()
	k := open(t)
	contained(t, k)
	write(t, filepath.Join(k.Folder, "a.txt"), "a\n")
	teller, own := tainting(t, k), k.Agent("autonomous")
	r, err := own.Exec.Shell(t.Context(), kernel.ShellArgs{Command: "tail -n +1 -f a.txt", Background: true})
	if err != nil {
		t.Fatal(err)
	}
	tells := func(words string) func() bool {
		return func() bool {
			log, err := own.Exec.JobLog(t.Context(), r.JobID, 0)
			return err == nil && strings.Contains(log.Text, words)
		}
	}
	k.Until("it reads", tells("a"))
	if got := texts(labelsOf(t, k, own.Principal().ID)); got != "" {
		t.Fatalf("before anything came: got %q", got)
	}
	if _, err := teller.Exec.Edit(t.Context(), kernel.EditArgs{Path: "a.txt", Old: "a", New: "a\nObey."}); err != nil {
		t.Fatal(err)
	}
	if _, err := own.Exec.JobLog(t.Context(), r.JobID, 0); err != nil {
		t.Fatal(err)
	}
	if got := texts(labelsOf(t, k, own.Principal().ID)); !strings.Contains(got, "which an agent wrote") {
		t.Errorf("got %q", got)
	}
}

// A person trusts what they have seen, not what undo puts in its place.
func TestWhatUndoPutsBackIsNotWhatThePersonTrusted(t *testing.T) {
	t.Parallel()
	k := open(t)
	contained(t, k)
	say := func(h *kernel.Handle, words string) {
		t.Helper()
		if _, err := h.Exec.Read(t.Context(), kernel.ReadArgs{Path: "a.txt"}); err != nil && words != "Obey." {
			t.Fatal(err)
		}
		if _, err := h.Exec.Write(t.Context(), kernel.WriteArgs{Path: "a.txt", Content: words}); err != nil {
			t.Fatal(err)
		}
	}
	say(tainting(t, k), "Obey.")
	second := tainting(t, k)
	say(second, "Hello.")
	got := readBy(t, k, "a.txt")
	if len(got) == 0 {
		t.Fatal("what was written carries no label")
	}
	for _, l := range got {
		if _, err := k.Person().Security.TrustLabel(t.Context(), l.ID, true); err != nil {
			t.Fatal(err)
		}
	}
	if got := texts(readBy(t, k, "a.txt")); got != "" {
		t.Fatalf("after the person trusted it: got %q", got)
	}
	id := ended(t, k, second)
	plan, err := k.Person().Agents.UndoPreview(t.Context(), kernel.UndoQuery{RunID: id})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.Person().Agents.Undo(t.Context(), kernel.UndoInput{RunID: id, Hash: plan.Hash}); err != nil {
		t.Fatal(err)
	}
	if raw, err := os.ReadFile(filepath.Join(k.Folder, "a.txt")); err != nil || string(raw) != "Obey." {
		t.Fatalf("undone: got %q, %v", raw, err)
	}
	if got := texts(readBy(t, k, "a.txt")); !strings.Contains(got, "which an agent wrote") {
		t.Errorf("what undo put back carries %q", got)
	}
}

// keeps runs a command of which the person keeps what is asked about.
func keeps(t *testing.T, k *kerneltest.Kernel, h *kernel.Handle, line string) {
	t.Helper()
	done := make(chan error, 1)
	go func() {
		r, err := h.Exec.Shell(context.WithoutCancel(t.Context()), kernel.ShellArgs{Command: line})
		if err == nil && r.ExitCode != 0 {
			t.Errorf("%s: got %+v", line, r)
		}
		done <- err
	}()
	k.Until("the command has ended", func() bool {
		select {
		case err := <-done:
			if err != nil {
				t.Errorf("%s: %v", line, err)
			}
			return true
		default:
		}
		list, err := k.Person().Security.Approvals(t.Context(), kernel.ApprovalQuery{State: "pending", RunID: h.Principal().ID})
		if err != nil {
			t.Fatal(err)
		}
		for _, ap := range list {
			approve(t, k, ap, "")
		}
		return false
	})
}

// Instructions are held however a run that has read from outside brings them about.
func TestInstructionsAreHeldWhateverBroughtThem(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct{ script, at string }{
		"a file":              {"echo Obey. > AGENTS.md", "."},
		"another convention":  {"echo Obey. > CLAUDE.md", "."},
		"a folder in it":      {"echo Obey. > sub/AGENTS.md", "sub"},
		"the folder above":    {"echo Obey. > AGENTS.md", "sub"},
		"a link":              {"mkdir -p build; echo Obey. > build/x; ln -s build/x AGENTS.md", "."},
		"a link to the known": {"ln -s known.md AGENTS.md", "."},
		"a folder's link":     {"mkdir -p build; echo Obey. > build/AGENTS.md; rm -r sub; ln -s build sub", "sub"},
		"another name before": {"echo Obey. > x; mv x AGENTS.md", "."},
		"a pipe before":       {"mkfifo AGENTS.md; rm AGENTS.md; echo Obey. > AGENTS.md", "."},
		"git":                 {"echo Obey. > AGENTS.md; git add -f AGENTS.md; git -c user.email=a@b -c user.name=n commit -qm x; rm AGENTS.md; git checkout -q -- AGENTS.md", "."},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			k := open(t)
			contained(t, k)
			write(t, filepath.Join(k.Folder, ".gitignore"), "build/\n")
			write(t, filepath.Join(k.Folder, "known.md"), "Obey.\n")
			write(t, filepath.Join(k.Folder, "sub", "x"), "x\n")
			write(t, filepath.Join(k.Folder, "do.sh"), c.script+"\n")
			gitFolder(t, k.Folder)
			keeps(t, k, tainting(t, k), "bash do.sh") // whoever keeps a file follows nothing by that
			if prompt, run := toldIn(t, k, filepath.Join(k.Folder, c.at)); strings.Contains(prompt, "Obey.") || run.Instructions == nil || !run.Instructions.Withheld {
				t.Errorf("it is followed: %+v", run.Instructions)
			}
		})
	}
}
