package skill

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"oxios/kernel/sys"
)

// maxLine is how much of one line is looked at together, in bytes.
const maxLine = 16 << 10

// scan is the state of going through one file.
type scan struct {
	file     string
	script   bool
	markdown bool
	fenced   bool // inside a block of code
	found    []Finding
	seen     map[Kind]int    // the last line with such a finding
	loaded   map[string]bool // names of files that were loaded from the network
	tainted  map[string]Kind // variables that hold what was loaded or decoded
	declared []string
	lower    string // the whole text in lower case
}

// examine looks through one text.
func examine(file, text string, declared []string) []Finding {
	s := &scan{
		file: file, script: isScript(file), markdown: slices.Contains([]string{".md", ".mdx", ".markdown"}, strings.ToLower(path.Ext(file))),
		seen: map[Kind]int{}, loaded: map[string]bool{}, tainted: map[string]Kind{}, declared: declared, lower: strings.ToLower(text),
	}
	if !s.script && strings.HasPrefix(text, "#!") {
		s.script = true
	}
	rightToLeft := hasRightToLeft(text)
	number, before := 0, ""
	joined, first := "", 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimRight(line, "\r\n")
		if at := hiddenIn(line, rightToLeft); at >= 0 {
			s.add(KindHidden, number, line, at)
		}
		if rest, more := strings.CutSuffix(line, `\`); more && len(joined)+len(rest) < maxLine {
			if joined == "" {
				first = number
			}
			joined += rest + " "
			continue
		}
		at := number
		if joined != "" {
			line, at, joined = joined+line, first, ""
		}
		for from := 0; from == 0 || from < len(line); from += maxLine { // generated files have endless lines
			s.line(line[from:min(len(line), from+maxLine+512)], at)
		}
		s.instructions(before, line, at)
		before = line
	}
	if joined != "" {
		s.line(joined, first)
		s.instructions(before, joined, first)
	}
	s.variables(text)
	s.whole(text)
	slices.SortStableFunc(s.found, func(a, b Finding) int { return a.Line - b.Line })
	return s.found
}

// add keeps one finding of a kind for each line.
func (s *scan) add(kind Kind, number int, line string, from int) {
	if s.seen[kind] == number {
		return
	}
	s.seen[kind] = number
	s.found = append(s.found, Finding{File: s.file, Line: number, Kind: kind, Quote: quote(line, from)})
}

func (s *scan) line(line string, number int) {
	if strings.HasPrefix(strings.TrimSpace(line), "```") || strings.HasPrefix(strings.TrimSpace(line), "~~~") {
		s.fenced = !s.fenced
	}
	if len(line) < 2 || s.markdown && !s.fenced && tableRow(line) {
		return
	}
	plain := stripped(line)
	lower := strings.ToLower(plain)
	if strings.Contains(lower, "|  ") {
		lower = strings.Join(strings.Fields(lower), " ")
	}
	for _, r := range rules {
		if !holds(lower, r.need) {
			continue
		}
		if at := r.expr().FindStringSubmatchIndex(plain); at != nil && (r.counts == nil || r.counts(plain, at)) {
			s.add(r.kind, number, plain, at[0])
		}
	}
	s.follow(plain, lower, number)
	s.blob(plain, lower, number)
}

// tableRow reports whether a line of Markdown is a row of a table, whose bars are
// no pipes.
func tableRow(line string) bool {
	line = strings.TrimSpace(line)
	return strings.HasPrefix(line, "|") && strings.Count(line, "|") > 2
}

// stripped is a line without the characters that are put between letters to hide
// a word, and with wide letters as plain ones.
func stripped(line string) string {
	ascii := true
	for i := range len(line) {
		if line[i] >= 0x80 {
			ascii = false
			break
		}
	}
	if ascii {
		return line
	}
	return norm.NFKC.String(strings.Map(func(r rune) rune {
		if r != '\t' && unseen(r) {
			return -1
		}
		if latin, ok := lookalikes[r]; ok {
			return latin
		}
		return r
	}, line))
}

// lookalikes are letters of other scripts that look like Latin ones.
var lookalikes = map[rune]rune{'а': 'a', 'е': 'e', 'о': 'o', 'р': 'p', 'с': 'c', 'у': 'y', 'х': 'x', 'і': 'i', 'ѕ': 's', 'ԁ': 'd', 'ο': 'o', 'ν': 'v', 'ɡ': 'g', 'һ': 'h', 'ј': 'j', 'А': 'A', 'Е': 'E', 'О': 'O', 'Р': 'P', 'С': 'C', 'І': 'I', 'Т': 'T', 'Н': 'H'}

var (
	loadPattern = sys.Pattern(`(?i)\b(?:curl|wget|iwr|invoke-webrequest)\b[^\n]*?\s(?:-\w*[oO]|--output|--output-document|-outfile|>)[\s=]+["']?([^\s"'&;|]+)|\b(?:urlretrieve|downloadfile)\s*\([^\n,]*,\s*["']?([^\s"')]+)|\bwget\s+(?:-\w+\s+)*["']?(https?://[^\s"'&;|]+)`)
	runPattern  = sys.Pattern("(?i)(?:^|[;&|(`]\\s*|\\bsudo\\s+|\\bthen\\s+|>\\s*)(?:(?:ba|z|da|k)?sh|python[0-9.]*|node|perl|ruby|source|start(?:-process)?|pwsh|powershell|&|\\.)\\s+(?:-\\S+\\s+)*[\"']?([^\\s\"';&|)`]+)|chmod\\s+(?:\\S*\\+\\w*x|[0-7]*[1357][0-7]*)\\s+[\"']?([^\\s\"';&|`]+)|(?:^|[;&|`]\\s*|\\bsudo\\s+)[\"']?((?:\\./|\\.\\\\|/tmp/|\\$\\w+/|~/)[^\\s\"';&|`]+)|(?:os\\.system|subprocess\\.\\w+|execSync|spawn(?:Sync)?)\\s*\\(\\s*\\[?[\"']([^\\s\"',]+)")
	takePattern = sys.Pattern(`(?:^|[\s;(])(?:const\s+|let\s+|var\s+|my\s+)?\$?(\w+)\s*:?=\s*([^\n]*)`)
	evalPattern = sys.Pattern(`(?i)(?:\b(?:exec|eval|(?-i:Function)|execSync|runIn\w+|iex|invoke-expression|popen|os\.system|subprocess\.\w+)\b\s*\(?\s*(?:compile\s*\(\s*)?["']?|\bsh\s+-c\s+["']?)\$?\{?(\w+)|(?:^|[;&|]\s*)["']?\$\{?(\w+)\}?["']?\s*(?:$|[;&|])`)
	fetchWords  = sys.Pattern(`(?i)requests\.(?:get|post)|urlopen|httpx\.(?:get|post)|\bfetch\s*\(|axios|https?(?:["']\))?\.(?:get|request)\s*\(|\$\(\s*(?:curl|wget)\b|invoke-webrequest|invoke-restmethod|downloadstring|\b(?:irm|iwr)\s`)
	codeWords   = sys.Pattern(`(?i)b(?:64|32|85|16)decode|a85decode|fromhex|unhexlify|\batob\s*\(|Buffer\.from\s*\([^\n]*["'](?:base64|hex)|frombase64string|rot_?13|base64\s+(?:-\w*d|--decode)|fromCharCode|xxd\s+-r|bytes\s*\(\s*\[|\bchr\s*\(\s*\w+\s*\^`)
)

// follow notices what one line loads or decodes and a later one runs.
func (s *scan) follow(line, lower string, number int) {
	for _, m := range find(loadPattern, line, lower, "curl", "wget", "iwr", "invoke-webrequest", "urlretrieve", "downloadfile") {
		name := baseName(pick(line, m))
		name, _, _ = strings.Cut(name, "?")
		if name != "" && name != "null" && name != "-" && name != "." && len(s.loaded) < 100 {
			s.loaded[name] = true
		}
	}
	if len(s.loaded) > 0 {
		for _, m := range runPattern().FindAllStringSubmatchIndex(line, 8) {
			if name := baseName(pick(line, m)); s.loaded[name] {
				s.add(KindRemote, number, line, m[0])
			}
		}
	}
	if len(s.tainted) > 0 {
		for _, m := range evalPattern().FindAllStringSubmatchIndex(line, 8) {
			if kind, ok := s.tainted[pick(line, m)]; ok {
				s.add(kind, number, line, m[0])
			}
		}
	}
	if !strings.Contains(line, "=") || s.markdown && !s.fenced || len(s.tainted) == 0 && !holds(lower, sources) {
		return
	}
	if m := takePattern().FindStringSubmatch(line); m != nil && len(s.tainted) < 200 {
		switch value := m[2]; {
		case fetchWords().MatchString(value):
			s.tainted[m[1]] = KindRemote
		case codeWords().MatchString(value):
			s.tainted[m[1]] = KindEncoded
		default:
			for _, word := range wordPattern().FindAllString(value, 20) {
				if kind, ok := s.tainted[word]; ok && word != m[1] {
					s.tainted[m[1]] = kind
				}
			}
		}
	}
}

// sources are words of lines in which a variable gets what was loaded or decoded.
var sources = []string{"requests.", "urlopen", "httpx.", "fetch", "axios", ".get", "curl", "wget", "invoke-", "downloadstring", "irm ", "iwr ", "decode", "fromhex", "unhexlify", "atob", "buffer.from", "frombase64", "rot13", "rot_13", "base64", "fromcharcode", "xxd", "bytes", "chr"}

func holds(text string, words []string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(text, word) })
}

// find matches a line that has one of the words.
func find(expr func() *regexp.Regexp, line, lower string, words ...string) [][]int {
	if !holds(lower, words) {
		return nil
	}
	return expr().FindAllStringSubmatchIndex(line, 8)
}

var wordPattern = sys.Pattern(`[A-Za-z_]\w*`)

// pick returns the group that matched.
func pick(line string, m []int) string {
	for i := 2; i+1 < len(m); i += 2 {
		if m[i] >= 0 {
			return line[m[i]:m[i+1]]
		}
	}
	return ""
}

var (
	blobPattern   = sys.Pattern(`[A-Za-z0-9+/_-]{120,}={0,2}|(?:\\x[0-9A-Fa-f]{2}){16,}|(?:0x[0-9A-Fa-f]{2}\s*,\s*){24,}|(?:\b\d{2,3}\s*,\s*){32,}`)
	decodePattern = sys.Pattern(`b(?:64|32|85|16)decode|a85decode|fromhex|unhexlify|\batob\s*\(|buffer\.from\s*\([^\n]*["'](?:base64|hex)|frombase64string|base64\s+(?:-\w*d|--decode)|xxd\s+(?:-\w+\s+)*-r|fromcharcode|decod(?:e|ing)\b|디코드|디코딩|복호화`)
	runsPattern   = sys.Pattern(`\b(?:exec|eval|system|popen|spawn|subprocess|run|execute|follow|invoke-expression|iex|function)\b|\|\s*(?:ba|z|da)?sh\b|실행|따르|따라`)
)

// blob notices a long value in a code, in a file that decodes something and runs
// something.
func (s *scan) blob(line, lower string, number int) {
	if len(line) < 64 || strings.Contains(lower, "data:image/") || strings.Contains(lower, "data:font/") || strings.Contains(lower, "data:application/font") {
		return
	}
	if !s.script && !s.markdown || !strings.Contains(line, `\x`) && !strings.Contains(line, ",") && longest(line) < 120 {
		return
	}
	at := blobPattern().FindStringIndex(line)
	if at == nil || !mixed(line[at[0]:at[1]]) {
		return
	}
	if word := line[strings.LastIndexAny(line[:at[0]], " \t\"'(<")+1 : at[0]]; strings.Contains(word, "://") { // an address
		return
	}
	if decodePattern().MatchString(s.lower) && runsPattern().MatchString(s.lower) {
		s.add(KindEncoded, number, line, at[0])
	}
}

// longest is the length of the longest word of a line.
func longest(line string) (n int) {
	from := 0
	for i := range len(line) {
		switch c := line[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '+', c == '/', c == '_', c == '-', c == '=':
			n = max(n, i+1-from)
		default:
			from = i + 1
		}
	}
	return n
}

// mixed reports whether a long word is a code and not a line of dashes, a path or
// a name.
func mixed(word string) bool {
	if strings.HasPrefix(word, `\x`) || strings.HasPrefix(word, "0x") || strings.Contains(word, ",") {
		return true
	}
	var digits, upper, lower, slashes int
	for _, r := range word {
		switch {
		case r >= '0' && r <= '9':
			digits++
		case r >= 'A' && r <= 'Z':
			upper++
		case r >= 'a' && r <= 'z':
			lower++
		default:
			slashes++
		}
	}
	return digits > 4 && lower > 4 && slashes*8 < utf8.RuneCountInString(word) || digits > 4 && upper > 4 && lower == 0 && slashes == 0
}

var (
	codePattern = sys.Pattern(`(?:^|[^.\w])(?:eval|exec|new\s+Function)\s*\(\s*[A-Za-z_$][\w$]*\s*[,)]`)
	dumpPattern = sys.Pattern(`\bdict\s*\(\s*os\.environ\s*\)|os\.environ\.items\s*\(|Object\.(?:entries|values)\s*\(\s*process\.env\s*\)|JSON\.stringify\s*\(\s*process\.env\b`)
	postPattern = sys.Pattern(`(?i)requests\.post|httpx\.post|urlopen|method["']?\s*:\s*["'](?:post|put)|axios\.post|\.request\(|socket\.`)
)

// whole notices in a script what needs more than one line to be seen: a variable
// that runs as code where something is loaded or decoded, and all variables of the
// environment where something is sent.
func (s *scan) whole(text string) {
	if !s.script {
		return
	}
	loads, decodes, sends := fetchWords().MatchString(text), codeWords().MatchString(text), postPattern().MatchString(text)
	if !loads && !decodes && !sends {
		return
	}
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimRight(line, "\r\n")
		if m := codePattern().FindStringIndex(line); m != nil && loads {
			s.add(KindRemote, number, line, m[0])
		} else if m != nil && decodes {
			s.add(KindEncoded, number, line, m[0])
		}
		if m := dumpPattern().FindStringIndex(line); m != nil && sends && !strings.Contains(text, "env=env") { // a child gets a changed copy
			s.add(KindCredentials, number, line, m[0])
		}
	}
}

var (
	keyPattern  = sys.Pattern(`\b((?:AWS|GITHUB|GH|GITLAB|NPM|PYPI|ANTHROPIC|OPENAI|GEMINI|GOOGLE|AZURE|SLACK|STRIPE|DISCORD|TELEGRAM|TWILIO|SENDGRID|CLOUDFLARE|CF|HF|HUGGINGFACE|DIGITALOCEAN|HEROKU|VERCEL|SUPABASE|OXIOS|OPENROUTER|LINEAR|NOTION|SENTRY)_[A-Z_]*(?:KEY|TOKEN|SECRET|PASSWORD|CREDENTIALS|PAT)(?:_ID)?|SSH_AUTH_SOCK|DATABASE_URL|MNEMONIC|PRIVATE_KEY)\b`)
	keyWords    = []string{"_KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIALS", "_PAT", "SSH_AUTH_SOCK", "DATABASE_URL", "MNEMONIC"}
	netPattern  = sys.Pattern(`(?i)https?://|\bcurl\b|\bwget\b|requests\.|urlopen|httpx|\bfetch\s*\(|axios|socket\.|http\.client|\bnc\s|invoke-(?:webrequest|restmethod)|net/http`)
	hostPattern = sys.Pattern(`(?i)https?://([A-Za-z0-9.-]+)`)
)

// variables notices keys of services that the skill does not declare, in a script
// or command that talks to other machines and never to that service.
func (s *scan) variables(text string) {
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimRight(line, "\r\n")
		for _, m := range find(keyPattern, line, line, keyWords...) {
			name := line[m[0]:m[1]]
			if slices.Contains(s.declared, name) {
				continue
			}
			around := line
			if s.script {
				around = text
			}
			if netPattern().MatchString(around) && !speaksTo(name, strings.ReplaceAll(around, name, "")) {
				s.add(KindCredentials, number, line, m[0])
			}
		}
	}
}

// speaksTo reports whether a text names the service that a key is for.
func speaksTo(name, text string) bool {
	service, _, _ := strings.Cut(strings.ToLower(name), "_")
	words := map[string][]string{"gh": {"github"}, "hf": {"huggingface"}, "cf": {"cloudflare"}, "aws": {"aws", "boto3"}, "pypi": {"pypi", "twine"}, "npm": {"npmjs", "npm publish", "registry.npm"}, "google": {"google", "gcloud"}, "database": {"postgres", "psycopg", "mysql", "sqlalchemy", "prisma", "pg_dump"}, "ssh": {"ssh "}, "github": {"github"}}[service]
	if words == nil {
		words = []string{service}
	}
	text = strings.ToLower(text)
	hosts := hostPattern().FindAllStringSubmatch(text, 50)
	for _, w := range words {
		if len(hosts) == 0 && strings.Contains(text, w) {
			return true
		}
		for _, h := range hosts {
			if strings.Contains(h[1], strings.TrimSpace(w)) {
				return true
			}
		}
	}
	return false
}
