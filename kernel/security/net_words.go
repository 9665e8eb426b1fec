package security

import (
	"net/url"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// HostOf is the machine of an address, in lower case and without "www."; "" for
// none.
func HostOf(address string) string {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil {
		return ""
	}
	return strings.TrimPrefix(strings.TrimSuffix(strings.ToLower(u.Hostname()), "."), "www.")
}

// named finds what names a machine in a text that a person wrote: an address with
// its scheme, or a name that begins with "www.". A word with a dot in it is as
// often a file. What stands inside of another address names nobody.
var named = sys.Pattern("(?:^|[^A-Za-z0-9/=&?%.@_:#-])((?:(?i:https?://)|(?i:www\\.))[^\\x00-\\x20\\x7f-\\x{10ffff}<>()\\[\\]{}\"'`,;\\\\|]+)")

// NamedHosts are the machines that the person named in a message. Of what was
// pasted only a part that is an address and nothing else names one: the rest was
// often written by somebody else.
func NamedHosts(text string, pasted []store.Span) (hosts []string) {
	for _, m := range named().FindAllStringSubmatch(typedOf(text, pasted), -1) {
		if h := hostNamed(m[1]); h != "" && !slices.Contains(hosts, h) {
			hosts = append(hosts, h)
		}
	}
	return hosts
}

func hostNamed(word string) string {
	word = strings.TrimRight(word, ".!?:*_~")
	if !strings.Contains(word, "://") {
		word = "https://" + word
	}
	return HostOf(word)
}

// typedOf is a message without what was pasted into it, but for addresses alone.
func typedOf(text string, pasted []store.Span) string {
	if len(pasted) == 0 {
		return text
	}
	units := utf16.Encode([]rune(text))
	for _, p := range pasted {
		from, to := max(p.From, 0), min(p.To, len(units))
		if from >= to || !p.Foreign && addressAlone(string(utf16.Decode(units[from:to]))) {
			continue
		}
		for i := from; i < to; i++ {
			units[i] = '\n'
		}
	}
	return string(utf16.Decode(units))
}

func addressAlone(part string) bool {
	part = strings.TrimSpace(part)
	m := named().FindStringSubmatch(part)
	return m != nil && m[1] == part
}

// HasAddress reports whether an address stands in a text byte for byte, as a whole
// and not as a piece of a longer one. What follows a "#" is for whoever reads, and
// the slash of an address without a path is no part of what is asked for.
func HasAddress(text, address string) bool {
	address, _, _ = strings.Cut(address, "#")
	if _, after, ok := strings.Cut(address, "://"); !ok || after == "" {
		return false
	}
	if hasWhole(text, address) {
		return true
	}
	if u, err := url.Parse(address); err == nil && u.RawQuery == "" && !u.ForceQuery {
		switch u.Path {
		case "":
			return hasWhole(text, address+"/")
		case "/":
			return hasWhole(text, strings.TrimSuffix(address, "/"))
		}
	}
	return false
}

const (
	closing  = ")]}>\"|`"    // ends an address wherever it stands
	trailing = ".,;:!?*_~'…" // ends one where nothing of it follows
)

func hasWhole(text, address string) bool {
	for at := 0; ; {
		i := strings.Index(text[at:], address)
		if i < 0 {
			return false
		}
		i += at
		before, _ := utf8.DecodeLastRuneInString(text[:i])
		if (i == 0 || !inAddress(before)) && endsHere(text[i+len(address):]) {
			return true
		}
		at = i + 1
	}
}

func endsHere(after string) bool {
	rest := strings.TrimLeft(after, trailing)
	if rest == "" {
		return true
	}
	next, _ := utf8.DecodeRuneInString(rest)
	if next <= ' ' || next == '<' || next > 0x7E || strings.ContainsRune(closing, next) {
		return true
	}
	return len(rest) == len(after) && next == '#'
}

// inAddress reports whether a sign may belong to an address that goes on behind it.
func inAddress(r rune) bool {
	return r > ' ' && r < 0x7F && !strings.ContainsRune("<>()[]{}\"'`,;|*!", r)
}

// AddressesIn are the pieces of a text in which addresses stand, one a line: what
// has to be kept of it for [HasAddress].
func AddressesIn(text string) string {
	var b strings.Builder
	for word := range strings.FieldsSeq(text) {
		if i := strings.Index(word, "://"); i >= 0 && len(word) <= maxAddresses {
			b.WriteString(word)
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// maxAddresses is how long a piece of text in one word may be that is kept.
const maxAddresses = 64 << 10
