package kernel_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
	"oxios/kernel/sys"
)

// onCopies has all commands work on copies. On a machine without copies it sees to
// it that each command tells that, and why.
func onCopies(t testing.TB, k *kerneltest.Kernel) {
	t.Helper()
	if _, err := k.Person().Infra.SetConfig(t.Context(), "commands_on_copy", "true"); err != nil {
		t.Fatal(err)
	}
	r := runLine(t, k.AgentIn(t.TempDir(), "autonomous"), "echo x > probe")
	if strings.Contains(r.Note, "It worked in the folder itself: ") {
		t.Skip(r.Note)
	}
}

func TestWhatACommandOnACopyDidIsUndoneToTheByteWhereverItIsInTheFolder(t *testing.T) {
	t.Parallel()
	k := open(t)
	onCopies(t, k)
	h := k.Agent("autonomous")
	at := func(name string) string { return filepath.Join(k.Folder, name) }
	for name, text := range map[string]string{
		"changed": "before", "mode": "m", "dir/gone": "gone", "dir/sub/gone": "gone too", "moved": "moves", "kind": "file", "node_modules/a/b": "a dependency",
		".gitignore": "build/\n", "build/a": "built", "big": strings.Repeat("0123456789", 1100000), "line\nbreak": "odd name", ".git/objects/aa": "an object",
	} {
		write(t, at(name), text)
	}
	before := treeOf(t, k.Folder)
	runLine(t, h, `printf after > changed; chmod 600 mode; rm -r dir; mv moved there; rm kind; mkdir kind; echo x > kind/in; rm -r node_modules build .git; printf x >> big; echo z > "line
break"`)
	put(t, h, "changed", "by a tool")
	runLine(t, h, "rm big; echo again > changed; ls > list")
	noScratch(t, k)
	id := ended(t, k, h)
	listed := changesOf(t, k, id)
	if listed["there"] != "created" || listed["moved"] != "deleted" || listed["node_modules/a/b"] != "deleted" || listed["big"] != "deleted" {
		t.Errorf("got the changes %v", listed)
	}
	after := treeOf(t, k.Folder)
	for _, f := range goBack(t, k, kernel.UndoQuery{RunID: id}).Files {
		if f.Status != kernel.UndoDone {
			t.Errorf("%q %s: got %s (%s)", f.Path, f.Does, f.Status, f.Why)
		}
	}
	if got := treeOf(t, k.Folder); got != before {
		t.Errorf("got\n%.3000s\nwant\n%.3000s", got, before)
	}
	goBack(t, k, kernel.UndoQuery{RunID: id, Redo: true})
	if got := treeOf(t, k.Folder); got != after {
		t.Errorf("the redo: got\n%.3000s\nwant\n%.3000s", got, after)
	}
}

// onTheCopy waits until a command has made a file on its copy, and returns where
// what it writes lies.
func onTheCopy(k *kerneltest.Kernel, name string) (upper string) {
	k.Until("the command works", func() bool {
		list, _ := filepath.Glob(filepath.Join(k.Home, "tries", "*", "upper", name))
		if len(list) > 0 {
			upper = filepath.Dir(list[0])
		}
		return upper != ""
	})
	return upper
}

// whileOnCopy runs a command that waits on its copy until the test has done
// something in the folder.
func whileOnCopy(t *testing.T, k *kerneltest.Kernel, h *kernel.Handle, line string, meanwhile func()) (kernel.ExecResult, error) {
	t.Helper()
	write(t, filepath.Join(k.Folder, "go"), "") // what is made later in the folder may not be seen on the copy
	done := make(chan tryEnd, 1)
	ctx, end := context.WithCancel(t.Context())
	defer end()
	go func() {
		res, err := h.Exec.Shell(ctx, kernel.ShellArgs{Command: "echo > begun; until [ -s go ]; do sleep 0.01; done; rm begun; " + line})
		done <- tryEnd{res, err}
	}()
	onTheCopy(k, "begun")
	meanwhile()
	write(t, filepath.Join(k.Folder, "go"), "go")
	r := <-done
	return r.res, r.err
}

func TestWhatSomebodyChangesWhileACommandIsOnACopyIsNotTheCommands(t *testing.T) {
	t.Parallel()
	k := open(t)
	onCopies(t, k)
	write(t, filepath.Join(k.Folder, "mine"), "old")
	write(t, filepath.Join(k.Folder, "its"), "old")
	h := k.Agent("autonomous")
	r, err := whileOnCopy(t, k, h, "printf by-command > its", func() { write(t, filepath.Join(k.Folder, "mine"), "edited") })
	if err != nil || r.ExitCode != 0 {
		t.Fatalf("got %+v, %v", r, err)
	}
	if got := statuses(goBack(t, k, kernel.UndoQuery{RunID: ended(t, k, h)})); got != "its restores done" {
		t.Errorf("undone:\n%s", got)
	}
	if mine, its := read(t, filepath.Join(k.Folder, "mine")), read(t, filepath.Join(k.Folder, "its")); mine != "edited" || its != "old" {
		t.Errorf("got %q and %q", mine, its)
	}
}

func TestCommandOnACopyBringsNothingWhereSomebodyChangedWhatItChanged(t *testing.T) {
	t.Parallel()
	k := open(t)
	onCopies(t, k)
	write(t, filepath.Join(k.Folder, "both"), "old")
	h := k.Agent("autonomous")
	_, err := whileOnCopy(t, k, h, "printf by-command > both; printf x > other", func() { write(t, filepath.Join(k.Folder, "both"), "mine") })
	wantCode(t, "the command", err, sys.CodeConflict, "both")
	if !strings.Contains(sys.AsError(err).Message, "nothing of what it did was brought into the folder") {
		t.Errorf("got %v", err)
	}
	if got := read(t, filepath.Join(k.Folder, "both")); got != "mine" {
		t.Errorf("got %q", got)
	}
	if _, err := os.Lstat(filepath.Join(k.Folder, "other")); err == nil {
		t.Error("half of what the command did is there")
	}
	noScratch(t, k)
}

func TestStoppedCommandOnACopyLeavesTheFolderAsItWas(t *testing.T) {
	t.Parallel()
	k := open(t)
	onCopies(t, k)
	write(t, filepath.Join(k.Folder, "file"), "old")
	before := treeOf(t, k.Folder)
	ctx, end := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := k.Agent("autonomous").Exec.Shell(ctx, kernel.ShellArgs{Command: "rm file; echo > begun; sleep 60"})
		done <- err
	}()
	onTheCopy(k, "begun")
	end()
	if err := <-done; err == nil {
		t.Error("a stopped command tells success")
	}
	if got := treeOf(t, k.Folder); got != before {
		t.Errorf("got\n%s\nwant\n%s", got, before)
	}
	noScratch(t, k)
}

func TestCommandThatChangesTooMuchOnACopySaysHowItCanBeRun(t *testing.T) {
	t.Parallel()
	k := open(t)
	onCopies(t, k)
	h := k.Agent("autonomous")
	_, err, ap := answered(t, k, h, true, shell(h, kernel.ShellArgs{Command: "mkdir many; touch many/{1..5001}"}))
	if want := "up to 5000 files and"; !strings.Contains(ap.Request.Undo, want) {
		t.Errorf("the card says %q of an undo, want %q", ap.Request.Undo, want)
	}
	wantCode(t, "the command", err, sys.CodeTooLarge, "5000 files", "background")
	if _, err := os.Lstat(filepath.Join(k.Folder, "many")); err == nil {
		t.Error("half of what the command did is there")
	}
}

func TestFolderThatHoldsTooMuchForALookIsWorkedOnAsACopy(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.With(func(o *kernel.Options) { o.MaxPaths = 200 }))
	onCopies(t, k)
	if _, err := k.Person().Infra.SetConfig(t.Context(), "commands_on_copy", "false"); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(k.Folder, "file"), "old")
	for i := range 300 {
		write(t, filepath.Join(k.Folder, "many", fmt.Sprint(i/100), fmt.Sprint(i)), "x")
	}
	h := k.Agent("autonomous")
	if r := runLine(t, h, "printf new > file; rm -r many/1"); strings.Contains(r.Note, "cannot be undone") {
		t.Errorf("got %q", r.Note)
	}
	if p := goBack(t, k, kernel.UndoQuery{RunID: ended(t, k, h)}); p.Ready != 102 {
		t.Errorf("%d paths were put back, want 102", p.Ready)
	}
	if got := read(t, filepath.Join(k.Folder, "file")); got != "old" {
		t.Errorf("got %q", got)
	}
	if list, err := os.ReadDir(filepath.Join(k.Folder, "many", "1")); err != nil || len(list) != 100 {
		t.Errorf("got %d, %v", len(list), err)
	}
}

func TestCommandThatCannotWorkOnACopyTellsWhy(t *testing.T) {
	t.Parallel()
	k := open(t)
	onCopies(t, k)
	r := runLine(t, k.AgentIn(filepath.Dir(k.Home), "autonomous"), "echo x > beside")
	if want := "It worked in the folder itself: There can be no copy of"; !strings.Contains(r.Note, want) {
		t.Errorf("got %q, want %q", r.Note, want)
	}
}

func TestCopiesAreWantedWhileACommandWorks(t *testing.T) {
	t.Parallel()
	k := open(t)
	contained(t, k)
	h := k.Agent("autonomous")
	done := make(chan tryEnd, 1)
	go func() {
		res, err := h.Exec.Shell(t.Context(), kernel.ShellArgs{Command: "echo > begun; until [ -s go ]; do sleep 0.01; done"})
		done <- tryEnd{res, err}
	}()
	k.Until("the command works", func() bool {
		_, err := os.Stat(filepath.Join(k.Folder, "begun"))
		return err == nil
	})
	if _, err := k.Person().Infra.SetConfig(t.Context(), "commands_on_copy", "true"); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(k.Folder, "go"), "go")
	if r := <-done; r.err != nil || r.res.ExitCode != 0 || strings.Contains(r.res.Note, "in the folder itself") {
		t.Errorf("got %+v, %v", r.res, r.err)
	}
}
