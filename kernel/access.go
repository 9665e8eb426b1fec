package kernel

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"oxios/kernel/sandbox"
	"oxios/kernel/security"
	"oxios/kernel/sys"
)

// subject is the caller as the rules of access know it.
func (c *caller) subject() security.Subject {
	switch c.who.Kind {
	case sys.KindAgent:
		return security.Subject{Kind: security.SubjectAgent, Name: c.who.ID, Role: c.rules.Role, Agents: c.rules.Agents, Shut: c.k.shutAll()}
	default:
		return security.Subject{Kind: security.SubjectUser, Name: c.who.Name, Role: c.k.config.get().userRule()}
	}
}

// permits says which of the rules that hold the caller, or which denied path,
// refuses a call; nil when none does. Nobody is asked about what these refuse.
func (c *caller) permits(row Syscall, a action) error {
	switch c.who.Kind {
	case sys.KindAgent:
	case sys.KindPerson:
		return c.permitsUser(row, a)
	default:
		return nil
	}
	s := c.subject()
	if tools := c.k.toolsFor(row.Name); len(tools) > 0 && !slices.ContainsFunc(tools, func(t string) bool { return s.Refuses(security.ActExecuteTool, t) == nil }) {
		return refusedBy(s.Refuses(security.ActExecuteTool, tools[0]))
	}
	switch row.Name {
	case "agents.fork":
		if err := refusedBy(s.Refuses(security.ActFork, "")); err != nil {
			return err
		}
	case "agents.kill", "agents.pauseRun", "agents.message":
		if err := refusedBy(s.Refuses(security.ActManageAgents, a.resource)); err != nil {
			return err
		}
	}
	for _, p := range a.paths {
		if err := refusedBy(s.Refuses(security.ActAccessPath, p)); err != nil {
			return err
		}
	}
	if a.network {
		return refusedBy(s.Refuses(security.ActNetwork, a.resource))
	}
	return nil
}

// refusedBy makes the error of a refusal; nil for none.
func refusedBy(r *security.Refusal) error {
	if r == nil {
		return nil
	}
	return sys.Errorf(sys.CodeForbidden, "Refused by a rule of the person: %s. Nothing was done.", r.Why).
		WithHint("Go on without it, and do not try it in another way. The person changes the rule: %s", r.Mend)
}

// may reports whether the caller has the right to a call, and its role's rules
// are not against all calls of its kind.
func (c *caller) may(call string) bool {
	row, ok := syscalls[call]
	return ok && c.allowed(c.k.background, row) == nil && c.permits(row, action{}) == nil
}

// toolsFor names the tools that a system call is for; none for a call that the
// loop makes, or that has no tool.
func (k *Kernel) toolsFor(call string) (names []string) {
	for _, t := range k.opts.Catalogue {
		if slices.Contains(t.Calls, call) {
			names = append(names, t.Name)
		}
	}
	return names
}

// toolsBarred names the tools that the caller's role does not have.
func (c *caller) toolsBarred() (names []string) {
	if c.who.Kind != sys.KindAgent || c.role.AllowedTools == nil && c.role.DeniedTools == nil {
		return nil
	}
	for _, t := range c.k.opts.Catalogue {
		if !c.role.HasTool(t.Name) {
			names = append(names, t.Name)
		}
	}
	return names
}

// shutAll are the paths that are denied to all agents.
func (k *Kernel) shutAll() security.Shut { return security.ShutPaths(k.config.get().deniedPaths()) }

// shut are the paths that the caller does not reach; none for a person.
func (c *caller) shut() security.Shut {
	if !c.foreign() {
		return nil
	}
	return append(c.k.shutAll(), security.ShutPaths(c.role.DeniedPaths)...)
}

// shuts reports whether an entry of a folder is shut.
func shuts(s security.Shut, abs string, e fs.DirEntry) bool {
	if len(s) == 0 {
		return false
	}
	info, _ := e.Info() // one that was deleted meanwhile is judged by its name
	return s.Covers(abs, info) != ""
}

// deniedFolder says that no run works in a folder, because it is denied.
func (k *Kernel) deniedFolder(abs string) error {
	shut := k.shutAll()
	for _, at := range []string{abs, realPath(abs)} {
		if p := shut.Reaches(at); p != "" {
			return sys.Errorf(sys.CodeRefused, "Agents do not work in %s: denied_paths keeps %s from them.", shortenHome(at), shortenHome(p)).
				WithHint("Choose another folder, or take it from the list: Settings, Permissions, Never touched; `oxios permissions allow %s`.", shortenHome(p))
		}
	}
	return nil
}

// paths are what the rules of access are asked about: the file that it is, and
// how it was written.
func (p place) paths() []string {
	written := p.abs
	if p.inside {
		written = filepath.Join(p.root, filepath.FromSlash(p.shown))
	}
	if written == p.abs {
		return []string{p.abs}
	}
	return []string{p.abs, written}
}

// systemPlaces are what every command reads, whatever its role: programs and
// what they need.
var systemPlaces = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/proc", "/sys", "/dev", "/nix/store"}

// touches are the paths of a command that the rules of access are asked about:
// its folder, and what its words name. What a program finds by itself is for the
// sandbox, see [caller.bound].
func (c *command) touches() []string {
	out := []string{c.dir}
	shut := c.caller.shut()
	for _, word := range slices.Concat(c.verdict.Paths, c.verdict.Outside) {
		at := c.named(word)
		real := realPath(at)
		system := slices.ContainsFunc(systemPlaces, func(dir string) bool { return security.Within(real, dir) })
		if system && shut.Reaches(real) == "" && shut.Reaches(at) == "" {
			continue
		}
		for _, p := range []string{real, at} {
			if !slices.Contains(out, p) && (p == real || shut.Reaches(p) != "") {
				out = append(out, p)
			}
		}
	}
	return out
}

// bound holds what the sandbox is told to the caller's role and to the denied
// paths.
func (c *caller) bound(s sandbox.Spec) sandbox.Spec {
	if c.who.Kind != sys.KindAgent {
		return s
	}
	shut, r := c.shut(), c.role
	open := func(p string) bool { return shut.Reaches(p) == "" && shut.Reaches(realPath(p)) == "" }
	s.Hidden = append(s.Hidden, shut.Hidden()...)
	s.Network = s.Network && r.NetworkAccess
	if most := time.Duration(r.MaxExecutionTimeSecs) * time.Second; most > 0 && (s.Timeout == 0 || s.Timeout > most) {
		s.Timeout = most
	}
	if most := int64(r.MaxMemoryMB) << 20; most > 0 && (s.MaxMemory == 0 || s.MaxMemory > most) {
		s.MaxMemory = most
	}
	s.Readable = slices.DeleteFunc(s.Readable, func(p string) bool { return !open(p) })
	var writable []string
	for _, w := range s.Writable {
		if r.Reaches(realPath(w)) {
			writable = append(writable, w)
			continue
		}
		for _, p := range r.AllowedPaths {
			if _, err := os.Stat(p); err == nil && security.Within(realPath(p), realPath(w)) {
				writable = append(writable, p)
			}
		}
	}
	s.Writable = slices.DeleteFunc(writable, func(p string) bool { return !open(p) })
	return s
}
