package cli

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"oxios/kernel"
)

func (c *console) permissionsCommand() *cobra.Command {
	return c.group("permissions", "What agents may do at most: roles, paths that are kept from them, and addresses that are open to them", "에이전트가 최대한 할 수 있는 일: 역할, 접근 금지 경로, 열어 준 주소",
		c.permissionsShow(),
		c.permissionsPath("deny", "Keep a path, with all below it, from all agents", "경로와 그 아래를 모든 에이전트에게 막습니다", "kept from all agents.", "모든 에이전트에게 막았습니다.",
			func(ctx context.Context, l *link, path string) (kernel.Permissions, error) {
				return l.Security.DenyPath(ctx, path)
			}),
		c.permissionsPath("allow", "Take a path from those that are kept from agents", "막아 둔 경로를 풉니다", "no longer kept from agents.", "더 이상 막지 않습니다.",
			func(ctx context.Context, l *link, path string) (kernel.Permissions, error) {
				return l.Security.AllowPath(ctx, path)
			}),
		c.permissionsAddress("grant-address", "Open an address of your own network, or a range, to agents", "내부 네트워크의 주소나 범위를 에이전트에게 엽니다", "open to agents.", "에이전트에게 열었습니다.",
			func(ctx context.Context, l *link, address string) (kernel.Permissions, error) {
				return l.Security.GrantAddress(ctx, address)
			}),
		c.permissionsAddress("revoke-address", "Close an address or a range that was opened", "열어 둔 주소나 범위를 닫습니다", "closed again.", "다시 닫았습니다.",
			func(ctx context.Context, l *link, address string) (kernel.Permissions, error) {
				return l.Security.RevokeAddress(ctx, address)
			}),
		c.permissionsCheck(),
		c.group("roles", "What agents that have a role may do at most", "역할을 가진 에이전트가 최대한 할 수 있는 일",
			c.rolesList(), c.rolesShow(), c.rolesSet(), c.rolesDelete()))
}

func (c *console) permissionsShow() *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use: "show", Short: c.t("Show the rules for agents", "에이전트 규칙을 봅니다"), Args: c.args(0, 0),
		RunE: c.linked(func(ctx context.Context, l *link, _ []string) error {
			p, err := l.Security.Permissions(ctx)
			if err != nil {
				return err
			}
			if c.json {
				return c.writeJSON(p)
			}
			c.printf("%s %s", c.t("Role of new conversations:", "새 대화의 역할:"), p.Role)
			if len(p.DeniedPaths) == 0 {
				c.printf("%s", c.t("No path is kept from agents beside those that never are touched.", "항상 건드리지 않는 곳 외에 막아 둔 경로가 없습니다."))
			}
			for _, path := range p.DeniedPaths {
				c.printf("%s %s", c.t("Kept from agents:", "막아 둔 경로:"), oneLine(path))
			}
			for _, address := range p.GrantedAddresses {
				c.printf("%s %s", c.t("Open to agents in your network:", "에이전트에게 연 내부 주소:"), oneLine(address))
			}
			for _, r := range p.Roles {
				if r.Changed {
					c.printf("%s %s: %s", c.t("Role", "역할"), r.Name, oneLine(c.roleSummary(r)))
				}
			}
			for _, r := range p.Agents {
				c.printf("%s %s: %s", c.t("Agent", "에이전트"), oneLine(r.Name), oneLine(c.ruleSummary(r)))
			}
			if p.User != nil {
				c.printf("%s: %s", c.t("You", "사용자"), oneLine(c.ruleSummary(*p.User)))
			}
			c.printf("%s %s", c.t("They stand in", "파일:"), p.Path)
			return nil
		}),
	})
}

func (c *console) permissionsPath(use, en, ko, doneEN, doneKO string, do func(context.Context, *link, string) (kernel.Permissions, error)) *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use: use + " PATH", Short: c.t(en, ko), Args: c.args(1, 1),
		Example: "  oxios permissions " + use + " ~/taxes",
		RunE: c.linked(func(ctx context.Context, l *link, args []string) error {
			path, err := c.fullPath(args[0])
			if err != nil {
				return err
			}
			p, err := do(ctx, l, path)
			if err != nil {
				return err
			}
			if c.json {
				return c.writeJSON(p)
			}
			c.printf("%s: %s", oneLine(args[0]), c.t(doneEN, doneKO))
			return nil
		}),
	})
}

func (c *console) permissionsAddress(use, en, ko, doneEN, doneKO string, do func(context.Context, *link, string) (kernel.Permissions, error)) *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use: use + " RANGE", Short: c.t(en, ko), Args: c.args(1, 1),
		Example: "  oxios permissions " + use + " 192.168.1.0/24",
		RunE: c.linked(func(ctx context.Context, l *link, args []string) error {
			p, err := do(ctx, l, args[0])
			if err != nil {
				return err
			}
			if c.json {
				return c.writeJSON(p)
			}
			address := args[0]
			if n := len(p.GrantedAddresses); n > 0 && use == "grant-address" {
				address = p.GrantedAddresses[n-1] // as it counts: without what is behind the range
			}
			c.printf("%s: %s", oneLine(address), c.t(doneEN, doneKO))
			return nil
		}),
	})
}

// fullPath is a path as the person means it where they are; the kernel works
// elsewhere.
func (c *console) fullPath(path string) (string, error) {
	if filepath.IsAbs(path) || path == "~" || strings.HasPrefix(path, "~/") {
		return path, nil
	}
	return c.workFolder(path)
}

func (c *console) permissionsCheck() *cobra.Command {
	var role, agent string
	var user bool
	cmd := &cobra.Command{
		Use: "check ACTION [RESOURCE]", Short: c.t("Say what the rules would allow; nothing is done", "규칙이 허용하는지 봅니다. 아무것도 하지 않습니다"), Args: c.args(1, 2),
		Long: c.t("Says whether a rule for the role, the agent or you, or a denied path, is against something: execute_tool TOOL, access_path PATH, network, fork,\nmanage_agents or config_change. The folder, the mode and your approvals decide what is left. Exit code 1 when it is refused.",
			"역할·에이전트·사용자의 규칙이나 금지된 경로가 막는지 봅니다: execute_tool 도구, access_path 경로, network, fork, manage_agents, config_change.\n나머지는 폴더, 모드, 승인이 정합니다. 거부되면 종료 코드는 1입니다."),
		Example: "  oxios permissions check access_path ~/taxes\n  oxios permissions check fork --role worker\n  oxios permissions check network --agent helper\n  oxios permissions check config_change --user",
		RunE: c.linked(func(ctx context.Context, l *link, args []string) error {
			in := kernel.AccessCheck{Role: role, Agent: agent, User: user, Action: args[0]}
			if len(args) > 1 {
				in.Resource = args[1]
			}
			if in.Action == "access_path" {
				path, err := c.fullPath(in.Resource)
				if err != nil {
					return err
				}
				in.Resource = path
			}
			d, err := l.Security.Check(ctx, in)
			if err != nil {
				return err
			}
			switch {
			case c.json:
				if err := c.writeJSON(d); err != nil {
					return err
				}
			case d.Allowed && user:
				c.printf("%s", c.t("Allowed by the rules for you.", "사용자 규칙이 허용합니다."))
			case d.Allowed && agent != "":
				c.printf(c.t("Allowed by the rules for the agent %s and of the role %s.", "%s 에이전트와 %s 역할의 규칙이 허용합니다."), oneLine(agent), d.Role)
			case d.Allowed:
				c.printf(c.t("Allowed by the rules of the role %s.", "%s 역할의 규칙이 허용합니다."), d.Role)
			default:
				c.printf(c.t("Refused by %s: %s.", "%s이(가) 거부합니다: %s."), d.Rule, c.either(d.Why, d.WhyKO))
				c.printf("%s %s", c.t("Changed here:", "바꾸는 곳:"), c.either(d.Change, d.ChangeKO))
			}
			if !d.Allowed {
				return exits(exitFailed)
			}
			return nil
		}),
	}
	cmd.Flags().StringVar(&role, "role", "", c.t("ask about this `role`", "이 `역할`에 대해 묻습니다"))
	cmd.Flags().StringVar(&agent, "agent", "", c.t("ask about the agent of this `name`, with the role", "역할과 함께 이 `이름`의 에이전트에 대해 묻습니다"))
	cmd.Flags().BoolVar(&user, "user", false, c.t("ask about what you do yourself", "직접 하는 일에 대해 묻습니다"))
	return c.withJSON(cmd)
}
