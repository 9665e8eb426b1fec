package security

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"
)

// Redact masks for good what looks like a secret in a text of no known kind: keys
// in known formats, private key blocks, passwords in addresses, authorization
// headers and cookies, and values assigned to names like password or api_key. Each
// becomes [secret:NAME], after the name that it is given or its kind. It returns
// the text and how many were masked, takes time in proportion to the text, and
// leaves its own output as it is.
//
// It works on form alone. Values that are known belong in a [Redactor].
func Redact(s string) (out string, n int) { return RedactAs(TextPlain, s) }

// RedactAs is [Redact] for a text of a known kind.
func RedactAs(form TextForm, s string) (out string, n int) {
	return maskAll(s, findSecrets(form, s, nil))
}

// Secret is a part of a text that is masked.
type Secret struct {
	From, To int
	Name     string // the name that it is given, or its kind
}

// redSpan is a part of a text to be masked.
type redSpan struct {
	from, to int
	name     string
	given    bool // name is one that the text gives it
}

const (
	redMark = "[secret:"
	oldMark = "[redacted:" // what earlier versions wrote
)

// findSecrets finds what is to be masked, in the order of the text. known are
// spans that were found otherwise.
func findSecrets(form TextForm, s string, known []redSpan) []Secret {
	seen, places := withoutUnseen(s)
	if form == TextPlain && looksLikeProgram(seen) {
		form = TextSource
	}
	spans := findPrivateKeys(seen, nil)
	spans = findPutty(seen, spans)
	spans = findAddresses(form, seen, spans)
	spans = findFormats(seen, spans)
	spans = findTokensJWT(seen, spans)
	if form != TextSource {
		spans = findOptions(seen, spans)
		spans = findSeeds(seen, spans)
	}
	if form == TextSettings {
		spans = findPairs(seen, spans)
	}
	spans = findAssigned(form, seen, spans)
	if places != nil {
		for i := range spans {
			spans[i].from, spans[i].to = places[spans[i].from], places[spans[i].to-1]+1
		}
	}
	return joinSpans(append(spans, known...))
}

// joinSpans puts spans in order and makes one of those that touch.
func joinSpans(spans []redSpan) []Secret {
	if len(spans) == 0 {
		return nil
	}
	slices.SortFunc(spans, func(a, b redSpan) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to))
	})
	var out []Secret
	for i := 0; i < len(spans); {
		span := spans[i]
		for i++; i < len(spans) && spans[i].from <= span.to; i++ {
			span.to = max(span.to, spans[i].to)
			if spans[i].given && !span.given {
				span.name, span.given = spans[i].name, true
			}
		}
		out = append(out, Secret{span.from, span.to, span.name})
	}
	return out
}

// maskAll replaces what was found, for good.
func maskAll(s string, found []Secret) (string, int) {
	return replaceSecrets(s, found, func(i int) string { return redMark + found[i].Name + "]" }), len(found)
}

// replaceSecrets puts something else in the place of each secret.
func replaceSecrets(s string, found []Secret, with func(i int) string) string {
	if len(found) == 0 {
		return s
	}
	var out strings.Builder
	out.Grow(len(s))
	end := 0
	for i, f := range found {
		out.WriteString(s[end:f.From])
		out.WriteString(with(i))
		end = f.To
	}
	out.WriteString(s[end:])
	return out.String()
}

// withoutUnseen takes out of a text what is taken out before a model reads it, as
// a secret could be cut in pieces by it, and zero bytes, which are half of a text
// in UTF-16. places says where each byte was; nil when nothing was taken out.
func withoutUnseen(s string) (seen string, places []int) {
	if !mayHideSigns(s) {
		return s, nil
	}
	cut := terminal().FindAllStringIndex(s, -1)
	var out strings.Builder
	places = make([]int, 0, len(s))
	for i, r := range s {
		for len(cut) > 0 && i >= cut[0][1] {
			cut = cut[1:]
		}
		if len(cut) > 0 && i >= cut[0][0] || unseen(r) {
			continue
		}
		n := max(1, utf8.RuneLen(r))
		if r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD") {
			n = 1
		}
		out.WriteString(s[i : i+n])
		for k := range n {
			places = append(places, i+k)
		}
	}
	return out.String(), places
}

// mayHideSigns reports whether a text has characters that nobody sees.
func mayHideSigns(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < 0x20 && c != '\n' && c != '\t' && c != '\r' || c >= 0x7f {
			return strings.ContainsFunc(s[i:], unseen)
		}
	}
	return false
}

// Redactor masks known values besides what [Redact] finds: the keys of the
// providers, whatever their form. The zero value is ready; it is safe for
// concurrent use.
type Redactor struct {
	known atomic.Pointer[[]string] // the longest first
	mu    sync.Mutex               // held while one is added
}

// NewRedactor returns a Redactor that knows the given values.
func NewRedactor(values ...string) *Redactor {
	r := &Redactor{}
	for _, v := range values {
		r.AddSecret(v)
	}
	return r
}

// minSecret is the length under which a known value is ignored: masking "dev"
// everywhere would help nobody.
const minSecret = 6

// AddSecret makes value known, also the way it is written in addresses, in
// JSON and in base64. A value shorter than six characters is ignored.
func (r *Redactor) AddSecret(value string) {
	if value = strings.TrimSpace(value); len(value) < minSecret || strings.Contains(redMark+"known]", value) {
		return
	}
	forms := []string{value, url.QueryEscape(value), url.PathEscape(value), base64.StdEncoding.EncodeToString([]byte(value))}
	if quoted, err := json.Marshal(value); err == nil {
		forms = append(forms, strings.Trim(string(quoted), `"`))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	all := slices.Clone(r.all())
	for _, f := range forms {
		if !slices.Contains(all, f) {
			all = append(all, f)
		}
	}
	slices.SortFunc(all, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	r.known.Store(&all)
}

func (r *Redactor) all() []string {
	if all := r.known.Load(); all != nil {
		return *all
	}
	return nil
}

// Find returns what is to be masked in a text, in its order.
func (r *Redactor) Find(form TextForm, s string) []Secret {
	var known []redSpan
	for _, v := range r.all() {
		for at := 0; ; {
			i := strings.Index(s[at:], v)
			if i < 0 {
				break
			}
			known = append(known, redSpan{at + i, at + i + len(v), "known", false})
			at += i + len(v)
		}
	}
	return findSecrets(form, s, known)
}

// Redact is [Redact], and masks the known values too.
func (r *Redactor) Redact(s string) (out string, n int) { return r.RedactAs(TextPlain, s) }

// RedactAs is [RedactAs], and masks the known values too.
func (r *Redactor) RedactAs(form TextForm, s string) (out string, n int) {
	return maskAll(s, r.Find(form, s))
}

// findPrivateKeys finds PEM and PGP blocks. One without an end runs as far as
// its lines look like one.
func findPrivateKeys(s string, spans []redSpan) []redSpan {
	const open = "-----BEGIN "
	for at := 0; ; {
		i := strings.Index(s[at:], open)
		if i < 0 {
			return spans
		}
		from := at + i
		at = from + len(open)
		label, _, ok := strings.Cut(s[at:min(len(s), at+80)], "-----")
		if !ok || !strings.Contains(label, "PRIVATE KEY") || strings.ContainsAny(label, "\n\r") {
			continue
		}
		body := at + len(label) + len("-----")
		var to int
		const maxKey = 64 << 10
		window := s[body:min(len(s), body+maxKey)]
		if j := strings.Index(window, "-----"); j >= 0 && strings.HasPrefix(window[j:], "-----END ") {
			to = body + j
			if k := strings.Index(s[to+9:min(len(s), to+100)], "-----"); k >= 0 {
				to += 9 + k + 5
			}
		} else {
			to = body + keyLines(window)
		}
		if countKeyBytes(s[body:to]) >= 40 {
			spans = append(spans, redSpan{from, to, "private-key", false})
			at = to
		}
	}
}

// keyLines is the length of the lines at the start of s that can belong to a
// key.
func keyLines(s string) int {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '-' && strings.HasPrefix(s[i:], "-----") {
			return i
		}
		if !isTokenByte(c) && strings.IndexByte("+/=\n\r\t \\:,", c) < 0 {
			return i
		}
	}
	return len(s)
}

func countKeyBytes(s string) (n int) {
	for i := 0; i < len(s); i++ {
		if isTokenByte(s[i]) || s[i] == '+' || s[i] == '/' {
			n++
		}
	}
	return n
}

// findAddresses finds passwords in scheme://user:password@host, and keys that
// stand in the place of the user. In a program only what is random counts there:
// its examples have addresses too.
func findAddresses(form TextForm, s string, spans []redSpan) []redSpan {
	for at := 0; ; {
		i := strings.Index(s[at:], "://")
		if i < 0 {
			return spans
		}
		from := at + i + 3
		at = from
		end := from
		for end < len(s) && end-from < 1024 && s[end] > ' ' && strings.IndexByte("\"'`<>/?#\\", s[end]) < 0 {
			end++
		}
		who := s[from:end]
		host := strings.LastIndexByte(who, '@')
		if host < 0 {
			continue
		}
		user, password, ok := strings.Cut(who[:host], ":")
		if !ok && len(user) == 32 && isHex(user) && variety(user) > 5 { // where errors are reported
			password = user
		}
		if password == "" || isPlaceholder(password) {
			continue
		}
		if form == TextSource && (len(password) < 8 || classes(password) < 2 || isWords(password) || !strings.ContainsAny(password, "0123456789")) {
			continue
		}
		spans = append(spans, redSpan{from + host - len(password), from + host, "password", false})
		at = from + host
	}
}

// findTokensJWT finds JSON web tokens: two or three parts, the first of which
// is a JSON object in base64.
func findTokensJWT(s string, spans []redSpan) []redSpan {
	for at := 0; ; {
		i := strings.Index(s[at:], "eyJ")
		if i < 0 {
			return spans
		}
		from := at + i
		end := from
		for end < len(s) && (isTokenByte(s[end]) || s[end] == '.' || s[end] == '=') {
			end++
		}
		at = end
		parts := strings.Split(strings.TrimRight(s[from:end], "."), ".")
		if len(parts) >= 2 && len(parts[0]) >= 10 && len(parts[1]) >= 10 && strings.HasPrefix(parts[1], "eyJ") {
			spans = append(spans, redSpan{from, end, "token", false})
		}
	}
}

func isTokenByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}
