package cli

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
)

// unsure asks two things before it begins, and says what it then knows.
const unsure = `
[[scenario]]
[[scenario.turn]]
[[scenario.turn.call]]
tool = "begin_task"
args = '{"goal": "a note", "acceptance_criteria": [{"text": "no list", "check": {"file": "list.md", "not": true}}], "clarity": {"goal": 0.3, "constraints": 1, "criteria": 1}, "questions": [{"text": "Which colour?", "options": ["Blue", "Green"]}, "Which title?"]}'
[[scenario.turn]]
when = "Blue"
text = "I know this: {{result}}"
[[scenario.turn]]
text = "It begins: {{result}}"
`

func TestPersonAtTheTerminalAnswersWhatAnAgentAsks(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		typed []string // each line is typed once the prompt of its number is there
		says  []string
	}{
		"both":                            {[]string{"Blue", "Sea"}, []string{"I know this", "Which colour? → Blue", "Which title? → Sea"}},
		"one, the other is left open":     {[]string{"Blue", ""}, []string{"Which colour? → Blue", "Which title? → (left open)"}},
		"one, the other may be assumed":   {[]string{"Blue", "!"}, []string{"Which colour? → Blue", "assume what is left open, and start"}},
		"none, all may be assumed":        {[]string{"!"}, []string{"It begins", "said to assume: “Which colour?”", "said to assume: “Which title?”"}},
		"nothing at all is asked anew":    {[]string{"", "", "Blue", ""}, []string{"Which colour? → Blue"}},
		"words that are none of the list": {[]string{"Red, not Blue", ""}, []string{"Which colour? → Red, not Blue"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := setup(t, kerneltest.Script(unsure))
			in, keyboard := io.Pipe()
			lines := make(chan string, len(tt.typed))
			for _, l := range tt.typed {
				lines <- l
			}
			screen := &prompts{sees: "starts): ", then: func() {
				select {
				case l := <-lines:
					go fmt.Fprintln(keyboard, l)
				default:
				}
			}}
			r := d.with(typing{terminal: true, stdin: in, err: screen}, "run", "make a note")
			keyboard.Close()
			r.check(t, 0, "run")
			contains(t, "stdout", r.out, tt.says...)
			contains(t, "the card", r.err, "2 questions before it begins: a note", "1. Which colour?", "- Green", "Answer 1 of 2")
		})
	}
}

func TestQuestionsAreAnsweredFromAnotherTerminal(t *testing.T) {
	t.Parallel()
	d := setup(t, kerneltest.Script(unsure))
	d.own()
	run := decode[kernel.Submitted](t, d.must(0, "run", "--background", "--json", "make a note").out).RunID
	d.Until("it asks", func() bool { return strings.Contains(d.must(0, "ps").out, "2 questions before it begins") })
	contains(t, "without an answer", d.must(0, "answer", run).err, "1. Which colour?", "- Green")
	if r := d.with(typing{}, "answer", run, "one", "two", "three"); r.code == 0 || !strings.Contains(r.err, "There are 3 answers to 2 questions") {
		t.Errorf("three answers: got %+v, want a failure that says so", r)
	}
	d.must(0, "answer", run, "Blue", "Sea")
	contains(t, "the end", d.must(0, "wait", run).out, "Which title? → Sea")
	if r := d.with(typing{}, "answer", run, "Blue"); r.code == 0 || !strings.Contains(r.err, "run that asks") {
		t.Errorf("after the end: got %+v, want a failure", r)
	}
}

// prompts does something each time that it sees a text.
type prompts struct {
	buffer
	sees string
	then func()
	seen int
}

func (p *prompts) Write(b []byte) (int, error) {
	n, err := p.buffer.Write(b)
	for now := strings.Count(p.String(), p.sees); p.seen < now; p.seen++ {
		p.then()
	}
	return n, err
}
