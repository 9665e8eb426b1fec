package kernel

import (
	"context"
	"maps"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"

	"oxios/kernel/event"
	"oxios/kernel/security"
	"oxios/kernel/sys"
)

// Role is what the agents that have it may do at most.
type Role = security.Role

// Permissions are the rules that the person set for agents. They stand in
// config.toml.
type Permissions struct {
	Role        string     `json:"role"` // of new conversations
	Roles       []RoleView `json:"roles"`
	Agents      []RoleView `json:"agents"`         // the rules for single agents, by name; its profile is the widest where none is written
	User        *RoleView  `json:"user,omitempty"` // what the person took from themselves
	DeniedPaths []string   `json:"denied_paths"`   // with ~ for the home
	// GrantedAddresses are ranges of the own network that agents may reach.
	GrantedAddresses []string `json:"granted_addresses"`
	Profiles         []string `json:"profiles"` // the narrowest first
	Path             string   `json:"path"`     // of config.toml
}

// RoleView is a role as a face shows it; its paths have ~ for the home.
type RoleView struct {
	Role
	BuiltIn bool   `json:"built_in"` // it cannot be deleted, only put back
	Changed bool   `json:"changed"`  // a table of config.toml says something of it
	Rights  string `json:"rights"`   // as "exec:RWX llm:X"
}

// AccessSubject is what the caller may do at most: its capability space, its
// role, and what is denied to it.
type AccessSubject struct {
	Kind        string            `json:"kind"` // user or agent
	Name        string            `json:"name"`
	Role        *RoleView         `json:"role,omitempty"`
	Space       map[string]string `json:"space"`        // rights by domain, as "exec": "RWX"
	DeniedPaths []string          `json:"denied_paths"` // to all agents
	Folder      string            `json:"folder"`
	Mode        string            `json:"mode"`
}

// AccessCheck asks what a subject would be allowed.
type AccessCheck struct {
	Role     string `json:"role,omitempty"`     // by name; "" asks about the caller itself, the person about the role of new conversations
	Agent    string `json:"agent,omitempty"`    // a single agent by name, with the role
	User     bool   `json:"user,omitempty"`     // ask about the person
	Action   string `json:"action"`             // execute_tool, access_path, network, fork, manage_agents or config_change
	Resource string `json:"resource,omitempty"` // the tool, or the path: absolute, with ~, or below the caller's folder
}

// AccessDecision is the answer to an [AccessCheck]. Allowed means that no rule
// for the subject and no denied path is against it: policy, mode and the person
// may still be.
type AccessDecision struct {
	Allowed  bool   `json:"allowed"`
	Subject  string `json:"subject"`         // role, agent or user
	Role     string `json:"role,omitempty"`  // not of the user
	Agent    string `json:"agent,omitempty"` // the single agent that was asked about
	Action   string `json:"action"`
	Resource string `json:"resource,omitempty"`
	Rule     string `json:"rule,omitempty"` // that refuses
	Why      string `json:"why,omitempty"`
	WhyKO    string `json:"why_ko,omitempty"`
	Change   string `json:"change,omitempty"` // where the person changes it
	ChangeKO string `json:"change_ko,omitempty"`
}

// Permissions returns the roles and the denied paths.
func (a *SecurityAPI) Permissions(ctx context.Context) (Permissions, error) {
	return guard(ctx, a.caller, action{call: "security.permissions", resource: "permissions"}, func(context.Context) (Permissions, error) {
		return a.k.permissions(), nil
	})
}

func (k *Kernel) permissions() Permissions {
	cfg := k.config.get()
	p := Permissions{Role: cfg.Role, DeniedPaths: shortenAll(cfg.deniedPaths()), Profiles: security.ProfileNames(), Path: shortenHome(k.config.path)}
	if p.DeniedPaths == nil {
		p.DeniedPaths = []string{}
	}
	p.GrantedAddresses = slices.Concat([]string{}, cfg.GrantedAddresses)
	p.Agents = []RoleView{}
	for _, name := range slices.Sorted(maps.Keys(cfg.Agents)) {
		p.Agents = append(p.Agents, viewRole(cfg.Agents[name].rule(name), true))
	}
	if cfg.User != nil {
		v := viewRole(cfg.userRule(), true)
		p.User = &v
	}
	for _, r := range cfg.roles() {
		_, changed := cfg.Roles[r.Name]
		p.Roles = append(p.Roles, viewRole(r, changed))
	}
	return p
}

func viewRole(r Role, changed bool) RoleView {
	r.AllowedPaths, r.DeniedPaths = shortenAll(r.AllowedPaths), shortenAll(r.DeniedPaths)
	return RoleView{Role: r, BuiltIn: slices.Contains(security.ProfileNames(), r.Name), Changed: changed, Rights: r.Space().String()}
}

// Subject says what the caller may do at most.
func (a *SecurityAPI) Subject(ctx context.Context) (AccessSubject, error) {
	return guard(ctx, a.caller, action{call: "security.subject", resource: "permissions"}, func(context.Context) (AccessSubject, error) {
		s := a.subject()
		out := AccessSubject{Kind: s.Kind, Name: s.Name, Space: map[string]string{}, DeniedPaths: a.k.permissions().DeniedPaths, Folder: shortenHome(a.scope.folder), Mode: string(a.scope.mode)}
		for d, r := range a.cspace {
			out.Space[string(d)] = r.String()
		}
		if s.Kind == security.SubjectAgent {
			v := viewRole(a.role, false)
			out.Role = &v
		}
		return out, nil
	})
}

// Check says what would be allowed. Nothing is done.
func (a *SecurityAPI) Check(ctx context.Context, in AccessCheck) (AccessDecision, error) {
	return guard(ctx, a.caller, action{call: "security.check", resource: "permissions"}, func(context.Context) (AccessDecision, error) {
		if !slices.Contains(security.Acts(), security.Act(in.Action)) {
			return AccessDecision{}, sys.Errorf(sys.CodeInvalid, "There is no action %q.", in.Action).WithHint("Use one of %s.", joinActs())
		}
		s, err := a.asked(in)
		if err != nil {
			return AccessDecision{}, err
		}
		resources := []string{in.Resource}
		switch security.Act(in.Action) {
		case security.ActAccessPath:
			at := expandHome(in.Resource)
			if !filepath.IsAbs(at) {
				at = filepath.Join(a.scope.folder, at)
			}
			resources = []string{at, realPath(at)}
		case security.ActExecuteTool:
			if !slices.ContainsFunc(a.k.opts.Catalogue, func(t ToolInfo) bool { return t.Name == in.Resource }) {
				return AccessDecision{}, sys.Errorf(sys.CodeNotFound, "There is no tool %q.", in.Resource).WithHint("`oxios tools list` shows them.")
			}
		default:
		}
		out := AccessDecision{Allowed: true, Subject: s.Kind, Role: s.Role.Name, Agent: in.Agent, Action: in.Action, Resource: in.Resource}
		if in.User {
			out.Role = ""
		}
		for _, r := range resources {
			if no := s.Refuses(security.Act(in.Action), r); no != nil {
				out.Allowed, out.Rule = false, no.Rule
				out.Why, out.WhyKO, out.Change, out.ChangeKO = no.Why.EN, no.Why.KO, no.Mend.EN, no.Mend.KO
				break
			}
		}
		return out, nil
	})
}

// asked is the subject that a check is about.
func (a *SecurityAPI) asked(in AccessCheck) (security.Subject, error) {
	cfg, s := a.k.config.get(), a.subject()
	switch {
	case in.User && (in.Role != "" || in.Agent != ""):
		return s, sys.Errorf(sys.CodeInvalid, "The user has no role and is no agent. Nothing was checked.").WithHint("Ask about one of them at a time.")
	case in.User:
		return security.Subject{Kind: security.SubjectUser, Name: security.SubjectUser, Role: cfg.userRule()}, nil
	case in.Role == "" && in.Agent == "" && s.Kind == security.SubjectAgent:
		return s, nil
	}
	r, err := a.k.roleOf(in.Role)
	if err != nil {
		return s, err
	}
	out := security.Subject{Kind: security.SubjectRole, Name: r.Name, Role: r, Shut: a.k.shutAll()}
	if in.Agent != "" {
		out.Kind, out.Name, out.Agents = security.SubjectAgent, in.Agent, cfg.rulesFor(r, nil, in.Agent).Agents
	}
	return out, nil
}

func joinActs() string {
	var names []string
	for _, a := range security.Acts() {
		names = append(names, string(a))
	}
	return strings.Join(names, ", ")
}

// SetRole writes a role, a new one or in place of the one of this name. Runs
// that have begun keep theirs.
func (a *SecurityAPI) SetRole(ctx context.Context, r Role) (Permissions, error) {
	meta := map[string]any{"role": rulesText(security.Rules{Role: r})}
	return guard(ctx, a.caller, action{call: "security.setRole", resource: "role:" + r.Name, meta: meta}, func(context.Context) (Permissions, error) {
		if slices.Contains(security.ProfileNames(), r.Name) && r.Profile == "" {
			r.Profile = r.Name
		}
		for _, t := range r.AllowedTools {
			if !slices.ContainsFunc(a.k.opts.Catalogue, func(i ToolInfo) bool { return i.Name == t }) {
				return Permissions{}, sys.Errorf(sys.CodeNotFound, "There is no tool %q. Nothing was changed.", t).WithHint("`oxios tools list` shows them.")
			}
		}
		table := tableOf(r)
		return a.changeConfig(func(raw []byte) ([]byte, error) { return setTable(raw, r.Name, &table) }, func(c *Config) { c.Roles = withRole(c.Roles, r.Name, &table) })
	})
}

// DeleteRole takes a role away. One of the built-in roles is put back as it was
// at first.
func (a *SecurityAPI) DeleteRole(ctx context.Context, name string) (Permissions, error) {
	return guard(ctx, a.caller, action{call: "security.deleteRole", resource: "role:" + name}, func(context.Context) (Permissions, error) {
		cfg := a.k.config.get()
		if _, ok := cfg.Roles[name]; !ok {
			return Permissions{}, sys.Errorf(sys.CodeNotFound, "There is no role %q of yours. Nothing was changed.", name).WithHint("`oxios permissions roles list` shows them.")
		}
		if cfg.Role == name && !slices.Contains(security.ProfileNames(), name) {
			return Permissions{}, sys.Errorf(sys.CodeConflict, "New conversations start with the role %s. Nothing was changed.", name).WithHint("Choose another one for them first.")
		}
		return a.changeConfig(func(raw []byte) ([]byte, error) { return setTable(raw, name, nil) }, func(c *Config) { c.Roles = withRole(c.Roles, name, nil) })
	})
}

func withRole(old map[string]RoleConfig, name string, rc *RoleConfig) map[string]RoleConfig {
	out := map[string]RoleConfig{}
	for n, r := range old {
		if n != name {
			out[n] = r
		}
	}
	if rc != nil {
		out[name] = *rc
	}
	return out
}

// DenyPath keeps a path, with all below it, from all agents, from their next
// step on. It need not exist.
func (a *SecurityAPI) DenyPath(ctx context.Context, path string) (Permissions, error) {
	return guard(ctx, a.caller, action{call: "security.denyPath", resource: "file:" + path}, func(context.Context) (Permissions, error) {
		abs, err := absolute(path)
		if err != nil {
			return Permissions{}, err
		}
		return a.setDenied(append(without(a.k.config.get().DeniedPaths, abs), shortenHome(abs)))
	})
}

// AllowPath takes a path from the denied ones.
func (a *SecurityAPI) AllowPath(ctx context.Context, path string) (Permissions, error) {
	return guard(ctx, a.caller, action{call: "security.allowPath", resource: "file:" + path}, func(context.Context) (Permissions, error) {
		abs, err := absolute(path)
		if err != nil {
			return Permissions{}, err
		}
		old := a.k.config.get().DeniedPaths
		list := without(old, abs)
		if len(list) == len(old) {
			return Permissions{}, sys.Errorf(sys.CodeNotFound, "%s is not among the denied paths. Nothing was changed.", shortenHome(abs)).WithHint("`oxios permissions show` lists them.")
		}
		return a.setDenied(list)
	})
}

// without returns a list of paths without one of them, however it is written.
func without(list []string, abs string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(p string) bool { return expandHome(p) == abs })
}

func (a *SecurityAPI) setDenied(list []string) (Permissions, error) {
	if len(list) == 0 {
		list = nil
	}
	return a.changeConfig(func(raw []byte) ([]byte, error) { return setList(raw, "denied_paths", list) }, func(c *Config) { c.DeniedPaths = list })
}

// GrantAddress opens an address of the own network, or a range of them, to all
// agents, from their next request on. Services that give out credentials stay
// closed.
func (a *SecurityAPI) GrantAddress(ctx context.Context, address string) (Permissions, error) {
	return guard(ctx, a.caller, action{call: "security.grantAddress", resource: "address:" + address}, func(context.Context) (Permissions, error) {
		p, err := security.CheckGrant(strings.TrimSpace(address))
		if err != nil {
			e := sys.AsError(err)
			return Permissions{}, sys.Errorf(e.Code, "%s. Nothing was changed.", sys.Words{EN: e.Message, KO: e.MessageKO}).WithHint("%s", sys.Words{EN: e.Hint, KO: e.HintKO})
		}
		return a.setAddresses(append(withoutAddress(a.k.config.get().GrantedAddresses, p), security.GrantText(p)))
	})
}

// RevokeAddress closes what [SecurityAPI.GrantAddress] opened.
func (a *SecurityAPI) RevokeAddress(ctx context.Context, address string) (Permissions, error) {
	return guard(ctx, a.caller, action{call: "security.revokeAddress", resource: "address:" + address}, func(context.Context) (Permissions, error) {
		p, err := security.CheckGrant(strings.TrimSpace(address))
		old := a.k.config.get().GrantedAddresses
		list := withoutAddress(old, p)
		if err != nil || len(list) == len(old) {
			return Permissions{}, sys.Errorf(sys.CodeNotFound, "%s is not among the granted addresses. Nothing was changed.", address).WithHint("`oxios permissions show` lists them.")
		}
		return a.setAddresses(list)
	})
}

// withoutAddress returns a list of ranges without one of them, however it is written.
func withoutAddress(list []string, p netip.Prefix) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool {
		q, err := security.CheckGrant(s)
		return err == nil && q == p
	})
}

func (a *SecurityAPI) setAddresses(list []string) (Permissions, error) {
	if len(list) == 0 {
		list = nil
	}
	return a.changeConfig(func(raw []byte) ([]byte, error) { return setList(raw, "granted_addresses", list) }, func(c *Config) { c.GrantedAddresses = list })
}

func (a *SecurityAPI) changeConfig(edit func([]byte) ([]byte, error), want func(*Config)) (Permissions, error) {
	if err := a.k.config.change(edit, want); err != nil {
		return Permissions{}, err
	}
	a.k.names.drop() // what was seen of a folder may hold a path that is denied now
	a.k.publish(event.ConfigChanged, scope{}, a.k.config.view())
	a.k.publishStatus()
	return a.k.permissions(), nil
}
