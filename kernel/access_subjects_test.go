package kernel_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"oxios/kernel"
	"oxios/kernel/agent"
	"oxios/kernel/kerneltest"
	"oxios/kernel/security"
	"oxios/kernel/sys"
)

// withRules opens a kernel whose config.toml has these tables.
func withRules(t *testing.T, tables string) *kerneltest.Kernel {
	t.Helper()
	home, folder := filepath.Join(t.TempDir(), "home"), t.TempDir()
	k := open(t, kerneltest.At(home, folder), kerneltest.Script(teamScript))
	setTables(t, k, tables)
	return k
}

// setTables writes config.toml by hand, with these tables.
func setTables(t *testing.T, k *kerneltest.Kernel, tables string) {
	t.Helper()
	writeConfig(t, k, fmt.Sprintf("folder = %q\nkeyring = false\n%s", k.Folder, tables))
	if v, err := k.Person().Infra.Config(t.Context()); err != nil || v.Problem != nil {
		t.Fatalf("config.toml: %+v, %v", v.Problem, err)
	}
}

// as returns the Handle of a run that is at work.
func as(k *kerneltest.Kernel, run string) *kernel.Handle {
	return k.As(sys.Principal{Kind: sys.KindAgent, ID: run, Profile: "operator"})
}

// startedBy lets h start an agent that stays at work, and returns its Handle.
func startedBy(t *testing.T, k *kerneltest.Kernel, h *kernel.Handle, name string) *kernel.Handle {
	t.Helper()
	f, err := h.Agents.Fork(t.Context(), kernel.Fork{Goal: "hang on", Name: name, Profile: "operator"})
	if err != nil {
		t.Fatal(err)
	}
	return as(k, f.RunID)
}

func writes(t *testing.T, h *kernel.Handle) error {
	t.Helper()
	_, err := h.Exec.Write(t.Context(), kernel.WriteArgs{Path: "x.txt", Content: "x"})
	return err
}

func TestARuleForOneAgentLeavesOthersOfItsRoleAlone(t *testing.T) {
	t.Parallel()
	k := withRules(t, `
[agents.helper]
denied_tools = ["write"]
allowed_paths = ["~/nowhere"]
network_access = false
can_fork = false
denied_actions = ["manage_agents"]
`)
	parent := k.Agent("autonomous")
	helper, other := startedBy(t, k, parent, "helper"), startedBy(t, k, parent, "other")
	refusedBy(t, k, "a tool", writes(t, helper), `denied_tools of the agent`)
	if e := sys.AsError(writes(t, helper)); !strings.Contains(e.Message, `"helper"`) || !strings.Contains(e.Hint, `[agents."helper"]`) || !strings.Contains(e.MessageKO, `"helper"`) {
		t.Errorf("got %+v, want the name of the agent and of its table", e)
	}
	_, err := helper.Exec.Read(t.Context(), kernel.ReadArgs{Path: "x.txt"})
	refusedBy(t, k, "a path", err, `allowed_paths of the agent`)
	_, err = helper.Agents.Fork(t.Context(), kernel.Fork{Goal: "hang on"})
	refusedBy(t, k, "a fork", err, `can_fork is off for the agent`)
	_, err = helper.Agents.Kill(t.Context(), helper.Principal().ID)
	refusedBy(t, k, "stopping", err, `denied_actions of the agent`)
	_, err = helper.Exec.Shell(t.Context(), kernel.ShellArgs{Command: "curl https://example.com/"})
	wantCode(t, "the network", err, sys.CodeForbidden)
	if slices.ContainsFunc(k.Toolset(helper).Tools, func(t agent.Tool) bool { return t.Name() == "write" }) {
		t.Error("it is offered the tool that is denied to it")
	}
	if err := writes(t, other); err != nil {
		t.Errorf("another agent of the same role: %v", err)
	}
	if err := writes(t, startedBy(t, k, parent, "Helper")); err != nil {
		t.Errorf("a name that is not exactly the same: %v", err)
	}
}

func TestAForkStaysUnderTheRulesOfThoseItComesFrom(t *testing.T) {
	t.Parallel()
	k := withRules(t, `
[agents.adopted]
denied_tools = ["write"]

[agents.adopted2]
allowed_tools = ["write", "read", "agent"]
`)
	h := k.Agent("autonomous")
	refusedBy(t, k, "the agent itself", writes(t, h), `denied_tools of the agent`)
	for _, name := range []string{"", "free", "Adopted", "adopted ", "adopted2", "ad\u043epted"} {
		child := startedBy(t, k, h, name)
		refusedBy(t, k, "a fork called "+name, writes(t, child), `denied_tools of the agent`)
		refusedBy(t, k, "a fork of it", writes(t, startedBy(t, k, child, "free")), `denied_tools of the agent`)
	}
	d, err := h.A2A.Delegate(t.Context(), kernel.Delegation{Task: "hang on", Name: "free"})
	if err != nil {
		t.Fatal(err)
	}
	refusedBy(t, k, "who took its task over", writes(t, as(k, d.RunID)), `denied_tools of the agent`)
}

func TestARuleForAnAgentNeverAllowsMoreThanItsRole(t *testing.T) {
	t.Parallel()
	k := withRules(t, `
role = "reader"

[roles.reader]
profile = "operator"
allowed_tools = ["read", "agent"]
can_fork = false
network_access = false

[agents.adopted]
profile = "supervisor"
allowed_tools = ["read", "write", "agent"]
can_fork = true
network_access = true
`)
	h := k.Agent("autonomous")
	refusedBy(t, k, "a tool of the agent alone", writes(t, h), "allowed_tools of the role reader")
	_, err := h.Agents.Fork(t.Context(), kernel.Fork{Goal: "hang on"})
	refusedBy(t, k, "a fork", err, "can_fork is off for the role reader")
	_, err = h.Security.Permissions(t.Context())
	wantCode(t, "a right of its profile", err, sys.CodeForbidden)
}

func TestARuleForAnAgentHoldsWhatFollowsInItsConversation(t *testing.T) {
	t.Parallel()
	k := withRules(t, "[agents.helper]\ndenied_tools = [\"write\"]\n")
	first := k.Say("hang on", func(m *kernel.Submit) { m.Name = "helper" })
	held := func(what, run string) {
		t.Helper()
		refusedBy(t, k, what, writes(t, as(k, run)), `denied_tools of the agent`)
		if _, err := k.Person().Agents.Kill(t.Context(), run); err != nil {
			t.Fatal(err)
		}
		k.Wait(run)
	}
	held("the named one", first.RunID)
	next, err := k.Person().Agents.Continue(t.Context(), first.RunID)
	if err != nil {
		t.Fatal(err)
	}
	k.Wait(next.RunID)
	third := k.Say("hang on", func(m *kernel.Submit) { m.SessionID = first.SessionID })
	held("a later message", third.RunID)
	again := k.Say("hang on", func(m *kernel.Submit) { m.InsteadOf = first.RunID })
	held("the message said again", again.RunID)
	free := k.Say("hang on")
	if err := writes(t, as(k, free.RunID)); err != nil {
		t.Errorf("another conversation: %v", err)
	}
}

func TestARunKeepsTheRulesForItsAgentOverARestart(t *testing.T) {
	t.Parallel()
	k := withRules(t, "[agents.helper]\ndenied_tools = [\"write\"]\n")
	run := k.Say("hang on", func(m *kernel.Submit) { m.Name = "helper" }).RunID
	setTables(t, k, "[agents.other]\ndenied_tools = [\"write\"]\n")
	refusedBy(t, k, "after the rule was taken away", writes(t, as(k, run)), `denied_tools of the agent`)
	k.Restart()
	k.Until("the run goes on", func() bool {
		return sys.CodeOf(writes(t, as(k, run))) == sys.CodeForbidden
	})
	refusedBy(t, k, "after a restart", writes(t, as(k, run)), `denied_tools of the agent`)
}

func TestARuleForTheUserRefusesThePerson(t *testing.T) {
	t.Parallel()
	k := withRules(t, `
[user]
denied_tools = ["edit", "knowledge", "memory_write"]
denied_paths = ["/srv/private"]
network_access = false
can_fork = false
denied_actions = ["config_change", "manage_agents"]
`)
	p := k.Person()
	refused := func(what string, err error, rule string) {
		t.Helper()
		wantCode(t, what, err, sys.CodeForbidden)
		e := sys.AsError(err)
		if !strings.Contains(e.Message, rule+" of the user") && !strings.Contains(e.Message, rule+" is off for the user") || e.MessageKO == "" || !strings.Contains(e.Hint, "[user]") || !strings.Contains(e.HintKO, "[user]") {
			t.Errorf("%s: got %+v, want a sentence in both languages that names %s and where it is changed", what, e, rule)
		}
		list, err := p.Security.Audit(t.Context(), kernel.AuditQuery{Limit: 20})
		if err != nil || !slices.ContainsFunc(list, func(a kernel.AuditEntry) bool {
			return a.Action == security.ActionAccessDenied && a.Actor == "person:test" && strings.Contains(string(a.Metadata), rule)
		}) {
			t.Errorf("%s: the chain does not hold the refusal, %v", what, err)
		}
	}
	_, err := p.Exec.Edit(t.Context(), kernel.EditArgs{Path: "x.txt"})
	refused("a tool", err, "denied_tools")
	_, err = p.Knowledge.Append(t.Context(), "a.md", "x")
	refused("a note", err, "denied_tools")
	_, err = p.Memory.Forget(t.Context(), []string{"none"})
	refused("a memory", err, "denied_tools")
	if _, err := p.Knowledge.Tree(t.Context()); err != nil {
		t.Errorf("looking at notes: %v", err)
	}
	_, err = p.A2A.Send(t.Context(), kernel.AgentSend{To: "nobody", Text: "x"})
	refused("a word to an agent", err, "denied_actions")
	_, err = p.Exec.Read(t.Context(), kernel.ReadArgs{Path: "/srv/private/a.txt"})
	refused("a path", err, "denied_paths")
	_, err = p.State.Attach(t.Context(), kernel.AttachInput{Path: "/srv/private/a.txt"})
	refused("attaching it", err, "denied_paths")
	_, err = p.Space.Create(t.Context(), kernel.SpaceInput{Name: "private", Folder: "/srv/private"})
	refused("a space in it", err, "denied_paths")
	_, err = p.Infra.SetConfig(t.Context(), "theme", "dark")
	refused("a setting", err, "denied_actions")
	_, err = p.Security.DenyPath(t.Context(), "~/taxes")
	refused("a rule", err, "denied_actions")
	_, err = p.Agents.Submit(t.Context(), kernel.Submit{Text: "hello"})
	refused("a message", err, "can_fork")
	_, err = p.Agents.Pause(t.Context(), false)
	refused("letting agents go on", err, "denied_actions")
	_, err = p.Infra.TestProvider(t.Context(), "env", "m")
	refused("trying a provider", err, "network_access")
	if _, err := k.Agent("autonomous").Agents.Fork(t.Context(), kernel.Fork{Goal: "hang on"}); err != nil {
		t.Errorf("an agent, which these rules are not for: %v", err)
	}
}

func TestNobodyLocksThemselvesOut(t *testing.T) {
	t.Parallel()
	k := withRules(t, "")
	run := k.Say("hang on").RunID
	setTables(t, k, `
[user]
allowed_tools = []
allowed_paths = []
network_access = false
can_fork = false
denied_actions = ["config_change", "manage_agents"]
`)
	p := k.Person()
	for what, try := range map[string]func() error{
		"the rules":         func() error { _, err := p.Security.Permissions(t.Context()); return err },
		"the record":        func() error { _, err := p.Security.Audit(t.Context(), kernel.AuditQuery{}); return err },
		"the settings":      func() error { _, err := p.Infra.Config(t.Context()); return err },
		"the conversations": func() error { _, err := p.State.Sessions(t.Context(), kernel.SessionQuery{}); return err },
		"the agents":        func() error { _, err := p.Agents.List(t.Context(), kernel.ProcessQuery{}); return err },
		"the doctor":        func() error { _, err := p.Infra.Doctor(t.Context()); return err },
		"pausing one":       func() error { return p.Agents.PauseRun(t.Context(), run, true) },
		"pausing all":       func() error { _, err := p.Agents.Pause(t.Context(), true); return err },
	} {
		if err := try(); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := p.Agents.Kill(t.Context(), run); err != nil {
		t.Errorf("stopping: %v", err)
	}
	_, err := p.Security.Deny(t.Context(), "nobody", "")
	wantCode(t, "an answer to a request that is not there", err, sys.CodeNotFound)
	_, err = p.Agents.Undo(t.Context(), kernel.UndoInput{RunID: run})
	if sys.CodeOf(err) == sys.CodeForbidden {
		t.Errorf("undo: %v", err)
	}
	setTables(t, k, "")
	if _, err := p.Infra.SetConfig(t.Context(), "theme", "dark"); err != nil {
		t.Errorf("after the file was edited: %v", err)
	}
}

func TestConfigFileSaysWhatIsWrongWithARule(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"[machines.a]\ncan_fork = false\n":                                                    `there is no setting "machines.a"`,
		"[agents.a]\nfly = true\n":                                                            `agents.a.fly`,
		"[agents.a]\ncan_fork = false\n[agents.b]\ndenied_tools = [\"fly\"]\n":                `line 4 (denied_tools = ["fly"]): denied_tools has "fly", but there is no tool`,
		"[roles.worker]\nallowed_paths = [\"~/a\"]\n[agents.a]\nallowed_paths = [\"a\"]\n":    `line 4 (allowed_paths = ["a"]): allowed_paths has "a"`,
		"[agents.a]\ndenied_actions = [\"dance\"]\n":                                          `line 2 (denied_actions = ["dance"]): denied_actions has "dance", which is no action`,
		"[user]\ndenied_actions = [\"network\"]\n":                                            `denied in another way`,
		"[user]\nprofile = \"worker\"\n":                                                      `line 2 (profile = "worker"): profile is for roles and agents`,
		"[agents.\" a\"]\ncan_fork = false\n":                                                 `no agent is called " a"`,
		"[agents." + fmt.Sprintf("%q", strings.Repeat("long ", 20)) + "]\ncan_fork = false\n": `no agent is called`,
		"[agents.a]\nprofile = \"king\"\n":                                                    `line 1 ([agents.a]): There is no profile "king"`,
		"[user]\ndenied_paths = [\"/\"]\n":                                                    `line 2`,
		"[agents.a]\nmax_memory_mb = 3\n":                                                     `line 2`,
		"[user]\nallowed_tools = [\"write\"]\n[agents.a]\ncan_fork = 3\n":                     `agents.a.can_fork must be true or false`,
		"[agents]\nquiet = 3\n":                                                               `line 2 (quiet = 3): agents.quiet must be a table: [agents.quiet]`,
		"user = 3\n":                                                                          `user must be a table: [user]`,
		"[[user]]\nprofile = \"worker\"\n":                                                    `user must be one table: [user]`,
		"[user]\nallowed_tools = 3\n":                                                         `user.allowed_tools must be a list of texts`,
		"[user]\nallowed_tools = [3]\n":                                                       `user.allowed_tools must be a text in quotes`,
		"[agents.a]\nprofile = [1]\n":                                                         `agents.a.profile must be a text in quotes`,
		"[agents.a]\nmax_memory_mb = 2026-01-01\n":                                            `agents.a.max_memory_mb must be a whole number`,
	} {
		k := open(t)
		writeConfig(t, k, text)
		v, err := k.Person().Infra.Config(t.Context())
		if err != nil || v.Problem == nil || !strings.Contains(v.Problem.Message, want) || v.Problem.MessageKO == "" || v.Problem.Hint == "" {
			t.Errorf("%q: got %+v, %v, want %q", text, v.Problem, err, want)
		}
	}
	k := withRules(t, "[agents.\"Review the code\"]\nprofile = \"worker\"\nmax_execution_time_secs = 60\n\n[roles.mine]\nprofile = \"worker\"\ndenied_tools = [\"exec\"]\n\n[user]\ndenied_paths = [\"~/taxes\"]\n")
	p, err := k.Person().Security.Permissions(t.Context())
	if err != nil || len(p.Agents) != 1 || p.Agents[0].Name != "Review the code" || p.Agents[0].MaxExecutionTimeSecs != 60 || p.User == nil || !slices.Equal(p.User.DeniedPaths, []string{"~/taxes"}) {
		t.Errorf("got %+v, %v", p, err)
	}
	if _, err := k.Person().Security.SetRole(t.Context(), kernel.Role{Name: "mine", Profile: "worker", DeniedTools: []string{"exec"}}); err != nil {
		t.Fatal(err)
	}
	if raw, _ := os.ReadFile(filepath.Join(k.Home, "config.toml")); !strings.Contains(string(raw), "denied_tools = ['exec']") || !strings.Contains(string(raw), "[agents.\"Review the code\"]\n") {
		t.Errorf("a role was written, and the file is\n%s", raw)
	}
}

func TestCheckKnowsAgentsAndTheUser(t *testing.T) {
	t.Parallel()
	k := withRules(t, "[agents.helper]\ndenied_tools = [\"write\"]\n\n[user]\ndenied_actions = [\"config_change\"]\n")
	s := k.Person().Security
	for _, c := range []struct {
		in      kernel.AccessCheck
		allowed bool
		subject string
		rule    string
	}{
		{kernel.AccessCheck{Action: "execute_tool", Resource: "write", Agent: "helper"}, false, "agent", "denied_tools"},
		{kernel.AccessCheck{Action: "execute_tool", Resource: "write", Agent: "other"}, true, "agent", ""},
		{kernel.AccessCheck{Action: "execute_tool", Resource: "write"}, true, "role", ""},
		{kernel.AccessCheck{Action: "fork", Agent: "helper", Role: "worker"}, false, "agent", "profile"},
		{kernel.AccessCheck{Action: "config_change", User: true}, false, "user", "denied_actions"},
		{kernel.AccessCheck{Action: "manage_agents", User: true}, true, "user", ""},
	} {
		d, err := s.Check(t.Context(), c.in)
		if err != nil || d.Allowed != c.allowed || d.Subject != c.subject || d.Rule != c.rule {
			t.Errorf("%+v: got %+v, %v", c.in, d, err)
		}
	}
	_, err := s.Check(t.Context(), kernel.AccessCheck{Action: "fork", User: true, Role: "worker"})
	wantCode(t, "a user with a role", err, sys.CodeInvalid)
}
