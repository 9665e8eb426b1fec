package security

import (
	"bufio"
	"cmp"
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"oxios/kernel/sys"
)

// NetProxy is the one way to the network that a contained command has: a proxy
// for http and CONNECT whose every connection is the guard's. It keeps account of
// who was asked for.
type NetProxy struct {
	Guard *NetGuard
	// Closed is why nothing passes at all; the zero value lets pass what the
	// guard lets pass.
	Closed sys.Words
	// Password, if set, is what whoever asks has to know, as the user oxios; where others
	// could ask as well.
	Password string
	// Ports are ports of this computer that are open although the guard lets nobody
	// reach it.
	Ports []int
	// Only are the machines with their ports that it reaches; none reaches all that the guard lets pass.
	Only []string

	mu    sync.Mutex
	tries []NetTry
}

// NetTry is a machine that a command asked for.
type NetTry struct {
	Host     string `json:"host"` // with its port
	Allowed  bool   `json:"allowed"`
	Reason   string `json:"reason,omitempty"` // why it was refused, or could not be reached
	ReasonKO string `json:"reason_ko,omitempty"`
	Own      string `json:"own,omitempty"` // the address of the own network that a person could open
	Times    int    `json:"times"`
}

// The bounds of the proxy. A command writes what it reads.
const (
	maxProxyHead  = 64 << 10
	proxyHeadTime = 30 * time.Second
	maxNetTries   = 100 // machines of one command that are kept account of
)

// Serve answers what is said on one connection, and returns when both sides are
// done or ctx ends. The caller closes c.
func (p *NetProxy) Serve(ctx context.Context, c net.Conn) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { c.Close() }) //nolint:errcheck // only to end what reads or writes
	defer stop()
	if c.SetReadDeadline(time.Now().Add(proxyHeadTime)) != nil {
		return
	}
	head := &io.LimitedReader{R: c, N: maxProxyHead}
	said := bufio.NewReader(head)
	q, err := http.ReadRequest(said)
	if err != nil {
		answerText(c, http.StatusBadRequest, "This is no request for an http proxy.\n")
		return
	}
	head.N = math.MaxInt64
	if c.SetReadDeadline(time.Time{}) != nil {
		return
	}
	if !p.known(q) {
		_, _ = io.WriteString(c, "HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=\"oxios\"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n") // who has gone needs no answer
		return
	}
	there, err := p.connect(ctx, q)
	if err != nil {
		answerText(c, statusOf(err), err.Error()+"\n")
		return
	}
	defer there.Close()                                           //nolint:errcheck // what came is with the command
	stopThere := context.AfterFunc(ctx, func() { there.Close() }) //nolint:errcheck // only to end what reads
	defer stopThere()
	if q.Method == http.MethodConnect {
		if _, err := io.WriteString(c, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
			return
		}
		go func() { // it ends when either side is closed
			if _, err := io.Copy(there, said); err == nil {
				if half, ok := there.(interface{ CloseWrite() error }); ok {
					_ = half.CloseWrite() // the other side reads the end, or is gone
					return
				}
			}
			cancel()
		}()
		_, _ = io.Copy(c, there) // an error is the end as well
		return
	}
	forward(q)
	if q.Write(there) == nil {
		_, _ = io.Copy(c, there)
	}
}

// known reports whether a request has the password, if one is needed.
func (p *NetProxy) known(q *http.Request) bool {
	if p.Password == "" {
		return true
	}
	asked := http.Request{Header: http.Header{"Authorization": q.Header["Proxy-Authorization"]}}
	user, password, ok := asked.BasicAuth()
	return ok && user == "oxios" && subtle.ConstantTimeCompare([]byte(password), []byte(p.Password)) == 1
}

// forward makes of a request to a proxy one to the machine itself, the last on
// its connection.
func forward(q *http.Request) {
	for _, name := range strings.Split(q.Header.Get("Connection"), ",") {
		q.Header.Del(strings.TrimSpace(name))
	}
	for _, name := range []string{"Connection", "Proxy-Connection", "Proxy-Authorization", "Proxy-Authenticate", "Keep-Alive", "Te", "Trailer", "Upgrade"} {
		q.Header.Del(name)
	}
	q.Close = true
	if q.Header.Get("User-Agent") == "" {
		q.Header.Set("User-Agent", "") // none of ours either
	}
}

// connect reads where a request wants to go, has the guard judge it and connects.
func (p *NetProxy) connect(ctx context.Context, q *http.Request) (net.Conn, error) {
	raw := q.URL.String()
	if q.Method == http.MethodConnect {
		raw = "https://" + q.Host
	}
	t, refused := p.Guard.read(raw)
	host := cmp.Or(q.URL.Host, q.Host)
	if refused == nil || t.host != "" {
		host = net.JoinHostPort(t.host, strconv.Itoa(int(t.port)))
	}
	host = shortPart(host)
	if p.Closed != (sys.Words{}) {
		return nil, p.refuse(host, p.Closed, "")
	}
	if len(p.Only) > 0 && !slices.Contains(p.Only, host) {
		return nil, p.refuse(host, sys.Say("This download reaches %s alone.", strings.Join(p.Only, ", ")), "")
	}
	if there, port := q.URL.Hostname(), q.URL.Port(); slices.ContainsFunc(p.Ports, func(open int) bool { return port == strconv.Itoa(open) }) &&
		(strings.EqualFold(there, "localhost") || there == "127.0.0.1" || there == "::1") {
		return p.here(ctx, host, port)
	}
	if refused == nil && q.Method != http.MethodConnect && t.url.Scheme != "http" {
		refused = netScheme.refusal(t.url.Scheme)
	}
	if refused != nil {
		return nil, p.refuse(host, sys.Words{EN: refused.Verdict.Reason, KO: refused.Verdict.ReasonKO}, refused.Verdict.Own)
	}
	conn, err := p.Guard.dial(ctx, "tcp", net.JoinHostPort(t.host, strconv.Itoa(int(t.port))))
	if held, ok := errors.AsType[*NetRefusal](err); ok {
		return nil, p.refuse(host, sys.Words{EN: held.Verdict.Reason, KO: held.Verdict.ReasonKO}, held.Verdict.Own)
	}
	if err != nil {
		p.note(NetTry{Host: host, Allowed: true, Reason: "It did not answer.", ReasonKO: "응답하지 않았습니다."})
		return nil, fmt.Errorf("%s could not be reached", host)
	}
	p.note(NetTry{Host: host, Allowed: true})
	return conn, nil
}

// here connects to a port of this computer, as a program that means either end of
// its loopback.
func (p *NetProxy) here(ctx context.Context, host, port string) (net.Conn, error) {
	for _, at := range []string{"127.0.0.1", "::1"} {
		if conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort(at, port)); err == nil {
			p.note(NetTry{Host: host, Allowed: true})
			return conn, nil
		}
	}
	p.note(NetTry{Host: host, Allowed: true, Reason: "It did not answer.", ReasonKO: "응답하지 않았습니다."})
	return nil, fmt.Errorf("%s could not be reached", host)
}

// proxyRefusal is the answer to a request that does not pass.
type proxyRefusal struct{ text string }

func (e *proxyRefusal) Error() string { return e.text }

func statusOf(err error) int {
	if _, ok := errors.AsType[*proxyRefusal](err); ok {
		return http.StatusForbidden
	}
	return http.StatusBadGateway
}

func (p *NetProxy) refuse(host string, why sys.Words, own string) error {
	p.note(NetTry{Host: host, Reason: why.EN, ReasonKO: why.KO, Own: own})
	return &proxyRefusal{"Oxios refused " + host + ": " + why.EN}
}

func (p *NetProxy) note(t NetTry) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.tries {
		if k := &p.tries[i]; k.Host == t.Host && k.Allowed == t.Allowed && k.Reason == t.Reason {
			k.Times++
			return
		}
	}
	if t.Times = 1; len(p.tries) < maxNetTries {
		p.tries = append(p.tries, t)
	}
}

// Tries returns the machines that were asked for so far, in their order.
func (p *NetProxy) Tries() []NetTry {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]NetTry(nil), p.tries...)
}

// answerText answers a request that goes nowhere.
func answerText(c net.Conn, status int, text string) {
	_, _ = fmt.Fprintf(c, "HTTP/1.1 %d %s\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s",
		status, http.StatusText(status), len(text), text) // who has gone needs no answer
}
