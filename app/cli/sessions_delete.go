package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"oxios/kernel"
)

func (c *console) sessionsDelete() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use: "delete ID", Short: c.t("Delete a conversation for good", "대화를 영구히 삭제합니다"), Args: c.args(1, 1),
		Long: c.t("Deletes a conversation with its messages and steps, and says what remains: files that its agents wrote,\nthe audit record, and copies that were made before.",
			"대화와 메시지, 단계를 삭제하고 무엇이 남는지 알려 줍니다: 에이전트가 쓴 파일, 감사 기록,\n그리고 전에 만들어 둔 사본."),
		RunE: c.onSession(func(ctx context.Context, l *link, id string, _ []string) error {
			d, err := l.State.Deletion(ctx, id)
			if err != nil {
				return err
			}
			title := short(d.Title, 60)
			if !yes {
				c.leftBehind(d)
				question := fmt.Sprintf(c.t("Delete %q with %d messages for good?", "%q(메시지 %d개)을(를) 영구히 삭제할까요?"), title, d.Messages)
				if others := d.Branches - 1; others > 0 {
					question += fmt.Sprintf(c.t(" Its other branches go too: %d.", " 다른 갈래 %d개도 함께 삭제됩니다."), others)
				}
				if err := c.sure(question); err != nil {
					return err
				}
			}
			if d, err = l.State.DeleteSession(ctx, id); err != nil {
				return err
			}
			if c.json {
				return c.writeJSON(d)
			}
			if d.Erased {
				c.printf(c.t("%q was deleted. Its text is gone from the database.", "%q을(를) 삭제했습니다. 데이터베이스에 그 내용이 남아 있지 않습니다."), title)
			} else {
				c.printf(c.t("%q was deleted. Its text can still stand in the log of the database until Oxios ends.", "%q을(를) 삭제했습니다. Oxios를 끝낼 때까지 데이터베이스의 로그에 내용이 남아 있을 수 있습니다."), title)
			}
			if yes {
				c.leftBehind(d)
			}
			return nil
		}),
	}
	cmd.Flags().BoolVar(&yes, "yes", false, c.t("do not ask", "묻지 않습니다"))
	return c.withJSON(cmd)
}

// leftBehind says what a deletion does not take away.
func (c *console) leftBehind(d kernel.Deletion) {
	if d.FileCount > 0 {
		more := ""
		if d.FileCount > len(d.Files) {
			more = ", …"
		}
		c.note(c.t("Files that it wrote stay (%d): %s%s", "이 대화가 쓴 파일은 남습니다(%d개): %s%s"), d.FileCount, oneLine(strings.Join(d.Files, ", ")), more)
	}
	c.note(c.t("The audit record keeps %d entries: what was done and decided (commands, file names, comments), not the messages.", "감사 기록 %d개는 남습니다. 한 일과 결정(명령, 파일 이름, 의견)이며, 메시지는 아닙니다."), d.AuditEntries)
	if len(d.Copies) > 0 {
		c.note(c.t("Older copies of the database may still hold it; `oxios storage --clean copies` removes them: %s", "전에 만든 데이터베이스 사본에는 남아 있을 수 있습니다. `oxios storage --clean copies`로 지울 수 있습니다: %s"), oneLine(strings.Join(d.Copies, ", ")))
	}
	c.note("%s", c.t("So do backups that you made.", "직접 만든 백업에도 남아 있습니다."))
}
