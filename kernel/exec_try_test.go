package kernel_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
	"oxios/kernel/store"
	"oxios/kernel/sys"
	"oxios/kernel/undo"
)

// tryCase is a command whose request waits.
type tryCase struct {
	k    *kerneltest.Kernel
	h    *kernel.Handle
	ap   kernel.Approval
	done chan tryEnd
	end  context.CancelFunc
}

type tryEnd struct {
	res kernel.ExecResult
	err error
}

// tryable has an agent ask for a command. On a machine where nothing can be tried
// it sees to it that this is told.
func tryable(t *testing.T, k *kerneltest.Kernel, h *kernel.Handle, line string) *tryCase {
	t.Helper()
	ctx, end := context.WithCancel(t.Context())
	t.Cleanup(end)
	a := &tryCase{k: k, h: h, done: make(chan tryEnd, 1), end: end}
	go func() {
		res, err := h.Exec.Shell(ctx, kernel.ShellArgs{Command: line})
		a.done <- tryEnd{res, err}
	}()
	a.ap = k.Approval(h.Principal().ID)
	if !a.ap.Request.Try {
		_, err := a.try(t)
		if e := sys.AsError(err); e.Code != sys.CodeUnavailable || e.Message == "" {
			t.Fatalf("got %v, want it said why nothing can be tried", err)
		}
		t.Skip(err)
	}
	return a
}

func (a *tryCase) try(t *testing.T) (kernel.Try, error) {
	return a.k.Person().Security.Try(t.Context(), a.ap.ID, kernel.TryInput{Hash: a.ap.Request.Hash})
}

func (a *tryCase) mustTry(t *testing.T) kernel.Try {
	t.Helper()
	v, err := a.try(t)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func (a *tryCase) apply(t *testing.T, hash string) error {
	_, err := a.k.Person().Security.ApplyTry(t.Context(), a.ap.ID, kernel.ApplyInput{Hash: hash})
	return err
}

func (a *tryCase) waits(t *testing.T) {
	t.Helper()
	ap, err := a.k.Person().Security.Approval(t.Context(), a.ap.ID)
	if err != nil || ap.State != "pending" {
		t.Errorf("the request is %s, %v, want it to wait", ap.State, err)
	}
}

func shownOf(v kernel.Try) string {
	var out []string
	for _, f := range v.Files {
		out = append(out, f.Path+" "+f.Does+" "+f.Status)
	}
	return strings.Join(out, "\n")
}

func noScratch(t *testing.T, k *kerneltest.Kernel) {
	t.Helper()
	if left, err := os.ReadDir(filepath.Join(k.Home, "tries")); err != nil || len(left) > 0 {
		t.Errorf("copies are left: %v, %v", left, err)
	}
}

const busyLine = `echo new > made; echo more >> edit; rm gone; chmod 600 mode; rm -r sub && mkdir sub && echo z > sub/z; rm file && mkdir file && echo in > file/in; ln -s edit link; rm swap/in && rmdir swap && echo s > swap; echo said; exit 3`

func layFiles(t *testing.T, dir string) string {
	t.Helper()
	for name, text := range map[string]string{"edit": "old\n", "gone": "g", "mode": "m", "sub/x": "x", "file": "f", "swap/in": "i", "keep": "k"} {
		write(t, filepath.Join(dir, name), text)
	}
	return treeOf(t, dir)
}

func TestTryShowsWhatACommandWouldDoAndChangesNothing(t *testing.T) {
	t.Parallel()
	k := open(t)
	for _, name := range []string{"plain", "a:b", "c,d", "with space", "한글"} {
		dir := filepath.Join(k.Folder, name)
		before := layFiles(t, dir)
		a := tryable(t, k, k.AgentIn(dir, "guarded"), busyLine)
		v := a.mustTry(t)
		want := "edit changes ready\nfile changes ready\nfile/in creates ready\ngone deletes ready\nlink creates ready\nmade creates ready\nmode mode ready\n" +
			"sub/x deletes ready\nsub/z creates ready\nswap changes ready\nswap/in deletes ready"
		if got := shownOf(v); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
		}
		if v.Result.ExitCode != 3 || v.Result.Output != "said\n" || v.Bytes == 0 || !strings.Contains(v.Files[0].Diff, "+more") {
			t.Errorf("%s: got %+v", name, v)
		}
		if got := treeOf(t, dir); got != before {
			t.Errorf("%s: the folder is\n%s\nwant\n%s", name, got, before)
		}
		a.waits(t)
	}
	noScratch(t, k)
}

func TestAppliedTryIsWhatWasShownAndIsUndone(t *testing.T) {
	t.Parallel()
	k := open(t)
	before := layFiles(t, k.Folder)
	h := k.Agent("guarded")
	a := tryable(t, k, h, busyLine+` # $(echo ran >> /dev/null)`)
	v := a.mustTry(t)
	if err := a.apply(t, v.Hash); err != nil {
		t.Fatal(err)
	}
	r := <-a.done
	if r.err != nil || r.res.ExitCode != 3 || r.res.Output != "said\n" || !strings.Contains(r.res.Note, "tried this command on a copy") {
		t.Errorf("the agent gets %+v, %v", r.res, r.err)
	}
	want := "edit -rw-r--r-- old\nmore\n\nfile/\nfile/in -rw-r--r-- in\n\nkeep -rw-r--r-- k\nlink -> edit\nmade -rw-r--r-- new\n\nmode -rw------- m\nsub/\nsub/z -rw-r--r-- z\n\nswap -rw-r--r-- s\n\n"
	if got := treeOf(t, k.Folder); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	id := ended(t, k, h)
	goBack(t, k, kernel.UndoQuery{RunID: id})
	if got := treeOf(t, k.Folder); got != before {
		t.Errorf("after the undo: got\n%s\nwant\n%s", got, before)
	}
	goBack(t, k, kernel.UndoQuery{RunID: id, Redo: true})
	if got := treeOf(t, k.Folder); got != want {
		t.Errorf("after the redo: got\n%s\nwant\n%s", got, want)
	}
	report, err := k.Person().Security.VerifyAudit(t.Context())
	if err != nil || !report.OK {
		t.Errorf("the chain: %+v, %v", report, err)
	}
	list, err := k.Person().Security.Audit(t.Context(), kernel.AuditQuery{Resource: "approval:" + a.ap.ID})
	if err != nil || len(list) < 4 {
		t.Errorf("the chain has %d records of it, %v", len(list), err)
	}
	if err := a.apply(t, v.Hash); sys.CodeOf(err) != sys.CodeConflict {
		t.Errorf("again: got %v", err)
	}
}

func TestWhatTheAgentWritesAfterAnAppliedTryIsUndoneWithIt(t *testing.T) {
	t.Parallel()
	k := open(t)
	h := k.Agent("guarded")
	write(t, filepath.Join(k.Folder, "f"), "one\n")
	a := tryable(t, k, h, "echo two > f; rm -f none")
	if err := a.apply(t, a.mustTry(t).Hash); err != nil {
		t.Fatal(err)
	}
	<-a.done
	put(t, h, "f", "three\n")
	id := ended(t, k, h)
	goBack(t, k, kernel.UndoQuery{RunID: id})
	if got := read(t, filepath.Join(k.Folder, "f")); got != "one\n" {
		t.Errorf("got %q", got)
	}
}

func TestChangeBetweenTryAndApplyIsAConflictAndNothingIsApplied(t *testing.T) {
	t.Parallel()
	k := open(t)
	layFiles(t, k.Folder)
	a := tryable(t, k, k.Agent("guarded"), busyLine)
	v := a.mustTry(t)
	write(t, filepath.Join(k.Folder, "edit"), "mine\n")
	before := treeOf(t, k.Folder)
	err := a.apply(t, v.Hash)
	wantCode(t, "an edit", err, sys.CodeConflict, "edit", "Nothing was applied")
	if got := treeOf(t, k.Folder); got != before {
		t.Errorf("got\n%s\nwant\n%s", got, before)
	}
	a.waits(t)
	now, err := k.Person().Security.Tried(t.Context(), a.ap.ID)
	if err != nil || now.Try == nil || now.Try.Conflicts != 1 || now.Try.Files[0].Status != kernel.UndoConflict {
		t.Errorf("got %+v, %v", now.Try, err)
	}
	again := a.mustTry(t)
	wantCode(t, "what was shown before", a.apply(t, v.Hash), sys.CodeConflict)
	if err := a.apply(t, again.Hash); err != nil {
		t.Fatal(err)
	}
	if got := read(t, filepath.Join(k.Folder, "edit")); got != "mine\nmore\n" {
		t.Errorf("got %q", got)
	}
}

func TestChangeWhileTheCommandIsTriedIsAConflict(t *testing.T) {
	t.Parallel()
	k := open(t)
	write(t, filepath.Join(k.Folder, "edit"), "old\n")
	write(t, filepath.Join(k.Folder, "go"), "") // what is made later in the folder may not be seen on the copy
	a := tryable(t, k, k.Agent("guarded"), "cat edit > was; until [ -s go ]; do sleep 0.01; done; echo by command > edit; rm was")
	tried := make(chan tryEnd, 1)
	var v kernel.Try
	go func() {
		var err error
		v, err = a.try(t)
		tried <- tryEnd{err: err}
	}()
	onTheCopy(k, "was")
	write(t, filepath.Join(k.Folder, "edit"), "mine, meanwhile\n")
	write(t, filepath.Join(k.Folder, "go"), "go")
	if r := <-tried; r.err != nil {
		t.Fatal(r.err)
	}
	if v.Conflicts == 0 {
		t.Errorf("got\n%s", shownOf(v))
	}
	wantCode(t, "applied", a.apply(t, v.Hash), sys.CodeConflict, "edit")
	if got := read(t, filepath.Join(k.Folder, "edit")); got != "mine, meanwhile\n" {
		t.Errorf("got %q", got)
	}
}

func TestDiscardedTryLeavesTheRequestAsItWas(t *testing.T) {
	t.Parallel()
	k := open(t)
	before := layFiles(t, k.Folder)
	a := tryable(t, k, k.Agent("guarded"), busyLine)
	v := a.mustTry(t)
	if err := k.Person().Security.DropTry(t.Context(), a.ap.ID); err != nil {
		t.Fatal(err)
	}
	a.waits(t)
	if now, err := k.Person().Security.Tried(t.Context(), a.ap.ID); err != nil || now.Try != nil || now.Running {
		t.Errorf("got %+v, %v", now, err)
	}
	wantCode(t, "applied", a.apply(t, v.Hash), sys.CodeConflict, "Nothing was changed")
	if got := treeOf(t, k.Folder); got != before {
		t.Errorf("got\n%s\nwant\n%s", got, before)
	}
	if _, err := k.Person().Security.Approve(t.Context(), a.ap.ID, kernel.ApproveInput{Hash: a.ap.Request.Hash}); err != nil {
		t.Fatal(err)
	}
	if r := <-a.done; r.err != nil || r.res.ExitCode != 3 || strings.Contains(r.res.Note, "copy") {
		t.Errorf("got %+v, %v", r.res, r.err)
	}
}

func TestTryIsStoppedAndTheRunsEndStopsItToo(t *testing.T) {
	t.Parallel()
	k := open(t)
	for _, how := range []string{"discard", "kill"} {
		h := k.Agent("guarded")
		a := tryable(t, k, h, "touch "+how+"; sleep 600; rm -f none")
		tried := make(chan error, 1)
		go func() {
			_, err := a.try(t)
			tried <- err
		}()
		k.Until("it works", func() bool {
			list, _ := filepath.Glob(filepath.Join(k.Home, "tries", "*", "upper", how))
			return len(list) > 0
		})
		if _, err := a.try(t); sys.CodeOf(err) != sys.CodeBusy {
			t.Errorf("a second: got %v", err)
		}
		if how == "kill" {
			if _, err := k.Person().Agents.Kill(t.Context(), h.Principal().ID); err != nil {
				t.Fatal(err)
			}
		} else if err := k.Person().Security.DropTry(t.Context(), a.ap.ID); err != nil {
			t.Fatal(err)
		}
		wantCode(t, how, <-tried, sys.CodeCanceled, "was stopped")
		if how == "discard" {
			a.waits(t)
			a.end()
		}
		<-a.done
	}
	k.Until("nothing is left", func() bool {
		left, _ := os.ReadDir(filepath.Join(k.Home, "tries"))
		return len(left) == 0
	})
}

func TestTryShowsTheMachinesThatACommandAsksForAndReachesNone(t *testing.T) {
	t.Parallel()
	k := open(t)
	write(t, filepath.Join(k.Folder, "get.sh"), `exec 3<>/dev/tcp/127.0.0.1/3128; printf 'GET http://example.org/x HTTP/1.1\r\nHost: example.org\r\n\r\n' >&3; cat <&3 > answer`)
	a := tryable(t, k, k.Agent("ask"), "bash get.sh; rm -f none")
	v := a.mustTry(t)
	if len(v.Result.Asked) != 1 || v.Result.Asked[0].Host != "example.org:80" || v.Result.Asked[0].Allowed {
		t.Errorf("got %+v: %s", v.Result.Asked, v.Result.Output)
	}
	a.end()
	<-a.done
}

func TestMovingAFolderInATryTellsItsCause(t *testing.T) {
	t.Parallel()
	k := open(t)
	write(t, filepath.Join(k.Folder, "sub", "x"), "x")
	a := tryable(t, k, k.Agent("guarded"), `perl -e 'rename("sub", "other") or die "rename: $!"'`)
	v := a.mustTry(t)
	if v.Result.ExitCode == 0 || !strings.Contains(v.Result.Note, "It can be approved without the copy.") {
		t.Errorf("got %+v", v.Result)
	}
	a.end()
	<-a.done
}

func TestOnlyAWaitingForegroundCommandIsTried(t *testing.T) {
	t.Parallel()
	k := open(t)
	contained(t, k)
	h := k.Agent("ask")
	p := k.Person().Security
	ask := func(call func(context.Context)) kernel.Approval {
		ctx, end := context.WithCancel(t.Context())
		done := make(chan struct{})
		t.Cleanup(func() { end(); <-done })
		go func() { defer close(done); call(ctx) }()
		return k.Approval(h.Principal().ID)
	}
	ap := ask(func(ctx context.Context) {
		_, _ = h.Exec.Shell(ctx, kernel.ShellArgs{Command: "mkdir x; sleep 1", Background: true})
	})
	if ap.Request.Try {
		t.Error("a command in the background is offered a try")
	}
	_, err := p.Try(t.Context(), ap.ID, kernel.TryInput{Hash: ap.Request.Hash})
	wantCode(t, "in the background", err, sys.CodeUnavailable, "background")
	if _, err := p.Deny(t.Context(), ap.ID, ""); err != nil {
		t.Fatal(err)
	}
	_, err = p.Try(t.Context(), ap.ID, kernel.TryInput{Hash: ap.Request.Hash})
	wantCode(t, "a denied one", err, sys.CodeConflict, "denied")
	_, err = h.Security.Try(t.Context(), ap.ID, kernel.TryInput{Hash: ap.Request.Hash})
	wantCode(t, "an agent", err, sys.CodeForbidden)
	_, err = h.Security.ApplyTry(t.Context(), ap.ID, kernel.ApplyInput{})
	wantCode(t, "an agent applies", err, sys.CodeForbidden)
}

func TestUncontainedCommandSaysWhyItCannotBeTried(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Uncontained())
	h := k.Agent("guarded")
	ctx, end := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = h.Exec.Shell(ctx, kernel.ShellArgs{Command: "mkdir x"})
	}()
	ap := k.Approval(h.Principal().ID)
	if ap.Request.Try {
		t.Error("a try is offered")
	}
	_, err := k.Person().Security.Try(t.Context(), ap.ID, kernel.TryInput{Hash: ap.Request.Hash})
	wantCode(t, "a try", err, sys.CodeUnavailable, "isolation level 3")
	end()
	<-done
}

// TestCrashWhileATryIsAppliedIsFinishedAtTheNextStart has the process go down
// after its plan is durable, with so many of its moves made.
func TestCrashWhileATryIsAppliedIsFinishedAtTheNextStart(t *testing.T) {
	t.Parallel()
	for made := range 3 {
		home, folder := filepath.Join(t.TempDir(), "home"), t.TempDir()
		k := open(t, kerneltest.At(home, folder))
		write(t, filepath.Join(folder, "a"), "before a")
		write(t, filepath.Join(folder, "b"), "before b")
		h := k.Agent("guarded")
		a := tryable(t, k, h, "printf 'after a' > a; printf 'after b' > b; rm -f none")
		a.mustTry(t)
		a.end()
		<-a.done
		k.Stop()
		st, err := store.Open(t.Context(), filepath.Join(home, "oxios.db"), store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		kept, err := st.Try(t.Context(), a.ap.ID)
		if err != nil || kept == nil {
			t.Fatalf("got %v, %v: what was tried is not kept over an end", kept, err)
		}
		objects := undo.At(filepath.Join(home, "undo")) // what is there is kept before anything is written down
		if made == 2 {                                  // a command that nobody was asked about brings what it did on its copy
			kept.ApprovalID = sys.NewID()
		}
		var moves []store.UndoMove
		for i, f := range kept.Files {
			if _, err := objects.Put([]byte("before " + f.Path)); err != nil {
				t.Fatal(err)
			}
			moves = append(moves, store.UndoMove{
				OpID: "op", N: i, RunID: kept.RunID, Path: filepath.Join(folder, f.Path), Was: f.Was, Becomes: f.Becomes, Temp: ".oxios-op-" + f.Path, TryID: kept.ApprovalID,
			})
			if i < made {
				write(t, filepath.Join(folder, f.Path), "after "+f.Path)
			}
		}
		err = st.Write(t.Context(), func(tx *store.Tx) error {
			kept.State = store.TryApplying
			if err := st.PutTry(tx, *kept); err != nil {
				return err
			}
			return st.AddUndoMoves(tx, moves)
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := st.Close(); err != nil {
			t.Fatal(err)
		}
		want := "a -rw-r--r-- after a\nb -rw-r--r-- after b\n"
		foreign := made == 1 // somebody else was quicker: what was done is taken back
		if foreign {
			write(t, filepath.Join(folder, "b"), "mine")
			want = "a -rw-r--r-- before a\nb -rw-r--r-- mine\n"
		}
		scratch := filepath.Join(home, "tries", "left", "work", "work")
		if err := os.MkdirAll(scratch, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(scratch, 0); err != nil {
			t.Fatal(err)
		}
		k = open(t, kerneltest.At(home, folder))
		if got := treeOf(t, folder); got != want {
			t.Errorf("after %d moves: got\n%s\nwant\n%s", made, got, want)
		}
		noScratch(t, k)
		id := kept.RunID
		if _, err := k.Person().Agents.Kill(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		p := preview(t, k, kernel.UndoQuery{RunID: id})
		if foreign {
			if len(p.Files) != 0 {
				t.Errorf("after a rollback there is %s to undo", statuses(p))
			}
		} else {
			goBack(t, k, kernel.UndoQuery{RunID: id})
			if got, want := treeOf(t, folder), "a -rw-r--r-- before a\nb -rw-r--r-- before b\n"; got != want {
				t.Errorf("after the undo: got\n%s\nwant\n%s", got, want)
			}
		}
		k.Stop()
	}
}
