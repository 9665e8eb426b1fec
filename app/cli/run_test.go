package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
	"oxios/kernel/sys"
)

const (
	writes = "Write a hello file"
	hangs  = `
[[scenario]]
[[scenario.turn]]
text = "I think about it "
hang = true
`
)

func (d *desk) file(name string) string {
	raw, err := os.ReadFile(filepath.Join(d.Folder, name))
	if err != nil {
		return ""
	}
	return string(raw)
}

func TestRunAnswersOnStandardOutputAndTellsItsStepsBeside(t *testing.T) {
	t.Parallel()
	d := setup(t)
	r := d.must(0, "run", writes)
	contains(t, "stdout", r.out, "hello.txt")
	contains(t, "stderr", r.err, "✓ ", "created hello.txt +1", "conversation ")
	if strings.Contains(r.out, "✓") || strings.Contains(r.out+r.err, "\x1b") {
		t.Errorf("stdout %q, stderr %q: want the answer alone, and no escapes", r.out, r.err)
	}
	if got := d.file("hello.txt"); got == "" {
		t.Error("the file was not written")
	}
	contains(t, "the chain", d.must(0, "audit", "verify").out, "intact")
}

func TestRunJSONIsOneLineOfTheResult(t *testing.T) {
	t.Parallel()
	d := setup(t)
	r := d.must(0, "run", "--json", writes)
	got := decode[map[string]any](t, r.out)
	for _, key := range []string{
		"response", "session_id", "run_id", "agent_id", "space_id", "space_tag", "seed_id", "phase_reached", "evaluation_passed", "output", "state", "cost", "changes", "demo",
	} {
		if _, ok := got[key]; !ok {
			t.Errorf("the field %s is missing in %s", key, r.out)
		}
	}
	for _, absent := range []string{"seed_id", "space_id", "space_tag", "evaluation_passed"} {
		if got[absent] != nil {
			t.Errorf("%s is %q, want null in a conversation without task and space", absent, got[absent])
		}
	}
	if got["phase_reached"] != "chat" {
		t.Errorf("got the phase %v, want chat", got["phase_reached"])
	}
	if got["state"] != "done" || got["run_id"] != got["agent_id"] || got["response"] == "" {
		t.Errorf("got %v", got)
	}
	again := decode[map[string]any](t, d.must(0, "run", "--json", "--session", tail(got["session_id"].(string)), "Hello!").out)
	if again["session_id"] != got["session_id"] {
		t.Errorf("--session: got the conversation %v, want %v", again["session_id"], got["session_id"])
	}
}

func TestRunReadsStandardInputOnlyWithoutAMessageOrWithADash(t *testing.T) {
	t.Parallel()
	d := setup(t)
	for _, args := range [][]string{{"run", "--json"}, {"run", "--json", "-"}} {
		r := d.with(typing{stdin: strings.NewReader("Hello!\n")}, args...)
		r.check(t, 0, args...)
		id := decode[kernel.RunResult](t, r.out).SessionID
		contains(t, "the conversation", d.must(0, "sessions", "show", id).out, "Hello!")
	}
	r := d.with(typing{stdin: noReader{t}}, "run", "Hello!")
	r.check(t, 0, "run", "Hello!")
	if r := d.with(typing{terminal: true, stdin: noReader{t}}, "run"); r.code != exitUsage || !strings.Contains(r.out, "Usage:") {
		t.Errorf("run at a terminal without a message: got %+v, want its help", r)
	}
}

// noReader fails the test when somebody reads it.
type noReader struct{ t *testing.T }

func (n noReader) Read([]byte) (int, error) {
	n.t.Error("standard input was read")
	return 0, io.EOF
}

func TestRunThatNobodyCanApproveWaitsInTheJournal(t *testing.T) {
	t.Parallel()
	d := setup(t)
	r := d.must(exitWaiting, "run", "--json", "--mode", "ask", writes)
	got := decode[kernel.RunResult](t, r.out)
	if got.State != "waiting" || len(got.Waiting) != 1 {
		t.Fatalf("got %s, want a run that waits for one approval", r.out)
	}
	contains(t, "stderr", r.err, "oxios approvals approve "+tail(got.Waiting[0]), "hello.txt")
	list := decode[[]kernel.Approval](t, d.must(0, "approvals", "list", "--json").out)
	if len(list) != 1 || list[0].ID != got.Waiting[0] || d.file("hello.txt") != "" {
		t.Fatalf("got %v waiting and the file %q, want the one request and no file", list, d.file("hello.txt"))
	}
	contains(t, "ps", d.must(0, "ps").out, "waiting")

	yes := d.must(0, "approvals", "approve", tail(list[0].ID))
	contains(t, "approve", yes.out, "approved")
	contains(t, "approve without an owner", yes.err, "oxios serve")
	if d.file("hello.txt") != "" {
		t.Error("the file was written although no Oxios runs")
	}
	d.own()
	until(t, "the run goes on", func() bool { return d.file("hello.txt") != "" })
	until(t, "the run is done", func() bool { return strings.Contains(d.do("ps", "--all").out, "done") })
	contains(t, "the chain", d.must(0, "audit", "verify").out, "intact")
}

func TestDenialWithCommentReachesTheAgent(t *testing.T) {
	t.Parallel()
	d := setup(t)
	got := decode[kernel.RunResult](t, d.must(exitWaiting, "run", "--json", "--mode", "ask", writes).out)
	d.own()
	no := d.must(0, "approvals", "deny", got.Waiting[0], "--comment", "use another name")
	contains(t, "deny", no.out, "denied")
	until(t, "the run ends", func() bool {
		return strings.Contains(d.must(0, "sessions", "show", got.SessionID).out, "use another name")
	})
	if d.file("hello.txt") != "" {
		t.Error("the file was written after a no")
	}
	if r := d.do("approvals", "approve", got.Waiting[0]); r.code != exitFailed {
		t.Errorf("approve after deny: got %+v, want a failure", r)
	}
}

func TestPersonAtTheTerminalDecides(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, typed, says string
		written           bool
	}{
		{"yes", "y\n", "hello.txt** is written", true},
		{"for the run", "r\n", "hello.txt** is written", true},
		{"nothing typed is no", "\n", "was not written", false},
		{"no", "n\n", "was not written", false},
		{"a comment is no, with a reason", "call it bye.txt\n", "call it bye.txt", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := setup(t)
			in, keyboard := io.Pipe()
			screen := &watch{sees: "Approve?", then: func() { go fmt.Fprint(keyboard, tt.typed) }}
			r := d.with(typing{terminal: true, stdin: in, err: screen}, "run", "--mode", "ask", writes)
			keyboard.Close()
			r.check(t, 0, "run")
			contains(t, "stdout", r.out, tt.says)
			contains(t, "the card", r.err, "hello.txt", "Contained:", "Undo:")
			if got := d.file("hello.txt") != ""; got != tt.written {
				t.Errorf("written: got %v, want %v", got, tt.written)
			}
			if n := strings.Count(r.out, strings.TrimSpace(tt.says)); n != 1 {
				t.Errorf("the answer %q stands %d times in %q, want once", tt.says, n, r.out)
			}
		})
	}
}

// watch does something once it saw a text.
type watch struct {
	buffer
	sees string
	then func()
	done bool
}

func (w *watch) Write(p []byte) (int, error) {
	n, err := w.buffer.Write(p)
	if !w.done && strings.Contains(w.String(), w.sees) {
		w.done = true
		w.then()
	}
	return n, err
}

func TestTerminalThatEndsLeavesTheQuestionToOthers(t *testing.T) {
	t.Parallel()
	d := setup(t)
	r := d.with(typing{terminal: true}, "run", "--mode", "ask", writes)
	r.check(t, exitWaiting, "run")
	if list := decode[[]kernel.Approval](t, d.must(0, "approvals", "list", "--json").out); len(list) != 1 {
		t.Errorf("got %d requests, want the one that waits", len(list))
	}
}

func TestRunWithAnOwnerWaitsForTheDecisionThere(t *testing.T) {
	t.Parallel()
	d := setup(t)
	d.own()
	if r := d.do("run", "--mode", "ask", "--no-wait", writes); r.code != exitWaiting {
		t.Fatalf("--no-wait: got %+v, want exit code 3", r)
	}
	first := decode[[]kernel.Approval](t, d.must(0, "approvals", "list", "--json").out)
	d.must(0, "approvals", "deny", first[0].ID)

	approve := &watch{sees: "oxios approvals approve ", then: func() {
		go func() {
			list := decode[[]kernel.Approval](t, d.do("approvals", "list", "--json").out)
			if len(list) == 1 {
				d.do("approvals", "approve", list[0].ID)
			}
		}()
	}}
	r := d.with(typing{err: approve}, "run", "--mode", "ask", writes)
	r.check(t, 0, "run")
	contains(t, "stdout", r.out, "is written")
	if d.file("hello.txt") == "" {
		t.Error("the file was not written")
	}
}

func TestCtrlCStopsTheRunAndSaysWhatIsKept(t *testing.T) {
	t.Parallel()
	for _, owned := range []bool{false, true} {
		d := setup(t, kerneltest.Script(hangs))
		if owned {
			d.own()
		}
		ctx, interrupt := context.WithCancel(context.Background())
		defer interrupt()
		screen := &watch{sees: "I think", then: interrupt}
		r := d.with(typing{ctx: ctx, terminal: true, out: screen, stdin: strings.NewReader("")}, "run", "think")
		r.check(t, exitStopped, "run")
		contains(t, "stderr", r.err, "stopped", "--session ")
		contains(t, "ps", d.must(0, "ps", "--all").out, "stopped")
	}
}

func TestTimeoutStopsTheRun(t *testing.T) {
	t.Parallel()
	d := setup(t, kerneltest.Script(hangs))
	r := d.must(exitFailed, "run", "--timeout", "300ms", "think")
	contains(t, "stderr", r.err, "300ms")
	contains(t, "ps", d.must(0, "ps", "--all").out, "stopped")

	r = d.must(exitFailed, "run", "--json", "--timeout", "300ms", "think")
	got := decode[kernel.RunResult](t, r.out)
	if got.RunID == "" || got.SessionID == "" || got.State != "stopped" || got.Error == nil || got.Error.Code != sys.CodeTimeout {
		t.Errorf("got %s, want what came of the run, and why it was stopped", r.out)
	}
	contains(t, "stderr", r.err, "300ms")
}

func TestRunFailsWithASentence(t *testing.T) {
	t.Parallel()
	d := setup(t)
	for _, tt := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"run", "--mode", "wild", "x"}, exitUsage, "wild"},
		{[]string{"run", "--timeout", "-1s", "x"}, exitUsage, "negative"},
		{[]string{"run", "   "}, exitUsage, "empty"},
		{[]string{"run"}, exitUsage, "empty"},
		{[]string{"run", "--bogus", "x"}, exitUsage, "bogus"},
		{[]string{"run", "--folder", d.Home, "x"}, exitFailed, "folder"},
		{[]string{"run", "--folder", filepath.Join(d.Folder, "missing"), "x"}, exitFailed, "missing"},
		{[]string{"run", "--session", "0000000000", "x"}, exitFailed, "0000000000"},
		{[]string{"run", "--provider", "nobody", "--model", "m", "x"}, exitFailed, "nobody"},
	} {
		r := d.do(tt.args...)
		if r.code != tt.code || !strings.Contains(r.err, tt.says) || r.out != "" {
			t.Errorf("%v: got %+v, want exit code %d and %q on stderr alone", tt.args, r, tt.code, tt.says)
		}
		asJSON := d.do(append(tt.args[:1:1], append([]string{"--json"}, tt.args[1:]...)...)...)
		doc := decode[map[string]map[string]string](t, asJSON.out)
		if asJSON.code != tt.code || doc["error"]["code"] == "" || doc["error"]["message"] == "" {
			t.Errorf("%v with --json: got %+v, want an error document", tt.args, asJSON)
		}
	}
	if r := d.with(typing{stdin: strings.NewReader(strings.Repeat("x", 10<<20))}, "run"); r.code != exitFailed || !strings.Contains(r.err, "10.0 MB") {
		t.Errorf("10 MB: got exit code %d and %.200q", r.code, r.err)
	}
	contains(t, "unknown model", d.must(exitFailed, "run", "--model", "no-such-model", "x").err, "no-such-model")
}

func TestRunThatWaitsInATaskOfASpaceSaysSoAsJSON(t *testing.T) {
	t.Parallel()
	d := setup(t, kerneltest.Script(`
[[scenario]]
[[scenario.turn]]
[[scenario.turn.call]]
tool = "begin_task"
args = '{"goal": "it is pushed", "acceptance_criteria": [{"text": "pushed", "check": {"file": "no", "not": true}}], "clarity": {"goal": 1, "constraints": 1, "criteria": 1}}'
[[scenario.turn]]
[[scenario.turn.call]]
tool = "exec"
args = '{"command": "git push origin main"}'
[[scenario.turn]]
text = "Done."
`))
	d.must(0, "spaces", "create", "Pond")
	got := decode[map[string]any](t, d.must(3, "run", "--json", "--no-wait", "--space", "Pond", "push it").out)
	if got["phase_reached"] != "execute" || got["seed_id"] == nil || got["space_id"] == nil || got["space_tag"] != "[Pond]" {
		t.Errorf("got %v, want the phase execute, its seed and its space", got)
	}
}
