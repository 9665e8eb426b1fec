package mcp

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"

	"oxios/kernel/security"
	"oxios/kernel/sys"
)

// refusalOf is why the network guard holds an address back.
func refusalOf(err error) sys.Words {
	if refused, ok := errors.AsType[*security.NetRefusal](err); ok {
		return sys.Words{EN: refused.Verdict.Reason, KO: refused.Verdict.ReasonKO}
	}
	return sys.Words{EN: plain(err.Error(), 200)}
}

// unreached says why a machine could not be asked.
func unreached(name, host string, err error) *sys.Error {
	if e, ok := errors.AsType[*sys.Error](err); ok {
		return e
	}
	if refused, ok := errors.AsType[*security.NetRefusal](err); ok {
		e := sys.Errorf(sys.CodeRefused, "Nothing was sent to %s for the server %s. %s", host, name, refusalOf(err)).WithCause(err)
		if refused.Verdict.Own != "" {
			return e.WithHint("If you trust it, open the address first: `oxios permissions grant-address %s`.", refused.Verdict.Own)
		}
		return e.WithHint("Check the address of the server.")
	}
	var cert *tls.CertificateVerificationError
	var unknown x509.UnknownAuthorityError
	var record tls.RecordHeaderError
	if errors.As(err, &cert) || errors.As(err, &unknown) || errors.As(err, &record) {
		return sys.Errorf(sys.CodeNetwork, "The certificate of %s is not valid, so nothing was sent for the server %s.", host, name).WithCause(err).
			WithHint("Check the address, and the date of this computer.")
	}
	if late, ok := errors.AsType[net.Error](err); ok && late.Timeout() {
		return sys.Errorf(sys.CodeNetwork, "%s did not answer in time for the server %s.", host, name).WithCause(err).WithHint("Check the connection, then try again.")
	}
	return sys.Errorf(sys.CodeNetwork, "%s could not be reached for the server %s.", host, name).WithCause(err).WithHint("Check the address and the connection, then try again.")
}
