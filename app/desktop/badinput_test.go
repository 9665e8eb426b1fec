//go:build desktoptest

package desktop_test

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"oxios/kernel"
)

// shows reports whether the page says all of these.
func (d *driver) shows(words ...string) bool {
	d.t.Helper()
	text := d.run("document.body.innerText")
	for _, w := range words {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}

// openConversation clicks the line of a conversation.
func (d *driver) openConversation(title string) {
	d.t.Helper()
	d.run(fmt.Sprintf(`[...document.querySelectorAll("aside li .open")].find(e => e.innerText.includes(%q))?.click()`, title))
}

func TestKilledInTheMiddleTheNextStartHasItAll(t *testing.T) {
	home, folder, env := prepare(t, "mode = \"ask\"\n")
	p := launch(t, home, env)
	if err := p.kernel.Infra.FinishOnboarding(short(t)); err != nil {
		t.Fatal(err)
	}
	done := p.say("Good morning")
	if r, err := p.kernel.Agents.Wait(short(t), done.RunID); err != nil || r.State != "done" {
		t.Fatalf("got %+v, %v", r, err)
	}
	asked := p.asked(p.say("touch kept.txt").RunID)
	works := p.say("think for long")
	p.until("its model answers", func() bool {
		r, err := p.kernel.Agents.Run(t.Context(), works.RunID)
		return err == nil && r.Run.State == "running" && len(r.Steps) > 0 && r.Steps[0].State == "started"
	})
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-p.ended
	p.until("the page's processes have ended with it", func() bool { return len(p.children()) == 0 })

	d := drive(t, home, env)
	again := &program{t: t, home: home, folder: folder}
	again.dial()
	again.until("the window tells of what waits", func() bool { return d.shows("1 waits for you") })
	again.until("the conversation that waited asks as before", func() bool {
		d.openConversation("touch kept")
		return d.shows("touch kept.txt", "Approve once")
	})
	again.until("the one that worked goes on by itself", func() bool {
		d.openConversation("think for long")
		r, err := again.kernel.Agents.Run(t.Context(), works.RunID)
		return err == nil && r.Run.State == "running" && d.shows("think for long", "Stop")
	})
	again.until("the one that was done is there", func() bool {
		d.openConversation("Good morning")
		return d.shows("Good morning", "Hello.")
	})

	third := exec.Command(binary(t, "OXIOS_DESKTOP_BIN"))
	third.Env = env
	if out, err := third.CombinedOutput(); err != nil {
		t.Errorf("one more start beside it: %v\n%s", err, out)
	}

	list, err := again.kernel.Security.Approvals(short(t), kernel.ApprovalQuery{State: "pending"})
	if err != nil || len(list) != 1 || list[0].ID != asked.ID || list[0].Request.Hash != asked.Request.Hash {
		t.Fatalf("got %+v, %v, want the request that waited", list, err)
	}
	if again.exists("kept.txt") {
		t.Fatal("it ran before it was approved")
	}
	if _, err := again.kernel.Security.Approve(short(t), asked.ID, kernel.ApproveInput{Hash: asked.Request.Hash}); err != nil {
		t.Fatal(err)
	}
	again.until("the approved command runs", func() bool { return again.exists("kept.txt") })
	if r, err := again.kernel.Agents.Wait(short(t), asked.Request.RunID); err != nil || r.State != "done" {
		t.Errorf("got %+v, %v", r, err)
	}
	if r, err := again.kernel.Security.VerifyAudit(short(t)); err != nil || !r.OK {
		t.Errorf("the chain: got %+v, %v", r, err)
	}
	screenshot(t, "after-kill.png")
}

// ownDisplay starts a screen of its own, and returns its name and what ends it.
func ownDisplay(t *testing.T) (name string, end func()) {
	t.Helper()
	said, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()
	x := exec.Command("Xvfb", "-displayfd", "3", "-screen", "0", "1280x800x24")
	x.ExtraFiles = []*os.File{write}
	if err := x.Start(); err != nil {
		t.Fatal(err)
	}
	end = sync.OnceFunc(func() {
		_ = x.Process.Kill()
		_ = x.Wait()
	})
	t.Cleanup(end)
	write.Close()
	number, err := bufio.NewReader(said).ReadString('\n')
	if err != nil {
		t.Fatalf("Xvfb names no display: %v", err)
	}
	return ":" + strings.TrimSpace(number), end
}

func TestDisplayThatDisappearsEndsOxiosInOrderAndNothingIsLost(t *testing.T) {
	home, folder, env := prepare(t, "mode = \"ask\"\n")
	display, end := ownDisplay(t)
	p := begin(t, home, append(slices.Clone(env), "DISPLAY="+display))
	p.folder = folder
	p.dial()
	p.until("the page is there", func() bool { return strings.Contains(p.out.String(), "The page is there") })
	asked := p.asked(p.say("touch kept.txt").RunID)
	works := p.say("think for long")
	p.until("its model answers", func() bool {
		r, err := p.kernel.Agents.Run(t.Context(), works.RunID)
		return err == nil && r.Run.State == "running" && len(r.Steps) > 0 && r.Steps[0].State == "started"
	})
	end()
	if code := p.wait(); code != 1 {
		t.Errorf("got exit code %d, want 1", code)
	}
	p.gone()
	log, err := os.ReadFile(filepath.Join(home, "logs", "desktop.log"))
	if err != nil || !strings.Contains(string(log), "The display is gone, so Oxios ends.") {
		t.Errorf("got the log %s, %v; want a line about the display", log, err)
	}

	again := launch(t, home, env)
	if a, err := again.kernel.Security.Approval(short(t), asked.ID); err != nil || a.State != "pending" {
		t.Errorf("the request that waited: got %+v, %v", a, err)
	}
	again.until("the run that worked goes on", func() bool {
		r, err := again.kernel.Agents.Run(t.Context(), works.RunID)
		return err == nil && r.Run.State == "running"
	})
	if r, err := again.kernel.Security.VerifyAudit(short(t)); err != nil || !r.OK {
		t.Errorf("the chain: got %+v, %v", r, err)
	}
}

func TestHomeOfANewerVersionIsToldInTheWindowAndOpenedOnceItCanBe(t *testing.T) {
	home, _, env := prepare(t, "")
	made := exec.Command(binary(t, "OXIOS_BIN"), "sessions", "list")
	made.Env = env
	if out, err := made.CombinedOutput(); err != nil {
		t.Fatalf("make the home: %v\n%s", err, out)
	}
	path := filepath.Join(home, "oxios.db")
	older := setVersion(t, path, [4]byte{3: 99})
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	d := drive(t, home, env)
	p := &program{t: t, home: home}
	p.until("the window says what is wrong, what was kept and what to do", func() bool {
		return d.shows("Oxios cannot open its data", "newer Oxios", "Nothing was changed", "Update Oxios", "Try again")
	})
	screenshot(t, "newer-database.png")
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, before) {
		t.Errorf("the database was changed (%v)", err)
	}
	setVersion(t, path, older)
	p.until("the window opens it", func() bool { return !d.shows("cannot open its data") && d.shows("What should be done?") })
}

// setVersion writes the version into the header of a database that is closed,
// where SQLite keeps it, and returns the one before.
func setVersion(t *testing.T, path string, version [4]byte) (before [4]byte) {
	t.Helper()
	const at = 60 // the user version in https://www.sqlite.org/fileformat.html#the_database_header
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.ReadAt(before[:], at); err != nil {
		t.Fatal(err)
	}
	if before == [4]byte{} {
		t.Fatalf("%s has no version: its journal was not taken up", path)
	}
	if _, err := f.WriteAt(version[:], at); err != nil {
		t.Fatal(err)
	}
	return before
}
