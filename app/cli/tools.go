package cli

import (
	"context"

	"github.com/spf13/cobra"

	"oxios/kernel"
)

func (c *console) toolsCommand() *cobra.Command {
	return c.group("tools", "What agents can use", "에이전트가 쓸 수 있는 도구",
		c.toolsList(), c.toolsFind(),
		c.toolsSet("on", "Let agents use a tool, from their next run on", "다음 실행부터 도구를 쓰게 합니다", true),
		c.toolsSet("off", "Keep a tool from agents, from their next run on", "다음 실행부터 도구를 못 쓰게 합니다", false))
}

func (c *console) onOff(on bool) string {
	if on {
		return c.t("on", "켜짐")
	}
	return c.t("off", "꺼짐")
}

func (c *console) toolsList() *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use: "list", Short: c.t("List the tools", "도구를 봅니다"), Args: c.args(0, 0),
		RunE: c.linked(func(ctx context.Context, l *link, _ []string) error {
			items, err := l.Security.Tools(ctx)
			if err != nil {
				return err
			}
			head := []string{c.t("TOOL", "도구"), "", c.t("WHAT IT DOES", "하는 일")}
			return list(c, items, c.t("There is no tool.", "도구가 없습니다."), head, func(t kernel.ToolInfo) []string {
				return []string{t.Name, c.onOff(t.On), short(t.Description, 90)}
			})
		}),
	})
}

func (c *console) toolsSet(use, en, ko string, on bool) *cobra.Command {
	return &cobra.Command{
		Use: use + " NAME", Short: c.t(en, ko), Args: c.args(1, 1),
		RunE: c.linked(func(ctx context.Context, l *link, args []string) error {
			if err := l.Security.SetTool(ctx, args[0], on); err != nil {
				return err
			}
			c.printf("%s: %s", args[0], c.onOff(on))
			return nil
		}),
	}
}
