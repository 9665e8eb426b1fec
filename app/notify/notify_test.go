package notify

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"oxios/app/remote"
	"oxios/kernel"
	"oxios/kernel/sys"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// plain is an approval that a notification may decide.
func plain() kernel.Approval {
	a := kernel.Approval{ID: "a1", State: "pending", CreatedAt: time.Unix(1, 0)}
	r := &a.Request
	r.Title, r.TitleKO, r.Command, r.Dir, r.Hash = "Writes files", "파일을 씁니다", "touch a.txt", "/srv/photos", "hash-1"
	r.Simple, r.Contained, r.Undo, r.Tier, r.SessionID = true, 2, "no", 2, "s1"
	return a
}

func TestApproveIsOfferedOnlyWhenNothingIsHidden(t *testing.T) {
	t.Parallel()

	if !decidable(plain(), 2) {
		t.Fatal("the plain command is not decidable; the cases below would prove nothing")
	}
	for name, change := range map[string]func(*kernel.Approval){
		"not simple":        func(a *kernel.Approval) { a.Request.Simple = false },
		"a glob":            func(a *kernel.Approval) { a.Request.Hidden = true },
		"network":           func(a *kernel.Approval) { a.Request.Network = true },
		"outside":           func(a *kernel.Approval) { a.Request.Outside = []string{"/etc/hosts"} },
		"not contained":     func(a *kernel.Approval) { a.Request.Contained = 1 },
		"refused tier":      func(a *kernel.Approval) { a.Request.Tier = 3 },
		"no command":        func(a *kernel.Approval) { a.Request.Command = "" },
		"too long":          func(a *kernel.Approval) { a.Request.Command = "touch " + strings.Repeat("a", 195) },
		"two lines":         func(a *kernel.Approval) { a.Request.Command = "touch a\nrm b" },
		"tab":               func(a *kernel.Approval) { a.Request.Command = "touch\ta" },
		"escape":            func(a *kernel.Approval) { a.Request.Command = "touch \x1b[2Ka" },
		"turned around":     func(a *kernel.Approval) { a.Request.Command = "touch \u202etxt.a" },
		"isolate":           func(a *kernel.Approval) { a.Request.Command = "touch \u2066a" },
		"zero width":        func(a *kernel.Approval) { a.Request.Command = "touch a\u200b" },
		"hangul filler":     func(a *kernel.Approval) { a.Request.Command = "touch \u3164a" },
		"variation":         func(a *kernel.Approval) { a.Request.Command = "touch a\ufe0f" },
		"line separator":    func(a *kernel.Approval) { a.Request.Command = "touch a\u2028rm b" },
		"no-break space":    func(a *kernel.Approval) { a.Request.Command = "touch a\u00a0b" },
		"tag character":     func(a *kernel.Approval) { a.Request.Command = "touch a\U000e0061" },
		"invalid encoding":  func(a *kernel.Approval) { a.Request.Command = "touch \xff" },
		"space at the end":  func(a *kernel.Approval) { a.Request.Command = "touch a " },
		"space at the head": func(a *kernel.Approval) { a.Request.Command = " touch a" },
	} {
		a := plain()
		change(&a)
		n := english.asks(a, 2, true)
		if slices.ContainsFunc(n.Actions, func(a Action) bool { return a.Key == actionApprove || a.Key == actionDeny }) {
			t.Errorf("%s: got %+v, want Review alone", name, n.Actions)
		}
		if !slices.ContainsFunc(n.Actions, func(a Action) bool { return a.Key == actionReview }) {
			t.Errorf("%s: got %+v, want Review", name, n.Actions)
		}
		if a.Request.Command != "" && strings.Contains(n.Body, a.Request.Command) {
			t.Errorf("%s: got body %q, want the command left to the card", name, n.Body)
		}
	}
	if decidable(plain(), 1) {
		t.Error("got a decision while commands run uncontained, want Review alone")
	}
	korean := plain()
	korean.Request.Command = "touch 제주.txt"
	if !decidable(korean, 2) {
		t.Error("got no decision about a Korean name, want Approve and Deny")
	}
}

func TestNoticeShowsTheWholeCommandInBothLanguages(t *testing.T) {
	t.Parallel()

	n := wordsFor(false).asks(plain(), 2, true)
	if n.Title != "Writes files" || n.Body != "touch a.txt\nin /srv/photos, contained, cannot be undone" || !n.Urgent {
		t.Errorf("got %+v", n)
	}
	if got := labels(n); got != "Review Deny Approve Review" {
		t.Errorf("got %q", got)
	}
	n = wordsFor(true).asks(plain(), 2, true)
	if n.Title != "파일을 씁니다" || !strings.HasPrefix(n.Body, "touch a.txt\n/srv/photos에서") || labels(n) != "확인 거절 승인 확인" {
		t.Errorf("got %+v", n)
	}
	if n := wordsFor(false).asks(plain(), 1, false); len(n.Actions) != 0 {
		t.Errorf("got %+v where there is no window to review in, want no button", n.Actions)
	}
}

func labels(n Notice) string {
	var out []string
	for _, a := range n.Actions {
		out = append(out, a.Label)
	}
	return strings.Join(out, " ")
}

func TestTextOfAnAgentCannotBecomeMarkupOrMoreLines(t *testing.T) {
	t.Parallel()

	if got := markup(`<b>&</b>`); got != "&lt;b&gt;&amp;&lt;/b&gt;" {
		t.Errorf("got %q", got)
	}
	if got := line("a\n\n<i>b\u202e\x1b[0m c\u200b", 80); got != "a <i>b[0m c" {
		t.Errorf("got %q", got)
	}
	if got := line(strings.Repeat("가", 100), 10); len([]rune(got)) != 10 || !strings.HasSuffix(got, "…") {
		t.Errorf("got %q", got)
	}
}

func TestOnlyEndsThatAreNewsAreTold(t *testing.T) {
	t.Parallel()

	start := time.Unix(1000, 0)
	run := func(state kernel.RunState, via string, took time.Duration) kernel.Run {
		end := start.Add(took)
		return kernel.Run{State: state, Via: via, StartedAt: &start, EndedAt: &end}
	}
	for _, tc := range []struct {
		run  kernel.Run
		want bool
	}{
		{run("done", "window", time.Second), false},
		{run("done", "window", 5*time.Second), true},
		{run("done", "terminal", time.Second), false},
		{run("done", "page", time.Second), true},
		{run("failed", "window", time.Second), true},
		{run("stopped", "window", time.Hour), false},
		{run("interrupted", "page", time.Hour), false},
	} {
		if got := worthTelling(tc.run); got != tc.want {
			t.Errorf("%s via %s: got %v, want %v", tc.run.State, tc.run.Via, got, tc.want)
		}
	}
	long := run("done", "window", 3840*time.Second)
	long.Text = "Rename\nthe photos"
	if n := english.ended([]kernel.Run{long}, true); n.Title != "Finished: Rename the photos" || n.Body != "1 h 4 min" {
		t.Errorf("got %+v", n)
	}
	if n := korean.ended([]kernel.Run{long}, true); n.Title != "완료: Rename the photos" || n.Body != "1시간 4분" || labels(n) != "열기" {
		t.Errorf("got %+v", n)
	}
}

// fakeSender shows notices to the test.
type fakeSender struct {
	pressed chan Pressed
	locked  atomic.Bool

	mu    sync.Mutex
	last  uint32
	shown map[uint32]Notice
}

func (s *fakeSender) Send(_ context.Context, n Notice) (uint32, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := n.Replaces
	if id == 0 {
		s.last++
		id = s.last
	}
	s.shown[id] = n
	return id, nil
}

func (s *fakeSender) Withdraw(id uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.shown, id)
}

func (s *fakeSender) Pressed() <-chan Pressed     { return s.pressed }
func (s *fakeSender) Locked(context.Context) bool { return s.locked.Load() }

func (s *fakeSender) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.shown)
}

func (s *fakeSender) find(part string) (uint32, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, n := range s.shown {
		if strings.Contains(n.Title+"\n"+n.Body, part) {
			return id, true
		}
	}
	return 0, false
}

// fakeKernel answers the calls that the desk makes.
type fakeKernel struct {
	remote.SecurityAPI
	remote.InfraAPI

	events    chan kernel.Event
	waiting   []kernel.Approval
	values    map[string]string // the settings
	decisions chan string
	refuse    error
}

func (k *fakeKernel) Approvals(context.Context, kernel.ApprovalQuery) ([]kernel.Approval, error) {
	return k.waiting, nil
}

func (k *fakeKernel) Approve(_ context.Context, id string, in kernel.ApproveInput) (kernel.Approval, error) {
	k.decisions <- "approve " + id + " " + in.Hash + " " + in.Scope
	return kernel.Approval{}, k.refuse
}

func (k *fakeKernel) Deny(_ context.Context, id, comment string) (kernel.Approval, error) {
	k.decisions <- "deny " + id + comment
	return kernel.Approval{}, k.refuse
}

func (k *fakeKernel) Events(context.Context, uint64) (<-chan kernel.Event, error) {
	return k.events, nil
}

func (k *fakeKernel) Status(context.Context) (kernel.Status, error) {
	return kernel.Status{Isolation: 2}, nil
}

func (k *fakeKernel) Config(context.Context) (kernel.ConfigView, error) {
	return kernel.ConfigView{Values: k.values}, nil
}

type bench struct {
	t       *testing.T
	kernel  *fakeKernel
	sender  *fakeSender
	focused atomic.Bool
	opened  chan string
	stop    func()
}

func setup(t *testing.T, waiting ...kernel.Approval) *bench {
	t.Helper()
	s := &fakeSender{pressed: make(chan Pressed), shown: map[uint32]Notice{}}
	b := setupWith(t, s, nil, waiting...)
	b.sender = s
	return b
}

func setupWith(t *testing.T, s Sender, now func() time.Time, waiting ...kernel.Approval) *bench {
	t.Helper()
	b := &bench{
		t: t, opened: make(chan string, 8),
		kernel: &fakeKernel{events: make(chan kernel.Event), waiting: waiting, decisions: make(chan string, 8)},
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		err := Run(ctx, Config{
			Handle: &remote.Handle{Security: b.kernel, Infra: b.kernel}, Sender: s, Now: now,
			Focused: b.focused.Load, Open: func(s string) { b.opened <- s },
		})
		if err != nil {
			t.Errorf("run: %v", err)
		}
	}()
	b.stop = sync.OnceFunc(func() {
		cancel()
		<-done
	})
	t.Cleanup(b.stop)
	return b
}

func (b *bench) until(what string, ok func() bool) {
	b.t.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		if ok() {
			return
		}
	}
	b.t.Fatalf("not within 10 s: %s", what)
}

func (b *bench) shown(part string) uint32 {
	b.t.Helper()
	var id uint32
	b.until("a notice says "+part, func() (ok bool) {
		id, ok = b.sender.find(part)
		return ok
	})
	return id
}

// approve presses Approve when the notice has been there for long enough.
func (b *bench) approve(id uint32) {
	b.sender.pressed <- Pressed{ID: id, Key: actionApprove, At: time.Now().Add(still)}
}

func TestApprovalCarriesTheHashThatWasShown(t *testing.T) {
	t.Parallel()
	b := setup(t, plain())
	b.approve(b.shown("touch a.txt"))
	if got := <-b.kernel.decisions; got != "approve a1 hash-1 once" {
		t.Errorf("got %q", got)
	}
}

func TestDenialAndReviewDoWhatTheySay(t *testing.T) {
	t.Parallel()
	other := plain()
	other.ID, other.Request.Command, other.Request.SessionID = "a2", "touch b.txt", "s2"
	b := setup(t, plain(), other)
	b.sender.pressed <- Pressed{ID: b.shown("touch a.txt"), Key: actionDeny}
	if got := <-b.kernel.decisions; got != "deny a1" {
		t.Errorf("got %q", got)
	}
	b.sender.pressed <- Pressed{ID: b.shown("touch b.txt"), Key: actionDefault}
	if got := <-b.opened; got != "s2" {
		t.Errorf("got %q opened, want s2", got)
	}
	if len(b.kernel.decisions) != 0 {
		t.Errorf("a look decided %q", <-b.kernel.decisions)
	}
}

func TestClosingDecidesNothingAndUnknownKeysDoNothing(t *testing.T) {
	t.Parallel()
	b := setup(t, plain())
	id := b.shown("touch a.txt")
	b.sender.pressed <- Pressed{ID: id, Key: "yes"}
	b.approve(id + 7)
	b.sender.pressed <- Pressed{ID: id}
	b.approve(id) // after it was closed
	b.stop()
	if len(b.kernel.decisions) != 0 {
		t.Errorf("got %q, want no decision", <-b.kernel.decisions)
	}
}

func TestNothingIsShownWhileTheWindowIsInFrontOrTheScreenLocked(t *testing.T) {
	t.Parallel()
	b := setup(t, plain())
	id := b.shown("touch a.txt")
	b.sender.locked.Store(true)
	b.approve(id)
	b.sender.pressed <- Pressed{ID: id + 7} // taken when the press before it is done with
	b.sender.locked.Store(false)
	b.shown("touch a.txt")
	b.focused.Store(true)
	b.until("the window in front takes it back", func() bool { _, there := b.sender.find("touch a.txt"); return !there })
	if len(b.kernel.decisions) != 0 {
		t.Errorf("got %q from a locked screen, want no decision", <-b.kernel.decisions)
	}
}

func TestDecisionElsewhereTakesTheNoticeBack(t *testing.T) {
	t.Parallel()
	b := setup(t, plain())
	b.shown("touch a.txt")
	done := plain()
	done.State = "approved"
	b.kernel.events <- kernel.Event{Kind: "approval", Data: done}
	b.until("it is taken back", func() bool { return b.sender.count() == 0 })
}

func TestManyQuestionsShareOneNotice(t *testing.T) {
	t.Parallel()
	var list []kernel.Approval
	for i := range 6 {
		a := plain()
		a.ID, a.CreatedAt, a.Request.Command = string(rune('a'+i)), time.Unix(int64(i), 0), "touch "+string(rune('a'+i))
		list = append(list, a)
	}
	b := setup(t, list...)
	more := b.shown("3 more wait for you")
	b.until("three ask for themselves", func() bool { return b.sender.count() == 4 })
	b.sender.pressed <- Pressed{ID: more, Key: actionReview}
	if got := <-b.opened; got != Inbox {
		t.Errorf("got %q opened for several questions, want the inbox", got)
	}
}

func TestDecisionThatFailsIsTold(t *testing.T) {
	t.Parallel()
	b := setup(t, plain())
	b.kernel.refuse = sys.Errorf(sys.CodeConflict, "The request changed.")
	b.approve(b.shown("touch a.txt"))
	<-b.kernel.decisions
	b.shown("Your decision was not taken\nThe request changed.")
}

func TestEndsOfOneConversationReplaceEachOther(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, text := range []string{"first", "second"} {
		b.kernel.events <- kernel.Event{Kind: "run.ended", Data: kernel.Run{SessionID: "s1", State: "failed", Text: text}}
		b.shown("Failed: " + text)
	}
	if got := b.sender.count(); got != 1 {
		t.Errorf("got %d notices, want the second in the place of the first", got)
	}
	b.sender.pressed <- Pressed{ID: b.shown("Failed: second"), Key: actionDefault}
	if got := <-b.opened; got != "s1" {
		t.Errorf("got %q opened, want s1", got)
	}
}
