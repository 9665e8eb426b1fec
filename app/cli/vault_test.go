package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"oxios/kernel"
)

func TestNotesAreWrittenFoundLinkedMovedAndRestored(t *testing.T) {
	t.Parallel()
	d := setup(t)
	contains(t, "none", d.must(0, "vault", "tree").err, "no note yet")
	contains(t, "write", d.with(typing{stdin: strings.NewReader("# 해커뉴스\n\n오늘의 링크 #news\n- [ ] 읽기\n")}, "vault", "write", "news/해커뉴스", "-").out, "written")
	d.must(0, "vault", "append", "Plan", "See [[해커뉴스]] and [[Nowhere]]. 해커뉴스 again.")
	contains(t, "tree", d.must(0, "vault", "tree").out, "news/\n  해커뉴스", "Plan")
	contains(t, "read", d.must(0, "vault", "read", "news/해커뉴스").out, "오늘의 링크 #news\n- [ ] 읽기")
	if hits := decode[[]kernel.VaultHit](t, d.must(0, "vault", "search", "링ㅋ", "--json").out); len(hits) != 1 || hits[0].Path != "news/해커뉴스.md" {
		t.Errorf("an unfinished syllable: got %+v", hits)
	}
	contains(t, "initials", d.must(0, "vault", "find", "ㅎㅋㄴㅅ").out, "news/해커뉴스.md")
	contains(t, "tags", d.must(0, "vault", "tags").out, "#news")
	contains(t, "tasks", d.must(0, "vault", "tasks", "--open").out, "읽기")
	contains(t, "backlinks", d.must(0, "vault", "backlinks", "해커뉴스").out, "Plan.md")
	contains(t, "unlinked", d.must(0, "vault", "backlinks", "--unlinked", "해커뉴스").out, "Plan.md")
	contains(t, "check", d.must(0, "vault", "check").out, "Plan.md", "Nowhere")

	contains(t, "move", d.must(0, "vault", "move", "news/해커뉴스", "news/HN").err, "Links rewritten: 1")
	contains(t, "rewritten", d.must(0, "vault", "read", "Plan").out, "[[HN]]")
	n := decode[kernel.Note](t, d.must(0, "vault", "read", "Plan", "--json").out)
	d.made("plan.md", "Another plan.\n")
	contains(t, "without the base", d.must(exitFailed, "vault", "write", "Plan", "plan.md").err, "Plan")
	contains(t, "with it", d.must(0, "vault", "write", "Plan", "plan.md", "--base", n.Hash).out, "written")
	contains(t, "an old base", d.must(exitFailed, "vault", "write", "Plan", "plan.md", "--base", n.Hash).err, "changed")
	contains(t, "versions", d.must(0, "vault", "history", "Plan").out, "VERSION")

	gone := decode[kernel.VaultChange](t, d.must(0, "vault", "delete", "Plan", "--json").out)
	contains(t, "deleted", d.must(exitFailed, "vault", "read", "Plan").err, "Plan")
	contains(t, "trash", d.must(0, "vault", "trash").out, "Plan")
	d.must(0, "vault", "trash", "restore", gone.Trash)
	contains(t, "restored", d.must(0, "vault", "read", "Plan").out, "Another plan.")

	contains(t, "journal", d.must(0, "vault", "journal", "--date", "2026-11-23", "Rain.").out, "2026-11-23")
	contains(t, "its note", d.must(0, "vault", "search", "Rain").out, "2026-11-23.md")
	page := strings.Repeat("Bees fly over the meadow, and the boiler hums all day long.\n\n", 100)
	d.with(typing{stdin: strings.NewReader(page + "The boiler has its service in May.\n")}, "vault", "write", "House", "-")
	contains(t, "the passage of a long note", d.must(0, "vault", "search", "when is the service of the boiler").out, "201", "The boiler has its service in May.")
	for says, args := range map[string][]string{
		"no day": {"vault", "journal", "--date", "tomorrow", "x"}, "Missing": {"vault", "read", "Missing"}, "cannot be the name": {"vault", "append", "what?", "x"}, "no path inside the vault": {"vault", "append", "../out", "x"},
	} {
		contains(t, says, d.must(exitFailed, args...).err, says)
	}
}

func TestFolderOfNotesIsCopiedAndNothingOverwritten(t *testing.T) {
	t.Parallel()
	d := setup(t)
	from := filepath.Join(d.dir, "obsidian")
	for name, text := range map[string]string{"One.md": "links to [[Two]]", "sub/Two.md": "# Two\n", "sub/.obsidian/app.json": "{}", "Taken.md": "theirs"} {
		p := filepath.Join(from, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d.must(0, "vault", "append", "Taken", "mine")
	contains(t, "plan", d.must(0, "vault", "import", "--dry-run", "obsidian").out, "Would copy 2 files")
	r := d.must(0, "vault", "import", "obsidian")
	contains(t, "copied", r.out, "Copied 2 files")
	contains(t, "a clash", r.err, "The name is taken: Taken.md")
	contains(t, "kept", d.must(0, "vault", "read", "Taken").out, "mine")
	contains(t, "again", d.must(0, "vault", "import", "--beside", "obsidian").out, "Copied 1 files; 2 were here")
	contains(t, "linked", d.must(0, "vault", "backlinks", "Two").out, "One.md")
	contains(t, "no such folder", d.must(exitFailed, "vault", "import", "nowhere").err, "nowhere")
}
