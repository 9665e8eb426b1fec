package web

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"oxios/kernel/security"
	"oxios/kernel/sys"
)

// shown is an address as a sentence names it.
func shown(address string) string { return sys.Shorten(visible(address), 200) }

// hostOf is the machine of an address as a sentence names it.
func hostOf(address string) string {
	if u, err := url.Parse(address); err == nil && u.Hostname() != "" {
		return shown(u.Hostname())
	}
	return shown(address)
}

// failure says why a request for address got no answer. ctx is the caller's,
// which may have ended itself.
func (c *Client) failure(ctx context.Context, err error, address string, t *trip) error {
	at := address
	if n := len(t.addresses); n > 0 {
		at = t.addresses[n-1]
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if refused, ok := errors.AsType[*security.NetRefusal](err); ok {
		return refusal(refused, address, at, t)
	}
	if slow(err) {
		return sys.Errorf(sys.CodeTimeout, "%s did not answer within %s.", hostOf(at), c.Timeout).
			WithHint("Try again later, or use another source.").WithCause(err)
	}
	if faultOfTLS(err) {
		return sys.Errorf(sys.CodeNetwork, "The encrypted connection to %s cannot be trusted: %w.", hostOf(at), err).
			WithHint("Nothing was read. Use another source; whoever runs the site has to repair its certificate.")
	}
	return sys.Errorf(sys.CodeNetwork, "%s could not be reached: %w.", hostOf(at), err).
		WithHint("Check the address and the connection, and try again.")
}

// refusal tells what the guard held back: the address that was asked for, or
// one to which it led.
func refusal(refused *security.NetRefusal, address, at string, t *trip) error {
	v := refused.Verdict
	switch dns, ok := errors.AsType[*net.DNSError](t.lookup); {
	case ok && dns.IsTimeout:
		return sys.Errorf(sys.CodeTimeout, "The name service did not say in time where %s is.", hostOf(at)).
			WithHint("Check the connection, and try again.").WithCause(t.lookup)
	case ok && dns.IsNotFound:
		return sys.Errorf(sys.CodeNotFound, "There is no machine with the name %s.", hostOf(at)).
			WithHint("Check how the address is written, and the connection, or search for the page.").WithCause(t.lookup)
	case t.lookup != nil:
		return sys.Errorf(sys.CodeNetwork, "The name service could not say where %s is: %w.", hostOf(at), t.lookup).
			WithHint("Check the connection, and try again.")
	}
	why := sys.Words{EN: v.Reason, KO: v.ReasonKO}
	var e *sys.Error
	// The first address is refused before the trip begins where its text shows
	// the reason, and during the first step where the name does.
	if len(t.addresses) > 1 || len(t.addresses) == 1 && !strings.Contains(at, v.Part) && !strings.Contains(v.Part, "→") {
		e = sys.Errorf(sys.CodeRefused, "%s leads on to an address that Oxios does not open (%s): %s", shown(address), shown(v.Part), why)
	} else {
		e = sys.Errorf(sys.CodeRefused, "Oxios does not open %s (%s): %s", shown(address), shown(v.Part), why)
	}
	e = e.WithCause(refused)
	if v.Tier == security.TierAsk {
		return e.WithHint("Pages of the own machine and network are closed to agents. Use a public address, or ask the person to open this one: `oxios permissions grant-address ADDRESS`.")
	}
	return e.WithHint("Use a public address that begins with http:// or https://.")
}

// slow reports whether err says that time ran out.
func slow(err error) bool {
	n, ok := errors.AsType[net.Error](err)
	return errors.Is(err, context.DeadlineExceeded) || ok && n.Timeout()
}

func faultOfTLS(err error) bool {
	var (
		verify  *tls.CertificateVerificationError
		record  tls.RecordHeaderError
		alert   tls.AlertError
		unknown x509.UnknownAuthorityError
		host    x509.HostnameError
		invalid x509.CertificateInvalidError
	)
	return errors.As(err, &verify) || errors.As(err, &record) || errors.As(err, &alert) ||
		errors.As(err, &unknown) || errors.As(err, &host) || errors.As(err, &invalid) || strings.Contains(err.Error(), "tls: ")
}

// unread says why the rest of an answer did not come.
func (c *Client) unread(ctx context.Context, err error, t *trip, address string) error {
	if ctx.Err() != nil || slow(err) {
		return c.failure(ctx, err, address, t)
	}
	return sys.Errorf(sys.CodeNetwork, "The answer of %s ended in the middle or is damaged: %w.", hostOf(address), err).
		WithHint("Try again, or use another source.")
}

// refusedStatus says that a server answered with a failure. said is the text of
// its answer, which is the server's own.
func refusedStatus(address string, status int, said string) error {
	code := sys.CodeInvalid
	switch {
	case status == http.StatusNotFound, status == http.StatusGone:
		code = sys.CodeNotFound
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		code = sys.CodeForbidden
	case status == http.StatusTooManyRequests:
		code = sys.CodeRateLimit
	case status >= 500:
		code = sys.CodeUnavailable
	}
	name := fmt.Sprint(status)
	if text := http.StatusText(status); text != "" {
		name += " " + text
	}
	e := sys.Errorf(code, "%s answered with status %s and without text.", shown(address), name)
	if said = strings.Join(strings.Fields(visible(said)), " "); said != "" {
		e = sys.Errorf(code, "%s answered with status %s: %q", shown(address), name, sys.Shorten(said, 300))
	}
	switch {
	case code == sys.CodeNotFound:
		return e.WithHint("The page is not there. Search for it, or begin at the front page of the site.")
	case code == sys.CodeForbidden:
		return e.WithHint("The site does not show it without a sign-in, or not to programs. Use another source.")
	case code == sys.CodeRateLimit, code == sys.CodeUnavailable:
		return e.WithHint("Try again later, or use another source.")
	}
	return e.WithHint("Check the address, or use another source.")
}

func tooLarge(address string, limit int64) error {
	return sys.Errorf(sys.CodeTooLarge, "%s is larger than %d KiB, and its kind can only be read whole.", shown(address), limit>>10).
		WithHint("Look for a shorter version of it, or for a page that tells of it.")
}
