package security

import (
	"maps"
	"slices"
	"strings"

	"oxios/kernel/sys"
)

// Domain is one part of the kernel that calls are made to.
type Domain string

// The domains. A domain is a name for rights; it exists before its subsystem
// does, so that a profile never changes its meaning when one arrives.
const (
	DomainState     Domain = "state"     // sessions, messages, journal
	DomainAgents    Domain = "agents"    // submit, fork, wait, kill
	DomainSecurity  Domain = "security"  // approvals, permissions, audit
	DomainExec      Domain = "exec"      // files and commands
	DomainInfra     Domain = "infra"     // events, configuration, health
	DomainLLM       Domain = "llm"       // models and providers
	DomainBrowser   Domain = "browser"   // web pages and search
	DomainKnowledge Domain = "knowledge" // the person's vault
	DomainMemory    Domain = "memory"    // what agents remember
	DomainSpace     Domain = "space"     // work contexts
	DomainA2A       Domain = "a2a"       // messages between agents
	DomainPersona   Domain = "persona"   // personas and agent definitions
	DomainProgram   Domain = "program"   // skills
	DomainMCP       Domain = "mcp"       // servers of tools
	DomainBudget    Domain = "budget"    // limits on tokens and money
	DomainResource  Domain = "resource"  // memory, processor, disk
	DomainCron      Domain = "cron"      // jobs by the clock
	DomainGit       Domain = "git"       // history of the workspace
)

// Domains returns every domain, in a fixed order.
func Domains() []Domain {
	return []Domain{
		DomainState, DomainAgents, DomainSecurity, DomainExec, DomainInfra, DomainLLM,
		DomainBrowser, DomainKnowledge, DomainMemory, DomainSpace, DomainA2A, DomainPersona,
		DomainProgram, DomainMCP, DomainBudget, DomainResource, DomainCron, DomainGit,
	}
}

// Rights is a set of things that one may do in a [Domain].
type Rights uint8

// The rights. R looks, W changes what is stored, X makes something run.
const (
	R Rights = 1 << iota
	W
	X

	allRights = R | W | X
)

// String returns the letters of the rights that are held, as "RW", or "-".
func (r Rights) String() string {
	var b strings.Builder
	for i, letter := range "RWX" {
		if r&(1<<i) != 0 {
			b.WriteRune(letter)
		}
	}
	if b.Len() == 0 {
		return "-"
	}
	return b.String()
}

// CSpace is the capability space of one principal: what it may do, where. The
// nil CSpace allows nothing.
type CSpace map[Domain]Rights

// Allows reports whether c holds all of rights in d. To ask for no right is
// never allowed: a call without rights is a mistake in its table.
func (c CSpace) Allows(d Domain, rights Rights) bool {
	return rights != 0 && c[d]&rights == rights
}

// Intersect returns what both spaces allow. It is how a parent delegates:
// parent.Intersect(asked) is what the child gets.
func (c CSpace) Intersect(other CSpace) CSpace {
	out := CSpace{}
	for d, r := range c {
		if both := r & other[d]; both != 0 {
			out[d] = both
		}
	}
	return out
}

// SubsetOf reports whether c allows nothing that other does not.
func (c CSpace) SubsetOf(other CSpace) bool {
	for d, r := range c {
		if r&^other[d] != 0 {
			return false
		}
	}
	return true
}

// The names of the profiles, from the narrowest to the widest.
const (
	ProfileWorker     = "worker"     // forks, jobs and channels
	ProfileStandard   = "standard"   // a worker that may recall
	ProfileOperator   = "operator"   // the person's own agent
	ProfileSupervisor = "supervisor" // an agent that keeps others
)

// profileStep is a profile by what it adds to the one before it.
type profileStep struct {
	name string
	adds CSpace
}

// profiles says what each profile adds to the one before it.
var profiles = []profileStep{
	{ProfileWorker, CSpace{
		DomainExec: R | W | X, DomainBrowser: R | W | X, DomainKnowledge: R | W,
		DomainLLM: X, DomainState: R, DomainInfra: R,
	}},
	{ProfileStandard, CSpace{
		DomainMemory: R,
	}},
	{ProfileOperator, CSpace{
		DomainSpace: R | W, DomainAgents: R | W | X, DomainA2A: R | W | X, DomainPersona: R | W,
		DomainProgram: R | W | X, DomainMCP: R | W | X, DomainMemory: W,
		DomainLLM: R, DomainState: W,
	}},
	{ProfileSupervisor, CSpace{
		DomainSecurity: R | W, DomainBudget: R | W, DomainResource: R | W, DomainCron: R | W | X,
		DomainGit: R | W | X,
	}},
}

// Profile returns a fresh copy of the named profile's space. Each profile
// holds all that the narrower ones hold.
func Profile(name string) (CSpace, error) {
	space := CSpace{}
	for _, p := range profiles {
		for d, r := range p.adds {
			space[d] |= r
		}
		if p.name == name {
			return space, nil
		}
	}
	return nil, sys.Errorf(sys.CodeInvalid, "There is no profile %q.", name).
		WithHint("Use one of %s.", strings.Join(ProfileNames(), ", "))
}

// ProfileNames returns the names of the profiles, the narrowest first.
func ProfileNames() []string {
	var names []string
	for _, p := range profiles {
		names = append(names, p.name)
	}
	return names
}

// Narrower returns the name of the narrower of two profiles: what a child gets
// of what was asked for it, since no delegation widens.
func Narrower(parent, asked string) (string, error) {
	names := ProfileNames()
	a, b := slices.Index(names, parent), slices.Index(names, asked)
	for i, name := range map[int]string{a: parent, b: asked} {
		if i < 0 {
			_, err := Profile(name)
			return "", err
		}
	}
	return names[min(a, b)], nil
}

// SpaceOf returns what p may do at most: everything for the person, looking
// for the guardian, its profile for an agent (a fork's is narrowed further by
// its parent's), and nothing for anybody else.
func SpaceOf(p sys.Principal) (CSpace, error) {
	switch p.Kind {
	case sys.KindPerson:
		return everywhere(allRights), nil
	case sys.KindGuardian:
		return everywhere(R), nil
	case sys.KindMemory:
		return CSpace{DomainLLM: R | X, DomainMemory: R | W}, nil
	case sys.KindApp:
		return CSpace{DomainMCP: X}, nil
	case sys.KindAgent:
		return Profile(p.Profile)
	}
	return nil, sys.Errorf(sys.CodeForbidden, "A caller of kind %q may do nothing.", p.Kind)
}

func everywhere(r Rights) CSpace {
	space := CSpace{}
	for _, d := range Domains() {
		space[d] = r
	}
	return space
}

// String lists the space in a fixed order, as "exec:RWX llm:X".
func (c CSpace) String() string {
	var parts []string
	for _, d := range slices.Sorted(maps.Keys(c)) {
		if c[d] != 0 {
			parts = append(parts, string(d)+":"+c[d].String())
		}
	}
	return strings.Join(parts, " ")
}
