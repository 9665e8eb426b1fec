package store

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"time"

	"oxios/kernel/sys"

	"github.com/google/go-cmp/cmp"
)

func TestMessagesComeBackWhole(t *testing.T) {
	t.Parallel()
	s := setup(t)
	session := newSession(t, s, "x")
	m := Message{
		ID: sys.NewID(), SessionID: session.ID, RunID: "r", Role: RoleAssistant, Content: "안녕\x00\u2028 <b>", Reasoning: "why",
		At: time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC), Cost: &Cost{Calls: 1, Input: 5, Cached: 2, Free: true},
		ToolCalls: []ToolCall{{ID: "c1", Name: "ls", Args: json.RawMessage(`{"path":"."}`), Outcome: OutcomeOK, Summary: "Listed ."}},
		Provider:  "p", Model: "m", Status: StatusForced, Demo: true,
	}
	write(t, s, func(tx *Tx) error { return s.AddMessage(tx, m) })
	got, err := s.Messages(context.Background(), session.ID)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Message{m}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	err = s.Write(context.Background(), func(tx *Tx) error { return s.AddMessage(tx, Message{SessionID: "none", Role: RoleUser}) })
	if sys.CodeOf(err) != sys.CodeNotFound {
		t.Errorf("message to no session: got %v, want not_found", err)
	}
}

func TestDeleteReallyDeletes(t *testing.T) {
	t.Parallel()
	s := setup(t)
	ctx := context.Background()
	keep, gone := newSession(t, s, "keep"), newSession(t, s, "secretTitleXYZ")
	var run Run
	for _, session := range []Session{keep, gone} {
		say(t, s, session.ID, RoleUser, "the passphrase is secretBodyXYZ")
		r := newRun(t, s, session.ID)
		run = r
		o := propose(t, s, journal(t, s, r.ID), StepTool)
		write(t, s, func(tx *Tx) error {
			if err := s.AddChange(tx, Change{RunID: r.ID, StepID: o.Step().ID, Path: "/x", Kind: ChangeModified, Before: []byte("secretFileXYZ")}); err != nil {
				return err
			}
			if _, err := tx.Exec("INSERT INTO approvals (id, session_id, call, hash, request_json, created_at) VALUES (?, ?, 'c', 'h', '{}', 1)", r.ID, session.ID); err != nil {
				return err
			}
			if _, err := tx.Exec("INSERT INTO audit (timestamp, actor, action, resource, prev_hash, hash) VALUES (1, 'a', 'b', ?, 'x', 'y')", r.ID); err != nil {
				return err
			}
			return s.Enqueue(tx, &Queued{SessionID: session.ID, Text: "more"})
		})
	}
	if err := s.DeleteSession(ctx, gone.ID); sys.CodeOf(err) != sys.CodeBusy {
		t.Errorf("with an open run: got %v, want busy", err)
	}
	done := RunDone
	cost := Cost{Calls: 1, USD: 2}
	write(t, s, func(tx *Tx) error { return s.UpdateRun(tx, run.ID, RunPatch{State: &done, Cost: &cost}) })
	if err := s.DeleteSession(ctx, gone.ID); err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"sessions", "messages", "runs", "steps", "changes", "queued", "approvals"} {
		if got := count(t, s, "SELECT count(*) FROM "+table); got != 1 {
			t.Errorf("%s: got %d rows, want those of the other session", table, got)
		}
	}
	if got := count(t, s, "SELECT count(*) FROM audit"); got != 2 {
		t.Errorf("audit: got %d rows, want 2", got)
	}
	if today, err := s.DayCost(ctx, time.Now().Add(-time.Hour)); err != nil || today.USD != 2 {
		t.Errorf("spent: got %+v, error %v; want 2 dollars still", today, err)
	}
	if got := len(search(t, s, "passphrase")); got != 1 {
		t.Errorf("search: got %d sessions, want 1", got)
	}
	if err := s.DeleteSession(ctx, gone.ID); sys.CodeOf(err) != sys.CodeNotFound {
		t.Errorf("again: got %v, want not_found", err)
	}
	if err := s.Check(ctx); err != nil {
		t.Error(err)
	}
	if err := s.Write(ctx, func(tx *Tx) error {
		_, err := tx.Exec("INSERT INTO messages_fts (messages_fts) VALUES ('integrity-check')")
		return err
	}); err != nil {
		t.Errorf("the index does not agree with the messages: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(s.Path())
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(data, []byte("secretTitleXYZ")) {
		t.Error("the deleted title is still in the file")
	}
	if got := bytes.Count(data, []byte("secretFileXYZ")); got != 1 {
		t.Errorf("the file content is %d times in the database, want once", got)
	}
}

func TestChangesKeepTheContentBefore(t *testing.T) {
	t.Parallel()
	s := setup(t)
	ctx := context.Background()
	r := newRun(t, s, newSession(t, s, "x").ID)
	all := []Change{
		{ID: "1", RunID: r.ID, Path: "/a", Kind: ChangeCreated, AfterHash: "h", AfterSize: 3, At: FromMillis(5)},
		{ID: "2", RunID: r.ID, Path: "/b", Kind: ChangeModified, Before: []byte{0, 1}, BeforeSize: 2, Binary: true, At: FromMillis(6)},
		{ID: "3", RunID: r.ID, Path: "/c", Kind: ChangeDeleted, Before: []byte{}, At: FromMillis(7)}, // was empty
	}
	write(t, s, func(tx *Tx) error {
		for _, c := range all {
			if err := s.AddChange(tx, c); err != nil {
				return err
			}
		}
		return nil
	})
	listed, err := s.Changes(ctx, r.ID)
	if err != nil || len(listed) != 3 {
		t.Fatalf("got %v, error %v; want 3", listed, err)
	}
	for i, want := range all {
		got, err := s.Change(ctx, want.ID)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("change (-want +got):\n%s", diff)
		}
		want.Before = nil
		if diff := cmp.Diff(want, listed[i]); diff != "" {
			t.Errorf("listed (-want +got):\n%s", diff)
		}
	}
	if _, err := s.Change(ctx, "none"); sys.CodeOf(err) != sys.CodeNotFound {
		t.Errorf("got %v, want not_found", err)
	}
}

func TestQueueKeepsOrderAndGivesOut(t *testing.T) {
	t.Parallel()
	s := setup(t)
	ctx := context.Background()
	session := newSession(t, s, "x")
	for i := range 4 {
		write(t, s, func(tx *Tx) error {
			return s.Enqueue(tx, &Queued{ID: fmt.Sprint("q", i), SessionID: session.ID, Text: fmt.Sprint(i), Request: json.RawMessage(`{"a":1}`)})
		})
	}
	write(t, s, func(tx *Tx) error {
		if q, err := s.RemoveQueued(tx, "q1"); err != nil || q.Text != "1" || q.SessionID != session.ID {
			t.Errorf("removed %+v, error %v", q, err)
		}
		first, err := s.TakeQueued(tx, session.ID, "", 1)
		if err != nil || len(first) != 1 || first[0].Text != "0" || string(first[0].Request) != `{"a":1}` {
			t.Errorf("took %+v, error %v; want the oldest", first, err)
		}
		return nil
	})
	if left, err := s.Queued(ctx, session.ID, ""); err != nil || len(left) != 2 || left[0].Text != "2" {
		t.Errorf("left %+v, error %v; want 2 and 3", left, err)
	}
	write(t, s, func(tx *Tx) error {
		rest, err := s.TakeQueued(tx, session.ID, "", 0)
		if len(rest) != 2 {
			t.Errorf("took %d, want the rest", len(rest))
		}
		return err
	})
	err := s.Write(ctx, func(tx *Tx) error { _, err := s.RemoveQueued(tx, "q2"); return err })
	if sys.CodeOf(err) != sys.CodeNotFound {
		t.Errorf("removing a taken message: got %v, want not_found", err)
	}
}

func TestSmallStateIsKept(t *testing.T) {
	t.Parallel()
	s := setup(t)
	ctx := context.Background()
	if _, ok, err := s.Get(ctx, "k"); ok || err != nil {
		t.Errorf("got %v, %v; want nothing", ok, err)
	}
	write(t, s, func(tx *Tx) error { return s.Put(tx, "k", "1") })
	write(t, s, func(tx *Tx) error {
		if err := s.Put(tx, "k", "2"); err != nil {
			return err
		}
		if v, ok, err := s.GetIn(tx, "k"); v != "2" || !ok || err != nil {
			t.Errorf("inside: got %q, %v, %v; want 2", v, ok, err)
		}
		return nil
	})
	if v, ok, err := s.Get(ctx, "k"); v != "2" || !ok || err != nil {
		t.Errorf("got %q, %v, %v; want 2", v, ok, err)
	}
	write(t, s, func(tx *Tx) error { return s.Remove(tx, "k") })
	if _, ok, err := s.Get(ctx, "k"); ok || err != nil {
		t.Errorf("after Remove: got %v, %v; want nothing", ok, err)
	}
}

func TestCostsAddUp(t *testing.T) {
	t.Parallel()
	paid, free, unknown := Cost{Calls: 1, Input: 1, USD: 1}, Cost{Calls: 1, Output: 2, Free: true}, Cost{Calls: 1, Unknown: true}
	for name, c := range map[string]struct{ got, want Cost }{
		"nothing":       {Cost{}.Add(Cost{}), Cost{}},
		"nothing, free": {Cost{}.Add(free), free},
		"free, nothing": {free.Add(Cost{}), free},
		"free, free":    {free.Add(free), Cost{Calls: 2, Output: 4, Free: true}},
		"free, paid":    {free.Add(paid), Cost{Calls: 2, Input: 1, Output: 2, USD: 1}},
		"paid, unknown": {paid.Add(unknown), Cost{Calls: 2, Input: 1, USD: 1, Unknown: true}},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %+v, want %+v", name, c.got, c.want)
		}
	}
}

func TestDayCostCountsFromItsMidnight(t *testing.T) {
	t.Parallel()
	// A time zone 45 minutes off the hour: its midnight is 18:15 in UTC.
	midnight := time.Date(2026, 5, 1, 0, 0, 0, 0, time.FixedZone("", 5*3600+45*60))
	now := midnight.Add(-time.Minute)
	s, err := Open(context.Background(), t.TempDir()+"/oxios.db", Options{Clock: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r := newRun(t, s, newSession(t, s, "x").ID)
	total := Cost{}
	for _, c := range []Cost{{Calls: 1, USD: 1}, {Calls: 1, Input: 3, USD: 2}, {Calls: 1, USD: 4, Unknown: true}} {
		total = total.Add(c)
		for range 2 { // the same total again costs nothing
			write(t, s, func(tx *Tx) error { return s.UpdateRun(tx, r.ID, RunPatch{Cost: &total}) })
		}
		now = now.Add(2 * time.Minute)
	}
	if got, err := s.DayCost(context.Background(), midnight); err != nil || got != (Cost{Calls: 2, Input: 3, USD: 6, Unknown: true}) {
		t.Errorf("today: got %+v, error %v; want the last two", got, err)
	}
	if got, err := s.DayCost(context.Background(), midnight.Add(24*time.Hour)); err != nil || got != (Cost{}) {
		t.Errorf("tomorrow: got %+v, error %v; want nothing", got, err)
	}
}
