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
