package security

import (
	"slices"
	"strings"

	"oxios/kernel/sys"
)

// Act is something that a subject may be allowed to do.
type Act string

// The acts.
const (
	ActExecuteTool  Act = "execute_tool"  // on a tool, by its name
	ActAccessPath   Act = "access_path"   // on an absolute path
	ActNetwork      Act = "network"       // reach the network, once the person said yes
	ActFork         Act = "fork"          // start another agent
	ActManageAgents Act = "manage_agents" // stop, pause or tell other agents
	ActConfigChange Act = "config_change" // change settings
)

// Acts returns every act, in a fixed order.
func Acts() []Act {
	return []Act{ActExecuteTool, ActAccessPath, ActNetwork, ActFork, ActManageAgents, ActConfigChange}
}

// The kinds of subjects.
const (
	SubjectUser  = "user"  // the person
	SubjectAgent = "agent" // a run, with the role that it began with
	SubjectRole  = "role"  // whoever has a role
)

// Subject is who would do something. An agent and a role are held by the role,
// by the paths that are denied to all, and by the rules for single agents; a user
// by the rules for the person alone.
type Subject struct {
	Kind   string
	Name   string
	Role   Role   // of a user: what the person took from themselves
	Agents []Role // the rules for single agents that hold it too
	Shut   Shut   // what no agent reaches
}

// The rules that can refuse.
const (
	RuleTools    = "allowed_tools"
	RuleNotTools = "denied_tools"
	RuleAllowed  = "allowed_paths"
	RuleDenied   = "denied_paths"
	RuleNetwork  = "network_access"
	RuleFork     = "can_fork"
	RuleActions  = "denied_actions"
	RuleRights   = "profile"
	RulePerson   = "person"
)

// Refusal says which rule refuses an act, and where the person changes it.
type Refusal struct {
	Rule string
	Why  sys.Words
	Mend sys.Words
}

// Refuses says why the subject may not do act on resource; nil when nothing
// here is against it. A denied path wins over all that allows it. What is left
// to decide (the border of the folder, policy, the person) is not asked here:
// all of them have to pass.
func (s Subject) Refuses(act Act, resource string) *Refusal {
	if s.Kind == SubjectUser {
		return s.Role.refuses(act, resource, ofUser())
	}
	switch {
	case act == ActConfigChange:
		return &Refusal{RulePerson, sys.Say("settings are changed by the person alone"), sys.Say("Ask the person to do it.")}
	case !slices.Contains(Acts(), act):
		return &Refusal{RulePerson, sys.Say("nothing is known of %s", string(act)), sys.Say("Ask the person to do it.")}
	case act == ActAccessPath:
		if p := s.Shut.Reaches(resource); p != "" {
			return &Refusal{RuleDenied, sys.Say("denied_paths keeps %s from all agents", p), sys.Say("Settings, Permissions, Never touched; `oxios permissions allow %s`.", p)}
		}
	}
	if no := s.Role.refusesAgent(act, resource, ofRole(s.Role.Name)); no != nil {
		return no
	}
	for _, a := range s.Agents {
		if no := a.refusesAgent(act, resource, ofAgent(a.Name)); no != nil {
			return no
		}
	}
	return nil
}

// owner is whose rules they are, as a refusal names it, and where the person
// changes them.
type owner struct{ who, mend sys.Words }

func ofRole(name string) owner {
	return owner{sys.Say("the role %s", name), sys.Say("Settings, Permissions, Roles; `oxios permissions roles set %s`.", name)}
}

func ofAgent(name string) owner {
	return owner{sys.Say("the agent %q", name), sys.Say("The table [agents.%q] of config.toml, in an editor; `oxios permissions show` shows it.", name)}
}

func ofUser() owner {
	return owner{sys.Say("the user"), sys.Say("The table [user] of config.toml, in an editor; `oxios permissions show` shows it.")}
}

// refusesAgent is refuses for an agent, who also needs the rights of the profile.
func (r Role) refusesAgent(act Act, resource string, of owner) *Refusal {
	if !r.Space().Allows(DomainAgents, X) {
		switch act {
		case ActFork:
			return &Refusal{RuleRights, sys.Say("the profile %s of %s starts no agents", r.Profile, of.who), of.mend}
		case ActManageAgents:
			return &Refusal{RuleRights, sys.Say("the profile %s of %s manages no agents", r.Profile, of.who), of.mend}
		default:
		}
	}
	return r.refuses(act, resource, of)
}

// refuses says which of the rules that were written down is against an act. What
// denies wins over what allows.
func (r Role) refuses(act Act, resource string, of owner) *Refusal {
	if slices.Contains(r.DeniedActions, act) {
		return &Refusal{RuleActions, sys.Say("denied_actions of %s names %s", of.who, string(act)), of.mend}
	}
	switch act {
	case ActExecuteTool:
		if slices.Contains(r.DeniedTools, resource) {
			return &Refusal{RuleNotTools, sys.Say("denied_tools of %s names the tool %s", of.who, resource), of.mend}
		}
		if !r.HasTool(resource) {
			return &Refusal{RuleTools, sys.Say("allowed_tools of %s does not name the tool %s", of.who, resource), of.mend}
		}
	case ActAccessPath:
		if p := ShutPaths(r.DeniedPaths).Reaches(resource); p != "" {
			return &Refusal{RuleDenied, sys.Say("denied_paths of %s names %s", of.who, p), of.mend}
		}
		if !r.Reaches(resource) {
			return &Refusal{RuleAllowed, sys.Say("allowed_paths of %s names only %s", of.who, strings.Join(r.AllowedPaths, ", ")), of.mend}
		}
	case ActNetwork:
		if !r.NetworkAccess {
			return &Refusal{RuleNetwork, sys.Say("network_access is off for %s, so that nobody is asked for it", of.who), of.mend}
		}
	case ActFork:
		if !r.CanFork {
			return &Refusal{RuleFork, sys.Say("can_fork is off for %s", of.who), of.mend}
		}
	default:
	}
	return nil
}

// HasTool reports whether the rules leave a tool to those that they hold.
func (r Role) HasTool(name string) bool {
	return !slices.Contains(r.DeniedTools, name) && (r.AllowedTools == nil || slices.Contains(r.AllowedTools, name))
}

// Reaches reports whether allowed_paths hold a path; its links were followed.
func (r Role) Reaches(abs string) bool {
	if r.AllowedPaths == nil {
		return true
	}
	for _, p := range r.AllowedPaths {
		if Within(abs, p) || Within(abs, realOf(p)) {
			return true
		}
	}
	return false
}

// CheckRole says what is wrong with a role that a person wrote; its paths are
// absolute already.
func CheckRole(r Role) error {
	switch {
	case !roleName(r.Name):
		return sys.Errorf(sys.CodeInvalid, "%q is no name for a role: it is of letters, digits, - and _.", r.Name)
	case slices.Contains(ProfileNames(), r.Name) && r.Profile != r.Name:
		return sys.Errorf(sys.CodeInvalid, "The role %s begins with the profile of its name.", r.Name).WithHint("Make a role of another name.")
	}
	return CheckRules(r)
}

// CheckRules says what is wrong with the rules themselves, whoever they are for.
func CheckRules(r Role) error {
	for _, act := range r.DeniedActions {
		switch {
		case !slices.Contains(Acts(), act):
			return sys.Errorf(sys.CodeInvalid, "denied_actions has %q, which is no action: use manage_agents or config_change", string(act))
		case act != ActManageAgents && act != ActConfigChange:
			return sys.Errorf(sys.CodeInvalid, "denied_actions has %q, which is denied in another way: allowed_tools, denied_tools, allowed_paths, denied_paths, network_access or can_fork", string(act))
		}
	}
	switch {
	case r.MaxExecutionTimeSecs < 0 || r.MaxExecutionTimeSecs > 86400:
		return sys.Errorf(sys.CodeInvalid, "max_execution_time_secs is %d, but must be from 1 to 86400 seconds, or 0 for no limit.", r.MaxExecutionTimeSecs)
	case r.MaxMemoryMB < 0 || r.MaxMemoryMB > 0 && r.MaxMemoryMB < 16 || r.MaxMemoryMB > 1<<20:
		return sys.Errorf(sys.CodeInvalid, "max_memory_mb is %d, but must be from 16 to 1048576 MB, or 0 for no limit.", r.MaxMemoryMB)
	}
	_, err := Profile(r.Profile)
	return err
}
