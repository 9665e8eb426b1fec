package security

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// fakeClock is a clock that a test sets.
type fakeClock struct{ ns atomic.Int64 }

func newFakeClock() *fakeClock {
	c := &fakeClock{}
	c.ns.Store(time.Date(2026, 1, 2, 3, 4, 5, 678901234, time.UTC).UnixNano())
	return c
}

func (c *fakeClock) now() time.Time      { return time.Unix(0, c.ns.Load()).UTC() }
func (c *fakeClock) add(d time.Duration) { c.ns.Add(int64(d)) }

func openStore(t testing.TB, path string) *store.Store {
	t.Helper()
	st, err := store.Open(context.Background(), path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	return st
}

// desk is everything an approval test needs.
type desk struct {
	*Approvals
	st    *store.Store
	clock *fakeClock
	path  string

	mu   sync.Mutex
	told []string // states, in the order in which they were announced
}

func setupApprovals(t *testing.T) *desk {
	t.Helper()
	d := &desk{path: filepath.Join(t.TempDir(), "oxios.db"), clock: newFakeClock()}
	d.st = openStore(t, d.path)
	d.Approvals = d.reopen()
	return d
}

// reopen is what a restart makes: the rows alone are left.
func (d *desk) reopen() *Approvals {
	return NewApprovals(d.st, ApprovalConfig{Clock: d.clock.now, Notify: func(ap Approval) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.told = append(d.told, ap.State)
	}})
}

func (d *desk) states() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.told)
}

func request(step string) Request {
	return Request{
		Call: "exec.command", Hash: RequestHash("exec.command", map[string]any{"command": "git push", "cwd": "/p"}),
		Effect: EffectNetwork, Tier: 2, Title: "Sends commits to origin", TitleKO: "커밋을 origin으로 보냅니다",
		Command: "git push", Dir: "/p", Programs: []string{"git"}, Claim: "I push.", Network: true,
		Contained: sys.IsolationPartial, Undo: "no", Ancestry: []string{"main"}, RunID: "run-1", SessionID: "session-1", StepID: step,
	}
}

func (d *desk) create(t testing.TB, r Request) Approval {
	t.Helper()
	var ap Approval
	err := d.st.Write(context.Background(), func(tx *store.Tx) (err error) {
		ap, err = d.Create(tx, r)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return ap
}

func (d *desk) use(id, hash string) error {
	return d.st.Write(context.Background(), func(tx *store.Tx) error { return d.Use(tx, id, hash) })
}

func yes(ap Approval) Answer { return Answer{Approve: true, Hash: ap.Request.Hash} }

func wantCode(t testing.TB, what string, err error, want sys.Code) {
	t.Helper()
	if got := sys.CodeOf(err); got != want {
		t.Errorf("%s: got %q (%v), want %q", what, got, err, want)
	}
}

func TestApprovalIsGivenAndUsedOnce(t *testing.T) {
	t.Parallel()
	d := setupApprovals(t)
	ap := d.create(t, request("step-1"))
	wantCode(t, "used before the answer", d.use(ap.ID, ap.Request.Hash), sys.CodeWaiting)

	recorded := ""
	got, err := d.Decide(t.Context(), sys.Person("window"), ap.ID, yes(ap), func(tx *store.Tx, ap Approval) error {
		recorded = ap.State + " by " + ap.DecidedBy
		return nil
	})
	if err != nil || got.State != ApprovalApproved || got.DecidedAt == nil {
		t.Fatalf("Decide: got %+v, %v", got, err)
	}
	if recorded != "approved by person:window" {
		t.Errorf("recorded: got %q", recorded)
	}
	wantCode(t, "used for another call", d.use(ap.ID, RequestHash("exec.command", "other")), sys.CodeConflict)
	wantCode(t, "used without a hash", d.use(ap.ID, ""), sys.CodeConflict)
	if err := d.use(ap.ID, ap.Request.Hash); err != nil {
		t.Fatal(err)
	}
	wantCode(t, "used twice", d.use(ap.ID, ap.Request.Hash), sys.CodeDenied)
	if want := []string{"pending", "approved", "used"}; !slices.Equal(d.states(), want) {
		t.Errorf("announced: got %v, want %v", d.states(), want)
	}
}

func TestWhatThePersonSeesIsStoredWhole(t *testing.T) {
	t.Parallel()
	d := setupApprovals(t)
	ap := d.create(t, request("step-1"))
	got, err := d.reopen().Get(t.Context(), ap.ID)
	if err != nil {
		t.Fatal(err)
	}
	if got.Request.TitleKO != ap.Request.TitleKO || got.Request.Contained != sys.IsolationPartial || !got.ExpiresAt.Equal(ap.CreatedAt.Add(24*time.Hour)) || got.Request.Hash != ap.Request.Hash {
		t.Errorf("got %+v, want %+v", got, ap)
	}
	if _, err := d.Get(t.Context(), "nothing"); sys.CodeOf(err) != sys.CodeNotFound {
		t.Errorf("got %v, want not_found", err)
	}
}

func TestNobodyButAPersonDecides(t *testing.T) {
	t.Parallel()
	d := setupApprovals(t)
	ap := d.create(t, request("step-1"))
	for _, by := range []sys.Principal{
		{}, {Kind: sys.KindGuardian}, {Kind: sys.KindAgent, ID: "run-1"}, {Kind: sys.KindAgent, ID: "run-2", Profile: ProfileSupervisor},
	} {
		_, err := d.Decide(t.Context(), by, ap.ID, yes(ap), nil)
		wantCode(t, "decided by "+by.Actor(), err, sys.CodeForbidden)
		wantCode(t, "revoked by "+by.Actor(), d.Revoke(t.Context(), by, ap.ID, nil), sys.CodeForbidden)
	}
	if got, err := d.Get(t.Context(), ap.ID); err != nil || got.State != ApprovalPending {
		t.Errorf("got %v, %v, want pending", got.State, err)
	}
}

func TestAnswersThatDoNotFitAreRefused(t *testing.T) {
	t.Parallel()
	d := setupApprovals(t)
	ap := d.create(t, request("step-1"))
	person := sys.Person("page")
	for name, tc := range map[string]struct {
		id     string
		answer Answer
		want   sys.Code
	}{
		"changed since shown":     {ap.ID, Answer{Approve: true, Hash: "0"}, sys.CodeConflict},
		"denied, changed":         {ap.ID, Answer{Hash: "0"}, sys.CodeConflict},
		"approved without a hash": {ap.ID, Answer{Approve: true}, sys.CodeInvalid},
		"unknown scope":           {ap.ID, Answer{Approve: true, Hash: ap.Request.Hash, Scope: "forever"}, sys.CodeInvalid},
		"unknown approval":        {"nothing", yes(ap), sys.CodeNotFound},
	} {
		_, err := d.Decide(t.Context(), person, tc.id, tc.answer, nil)
		wantCode(t, name, err, tc.want)
	}
	failed := errors.New("the audit record failed")
	if _, err := d.Decide(t.Context(), person, ap.ID, yes(ap), func(*store.Tx, Approval) error { return failed }); !errors.Is(err, failed) {
		t.Errorf("got %v, want %v", err, failed)
	}
	if got, _ := d.Get(t.Context(), ap.ID); got.State != ApprovalPending {
		t.Errorf("after refusals: got %s, want pending", got.State)
	}
	got, err := d.Decide(t.Context(), person, ap.ID, Answer{Comment: "  use a branch " + strings.Repeat("x", 2*maxComment)}, nil)
	if err != nil || got.State != ApprovalDenied {
		t.Fatalf("got %+v, %v, want denied", got, err)
	}
	if !strings.Contains(got.Err().Error(), "use a branch") || len(got.Comment) > maxComment+8 || sys.CodeOf(got.Err()) != sys.CodeDenied {
		t.Errorf("the agent is told %.80q…, want the comment, shortened", got.Err())
	}
	_, err = d.Decide(t.Context(), person, ap.ID, yes(ap), nil)
	wantCode(t, "decided again", err, sys.CodeConflict)
	wantCode(t, "used after a denial", d.use(ap.ID, ap.Request.Hash), sys.CodeDenied)
}

func TestRequestsThatNobodyMayApproveAreRefused(t *testing.T) {
	t.Parallel()
	d := setupApprovals(t)
	for want, change := range map[sys.Code]func(*Request){
		sys.CodeRefused:  func(r *Request) { r.Tier = 3 },
		sys.CodeInternal: func(r *Request) { r.Hash = RequestHash("x", make(chan int)) },
		sys.CodeTooLarge: func(r *Request) { r.Diff = strings.Repeat("x", maxRequest) },
	} {
		r := request("step-1")
		change(&r)
		err := d.st.Write(t.Context(), func(tx *store.Tx) error { _, err := d.Create(tx, r); return err })
		wantCode(t, "Create", err, want)
	}
	// A request that was rolled back is not announced.
	err := d.st.Write(t.Context(), func(tx *store.Tx) error {
		if _, err := d.Create(tx, request("step-1")); err != nil {
			return err
		}
		return errors.New("no")
	})
	if err == nil || len(d.states()) != 0 {
		t.Errorf("got %v, announced %v, want nothing announced", err, d.states())
	}
}

func TestRunScopeCoversTheIdenticalCallOfTheRunOnly(t *testing.T) {
	t.Parallel()
	d := setupApprovals(t)
	ap := d.create(t, request("step-1"))
	answer := yes(ap)
	answer.Scope = ScopeRun
	if _, err := d.Decide(t.Context(), sys.Person("window"), ap.ID, answer, nil); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		got, ok, err := d.Match(t.Context(), "run-1", "step-9", ap.Request.Hash)
		if err != nil || !ok || got.ID != ap.ID {
			t.Fatalf("Match: got %v, %v, %v, want the approval", got.ID, ok, err)
		}
		if err := d.use(got.ID, ap.Request.Hash); err != nil {
			t.Fatal(err)
		}
	}
	for name, q := range map[string][3]string{
		"another run": {"run-2", "step-1", ap.Request.Hash}, "another call": {"run-1", "step-1", "0"},
		"no run": {"", "step-1", ap.Request.Hash}, "no hash": {"run-1", "step-1", ""},
	} {
		if got, ok, err := d.Match(t.Context(), q[0], q[1], q[2]); ok || err != nil {
			t.Errorf("%s: got %v, %v, want no match", name, got.ID, err)
		}
	}
	if err := d.Revoke(t.Context(), sys.Person("window"), ap.ID, nil); err != nil {
		t.Fatal(err)
	}
	err := d.use(ap.ID, ap.Request.Hash)
	wantCode(t, "used after it was taken back", err, sys.CodeDenied)
	if !strings.Contains(err.Error(), "took the approval back") {
		t.Errorf("got %q, want the reason", err)
	}
	if _, ok, _ := d.Match(t.Context(), "run-1", "step-9", ap.Request.Hash); ok {
		t.Error("an approval that was taken back still matches")
	}
	wantCode(t, "taken back twice", d.Revoke(t.Context(), sys.Person("window"), ap.ID, nil), sys.CodeConflict)
}

func TestMatchFindsTheAnswerOfItsStep(t *testing.T) {
	t.Parallel()
	d := setupApprovals(t)
	person := sys.Person("window")
	hash := request("").Hash
	match := func(step string) (string, bool) {
		ap, ok, err := d.reopen().Match(t.Context(), "run-1", step, hash)
		if err != nil {
			t.Fatal(err)
		}
		return ap.State, ok
	}
	pending, approved, denied := d.create(t, request("pending")), d.create(t, request("approved")), d.create(t, request("denied"))
	if _, err := d.Decide(t.Context(), person, approved.ID, yes(approved), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Decide(t.Context(), person, denied.ID, Answer{}, nil); err != nil {
		t.Fatal(err)
	}
	for _, step := range []string{"pending", "approved", "denied"} {
		if state, ok := match(step); !ok || state != step {
			t.Errorf("step %s: got %q, %v", step, state, ok)
		}
	}
	if state, ok := match("another"); ok {
		t.Errorf("an approval of scope once, asked for by another step: got %q, want none", state)
	}
	if err := d.use(approved.ID, hash); err != nil {
		t.Fatal(err)
	}
	if state, ok := match("approved"); ok {
		t.Errorf("after its use: got %q, want none", state)
	}
	d.clock.add(25 * time.Hour)
	if state, ok := match("pending"); !ok || state != ApprovalExpired {
		t.Errorf("unanswered: got %q, %v, want expired", state, ok)
	}
	_ = pending
}

func TestApprovalsOfAnEndedRunAreCanceled(t *testing.T) {
	t.Parallel()
	d := setupApprovals(t)
	open, given := d.create(t, request("step-1")), d.create(t, request("step-2"))
	other := request("step-3")
	other.RunID = "run-2"
	kept := d.create(t, other)
	if _, err := d.Decide(t.Context(), sys.Person("window"), given.ID, yes(given), nil); err != nil {
		t.Fatal(err)
	}
	if err := d.st.Write(t.Context(), func(tx *store.Tx) error { return d.CancelRun(tx, "run-1") }); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]string{open.ID: ApprovalCanceled, given.ID: ApprovalCanceled, kept.ID: ApprovalPending} {
		if got, err := d.Get(t.Context(), id); err != nil || got.State != want {
			t.Errorf("got %s, %v, want %s", got.State, err, want)
		}
	}
	_, err := d.Decide(t.Context(), sys.Person("window"), open.ID, yes(open), nil)
	wantCode(t, "decided after its run", err, sys.CodeConflict)
	wantCode(t, "used after its run", d.use(given.ID, given.Request.Hash), sys.CodeDenied)
}

func TestListIsNarrowed(t *testing.T) {
	t.Parallel()
	d := setupApprovals(t)
	first, second := d.create(t, request("step-1")), d.create(t, request("step-2"))
	if _, err := d.Decide(t.Context(), sys.Person("window"), first.ID, Answer{}, nil); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		q    ApprovalQuery
		want []string
	}{
		"all":     {ApprovalQuery{}, []string{second.ID, first.ID}},
		"limit":   {ApprovalQuery{Limit: 1}, []string{second.ID}},
		"pending": {ApprovalQuery{State: ApprovalPending, RunID: "run-1"}, []string{second.ID}},
		"denied":  {ApprovalQuery{State: ApprovalDenied, SessionID: "session-1"}, []string{first.ID}},
		"other":   {ApprovalQuery{RunID: "run-2"}, []string{}},
	} {
		got, err := d.List(t.Context(), tc.q)
		ids := []string{}
		for _, ap := range got {
			ids = append(ids, ap.ID)
		}
		if err != nil || !slices.Equal(ids, tc.want) {
			t.Errorf("%s: got %v, %v, want %v", name, ids, err, tc.want)
		}
	}
	d.clock.add(25 * time.Hour) // not written yet, and already true
	if got, _ := d.List(t.Context(), ApprovalQuery{State: ApprovalPending}); len(got) != 0 {
		t.Errorf("after a day: got %d pending, want 0", len(got))
	}
	if got, _ := d.List(t.Context(), ApprovalQuery{State: ApprovalExpired}); len(got) != 1 || got[0].State != ApprovalExpired {
		t.Errorf("after a day: got %v, want one expired", got)
	}
}
