package kernel

import (
	"context"
	"maps"
	"slices"

	"oxios/kernel/security"
	"oxios/kernel/sys"
)

// rule makes the rule of an [agents.NAME] table or of [user]: a role that takes
// nothing away but what the table says.
func (rc RoleConfig) rule(name string) security.Role {
	r := rc.role(name)
	if rc.Profile == "" {
		r.Profile = security.WidestProfile()
	}
	return r
}

// rulesFor are the rules of a run that is called name, beside those of single
// agents that hold it already.
func (c Config) rulesFor(role security.Role, held []security.Role, name string) security.Rules {
	out := security.Rules{Role: role, Agents: slices.Clone(held)}
	if rc, ok := c.Agents[name]; ok {
		out.Agents = append(out.Agents, rc.rule(name))
	}
	return out
}

// rulesIn are the rules of a new run of a conversation. after is the run that it
// goes on from, "" without one: what held that one holds whatever follows, as the
// configuration has it now, so that no agent comes free by being continued.
func (k *Kernel) rulesIn(ctx context.Context, role security.Role, after, name string) (security.Rules, error) {
	cfg := k.config.get()
	if len(cfg.Agents) == 0 {
		return security.Rules{Role: role}, nil
	}
	var names []string
	if after != "" {
		r, err := k.store.Run(ctx, after)
		if err != nil {
			return security.Rules{}, err
		}
		for _, a := range rulesOf(r).Agents {
			names = append(names, a.Name)
		}
		names = append(names, r.Name)
	}
	out := security.Rules{Role: role}
	for _, n := range append(names, name) {
		if !slices.ContainsFunc(out.Agents, func(a security.Role) bool { return a.Name == n }) {
			out = cfg.rulesFor(out.Role, out.Agents, n)
		}
	}
	return out, nil
}

// userRule is what the person took from themselves.
func (c Config) userRule() security.Role {
	if c.User == nil {
		return RoleConfig{}.rule(security.SubjectUser)
	}
	return c.User.rule(security.SubjectUser)
}

// tableError is an error in one table of config.toml.
type tableError struct {
	table string // "agents.helper"
	error
}

func (e *tableError) Unwrap() error { return e.error }

func inTable(table string, err error) error { return &tableError{table, err} }

// validateSubjects says what is wrong with the rules for single agents and for
// the person.
func (c Config) validateSubjects() error {
	for _, name := range slices.Sorted(maps.Keys(c.Agents)) {
		rc := c.Agents[name]
		err := rc.checkPaths()
		if err == nil {
			err = security.CheckRules(rc.rule(name))
		}
		if name == "" || titleOf(name) != name {
			err = sys.Errorf(sys.CodeInvalid, "no agent is called %q: a name is one line of at most 60 characters, without blanks around it, and ends with its first sentence", name)
		}
		if err != nil {
			return inTable("agents."+name, err)
		}
	}
	if c.User == nil {
		return nil
	}
	for key, set := range map[string]bool{"profile": c.User.Profile != "", "max_execution_time_secs": c.User.MaxExecutionTimeSecs != 0, "max_memory_mb": c.User.MaxMemoryMB != 0} {
		if set {
			return inTable("user", sys.Errorf(sys.CodeInvalid, "%s is for roles and agents, and not for the user", key))
		}
	}
	err := c.User.checkPaths()
	if err == nil {
		err = security.CheckRules(c.userRule())
	}
	if err != nil {
		return inTable("user", err)
	}
	return nil
}

// checkTools refuses rules about tools that do not exist: they would hold nobody.
func (c Config) checkTools(all []ToolInfo) error {
	check := func(table string, rc RoleConfig) error {
		for _, list := range []struct {
			key   string
			names []string
		}{{"allowed_tools", rc.AllowedTools}, {"denied_tools", rc.DeniedTools}} {
			for _, name := range list.names {
				if !slices.ContainsFunc(all, func(t ToolInfo) bool { return t.Name == name }) {
					return inTable(table, sys.Errorf(sys.CodeInvalid, "%s has %q, but there is no tool of this name (`oxios tools list`)", list.key, name))
				}
			}
		}
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(c.Agents)) {
		if err := check("agents."+name, c.Agents[name]); err != nil {
			return err
		}
	}
	if c.User == nil {
		return nil
	}
	return check("user", *c.User)
}
