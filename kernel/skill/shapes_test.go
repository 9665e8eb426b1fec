package skill

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// publicShapes are rebuilt after 73 skills that were public in 2026, by what was
// counted in them and not by their words: 17 plain ones, 5 small ones, and 51 with
// metadata.openclaw, of which 44 have an emoji, 40 requirements, 37 installations,
// 8 systems and 5 a primary variable.
func publicShapes() (out []string) {
	plain := []string{"name: NAME", "description: Makes and changes things. Use it when the person asks for one, including (1) a new one, (2) an old one; or for anything like it."}
	for i := range 17 {
		lines := slices.Clone(plain)
		switch i % 6 {
		case 1:
			lines = append(lines, "license: Complete terms in LICENSE.txt")
		case 2:
			lines = append(lines, "license: Proprietary. LICENSE.txt has complete terms")
		case 3:
			lines[1] = `description: "Everything about it, whenever a file is to be read, made or changed: \"yes\", also then."`
		case 4:
			lines[1] = "description: >-\n  A text over\n  several lines, with a colon: here."
		case 5:
			lines[1] = "description: " + strings.Repeat("Long words about what it does. ", 34) + "Ends."
			lines = append(lines, "compatibility: Needs Python 3 and LibreOffice")
		}
		out = append(out, with(lines...))
	}
	for i := range 5 {
		lines := append(slices.Clone(plain), [][]string{{"user-invocable: true"}, {"allowed-tools: Bash(tool:*)"}, {"metadata:", "  short-description: Does it"}, {"homepage: https://example.org"}, {"argument-hint: '[path]'", "disable-model-invocation: true"}}[i]...)
		out = append(out, with(lines...))
	}
	for i := range 51 {
		var fields []string
		add := func(key, value string) { fields = append(fields, fmt.Sprintf("%q: %s", key, value)) }
		if i < 44 {
			add("emoji", []string{`"🔐"`, `"☀️"`, `"🧑‍💻"`, `"📦"`}[i%4])
		}
		if i%6 == 0 && i < 48 {
			add("os", []string{`["darwin"]`, `["darwin", "linux"]`}[i%2])
		}
		if i%10 == 3 {
			add("primaryEnv", `"TOOL_API_KEY"`)
		}
		if i < 40 {
			switch {
			case i < 33:
				add("requires", `{ "bins": ["tool"] }`)
			case i < 36:
				add("requires", `{ "bins": ["tool", "jq"], "env": ["TOOL_API_KEY"] }`)
			case i < 39:
				add("requires", `{ "anyBins": ["one", "two"] }`)
			default:
				add("requires", `{ "config": ["channels.tool"], "env": ["TOOL_API_KEY"] }`)
			}
		}
		if i < 37 {
			add("install", []string{
				`[{ "id": "brew", "kind": "brew", "formula": "some/tap/tool", "bins": ["tool"], "label": "Install tool (brew)" }]`,
				`[{ "id": "node", "kind": "node", "package": "@some/tool", "bins": ["tool"], "label": "Install (npm)" }]`,
				`[{ "id": "go", "kind": "go", "module": "example.org/some/tool/cmd/tool@latest", "bins": ["tool"] }, { "id": "uv", "kind": "uv", "package": "tool", "bins": ["tool"] }]`,
				`[{ "id": "dl", "kind": "download", "os": ["darwin"], "url": "https://example.org/tool.tar.bz2", "archive": "tar.bz2", "extract": true, "stripComponents": 1, "targetDir": "runtime" }]`,
			}[i%4])
		}
		lines := slices.Clone(plain)
		if i%3 == 0 {
			lines = append(lines, "homepage: https://tool.example.org/docs#start")
		}
		if i%9 == 0 {
			lines = append(lines, "user-invocable: true")
		}
		if i%7 == 0 {
			lines[1] = "description: Controls the tool: lists, opens and closes. Use when: the person names it."
		}
		switch i % 3 {
		case 0:
			lines = append(lines, `metadata: { "openclaw": { `+strings.Join(fields, ", ")+" } }")
		case 1:
			lines = append(lines, "metadata:", "  {", `    "openclaw":`, "      {", "        "+strings.Join(fields, ",\n        ")+",", "      },", "  }")
		case 2:
			lines = append(lines, "metadata:", "  openclaw:")
			for _, f := range fields {
				lines = append(lines, "    "+f)
			}
		}
		out = append(out, with(lines...))
	}
	return out
}

func TestPublicShapesOfFrontmatterLoad(t *testing.T) {
	t.Parallel()
	shapes := publicShapes()
	if len(shapes) != 73 {
		t.Fatalf("%d shapes", len(shapes))
	}
	installs, requires, emojis := 0, 0, 0
	for i, text := range shapes {
		text = strings.ReplaceAll(text, "NAME", fmt.Sprintf("tool-%d", i))
		s, err := Parse(fmt.Sprintf("tool-%d", i), []byte(text))
		if err != nil {
			t.Errorf("%d: %v\n%s", i, err, text)
			continue
		}
		if s.Emoji != "" {
			emojis++
		}
		if len(s.Install) > 0 {
			installs++
			for _, in := range s.Install {
				if _, err := in.Argv(); err != nil {
					t.Errorf("%d: %+v: %v", i, in, err)
				}
			}
		}
		if r := s.Requires; len(r.Bins)+len(r.AnyBins)+len(r.Env)+len(r.Config) > 0 {
			requires++
		}
		if s.Body([]byte(text)) != "# Steps\n\nDo it.\n" {
			t.Errorf("%d: body %q", i, s.Body([]byte(text)))
		}
	}
	if emojis != 44 || installs != 37 || requires != 40 {
		t.Errorf("got %d emojis, %d installations, %d requirements", emojis, installs, requires)
	}
}
