package mcp

import (
	"maps"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	"oxios/kernel/security"
	"oxios/kernel/sys"
)

// Settings are the part [mcp] of config.toml.
type Settings struct {
	IdleMin int               `toml:"idle_min" json:"idle_min,omitempty"`                         // minutes without a call after which a server ends; 0 is 10
	Client  string            `toml:"client_document,omitempty" json:"client_document,omitempty"` // https address of a document that describes Oxios to authorization servers
	Servers map[string]Server `toml:"servers" json:"servers,omitempty"`
}

// Server is one [mcp.servers.NAME] table of config.toml: a program that lends its tools to agents, or the address of one that
// runs elsewhere. It holds no key.
type Server struct {
	Command  string            `toml:"command,omitempty" json:"command"`
	Args     []string          `toml:"args,omitempty" json:"args,omitempty"`
	Env      map[string]string `toml:"env,omitempty" json:"env,omitempty"`         // besides the environment without secrets that every command gets
	Secrets  []string          `toml:"secrets,omitempty" json:"secrets,omitempty"` // variables whose values are kept as keys
	Read     []string          `toml:"read,omitempty" json:"read,omitempty"`       // folders that it sees besides its own; ~ is the person's home
	Write    []string          `toml:"write,omitempty" json:"write,omitempty"`     // folders that it may change too
	Network  bool              `toml:"network,omitempty" json:"network,omitempty"` // it may reach public machines
	Effect   Effect            `toml:"effect,omitempty" json:"effect,omitempty"`   // what the person says that its tools do; "" asks before each call
	Disabled bool              `toml:"disabled,omitempty" json:"disabled,omitempty"`
	Always   bool              `toml:"always,omitempty" json:"always,omitempty"`       // its tools are offered to every run, before those that are found
	Sampling bool              `toml:"sampling,omitempty" json:"sampling,omitempty"`   // it may ask the model, each time with the person's approval
	AppHosts []string          `toml:"app_hosts,omitempty" json:"app_hosts,omitempty"` // machines that its apps may reach from the window, of those that they name

	// Of a server that runs elsewhere, in place of Command.
	URL      string   `toml:"url,omitempty" json:"url,omitempty"`             // https, or http for this computer and the own network
	Headers  []string `toml:"headers,omitempty" json:"headers,omitempty"`     // names of headers whose values are kept as keys
	ClientID string   `toml:"client_id,omitempty" json:"client_id,omitempty"` // Oxios as its authorization server knows it; "" registers by itself
}

// runsAs reports whether its program runs as that of another definition: with the same command line, environment, folders and
// network, and may ask the model as before. What its tools may do without approval is asked for at each call.
func (s Server) runsAs(o Server) bool {
	s.Effect, s.Always, s.AppHosts = o.Effect, o.Always, o.AppHosts
	return reflect.DeepEqual(s, o)
}

// Effect is what the person grants a server's tools to do. What a server says of its own tools never changes it.
type Effect string

// The effects, from the least to the most.
const (
	EffectUnknown Effect = ""        // nobody said: every call waits for the person
	EffectNone    Effect = "none"    // computes, and touches nothing
	EffectRead    Effect = "read"    // looks at what it was given
	EffectWrite   Effect = "write"   // changes files in the folders that it may write
	EffectNetwork Effect = "network" // reaches other machines
)

var effects = []Effect{EffectUnknown, EffectNone, EffectRead, EffectWrite, EffectNetwork}

// policy is the effect as the guard weighs it.
func (s Server) policy() (security.Effect, security.Tier) {
	switch s.Effect {
	case EffectNone, EffectRead:
		return security.EffectRead, security.TierFree
	case EffectWrite:
		return security.EffectWrite, security.TierTell
	case EffectNetwork:
		return security.EffectNetwork, security.TierAsk
	}
	return security.EffectUnknown, security.TierAsk
}

func each(list []string, fn func(string) string) []string {
	out := make([]string, 0, len(list))
	for _, p := range list {
		out = append(out, fn(p))
	}
	return out
}

// names are those that a server can have: they begin the names of its tools.
var names = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$`) })

// most is how many servers there may be.
const most = 200

// Check says which setting of config.toml cannot be meant. expand makes a path that begins with ~ absolute.
func (s Settings) Check(expand func(string) string) error {
	if s.IdleMin < 0 || s.IdleMin > 1440 {
		return sys.Errorf(sys.CodeInvalid, "idle_min is %d, but must be from 0 to 1440", s.IdleMin)
	}
	if len(s.Servers) > most {
		return sys.Errorf(sys.CodeInvalid, "there are %d servers, but may be at most %d", len(s.Servers), most)
	}
	if a, err := security.ReadAddress(s.Client); s.Client != "" && (err != nil || !a.TLS || len(a.Open) > 0) {
		return sys.Errorf(sys.CodeInvalid, "client_document is %q, but must be an https address that an authorization server can read", sys.Shorten(s.Client, 200))
	}
	for name, server := range s.Servers {
		if err := CheckServer(name, server, expand); err != nil {
			return err
		}
	}
	return nil
}

// CheckServer says what of one server cannot be meant.
func CheckServer(name string, s Server, expand func(string) string) error {
	switch {
	case !names().MatchString(name):
		return sys.Errorf(sys.CodeInvalid, "the server's name %q must be of small letters, digits and hyphens, at most 32", name)
	case !slices.Contains(effects, s.Effect):
		return sys.Errorf(sys.CodeInvalid, "the effect of the server %s is %q, but must be none, read, write or network", name, s.Effect)
	case slices.ContainsFunc(s.AppHosts, func(h string) bool { return appHost("https://"+h) != h }):
		return sys.Errorf(sys.CodeInvalid, "app_hosts of the server %s has an entry that is no name of a machine on the internet", name)
	case s.URL != "" || s.Command == "" && s.ClientID+strings.Join(s.Headers, "") != "":
		return checkRemote(name, s)
	case strings.TrimSpace(s.Command) == "":
		return sys.Errorf(sys.CodeInvalid, "the server %s has no command", name)
	case strings.ContainsAny(s.Command, "\x00\n"):
		return sys.Errorf(sys.CodeInvalid, "the command of the server %s is not one line", name)
	}
	for _, p := range slices.Concat(s.Read, s.Write) {
		if !filepath.IsAbs(expand(p)) || strings.ContainsRune(p, 0) {
			return sys.Errorf(sys.CodeInvalid, "the server %s has the folder %q, but a path begins with ~ or is absolute", name, p)
		}
	}
	for _, key := range slices.Concat(slices.Collect(maps.Keys(s.Env)), s.Secrets) {
		if key == "" || strings.ContainsAny(key, "=\x00") {
			return sys.Errorf(sys.CodeInvalid, "the server %s has the variable %q, which no environment can hold", name, key)
		}
	}
	return nil
}

// ownFolders says which of a server's folders it cannot have, as Oxios keeps its own files in it.
func (s *Service) ownFolders(def Server) error {
	for _, p := range slices.Concat(def.Read, def.Write) {
		if s.c.Own(s.path(p)) {
			return sys.Errorf(sys.CodeInvalid, "Oxios keeps its own files in the folder %s, so no server can have it", p)
		}
	}
	return nil
}
