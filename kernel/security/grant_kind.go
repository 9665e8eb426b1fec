package security

import (
	"bytes"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/zeebo/blake3"
	"mvdan.cc/sh/v3/syntax"

	"oxios/kernel/sys"
)

// Option is an option as it was written, with the word that followed it, which
// may be its value.
type Option struct {
	Word string `json:"word"`
	Next string `json:"next,omitempty"`
}

// Kind is one command as far as grants look at it: which program, what it is
// told to do, and on what. A grant holds the kind that a person approved, and
// [Kind.Covers] compares a later command with it.
type Kind struct {
	Call       string        `json:"call"`       // exec.shell or exec.structured
	Program    string        `json:"program"`    // its name: one file can be several programs
	Executable string        `json:"executable"` // absolute, links followed
	Digest     string        `json:"digest"`     // of what is in it: blake3 in hex
	Sub        []string      `json:"sub"`        // the words that choose what it does: push, run build
	Options    []Option      `json:"options"`    // those that may change what it reaches, in their order: it must carry the same
	Operands   []string      `json:"operands"`   // the other words
	Exact      bool          `json:"exact"`      // the operands must be these; else any file inside the folder, if there are operands at all
	Dir        string        `json:"dir"`        // where it runs, links followed
	Folder     string        `json:"folder"`     // of the run, links followed
	Network    bool          `json:"network"`
	ReadOnly   bool          `json:"read_only"` // it only looks
	Project    bool          `json:"project"`   // it may run what stands in the folder: for contained commands alone
	Settings   string        `json:"settings"`  // a name for what the files say that tell it what to run; "" without such
	before     string        // Settings as earlier versions have it, which bound a kind to fewer files
	Isolation  sys.Isolation `json:"isolation"` // at least this held when it was approved
	Pattern    string        `json:"pattern"`   // as a person reads it: git commit -m *
}

// GrantStep is a command that a kind is made of.
type GrantStep struct {
	Call       string
	Line       string   // for the shell
	Argv       []string // without a shell; nil for a line
	Windows    bool     // the shell is PowerShell
	Dir        string   // absolute
	Folder     string   // absolute
	OxiosHome  string
	Background bool
	Verdict    Verdict
	Isolation  sys.Isolation
	Find       func(program string) string // the file that a program is; "" if there is none
}

// KindOf returns the kind of a command or, where no grant can be given for it,
// why not: a sentence that a person reads.
func KindOf(s GrantStep) (*Kind, sys.Words) {
	v := s.Verdict
	switch {
	case s.Windows && s.Argv == nil:
		return nil, sys.Say("Command lines of PowerShell are asked for each time.")
	case v.Tier >= TierRefuse, v.Effect == EffectUnknown, v.Hidden():
		return nil, sys.Say("What this line does is not all to be seen in it, so it is asked for each time.")
	case v.Effect == EffectOutside || len(v.Outside) > 0:
		return nil, sys.Say("It touches something outside the folder, so it is asked for each time.")
	case v.Deletes:
		return nil, sys.Say("It deletes, so it is asked for each time.")
	case s.Background:
		return nil, sys.Say("It goes on in the background, so it is asked for each time.")
	}
	words := s.Argv
	if words == nil {
		if words = plainWords(s.Line); words == nil {
			return nil, sys.Say("Only one plain command can be allowed as a kind: no pipes, lists, redirections or variables.")
		}
	}
	if slices.ContainsFunc(words, func(w string) bool { return strings.ContainsFunc(w, hides) }) {
		return nil, sys.Say("What this line does is not all to be seen in it, so it is asked for each time.")
	}
	name := filepath.Base(words[0])
	k := &Kind{
		Call: s.Call, Program: name, Dir: realDir(s.Dir), Folder: realDir(s.Folder), Network: v.Network, ReadOnly: v.ReadOnly, Isolation: s.Isolation,
		Sub: []string{}, Options: []Option{}, Operands: []string{},
	}
	rule, why := ruleFor(name, words[1:], v)
	if why.EN != "" {
		return nil, why
	}
	k.Project = rule.project
	if why := k.read(name, words[1:], rule); why.EN != "" {
		return nil, why
	}
	if rule.settings != nil {
		if why := rule.settings(k); why.EN != "" {
			return nil, why
		}
	}
	if why := k.bounds(name, rule); why.EN != "" {
		return nil, why
	}
	if why := k.program(s, words[0]); why.EN != "" {
		return nil, why
	}
	return k, sys.Words{}
}

// bounds refuses what only containment could hold where there is none.
func (k *Kind) bounds(name string, rule grantRule) sys.Words {
	switch {
	case k.Network && (!rule.network || k.Project):
		return sys.Say("With the network %s can send whatever it reads, so it is asked for each time.", name)
	case k.Project && !k.Isolation.Contained():
		return sys.Say("%s can start other programs, and nothing contains them on this machine, so it is asked for each time.", name)
	}
	return sys.Words{}
}

// plainWords returns the words of a line that is one simple command, written
// so that the shell changes nothing about them; nil for every other line.
func plainWords(line string) []string {
	if len(line) > maxParsed || tooNested(line) {
		return nil
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
	if err != nil || len(file.Stmts) != 1 {
		return nil
	}
	s := file.Stmts[0]
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || s.Negated || s.Background || s.Coprocess || s.Disown || len(s.Redirs) > 0 || len(call.Assigns) > 0 || len(call.Args) == 0 {
		return nil
	}
	words := make([]string, 0, len(call.Args))
	for _, arg := range call.Args {
		if len(arg.Parts) != 1 {
			return nil
		}
		word := ""
		switch p := arg.Parts[0].(type) {
		case *syntax.Lit:
			if word = p.Value; word == "" || word[0] == '~' || strings.ContainsAny(word, "\\*?[]{}$`!") {
				return nil
			}
		case *syntax.SglQuoted:
			if word = p.Value; p.Dollar {
				return nil
			}
		case *syntax.DblQuoted:
			if p.Dollar || len(p.Parts) > 1 {
				return nil
			}
			if len(p.Parts) == 1 {
				lit, ok := p.Parts[0].(*syntax.Lit)
				if !ok || strings.ContainsAny(lit.Value, "\\$`") {
					return nil
				}
				word = lit.Value
			}
		default:
			return nil
		}
		words = append(words, word)
	}
	if words[0] == "" || strings.Contains(words[0], "=") {
		return nil
	}
	return words
}

// hides reports whether a character is one that a reader does not see. Line
// breaks stay: messages have them.
func hides(r rune) bool {
	return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == unicode.ReplacementChar)
}

// read takes the words behind the program apart.
func (k *Kind) read(name string, args []string, rule grantRule) sys.Words {
	pattern := []string{name}
	for len(k.Sub) < rule.words && len(args) > 0 && subWord(args[0]) {
		k.Sub, pattern, args = append(k.Sub, args[0]), append(pattern, args[0]), args[1:]
	}
	inside := true
	for i := 0; i < len(args); i++ {
		word := args[i]
		if word == "--" {
			k.Options, pattern = append(k.Options, Option{Word: "--"}), append(pattern, "--")
			for _, rest := range args[i+1:] {
				inside = k.operand(rest) && inside
			}
			break
		}
		if len(word) < 2 || word[0] != '-' {
			inside = k.operand(word) && inside
			continue
		}
		switch text, attached := rule.text(word); {
		case text && !attached:
			if i++; i == len(args) {
				return sys.Say("What this line does is not all to be seen in it, so it is asked for each time.")
			}
			pattern = append(pattern, word, "*")
		case text:
			pattern = append(pattern, textName(word)+"*")
		case rule.harmless(word):
			pattern = append(pattern, word)
		default:
			// The next word may be its value, and is kept as it is.
			o := Option{Word: word}
			pattern = append(pattern, shownWord(word))
			if i+1 < len(args) && args[i+1] != "--" {
				if o.Next = args[i+1]; o.Next == "" || o.Next[0] != '-' {
					if i++; k.leaves(o.Next) {
						return sys.Say("It touches something outside the folder, so it is asked for each time.")
					}
					pattern = append(pattern, shownWord(o.Next))
				}
			}
			k.Options = append(k.Options, o)
		}
	}
	k.Exact = rule.exact || k.Network || !inside
	if k.Exact && slices.ContainsFunc(k.Operands, func(w string) bool { return k.leaves(w) }) {
		return sys.Say("It touches something outside the folder, so it is asked for each time.")
	}
	switch {
	case k.Exact:
		for _, w := range k.Operands {
			pattern = append(pattern, shownWord(w))
		}
	case len(k.Operands) > 0:
		pattern = append(pattern, "*")
	}
	k.Pattern = strings.Join(pattern, " ")
	return sys.Words{}
}

// shownWord is a word as it stands in a pattern.
func shownWord(w string) string {
	if w == "" || strings.ContainsAny(w, " \t\n'\"*") {
		return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
	}
	return w
}

// subWord reports whether a word can choose what a program does, as push does.
func subWord(w string) bool {
	for i := 0; i < len(w); i++ {
		c := w[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (i == 0 || (c < '0' || c > '9') && c != '-' && c != '_' && c != ':') {
			return false
		}
	}
	return w != ""
}

// operand adds a word that is no option, and reports whether it is a file
// inside the folder in which nothing else can be hidden.
func (k *Kind) operand(w string) bool {
	k.Operands = append(k.Operands, w)
	if w == "" || w[0] == '-' || w[0] == '~' || strings.ContainsAny(w, ":=,@%+^{}\n") || k.leaves(w) {
		return false
	}
	abs := strings.ToLower(filepath.ToSlash(k.abs(w)))
	return pathSecrecy(abs, "") == TierFree && pathRunsLater(abs) == TierFree && !hasPart(abs, ".git")
}

func (k *Kind) abs(w string) string {
	if filepath.IsAbs(w) {
		return filepath.Clean(w)
	}
	return filepath.Join(k.Dir, w)
}

// leaves reports whether a word, read as a path with its links followed, lies
// outside the folder.
func (k *Kind) leaves(w string) bool {
	if filepath.ToSlash(w) == ".." || strings.Contains("/"+filepath.ToSlash(w)+"/", "/../") {
		return true
	}
	real, ok := realPlace(k.abs(w))
	return !ok || !Within(filepath.ToSlash(real), filepath.ToSlash(k.Folder))
}

// realPlace follows the links of the part of a path that exists. A link to
// nothing has no place.
func realPlace(p string) (string, bool) {
	rest := ""
	for at := p; ; {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(real, rest), true
		}
		if _, err := os.Lstat(at); err == nil {
			return "", false
		}
		up := filepath.Dir(at)
		if up == at {
			return "", false
		}
		rest, at = filepath.Join(filepath.Base(at), rest), up
	}
}

func realDir(p string) string {
	if real, err := filepath.EvalSymlinks(p); err == nil {
		return real
	}
	return p
}

// program finds the file that is run and binds the kind to what is in it. One
// that an agent may write is refused.
func (k *Kind) program(s GrantStep, word string) sys.Words {
	name := filepath.Base(word)
	found := s.Find(word)
	real, err := filepath.EvalSymlinks(found)
	if found == "" || err != nil || !filepath.IsAbs(real) {
		return sys.Say("There is no program %s here that could be allowed.", name)
	}
	for _, of := range []string{k.Folder, realDir(s.OxiosHome), realDir(os.TempDir()), "/tmp", "/var/tmp", "/dev/shm"} {
		if of != "" && (Within(filepath.ToSlash(real), filepath.ToSlash(of)) || Within(filepath.ToSlash(found), filepath.ToSlash(of))) {
			return sys.Say("Agents may write the file of %s, so it is asked for each time.", name)
		}
	}
	if !k.Isolation.Contained() && (mayWrite(real) || mayWrite(filepath.Dir(real)) || mayWrite(filepath.Dir(found))) {
		return sys.Say("Agents may write the file of %s, so it is asked for each time.", name)
	}
	// A link may lead to another program than its name says.
	if base := filepath.Base(real); base != name && startsAny(base) {
		return sys.Say("%s can run any other program, so it is asked for each time.", base)
	}
	k.Executable = real
	if k.Digest, err = fileDigest(real); err != nil {
		return sys.Say("There is no program %s here that could be allowed.", name)
	}
	return sys.Words{}
}

// fileDigest is the blake3 of a file's content in hex.
func fileDigest(path string) (string, error) {
	f, _, err := sys.OpenRegular(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := blake3.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// Covers reports whether a grant of kind k allows the command that is of kind
// c. It is a comparison of what is known: who calls it has made c just now.
func (k Kind) Covers(c Kind) bool {
	switch {
	case k.Call != c.Call || k.Program != c.Program || k.Executable != c.Executable || k.Digest != c.Digest || k.Digest == "",
		!slices.Equal(k.Sub, c.Sub), k.Dir != c.Dir, k.Folder != c.Folder,
		k.Network != c.Network, k.ReadOnly != c.ReadOnly, k.Project != c.Project, k.Settings != c.Settings,
		!slices.Equal(k.Options, c.Options), c.Isolation < k.Isolation:
		return false
	}
	if k.Exact {
		return slices.Equal(k.Operands, c.Operands)
	}
	return !c.Exact && (len(c.Operands) == 0) == (len(k.Operands) == 0)
}

// digestOf is one name for what several files say. A missing one counts too.
func digestOf(files []string) (string, []byte, bool) {
	h := blake3.New()
	var all bytes.Buffer
	for _, f := range files {
		raw, err := sys.ReadRegular(f)
		if err != nil && !os.IsNotExist(err) {
			return "", nil, false
		}
		_, _ = h.WriteString(f + "\x00" + map[bool]string{true: "-", false: "+"}[err != nil] + hexOf(raw) + "\x00")
		all.Write(raw)
		all.WriteByte('\n')
	}
	return hex.EncodeToString(h.Sum(nil)), all.Bytes(), true
}

func hexOf(raw []byte) string {
	sum := blake3.Sum256(raw)
	return hex.EncodeToString(sum[:])
}
