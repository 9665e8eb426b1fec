package skill

import (
	"path"
	"strings"

	"golang.org/x/text/unicode/norm"

	"oxios/kernel/sys"
)

// Bounds of the public specification, in characters. A skill beyond them is read
// with a warning; [Strict] refuses it.
const (
	MaxName          = 64
	MaxDescription   = 1024
	MaxCompatibility = 500
)

// Source says where a skill comes from, and so which of two with one name wins.
type Source string

// The sources, the strongest first.
const (
	SourceAgent   Source = "agent"   // made for one agent
	SourceProject Source = "project" // lies in the project's folder
	SourceGlobal  Source = "global"  // lies in the home, or in ~/.agents
	SourceBundled Source = "bundled" // comes with Oxios
)

// rank orders sources; a lower one wins.
func (s Source) rank() int {
	switch s {
	case SourceAgent:
		return 0
	case SourceProject:
		return 1
	case SourceGlobal:
		return 2
	}
	return 3
}

// Skill is what the frontmatter of a SKILL.md says, and where its text is. All of
// it is the author's claim.
type Skill struct {
	Name          string            `json:"name"` // the folder's, where the file names none
	Description   string            `json:"description"`
	License       string            `json:"license,omitempty"`
	Compatibility string            `json:"compatibility,omitempty"`
	Metadata      map[string]string `json:"metadata,omitempty"`
	AllowedTools  []string          `json:"allowed_tools,omitempty"` // what the author expects to be used; it grants nothing
	UserInvocable bool              `json:"user_invocable"`          // a person may start it as /name; true unless the file says no
	Homepage      string            `json:"homepage,omitempty"`      // an http or https address, or empty
	Emoji         string            `json:"emoji,omitempty"`
	Requires      Requires          `json:"requires,omitzero"`
	Install       []Install         `json:"install,omitempty"`
	PrimaryEnv    string            `json:"primary_env,omitempty"` // the variable that holds the key it needs most

	Dir        string      `json:"dir"`            // its folder, absolute; of a bundled one the path among the embedded files
	File       string      `json:"file"`           // SKILL.md, or skill.md
	Source     Source      `json:"source"`         // set by [Find]
	Hash       string      `json:"hash,omitempty"` // see [Hash]; empty until the caller computed it
	Warnings   []sys.Words `json:"warnings,omitempty"`
	BodyOffset int         `json:"body_offset"` // where in the file the instructions begin, in bytes
	BodySize   int         `json:"body_size"`   // and how long they are

	sum string // of the file that [Load] read
}

// Requires are the programs, variables and settings without which a skill is of
// no use, and the systems that it works on.
type Requires struct {
	Bins    []string `json:"bins,omitempty"`     // programs, all of them
	AnyBins []string `json:"any_bins,omitempty"` // programs, one of them
	Env     []string `json:"env,omitempty"`      // variables of the environment
	Config  []string `json:"config,omitempty"`   // settings, by their dotted key
	OS      []string `json:"os,omitempty"`       // linux, darwin, windows; empty for all
}

// Install is one way to get what a skill requires, as its author wrote it.
// [Install.Argv] makes a command line of it.
type Install struct {
	ID      string   `json:"id,omitempty"`
	Kind    string   `json:"kind"`              // brew, npm, go, uv or download
	Package string   `json:"package,omitempty"` // formula, package or module
	URL     string   `json:"url,omitempty"`     // of a download
	Bins    []string `json:"bins,omitempty"`    // programs that it brings
	Label   string   `json:"label,omitempty"`
	OS      []string `json:"os,omitempty"`
}

// Body cuts the instructions out of the content of the skill's file, with line
// feeds alone and without what is not UTF-8. A file that became shorter since
// gives what is left.
func (s Skill) Body(file []byte) string {
	from := min(s.BodyOffset, len(file))
	body := file[from:min(from+s.BodySize, len(file))]
	return strings.ToValidUTF8(strings.ReplaceAll(string(body), "\r\n", "\n"), "\uFFFD")
}

// fold is what two names have in common that a disk may take for one: case and
// the normal form of Unicode do not count.
func fold(name string) string {
	return norm.NFC.String(strings.ToLower(strings.ToUpper(norm.NFC.String(name))))
}

// isSkillFile reports whether a name is one that the specification has for a
// skill's file.
func isSkillFile(name string) bool { return name == "SKILL.md" || name == "skill.md" }

// baseName is the name of a skill's folder.
func baseName(dir string) string { return path.Base(strings.ReplaceAll(dir, `\`, "/")) }
