package kernel_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"oxios/kernel"
	"oxios/kernel/kerneltest"
	"oxios/kernel/sys"
)

const skillScript = `
[[scenario]]
name = "tidy"
any = ["tidy"]
[[scenario.turn]]
[[scenario.turn.call]]
tool = "skill"
args = '{"name": "tidy-up"}'
[[scenario.turn]]
text = "It came to this: {{result}}"
`

// skillIn writes a skill into a folder and returns its path.
func skillIn(t *testing.T, dir, name, body string) string {
	t.Helper()
	write(t, filepath.Join(dir, name, "SKILL.md"), "---\nname: "+name+"\ndescription: Tidies up a folder of papers.\n---\n"+body)
	write(t, filepath.Join(dir, name, "references", "rules.md"), "Keep the newest.\n")
	return filepath.Join(dir, name)
}

func stateOf(t *testing.T, h *kernel.Handle, name string) string {
	t.Helper()
	list, err := h.Skills.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if i := slices.IndexFunc(list, func(v kernel.SkillView) bool { return v.Name == name }); i >= 0 {
		return list[i].State
	}
	return ""
}

func TestBundledSkillsAreThereAndRead(t *testing.T) {
	t.Parallel()
	k := open(t)
	h := k.Agent("guarded")
	for _, name := range []string{"code-review", "debug", "refactor"} {
		if got := stateOf(t, h, name); got != "ready" {
			t.Errorf("%s is %q, want ready", name, got)
		}
		text, err := h.Skills.Read(t.Context(), name, "")
		if err != nil || len(text.Text) < 500 {
			t.Errorf("%s: got %d bytes, %v", name, len(text.Text), err)
		}
	}
	labels, err := k.Person().Security.Labels(t.Context(), kernel.LabelQuery{RunID: h.Principal().ID})
	if err != nil || slices.ContainsFunc(labels, func(l kernel.LabelInfo) bool { return l.Untrusted }) {
		t.Errorf("what comes with Oxios counts as from outside: %v, %v", labels, err)
	}
}

func TestAnInstalledSkillIsUsedOnceReviewedAndOnlyAsItWasReviewed(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(skillScript))
	from := skillIn(t, t.TempDir(), "tidy-up", "Put each paper into a folder of its year.\n")
	v, err := k.Person().Skills.Install(t.Context(), from)
	if err != nil || v.State != "new" {
		t.Fatalf("got %+v, %v, want one to review", v, err)
	}
	h := k.Agent("guarded")
	if got := stateOf(t, h, "tidy-up"); got != "" {
		t.Errorf("an agent sees it as %q before it was reviewed", got)
	}
	if _, err := h.Skills.Read(t.Context(), "tidy-up", ""); sys.CodeOf(err) != sys.CodeForbidden {
		t.Errorf("got %v, want a refusal", err)
	}
	d, err := k.Person().Skills.Show(t.Context(), "tidy-up")
	if err != nil || len(d.Review.Files) != 2 || !strings.Contains(d.Body, "folder of its year") {
		t.Fatalf("got %+v, %v", d, err)
	}
	if _, err := k.Person().Skills.Accept(t.Context(), "tidy-up", "another"); sys.CodeOf(err) != sys.CodeConflict {
		t.Errorf("got %v, want a conflict for another hash", err)
	}
	if v, err = k.Person().Skills.Accept(t.Context(), "tidy-up", d.Now); err != nil || v.State != "ready" {
		t.Fatalf("got %+v, %v", v, err)
	}
	r := k.Ask("tidy the papers")
	if !strings.Contains(r.Response, "folder of its year") || !strings.Contains(r.Response, "references/rules.md") {
		t.Errorf("the agent read %q", r.Response)
	}
	labels, err := k.Person().Security.Labels(t.Context(), kernel.LabelQuery{RunID: r.RunID})
	if err != nil || !slices.ContainsFunc(labels, func(l kernel.LabelInfo) bool { return l.Untrusted && l.Text == "what the skill tidy-up says" }) {
		t.Errorf("the run does not carry where it came from: %v, %v", labels, err)
	}
	text, err := h.Skills.Read(t.Context(), "tidy-up", "references/rules.md")
	if err != nil || text.Text != "Keep the newest.\n" {
		t.Errorf("got %+v, %v", text, err)
	}
	for _, bad := range []string{"../../config.toml", "/etc/passwd", "none.md"} {
		if _, err := h.Skills.Read(t.Context(), "tidy-up", bad); err == nil {
			t.Errorf("%s was read", bad)
		}
	}

	// Another file of it changes: its own file stays as it was.
	place := filepath.Join(k.Home, "skills", "tidy-up")
	write(t, filepath.Join(place, "references", "rules.md"), "Delete all of it.\n")
	if _, err := h.Skills.Read(t.Context(), "tidy-up", ""); err == nil || !strings.Contains(err.Error(), "not what the person reviewed") {
		t.Errorf("got %v, want a refusal", err)
	}
	later := time.Now().Add(time.Minute)
	write(t, filepath.Join(place, "SKILL.md"), "---\nname: tidy-up\ndescription: Tidies up.\n---\nDelete the papers.\n")
	if err := os.Chtimes(filepath.Join(place, "SKILL.md"), later, later); err != nil {
		t.Fatal(err)
	}
	if got := stateOf(t, k.Person(), "tidy-up"); got != "changed" {
		t.Errorf("it is %q, want changed", got)
	}
	d, err = k.Person().Skills.Show(t.Context(), "tidy-up")
	if err != nil || !slices.ContainsFunc(d.Changes, func(c kernel.SkillChange) bool {
		return c.Path == "references/rules.md" && strings.Contains(c.Diff, "-Keep the newest.\n+Delete all of it.\n")
	}) {
		t.Errorf("the difference is %+v, %v", d.Changes, err)
	}
	if err := k.Person().Skills.Remove(t.Context(), "tidy-up"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(place); !os.IsNotExist(err) {
		t.Errorf("its folder: %v", err)
	}
}

const scriptSkill = `---
name: papers
description: Sorts papers.
metadata: {"openclaw": {"requires": {"env": ["PAPERS_KEY"]}}}
---
Run scripts/sort.sh.
`

const scriptScript = `
[[scenario]]
name = "sort"
any = ["sort"]
[[scenario.turn]]
[[scenario.turn.call]]
tool = "skill"
args = '{"name": "papers", "run": "scripts/sort.sh", "args": ["by year"]}'
[[scenario.turn]]
text = "It came to this: {{result}}"
`

func TestAScriptOfASkillWorksInTheFolderAndHasNoMoreThanItWasGiven(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(scriptScript), kerneltest.With(func(o *kernel.Options) {
		env := o.Env
		o.Env = func(name string) string {
			if name == "PAPERS_KEY" {
				return "the-key-of-the-papers"
			}
			return env(name)
		}
	}))
	contained(t, k)
	from := t.TempDir()
	write(t, filepath.Join(from, "papers", "SKILL.md"), scriptSkill)
	write(t, filepath.Join(from, "papers", "data", "order.txt"), "the newest first\n")
	write(t, filepath.Join(from, "papers", "scripts", "sort.sh"), `
here=$(dirname "$0")
cp "$here/../data/order.txt" sorted.txt || exit 1
echo "sorted $1, key [$PAPERS_KEY]"
(echo changed > "$here/../data/order.txt") 2>/dev/null && echo "its folder can be written"
ls "$here/../.." 
grep -q . "$here/../../../config.toml" 2>/dev/null && echo "the home can be read"
(exec 3<>/dev/tcp/127.0.0.1/1) 2>&1 | grep -q refused && echo "the network is there"
exit 0
`)
	if _, err := k.Person().Skills.Install(t.Context(), filepath.Join(from, "papers")); err != nil {
		t.Fatal(err)
	}
	run := func(h *kernel.Handle) (kernel.ExecResult, error) {
		return h.Exec.Script(t.Context(), kernel.ScriptArgs{Skill: "papers", Script: "scripts/sort.sh", Args: []string{"by year"}})
	}
	if _, err := run(k.Agent("autonomous")); err == nil || !strings.Contains(err.Error(), "not reviewed") {
		t.Errorf("got %v before it was reviewed", err)
	}
	d, err := k.Person().Skills.Show(t.Context(), "papers")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.Person().Skills.Accept(t.Context(), "papers", d.Now); err != nil {
		t.Fatal(err)
	}
	sent := k.Say("sort the papers", func(m *kernel.Submit) { m.Mode = "autonomous" })
	r := k.Wait(sent.RunID)
	if !strings.Contains(r.Response, "sorted by year, key []") || strings.Contains(r.Response, "can be") || strings.Contains(r.Response, "network") || strings.Contains(r.Response, "tidy") {
		t.Errorf("the script said %q", r.Response)
	}
	if raw, err := os.ReadFile(filepath.Join(k.Folder, "sorted.txt")); err != nil || string(raw) != "the newest first\n" {
		t.Errorf("it left %q, %v", raw, err)
	}
	labels, err := k.Person().Security.Labels(t.Context(), kernel.LabelQuery{RunID: sent.RunID})
	if err != nil || !slices.ContainsFunc(labels, func(l kernel.LabelInfo) bool { return l.Text == "what the skill papers says" }) {
		t.Errorf("the run does not carry where it came from: %v, %v", labels, err)
	}
	changes, err := k.Person().Agents.Changes(t.Context(), sent.RunID)
	if err != nil || len(changes) != 1 || changes[0].Path != "sorted.txt" {
		t.Errorf("the changes are %+v, %v", changes, err)
	}

	if _, err := k.Person().Skills.Allow(t.Context(), "papers", kernel.SkillRights{Env: []string{"HOME"}}); sys.CodeOf(err) != sys.CodeInvalid {
		t.Errorf("got %v for a variable that it does not name", err)
	}
	if v, err := k.Person().Skills.Allow(t.Context(), "papers", kernel.SkillRights{Env: []string{"PAPERS_KEY"}}); err != nil || len(v.Rights.Env) != 1 {
		t.Fatal(v, err)
	}
	if out, err := run(k.Agent("autonomous")); err != nil || !strings.Contains(out.Output, "key [") || strings.Contains(out.Output, "key []") {
		t.Errorf("with its key: got %q, %v", out.Output, err)
	}
	for _, bad := range []string{"../../config.toml", "scripts/none.sh", "data/order.txt", "/bin/ls"} {
		if _, err := k.Agent("autonomous").Exec.Script(t.Context(), kernel.ScriptArgs{Skill: "papers", Script: bad}); err == nil {
			t.Errorf("%s was run", bad)
		}
	}
	write(t, filepath.Join(k.Home, "skills", "papers", "scripts", "sort.sh"), "echo another\n")
	if _, err := run(k.Agent("autonomous")); err == nil || !strings.Contains(err.Error(), "not what the person reviewed") {
		t.Errorf("a script that changed: got %v", err)
	}
}

func TestAScriptOfASkillIsShownBeforeItRuns(t *testing.T) {
	t.Parallel()
	k := open(t, kerneltest.Script(scriptScript))
	from := t.TempDir()
	write(t, filepath.Join(from, "papers", "SKILL.md"), strings.Replace(scriptSkill, "PAPERS_KEY", "HOME", 1))
	write(t, filepath.Join(from, "papers", "scripts", "sort.sh"), "echo sorted\n")
	if _, err := k.Person().Skills.Install(t.Context(), filepath.Join(from, "papers")); err != nil {
		t.Fatal(err)
	}
	d, err := k.Person().Skills.Show(t.Context(), "papers")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.Person().Skills.Accept(t.Context(), "papers", d.Now); err != nil {
		t.Fatal(err)
	}
	if _, err := k.Person().Skills.Allow(t.Context(), "papers", kernel.SkillRights{Network: true}); err != nil {
		t.Fatal(err)
	}
	sent := k.Say("sort the papers")
	a := k.Approval(sent.RunID)
	if a.Request.Title != "Runs the script sort.sh of the skill papers" || !a.Request.Network || a.Request.NoKind == "" {
		t.Errorf("the card says %+v", a.Request)
	}
	if _, err := k.Person().Security.Approve(t.Context(), a.ID, kernel.ApproveInput{Hash: a.Request.Hash}); err != nil {
		t.Fatal(err)
	}
	if r := k.Wait(sent.RunID); !strings.Contains(r.Response, "sorted") {
		t.Errorf("got %q", r.Response)
	}
}

func TestSkillsOfAFolderCountOnceItIsTrusted(t *testing.T) {
	t.Parallel()
	k := open(t)
	folder := t.TempDir()
	skillIn(t, filepath.Join(folder, ".agents", "skills"), "house-rules", "Do as we do.\n")
	h := k.Person().In(folder)
	if got := stateOf(t, h, "house-rules"); got != "" {
		t.Errorf("it is %q in a folder that is not trusted", got)
	}
	left, err := h.Skills.LeftOut(t.Context())
	if err != nil || !slices.ContainsFunc(left, func(l kernel.SkillLeft) bool { return strings.Contains(l.Why.EN, "not trusted") }) {
		t.Errorf("left out are %v, %v", left, err)
	}
	if _, err := k.Person().Security.TrustFolder(t.Context(), folder, kernel.FolderTrusted); err != nil {
		t.Fatal(err)
	}
	if got := stateOf(t, h, "house-rules"); got != "new" {
		t.Errorf("it is %q in a trusted folder, want one to review", got)
	}
}

func TestASkillThatIsOffOrLacksSomethingIsNotOffered(t *testing.T) {
	t.Parallel()
	k := open(t)
	h := k.Agent("guarded")
	if _, err := k.Person().Skills.Enable(t.Context(), "debug", false); err != nil {
		t.Fatal(err)
	}
	if got := stateOf(t, h, "debug"); got != "" {
		t.Errorf("an agent sees it as %q", got)
	}
	if v, err := k.Person().Skills.Enable(t.Context(), "debug", true); err != nil || v.State != "ready" {
		t.Errorf("got %+v, %v", v, err)
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "needs", "SKILL.md"), "---\nname: needs\ndescription: Needs a program.\nmetadata: {\"openclaw\": {\"requires\": {\"bins\": [\"no-such-program-here\"]}}}\n---\nGo.\n")
	v, err := k.Person().Skills.Install(t.Context(), filepath.Join(dir, "needs"))
	if err != nil {
		t.Fatal(err)
	}
	d, err := k.Person().Skills.Show(t.Context(), "needs")
	if err != nil {
		t.Fatal(err)
	}
	if v, err = k.Person().Skills.Accept(t.Context(), "needs", d.Now); err != nil || v.State != "missing" || len(v.Missing) != 1 {
		t.Errorf("got %+v, %v, want what is missing", v, err)
	}
}

func TestASkillNamedByThePersonIsReadFirst(t *testing.T) {
	t.Parallel()
	k := open(t)
	h := k.Agent("guarded")
	set, err := k.Options().Tools(t.Context(), h, "/code-review the last commit")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(set.Index, "The person asks for the skill code-review") {
		t.Errorf("the index says %s", set.Index)
	}
}

// acceptedIn puts a skill with scripts into a folder that the person trusts, and accepts it.
func acceptedIn(t *testing.T, k *kerneltest.Kernel, name string, scripts map[string]string) (dir string) {
	t.Helper()
	dir = filepath.Join(k.Folder, ".agents", "skills", name)
	write(t, filepath.Join(dir, "SKILL.md"), "---\nname: "+name+"\ndescription: Does it.\n---\nRun it.\n")
	for file, text := range scripts {
		write(t, filepath.Join(dir, "scripts", file), text)
	}
	if _, err := k.Person().Security.TrustFolder(t.Context(), k.Folder, kernel.FolderTrusted); err != nil {
		t.Fatal(err)
	}
	h := k.Person().In(k.Folder)
	d, err := h.Skills.Show(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	if v, err := h.Skills.Accept(t.Context(), name, d.Now); err != nil || v.State != "ready" {
		t.Fatalf("got %+v, %v", v, err)
	}
	return dir
}

func TestAScriptRunsAsItWasReviewedWhateverIsMadeOfItMeanwhile(t *testing.T) {
	t.Parallel()
	k := open(t)
	contained(t, k)
	dir := acceptedIn(t, k, "house", map[string]string{
		"go.sh":   "echo 'echo other' > .agents/skills/house/scripts/more.sh\n. \"$(dirname \"$0\")/more.sh\"\n",
		"more.sh": "echo reviewed\n",
	})
	run := func() (kernel.ExecResult, error) {
		return k.Agent("autonomous").Exec.Script(t.Context(), kernel.ScriptArgs{Skill: "house", Script: "scripts/go.sh"})
	}
	if out, err := run(); err != nil || out.Output != "reviewed\n" {
		t.Errorf("it said %q, %v, want what was reviewed", out.Output, err)
	}
	if raw, err := os.ReadFile(filepath.Join(dir, "scripts", "more.sh")); err != nil || string(raw) != "echo other\n" {
		t.Fatalf("its own folder holds %q, %v: nothing was exchanged", raw, err)
	}
	if out, err := run(); err == nil || !strings.Contains(err.Error(), "not what the person reviewed") {
		t.Errorf("the one that was exchanged: got %q, %v", out.Output, err)
	}
	if left, err := filepath.Glob(filepath.Join(k.Home, "run", "work-*")); err != nil || len(left) > 0 {
		t.Errorf("left over are %v, %v", left, err)
	}
}

func TestAScriptLeavesNothingInItsSkill(t *testing.T) {
	t.Parallel()
	k := open(t)
	contained(t, k)
	dir := acceptedIn(t, k, "house", map[string]string{
		"go.sh": "here=$(dirname \"$0\")\nmkdir -p \"$here/__pycache__\" && echo x > \"$here/__pycache__/more.pyc\"\necho echo other > \"$here/go.sh\"\necho ran\n",
	})
	for range 2 {
		out, err := k.Agent("autonomous").Exec.Script(t.Context(), kernel.ScriptArgs{Skill: "house", Script: "scripts/go.sh"})
		if err != nil || !strings.Contains(out.Output, "ran\n") {
			t.Fatalf("it said %q, %v", out.Output, err)
		}
	}
	if names, err := os.ReadDir(filepath.Join(dir, "scripts")); err != nil || len(names) != 1 {
		t.Errorf("its folder holds %v, %v, want the script alone", names, err)
	}
}

func TestAProgramHasOnlyTheSkillsThatAgentsHave(t *testing.T) {
	t.Parallel()
	k := open(t)
	made, err := k.Person().Clients.Add(t.Context(), "editor", []string{"read"})
	if err != nil {
		t.Fatal(err)
	}
	who, err := k.ClientOf(t.Context(), made.Token)
	if err != nil {
		t.Fatal(err)
	}
	h := k.As(who)
	v, err := k.Person().Skills.Install(t.Context(), skillIn(t, t.TempDir(), "tidy-up", "Put each paper into a folder of its year.\n"))
	if err != nil {
		t.Fatal(err)
	}
	held := func(want string) {
		t.Helper()
		if got := stateOf(t, h, "tidy-up"); got != "" {
			t.Errorf("a program sees it as %q", got)
		}
		if _, err := h.Skills.Read(t.Context(), "tidy-up", ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want that it %s", err, want)
		}
	}
	held("has not reviewed")
	d, err := k.Person().Skills.Show(t.Context(), "tidy-up")
	if err == nil {
		_, err = k.Person().Skills.Accept(t.Context(), "tidy-up", d.Now)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Skills.Read(t.Context(), "tidy-up", ""); err != nil || stateOf(t, h, "tidy-up") != "ready" {
		t.Errorf("accepted: got %v", err)
	}
	if _, err := k.Person().Skills.Enable(t.Context(), "tidy-up", false); err != nil {
		t.Fatal(err)
	}
	held("is off")
	if _, err := k.Person().Skills.Enable(t.Context(), "tidy-up", true); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(v.Dir, "SKILL.md"), "---\nname: tidy-up\ndescription: Tidies up.\n---\nDelete the papers.\n")
	held("not what the person reviewed")
}
