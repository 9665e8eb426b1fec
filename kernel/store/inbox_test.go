package store

import (
	"slices"
	"strings"
	"testing"

	"oxios/kernel/sys"
)

// endedRun saves a run that has ended, and returns its id.
func endedRun(t *testing.T, s *Store, session string, state RunState, change ...func(*Run)) string {
	t.Helper()
	r := Run{SessionID: session, State: state, Text: "do it"}
	for _, c := range change {
		c(&r)
	}
	end := s.now()
	r.EndedAt = &end
	write(t, s, func(tx *Tx) error { return s.CreateRun(tx, &r) })
	return r.ID
}

func inbox(t *testing.T, s *Store, all bool) []string {
	t.Helper()
	list, _, err := s.Inbox(t.Context(), all, 200)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, e := range list {
		ids = append(ids, e.Run.ID)
	}
	slices.Sort(ids)
	return ids
}

func sorted(ids ...string) []string {
	slices.Sort(ids)
	return ids
}

func TestInboxHoldsEndsThatAreNews(t *testing.T) {
	t.Parallel()
	s := setup(t)
	session := newSession(t, s, "Photos")
	done := endedRun(t, s, session.ID, RunDone)
	failed := endedRun(t, s, session.ID, RunFailed)
	cut := endedRun(t, s, session.ID, RunInterrupted)
	endedRun(t, s, session.ID, RunStopped)
	endedRun(t, s, session.ID, RunRunning)
	endedRun(t, s, session.ID, RunDone, func(r *Run) { r.ParentID = done })
	endedRun(t, s, session.ID, RunDone, func(r *Run) { r.CopyOf = done })
	if got, want := inbox(t, s, false), sorted(done, failed, cut); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	write(t, s, func(tx *Tx) error {
		return s.AddMessage(tx, Message{ID: done + "-answer", SessionID: session.ID, RunID: done, Role: RoleAssistant, Content: strings.Repeat("가", 400)})
	})
	for range 2 { // a file that was changed twice counts once
		write(t, s, func(tx *Tx) error {
			_, err := tx.Exec("INSERT INTO changes (id, run_id, path, kind, at) VALUES (?, ?, '/a', 'modified', 1)", sys.NewID(), done)
			return err
		})
	}
	list, unseen, err := s.Inbox(t.Context(), false, 200)
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(list, func(e EndedRun) bool { return e.Run.ID == done })
	if e := list[at]; unseen != 3 || e.Title != "Photos" || e.Answer != strings.Repeat("가", 300) || e.Files != 1 || e.Seen {
		t.Errorf("got %+v of %d", e, unseen)
	}
}

func TestWhatWasSeenLeavesTheInboxAndComesBack(t *testing.T) {
	t.Parallel()
	s := setup(t)
	session := newSession(t, s, "Photos")
	other := newSession(t, s, "Bills")
	done, failed := endedRun(t, s, session.ID, RunDone), endedRun(t, s, session.ID, RunFailed)
	open, later := endedRun(t, s, session.ID, RunRunning), endedRun(t, s, other.ID, RunDone)

	mark := func(seen bool, ids ...string) (n int64) {
		write(t, s, func(tx *Tx) (err error) {
			n, err = s.MarkSeen(tx, ids, seen)
			return err
		})
		return n
	}
	if n := mark(true, done, open, "nobody"); n != 1 {
		t.Errorf("marked %d, want the one that has ended", n)
	}
	if n := mark(true, done); n != 0 {
		t.Errorf("marked %d again, want none", n)
	}
	if got, want := inbox(t, s, false), sorted(failed, later); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := inbox(t, s, true), sorted(done, failed, later); !slices.Equal(got, want) {
		t.Errorf("all: got %q, want %q", got, want)
	}
	if n := mark(false, done); n != 1 {
		t.Errorf("put %d back, want one", n)
	}
	var cleared []string
	write(t, s, func(tx *Tx) (err error) {
		cleared, err = s.SeeDone(tx)
		return err
	})
	if slices.Sort(cleared); !slices.Equal(cleared, sorted(done, later)) {
		t.Errorf("cleared %q, want the finished ones", cleared)
	}
	if got := inbox(t, s, false); !slices.Equal(got, []string{failed}) {
		t.Errorf("got %q, want what failed", got)
	}
	mark(false, done, later)
	write(t, s, func(tx *Tx) error {
		_, err := s.SeeSession(tx, session.ID)
		return err
	})
	if got := inbox(t, s, false); !slices.Equal(got, []string{later}) {
		t.Errorf("got %q after one conversation was seen, want that of the other", got)
	}
	// The run that was open when its conversation was seen is news once it ends.
	state := RunDone
	write(t, s, func(tx *Tx) error { return s.UpdateRun(tx, open, RunPatch{State: &state}) })
	if got := inbox(t, s, false); !slices.Equal(got, sorted(later, open)) {
		t.Errorf("got %q, want also the run that ended since", got)
	}
}

func TestInboxIsBoundedAndHidesWhatIsDiscarded(t *testing.T) {
	t.Parallel()
	s := setup(t)
	session := newSession(t, s, "Photos")
	for range 5 {
		endedRun(t, s, session.ID, RunDone)
	}
	if list, unseen, err := s.Inbox(t.Context(), false, 3); err != nil || len(list) != 3 || unseen != 5 {
		t.Errorf("got %d of %d, %v", len(list), unseen, err)
	}
	write(t, s, func(tx *Tx) error { return s.DiscardSession(tx, session.ID) })
	if got := inbox(t, s, true); len(got) != 0 {
		t.Errorf("got %q of a conversation that was discarded", got)
	}
	write(t, s, func(tx *Tx) error { return s.RecoverSession(tx, session.ID) })
	if got := inbox(t, s, false); len(got) != 5 {
		t.Errorf("got %d after its recovery, want 5", len(got))
	}
}

func TestEndsFromBeforeTheInboxAreNoNews(t *testing.T) {
	t.Parallel()
	path := fixture(t, migrationFiles(), 3)
	raw(t, path, `INSERT INTO runs (id, pid, session_id, state, created_at, ended_at) VALUES ('done', 1, 'old', 'done', 1, 2), ('waits', 2, 'old', 'waiting', 1, NULL)`)
	s := reopen(t, path)
	if got := inbox(t, s, false); len(got) != 0 {
		t.Errorf("got %q, want nothing", got)
	}
	state := RunDone
	write(t, s, func(tx *Tx) error { return s.UpdateRun(tx, "waits", RunPatch{State: &state}) })
	if got := inbox(t, s, false); !slices.Equal(got, []string{"waits"}) {
		t.Errorf("got %q, want the run that ended since", got)
	}
}

func TestInboxFindsWhatIsUnseenByItsIndex(t *testing.T) {
	t.Parallel()
	s := setup(t)
	var plan []string
	err := s.Read(t.Context(), func(tx *Tx) error {
		rows, err := tx.Query("EXPLAIN QUERY PLAN SELECT id FROM runs WHERE " + unseen + " ORDER BY ended_at DESC LIMIT 1")
		if err != nil {
			return err
		}
		for rows.Next() {
			var id, parent, none int
			var step string
			if err := rows.Scan(&id, &parent, &none, &step); err != nil {
				return err
			}
			plan = append(plan, step)
		}
		return rows.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(plan, "; "); !strings.Contains(got, "runs_unseen") || strings.Contains(got, "TEMP B-TREE") {
		t.Errorf("got plan %q", got)
	}
}
