package kernel_test

import (
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

// setRole writes a role and lets new conversations start with it.
func setRole(t *testing.T, k *kerneltest.Kernel, r kernel.Role) {
	t.Helper()
	person := k.Person()
	if _, err := person.Security.SetRole(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if _, err := person.Infra.SetConfig(t.Context(), "role", r.Name); err != nil {
		t.Fatal(err)
	}
}

// refusedBy checks that a rule refused, in a sentence that names it, and that
// the chain holds it.
func refusedBy(t *testing.T, k *kerneltest.Kernel, what string, err error, rule string) {
	t.Helper()
	wantCode(t, what, err, sys.CodeForbidden)
	e := sys.AsError(err)
	if !strings.Contains(e.Message, rule) || e.MessageKO == "" || !strings.Contains(e.Hint, "oxios permissions") || e.HintKO == "" {
		t.Errorf("%s: got %+v, want a sentence in both languages that names %s and where it is changed", what, e, rule)
	}
	list, err := k.Person().Security.Audit(t.Context(), kernel.AuditQuery{Limit: 20})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(list, func(a kernel.AuditEntry) bool {
		return a.Action == security.ActionAccessDenied && strings.Contains(string(a.Metadata), rule)
	}) {
		t.Errorf("%s: the chain does not hold the refusal", what)
	}
}

func level(t *testing.T, k *kerneltest.Kernel) sys.Isolation {
	t.Helper()
	p, err := k.Person().Security.Policy(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return p.Isolation
}

func TestADeniedPathIsKeptFromAgentsAndNotFromThePerson(t *testing.T) {
	t.Parallel()
	k := open(t)
	person := k.Person()
	secret := filepath.Join(k.Folder, "taxes")
	write(t, filepath.Join(secret, "2026.txt"), "needle income\n")
	write(t, filepath.Join(k.Folder, "open.txt"), "needle hay\n")
	if err := os.Symlink(secret, filepath.Join(k.Folder, "way")); err != nil {
		t.Fatal(err)
	}
	h := k.Agent("autonomous")
	if _, err := h.Exec.Read(t.Context(), kernel.ReadArgs{Path: "taxes/2026.txt"}); err != nil {
		t.Fatalf("before: %v", err)
	}
	p, err := person.Security.DenyPath(t.Context(), secret)
	if err != nil || len(p.DeniedPaths) != 1 {
		t.Fatalf("got %+v, %v", p, err)
	}
	_, err = h.Exec.Read(t.Context(), kernel.ReadArgs{Path: "taxes/2026.txt"})
	refusedBy(t, k, "read", err, "denied_paths")
	_, err = h.Exec.Read(t.Context(), kernel.ReadArgs{Path: filepath.Join(secret, "2026.txt")})
	refusedBy(t, k, "read by its whole name", err, "denied_paths")
	_, err = h.Exec.Write(t.Context(), kernel.WriteArgs{Path: "way/new.txt", Content: "x"})
	refusedBy(t, k, "write through a link", err, "denied_paths")
	_, err = h.Exec.Ls(t.Context(), kernel.LsArgs{Path: "taxes"})
	refusedBy(t, k, "list", err, "denied_paths")
	_, err = h.Exec.Shell(t.Context(), kernel.ShellArgs{Command: "cat taxes/2026.txt"})
	refusedBy(t, k, "a command that names it", err, "denied_paths")
	_, err = h.Exec.Shell(t.Context(), kernel.ShellArgs{Command: "ls", Cwd: "taxes"})
	refusedBy(t, k, "a command in it", err, "denied_paths")

	ls, err := h.Exec.Ls(t.Context(), kernel.LsArgs{})
	if err != nil || slices.ContainsFunc(ls.Entries, func(e kernel.DirEntry) bool { return e.Name == "taxes" }) {
		t.Errorf("ls: got %+v, %v, want a list without it", ls, err)
	}
	grep, err := h.Exec.Grep(t.Context(), kernel.GrepArgs{Pattern: "needle"})
	if err != nil || len(grep.Matches) != 1 || grep.Matches[0].Path != "open.txt" || grep.Note != "" {
		t.Errorf("grep: got %+v, %v, want open.txt alone and no word of the other", grep, err)
	}
	find, err := h.Exec.Find(t.Context(), kernel.FindArgs{Pattern: "*"})
	if err != nil || slices.ContainsFunc(find.Paths, func(p string) bool { return strings.Contains(p, "taxes") }) {
		t.Errorf("find: got %+v, %v", find, err)
	}
	_, err = h.Exec.Read(t.Context(), kernel.ReadArgs{Path: "taxe"})
	if e := sys.AsError(err); strings.Contains(e.Hint, "taxes") {
		t.Errorf("the hint of a missing file names it: %q", e.Hint)
	}
	if level(t, k).Contained() {
		r, err := k.Agent("autonomous").Exec.Shell(t.Context(), kernel.ShellArgs{Command: "cat */*.txt; true"})
		if err != nil || strings.Contains(r.Output, "income") {
			t.Errorf("a command that does not name it: got %+v, %v", r, err)
		}
	}
	names, err := person.Exec.Mentions(t.Context(), kernel.MentionArgs{Folder: k.Folder})
	if err != nil || slices.ContainsFunc(names.Paths, func(p string) bool { return strings.Contains(p, "taxes") }) {
		t.Errorf("mentions: got %+v, %v", names, err)
	}
	_, err = person.Agents.Submit(t.Context(), kernel.Submit{Text: "hi", Folder: secret})
	wantCode(t, "a run in it", err, sys.CodeRefused)

	if got, err := person.Exec.Read(t.Context(), kernel.ReadArgs{Path: filepath.Join(secret, "2026.txt")}); err != nil || got.Lines != 1 {
		t.Errorf("the person: got %+v, %v, want the file", got, err)
	}
	_, err = h.Security.AllowPath(t.Context(), secret)
	wantCode(t, "an agent opens it", err, sys.CodeForbidden)

	k.Restart()
	_, err = k.AgentIn(k.Folder, "autonomous").Exec.Read(t.Context(), kernel.ReadArgs{Path: "taxes/2026.txt"})
	refusedBy(t, k, "after a restart", err, "denied_paths")
	if p, err = k.Person().Security.AllowPath(t.Context(), secret); err != nil || len(p.DeniedPaths) != 0 {
		t.Fatalf("got %+v, %v", p, err)
	}
	if _, err := k.Agent("guarded").Exec.Read(t.Context(), kernel.ReadArgs{Path: "taxes/2026.txt"}); err != nil {
		t.Errorf("after it was taken from the list: %v", err)
	}
}

func TestARoleHoldsItsAgents(t *testing.T) {
	t.Parallel()
	k := open(t)
	docs := filepath.Join(k.Folder, "docs")
	write(t, filepath.Join(docs, "a.txt"), "a\n")
	write(t, filepath.Join(docs, "no", "b.txt"), "b\n")
	write(t, filepath.Join(k.Folder, "c.txt"), "c\n")
	setRole(t, k, kernel.Role{
		Name: "reviewer", Profile: "operator", AllowedTools: []string{"read", "exec", "agent"}, AllowedPaths: []string{docs}, DeniedPaths: []string{filepath.Join(docs, "no")},
		MaxExecutionTimeSecs: 1,
	})
	h := k.Agent("autonomous")
	if _, err := h.Exec.Read(t.Context(), kernel.ReadArgs{Path: "docs/a.txt"}); err != nil {
		t.Errorf("what it may: %v", err)
	}
	_, err := h.Exec.Read(t.Context(), kernel.ReadArgs{Path: "c.txt"})
	refusedBy(t, k, "outside its paths", err, "allowed_paths")
	_, err = h.Exec.Read(t.Context(), kernel.ReadArgs{Path: "docs/no/b.txt"})
	refusedBy(t, k, "a path denied to the role", err, "denied_paths of the role reviewer")
	_, err = h.Exec.Write(t.Context(), kernel.WriteArgs{Path: "docs/a.txt", Content: "x"})
	refusedBy(t, k, "another tool", err, "allowed_tools")
	_, err = h.Exec.Shell(t.Context(), kernel.ShellArgs{Command: "curl https://example.com/", Cwd: "docs"})
	refusedBy(t, k, "the network", err, "network_access")
	_, err = h.Exec.Shell(t.Context(), kernel.ShellArgs{Command: "true", Cwd: "docs", Network: true})
	refusedBy(t, k, "the network that was asked for", err, "network_access")
	_, err = h.Agents.Fork(t.Context(), kernel.Fork{Goal: "help"})
	refusedBy(t, k, "a fork", err, "can_fork")
	_, err = h.A2A.Delegate(t.Context(), kernel.Delegation{Task: "review this"})
	refusedBy(t, k, "a delegation that starts", err, "can_fork")
	var names []string
	for _, tool := range k.Toolset(h).Tools {
		names = append(names, tool.Name())
	}
	if !slices.Equal(names, []string{"read", "exec"}) {
		t.Errorf("it is offered %v, want read and exec", names)
	}
	if level(t, k).Contained() {
		r, err := h.Exec.Shell(t.Context(), kernel.ShellArgs{Command: "while :; do :; done", Cwd: "docs", TimeoutS: 60})
		if err != nil || !r.TimedOut {
			t.Errorf("a command without an end: got %+v, %v, want it ended after a second", r, err)
		}
		r, err = h.Exec.Shell(t.Context(), kernel.ShellArgs{Command: "touch ok.txt && touch ../out.txt", Cwd: "docs"})
		if _, serr := os.Stat(filepath.Join(k.Folder, "out.txt")); serr == nil {
			t.Errorf("a command wrote beside its allowed paths: %+v, %v", r, err)
		}
	}
	_, err = k.Person().Security.DeleteRole(t.Context(), "reviewer")
	wantCode(t, "deleting the role of new conversations", err, sys.CodeConflict)
}

func TestAForkGetsNoMoreThanItsParent(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(teamScript))
	off := k.Person().Security
	if _, err := off.SetRole(t.Context(), kernel.Role{Name: "quiet", Profile: "operator", CanFork: true, AllowedTools: []string{"agent", "write", "read"}, MaxMemoryMB: 64}); err != nil {
		t.Fatal(err)
	}
	done := k.Ask("team", func(s *kernel.Submit) { s.Role = "quiet" })
	if !strings.Contains(done.Response, "note is written") {
		t.Fatalf("got %q", done.Response)
	}
	list, err := k.Person().Agents.List(t.Context(), kernel.ProcessQuery{All: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range list {
		if p.Role != "quiet" || p.ParentID != "" && p.Profile != "worker" {
			t.Errorf("%s: role %q, profile %q, want quiet, and worker below", p.Name, p.Role, p.Profile)
		}
	}
	again := k.Ask("hello", func(s *kernel.Submit) { s.SessionID = done.SessionID })
	v, err := k.Person().State.Session(t.Context(), again.SessionID)
	if err != nil || v.Session.Role != "quiet" {
		t.Errorf("the conversation: got %q, %v, want it to keep its role", v.Session.Role, err)
	}
	_, err = k.Person().Agents.Submit(t.Context(), kernel.Submit{Text: "x", Role: "nobody"})
	wantCode(t, "an unknown role", err, sys.CodeNotFound)
	if _, err := off.DeleteRole(t.Context(), "quiet"); err != nil {
		t.Fatal(err)
	}
	_, err = k.Person().Agents.Submit(t.Context(), kernel.Submit{Text: "x", SessionID: done.SessionID})
	wantCode(t, "a role that is gone", err, sys.CodeNotFound)
}

func TestConfigFileKeepsItsRestWhenRulesChange(t *testing.T) {
	t.Parallel()
	k := open(t)
	s := k.Person().Security
	path := filepath.Join(k.Home, "config.toml")
	writeConfig(t, k, "# mine\ndenied_paths = [\n  \"~/a\", # first\n  \"~/b\",\n]\nmode = \"ask\" # careful\n\n[roles.mine]\nprofile = \"worker\"\n\n[fallbacks]\n\"x/y\" = [\"z/w\"]\n")
	k.Until("the file is read", func() bool {
		p, err := s.Permissions(t.Context())
		return err == nil && len(p.DeniedPaths) == 2
	})
	if _, err := s.DenyPath(t.Context(), "~/c"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.SetRole(t.Context(), kernel.Role{Name: "mine", Profile: "standard", AllowedTools: []string{}, NetworkAccess: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.SetRole(t.Context(), kernel.Role{Name: "other", Profile: "worker", NetworkAccess: true, CanFork: true}); err != nil {
		t.Fatal(err)
	}
	p, err := s.Permissions(t.Context())
	if err != nil || !slices.Equal(p.DeniedPaths, []string{"~/a", "~/b", "~/c"}) {
		t.Errorf("got %+v, %v", p, err)
	}
	i := slices.IndexFunc(p.Roles, func(r kernel.RoleView) bool { return r.Name == "mine" })
	if i < 0 || p.Roles[i].Profile != "standard" || p.Roles[i].AllowedTools == nil || p.Roles[i].CanFork || !p.Roles[i].NetworkAccess {
		t.Errorf("the role: got %+v", p.Roles)
	}
	raw, err := os.ReadFile(path)
	text := string(raw)
	if err != nil || !strings.HasPrefix(text, "# mine\n") || !strings.Contains(text, `mode = "ask" # careful`) || !strings.Contains(text, "[fallbacks]\n\"x/y\" = [\"z/w\"]") {
		t.Errorf("the file: %v\n%s", err, text)
	}
	if _, err := s.DeleteRole(t.Context(), "mine"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.AllowPath(t.Context(), "~/a"); err != nil {
		t.Fatal(err)
	}
	_, err = s.DenyPath(t.Context(), "~")
	wantCode(t, "denying the home", err, sys.CodeInvalid)
	_, err = s.SetRole(t.Context(), kernel.Role{Name: "a b", Profile: "worker"})
	wantCode(t, "a bad name", err, sys.CodeInvalid)
	_, err = s.SetRole(t.Context(), kernel.Role{Name: "worker", Profile: "supervisor"})
	wantCode(t, "a wider built-in role", err, sys.CodeInvalid)
	_, err = s.SetRole(t.Context(), kernel.Role{Name: "x", Profile: "worker", AllowedTools: []string{"nothing"}})
	wantCode(t, "an unknown tool", err, sys.CodeNotFound)
	_, err = s.SetRole(t.Context(), kernel.Role{Name: "x", Profile: "king"})
	wantCode(t, "an unknown profile", err, sys.CodeInvalid)
	for _, said := range []string{sys.AsError(err).Message, sys.AsError(err).MessageKO} {
		if strings.Contains(said, "..") {
			t.Errorf("got %q, want one full stop", said)
		}
	}
}

func TestOnlyASupervisorLooksAtPermissions(t *testing.T) {
	t.Parallel()
	k := open(t)
	_, err := k.Agent("guarded").Security.Permissions(t.Context())
	wantCode(t, "an operator", err, sys.CodeForbidden)
	if _, err := k.Person().Infra.SetConfig(t.Context(), "role", "supervisor"); err != nil {
		t.Fatal(err)
	}
	if _, err := k.Person().Security.DenyPath(t.Context(), "~/taxes"); err != nil {
		t.Fatal(err)
	}
	h := k.Agent("guarded")
	i := slices.IndexFunc(k.Toolset(h).Tools, func(t agent.Tool) bool { return t.Name() == "security" })
	if i < 0 {
		t.Fatal("a supervisor is not offered the tool security")
	}
	tool := k.Toolset(h).Tools[i]
	for args, want := range map[string]string{
		`{"action":"self"}`:   "security:RW",
		`{"action":"roles"}`:  "Denied to all agents: ~/taxes.",
		`{"action":"grants"}`: "No kind of step is approved beforehand.",
		`{"action":"check","act":"access_path","resource":"~/taxes/x"}`:  "Refused by the rule denied_paths",
		`{"action":"check","act":"fork","role":"worker"}`:                "Refused by the rule profile",
		`{"action":"check","act":"execute_tool","resource":"read"}`:      "No rule of the role supervisor is against it",
		`{"action":"check","act":"config_change","resource":"anything"}`: "Refused by the rule person",
		`{"action":"waiting"}`: "No request waits",
	} {
		r, err := tool.Call(t.Context(), []byte(args))
		if err != nil || !strings.Contains(r.Text, want) {
			t.Errorf("%s: got %q, %v, want %q in it", args, r.Text, err, want)
		}
	}
	_, err = h.Security.SetRole(t.Context(), kernel.Role{Name: "x", Profile: "worker"})
	wantCode(t, "a supervisor changes a rule", err, sys.CodeForbidden)
}
