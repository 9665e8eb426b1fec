package cli

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"oxios/kernel"
	"oxios/kernel/sys"
)

// freed are the parts of which what is old can be freed.
var freed = []string{kernel.PartUndo, kernel.PartJournal}

func (c *console) storageFree() *cobra.Command {
	var before string
	var yes, try bool
	cmd := &cobra.Command{
		Use: "free undo|journal", Short: c.t("Free what is kept for undo or for replay", "되돌리기나 재생을 위해 보관한 것을 비웁니다"), Args: c.args(1, 1),
		Long: c.t("undo: what ended runs changed can no longer be undone. journal: what their tools gave and what their model thought goes, so that they can no\nlonger be replayed; what was said and done stays. What a run at work, its forks or a run that can be gone on with needs is kept.\nundo_days and journal_days free what is old by themselves.",
			"undo: 끝난 실행이 바꾼 것을 되돌릴 수 없게 됩니다. journal: 도구의 결과와 모델의 생각이 지워져 다시 재생할 수 없게 됩니다.\n말하고 한 일은 남습니다. 진행 중이거나 이어서 할 수 있는 실행에 필요한 것은 남깁니다.\nundo_days와 journal_days로 오래된 것을 저절로 비울 수 있습니다."),
		Example: "  oxios storage free undo --dry-run\n  oxios storage free journal --before 30d",
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(freed, args[0]) {
				return usage(c.fail(sys.CodeInvalid, fmt.Sprintf(c.t("%q cannot be freed. Nothing was changed.", "%q은(는) 비울 수 없습니다. 아무것도 바꾸지 않았습니다."), args[0]),
					c.t("What can be freed: undo, journal.", "비울 수 있는 것: undo, journal.")))
			}
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
			cut, err := l.Infra.FreeCut(cmd.Context(), args[0], at)
			if err != nil {
				return err
			}
			return c.free(cmd.Context(), l, cut, yes, try)
		},
	}
	cmd.Flags().StringVar(&before, "before", "", c.t("of runs that ended before this `time`, like 30d or 2026-01-01", "이 `시각` 전에 끝난 실행의 것 (30d, 2026-01-01 등)"))
	cmd.Flags().BoolVar(&try, "dry-run", false, c.t("only show what would go", "무엇이 지워질지만 봅니다"))
	cmd.Flags().BoolVar(&yes, "yes", false, c.t("do not ask", "묻지 않습니다"))
	return c.withJSON(cmd)
}

func (c *console) free(ctx context.Context, l *link, cut kernel.FreeCut, yes, try bool) error {
	switch {
	case try && c.json:
		return c.writeJSON(cut)
	case c.json:
	case cut.Runs == 0 && cut.Part == kernel.PartJournal:
		c.note("%s", c.t("There is nothing to free. Nothing was changed.", "비울 것이 없습니다. 아무것도 바꾸지 않았습니다."))
		return nil
	default:
		c.note("%s", c.cutText(cut))
	}
	if try {
		return nil
	}
	if !yes {
		if err := c.sure(c.t("Free it? This cannot be undone.", "비울까요? 되돌릴 수 없습니다.")); err != nil {
			return err
		}
	}
	done, err := l.Infra.Free(ctx, cut.Part, cut.Before)
	if err != nil {
		return err
	}
	if c.json {
		return c.writeJSON(done)
	}
	c.printf(c.t("%s freed. The home now takes %s.", "%s 비웠습니다. 데이터 폴더는 이제 %s입니다."), sizeText(done.Freed), sizeText(done.Storage.Bytes))
	return nil
}

// cutText says what can no longer be done then.
func (c *console) cutText(cut kernel.FreeCut) string {
	if cut.Part == kernel.PartUndo {
		return fmt.Sprintf(c.t("%d runs with %d files can no longer be undone; at most %s go.", "실행 %d개(파일 %d개)를 더는 되돌릴 수 없게 됩니다. 최대 %s를 비웁니다."), cut.Runs, cut.Files, sizeText(cut.Bytes))
	}
	return fmt.Sprintf(c.t("%d runs can no longer be replayed; of %d steps goes what they gave, about %s.", "실행 %d개를 더는 재생할 수 없게 됩니다. 단계 %d개의 결과, 약 %s를 비웁니다."), cut.Runs, cut.Steps, sizeText(cut.Bytes))
}
