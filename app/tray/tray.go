// Package tray is the icon in the system's tray and its menu: what the agents
// do at a glance, and the five things that a person does without the window.
//
// It promises that a click is never lost, that the icon goes away with
// [Tray.Close], and that it shows what it was told last. It runs in the
// window's process on Linux and Windows; elsewhere, and in builds without a
// window, [Register] gives a tray that shows nothing.
package tray

import (
	"fmt"
	"slices"

	"oxios/kernel"
)

// Actions are what the menu does. Each is called on a goroutine of the tray,
// one at a time, and may take its time.
type Actions struct {
	Open   func()        // bring the window to the front
	Quick  func()        // show the quick prompt
	Review func()        // show what waits
	Pause  func(on bool) // pause all agents, or let them go on
	Quit   func()        // end the program
}

// face is what the tray shows.
type face struct {
	icon                string // a key of Icons
	state, open, quick  string
	review, pause, quit string
	waits, paused       bool // there is something to review; all agents are paused
	tooltip             string
}

func faceOf(s kernel.Status, korean bool, quickKeys string) face {
	w := english
	if korean {
		w = hangul
	}
	f := face{open: w.open, quick: w.quick, review: w.review, pause: w.pause, quit: w.quit, waits: waiting(s) > 0, paused: s.Paused}
	if quickKeys != "" {
		f.quick += "   " + quickKeys
	}
	if n := waiting(s); n > 0 {
		f.review = fmt.Sprintf(w.reviewSome, n)
	}
	if s.Paused {
		f.pause = w.goOn
	}
	f.icon, f.state = iconOf(s), w.state(s)
	f.tooltip = "Oxios: " + f.state
	return f
}

// waiting counts what waits for the person: requests, and limits that runs have
// reached.
func waiting(s kernel.Status) int {
	n := s.Waiting
	for _, h := range s.Held {
		if h.Kind == kernel.HeldByLimit {
			n++
		}
	}
	return n
}

// wrong reports whether something needs the person's look.
func wrong(s kernel.Status) bool {
	return s.Problem != nil || !s.AuditOK || slices.ContainsFunc(s.Findings, func(f kernel.Finding) bool { return f.Bad })
}

// iconOf puts first what a person has to act on.
func iconOf(s kernel.Status) string {
	switch {
	case wrong(s):
		return "problem"
	case waiting(s) > 0:
		return "waiting"
	case s.Paused:
		return "paused"
	case s.Running > 0:
		return "running"
	}
	return "idle"
}

type words struct {
	open, quick                                   string
	review, reviewSome, pause, goOn, quit         string
	running, waitsOne, waits, paused, idle, wrong string
	notMet                                        string
}

var english = words{
	open: "Open Oxios", quick: "Quick prompt", review: "Review…", reviewSome: "Review (%d)…", pause: "Pause all agents", goOn: "Go on", quit: "Quit",
	running: "%d running", waitsOne: "%d waits for you", waits: "%d wait for you", paused: "paused", idle: "nothing runs", wrong: "a problem needs a look",
	notMet: "%d not met",
}

var hangul = words{
	open: "Oxios 열기", quick: "빠른 질문", review: "확인…", reviewSome: "확인 (%d)…", pause: "모든 에이전트 일시 정지", goOn: "계속하기", quit: "종료",
	running: "실행 중 %d", waitsOne: "확인 대기 %d", waits: "확인 대기 %d", paused: "일시 정지", idle: "실행 중인 에이전트 없음", wrong: "확인이 필요한 문제 있음",
	notMet: "기준 미충족 %d",
}

// state is the first line of the menu: "2 running, 2 wait for you".
func (w words) state(s kernel.Status) string {
	text := ""
	add := func(part string) {
		if text != "" {
			text += ", "
		}
		text += part
	}
	if wrong(s) {
		add(w.wrong)
	}
	if s.Paused {
		add(w.paused)
	}
	if s.Running > 0 {
		add(fmt.Sprintf(w.running, s.Running))
	}
	switch n := waiting(s); {
	case n == 1:
		add(fmt.Sprintf(w.waitsOne, 1))
	case n > 1:
		add(fmt.Sprintf(w.waits, n))
	}
	if s.NotMet > 0 {
		add(fmt.Sprintf(w.notMet, s.NotMet))
	}
	if text == "" {
		return w.idle
	}
	return text
}
