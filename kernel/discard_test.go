package kernel_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"oxios/kernel"
	"oxios/kernel/event"
	"oxios/kernel/kerneltest"
	"oxios/kernel/sys"
)

// stands returns the files of the home that hold words.
func stands(t *testing.T, home, words string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(home, "oxios.db*"))
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(raw, []byte(words)) {
			found = append(found, filepath.Base(f))
		}
	}
	return found
}

func TestDiscardedConversationIsHiddenAndComesBackAsItWas(t *testing.T) {
	t.Parallel()
	k := open(t)
	h := k.Person()
	said := k.Ask("Write a hello file.")
	k.Ask("Look around this folder.")
	before := pictured(t, k)
	events, err := h.Infra.Events(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	d, err := h.State.DiscardSession(t.Context(), said.SessionID)
	if err != nil {
		t.Fatal(err)
	}
	if d.UndoMS != 10_000 || d.Messages != 2 || d.Runs != 1 || d.FileCount != 1 || !strings.HasSuffix(d.Files[0], "hello.txt") || d.AuditEntries == 0 {
		t.Errorf("got %+v, want 10 s to undo, and what remains", d)
	}
	for e := range events {
		if e.Kind == event.SessionDeleted && e.SessionID == said.SessionID {
			break
		}
	}
	list, err := h.State.Sessions(t.Context(), kernel.SessionQuery{})
	if err != nil || len(list) != 1 {
		t.Errorf("got %d conversations, %v; want the other one", len(list), err)
	}
	for name, err := range map[string]error{
		"session": errOf(h.State.Session(t.Context(), said.SessionID)),
		"run":     errOf(h.Agents.Run(t.Context(), said.RunID)),
		"submit":  errOf(h.Agents.Submit(t.Context(), kernel.Submit{SessionID: said.SessionID, Text: "more"})),
		"go on":   errOf(h.Agents.Continue(t.Context(), said.RunID)),
		"export":  errOf(h.State.ExportSession(t.Context(), said.SessionID, "md")),
		"again":   errOf(h.State.DiscardSession(t.Context(), said.SessionID)),
	} {
		if sys.CodeOf(err) != sys.CodeNotFound {
			t.Errorf("%s: got %v, want not_found", name, err)
		}
	}
	if s, err := h.State.RecoverSession(t.Context(), said.SessionID); err != nil || s.ID != said.SessionID {
		t.Fatalf("got %+v, %v; want it back", s, err)
	}
	if after := pictured(t, k); after != before {
		t.Errorf("got\n%s\nwant\n%s", after, before)
	}
	if got := k.Ask("More of it.", func(m *kernel.Submit) { m.SessionID = said.SessionID }); got.State != "done" {
		t.Errorf("got %+v, want the conversation to go on", got)
	}
	// Its time ran from when it was discarded: it must not end what was recovered.
	k.Restart()
	if list, err := k.Person().State.Sessions(t.Context(), kernel.SessionQuery{}); err != nil || len(list) != 2 {
		t.Errorf("after a restart: got %d conversations, %v; want both", len(list), err)
	}
}

func errOf[T any](_ T, err error) error { return err }

func TestDiscardedConversationIsDeletedWhenItsTimeIsOver(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.With(func(o *kernel.Options) { o.Undo = 50 * time.Millisecond }))
	h := k.Person()
	said := k.Ask("Look around: secretWordQZX.")
	if _, err := h.State.DiscardSession(t.Context(), said.SessionID); err != nil {
		t.Fatal(err)
	}
	k.Until("its text is gone from the database", func() bool { return len(stands(t, k.Home, "secretWordQZX")) == 0 })
	if _, err := h.State.RecoverSession(t.Context(), said.SessionID); sys.CodeOf(err) != sys.CodeNotFound || !strings.Contains(err.Error(), "for good") {
		t.Errorf("got %v, want to be told that it is too late", err)
	}
	list, err := h.Security.Audit(t.Context(), kernel.AuditQuery{Newest: true})
	if err != nil || !slices.ContainsFunc(list, func(e kernel.AuditEntry) bool {
		return e.Actor == "kernel" && e.Resource == "session:"+said.SessionID && strings.Contains(string(e.Metadata), `"deleted":true`)
	}) {
		t.Errorf("the deletion is not in the chain (%v)", err)
	}
	if got := verified(t, k); !got.OK {
		t.Errorf("got %+v, want a whole chain", got)
	}
}

func TestKernelThatEndsDeletesWhatWasDiscarded(t *testing.T) {
	t.Parallel()
	k := open(t)
	said := k.Ask("Look around: secretWordQZX.")
	if _, err := k.Person().State.DiscardSession(t.Context(), said.SessionID); err != nil {
		t.Fatal(err)
	}
	k.Stop()
	if files := stands(t, k.Home, "secretWordQZX"); len(files) > 0 {
		t.Errorf("the text still stands in %v", files)
	}
}

func TestDeletionSaysWhatGoesAndWhatRemains(t *testing.T) {
	t.Parallel()
	k := open(t)
	h := k.Person()
	said := k.Ask("Write a hello file.")
	writeFile(t, filepath.Join(k.Home, "oxios.db.v1.bak"), "an older copy")
	told, err := h.State.Deletion(t.Context(), said.SessionID)
	if err != nil || told.Erased || told.UndoMS != 0 || len(told.Copies) != 1 || told.FileCount != 1 {
		t.Errorf("got %+v, %v; want what would remain", told, err)
	}
	gone, err := h.State.DeleteSession(t.Context(), said.SessionID)
	if err != nil || !gone.Erased {
		t.Errorf("got %+v, %v; want its text to be gone", gone, err)
	}
	if files := stands(t, k.Home, "hello file"); len(files) > 0 {
		t.Errorf("the text still stands in %v", files)
	}
	if _, err := os.Stat(filepath.Join(k.Folder, "hello.txt")); err != nil {
		t.Errorf("the file that it wrote: %v, want it to stay", err)
	}
	if _, err := h.State.RecoverSession(t.Context(), said.SessionID); sys.CodeOf(err) != sys.CodeNotFound {
		t.Errorf("got %v, want not_found", err)
	}
	waits := k.Say("Push my changes")
	k.Approval(waits.RunID)
	for name, err := range map[string]error{"delete": errOf(h.State.DeleteSession(t.Context(), waits.SessionID)), "discard": errOf(h.State.DiscardSession(t.Context(), waits.SessionID))} {
		if sys.CodeOf(err) != sys.CodeBusy {
			t.Errorf("%s at work: got %v, want busy", name, err)
		}
	}
}

func TestRestoreBringsBackWhatWasDeleted(t *testing.T) {
	t.Parallel()
	k := lived(t)
	made := backup(t, k)
	list, err := k.Person().State.Sessions(t.Context(), kernel.SessionQuery{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.Person().State.DeleteSession(t.Context(), list[0].ID); err != nil {
		t.Fatal(err)
	}
	if _, err := k.Person().State.DiscardSession(t.Context(), list[1].ID); err != nil {
		t.Fatal(err)
	}
	if mid := backup(t, k); mid.Sessions != 0 {
		t.Errorf("a backup meanwhile: got %d conversations, want none", mid.Sessions)
	}
	if r := restore(t, k, made.Path); r.Sessions != (kernel.Merged{Added: 2}) {
		t.Errorf("got %+v, want both back", r.Sessions)
	}
	if v, err := k.Person().State.Session(t.Context(), list[1].ID); err != nil || len(v.Messages) != 2 {
		t.Errorf("got %d messages, %v; want 2", len(v.Messages), err)
	}
}

func TestStepsKeepTheirPlaceInAChainThatIsTheSame(t *testing.T) {
	t.Parallel()
	k := lived(t)
	made := backup(t, k)
	list, err := k.Person().State.Sessions(t.Context(), kernel.SessionQuery{Search: "Write a hello"})
	if err != nil || len(list) != 1 {
		t.Fatalf("got %v, %v", list, err)
	}
	seqs := func(k *kerneltest.Kernel) (all []int64) {
		v, err := k.Person().State.Session(t.Context(), list[0].ID)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range v.Runs[0].Steps {
			all = append(all, s.AuditSeq)
		}
		return all
	}
	want := seqs(k)
	if _, err := k.Person().State.DeleteSession(t.Context(), list[0].ID); err != nil {
		t.Fatal(err)
	}
	restore(t, k, made.Path)
	if got := seqs(k); !slices.Equal(got, want) || slices.Max(got) == 0 {
		t.Errorf("in the same home: got %v, want %v", got, want)
	}
	to := kerneltest.Open(t)
	restore(t, to, made.Path)
	if got := seqs(to); slices.Max(got) != 0 {
		t.Errorf("in another home: got %v, want no number of a chain that is not there", fmt.Sprint(got))
	}
}
