package store

import (
	"context"
	"testing"
	"time"

	"oxios/kernel/sys"

	"github.com/google/go-cmp/cmp"
)

func newAttachment(t testing.TB, s *Store, name string) Attachment {
	t.Helper()
	a := Attachment{ID: sys.NewID(), Kind: AttachPDF, Name: name, Size: 9, Stored: 5, Tokens: 2, Pages: 3, Note: "note", NoteKO: "쪽지", Hash: "hash of " + name}
	write(t, s, func(tx *Tx) error { return s.AddAttachment(tx, a) })
	return a
}

func TestAttachmentsComeBackWithMessagesRunsAndTheQueue(t *testing.T) {
	t.Parallel()
	s := setup(t)
	ctx := context.Background()
	session := newSession(t, s, "x")
	a, b := newAttachment(t, s, "a"), newAttachment(t, s, "b")
	got, err := s.Attachments(ctx, []string{b.ID, "none", a.ID})
	if diff := cmp.Diff([]Attachment{b, a}, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	run := Run{SessionID: session.ID, Text: "do it", Attachments: []Attachment{a, b}}
	write(t, s, func(tx *Tx) error {
		if err := s.CreateRun(tx, &run); err != nil {
			return err
		}
		if err := s.AddMessage(tx, Message{SessionID: session.ID, Role: RoleUser, Attachments: []Attachment{a, b}}); err != nil {
			return err
		}
		return s.Enqueue(tx, &Queued{SessionID: session.ID, Text: "more", Attachments: []Attachment{b}})
	})
	a.Hash, b.Hash = "", "" // where the content lies is nobody's business there
	read, err := s.Run(ctx, run.ID)
	if diff := cmp.Diff([]Attachment{a, b}, read.Attachments); diff != "" || err != nil {
		t.Errorf("run: %v (-want +got):\n%s", err, diff)
	}
	messages, err := s.Messages(ctx, session.ID)
	if err != nil || len(messages) != 1 || cmp.Diff([]Attachment{a, b}, messages[0].Attachments) != "" {
		t.Errorf("message: got %+v, %v", messages, err)
	}
	var taken []Queued
	write(t, s, func(tx *Tx) (err error) { taken, err = s.TakeQueued(tx, session.ID, "", 0); return err })
	if len(taken) != 1 || cmp.Diff([]Attachment{b}, taken[0].Attachments) != "" {
		t.Errorf("queue: got %+v", taken)
	}
}

func TestAttachmentGoesWithItsLastSession(t *testing.T) {
	t.Parallel()
	s := setup(t)
	ctx := context.Background()
	one, two := newSession(t, s, "one"), newSession(t, s, "two")
	shared, own, unsent := newAttachment(t, s, "shared"), newAttachment(t, s, "own"), newAttachment(t, s, "unsent")
	write(t, s, func(tx *Tx) error {
		if err := s.AddMessage(tx, Message{SessionID: one.ID, Role: RoleUser, Attachments: []Attachment{shared, own}}); err != nil {
			return err
		}
		return s.Enqueue(tx, &Queued{SessionID: two.ID, Text: "more", Attachments: []Attachment{shared, shared}})
	})
	err := s.Write(ctx, func(tx *Tx) error { return s.RemoveAttachment(tx, shared.ID) })
	if sys.CodeOf(err) != sys.CodeConflict {
		t.Errorf("remove one that a message has: got %v, want conflict", err)
	}
	left := func() map[string]bool {
		all, err := s.AttachmentHashes(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	if err := s.DeleteSession(ctx, one.ID); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]bool{shared.Hash: true, unsent.Hash: true}, left()); diff != "" {
		t.Errorf("after the first (-want +got):\n%s", diff)
	}
	if err := s.DeleteSession(ctx, two.ID); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]bool{unsent.Hash: true}, left()); diff != "" {
		t.Errorf("after the second (-want +got):\n%s", diff)
	}
	if n, err := s.DropAttachments(ctx, time.Now().Add(-time.Hour)); n != 0 || err != nil {
		t.Errorf("dropped %d young ones, %v", n, err)
	}
	if n, err := s.DropAttachments(ctx, time.Now().Add(time.Hour)); n != 1 || err != nil {
		t.Errorf("dropped %d, %v; want the unsent one", n, err)
	}
	err = s.Write(ctx, func(tx *Tx) error { return s.RemoveAttachment(tx, unsent.ID) })
	if sys.CodeOf(err) != sys.CodeNotFound {
		t.Errorf("remove one that is gone: got %v, want not_found", err)
	}
}

func TestBranchedConversationKeepsItsAttachments(t *testing.T) {
	t.Parallel()
	s := setup(t)
	ctx := context.Background()
	from := newSession(t, s, "from")
	a := newAttachment(t, s, "a")
	run := Run{SessionID: from.ID, Text: "do it", State: RunDone, Attachments: []Attachment{a}}
	copied := Session{Title: "copy"}
	write(t, s, func(tx *Tx) error {
		if err := s.CreateRun(tx, &run); err != nil {
			return err
		}
		if err := s.AddMessage(tx, Message{SessionID: from.ID, RunID: run.ID, Role: RoleUser, Attachments: []Attachment{a}}); err != nil {
			return err
		}
		return s.CopyBranch(tx, run.ID, &copied)
	})
	if err := s.DeleteSession(ctx, from.ID); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Attachments(ctx, []string{a.ID}); err != nil || len(got) != 1 {
		t.Errorf("it went with the origin: got %v, %v", got, err)
	}
	tree, err := s.Tree(ctx, copied.ID)
	if err != nil || len(tree.Runs) != 1 || len(tree.Runs[0].Attachments) != 1 {
		t.Errorf("the copied run has %+v, %v", tree.Runs, err)
	}
	messages, err := s.Messages(ctx, copied.ID)
	if err != nil || len(messages) != 1 || len(messages[0].Attachments) != 1 {
		t.Errorf("the copied message has %+v, %v", messages, err)
	}
}
