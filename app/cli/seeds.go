package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"oxios/kernel"
	"oxios/kernel/sys"
)

func (c *console) seedsCommand() *cobra.Command {
	return c.group("seeds", "What was agreed on with agents, and what came of it", "에이전트와 정한 작업과 그 결과",
		c.seedsList(), c.seedsShow(), c.seedsDiff())
}

func (c *console) seedsList() *cobra.Command {
	var q kernel.SeedQuery
	cmd := &cobra.Command{
		Use: "list", Short: c.t("List what was agreed on, the newest first", "정한 작업을 최근 순으로 봅니다"), Args: c.args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := c.connect(cmd.Context())
			if err != nil {
				return err
			}
			defer l.close()
			q.Newest = true
			items, err := l.Agents.Seeds(cmd.Context(), q)
			if err != nil {
				return err
			}
			head := []string{"ID", c.t("VERSION", "버전"), c.t("STATE", "상태"), c.t("SCORE", "점수"), c.t("AGE", "경과"), c.t("GOAL", "목표")}
			return list(c, items, c.t("Nothing was agreed on so far.", "아직 정한 작업이 없습니다."), head, func(s kernel.SeedInfo) []string {
				score := ""
				if s.Score != nil {
					score = fmt.Sprintf("%.2f", *s.Score)
				}
				return []string{tail(s.ID), fmt.Sprint(s.Version), c.seedState(s.State), score, ago(s.CreatedAt), short(s.Goal, 60)}
			})
		},
	}
	cmd.Flags().IntVar(&q.Limit, "limit", 50, c.t("how `many` at most", "최대 `개수`"))
	return c.withJSON(cmd)
}

func (c *console) seedState(state string) string {
	words := map[string]string{
		"active": c.t("at work", "진행 중"), "passed": c.t("passed", "통과"), "failed": c.t("not passed", "통과 못 함"), "ended": c.t("ended before it was evaluated", "평가 전에 끝남"),
	}
	if w, ok := words[state]; ok {
		return w
	}
	return state
}

// seed finds the seed that name means.
func (c *console) seed(ctx context.Context, l *link, name string) (kernel.SeedView, error) {
	v, err := l.Agents.Seed(ctx, name)
	if sys.CodeOf(err) != sys.CodeNotFound {
		return v, err
	}
	all, err := l.Agents.Seeds(ctx, kernel.SeedQuery{Newest: true, Limit: 500})
	if err != nil {
		return v, err
	}
	found, err := find(c, c.t("seed", "시드"), "oxios seeds list", name, all, func(s kernel.SeedInfo) string { return s.ID })
	if err != nil {
		return v, err
	}
	return l.Agents.Seed(ctx, found.ID)
}

func (c *console) seedsShow() *cobra.Command {
	cmd := &cobra.Command{
		Use: "show ID", Short: c.t("Show a seed with its versions and evaluations", "시드의 버전과 평가를 봅니다"), Args: c.args(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			l, err := c.connect(cmd.Context())
			if err != nil {
				return err
			}
			defer l.close()
			v, err := c.seed(cmd.Context(), l, args[0])
			if err != nil || c.json {
				return c.orJSON(v, err)
			}
			for _, one := range v.Versions {
				c.version(one)
			}
			return nil
		},
	}
	return c.withJSON(cmd)
}

// orJSON writes v as the document, unless there is an error.
func (c *console) orJSON(v any, err error) error {
	if err != nil {
		return err
	}
	return c.writeJSON(v)
}

// version shows one version of a seed, and what came of it.
func (c *console) version(v kernel.SeedVersion) {
	s := v.Seed
	c.printf(c.t("Version %d: %s", "버전 %d: %s"), s.Version, c.seedState(v.Info.State))
	c.printf("  %s %s", c.t("Goal:", "목표:"), oneLine(s.Goal))
	for _, r := range s.Constraints {
		c.printf("  %s %s", c.t("Constraint:", "제약:"), oneLine(r))
	}
	for _, a := range s.Answers {
		c.printf("  %s %s → %s", c.t("Answered:", "답:"), oneLine(a.Question), oneLine(a.Answer))
	}
	for _, a := range s.Assumptions {
		c.printf("  %s %s", c.t("Assumed:", "가정:"), oneLine(a))
	}
	c.printf("  %s %.2f", c.t("Ambiguity:", "모호함:"), s.Ambiguity)
	by := map[int][]string{}
	for _, share := range v.Shares {
		for _, n := range share.Criteria {
			by[n] = append(by[n], fmt.Sprintf(c.t("agent %d: %s", "에이전트 %d: %s"), share.PID, c.runState(string(share.State))))
		}
	}
	for i, criterion := range s.Criteria {
		mark, evidence := "·", ""
		if v.Evaluation != nil && i < len(v.Evaluation.Results) {
			r := v.Evaluation.Results[i]
			mark, evidence = "✗", c.either(r.Evidence, r.EvidenceKO)
			if r.Passed {
				mark = "✓"
			}
		}
		c.printf("  %s %s", mark, oneLine(criterion.Text))
		for _, line := range append(by[i+1], evidence) {
			if line != "" {
				c.printf("      %s", short(oneLine(line), 300))
			}
		}
	}
	if v.Evaluation != nil {
		c.printf("  %s %.2f", c.t("Score:", "점수:"), v.Evaluation.Score)
	}
}

func (c *console) seedsDiff() *cobra.Command {
	cmd := &cobra.Command{
		Use: "diff ID", Short: c.t("Show what each version of a seed changed, and why", "시드의 버전마다 바뀐 것과 이유를 봅니다"), Args: c.args(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			l, err := c.connect(cmd.Context())
			if err != nil {
				return err
			}
			defer l.close()
			v, err := c.seed(cmd.Context(), l, args[0])
			if err != nil {
				return err
			}
			type change struct {
				Version int                 `json:"version"`
				Changes []kernel.SeedChange `json:"changes"`
			}
			changes := []change{}
			for _, one := range v.Versions {
				if one.Seed.Version > 1 {
					changes = append(changes, change{one.Seed.Version, one.Seed.Changes})
				}
			}
			if c.json {
				return c.writeJSON(changes)
			}
			if len(changes) == 0 {
				c.note("%s", c.t("It has one version.", "버전이 하나입니다."))
			}
			for _, one := range changes {
				c.printf(c.t("Version %d: what version %d missed", "버전 %d: 버전 %d에서 충족되지 않은 것"), one.Version, one.Version-1)
				for _, m := range one.Changes {
					c.printf("  + %s: %s", oneLine(m.Text), short(oneLine(c.either(m.Evidence, m.EvidenceKO)), 300))
				}
			}
			return nil
		},
	}
	return c.withJSON(cmd)
}
