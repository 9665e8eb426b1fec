package notify

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"oxios/kernel"
)

// ended tells of the end of a run, in a conversation of its own unless session
// names one.
func (b *bench) ended(text string, state kernel.RunState, session string) {
	b.t.Helper()
	if session == "" {
		session = text
	}
	start, end := time.Now().Add(-time.Minute), time.Now()
	b.kernel.events <- kernel.Event{Kind: "run.ended", Data: kernel.Run{SessionID: session, State: state, Text: text, Via: "window", StartedAt: &start, EndedAt: &end}}
	synctest.Wait()
}

// set changes settings, as the kernel tells it.
func (b *bench) set(pairs ...string) {
	b.t.Helper()
	values := map[string]string{"notifications": "true"}
	for i := 0; i < len(pairs); i += 2 {
		values[pairs[i]] = pairs[i+1]
	}
	b.kernel.events <- kernel.Event{Kind: "config", Data: kernel.ConfigView{Values: values}}
	synctest.Wait()
}

// after lets time go by.
func (b *bench) after(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// titles are what is shown, in one line.
func (b *bench) titles() string {
	b.sender.mu.Lock()
	defer b.sender.mu.Unlock()
	var all []string
	for id := uint32(1); id <= b.sender.last; id++ {
		if n, ok := b.sender.shown[id]; ok {
			all = append(all, n.Title)
		}
	}
	return strings.Join(all, " | ")
}

func (b *bench) want(what, titles string) {
	b.t.Helper()
	if got := b.titles(); got != titles {
		b.t.Errorf("%s: got %q shown, want %q", what, got, titles)
	}
}

// inTime runs a test on a clock of its own.
func inTime(t *testing.T, fn func(b *bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := setup(t)
		synctest.Wait()
		fn(b)
		b.stop()
	})
}

func TestEndsThatComeTogetherAreToldTogether(t *testing.T) {
	t.Parallel()
	inTime(t, func(b *bench) {
		b.ended("one", "done", "")
		b.want("at once", "")
		b.after(time.Second)
		b.ended("two", "done", "")
		b.ended("three", "failed", "")
		b.after(3 * time.Second)
		b.want("after a few seconds", "2 finished, 1 failed")
		id, _ := b.sender.find("one\ntwo\nFailed: three")
		if id == 0 {
			b.t.Error("the notice does not name the three runs")
		}
		b.sender.pressed <- Pressed{ID: id, Key: actionDefault}
		if got := <-b.opened; got != Inbox {
			b.t.Errorf("got %q opened, want the inbox", got)
		}
	})
}

func TestNoticeGrowsWhileThePersonIsAwayAndBeginsAnewAfterwards(t *testing.T) {
	t.Parallel()
	inTime(t, func(b *bench) {
		for i := range 6 {
			b.ended(fmt.Sprint("run ", i), "done", "")
			b.after(10 * time.Minute)
		}
		b.want("an hour later", "6 agents finished")
		if _, ok := b.sender.find("run 3\nand 2 more"); !ok {
			b.t.Error("the notice does not say how many it leaves out")
		}
		b.focused.Store(true)
		b.after(2 * time.Second)
		b.want("the window in front", "")
		b.focused.Store(false)
		b.ended("later", "done", "")
		b.after(3 * time.Second)
		b.want("away again", "Finished: later")
		id, _ := b.sender.find("later")
		b.sender.pressed <- Pressed{ID: id}
		b.ended("last", "failed", "")
		b.after(3 * time.Second)
		if b.titles() != "Failed: last" && !strings.HasSuffix(b.titles(), "| Failed: last") {
			b.t.Errorf("got %q after the notice was closed, want the new end alone", b.titles())
		}
	})
}

func TestSeveralEndsOfOneConversationAreOne(t *testing.T) {
	t.Parallel()
	inTime(t, func(b *bench) {
		b.ended("first", "failed", "s1")
		b.ended("second", "done", "s1")
		b.after(3 * time.Second)
		b.want("the newest counts", "Finished: second")
	})
}

func TestQuietHoursKeepEndsForOneSummaryAndTellWhatWaits(t *testing.T) {
	t.Parallel()
	inTime(t, func(b *bench) {
		// Two hours from now on, by the clock on the wall.
		now := time.Now()
		b.set("quiet_hours", now.Format("15:04")+"-"+now.Add(2*time.Hour).Format("15:04"))
		b.ended("one", "done", "")
		b.after(time.Hour)
		b.ended("two", "failed", "")
		b.want("in the quiet hours", "")
		b.kernel.events <- kernel.Event{Kind: "approval", Data: plain()}
		b.after(time.Second)
		b.want("a request", "Writes files")
		b.after(time.Hour)
		b.want("afterwards", "Writes files | 1 finished, 1 failed")
	})
}

func TestRequestsAreQuietTooWhereThePersonWantsThat(t *testing.T) {
	t.Parallel()
	inTime(t, func(b *bench) {
		until := time.Now().Add(time.Hour)
		b.set("quiet_until", until.Format(time.RFC3339), "quiet_approvals", "false")
		b.kernel.events <- kernel.Event{Kind: "approval", Data: plain()}
		b.ended("one", "done", "")
		b.after(59 * time.Minute)
		b.want("quiet", "")
		b.after(2 * time.Minute)
		b.want("afterwards", "Writes files | Finished: one")
	})
}

func TestEndsBehindALockedScreenAreToldWhenItOpens(t *testing.T) {
	t.Parallel()
	inTime(t, func(b *bench) {
		b.sender.locked.Store(true)
		b.ended("one", "done", "")
		b.ended("two", "done", "")
		b.after(time.Hour)
		b.want("locked", "")
		b.sender.locked.Store(false)
		b.after(2 * time.Second)
		b.want("open again", "2 agents finished")
	})
}

func TestSummaryOfWhatThePersonSawMeanwhileIsNotTold(t *testing.T) {
	t.Parallel()
	inTime(t, func(b *bench) {
		b.set("quiet_until", time.Now().Add(time.Hour).Format(time.RFC3339))
		b.ended("one", "done", "")
		b.focused.Store(true)
		b.after(2 * time.Second)
		b.focused.Store(false)
		b.after(2 * time.Hour)
		b.want("afterwards", "")
	})
}

func TestSeveralEndsAreToldInBothLanguages(t *testing.T) {
	t.Parallel()
	run := func(state kernel.RunState) kernel.Run { return kernel.Run{State: state, Text: "사진 정리"} }
	for _, tc := range []struct {
		runs   []kernel.Run
		en, ko string
	}{
		{[]kernel.Run{run("done"), run("done"), run("done")}, "3 agents finished", "에이전트 작업 3건 완료"},
		{[]kernel.Run{run("failed"), run("failed")}, "2 agents failed", "에이전트 작업 2건 실패"},
		{[]kernel.Run{run("done"), run("failed")}, "1 finished, 1 failed", "완료 1건, 실패 1건"},
	} {
		if en, ko := english.ended(tc.runs, true), korean.ended(tc.runs, false); en.Title != tc.en || ko.Title != tc.ko || labels(en) != "Open" || labels(ko) != "" {
			t.Errorf("got %+v and %+v", en, ko)
		}
	}
}

func TestTaskThatWasNotMetIsToldAsSuchAndNeverAsDone(t *testing.T) {
	t.Parallel()
	start, end := time.Now(), time.Now().Add(time.Millisecond)
	missed := kernel.Run{Text: "sort it", State: "done", NotMet: true, Via: "window", StartedAt: &start, EndedAt: &end}
	done, failed := missed, missed
	done.NotMet = false
	failed.NotMet, failed.State = false, "failed"
	if !worthTelling(missed) {
		t.Error("a short run whose task was not met is not told")
	}
	for _, tc := range []struct {
		runs    []kernel.Run
		en, han string
	}{
		{[]kernel.Run{missed}, "Not met: sort it", "기준 미충족: sort it"},
		{[]kernel.Run{missed, missed}, "2 agents: not met", "에이전트 작업 2건 기준 미충족"},
		{[]kernel.Run{missed, done}, "1 finished, 1 not met", "완료 1건, 기준 미충족 1건"},
		{[]kernel.Run{missed, done, failed}, "1 finished, 1 not met, 1 failed", "완료 1건, 기준 미충족 1건, 실패 1건"},
	} {
		for korean, want := range map[bool]string{false: tc.en, true: tc.han} {
			if got := wordsFor(korean).ended(tc.runs, true).Title; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		}
	}
}
