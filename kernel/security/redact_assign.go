package security

import (
	"strings"
)

// maxRedValue is how far the end of a quoted value is looked for.
const maxRedValue = 2048

// findAssigned finds values that are given to names of secrets: name = value
// in the many ways of programs, settings, JSON, XML, headers and options. On its
// way it looks at long words, which some keys show themselves by.
func findAssigned(form TextForm, s string, spans []redSpan) []redSpan {
	for i := 0; i < len(s); {
		if !nameBytes[s[i]] {
			if s[i] == '[' {
				if n := markLength(s[i:]); n > 0 {
					i += n
					continue
				}
			}
			i++
			continue
		}
		end := i + 1
		for end < len(s) && nameBytes[s[end]] {
			end++
		}
		next := end
		if end-i >= 30 || end < len(s) && s[end] == ':' && end-i >= 8 {
			spans, next = findShape(s, i, end, spans)
		}
		if next == end {
			spans, next = assigned(form, s, i, end, spans)
		}
		i = max(end, next)
	}
	return spans
}

var nameBytes = func() (is [256]bool) {
	for c := range 256 {
		is[c] = isTokenByte(byte(c)) || c == '.' || c >= 0x80
	}
	return is
}()

// assigned finds the value that the name in s[from:end] is given, and what follows
// it.
func assigned(form TextForm, s string, from, end int, spans []redSpan) (_ []redSpan, next int) {
	if s[from] == '-' && (s[from:end] == "-u" || s[from:end] == "--user") {
		return userValue(form, s, end, spans)
	}
	if !mayEndName[s[end-1]] {
		return spans, end
	}
	if from >= 2 && s[from-2] == '$' && (s[from-1] == '(' || s[from-1] == '{') {
		return spans, end // $(pwd):/app has no name that is given a value
	}
	name := s[max(from, end-maxRedName):end]
	if len(name) < 2 || !mayBeGiven(s, from, end) {
		return spans, end
	}
	n := sensitive(name)
	if n.class == nameHarmless {
		return spans, end
	}
	var at, to int
	var how redHow
	switch n.word {
	case "authorization":
		at, to = headerValue(form, s, end)
	case "cookie":
		at, to = cookieValue(form, s, end, strings.HasPrefix(strings.ToLower(name), "set"))
	case "bearer":
		at, to = bearerValue(s, end)
	default:
		if at, to, how = valueAfter(form, s, from, end); to <= at {
			return spans, end
		}
		if n.word == "auth" && (how.quoted || form == TextSettings) && form != TextSource && to-at >= 12 && isDockerAuth(s[at:to]) {
			break
		}
		if n.word == "sig" || n.word == "signature" {
			if !isSignature(s, from, s[at:to]) {
				return spans, end
			}
			break
		}
		if !isSecretValue(form, n, name, s[at:to], how) {
			return spans, end
		}
	}
	if to <= at {
		return spans, end
	}
	spans = append(spans, redSpan{at, to, shownName(name), true})
	if how.quoted {
		spans, to = continued(s, to, shownName(name), spans)
	}
	return spans, to
}

// mayBeGiven reports whether something behind a name can give it a value, so that
// the name is worth a look.
func mayBeGiven(s string, from, end int) bool {
	for i := end; i < len(s) && i < end+6; i++ {
		switch s[i] {
		case ':', '=', '"', '\'', '`', '>', '(', ',', '[', '|', '?':
			return true
		case ' ', '\t':
			if i > end+2 || s[from] == '-' {
				return true
			}
		case ')', '\\', ']':
		default:
			return i > end // a blank, and then a word
		}
	}
	return end < len(s) && s[end] != '\n'
}

// continued finds further literals that belong to a value, as programs join them
// over lines.
func continued(s string, to int, name string, spans []redSpan) ([]redSpan, int) {
	for to < len(s) && strings.IndexByte("\"'`", s[to]) >= 0 {
		quote := s[to]
		i, joint := to+1, false
		for i < len(s) && i < to+200 && strings.IndexByte(" \t\r\n\\+.&", s[i]) >= 0 {
			joint = joint || strings.IndexByte("\\+.&", s[i]) >= 0
			i++
		}
		if !joint || i >= len(s) || s[i] != quote {
			break
		}
		n := strings.IndexByte(s[i+1:min(len(s), i+1+maxRedValue)], quote)
		if n <= 0 || strings.ContainsAny(s[i+1:i+1+n], " \n") {
			break
		}
		spans = append(spans, redSpan{i + 1, i + 1 + n, name, true})
		to = i + 1 + n
	}
	return spans, to
}

// userValue finds the password in the user:password of an option.
func userValue(form TextForm, s string, end int, spans []redSpan) ([]redSpan, int) {
	p := end
	for p < len(s) && p-end < 3 && strings.IndexByte(" ='\"", s[p]) >= 0 {
		p++
	}
	if p == end || form == TextSource {
		return spans, end
	}
	to := valueEnd(s, p)
	colon := strings.IndexByte(s[p:to], ':')
	if colon < 1 || strings.ContainsAny(s[p:to], "/$") || to-p-colon < 5 || isPlaceholder(s[p+colon+1:to]) {
		return spans, end
	}
	return append(spans, redSpan{p + colon + 1, to, "password", false}), to
}

// valueAfter finds the value that follows a name.
func valueAfter(form TextForm, s string, from, end int) (at, to int, how redHow) {
	p := end
	closed := false // the name stands in quotes
	for p < len(s) && p-end < 4 && strings.IndexByte("\"'`\\])", s[p]) >= 0 {
		closed = true
		p++
	}
	if p == end && p+1 < len(s) && s[p] == '[' && s[p+1] == ']' {
		p += 2
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
	case strings.Contains(s[q:sep], "::") && !strings.Contains(s[q:sep], "=") || strings.HasPrefix(s[q:sep], ".."):
		return 0, 0, how
	case sep > q && strings.ContainsAny(s[q:sep], "=:>"):
		how.direct = q == end
	case closed && q < len(s) && s[q] == ',':
		if form == TextSettings && s[from] != '-' {
			return 0, 0, how // names in a list, or the last word of a text
		}
		sep = q + 1
	case closed && strings.HasPrefix(s[q:], "value="): // <add key="Password" value="…"/>
		sep = q + len("value=")
	case p == end && p+1 < len(s) && s[p] == '(' && isQuote(s[p+1]): // .password("…")
		sep = p + 1
	case q > p && q < len(s) && isQuote(s[q]) && strings.HasSuffix(s[max(0, from-8):from], "#define "):
		sep = q
	case q > p && !closed && form != TextSource && spacedValue(s, from):
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
	if form == TextSource && v < len(s) && !isQuote(s[v]) && s[v] != '\\' { // name: string = "…"
		v = skipType(s, v)
	}
	if form == TextSettings && strings.HasPrefix(s[v:], "!!") { // the type of a value in YAML
		v = skipBlanks(s, wordEnd(s, v))
	}
	if v >= len(s) {
		return 0, 0, how
	}
	how.line = startsLine(s, from)
	quote := ""
	switch {
	case strings.HasPrefix(s[v:], `"""`), strings.HasPrefix(s[v:], "'''"):
		quote = s[v : v+3]
	case isQuote(s[v]):
		quote = s[v : v+1]
	case s[v] == '\\' && v+1 < len(s) && s[v+1] == '"':
		quote = `\"`
	}
	if quote == "" {
		return plainValue(form, s, v, how)
	}
	v += len(quote)
	how.quoted = true
	if n := quoteEnd(s[v:min(len(s), v+maxRedValue)], quote, form); n >= 0 {
		return v, v + n, how
	}
	return v, valueEnd(s, v), how
}

func isQuote(c byte) bool { return c == '"' || c == '\'' || c == '`' }

// quoteEnd is where a quoted text ends, or -1.
func quoteEnd(s, quote string, form TextForm) int {
	for at := 0; ; {
		n := strings.Index(s[at:], quote)
		if n < 0 {
			return -1
		}
		n += at
		back := 0
		for back < n && s[n-1-back] == '\\' {
			back++
		}
		if len(quote) == 1 && quote != "`" && back%2 == 1 {
			at = n + 1
			continue
		}
		if form == TextSettings && quote == "'" && strings.HasPrefix(s[n+1:], "'") { // YAML's way to write one
			at = n + 2
			continue
		}
		if form != TextSettings && len(quote) == 1 && quote != "`" && strings.Contains(s[:n], "\n") {
			return -1
		}
		return n
	}
}

// skipType passes over a type between a name and its literal.
func skipType(s string, v int) int {
	i := v
	for i < len(s) && i-v < 40 && (isTokenByte(s[i]) || strings.IndexByte("<>[]?.&' ", s[i]) >= 0) {
		i++
	}
	if i > v && i < len(s) && s[i] == '=' {
		if j := skipBlanks(s, i+1); j < len(s) && isQuote(s[j]) {
			return j
		}
	}
	return v
}

// plainValue finds the end of a value that has no quotes.
func plainValue(form TextForm, s string, v int, how redHow) (at, to int, _ redHow) {
	if s[v] == '\n' || s[v] == '\r' || form == TextSource {
		return v, v, how
	}
	if how.line && (s[v] == '|' || s[v] == '>') {
		return blockValue(s, v, how)
	}
	end := valueEnd(s, v)
	eol := lineEnd(s, v)
	if !how.line || s[v] == '{' || s[v] == '[' {
		how.line = how.line && end == eol
		return v, end, how
	}
	whole := strings.TrimRight(s[v:eol], " \t\r")
	if form == TextSettings {
		for i := 1; i < len(whole); i++ { // a comment
			if (whole[i] == '#' || whole[i] == ';') && (whole[i-1] == ' ' || whole[i-1] == '\t') {
				whole = strings.TrimRight(whole[:i], " \t")
				break
			}
		}
		to = v + len(strings.TrimSuffix(whole, ","))
		for to < len(s) && s[to-1] == '\\' && to-v < maxRedValue { // it goes on in the next line
			next := lineEnd(s, to) + 1
			if next >= len(s) {
				break
			}
			to = next + len(strings.TrimRight(s[next:lineEnd(s, next)], " \t\r"))
		}
		return v, to, how
	}
	if strings.ContainsAny(whole, " \t") {
		if !isPassPhrase("", whole) {
			how.line = strings.HasPrefix(strings.TrimLeft(whole[end-v:], " \t"), "#")
			return v, end, how
		}
		return v, v + len(whole), how
	}
	if strings.ContainsAny(whole, "(){}") || strings.HasSuffix(whole, ";") || strings.HasSuffix(whole, ",") || strings.ContainsAny(whole, "\"'`<>&") {
		how.line = false
		return v, end, how
	}
	return v, v + len(whole), how
}

// blockValue finds the lines of a value that YAML writes below its name.
func blockValue(s string, v int, how redHow) (at, to int, _ redHow) {
	eol := lineEnd(s, v)
	if len(strings.TrimSpace(s[v:eol])) > 2 || eol >= len(s) {
		return v, v, how
	}
	start := strings.LastIndexByte(s[:v], '\n') + 1
	indent := len(s[start:v]) - len(strings.TrimLeft(s[start:v], " "))
	at, to = -1, -1
	for i := eol + 1; i < len(s) && i-eol < 16<<10; {
		end := lineEnd(s, i)
		line := s[i:end]
		text := strings.TrimLeft(line, " ")
		if strings.TrimSpace(line) != "" {
			if len(line)-len(text) <= indent {
				break
			}
			if at < 0 {
				at = i + len(line) - len(text)
			}
			to = i + len(strings.TrimRight(line, " \t\r"))
		}
		i = end + 1
	}
	if at < 0 {
		return v, v, how
	}
	return at, to, how
}

func lineEnd(s string, i int) int {
	if n := strings.IndexByte(s[i:], '\n'); n >= 0 {
		return i + n
	}
	return len(s)
}

// startsLine reports whether nothing that a program would need stands before a
// name in its line.
func startsLine(s string, from int) bool {
	i := from
	for i > 0 && from-i < 60 && s[i-1] != '\n' {
		i--
	}
	before := strings.TrimLeft(s[i:from], " \t-\"'#;*")
	before = strings.TrimPrefix(before, "export ")
	before = strings.TrimPrefix(before, "set ")
	before = strings.TrimPrefix(before, "setenv ")
	before = strings.TrimPrefix(before, "$env:")
	before = strings.TrimPrefix(before, "ENV ")
	before = strings.TrimPrefix(before, "ARG ")
	return strings.Trim(before, " \t\"'") == "" && (i == 0 || s[i-1] == '\n')
}

// spacedValue reports whether a blank can stand between a name and its value:
// after an option, and in a line for ftp or git.
func spacedValue(s string, from int) bool {
	if s[from] == '-' {
		return true
	}
	for _, set := range []string{"ENV ", "setenv ", "set -x ", "set -gx ", "set -Ux ", "set -lx "} { // of Dockerfiles, csh and fish
		if n := from - len(set); n >= 0 && s[n:from] == set && (n == 0 || s[n-1] == '\n' || s[n-1] == ' ') {
			return true
		}
	}
	start := max(0, from-200)
	line := s[start:from]
	line = line[strings.LastIndexByte(line, '\n')+1:]
	if strings.HasPrefix(line, "default login ") || strings.Contains(line, "login ") && strings.Contains(line, "machine ") {
		return true
	}
	if strings.TrimSpace(line) == "" { // over several lines
		before := s[start:from]
		return strings.Contains(before, "machine ") && strings.Contains(before, "login ")
	}
	return false
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

// bearerValue finds a token behind the word alone.
func bearerValue(s string, end int) (at, to int) {
	v := skipBlanks(s, end)
	if v == end {
		return 0, 0
	}
	to = wordEnd(s, v)
	if to-v >= 12 && !isPlaceholder(s[v:to]) && strings.ContainsAny(s[v:to], "0123456789") && looksRandom(s[v:to]) && !isWords(s[v:to]) {
		return v, to
	}
	return 0, 0
}

// headerValue finds what follows Authorization: and a scheme.
func headerValue(form TextForm, s string, end int) (at, to int) {
	p := end
	for p < len(s) && p-end < 4 && strings.IndexByte("\"'\\ ", s[p]) >= 0 {
		p++
	}
	if p >= len(s) || s[p] != ':' && s[p] != '=' {
		return 0, 0
	}
	p++
	for p < len(s) && strings.IndexByte("\"'\\ ", s[p]) >= 0 {
		p++
	}
	to = wordEnd(s, p)
	switch strings.ToLower(s[p:to]) {
	case "bearer", "basic", "token", "apikey", "digest", "negotiate", "key", "bot", "flyv1", "genie":
		p = skipBlanks(s, to)
		to = wordEnd(s, p)
	}
	if to-p < 6 || isPlaceholder(s[p:to]) {
		return 0, 0
	}
	if v := s[p:to]; form == TextSource && (to-p < 16 || !looksRandom(v) || isWords(v) || longestMixed(v) < 10) {
		return 0, 0
	}
	return p, to
}

// cookieValue finds the values of a Cookie header, or the first of Set-Cookie.
func cookieValue(form TextForm, s string, end int, one bool) (at, to int) {
	if end >= len(s) || s[end] != ':' {
		return 0, 0
	}
	p := skipBlanks(s, end+1)
	eq := strings.IndexByte(s[p:min(len(s), p+100)], '=')
	if eq < 0 || strings.ContainsAny(s[p:p+eq], " \n\"'") {
		return 0, 0
	}
	p += eq + 1
	to = p
	for to < len(s) && (s[to] > ' ' || s[to] == ' ' && !one) && strings.IndexByte("\"'<>\\", s[to]) < 0 && (s[to] != ';' || !one) {
		to++
	}
	if to-p < 8 || isPlaceholder(s[p:to]) || form == TextSource && (to-p < 16 || !looksRandom(s[p:to])) {
		return 0, 0
	}
	return p, to
}

// isSignature reports whether a value is the signature of an address that opens
// what it names, as those of cloud storage are.
func isSignature(s string, from int, value string) bool {
	if from == 0 || s[from-1] != '?' && s[from-1] != '&' && s[from-1] != ';' || len(value) < 20 || isPlaceholder(value) || strings.Contains(value, ".") {
		return false
	}
	return looksRandom(value)
}
