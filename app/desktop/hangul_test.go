//go:build desktoptest

package desktop_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"oxios/kernel"
)

// hangul puts ibus-hangul behind the keyboard, as a Korean desktop has it: what
// is typed on the keys of an American layout becomes Hangul.
func hangul(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	settings := filepath.Join(dir, "glib-2.0", "settings", "keyfile")
	if err := os.MkdirAll(filepath.Dir(settings), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(settings, []byte("[org/freedesktop/ibus/engine/hangul]\ninitial-input-mode='hangul'\nhangul-keyboard='2'\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_CONFIG_HOME", dir) // also where the programs find the daemon
	t.Setenv("GSETTINGS_BACKEND", "keyfile")
	t.Setenv("GTK_IM_MODULE", "ibus")
	daemon := exec.Command("ibus-daemon", "--replace", "--panel=disable")
	out := &output{}
	daemon.Stdout, daemon.Stderr, daemon.WaitDelay = out, out, 5*time.Second
	if err := daemon.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = daemon.Process.Signal(os.Interrupt)
		_ = daemon.Wait()
		if t.Failed() {
			t.Logf("ibus-daemon wrote:\n%s", out)
		}
	})
	(&program{t: t}).until("ibus-hangul is the engine", func() bool { return exec.Command("ibus", "engine", "hangul").Run() == nil })
}

// typed is what stands in the composer, with the syllable that is being composed.
const typed = `document.querySelector("textarea").value`

func TestHangulIsTypedAndSentWhole(t *testing.T) {
	hangul(t)
	d, p, _, window := homePage(t)
	d.run(`document.querySelector("textarea").focus()`)
	xdotool(t, "windowactivate", "--sync", window)
	keys := func(list ...string) { xdotool(t, append([]string{"key", "--delay", "40"}, list...)...) }
	shows := func(want string) {
		t.Helper()
		p.until("the field shows "+want+", has "+d.run(typed), func() bool { return d.run(typed) == want })
	}

	keys("g", "k", "s", "r", "m", "f")
	shows("한글")
	keys("BackSpace", "BackSpace") // takes jamo of the open syllable, one at a time
	shows("한ㄱ")
	keys("m", "f", "space", "d", "k", "s", "s", "u", "d")
	shows("한글 안녕")
	keys("Return") // ends the composition and sends

	var session kernel.SessionView
	p.until("the message is there", func() bool {
		list, err := p.kernel.State.Sessions(t.Context(), kernel.SessionQuery{})
		if err != nil || len(list) == 0 {
			return false
		}
		session, err = p.kernel.State.Session(t.Context(), list[0].ID)
		return err == nil && len(session.Messages) > 1
	})
	if got := session.Messages[0].Content; got != "한글 안녕" {
		t.Errorf("got %q, want what was typed, with its last syllable", got)
	}
	p.until("the field is empty", func() bool { return d.run(typed) == "" })
	list, err := p.kernel.State.Sessions(t.Context(), kernel.SessionQuery{})
	if err != nil || len(list) != 1 || len(session.Messages) != 2 {
		t.Errorf("got %d conversations and %d messages, %v; want the message sent once", len(list), len(session.Messages), err)
	}
}

func TestShortcutsWorkWhileTheKeyboardIsKorean(t *testing.T) {
	hangul(t)
	d, p, _, window := homePage(t)
	d.run(`document.querySelector("textarea").focus()`)
	xdotool(t, "windowactivate", "--sync", window)
	keys := func(list ...string) { xdotool(t, append([]string{"key", "--delay", "40"}, list...)...) }
	open := func(is string) func() bool {
		return func() bool { return d.run(`!!document.querySelector('dialog[open] [role="combobox"]')`) == is }
	}

	keys("g", "k", "s") // in the middle of a syllable
	keys("ctrl+k")
	p.until("the palette is open", open("true"))
	keys("t", "j", "f", "w", "j", "d") // 설정
	p.until("the palette has Hangul", func() bool {
		return d.run(`document.querySelector('dialog[open] [role="combobox"]').value`) == "설정"
	})
	keys("Escape")
	keys("Escape") // at the latest: the first may have ended the composition only
	p.until("the palette is closed", open("false"))
	if got := d.run(typed); got != "한" {
		t.Errorf("the draft is %q, want 한", got)
	}
}
