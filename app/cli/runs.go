package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"oxios/kernel"
	"oxios/kernel/sys"
)

func (c *console) runsCommand() *cobra.Command {
	return c.group("runs", "Look at what agents did, step by step", "에이전트가 한 일을 단계별로 봅니다", c.runsList(), c.runsShow(), c.runsResume())
}

func (c *console) runsList() *cobra.Command {
	var limit int
	var since string
	var all bool
	cmd := &cobra.Command{
		Use: "list", Short: c.t("List the newest runs, also those that have ended", "최근 실행을 끝난 것까지 봅니다"), Args: c.args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := c.connect(cmd.Context())
			if err != nil {
				return err
			}
			defer l.close()
			q := kernel.ProcessQuery{All: true, Limit: limit}
			if since != "" {
				from, err := c.moment(since)
				if err != nil {
					return err
				}
				q.Since = &from
			}
			if all || since != "" && !cmd.Flags().Changed("limit") {
				q.Limit = 0
			} else if limit <= 0 {
				return usage(c.fail(sys.CodeInvalid, fmt.Sprintf(c.t("--limit is %d, but must be 1 or more.", "--limit 값이 %d인데, 1 이상이어야 합니다."), limit), c.t("--all lists all of them.", "--all은 모두 보여 줍니다.")))
			}
			items, err := everyRun(cmd.Context(), l, q)
			if err != nil {
				return err
			}
			head := []string{"PID", "ID", c.t("STATE", "상태"), c.t("NAME", "이름"), c.t("TURNS", "턴"), c.t("COST", "비용"), c.t("BEGAN", "시작"), c.t("WHY", "이유")}
			return list(c, items, c.t("No agent has run yet.", "아직 실행한 에이전트가 없습니다."), head, func(p kernel.Process) []string {
				why := ""
				if p.Error != nil {
					why, _ = p.Error.In(c.lang == korean)
				}
				return []string{
					strconv.FormatInt(p.PID, 10), tail(p.ID), c.runEnd(string(p.State), p.NotMet), short(p.Name, 40), strconv.Itoa(p.Turns),
					c.price(p.Cost), ago(p.CreatedAt), short(why, 60),
				}
			})
		},
	}
	cmd.Flags().IntVar(&limit, "limit", 50, c.t("at most this `number`", "최대 `개수`"))
	cmd.Flags().BoolVar(&all, "all", false, c.t("all of them, however many", "몇 개든 모두 봅니다"))
	cmd.Flags().StringVar(&since, "since", "", c.t("those that have not ended before this `time`: 30d, 12h, 2026-11-01", "이 `시각` 전에 끝난 것은 뺍니다. 예: 30d, 12h, 2026-11-01"))
	return c.withJSON(cmd)
}

// mostAtOnce is how many runs the kernel lists in one answer.
const mostAtOnce = 500

// everyRun lists runs page after page: as many as q says, or all for 0.
func everyRun(ctx context.Context, l *link, q kernel.ProcessQuery) ([]kernel.Process, error) {
	out := []kernel.Process{}
	for want := q.Limit; ; {
		q.Limit = mostAtOnce
		if want > 0 {
			q.Limit = min(mostAtOnce, want-len(out))
		}
		page, err := l.Agents.List(ctx, q)
		if err != nil {
			return nil, err
		}
		if out = append(out, page...); len(page) < q.Limit || len(out) == want {
			return out, nil
		}
		q.Before = page[len(page)-1].PID
	}
}

// moment reads a time: so long ago, or a date.
func (c *console) moment(s string) (time.Time, error) {
	if d, err := time.ParseInLocation(time.DateOnly, s, time.Local); err == nil {
		return d, nil
	}
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t, nil
	}
	if days, ok := strings.CutSuffix(s, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n >= 0 {
			return time.Now().AddDate(0, 0, -n), nil
		}
	}
	if d, err := time.ParseDuration(s); err == nil && d >= 0 {
		return time.Now().Add(-d), nil
	}
	return time.Time{}, usage(c.fail(sys.CodeInvalid, fmt.Sprintf(c.t("%q is no time.", "%q은(는) 시각이 아닙니다."), s), c.t("Give it like 30d, 12h or 2026-11-01.", "30d, 12h, 2026-11-01처럼 적어 주세요.")))
}

func (c *console) runsShow() *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use: "show ID", Short: c.t("Show a run with every step, how long it took and where the audit record has it", "실행의 모든 단계와 걸린 시간, 감사 기록 번호를 봅니다"), Args: c.args(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.withProcess(cmd, args[0], func(l *link, p kernel.Process) error {
				v, err := l.Agents.Run(cmd.Context(), p.ID)
				if err != nil {
					return err
				}
				if c.json {
					return c.writeJSON(v)
				}
				return c.showRun(p, v)
			})
		},
	})
}

func (c *console) showRun(p kernel.Process, v kernel.RunView) error {
	r := v.Run
	c.printf("%s (%d) · %s · %s", oneLine(r.Name), r.PID, c.runEnd(string(r.State), r.NotMet), r.ID)
	c.printf("%s · %s · %s · %s · %s", oneLine(p.Folder), r.Model, p.Role, c.price(r.Cost), span(time.Duration(p.AgeMS)*time.Millisecond))
	if r.ParentID != "" {
		c.printf(c.t("forked by %s", "%s이(가) 만듦"), tail(r.ParentID))
	}
	rows := [][]string{{"#", c.t("STEP", "단계"), c.t("STATE", "상태"), c.t("TOOK", "걸린 시간"), c.t("COST", "비용"), c.t("AUDIT", "감사")}}
	for _, s := range v.Steps {
		state := s.Outcome
		if state == "" {
			state = string(s.State)
		}
		cost := ""
		if s.Cost != nil {
			cost = c.price(*s.Cost)
		}
		rows = append(rows, []string{strconv.Itoa(s.Seq), c.stepLine(s), state, took(s), cost, number(int(s.AuditSeq))})
	}
	if err := table(c.out, rows); err != nil {
		return err
	}
	if len(v.Changes) > maxListed {
		for _, line := range c.totals(v.Totals, v.Changes) {
			c.printf("%s", line)
		}
		v.Changes = nil
	}
	for _, f := range v.Changes {
		c.printf(c.t("changed %s (+%d −%d)", "바꿈 %s (+%d −%d)"), safe(f.Path), f.Added, f.Removed)
	}
	if r.Error != nil {
		c.explain(r.Error)
	}
	return nil
}

func (c *console) stepLine(s kernel.StepView) string {
	switch s.Kind {
	case "model":
		return short(c.t("asks ", "모델 호출 ")+s.Name, 72)
	case "message":
		if s.Agent != nil && s.Agent.From != "" {
			return short(c.t("is told by ", "에이전트의 말, ")+s.Agent.Name+": "+s.Text, 72)
		}
		return short(c.t("is told: ", "전달받음: ")+s.Text, 72)
	}
	return short(sys.Words{EN: s.Title, KO: s.TitleKO}.In(c.lang == korean), 72)
}

// took is how long a step lasted, "" while it is open.
func took(s kernel.StepView) string {
	if s.ClosedAt == nil {
		return ""
	}
	from := s.ProposedAt
	if s.StartedAt != nil {
		from = *s.StartedAt
	}
	return fmt.Sprintf("%.1f s", s.ClosedAt.Sub(from).Seconds())
}

func (c *console) runsResume() *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use: "resume ID", Short: c.t("Go on where a run stopped or failed, as a new run behind it", "멈추거나 실패한 곳에서 새 실행으로 이어 갑니다"), Args: c.args(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			l, err := c.connect(cmd.Context())
			if err != nil {
				return err
			}
			defer l.close()
			p, err := c.process(cmd, l, args[0])
			if err != nil {
				return err
			}
			if l.own != nil {
				return c.nobodyWorks()
			}
			sent, err := l.Agents.Continue(cmd.Context(), p.ID)
			if err != nil {
				return err
			}
			if c.json {
				return c.writeJSON(sent)
			}
			c.printf(c.t("%s goes on; `oxios wait %s` shows what comes of it.", "%s에서 이어 갑니다. `oxios wait %s`로 결과를 봅니다."), tail(sent.RunID), tail(sent.RunID))
			return nil
		},
	})
}

// nobodyWorks refuses what needs an Oxios that stays when this command ends.
func (c *console) nobodyWorks() error {
	return c.fail("unavailable", c.t("No Oxios is running, so nobody would go on when this command ends. Nothing was started.", "실행 중인 Oxios가 없어 이 명령이 끝난 뒤 일할 것이 없습니다. 아무것도 시작하지 않았습니다."),
		c.t("Start it with `oxios`, `oxios serve` or `oxios service install`.", "`oxios`, `oxios serve`, `oxios service install` 중 하나로 시작하세요."))
}
