package tray

import (
	"testing"

	"oxios/kernel"
	"oxios/kernel/sys"
)

func TestMenuSaysTheStateInBothLanguages(t *testing.T) {
	t.Parallel()

	bad := &sys.Error{Message: "x"}
	for _, tc := range []struct {
		status             kernel.Status
		icon, english, han string
	}{
		{kernel.Status{AuditOK: true}, "idle", "nothing runs", "실행 중인 에이전트 없음"},
		{kernel.Status{AuditOK: true, Running: 2}, "running", "2 running", "실행 중 2"},
		{kernel.Status{AuditOK: true, Running: 2, Waiting: 2}, "waiting", "2 running, 2 wait for you", "실행 중 2, 확인 대기 2"},
		{kernel.Status{AuditOK: true, Waiting: 1}, "waiting", "1 waits for you", "확인 대기 1"},
		{kernel.Status{AuditOK: true, Waiting: 1, Held: []kernel.Held{{Kind: kernel.HeldByLimit, Count: 5}, {Kind: kernel.HeldByProvider}}}, "waiting", "2 wait for you", "확인 대기 2"},
		{kernel.Status{AuditOK: true, NotMet: 1}, "idle", "1 not met", "기준 미충족 1"},
		{kernel.Status{AuditOK: true, NotMet: 2, Running: 1}, "running", "1 running, 2 not met", "실행 중 1, 기준 미충족 2"},
		{kernel.Status{AuditOK: true, Paused: true, Running: 1}, "paused", "paused, 1 running", "일시 정지, 실행 중 1"},
		{kernel.Status{AuditOK: true, Problem: bad}, "problem", "a problem needs a look", "확인이 필요한 문제 있음"},
		{kernel.Status{AuditOK: true, Findings: []kernel.Finding{{Kind: kernel.FindingLoad}}}, "idle", "nothing runs", "실행 중인 에이전트 없음"},
		{kernel.Status{AuditOK: true, Findings: []kernel.Finding{{Kind: kernel.FindingDisk, Bad: true}}}, "problem", "a problem needs a look", "확인이 필요한 문제 있음"},
		{kernel.Status{AuditOK: false, Running: 1}, "problem", "a problem needs a look, 1 running", "확인이 필요한 문제 있음, 실행 중 1"},
	} {
		en, ko := faceOf(tc.status, false, ""), faceOf(tc.status, true, "")
		if en.state != tc.english || ko.state != tc.han {
			t.Errorf("%+v: got %q and %q, want %q and %q", tc.status, en.state, ko.state, tc.english, tc.han)
		}
		if en.icon != tc.icon || Icons[en.icon] == nil {
			t.Errorf("%+v: got icon %q, want %q", tc.status, en.icon, tc.icon)
		}
	}
}

func TestMenuOffersReviewAndGoOnWhereTheyFit(t *testing.T) {
	t.Parallel()

	f := faceOf(kernel.Status{AuditOK: true, Waiting: 2, Paused: true}, false, "")
	if f.review != "Review (2)…" || !f.waits || f.pause != "Go on" || !f.paused {
		t.Errorf("got %+v, want Review (2)… and Go on", f)
	}
	f = faceOf(kernel.Status{AuditOK: true}, true, "")
	if f.waits || f.pause != "모든 에이전트 일시 정지" || f.quit != "종료" {
		t.Errorf("got %+v, want nothing to review and the offer to pause", f)
	}
}

func TestMenuNamesTheKeysOfTheQuickPromptOnlyWhereTheyWork(t *testing.T) {
	t.Parallel()

	for _, tc := range []struct {
		korean bool
		keys   string
		want   string
	}{
		{false, "Ctrl Alt Space", "Quick prompt   Ctrl Alt Space"},
		{false, "", "Quick prompt"},
		{true, "Ctrl Alt Space", "빠른 질문   Ctrl Alt Space"},
	} {
		if got := faceOf(kernel.Status{AuditOK: true}, tc.korean, tc.keys).quick; got != tc.want {
			t.Errorf("%+v: got %q", tc, got)
		}
	}
}
