package cli

import (
	"strings"
	"testing"

	"oxios/kernel"
)

func TestBranchesAreMadeShownAndChosen(t *testing.T) {
	t.Parallel()
	d := setup(t)
	first := decode[kernel.RunResult](t, d.must(0, "run", "--json", "Hello!").out)
	d.must(0, "run", "--json", "--session", first.SessionID, "Hello again!")
	session := tail(first.SessionID)

	edited := decode[kernel.RunResult](t, d.must(0, "run", "--json", "--session", session, "--instead-of", tail(first.RunID), "Good morning!").out)
	show := d.must(0, "sessions", "show", session).out
	contains(t, "show", show, "Good morning!", "2 of 2, others: "+tail(first.RunID), "Other branches, not shown: 1")
	if strings.Contains(show, "Hello again!") {
		t.Errorf("got %q, want the shown branch alone", show)
	}
	// Without a message the same one is said again, whatever stands on standard input.
	again := d.with(typing{stdin: noReader{t}}, "run", "--json", "--session", session, "--instead-of", edited.RunID)
	again.check(t, 0, "run", "--instead-of")
	contains(t, "show", d.must(0, "sessions", "show", session).out, "Good morning!", "3 of 3")

	contains(t, "choose", d.must(0, "sessions", "choose", session, tail(first.RunID)).out, "Hello!", "Hello again!", "1 of 3")
	contains(t, "the exit of an unknown run", d.must(exitFailed, "sessions", "choose", session, "nonsense").err, "nonsense")
	contains(t, "delete", d.with(typing{terminal: true, stdin: strings.NewReader("\n")}, "sessions", "delete", session).err, "other branches go too: 2")
	contains(t, "instead of what", d.must(exitUsage, "run", "--instead-of", "x", "Hi").err, "--session")
}

func TestConversationIsBranchedIntoANewOne(t *testing.T) {
	t.Parallel()
	d := setup(t)
	first := decode[kernel.RunResult](t, d.must(0, "run", "--json", "Hello!").out)
	d.must(0, "run", "--json", "--session", first.SessionID, "Hello again!")
	b := decode[kernel.Session](t, d.must(0, "sessions", "branch", first.SessionID, tail(first.RunID), "--json").out)
	show := d.must(0, "sessions", "show", b.ID).out
	contains(t, "show", show, "Branched from "+tail(first.SessionID), "Hello!")
	if strings.Contains(show, "Hello again!") {
		t.Errorf("got %q, want nothing behind the run", show)
	}
	contains(t, "branch", d.must(0, "sessions", "branch", first.SessionID).out, "(branch 2)")
}
