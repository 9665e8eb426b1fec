package skill

import (
	"bytes"
	"context"
	"encoding/binary"
	"io/fs"
	"net/url"
	"path"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"oxios/kernel/sys"
)

// Bounds of a review.
const (
	maxExamined    = 2 << 20  // bytes of one file
	maxExaminedAll = 16 << 20 // bytes of all files
	maxFindings    = 200
	maxQuote       = 160 // characters
)

// Kind is what a finding is about.
type Kind string

// The kinds of findings.
const (
	KindHidden      Kind = "hidden"      // characters that are not seen, or that turn text around
	KindRemote      Kind = "remote"      // a program from the network is run
	KindShell       Kind = "shell"       // text becomes commands, or a shell is opened to the network
	KindCredentials Kind = "credentials" // where keys are kept is read or sent
	KindEncoded     Kind = "encoded"     // what runs, or what is read, is encoded
	KindInstruction Kind = "instruction" // the agent is told to disobey or to hide something
	KindUnread      Kind = "unread"      // too much to be looked at
)

// Text says in one sentence what a finding of the kind means.
func (k Kind) Text() sys.Words {
	switch k {
	case KindHidden:
		return sys.Say("Has characters that cannot be seen or that turn text around")
	case KindRemote:
		return sys.Say("Runs a program from the internet")
	case KindShell:
		return sys.Say("Makes commands out of text, or opens a shell to the network")
	case KindCredentials:
		return sys.Say("Reads or sends keys and passwords")
	case KindEncoded:
		return sys.Say("Runs or hides something that is encoded")
	case KindInstruction:
		return sys.Say("Tells the agent to disobey or to hide something from you")
	}
	return sys.Say("Too large to be examined as a whole")
}

// Finding is one place in a skill that a person should see before its first use.
// That there are none proves nothing: what holds a skill back is what it may do.
type Finding struct {
	File  string `json:"file"`
	Line  int    `json:"line"` // from 1; 0 for the whole file
	Kind  Kind   `json:"kind"`
	Quote string `json:"quote,omitempty"` // what stands there, hidden characters made visible
}

// File is one file of a skill.
type File struct {
	Path string `json:"path"`
	Size int64  `json:"size"`
	Exec bool   `json:"exec,omitempty"`
	Text bool   `json:"text"` // it was examined; of others only the name is known
	Link string `json:"link,omitempty"`
}

// Review is what a person is shown of a skill before its first use.
type Review struct {
	Files    []File    `json:"files"` // by path
	Size     int64     `json:"size"`
	License  License   `json:"license"`
	Hosts    []string  `json:"hosts,omitempty"` // machines that its files name, sorted, at most 50
	Findings []Finding `json:"findings,omitempty"`
	More     int       `json:"more,omitempty"` // findings beyond those
}

// Examine reviews the files of a skill. s says what the skill declares: variables
// that it requires are no findings.
func Examine(ctx context.Context, fsys fs.FS, s Skill) (Review, error) {
	files, err := walk(ctx, fsys)
	if err != nil {
		return Review{}, err
	}
	r := Review{License: License{Kind: LicenseNone, Name: s.License}}
	declared := append(slices.Clone(s.Requires.Env), s.PrimaryEnv)
	hosts := map[string]bool{}
	left := int64(maxExaminedAll)
	for _, f := range files {
		if err := context.Cause(ctx); err != nil {
			return Review{}, err
		}
		file := File{Path: f.path, Size: f.size, Exec: f.mode&0o111 != 0, Link: visible(f.link)}
		r.Size += f.size
		if strings.ContainsFunc(f.path, unseen) {
			r.add(Finding{File: f.path, Kind: KindHidden, Quote: visible(f.path)})
		}
		if f.link == "" {
			content, size, err := readUpTo(fsys, f.path, min(maxExamined, left))
			if err != nil {
				return Review{}, err
			}
			if file.Text = isText(f.path, content); file.Text {
				left -= int64(len(content))
				if size > int64(len(content)) {
					r.add(Finding{File: f.path, Kind: KindUnread})
				}
				text := decoded(content)
				for _, found := range examine(f.path, text, declared) {
					r.add(found)
				}
				hostsIn(text, hosts)
				r.License.consider(f.path, text)
			}
		}
		r.Files = append(r.Files, file)
	}
	r.License.settle(s.License)
	for host := range hosts {
		r.Hosts = append(r.Hosts, host)
	}
	slices.Sort(r.Hosts)
	return r, nil
}

func (r *Review) add(f Finding) {
	if len(r.Findings) >= maxFindings {
		r.More++
		return
	}
	f.File = visible(f.File)
	r.Findings = append(r.Findings, f)
}

// hostsIn collects the machines of the addresses in a text.
func hostsIn(text string, hosts map[string]bool) {
	for _, address := range addressPattern().FindAllString(text, 1000) {
		u, err := url.Parse(address)
		if err != nil || u.Hostname() == "" || len(hosts) >= 50 {
			continue
		}
		if host := strings.ToLower(u.Hostname()); len(host) <= 253 && strings.Contains(host, ".") {
			hosts[host] = true
		}
	}
}

var addressPattern = sys.Pattern(`https?://[A-Za-z0-9.-]+`)

// quote cuts the place of a finding, which begins at from, out of its line.
func quote(line string, from int) string {
	runes := 0
	for from > 0 && runes < 40 {
		_, size := utf8.DecodeLastRuneInString(line[:from])
		from -= size
		runes++
	}
	text := line[from:]
	runes = 0
	for i := range text {
		if runes++; runes > maxQuote {
			text = text[:i] + "…"
			break
		}
	}
	return strings.TrimSpace(visible(text))
}

// isText reports whether a file is examined. What is named like a script or like
// instructions is text whatever is in it: shells read on behind a zero byte.
func isText(name string, content []byte) bool {
	ext := path.Ext(name)
	return sys.PlainText(content[:min(len(content), 4096)]) || bytes.HasPrefix(content, []byte("#!")) ||
		ext != "" && isScript(name) || strings.EqualFold(ext, ".md") || wide(content) != nil
}

// wide returns the order of bytes of a text in UTF-16 with a mark, nil for others.
func wide(content []byte) binary.ByteOrder {
	switch {
	case bytes.HasPrefix(content, []byte{0xFF, 0xFE}):
		return binary.LittleEndian
	case bytes.HasPrefix(content, []byte{0xFE, 0xFF}):
		return binary.BigEndian
	}
	return nil
}

// decoded is the text of a file, which PowerShell reads in UTF-16 as well.
func decoded(content []byte) string {
	order := wide(content)
	if order == nil {
		return string(sys.WithoutMark(content))
	}
	units := make([]uint16, 0, len(content)/2)
	for i := 2; i+1 < len(content); i += 2 {
		units = append(units, order.Uint16(content[i:]))
	}
	return string(utf16.Decode(units))
}

// isScript reports whether a file is one that programs run, by its name.
func isScript(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".sh", ".bash", ".zsh", ".fish", ".py", ".js", ".mjs", ".cjs", ".ts", ".tsx", ".jsx", ".ps1", ".psm1", ".bat", ".cmd", ".rb", ".pl", ".php", ".lua", ".go", ".rs", ".swift", ".applescript", ".scpt", ".mk":
		return true
	}
	base := path.Base(name)
	return base == "Makefile" || base == "justfile" || !strings.Contains(base, ".") && base != "LICENSE" && base != "NOTICE"
}
