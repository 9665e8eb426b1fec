//go:build desktoptest

package desktop_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// otherProgram starts a program of the desktop that has a picture on the
// clipboard, or files to drag.
func otherProgram(t *testing.T, env []string, args ...string) {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "desk")
	flags, err := exec.Command("pkg-config", "--cflags", "--libs", "gtk+-3.0").Output()
	if err != nil {
		t.Fatalf("pkg-config gtk+-3.0: %v", err)
	}
	cc := exec.Command("cc", append([]string{"-w", "-o", bin, "testdata/desk.c"}, strings.Fields(string(flags))...)...)
	if out, err := cc.CombinedOutput(); err != nil {
		t.Fatalf("compile it: %v\n%s", err, out)
	}
	cmd := exec.Command(bin, args...)
	cmd.Env = env
	said, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	if line, err := bufio.NewReader(said).ReadString('\n'); line != "ready\n" {
		t.Fatalf("it said %q, %v", line, err)
	}
}

func xdotool(t testing.TB, args ...string) string {
	t.Helper()
	out, err := exec.Command("xdotool", args...).Output()
	if err != nil {
		t.Fatalf("xdotool %v: %v", args, err)
	}
	return strings.TrimSpace(string(out))
}

// homePage shows the composer of a home on which the first start is over.
func homePage(t testing.TB) (d *driver, p *program, folder, window string) {
	t.Helper()
	home, folder, env := prepare(t, "")
	d = drive(t, home, env)
	p = &program{t: t, home: home}
	p.dial()
	if err := p.kernel.Infra.FinishOnboarding(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.until("the composer is there", func() bool { return d.run(`!!document.querySelector("textarea")`) == "true" })
	return d, p, folder, xdotool(t, "search", "--sync", "--onlyvisible", "--name", "^Oxios$")
}

// chips are the attachments of the message that is written, as the page shows them.
const chips = `(document.querySelector("ul.chips")?.innerText ?? "")`

func TestPictureOnTheClipboardIsPasted(t *testing.T) {
	d, p, _, window := homePage(t)
	if got := d.call(`window.go.desktop.Window.ClipboardPicture("[]")`); got != "ok null" {
		t.Errorf("an empty clipboard: got %.80q, want null", got)
	}
	otherProgram(t, os.Environ(), "clipboard")
	if got := d.call(`window.go.desktop.Window.ClipboardPicture("[]")`); !strings.HasPrefix(got, `ok "iVBORw0KGgo`) {
		t.Fatalf("got %.80q, want a PNG", got)
	}
	d.run(`document.querySelector("textarea").focus()`)
	xdotool(t, "windowactivate", "--sync", window)
	xdotool(t, "key", "ctrl+v")
	p.until("the picture is a chip", func() bool { return strings.Contains(d.run(chips), "clipboard.png") })
	screenshot(t, "pasted.png")
}

func TestDroppedFilesBecomeAttachmentsAndThePageStays(t *testing.T) {
	d, p, folder, window := homePage(t)
	notes, dump := filepath.Join(folder, "notes.txt"), filepath.Join(folder, "dump.sql")
	if err := os.WriteFile(notes, []byte("dropped words"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dump, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(dump, 200<<20); err != nil {
		t.Fatal(err)
	}
	before := d.run("location.href")
	otherProgram(t, os.Environ(), "drag", notes, dump, folder)
	var x, y, w, h int
	for _, line := range strings.Split(xdotool(t, "getwindowgeometry", "--shell", window), "\n") {
		name, value, _ := strings.Cut(line, "=")
		n, _ := strconv.Atoi(value)
		switch name {
		case "X":
			x = n
		case "Y":
			y = n
		case "WIDTH":
			w = n
		case "HEIGHT":
			h = n
		}
	}
	xdotool(t, "mousemove", "40", "40", "mousedown", "1")
	for i := range 20 { // a drag begins after some way, and its target needs to see it come
		xdotool(t, "mousemove", fmt.Sprint(40+(x+w/2-40)*(i+1)/20), fmt.Sprint(40+(y+h/2-40)*(i+1)/20))
		time.Sleep(20 * time.Millisecond)
	}
	xdotool(t, "mouseup", "1")
	p.until("the text is a chip, and so are the large file and the folder, by their paths", func() bool {
		got := d.run(chips)
		return strings.Contains(got, "notes.txt") && strings.Contains(got, "tokens") && strings.Contains(got, "dump.sql") &&
			strings.Contains(got, filepath.Base(folder)) && strings.Count(got, "by its path") == 2
	})
	if after := d.run("location.href"); after != before {
		t.Errorf("the page went to %s", after)
	}
	screenshot(t, "dropped.png")
	d.run(`document.querySelector("ul.chips [aria-label^='Work in ']").click()`)
	p.until("the folder is the one to work in", func() bool { return strings.Count(d.run(chips), "by its path") == 1 })
}

func TestChangedFileIsOpenedAndShownInItsFolder(t *testing.T) {
	bin, opened := t.TempDir(), filepath.Join(t.TempDir(), "opened")
	if err := os.WriteFile(filepath.Join(bin, "xdg-open"), []byte("#!/bin/sh\necho \"$1\" >>"+opened+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	t.Setenv("HOME", filepath.Dir(bin)) // only what lies in it is opened
	d, p, folder, _ := homePage(t)
	click := func(name string) {
		t.Helper()
		button := fmt.Sprintf(`[...document.querySelectorAll("button")].find(b => (b.ariaLabel || b.innerText.trim()) === %q)`, name)
		p.until("there is the button "+name, func() bool { return d.run("!!"+button) == "true" })
		d.run(button + ".click()")
	}
	out := p.say("write a note")
	p.until("the file is written", func() bool {
		r, err := p.kernel.Agents.Wait(t.Context(), out.RunID)
		return err == nil && len(r.Changes) == 1
	})
	p.until("the conversation is listed", func() bool { return d.run(`!!document.querySelector("aside nav li .open")`) == "true" })
	d.run(`document.querySelector("aside nav li .open").click()`)
	click("Review")
	asked := func(what, want string) {
		t.Helper()
		p.until("the system was asked for "+what, func() bool {
			text, err := os.ReadFile(opened)
			return err == nil && string(text) == want
		})
	}
	file := filepath.Join(folder, "note.txt") + "\n"
	click("Open the file")
	asked("the file", file)
	click("Show in its folder")
	asked("the folder", file+folder+"\n")
}
