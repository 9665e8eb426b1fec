package kernel

import (
	"bytes"
	"encoding/json"
	"maps"
	"regexp"

	"github.com/pelletier/go-toml/v2"

	"oxios/kernel/mcp"
)

// MCP are the servers of tools that are in force.
func (f *configFile) MCP() mcp.Settings { return f.get().MCPSettings }

// SetMCPServer writes a server into config.toml, in place of the one of this name; nil takes it out. Comments inside its
// table go with it.
func (f *configFile) SetMCPServer(name string, server *mcp.Server) error {
	return f.change(func(raw []byte) ([]byte, error) { return setServer(raw, name, server) }, func(c *Config) {
		servers := maps.Clone(c.MCPSettings.Servers)
		if servers == nil {
			servers = map[string]mcp.Server{}
		}
		if delete(servers, name); server != nil {
			servers[name] = *server
		}
		c.MCPSettings.Servers = servers
	})
}

func setServer(raw []byte, name string, server *mcp.Server) ([]byte, error) {
	// The name is one that [mcp.CheckServer] lets through.
	table := regexp.MustCompile(`(?m)^[ \t]*\[mcp\.servers\."?` + regexp.QuoteMeta(name) + `"?(\.[^\]\n]*)?\][^\n]*\n?`)
	for {
		at := table.FindIndex(raw)
		if at == nil {
			break
		}
		end := len(raw)
		if next := tablePattern().FindIndex(raw[at[1]:]); next != nil {
			end = at[1] + next[0]
		}
		raw = append(bytes.Clone(raw[:at[0]]), raw[end:]...)
	}
	if server == nil {
		return raw, nil
	}
	plain := *server
	plain.Env = nil
	text, err := toml.Marshal(plain)
	if err != nil {
		return nil, err
	}
	raw = bytes.TrimRight(raw, "\n")
	if len(raw) > 0 {
		raw = append(raw, "\n\n"...)
	}
	raw = append(append(raw, "[mcp.servers."+name+"]\n"...), text...)
	if len(server.Env) > 0 {
		env, err := toml.Marshal(server.Env)
		if err != nil {
			return nil, err
		}
		raw = append(append(raw, "\n[mcp.servers."+name+".env]\n"...), env...)
	}
	return raw, nil
}

// sameMCP reports whether two settings say the same.
func sameMCP(a, b mcp.Settings) bool {
	x, errx := json.Marshal(a)
	y, erry := json.Marshal(b)
	return errx == nil && erry == nil && bytes.Equal(x, y)
}
