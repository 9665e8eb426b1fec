package client

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"oxios/kernel/sys"
)

// Client is a program that uses Oxios from outside.
type Client struct {
	ID        string     `json:"id"`
	Name      string     `json:"name"` // the person's word for it; no two have the same
	Scopes    []string   `json:"scopes"`
	CreatedAt time.Time  `json:"created_at"`
	UsedAt    *time.Time `json:"used_at,omitempty"` // when it last came, to the minute
}

// Added is a new program, with its token: nobody is shown it again.
type Added struct {
	Client Client `json:"client"`
	Token  string `json:"token"`
}

// kept is what the home keeps of a program.
type kept struct {
	Client
	Hash string `json:"hash"` // SHA-256 of the token, in hex
}

const (
	maxClients = 50
	maxName    = 60
	prefix     = "oxios_" // of every token, so that people and scanners know what it is
)

// hashOf is what is kept of a token. A token is 256 random bits: no slower hash makes it harder to guess.
func hashOf(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// holds reports whether a scope of c names a call.
func (c Client) holds(call string) bool {
	return call == Self || slices.ContainsFunc(ScopesFor(call), func(s string) bool { return slices.Contains(c.Scopes, s) })
}

// check makes a name and scopes fit to be kept, or says why they are not.
func check(name string, scopes []string) (string, []string, error) {
	name = strings.TrimSpace(name)
	switch {
	case name == "":
		return "", nil, sys.Errorf(sys.CodeInvalid, "The program needs a name. Nothing was added.").WithHint("Use the name that you know it by, like Claude Desktop.")
	case utf8.RuneCountInString(name) > maxName || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }):
		return "", nil, sys.Errorf(sys.CodeInvalid, "The name must be one line of at most %d visible characters. Nothing was added.", maxName)
	case len(scopes) == 0:
		return "", nil, sys.Errorf(sys.CodeInvalid, "The program needs at least one scope. Nothing was added.").WithHint("Choose from %s.", strings.Join(names(), ", "))
	}
	var out []string
	for _, n := range names() { // in one order, each once
		if slices.Contains(scopes, n) {
			out = append(out, n)
		}
	}
	for _, s := range scopes {
		if !slices.Contains(out, s) {
			return "", nil, sys.Errorf(sys.CodeInvalid, "There is no scope %q. Nothing was added.", s).WithHint("Choose from %s.", strings.Join(names(), ", "))
		}
	}
	return name, out, nil
}
