package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"oxios/kernel"
	"oxios/kernel/sys"
)

func (c *console) rolesList() *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use: "list", Short: c.t("List the roles", "역할을 봅니다"), Args: c.args(0, 0),
		RunE: c.linked(func(ctx context.Context, l *link, _ []string) error {
			p, err := l.Security.Permissions(ctx)
			if err != nil {
				return err
			}
			head := []string{c.t("ROLE", "역할"), c.t("PROFILE", "프로필"), c.t("WHAT IT TAKES AWAY", "제한")}
			return list(c, p.Roles, "", head, func(r kernel.RoleView) []string { return []string{r.Name, r.Profile, short(c.roleLimits(r), 90)} })
		}),
	})
}

func (c *console) rolesShow() *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use: "show NAME", Short: c.t("Show what a role allows at most", "역할이 최대한 허용하는 것을 봅니다"), Args: c.args(1, 1),
		RunE: c.linked(func(ctx context.Context, l *link, args []string) error {
			r, err := c.role(ctx, l, args[0])
			if err != nil {
				return err
			}
			if c.json {
				return c.writeJSON(r)
			}
			c.printf("%s: %s", r.Name, oneLine(c.roleSummary(r)))
			c.printf("  %s %s", c.t("Rights:", "권한:"), r.Rights)
			return nil
		}),
	})
}

func (c *console) role(ctx context.Context, l *link, name string) (kernel.RoleView, error) {
	p, err := l.Security.Permissions(ctx)
	if err != nil {
		return kernel.RoleView{}, err
	}
	for _, r := range p.Roles {
		if r.Name == name {
			return r, nil
		}
	}
	return kernel.RoleView{}, c.fail(sys.CodeNotFound, fmt.Sprintf(c.t("There is no role %q.", "%q 역할은 없습니다."), name), c.t("`oxios permissions roles list` shows them.", "`oxios permissions roles list`로 볼 수 있습니다."))
}

func (c *console) rolesSet() *cobra.Command {
	var f roleFlags
	cmd := &cobra.Command{
		Use: "set NAME", Short: c.t("Make a role, or change what the options name", "역할을 만들거나 옵션에 적은 것만 바꿉니다"), Args: c.args(1, 1),
		Long: c.t("Makes a role, or changes those rules of one that the options name; the others stay. `all` for --tools and --paths takes the rule away.\nRuns that have begun keep the rules they began with.",
			"역할을 만들거나, 옵션에 적은 규칙만 바꿉니다. --tools와 --paths에 `all`을 주면 그 규칙이 없어집니다.\n이미 시작한 실행은 시작할 때의 규칙을 따릅니다."),
		Example: "  oxios permissions roles set reviewer --profile standard --tools read,grep,find,ls --network=false\n  oxios run --role reviewer \"Review this folder\"",
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.linked(func(ctx context.Context, l *link, args []string) error {
				p, err := l.Security.Permissions(ctx)
				if err != nil {
					return err
				}
				r := kernel.Role{Name: args[0], Profile: "operator", NetworkAccess: true, CanFork: true}
				if i := slices.IndexFunc(p.Roles, func(v kernel.RoleView) bool { return v.Name == args[0] }); i >= 0 {
					r = p.Roles[i].Role
				}
				if err := f.over(c, cmd, &r); err != nil {
					return err
				}
				if p, err = l.Security.SetRole(ctx, r); err != nil {
					return err
				}
				if c.json {
					return c.writeJSON(p)
				}
				v, err := c.role(ctx, l, r.Name)
				if err == nil {
					c.printf("%s: %s", v.Name, oneLine(c.roleSummary(v)))
				}
				return err
			})(cmd, args)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.profile, "profile", "", c.t("the `rights` it begins with: worker, standard, operator or supervisor", "시작하는 `권한`: worker, standard, operator, supervisor"))
	fl.StringSliceVar(&f.tools, "tools", nil, c.t("only these `tools`", "이 `도구`만"))
	fl.StringSliceVar(&f.paths, "paths", nil, c.t("only these `paths`, with all below them", "이 `경로`와 그 아래만"))
	fl.StringSliceVar(&f.notPaths, "not-paths", nil, c.t("not these `paths`; they win", "이 `경로`는 제외(우선)"))
	fl.BoolVar(&f.network, "network", true, c.t("you may be asked for the network", "네트워크 승인을 물을 수 있음"))
	fl.BoolVar(&f.fork, "fork", true, c.t("it may start other agents", "다른 에이전트를 시작할 수 있음"))
	fl.IntVar(&f.seconds, "max-seconds", 0, c.t("stop an agent or a command after so many `seconds` of work; 0 is no limit of its own", "이 `초`만큼 일하면 에이전트나 명령을 멈춥니다. 0이면 제한 없음"))
	fl.IntVar(&f.memory, "max-memory", 0, c.t("end a command above so many `MB`; 0 is no limit of its own", "이 `MB`를 넘으면 명령을 끝냅니다. 0이면 제한 없음"))
	return c.withJSON(cmd)
}

// roleFlags are the flags of `oxios permissions roles set`.
type roleFlags struct {
	profile                string
	tools, paths, notPaths []string
	network, fork          bool
	seconds, memory        int
}

// over changes those rules of a role that the person named.
func (f roleFlags) over(c *console, cmd *cobra.Command, r *kernel.Role) (err error) {
	full := func(list []string) []string {
		if slices.Equal(list, []string{"all"}) {
			return nil
		}
		out := make([]string, len(list))
		for i, one := range list {
			if out[i], err = c.fullPath(one); err != nil {
				return nil
			}
		}
		return out
	}
	for name, set := range map[string]func(){
		"profile": func() { r.Profile = f.profile },
		"tools": func() {
			if r.AllowedTools = append([]string{}, f.tools...); slices.Equal(f.tools, []string{"all"}) {
				r.AllowedTools = nil
			}
		},
		"paths":       func() { r.AllowedPaths = full(f.paths) },
		"not-paths":   func() { r.DeniedPaths = full(f.notPaths) },
		"network":     func() { r.NetworkAccess = f.network },
		"fork":        func() { r.CanFork = f.fork },
		"max-seconds": func() { r.MaxExecutionTimeSecs = f.seconds },
		"max-memory":  func() { r.MaxMemoryMB = f.memory },
	} {
		if cmd.Flags().Changed(name) {
			set()
		}
	}
	return err
}

func (c *console) rolesDelete() *cobra.Command {
	return c.withJSON(&cobra.Command{
		Use: "delete NAME", Short: c.t("Delete a role of yours, or put a built-in one back", "직접 만든 역할을 지우거나 기본 역할을 되돌립니다"), Args: c.args(1, 1),
		RunE: c.linked(func(ctx context.Context, l *link, args []string) error {
			p, err := l.Security.DeleteRole(ctx, args[0])
			if err != nil {
				return err
			}
			if c.json {
				return c.writeJSON(p)
			}
			c.printf("%s: %s", args[0], c.t("deleted.", "지웠습니다."))
			return nil
		}),
	})
}

// roleSummary tells a role in a line.
func (c *console) roleSummary(r kernel.RoleView) string {
	return strings.TrimSuffix(c.t("profile ", "프로필 ")+r.Profile+"; "+c.roleLimits(r), "; ")
}

// ruleSummary tells the rules for an agent or for the person in a line.
func (c *console) ruleSummary(r kernel.RoleView) string {
	limits := c.roleLimits(r)
	if r.Profile != "supervisor" { // one of its own; the widest takes nothing
		limits = strings.TrimSuffix(c.t("profile ", "프로필 ")+r.Profile+"; "+limits, "; ")
	}
	return firstOf(limits, c.t("takes nothing away", "제한 없음"))
}

// roleLimits are what a role takes from its profile.
func (c *console) roleLimits(r kernel.RoleView) string {
	var parts []string
	only := func(en, ko string, list []string) {
		if list != nil {
			parts = append(parts, c.t(en, ko)+" "+firstOf(strings.Join(list, ", "), c.t("none", "없음")))
		}
	}
	only("only the tools", "도구만:", r.AllowedTools)
	if len(r.DeniedTools) > 0 {
		only("not the tools", "금지 도구:", r.DeniedTools)
	}
	only("only the paths", "경로만:", r.AllowedPaths)
	if len(r.DeniedPaths) > 0 {
		only("not the paths", "금지 경로:", r.DeniedPaths)
	}
	if !r.NetworkAccess {
		parts = append(parts, c.t("no network", "네트워크 없음"))
	}
	if !r.CanFork {
		parts = append(parts, c.t("starts no agents", "에이전트를 시작하지 않음"))
	}
	for _, act := range r.DeniedActions {
		switch string(act) {
		case "manage_agents":
			parts = append(parts, c.t("manages no agents", "에이전트를 관리하지 않음"))
		case "config_change":
			parts = append(parts, c.t("changes no settings", "설정을 바꾸지 않음"))
		}
	}
	if r.MaxExecutionTimeSecs > 0 {
		parts = append(parts, fmt.Sprintf(c.t("works up to %d s", "작업 최대 %d초"), r.MaxExecutionTimeSecs))
	}
	if r.MaxMemoryMB > 0 {
		parts = append(parts, fmt.Sprintf(c.t("commands up to %d MB", "명령 최대 %d MB"), r.MaxMemoryMB))
	}
	return strings.Join(parts, "; ")
}
