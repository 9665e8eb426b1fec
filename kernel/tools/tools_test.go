package tools_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"oxios/kernel/agent"
	"oxios/kernel/kerneltest"
	"oxios/kernel/security"
	"oxios/kernel/sys"
	"oxios/kernel/tools"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestMain(m *testing.M) { kerneltest.Main(m) }

func tool(t *testing.T, set agent.Toolset, name string) agent.Tool {
	t.Helper()
	i := slices.IndexFunc(set.Tools, func(x agent.Tool) bool { return x.Name() == name })
	if i < 0 {
		t.Fatalf("there is no tool %s", name)
	}
	return set.Tools[i]
}

func call(t *testing.T, set agent.Toolset, name, args string) agent.Result {
	t.Helper()
	r, err := tool(t, set, name).Call(t.Context(), json.RawMessage(args))
	if err != nil {
		t.Errorf("%s %s: %v", name, args, err)
	}
	return r
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		write(t, path, got)
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs; if that is meant, run the test with -update (-want +got):\n%s", path, diff)
	}
}

func contained(t *testing.T, k *kerneltest.Kernel) {
	t.Helper()
	p, err := k.Person().Security.Policy(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !p.Isolation.Contained() {
		t.Skipf("this system contains no commands: %s", p.Problem)
	}
}

func TestModelSeesTheseToolsAndWords(t *testing.T) {
	t.Parallel()
	k := kerneltest.Open(t)
	contained(t, k)
	set := k.Toolset(k.Agent("guarded"))
	var b strings.Builder
	for _, x := range set.Tools {
		schema, err := json.MarshalIndent(x.Schema(), "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString("## " + x.Name() + "\n" + x.Description() + "\n" + string(schema) + "\n\n")
	}
	b.WriteString(set.Index + "\n\n" + set.Manifest + "\n")
	golden(t, "prompt.txt", strings.ReplaceAll(b.String(), k.Folder, "FOLDER"))
}

func TestWithoutContainmentTheToolSaysSo(t *testing.T) {
	t.Parallel()
	k := kerneltest.Open(t, kerneltest.Uncontained())
	set := k.Toolset(k.Agent("autonomous"))
	if about := tool(t, set, "exec").Description(); !strings.Contains(about, "not contained") || !strings.Contains(set.Manifest, "without containment") {
		t.Errorf("got %q and %q", about, set.Manifest)
	}
}

func TestToolThatThePersonSwitchedOffIsNotOffered(t *testing.T) {
	t.Parallel()
	k := kerneltest.Open(t)
	all := len(k.Toolset(k.Agent("guarded")).Tools)
	if err := k.Person().Security.SetTool(t.Context(), "exec", false); err != nil {
		t.Fatal(err)
	}
	set := k.Toolset(k.Agent("guarded"))
	for _, x := range set.Tools {
		if x.Name() == "exec" {
			t.Error("exec is offered")
		}
	}
	if strings.Contains(set.Index, ">exec</name>") || len(set.Tools) != all-1 {
		t.Errorf("got %d tools, index %s", len(set.Tools), set.Index)
	}
}

func TestEachToolSaysWhatItIsForInBothLanguages(t *testing.T) {
	t.Parallel()
	all, err := kerneltest.Open(t).Person().Security.Tools(t.Context())
	if err != nil || len(all) != len(tools.Catalogue()) {
		t.Fatalf("got %d, %v", len(all), err)
	}
	for _, x := range all {
		if x.Description == "" || x.DescriptionKO == "" {
			t.Errorf("%s: got %q and %q", x.Name, x.Description, x.DescriptionKO)
		}
	}
}

func TestToolsWithoutTheRightToThemAreNotOffered(t *testing.T) {
	t.Parallel()
	k := kerneltest.Open(t)
	for _, profile := range []string{"", "nobody"} {
		set := k.Toolset(k.As(sys.Principal{Kind: sys.KindAgent, ID: "x", Profile: profile}))
		if len(set.Tools) != 0 || set.Index != "" || set.Manifest != "" {
			t.Errorf("profile %q: got %d tools", profile, len(set.Tools))
		}
	}
	guardian := k.Toolset(k.As(sys.Principal{Kind: sys.KindGuardian, ID: "guardian"}))
	var names []string
	for _, x := range guardian.Tools {
		names = append(names, x.Name())
	}
	if got := strings.Join(names, " "); got != "read grep find ls knowledge memory_read memory_search space resource security audit events skill" {
		t.Errorf("the guardian only looks: got %q", got)
	}
}

func TestASupervisorAsksTheAuditRecordAndNobodyElse(t *testing.T) {
	t.Parallel()
	k := kerneltest.Open(t)
	k.Ask("hello")
	for _, x := range k.Toolset(k.Agent("autonomous")).Tools {
		if x.Name() == "audit" {
			t.Error("an ordinary agent is offered the audit record")
		}
	}
	if _, err := k.Person().Infra.SetConfig(t.Context(), "role", security.ProfileSupervisor); err != nil {
		t.Fatal(err)
	}
	set := k.Toolset(k.Agent("autonomous"))
	for args, want := range map[string]string{
		`{"action": "query", "actor": "person", "limit": 5}`: "AgentSpawn",
		`{"action": "query", "text": "no such thing"}`:       "No record fits.",
		`{"action": "verify"}`:                               "records are intact",
	} {
		if r := call(t, set, "audit", args); !strings.Contains(r.Text, want) {
			t.Errorf("%s: got %q, want %q in it", args, r.Text, want)
		}
	}
}

func TestArgumentsThatDoNotFitAreAnsweredWithWhatWould(t *testing.T) {
	t.Parallel()
	k := kerneltest.Open(t)
	set := k.Toolset(k.Agent("guarded"))
	for _, c := range []struct {
		tool, args string
		parts      []string
	}{
		{"write", `{"path": 7, "content": "x"}`, []string{"path must be a string", "path (string, required), content (string, required)"}},
		{"write", `{"path": "a"}`, []string{"content is missing"}},
		{"write", `{"file": "a", "content": "x"}`, []string{`there is no field "file"`, "path is missing"}},
		{"write", `{"path": null, "content": "x"}`, []string{"path must be a string"}},
		{"read", `{"path": "a", "offset": "three"}`, []string{"offset must be a whole number, without quotes"}},
		{"read", `{"path": "a", "limit": 1.5}`, []string{"limit must be a whole number"}},
		{"edit", `{"path": "a", "old": "b", "new": "c", "all": "yes"}`, []string{"all must be true or false"}},
		{"exec", `{"action": "start", "command": "ls"}`, []string{"action must be one of run, list, log, kill"}},
		{"exec", `{"binary": "ls", "args": "-l"}`, []string{"args must be a list of strings"}},
		{"exec", `{"binary": "ls", "args": ["-l", 3]}`, []string{"args must be a list of strings"}},
		{"exec", `{}`, []string{"There is no command"}},
		{"exec", `{"command": "ls", "binary": "ls"}`, []string{"Both"}},
		{"exec", `{"command": "ls", "args": ["-l"]}`, []string{"args belong to binary"}},
		{"exec", `{"action": "log"}`, []string{"id"}},
		{"ls", `[]`, []string{"no JSON object"}},
		{"ls", `null`, []string{"no JSON object"}},
	} {
		_, err := tool(t, set, c.tool).Call(t.Context(), json.RawMessage(c.args))
		if sys.CodeOf(err) != sys.CodeInvalid {
			t.Errorf("%s %s: got %v, want invalid", c.tool, c.args, err)
			continue
		}
		for _, p := range c.parts {
			if !strings.Contains(err.Error(), p) {
				t.Errorf("%s %s: got %q, want it to say %q", c.tool, c.args, err, p)
			}
		}
	}
	if entries, err := os.ReadDir(k.Folder); err != nil || len(entries) != 0 {
		t.Errorf("got %d files, %v, want that nothing was done", len(entries), err)
	}
	if r := call(t, set, "ls", `{"path": null}`); !strings.Contains(r.Text, "empty") {
		t.Errorf("null for a field that may be left out: got %q", r.Text)
	}
}

func TestArgumentsThatMeanOneThingAreTakenForIt(t *testing.T) {
	t.Parallel()
	k := kerneltest.Open(t)
	set := k.Toolset(k.Agent("auto"))
	if err := os.WriteFile(filepath.Join(k.Folder, "seed.txt"), []byte("l1\nl2\nl3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		`{"path": "seed.txt", "offset": 2.0, "limit": 1}`:     "l2",
		`{"path": "seed.txt", "offset": "2", "limit": "1.0"}`: "l2",
	} {
		if r := call(t, set, "read", args); !strings.Contains(r.Text, want) || strings.Contains(r.Text, "l1") || strings.Contains(r.Text, "l3") {
			t.Errorf("read %s: got %q, want %s alone", args, r.Text, want)
		}
	}
	if r := call(t, set, "exec", `{"action": "RUN", "binary": "ls", "args": "[\"-a\"]", "background": "false"}`); !strings.Contains(r.Text, "seed.txt") {
		t.Errorf("a list as text: got %q", r.Text)
	}
}

func TestTitlesSayWhatACallWouldDo(t *testing.T) {
	t.Parallel()
	k := kerneltest.Open(t)
	set := k.Toolset(k.Agent("guarded"))
	for _, c := range []struct{ tool, args, want string }{
		{"read", `{"path": "notes.md"}`, "Read notes.md"},
		{"write", `{"path": "notes.md", "content": 3}`, "Write notes.md"},
		{"write", `{"path": 7}`, "Write"},
		{"edit", `nonsense`, "Edit"},
		{"edit", ``, "Edit"},
		{"grep", `{"pattern": "TODO"}`, "Search for TODO"},
		{"find", `{"pattern": "*.go"}`, "Find *.go"},
		{"ls", `{}`, "List"},
		{"exec", `{"command": "git push"}`, "Run git push"},
		{"exec", `{"command": "a\nb"}`, "Run a b"},
		{"exec", `{"binary": "git", "args": ["status"]}`, "Run git status"},
		{"exec", `{"command": "npm start", "background": true}`, "Start npm start"},
		{"exec", `{"action": "list"}`, "List background commands"},
		{"exec", `{"action": "kill", "id": "3"}`, "End background command 3"},
	} {
		if got := tool(t, set, c.tool).Title(json.RawMessage(c.args)); got.EN != c.want || got.KO == "" {
			t.Errorf("%s %s: got %q, want %q", c.tool, c.args, got, c.want)
		}
	}
	if got := tool(t, set, "exec").Title(json.RawMessage(`{"command": "` + strings.Repeat("가", 500) + `"}`)); len([]rune(got.EN)) != 120 || len([]rune(got.KO)) != 120 {
		t.Errorf("got %d and %d characters, want one line of 120", len([]rune(got.EN)), len([]rune(got.KO)))
	}
}

func TestFileToolsAnswerInWordsThatAModelCanUse(t *testing.T) {
	t.Parallel()
	k := kerneltest.Open(t)
	set := k.Toolset(k.Agent("guarded"))
	for _, c := range []struct{ tool, args, text, title string }{
		{"ls", `{}`, "(. is empty)", "Listed 0 things"},
		{"write", `{"path": "src/a.go", "content": "package a\n\n// TODO\n"}`, "Wrote src/a.go: created, 3 lines, 19 bytes.", "Wrote src/a.go"},
		{"write", `{"path": "src/a.go", "content": "package a\n\n// TODO\n"}`, "Wrote src/a.go: it had this content already, 19 bytes.", "Wrote src/a.go"},
		{"read", `{"path": "src/a.go"}`, "    1\tpackage a\n    2\t\n    3\t// TODO", "Read src/a.go"},
		{"read", `{"path": "src/a.go", "limit": 1}`, "    1\tpackage a\n(lines 1 to 1 of 3; read on with offset 2)", "Read src/a.go"},
		{"edit", `{"path": "src/a.go", "old": "TODO", "new": "done"}`, "Edited src/a.go: 1 place replaced, 1 line added, 1 removed.", "Edited src/a.go"},
		{"grep", `{"pattern": "done"}`, "src/a.go:3:// done", "Searched 1 file for done"},
		{"grep", `{"pattern": "gone"}`, "No line of 1 file matches.", "Searched 1 file for gone"},
		{"find", `{"pattern": "*.go"}`, "src/a.go", "Found 1 path like *.go"},
		{"find", `{"pattern": "*.rs"}`, "Nothing has such a name.", "Found 0 paths like *.rs"},
		{"ls", `{}`, "src/", "Listed 1 thing"},
	} {
		r := call(t, set, c.tool, c.args)
		if r.Text != c.text || r.Title.EN != c.title || r.Title.KO == "" {
			t.Errorf("%s %s: got %q and %q, want %q and %q", c.tool, c.args, r.Text, r.Title, c.text, c.title)
		}
	}
	write(t, filepath.Join(k.Folder, "empty.txt"), "")
	if r := call(t, set, "read", `{"path": "empty.txt"}`); r.Text != "(empty.txt is empty)" {
		t.Errorf("got %q", r.Text)
	}
}

func TestExecRunsListsReadsAndEndsCommands(t *testing.T) {
	t.Parallel()
	k := kerneltest.Open(t)
	contained(t, k)
	set := k.Toolset(k.Agent("autonomous"))
	if r := call(t, set, "exec", `{"command": "echo one"}`); r.Text != "one" || r.Title.EN != "Ran echo one" {
		t.Errorf("got %+v", r)
	}
	if r := call(t, set, "exec", `{"command": "true"}`); r.Text != "(no output)" {
		t.Errorf("got %+v", r)
	}
	if r := call(t, set, "exec", `{"command": "echo bad; exit 3"}`); r.Text != "bad\n(exit code 3)" {
		t.Errorf("got %+v", r)
	}
	if r := call(t, set, "exec", `{"command": "seq 1 40000"}`); !strings.Contains(r.Text, "action log, id o1, offset 0") {
		t.Errorf("got no way to read on: …%q", r.Text[max(0, len(r.Text)-200):])
	}
	if r := call(t, set, "exec", `{"action": "log", "id": "o1"}`); !strings.HasPrefix(r.Text, "1\n2\n") || !strings.Contains(r.Text, "(read on with offset ") {
		t.Errorf("got %d bytes", len(r.Text))
	}
	write(t, filepath.Join(k.Folder, "serve.sh"), "echo ready\nsleep 60\n")
	if r := call(t, set, "exec", `{"command": "bash serve.sh", "background": true}`); !strings.Contains(r.Text, "as command 1") || r.Title.EN != "Started bash serve.sh" {
		t.Errorf("got %+v", r)
	}
	if r := call(t, set, "exec", `{"action": "list"}`); !strings.HasPrefix(r.Text, "1  runs  ") || !strings.HasSuffix(r.Text, "  bash serve.sh") {
		t.Errorf("got %+v", r)
	}
	k.Until("it is ready", func() bool {
		return call(t, set, "exec", `{"action": "log", "id": "1"}`).Text == "ready\n(read on with offset 6)"
	})
	if r := call(t, set, "exec", `{"action": "kill", "id": "1"}`); !strings.Contains(r.Text, "has ended") {
		t.Errorf("got %+v", r)
	}
	if r := call(t, set, "exec", `{"action": "list"}`); !strings.Contains(r.Text, "ended: it was stopped") {
		t.Errorf("got %+v", r)
	}
}

func TestCatalogueListsEveryToolOnce(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, c := range tools.Catalogue() {
		if seen[c.Name] || c.Description == "" || c.Domain == "" {
			t.Errorf("got %+v", c)
		}
		seen[c.Name] = true
	}
	k := kerneltest.Open(t)
	for _, x := range k.Toolset(k.Person()).Tools {
		if !seen[x.Name()] {
			t.Errorf("%s is not in the catalogue", x.Name())
		}
	}
}
