package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"oxios/kernel"
)

func (c *console) eventsCommand() *cobra.Command {
	var q kernel.EventQuery
	var follow bool
	cmd := &cobra.Command{
		Use: "events", Short: c.t("List what happened lately, and follow what happens", "최근 이벤트를 보거나 실시간으로 따라갑니다"), Args: c.args(0, 0),
		Long: c.t("Lists what happened since Oxios started, as far as it is kept, the oldest first: runs, steps, phases, approvals, memories, spaces, settings.\nThe audit record (`oxios audit`) is what lasts.\n\nWith --follow it goes on until Ctrl-C, and --json prints one document a line.",
			"Oxios가 시작된 뒤 일어난 일 가운데 남아 있는 것을 시간순으로 보여 줍니다: 실행, 단계, 승인, 기억, 공간, 설정.\n오래 보관되는 것은 감사 기록(`oxios audit`)입니다.\n\n--follow를 쓰면 Ctrl-C를 누를 때까지 계속 보여 주고, --json은 한 줄에 문서 하나씩 출력합니다."),
		Example: `  oxios events --kind run --kind approval
  oxios events --follow --json | jq .kind`,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.events(cmd, q, follow) },
	}
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, c.t("go on with what happens", "새 이벤트를 계속 보여 줍니다"))
	cmd.Flags().StringArrayVar(&q.Kinds, "kind", nil, c.t("only this `kind`, as run.ended, or all that begin with it, as run; may be repeated", "이 `종류`만 봅니다(예: run.ended, run이면 run으로 시작하는 모두). 여러 번 쓸 수 있습니다"))
	cmd.Flags().StringVar(&q.RunID, "run", "", c.t("only of this `run`", "이 `실행`의 것만 봅니다"))
	cmd.Flags().IntVar(&q.Limit, "limit", 50, c.t("the newest so `many`, at most 1000", "최근 `개수`(최대 1000)"))
	return c.withJSON(cmd)
}

// events is `oxios events`.
func (c *console) events(cmd *cobra.Command, q kernel.EventQuery, follow bool) error {
	ctx := cmd.Context()
	l, err := c.connect(ctx)
	if err != nil {
		return err
	}
	defer l.close()
	if q.RunID != "" {
		p, err := c.process(cmd, l, q.RunID)
		if err != nil {
			return err
		}
		q.RunID = p.ID
	}
	// What happens while the past is read must not be missed, nor told twice.
	var live <-chan kernel.Event
	if follow {
		if live, err = l.Infra.Events(ctx, 0); err != nil {
			return err
		}
	}
	past, err := l.Infra.RecentEvents(ctx, q)
	if err != nil {
		return err
	}
	switch {
	case c.json && !follow:
		return c.writeJSON(past)
	case len(past) == 0 && !follow:
		c.note("%s", c.t("Nothing has happened.", "이벤트가 없습니다."))
		return nil
	}
	var last uint64
	for _, e := range past {
		last = e.Seq
		if err := c.event(e); err != nil {
			return err
		}
	}
	for follow {
		select {
		case <-ctx.Done():
			return exits(exitStopped)
		case e, ok := <-live:
			if !ok {
				return c.followed(ctx)
			}
			if fits := (q.RunID == "" || e.RunID == q.RunID) && q.Wants(e.Kind); e.Seq <= last || !fits && e.Kind != "gap" {
				continue
			}
			if err := c.event(e); err != nil {
				return err
			}
		}
	}
	return nil
}

// followed says why there are no more events.
func (c *console) followed(ctx context.Context) error {
	if ctx.Err() != nil {
		return exits(exitStopped)
	}
	return c.fail("unavailable", c.t("The Oxios that was followed has stopped.", "따라가던 Oxios가 멈췄습니다."), c.t("Run the command again.", "명령을 다시 실행하세요."))
}

// event prints one event on a line.
func (c *console) event(e kernel.Event) error {
	if c.json {
		return c.writeJSON(e)
	}
	run := "-"
	if e.RunID != "" {
		run = tail(e.RunID)
	}
	line := []string{e.Time.Local().Format("15:04:05"), run, e.Kind, short(kernel.EventText(e).In(c.lang == korean), 160)}
	c.printf("%s", strings.TrimSpace(strings.Join(line, "  ")))
	return nil
}
