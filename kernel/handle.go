package kernel

import (
	"path/filepath"

	door "oxios/kernel/guard"
	"oxios/kernel/security"
	"oxios/kernel/sys"
)

// Handle is the kernel as one principal sees it. Whoever holds it can do what
// its principal may, and cannot ask as anybody else.
type Handle struct {
	State     *StateAPI     // sessions and messages
	Agents    *AgentsAPI    // runs
	Security  *SecurityAPI  // approvals, policy, tools, audit
	Exec      *ExecAPI      // files and commands
	Memory    *MemoryAPI    // what agents remember
	Space     *SpaceAPI     // contexts of work
	Browser   *BrowserAPI   // pages and search of the web
	Knowledge *KnowledgeAPI // the person's notes
	A2A       *A2AAPI       // cards of agents, and what they say to each other
	MCP       *MCPAPI       // servers of tools
	Skills    *SkillsAPI    // how kinds of work are done
	Clients   *ClientsAPI   // programs that use Oxios from outside
	Infra     *InfraAPI     // events, configuration, models, health
}

// StateAPI holds the calls about sessions and messages.
type StateAPI struct{ *caller }

// AgentsAPI holds the calls about runs: agents are processes.
type AgentsAPI struct{ *caller }

// SecurityAPI holds the calls about approvals, policy, tools and the audit chain.
type SecurityAPI struct{ *caller }

// ExecAPI holds the calls that touch files and run commands.
type ExecAPI struct{ *caller }

// MemoryAPI holds the calls about what agents remember.
type MemoryAPI struct{ *caller }

// SpaceAPI holds the calls about the contexts of work.
type SpaceAPI struct{ *caller }

// BrowserAPI holds the calls that read the web.
type BrowserAPI struct{ *caller }

// KnowledgeAPI holds the calls about the person's notes.
type KnowledgeAPI struct{ *caller }

// A2AAPI holds the calls about the cards of agents and the messages between
// them.
type A2AAPI struct{ *caller }

// InfraAPI holds the calls about events, configuration, models and health.
type InfraAPI struct{ *caller }

// caller is who a Handle calls for.
type caller struct {
	k      *Kernel
	who    sys.Principal
	cspace security.CSpace
	rules  security.Rules // of an agent: what holds it
	role   security.Role  // what these allow together
	scope  scope
	trial  *trial // when set, calls are only decided, and nothing is done
}

// scope is where a caller works. For an agent it is that of its run, for the
// person what the configuration says.
type scope struct {
	runID, sessionID string
	folder           string // absolute
	mode             security.Mode
	agent            string // the run's name
	space            string // of the conversation; "" is the default one
}

// As returns the kernel as p sees it. An agent's Handle works in the folder and
// mode of its run; p.ID names the run.
func (k *Kernel) As(p sys.Principal) *Handle {
	_ = k.recorded() // [Kernel.Run] tells when it failed; what has an effect fails by itself then
	c := &caller{k: k, who: p}
	// An unknown principal or profile gets the empty space: it may do nothing.
	c.cspace, _ = security.SpaceOf(p)
	if p.Kind == sys.KindAgent {
		live := k.runs.of(p.ID)
		c.scope, c.rules, c.role = live.scope, live.rules, live.rules.Most()
		c.cspace = c.cspace.Intersect(c.role.Space())
	} else {
		cfg := k.config.get()
		c.scope = scope{folder: cfg.workFolder(), mode: cfg.mode()}
	}
	return handleOf(c)
}

// In returns the same Handle working in another folder. Only the person can
// choose; an agent's folder is that of its run.
func (h *Handle) In(folder string) *Handle {
	if h.Exec.who.Kind != sys.KindPerson {
		return h
	}
	c := *h.Exec.caller
	c.scope.folder = filepath.Clean(folder)
	return handleOf(&c)
}

// Principal returns who h calls for.
func (h *Handle) Principal() sys.Principal { return h.Exec.who }

func handleOf(c *caller) *Handle {
	part := door.NewCaller(c.who, door.Scope{RunID: c.scope.runID, SessionID: c.scope.sessionID, Folder: c.scope.folder, Mode: c.scope.mode, Agent: c.scope.agent, Space: c.scope.space}, partGate{c})
	return &Handle{State: &StateAPI{c}, Agents: &AgentsAPI{c}, Security: &SecurityAPI{c}, Exec: &ExecAPI{c}, Memory: &MemoryAPI{c}, Space: &SpaceAPI{c}, Browser: &BrowserAPI{c}, Knowledge: &KnowledgeAPI{c}, A2A: &A2AAPI{c}, MCP: c.k.mcp.As(part), Skills: c.k.skills.As(part), Clients: c.k.clients.As(part), Infra: &InfraAPI{c}}
}
