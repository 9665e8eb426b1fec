package security

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"
)

// NetGuard holds requests of agents to the public internet. It reads an
// address strictly, looks the name up, checks every answer, and dials the very
// address that it has checked, so that a name which leads elsewhere a moment
// later wins nothing. Each redirect passes the same.
//
// What it holds today is what contained commands reach, through [NetProxy]. The
// kernel fetches no page for an agent itself, and the endpoints that the person
// has configured are not the guard's. `oxios policy url` sends its requests
// through this transport. The zero value asks the system's name service and
// dials for real.
type NetGuard struct {
	Resolve func(ctx context.Context, name string) ([]netip.Addr, error)
	Dial    func(ctx context.Context, network, address string) (net.Conn, error)

	// Granted are the addresses of the own machine or network that the person
	// has opened. What leads to credentials stays closed whatever it holds.
	Granted []netip.Prefix
	// Grants, if set, returns more of them, asked for each time.
	Grants func() []netip.Prefix
}

// granted are all addresses that the person has opened.
func (g *NetGuard) granted() []netip.Prefix {
	if g.Grants == nil {
		return g.Granted
	}
	return slices.Concat(g.Granted, g.Grants())
}

// The bounds of a request.
const (
	maxRedirects   = 5
	netDialTimeout = 10 * time.Second
	maxNetAnswers  = 64
)

// Transport returns a transport whose every connection is the guard's. It uses
// no proxy, which would look names up elsewhere, and keeps no connection, which
// would outlast what was decided.
func (g *NetGuard) Transport() *http.Transport {
	return &http.Transport{
		DialContext: g.dial, DisableKeepAlives: true, ForceAttemptHTTP2: true,
		TLSHandshakeTimeout: netDialTimeout, ResponseHeaderTimeout: 30 * time.Second, MaxResponseHeaderBytes: 64 << 10,
	}
}

// Get asks for an address and follows where it leads, each step checked. The
// caller closes the body of the answer. A [*NetRefusal] says what was held
// back.
func (g *NetGuard) Get(ctx context.Context, transport http.RoundTripper, raw string) (*http.Response, error) {
	var seen []string
	for {
		t, refused := g.read(raw)
		if refused != nil {
			return nil, refused
		}
		at := t.url.String()
		switch {
		case slices.Contains(seen, at):
			return nil, netLoop.refusal(at)
		case len(seen) > maxRedirects:
			return nil, netTooMany.refusal(at)
		case len(seen) > 0 && t.url.Scheme == "http" && strings.HasPrefix(seen[len(seen)-1], "https:"):
			return nil, netDowngrade.refusal(at)
		}
		seen = append(seen, at)
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, http.NoBody)
		if err != nil {
			return nil, netUnreadable.refusal(at)
		}
		res, err := transport.RoundTrip(req)
		if err != nil {
			return nil, err
		}
		next := leadsTo(res)
		if next == "" {
			return res, nil
		}
		res.Body.Close() //nolint:errcheck // nothing of it is wanted
		// What stands there is judged as it is written before it is completed,
		// as the parser forgives what the guard does not.
		if raw, refused = complete(t, next); refused != nil {
			return nil, refused
		}
	}
}

// leadsTo returns the address that an answer sends on to, or "".
func leadsTo(res *http.Response) string {
	if res.StatusCode >= 300 && res.StatusCode < 400 && res.StatusCode != http.StatusNotModified {
		return res.Header.Get("Location")
	}
	_, after, ok := strings.Cut(res.Header.Get("Refresh"), "=")
	if !ok {
		return ""
	}
	return strings.Trim(strings.TrimSpace(after), `"'`)
}

// complete makes an address of a redirect absolute.
func complete(from netTarget, next string) (string, *NetRefusal) {
	for _, r := range next {
		if r == '\\' || r <= ' ' || r == 0x7f {
			return "", netHidden.refusal(next)
		}
	}
	u, err := from.url.Parse(next)
	if err != nil {
		return "", netUnreadable.refusal(next)
	}
	if scheme, _, ok := strings.Cut(next, ":"); ok && !strings.ContainsAny(scheme, "/?#") {
		return next, nil
	}
	return u.String(), nil
}

// read reads an address and judges what its text shows.
func (g *NetGuard) read(raw string) (netTarget, *NetRefusal) {
	t, refused := readURL(raw)
	if refused != nil {
		return t, refused
	}
	return t, g.judge(t.host, t.addr)
}

// judge judges the host of an address before anything is looked up.
func (g *NetGuard) judge(host string, a netip.Addr) *NetRefusal {
	if a.IsValid() {
		return g.judgeAddr(a, host)
	}
	if why := judgeName(host); why != nil && (!why.grant || len(g.granted()) == 0) {
		return why.refusal(host)
	}
	return nil
}

// judgeAddr judges one address. part is what the person reads as the reason.
func (g *NetGuard) judgeAddr(a netip.Addr, part string) *NetRefusal {
	why := judgeAddr(a)
	if why == nil || why.grant && slices.ContainsFunc(g.granted(), func(p netip.Prefix) bool { return p.Contains(a.Unmap()) }) {
		return nil
	}
	refused := why.refusal(part)
	if p, err := CheckGrant(a.Unmap().String()); err == nil {
		refused.Verdict.Own = GrantText(p)
	}
	return refused
}

// Closed returns the addresses of the person's own machine or network that raw leads
// to and that they could open, but have not; none where it leads elsewhere too, or
// where nobody can open it. A name is looked up only if lookUp says so: the
// question for it leaves this machine.
func (g *NetGuard) Closed(ctx context.Context, raw string, lookUp bool) []netip.Prefix {
	var out []netip.Prefix
	for _, a := range g.leads(ctx, raw, lookUp) {
		p, err := CheckGrant(a.Unmap().String())
		if err != nil {
			return nil
		}
		if g.judgeAddr(a, "") != nil && !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// Inside reports whether raw leads into the person's own machine or network, opened
// or not.
func (g *NetGuard) Inside(ctx context.Context, raw string) bool {
	if t, refused := readURL(raw); refused == nil && !t.addr.IsValid() && judgeName(t.host) != nil {
		return true
	}
	return slices.ContainsFunc(g.leads(ctx, raw, len(g.granted()) > 0), func(a netip.Addr) bool { return judgeAddr(a) != nil })
}

// leads returns the addresses that raw leads to, those of a name only with lookUp.
func (g *NetGuard) leads(ctx context.Context, raw string, lookUp bool) []netip.Addr {
	t, refused := readURL(raw)
	if refused != nil {
		return nil
	}
	if t.addr.IsValid() {
		return []netip.Addr{t.addr}
	}
	if why := judgeName(t.host); !lookUp || why != nil && !why.grant {
		return nil
	}
	answers, err := g.resolver()(ctx, t.host)
	if err != nil || len(answers) > maxNetAnswers {
		return nil
	}
	return answers
}

// dial connects a host with a port: it is looked up and checked here, where
// the connection is made, and nowhere else.
func (g *NetGuard) dial(ctx context.Context, network, hostPort string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(hostPort)
	if err != nil {
		return nil, netUnreadable.refusal(hostPort)
	}
	literal, _ := netip.ParseAddr(host)
	if refused := g.judge(host, literal); refused != nil {
		return nil, refused
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || judgePort(uint16(n)) != nil {
		return nil, netPort.refusal(port)
	}
	answers := []netip.Addr{literal}
	if !literal.IsValid() {
		var refused *NetRefusal
		if answers, refused = g.lookUp(ctx, host); refused != nil {
			return nil, refused
		}
	}
	dial := g.Dial
	if dial == nil {
		dial = (&net.Dialer{Timeout: netDialTimeout}).DialContext
	}
	for _, a := range answers {
		var conn net.Conn
		if conn, err = dial(ctx, network, net.JoinHostPort(a.Unmap().String(), port)); err == nil {
			return conn, nil
		}
	}
	return nil, err
}

// lookUp returns the checked addresses of a name. One bad answer refuses all:
// a public name that also leads inside is an attack or a mistake. The name is
// asked for twice. What counts is the first answer, which is dialled; the
// second one only shows a name that is made to change between a check and the
// request of some other program.
func (g *NetGuard) lookUp(ctx context.Context, name string) ([]netip.Addr, *NetRefusal) {
	resolve := g.resolver()
	var first []netip.Addr
	for again := range 2 {
		answers, err := resolve(ctx, name)
		if err != nil || len(answers) == 0 || len(answers) > maxNetAnswers {
			return nil, netNoAnswer.refusal(name)
		}
		for _, a := range answers {
			refused := g.judgeAddr(a, name+" → "+a.String())
			if refused == nil && judgeAddr(a) == nil && judgeName(name) != nil {
				refused = netOwnName.refusal(name) // only what was granted opens such a name
			}
			if refused != nil && again == 1 {
				refused = netRebinds.refusal(refused.Verdict.Part)
			}
			if refused != nil {
				return nil, refused
			}
		}
		if again == 0 {
			first = answers
		}
	}
	return first, nil
}

func (g *NetGuard) resolver() func(ctx context.Context, name string) ([]netip.Addr, error) {
	if g.Resolve != nil {
		return g.Resolve
	}
	return func(ctx context.Context, name string) ([]netip.Addr, error) {
		if name == "localhost" { // this computer, whatever a name server says (RFC 6761)
			return []netip.Addr{netip.MustParseAddr("127.0.0.1"), netip.IPv6Loopback()}, nil
		}
		return net.DefaultResolver.LookupNetIP(ctx, "ip", name+".") // never through the search list
	}
}

// Look judges an address by asking for it through the guard's transport.
// Nothing of the answer is kept. It is for guards whose Dial is not real.
func (g *NetGuard) Look(ctx context.Context, raw string) NetVerdict {
	transport := g.Transport()
	transport.DialTLSContext = g.dial // whoever stands in for the machine speaks no TLS
	res, err := g.Get(ctx, transport, raw)
	if err == nil {
		res.Body.Close() //nolint:errcheck // nothing of it is wanted
		return netAllowed
	}
	if refused, ok := errors.AsType[*NetRefusal](err); ok {
		return refused.Verdict
	}
	return netUnanswered.refusal(raw).Verdict
}
