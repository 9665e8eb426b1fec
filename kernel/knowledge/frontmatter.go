package knowledge

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"oxios/kernel/sys"
)

// maxFrontmatter bounds what is given to the YAML parser, in bytes. Aliases of
// YAML make a small text a huge value; more than a few of them are a trap.
const (
	maxFrontmatter = 64 << 10
	maxYAMLAliases = 16
)

// frontmatterOf returns the YAML between the two --- that a note begins with,
// and where the text after it begins. rest is 0 for a note without.
func frontmatterOf(text string) (block string, rest int) {
	if !strings.HasPrefix(text, "---") {
		return "", 0
	}
	first, after, ok := strings.Cut(text, "\n")
	if !ok || strings.TrimRight(first, " \t\r") != "---" {
		return "", 0
	}
	begin := len(text) - len(after)
	for at := begin; at < len(text); {
		end := strings.IndexByte(text[at:], '\n')
		line, next := text[at:], len(text)
		if end >= 0 {
			line, next = text[at:at+end], at+end+1
		}
		if strings.TrimRight(line, " \t\r") == "---" {
			return text[begin:at], next
		}
		at = next
	}
	return "", 0
}

// unclosed reports whether a note begins as one with frontmatter that never ends.
func unclosed(text string) bool {
	first, after, ok := strings.Cut(text, "\n")
	key, _, colon := strings.Cut(strings.TrimSpace(after[:min(len(after), 80)]), ":")
	return ok && strings.TrimRight(first, " \t\r") == "---" && colon && !strings.ContainsAny(key, " \n") && key != ""
}

// parseFrontmatter returns the values of a note's frontmatter, and what is wrong
// with it as a sentence, empty where nothing is.
func parseFrontmatter(text string) (values map[string]any, fault sys.Words) {
	block, rest := frontmatterOf(text)
	if rest == 0 {
		if unclosed(text) {
			return nil, sys.Say("It begins with --- and no other --- ends it.")
		}
		return nil, sys.Words{}
	}
	if values, ok := simpleFrontmatter(block); ok {
		return values, sys.Words{}
	}
	return yamlFrontmatter(block)
}

func yamlFrontmatter(block string) (values map[string]any, fault sys.Words) {
	if len(block) > maxFrontmatter {
		return nil, sys.Say("It has %d KB; %d KB are read.", len(block)>>10, maxFrontmatter>>10)
	}
	if strings.Count(block, "*") > maxYAMLAliases && strings.Contains(block, "&") {
		return nil, sys.Say("It refers to itself too often.")
	}
	defer func() {
		if p := recover(); p != nil { // the parser's own fault; the note stays readable
			values, fault = nil, sys.Say("It is not YAML that can be read.")
		}
	}()
	if err := yaml.Unmarshal([]byte(strings.ReplaceAll(block, "\r\n", "\n")), &values); err != nil {
		first, _, _ := strings.Cut(yaml.FormatError(err, false, false), "\n")
		return nil, yamlFault(first)
	}
	return values, sys.Words{}
}

// yamlFault says what the parser found, as far as it is one of the things that
// happen to people: "[2:7] sequence end token ']' not found".
func yamlFault(said string) sys.Words {
	var line, column int
	if n, err := fmt.Sscanf(said, "[%d:%d]", &line, &column); err != nil || n != 2 {
		return sys.Say("It is not YAML that can be read.")
	}
	_, what, _ := strings.Cut(said, "] ")
	line++ // the first one is ---
	switch {
	case strings.Contains(what, "token") && strings.Contains(what, "not found"), strings.Contains(what, "could not find end character"):
		return sys.Say("Line %d: a bracket or a quotation mark is opened and not closed.", line)
	case strings.Contains(what, "already defined"):
		return sys.Say("Line %d: a name stands there twice.", line)
	case strings.Contains(what, "\t"):
		return sys.Say("Line %d: a tab stands where YAML wants spaces.", line)
	}
	return sys.Say("Line %d: it is not YAML from character %d on.", line, column)
}

// simpleFrontmatter reads what nearly all notes have: keys with a plain word, or
// with a list of them. It gives up (ok is false) at anything else, so that it
// never reads a value otherwise than YAML does.
func simpleFrontmatter(block string) (values map[string]any, ok bool) {
	values = map[string]any{}
	var list string // the key whose items follow
	for line := range strings.Lines(block) {
		line = strings.TrimRight(line, " \r\n")
		if line == "" {
			continue
		}
		if item, found := strings.CutPrefix(strings.TrimLeft(line, " "), "- "); found && list != "" {
			value, ok := plain(strings.TrimSpace(item))
			if !ok {
				return nil, false
			}
			items, _ := values[list].([]any)
			values[list] = append(items, value)
			continue
		}
		key, value, found := strings.Cut(line, ":")
		if !found || !plainKey(key) || (value != "" && value[0] != ' ') {
			return nil, false
		}
		if _, twice := values[key]; twice {
			return nil, false
		}
		value = strings.TrimSpace(value)
		list = ""
		switch {
		case value == "":
			list = key
			values[key] = nil
		case value[0] == '[' && value[len(value)-1] == ']':
			items := []any{}
			for item := range strings.SplitSeq(value[1:len(value)-1], ",") {
				if item = strings.TrimSpace(item); item == "" && value == "[]" {
					break
				}
				v, ok := plain(item)
				if !ok || strings.ContainsAny(item, "[]{}") {
					return nil, false
				}
				items = append(items, v)
			}
			values[key] = items
		default:
			v, ok := plain(value)
			if !ok {
				return nil, false
			}
			values[key] = v
		}
	}
	return values, true
}

func plainKey(key string) bool {
	if key == "" {
		return false
	}
	for i := range len(key) {
		if c := key[i]; (c|0x20 < 'a' || c|0x20 > 'z') && c != '_' && (i == 0 || c != '-' && (c < '0' || c > '9')) {
			return false
		}
	}
	switch strings.ToLower(key) {
	case "true", "false", "null", "yes", "no", "on", "off", "y", "n":
		return false
	}
	return true
}

// plain is a value that is a string whatever parser reads it.
func plain(s string) (string, bool) {
	if len(s) >= 2 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0] {
		in := s[1 : len(s)-1]
		return in, !strings.ContainsAny(in, `"'\,`)
	}
	if s == "" || strings.ContainsAny(s, "\"'\\#&*!|>%@`{}[],\t") || strings.Contains(s, ": ") || strings.HasSuffix(s, ":") {
		return "", false
	}
	if c := s[0]; c >= '0' && c <= '9' || strings.IndexByte("-+.~?:=<", c) >= 0 {
		return "", false
	}
	switch strings.ToLower(s) {
	case "true", "false", "null", "yes", "no", "on", "off", "y", "n":
		return "", false
	}
	return s, true
}

// stringsOf is a value that may be one string or a list of them, as tags and
// aliases are written.
func stringsOf(value any, split bool) []string {
	var out []string
	add := func(s string) {
		if split {
			out = append(out, strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' })...)
		} else if s = strings.TrimSpace(s); s != "" {
			out = append(out, s)
		}
	}
	switch value := value.(type) {
	case string:
		add(value)
	case []any:
		for _, item := range value {
			if item != nil {
				add(fmt.Sprint(item))
			}
		}
	case nil:
	default:
		add(fmt.Sprint(value))
	}
	return out
}

// Provenance says which run of an agent wrote a note, and from what.
type Provenance struct {
	Run     string    `json:"run,omitempty"`
	Session string    `json:"session,omitempty"`
	Source  []string  `json:"source,omitempty"` // addresses
	Date    time.Time `json:"date"`
}

func provenanceOf(values map[string]any) *Provenance {
	own, ok := values["oxios"].(map[string]any)
	if !ok {
		return nil
	}
	p := &Provenance{Source: stringsOf(own["source"], false)}
	p.Run, _ = own["run"].(string)
	p.Session, _ = own["session"].(string)
	switch date := own["date"].(type) {
	case string:
		p.Date, _ = time.Parse(time.RFC3339, date)
	case time.Time:
		p.Date = date
	}
	return p
}

// line writes p as one line of YAML. JSON is YAML, and quotes whatever an
// address may hold.
func (p Provenance) line() string {
	quote := func(v any) string {
		raw, err := json.Marshal(v)
		if err != nil {
			return `""`
		}
		return string(raw)
	}
	source := make([]string, len(p.Source))
	for i, s := range p.Source {
		source[i] = quote(s)
	}
	return fmt.Sprintf("oxios: {run: %s, session: %s, source: [%s], date: %s}",
		quote(p.Run), quote(p.Session), strings.Join(source, ", "), quote(p.Date.UTC().Format(time.RFC3339)))
}

// withProvenance puts the line into the frontmatter of a text, in the place of
// one that stands there, and leaves everything else to the letter.
func withProvenance(text, line string) string {
	block, rest := frontmatterOf(text)
	if rest == 0 {
		return "---\n" + line + "\n---\n" + text
	}
	end := "\n"
	if strings.Contains(text[:rest], "\r\n") {
		end = "\r\n"
	}
	begin := strings.IndexByte(text, '\n') + 1
	if from, to, ok := provenanceLines(block); ok {
		return text[:begin] + block[:from] + line + end + block[to:] + text[begin+len(block):]
	}
	return text[:begin] + block + line + end + text[begin+len(block):]
}

// provenanceLines finds the key oxios with everything indented below it.
func provenanceLines(block string) (from, to int, ok bool) {
	at := 0
	for line := range strings.Lines(block) {
		switch {
		case strings.HasPrefix(line, "oxios:"):
			from, to, ok = at, at+len(line), true
		case ok && to == at && (strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t")):
			to = at + len(line)
		}
		at += len(line)
	}
	return from, to, ok
}

// keepProvenance carries the provenance of the text that stands in a file over
// to a text that replaces it without naming one.
func keepProvenance(old, text string) string {
	block, rest := frontmatterOf(old)
	if rest == 0 {
		return text
	}
	from, to, ok := provenanceLines(block)
	if !ok {
		return text
	}
	if now, _ := frontmatterOf(text); now != "" {
		if _, _, has := provenanceLines(now); has {
			return text
		}
	}
	return withProvenance(text, strings.TrimRight(strings.ReplaceAll(block[from:to], "\r\n", "\n"), "\n"))
}
