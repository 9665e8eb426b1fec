package kernel_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
	"oxios/kernel/sys"
	"oxios/kernel/undo"
)

// ended ends the run of an agent that a test has adopted.
func ended(t testing.TB, k *kerneltest.Kernel, h *kernel.Handle) string {
	t.Helper()
	id := h.Principal().ID
	if _, err := k.Person().Agents.Kill(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	return id
}

func preview(t testing.TB, k *kerneltest.Kernel, q kernel.UndoQuery) kernel.UndoPlan {
	t.Helper()
	p, err := k.Person().Agents.UndoPreview(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// goBack undoes or redoes what a preview shows.
func goBack(t testing.TB, k *kerneltest.Kernel, q kernel.UndoQuery, force ...string) kernel.UndoPlan {
	t.Helper()
	p := preview(t, k, q)
	do := k.Person().Agents.Undo
	if q.Redo {
		do = k.Person().Agents.Redo
	}
	done, err := do(t.Context(), kernel.UndoInput{RunID: q.RunID, Paths: q.Paths, Force: force, Hash: p.Hash})
	if err != nil {
		t.Fatal(err)
	}
	return done
}

// statuses tells a plan as "path does status".
func statuses(p kernel.UndoPlan) string {
	var out []string
	for _, f := range p.Files {
		out = append(out, f.Path+" "+f.Does+" "+f.Status)
	}
	return strings.Join(out, "\n")
}

// treeOf tells all that is in a folder.
func treeOf(t *testing.T, dir string) string {
	t.Helper()
	var out strings.Builder
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		info, err := d.Info()
		if err != nil {
			return err
		}
		switch {
		case d.IsDir():
			out.WriteString(rel + "/\n")
		case info.Mode()&os.ModeSymlink != 0:
			to, _ := os.Readlink(path)
			out.WriteString(rel + " -> " + to + "\n")
		default:
			raw, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			out.WriteString(rel + " " + info.Mode().Perm().String() + " " + string(raw) + "\n")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func put(t testing.TB, h *kernel.Handle, path, text string) {
	t.Helper()
	if _, err := h.Exec.Write(t.Context(), kernel.WriteArgs{Path: path, Content: text}); err != nil {
		t.Fatal(err)
	}
}

func storeIsClean(t *testing.T, k *kerneltest.Kernel) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", "fsck", "--full", "--strict")
	cmd.Env = append(os.Environ(), "GIT_DIR="+filepath.Join(k.Home, "undo"), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "LC_ALL=C")
	out, err := cmd.CombinedOutput()
	for line := range strings.Lines(string(out)) {
		if !strings.HasPrefix(line, "notice:") {
			t.Errorf("git fsck says %q", line)
		}
	}
	if err != nil {
		t.Errorf("git fsck: %v\n%s", err, out)
	}
}

func TestUndoPutsBackWhatARunWroteAndRedoBringsItAgain(t *testing.T) {
	t.Parallel()
	k := open(t)
	h := k.Agent("guarded")
	write(t, filepath.Join(k.Folder, "old.txt"), "one\ntwo\n")
	if err := os.Chmod(filepath.Join(k.Folder, "old.txt"), 0o640); err != nil {
		t.Fatal(err)
	}
	before := treeOf(t, k.Folder)
	put(t, h, "old.txt", "one\nTWO\n")
	put(t, h, "old.txt", "one\nTWO\nthree\n")
	put(t, h, "new/deep/a.txt", "a\n")
	put(t, h, "new/b.txt", "b\n")
	after := treeOf(t, k.Folder)
	id := h.Principal().ID
	_, err := k.Person().Agents.UndoPreview(t.Context(), kernel.UndoQuery{RunID: id})
	wantCode(t, "an undo of a run at work", err, sys.CodeBusy)
	_, err = h.Agents.Undo(t.Context(), kernel.UndoInput{RunID: id})
	wantCode(t, "an agent's undo", err, sys.CodeForbidden)
	ended(t, k, h)
	storeIsClean(t, k)
	p := preview(t, k, kernel.UndoQuery{RunID: id})
	want := "new removes ready\nnew/b.txt removes ready\nnew/deep removes ready\nnew/deep/a.txt removes ready\nold.txt restores ready"
	if got := statuses(p); got != want || p.Ready != 5 {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if d := p.Files[4].Diff; !strings.Contains(d, "-TWO\n-three\n+two\n") {
		t.Errorf("got diff %q", d)
	}
	if got := treeOf(t, k.Folder); got != after {
		t.Errorf("the preview changed something:\n%s", got)
	}
	goBack(t, k, kernel.UndoQuery{RunID: id})
	if got := treeOf(t, k.Folder); got != before {
		t.Errorf("got\n%s\nwant\n%s", got, before)
	}
	if again := preview(t, k, kernel.UndoQuery{RunID: id}); len(again.Files) != 0 {
		t.Errorf("got %s to undo once more", statuses(again))
	}
	v, err := k.Person().Agents.Run(t.Context(), id)
	if err != nil || v.Undo == nil || v.Undo.Redo != 3 || v.Undo.Undo != 0 {
		t.Errorf("got %+v, %v, want 3 files to redo", v.Undo, err)
	}
	k.Restart()
	goBack(t, k, kernel.UndoQuery{RunID: id, Redo: true})
	if got := treeOf(t, k.Folder); got != after {
		t.Errorf("got\n%s\nwant\n%s", got, after)
	}
	goBack(t, k, kernel.UndoQuery{RunID: id})
	if got := treeOf(t, k.Folder); got != before {
		t.Errorf("the second undo: got\n%s\nwant\n%s", got, before)
	}
	storeIsClean(t, k)
	chain, err := k.Person().Security.Audit(t.Context(), kernel.AuditQuery{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	undone := 0
	for _, e := range chain {
		if strings.Contains(string(e.Metadata), `"agents.undo"`) && e.Resource == "run:"+id && strings.HasPrefix(e.Actor, "person") {
			undone++
		}
	}
	if undone != 4 { // an intent and an outcome each
		t.Errorf("got %d records of undos, want 4", undone)
	}
}

func TestUndoNeverTouchesWhatSomebodyElseChanged(t *testing.T) {
	t.Parallel()
	k := open(t)
	h := k.Agent("guarded")
	at := func(name string) string { return filepath.Join(k.Folder, name) }
	for _, name := range []string{"mine", "mode", "link", "gone", "between", "fine"} {
		write(t, at(name), "before "+name)
	}
	put(t, h, "between", "first by the agent")
	write(t, at("between"), "mine in between")
	for _, name := range []string{"mine", "mode", "link", "gone", "between", "fine", "dir/made", "dir/kept"} {
		put(t, h, name, "by the agent "+name)
	}
	id := ended(t, k, h)
	write(t, at("mine"), "mine now")
	write(t, at("dir/other"), "mine too")
	if err := os.Chmod(at("mode"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"link", "gone"} {
		if err := os.Remove(at(name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("fine", at("link")); err != nil {
		t.Fatal(err)
	}
	p := goBack(t, k, kernel.UndoQuery{RunID: id})
	want := "between restores done\ndir removes done\ndir/kept removes done\ndir/made removes done\nfine restores done\ngone restores conflict\nlink restores conflict\nmine restores conflict\nmode restores conflict"
	if got := statuses(p); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	now := "between -rw-r--r-- mine in between\ndir/\ndir/other -rw-r--r-- mine too\nfine -rw-r--r-- before fine\nlink -> fine\nmine -rw-r--r-- mine now\nmode -rw------- by the agent mode\n"
	if got := treeOf(t, k.Folder); got != now {
		t.Errorf("got\n%s\nwant\n%s", got, now)
	}
	for _, f := range p.Files {
		if f.Status == kernel.UndoConflict && (f.Why == "" || f.WhyKO == "" || !f.Forces) {
			t.Errorf("the conflict of %s says %q, %q", f.Path, f.Why, f.WhyKO)
		}
	}
	// Decided for two of them, what was there can be had back.
	p = goBack(t, k, kernel.UndoQuery{RunID: id}, "mine", "link")
	if p.Ready != 2 || read(t, at("mine")) != "before mine" || read(t, at("link")) != "before link" {
		t.Errorf("got %s", statuses(p))
	}
	goBack(t, k, kernel.UndoQuery{RunID: id, Redo: true, Paths: []string{"mine", "link"}})
	if to, _ := os.Readlink(at("link")); to != "fine" || read(t, at("mine")) != "mine now" {
		t.Errorf("what was there before the undo did not come back:\n%s", treeOf(t, k.Folder))
	}
	storeIsClean(t, k)
}

func TestUndoDoesExactlyWhatWasShown(t *testing.T) {
	t.Parallel()
	k := open(t)
	h := k.Agent("guarded")
	put(t, h, "a.txt", "a")
	put(t, h, "b.txt", "b")
	id := ended(t, k, h)
	p := preview(t, k, kernel.UndoQuery{RunID: id})
	write(t, filepath.Join(k.Folder, "b.txt"), "mine")
	_, err := k.Person().Agents.Undo(t.Context(), kernel.UndoInput{RunID: id, Hash: p.Hash})
	wantCode(t, "an undo of what is other now", err, sys.CodeConflict)
	_, err = k.Person().Agents.Undo(t.Context(), kernel.UndoInput{RunID: id})
	wantCode(t, "an undo that nobody looked at", err, sys.CodeConflict)
	p = preview(t, k, kernel.UndoQuery{RunID: id, Paths: []string{"a.txt"}})
	_, err = k.Person().Agents.Undo(t.Context(), kernel.UndoInput{RunID: id, Hash: p.Hash, Paths: []string{"a.txt"}, Force: []string{"a.txt"}})
	wantCode(t, "a choice where there is no conflict", err, sys.CodeInvalid)
	_, err = k.Person().Agents.UndoPreview(t.Context(), kernel.UndoQuery{RunID: id, Paths: []string{"other.txt"}})
	wantCode(t, "a path that the run did not touch", err, sys.CodeNotFound)
	if got := read(t, filepath.Join(k.Folder, "a.txt")); got != "a" {
		t.Errorf("got %q", got)
	}
	goBack(t, k, kernel.UndoQuery{RunID: id, Paths: []string{"a.txt"}})
	if got, want := treeOf(t, k.Folder), "b.txt -rw-r--r-- mine\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestUndoOfAnEarlierRunLeavesWhatALaterOneChanged(t *testing.T) {
	t.Parallel()
	k := open(t)
	at := filepath.Join(k.Folder, "a.txt")
	write(t, at, "zero")
	first, second := k.Agent("guarded"), k.Agent("guarded")
	put(t, first, "a.txt", "one")
	one := ended(t, k, first)
	put(t, second, "a.txt", "two")
	two := ended(t, k, second)
	p := preview(t, k, kernel.UndoQuery{RunID: one})
	if p.Conflicts != 1 || !strings.Contains(p.Files[0].Why, "Another run changed it later") {
		t.Errorf("got %s, %q", statuses(p), p.Files[0].Why)
	}
	goBack(t, k, kernel.UndoQuery{RunID: two})
	goBack(t, k, kernel.UndoQuery{RunID: one})
	if got := read(t, at); got != "zero" {
		t.Errorf("got %q", got)
	}
}

func TestWhatIsKeptForUndoGoesWithItsTimeAndWithItsConversation(t *testing.T) {
	t.Parallel()
	home, folder := filepath.Join(t.TempDir(), "home"), t.TempDir()
	k := open(t, kerneltest.At(home, folder), kerneltest.Script(writeScript))
	old := k.Agent("guarded")
	put(t, old, "old.txt", "by the old run")
	ended(t, k, old)
	if _, err := k.Person().State.DeleteSession(t.Context(), k.Ask("write hello").SessionID); err != nil {
		t.Fatal(err)
	}
	objects := undo.At(filepath.Join(home, "undo"))
	kept := func(text string) bool {
		t.Helper()
		has, err := objects.Has(undo.ID([]byte(text)))
		if err != nil {
			t.Fatal(err)
		}
		return has
	}
	if kept("Hello\n") || !kept("by the old run") {
		t.Error("the deleted conversation is kept, or the other one is not")
	}
	storeIsClean(t, k)
	k.Stop()
	later := open(t, kerneltest.At(home, folder), kerneltest.With(func(o *kernel.Options) { o.Clock = func() time.Time { return time.Now().AddDate(0, 0, 31) } }))
	later.Until("what is old goes", func() bool { return !kept("by the old run") })
	if p := preview(t, later, kernel.UndoQuery{RunID: old.Principal().ID}); len(p.Files) != 0 {
		t.Errorf("got %s to undo", statuses(p))
	}
	later.Stop() // what is being cleared is cleared then
	storeIsClean(t, later)
	if got := read(t, filepath.Join(folder, "old.txt")); got != "by the old run" {
		t.Errorf("got %q", got)
	}
}

func runLine(t testing.TB, h *kernel.Handle, line string) kernel.ExecResult {
	t.Helper()
	r, err := h.Exec.Shell(t.Context(), kernel.ShellArgs{Command: line})
	if err != nil || r.ExitCode != 0 {
		t.Fatalf("%s: %v, exit %d: %s", line, err, r.ExitCode, r.Output)
	}
	return r
}

// changesOf are the changes that are listed of a run, their kinds by their paths.
func changesOf(t testing.TB, k *kerneltest.Kernel, id string) map[string]string {
	t.Helper()
	v, err := k.Person().Agents.Run(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]string{}
	for _, c := range v.Changes {
		listed[c.Path] = c.Kind
	}
	return listed
}

func TestUndoPutsBackWhatCommandsDid(t *testing.T) {
	t.Parallel()
	k := open(t)
	h := k.Agent("autonomous")
	at := func(name string) string { return filepath.Join(k.Folder, name) }
	for name, text := range map[string]string{
		"changed": "before", "same": "same", "mode": "m", "dir/gone": "gone", "dir/sub/gone": "gone too", "moved": "moves", "kind": "file",
		"node_modules/a": "left out", ".gitignore": "build/\n", "build/a": "left out", "big": strings.Repeat("0123456789", 1100000), "line\nbreak": "odd name",
	} {
		write(t, at(name), text)
	}
	if err := os.Symlink("same", at("link")); err != nil {
		t.Fatal(err)
	}
	before := treeOf(t, k.Folder)
	runLine(t, h, `printf after > changed; chmod 600 mode; rm -r dir; mv moved there; rm kind; mkdir kind; echo x > kind/in; ln -sf changed link; mkdir made; echo y > made/new; echo z > "line
break"`)
	put(t, h, "changed", "by a tool")
	runLine(t, h, "touch -d 2001-01-01 same; ls > list; printf x >> big")
	id := ended(t, k, h)
	listed := changesOf(t, k, id)
	if listed["changed"] != "modified" || listed["there"] != "created" || listed["moved"] != "deleted" || listed["same"] != "" || listed["made/new"] != "created" {
		t.Errorf("got the changes %v", listed)
	}
	after := treeOf(t, k.Folder)
	p := goBack(t, k, kernel.UndoQuery{RunID: id})
	for _, f := range p.Files {
		want := kernel.UndoDone
		if f.Path == "big" {
			want = kernel.UndoImpossible
		}
		if f.Status != want {
			t.Errorf("%q %s: got %s (%s), want %s", f.Path, f.Does, f.Status, f.Why, want)
		}
	}
	back := strings.Replace(treeOf(t, k.Folder), "0123456789x\n", "0123456789\n", 1) // what was too large stays as the run left it
	if back != before {
		t.Errorf("got\n%.3000s\nwant\n%.3000s", back, before)
	}
	goBack(t, k, kernel.UndoQuery{RunID: id, Redo: true})
	if got := treeOf(t, k.Folder); got != after {
		t.Errorf("the redo: got\n%.3000s\nwant\n%.3000s", got, after)
	}
}

func TestWhatACommandInTheBackgroundChangedIsUndoneOnlyWhenAPersonSaysSo(t *testing.T) {
	t.Parallel()
	k := open(t)
	h := k.Agent("autonomous")
	write(t, filepath.Join(k.Folder, "a"), "before")
	r, err := h.Exec.Shell(t.Context(), kernel.ShellArgs{Command: "while [ ! -e stop ]; do sleep 0.01; done; echo after > a", Background: true})
	if err != nil {
		t.Fatal(err)
	}
	id := ended(t, k, h)
	_, err = k.Person().Agents.UndoPreview(t.Context(), kernel.UndoQuery{RunID: id})
	wantCode(t, "an undo beside a command at work", err, sys.CodeBusy)
	write(t, filepath.Join(k.Folder, "stop"), "mine")
	k.Until("its changes are found", func() bool {
		log, err := k.Person().Exec.JobLog(t.Context(), r.JobID, 0)
		v, rerr := k.Person().Agents.Run(t.Context(), id)
		return err == nil && rerr == nil && log.Done && v.Undo != nil
	})
	p := goBack(t, k, kernel.UndoQuery{RunID: id})
	if got, want := statuses(p), "a restores conflict\nstop removes conflict"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	goBack(t, k, kernel.UndoQuery{RunID: id}, "a")
	if got, want := treeOf(t, k.Folder), "a -rw-r--r-- before\nstop -rw-r--r-- mine\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestCopiesOfAFolderThatNoRunChangedGoAfterADay(t *testing.T) {
	t.Parallel()
	home, folder, other := filepath.Join(t.TempDir(), "home"), t.TempDir(), t.TempDir()
	write(t, filepath.Join(folder, "same.txt"), "nobody touched this")
	write(t, filepath.Join(other, "was.txt"), "before the command")
	k := open(t, kerneltest.At(home, folder))
	idle, busy := k.Agent("autonomous"), k.AgentIn(other, "autonomous")
	runLine(t, idle, "touch -d 2001-01-01 same.txt")
	runLine(t, busy, "printf after > was.txt")
	ended(t, k, idle)
	run := ended(t, k, busy)
	objects := undo.At(filepath.Join(home, "undo"))
	kept := func(text string) bool {
		t.Helper()
		has, err := objects.Has(undo.ID([]byte(text)))
		if err != nil {
			t.Fatal(err)
		}
		return has
	}
	if !kept("nobody touched this") || !kept("before the command") {
		t.Fatal("what the commands may lose is not kept")
	}
	k.Stop()
	later := open(t, kerneltest.At(home, folder), kerneltest.With(func(o *kernel.Options) { o.Clock = func() time.Time { return time.Now().AddDate(0, 0, 2) } }))
	later.Until("the copies that nothing needs go", func() bool { return !kept("nobody touched this") })
	goBack(t, later, kernel.UndoQuery{RunID: run})
	if got := read(t, filepath.Join(other, "was.txt")); got != "before the command" {
		t.Errorf("got %q, want it undone", got)
	}
	later.Stop()
	storeIsClean(t, later)
}
