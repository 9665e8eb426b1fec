package kernel

import (
	"slices"

	"oxios/kernel/security"
	"oxios/kernel/sys"
)

// permitsUser says which rule for the user refuses what the person does. Whoever
// wrote such a rule must always be able to see what goes on, and to end it:
// looking at what Oxios itself keeps, and stopping, are refused by none.
func (c *caller) permitsUser(row Syscall, a action) error {
	if c.k.config.get().User == nil || a.stops || row.Rights == security.R && len(a.paths) == 0 && !a.network {
		return nil
	}
	s := c.subject()
	for _, tool := range c.k.toolsOfUser(row) {
		if no := s.Refuses(security.ActExecuteTool, tool); no != nil {
			return refusedUser(no)
		}
	}
	act := security.Act("")
	switch {
	case row.Audit == security.ActionAgentSpawn:
		act = security.ActFork
	case slices.Contains([]string{"agents.message", "agents.pauseRun", "agents.pause"}, row.Name), row.Domain == security.DomainA2A:
		act = security.ActManageAgents
	case changesSettings(row):
		act = security.ActConfigChange
	}
	if act != "" {
		if no := s.Refuses(act, a.resource); no != nil {
			return refusedUser(no)
		}
	}
	for _, p := range a.paths {
		if no := s.Refuses(security.ActAccessPath, p); no != nil {
			return refusedUser(no)
		}
	}
	if a.network {
		return refusedUser(s.Refuses(security.ActNetwork, a.resource))
	}
	return nil
}

// toolsOfUser names the tools whose work a call of the person is. Beside the calls
// that a tool needs there are those that only the person has, about the same
// things.
func (k *Kernel) toolsOfUser(row Syscall) []string {
	names := k.toolsFor(row.Name)
	of := map[security.Domain]string{
		security.DomainKnowledge: "knowledge", security.DomainSpace: "space", security.DomainA2A: "a2a", security.DomainMemory: "memory_write",
	}
	if tool := of[row.Domain]; tool != "" && row.Rights != security.R && len(names) == 0 {
		names = append(names, tool)
	}
	return names
}

// changesSettings reports whether a call changes what agents may do or are told.
// To unlock the keys changes nothing.
func changesSettings(row Syscall) bool {
	return row.Audit == security.ActionConfigChange && row.Sink == security.SinkControl && row.Name != "infra.unlockKeys"
}

// refusedUser makes the error of a refusal to the person; nil for none.
func refusedUser(r *security.Refusal) error {
	if r == nil {
		return nil
	}
	return sys.Errorf(sys.CodeForbidden, "Refused by a rule that you wrote: %s. Nothing was done.", r.Why).
		WithHint("Change the rule if you want it: %s", r.Mend)
}

// namedPaths are what the rules of access are asked about where the person names
// a path; none for "".
func namedPaths(path string) []string {
	if path == "" {
		return nil
	}
	abs := expandHome(path)
	return []string{abs, realPath(abs)}
}
