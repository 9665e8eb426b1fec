package cli

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
	"oxios/kernel/mcp/mcptest"
)

// books calls a tool of a server that asks for a room.
const books = `
[[scenario]]
[[scenario.turn]]
[[scenario.turn.call]]
tool = "test__book"
args = '{}'
[[scenario.turn]]
text = "It came to this: {{result}}"
`

func addRich(d *desk) {
	d.must(0, "mcp", "add", "test", "--allow", "none", "--env", mcptest.Env+"=rich", "--", mcptest.Command())
}

func TestPersonAtTheTerminalAnswersWhatAServerAsks(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		typed []string
		says  string
	}{
		"values, and defaults":        {[]string{"Ann", "", "dog,bike", "", "y", "", "12", "yard"}, `accept {"beds":2,"extras":["dog","bike"],"late":true,"name":"Ann","price":12,"view":"yard"}`},
		"wrong ones are asked again":  {[]string{"A", "", "", "", "", "", "", "", "Ann", "3", "", "", "", "", "", ""}, `accept {"beds":3,"late":false,"name":"Ann","view":"sea"}`},
		"declined at the first field": {[]string{"!"}, "decline"},
		"left at the second one":      {[]string{"Ann", "-"}, "cancel"},
	} {
		for _, args := range [][]string{{"run", "book a room"}, {"mcp", "call", "test", "book"}} {
			t.Run(name+", "+args[0], func(t *testing.T) {
				t.Parallel()
				d := setup(t, kerneltest.Script(books))
				addRich(d)
				in, keyboard := io.Pipe()
				lines := make(chan string, len(tt.typed))
				for _, l := range tt.typed {
					lines <- l
				}
				screen := &prompts{sees: " > ", then: func() {
					select {
					case l := <-lines:
						go fmt.Fprintln(keyboard, l)
					default:
					}
				}}
				r := d.with(typing{terminal: true, stdin: in, err: screen}, args...)
				keyboard.Close()
				r.check(t, 0, args[0])
				contains(t, "stdout", r.out, tt.says)
				contains(t, "the card", r.err, "The server test asks you something", `Which room do you want?\u{202e}`, "beds (Beds): whole number, required, 1–4, default 2", "How many people sleep there", "view (View): one of, sea = The sea | yard = The yard, default sea")
			})
		}
	}
}

func TestWhatAServerAsksIsAnsweredFromAnotherTerminal(t *testing.T) {
	t.Parallel()
	d := setup(t, kerneltest.Script(books))
	addRich(d)
	d.own()
	run := decode[kernel.Submitted](t, d.must(0, "run", "--background", "--json", "book a room").out).RunID
	d.Until("it asks", func() bool { return strings.Contains(d.must(0, "ps").out, "The server test asks you something") })
	contains(t, "the list", d.must(0, "approvals", "list").out, "The server test asks you something")
	contains(t, "without an answer", d.must(0, "answer", run).err, "name (Your name): text, required, 2–40")
	contains(t, "no name", d.must(exitUsage, "answer", run, "Ann").err, "is no NAME=VALUE")
	contains(t, "not all", d.must(exitFailed, "answer", run, "beds=2").err, "Your name is needed. Nothing was sent.")
	contains(t, "answered", d.must(0, "answer", run, "name=Ann", "extras=dog").out, "answered")
	contains(t, "the end", d.must(0, "wait", run).out, `accept {"beds":2,"extras":["dog"]`)
}

func TestWhereNobodyCanAnswerAServerItsQuestionIsCanceled(t *testing.T) {
	t.Parallel()
	d := setup(t, kerneltest.Script(books))
	addRich(d)
	for _, args := range [][]string{{"run", "book a room"}, {"mcp", "call", "test", "book"}} {
		r := d.must(0, args...)
		contains(t, args[0], r.out, "cancel")
		contains(t, args[0], r.err, "Nobody can answer here")
	}
}
