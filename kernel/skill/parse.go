package skill

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/zeebo/blake3"
	"golang.org/x/text/unicode/norm"

	"oxios/kernel/sys"
)

// maxFile bounds a SKILL.md. It goes into the conversation as a whole.
const maxFile = 1 << 20

// specified are the keys of the public specification.
var specified = []string{"name", "description", "license", "compatibility", "metadata", "allowed-tools"}

// Load reads the SKILL.md of the folder dir of fsys, a slash path. A skill that
// is of use comes back, with warnings for what its author should mend; without
// frontmatter that can be read, or without a description, it is an error. Dir,
// Source and Hash are the caller's to set.
func Load(fsys fs.FS, dir string) (Skill, error) {
	var failed error
	for _, name := range []string{"SKILL.md", "skill.md"} {
		content, size, err := readUpTo(fsys, path.Join(dir, name), maxFile+1)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			failed = errors.Join(failed, sys.Errorf(sys.CodeInvalid, "%s cannot be read: %w.", name, err).WithHint("It must be a file of its own in the skill's folder, not a link that leads out of it."))
			continue
		}
		if size > maxFile {
			return Skill{}, sys.Errorf(sys.CodeTooLarge, "%s has more than %d KB.", name, maxFile>>10).WithHint("Move parts of it to files of their own and name them in it.")
		}
		s, err := Parse(baseName(dir), content)
		s.File, s.sum = name, sumOf(content)
		return s, err
	}
	if failed != nil {
		return Skill{}, failed
	}
	return Skill{}, sys.Errorf(sys.CodeNotFound, "The folder has no SKILL.md.").WithHint("Choose the folder in which SKILL.md is.")
}

// sumOf is the hash of one file's content.
func sumOf(content []byte) string {
	sum := blake3.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// Parse reads the content of a SKILL.md in a folder of that name, "." for one
// that has none. See [Load].
func Parse(folder string, file []byte) (Skill, error) {
	head, body, err := split(file)
	if err != nil {
		return Skill{}, err
	}
	s := Skill{UserInvocable: true, File: "SKILL.md", BodyOffset: body, BodySize: len(file) - body}
	top, found, fault := parseYAML(head)
	if fault.EN != "" || top.kind != mapping {
		again, _, second := parseYAML(quoted(head))
		if found.trap || second.EN != "" || again.kind != mapping {
			if fault.EN == "" {
				fault = sys.Say("it is not a list of keys and values")
			}
			return Skill{}, sys.Errorf(sys.CodeInvalid, "The frontmatter of SKILL.md cannot be used: %s.", fault).
				WithHint("Write it as lines of key: value, with quotation marks around a value that has a colon.")
		}
		top = again
		s.warn(sys.Say("Some values of the frontmatter have to be in quotation marks: %s.", fault))
	}
	s.fill(top, folder)
	if s.Description == "" {
		return Skill{}, sys.Errorf(sys.CodeInvalid, "SKILL.md has no description, so no agent would know when to use it.").
			WithHint("Add a line to its frontmatter: description: what it does, and when to use it.")
	}
	if !utf8.Valid(file[body:]) {
		s.warn(sys.Say("The instructions have bytes that are not UTF-8; they are shown as �."))
	}
	if len(bytes.TrimSpace(file[body:])) == 0 {
		s.warn(sys.Say("There are no instructions after the frontmatter."))
	}
	return s, nil
}

// split finds the frontmatter of a file, with line feeds alone, and where the
// body begins.
func split(file []byte) (head string, body int, err error) {
	text := sys.WithoutMark(file)
	skipped := len(file) - len(text)
	first, rest, _ := bytes.Cut(text, []byte("\n"))
	if string(bytes.TrimRight(first, " \t\r")) != "---" {
		return "", 0, sys.Errorf(sys.CodeInvalid, "SKILL.md does not begin with frontmatter.").
			WithHint("The first line must be ---, then follow name: and description:, then a line --- again.")
	}
	begin := len(text) - len(rest)
	for at := begin; at < len(text); {
		line, next := text[at:], len(text)
		if end := bytes.IndexByte(line, '\n'); end >= 0 {
			line, next = line[:end], at+end+1
		}
		if at-begin > maxFrontmatter || next-begin > maxFrontmatter+8 {
			return "", 0, sys.Errorf(sys.CodeTooLarge, "The frontmatter of SKILL.md has more than %d KB.", maxFrontmatter>>10).
				WithHint("Move long texts below the second ---.")
		}
		if string(bytes.TrimRight(line, " \t\r")) == "---" {
			block := text[begin:at]
			if !utf8.Valid(block) {
				return "", 0, sys.Errorf(sys.CodeInvalid, "The frontmatter of SKILL.md is not UTF-8.").WithHint("Save the file as UTF-8.")
			}
			return strings.ReplaceAll(string(block), "\r\n", "\n"), skipped + next, nil
		}
		at = next
	}
	return "", 0, sys.Errorf(sys.CodeInvalid, "The frontmatter of SKILL.md never ends.").
		WithHint("The first line must be ---, then follow name: and description:, then a line --- again.")
}

func (s *Skill) warn(w sys.Words) { s.Warnings = append(s.Warnings, w) }

// fill takes over what the frontmatter says.
func (s *Skill) fill(top node, folder string) {
	s.fillName(top.get("name"), folder)
	s.Description = strings.TrimSpace(top.get("description").text)
	if n := utf8.RuneCountInString(s.Description); n > MaxDescription {
		s.warn(sys.Say("The description has %d characters; %d are allowed.", n, MaxDescription))
	}
	s.License = strings.TrimSpace(top.get("license").text)
	s.Compatibility = strings.TrimSpace(top.get("compatibility").text)
	if n := utf8.RuneCountInString(s.Compatibility); n > MaxCompatibility {
		s.warn(sys.Say("compatibility has %d characters; %d are allowed.", n, MaxCompatibility))
	}
	s.AllowedTools = toolsOf(top.get("allowed-tools"))
	s.fillMetadata(top.get("metadata"))

	var unknown []string
	for _, p := range top.keys {
		switch key := p.key; key {
		case "homepage":
			s.homepage(p.value.text)
			s.warn(sys.Say("%q is read, but is not a key of the specification.", key))
		case "user-invocable":
			s.UserInvocable = !slices.Contains([]string{"false", "no", "off"}, strings.ToLower(strings.TrimSpace(p.value.text)))
			s.warn(sys.Say("%q is read, but is not a key of the specification.", key))
		default:
			if !slices.Contains(specified, key) && !slices.Contains(unknown, key) {
				unknown = append(unknown, sys.Shorten(visible(key), 40))
			}
		}
	}
	if len(unknown) > 0 {
		s.warn(sys.Say("Keys that the specification does not have are left out: %s.", strings.Join(unknown[:min(len(unknown), 10)], ", ")))
	}
	seen := map[string]bool{}
	for _, p := range top.keys {
		if seen[p.key] {
			s.warn(sys.Say("%q is there twice; the first one counts.", sys.Shorten(visible(p.key), 40)))
		}
		seen[p.key] = true
	}
}

// fillName takes the name, or the folder's where there is none that can be used.
func (s *Skill) fillName(n node, folder string) {
	s.Name = clean(n.text)
	if folder == "." {
		folder = ""
	}
	switch {
	case s.Name == "":
		s.Name = cmp.Or(clean(folder), "skill")
		s.warn(sys.Say("SKILL.md has no name; the name of the folder is used."))
	case folder != "" && fold(norm.NFKC.String(folder)) != fold(norm.NFKC.String(s.Name)):
		s.warn(sys.Say("The name %q is not that of the folder, %q.", s.Name, sys.Shorten(clean(folder), 80)))
	}
	for _, p := range checkName(s.Name, "") {
		s.warn(p.Text)
	}
	if r := []rune(s.Name); len(r) > MaxName {
		s.Name = strings.TrimSpace(string(r[:MaxName]))
	}
}

// clean is a text in one line, without characters that cannot be seen.
func clean(text string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		if unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp) || r == utf8.RuneError {
			return -1
		}
		return r
	}, text))
}

// toolsOf takes a list of tools apart: a list of YAML, or words between spaces or
// commas, with patterns in parentheses, as in Bash(git add:*).
func toolsOf(n node) (out []string) {
	texts := n.strings()
	if n.kind == list {
		return texts
	}
	for _, text := range texts {
		depth, from := 0, 0
		for i, r := range text + " " {
			switch {
			case r == '(':
				depth++
			case r == ')' && depth > 0:
				depth--
			case depth == 0 && (r == ',' || unicode.IsSpace(r)):
				if i > from {
					out = append(out, text[from:i])
				}
				from = i + utf8.RuneLen(r)
			}
		}
	}
	return out
}

// fillMetadata takes the texts of metadata, and what OpenClaw's skills have in
// it.
func (s *Skill) fillMetadata(m node) {
	if m.kind == scalar {
		m = jsonOf(m)
	}
	if m.kind != mapping {
		if m.kind != empty {
			s.warn(sys.Say("metadata is left out: it is not a list of keys and values."))
		}
		return
	}
	for _, p := range m.keys {
		switch key := clean(p.key); {
		case key == "openclaw" || key == "clawdbot":
			s.warn(sys.Say("metadata.%s is read, but the specification wants text there.", key))
			s.fillOpenClaw(jsonOf(p.value))
		case p.value.kind == list || p.value.kind == mapping:
			s.warn(sys.Say("metadata.%s is left out: it is not text.", sys.Shorten(key, 40)))
		default:
			if s.Metadata == nil {
				s.Metadata = map[string]string{}
			}
			s.Metadata[key] = p.value.text
		}
	}
}

// jsonOf reads a value that is written as a text of JSON.
func jsonOf(n node) node {
	if text := strings.TrimSpace(n.text); n.kind == scalar && strings.HasPrefix(text, "{") {
		if inner, _, fault := parseYAML(text); fault.EN == "" {
			return inner
		}
	}
	return n
}

func (s *Skill) fillOpenClaw(o node) {
	if emoji := clean(o.get("emoji").text); utf8.RuneCountInString(emoji) <= 8 {
		s.Emoji = emoji
	}
	if s.Homepage == "" {
		s.homepage(o.get("homepage").text)
	}
	s.PrimaryEnv = clean(o.get("primaryEnv").text)
	r := o.get("requires")
	s.Requires = Requires{Bins: r.get("bins").strings(), AnyBins: r.get("anyBins").strings(), Env: r.get("env").strings(), Config: r.get("config").strings()}
	for _, name := range append(o.get("os").strings(), r.get("os").strings()...) {
		if name = systemOf(name); !slices.Contains(s.Requires.OS, name) {
			s.Requires.OS = append(s.Requires.OS, name)
		}
	}
	for i, spec := range o.get("install").list {
		in := Install{ID: clean(spec.get("id").text), Kind: clean(spec.get("kind").text), URL: strings.TrimSpace(spec.get("url").text), Bins: spec.get("bins").strings(), Label: clean(spec.get("label").text), OS: spec.get("os").strings()}
		if in.Kind == "node" {
			in.Kind = "npm"
		}
		for _, key := range []string{"formula", "package", "module", "cask"} {
			in.Package = cmp.Or(in.Package, strings.TrimSpace(spec.get(key).text))
		}
		for at := range in.OS {
			in.OS[at] = systemOf(in.OS[at])
		}
		if in.ID == "" {
			in.ID = fmt.Sprintf("%s-%d", in.Kind, i+1)
		}
		if _, err := in.Argv(); err != nil {
			message, _ := sys.AsError(err).Words()
			s.warn(message)
		}
		s.Install = append(s.Install, in)
	}
}

// homepage takes an address that a person may follow.
func (s *Skill) homepage(text string) {
	u, err := url.Parse(strings.TrimSpace(text))
	if err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" {
		s.Homepage = u.String()
	}
}
