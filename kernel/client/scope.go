package client

import (
	"slices"

	"oxios/kernel/sys"
)

// Scope is one thing that a program can be given.
type Scope struct {
	Name  string    `json:"name"`  // as the command line takes it
	Title sys.Words `json:"title"` // in a few words
	About sys.Words `json:"about"` // what the program can do then
	Calls []string  `json:"calls"` // the rows of the table of system calls
}

// The names of the scopes.
const (
	ScopeRead      = "read"
	ScopeRun       = "run"
	ScopeVault     = "vault"
	ScopeApprovals = "approvals"
)

// Self is the call that every program may make: it asks who it is.
const Self = "clients.self"

// calls are what each scope holds, in the order in which people see them. What stands in no scope is closed to all programs.
var calls = []struct {
	name  string
	calls []string
}{
	{ScopeRead, []string{
		"knowledge.tree", "knowledge.search", "knowledge.read", "knowledge.backlinks", "memory.search", "memory.list", "agents.list", "agents.run",
		"skills.list", "skills.read",
	}},
	{ScopeRun, []string{"agents.submit", "agents.wait", "agents.kill", "agents.list", "agents.run"}},
	{ScopeVault, []string{"knowledge.write", "knowledge.append", "knowledge.journal"}},
	{ScopeApprovals, []string{"security.approvals", "security.approval", "security.approve", "security.deny"}},
}

// Scopes returns all scopes, in the order in which people see them.
func Scopes() []Scope {
	words := map[string][2]sys.Words{
		ScopeRead:      {sys.Say("Read"), sys.Say("Reads your notes, what Oxios remembers, runs and skills.")},
		ScopeRun:       {sys.Say("Run agents"), sys.Say("Starts and stops runs. Your rules and approvals hold for them.")},
		ScopeVault:     {sys.Say("Write notes"), sys.Say("Creates and changes notes. Every change can be undone.")},
		ScopeApprovals: {sys.Say("Answer approvals"), sys.Say("This program then answers approval requests for you. It never answers for runs that a program started.")},
	}
	out := make([]Scope, 0, len(calls))
	for _, s := range calls {
		out = append(out, Scope{Name: s.name, Title: words[s.name][0], About: words[s.name][1], Calls: slices.Clone(s.calls)})
	}
	return out
}

// names are the names of all scopes.
func names() (out []string) {
	for _, s := range calls {
		out = append(out, s.name)
	}
	return out
}

// ScopesFor returns the names of the scopes that hold a call; none for one that no program may make.
func ScopesFor(call string) (out []string) {
	for _, s := range calls {
		if slices.Contains(s.calls, call) {
			out = append(out, s.name)
		}
	}
	return out
}
