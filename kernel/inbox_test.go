package kernel_test

import (
	"slices"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // where the machine has none

	"oxios/kernel"
	"oxios/kernel/event"
	"oxios/kernel/kerneltest"
	"oxios/kernel/security"
	"oxios/kernel/sys"
)

const inboxScript = `
[[scenario]]
any = ["break"]
[[scenario.turn]]
status = 401
body = '{"error": {"message": "invalid api key"}}'

[[scenario]]
any = ["slowly"]
[[scenario.turn]]
text = "Said slowly."
delay_ms = 300

` + talkScript

func inboxOf(t *testing.T, k *kerneltest.Kernel, all bool) (in kernel.Inbox, runs []string) {
	t.Helper()
	in, err := k.Person().Agents.Inbox(t.Context(), all)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range slices.Concat(in.Failed, in.Finished) {
		runs = append(runs, r.Run.ID)
	}
	return in, runs
}

func TestInboxHoldsWhatWaitsFailedAndFinishedAlsoAfterARestart(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(inboxScript))
	done := k.Ask("note one")
	failed := k.Ask("break it")
	waits := k.Say("push it")
	asked := k.Approval(waits.RunID)
	for range 2 {
		in, _ := inboxOf(t, k, false)
		if len(in.Waiting) != 1 || in.Waiting[0].ID != asked.ID {
			t.Fatalf("got %+v waiting, want %s", in.Waiting, asked.ID)
		}
		if len(in.Failed) != 1 || in.Failed[0].Run.ID != failed.RunID || in.Failed[0].Run.Error == nil {
			t.Errorf("got %+v failed, want %s with its error", in.Failed, failed.RunID)
		}
		if len(in.Finished) != 1 || in.Finished[0].Run.ID != done.RunID || in.Finished[0].Answer != "Noted one." || in.Finished[0].Files != 1 || in.Finished[0].Title != "note one" {
			t.Errorf("got %+v finished, want %s with its answer and its file", in.Finished, done.RunID)
		}
		k.Restart()
	}
	if _, err := k.Person().Security.Deny(t.Context(), asked.ID, ""); err != nil {
		t.Fatal(err)
	}
	k.Wait(waits.RunID)
	if in, _ := inboxOf(t, k, false); len(in.Waiting) != 0 || len(in.Finished) != 2 || in.Finished[0].Run.ID != waits.RunID {
		t.Errorf("got %+v, want the run that went on first among the finished", in)
	}
}

func TestWhatWasSeenLeavesTheInboxAndEveryFaceHearsOfIt(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(inboxScript))
	h := k.Person()
	done, failed, other := k.Ask("note one").RunID, k.Ask("break it").RunID, k.Ask("hello").RunID
	events, err := h.Infra.Events(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	heard := func(what string) {
		t.Helper()
		for {
			select {
			case e := <-events:
				if e.Kind == event.InboxChanged {
					return
				}
			case <-time.After(10 * time.Second):
				t.Fatalf("nobody heard that %s", what)
			}
		}
	}
	mark := func(seen bool, ids ...string) {
		t.Helper()
		if err := h.Agents.MarkSeen(t.Context(), ids, seen); err != nil {
			t.Fatal(err)
		}
	}
	mark(true, failed, "nobody")
	heard("one was seen")
	if _, runs := inboxOf(t, k, false); slices.Contains(runs, failed) || len(runs) != 2 {
		t.Errorf("got %q, want all but what was seen", runs)
	}
	if in, runs := inboxOf(t, k, true); len(runs) != 3 || !in.Failed[0].Seen || in.Finished[0].Seen || in.Older != 0 {
		t.Errorf("got %+v with all, want what was seen marked", in)
	}
	ids, err := h.Agents.ClearInbox(t.Context())
	if slices.Sort(ids); err != nil || !slices.Equal(ids, slices.Sorted(slices.Values([]string{done, other}))) {
		t.Errorf("got %q, %v cleared, want the finished ones", ids, err)
	}
	heard("it was cleared")
	mark(false, ids...)
	heard("that was undone")
	if _, runs := inboxOf(t, k, false); len(runs) != 2 {
		t.Errorf("got %q after the undo, want both back", runs)
	}
}

func TestWhoeverGoesOnHasSeenWhatStandsThere(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(inboxScript))
	first := k.Ask("hello")
	second := k.Ask("and more", func(m *kernel.Submit) { m.SessionID = first.SessionID })
	if _, runs := inboxOf(t, k, false); !slices.Equal(runs, []string{second.RunID}) {
		t.Errorf("got %q, want the newest alone", runs)
	}
	deleted, err := k.Person().State.DiscardSession(t.Context(), first.SessionID)
	if err != nil {
		t.Fatal(err)
	}
	if _, runs := inboxOf(t, k, false); len(runs) != 0 {
		t.Errorf("got %q of a conversation that was deleted", runs)
	}
	if _, err := k.Person().State.RecoverSession(t.Context(), deleted.ID); err != nil {
		t.Fatal(err)
	}
	if _, runs := inboxOf(t, k, false); len(runs) != 1 {
		t.Errorf("got %q, want it back with its conversation", runs)
	}
}

func TestMessageThatWasQueuedHasSeenNothing(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(inboxScript))
	first := k.Say("say it slowly")
	queued := k.Say("note two", func(m *kernel.Submit) { m.SessionID = first.SessionID })
	if !queued.Queued {
		t.Fatalf("got %+v, want it queued while the first is answered", queued)
	}
	k.Until("both are done", func() bool {
		in, _ := inboxOf(t, k, false)
		return len(in.Finished) == 2
	})
	if in, _ := inboxOf(t, k, false); in.Finished[0].Run.Via != "queue" || in.Finished[1].Run.ID != first.RunID {
		t.Errorf("got %+v, want the one before it too", in.Finished)
	}
}

func TestAgentDoesNotReadOrClearTheInbox(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(inboxScript))
	run := k.Ask("hello").RunID
	agent := k.Agent("autonomous")
	_, read := agent.Agents.Inbox(t.Context(), true)
	_, clear := agent.Agents.ClearInbox(t.Context())
	for name, err := range map[string]error{"read": read, "clear": clear, "mark": agent.Agents.MarkSeen(t.Context(), []string{run}, true)} {
		if sys.CodeOf(err) != sys.CodeForbidden {
			t.Errorf("%s: got %v, want forbidden", name, err)
		}
	}
	if _, runs := inboxOf(t, k, false); !slices.Equal(runs, []string{run}) {
		t.Errorf("got %q, want it untouched", runs)
	}
	list, err := k.Person().Security.Audit(t.Context(), kernel.AuditQuery{Newest: true, Limit: 20})
	if err != nil {
		t.Fatal(err)
	}
	denied := 0
	for _, e := range list {
		if e.Action == security.ActionAccessDenied && strings.Contains(e.Resource, "inbox") {
			denied++
		}
	}
	if denied != 3 {
		t.Errorf("got %d refusals in the audit chain, want 3", denied)
	}
}

func TestQuietHoursFollowTheClockOnTheWall(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	quiet := func(hours, until string, now time.Time) bool {
		return kernel.ConfigView{Values: map[string]string{"quiet_hours": hours, "quiet_until": until}}.Quiet(now)
	}
	at := func(hour, minute int) time.Time { return time.Date(2026, 1, 15, hour, minute, 30, 0, berlin) }
	for _, tc := range []struct {
		hours, until string
		now          time.Time
		want         bool
	}{
		{"", "", at(23, 0), false},
		{"22:00-07:00", "", at(21, 59), false},
		{"22:00-07:00", "", at(22, 0), true},
		{"22:00-07:00", "", at(0, 0), true},
		{"22:00-07:00", "", at(6, 59), true},
		{"22:00-07:00", "", at(7, 0), false},
		{"12:00-13:30", "", at(13, 29), true},
		{"12:00-13:30", "", at(23, 0), false},
		{"", "2026-01-15T12:00:00+01:00", at(11, 59), true},
		{"", "2026-01-15T12:00:00+01:00", at(12, 0), false},
		{"12:00-13:30", "2026-01-15T12:00:00Z", at(13, 10), true},
		// The night in which the clock goes from 02:00 to 03:00, and the one in which it goes back: 02:30 comes twice.
		{"22:00-07:00", "", time.Date(2026, 3, 29, 0, 59, 0, 0, time.UTC).In(berlin), true},
		{"22:00-03:00", "", time.Date(2026, 3, 29, 1, 1, 0, 0, time.UTC).In(berlin), false},
		{"02:00-03:00", "", time.Date(2026, 10, 25, 0, 30, 0, 0, time.UTC).In(berlin), true},
		{"02:00-03:00", "", time.Date(2026, 10, 25, 1, 30, 0, 0, time.UTC).In(berlin), true},
		{"02:00-03:00", "", time.Date(2026, 10, 25, 2, 30, 0, 0, time.UTC).In(berlin), false},
	} {
		if got := quiet(tc.hours, tc.until, tc.now); got != tc.want {
			t.Errorf("%q until %q at %s: got %v", tc.hours, tc.until, tc.now.Format("02.01. 15:04 MST"), got)
		}
	}
}

func TestQuietHoursThatCannotBeReadChangeNothing(t *testing.T) {
	t.Parallel()
	k := open(t)
	h := k.Person()
	if _, err := h.Infra.SetConfig(t.Context(), "quiet_hours", "22:00-07:00"); err != nil {
		t.Fatal(err)
	}
	for key, bad := range map[string][]string{
		"quiet_hours": {"22-7", "22:00", "24:00-07:00", "7:00-22:00", "09:00-09:00", "22:00 - 07:00"},
		"quiet_until": {"tomorrow", "08:00", "2026-01-31 08:00"},
	} {
		for _, value := range bad {
			_, err := h.Infra.SetConfig(t.Context(), key, value)
			e := sys.AsError(err)
			if e == nil || e.Code != sys.CodeInvalid || !strings.Contains(e.Message, key) || !strings.Contains(e.Message, "Nothing was changed") || e.MessageKO == "" {
				t.Errorf("%s %q: got %v, want a sentence in both languages", key, value, err)
			}
		}
	}
	writeConfig(t, k, "quiet_hours = \"night\"\n")
	v, err := h.Infra.Config(t.Context())
	if err != nil || v.Problem == nil || !strings.Contains(v.Problem.Message, "line 1") || v.Values["quiet_hours"] != "22:00-07:00" {
		t.Errorf("got %q and %v, %v; want the last good hours, and the line", v.Values["quiet_hours"], v.Problem, err)
	}
}
