package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"oxios/kernel/sys"
)

// lived fills a database with n sessions, each with everything that belongs to
// one, and returns their ids.
func lived(t testing.TB, s *Store, n int) []string {
	t.Helper()
	var ids []string
	for i := range n {
		session := newSession(t, s, fmt.Sprintf("talk %d 이야기", i))
		ids = append(ids, session.ID)
		say(t, s, session.ID, RoleUser, fmt.Sprintf("question %d with 단어%d", i, i))
		r := newRun(t, s, session.ID)
		o := propose(t, s, journal(t, s, r.ID), StepTool)
		if err := o.Start(context.Background(), func(*Tx) error { return nil }); err != nil {
			t.Fatal(err)
		}
		if err := o.Close(context.Background(), OutcomeOK, json.RawMessage(`{"text":"done"}`), nil); err != nil {
			t.Fatal(err)
		}
		write(t, s, func(tx *Tx) error {
			for _, c := range []Change{
				{RunID: r.ID, StepID: o.Step().ID, Path: "/a", Kind: ChangeCreated, After: []byte{}},
				{RunID: r.ID, StepID: o.Step().ID, Path: "/b", Kind: ChangeModified, Before: []byte{0, 1, 0xff}, After: nil, Binary: true},
			} {
				if err := s.AddChange(tx, c); err != nil {
					return err
				}
			}
			return s.AddMessage(tx, Message{SessionID: session.ID, RunID: r.ID, Role: RoleAssistant, Content: "answer", Cost: &Cost{Calls: 1, USD: 0.25}})
		})
		done, cost := RunDone, Cost{Calls: 1, USD: 0.25}
		write(t, s, func(tx *Tx) error { return s.UpdateRun(tx, r.ID, RunPatch{State: &done, Cost: &cost}) })
	}
	return ids
}

func mergeInto(t testing.TB, here, there *Store) MergeReport {
	t.Helper()
	r, err := here.Merge(context.Background(), there, MergeOptions{At: time.Now()}, nil)
	if err != nil {
		t.Fatalf("Merge: %v", err)
	}
	return r
}

// dump is a table as text, without the numbers that each database gives itself.
func dump(t testing.TB, s *Store, table string) []string {
	t.Helper()
	var all []string
	err := s.Read(context.Background(), func(tx *Tx) error {
		columns, err := stringsOf(tx, "SELECT name FROM pragma_table_info(?) WHERE name NOT IN ('n', 'audit_seq')", table)
		if err != nil {
			return err
		}
		for i, c := range columns {
			columns[i] = "quote(" + c + ")"
		}
		all, err = stringsOf(tx, "SELECT "+strings.Join(columns, "||','||")+" FROM "+table)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestMergeKnowsEveryTable(t *testing.T) {
	t.Parallel()
	s := setup(t)
	var names []string
	if err := s.Read(context.Background(), func(tx *Tx) (err error) {
		names, err = tables(tx)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if !slices.Contains(mergedTables, name) {
			t.Errorf("the table %s is in no backup's merge: add it to merge.go, or say there why it stays out", name)
		}
	}
}

func TestMergeIntoAnEmptyDatabaseGivesTheSameRows(t *testing.T) {
	t.Parallel()
	from, to := setup(t), setup(t)
	lived(t, from, 7)
	write(t, from, func(tx *Tx) error { put(t, tx, "providers", "[]"); put(t, tx, "stays", "x"); return nil })
	r, err := to.Merge(context.Background(), from, MergeOptions{At: time.Now(), Skip: []string{"stays"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := MergeReport{Sessions: Merged{Added: 7}, Messages: 14, Runs: 7, State: Merged{Added: 1}, Costs: Merged{Added: 1}}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, table := range []string{"sessions", "messages", "runs", "steps", "changes", "queued", "approvals", "spend", "counters"} {
		if diff := cmp.Diff(dump(t, from, table), dump(t, to, table)); diff != "" {
			t.Errorf("%s (-from +to):\n%s", table, diff)
		}
	}
	if got := len(search(t, to, "단어3")); got != 1 {
		t.Errorf("search: got %d sessions, want 1", got)
	}
	if err := to.Verify(context.Background()); err != nil {
		t.Error(err)
	}
}

func TestMergingTwiceAddsNothing(t *testing.T) {
	t.Parallel()
	from, to := setup(t), setup(t)
	lived(t, from, 3)
	lived(t, to, 2)
	mergeInto(t, to, from)
	before, err := to.Counts(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	r := mergeInto(t, to, from)
	if r.Sessions != (Merged{Present: 3}) || r.Messages+r.Runs+r.State.Added+r.Costs.Added != 0 {
		t.Errorf("got %+v, want everything to be present", r)
	}
	after, err := to.Counts(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
}

func TestMergeNeverChangesWhatIsHere(t *testing.T) {
	t.Parallel()
	from, to := setup(t), setup(t)
	ids := lived(t, from, 3)
	mergeInto(t, to, from)
	// The same conversation went on in both; another went on here alone, a third got another name here.
	say(t, from, ids[0], RoleUser, "said there")
	say(t, to, ids[0], RoleUser, "said here")
	say(t, to, ids[1], RoleUser, "said here too")
	title := "renamed"
	if _, err := to.UpdateSession(context.Background(), ids[2], SessionPatch{Title: &title}); err != nil {
		t.Fatal(err)
	}
	write(t, to, func(tx *Tx) error { put(t, tx, "tools_off", `["exec"]`); return nil })
	write(t, from, func(tx *Tx) error { put(t, tx, "tools_off", `[]`); return nil })
	before := slices.Concat(dump(t, to, "sessions"), dump(t, to, "messages"), dump(t, to, "kv"))
	r := mergeInto(t, to, from)
	if r.Sessions != (Merged{Present: 2, Kept: 1}) || r.State != (Merged{Kept: 1}) || !slices.Equal(r.Differ, []string{"talk 0 이야기"}) {
		t.Errorf("got %+v, want one session and one setting to differ", r)
	}
	if diff := cmp.Diff(before, slices.Concat(dump(t, to, "sessions"), dump(t, to, "messages"), dump(t, to, "kv"))); diff != "" {
		t.Errorf("what was here has changed (-before +after):\n%s", diff)
	}
}

func TestNothingThatWasMergedCanRun(t *testing.T) {
	t.Parallel()
	from, to := setup(t), setup(t)
	session := newSession(t, from, "open")
	r := newRun(t, from, session.ID)
	waits := propose(t, from, journal(t, from, r.ID), StepTool)
	if err := waits.Wait(context.Background(), "ap", func(*Tx) error { return nil }); err != nil {
		t.Fatal(err)
	}
	began := newRun(t, from, session.ID)
	if err := propose(t, from, journal(t, from, began.ID), StepTool).Start(context.Background(), func(*Tx) error { return nil }); err != nil {
		t.Fatal(err)
	}
	write(t, from, func(tx *Tx) error {
		for i, state := range []string{"pending", "approved", "used", "denied"} {
			if _, err := tx.Exec("INSERT INTO approvals (id, run_id, session_id, call, hash, request_json, state, created_at, expires_at) VALUES (?, ?, ?, 'c', 'h', '{}', ?, 1, 9e15)",
				fmt.Sprint("ap", i), r.ID, session.ID, state); err != nil {
				return err
			}
		}
		return nil
	})
	mergeInto(t, to, from)
	if open, err := to.TakeOver(context.Background(), "x"); err != nil || len(open) != 0 {
		t.Errorf("got open runs %v, error %v; want none", open, err)
	}
	if got := dump(t, to, "approvals"); len(got) != 4 || count(t, to, "SELECT count(*) FROM approvals WHERE state = 'canceled'") != 2 ||
		count(t, to, "SELECT count(*) FROM approvals WHERE state IN ('pending', 'approved')") != 0 {
		t.Errorf("got approvals %v, want those that waited or were approved to be canceled", got)
	}
	if got := count(t, to, "SELECT count(*) FROM steps WHERE state = 'closed' AND outcome = 'canceled'"); got != 1 {
		t.Errorf("got %d canceled steps, want the one that waited", got)
	}
	if got := count(t, to, "SELECT count(*) FROM steps WHERE state = 'started'"); got != 1 {
		t.Errorf("got %d started steps, want the one whose outcome nobody knows", got)
	}
	if got := count(t, to, "SELECT count(*) FROM runs WHERE state = 'interrupted' AND ended_at IS NOT NULL"); got != 2 {
		t.Errorf("got %d interrupted runs, want 2", got)
	}
}

func TestMergedRunsKeepTheirOrderUnderNewNumbers(t *testing.T) {
	t.Parallel()
	from, to := setup(t), setup(t)
	session := newSession(t, from, "many runs")
	var want []string
	for range 4 {
		want = append(want, newRun(t, from, session.ID).ID)
	}
	lived(t, to, 2) // takes pids 1 and 2: the first two clash, and then all are new
	mergeInto(t, to, from)
	tree, err := to.Tree(context.Background(), session.ID)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i, r := range tree.Runs {
		got = append(got, r.ID)
		if r.PID != int64(3+i) {
			t.Errorf("run %d: got pid %d, want %d", i, r.PID, 3+i)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got order %v, want %v", got, want)
	}
	if r := newRun(t, to, session.ID); r.PID != 7 {
		t.Errorf("the next run: got pid %d, want 7", r.PID)
	}
}

func TestMergeThatFailsInTheMiddleChangesNothing(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	from, to := setup(t), setup(t)
	lived(t, to, 1)
	lived(t, from, 20)
	say(t, from, newSession(t, from, "large").ID, RoleUser, strings.Repeat("text that is long ", 50_000))
	before, err := to.Counts(ctx)
	if err != nil {
		t.Fatal(err)
	}
	unchanged := func(how string) {
		t.Helper()
		after, err := to.Counts(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(before, after); diff != "" {
			t.Errorf("%s (-before +after):\n%s", how, diff)
		}
		if err := to.Verify(ctx); err != nil {
			t.Errorf("%s: %v", how, err)
		}
	}
	refuse := errors.New("no")
	if _, err := to.Merge(ctx, from, MergeOptions{At: time.Now()}, func(*Tx, MergeReport) error { return refuse }); !errors.Is(err, refuse) {
		t.Errorf("got %v, want the caller's error", err)
	}
	unchanged("the caller refused")
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := to.Merge(ended, from, MergeOptions{At: time.Now()}, nil); err == nil {
		t.Error("a canceled merge succeeded")
	}
	unchanged("canceled")
	if r, err := to.TryMerge(ctx, from, MergeOptions{At: time.Now()}); err != nil || r.Sessions.Added != 21 {
		t.Errorf("a trial: got %+v, error %v; want 21 sessions", r, err)
	}
	unchanged("only tried")
	var pages int
	write(t, to, func(tx *Tx) error {
		if err := tx.QueryRow("PRAGMA page_count").Scan(&pages); err != nil {
			return err
		}
		return tx.QueryRow(fmt.Sprintf("PRAGMA max_page_count = %d", pages+20)).Scan(&pages)
	})
	if _, err := to.Merge(ctx, from, MergeOptions{At: time.Now()}, nil); sys.CodeOf(err) != sys.CodeDiskFull {
		t.Errorf("a full disk: got %v, want disk_full", err)
	}
	unchanged("a full disk")
	write(t, to, func(tx *Tx) error { return tx.QueryRow("PRAGMA max_page_count = 1000000").Scan(&pages) })
	if r := mergeInto(t, to, from); r.Sessions.Added != 21 {
		t.Errorf("after space was made: got %+v, want 21 sessions", r)
	}
}

func TestSnapshotIsWholeWhileOthersWrite(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(context.Background())
	s := setup(t)
	lived(t, s, 3)
	gone := newSession(t, s, "secretDiscarded")
	say(t, s, gone.ID, RoleUser, "secretDiscardedBody")
	write(t, s, func(tx *Tx) error { return s.DiscardSession(tx, gone.ID) })
	started, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; ctx.Err() == nil; i++ {
			// Two rows in one transaction: a copy has both or none.
			_ = s.Write(ctx, func(tx *Tx) error {
				put(t, tx, fmt.Sprint(i), "a")
				put(t, tx, fmt.Sprint(i, "-twin"), "b")
				return nil
			})
			if i == 20 {
				close(started)
			}
		}
	}()
	<-started
	for i := range 5 {
		path := filepath.Join(t.TempDir(), fmt.Sprint(i, ".db"))
		if err := s.Snapshot(ctx, path); err != nil {
			t.Fatal(err)
		}
		if _, err := filepath.Glob(path + "-*"); err != nil {
			t.Fatal(err)
		}
		c := reopen(t, path)
		if err := c.Verify(ctx); err != nil {
			t.Error(err)
		}
		if n := count(t, c, "SELECT count(*) FROM kv"); n%2 != 0 || n == 0 {
			t.Errorf("got %d rows, want whole pairs", n)
		}
		if n := count(t, c, "SELECT count(*) FROM sessions"); n != 3 {
			t.Errorf("got %d sessions, want those that were not discarded", n)
		}
		if files := remains(t, path, "secretDiscarded"); len(files) > 0 {
			t.Errorf("the discarded text stands in %v", files)
		}
	}
	stop()
	<-done
	if err := s.Snapshot(context.Background(), s.Path()); err == nil {
		t.Error("a copy onto the database itself succeeded")
	}
}

func TestSizesAreThoseOfTheFile(t *testing.T) {
	t.Parallel()
	s := setup(t)
	session := newSession(t, s, "x")
	for range 30 {
		say(t, s, session.ID, RoleUser, strings.Repeat("some words that fill pages ", 200))
	}
	sizes, err := s.Sizes(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var sum int64
	for _, n := range sizes {
		sum += n
	}
	pages := count(t, s, "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")
	free := count(t, s, "SELECT freelist_count * page_size FROM pragma_freelist_count, pragma_page_size")
	if sum != int64(pages-free) {
		t.Errorf("got %d bytes in all, want %d", sum, pages-free)
	}
	if _, apart := sizes["messages_fts"]; apart || sizes["messages"] < 200_000 {
		t.Errorf("got %v, want the index to stand under messages", sizes)
	}
}
