package cli

import (
	"cmp"
	"context"
	"strings"

	"github.com/spf13/cobra"

	"oxios/kernel"
)

func (c *console) skillsSearch() *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use: "search WORDS…", Short: c.t("Look for skills in the registries that you added", "추가한 스킬 저장소에서 스킬을 찾습니다"), Args: c.args(1, -1),
		Long: c.t("Looks for skills. What you look for is sent to the registries that you added, and to nobody else.", "스킬을 찾습니다. 찾는 말은 추가한 스킬 저장소에만 전송됩니다."),
		RunE: c.linked(func(ctx context.Context, l *link, args []string) error {
			s, err := l.Skills.Search(ctx, strings.Join(args, " "))
			if err != nil {
				return err
			}
			for _, p := range s.Problems {
				c.note("%s", p.Text.In(c.lang == korean))
			}
			head := []string{c.t("SKILL", "스킬"), c.t("BY", "만든 사람"), c.t("WHAT IT IS FOR", "용도"), c.t("INSTALL FROM", "설치 주소")}
			return list(c, s.Found, c.t("No skills found.", "찾은 스킬이 없습니다."), head, func(f kernel.SkillFound) []string {
				return []string{oneLine(f.Name), cmp.Or(oneLine(f.Owner), "-"), short(f.Summary, 60), oneLine(f.From)}
			})
		}),
	})
}

func (c *console) skillsRegistries() *cobra.Command {
	g := c.group("registries", "Manage the registries of skills that are asked", "스킬을 찾을 저장소를 관리합니다",
		c.skillsRegistry("add", "Add a registry: what you look for is sent to it", "스킬 저장소를 추가합니다. 찾는 말이 그곳으로 전송됩니다", true),
		c.skillsRegistry("remove", "No longer ask a registry; skills from it stay", "스킬 저장소를 목록에서 뺍니다. 설치한 스킬은 남습니다", false),
		c.withJSON(&cobra.Command{
			Use: "list", Short: c.t("List the registries", "스킬 저장소를 봅니다"), Args: c.args(0, 0),
			RunE: c.linked(func(ctx context.Context, l *link, _ []string) error {
				items, err := l.Skills.Registries(ctx)
				if err != nil {
					return err
				}
				return c.registries(items)
			}),
		}))
	return g
}

func (c *console) registries(items []kernel.SkillRegistry) error {
	head := []string{c.t("REGISTRY", "저장소"), c.t("ASKED", "사용")}
	return list(c, items, "", head, func(r kernel.SkillRegistry) []string {
		if r.Added {
			return []string{oneLine(r.URL), c.t("yes", "예")}
		}
		return []string{oneLine(r.URL), c.t("no: add it to search there", "아니요: 추가해야 검색합니다")}
	})
}

func (c *console) skillsRegistry(verb, en, ko string, on bool) *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use: verb + " ADDRESS", Short: c.t(en, ko), Args: c.args(1, 1),
		RunE: c.linked(func(ctx context.Context, l *link, args []string) error {
			change := l.Skills.RemoveRegistry
			if on {
				change = l.Skills.AddRegistry
			}
			items, err := change(ctx, args[0])
			if err != nil {
				return err
			}
			return c.registries(items)
		}),
	})
}
