package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"oxios/kernel"
	"oxios/kernel/sys"
)

func (c *console) grantsCommand() *cobra.Command {
	return c.group("grants", "The kinds of steps that agents may do without asking", "에이전트가 묻지 않고 할 수 있는 단계의 종류",
		c.grantsList(), c.grantsShow(), c.grantsRevoke())
}

func (c *console) grantsList() *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use: "list", Short: c.t("List the kinds of steps that you allow", "허용한 단계의 종류를 봅니다"), Args: c.args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := c.connect(cmd.Context())
			if err != nil {
				return err
			}
			defer l.close()
			items, err := l.Security.Grants(cmd.Context(), all)
			if err != nil {
				return err
			}
			head := []string{"ID", c.t("KIND", "종류"), c.t("FOLDER", "폴더"), c.t("UNTIL", "기한"), c.t("USED", "사용")}
			return list(c, items, c.t("No kind of step is allowed beforehand.", "미리 허용한 단계가 없습니다."), head, func(g kernel.Grant) []string {
				return []string{tail(g.ID), short(g.Kind.Pattern, 60), g.Kind.Dir, c.grantEnd(g), fmt.Sprint(g.Uses)}
			})
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, c.t("also those that have ended", "끝난 것도 봅니다"))
	return c.withJSON(cmd)
}

func (c *console) grantsShow() *cobra.Command {
	cmd := &cobra.Command{
		Use: "show ID", Short: c.t("Show what a grant allows", "허용한 내용을 봅니다"), Args: c.args(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			l, g, err := c.findGrant(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			defer l.close()
			if c.json {
				return c.writeJSON(g)
			}
			c.printf("%s", oneLine(g.Kind.Pattern))
			line := func(en, ko, value string) { c.printf("  %s %s", c.t(en, ko), oneLine(value)) }
			line("Id:", "ID:", g.ID)
			line("Program:", "프로그램:", g.Kind.Executable)
			line("Folder:", "폴더:", g.Kind.Dir)
			line("Network:", "네트워크:", map[bool]string{true: c.t("yes", "사용"), false: c.t("no", "사용 안 함")}[g.Kind.Network])
			line("Until:", "기한:", c.grantEnd(g))
			line("Used:", "사용:", fmt.Sprint(g.Uses))
			line("From request:", "요청:", g.ApprovalID)
			return nil
		},
	}
	return c.withJSON(cmd)
}

func (c *console) grantsRevoke() *cobra.Command {
	cmd := &cobra.Command{
		Use: "revoke ID", Short: c.t("Take a kind of step back", "허용을 취소합니다"), Args: c.args(1, 1),
		Long: c.t("Takes a kind of step back. Its next call asks; what has run stays.", "허용을 취소합니다. 다음 호출부터 묻고, 이미 실행한 것은 그대로입니다."),
		RunE: func(cmd *cobra.Command, args []string) error {
			l, g, err := c.findGrant(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			defer l.close()
			if g, err = l.Security.RevokeGrant(cmd.Context(), g.ID); err != nil {
				return err
			}
			if c.json {
				return c.writeJSON(g)
			}
			c.printf("%s: %s", tail(g.ID), c.t("taken back; this kind of step asks again.", "취소했습니다. 이 종류의 단계는 다시 묻습니다."))
			return nil
		},
	}
	return c.withJSON(cmd)
}

func (c *console) findGrant(ctx context.Context, name string) (*link, kernel.Grant, error) {
	l, err := c.connect(ctx)
	if err != nil {
		return nil, kernel.Grant{}, err
	}
	all, err := l.Security.Grants(ctx, true)
	var g kernel.Grant
	if err == nil {
		g, err = find(c, c.t("grant", "허용"), "oxios grants list --all", name, all, func(g kernel.Grant) string { return g.ID })
	}
	if err != nil {
		l.close()
		return nil, kernel.Grant{}, err
	}
	return l, g, nil
}

// grantEnd says when a grant ends, or that it has.
func (c *console) grantEnd(g kernel.Grant) string {
	switch {
	case !g.Holds:
		return c.t("ended", "끝남")
	case g.Scope == "run":
		return c.t("the run ends", "실행이 끝날 때")
	case g.Scope == "session":
		return c.t("this conversation", "이 대화 동안")
	}
	return g.ExpiresAt.Local().Format("2006-01-02 15:04")
}

// grantLength reads how long a kind of step is to be allowed: run, session, 1h, 30d.
func (c *console) grantLength(s string) (kernel.GrantInput, error) {
	if s == "run" || s == "session" {
		return kernel.GrantInput{Scope: s}, nil
	}
	d, err := time.ParseDuration(s)
	var days int
	if n, _ := fmt.Sscanf(s, "%dd", &days); err != nil && n == 1 && s == fmt.Sprintf("%dd", days) && days <= 30 {
		d, err = time.Duration(days)*24*time.Hour, nil
	}
	if err != nil || d < time.Minute || d > 30*24*time.Hour {
		return kernel.GrantInput{}, usage(c.fail(sys.CodeInvalid, fmt.Sprintf(c.t("%q is no length of time that a kind of step can be allowed for.", "%q 동안은 허용할 수 없습니다."), s),
			c.t("Use run, session, or a time such as 1h, 8h or 30d.", "run, session 또는 1h, 8h, 30d처럼 쓰세요.")))
	}
	return kernel.GrantInput{Scope: "folder", Minutes: int(d / time.Minute)}, nil
}

// approvalsShow shows a request, and the kind of step that it could be allowed as.
func (c *console) approvalsShow() *cobra.Command {
	cmd := &cobra.Command{
		Use: "show ID", Short: c.t("Show a request, and the kind of step that it could be allowed as", "요청과, 어떤 종류로 허용할 수 있는지 봅니다"), Args: c.args(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			l, err := c.connect(cmd.Context())
			if err != nil {
				return err
			}
			defer l.close()
			a, err := c.findApproval(cmd.Context(), l, args[0])
			if err != nil {
				return err
			}
			p, err := l.Security.ProposeGrant(cmd.Context(), a.ID)
			if err != nil {
				return err
			}
			if c.json {
				return c.writeJSON(struct {
					Approval kernel.Approval      `json:"approval"`
					Proposal kernel.GrantProposal `json:"proposal"`
				}{a, p})
			}
			c.card(a)
			c.preview(p)
			c.printf("%s: %s", tail(a.ID), c.decision(a.State))
			return nil
		},
	}
	return c.withJSON(cmd)
}

// preview says what a grant would allow, and which past requests it would have
// answered.
func (c *console) preview(p kernel.GrantProposal) {
	if !p.Can {
		c.note("  %s %s", c.t("As a kind:", "종류로:"), c.either(p.Why.EN, p.Why.KO))
		return
	}
	c.note("  %s %s", c.t("As a kind:", "종류로:"), oneLine(c.either(p.Allows.EN, p.Allows.KO)))
	c.note("  "+c.t("It would have covered %d of the last %d requests here.", "지난 요청 %[2]d개 중 %[1]d개가 해당됩니다."), len(p.Covered), p.Looked)
	for i, old := range p.Covered {
		if i == 5 {
			c.note("    …")
			break
		}
		c.note("    %s", short(old.Command, 100))
	}
}

// approveKind says yes to a request, and to its kind.
func (c *console) approveKind(ctx context.Context, l *link, a kernel.Approval, length, comment string) (kernel.Approval, error) {
	in, err := c.grantLength(length)
	if err != nil {
		return a, err
	}
	p, err := l.Security.ProposeGrant(ctx, a.ID)
	if err != nil {
		return a, err
	}
	if !c.json {
		c.preview(p)
	}
	in.Hash, in.Comment = a.Request.Hash, comment
	out, err := l.Security.Grant(ctx, a.ID, in)
	if err != nil {
		return a, err
	}
	if !c.json {
		c.note("  %s %s (%s)", c.t("Allowed until:", "허용 기한:"), c.grantEnd(out.Grant), tail(out.Grant.ID))
	}
	return out.Approval, nil
}
