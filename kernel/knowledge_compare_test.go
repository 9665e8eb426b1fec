package kernel_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
	"oxios/kernel/sys"
)

func TestComparedNoteSaysWhichAgentsChangedItAndHow(t *testing.T) {
	t.Parallel()
	k := open(t)
	p, h := k.Person(), k.Agent("guarded")
	written(t, p, "plan", "one\n")
	compare := func(text string) kernel.VaultCompared {
		t.Helper()
		got, err := p.Knowledge.Compare(t.Context(), "plan.md", text)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := compare("one\n"); got.Diff != "" || len(got.By) != 0 {
		t.Errorf("nothing changed, and yet: %+v", got)
	}
	for _, text := range []string{"two", "three"} {
		if _, err := h.Knowledge.Append(t.Context(), "plan", text); err != nil {
			t.Fatal(err)
		}
	}
	got := compare("one\n")
	if got.Added != 2 || got.Removed != 0 || !strings.Contains(got.Diff, "+two\n+three\n") {
		t.Errorf("got %+v", got)
	}
	if len(got.By) != 1 || got.By[0].RunID != h.Principal().ID || got.By[0].SessionID == "" {
		t.Errorf("it was written by %+v", got.By)
	}
	written(t, p, "plan", "one\ntwo\nthree\nmine\n")
	if got := compare("one\n"); got.Added != 3 || len(got.By) != 0 {
		t.Errorf("the person wrote last, and yet: %+v", got)
	}
	if _, err := h.Knowledge.Compare(t.Context(), "plan.md", ""); sys.CodeOf(err) != sys.CodeForbidden {
		t.Errorf("an agent gets %v", err)
	}
	if _, err := p.Knowledge.Compare(t.Context(), "nobody.md", ""); sys.CodeOf(err) != sys.CodeNotFound {
		t.Errorf("a note that is not there: %v", err)
	}
}

func TestExactWriteTakesBackWhatAnAgentWroteWithItsHead(t *testing.T) {
	t.Parallel()
	k := open(t)
	p, h := k.Person(), k.Agent("guarded")
	written(t, p, "plan", "one\n")
	before, _ := p.Knowledge.Read(t.Context(), "plan")
	c, err := h.Knowledge.Write(t.Context(), kernel.NoteWrite{Path: "plan", Text: "two\n", Base: before.Hash})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Knowledge.Write(t.Context(), kernel.NoteWrite{Path: "plan", Text: "one\n", Base: before.Hash, Exact: true}); sys.CodeOf(err) != sys.CodeConflict {
		t.Errorf("over another text: %v", err)
	}
	if c, err = p.Knowledge.Write(t.Context(), kernel.NoteWrite{Path: "plan", Text: "one\n", Base: c.Hash, Exact: true}); err != nil || c.Hash != before.Hash {
		t.Errorf("got %+v, %v", c, err)
	}
}

func TestFolderOfNotesIsMadeAndGoesIntoTheTrashAsAWhole(t *testing.T) {
	t.Parallel()
	k := open(t)
	p, h := k.Person(), k.Agent("guarded")
	if got, err := p.Knowledge.MakeFolder(t.Context(), "일/계획"); err != nil || got != "일/계획" {
		t.Fatalf("got %q, %v", got, err)
	}
	for _, name := range []string{"일/계획", "일", "../out", ".hidden", "a?"} {
		if _, err := p.Knowledge.MakeFolder(t.Context(), name); err == nil {
			t.Errorf("%s was made", name)
		}
	}
	has := func(path string) bool {
		all, err := p.Knowledge.Tree(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range all {
			if e.Path == path {
				return true
			}
		}
		return false
	}
	if !has("일/계획") {
		t.Error("an empty folder is not listed")
	}
	written(t, p, "일/계획/a", "one\n")
	written(t, p, "일/b", "two\n")
	if _, err := h.Knowledge.RemoveFolder(t.Context(), "일"); sys.CodeOf(err) != sys.CodeForbidden {
		t.Errorf("an agent gets %v", err)
	}
	hidden := filepath.Join(k.Home, "knowledge", "일", ".obsidian")
	write(t, hidden, "settings")
	if _, err := p.Knowledge.RemoveFolder(t.Context(), "일"); sys.CodeOf(err) != sys.CodeConflict || !has("일/b.md") {
		t.Errorf("with a hidden file: %v", err)
	}
	if err := os.Remove(hidden); err != nil {
		t.Fatal(err)
	}
	out, err := p.Knowledge.RemoveFolder(t.Context(), "일")
	if err != nil || len(out.Trash) != 2 || has("일") || has("일/계획") {
		t.Fatalf("got %+v, %v", out, err)
	}
	if _, err := os.Stat(filepath.Join(k.Home, "knowledge", "일")); !os.IsNotExist(err) {
		t.Errorf("the folder is still there: %v", err)
	}
	for _, id := range out.Trash {
		if _, err := p.Knowledge.Restore(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := p.Knowledge.Read(t.Context(), "일/계획/a.md"); err != nil || n.Text != "one\n" {
		t.Errorf("got %+v, %v", n, err)
	}
	if _, err := p.Knowledge.RemoveFolder(t.Context(), "일/b.md"); sys.CodeOf(err) != sys.CodeInvalid {
		t.Errorf("a note is no folder: %v", err)
	}
}

func TestNoteGoesWithAMessageAsItIs(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script("[[scenario]]\nmatch = \".\"\n[[scenario.turn]]\ntext = \"Hello.\"\n"))
	p := k.Person()
	written(t, p, "일지/오늘", "Met Mina.\n")
	a, err := p.State.Attach(t.Context(), kernel.AttachInput{Note: "일지/오늘.md"})
	if err != nil || a.Name != "오늘" || a.Vault != "일지/오늘.md" || a.Tokens == 0 {
		t.Fatalf("got %+v, %v", a, err)
	}
	if c, err := p.State.AttachmentContent(t.Context(), a.ID); err != nil || c.Text != "Met Mina.\n" {
		t.Errorf("got %+v, %v", c, err)
	}
	for _, in := range []kernel.AttachInput{{Note: "nobody"}, {Note: "../oxios.db"}, {Note: "일지/오늘.md", Text: "x"}} {
		if _, err := p.State.Attach(t.Context(), in); err == nil {
			t.Errorf("%+v was attached", in)
		}
	}
}
