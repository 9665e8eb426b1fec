package notify

import (
	"testing"
	"testing/synctest"
	"time"

	"oxios/kernel"
	"oxios/kernel/sys"
)

// asking is a bench on a clock of its own, with one request.
func asking(t *testing.T, fn func(b *bench, id uint32)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, plain())
		synctest.Wait()
		id, _ := b.sender.find("touch a.txt")
		fn(b, id)
		b.stop()
	})
}

func (b *bench) decided(want string) {
	b.t.Helper()
	synctest.Wait()
	got := ""
	if len(b.kernel.decisions) > 0 {
		got = <-b.kernel.decisions
	}
	if got != want {
		b.t.Errorf("got decision %q, want %q", got, want)
	}
}

func TestNoNoticeBeginsWithApprove(t *testing.T) {
	t.Parallel()
	hidden := plain()
	hidden.Request.Hidden = true
	run := kernel.Run{State: "done", Text: "photos"}
	for _, w := range []words{english, korean} {
		for _, window := range []bool{true, false} {
			for name, n := range map[string]Notice{
				"a request": w.asks(plain(), 2, window), "a hidden one": w.asks(hidden, 2, window), "uncontained": w.asks(plain(), 0, window),
				"several": w.others(3, window), "a limit": w.heldUp(limitOf("report"), window), "a finding": w.found(kernel.Finding{Bad: true}, window),
				"an end": w.ended([]kernel.Run{run}, window), "ends": w.ended([]kernel.Run{run, run}, window),
			} {
				for i, a := range n.Actions {
					if i == 0 && a.Key != actionReview && a.Key != actionDefault || i == 1 && a.Key == actionApprove {
						t.Errorf("%s, window %v: got %+v, want what only looks first, and Approve last", name, window, n.Actions)
					}
				}
			}
			n := w.asks(plain(), 2, window)
			if len(n.Actions) < 3 || n.Actions[1].Key != actionDeny || n.Actions[2].Key != actionApprove {
				t.Errorf("window %v: got %+v, want Deny and Approve after it", window, n.Actions)
			}
		}
	}
}

func TestApproveCountsOnlyWhenTheNoticeHasBeenStill(t *testing.T) {
	t.Parallel()
	for _, after := range []time.Duration{0, 80 * time.Millisecond, 450 * time.Millisecond, still - 1} {
		asking(t, func(b *bench, id uint32) {
			b.after(after)
			b.sender.pressed <- Pressed{ID: id, Key: actionApprove}
			b.decided("")
			again, ok := b.sender.find("touch a.txt")
			if !ok || again == id {
				t.Errorf("after %v: got the notice %d, %v; want it again", after, again, ok)
			}
			b.sender.pressed <- Pressed{ID: again, Key: actionApprove} // the time begins anew
			b.decided("")
			again, _ = b.sender.find("touch a.txt")
			b.after(still)
			b.sender.pressed <- Pressed{ID: again, Key: actionApprove}
			b.decided("approve a1 hash-1 once")
		})
	}
}

func TestReplacedNoticeIsNotStill(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*kernel.Approval){
		"another command": func(a *kernel.Approval) { a.Request.Command, a.Request.Hash = "touch a.txt b.txt", "hash-2" },
		"another content": func(a *kernel.Approval) { a.Request.Hash = "hash-2" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asking(t, func(b *bench, id uint32) {
				b.after(time.Minute)
				a := plain()
				change(&a)
				b.kernel.events <- kernel.Event{Kind: "approval", Data: a}
				b.after(still - time.Millisecond)
				b.sender.pressed <- Pressed{ID: id, Key: actionApprove}
				b.decided("")
			})
		})
	}
}

func TestTimeOfThePressCountsAndNotWhenItWasTakenUp(t *testing.T) {
	t.Parallel()
	asking(t, func(b *bench, id uint32) {
		pressed := time.Now().Add(80 * time.Millisecond)
		b.after(time.Minute)
		b.sender.pressed <- Pressed{ID: id, Key: actionApprove, At: pressed}
		b.decided("")
	})
}

func TestPressedNoticeIsClosed(t *testing.T) {
	t.Parallel()
	for _, key := range []string{actionApprove, actionDeny, actionReview, actionDefault} {
		asking(t, func(b *bench, id uint32) {
			b.after(still)
			b.sender.pressed <- Pressed{ID: id, Key: key}
			synctest.Wait()
			if n := b.sender.count(); n != 0 {
				t.Errorf("%s: got %d notices, want none", key, n)
			}
		})
	}
	inTime(t, func(b *bench) {
		b.set()
		b.ended("one", "done", "")
		b.after(gather + time.Second)
		id, _ := b.sender.find("one")
		b.sender.pressed <- Pressed{ID: id, Key: actionDefault}
		synctest.Wait()
		b.want("the end was looked at", "")
	})
}

func TestRefusedDecisionClosesItsNoticeAndSaysSo(t *testing.T) {
	t.Parallel()
	asking(t, func(b *bench, id uint32) {
		b.kernel.refuse = sys.Errorf(sys.CodeConflict, "The request changed.")
		b.after(still)
		b.sender.pressed <- Pressed{ID: id, Key: actionApprove}
		b.decided("approve a1 hash-1 once")
		b.want("it is told", english.notTaken)
	})
}

func TestRestartedServiceShowsAgainWhatWaits(t *testing.T) {
	t.Parallel()
	asking(t, func(b *bench, id uint32) {
		b.set()
		b.ended("one", "done", "")
		b.after(gather + time.Second)
		end, _ := b.sender.find("one")
		b.sender.Withdraw(id)
		b.sender.Withdraw(end)
		for _, gone := range []uint32{id, end} {
			b.sender.pressed <- Pressed{ID: gone, Gone: true}
		}
		b.after(time.Second)
		_, ok := b.sender.find("touch a.txt")
		if _, told := b.sender.find("one"); !ok || !told {
			t.Errorf("got %q, want the request and the end again", b.titles())
		}
	})
}
