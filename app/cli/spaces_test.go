package cli

import (
	"strings"
	"testing"

	"oxios/kernel"
)

func TestSpacesAreMadeDetectedMergedAndRestored(t *testing.T) {
	t.Parallel()
	d := setup(t)
	contains(t, "none", d.must(0, "spaces", "list").err, "only the default space")
	contains(t, "create", d.must(0, "spaces", "create", "Jeju", "--emoji", "🏝", "--words", "jeju,제주,ferry").out, "Jeju", "made.")
	d.must(0, "spaces", "create", "Ledger", "--words", "ledger")
	contains(t, "twice", d.must(exitFailed, "spaces", "create", "jeju").err, "Jeju")
	contains(t, "by a word", d.must(0, "spaces", "detect", "제주 사진을 정리해 줘").out, "[🏝 Jeju]", "words")
	contains(t, "by nothing", d.must(0, "spaces", "detect", "hello there").out, "The default space")
	contains(t, "set", d.must(0, "spaces", "set", "Jeju", "--instructions", "Answer in Korean.").out, "Jeju")
	contains(t, "share", d.must(0, "spaces", "set", "Jeju", "--shared").out, "Jeju")
	contains(t, "shared", d.must(0, "spaces", "show", "Jeju").out, "Shared:")
	d.must(0, "spaces", "set", "Jeju", "--shared=false")
	if out := d.must(0, "spaces", "show", "Jeju").out; strings.Contains(out, "Shared:") {
		t.Errorf("got %q, want it kept to itself again", out)
	}
	contains(t, "show", d.must(0, "spaces", "show", "Jeju").out, "ferry", "Answer in Korean.")

	run := decode[kernel.RunResult](t, d.must(0, "run", "--json", "hello").out)
	contains(t, "move", d.must(0, "spaces", "move", "Jeju", run.SessionID).out, "moved.")
	d.must(0, "memory", "add", "The ferry leaves at 17:30", "--space", "Jeju")
	contains(t, "not in another", d.must(0, "memory", "search", "ferry", "--space", "Ledger").err, "Nothing that is remembered fits")
	contains(t, "not empty", d.must(exitFailed, "spaces", "remove", "Jeju").err, "Jeju")

	check := d.must(0, "spaces", "merge", "--check", "Jeju", "Ledger")
	contains(t, "check", check.out+check.err, "conversations 1, memories 1.", "Nothing was changed")
	contains(t, "merge", d.must(0, "spaces", "merge", "Jeju", "Ledger").out, "conversations 1, memories 1.")
	contains(t, "moved", d.must(0, "memory", "search", "ferry", "--space", "Ledger").out, "17:30")
	contains(t, "unmerge", d.must(0, "spaces", "unmerge", "Jeju").out, "restored.", "conversations 1, memories 1.")
	contains(t, "back", d.must(0, "memory", "search", "ferry", "--space", "Jeju").out, "17:30")

	d.must(0, "spaces", "activate", "Ledger")
	contains(t, "active", d.must(0, "spaces", "list").out, "Ledger", "active")
	d.must(0, "spaces", "archive", "Ledger")
	contains(t, "archived", d.must(0, "spaces", "list").out, "Ledger", "archived")
	d.must(0, "spaces", "restore", "Ledger")
	d.must(0, "spaces", "remove", "Ledger")
	contains(t, "removed", d.must(exitFailed, "spaces", "show", "Ledger").err, "Ledger")
	contains(t, "proposals", d.must(0, "spaces", "proposals").err, "Nothing is proposed")
	contains(t, "stale", d.must(0, "spaces", "archive-stale").out+d.must(0, "spaces", "archive-stale").err, "\n")
}
