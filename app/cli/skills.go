package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"oxios/kernel"
)

func (c *console) skillsCommand() *cobra.Command {
	g := c.group("skills", "Manage skills, which tell agents how a kind of work is done", "에이전트에게 일하는 방법을 알려 주는 스킬을 관리합니다",
		c.skillsList(), c.skillsShow(), c.skillsInstall(), c.skillsReview(),
		c.skillsEnable("enable", "Turn a skill on", "스킬을 켭니다", true), c.skillsEnable("disable", "Turn a skill off", "스킬을 끕니다", false),
		c.skillsAllow(), c.skillsRemove(), c.skillsCheck())
	g.Aliases = []string{"program", "programs"}
	return g
}

// skillState is the state of a skill in words.
func (c *console) skillState(state string) string {
	switch state {
	case "ready":
		return c.t("ready", "준비됨")
	case "new":
		return c.t("not reviewed", "검토 안 함")
	case "changed":
		return c.t("changed: review it", "바뀜: 확인 필요")
	case "missing":
		return c.t("requirements missing", "필요한 것 없음")
	case "off":
		return c.t("off", "꺼짐")
	}
	return state
}

func (c *console) skillsList() *cobra.Command {
	var left bool
	cmd := c.withJSON(&cobra.Command{
		Use: "list", Short: c.t("List the skills", "스킬을 봅니다"), Args: c.args(0, 0),
		RunE: c.linked(func(ctx context.Context, l *link, _ []string) error {
			if left {
				items, err := l.Skills.LeftOut(ctx)
				if err != nil {
					return err
				}
				head := []string{c.t("FOLDER", "폴더"), c.t("WHY", "이유")}
				return list(c, items, c.t("No folder was left out.", "제외된 폴더가 없습니다."), head, func(o kernel.SkillLeft) []string {
					return []string{o.Dir, o.Why.In(c.lang == korean)}
				})
			}
			items, err := l.Skills.List(ctx)
			if err != nil {
				return err
			}
			head := []string{c.t("SKILL", "스킬"), c.t("STATE", "상태"), c.t("SOURCE", "출처"), c.t("WHAT IT IS FOR", "용도")}
			return list(c, items, c.t("No skills.", "스킬이 없습니다."), head, func(v kernel.SkillView) []string {
				return []string{oneLine(v.Name), c.skillState(v.State), string(v.Source), short(v.Description, 80)}
			})
		}),
	})
	cmd.Flags().BoolVar(&left, "left-out", false, c.t("list the folders that are not used, and why", "사용하지 않는 폴더와 이유를 봅니다"))
	return cmd
}

func (c *console) skillsShow() *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use: "show NAME", Short: c.t("Show a skill and its instructions", "스킬과 지침을 봅니다"), Args: c.args(1, 1),
		RunE: c.linked(func(ctx context.Context, l *link, args []string) error {
			d, err := l.Skills.Show(ctx, args[0])
			if err != nil {
				return err
			}
			if c.json {
				return c.writeJSON(d)
			}
			c.printf("%s: %s", oneLine(d.Name), c.skillState(d.State))
			c.skillFacts(d)
			c.printf("\n%s", safe(strings.TrimSpace(d.Body)))
			return nil
		}),
	})
}

// skillFacts are what a person needs to know of a skill before its first use.
func (c *console) skillFacts(d kernel.SkillDetails) {
	line := func(en, ko, value string) {
		if value != "" {
			c.printf("  %s %s", c.t(en, ko), oneLine(value))
		}
	}
	line("For:", "용도:", d.Description)
	line("Folder:", "폴더:", d.Dir)
	line("License:", "라이선스:", d.Review.License.Name)
	line("Expects:", "쓰려는 도구:", strings.Join(d.AllowedTools, ", "))
	line("Its scripts ask for:", "스크립트가 요청하는 변수:", strings.Join(d.Asks, ", "))
	line("Its scripts have:", "스크립트에 허용됨:", c.skillRights(d.Rights))
	line("Names:", "언급한 주소:", strings.Join(d.Review.Hosts, ", "))
	for _, m := range d.Missing {
		line("Missing:", "없음:", m.Text.In(c.lang == korean))
		for _, in := range m.Install {
			if argv, err := in.Argv(); err == nil {
				line("  Install it with:", "  설치 명령:", strings.Join(argv, " "))
			}
		}
	}
	for _, w := range d.Warnings {
		line("Note:", "참고:", w.In(c.lang == korean))
	}
}

func (c *console) skillsInstall() *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use: "install PATH", Short: c.t("Install a skill from a folder or an archive, for review", "폴더나 압축 파일에서 스킬을 설치합니다. 검토한 뒤에 쓰입니다"), Args: c.args(1, 1),
		RunE: c.linked(func(ctx context.Context, l *link, args []string) error {
			path, err := c.workFolder(args[0])
			if err != nil {
				return err
			}
			v, err := l.Skills.Install(ctx, path)
			if err != nil {
				return err
			}
			if c.json {
				return c.writeJSON(v)
			}
			c.printf("%s: %s", oneLine(v.Name), c.skillState(v.State))
			c.note(c.t("Review it with `oxios skills review %s`. Agents do not have it before.", "`oxios skills review %s` 명령으로 검토하세요. 그 전에는 에이전트가 쓸 수 없습니다."), v.Name)
			return nil
		}),
	})
}

func (c *console) skillsReview() *cobra.Command {
	var accept string
	cmd := c.withJSON(&cobra.Command{
		Use: "review NAME", Short: c.t("Review a skill: its files, what it could reach and what looks dangerous", "스킬의 파일, 접근할 수 있는 것, 위험해 보이는 것을 검토합니다"), Args: c.args(1, 1),
		RunE: c.linked(func(ctx context.Context, l *link, args []string) error {
			d, err := l.Skills.Show(ctx, args[0])
			if err != nil {
				return err
			}
			if accept != "" {
				if len(accept) >= 8 && strings.HasPrefix(d.Now, accept) {
					accept = d.Now
				}
				v, err := l.Skills.Accept(ctx, args[0], accept)
				if err != nil {
					return err
				}
				if c.json {
					return c.writeJSON(v)
				}
				c.printf("%s: %s", oneLine(v.Name), c.skillState(v.State))
				return nil
			}
			if c.json {
				return c.writeJSON(d)
			}
			c.printf("%s: %s", oneLine(d.Name), c.skillState(d.State))
			c.skillFacts(d)
			for _, f := range d.Review.Files {
				kind := ""
				if f.Exec {
					kind = c.t(" (program)", " (프로그램)")
				}
				c.printf("  %s%s", oneLine(f.Path), kind)
			}
			for _, f := range d.Review.Findings {
				c.printf("  ! %s:%d  %s  %s", oneLine(f.File), f.Line, f.Kind.Text().In(c.lang == korean), short(f.Quote, 100))
			}
			if len(d.Review.Findings) == 0 {
				c.printf("  %s", c.t("Nothing looked dangerous. That proves nothing: read it.", "위험해 보이는 것은 없었습니다. 안전하다는 뜻은 아니니 직접 읽어 보세요."))
			}
			for _, ch := range d.Changes {
				c.printf("  %s %s\n%s", c.t("Changed:", "바뀜:"), oneLine(ch.Path), safe(ch.Diff))
			}
			if d.Source != "bundled" && d.State != "ready" {
				c.note(c.t("Accept it as it is now: oxios skills review %s --accept %s", "지금 내용을 수락하려면: oxios skills review %s --accept %s"), d.Name, d.Now[:12])
			}
			return nil
		}),
	})
	cmd.Flags().StringVar(&accept, "accept", "", c.t("let agents have it as it is, by the `hash` that the review shows", "검토에 나온 `해시`의 내용을 에이전트가 쓰게 합니다"))
	return cmd
}

func (c *console) skillsEnable(use, en, ko string, on bool) *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use: use + " NAME", Short: c.t(en, ko), Args: c.args(1, 1),
		RunE: c.linked(func(ctx context.Context, l *link, args []string) error {
			v, err := l.Skills.Enable(ctx, args[0], on)
			if err != nil {
				return err
			}
			if c.json {
				return c.writeJSON(v)
			}
			c.printf("%s: %s", oneLine(v.Name), c.skillState(v.State))
			return nil
		}),
	})
}

// skillRights are what the scripts of a skill were given, in words.
func (c *console) skillRights(r kernel.SkillRights) string {
	given := r.Env
	if r.Network {
		given = append([]string{c.t("network", "네트워크")}, given...)
	}
	return strings.Join(given, ", ")
}

func (c *console) skillsAllow() *cobra.Command {
	var r kernel.SkillRights
	cmd := c.withJSON(&cobra.Command{
		Use: "allow NAME", Short: c.t("Set what the scripts of a skill may use besides the folder; without options nothing", "스킬의 스크립트가 폴더 말고 무엇을 쓸 수 있는지 정합니다. 옵션이 없으면 아무것도 쓸 수 없습니다"), Args: c.args(1, 1),
		RunE: c.linked(func(ctx context.Context, l *link, args []string) error {
			v, err := l.Skills.Allow(ctx, args[0], r)
			if err != nil {
				return err
			}
			if c.json {
				return c.writeJSON(v)
			}
			c.printf("%s: %s", oneLine(v.Name), cmp.Or(c.skillRights(v.Rights), c.t("nothing", "없음")))
			return nil
		}),
	})
	cmd.Flags().BoolVar(&r.Network, "network", false, c.t("the network", "네트워크"))
	cmd.Flags().StringSliceVar(&r.Env, "env", nil, c.t("a `variable` that the skill asks for; can be given more than once", "스킬이 요청하는 `변수`. 여러 번 쓸 수 있습니다"))
	return cmd
}

func (c *console) skillsRemove() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use: "remove NAME", Short: c.t("Delete an installed skill", "설치한 스킬을 삭제합니다"), Args: c.args(1, 1),
		RunE: c.linked(func(ctx context.Context, l *link, args []string) error {
			if !yes {
				if err := c.sure(fmt.Sprintf(c.t("Delete the skill %q?", "%q 스킬을 삭제할까요?"), args[0])); err != nil {
					return err
				}
			}
			if err := l.Skills.Remove(ctx, args[0]); err != nil {
				return err
			}
			c.printf(c.t("%s: deleted", "%s: 삭제함"), args[0])
			return nil
		}),
	}
	cmd.Flags().BoolVar(&yes, "yes", false, c.t("do not ask", "묻지 않습니다"))
	return cmd
}

func (c *console) skillsCheck() *cobra.Command {
	var strict bool
	cmd := c.withJSON(&cobra.Command{
		Use: "check FOLDER", Short: c.t("Check a skill against the specification", "스킬이 규격에 맞는지 확인합니다"), Args: c.args(1, 1),
		RunE: c.linked(func(ctx context.Context, l *link, args []string) error {
			folder, err := c.workFolder(args[0])
			if err != nil {
				return err
			}
			problems, err := l.Skills.Check(ctx, folder, strict)
			if err != nil {
				return err
			}
			if c.json {
				err = c.writeJSON(problems)
			} else {
				for _, p := range problems {
					c.printf("%s", oneLine(strings.TrimPrefix(p.Field+": ", ": ")+p.Text.In(c.lang == korean)))
				}
			}
			if err == nil && len(problems) > 0 {
				return exits(exitFailed)
			}
			if err == nil && !c.json {
				c.printf("%s", c.t("No problems.", "문제가 없습니다."))
			}
			return err
		}),
	})
	cmd.Flags().BoolVar(&strict, "strict", false, c.t("by the letter, as the reference validator does", "참조 검사기처럼 규격 그대로 확인합니다"))
	return cmd
}
