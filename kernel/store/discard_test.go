package store

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"oxios/kernel/sys"
)

// remains returns the files of a database that hold words, its log included.
func remains(t testing.TB, path, words string) []string {
	t.Helper()
	files, err := filepath.Glob(path + "*")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(data, []byte(words)) {
			found = append(found, filepath.Base(f))
		}
	}
	return found
}

func TestDiscardedSessionIsHiddenFromEverybody(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := setup(t)
	ids := lived(t, s, 2)
	gone := ids[0]
	runs, err := s.Runs(ctx, RunQuery{SessionID: gone})
	if err != nil || len(runs) != 1 {
		t.Fatalf("got %v, %v", runs, err)
	}
	write(t, s, func(tx *Tx) error { return s.DiscardSession(tx, gone) })
	for name, q := range map[string]SessionQuery{"list": {}, "search": {Search: "question"}, "short words": {Search: "단어"}, "title": {Search: "talk"}, "by id": {ID: gone[:8]}, "archived": {Archived: true}} {
		list, err := s.Sessions(ctx, q)
		if err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(list, func(s Session) bool { return s.ID == gone }) {
			t.Errorf("%s shows the discarded session", name)
		}
	}
	if _, err := s.Session(ctx, gone); sys.CodeOf(err) != sys.CodeNotFound {
		t.Errorf("Session: got %v, want not_found", err)
	}
	if _, err := s.Run(ctx, runs[0].ID); sys.CodeOf(err) != sys.CodeNotFound {
		t.Errorf("Run: got %v, want not_found", err)
	}
	if list, err := s.Runs(ctx, RunQuery{}); err != nil || len(list) != 1 {
		t.Errorf("Runs: got %d, %v; want the other session's", len(list), err)
	}
	title := "x"
	if _, err := s.UpdateSession(ctx, gone, SessionPatch{Title: &title}); sys.CodeOf(err) != sys.CodeNotFound {
		t.Errorf("UpdateSession: got %v, want not_found", err)
	}
	// A message that was on its way comes too late, with all that was to begin with it.
	err = s.Write(ctx, func(tx *Tx) error {
		if err := s.CreateRun(tx, &Run{SessionID: gone}); err != nil {
			return err
		}
		return s.AddMessage(tx, Message{SessionID: gone, Role: RoleUser, Content: "late"})
	})
	if sys.CodeOf(err) != sys.CodeNotFound {
		t.Errorf("a late message: got %v, want not_found", err)
	}
	if err := s.Write(ctx, func(tx *Tx) error { return s.DiscardSession(tx, gone) }); sys.CodeOf(err) != sys.CodeNotFound {
		t.Errorf("again: got %v, want not_found", err)
	}

	write(t, s, func(tx *Tx) error { return s.RecoverSession(tx, gone) })
	if got := len(search(t, s, "question")); got != 2 {
		t.Errorf("after it was recovered: got %d sessions, want 2", got)
	}
	if list, err := s.Messages(ctx, gone); err != nil || len(list) != 2 {
		t.Errorf("after it was recovered: got %d messages, %v; want 2", len(list), err)
	}
	if err := s.Write(ctx, func(tx *Tx) error { return s.RecoverSession(tx, gone) }); sys.CodeOf(err) != sys.CodeNotFound {
		t.Errorf("recovered twice: got %v, want not_found", err)
	}
	if err := s.DeleteDiscarded(ctx, gone, nil); sys.CodeOf(err) != sys.CodeNotFound {
		t.Errorf("deleting what was recovered: got %v, want not_found", err)
	}
}

func TestDeletionThatHasBegunGoesOnAndCannotBeUndone(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := setup(t)
	lived(t, s, 1)
	gone := newSession(t, s, "long")
	for range 3*deleteBatch + 1 {
		say(t, s, gone.ID, RoleUser, "one of many")
	}
	write(t, s, func(tx *Tx) error { return s.DiscardSession(tx, gone.ID) })
	refuse := errors.New("the power fails")
	if err := s.DeleteDiscarded(ctx, gone.ID, func(*Tx) error { return refuse }); !errors.Is(err, refuse) {
		t.Fatalf("got %v, want the failure", err)
	}
	if got := count(t, s, "SELECT count(*) FROM messages WHERE session_id = ?", gone.ID); got != 0 {
		t.Errorf("got %d messages, want them to be gone already", got)
	}
	if err := s.Write(ctx, func(tx *Tx) error { return s.RecoverSession(tx, gone.ID) }); sys.CodeOf(err) != sys.CodeNotFound {
		t.Errorf("recovering half of it: got %v, want not_found", err)
	}
	if ids, err := s.Discarded(ctx); err != nil || !slices.Equal(ids, []string{gone.ID}) {
		t.Errorf("got %v, %v; want it to be deleted again", ids, err)
	}
	also := 0
	if err := s.DeleteDiscarded(ctx, gone.ID, func(*Tx) error { also++; return nil }); err != nil || also != 1 {
		t.Errorf("again: got %v and %d calls, want one", err, also)
	}
	if got := count(t, s, "SELECT count(*) FROM sessions"); got != 1 {
		t.Errorf("got %d sessions, want the other one", got)
	}
	if err := s.Verify(ctx); err != nil {
		t.Error(err)
	}
}

func TestSessionAtWorkIsNotDiscarded(t *testing.T) {
	t.Parallel()
	s := setup(t)
	session := newSession(t, s, "x")
	newRun(t, s, session.ID)
	if err := s.Write(context.Background(), func(tx *Tx) error { return s.DiscardSession(tx, session.ID) }); sys.CodeOf(err) != sys.CodeBusy {
		t.Errorf("got %v, want busy", err)
	}
}

func TestErasedTextIsInNoFileOfTheDatabase(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := setup(t)
	lived(t, s, 1)
	gone := newSession(t, s, "secretTitleQZX")
	body := "secretBodyQZX " + strings.Repeat("and a long tail that needs pages of its own ", 400) + " secretEndQZX"
	for range 5 {
		say(t, s, gone.ID, RoleUser, body)
	}
	r := newRun(t, s, gone.ID)
	write(t, s, func(tx *Tx) error {
		return s.AddChange(tx, Change{RunID: r.ID, Path: "/x", Kind: ChangeModified, Before: []byte("secretFileQZX"), After: bytes.Repeat([]byte("secretFileQZX"), 4000)})
	})
	done := RunDone
	write(t, s, func(tx *Tx) error { return s.UpdateRun(tx, r.ID, RunPatch{State: &done}) })
	if err := s.DeleteSession(ctx, gone.ID); err != nil {
		t.Fatal(err)
	}
	if err := s.Erase(ctx); err != nil {
		t.Fatal(err)
	}
	for _, words := range []string{"secretTitleQZX", "secretBodyQZX", "secretEndQZX", "secretFileQZX", "QZX", "qzx"} {
		if files := remains(t, s.Path(), words); len(files) > 0 {
			t.Errorf("%q still stands in %v", words, files)
		}
	}
	if got := count(t, s, "SELECT count(*) FROM sessions"); got != 1 {
		t.Errorf("got %d sessions, want the other one", got)
	}
	say(t, s, newSession(t, s, "after").ID, RoleUser, "writing goes on")
}

func TestEraseWaitsForReadersAndSaysWhenItCannot(t *testing.T) {
	t.Parallel()
	s := setup(t)
	session := newSession(t, s, "x")
	reading, stop, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		done <- s.Read(context.Background(), func(tx *Tx) error {
			var n int
			if err := tx.QueryRow("SELECT count(*) FROM sessions").Scan(&n); err != nil {
				return err
			}
			close(reading)
			<-stop
			return nil
		})
	}()
	<-reading
	say(t, s, session.ID, RoleUser, "newer than what the reader sees")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := s.Erase(ctx); err == nil {
		t.Error("the log was emptied under a reader")
	}
	close(stop)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if err := s.Erase(context.Background()); err != nil {
		t.Errorf("after the reader: %v", err)
	}
}

func TestExtentCountsWhatBelongsToASession(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := setup(t)
	ids := lived(t, s, 2)
	write(t, s, func(tx *Tx) error {
		for i, meta := range []string{`{"session_id":"` + ids[0] + `"}`, `{"session_id":"` + ids[1] + `"}`, `{}`} {
			resource := "x"
			if i == 2 {
				resource = "session:" + ids[0]
			}
			if _, err := tx.Exec("INSERT INTO audit (timestamp, actor, action, resource, prev_hash, hash, metadata) VALUES (1, 'a', 'b', ?, 'x', 'y', ?)", resource, meta); err != nil {
				return err
			}
		}
		return nil
	})
	e, err := s.Extent(ctx, ids[0])
	if err != nil || e.Messages != 2 || e.Runs != 1 || e.Audit != 2 || !slices.Equal(e.Written, []string{"/a", "/b"}) {
		t.Errorf("got %+v, %v; want 2 messages, 1 run, 2 entries, /a and /b", e, err)
	}
	if _, err := s.Extent(ctx, "none"); sys.CodeOf(err) != sys.CodeNotFound {
		t.Errorf("got %v, want not_found", err)
	}
}
