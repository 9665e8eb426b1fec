//go:build desktoptest

package desktop_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"

	"oxios/app/remote"
)

func TestWindowHidesAndComesBackFromTheTray(t *testing.T) {
	p := open(t, "")
	if !p.has("nothing runs") || !p.has("Pause all agents") {
		t.Errorf("got menu %+v", p.menuItems())
	}
	for range 3 {
		p.hide()
		p.click("Open Oxios")
		p.until("the window is back", p.visible)
	}
	if got := len(p.windows(true)); got != 1 {
		t.Errorf("got %d windows, want one", got)
	}
}

func TestClosingSaysOnceWhereOxiosWentAndTheKernelGoesOn(t *testing.T) {
	p := open(t, "")
	p.hide()
	n := p.noticeWith("goes on in the tray")
	if len(n.actions) != 0 {
		t.Errorf("got actions %q, want none", n.actions)
	}
	if _, err := p.kernel.Infra.Status(short(t)); err != nil {
		t.Errorf("the kernel does not answer behind a closed window: %v", err)
	}
	notices.clear()
	p.click("Open Oxios")
	p.until("the window is back", p.visible)
	p.hide()
	if n, ok := notices.find(func(notice) bool { return true }); ok {
		t.Errorf("got a second notice %+v, want it told once", n)
	}
}

func TestClosingEndsWhereThePersonWantsThat(t *testing.T) {
	p := open(t, "close_to_tray = false\n")
	p.closeWindow()
	if code := p.wait(); code != 0 {
		t.Errorf("got exit code %d, want 0", code)
	}
	p.gone()
}

func TestClosingWithoutATrayMinimises(t *testing.T) {
	p := open(t, "")
	if _, err := session.ReleaseName(watcherName); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if _, err := session.RequestName(watcherName, dbus.NameFlagDoNotQueue); err != nil {
			t.Fatal(err)
		}
	}()
	p.closeWindow()
	p.noticeWith("starting Oxios again")
	select {
	case <-p.ended:
		t.Fatal("the program ended")
	default:
	}
	if len(p.windows(false)) == 0 {
		t.Error("the window is gone; without a tray nothing would bring it back")
	}
}

func TestNotificationApproves(t *testing.T) {
	p := contained(t)
	run := p.say("touch yes.txt")
	n := p.noticeWith("touch yes.txt")
	if !n.offers("approve") || !n.offers("deny") || !n.urgent {
		t.Errorf("got %+v, want Approve and Deny on a notice that stays", n)
	}
	notices.press(t, n.id, "approve")
	p.until("the command ran", func() bool { return p.exists("yes.txt") })
	if r, err := p.kernel.Agents.Wait(short(t), run.RunID); err != nil || r.State != "done" {
		t.Errorf("got %+v, %v", r, err)
	}
}

func TestNotificationDenies(t *testing.T) {
	p := contained(t)
	run := p.say("touch no.txt")
	a := p.asked(run.RunID)
	notices.press(t, p.noticeWith("touch no.txt").id, "deny")
	p.until("it is denied", func() bool { return p.state(a.ID) == "denied" })
	if _, err := p.kernel.Agents.Wait(short(t), run.RunID); err != nil {
		t.Fatal(err)
	}
	if p.exists("no.txt") {
		t.Error("a denied command ran")
	}
}

func TestDismissalIsNoDecision(t *testing.T) {
	p := contained(t)
	a := p.asked(p.say("touch later.txt").RunID)
	notices.dismiss(t, p.noticeWith("touch later.txt").id)
	// A second request proves that the first signal was read.
	b := p.asked(p.say("touch second.txt").RunID)
	notices.press(t, p.noticeWith("touch second.txt").id, "approve")
	p.until("the second is approved", func() bool { return p.state(b.ID) != "pending" })
	if got := p.state(a.ID); got != "pending" {
		t.Errorf("got %s after a dismissal, want pending", got)
	}
	if n, ok := notices.find(func(n notice) bool { return strings.Contains(n.body, "later.txt") }); ok {
		t.Errorf("got %+v again, though it was dismissed", n)
	}
}

func TestForgedSignalsDecideNothing(t *testing.T) {
	p := contained(t)
	a := p.asked(p.say("touch forged.txt").RunID)
	n := p.noticeWith("touch forged.txt")
	stranger, err := dbus.ConnectSessionBus()
	if err != nil {
		t.Fatal(err)
	}
	defer stranger.Close()
	emit(t, stranger, "ActionInvoked", n.id, "approve")
	// Sent to the program itself, a signal passes its match rules.
	stranger.Send(&dbus.Message{
		Type: dbus.TypeSignal,
		Headers: map[dbus.HeaderField]dbus.Variant{
			dbus.FieldInterface: dbus.MakeVariant(notifications), dbus.FieldMember: dbus.MakeVariant("ActionInvoked"),
			dbus.FieldPath: dbus.MakeVariant(notifyPath), dbus.FieldSignature: dbus.MakeVariant(dbus.SignatureOf(n.id, "approve")),
		},
		Body: []any{n.id, "approve"},
	}, nil)
	for _, name := range busNames(t) {
		stranger.Send(&dbus.Message{
			Type: dbus.TypeSignal,
			Headers: map[dbus.HeaderField]dbus.Variant{
				dbus.FieldInterface: dbus.MakeVariant(notifications), dbus.FieldMember: dbus.MakeVariant("ActionInvoked"),
				dbus.FieldPath: dbus.MakeVariant(notifyPath), dbus.FieldSignature: dbus.MakeVariant(dbus.SignatureOf(n.id, "approve")),
				dbus.FieldDestination: dbus.MakeVariant(name),
			},
			Body: []any{n.id, "approve"},
		}, nil)
	}
	// The person's press of another one comes after the forged ones.
	b := p.asked(p.say("touch real.txt").RunID)
	notices.press(t, p.noticeWith("touch real.txt").id, "approve")
	p.until("the real one is approved", func() bool { return p.state(b.ID) != "pending" })
	if got := p.state(a.ID); got != "pending" || p.exists("forged.txt") {
		t.Errorf("got %s after forged signals, want pending", got)
	}
}

func TestHiddenCommandOffersReviewAlone(t *testing.T) {
	p := contained(t)
	run := p.say("clean up")
	a := p.asked(run.RunID)
	n := p.noticeWith(a.Request.Title)
	if n.offers("approve") || n.offers("deny") || !n.offers("review") {
		t.Errorf("got actions %q, want Review alone", n.actions)
	}
	emit(t, session, "ActionInvoked", n.id, "approve") // a button that was never there
	notices.press(t, n.id, "review")
	p.until("the window comes for the review", p.visible)
	if got := p.state(a.ID); got != "pending" {
		t.Errorf("got %s, want pending", got)
	}
}

func TestDecisionElsewhereTakesTheNotificationBack(t *testing.T) {
	p := contained(t)
	a := p.asked(p.say("touch elsewhere.txt").RunID)
	n := p.noticeWith("touch elsewhere.txt")
	if _, err := p.kernel.Security.Deny(short(t), a.ID, ""); err != nil {
		t.Fatal(err)
	}
	p.until("the notification is gone", func() bool {
		_, there := notices.find(func(o notice) bool { return o.id == n.id })
		return !there
	})
}

func TestFailedRunIsToldWhenNoWindowIsInFront(t *testing.T) {
	p := open(t, "")
	p.hide()
	run := p.say("break down")
	n := p.noticeWith("Failed: break down")
	if !n.offers("default") {
		t.Errorf("got actions %q, want that a press opens the conversation", n.actions)
	}
	notices.press(t, n.id, "default")
	p.until("the window shows", p.visible)
	if r, err := p.kernel.Agents.Wait(short(t), run.RunID); err != nil || r.State != "failed" {
		t.Errorf("got %+v, %v", r, err)
	}
}

func TestSeveralEndsAreOneNotificationAlsoAfterItWentAwayByItself(t *testing.T) {
	p := open(t, "")
	p.hide()
	for _, text := range []string{"break down one", "break down two", "break down three"} {
		p.say(text)
	}
	n := p.noticeWith("3 agents failed")
	emit(t, session, "NotificationClosed", n.id, uint32(1)) // expired
	p.say("break down four")
	n = p.noticeWith("4 agents failed")
	in, err := p.kernel.Agents.Inbox(short(t), false)
	if err != nil || len(in.Failed) != 4 {
		t.Errorf("got %d failed in the inbox, %v, want 4", len(in.Failed), err)
	}
	notices.press(t, n.id, "default")
	p.until("the window shows", p.visible)
}

func TestQuietHoursKeepEndsBackUntilTheyAreOver(t *testing.T) {
	p := open(t, "quiet_until = '"+time.Now().Add(time.Hour).Format(time.RFC3339)+"'\n")
	p.hide()
	p.noticeWith("goes on in the tray") // it comes a moment after the window went
	notices.clear()
	for _, text := range []string{"break down one", "break down two"} {
		if r, err := p.kernel.Agents.Wait(short(t), p.say(text).RunID); err != nil || r.State != "failed" {
			t.Fatalf("got %+v, %v", r, err)
		}
	}
	if n, ok := notices.find(func(notice) bool { return true }); ok {
		t.Errorf("got %+v in the quiet time", n)
	}
	if _, err := p.kernel.Infra.SetConfig(short(t), "quiet_until", ""); err != nil {
		t.Fatal(err)
	}
	p.noticeWith("2 agents failed")
}

func TestTrayCountsReviewsAndPauses(t *testing.T) {
	p := contained(t)
	p.asked(p.say("clean up").RunID)
	p.until("the tray says that something waits", func() bool { return p.has("1 waits for you") && p.has("Review (1)…") })
	p.click("Review (1)…")
	p.until("the window shows for the review", p.visible)
	p.click("Pause all agents")
	p.until("all agents are paused", func() bool {
		s, err := p.kernel.Infra.Status(short(t))
		return err == nil && s.Paused
	})
	p.click("Go on")
	p.until("the agents go on", func() bool {
		s, err := p.kernel.Infra.Status(short(t))
		return err == nil && !s.Paused
	})
}

func TestTrayFollowsTheLanguage(t *testing.T) {
	p := open(t, "")
	if _, err := p.kernel.Infra.SetConfig(short(t), "language", "ko"); err != nil {
		t.Fatal(err)
	}
	p.until("the menu is Korean", func() bool { return p.has("Oxios 열기") && p.has("실행 중인 에이전트 없음") })
}

func TestSecondStartShowsTheFirstAndEndsWithZero(t *testing.T) {
	p := open(t, "")
	p.hide()
	for _, args := range [][]string{nil, {"oxios://session/0199c0de-0000-7000-8000-000000000001"}} {
		second := exec.Command(binary(t, "OXIOS_DESKTOP_BIN"), args...)
		second.Env = p.cmd.Env
		start := time.Now()
		if out, err := second.CombinedOutput(); err != nil {
			t.Fatalf("start it with %q again: %v\n%s", args, err, out)
		}
		t.Logf("handed over in %v", time.Since(start).Round(time.Millisecond))
		p.until("the first window shows", p.visible)
		p.hide()
	}
	strange := exec.Command(binary(t, "OXIOS_DESKTOP_BIN"), "oxios://session/../../etc/passwd")
	strange.Env = p.cmd.Env
	if out, err := strange.CombinedOutput(); err == nil || !strings.Contains(string(out), "no link that Oxios knows") {
		t.Errorf("got %v %s for a strange link, want a refusal", err, out)
	}
	if p.visible() {
		t.Error("a strange link brought the window up")
	}
}

func TestQuitAndSignalsEndWithZeroAndLeaveNothing(t *testing.T) {
	for cycle := range 6 {
		p := open(t, "")
		if cycle%2 == 0 {
			p.click("Quit")
		} else {
			if cycle == 3 {
				p.hide()
			}
			if err := p.cmd.Process.Signal([]os.Signal{syscall.SIGTERM, os.Interrupt}[cycle/2%2]); err != nil {
				t.Fatal(err)
			}
		}
		if code := p.wait(); code != 0 {
			t.Fatalf("cycle %d: got exit code %d (%v), want 0\n%s", cycle, code, p.cmd.ProcessState, p.out)
		}
		p.gone()
		if left, _ := filepath.Glob(filepath.Join(p.home, "run", "*.sock")); len(left) > 0 {
			t.Errorf("cycle %d: %q is left", cycle, left)
		}
	}
}

func TestWindowIsAClientOfARunningServeAndTakesOverAfterIt(t *testing.T) {
	home, folder, env := prepare(t, "")
	serve := exec.Command(binary(t, "OXIOS_BIN"), "serve")
	out := &output{}
	serve.Env, serve.Stdout, serve.Stderr = env, out, out
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- serve.Wait() }()
	defer func() { _ = serve.Process.Kill() }()
	first := &program{t: t, home: home, out: out}
	first.dial()

	p := launch(t, home, env)
	p.folder = folder
	owner := func() string {
		c, err := remote.Dial(t.Context(), home)
		if err != nil {
			return err.Error()
		}
		defer c.Close()
		s, err := c.Handle().Infra.Status(t.Context())
		if err != nil {
			return err.Error()
		}
		return s.Owner
	}
	if got := owner(); got != "serve" {
		t.Errorf("got owner %s beside a running serve, want serve", got)
	}
	p.click("Pause all agents")
	p.until("the serving kernel is paused by the window's tray", func() bool {
		s, err := p.kernel.Infra.Status(t.Context())
		return err == nil && s.Paused
	})
	if err := serve.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	<-ended
	p.until("the window owns the home", func() bool { return owner() == "desktop" })
	p.click("Quit")
	if code := p.wait(); code != 0 {
		t.Errorf("got exit code %d, want 0", code)
	}
	p.gone()
}

func TestPageThatDiesIsLoadedAgain(t *testing.T) {
	p := open(t, "")
	page := func() string {
		for _, c := range p.children() {
			if strings.Contains(c, "WebKitWebProces") {
				return strings.Fields(c)[0]
			}
		}
		return ""
	}
	p.until("the page is there", func() bool { return strings.Contains(p.out.String(), "The page is there") })
	var old string
	p.until("the page has a process", func() bool { old = page(); return old != "" })
	if out, err := exec.Command("kill", "-9", old).CombinedOutput(); err != nil {
		t.Fatalf("end the page's process: %v %s", err, out)
	}
	p.until("the page has a new process", func() bool { now := page(); return now != "" && now != old })
	p.until("the page is there again", func() bool { return strings.Count(p.out.String(), "The page is there") == 2 })
	if !p.visible() {
		t.Error("the window went with its page")
	}
	if _, err := p.kernel.Infra.Status(short(t)); err != nil {
		t.Errorf("the kernel went with the page: %v", err)
	}
	p.click("Quit")
	if code := p.wait(); code != 0 {
		t.Errorf("got exit code %d, want 0", code)
	}
}

func TestWithoutADisplayItServes(t *testing.T) {
	home, _, env := prepare(t, "")
	cmd := exec.Command(binary(t, "OXIOS_DESKTOP_BIN"))
	for _, v := range env {
		if !strings.HasPrefix(v, "DISPLAY=") && !strings.HasPrefix(v, "WAYLAND_DISPLAY=") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	out := &output{}
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &program{t: t, home: home, out: out, cmd: cmd}
	p.dial()
	s, err := p.kernel.Infra.Status(t.Context())
	if err != nil || s.Owner != "serve" {
		t.Errorf("got owner %q, %v, want serve", s.Owner, err)
	}
	if !strings.Contains(out.String(), "no display") {
		t.Errorf("got %q, want a sentence about the display", out)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("serve ended with %v", err)
	}
}

// contained opens the program hidden in its tray. Buttons that decide need a
// machine that contains commands, which the kernel finds out by trying.
func contained(t *testing.T) *program {
	t.Helper()
	p := open(t, "mode = \"ask\"\n")
	s, err := p.kernel.Infra.Status(short(t))
	if err != nil {
		t.Fatal(err)
	}
	if s.Isolation < 2 {
		t.Skipf("commands run at isolation %d on this machine, where no notification decides", s.Isolation)
	}
	p.hide()
	notices.clear()
	return p
}

func busNames(t *testing.T) []string {
	t.Helper()
	var names, unique []string
	if err := session.BusObject().Call("org.freedesktop.DBus.ListNames", 0).Store(&names); err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		if strings.HasPrefix(n, ":") {
			unique = append(unique, n)
		}
	}
	return unique
}
