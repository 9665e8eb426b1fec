package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"oxios/kernel"
	"oxios/kernel/sys"
)

// shortVersion is how many letters of a version's id are shown.
const shortVersion = 10

func (c *console) vaultHistory() *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use: "history NOTE", Short: c.t("List the versions of a note", "노트의 버전을 봅니다"), Args: c.args(1, 1),
		Long: c.t("Lists how a note was before, the newest first. `oxios vault read NOTE --version ID` prints one of them. A note that was\ndeleted is named by its path.",
			"노트의 이전 버전을 새것부터 봅니다. `oxios vault read NOTE --version ID`로 내용을 봅니다. 지운 노트는 경로로\n지정합니다."),
		RunE: c.linked(func(ctx context.Context, l *link, args []string) error {
			h, err := l.Knowledge.History(ctx, args[0])
			if err != nil {
				return err
			}
			if c.json {
				return c.writeJSON(h)
			}
			head := []string{c.t("VERSION", "버전"), c.t("WHEN", "때"), c.t("LINES", "줄"), c.t("BY", "누가"), ""}
			err = list(c, h.Versions, c.t("There is no version.", "버전이 없습니다."), head, func(v kernel.VaultVersion) []string {
				who, now := c.t("you, or another program", "나 또는 다른 프로그램"), ""
				switch {
				case v.RunID != "":
					who = fmt.Sprintf(c.t("run %s", "실행 %s"), tail(v.RunID))
				case v.Found:
					who = c.t("as an agent found it", "에이전트가 바꾸기 전")
				}
				if v.Now {
					now = c.t("now", "지금")
				}
				return []string{v.ID[:min(shortVersion, len(v.ID))], v.At.Local().Format("2006-01-02 15:04:05"), fmt.Sprintf("+%d −%d", v.Added, v.Removed), who, now}
			})
			if h.More {
				c.note("%s", c.t("There are older ones.", "더 오래된 버전이 있습니다."))
			}
			if !h.Kept {
				c.note(c.t("It lies in a folder of yours, where Oxios keeps no history: these are what agents changed in the last %d days.",
					"직접 정한 폴더라 Oxios가 이력을 남기지 않습니다. 최근 %d일 동안 에이전트가 바꾼 것만 보입니다."), h.Days)
			}
			return err
		}),
	})
}

func (c *console) printVersion(v kernel.VaultText, err error) error {
	switch {
	case err != nil:
		return err
	case c.json:
		return c.writeJSON(v)
	}
	c.printf("%s", strings.TrimSuffix(safe(v.Text), "\n"))
	return nil
}

// printMove says what a rename would do.
func (c *console) printMove(m kernel.VaultMove, err error) error {
	if err != nil {
		return err
	}
	if c.json {
		return c.writeJSON(m)
	}
	c.printf(c.t("%s would become %s. Nothing was changed.", "%s을(를) %s(으)로 옮기게 됩니다. 아무것도 바꾸지 않았습니다."), oneLine(m.From), oneLine(m.To))
	c.note(c.t("Links that would be rewritten: %d", "고칠 링크: %d"), m.Links)
	for _, n := range m.In {
		c.note("  %s: %d", oneLine(n.Path), n.Links)
	}
	for _, n := range m.Notes {
		c.note("%s", c.either(n.EN, n.KO))
	}
	return nil
}

func (c *console) vaultTrash() *cobra.Command {
	g := c.withJSON(&cobra.Command{
		Use: "trash", Short: c.t("List what was deleted and can come back", "지웠지만 되돌릴 수 있는 것을 봅니다"), Args: c.args(0, 0),
		RunE: c.linked(func(ctx context.Context, l *link, _ []string) error {
			all, err := l.Knowledge.Trash(ctx)
			if err != nil {
				return err
			}
			head := []string{"ID", c.t("WHERE IT LAY", "있던 곳"), c.t("SIZE", "크기"), c.t("WHEN", "때"), c.t("BY", "누가")}
			return list(c, all, c.t("The trash is empty.", "휴지통이 비어 있습니다."), head, func(t kernel.VaultTrashed) []string {
				who := c.t("you", "나")
				if t.RunID != "" {
					who = fmt.Sprintf(c.t("run %s", "실행 %s"), tail(t.RunID))
				}
				return []string{tail(t.ID), oneLine(t.Path), sizeText(t.Size), ago(t.At), who}
			})
		}),
	})
	g.AddCommand(c.vaultTrashRestore(), c.vaultTrashForget())
	return g
}

// trashed finds what lies in the trash by an id, its end, or its path.
func (c *console) trashed(all []kernel.VaultTrashed, name string) (kernel.VaultTrashed, error) {
	for _, t := range all { // the newest of that path
		if t.Path == name || t.Path == name+".md" {
			return t, nil
		}
	}
	return find(c, c.t("file of the trash", "휴지통의 파일"), "oxios vault trash", name, all, func(t kernel.VaultTrashed) string { return t.ID })
}

func (c *console) vaultTrashRestore() *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use: "restore ID", Short: c.t("Put a file back where it lay", "파일을 있던 곳으로 되돌립니다"), Args: c.args(1, 1),
		RunE: c.linked(func(ctx context.Context, l *link, args []string) error {
			all, err := l.Knowledge.Trash(ctx)
			if err != nil {
				return err
			}
			t, err := c.trashed(all, args[0])
			if err != nil {
				return err
			}
			return c.changedNote(l.Knowledge.Restore(ctx, t.ID))
		}),
	})
}

func (c *console) vaultTrashForget() *cobra.Command {
	var every, yes bool
	cmd := &cobra.Command{
		Use: "forget [ID]", Short: c.t("Delete a file of the trash for good, or with --all every one", "휴지통의 파일을 완전히 삭제합니다. --all은 모두"), Args: c.args(0, 1),
		RunE: c.linked(func(ctx context.Context, l *link, args []string) error {
			if every == (len(args) == 1) {
				return usage(c.fail(sys.CodeInvalid, c.t("Name one file of the trash, or say --all. Nothing was changed.", "휴지통의 파일 하나를 지정하거나 --all을 붙이세요. 아무것도 바꾸지 않았습니다."), ""))
			}
			all, err := l.Knowledge.Trash(ctx)
			if err != nil {
				return err
			}
			if !every {
				t, err := c.trashed(all, args[0])
				if err != nil {
					return err
				}
				all = []kernel.VaultTrashed{t}
			}
			ids := make([]string, len(all))
			for i, t := range all {
				ids[i] = t.ID
			}
			if len(ids) > 0 && !yes {
				if err := c.sure(fmt.Sprintf(c.t("Delete %d files for good?", "파일 %d개를 완전히 삭제할까요?"), len(ids))); err != nil {
					return err
				}
			}
			done, err := l.Knowledge.Forget(ctx, ids)
			if err != nil {
				return err
			}
			if c.json {
				return c.writeJSON(done)
			}
			c.printf(c.t("Deleted for good: %d", "완전히 삭제함: %d"), done.Files)
			for _, n := range done.Notes {
				c.note("%s", c.either(n.EN, n.KO))
			}
			return nil
		}),
	}
	cmd.Flags().BoolVar(&every, "all", false, c.t("all that lies in the trash", "휴지통에 있는 모든 것"))
	cmd.Flags().BoolVar(&yes, "yes", false, c.t("do not ask", "묻지 않습니다"))
	return c.withJSON(cmd)
}

func (c *console) vaultGraph() *cobra.Command {
	var q kernel.VaultGraphOf
	cmd := &cobra.Command{
		Use: "graph [NOTE]", Short: c.t("Show who links to whom, around a note or in the whole vault", "노트 둘레나 전체에서 어떤 노트가 어디로 링크하는지 봅니다"), Args: c.args(0, 1),
		RunE: c.linked(func(ctx context.Context, l *link, args []string) error {
			q.Path = strings.Join(args, "")
			g, err := l.Knowledge.Graph(ctx, q)
			if err != nil {
				return err
			}
			if c.json {
				return c.writeJSON(g)
			}
			name := func(at int) string {
				n := g.Nodes[at]
				if n.Missing {
					return fmt.Sprintf(c.t("%s (missing)", "%s (없음)"), oneLine(n.Path))
				}
				return oneLine(n.Path)
			}
			head := []string{c.t("NOTE", "노트"), c.t("LINKS TO", "링크하는 곳")}
			err = list(c, g.Edges, c.t("There is no link.", "링크가 없습니다."), head, func(e kernel.VaultEdge) []string {
				return []string{name(e.From), name(e.To)}
			})
			if g.Left > 0 {
				c.note(c.t("%d more notes are left out.", "노트 %d개는 뺐습니다."), g.Left)
			}
			return err
		}),
	}
	cmd.Flags().IntVar(&q.Depth, "depth", 1, c.t("how many links away from the note, 1 to 3", "노트에서 링크 몇 개까지, 1에서 3"))
	return c.withJSON(cmd)
}
