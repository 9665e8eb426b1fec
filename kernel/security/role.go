package security

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Role is what the agents that have it may do at most: a profile, and what is
// taken from it. A list that is nil limits nothing; an empty one allows nothing.
// Paths are absolute and clean, and stand for all below them. The zero Role
// allows nothing.
type Role struct {
	Name                 string   `json:"name"`
	Profile              string   `json:"profile"`                 // the rights that it begins with
	AllowedTools         []string `json:"allowed_tools,omitzero"`  // left out for every tool of the profile
	DeniedTools          []string `json:"denied_tools,omitzero"`   // these win
	AllowedPaths         []string `json:"allowed_paths,omitzero"`  // left out for every path that the folder and the person allow
	DeniedPaths          []string `json:"denied_paths,omitzero"`   // these win
	NetworkAccess        bool     `json:"network_access"`          // the person may be asked for the network
	CanFork              bool     `json:"can_fork"`                // as far as the profile can
	DeniedActions        []Act    `json:"denied_actions,omitzero"` // of those that no other rule is about
	MaxExecutionTimeSecs int      `json:"max_execution_time_secs"` // at work, of an agent and of each of its commands; 0 is no limit of its own
	MaxMemoryMB          int      `json:"max_memory_mb"`           // of a command; 0 is no limit of its own
}

// BuiltInRole is the role that is a profile and nothing else.
func BuiltInRole(profile string) Role {
	return Role{Name: profile, Profile: profile, NetworkAccess: true, CanFork: true}
}

// Plain reports whether the role takes nothing from its profile.
func (r Role) Plain() bool {
	return r.AllowedTools == nil && r.AllowedPaths == nil && len(r.DeniedTools)+len(r.DeniedPaths)+len(r.DeniedActions) == 0 && r.NetworkAccess && r.CanFork &&
		r.MaxExecutionTimeSecs == 0 && r.MaxMemoryMB == 0
}

// Space is the capability space of an agent with this role: that of its profile.
// A profile that does not exist gives the empty one.
func (r Role) Space() CSpace {
	space, _ := Profile(r.Profile)
	return space
}

// Narrow returns what both roles allow. It is how an agent delegates:
// parent.Narrow(asked) is what the child gets. The name tells what limits it:
// where one of the two takes nothing from its profile, it is that of the other.
func (r Role) Narrow(asked Role) Role {
	name := r.Name + " & " + asked.Name
	switch {
	case r.Name == asked.Name || asked.Plain() && !r.Plain():
		name = r.Name
	case r.Plain():
		name = asked.Name
	}
	profile, err := Narrower(r.Profile, asked.Profile)
	if err != nil {
		profile = "" // an unknown one may do nothing
	}
	out := Role{
		Name: name, Profile: profile,
		AllowedTools: bothTools(r.AllowedTools, asked.AllowedTools), AllowedPaths: bothPaths(r.AllowedPaths, asked.AllowedPaths),
		NetworkAccess: r.NetworkAccess && asked.NetworkAccess, CanFork: r.CanFork && asked.CanFork,
		MaxExecutionTimeSecs: lower(r.MaxExecutionTimeSecs, asked.MaxExecutionTimeSecs), MaxMemoryMB: lower(r.MaxMemoryMB, asked.MaxMemoryMB),
	}
	out.DeniedTools, out.DeniedPaths, out.DeniedActions = either(r.DeniedTools, asked.DeniedTools), either(r.DeniedPaths, asked.DeniedPaths), either(r.DeniedActions, asked.DeniedActions)
	return out
}

// either returns what one of two lists names, each thing once.
func either[T comparable](a, b []T) (out []T) {
	for _, one := range slices.Concat(a, b) {
		if !slices.Contains(out, one) {
			out = append(out, one)
		}
	}
	return out
}

// SubsetOf reports whether r allows nothing that other does not.
func (r Role) SubsetOf(other Role) bool {
	switch {
	case rank(r.Profile) > rank(other.Profile),
		r.NetworkAccess && !other.NetworkAccess,
		r.CanFork && !other.CanFork,
		lower(r.MaxExecutionTimeSecs, other.MaxExecutionTimeSecs) != r.MaxExecutionTimeSecs,
		lower(r.MaxMemoryMB, other.MaxMemoryMB) != r.MaxMemoryMB:
		return false
	}
	if slices.ContainsFunc(other.DeniedTools, r.HasTool) || slices.ContainsFunc(other.DeniedActions, func(a Act) bool { return !slices.Contains(r.DeniedActions, a) }) {
		return false
	}
	if other.AllowedTools != nil && (r.AllowedTools == nil || slices.ContainsFunc(r.AllowedTools, func(t string) bool { return r.HasTool(t) && !slices.Contains(other.AllowedTools, t) })) {
		return false
	}
	if other.AllowedPaths != nil && (r.AllowedPaths == nil || slices.ContainsFunc(r.AllowedPaths, func(p string) bool { return spelledIn(p, other.AllowedPaths) == "" })) {
		return false
	}
	return !slices.ContainsFunc(other.DeniedPaths, func(p string) bool { return spelledIn(p, r.DeniedPaths) == "" })
}

// rank is the place of a profile among all, the narrowest first; each holds what
// those before it hold. One that does not exist comes before them: it holds
// nothing.
func rank(profile string) int {
	return slices.IndexFunc(profiles, func(p profileStep) bool { return p.name == profile })
}

// lower is the lower of two limits, of which 0 is none.
func lower(a, b int) int {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

func bothTools(a, b []string) []string {
	switch {
	case a == nil:
		return slices.Clone(b)
	case b == nil:
		return slices.Clone(a)
	}
	out := []string{}
	for _, t := range a {
		if slices.Contains(b, t) {
			out = append(out, t)
		}
	}
	return out
}

func bothPaths(a, b []string) []string {
	switch {
	case a == nil:
		return slices.Clone(b)
	case b == nil:
		return slices.Clone(a)
	}
	out := []string{}
	for _, p := range a {
		for _, q := range b {
			switch {
			case Within(p, q):
				out = append(out, p)
			case Within(q, p):
				out = append(out, q)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// spelledIn returns the entry of list that p lies in, as both are spelled.
func spelledIn(p string, list []string) string {
	for _, dir := range list {
		if Within(p, dir) {
			return dir
		}
	}
	return ""
}

// Shut are paths that no agent reaches, ready to be compared with many others.
type Shut []shutPath

type shutPath struct {
	written, real string // real follows the links
	info          os.FileInfo
}

// ShutPaths makes [Shut] of absolute paths. It looks at the disk once.
func ShutPaths(paths []string) Shut {
	var out Shut
	for _, p := range paths {
		one := shutPath{written: p, real: realOf(p)}
		one.info, _ = os.Stat(p)
		out = append(out, one)
	}
	return out
}

// realOf follows the links in the part of p that exists.
func realOf(p string) string {
	if real, err := filepath.EvalSymlinks(p); err == nil {
		return real
	}
	parent := filepath.Dir(p)
	if parent == p {
		return p
	}
	return filepath.Join(realOf(parent), filepath.Base(p))
}

// Covers returns the entry that a path lies in, as it was written, or "". A
// path is compared in the way of the most forgiving file system, and by the
// folder that it really is where info, its own, is known. Links that lead to it
// are followed by the caller.
func (s Shut) Covers(abs string, info os.FileInfo) string {
	if len(s) == 0 {
		return ""
	}
	folded := pathFold(filepath.ToSlash(abs))
	for _, one := range s {
		switch {
		case Within(folded, pathFold(filepath.ToSlash(one.written))), Within(folded, pathFold(filepath.ToSlash(one.real))),
			info != nil && one.info != nil && os.SameFile(info, one.info):
			return one.written
		}
	}
	return ""
}

// Reaches is [Shut.Covers] for one path of a call: each folder above it is
// looked at too, so that another name of a shut one, as a bind mount, is known.
func (s Shut) Reaches(abs string) string {
	if len(s) == 0 {
		return ""
	}
	for at := filepath.Clean(abs); ; at = filepath.Dir(at) {
		info, _ := os.Stat(at)
		if p := s.Covers(at, info); p != "" {
			return p
		}
		if at == filepath.Dir(at) {
			return ""
		}
	}
}

// Hidden are the paths for the sandbox: as they were written, and where they lie.
func (s Shut) Hidden() []string {
	var out []string
	for _, one := range s {
		out = append(out, one.written)
		if one.real != one.written {
			out = append(out, one.real)
		}
	}
	return out
}

// roleName is what a role may be called: a key of the configuration file.
func roleName(s string) bool {
	return s != "" && len(s) <= 40 && strings.Trim(strings.ToLower(s), "abcdefghijklmnopqrstuvwxyz0123456789-_") == ""
}
