package cli

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
)

// twice writes two files, one after the other.
const twice = `
[[scenario]]
[[scenario.turn]]
[[scenario.turn.call]]
tool = "write"
args = '{"path": "one.txt", "content": "1"}'
[[scenario.turn]]
[[scenario.turn.call]]
tool = "write"
args = '{"path": "two.txt", "content": "2"}'
[[scenario.turn]]
text = "That is all."
`

func TestWhatWasTypedBeforeTheQuestionCouldBeReadIsNoAnswer(t *testing.T) {
	t.Parallel()
	d := setup(t)
	in, keyboard := io.Pipe()
	read := make(chan time.Time)
	var asked []time.Duration
	screen := &watch{sees: "Approve?", then: func() { go fmt.Fprintln(keyboard, "not now") }}
	r := d.with(typing{terminal: true, stdin: in, err: screen, after: func(wait time.Duration) <-chan time.Time {
		asked = append(asked, wait)
		if strings.Contains(screen.String(), "Approve?") {
			t.Error("the prompt was there before it could be read")
		}
		go func() {
			fmt.Fprintln(keyboard, "y")
			fmt.Fprint(keyboard, " ") // it is read when the line before it was taken up
			read <- time.Now()
		}()
		return read
	}}, "run", "--mode", "ask", writes)
	keyboard.Close()
	r.check(t, 0, "run")
	if d.file("hello.txt") != "" {
		t.Error("a line that was typed before the prompt approved")
	}
	contains(t, "stdout", r.out, "not now")
	if len(asked) != 1 || asked[0] != 800*time.Millisecond {
		t.Errorf("got %v, want one wait of 800 ms", asked)
	}
}

func TestSecondQuestionIsNotAnsweredByWhatWasTypedForTheFirst(t *testing.T) {
	t.Parallel()
	d := setup(t, kerneltest.Script(twice))
	in, keyboard := io.Pipe()
	answers := make(chan string, 2)
	answers <- "y\ny\ny\n"
	answers <- "n\n"
	screen := &prompts{sees: "Approve?", then: func() { go fmt.Fprint(keyboard, <-answers) }}
	r := d.with(typing{terminal: true, stdin: in, err: screen}, "run", "--mode", "ask", "write both")
	keyboard.Close()
	r.check(t, 0, "run")
	if one, two := d.file("one.txt"), d.file("two.txt"); one != "1" || two != "" {
		t.Errorf("got %q and %q, want the first alone", one, two)
	}
}

func TestPersonAtTheTerminalDecidesAlsoWhereAnotherOxiosRuns(t *testing.T) {
	t.Parallel()
	d := setup(t)
	d.own()
	in, keyboard := io.Pipe()
	screen := &watch{sees: "Approve?", then: func() { go fmt.Fprintln(keyboard, "y") }}
	r := d.with(typing{terminal: true, stdin: in, err: screen}, "run", "--mode", "ask", writes)
	keyboard.Close()
	r.check(t, 0, "run")
	if d.file("hello.txt") == "" {
		t.Error("the file was not written")
	}
}

func TestTerminalThatEndsLeavesTheQuestionToTheOxiosThatRuns(t *testing.T) {
	t.Parallel()
	d := setup(t)
	d.own()
	screen := &watch{sees: "oxios approvals approve ", then: func() {
		go func() {
			list := decode[[]kernel.Approval](t, d.do("approvals", "list", "--json").out)
			if len(list) == 1 {
				d.do("approvals", "approve", list[0].ID)
			}
		}()
	}}
	d.with(typing{terminal: true, err: screen}, "run", "--mode", "ask", writes).check(t, 0, "run")
	if d.file("hello.txt") == "" {
		t.Error("the file was not written")
	}
}

func TestRequestIsNamedByWhatIsShownOfItsID(t *testing.T) {
	t.Parallel()
	d := setup(t)
	d.own()
	d.must(exitWaiting, "run", "--mode", "ask", "--no-wait", writes)
	id := decode[[]kernel.Approval](t, d.must(0, "approvals", "list", "--json").out)[0].ID
	shown := tail(id)
	for _, name := range []string{id, shown, shown[:4], shown[:8], id[:len(id)-2]} {
		r := d.must(0, "approvals", "show", name)
		contains(t, name, r.out+r.err, "hello.txt")
	}
	r := d.must(0, "approvals", "approve", shown[:6])
	contains(t, "the answer", r.out, shown, "approved", "hello.txt")
}

func TestTheCardNamesTheMachineThatAYesForTheRunCovers(t *testing.T) {
	t.Parallel()
	for lang, want := range map[language]string{english: "every request to one.example", korean: "one.example에 보내는 모든 요청"} {
		shown := func(r kernel.ApprovalRequest) string {
			var errs buffer
			c := &console{streams: streams{err: &errs}, lang: lang}
			c.card(kernel.Approval{Request: r})
			return errs.String()
		}
		contains(t, "the card", shown(kernel.ApprovalRequest{Title: "Reads a page", Host: "one.example"}), want)
		if got := shown(kernel.ApprovalRequest{Title: "Runs a command"}); strings.Contains(got, want) {
			t.Errorf("of a command: got %q", got)
		}
	}
}
