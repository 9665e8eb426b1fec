package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"oxios/kernel"
)

func (c *console) auditPrune() *cobra.Command {
	var before string
	var yes, try bool
	cmd := &cobra.Command{
		Use: "prune", Short: c.t("Take old records out, behind a signed root", "오래된 기록을 서명된 뿌리만 남기고 정리합니다"), Args: c.args(0, 0),
		Long: c.t("Takes out what is older than a time. Where none is named, what audit_days and audit_max_entries do not keep. A signed root stands for it, so that the rest can still be verified. Export the record first if you may need it: this cannot be undone.",
			"정한 시각보다 오래된 기록을 지웁니다. 시각을 정하지 않으면 audit_days와 audit_max_entries를 넘는 기록을 지웁니다. 서명된 뿌리가 그것을 대신하므로 남은 기록은 계속 검증할 수 있습니다. 되돌릴 수 없으니, 필요할 수 있다면 먼저 내보내세요."),
		Example: "  oxios audit prune --before 2026-01-01\n  oxios audit prune --before 365d --dry-run",
		RunE: func(cmd *cobra.Command, _ []string) error {
			var at time.Time
			if before != "" {
				var err error
				if at, err = c.moment(before); err != nil {
					return err
				}
			}
			l, err := c.connect(cmd.Context())
			if err != nil {
				return err
			}
			defer l.close()
			cut, err := l.Security.AuditCut(cmd.Context(), at)
			if err != nil {
				return err
			}
			return c.prune(cmd.Context(), l, cut, yes, try)
		},
	}
	cmd.Flags().StringVar(&before, "before", "", c.t("what is older than this `time`, like 365d or 2026-01-01", "이 `시각`보다 오래된 것 (365d, 2026-01-01 등)"))
	cmd.Flags().BoolVar(&try, "dry-run", false, c.t("only show what would go", "무엇이 정리될지만 봅니다"))
	cmd.Flags().BoolVar(&yes, "yes", false, c.t("do not ask", "묻지 않습니다"))
	return c.withJSON(cmd)
}

func (c *console) prune(ctx context.Context, l *link, cut kernel.AuditCut, yes, try bool) error {
	day := func(t time.Time) string { return t.Local().Format(time.DateOnly) }
	switch {
	case cut.Through == 0 && !c.json:
		c.note("%s", c.t("No record is that old. Nothing was changed.", "그렇게 오래된 기록이 없습니다. 아무것도 바꾸지 않았습니다."))
		return nil
	case cut.Through == 0 || try && c.json:
		return c.writeJSON(cut)
	}
	if !c.json {
		c.note(c.t("Records up to %d, of %s to %s: %d of them, about %s. %d stay.", "%d번까지의 기록(%s ~ %s): %d개, 약 %s. %d개가 남습니다."),
			cut.Through, day(cut.Since), day(cut.Until), cut.Entries, sizeText(cut.Bytes), cut.Left)
	}
	if try {
		return nil
	}
	if !yes {
		if err := c.sure(c.t("Take them out? This cannot be undone.", "지울까요? 되돌릴 수 없습니다.")); err != nil {
			return err
		}
	}
	done, err := l.Security.PruneAudit(ctx, cut.Through)
	if err != nil {
		return err
	}
	if c.json {
		return c.writeJSON(done)
	}
	c.printf(c.t("%d records were pruned. A signed root stands for them.", "기록 %d개를 정리했습니다. 서명된 뿌리가 그것을 대신합니다."), done.Entries)
	return nil
}
