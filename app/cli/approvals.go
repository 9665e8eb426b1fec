package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"oxios/kernel"
	"oxios/kernel/sys"
)

func (c *console) approvalsCommand() *cobra.Command {
	return c.group("approvals", "What agents ask for, and your answers", "에이전트의 요청과 당신의 답",
		c.approvalsList(), c.approvalsShow(), c.approvalsTry(), c.approvalsApply(), c.approvalsDiscard(), c.approvalsApprove(), c.approvalsDeny(), c.approvalsRevoke())
}

func (c *console) approvalsList() *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use: "list", Short: c.t("List the requests that wait", "대기 중인 요청을 봅니다"), Args: c.args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := c.connect(cmd.Context())
			if err != nil {
				return err
			}
			defer l.close()
			q := kernel.ApprovalQuery{State: "pending"}
			if all {
				q.State = ""
			}
			items, err := l.Security.Approvals(cmd.Context(), q)
			if err != nil {
				return err
			}
			head := []string{"ID", c.t("STATE", "상태"), c.t("AGE", "경과"), c.t("AGENT", "에이전트"), c.t("REQUEST", "요청")}
			return list(c, items, c.t("Nothing waits for you.", "대기 중인 요청이 없습니다."), head, func(a kernel.Approval) []string {
				return []string{tail(a.ID), c.decision(a.State), ago(a.CreatedAt), short(a.Request.Agent, 24), c.named(a)}
			})
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, c.t("also those that were decided", "결정된 요청도 봅니다"))
	return c.withJSON(cmd)
}

func (c *console) approvalsApprove() *cobra.Command {
	var scope, comment, grant string
	cmd := &cobra.Command{
		Use: "approve ID", Short: c.t("Say yes to a request", "요청을 승인합니다"), Args: c.args(1, 1),
		Long: c.t("Says yes to a request, shown whole, and does not wait for the run. The id may be the one that lists show, or at least 4\ncharacters of its beginning or end.",
			"요청 전체를 보여 주고 승인합니다. 실행이 끝나기를 기다리지 않습니다. ID는 목록에 보이는 것, 또는 앞이나 뒤 4자 이상이면 됩니다."),
		RunE: func(cmd *cobra.Command, args []string) error {
			if grant != "" {
				if _, err := c.grantLength(grant); err != nil {
					return err
				}
			}
			if scope != "once" && scope != "run" {
				return usage(c.fail(sys.CodeInvalid, fmt.Sprintf(c.t("There is no scope %q.", "%q 범위는 없습니다."), scope), c.t("Use once or run.", "once 또는 run을 쓰세요.")))
			}
			return c.decide(cmd.Context(), args[0], func(l *link, a kernel.Approval) (kernel.Approval, error) {
				if grant != "" {
					return c.approveKind(cmd.Context(), l, a, grant, comment)
				}
				return l.Security.Approve(cmd.Context(), a.ID, kernel.ApproveInput{Hash: a.Request.Hash, Scope: scope, Comment: comment})
			})
		},
	}
	cmd.Flags().StringVar(&scope, "scope", "once", c.t("`once`, or run: the same call during this run", "`once`(한 번) 또는 run(이 실행 동안 같은 호출)"))
	cmd.Flags().StringVar(&grant, "grant", "", c.t("also its kind, for this `time`: run, session, 1h, 8h, 30d", "이 `기간` 동안 같은 종류도: run, session, 1h, 8h, 30d"))
	cmd.Flags().StringVar(&comment, "comment", "", c.t("`words` for the agent", "에이전트에게 전할 `말`"))
	cmd.MarkFlagsMutuallyExclusive("scope", "grant")
	return c.withJSON(cmd)
}

func (c *console) approvalsDeny() *cobra.Command {
	var comment string
	cmd := &cobra.Command{
		Use: "deny ID", Short: c.t("Say no to a request", "요청을 거절합니다"), Args: c.args(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.decide(cmd.Context(), args[0], func(l *link, a kernel.Approval) (kernel.Approval, error) {
				return l.Security.Deny(cmd.Context(), a.ID, comment)
			})
		},
	}
	cmd.Flags().StringVar(&comment, "comment", "", c.t("`words` for the agent: what it should do instead", "에이전트에게 전할 `말`: 대신 무엇을 할지"))
	return c.withJSON(cmd)
}

func (c *console) approvalsRevoke() *cobra.Command {
	cmd := &cobra.Command{
		Use: "revoke ID", Short: c.t("Take a yes back that has not been used up", "아직 쓰이지 않은 승인을 취소합니다"), Args: c.args(1, 1),
		Long: c.t("Takes a yes back: one that was not used yet, or one for a whole run. The same call asks again from then on; what has run stays.",
			"아직 쓰이지 않았거나 실행 전체에 준 승인을 취소합니다. 같은 호출은 그때부터 다시 묻고, 이미 실행한 것은 그대로입니다."),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.decide(cmd.Context(), args[0], func(l *link, a kernel.Approval) (kernel.Approval, error) {
				if err := l.Security.Revoke(cmd.Context(), a.ID); err != nil {
					return a, err
				}
				return l.Security.Approval(cmd.Context(), a.ID)
			})
		},
	}
	return c.withJSON(cmd)
}

// decide finds the request that name means, shows it and records the answer.
func (c *console) decide(ctx context.Context, name string, say func(*link, kernel.Approval) (kernel.Approval, error)) error {
	l, err := c.connect(ctx)
	if err != nil {
		return err
	}
	defer l.close()
	a, err := c.findApproval(ctx, l, name)
	if err != nil {
		return err
	}
	if !c.json {
		c.card(a)
	}
	if a, err = say(l, a); err != nil {
		return err
	}
	if c.json {
		return c.writeJSON(a)
	}
	c.printf("%s: %s: %s", tail(a.ID), c.decision(a.State), c.named(a))
	switch {
	case a.State == "canceled":
		c.note("%s", c.t("The same call asks again from now on; what has run stays.", "같은 호출도 이제부터 다시 묻습니다. 이미 실행한 것은 그대로입니다."))
	case l.own != nil:
		c.note("%s", c.t("Your answer is recorded. The run goes on when Oxios runs next: the window, or `oxios serve`.",
			"답이 기록되었습니다. 다음에 Oxios가 실행될 때(창 또는 `oxios serve`) 이어집니다."))
	default:
		c.note("%s", c.t("The run goes on.", "실행이 이어집니다."))
	}
	return nil
}

// named is a request in a line: what it would do at worst, and its command.
func (c *console) named(a kernel.Approval) string {
	what := c.title(a)
	if command := oneLine(a.Request.Command); command != "" && !strings.HasSuffix(what, command) {
		what += ": " + command
	}
	return what
}

// findApproval finds the request that name means: an id, or a part of one.
func (c *console) findApproval(ctx context.Context, l *link, name string) (kernel.Approval, error) {
	a, err := l.Security.Approval(ctx, name)
	if sys.CodeOf(err) != sys.CodeNotFound {
		return a, err
	}
	all, err := l.Security.Approvals(ctx, kernel.ApprovalQuery{})
	if err != nil {
		return a, err
	}
	return find(c, c.t("request", "요청"), "oxios approvals list --all", name, all, func(a kernel.Approval) string { return a.ID })
}
