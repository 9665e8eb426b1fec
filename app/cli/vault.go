package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"oxios/kernel"
)

func (c *console) vaultCommand() *cobra.Command {
	return c.group("vault", "Your notes, as plain markdown", "마크다운 파일로 된 노트",
		c.vaultTree(), c.vaultRead(), c.vaultWrite(), c.vaultAppend(), c.vaultSearch(), c.vaultFind(), c.vaultBacklinks(), c.vaultAttach(), c.vaultMove(), c.vaultDelete(), c.vaultMkdir(), c.vaultRmdir(),
		c.vaultHistory(), c.vaultTrash(), c.vaultGraph(), c.vaultTasks(), c.vaultTags(), c.vaultJournal(), c.vaultCheck(), c.vaultImport(), c.vaultStatus())
}

func (c *console) vaultStatus() *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use: "status", Short: c.t("Show where the vault is", "저장소가 어디 있는지 봅니다"), Args: c.args(0, 0),
		RunE: c.linked(func(ctx context.Context, l *link, _ []string) error {
			s, err := l.Knowledge.State(ctx)
			if err != nil {
				return err
			}
			if c.json {
				return c.writeJSON(s)
			}
			c.printf(c.t("%s: %d notes", "%s: 노트 %d개"), s.Dir, s.Notes)
			if !s.History {
				c.note("%s", c.t("It is a folder of yours: no history is kept there, and no backup of Oxios holds it.", "직접 정한 폴더입니다. 이력을 남기지 않고 Oxios의 백업에도 들어가지 않습니다."))
			}
			if s.Problem != nil {
				c.explain(s.Problem)
			}
			return nil
		}),
	})
}

func (c *console) vaultTree() *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use: "tree", Short: c.t("List all notes", "모든 노트를 봅니다"), Args: c.args(0, 0),
		RunE: c.linked(func(ctx context.Context, l *link, _ []string) error {
			all, err := l.Knowledge.Tree(ctx)
			if err != nil {
				return err
			}
			if c.json {
				return c.writeJSON(all)
			}
			if len(all) == 0 {
				c.note("%s", c.t("There is no note yet.", "아직 노트가 없습니다."))
			}
			for _, e := range all {
				name := strings.Repeat("  ", strings.Count(e.Path, "/")) + oneLine(e.Name)
				if e.Kind == "folder" {
					name += "/"
				}
				c.printf("%s", name)
			}
			return nil
		}),
	})
}

func (c *console) vaultRead() *cobra.Command {
	var version string
	cmd := &cobra.Command{
		Use: "read NOTE", Short: c.t("Print a note", "노트를 출력합니다"), Args: c.args(1, 1),
		RunE: c.linked(func(ctx context.Context, l *link, args []string) error {
			if version != "" {
				return c.printVersion(l.Knowledge.Version(ctx, args[0], version))
			}
			n, err := l.Knowledge.Read(ctx, args[0])
			if err != nil {
				return err
			}
			if c.json {
				return c.writeJSON(n)
			}
			c.printf("%s", strings.TrimSuffix(safe(n.Text), "\n"))
			return nil
		}),
	}
	cmd.Flags().StringVar(&version, "version", "", c.t("as it was in this version; see vault history", "이 버전의 내용. vault history 참고"))
	return c.withJSON(cmd)
}

// changedNote says what became of a note.
func (c *console) changedNote(v kernel.VaultChange, err error) error {
	if err != nil {
		return err
	}
	if c.json {
		return c.writeJSON(v)
	}
	switch {
	case v.Changed == 0:
		c.printf(c.t("%s: nothing to change.", "%s: 바꿀 것이 없습니다."), oneLine(v.Path))
	case v.Trash != "":
		c.printf(c.t("%s: deleted. `oxios vault trash restore %s` brings it back.", "%s: 지웠습니다. `oxios vault trash restore %s`로 되돌릴 수 있습니다."), oneLine(v.Path), v.Trash)
	default:
		c.printf(c.t("%s: written.", "%s: 썼습니다."), oneLine(v.Path))
	}
	if v.Links > 0 {
		c.note(c.t("Links rewritten: %d", "고친 링크: %d"), v.Links)
	}
	for _, n := range v.Notes {
		c.note("%s", c.either(n.EN, n.KO))
	}
	return nil
}

func (c *console) vaultWrite() *cobra.Command {
	var in kernel.NoteWrite
	cmd := &cobra.Command{
		Use: "write NOTE FILE", Short: c.t("Write a note from a file; - is standard input", "파일의 내용으로 노트를 씁니다. -는 표준 입력"), Args: c.args(2, 2),
		Long: c.t("Writes a note from a file; - is standard input. A note that is there already is replaced only with --base, the hash that\n`vault read --json` gave: what somebody else wrote meanwhile is never lost.",
			"파일의 내용으로 노트를 씁니다. -는 표준 입력입니다. 이미 있는 노트는 `vault read --json`이 준 해시를 --base로 주어야 바꿉니다.\n그사이 다른 곳에서 쓴 내용을 잃지 않습니다."),
		RunE: c.linked(func(ctx context.Context, l *link, args []string) error {
			raw, err := c.readInput(args[1])
			if err != nil {
				return err
			}
			in.Path, in.Text = args[0], string(raw)
			return c.changedNote(l.Knowledge.Write(ctx, in))
		}),
	}
	cmd.Flags().StringVar(&in.Base, "base", "", c.t("the hash of the note that the text was made from", "고치기 전 노트의 해시"))
	return c.withJSON(cmd)
}

func (c *console) vaultAppend() *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use: "append NOTE TEXT", Short: c.t("Add a text to the end of a note", "노트 끝에 글을 더합니다"), Args: c.args(2, 2),
		RunE: c.linked(func(ctx context.Context, l *link, args []string) error {
			return c.changedNote(l.Knowledge.Append(ctx, args[0], args[1]))
		}),
	})
}

func (c *console) vaultAttach() *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use: "attach FILE", Short: c.t("Copy a file into the vault, for notes to show", "노트에 보일 파일을 저장소로 복사합니다"), Args: c.args(1, 1),
		Long: c.t("Copies a file into attachments/ of the vault and prints its path there: a note shows it as ![[NAME]]. Nothing is\noverwritten: a name that is taken gets a number.",
			"파일을 저장소의 attachments/로 복사하고 그 경로를 출력합니다. 노트에서는 ![[이름]]으로 보입니다. 덮어쓰지 않고\n이름이 겹치면 번호를 붙입니다."),
		RunE: c.linked(func(ctx context.Context, l *link, args []string) error {
			path, err := c.absolute(args[0])
			if err != nil {
				return err
			}
			v, err := l.Knowledge.Attach(ctx, kernel.VaultAttach{Path: path})
			if err != nil {
				return err
			}
			if c.json {
				return c.writeJSON(v)
			}
			c.printf("%s", oneLine(v.Path))
			return nil
		}),
	})
}

func (c *console) vaultMove() *cobra.Command {
	var dry bool
	cmd := &cobra.Command{
		Use: "move FROM TO", Short: c.t("Rename or move a note or a folder, and rewrite all links to it", "노트나 폴더를 옮기고 모든 링크를 고칩니다"), Args: c.args(2, 2),
		RunE: c.linked(func(ctx context.Context, l *link, args []string) error {
			if dry {
				return c.printMove(l.Knowledge.MovePreview(ctx, args[0], args[1]))
			}
			return c.changedNote(l.Knowledge.Move(ctx, args[0], args[1]))
		}),
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, c.t("only say what would be rewritten", "무엇을 고칠지만 보여 줍니다"))
	return c.withJSON(cmd)
}

func (c *console) vaultDelete() *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use: "delete NOTE", Short: c.t("Delete a note", "노트를 지웁니다"), Args: c.args(1, 1),
		RunE: c.linked(func(ctx context.Context, l *link, args []string) error {
			return c.changedNote(l.Knowledge.Delete(ctx, args[0], ""))
		}),
	})
}

func (c *console) vaultMkdir() *cobra.Command {
	return &cobra.Command{
		Use: "mkdir FOLDER", Short: c.t("Make a folder for notes", "노트 폴더를 만듭니다"), Args: c.args(1, 1),
		RunE: c.linked(func(ctx context.Context, l *link, args []string) error {
			_, err := l.Knowledge.MakeFolder(ctx, args[0])
			return err
		}),
	}
}

func (c *console) vaultRmdir() *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use: "rmdir FOLDER", Short: c.t("Put a folder with all its notes into the trash", "폴더와 그 안의 노트를 모두 휴지통에 버립니다"), Args: c.args(1, 1),
		RunE: c.linked(func(ctx context.Context, l *link, args []string) error {
			out, err := l.Knowledge.RemoveFolder(ctx, args[0])
			if err != nil {
				return err
			}
			if c.json {
				return c.writeJSON(out)
			}
			c.note(c.t("%d files are in the trash.", "파일 %d개가 휴지통에 있습니다."), len(out.Trash))
			return nil
		}),
	})
}

// vaultHits lists notes that were found.
func (c *console) vaultHits(hits []kernel.VaultHit) error {
	head := []string{c.t("NOTE", "노트"), c.t("LINE", "줄"), ""}
	return list(c, hits, c.t("No note fits.", "맞는 노트가 없습니다."), head, func(h kernel.VaultHit) []string {
		return []string{oneLine(h.Path), fmt.Sprint(h.Line), short(h.Snippet, 90)}
	})
}

func (c *console) vaultSearch() *cobra.Command {
	var k int
	cmd := &cobra.Command{
		Use: "search WORDS", Short: c.t("Search the text of notes", "노트의 내용을 찾습니다"), Args: c.args(1, 1),
		Long: c.t("Searches the text of notes. \"A phrase\" stands together, tag:x and path:x narrow it.", "노트의 내용을 찾습니다. \"문구\"는 그대로, tag:x와 path:x는 범위를 좁힙니다."),
		RunE: c.linked(func(ctx context.Context, l *link, args []string) error {
			hits, err := l.Knowledge.Search(ctx, args[0], k)
			if err != nil {
				return err
			}
			return c.vaultHits(hits)
		}),
	}
	cmd.Flags().IntVarP(&k, "k", "k", 20, c.t("how many at most", "최대 개수"))
	return c.withJSON(cmd)
}

func (c *console) vaultFind() *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use: "find NAME", Short: c.t("Find a note by its name; Korean initials do", "이름으로 노트를 찾습니다. 초성도 됩니다"), Args: c.args(1, 1),
		RunE: c.linked(func(ctx context.Context, l *link, args []string) error {
			hits, err := l.Knowledge.Find(ctx, args[0], 20)
			if err != nil {
				return err
			}
			return c.vaultHits(hits)
		}),
	})
}

func (c *console) vaultBacklinks() *cobra.Command {
	var unlinked bool
	cmd := &cobra.Command{
		Use: "backlinks NOTE", Short: c.t("Show what links to a note", "노트를 가리키는 링크를 봅니다"), Args: c.args(1, 1),
		RunE: c.linked(func(ctx context.Context, l *link, args []string) error {
			find, none := l.Knowledge.Backlinks, c.t("Nothing links to it.", "가리키는 링크가 없습니다.")
			if unlinked {
				find, none = l.Knowledge.Unlinked, c.t("No other note names it without a link.", "링크 없이 언급한 노트가 없습니다.")
			}
			all, err := find(ctx, args[0])
			if err != nil {
				return err
			}
			head := []string{c.t("NOTE", "노트"), c.t("LINE", "줄"), ""}
			return list(c, all, none, head, func(b kernel.VaultBacklink) []string {
				return []string{oneLine(b.Path), fmt.Sprint(b.Line), short(b.Text, 90)}
			})
		}),
	}
	cmd.Flags().BoolVar(&unlinked, "unlinked", false, c.t("what names it without a link instead", "링크 없이 언급한 곳을 봅니다"))
	return c.withJSON(cmd)
}

func (c *console) vaultTasks() *cobra.Command {
	var q kernel.VaultTaskQuery
	cmd := &cobra.Command{
		Use: "tasks", Short: c.t("List the items of checklists", "체크리스트의 항목을 봅니다"), Args: c.args(0, 0),
		RunE: c.linked(func(ctx context.Context, l *link, _ []string) error {
			all, err := l.Knowledge.Tasks(ctx, q)
			if err != nil {
				return err
			}
			head := []string{"", c.t("ITEM", "항목"), c.t("NOTE", "노트"), c.t("LINE", "줄")}
			return list(c, all, c.t("There is no item.", "항목이 없습니다."), head, func(t kernel.VaultTask) []string {
				return []string{"[" + t.Mark + "]", short(t.Text, 70), oneLine(t.Path), fmt.Sprint(t.Line)}
			})
		}),
	}
	f := cmd.Flags()
	f.BoolVar(&q.Open, "open", false, c.t("only open ones", "끝나지 않은 것만"))
	f.StringVar(&q.Path, "path", "", c.t("in this note or folder", "이 노트나 폴더에서"))
	f.StringVar(&q.Tag, "tag", "", c.t("with this tag", "이 태그가 있는 것"))
	return c.withJSON(cmd)
}

func (c *console) vaultTags() *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use: "tags", Short: c.t("List the tags", "태그를 봅니다"), Args: c.args(0, 0),
		RunE: c.linked(func(ctx context.Context, l *link, _ []string) error {
			all, err := l.Knowledge.Tags(ctx)
			if err != nil {
				return err
			}
			return list(c, all, c.t("There is no tag.", "태그가 없습니다."), []string{c.t("TAG", "태그"), c.t("NOTES", "노트")}, func(t kernel.VaultTag) []string {
				return []string{"#" + oneLine(t.Tag), fmt.Sprint(t.Count)}
			})
		}),
	})
}

func (c *console) vaultJournal() *cobra.Command {
	var date string
	cmd := &cobra.Command{
		Use: "journal [TEXT]", Short: c.t("Write in today's journal", "오늘의 일지에 씁니다"), Args: c.args(0, 1),
		RunE: c.linked(func(ctx context.Context, l *link, args []string) error {
			return c.changedNote(l.Knowledge.Journal(ctx, date, strings.Join(args, "")))
		}),
	}
	cmd.Flags().StringVar(&date, "date", "", c.t("another day, like 2026-11-23", "다른 날. 예: 2026-11-23"))
	return c.withJSON(cmd)
}

func (c *console) vaultCheck() *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use: "check", Short: c.t("Look for broken links and files that cannot be read", "끊어진 링크와 읽을 수 없는 파일을 찾습니다"), Args: c.args(0, 0),
		RunE: c.linked(func(ctx context.Context, l *link, _ []string) error {
			all, err := l.Knowledge.Check(ctx)
			if err != nil {
				return err
			}
			head := []string{c.t("NOTE", "노트"), c.t("LINE", "줄"), ""}
			return list(c, all, c.t("Nothing is wrong.", "문제가 없습니다."), head, func(i kernel.VaultIssue) []string {
				return []string{oneLine(i.Path), fmt.Sprint(i.Line), short(c.either(i.Text.EN, i.Text.KO), 120)}
			})
		}),
	})
}

func (c *console) vaultImport() *cobra.Command {
	var beside, dry bool
	cmd := &cobra.Command{
		Use: "import FOLDER", Short: c.t("Copy the notes of a folder, as an Obsidian vault, into yours", "Obsidian 폴더 같은 폴더의 노트를 복사해 옵니다"), Args: c.args(1, 1),
		Long: c.t("Copies the notes of a folder into yours. Nothing is overwritten and nothing in the folder is changed. To use a folder in\nplace instead, set `oxios config set vault_folder FOLDER`.",
			"폴더의 노트를 복사해 옵니다. 덮어쓰지 않고 원래 폴더도 바꾸지 않습니다. 폴더를 그대로 쓰려면\n`oxios config set vault_folder FOLDER`로 정하세요."),
		RunE: c.linked(func(ctx context.Context, l *link, args []string) error {
			dir, err := c.absolute(args[0])
			if err != nil {
				return err
			}
			do, done := l.Knowledge.Import, c.t("Copied %d files; %d were here already.", "파일 %d개를 복사했습니다. %d개는 이미 있었습니다.")
			if dry {
				do, done = l.Knowledge.ImportPreview, c.t("Would copy %d files; %d are here already.", "파일 %d개를 복사할 예정입니다. %d개는 이미 있습니다.")
			}
			r, err := do(ctx, dir, beside)
			if err != nil {
				return err
			}
			if c.json {
				return c.writeJSON(r)
			}
			c.printf(done, r.Copied, r.Same)
			for _, x := range r.Clashes {
				c.note(c.t("The name is taken: %s", "이름이 이미 있습니다: %s"), oneLine(x.Path))
			}
			for _, x := range r.Left {
				c.note("%s: %s", oneLine(x.Path), c.either(x.Text.EN, x.Text.KO))
			}
			return nil
		}),
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, c.t("only say what would be copied", "무엇을 복사할지만 보여 줍니다"))
	cmd.Flags().BoolVar(&beside, "beside", false, c.t("copy what has a taken name under another one", "이름이 겹치는 것은 다른 이름으로 복사합니다"))
	return c.withJSON(cmd)
}
