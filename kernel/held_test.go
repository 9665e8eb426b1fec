package kernel_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
)

func heldOf(t *testing.T, k *kerneltest.Kernel) []kernel.Held {
	t.Helper()
	in, err := k.Person().Agents.Inbox(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	return in.Held
}

func TestRunsThatWaitForOneLimitAreOneLineOfTheInboxUntilItIsRaised(t *testing.T) {
	t.Parallel()
	k := paid(t, countedScript, "tariff-1", `day_calls = "0"`)
	events, err := k.Person().Infra.Events(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	first, second := k.Say("Count"), k.Say("Count again")
	waitsForLimit(t, k, first.RunID)
	waitsForLimit(t, k, second.RunID)
	list := heldOf(t, k)
	if len(list) != 1 || list[0].Kind != kernel.HeldByLimit || list[0].Count != 2 || len(list[0].Runs) != 2 {
		t.Fatalf("got %+v, want one limit with both runs", list)
	}
	h := list[0]
	if h.Message == "" || h.MessageKO == "" || !strings.Contains(h.Hint, "`oxios budget set day --calls 2`") || !strings.Contains(h.HintKO, "oxios budget set day --calls 2") {
		t.Errorf("got %q and %q, want the reason and what raises it, in both languages", h.Message, h.Hint)
	}
	if h.Reached == nil || h.Reached.Scope != kernel.ScopeDay || h.Since.IsZero() {
		t.Errorf("got %+v, want the limit itself and since when", h)
	}
	told := func(count int) {
		t.Helper()
		for end := time.After(10 * time.Second); ; {
			select {
			case e := <-events:
				if s, ok := e.Data.(kernel.Status); ok && (count == 0 && len(s.Held) == 0 && s.Running+s.Waiting == 0 || len(s.Held) == 1 && s.Held[0].Count == count) {
					return
				}
			case <-end:
				t.Fatalf("the status never told of %d runs that wait", count)
			}
		}
	}
	told(2)
	if _, err := k.Person().Infra.SetBudget(t.Context(), kernel.BudgetChange{Scope: kernel.ScopeDay, Limits: kernel.Limits{Calls: count(2)}}); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{first.RunID, second.RunID} {
		if r := k.Wait(id); r.State != "done" {
			t.Errorf("got %s, want it to go on", r.State)
		}
	}
	told(0)
	if list := heldOf(t, k); len(list) != 0 {
		t.Errorf("got %+v, want it gone", list)
	}
}

func TestLimitOfARunNamesTheRunInWhatRaisesIt(t *testing.T) {
	t.Parallel()
	k := paid(t, twiceScript, "tariff-1", "")
	run := k.Say("Look", func(m *kernel.Submit) { m.MaxUSD = usd(0.02) }).RunID
	waitsForLimit(t, k, run)
	list := heldOf(t, k)
	if len(list) != 1 || list[0].Runs[0].Name != "Look" {
		t.Fatalf("got %+v", list)
	}
	_, command, _ := strings.Cut(list[0].Hint, "`oxios budget set ")
	words := strings.Fields(strings.TrimSuffix(command, "`."))
	if len(words) != 3 || !strings.HasSuffix(run, words[0]) || words[1] != "--usd" || words[2] < "0.04" {
		t.Errorf("got the hint %q, want a command that raises the limit of %s", list[0].Hint, run)
	}
}

func TestWaitForALimitIsTheSameAfterARestart(t *testing.T) {
	t.Parallel()
	k := paid(t, countedScript, "tariff-1", `day_calls = "0"`)
	run := k.Say("Count").RunID
	waitsForLimit(t, k, run)
	k.Restart()
	waitsForLimit(t, k, run)
	if list := heldOf(t, k); len(list) != 1 || list[0].Runs[0].RunID != run {
		t.Errorf("got %+v after the restart", list)
	}
}

func TestProviderThatIsAwayForAMinuteComesIntoTheInboxAndGoesWithItsAnswer(t *testing.T) {
	t.Parallel()
	var later atomic.Int64 // nanoseconds
	f := openFar(t, "", kerneltest.With(func(o *kernel.Options) {
		o.Env = func(string) string { return "" }
		o.Clock = func() time.Time { return time.Now().Add(time.Duration(later.Load())) }
	}))
	out := f.Say("Show me the folder")
	f.waiting(t, 1)
	if list := heldOf(t, f.Kernel); len(list) != 0 {
		t.Errorf("got %+v at once, want nothing while it may come back by itself", list)
	}
	later.Store(int64(61 * time.Second))
	list := heldOf(t, f.Kernel)
	if len(list) != 1 || list[0].Kind != kernel.HeldByProvider || list[0].Name != "Far" || list[0].Runs[0].SessionID != out.SessionID || list[0].Message == "" || list[0].MessageKO == "" {
		t.Fatalf("got %+v, want Far with the run and the reason", list)
	}
	f.reach(t)
	if _, err := f.Person().Infra.Reconnect(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r := f.Wait(out.RunID); r.State != "done" {
		t.Errorf("got %s", r.State)
	}
	if list := heldOf(t, f.Kernel); len(list) != 0 {
		t.Errorf("got %+v after the answer", list)
	}
}
