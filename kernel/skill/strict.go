package skill

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"oxios/kernel/sys"
)

// Problem is one way in which a skill is not as the specification wants it.
type Problem struct {
	Field string    `json:"field,omitempty"` // the key of the frontmatter, or empty for the whole file
	Text  sys.Words `json:"text"`
}

// Strict checks the skill in a folder on the disk by the letter of the
// specification, as its reference validator does, down to how that one finds the
// end of the frontmatter. In one thing it follows the text and not the validator:
// metadata maps names to texts, and to nothing else. A skill without problems has
// none here and gets no warning from [Load].
func Strict(dir string) []Problem {
	whole := func(w sys.Words) []Problem { return []Problem{{Text: w}} }
	dir, err := filepath.Abs(dir)
	if err != nil {
		return whole(sys.Say("%s is not a folder.", dir))
	}
	tree, err := Open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return whole(sys.Say("%s does not exist.", dir))
	}
	if err != nil {
		return whole(sys.Say("%s is not a folder.", dir))
	}
	defer tree.Close()
	for _, name := range []string{"SKILL.md", "skill.md"} {
		content, size, err := readUpTo(tree, name, maxFile+1)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return whole(sys.Say("%s cannot be read: %s.", name, err))
		case size > maxFile:
			return whole(sys.Say("%s has more than %d KB.", name, maxFile>>10))
		}
		return StrictFile(filepath.Base(dir), content)
	}
	return whole(sys.Say("The folder has no SKILL.md."))
}

// StrictFile checks the content of a SKILL.md in a folder of that name, see
// [Strict].
func StrictFile(folder string, file []byte) []Problem {
	whole := func(w sys.Words) []Problem { return []Problem{{Text: w}} }
	if !utf8.Valid(file) {
		return whole(sys.Say("SKILL.md is not UTF-8."))
	}
	text := strings.ReplaceAll(strings.ReplaceAll(string(file), "\r\n", "\n"), "\r", "\n")
	if !strings.HasPrefix(text, "---") {
		return whole(sys.Say("SKILL.md must begin with frontmatter between two lines of ---."))
	}
	parts := strings.SplitN(text, "---", 3)
	if len(parts) < 3 {
		return whole(sys.Say("The frontmatter of SKILL.md never ends."))
	}
	top, found, fault := parseYAML(parts[1])
	switch {
	case fault.EN != "":
		return whole(sys.Say("The frontmatter is not allowed: %s.", fault))
	case found.flow:
		return whole(sys.Say("The frontmatter has a list or map in brackets; write one line for each value."))
	case found.tags:
		return whole(sys.Say("The frontmatter has a YAML tag (!); write the value alone."))
	case found.tabs:
		return whole(sys.Say("The frontmatter has a tab; write spaces, or put the value in quotation marks."))
	case len(found.twice) > 0:
		return whole(sys.Say("%q is in the frontmatter twice.", found.twice[0]))
	case top.kind != mapping:
		return whole(sys.Say("The frontmatter must be lines of key: value."))
	}
	return checkFields(top, folder)
}

func checkFields(top node, folder string) (problems []Problem) {
	says := func(field string, w sys.Words) { problems = append(problems, Problem{field, w}) }
	has := func(key string) bool { return slices.ContainsFunc(top.keys, func(p pair) bool { return p.key == key }) }
	for _, p := range top.keys {
		if !slices.Contains(specified, p.key) {
			says(p.key, sys.Say("%q is not a key of the specification.", p.key))
		}
	}
	if name := top.get("name"); !has("name") || strings.TrimSpace(name.text) == "" {
		says("name", sys.Say("A name is missing."))
	} else {
		problems = append(problems, checkName(name.text, folder)...)
	}
	switch d := top.get("description"); {
	case !has("description") || strings.TrimSpace(d.text) == "":
		says("description", sys.Say("A description is missing."))
	case utf8.RuneCountInString(d.text) > MaxDescription:
		says("description", sys.Say("The description has %d characters; %d are allowed.", utf8.RuneCountInString(d.text), MaxDescription))
	}
	switch c := top.get("compatibility"); {
	case c.kind == list || c.kind == mapping:
		says("compatibility", sys.Say("%s must be one text.", "compatibility"))
	case utf8.RuneCountInString(c.text) > MaxCompatibility:
		says("compatibility", sys.Say("compatibility has %d characters; %d are allowed.", utf8.RuneCountInString(c.text), MaxCompatibility))
	}
	switch t := top.get("allowed-tools"); {
	case t.kind == mapping, slices.ContainsFunc(t.list, func(n node) bool { return n.kind == list || n.kind == mapping }):
		says("allowed-tools", sys.Say("%s must be one text.", "allowed-tools"))
	}
	m := top.get("metadata")
	if m.kind == scalar || m.kind == list {
		says("metadata", sys.Say("metadata must be lines of key: value, each value one text."))
	}
	for _, p := range m.keys {
		if p.value.kind == list || p.value.kind == mapping {
			says("metadata", sys.Say("metadata must be lines of key: value, each value one text."))
			break
		}
	}
	return problems
}

// checkName checks a name, and that it is the folder's, where one is given.
// Letters and digits of all scripts are allowed.
func checkName(name, folder string) (problems []Problem) {
	says := func(w sys.Words) { problems = append(problems, Problem{"name", w}) }
	name = norm.NFKC.String(strings.TrimSpace(name))
	shown := sys.Shorten(visible(name), 80)
	if n := utf8.RuneCountInString(name); n > MaxName {
		says(sys.Say("The name has %d characters; %d are allowed.", n, MaxName))
	}
	if name != strings.ToLower(name) {
		says(sys.Say("The name %q must be in lower case.", shown))
	}
	if strings.HasPrefix(name, "-") || strings.HasSuffix(name, "-") {
		says(sys.Say("The name %q begins or ends with a hyphen.", shown))
	}
	if strings.Contains(name, "--") {
		says(sys.Say("The name %q has two hyphens in a row.", shown))
	}
	if strings.ContainsFunc(name, func(r rune) bool { return r != '-' && !unicode.IsLetter(r) && !unicode.IsNumber(r) }) {
		says(sys.Say("The name %q may have only letters, digits and hyphens.", shown))
	}
	if folder != "" && norm.NFKC.String(folder) != name {
		says(sys.Say("The name %q is not that of the folder, %q.", shown, sys.Shorten(visible(folder), 80)))
	}
	return problems
}
