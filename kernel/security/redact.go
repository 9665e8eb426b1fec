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
)

// Redact masks what looks like a secret in s: keys in known formats, private
// key blocks, passwords in addresses, authorization headers and cookies, and
// values assigned to names like password or api_key. Each becomes
// [redacted:kind]. It returns the text and how many were masked, takes time in
// proportion to the text, and leaves its own output as it is.
//
// It works on form alone: a secret that looks like a word passes. Values that
// are known belong in a [Redactor].
func Redact(s string) (out string, n int) {
	spans := findPrivateKeys(s, nil)
	spans = findAddresses(s, spans)
	spans = findFormats(s, spans)
	spans = findTokensJWT(s, spans)
	spans = findAssigned(s, spans)
	return mask(s, spans)
}

// redSpan is a part of a text to be masked.
type redSpan struct {
	from, to int
	kind     string
}

const redMark = "[redacted:"

// mask replaces spans, joining those that touch.
func mask(s string, spans []redSpan) (string, int) {
	if len(spans) == 0 {
		return s, 0
	}
	slices.SortFunc(spans, func(a, b redSpan) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to))
	})
	var out strings.Builder
	out.Grow(len(s))
	end, n := 0, 0
	for i := 0; i < len(spans); {
		span := spans[i]
		for i++; i < len(spans) && spans[i].from <= span.to; i++ {
			span.to = max(span.to, spans[i].to)
		}
		out.WriteString(s[end:span.from])
		out.WriteString(redMark + span.kind + "]")
		end = span.to
		n++
	}
	out.WriteString(s[end:])
	return out.String(), n
}

// Redactor masks known values besides what [Redact] finds: the keys of the
// providers, whatever their form. The zero value is ready; it is safe for
// concurrent use.
type Redactor struct {
	known  atomic.Pointer[strings.Replacer]
	mu     sync.Mutex
	values map[string]bool
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
	if r.values == nil {
		r.values = map[string]bool{}
	}
	for _, f := range forms {
		r.values[f] = true
	}
	all := make([]string, 0, len(r.values))
	for v := range r.values {
		all = append(all, v)
	}
	slices.SortFunc(all, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	pairs := make([]string, 0, 2*len(all))
	for _, v := range all {
		pairs = append(pairs, v, redMark+"known]")
	}
	r.known.Store(strings.NewReplacer(pairs...))
}

// Redact is [Redact], and masks the known values first.
func (r *Redactor) Redact(s string) (out string, n int) {
	known := r.known.Load()
	if known == nil {
		return Redact(s)
	}
	const mark = redMark + "known]"
	before := strings.Count(s, mark)
	s = known.Replace(s)
	found := strings.Count(s, mark) - before
	s, n = Redact(s)
	return s, n + found
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
			spans = append(spans, redSpan{from, to, "private-key"})
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

// findAddresses finds passwords in scheme://user:password@host.
func findAddresses(s string, spans []redSpan) []redSpan {
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
		_, password, ok := strings.Cut(who[:host], ":")
		if !ok || password == "" || isPlaceholder(password) {
			continue
		}
		spans = append(spans, redSpan{from + host - len(password), from + host, "password"})
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
			spans = append(spans, redSpan{from, end, "token"})
		}
	}
}

func isTokenByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}
