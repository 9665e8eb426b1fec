//go:build desktoptest

package desktop_test

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
)

// resize gives the window another size, as a person who drags its corner.
func (p *program) resize(window string, width, height int) {
	p.t.Helper()
	if out, err := exec.Command("xdotool", "windowsize", "--sync", window, fmt.Sprint(width), fmt.Sprint(height)).CombinedOutput(); err != nil {
		p.t.Fatalf("resize the window: %v %s", err, out)
	}
}

func TestACardStaysInSightInAWindowOfAnySize(t *testing.T) {
	home, folder, env := prepare(t, "mode = \"ask\"\n")
	d := drive(t, home, env)
	p := &program{t: t, home: home, folder: folder}
	p.dial()
	if err := p.kernel.Infra.FinishOnboarding(short(t)); err != nil {
		t.Fatal(err)
	}
	asked := p.asked(p.say("touch kept.txt").RunID)
	p.until("the window shows the request", func() bool {
		d.openConversation("touch kept")
		return d.shows("touch kept.txt", "Approve once")
	})
	windows := find("search", "--onlyvisible", "--name", "^Oxios$")
	if len(windows) == 0 {
		t.Fatal("no window is on the screen")
	}
	window := windows[len(windows)-1]
	// Text above the card, so that the conversation scrolls.
	d.run(`(() => { const p = document.createElement("p"); p.textContent = "One line and another. ".repeat(400); document.querySelector("[data-turn]").prepend(p); return "" })()`)
	for _, size := range [][2]int{{1280, 800}, {900, 640}, {1500, 940}, {700, 560}, {1580, 940}} {
		p.resize(window, size[0], size[1])
		var seen string
		p.until(fmt.Sprintf("every button of the card is in sight at %v, and nothing lies over it", size), func() bool {
			seen = d.run(`(() => {
				const buttons = [...document.querySelectorAll("[role=alertdialog] .act button")];
				const list = document.querySelector("[role=log]").getBoundingClientRect();
				const inSight = b => { const r = b.getBoundingClientRect(); return r.top >= list.top && r.bottom <= list.bottom + 1 };
				return [Math.abs(window.outerWidth - ` + fmt.Sprint(size[0]) + `) < 60, buttons.length > 0 && buttons.every(inSight), !document.body.innerText.includes("Jump to the newest")].join();
			})()`)
			return seen == "true,true,true"
		})
	}
	screenshot(t, "card-resized.png")

	// The person's own press: its time is the page's own.
	if out, err := exec.Command("xdotool", "windowactivate", "--sync", window).CombinedOutput(); err != nil {
		t.Fatalf("raise the window: %v %s", err, out)
	}
	button := `[...document.querySelectorAll("[role=alertdialog] .act button")].find(b => b.innerText.startsWith("Approve once"))`
	p.until("the card can be answered", func() bool { return d.run(button+`?.getAttribute("aria-disabled")`) == "false" })
	at := strings.Split(d.run(`(() => { const r = `+button+`.getBoundingClientRect(); return [Math.round(r.x + r.width / 2), Math.round(r.y + r.height / 2)].join() })()`), ",")
	if out, err := exec.Command("xdotool", "mousemove", "--window", window, at[0], at[1], "click", "1").CombinedOutput(); err != nil {
		t.Fatalf("press Approve: %v %s", err, out)
	}
	p.until("the command has run", func() bool { return p.exists("kept.txt") })
	if got := p.state(asked.ID); got != "used" {
		t.Errorf("got %q, want used", got)
	}
}
