package kernel_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
	"oxios/kernel/sys"
	"oxios/kernel/wasm/wasmtest"
)

const moduleScript = `
[[scenario]]
name = "count"
any = ["count"]
[[scenario.turn]]
[[scenario.turn.call]]
tool = "skill"
args = '{"name": "counts", "run": "tools/echo.wasm", "input": {"text": "a b"}}'
[[scenario.turn]]
text = "It came to this: {{result}}"
`

// counting is a home with a reviewed skill that brings modules.
func counting(t *testing.T) *kerneltest.Kernel {
	t.Helper()
	k := open(t, kerneltest.Script(moduleScript))
	from := filepath.Join(t.TempDir(), "counts")
	write(t, filepath.Join(from, "SKILL.md"), "---\nname: counts\ndescription: Counts words.\n---\nCall tools/echo.wasm.\n")
	write(t, filepath.Join(from, "data.json"), `{"from": "the skill"}`)
	write(t, filepath.Join(from, "sort.sh"), "echo sorted\n")
	for name, code := range map[string][]byte{
		"echo": wasmtest.Echo(), "data": wasmtest.Reads("data.json", 0), "home": wasmtest.Reads("../../config.toml", 0),
		"large": wasmtest.Large(65536), "fails": wasmtest.Fails("no such word", 3),
	} {
		write(t, filepath.Join(from, "tools", name+".wasm"), string(code))
	}
	if _, err := k.Person().Skills.Install(t.Context(), from); err != nil {
		t.Fatal(err)
	}
	if _, err := k.Person().Skills.Module(t.Context(), kernel.ModuleArgs{Skill: "counts", Module: "tools/echo.wasm"}); err == nil || !strings.Contains(err.Error(), "not reviewed") {
		t.Errorf("got %v before it was reviewed", err)
	}
	d, err := k.Person().Skills.Show(t.Context(), "counts")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.Person().Skills.Accept(t.Context(), "counts", d.Now); err != nil {
		t.Fatal(err)
	}
	return k
}

func TestAnAgentCallsAModuleOfASkillWithoutAskingAnybody(t *testing.T) {
	t.Parallel()
	k := counting(t)
	sent := k.Say("count the words", func(m *kernel.Submit) { m.Mode = "ask" })
	r := k.Wait(sent.RunID)
	if !strings.Contains(r.Response, `{"text":"a b"}`) {
		t.Errorf("it said %q", r.Response)
	}
	labels, err := k.Person().Security.Labels(t.Context(), kernel.LabelQuery{RunID: sent.RunID})
	if err != nil || !slices.ContainsFunc(labels, func(l kernel.LabelInfo) bool { return l.Text == "what the skill counts says" }) {
		t.Errorf("the run does not carry where it came from: %v, %v", labels, err)
	}
	left, err := os.ReadDir(filepath.Join(k.Home, "run"))
	if err != nil || slices.ContainsFunc(left, func(e os.DirEntry) bool { return strings.HasPrefix(e.Name(), "work-") }) {
		t.Errorf("copies are left: %v, %v", left, err)
	}
}

func TestAModuleReadsItsSkillAndNothingElse(t *testing.T) {
	t.Parallel()
	k := counting(t)
	agent := k.Agent("ask")
	call := func(module, input string) (kernel.ModuleResult, error) {
		return agent.Skills.Module(t.Context(), kernel.ModuleArgs{Skill: "counts", Module: module, Input: json.RawMessage(input)})
	}
	if out, err := call("tools/data.wasm", ""); err != nil || string(out.Output) != `{"from": "the skill"}` {
		t.Errorf("got %s, %v", out.Output, err)
	}
	if out, err := call("./tools/echo.wasm", ""); err != nil || string(out.Output) != "{}" {
		t.Errorf("without input: got %s, %v", out.Output, err)
	}
	for _, bad := range []struct {
		module, input string
		code          sys.Code
		says          string
	}{
		{"tools/home.wasm", "", sys.CodeInvalid, "failed with code"},
		{"tools/large.wasm", "", sys.CodeInvalid, "64 MB"},
		{"tools/fails.wasm", "", sys.CodeInvalid, "no such word"},
		{"tools/echo.wasm", "{", sys.CodeInvalid, "not JSON"},
		{"tools/echo.wasm", `"` + strings.Repeat("a", 1<<20) + `"`, sys.CodeTooLarge, "at most"},
		{"sort.sh", "", sys.CodeInvalid, "no module"},
		{"../none.wasm", "", sys.CodeNotFound, "no script"},
	} {
		_, err := call(bad.module, bad.input)
		if e := sys.AsError(err); err == nil || e.Code != bad.code || !strings.Contains(e.Message+e.Hint, bad.says) || e.MessageKO == "" {
			t.Errorf("%s with %.20s: got %v, want %s with %q in both languages", bad.module, bad.input, err, bad.code, bad.says)
		}
	}
	if _, err := k.Agent("autonomous").Exec.Script(t.Context(), kernel.ScriptArgs{Skill: "counts", Script: "tools/echo.wasm"}); sys.CodeOf(err) != sys.CodeInvalid || !strings.Contains(err.Error(), "is a module") {
		t.Errorf("as a script: got %v", err)
	}
	write(t, filepath.Join(k.Home, "skills", "counts", "tools", "echo.wasm"), string(wasmtest.Fails("another", 1)))
	if _, err := call("tools/echo.wasm", ""); err == nil || !strings.Contains(err.Error(), "not what the person reviewed") {
		t.Errorf("one that changed: got %v", err)
	}
}
