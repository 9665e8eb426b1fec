package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"oxios/kernel"
)

func (c *console) skillsCommand() *cobra.Command {
	g := c.group("skills", "Manage skills, which tell agents how a kind of work is done", "에이전트에게 일하는 방법을 알려 주는 스킬을 관리합니다",
		c.skillsList(), c.skillsShow(), c.skillsSearch(), c.skillsRegistries(), c.skillsInstall(), c.skillsReview(),
		c.skillsEnable("enable", "Turn a skill on", "스킬을 켭니다", true), c.skillsEnable("disable", "Turn a skill off", "스킬을 끕니다", false),
		c.skillsUpdate(), c.skillsPin(), c.skillsAllow(), c.skillsCall(), c.skillsExport(), c.skillsRemove(), c.skillsCheck())
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

// skillNow says how a skill stands after it was changed.
func (c *console) skillNow(v kernel.SkillView) error {
	if c.json {
		return c.writeJSON(v)
	}
	c.printf("%s: %s", oneLine(v.Name), c.skillState(v.State))
	return nil
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
	if o := d.Origin; o != nil {
		line("From:", "받은 곳:", o.From)
		line("Commit:", "커밋:", o.Commit)
		if o.Pinned {
			c.printf("  %s", c.t("It is not updated with the others.", "다른 스킬과 함께 업데이트하지 않습니다."))
		}
	}
	line("Folder:", "폴더:", d.Dir)
	line("License:", "라이선스:", d.Review.License.Name)
	line("Expects:", "쓰려는 도구:", strings.Join(d.AllowedTools, ", "))
	line("Its scripts ask for:", "스크립트가 요청하는 변수:", strings.Join(d.Asks, ", "))
	line("Its scripts have:", "스크립트에 허용됨:", c.skillRights(d.Rights))
	line("Its modules:", "모듈:", strings.Join(modules(d.Review.Files), ", "))
	if d.Servers != "" {
		c.printf("  %s oxios mcp import %s", c.t("Brings MCP servers:", "가져올 수 있는 MCP 서버:"), d.Servers)
	}
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
		Use: "install PATH|ADDRESS", Short: c.t("Install a skill from a folder, an archive, a git repository or a site, for review", "폴더, 압축 파일, git 저장소, 사이트에서 스킬을 설치합니다. 검토한 뒤에 쓰입니다"), Args: c.args(1, 1),
		Long: c.t("Installs a skill. Agents have it once you reviewed it.\n\nPATH is a folder with a SKILL.md, or a zip, tar or tar.gz of one. ADDRESS is an https address: of a git repository, of an archive, or of a site that lists its skills. Of several, #FOLDER or #NAME at the end chooses one; @REF behind it chooses a branch, tag or commit.",
			"스킬을 설치합니다. 검토한 뒤에 에이전트가 쓸 수 있습니다.\n\nPATH는 SKILL.md가 있는 폴더나 그 폴더의 zip, tar, tar.gz 파일입니다. ADDRESS는 git 저장소, 압축 파일, 스킬 목록이 있는 사이트의 https 주소입니다. 스킬이 여러 개면 끝에 #폴더 또는 #이름을 붙여 고르고, 그 뒤에 @REF를 붙여 브랜치, 태그, 커밋을 고릅니다."),
		Example: "  oxios skills install ./my-skill\n  oxios skills install https://github.com/anthropics/skills#skills/pdf\n  oxios skills install https://github.com/owner/skills#review@v1.2",
		RunE: c.linked(func(ctx context.Context, l *link, args []string) error {
			from := args[0]
			if !strings.Contains(from, "://") {
				path, err := c.workFolder(from)
				if err != nil {
					return err
				}
				from = path
			}
			v, err := l.Skills.Install(ctx, from)
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
				return c.skillNow(v)
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
			return c.skillNow(v)
		}),
	})
}

func (c *console) skillsUpdate() *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use: "update [NAME]", Short: c.t("Install a skill again from where it came from, or all that are not pinned", "스킬을 받은 곳에서 다시 받습니다. 이름이 없으면 고정하지 않은 것을 모두 받습니다"), Args: c.args(0, 1),
		RunE: c.linked(func(ctx context.Context, l *link, args []string) error {
			if len(args) == 0 {
				all, err := l.Skills.List(ctx)
				if err != nil {
					return err
				}
				for _, v := range all {
					if v.Origin != nil && !v.Origin.Pinned {
						args = append(args, v.Name)
					}
				}
			}
			done := []kernel.SkillView{}
			var failed error
			for _, name := range args {
				v, err := l.Skills.Update(ctx, name)
				if err != nil {
					failed = errors.Join(failed, err)
					continue
				}
				if done = append(done, v); !c.json {
					c.printf("%s: %s", oneLine(v.Name), c.skillState(v.State))
				}
			}
			if c.json {
				return errors.Join(c.writeJSON(done), failed)
			}
			if len(args) == 0 {
				c.printf("%s", c.t("No skills to update.", "업데이트할 스킬이 없습니다."))
			}
			return failed
		}),
	})
}

func (c *console) skillsPin() *cobra.Command {
	var off bool
	cmd := c.withJSON(&cobra.Command{
		Use: "pin NAME", Short: c.t("Leave a skill as it is when all are updated", "모두 업데이트할 때 이 스킬은 그대로 둡니다"), Args: c.args(1, 1),
		RunE: c.linked(func(ctx context.Context, l *link, args []string) error {
			v, err := l.Skills.Pin(ctx, args[0], !off)
			if err != nil {
				return err
			}
			if c.json {
				return c.writeJSON(v)
			}
			if v.Origin.Pinned {
				c.printf(c.t("%s: pinned", "%s: 고정함"), oneLine(v.Name))
			} else {
				c.printf(c.t("%s: updated with the others", "%s: 다른 스킬과 함께 업데이트함"), oneLine(v.Name))
			}
			return nil
		}),
	})
	cmd.Flags().BoolVar(&off, "off", false, c.t("update it with the others again", "다시 다른 스킬과 함께 업데이트합니다"))
	return cmd
}

func (c *console) skillsExport() *cobra.Command {
	var replace bool
	cmd := c.withJSON(&cobra.Command{
		Use: "export NAME FILE", Short: c.t("Write a skill into a zip", "스킬을 zip 파일로 저장합니다"), Args: c.args(2, 2),
		RunE: c.linked(func(ctx context.Context, l *link, args []string) error {
			path, err := c.workFolder(args[1])
			if err != nil {
				return err
			}
			saved, err := l.Skills.Export(ctx, args[0], path, replace)
			if err != nil {
				return err
			}
			if c.json {
				return c.writeJSON(saved)
			}
			c.printf(c.t("Written to %s", "%s 파일에 저장했습니다"), saved.Path)
			return nil
		}),
	})
	cmd.Flags().BoolVar(&replace, "replace", false, c.t("replace a file that is there", "있는 파일을 덮어씁니다"))
	return cmd
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
