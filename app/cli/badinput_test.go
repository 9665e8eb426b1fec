package cli

import (
	"bytes"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
)

// What bad input gets at the terminal: a sentence that says what happened, what
// was kept and what to do. The page's half is frontend/e2e/bad-input.test.mjs,
// which plays the same scenarios.

// faults are scenarios of models and endpoints that misbehave.
func faults(t *testing.T) string {
	t.Helper()
	raw, err := os.ReadFile("../../kernel/demo/testdata/faults.toml")
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// missing checks that the agent wrote no such file.
func (d *desk) missing(name string) {
	d.t.Helper()
	if got := d.file(name); got != "" {
		d.t.Errorf("%s was written: %q", name, got)
	}
}

func TestProviderTroubleSaysWhatIsKeptAndHowToGoOn(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		args []string
		says []string
	}{
		"wrong key":     {[]string{"Try the wrong key"}, []string{"refused the key", "Incorrect API key", "Check the key in Settings, Models"}},
		"unknown model": {[]string{"--provider", "env", "--model", "gone", "Hello"}, []string{"does not know the model gone", "Choose a model from the list"}},
		"quota gone":    {[]string{"Is the quota gone"}, []string{"no credit left", "Add credit"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := setup(t, kerneltest.Script(faults(t)))
			d.failsAndKeeps(tt.args, tt.says)
		})
	}
	t.Run("endpoint down", func(t *testing.T) {
		t.Parallel()
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		ln.Close() // nobody listens there now
		d := setup(t, kerneltest.With(func(o *kernel.Options) {
			o.Env = func(name string) string {
				return map[string]string{"OXIOS_BASE_URL": "http://" + ln.Addr().String() + "/v1", "OXIOS_MODEL": kerneltest.Model}[name]
			}
		}))
		d.failsAndKeeps([]string{"Hello"}, []string{"Trying again (2 of 3)", "Nothing answers at", "Start it, then try again"})
	})
}

func TestAModelOfTheEnvironmentThatCannotBeUsedIsToldWithWhatIsWrong(t *testing.T) {
	t.Parallel()
	d := setup(t, kerneltest.With(func(o *kernel.Options) {
		o.Env = func(name string) string {
			return map[string]string{"OXIOS_BASE_URL": "https://models.example/v1", "OXIOS_API_KEY": "two\nlines-0123456789", "OXIOS_MODEL": kerneltest.Model}[name]
		}
	}))
	r := d.must(exitFailed, "run", "Hello")
	contains(t, "stderr", r.err, "The model that the environment names cannot be used: ", "Nothing was sent.", "Correct OXIOS_BASE_URL, OXIOS_API_KEY and OXIOS_MODEL")
	if strings.Contains(r.err, "lines-0123456789") {
		t.Error("the key is shown")
	}
}

// failsAndKeeps runs a message that must fail: with all the sentences, what was
// said in the conversation, and the way to go on.
func (d *desk) failsAndKeeps(args, says []string) {
	d.t.Helper()
	r := d.must(exitFailed, append([]string{"run"}, args...)...)
	contains(d.t, "stderr", r.err, append(says, "Your message and what was done are kept", "oxios run --session ")...)
	if r.out != "" {
		d.t.Errorf("got %q on standard output, want no answer", r.out)
	}
	list := decode[[]kernel.Session](d.t, d.must(0, "sessions", "list", "--json").out)
	if len(list) != 1 || list[0].State != "failed" || !strings.Contains(r.err, list[0].ID) {
		d.t.Fatalf("got %+v, want the one conversation, failed, and its id in %q", list, r.err)
	}
	contains(d.t, "the conversation", d.must(0, "sessions", "show", list[0].ID).out, args[len(args)-1])
}

func TestStreamThatEndsInTheMiddleKeepsItsTextAndRunsNothing(t *testing.T) {
	t.Parallel()
	for _, message := range []string{"Please cut the call", "Please lose the finish"} {
		d := setup(t, kerneltest.Script(faults(t)))
		r := d.must(exitFailed, "run", message)
		contains(t, "stdout", r.out, "I will write the file now.")
		contains(t, "stderr", r.err, "ended its answer in the middle", "no tool of it ran", "Try again", "oxios run --session ")
		d.missing("cut.txt")
		contains(t, "ps", d.must(0, "ps", "--all").out, "failed")
	}
}

func TestCallThatCannotBeRunIsToldAndTheRunGoesOn(t *testing.T) {
	t.Parallel()
	d := setup(t, kerneltest.Script(faults(t)))
	r := d.must(0, "run", "Send malformed arguments")
	contains(t, "malformed", r.err, "✗ Write (failed): The arguments of write are not valid JSON", "Nothing was done")
	contains(t, "malformed", r.out, "I wrote nothing")
	d.missing("malformed.txt")
	r = d.must(0, "run", "Please teleport")
	contains(t, "no such tool", r.err, `✗ teleport (failed): There is no tool "teleport". Nothing was done`)
	contains(t, "no such tool", r.out, "I cannot do that here")
}

func TestEndlessLoopEndsWithAnAnswerThatSaysSoAndCanGoOn(t *testing.T) {
	t.Parallel()
	d := setup(t, kerneltest.Script(faults(t)))
	d.must(0, "config", "set", "max_tool_calls", "8")
	r := d.must(0, "run", "Look without end")
	contains(t, "stdout", r.out, "found nothing so far")
	contains(t, "stderr", r.err, "reached the limit of steps", "oxios run --session ")
	if n := strings.Count(r.err, "✓ "); n != 8 {
		t.Errorf("got %d steps in %q, want the 8 of the limit", n, r.err)
	}
	got := decode[kernel.RunResult](t, d.must(0, "run", "--json", "Look without end").out)
	if got.State != "done" || got.Status != "forced" {
		t.Errorf("got %s, %q with --json, want done and forced", got.State, got.Status)
	}
	contains(t, "going on", d.must(0, "run", "--session", got.SessionID, "Go on").out, "You said: Go on")

	r = d.must(exitFailed, "run", "Do the same again")
	contains(t, "the same step", r.err, "gave the same result 6 times", "What was done before is kept", "oxios run --session ")
}

func TestHugeMessageLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	d := setup(t)
	r := d.with(typing{stdin: bytes.NewReader(make10MB())}, "run")
	r.check(t, exitFailed, "run")
	contains(t, "stderr", r.err, "10.0 MB", "1 MB is the most", "Nothing was sent", "Save it as a file")
	if out := d.must(0, "sessions", "list", "--json").out; out != "[]\n" {
		t.Errorf("got %q, want no conversation", out)
	}
}

func make10MB() []byte { return bytes.Repeat([]byte("word "), 2<<20) }

func TestConfigWithAnErrorIsToldByARunThatUsesTheLastGoodOne(t *testing.T) {
	t.Parallel()
	d := setup(t, kerneltest.Script(faults(t)))
	d.must(0, "config", "set", "max_tool_calls", "3")
	path := filepath.Join(d.Home, "config.toml")
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	bad := append(good, "max_tool_call = 9\n"...)
	if err := os.WriteFile(path, bad, 0o600); err != nil {
		t.Fatal(err)
	}
	line := "line " + string(rune('0'+bytes.Count(bad, []byte("\n"))))
	r := d.must(0, "run", "Look without end")
	contains(t, "stderr", r.err, line, "max_tool_call", "last good", "Correct line")
	if n := strings.Count(r.err, "✓ "); n != 3 {
		t.Errorf("got %d steps, want the 3 of the last good configuration", n)
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, bad) {
		t.Errorf("the file of the person was changed (%v)", err)
	}
}

func TestDatabaseOfANewerVersionIsToldAndLeftAlone(t *testing.T) {
	t.Parallel()
	d := setup(t)
	d.must(0, "run", "Hello!")
	path := filepath.Join(d.Home, "oxios.db")
	older := setVersion(t, path, [4]byte{3: 99})
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"run", "Hello!"}, {"serve"}, {"sessions", "list"}, {"approvals", "list"}} {
		contains(t, strings.Join(args, " "), d.must(exitFailed, args...).err, "newer Oxios", "version 99", "Nothing was changed", "Update Oxios")
	}
	contains(t, "doctor", d.must(exitFailed, "doctor").out, "✗", "newer Oxios", "Update Oxios")
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, before) {
		t.Errorf("the database was changed (%v)", err)
	}
	setVersion(t, path, older)
	contains(t, "after an update", d.must(0, "sessions", "list").out, "Hello")
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

func TestRevokedApprovalAsksAgain(t *testing.T) {
	t.Parallel()
	d := setup(t, kerneltest.Script(faults(t)))
	d.own()
	ended := make(chan result, 1)
	go func() { ended <- d.do("run", "--mode", "ask", "Please remove twice") }()
	waits := func(command string) (found kernel.Approval) {
		t.Helper()
		until(t, command+" waits", func() bool {
			list := decode[[]kernel.Approval](t, d.do("approvals", "list", "--json").out)
			if len(list) == 1 && list[0].Request.Command == command {
				found = list[0]
			}
			return found.ID != ""
		})
		return found
	}
	first := waits("rm -f once.txt")
	contains(t, "a request that waits", d.must(exitFailed, "approvals", "revoke", first.ID).err, "nothing to take back")
	d.must(0, "approvals", "approve", "--scope", "run", first.ID)
	other := waits("rm -f other.txt")
	contains(t, "revoke", d.must(0, "approvals", "revoke", tail(first.ID)).out, "withdrawn")
	contains(t, "revoke again", d.must(exitFailed, "approvals", "revoke", first.ID).err, "nothing to take back")
	d.must(0, "approvals", "approve", other.ID)
	again := waits("rm -f once.txt")
	if again.ID == first.ID || again.Request.Hash != first.Request.Hash {
		t.Errorf("got %+v, want a new question about the same call", again)
	}
	d.must(0, "approvals", "deny", again.ID)
	r := <-ended
	r.check(t, 0, "run")
	contains(t, "stdout", r.out, "The person denied this")
	contains(t, "the chain", d.must(0, "audit", "verify").out, "intact")
}

func TestApprovalThatIsRevokedBeforeItsUseRunsNothing(t *testing.T) {
	t.Parallel()
	d := setup(t)
	got := decode[kernel.RunResult](t, d.must(exitWaiting, "run", "--json", "--mode", "ask", writes).out)
	d.must(0, "approvals", "approve", got.Waiting[0])
	r := d.must(0, "approvals", "revoke", got.Waiting[0])
	contains(t, "revoke", r.out, "withdrawn")
	contains(t, "revoke", r.err, "asks again")
	d.own()
	until(t, "it asks again", func() bool {
		list := decode[[]kernel.Approval](t, d.do("approvals", "list", "--json").out)
		return len(list) == 1 && list[0].ID != got.Waiting[0]
	})
	d.missing("hello.txt")
}
