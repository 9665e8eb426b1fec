package skill

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// strictCases are files and what the reference validator of the specification
// says about them: the words of a field that is wrong, or "file" for the whole.
// ours says where our answer is another, and meant to be.
var strictCases = []struct{ name, folder, text, wrong, ours string }{
	{"least", "tidy-notes", with("name: tidy-notes", "description: Puts notes in order"), "", ""},
	{"all fields", "tidy-notes", with("name: tidy-notes", "description: Puts notes in order", "license: MIT", "compatibility: Needs git", "metadata:", "  author: Kim", "  version: 1.0", "allowed-tools: Read Bash(git:*)"), "", ""},
	{"no body", "a", "---\nname: a\ndescription: b\n---\n", "", ""},
	{"nothing at all", "a", "", "file", ""},
	{"no frontmatter", "a", "# A\n", "file", ""},
	{"frontmatter later", "a", "\n---\nname: a\ndescription: b\n---\n", "file", ""},
	{"mark before it", "a", "\uFEFF---\nname: a\ndescription: b\n---\n", "file", ""},
	{"never ends", "a", "---\nname: a\ndescription: b\n", "file", ""},
	{"broken", "a", with("name: [a", "description: b"), "file", ""},
	{"list", "a", with("- name", "- description"), "file", ""},
	{"one word", "a", with("word"), "file", ""},
	{"anchor", "a", with("name: &n a", "description: *n"), "file", ""},
	{"brackets", "a", with("name: a", "description: b", "metadata: {x: y}"), "file", ""},
	{"tag", "a", with("name: a", "description: !!str b"), "file", ""},
	{"twice", "a", with("name: a", "description: b", "description: c"), "file", ""},
	{"unquoted colon", "a", with("name: a", "description: b: c"), "file", ""},
	{"windows lines", "a", "---\r\nname: a\r\ndescription: b\r\n---\r\n", "", ""},
	{"end without a line", "a", "---\nname: a\ndescription: b---\n", "", ""},
	{"tab in a value", "a", with("name: a", "description: b\tc"), "file", ""},
	{"tab in front", "a", with("\tname: a", "description: b"), "file", ""},
	{"tab in quotation marks", "a", with("name: a", "description: \"b\tc\""), "", ""},
	{"tab in a block", "a", with("name: a", "description: |", "  b\tc"), "", ""},
	{"tab behind a colon", "a", with("name: a", "description:\tb"), "file", ""},
	{"tab in a comment", "a", with("name: a", "# b\tc", "description: b"), "", ""},
	{"no name", "a", with("description: b"), "name", ""},
	{"empty name", "a", with("name:", "description: b"), "name", ""},
	{"blank name", "a", with("name: '  '", "description: b"), "name", ""},
	{"capitals", "MyTool", with("name: MyTool", "description: b"), "name", ""},
	{"64", strings.Repeat("n", 64), with("name: "+strings.Repeat("n", 64), "description: b"), "", ""},
	{"65", strings.Repeat("n", 65), with("name: "+strings.Repeat("n", 65), "description: b"), "name", ""},
	{"hyphen first", "-tool", with("name: -tool", "description: b"), "name", ""},
	{"hyphen last", "tool-", with("name: tool-", "description: b"), "name", ""},
	{"two hyphens", "my--tool", with("name: my--tool", "description: b"), "name", ""},
	{"underscore", "my_tool", with("name: my_tool", "description: b"), "name", ""},
	{"space", "my tool", with("name: my tool", "description: b"), "name", ""},
	{"dot", "v1.2", with("name: v1.2", "description: b"), "name", ""},
	{"digits alone", "2048", with("name: 2048", "description: b"), "", ""},
	{"another folder", "other", with("name: tool", "description: b"), "name", ""},
	{"Korean", "문서-정리", with("name: 문서-정리", "description: b"), "", ""},
	{"Chinese", "整理", with("name: 整理", "description: b"), "", ""},
	{"Cyrillic", "заметки", with("name: заметки", "description: b"), "", ""},
	{"Cyrillic capitals", "Заметки", with("name: Заметки", "description: b"), "name", ""},
	{"two forms of Unicode", "caf\u00e9", with("name: cafe\u0301", "description: b"), "", ""},
	{"folder in another form", "cafe\u0301", with("name: caf\u00e9", "description: b"), "", ""},
	{"wide letters", "abc", with("name: ａｂｃ", "description: b"), "", ""},
	{"emoji", "go-🚀", with("name: go-🚀", "description: b"), "name", ""},
	{"no description", "a", with("name: a"), "description", ""},
	{"empty description", "a", with("name: a", "description:"), "description", ""},
	{"1024", "a", with("name: a", "description: "+strings.Repeat("가", 1024)), "", ""},
	{"1025", "a", with("name: a", "description: "+strings.Repeat("가", 1025)), "description", ""},
	{"folded description", "a", with("name: a", "description: >", "  one", "  two"), "", ""},
	{"compatibility 500", "a", with("name: a", "description: b", "compatibility: "+strings.Repeat("c", 500)), "", ""},
	{"compatibility 501", "a", with("name: a", "description: b", "compatibility: "+strings.Repeat("c", 501)), "compatibility", ""},
	{"compatibility as a list", "a", with("name: a", "description: b", "compatibility:", "  - c"), "compatibility", ""},
	{"unknown key", "a", with("name: a", "description: b", "version: 2"), "version", ""},
	{"two unknown keys", "a", with("name: a", "description: b", "homepage: https://example.org", "user-invocable: true"), "homepage user-invocable", ""},
	{"tools as a list", "a", with("name: a", "description: b", "allowed-tools:", "  - Read", "  - Write"), "", ""},
	{"texts that look like numbers", "a", with("name: a", "description: b", "metadata:", "  x: 1", "  y: true", "  z: 2026-01-01"), "", ""},
	{"metadata in metadata", "a", with("name: a", "description: b", "metadata:", "  x:", "    y: z"), "", "metadata"},
	{"metadata as a text", "a", with("name: a", "description: b", "metadata: x"), "", "metadata"},
	{"all wrong", "a", with("name: B_", "x: y"), "name description x", ""},
}

func TestStrictAgreesWithTheReferenceValidator(t *testing.T) {
	t.Parallel()
	for _, c := range strictCases {
		problems := StrictFile(c.folder, []byte(c.text))
		fields := map[string]bool{}
		for _, p := range problems {
			if p.Text.KO == "" {
				t.Errorf("%s: %q has no Korean", c.name, p.Text.EN)
			}
			if p.Field == "" {
				p.Field = "file"
			}
			fields[p.Field] = true
		}
		want := strings.Fields(c.wrong + " " + c.ours)
		same := len(want) == len(fields)
		for _, f := range want {
			same = same && fields[f]
		}
		if !same {
			t.Errorf("%s: got %v, want %q", c.name, problems, want)
		}
		if len(want) == 0 && c.text != "" && !strings.Contains(c.text, "b---") {
			if s, err := Parse(c.folder, []byte(c.text)); err != nil || len(s.Warnings) > 1 || len(s.Warnings) == 1 && !warned(s, "no instructions") {
				t.Errorf("%s: strictly right, but read with %v, %v", c.name, s.Warnings, err)
			}
		}
	}
}

func TestStrictReadsFolders(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for name, content := range map[string]string{"good/SKILL.md": with("name: good", "description: b"), "lower/skill.md": with("name: lower", "description: b"), "both/SKILL.md": with("name: both", "description: b"), "both/skill.txt": "", "none/README.md": "", "file": ""} {
		if err := os.MkdirAll(filepath.Dir(at(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at(name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{"good": "", "lower": "", "both": "", "none": "has no SKILL.md", "missing": "does not exist", "file": "is not a folder"} {
		problems := Strict(at(name))
		if want == "" && len(problems) > 0 || want != "" && (len(problems) != 1 || !strings.Contains(problems[0].Text.EN, want)) {
			t.Errorf("%s: got %v, want %q", name, problems, want)
		}
	}
}

// The table can be given to the reference validator: OXIOS_SKILLS_OUT names a
// folder into which each case is written as a skill.
func TestStrictCasesForTheReferenceValidator(t *testing.T) {
	t.Parallel()
	out := os.Getenv("OXIOS_SKILLS_OUT")
	if out == "" {
		t.Skip("OXIOS_SKILLS_OUT is not set")
	}
	for _, c := range strictCases {
		dir := filepath.Join(out, strings.ReplaceAll(c.name, " ", "_"), c.folder)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "SKILL.md"), []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		_ = os.WriteFile(filepath.Join(out, strings.ReplaceAll(c.name, " ", "_"), "want"), []byte(c.wrong), 0o644)
	}
}
