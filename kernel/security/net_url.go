package security

import (
	"cmp"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"
	"golang.org/x/text/unicode/norm"
)

// maxURL is the longest address that the guard reads, in bytes.
const maxURL = 16 << 10

// netTarget is an address that was read: where a request would go.
type netTarget struct {
	url  *url.URL
	host string     // in lower case, ASCII, without brackets and without a dot at its end
	addr netip.Addr // the number, where the host is one
	port uint16
}

// readURL reads an address strictly: what two programs could read differently
// is refused and never mended. It looks nothing up.
func readURL(raw string) (netTarget, *NetRefusal) {
	var t netTarget
	shown := shortPart(raw)
	scheme, rest, ok := strings.Cut(raw, ":")
	scheme = strings.ToLower(scheme)
	if len(raw) > maxURL || !utf8.ValidString(raw) {
		return t, netUnreadable.refusal(shown)
	}
	for _, r := range raw {
		if r == '\\' || r == ' ' || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.IsSpace(r) {
			return t, netHidden.refusal(shown)
		}
	}
	if !ok || scheme != "http" && scheme != "https" {
		return t, netScheme.refusal(shortPart(scheme))
	}
	rest, ok = strings.CutPrefix(rest, "//")
	if !ok {
		return t, netUnreadable.refusal(shown)
	}
	authority := rest
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		authority = rest[:end]
	}
	if strings.Contains(authority, "@") {
		return t, netUserInfo.refusal(authority)
	}
	host, why := t.readPort(authority, scheme)
	if why != nil {
		return t, why.refusal(cmp.Or(authority, raw))
	}
	if why := t.readHost(host); why != nil {
		return t, why.refusal(host)
	}
	u, err := url.Parse(raw)
	if err != nil || u.Host != authority || u.Opaque != "" || u.User != nil {
		return t, netUnreadable.refusal(shown)
	}
	u.Scheme = scheme
	u.Host = t.host
	if t.addr.Is6() {
		u.Host = "[" + t.host + "]"
	}
	if t.port != defaultPort(scheme) {
		u.Host += ":" + strconv.Itoa(int(t.port))
	}
	t.url = u
	if why := judgePort(t.port); why != nil {
		return t, why.refusal(strconv.Itoa(int(t.port)))
	}
	return t, nil
}

func defaultPort(scheme string) uint16 {
	if scheme == "https" {
		return 443
	}
	return 80
}

// readPort splits the port off. The rest may still be in brackets.
func (t *netTarget) readPort(authority, scheme string) (host string, why *netReason) {
	t.port = defaultPort(scheme)
	host = authority
	port, has := "", false
	if i := strings.LastIndexByte(authority, ':'); i >= 0 && !strings.HasSuffix(authority, "]") {
		host, port, has = authority[:i], authority[i+1:], true
	}
	if has && port != "" {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 || port != strconv.FormatUint(n, 10) {
			return host, &netUnreadable
		}
		t.port = uint16(n)
	}
	if host == "" {
		return host, &netUnreadable
	}
	return host, nil
}

// readHost reads the number or the name of a machine.
func (t *netTarget) readHost(host string) *netReason {
	if inside, ok := strings.CutPrefix(host, "["); ok {
		inside, ok = strings.CutSuffix(inside, "]")
		a, err := netip.ParseAddr(inside)
		switch {
		case strings.Contains(inside, "%"):
			return &netZone
		case !isASCII(inside):
			return &netOddLetters
		case !ok || err != nil || !a.Is6():
			return &netUnreadable
		}
		t.host, t.addr = inside, a
		return nil
	}
	if strings.ContainsAny(host, "%[]") {
		return &netHidden
	}
	name, why := plainName(host)
	if why != nil {
		return why
	}
	t.host = name
	if a, err := netip.ParseAddr(name); err == nil && a.Is4() && name == strings.ToLower(host) {
		t.addr = a
		return nil
	}
	labels := strings.Split(name, ".")
	if last := labels[len(labels)-1]; numberLabel(last) {
		return &netOddNumber // not the one way in which a number is written
	}
	for _, label := range labels {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return &netUnreadable
		}
		for i := 0; i < len(label); i++ {
			if c := label[i]; c != '-' && c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') {
				return &netUnreadable
			}
		}
	}
	return nil
}

// plainName writes a name as the name service knows it: ASCII, in lower case,
// without the dot at its end. A name that only becomes one when look-alikes
// are replaced is refused.
func plainName(host string) (string, *netReason) {
	name := strings.TrimSuffix(strings.ToLower(host), ".")
	if !isASCII(name) {
		if norm.NFKC.String(name) != name || strings.ContainsRune(name, '。') {
			return "", &netOddLetters
		}
		for label := range strings.SplitSeq(name, ".") {
			if mixesScripts(label) {
				return "", &netOddLetters
			}
		}
	}
	if !isASCII(name) || strings.Contains(name, "xn--") {
		ascii, err := idna.Lookup.ToASCII(name)
		if err != nil {
			return "", &netOddLetters
		}
		name = ascii
	}
	if len(name) > 253 {
		return "", &netUnreadable
	}
	return name, nil
}

// mixesScripts reports whether Latin letters stand beside those of a script
// that has the same shapes.
func mixesScripts(label string) bool {
	latin, alike := false, false
	for _, r := range label {
		latin = latin || unicode.Is(unicode.Latin, r)
		alike = alike || unicode.In(r, unicode.Cyrillic, unicode.Greek, unicode.Armenian, unicode.Cherokee)
	}
	return latin && alike
}

// numberLabel reports whether programs take the last part of a name for a
// number: 7, 0x7f.
func numberLabel(label string) bool {
	if label == "" {
		return false
	}
	if hex, ok := strings.CutPrefix(label, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return strings.Trim(label, "0123456789") == ""
}

// looseAddr reads the number of a machine the way that the most forgiving
// program does: octal, hexadecimal, with parts left out, in full-width or
// circled digits. The command policy judges by it where a command would go.
func looseAddr(host string) (netip.Addr, bool) {
	host = strings.ToLower(norm.NFKC.String(strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, host)))
	host = strings.TrimSuffix(strings.ReplaceAll(host, "。", "."), ".")
	host = strings.Trim(host, "[]")
	if i := strings.IndexByte(host, '%'); i >= 0 {
		host = host[:i]
	}
	if a, err := netip.ParseAddr(host); err == nil {
		return a, true
	}
	parts := strings.Split(host, ".")
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	var value uint64
	for i, part := range parts {
		base := 10
		switch {
		case strings.HasPrefix(part, "0x"):
			part, base = part[2:], 16
		case strings.HasPrefix(part, "0o"):
			part, base = part[2:], 8
		case len(part) > 1 && part[0] == '0':
			part, base = part[1:], 8
		}
		n, err := strconv.ParseUint(part, base, 64)
		last := i == len(parts)-1
		if err != nil || !last && n > 255 || last && n >= 1<<(8*(5-len(parts))) {
			return netip.Addr{}, false
		}
		if last {
			value = value<<(8*(5-len(parts))) | n
		} else {
			value = value<<8 | n
		}
	}
	return netip.AddrFrom4([4]byte{byte(value >> 24), byte(value >> 16), byte(value >> 8), byte(value)}), true
}
