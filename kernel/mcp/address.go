package mcp

import (
	"net/http"
	"slices"
	"strings"

	"oxios/kernel/security"
	"oxios/kernel/sys"
)

// The bounds of what config.toml says of a server that runs elsewhere.
const (
	maxHeaders  = 16
	maxClientID = 500
)

// remote reports whether a server runs elsewhere and is reached over HTTP.
func (s Server) remote() bool { return s.URL != "" }

// host is the machine that a server runs on, as people read it; "" for a program of this computer.
func (s Server) host() string {
	if !s.remote() {
		return ""
	}
	at, err := security.ReadAddress(s.URL)
	if err != nil {
		return ""
	}
	return at.Host
}

// own are the headers that the protocol itself sends, and those that belong to the connection.
var own = []string{
	"Accept", "Accept-Encoding", "Connection", "Content-Length", "Content-Type", "Cookie", "Host", "Last-Event-Id", "Origin", "Proxy-Authorization", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
}

// checkRemote says what of a server that runs elsewhere cannot be meant.
func checkRemote(name string, s Server) error {
	if s.Command != "" || len(s.Args)+len(s.Env)+len(s.Secrets)+len(s.Read)+len(s.Write) > 0 || s.Network {
		return sys.Errorf(sys.CodeInvalid, "the server %s has an address, so it has no command, environment, folders or network setting", name)
	}
	at, err := security.ReadAddress(s.URL)
	switch {
	case err != nil:
		return sys.Errorf(sys.CodeInvalid, "the address of the server %s cannot be used: %s", name, clause(refusalOf(err)))
	case strings.Contains(s.URL, "#"):
		return sys.Errorf(sys.CodeInvalid, "the address of the server %s ends in a part with #, which is not sent", name)
	case !at.TLS && !at.Own:
		return sys.Errorf(sys.CodeInvalid, "the address of the server %s must begin with https, because what is sent to it could be read on the way", name)
	case s.Effect == EffectWrite:
		return sys.Errorf(sys.CodeInvalid, "the server %s runs elsewhere and has no folders: its effect is none, read or network", name)
	case len(s.ClientID) > maxClientID || plain(s.ClientID, maxClientID+1) != s.ClientID:
		return sys.Errorf(sys.CodeInvalid, "the client_id of the server %s is too long, or holds characters that cannot be seen", name)
	case len(s.Headers) > maxHeaders:
		return sys.Errorf(sys.CodeInvalid, "the server %s has more than %d headers", name, maxHeaders)
	}
	for _, h := range s.Headers {
		if h == "" || len(h) > 64 || strings.IndexFunc(h, func(r rune) bool { return !headerRune(r) }) >= 0 ||
			slices.Contains(own, http.CanonicalHeaderKey(h)) || strings.HasPrefix(http.CanonicalHeaderKey(h), "Mcp-") {
			return sys.Errorf(sys.CodeInvalid, "the server %s has the header %q, which cannot be set", name, sys.Shorten(h, 64))
		}
	}
	return nil
}

// clause is a sentence without its full stop.
func clause(w sys.Words) sys.Words {
	return sys.Words{EN: strings.TrimSuffix(w.EN, "."), KO: strings.TrimSuffix(w.KO, ".")}
}

func headerRune(r rune) bool {
	return r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}

// authorizes reports whether one of a server's own headers is the one that a sign-in would fill.
func (s Server) authorizes() bool {
	return slices.ContainsFunc(s.Headers, func(h string) bool { return strings.EqualFold(h, "Authorization") })
}
