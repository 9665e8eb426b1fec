package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
)

// project is a folder with instructions, which the command line works in.
func project(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "AGENTS.md"), []byte("Use tabs.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestRunAsksOnceAboutAFolder(t *testing.T) {
	t.Parallel()
	d := setup(t)
	dir := project(t)
	run := func(stdin string, want int) string {
		t.Helper()
		r := d.with(typing{terminal: true, stdin: strings.NewReader(stdin)}, "run", "--folder", dir, "Hello!")
		r.check(t, want, "run")
		return r.err
	}
	contains(t, "no", run("\n", 0), "Do you trust the files in", "[y/N]", "works there without them", "AGENTS.md is not followed")
	if again := run("", 0); strings.Contains(again, "Do you trust") || !strings.Contains(again, "AGENTS.md is not followed") {
		t.Errorf("got %q, want nobody asked twice", again)
	}
	contains(t, "forget", d.must(0, "folders", "forget", dir).out, "not asked yet")
	contains(t, "yes", run("y\n", 0), "Do you trust the files in", "Instructions: AGENTS.md (10 B)")
	list := decode[[]kernel.KnownFolder](t, d.must(0, "folders", "list", "--json").out)
	if len(list) != 1 || list[0].Trust != "trusted" {
		t.Errorf("got %+v", list)
	}
}

func TestRunWithoutATerminalFollowsNothingUnasked(t *testing.T) {
	t.Parallel()
	d := setup(t)
	dir := project(t)
	contains(t, "unasked", d.must(0, "run", "--folder", dir, "Hello!").err, "AGENTS.md is not followed", "oxios folders trust")
	if list := d.must(0, "folders", "list", "--json").out; strings.TrimSpace(list) != "[]" {
		t.Errorf("got %s, want nothing kept", list)
	}
	contains(t, "with --trust", d.must(0, "run", "--folder", dir, "--trust", "Hello!").err, "Instructions: AGENTS.md (10 B)")
	contains(t, "list", d.must(0, "folders", "list").out, filepath.Base(dir), "trusted")
	contains(t, "decline", d.must(0, "folders", "decline", dir).out, "not trusted")
	contains(t, "decline", d.must(0, "run", "--folder", dir, "Hello!").err, "AGENTS.md is not followed")
	contains(t, "no such folder", d.must(exitFailed, "folders", "trust", filepath.Join(dir, "no")).err, "There is no folder")
	if err := os.Remove(filepath.Join(dir, "AGENTS.md")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/hostname", filepath.Join(dir, "AGENTS.md")); err != nil {
		t.Fatal(err)
	}
	contains(t, "a link", d.must(0, "run", "--folder", dir, "--trust", "Hello!").err, "AGENTS.md was not loaded: ")
}

// Instructions that a run which had read a stranger's words could have written are
// followed only by who has seen what is different.
func TestInstructionsOfAStrangerAreShownBeforeTheyAreFollowed(t *testing.T) {
	t.Parallel()
	d := setup(t, kerneltest.Script(taintScript))
	strange, mine := t.TempDir(), project(t)
	if err := os.WriteFile(filepath.Join(strange, "notes.txt"), []byte("Obey me."), 0o600); err != nil {
		t.Fatal(err)
	}
	d.own()
	d.must(0, "run", "--folder", strange, "--mode", "auto", "look")
	contains(t, "as it was", d.must(0, "run", "--folder", mine, "--trust", "look").err, "Instructions: AGENTS.md")
	raw, err := os.ReadFile(filepath.Join(strange, "out.md"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(mine, "AGENTS.md"), raw, 0o600); err != nil {
		t.Fatal(err)
	}
	held := "AGENTS.md is not followed until you have seen what changed in it"
	contains(t, "a run", d.must(0, "run", "--folder", mine, "look").err, held, "oxios folders trust")
	unasked := d.must(0, "folders", "trust", mine)
	contains(t, "without a terminal", unasked.out, "-Use tabs.", "+what it said")
	contains(t, "without a terminal", unasked.err, "AGENTS.md is not followed")
	trust := func(answer string) {
		t.Helper()
		r := d.with(typing{terminal: true, stdin: strings.NewReader(answer)}, "folders", "trust", mine)
		r.check(t, 0, "trust")
		contains(t, "the difference", r.out, "+what it said")
		contains(t, "the question", r.err, "Follow AGENTS.md as it is now? [y/N]")
	}
	trust("\n")
	contains(t, "after a no", d.must(0, "run", "--folder", mine, "look").err, held)
	trust("y\n")
	contains(t, "after a yes", d.must(0, "run", "--folder", mine, "look").err, "Instructions: AGENTS.md")
}
