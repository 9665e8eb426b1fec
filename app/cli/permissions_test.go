package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"oxios/kernel"
)

func TestPermissionsAreShownAndChanged(t *testing.T) {
	t.Parallel()
	d := setup(t)
	contains(t, "at first", d.must(0, "permissions", "show").out, "Role of new conversations: operator", "No path is kept")
	contains(t, "deny", d.must(0, "permissions", "deny", "~/taxes").out, "~/taxes: kept from all agents.")
	p := decode[kernel.Permissions](t, d.must(0, "permissions", "deny", "/srv/private", "--json").out)
	if !slices.Equal(p.DeniedPaths, []string{"~/taxes", "/srv/private"}) {
		t.Errorf("got %+v", p)
	}
	no := d.must(exitFailed, "permissions", "check", "access_path", "~/taxes/2026.txt")
	contains(t, "check", no.out, "Refused by denied_paths", "oxios permissions allow")
	contains(t, "allow", d.must(0, "permissions", "allow", "~/taxes").out, "no longer kept")
	contains(t, "check", d.must(0, "permissions", "check", "access_path", "~/taxes/2026.txt").out, "Allowed by the rules of the role operator")
	contains(t, "twice", d.must(exitFailed, "permissions", "allow", "~/taxes").err, "not among the denied paths")

	contains(t, "set", d.must(0, "permissions", "roles", "set", "reviewer", "--profile", "standard", "--tools", "read,grep", "--network=false", "--max-seconds", "30").out,
		"reviewer: profile standard; only the tools read, grep; no network; works up to 30 s")
	contains(t, "change", d.must(0, "permissions", "roles", "set", "reviewer", "--tools", "all").out, "reviewer: profile standard; no network; works up to 30 s")
	r := decode[kernel.RoleView](t, d.must(0, "permissions", "roles", "show", "reviewer", "--json").out)
	if r.Profile != "standard" || r.AllowedTools != nil || r.NetworkAccess || !r.CanFork || !strings.Contains(r.Rights, "memory:R") {
		t.Errorf("got %+v", r)
	}
	contains(t, "list", d.must(0, "permissions", "roles", "list").out, "supervisor", "reviewer")
	contains(t, "no such role", d.must(exitFailed, "run", "--role", "nobody", "hi").err, `There is no role "nobody"`)
	contains(t, "delete", d.must(0, "permissions", "roles", "delete", "reviewer").out, "reviewer: deleted.")
	contains(t, "delete", d.must(exitFailed, "permissions", "roles", "delete", "operator").err, `There is no role "operator" of yours`)
}

func TestRunWithARoleIsHeldByIt(t *testing.T) {
	t.Parallel()
	d := setup(t)
	dir := t.TempDir()
	d.must(0, "permissions", "roles", "set", "reader", "--tools", "read,ls")
	d.must(0, "run", "--folder", dir, "--mode", "auto", "--role", "reader", "Write a hello file")
	if _, err := os.Stat(filepath.Join(dir, "hello.txt")); err == nil {
		t.Error("a run of a role without the tool write wrote")
	}
	list := decode[[]kernel.Process](t, d.must(0, "ps", "--all", "--json").out)
	if len(list) != 1 || list[0].Role != "reader" {
		t.Errorf("got %+v, want one run of the role reader", list)
	}
}

func TestPermissionsKnowSingleAgentsAndTheUser(t *testing.T) {
	t.Parallel()
	d := setup(t)
	path := filepath.Join(d.Home, "config.toml")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	tables := "\n[agents.helper]\ndenied_tools = [\"write\"]\ndenied_actions = [\"manage_agents\"]\n\n[user]\ndenied_actions = [\"config_change\"]\n"
	if err := os.WriteFile(path, append(raw, tables...), 0o600); err != nil {
		t.Fatal(err)
	}
	contains(t, "show", d.must(0, "permissions", "show").out, "Agent helper: not the tools write; manages no agents", "You: changes no settings")
	contains(t, "an agent", d.must(exitFailed, "permissions", "check", "execute_tool", "write", "--agent", "helper").out, "Refused by denied_tools", `the agent "helper"`, "Changed here: The table [agents.")
	contains(t, "another one", d.must(0, "permissions", "check", "execute_tool", "write", "--agent", "other").out, "Allowed by the rules for the agent other and of the role operator")
	contains(t, "you", d.must(exitFailed, "permissions", "check", "config_change", "--user").out, "Refused by denied_actions: denied_actions of the user")
	contains(t, "you", d.must(0, "permissions", "check", "fork", "--user").out, "Allowed by the rules for you.")
	got := decode[kernel.AccessDecision](t, d.must(exitFailed, "permissions", "check", "execute_tool", "write", "--agent", "helper", "--json").out)
	if got.Allowed || got.Subject != "agent" || got.Agent != "helper" || got.Rule != "denied_tools" || got.Role != "operator" {
		t.Errorf("got %+v", got)
	}
	contains(t, "a setting", d.must(exitFailed, "config", "set", "theme", "dark").err, "Refused by a rule that you wrote", "[user]")

	dir := t.TempDir()
	d.must(0, "run", "--folder", dir, "--mode", "auto", "--name", "helper", "Write a hello file")
	if _, err := os.Stat(filepath.Join(dir, "hello.txt")); err == nil {
		t.Error("the agent wrote with the tool that is denied to it")
	}
	d.must(0, "run", "--folder", dir, "--mode", "auto", "--name", "other", "Write a hello file")
	if _, err := os.Stat(filepath.Join(dir, "hello.txt")); err != nil {
		t.Errorf("an agent of another name: %v", err)
	}
}
