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

// Subject is who would do something. A user is held by nothing here; an agent
// and a role are held by the role and by the paths that are denied to all.
type Subject struct {
	Kind string
	Name string
	Role Role
	Shut Shut // what no agent reaches
}

// The rules that can refuse.
const (
	RuleTools   = "allowed_tools"
	RuleAllowed = "allowed_paths"
	RuleDenied  = "denied_paths"
	RuleNetwork = "network_access"
	RuleFork    = "can_fork"
	RuleRights  = "profile"
	RulePerson  = "person"
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
		return nil
	}
	r := s.Role
	inRole := func() sys.Words {
		return sys.Say("Settings, Permissions, Roles; `oxios permissions roles set %s`.", r.Name)
	}
	switch act {
	case ActExecuteTool:
		if r.AllowedTools != nil && !slices.Contains(r.AllowedTools, resource) {
			return &Refusal{RuleTools, sys.Say("allowed_tools of the role %s does not name the tool %s", r.Name, resource), inRole()}
		}
	case ActAccessPath:
		if p := s.Shut.Reaches(resource); p != "" {
			return &Refusal{RuleDenied, sys.Say("denied_paths keeps %s from all agents", p), sys.Say("Settings, Permissions, Never touched; `oxios permissions allow %s`.", p)}
		}
		if p := ShutPaths(r.DeniedPaths).Reaches(resource); p != "" {
			return &Refusal{RuleDenied, sys.Say("denied_paths of the role %s names %s", r.Name, p), inRole()}
		}
		if r.AllowedPaths != nil && !r.Reaches(resource) {
			return &Refusal{RuleAllowed, sys.Say("allowed_paths of the role %s names only %s", r.Name, strings.Join(r.AllowedPaths, ", ")), inRole()}
		}
	case ActNetwork:
		if !r.NetworkAccess {
			return &Refusal{RuleNetwork, sys.Say("network_access is off for the role %s, so that nobody is asked for it", r.Name), inRole()}
		}
	case ActFork:
		if !r.Space().Allows(DomainAgents, X) {
			return &Refusal{RuleRights, sys.Say("the profile %s of the role %s starts no agents", r.Profile, r.Name), inRole()}
		}
		if !r.CanFork {
			return &Refusal{RuleFork, sys.Say("can_fork is off for the role %s", r.Name), inRole()}
		}
	case ActManageAgents:
		if !r.Space().Allows(DomainAgents, X) {
			return &Refusal{RuleRights, sys.Say("the profile %s of the role %s manages no agents", r.Profile, r.Name), inRole()}
		}
	case ActConfigChange:
		return &Refusal{RulePerson, sys.Say("settings are changed by the person alone"), sys.Say("Ask the person to do it.")}
	default:
		return &Refusal{RulePerson, sys.Say("nothing is known of %s", string(act)), sys.Say("Ask the person to do it.")}
	}
	return nil
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
	case r.MaxExecutionTimeSecs < 0 || r.MaxExecutionTimeSecs > 86400:
		return sys.Errorf(sys.CodeInvalid, "max_execution_time_secs is %d, but must be from 1 to 86400 seconds, or 0 for no limit.", r.MaxExecutionTimeSecs)
	case r.MaxMemoryMB < 0 || r.MaxMemoryMB > 0 && r.MaxMemoryMB < 16 || r.MaxMemoryMB > 1<<20:
		return sys.Errorf(sys.CodeInvalid, "max_memory_mb is %d, but must be from 16 to 1048576 MB, or 0 for no limit.", r.MaxMemoryMB)
	}
	_, err := Profile(r.Profile)
	return err
}
