package security

import (
	"strings"
)

// redName is a word in the name of something secret.
type redName struct {
	word     string
	password bool // its value may be any text, not only a random one
}

// redNames are looked for in lower case, dashes and underscores removed.
var redNames = []redName{
	{"password", true},
	{"passwd", true},
	{"passphrase", true},
	{"passwort", true},
	{"pwd", true},
	{"dbpass", true},
	{"token", false},
	{"secret", false},
	{"apikey", false},
	{"accesskey", false},
	{"accessid", false},
	{"authkey", false},
	{"privatekey", false},
	{"encryptionkey", false},
	{"signingkey", false},
	{"masterkey", false},
	{"licensekey", false},
	{"storagekey", false},
	{"accountkey", false},
	{"credential", false},
	{"seed", false},
	{"mnemonic", false},
	{"authorization", false},
	{"cookie", false},
	{"bearer", false},
	{"webhookkey", false},
	{"sessionkey", false},
	{"servicekey", false},
	{"consumerkey", false},
	{"appkey", false},
	{"sharedkey", false},
	{"connectionstring", false},
	{"비밀번호", true},
	{"암호", true},
}

// harmlessEnds are ends of names that say: not the secret itself.
var harmlessEnds = []string{
	"name", "type", "count", "limit", "length", "size", "url", "uri", "path", "file", "format", "prefix", "header", "field", "version", "hash",
	"expiry", "expires", "expiresin", "ttl", "id", "ids", "policy", "ref", "class", "method", "algorithm", "bytes", "per", "budget", "index", "arn", "min", "max",
}

// unrealNames are parts of names that say that the value is none.
var unrealNames = []string{"nonmatching", "invalid", "fake", "dummy", "placeholder", "mocked", "notareal"}

// The longest name and value that are looked at. A longer value is masked as
// far as it goes when its start looks secret.
const (
	maxRedName  = 80
	maxRedValue = 2048
)

// findAssigned finds values that are given to names of secrets: name = value
// in the many ways of programs, settings, JSON, XML, headers and options.
func findAssigned(s string, spans []redSpan) []redSpan {
	for i := 0; i < len(s); {
		if !isNameByte(s[i]) {
			i++
			continue
		}
		end := i
		for end < len(s) && isNameByte(s[end]) {
			end++
		}
		if at, to, kind := assignedTo(s, i, end); to > at {
			spans = append(spans, redSpan{at, to, kind})
			end = max(end, to)
		}
		i = end
	}
	return spans
}

func isNameByte(c byte) bool { return isTokenByte(c) || c == '.' || c >= 0x80 }

// assignedTo returns the value that the name in s[from:end] is given, if it is
// a secret.
func assignedTo(s string, from, end int) (at, to int, kind string) {
	name := s[max(from, end-maxRedName):end]
	if name == "-u" || name == "--user" {
		return userValue(s, end)
	}
	if len(name) < 3 || strings.HasSuffix(s[:from], redMark) {
		return 0, 0, ""
	}
	var buf [maxRedName]byte
	flat := flatName(buf[:0], name)
	var hit *redName
	tail := ""
	pairs := neighboursIn(flat)
	for i := range redNames {
		if !pairs.mayHold(redNames[i].word) {
			continue
		}
		if j := strings.LastIndex(flat, redNames[i].word); j >= 0 {
			hit, tail = &redNames[i], flat[j+len(redNames[i].word):]
			break
		}
	}
	if hit == nil {
		return 0, 0, ""
	}
	for _, e := range harmlessEnds {
		if tail == e || len(tail) > 1 && tail[0] == 's' && tail[1:] == e {
			return 0, 0, ""
		}
	}
	if strings.HasPrefix(tail, "iz") || strings.HasSuffix(flat, "publickeytoken") { // a tokenizer
		return 0, 0, ""
	}
	for _, e := range unrealNames {
		if strings.Contains(flat, e) {
			return 0, 0, ""
		}
	}
	switch hit.word {
	case "authorization":
		return headerValue(s, end)
	case "cookie":
		return cookieValue(s, end, strings.HasPrefix(flat, "set"))
	case "bearer":
		v := skipBlanks(s, end)
		if v == end {
			return 0, 0, ""
		}
		to = wordEnd(s, v)
		if to-v >= 12 && !isPlaceholder(s[v:to]) && strings.ContainsAny(s[v:to], "0123456789") && looksRandom(s[v:to]) {
			return v, to, "token"
		}
		return 0, 0, ""
	}
	at, to, how := valueAfter(s, from, end)
	if to <= at {
		return 0, 0, ""
	}
	if isSecretValue(name, s[at:to], hit, how) {
		kind = "secret"
		if hit.password {
			kind = "password"
		}
		return at, to, kind
	}
	return 0, 0, ""
}

// flatName writes a name in lower case and without what separates its words.
func flatName(buf []byte, name string) string {
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case c == '_' || c == '-' || c == '.':
		case c >= 'A' && c <= 'Z':
			buf = append(buf, c+'a'-'A')
		default:
			buf = append(buf, c)
		}
	}
	return string(buf)
}

// userValue finds the password in the user:password of an option.
func userValue(s string, end int) (at, to int, kind string) {
	p := end
	for p < len(s) && p-end < 3 && strings.IndexByte(" ='\"", s[p]) >= 0 {
		p++
	}
	if p == end {
		return 0, 0, ""
	}
	to = valueEnd(s, p)
	colon := strings.IndexByte(s[p:to], ':')
	if colon < 1 || strings.ContainsAny(s[p:to], "/$") || to-p-colon < 5 || isPlaceholder(s[p+colon+1:to]) {
		return 0, 0, ""
	}
	return p + colon + 1, to, "password"
}

// redHow says how a value is written.
type redHow struct {
	quoted, direct, spaced bool // in quotes; name=value without a blank; after a blank alone
}

// valueAfter finds the value that follows a name.
func valueAfter(s string, from, end int) (at, to int, how redHow) {
	p := end
	closed := false // the name stands in quotes
	for p < len(s) && p-end < 4 && strings.IndexByte("\"'`\\])", s[p]) >= 0 {
		closed = true
		p++
	}
	q := skipBlanks(s, p)
	if rest := s[q:min(len(s), q+8)]; q > p && (strings.HasPrefix(rest, "string ") || strings.HasPrefix(rest, "String ")) {
		q = skipBlanks(s, q+7)
	}
	sep := q
	for sep < len(s) && sep-q < 5 && strings.IndexByte(":=?.>|", s[sep]) >= 0 {
		sep++
	}
	switch {
	case sep > q && strings.ContainsAny(s[q:sep], "=:>"):
		how.direct = q == end
	case closed && q < len(s) && s[q] == ',':
		sep = q + 1
	case closed && strings.HasPrefix(s[q:], "value="): // <add key="Password" value="…"/>
		sep = q + len("value=")
	case q > p && !closed && spacedValue(s, from):
		how.spaced = true
	default:
		return 0, 0, how
	}
	v := sep
	xml := sep > q && s[q] == '>'
	for v < len(s) && (s[v] == ' ' || s[v] == '\t' || xml && (s[v] == '\n' || s[v] == '\r')) {
		v++
	}
	if sep < v {
		how.direct = false
	}
	if v >= len(s) {
		return 0, 0, how
	}
	quote := ""
	switch {
	case strings.IndexByte("\"'`", s[v]) >= 0:
		quote = s[v : v+1]
	case s[v] == '\\' && v+1 < len(s) && s[v+1] == '"':
		quote = `\"`
	}
	if quote == "" {
		return v, valueEnd(s, v), how
	}
	v += len(quote)
	window := s[v:min(len(s), v+maxRedValue)]
	how.quoted = true
	if n := strings.Index(window, quote); n >= 0 {
		return v, v + n, how
	}
	return v, valueEnd(s, v), how
}

// spacedValue reports whether a blank can stand between a name and its value:
// after an option, and in a line for ftp or git.
func spacedValue(s string, from int) bool {
	if s[from] == '-' {
		return true
	}
	line := s[strings.LastIndexByte(s[:from], '\n')+1 : from]
	if len(line) > 200 {
		line = line[len(line)-200:]
	}
	return strings.Contains(line, "login ") && strings.Contains(line, "machine ") || strings.HasPrefix(line, "default login ")
}

func skipBlanks(s string, i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\t') {
		i++
	}
	return i
}

// wordEnd is the end of a run of signs without blanks and quotes.
func wordEnd(s string, i int) int {
	for i < len(s) && s[i] > ' ' && strings.IndexByte("\"'`<>,;\\", s[i]) < 0 {
		i++
	}
	return i
}

// valueEnd is wordEnd for a value that may stand in an address or a call.
func valueEnd(s string, i int) int {
	for i < len(s) && s[i] > ' ' && strings.IndexByte("\"'`<>,;&\\)}]", s[i]) < 0 {
		i++
	}
	return i
}

// headerValue finds what follows Authorization: and a scheme.
func headerValue(s string, end int) (at, to int, kind string) {
	p := end
	for p < len(s) && p-end < 4 && strings.IndexByte("\"'\\ ", s[p]) >= 0 {
		p++
	}
	if p >= len(s) || s[p] != ':' && s[p] != '=' {
		return 0, 0, ""
	}
	p++
	for p < len(s) && strings.IndexByte("\"'\\ ", s[p]) >= 0 {
		p++
	}
	to = wordEnd(s, p)
	switch strings.ToLower(s[p:to]) {
	case "bearer", "basic", "token", "apikey", "digest", "negotiate", "key", "bot":
		p = skipBlanks(s, to)
		to = wordEnd(s, p)
	}
	if to-p < 6 || isPlaceholder(s[p:to]) {
		return 0, 0, ""
	}
	return p, to, "token"
}

// cookieValue finds the values of a Cookie header, or the first of Set-Cookie.
func cookieValue(s string, end int, one bool) (at, to int, kind string) {
	if end >= len(s) || s[end] != ':' {
		return 0, 0, ""
	}
	p := skipBlanks(s, end+1)
	eq := strings.IndexByte(s[p:min(len(s), p+100)], '=')
	if eq < 0 || strings.ContainsAny(s[p:p+eq], " \n\"'") {
		return 0, 0, ""
	}
	p += eq + 1
	to = p
	for to < len(s) && (s[to] > ' ' || s[to] == ' ' && !one) && strings.IndexByte("\"'<>\\", s[to]) < 0 && (s[to] != ';' || !one) {
		to++
	}
	if to-p < 8 || isPlaceholder(s[p:to]) {
		return 0, 0, ""
	}
	return p, to, "cookie"
}

// isSecretValue reports whether a value that is given to a name of a secret is
// one, and not a type, a reference or a gap.
func isSecretValue(name, value string, hit *redName, how redHow) bool {
	long := len(value) > maxRedValue
	if long {
		value = value[:maxRedValue]
	}
	value = strings.TrimRight(value, ".")
	if isPlaceholder(value) || strings.ContainsAny(value, " \t\n") && !hit.password {
		return false
	}
	if number, rest, ok := strings.Cut(value, ":"); ok && strings.Contains(strings.ToLower(name), "telegram") && strings.Trim(number, "0123456789") == "" && len(rest) != 35 {
		return false // the form of Telegram's tokens, but not one
	}
	digits := strings.ContainsAny(value, "0123456789")
	low := strings.ToLower(value)
	env := hit.password && how.direct && strings.ToUpper(name) == name // the way of .env files
	if !how.quoted && !digits && !env && (isReference(value) || strings.Contains(value, "(")) || strings.HasPrefix(low, "process.env") || strings.HasPrefix(low, "os.environ") {
		return false
	}
	switch low {
	case "string", "str", "int", "bool", "boolean", "true", "false", "null", "nil", "none", "undefined", "required", "optional", "any", "object", "text", "number", "password", "secret", "token":
		return false
	}
	if hit.password {
		if len(value) < 4 || strings.Contains(low, "password") && !digits || strings.Contains(value, "\n") {
			return false
		}
		if how.quoted {
			return !strings.Contains(value, "  ") && strings.Count(value, " ") <= 3 && (len(value) >= 6 || digits)
		}
		return digits || how.spaced || strings.ContainsAny(value, "!@#$%^*") || how.direct && len(value) >= 6
	}
	least := 10
	if how.quoted || how.spaced || how.direct {
		least = 8
	}
	if hit.word == "seed" || hit.word == "mnemonic" {
		return len(value) >= 32 && isHex(value)
	}
	return len(value) >= least && looksRandom(value)
}

// isReference reports whether a value is the name of a variable or a field.
func isReference(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if !isTokenByte(c) && c != '.' && c != '[' && c != ']' && c != ':' {
			return false
		}
	}
	return strings.ContainsAny(s, "._") || strings.ToLower(s) == s
}

// looksRandom reports whether a value is made of the signs that keys are made
// of and has what words lack: digits, or capitals in the middle.
func looksRandom(s string) bool {
	digits, letters := 0, 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c >= '0' && c <= '9':
			digits++
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			letters++
		case c < 0x21 || c > 0x7e:
			return false
		}
	}
	if strings.Contains(s, "://") || strings.Contains(s, "::") {
		return false
	}
	return digits >= 2 && (letters > 0 || len(s) >= 16) || longMixed(s)
}
