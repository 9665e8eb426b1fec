package security

import "net/netip"

// Address is an address of a server that the person named by hand.
type Address struct {
	URL  string // as the guard reads it: scheme and host in lower case, no default port
	Host string // with its port, unless that is the usual one
	TLS  bool
	Own  bool // it names this computer or the person's own network

	// Open are the addresses that naming it opens: the number that stands in it, or those of this computer for localhost.
	// A name opens none, as it can be made to lead anywhere.
	Open []netip.Prefix
}

// ReadAddress reads an address strictly, and looks nothing up. A [*NetRefusal] says why nothing may be sent there.
func ReadAddress(raw string) (Address, error) {
	t, refused := readURL(raw)
	if refused != nil {
		return Address{}, refused
	}
	out := Address{URL: t.url.String(), Host: t.url.Host, TLS: t.url.Scheme == "https"}
	why := judgeName(t.host)
	if t.addr.IsValid() {
		why = judgeAddr(t.addr)
	}
	switch {
	case why == nil:
		return out, nil
	case !why.grant:
		return Address{}, why.refusal(t.host)
	}
	out.Own = true
	switch {
	case t.addr.IsValid():
		a := t.addr.Unmap()
		out.Open = []netip.Prefix{netip.PrefixFrom(a, a.BitLen())}
	case t.host == "localhost":
		out.Open = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32"), netip.MustParsePrefix("::1/128")}
	}
	return out, nil
}

// Opened is the guard with more addresses open.
func (g *NetGuard) Opened(more []netip.Prefix) *NetGuard {
	with := *g
	with.Granted = append(append([]netip.Prefix{}, g.Granted...), more...)
	return &with
}
