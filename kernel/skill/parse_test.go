package skill

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"oxios/kernel/sys"
)

// with is a SKILL.md with lines of frontmatter.
func with(lines ...string) string {
	return "---\n" + strings.Join(lines, "\n") + "\n---\n# Steps\n\nDo it.\n"
}

func parsed(t *testing.T, folder, text string) Skill {
	t.Helper()
	s, err := Parse(folder, []byte(text))
	if err != nil {
		t.Fatalf("parse %q: %v", sys.Shorten(text, 300), err)
	}
	return s
}

func warned(s Skill, part string) bool {
	return slices.ContainsFunc(s.Warnings, func(w sys.Words) bool { return strings.Contains(w.EN, part) && w.KO != "" })
}

func TestWellFormedSkillIsReadWithoutWarnings(t *testing.T) {
	t.Parallel()
	s := parsed(t, "pdf-forms", with(
		"name: pdf-forms", "description: Fills forms in PDF files. Use it when a form is to be filled.", "license: Apache-2.0",
		"compatibility: Needs Python 3.11", "metadata:", "  author: somebody", `  version: 1.0`, "allowed-tools: Read Bash(git add:*), Grep"))
	if len(s.Warnings) > 0 {
		t.Errorf("got warnings %v", s.Warnings)
	}
	if s.Name != "pdf-forms" || !strings.HasPrefix(s.Description, "Fills forms") || s.License != "Apache-2.0" || s.Compatibility != "Needs Python 3.11" || !s.UserInvocable {
		t.Errorf("got %+v", s)
	}
	if s.Metadata["version"] != "1.0" || s.Metadata["author"] != "somebody" {
		t.Errorf("metadata: got %v, want texts as they stand there", s.Metadata)
	}
	if want := []string{"Read", "Bash(git add:*)", "Grep"}; !slices.Equal(s.AllowedTools, want) {
		t.Errorf("tools: got %q, want %q", s.AllowedTools, want)
	}
}

func TestBodyBeginsAfterFrontmatterWhateverTheFormOfLines(t *testing.T) {
	t.Parallel()
	plain := with("name: a", "description: d")
	for name, text := range map[string]string{
		"plain": plain, "crlf": strings.ReplaceAll(plain, "\n", "\r\n"), "mark": "\uFEFF" + plain, "mark and crlf": "\uFEFF" + strings.ReplaceAll(plain, "\n", "\r\n"),
		"spaces": strings.ReplaceAll(plain, "---\n", "---  \n"),
	} {
		s := parsed(t, "a", text)
		if got := s.Body([]byte(text)); got != "# Steps\n\nDo it.\n" {
			t.Errorf("%s: body %q", name, got)
		}
		if s.Description != "d" {
			t.Errorf("%s: description %q", name, s.Description)
		}
	}
	s := parsed(t, "a", plain)
	if got := s.Body([]byte("---\nshort")); got != "" {
		t.Errorf("a file that became shorter: got %q", got)
	}
}

func TestLenientReadingWarns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text, want string
		ok               func(Skill) bool
	}{
		{"another name", with("name: other", "description: d"), "not that of the folder", func(s Skill) bool { return s.Name == "other" }},
		{"capitals", with("name: Folder", "description: d"), "lower case", func(s Skill) bool { return s.Name == "Folder" }},
		{"no name", with("description: d"), "has no name", func(s Skill) bool { return s.Name == "folder" }},
		{"long name", with("name: "+strings.Repeat("a", 200), "description: d"), "200 characters", func(s Skill) bool { return len(s.Name) == 64 }},
		{"hidden name", with("name: \"fol\\u202Eder\"", "description: d"), "", func(s Skill) bool { return s.Name == "folder" }},
		{"long description", with("name: folder", "description: "+strings.Repeat("x", 1100)), "1100 characters", func(s Skill) bool { return len(s.Description) == 1100 }},
		{"unknown keys", with("name: folder", "description: d", "version: 1", "tags: [a, b]"), "left out: version, tags", nil},
		{"homepage", with("name: folder", "description: d", "homepage: https://example.org/x"), "homepage", func(s Skill) bool { return s.Homepage == "https://example.org/x" }},
		{"homepage of a trap", with("name: folder", "description: d", "homepage: javascript:alert(1)"), "homepage", func(s Skill) bool { return s.Homepage == "" }},
		{"user-invocable", with("name: folder", "description: d", "user-invocable: false"), "user-invocable", func(s Skill) bool { return !s.UserInvocable }},
		{"colon", with("name: folder", "description: Use it: always, and first"), "quotation marks", func(s Skill) bool { return s.Description == "Use it: always, and first" }},
		{"colon over lines", with("name: folder", "description: Use it: always,", "  and: first"), "quotation marks", func(s Skill) bool { return s.Description == "Use it: always, and: first" }},
		{"asterisk", with("name: folder", "description: *Bold* words"), "quotation marks", func(s Skill) bool { return s.Description == "*Bold* words" }},
		{"backtick", with("name: folder", "description: `gh` for issues"), "quotation marks", func(s Skill) bool { return s.Description == "`gh` for issues" }},
		{"bracket", with("name: folder", "description: [beta] for issues: yes"), "quotation marks", func(s Skill) bool { return s.Description == "[beta] for issues: yes" }},
		{"quotation mark inside", with("name: folder", `description: "Quick" fixes: it's good`), "quotation marks", func(s Skill) bool { return s.Description == `"Quick" fixes: it's good` }},
		{"nested colon", with("name: folder", "description: d", "metadata:", "  note: see: there"), "quotation marks", func(s Skill) bool { return s.Metadata["note"] == "see: there" }},
		{"twice", with("name: folder", "description: one", "description: two"), "twice", func(s Skill) bool { return s.Description == "one" }},
		{"nested metadata", with("name: folder", "description: d", "metadata:", "  a:", "    b: c"), "metadata.a is left out", nil},
		{"metadata in one word", with("name: folder", "description: d", "metadata: yes"), "metadata is left out", nil},
		{"no body", "---\nname: folder\ndescription: d\n---\n", "no instructions", nil},
		{"body in another encoding", with("name: folder", "description: d") + "\xff\xfe", "not UTF-8", nil},
		{"folded", with("name: folder", "description: >-", "  one", "  two"), "", func(s Skill) bool { return s.Description == "one two" }},
		{"list of tools", with("name: folder", "description: d", "allowed-tools: [Read, Write]"), "", func(s Skill) bool { return slices.Equal(s.AllowedTools, []string{"Read", "Write"}) }},
		{"null", with("name: folder", "description: d", "license:", "homepage: ~"), "homepage", func(s Skill) bool { return s.License == "" && s.Homepage == "" }},
		{"Korean", with("name: 폴더", "description: 문서를 정리합니다: 항상"), "quotation marks", func(s Skill) bool { return s.Name == "폴더" }},
	} {
		s := parsed(t, "folder", c.text)
		if c.want != "" && !warned(s, c.want) {
			t.Errorf("%s: got warnings %v, want one with %q", c.name, s.Warnings, c.want)
		}
		if c.ok != nil && !c.ok(s) {
			t.Errorf("%s: got %+v", c.name, s)
		}
	}
}

func TestOpenClawFieldsAreRead(t *testing.T) {
	t.Parallel()
	block := with("name: gog", "description: d", "metadata:", "  openclaw:", "    emoji: 🎮", "    primaryEnv: GOG_TOKEN", "    os: [darwin, linux]", "    requires:", "      bins: [gog]",
		"      anyBins: [node, bun]", "      env:", "        - GOG_TOKEN", "      config: browser.enabled", "    install:", "      - id: brew", "        kind: brew", "        formula: some/tap/gog", "        bins: [gog]", "      - kind: node", "        package: \"@some/gog\"")
	oneLine := with("name: gog", "description: d", `metadata: {"openclaw":{"emoji":"🎮","primaryEnv":"GOG_TOKEN","os":["darwin","linux"],"requires":{"bins":["gog"],"anyBins":["node","bun"],"env":["GOG_TOKEN"],"config":["browser.enabled"]},"install":[{"id":"brew","kind":"brew","formula":"some/tap/gog","bins":["gog"]},{"kind":"node","package":"@some/gog"}]}}`)
	lines := with("name: gog", "description: d", "metadata:", "  {", `    "openclaw":`, "      {", `        "emoji": "🎮",`, `        "primaryEnv": "GOG_TOKEN",`, `        "os": ["darwin", "linux"],`, `        "requires": { "bins": ["gog"], "anyBins": ["node", "bun"], "env": ["GOG_TOKEN"], "config": ["browser.enabled"], },`,
		`        "install":`, "          [", `            { "id": "brew", "kind": "brew", "formula": "some/tap/gog", "bins": ["gog"] },`, `            { "kind": "node", "package": "@some/gog" },`, "          ],", "      },", "  }")
	quotedJSON := with("name: gog", "description: d", `metadata: '{"clawdbot":{"emoji":"🎮","primaryEnv":"GOG_TOKEN","os":["darwin","linux"],"requires":{"bins":["gog"],"anyBins":["node","bun"],"env":["GOG_TOKEN"],"config":["browser.enabled"]},"install":[{"id":"brew","kind":"brew","formula":"some/tap/gog","bins":["gog"]},{"kind":"node","package":"@some/gog"}]}}'`)
	for name, text := range map[string]string{"block": block, "one line of JSON": oneLine, "lines of JSON": lines, "JSON in quotation marks": quotedJSON} {
		s := parsed(t, "gog", text)
		r := s.Requires
		if s.Emoji != "🎮" || s.PrimaryEnv != "GOG_TOKEN" || !slices.Equal(r.Bins, []string{"gog"}) || !slices.Equal(r.AnyBins, []string{"node", "bun"}) ||
			!slices.Equal(r.Env, []string{"GOG_TOKEN"}) || !slices.Equal(r.Config, []string{"browser.enabled"}) || !slices.Equal(r.OS, []string{"darwin", "linux"}) {
			t.Errorf("%s: got %+v", name, s)
		}
		if len(s.Install) != 2 || s.Install[0].Package != "some/tap/gog" || s.Install[1].Kind != "npm" || s.Install[1].Package != "@some/gog" {
			t.Errorf("%s: installations %+v", name, s.Install)
		}
		if !warned(s, "the specification wants text") {
			t.Errorf("%s: got warnings %v", name, s.Warnings)
		}
	}
}

func TestUnusableFilesAreToldWithWhatToDo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text, want string
		code       sys.Code
	}{
		"nothing":             {"", "does not begin with frontmatter", sys.CodeInvalid},
		"no frontmatter":      {"# Steps\n", "does not begin with frontmatter", sys.CodeInvalid},
		"UTF-16":              {"\xff\xfe-\x00-\x00-\x00\n\x00", "does not begin with frontmatter", sys.CodeInvalid},
		"never ends":          {"---\nname: a\ndescription: b\n", "never ends", sys.CodeInvalid},
		"no description":      {with("name: a"), "no description", sys.CodeInvalid},
		"empty description":   {with("name: a", "description: '  '"), "no description", sys.CodeInvalid},
		"list description":    {with("name: a", "description: [a, b]"), "no description", sys.CodeInvalid},
		"no YAML":             {with("name: [a", "description: b"), "cannot be used", sys.CodeInvalid},
		"a list":              {with("- a", "- b"), "not a list of keys", sys.CodeInvalid},
		"a word":              {with("hello"), "not a list of keys", sys.CodeInvalid},
		"empty frontmatter":   {"---\n---\nbody", "not a list of keys", sys.CodeInvalid},
		"not UTF-8":           {with("name: a", "description: caf\xe9"), "not UTF-8", sys.CodeInvalid},
		"too large":           {with("name: a", "description: b", "x: "+strings.Repeat("y", maxFrontmatter)), "more than 64 KB", sys.CodeTooLarge},
		"1 MB in lines":       {"---\n" + strings.Repeat("# filler line\n", 80_000) + "---\n", "more than 64 KB", sys.CodeTooLarge},
		"1 MB without an end": {"---\n" + strings.Repeat("a", 1<<20), "more than 64 KB", sys.CodeTooLarge},
		"two documents":       {"---\nname: a\n...\ndescription: b\n---\n", "", sys.CodeInvalid},
	} {
		_, err := Parse("a", []byte(c.text))
		e := sys.AsError(err)
		if e == nil || e.Code != c.code || !strings.Contains(e.Message, c.want) || e.Hint == "" || e.MessageKO == "" || e.HintKO == "" {
			t.Errorf("%s: got %+v, want %q", name, e, c.want)
		}
	}
}

// What is made to take for ever, or all memory, is refused at once.
func TestFrontmatterMadeToExplodeIsRefused(t *testing.T) {
	t.Parallel()
	bomb := []string{"a: &a [x,x,x,x,x,x,x,x,x]"}
	for c := 'b'; c <= 'k'; c++ {
		p := string(c - 1)
		bomb = append(bomb, string(c)+": &"+string(c)+" [*"+p+",*"+p+",*"+p+",*"+p+",*"+p+",*"+p+",*"+p+",*"+p+",*"+p+"]")
	}
	var steps strings.Builder
	for i := range 300 {
		steps.WriteString(strings.Repeat(" ", i) + "k:\n")
	}
	for name, lines := range map[string][]string{
		"aliases":        append(bomb, "name: a", "description: d"),
		"merge":          {"name: a", "description: d", "x: &x {a: b}", "y: {<<: *x}"},
		"itself":         {"name: a", "description: d", "x: &x", "  - *x"},
		"brackets":       {"name: a", "description: d", "x: " + strings.Repeat("[", 30_000)},
		"closed":         {"name: a", "description: d", "x: " + strings.Repeat("[", 200) + strings.Repeat("]", 200)},
		"braces":         {"name: a", "description: d", "x: " + strings.Repeat("{a: ", 10_000)},
		"dashes":         {"name: a", "description: d", "x:", "  " + strings.Repeat("- ", 20_000) + "a"},
		"questions":      {"name: a", "description: d", "x:", "  " + strings.Repeat("? ", 20_000) + "a"},
		"steps":          {"name: a", "description: d", strings.TrimSpace(steps.String())},
		"JSON in a text": {"name: a", "description: d", "metadata: '{\"openclaw\": " + strings.Repeat("[", 20_000) + "'"},
	} {
		done := make(chan struct{})
		go func() {
			defer close(done)
			s, err := Parse("a", []byte(with(lines...)))
			if name == "JSON in a text" {
				if err != nil || s.Install != nil {
					t.Errorf("%s: got %+v, %v", name, s, err)
				}
				return
			}
			if e := sys.AsError(err); e == nil || e.Code != sys.CodeInvalid || e.Hint == "" {
				t.Errorf("%s: got %v", name, err)
			}
		}()
		select {
		case <-done:
		case <-time.After(20 * time.Second):
			t.Fatalf("%s: not refused in 20 s", name)
		}
	}
}

func TestLoadChoosesFileAndBoundsIt(t *testing.T) {
	t.Parallel()
	good := []byte(with("name: a", "description: upper"))
	s, err := Load(fstest.MapFS{"a/SKILL.md": {Data: good}, "a/skill.md": {Data: []byte("nothing")}}, "a")
	if err != nil || s.Description != "upper" || s.File != "SKILL.md" {
		t.Errorf("both: got %+v, %v", s, err)
	}
	s, err = Load(fstest.MapFS{"a/skill.md": {Data: good}}, "a")
	if err != nil || s.File != "skill.md" {
		t.Errorf("lower case: got %+v, %v", s, err)
	}
	if _, err := Load(fstest.MapFS{"a/README.md": {Data: good}}, "a"); sys.CodeOf(err) != sys.CodeNotFound {
		t.Errorf("none: got %v", err)
	}
	large := append(slices.Clone(good), bytes.Repeat([]byte("x"), maxFile)...)
	if _, err := Load(fstest.MapFS{"a/SKILL.md": {Data: large}}, "a"); sys.CodeOf(err) != sys.CodeTooLarge {
		t.Errorf("large: got %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("a", with("name: a", "description: d"))
	f.Add("a", with("name: a", "description: x: y", "metadata: {\"openclaw\": {\"install\": [{}]}}"))
	f.Add("b", with("description: |", "  a", " b"))
	f.Fuzz(func(t *testing.T, folder, text string) {
		s, err := Parse(folder, []byte(text))
		if err == nil && (s.Name == "" || s.Description == "" || s.BodyOffset+s.BodySize != len(text)) {
			t.Errorf("got %+v", s)
		}
		StrictFile(folder, []byte(text))
	})
}
