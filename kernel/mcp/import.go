package mcp

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/pelletier/go-toml/v2"

	"oxios/kernel/sys"
)

// maxImport is how many bytes the settings of another program may have.
const maxImport = 4 << 20

// foreign is a server as the settings of another program have it.
type foreign struct {
	name    string // as it is called there
	def     Server
	headers map[string]string // of one that runs elsewhere
	why     sys.Words         // why it cannot be taken
}

// readForeign reads the settings of Claude Desktop and Code, Cherry Studio, Cursor and VS Code (mcpServers, servers), opencode
// (mcp), OpenClaw (mcp.servers), Codex (mcp_servers) and goose (extensions): told by what they hold, not by their name.
func readForeign(raw []byte) ([]foreign, error) {
	if len(raw) > maxImport {
		return nil, sys.Errorf(sys.CodeTooLarge, "The file has more than %d MB. Nothing was imported.", maxImport>>20)
	}
	v, err := decode(raw)
	if err != nil {
		return nil, sys.Errorf(sys.CodeInvalid, "The file is no JSON, TOML or YAML that can be read: %w. Nothing was imported.", err).WithHint("Choose the settings of a program that has MCP servers.")
	}
	var out []foreign
	taken := map[string]bool{}
	for _, servers := range tables(v) {
		for _, name := range slices.Sorted(maps.Keys(servers)) {
			table, ok := servers[name].(map[string]any)
			if !ok || taken[name] {
				continue
			}
			if inner, ok := table["config"].(map[string]any); ok { // older settings of goose
				inner["enabled"] = table["enabled"]
				table = inner
			}
			if f, ok := foreignOf(name, table); ok {
				taken[name] = true
				out = append(out, f)
			}
		}
	}
	if len(out) == 0 {
		return nil, sys.Errorf(sys.CodeNotFound, "The file names no MCP servers. Nothing was imported.").WithHint("Choose the settings of a program that has MCP servers.")
	}
	return out, nil
}

// tables are the places of a file that can hold servers.
func tables(v map[string]any) (out []map[string]any) {
	at := func(v map[string]any, keys ...string) {
		for _, key := range keys {
			inner, ok := v[key].(map[string]any)
			if !ok {
				return
			}
			v = inner
		}
		out = append(out, v)
	}
	for _, keys := range [][]string{{"mcpServers"}, {"mcp", "servers"}, {"mcp"}, {"mcp_servers"}, {"extensions"}, {"servers"}} {
		at(v, keys...)
	}
	projects, _ := v["projects"].(map[string]any) // Claude Code keeps those of each folder below it
	for _, folder := range slices.Sorted(maps.Keys(projects)) {
		if p, ok := projects[folder].(map[string]any); ok {
			at(p, "mcpServers")
		}
	}
	return out
}

// decode reads JSON with comments, TOML or YAML.
func decode(raw []byte) (v map[string]any, err error) {
	raw = bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf"))
	if bytes.HasPrefix(bytes.TrimSpace(withoutComments(raw)), []byte("{")) {
		return v, json.Unmarshal(withoutComments(raw), &v)
	}
	if err = toml.Unmarshal(raw, &v); err == nil {
		return v, nil
	}
	if deep(raw) {
		return nil, errors.New("it is nested too deeply")
	}
	if yerr := yaml.Unmarshal(raw, &v); yerr == nil && v != nil {
		return v, nil
	}
	return nil, err
}

// deep reports whether brackets stand in one another further than settings do, or aliases could multiply what is there.
func deep(raw []byte) bool {
	depth := 0
	for _, b := range raw {
		switch b {
		case '[', '{':
			if depth++; depth > 64 {
				return true
			}
		case ']', '}':
			depth--
		}
	}
	return aliases().Match(raw)
}

var aliases = sys.Pattern(`(?m)(^|[\s:\-,\[])[*&][A-Za-z0-9_]`)

// withoutComments takes comments and commas before a closing bracket out of JSON, as people write it in settings.
func withoutComments(raw []byte) []byte {
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case c == '"':
			from := i
			for i++; i < len(raw) && raw[i] != '"'; i++ {
				if raw[i] == '\\' {
					i++
				}
			}
			out = append(out, raw[from:min(i+1, len(raw))]...)
		case c == '/' && i+1 < len(raw) && raw[i+1] == '/':
			for i < len(raw) && raw[i] != '\n' {
				i++
			}
			out = append(out, '\n')
		case c == '/' && i+1 < len(raw) && raw[i+1] == '*':
			end := bytes.Index(raw[i+2:], []byte("*/"))
			if end < 0 {
				return out
			}
			i += end + 3
		case c == '}' || c == ']':
			out = append(bytes.TrimSuffix(bytes.TrimRight(out, " \t\r\n"), []byte(",")), c)
		default:
			out = append(out, c)
		}
	}
	return out
}

// foreignOf reads one server; ok is false for a table that is none.
func foreignOf(name string, t map[string]any) (f foreign, ok bool) {
	f = foreign{name: name, headers: map[string]string{}}
	command := wordOf(t, "command", "cmd")
	args := list(t["args"])
	if all := list(t["command"]); len(all) > 0 { // opencode has the whole line in one list
		command, args = all[0], append(all[1:], args...)
	}
	f.def.Command, f.def.Args = command, args
	f.def.Env = texts(t, "env", "envs", "environment")
	f.def.URL = wordOf(t, "url", "baseUrl", "uri")
	f.headers = texts(t, "headers", "http_headers")
	for header, variable := range texts(t, "env_http_headers") {
		f.headers[header] = "${" + variable + "}"
	}
	if v := wordOf(t, "bearer_token_env_var"); v != "" {
		f.headers["Authorization"] = "Bearer ${" + v + "}"
	}
	for _, v := range list(t["env_keys"]) { // goose keeps the values elsewhere
		f.def.Env[v] = cmp.Or(f.def.Env[v], "${"+v+"}")
	}
	f.def.Disabled = t["enabled"] == false || t["disabled"] == true || t["isActive"] == false
	switch kind := wordOf(t, "type", "transport"); {
	case f.def.URL == "" && command == "":
		return f, kind != "" && (kind == "stdio" || kind == "sse") && t["name"] != nil
	case f.def.URL != "" && command == "" && strings.EqualFold(kind, "sse"):
		f.why = sys.Say("It speaks an older kind of MCP over HTTP (SSE), which Oxios does not.")
	case f.def.URL != "" && command != "":
		f.why = sys.Say("It has both a command and an address.")
	}
	if f.def.URL == "" {
		f.headers = nil
	} else {
		f.def.Headers = slices.Sorted(maps.Keys(f.headers))
		f.def.Env = nil
	}
	return f, true
}

func wordOf(t map[string]any, keys ...string) string {
	for _, key := range keys {
		if s, ok := t[key].(string); ok && strings.TrimSpace(s) != "" {
			return strings.TrimSpace(s)
		}
	}
	return ""
}

func list(v any) (out []string) {
	all, _ := v.([]any)
	for _, one := range all {
		if s, ok := one.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// texts are the texts of the first of these tables that is there.
func texts(t map[string]any, keys ...string) map[string]string {
	out := map[string]string{}
	for _, key := range keys {
		table, _ := t[key].(map[string]any)
		for k, v := range table {
			if s, ok := v.(string); ok {
				out[k] = s
			}
		}
	}
	return out
}

// reference is a variable that stands in a value in place of it: ${NAME}, {env:NAME}.
var reference = sys.Pattern(`\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)\}|\{env:([A-Za-z_][A-Za-z0-9_]*)\}`)

// filled puts the environment's values in the place of references; ok is false where one of them has none.
func filled(value string, env func(string) string) (_ string, ok bool) {
	ok = true
	out := reference().ReplaceAllStringFunc(value, func(ref string) string {
		m := reference().FindStringSubmatch(ref)
		v := env(cmp.Or(m[1], m[2]))
		ok = ok && v != ""
		return v
	})
	return out, ok
}

// plainName makes a server's name of what another program calls it; "" where nothing is left of it.
func plainName(name string) string {
	name = regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(strings.ToLower(name), "-")
	if name = strings.Trim(name, "-"); len(name) > 32 {
		name = strings.Trim(name[:32], "-")
	}
	return name
}
