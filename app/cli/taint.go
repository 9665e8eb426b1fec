package cli

import (
	"context"

	"github.com/spf13/cobra"

	"oxios/kernel"
)

func (c *console) taintCommand() *cobra.Command {
	return c.group("taint", "Where what agents have read came from", "에이전트가 읽은 것의 출처",
		c.taintList(), c.taintTrust(true), c.taintTrust(false))
}

func (c *console) taintList() *cobra.Command {
	var run string
	cmd := &cobra.Command{
		Use: "list", Short: c.t("List what agents have read that is not to be trusted, or private", "에이전트가 읽은 것 중 신뢰할 수 없거나 사적인 것을 봅니다"), Args: c.args(0, 0),
		Long: c.t("Lists the files that agents wrote after they had read something from outside or something private, and what you have said is to be trusted. With --run it lists what a run has read of that.",
			"에이전트가 밖에서 온 것이나 사적인 것을 읽은 뒤 쓴 파일과, 신뢰한다고 한 것을 봅니다. --run을 쓰면 그 실행이 읽은 것을 봅니다."),
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := c.connect(cmd.Context())
			if err != nil {
				return err
			}
			defer l.close()
			items, err := l.Security.Labels(cmd.Context(), kernel.LabelQuery{RunID: run})
			if err != nil {
				return err
			}
			head := []string{"ID", c.t("KIND", "종류"), c.t("TRUSTED", "신뢰"), c.t("WHAT", "내용")}
			return list(c, items, c.t("Nothing carries a label.", "표시된 것이 없습니다."), head, func(i kernel.LabelInfo) []string {
				return []string{i.ID, c.labelKind(i.Label), map[bool]string{true: c.t("yes", "예"), false: "–"}[i.Ended], short(c.either(i.Text, i.TextKO), 100)}
			})
		},
	}
	cmd.Flags().StringVar(&run, "run", "", c.t("what this run has read", "이 실행이 읽은 것을 봅니다"))
	return c.withJSON(cmd)
}

func (c *console) labelKind(l kernel.Label) string {
	switch {
	case l.Untrusted && l.Sensitive:
		return c.t("from outside, private", "밖에서 옴, 사적")
	case l.Sensitive:
		return c.t("private", "사적")
	}
	return c.t("from outside", "밖에서 옴")
}

// taintTrust says that what a label is of is to be trusted, or takes that back.
func (c *console) taintTrust(trusted bool) *cobra.Command {
	cmd := &cobra.Command{
		Use: "trust ID", Short: c.t("Say that something that was read is to be trusted", "읽은 것을 신뢰한다고 합니다"), Args: c.args(1, 1),
		Long: c.t("Says that something that was read is to be trusted, as it is now. Runs that have read it are freed of its label at once; when it changes it has a new one.",
			"읽은 것을 지금 그대로 신뢰한다고 합니다. 그것을 읽은 실행에서 표시가 바로 사라지고, 내용이 바뀌면 다시 표시됩니다."),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.setTrust(cmd.Context(), args[0], trusted)
		},
	}
	if !trusted {
		cmd.Use, cmd.Short = "doubt ID", c.t("Take back that something is to be trusted", "신뢰를 취소합니다")
		cmd.Long = c.t("Takes back that something is to be trusted. Runs that have read it carry its label again.", "신뢰를 취소합니다. 그것을 읽은 실행에 다시 표시됩니다.")
	}
	return c.withJSON(cmd)
}

func (c *console) setTrust(ctx context.Context, id string, trusted bool) error {
	l, err := c.connect(ctx)
	if err != nil {
		return err
	}
	defer l.close()
	i, err := l.Security.TrustLabel(ctx, id, trusted)
	if err != nil {
		return err
	}
	if c.json {
		return c.writeJSON(i)
	}
	said := c.t("is to be trusted as it is.", "– 지금 그대로 신뢰합니다.")
	if !trusted {
		said = c.t("is not trusted any more.", "– 이제 신뢰하지 않습니다.")
	}
	c.printf("%s: %s %s", id, oneLine(c.either(i.Text, i.TextKO)), said)
	return nil
}
