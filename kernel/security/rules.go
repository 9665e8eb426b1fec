package security

import "oxios/kernel/sys"

// Rules are what a run is held to from its start: its role, and the rules for
// single agents that it is or comes from. Each of these only takes away.
type Rules struct {
	Role   Role
	Agents []Role // each under the name of its agent
}

// Most is what all of them allow together, under the name of the role.
func (r Rules) Most() Role {
	out := r.Role
	for _, a := range r.Agents {
		out = out.Narrow(a)
	}
	out.Name = r.Role.Name
	return out
}

// Longest is for how many seconds at most an agent works, and who says so; 0 is no
// limit.
func (r Rules) Longest() (secs int, whose sys.Words) {
	secs, whose = r.Role.MaxExecutionTimeSecs, ofRole(r.Role.Name).who
	for _, a := range r.Agents {
		if least := lower(secs, a.MaxExecutionTimeSecs); least != secs {
			secs, whose = least, ofAgent(a.Name).who
		}
	}
	return secs, whose
}

// WidestProfile is the profile that holds what all others do: who begins with it
// is held by what was taken from it alone.
func WidestProfile() string { return profiles[len(profiles)-1].name }
