package tools

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"oxios/kernel"
	"oxios/kernel/agent"
	"oxios/kernel/sys"
)

type securityArgs struct {
	Action   string `json:"action" jsonschema:"self shows what you may do; roles and grants list what the person set; check says what would be allowed; waiting lists requests that wait for the person"`
	Role     string `json:"role,omitempty" jsonschema:"for check: ask about this role instead of yourself"`
	Act      string `json:"act,omitempty" jsonschema:"for check: what would be done"`
	Agent    string `json:"agent,omitempty" jsonschema:"for check: ask about the agent of this name, with the role"`
	Resource string `json:"resource,omitempty" jsonschema:"for check: the tool or the path"`
}

var securityMaker = maker{
	name: "security", domain: "security", calls: []string{"security.subject"},
	about: "Shows roles, grants and what would be allowed. It changes nothing.",
	make: func(h *kernel.Handle, _ kernel.Workplace) agent.Tool {
		return newTool("security", "Shows what agents may do on this machine: your own rights, the roles and denied paths that the person set, the kinds of steps they approved, "+
			"and what a rule would say about a tool or a path. It changes nothing: only the person changes rules.",
			map[string][]string{
				"action": {"self", "roles", "grants", "check", "waiting"},
				"act":    {"execute_tool", "access_path", "network", "fork", "manage_agents", "config_change"},
			},
			func(in securityArgs) sys.Words {
				if in.Action == "check" {
					return sys.Say("Check what is allowed: %s", strings.TrimSpace(in.Act+" "+in.Resource))
				}
				return sys.Say("Look at permissions")
			},
			func(ctx context.Context, in securityArgs) (agent.Result, error) {
				text, err := securityText(ctx, h, in)
				if err != nil {
					return agent.Result{}, err
				}
				return agent.Result{Text: text, Title: sys.Say("Looked at permissions")}, nil
			})
	},
}

func securityText(ctx context.Context, h *kernel.Handle, in securityArgs) (string, error) {
	switch in.Action {
	case "self":
		s, err := h.Security.Subject(ctx)
		if err != nil {
			return "", err
		}
		return selfText(s), nil
	case "roles":
		p, err := h.Security.Permissions(ctx)
		if err != nil {
			return "", err
		}
		var b strings.Builder
		fmt.Fprintf(&b, "New conversations start with the role %s.\n", p.Role)
		for _, r := range p.Roles {
			b.WriteString("- " + roleText(r) + "\n")
		}
		for _, r := range p.Agents {
			b.WriteString("- the single agent " + roleText(r) + "\n")
		}
		b.WriteString(deniedText(p.DeniedPaths))
		if len(p.GrantedAddresses) > 0 {
			b.WriteString("\nOpen to all agents in the person's own network: " + strings.Join(p.GrantedAddresses, ", ") + ".")
		}
		return b.String(), nil
	case "grants":
		list, err := h.Security.Grants(ctx, false)
		if err != nil {
			return "", err
		}
		if len(list) == 0 {
			return "No kind of step is approved beforehand.", nil
		}
		var b strings.Builder
		for _, g := range list {
			fmt.Fprintf(&b, "- %s in %s, for the %s, until %s, used %d times\n", g.Kind.Pattern, g.Kind.Dir, g.Scope, g.ExpiresAt.Format("2006-01-02 15:04"), g.Uses)
		}
		return strings.TrimRight(b.String(), "\n"), nil
	case "waiting":
		list, err := h.Security.Approvals(ctx, kernel.ApprovalQuery{State: "pending"})
		if err != nil {
			return "", err
		}
		if len(list) == 0 {
			return "No request waits for the person.", nil
		}
		var b strings.Builder
		for _, a := range list {
			fmt.Fprintf(&b, "- %s (%s)\n", a.Request.Title, oneLine(cmp.Or(a.Request.Command, a.Request.Path)))
		}
		return strings.TrimRight(b.String(), "\n"), nil
	}
	d, err := h.Security.Check(ctx, kernel.AccessCheck{Role: in.Role, Agent: in.Agent, Action: in.Act, Resource: in.Resource})
	if err != nil {
		return "", err
	}
	if d.Allowed {
		return fmt.Sprintf("No rule of the role %s is against it. The folder, the mode and the person decide the rest.", d.Role), nil
	}
	return fmt.Sprintf("Refused by the rule %s: %s. The person changes it: %s", d.Rule, d.Why, d.Change), nil
}

func selfText(s kernel.AccessSubject) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Folder: %s. Mode: %s.\n", s.Folder, s.Mode)
	if s.Role != nil {
		b.WriteString("Role: " + roleText(*s.Role) + "\n")
	}
	var space []string
	for _, d := range slices.Sorted(maps.Keys(s.Space)) {
		space = append(space, d+":"+s.Space[d])
	}
	b.WriteString("Rights: " + strings.Join(space, " ") + "\n" + deniedText(s.DeniedPaths))
	return b.String()
}

func deniedText(paths []string) string {
	if len(paths) == 0 {
		return "No path is denied to all agents."
	}
	return "Denied to all agents: " + strings.Join(paths, ", ") + "."
}

// roleText tells a role in a line: its profile, and what it takes from it.
func roleText(r kernel.RoleView) string {
	parts := []string{"profile " + r.Profile}
	list := func(name string, of []string) {
		if of != nil {
			parts = append(parts, name+" "+cmp.Or(strings.Join(of, ", "), "none"))
		}
	}
	list("only the tools", r.AllowedTools)
	if len(r.DeniedTools) > 0 {
		list("not the tools", r.DeniedTools)
	}
	list("only the paths", r.AllowedPaths)
	if len(r.DeniedPaths) > 0 {
		list("not the paths", r.DeniedPaths)
	}
	if !r.NetworkAccess {
		parts = append(parts, "no network")
	}
	if !r.CanFork {
		parts = append(parts, "no forks")
	}
	if slices.Contains(r.DeniedActions, "manage_agents") {
		parts = append(parts, "manages no agents")
	}
	if r.MaxExecutionTimeSecs > 0 {
		parts = append(parts, fmt.Sprintf("works up to %d s", r.MaxExecutionTimeSecs))
	}
	if r.MaxMemoryMB > 0 {
		parts = append(parts, fmt.Sprintf("commands up to %d MB", r.MaxMemoryMB))
	}
	return r.Name + ": " + strings.Join(parts, "; ")
}
