package security

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"
)

// Rapid draws the seeds, each seed grows a thousand trees: 100 draws make
// 100,000 trees. Each child is compared with those above it as data, and in one
// tree of twenty by what it is allowed to do.
func TestNoDelegationOfARoleWidens(t *testing.T) {
	t.Parallel()
	tools := []string{"read", "write", "exec", "agent", "browser"}
	paths := []string{"/p", "/p/a", "/p/a/b", "/p/a/c", "/p-evil", "/q", "/q/a", "/", "/r/x"}
	profiles := append(ProfileNames(), "unheard-of")
	acts := [][]Act{nil, nil, {ActManageAgents}, {ActConfigChange, ActManageAgents}}
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		some := func(from []string, nilToo bool) []string {
			if nilToo && rng.IntN(3) == 0 {
				return nil
			}
			out := []string{}
			for _, s := range from {
				if rng.IntN(3) == 0 {
					out = append(out, s)
				}
			}
			return out
		}
		random := func(name string) Role {
			return Role{
				Name: name, Profile: profiles[rng.IntN(len(profiles))], AllowedTools: some(tools, true), AllowedPaths: some(paths, true), DeniedPaths: some(paths[1:7], true), DeniedTools: some(tools[1:], true), DeniedActions: acts[rng.IntN(len(acts))],
				NetworkAccess: rng.IntN(2) == 0, CanFork: rng.IntN(2) == 0, MaxExecutionTimeSecs: rng.IntN(3) * 10, MaxMemoryMB: rng.IntN(3) * 100,
			}
		}
		may := func(r Role, act Act, what string) bool {
			return Subject{Kind: SubjectAgent, Role: r}.Refuses(act, what) == nil
		}
		for tree := range 1000 {
			path := []Role{random("root")}
			for range 1 + rng.IntN(5) {
				parent, asked := path[rng.IntN(len(path))], random("asked")
				child := parent.Narrow(asked)
				for _, above := range []Role{parent, asked, path[0]} {
					if !child.SubsetOf(above) {
						t.Fatalf("child %+v is wider than %+v", child, above)
					}
				}
				if tree%20 == 0 { // it writes the sentences of refusals, and looks at the disk
					for _, p := range append(paths, "/p/a/b/c", "/other") {
						if may(child, ActAccessPath, p) && (!may(parent, ActAccessPath, p) || !may(asked, ActAccessPath, p)) {
							t.Fatalf("%s: the child %+v reaches it; parent %+v, asked %+v", p, child, parent, asked)
						}
					}
					for _, tool := range tools {
						if may(child, ActExecuteTool, tool) != (may(parent, ActExecuteTool, tool) && may(asked, ActExecuteTool, tool)) {
							t.Fatalf("%s: child %+v, parent %+v, asked %+v", tool, child, parent, asked)
						}
					}
					for _, act := range []Act{ActNetwork, ActFork, ActManageAgents, ActConfigChange} {
						if may(child, act, "") && (!may(parent, act, "") || !may(asked, act, "")) {
							t.Fatalf("%s: child %+v, parent %+v, asked %+v", act, child, parent, asked)
						}
					}
				}
				for _, pair := range [][3]int{{child.MaxExecutionTimeSecs, parent.MaxExecutionTimeSecs, asked.MaxExecutionTimeSecs}, {child.MaxMemoryMB, parent.MaxMemoryMB, asked.MaxMemoryMB}} {
					for _, above := range pair[1:] {
						if above > 0 && (pair[0] == 0 || pair[0] > above) {
							t.Fatalf("the limit %d of a child is above %d", pair[0], above)
						}
					}
				}
				path = append(path, child)
			}
		}
	})
}

func TestADeniedPathWinsUnderEachOfItsNames(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	secret := filepath.Join(dir, "taxes")
	other := filepath.Join(dir, "link")
	if err := os.MkdirAll(filepath.Join(secret, "2026"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(secret, other); err != nil {
		t.Fatal(err)
	}
	role := BuiltInRole(ProfileOperator)
	role.AllowedPaths = []string{dir}
	s := Subject{Kind: SubjectAgent, Role: role, Shut: ShutPaths([]string{secret})}
	for path, refused := range map[string]bool{
		secret: true, filepath.Join(secret, "2026"): true, filepath.Join(secret, "new", "file"): true, filepath.Join(other, "2026"): true,
		filepath.Join(dir, "TAXES"): true, dir: false, secret + "-old": false, filepath.Join(dir, "x"): false,
	} {
		no := s.Refuses(ActAccessPath, path)
		if (no != nil) != refused {
			t.Errorf("%s: got %+v, want refused %t", path, no, refused)
		}
		if no != nil && (no.Rule != RuleDenied || no.Why.KO == "" || no.Mend.EN == "") {
			t.Errorf("%s: got %+v, want the rule in both languages, and where it is changed", path, no)
		}
	}
	if no := s.Refuses(ActAccessPath, filepath.Dir(dir)); no == nil || no.Rule != RuleAllowed {
		t.Errorf("above the allowed path: got %+v, want %s", no, RuleAllowed)
	}
	viaLink := Subject{Kind: SubjectAgent, Role: role, Shut: ShutPaths([]string{other})}
	if viaLink.Refuses(ActAccessPath, filepath.Join(secret, "2026")) == nil {
		t.Error("a denied link leaves what it leads to open")
	}
	if (Subject{Kind: SubjectUser}).Refuses(ActAccessPath, secret) != nil {
		t.Error("the person is refused")
	}
	if (Subject{Kind: SubjectAgent}).Refuses(ActFork, "") == nil || (Subject{Kind: SubjectAgent}).Refuses(ActNetwork, "") == nil {
		t.Error("the zero role may fork or reach the network")
	}
}
