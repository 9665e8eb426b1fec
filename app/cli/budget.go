package cli

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"oxios/kernel"
	"oxios/kernel/sys"
)

func (c *console) budgetCommand() *cobra.Command {
	return c.group("budget", "Limits on money, tokens and calls", "금액, 토큰, 호출의 한도", c.budgetShow(), c.budgetSet())
}

func (c *console) budgetShow() *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use: "show", Short: c.t("Show the limits, and what was used of them", "한도와 쓴 양을 봅니다"), Args: c.args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := c.connect(cmd.Context())
			if err != nil {
				return err
			}
			defer l.close()
			v, err := l.Infra.Budget(cmd.Context())
			if err != nil {
				return err
			}
			if c.json {
				return c.writeJSON(v)
			}
			return c.showBudget(v)
		},
	})
}

func (c *console) showBudget(v kernel.BudgetView) error {
	rows := [][]string{{c.t("FOR", "대상"), "PID", "ID", c.t("MONEY", "금액"), c.t("TOKENS", "토큰"), c.t("CALLS", "호출"), c.t("WAITS FOR", "대기")}}
	for _, line := range append([]kernel.BudgetLine{v.Day}, v.Runs...) {
		name, waits := c.windowName(v), ""
		if line.Scope == kernel.ScopeRun {
			name = short(line.Name, 32)
		}
		if r := line.Reached; r != nil {
			waits = sys.Words{EN: r.Message, KO: r.MessageKO}.In(c.lang != english)
		}
		money := "$" + strconv.FormatFloat(line.Used.USD, 'f', 4, 64)
		if most := line.Limits.USD; most != nil {
			money = fmt.Sprintf(c.t("%s of $%s", "$%[2]s 중 %[1]s"), money, strconv.FormatFloat(*most, 'f', -1, 64))
		}
		pid := ""
		if line.PID > 0 {
			pid = strconv.FormatInt(line.PID, 10)
		}
		rows = append(rows, []string{name, pid, tail(line.RunID), money, c.usedOf(line.Used.Tokens, line.Limits.Tokens), c.usedOf(line.Used.Calls, line.Limits.Calls), short(waits, 60)})
	}
	if err := table(c.out, rows); err != nil {
		return err
	}
	if l := v.Day.Limits; l.None() {
		c.note("%s", c.t("Nothing limits the day. `oxios budget set day --usd 5` does.", "하루 한도가 없습니다. `oxios budget set day --usd 5`로 정할 수 있습니다."))
	}
	return nil
}

// windowName says what the limits of the day hold for.
func (c *console) windowName(v kernel.BudgetView) string {
	if v.WindowSecs == 0 {
		return c.t("a day", "하루")
	}
	return fmt.Sprintf(c.t("until %s", "%s까지"), v.Until.Local().Format("2006-01-02 15:04"))
}

func (c *console) usedOf(used int64, most *int64) string {
	if most == nil {
		return strconv.FormatInt(used, 10)
	}
	return fmt.Sprintf(c.t("%d of %d", "%[2]d 중 %[1]d"), used, *most)
}

func (c *console) budgetSet() *cobra.Command {
	var usd, tokens, calls string
	cmd := &cobra.Command{
		Use: "set day|RUN", Short: c.t("Set the limits of the day, or of a run that has not ended", "하루나 끝나지 않은 실행의 한도를 정합니다"), Args: c.args(1, 1),
		Long: c.t(
			"Sets the limits of the day, or of a run that has not ended: its id in `oxios ps`, the beginning or end of it, or its pid.\nWhat is not named stays; none lifts a limit, and 0 allows nothing. A run that waits for a limit goes on when it is raised.",
			"하루나 끝나지 않은 실행의 한도를 정합니다. 실행은 `oxios ps`의 ID, 그 앞뒤 일부, PID로 지정합니다.\n지정하지 않은 한도는 그대로 두고, none은 한도를 풀며, 0은 아무것도 허용하지 않습니다. 한도를 기다리던 실행은 한도를 올리면 이어서 합니다."),
		Example: "  oxios budget set day --usd 5\n  oxios budget set day --usd none --tokens 2000000",
		RunE: func(cmd *cobra.Command, args []string) error {
			l, err := c.connect(cmd.Context())
			if err != nil {
				return err
			}
			defer l.close()
			v, err := l.Infra.Budget(cmd.Context())
			if err != nil {
				return err
			}
			line, err := c.budgetOf(v, args[0])
			if err != nil {
				return err
			}
			change := kernel.BudgetChange{Scope: line.Scope, RunID: line.RunID, Limits: line.Limits}
			changed := false
			for _, f := range []struct {
				name, value string
				set         func(string) error
			}{
				{"usd", usd, amount(&change.USD, func(s string) (float64, error) { return strconv.ParseFloat(s, 64) })},
				{"tokens", tokens, amount(&change.Tokens, whole)},
				{"calls", calls, amount(&change.Calls, whole)},
			} {
				if !cmd.Flags().Changed(f.name) {
					continue
				}
				changed = true
				if err := f.set(f.value); err != nil {
					return usage(c.fail(sys.CodeInvalid, fmt.Sprintf(c.t("--%s is %q, which is no limit. Nothing was changed.", "--%s의 %q은(는) 한도가 아닙니다. 아무것도 바꾸지 않았습니다."), f.name, f.value),
						c.t("Give a number from 0 on, or none.", "0 이상의 수나 none을 쓰세요.")))
				}
			}
			if !changed {
				return usage(c.fail(sys.CodeInvalid, c.t("No limit is named. Nothing was changed.", "한도를 지정하지 않았습니다. 아무것도 바꾸지 않았습니다."), c.t("Use --usd, --tokens or --calls.", "--usd, --tokens, --calls를 쓰세요.")))
			}
			if v, err = l.Infra.SetBudget(cmd.Context(), change); err != nil {
				return err
			}
			return c.showBudget(v)
		},
	}
	cmd.Flags().StringVar(&usd, "usd", "", c.t("at most so many `dollars`; none for no limit", "최대 `달러`. none은 한도 없음"))
	cmd.Flags().StringVar(&tokens, "tokens", "", c.t("at most so many `tokens`, input and output together", "입력과 출력을 합한 최대 `토큰`"))
	cmd.Flags().StringVar(&calls, "calls", "", c.t("at most so many model `calls`", "최대 모델 `호출` 수"))
	return cmd
}

func whole(s string) (int64, error) { return strconv.ParseInt(s, 10, 64) }

// amount returns how a flag sets a limit.
func amount[N any](into **N, parse func(string) (N, error)) func(string) error {
	return func(s string) error {
		if s == "none" {
			*into = nil
			return nil
		}
		v, err := parse(s)
		*into = &v
		return err
	}
}

// budgetOf finds the scope that a person named.
func (c *console) budgetOf(v kernel.BudgetView, name string) (kernel.BudgetLine, error) {
	if name == kernel.ScopeDay {
		return v.Day, nil
	}
	for _, line := range v.Runs {
		if strconv.FormatInt(line.PID, 10) == name {
			return line, nil
		}
	}
	line, err := find(c, c.t("run", "실행"), "oxios budget show", name, v.Runs, func(l kernel.BudgetLine) string { return l.RunID })
	if sys.CodeOf(err) == sys.CodeNotFound {
		return line, sys.AsError(err).WithHint("%s", c.t("`oxios budget show` lists them; `day` is the limit of the day.", "`oxios budget show`로 목록을 보세요. day는 하루 한도입니다."))
	}
	return line, err
}

func (c *console) costCommand() *cobra.Command {
	var q kernel.CostQuery
	cmd := &cobra.Command{
		Use: "cost", Short: c.t("Show what model calls have cost, by day and by run", "모델 호출 비용을 날짜와 실행별로 봅니다"), Args: c.args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if q.Days < 1 {
				return usage(c.fail(sys.CodeInvalid, c.t("--days must be 1 or more.", "--days는 1 이상이어야 합니다."), ""))
			}
			l, err := c.connect(cmd.Context())
			if err != nil {
				return err
			}
			defer l.close()
			v, err := l.Infra.Costs(cmd.Context(), q)
			if err != nil {
				return err
			}
			if c.json {
				return c.writeJSON(v)
			}
			return c.showCosts(v)
		},
	}
	cmd.Flags().IntVar(&q.Days, "days", 14, c.t("today and so many `days` before it, together", "오늘을 포함한 `일수`"))
	return c.withJSON(cmd)
}

func (c *console) showCosts(v kernel.CostView) error {
	head := []string{c.t("CALLS", "호출"), c.t("TOKENS", "토큰"), c.t("CACHED", "캐시"), c.t("COST", "비용")}
	counts := func(cost kernel.Cost) []string {
		return []string{strconv.Itoa(cost.Calls), strconv.Itoa(cost.Input + cost.Output), cachedShare(cost), c.price(cost)}
	}
	days := [][]string{append([]string{c.t("DAY", "날짜")}, head...)}
	for _, d := range v.Days {
		if d.Calls > 0 {
			days = append(days, append([]string{d.Day}, counts(d.Cost)...))
		}
	}
	if len(days) == 1 {
		c.printf("%s", c.t("No model was called in that time.", "이 기간에 모델을 부르지 않았습니다."))
		return nil
	}
	if err := table(c.out, append(days, append([]string{c.t("together", "합계")}, counts(v.Total)...))); err != nil {
		return err
	}
	c.printf("")
	runs := [][]string{append([]string{c.t("RUN", "실행"), c.t("MODEL", "모델")}, head...)}
	for _, r := range v.Runs {
		runs = append(runs, append([]string{short(r.Name, 40), r.Model}, counts(r.Cost)...))
	}
	if v.Others.Calls > 0 {
		runs = append(runs, append([]string{c.t("others", "그 밖"), ""}, counts(v.Others)...))
	}
	if err := table(c.out, runs); err != nil {
		return err
	}
	if v.Saved >= 0.01 {
		c.note(c.t("Cached input saved about $%.2f.", "캐시된 입력으로 약 $%.2f 아꼈습니다."), v.Saved)
	}
	return nil
}

func cachedShare(c kernel.Cost) string {
	if c.Input == 0 {
		return ""
	}
	return fmt.Sprintf("%d %%", 100*c.Cached/c.Input)
}
