package store

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"oxios/kernel/sys"
)

// grow adds a run that says text, behind the head or, when one is named,
// behind that run, and ends it.
func grow(t *testing.T, s *Store, session, text string, after ...string) string {
	t.Helper()
	r := Run{SessionID: session, Text: text}
	done := RunDone
	write(t, s, func(tx *Tx) error {
		create := s.CreateRun
		if len(after) > 0 {
			create = func(tx *Tx, r *Run) error { return s.CreateRunAfter(tx, r, after[0]) }
		}
		if err := create(tx, &r); err != nil {
			return err
		}
		if err := s.AddMessage(tx, Message{SessionID: session, RunID: r.ID, Role: RoleUser, Content: text}); err != nil {
			return err
		}
		return s.UpdateRun(tx, r.ID, RunPatch{State: &done})
	})
	return r.ID
}

func tree(t *testing.T, s *Store, session string) Tree {
	t.Helper()
	got, err := s.Tree(context.Background(), session)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func texts(runs []Run) []string {
	var out []string
	for _, r := range runs {
		out = append(out, r.Text)
	}
	return out
}

func TestRunFollowsTheHeadAndAnotherOneBesideItIsABranch(t *testing.T) {
	t.Parallel()
	s := setup(t)
	id := newSession(t, s, "x").ID
	a := grow(t, s, id, "a")
	b := grow(t, s, id, "b")
	grow(t, s, id, "c")
	child := Run{SessionID: id, ParentID: b}
	write(t, s, func(tx *Tx) error { return s.CreateRun(tx, &child) })
	b2 := grow(t, s, id, "b2", a)
	c2 := grow(t, s, id, "c2")
	a2 := grow(t, s, id, "a2", "")

	got := tree(t, s, id)
	for _, want := range []struct {
		end    string
		branch []string
	}{{c2, []string{"a", "b2", "c2"}}, {b, []string{"a", "b"}}, {a2, []string{"a2"}}, {"none", nil}, {child.ID, nil}} {
		if diff := cmp.Diff(want.branch, texts(got.Branch(want.end))); diff != "" {
			t.Errorf("the branch to %s (-want +got):\n%s", want.end, diff)
		}
	}
	if run, _ := got.Run(b2); !cmp.Equal(got.Siblings(run), []string{b, b2}) {
		t.Errorf("got siblings %v, want b and b2", got.Siblings(run))
	}
	if run, _ := got.Run(a2); !cmp.Equal(got.Siblings(run), []string{a, a2}) {
		t.Errorf("got siblings %v of a first run, want a and a2", got.Siblings(run))
	}
	if n := got.Branches(); n != 3 {
		t.Errorf("got %d branches, want 3", n)
	}
	if session, err := s.Session(context.Background(), id); err != nil || session.HeadID != a2 {
		t.Errorf("got head %s, error %v; want the newest run %s", session.HeadID, err, a2)
	}
}

func TestEndIsTheNewestBelow(t *testing.T) {
	t.Parallel()
	s := setup(t)
	id := newSession(t, s, "x").ID
	a := grow(t, s, id, "a")
	b := grow(t, s, id, "b")
	c := grow(t, s, id, "c")
	b2 := grow(t, s, id, "b2", a)
	c1 := grow(t, s, id, "c1", b)
	got := tree(t, s, id)
	for run, want := range map[string]string{a: c1, b: c1, c: c, b2: b2} {
		if end := got.End(run); end != want {
			t.Errorf("below %s: got %s, want %s", run, end, want)
		}
	}
}

func TestSessionShowsTheStateAtItsHead(t *testing.T) {
	t.Parallel()
	s := setup(t)
	ctx := context.Background()
	id := newSession(t, s, "x").ID
	a := grow(t, s, id, "a")
	failed := RunFailed
	b := grow(t, s, id, "b", "")
	write(t, s, func(tx *Tx) error { return s.UpdateRun(tx, b, RunPatch{State: &failed}) })
	if got, err := s.Session(ctx, id); err != nil || got.State != "failed" {
		t.Errorf("got %q, error %v; want failed", got.State, err)
	}
	write(t, s, func(tx *Tx) error { return s.SetHead(tx, id, a) })
	if got, err := s.Session(ctx, id); err != nil || got.State != "done" {
		t.Errorf("with the other branch: got %q, error %v; want done", got.State, err)
	}
	if err := s.Write(ctx, func(tx *Tx) error { return s.SetHead(tx, "none", a) }); sys.CodeOf(err) != sys.CodeNotFound {
		t.Errorf("got %v, want not_found", err)
	}
}

func TestSearchFindsEveryBranchAndNamesTheRun(t *testing.T) {
	t.Parallel()
	s := setup(t)
	id := newSession(t, s, "x").ID
	hidden := grow(t, s, id, "the first wording")
	grow(t, s, id, "another wording", "")
	if found := search(t, s, "first"); len(found) != 1 || found[0].HitRun != hidden {
		t.Errorf("got %+v, want the run that is not shown, %s", found, hidden)
	}
	if found := search(t, s, "x"); len(found) != 1 || found[0].HitRun != "" {
		t.Errorf("by its title: got %+v, want no run", found)
	}
}

// worked gives a run a step with an approval, a change, a cost and an answer.
func worked(t *testing.T, s *Store, run string) {
	t.Helper()
	ctx := context.Background()
	j, err := s.Journal(ctx, run)
	if err != nil {
		t.Fatal(err)
	}
	session := ""
	step := Step{Kind: StepTool, Name: "write", CallID: "call-1"}
	write(t, s, func(tx *Tx) error { return j.Propose(tx, &step) })
	open := j.Open(&step)
	if err := open.Wait(ctx, "approval-1", nil); err != nil {
		t.Fatal(err)
	}
	if err := open.Start(ctx, nil); err != nil {
		t.Fatal(err)
	}
	if err := open.Close(ctx, OutcomeOK, json.RawMessage(`{"text":"ok"}`), nil); err != nil {
		t.Fatal(err)
	}
	write(t, s, func(tx *Tx) error {
		if err := tx.QueryRow("SELECT session_id FROM runs WHERE id = ?", run).Scan(&session); err != nil {
			return err
		}
		if err := s.AddChange(tx, Change{RunID: run, Path: "/a", Kind: "created"}); err != nil {
			return err
		}
		cost := Cost{Calls: 1, Input: 100, USD: 0.25}
		if err := s.UpdateRun(tx, run, RunPatch{Cost: &cost, Error: &sys.Error{Code: sys.CodeQuota, Message: "No credit."}}); err != nil {
			return err
		}
		return s.AddMessage(tx, Message{SessionID: session, RunID: run, Role: RoleAssistant, Content: "written", Cost: &cost, Model: "m"})
	})
}

func TestBranchIsCopiedWithoutWhatItDid(t *testing.T) {
	t.Parallel()
	s := setup(t)
	ctx := context.Background()
	from := newSession(t, s, "x").ID
	a := grow(t, s, from, "a")
	worked(t, s, a)
	b := grow(t, s, from, "b")
	grow(t, s, from, "c")
	grow(t, s, from, "b2", a)
	spent, err := s.DayCost(ctx, time.Time{})
	if err != nil {
		t.Fatal(err)
	}

	session := Session{Title: "x (branch)"}
	write(t, s, func(tx *Tx) error { return s.CopyBranch(tx, b, &session) })
	got, err := s.Session(ctx, session.ID)
	if err != nil || got.OriginID != from || got.Cost != (Cost{}) || got.State != "done" {
		t.Fatalf("got %+v, error %v; want a session from %s that cost nothing", got, err, from)
	}
	copied := tree(t, s, session.ID)
	runs := copied.Branch(got.HeadID)
	if diff := cmp.Diff([]string{"a", "b"}, texts(runs)); diff != "" || len(copied.Runs) != 2 {
		t.Fatalf("got %d runs (-want +got):\n%s", len(copied.Runs), diff)
	}
	if runs[0].CopyOf != a || runs[1].CopyOf != b || runs[0].ID == a || runs[0].Error == nil {
		t.Errorf("got %+v, want copies of a and b with what went wrong", runs)
	}
	steps, err := s.Steps(ctx, runs[0].ID)
	if err != nil || len(steps) != 1 || steps[0].ApprovalID != "" || steps[0].Outcome != OutcomeOK || string(steps[0].Result) != `{"text":"ok"}` {
		t.Errorf("got steps %+v, error %v; want one without its approval", steps, err)
	}
	messages, err := s.Messages(ctx, session.ID)
	if err != nil || len(messages) != 3 || messages[1].Content != "written" || messages[1].RunID != runs[0].ID || messages[1].Cost.Input != 100 {
		t.Errorf("got messages %+v, error %v; want a, its answer with what it cost, and b", messages, err)
	}
	if changes, err := s.Changes(ctx, runs[0].ID); err != nil || len(changes) != 0 {
		t.Errorf("got changes %v, error %v; want none: the copy changed nothing", changes, err)
	}
	if now, err := s.DayCost(ctx, time.Time{}); err != nil || now != spent || now.USD != 0.25 {
		t.Errorf("got %+v spent, error %v; want %+v as before", now, err, spent)
	}
	if err := s.DeleteSession(ctx, from); err != nil {
		t.Fatal(err)
	}
	if left, err := s.Messages(ctx, session.ID); err != nil || len(left) != 3 {
		t.Errorf("after the origin was deleted: got %d messages, error %v; want 3", len(left), err)
	}
}

func TestOpenRunIsNotBranched(t *testing.T) {
	t.Parallel()
	s := setup(t)
	ctx := context.Background()
	from := newSession(t, s, "x").ID
	r := newRun(t, s, from)
	for id, want := range map[string]sys.Code{r.ID: sys.CodeBusy, "none": sys.CodeNotFound} {
		err := s.Write(ctx, func(tx *Tx) error { return s.CopyBranch(tx, id, &Session{}) })
		if sys.CodeOf(err) != want {
			t.Errorf("%s: got %v, want %s", id, err, want)
		}
	}
	if n := count(t, s, "SELECT count(*) FROM sessions"); n != 1 {
		t.Errorf("got %d sessions, want the one", n)
	}
}

func TestOldConversationsBecomeOneBranchEach(t *testing.T) {
	t.Parallel()
	path := fixture(t, migrationFiles(), 1)
	raw(t, path, `INSERT INTO sessions (id, created_at, updated_at) VALUES ('other', 1, 1), ('empty', 1, 1)`)
	for pid, session := range []string{"old", "other", "old", "old", "other"} {
		raw(t, path, fmt.Sprintf("INSERT INTO runs (id, pid, session_id, state, text, created_at) VALUES ('r%d', %d, '%s', 'done', 'r%d', 1)", pid, pid, session, pid))
	}
	raw(t, path, "INSERT INTO runs (id, pid, session_id, parent_id, state, created_at) VALUES ('child', 9, 'old', 'r3', 'done', 1), ('alone', 10, NULL, NULL, 'done', 1)")
	s := reopen(t, path)
	for id, want := range map[string][]string{"old": {"r0", "r2", "r3"}, "other": {"r1", "r4"}, "empty": nil} {
		session, err := s.Session(context.Background(), id)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, texts(tree(t, s, id).Branch(session.HeadID))); diff != "" {
			t.Errorf("session %s (-want +got):\n%s", id, diff)
		}
	}
	if backups, err := filepath.Glob(path + ".v1.bak"); err != nil || len(backups) != 1 {
		t.Errorf("got backups %v, error %v; want the one of before", backups, err)
	}
}
