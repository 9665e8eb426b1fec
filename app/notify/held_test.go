package notify

import (
	"testing"
	"testing/synctest"
	"time"

	"oxios/kernel"
)

// held tells what keeps runs from going on.
func (b *bench) held(list ...kernel.Held) {
	b.t.Helper()
	b.kernel.events <- kernel.Event{Kind: "status", Data: kernel.Status{Isolation: 2, Held: list}}
	synctest.Wait()
}

func limitOf(runs ...string) kernel.Held {
	h := kernel.Held{ID: "limit:day::usd", Kind: kernel.HeldByLimit, Count: len(runs), Message: "The limit of $5.00 a day is reached."}
	for _, r := range runs {
		h.Runs = append(h.Runs, kernel.HeldRun{RunID: r, SessionID: "s-" + r, Name: r})
	}
	return h
}

func TestLimitThatHoldsRunsIsToldOnceAndTakenBackWhenTheyGoOn(t *testing.T) {
	t.Parallel()
	inTime(t, func(b *bench) {
		b.set()
		b.held(limitOf("report"))
		b.want("one waits", "Waits for a limit: report")
		b.held(limitOf("report", "photos"))
		b.want("another one too", "2 agents wait for a limit")
		if n := b.sender.last; n != 1 {
			t.Errorf("got %d notices, want one that changes", n)
		}
		b.held()
		b.want("they go on", "")
	})
}

func TestNoticeOfALimitLeadsToItAndDoesNotComeAgainUntilTheNextTime(t *testing.T) {
	t.Parallel()
	inTime(t, func(b *bench) {
		b.set()
		b.held(limitOf("report"))
		id, _ := b.sender.find("report")
		b.sender.pressed <- Pressed{ID: id, Key: actionReview}
		if got := <-b.opened; got != "s-report" {
			t.Errorf("got %q opened, want the conversation that waits", got)
		}
		b.after(time.Minute)
		b.want("it was seen", "")
		b.held()
		b.held(limitOf("report"))
		b.want("the next time", "Waits for a limit: report")
		b.held(limitOf("report", "photos"))
		id, _ = b.sender.find("2 agents")
		b.sender.pressed <- Pressed{ID: id, Key: actionDefault}
		if got := <-b.opened; got != Inbox {
			t.Errorf("got %q opened, want the inbox for several", got)
		}
	})
}

func TestProviderThatIsAwayIsQuietInQuietHoursAndALimitIsNot(t *testing.T) {
	t.Parallel()
	inTime(t, func(b *bench) {
		now := time.Now()
		away := kernel.Held{ID: "provider:far", Kind: kernel.HeldByProvider, Name: "Far", Count: 1, Message: "Far cannot be reached.", Runs: []kernel.HeldRun{{RunID: "r"}}}
		b.set("quiet_until", now.Add(time.Hour).Format(time.RFC3339))
		b.held(away, limitOf("report"))
		b.want("in quiet hours", "Waits for a limit: report")
		b.set("quiet_until", now.Add(time.Hour).Format(time.RFC3339), "quiet_approvals", "false")
		b.want("where requests are quiet too", "")
		b.set()
		b.after(2 * time.Second)
		if _, ok := b.sender.find("Far cannot be reached"); !ok {
			t.Errorf("got %q shown, want both when they are over", b.titles())
		}
		b.focused.Store(true)
		b.after(2 * time.Second)
		b.want("the window is in front", "")
	})
}

func TestFindingIsToldOnceAndAgainOnlyAfterItWasMended(t *testing.T) {
	t.Parallel()
	inTime(t, func(b *bench) {
		tell := func(list ...kernel.Finding) {
			b.kernel.events <- kernel.Event{Kind: "status", Data: kernel.Status{Findings: list}}
			synctest.Wait()
		}
		bad := kernel.Finding{Kind: kernel.FindingAudit, Bad: true, Message: "The audit record is damaged from entry 4 on."}
		b.set("quiet_until", time.Now().Add(time.Hour).Format(time.RFC3339), "quiet_approvals", "false")
		tell(kernel.Finding{Kind: kernel.FindingLoad, Message: "The machine is busy."})
		b.want("what is not bad", "")
		tell(bad)
		b.want("in quiet hours too", "Oxios found a problem")
		id, _ := b.sender.find("entry 4")
		b.sender.pressed <- Pressed{ID: id}
		b.sender.Withdraw(id)
		tell(bad)
		b.after(10 * time.Minute)
		b.want("it was seen", "")
		tell()
		tell(bad)
		b.want("it came again", "Oxios found a problem")
	})
}
