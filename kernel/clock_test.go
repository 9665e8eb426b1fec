package kernel_test

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
)

func TestClockThatJumpsLosesNothingAndKeepsTheOrder(t *testing.T) {
	t.Parallel()
	var off atomic.Int64
	jump := func(by time.Duration) { off.Add(int64(by)) }
	k := open(t, kerneltest.Script(pushScript), kerneltest.With(func(o *kernel.Options) {
		o.Clock = func() time.Time { return time.Now().Add(time.Duration(off.Load())) }
	}))
	first := k.Ask("hello")
	in := func(m *kernel.Submit) { m.SessionID = first.SessionID }
	want := []string{"hello"}
	for i, by := range []time.Duration{365 * 24 * time.Hour, -2 * 365 * 24 * time.Hour, 3 * time.Hour, -time.Hour} {
		jump(by)
		text := "message " + string(rune('a'+i))
		if r := k.Ask(text, in); r.State != "done" {
			t.Errorf("after a jump by %s: got %+v", by, r)
		}
		want = append(want, text)
		k.Restart()
	}
	v, err := k.Person().State.Session(t.Context(), first.SessionID)
	if err != nil {
		t.Fatal(err)
	}
	var got, asked []string
	for _, m := range v.Messages {
		if m.Role == "user" {
			got = append(got, m.Content)
		}
	}
	for _, r := range v.Runs {
		asked = append(asked, r.Run.Text)
		if r.Run.EndedAt == nil || r.Run.EndedAt.Before(*r.Run.StartedAt) {
			t.Errorf("%s: it took from %v to %v", r.Run.Text, r.Run.StartedAt, r.Run.EndedAt)
		}
	}
	if !slices.Equal(got, want) || !slices.Equal(asked, want) {
		t.Errorf("got messages %q and runs %q, want %q", got, asked, want)
	}
	if r, err := k.Person().Security.VerifyAudit(t.Context()); err != nil || !r.OK {
		t.Errorf("the chain: got %+v, %v", r, err)
	}
}

func TestClockThatIsSetWhileARunWaitsBreaksNothing(t *testing.T) {
	t.Parallel()
	var off atomic.Int64
	k := open(t, kerneltest.Script(pushScript), kerneltest.With(func(o *kernel.Options) {
		o.Clock = func() time.Time { return time.Now().Add(time.Duration(off.Load())) }
	}))
	back := k.Say("push it")
	asked := k.Approval(back.RunID)
	off.Store(int64(-48 * time.Hour)) // a request from the future waits on
	if a, err := k.Person().Security.Approval(t.Context(), asked.ID); err != nil || a.State != "pending" {
		t.Fatalf("two days back: got %+v, %v, want it to wait", a, err)
	}
	off.Store(int64(25 * time.Hour)) // and ends where its day is over, with its reason
	r := k.Wait(back.RunID)
	a, err := k.Person().Security.Approval(t.Context(), asked.ID)
	if err != nil || a.State != "expired" || r.State != "done" || !strings.Contains(r.Response, "You said no") {
		t.Errorf("a day ahead: got %s, %v and %s %q", a.State, err, r.State, r.Response)
	}
	if r, err := k.Person().Security.VerifyAudit(t.Context()); err != nil || !r.OK {
		t.Errorf("the chain: got %+v, %v", r, err)
	}
}
