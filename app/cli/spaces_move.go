package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"oxios/kernel"
)

func (c *console) spacesMove() *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use: "move SPACE CONVERSATION...", Short: c.t("Move conversations into a space, which learns from it", "대화를 공간으로 옮깁니다. 공간이 그것에서 배웁니다"), Args: c.args(2, -1),
		Long: c.t("Moves conversations into a space, with what is remembered of them. Their words count for that space from then on.\n\"default\" is the default space.",
			"대화를 그에 대한 기억과 함께 공간으로 옮깁니다. 이제부터 그 대화의 말은 그 공간의 것으로 칩니다.\n\"default\"는 기본 공간입니다."),
		RunE: c.linked(func(ctx context.Context, l *link, args []string) error {
			ids := make([]string, len(args)-1)
			for i, one := range args[1:] {
				var err error
				if ids[i], err = c.sessionID(ctx, l, one); err != nil {
					return err
				}
			}
			moved, err := l.Space.Move(ctx, ids, args[0])
			if err != nil {
				return err
			}
			if c.json {
				return c.writeJSON(moved)
			}
			for _, s := range moved {
				c.printf("%s %s: %s", tail(s.ID), short(s.Title, 60), c.t("moved.", "옮겼습니다."))
			}
			return nil
		}),
	})
}

func (c *console) spacesDetect() *cobra.Command {
	var folder string
	cmd := &cobra.Command{
		Use: "detect TEXT", Short: c.t("Say which space a message would go to, and why", "메시지가 어느 공간으로 갈지와 까닭을 봅니다"), Args: c.args(1, 1),
		RunE: c.linked(func(ctx context.Context, l *link, args []string) error {
			if err := c.here(&folder); err != nil {
				return err
			}
			d, err := l.Space.Detect(ctx, args[0], folder)
			if err != nil {
				return err
			}
			if c.json {
				return c.writeJSON(d)
			}
			if d.Space == "" {
				c.printf("%s", c.t("The default space: nothing speaks for another one.", "기본 공간: 다른 공간이라고 볼 것이 없습니다."))
				return nil
			}
			why := map[string]string{"path": c.t("a path", "경로"), "word": c.t("words", "단어"), "active": c.t("it is the active one", "활성 공간"), "topic": c.t("what it is about", "주제")}[d.Why]
			if d.Named != "" {
				why += ": " + d.Named
			}
			c.printf(c.t("%s (%s; sure to %.0f %%)", "%s (%s, 확실함 %.0f %%)"), safe(d.Tag), safe(why), 100*d.Sure)
			return nil
		}),
	}
	cmd.Flags().StringVar(&folder, "folder", "", c.t("the `folder` that it works in", "일할 `폴더`"))
	return c.withJSON(cmd)
}

func (c *console) spacesProposals() *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use: "proposals [CONVERSATION]", Short: c.t("Show what is proposed for a conversation, or which spaces could be merged", "대화에 대한 제안이나 합칠 만한 공간을 봅니다"), Args: c.args(0, 1),
		RunE: c.linked(func(ctx context.Context, l *link, args []string) (err error) {
			session := ""
			if len(args) > 0 {
				if session, err = c.sessionID(ctx, l, args[0]); err != nil {
					return err
				}
			}
			all, err := l.Space.Proposals(ctx, session)
			if err != nil {
				return err
			}
			return list(c, all, c.t("Nothing is proposed.", "제안이 없습니다."), []string{"ID", c.t("PROPOSAL", "제안")}, func(p kernel.SpaceProposal) []string {
				return []string{p.ID, c.either(p.Text, p.TextKO)}
			})
		}),
	})
}

func (c *console) spacesAnswer(use string, yes bool) *cobra.Command {
	var name string
	cmd := &cobra.Command{Use: use + " PROPOSAL", Args: c.args(1, 1), Short: c.t("Do what is proposed", "제안대로 합니다")}
	if yes {
		cmd.Flags().StringVar(&name, "name", "", c.t("the `name` of a new space, instead of the proposed one", "제안된 것 대신 쓸 새 공간의 `이름`"))
	} else {
		cmd.Short = c.t("Do not propose this again", "다시 제안하지 않게 합니다")
	}
	cmd.RunE = c.linked(func(ctx context.Context, l *link, args []string) error {
		space, err := l.Space.AnswerProposal(ctx, args[0], yes, name)
		if err != nil {
			return err
		}
		if c.json {
			return c.writeJSON(map[string]string{"space": space})
		}
		c.printf("%s", map[bool]string{true: c.t("Done.", "했습니다."), false: c.t("It is not proposed again.", "다시 제안하지 않습니다.")}[yes])
		return nil
	})
	return c.withJSON(cmd)
}

func (c *console) spacesMerge() *cobra.Command {
	check := false
	cmd := &cobra.Command{
		Use: "merge FROM INTO", Short: c.t("Move all that is in a space into another, and archive it", "한 공간의 모든 것을 다른 공간으로 옮기고 보관합니다"), Args: c.args(2, 2),
		RunE: c.linked(func(ctx context.Context, l *link, args []string) error {
			do := l.Space.Merge
			if check {
				do = l.Space.MergePreview
			}
			m, err := do(ctx, args[0], args[1])
			if err != nil {
				return err
			}
			if c.json {
				return c.writeJSON(m)
			}
			c.printf("%s → %s: %s", safe(m.FromName), safe(m.IntoName), c.moved(m))
			if m.Under > 0 {
				c.note(c.t("Of %d facts the other space has its own, which hold; these become their history.", "사실 %d개는 다른 공간의 것이 남고, 이것은 그 이전 내용이 됩니다."), m.Under)
			}
			if check {
				c.note(c.t("Nothing was changed.", "아무것도 바꾸지 않았습니다."))
			} else {
				c.note(c.t("Undo it with `oxios spaces unmerge %q`.", "`oxios spaces unmerge %q`로 되돌립니다."), m.FromName)
			}
			return nil
		}),
	}
	cmd.Flags().BoolVar(&check, "check", false, c.t("only say what would move", "무엇이 옮겨질지만 봅니다"))
	return c.withJSON(cmd)
}

func (c *console) moved(m kernel.SpaceMerge) string {
	return fmt.Sprintf(c.t("conversations %d, memories %d.", "대화 %d개, 기억 %d개."), m.Sessions, m.Memories)
}

func (c *console) spacesUnmerge() *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use: "unmerge SPACE", Short: c.t("Undo a merge: what was moved goes back", "합치기를 되돌립니다. 옮긴 것이 돌아갑니다"), Args: c.args(1, 1),
		RunE: c.linked(func(ctx context.Context, l *link, args []string) error {
			m, err := l.Space.Unmerge(ctx, args[0])
			if err != nil {
				return err
			}
			if c.json {
				return c.writeJSON(m)
			}
			c.printf("%s: %s %s", safe(m.FromName), c.t("restored.", "되살렸습니다."), c.moved(m))
			return nil
		}),
	})
}
