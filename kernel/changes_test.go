package kernel_test

import (
	"path/filepath"
	"strings"
	"testing"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
	"oxios/kernel/sys"
)

func TestChangesJoinWhatARunDidToAFile(t *testing.T) {
	t.Parallel()
	k := open(t)
	h := k.Agent("guarded")
	put := func(path, text string) {
		t.Helper()
		if _, err := h.Exec.Write(t.Context(), kernel.WriteArgs{Path: path, Content: text}); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(k.Folder, "old.txt"), "one\ntwo\n")
	write(t, filepath.Join(k.Folder, "back.txt"), "same\n")
	write(t, filepath.Join(k.Folder, "raw.bin"), "\x00\x01")
	put("old.txt", "one\nTWO\n")
	put("new/a.txt", "a\n")
	put("old.txt", "one\nTWO\nthree\n")
	put("new/a.txt", "a\nb\n")
	put("back.txt", "other\n")
	put("back.txt", "same\n")
	put("raw.bin", "text now\n")
	put("large.txt", strings.Repeat("0123456789abcdef\n", 100000))
	put("old.txt", "one\nTWO\nthree\n") // nothing new
	got, err := k.Person().Agents.Changes(t.Context(), h.Principal().ID)
	if err != nil || len(got) != 4 {
		t.Fatalf("got %d changes, %v: %+v", len(got), err, got)
	}
	want := []kernel.ChangeSummary{
		{Path: "old.txt", Kind: "modified", Added: 2, Removed: 1},
		{Path: "new/a.txt", Kind: "created", Added: 2},
		{Path: "raw.bin", Kind: "modified", Binary: true},
		{Path: "large.txt", Kind: "created"},
	}
	for i, w := range want {
		g := got[i].ChangeSummary
		g.ID, g.RunID, g.StepID = "", "", ""
		if g != w {
			t.Errorf("got %+v, want %+v", g, w)
		}
	}
	if d := got[0].Diff; !strings.Contains(d, "-two\n+TWO\n+three\n") || !strings.HasPrefix(d, "--- a/old.txt\n") {
		t.Errorf("got diff %q", d)
	}
	if got[2].Diff != "" || got[3].Diff != "" {
		t.Error("a diff of what is no text, or was not kept")
	}
	other := k.Agent("guarded")
	_, err = other.Agents.Changes(t.Context(), h.Principal().ID)
	wantCode(t, "another agent", err, sys.CodeForbidden)
	if none, err := k.Person().Agents.Changes(t.Context(), other.Principal().ID); err != nil || none == nil || len(none) != 0 {
		t.Errorf("got %v, %v, want an empty list", none, err)
	}
}

func TestChangeIsKeptWithItsStepAndToldToTheFaces(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(writeScript))
	events, err := k.Person().Infra.Events(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	out := k.Say("write hello")
	k.Wait(out.RunID)
	v, err := k.Person().Agents.Run(t.Context(), out.RunID)
	if err != nil || len(v.Changes) != 1 {
		t.Fatalf("got %+v, %v", v.Changes, err)
	}
	var step string
	for _, s := range v.Steps {
		if s.Kind == "tool" {
			step = s.ID
		}
	}
	for e := range events {
		if c, ok := e.Data.(kernel.ChangeSummary); ok {
			if c != v.Changes[0] || c.StepID != step || c.Path != "hello.txt" || e.RunID != out.RunID {
				t.Errorf("got event %+v of run %s, want %+v of step %s", c, e.RunID, v.Changes[0], step)
			}
			break
		}
	}
}

func TestPersonsOwnWriteBelongsToNoRun(t *testing.T) {
	t.Parallel()
	k := open(t)
	if _, err := k.Person().Exec.Write(t.Context(), kernel.WriteArgs{Path: "mine.txt", Content: "x\n"}); err != nil {
		t.Fatal(err)
	}
	if got := read(t, filepath.Join(k.Folder, "mine.txt")); got != "x\n" {
		t.Errorf("got %q", got)
	}
}
