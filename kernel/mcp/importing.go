package mcp

import (
	"context"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"oxios/kernel/guard"
	"oxios/kernel/sys"
)

// ImportItem is a server that another program has, as it would be added. Values of keys are not in it.
type ImportItem struct {
	Name   string    `json:"name"` // that it would get here
	As     string    `json:"as"`   // that it has there
	Server Server    `json:"server"`
	Keys   []string  `json:"keys,omitempty"`  // variables and headers whose values go to the credential store
	Asked  []string  `json:"asked,omitempty"` // those of them whose value the file does not have
	Why    sys.Words `json:"why,omitzero"`    // why it is left out; empty where it is added
}

// Imports are what an import of a file would do, or did.
type Imports struct {
	From  string       `json:"from"` // the file
	Items []ImportItem `json:"items"`
	Added []string     `json:"added"` // names; none for a preview
}

// programs are the settings of other programs, in the home or beside it, by the names that people know.
var programs = map[string][]string{
	"claude":      {"~/Library/Application Support/Claude/claude_desktop_config.json", "~/AppData/Roaming/Claude/claude_desktop_config.json", "~/.config/Claude/claude_desktop_config.json"},
	"claude-code": {"~/.claude.json"},
	"codex":       {"~/.codex/config.toml"},
	"goose":       {"~/.config/goose/config.yaml", "~/AppData/Roaming/Block/goose/config/config.yaml"},
	"opencode":    {"~/.config/opencode/opencode.json", "~/.config/opencode/opencode.jsonc"},
	"openclaw":    {"~/.openclaw/openclaw.json"},
	"cursor":      {"~/.cursor/mcp.json"},
	"vscode":      {"~/.config/Code/User/mcp.json", "~/Library/Application Support/Code/User/mcp.json", "~/AppData/Roaming/Code/User/mcp.json"},
}

// ImportPreview says what an import would add, and changes nothing. from is an absolute path, or the name of a program: claude,
// claude-code, codex, goose, opencode, openclaw, cursor or vscode. Cherry Studio exports a file of mcpServers.
func (a *API) ImportPreview(ctx context.Context, from string) (Imports, error) {
	act := guard.Action{Call: "mcp.importPreview", Resource: "file:" + sys.Shorten(from, 300)}
	return guard.Do(ctx, a.c, act, func(context.Context) (Imports, error) {
		out, _, err := a.s.foreign(from)
		return out, err
	})
}

// Import adds the servers of another program, of these names or all. It starts none of them and overwrites nothing; keys go to
// the credential store.
func (a *API) Import(ctx context.Context, from string, names []string) (Imports, error) {
	act := guard.Action{Call: "mcp.import", Resource: "file:" + sys.Shorten(from, 300), Meta: map[string]any{"names": names}}
	return guard.Do(ctx, a.c, act, func(ctx context.Context) (Imports, error) {
		out, found, err := a.s.foreign(from)
		if err != nil {
			return Imports{}, err
		}
		for _, name := range names {
			if !slices.ContainsFunc(out.Items, func(i ImportItem) bool { return i.Name == name }) {
				return Imports{}, sys.Errorf(sys.CodeNotFound, "The file has no server %q. Nothing was imported.", sys.Shorten(name, 100))
			}
		}
		for i, item := range out.Items {
			if item.Why.EN != "" || len(names) > 0 && !slices.Contains(names, item.Name) {
				continue
			}
			if err := a.s.take(ctx, item.Name, found[i]); err != nil {
				return out, err
			}
			out.Added = append(out.Added, item.Name)
			a.s.c.Told(item.Name)
		}
		return out, nil
	})
}

// take adds one server with its keys.
func (s *Service) take(ctx context.Context, name string, f foreign) error {
	def := f.def
	def.Env = map[string]string{}
	for v, value := range f.def.Env {
		full, ok := filled(value, s.c.Env)
		if def.Env[v] = full; !ok { // the person enters it
			delete(def.Env, v)
			def.Secrets = append(def.Secrets, v)
		}
	}
	slices.Sort(def.Secrets)
	def, undo, err := s.putAway(ctx, name, def)
	if err != nil {
		return err
	}
	var kept []string
	for _, h := range def.Headers {
		if value, ok := filled(f.headers[h], s.c.Env); ok {
			s.c.Secret(bare(value))
			if _, err = s.c.Keys.Set(ctx, keyName(name, h), def.URL, value); err != nil {
				break
			}
			kept = append(kept, h)
		}
	}
	if err == nil {
		err = s.c.Settings.SetMCPServer(name, &def)
	}
	if err != nil {
		undo()
		for _, h := range kept {
			if ferr := s.forget(context.WithoutCancel(ctx), keyName(name, h)); ferr != nil {
				s.c.Log.Warn("A key of a server that was not added could not be deleted", "server", name, "header", h, "error", ferr)
			}
		}
	}
	return err
}

// foreign reads what there is to import. found are the servers with their values, in the order of the items.
func (s *Service) foreign(from string) (out Imports, found []foreign, err error) {
	path, err := s.importFrom(strings.TrimSpace(from))
	if err != nil {
		return Imports{}, nil, err
	}
	f, info, err := sys.OpenRegular(path)
	if err == nil && info.Size() > maxImport {
		err = sys.Errorf(sys.CodeTooLarge, "The file has more than %d MB. Nothing was imported.", maxImport>>20)
	}
	var raw []byte
	if f != nil {
		defer f.Close()
	}
	if err == nil {
		raw, err = io.ReadAll(io.LimitReader(f, maxImport+1))
	}
	if err != nil {
		return Imports{}, nil, sys.Errorf(sys.CodeNotFound, "%s cannot be read: %w. Nothing was imported.", path, err).WithHint("Choose the settings of a program that has MCP servers.")
	}
	if found, err = readForeign(raw); err != nil {
		return Imports{}, nil, err
	}
	out = Imports{From: path, Items: []ImportItem{}, Added: []string{}}
	here := s.settings().Servers
	names := map[string]bool{}
	for _, f := range found {
		item := s.item(f)
		switch _, taken := here[item.Name]; {
		case f.why.EN != "":
			item.Why = f.why
		case besideIt(f.def):
			item.Why = sys.Say("Its program lies beside its settings, where no server is started from.")
		case taken || names[item.Name]:
			item.Why = sys.Say("There is a server of this name already.")
		default:
			if err := CheckServer(item.Name, item.Server, s.c.Expand); err != nil {
				item.Why = sys.TextOf(err)
			}
		}
		names[item.Name] = true
		out.Items = append(out.Items, item)
	}
	return out, found, nil
}

// besideIt reports whether a server's program is named by where its settings lie, as skills and plugins do it.
func besideIt(def Server) bool {
	return slices.ContainsFunc(append([]string{def.Command}, def.Args...), func(w string) bool {
		return strings.Contains(w, "PLUGIN_ROOT}") || strings.HasPrefix(w, "./") || strings.HasPrefix(w, "../")
	})
}

// item is a server as it would be added, without the values of its keys.
func (s *Service) item(f foreign) ImportItem {
	item := ImportItem{Name: plainName(f.name), As: plain(f.name, 80), Server: f.def}
	item.Server.Env = map[string]string{}
	for _, v := range slices.Sorted(maps.Keys(f.def.Env)) {
		full, ok := filled(f.def.Env[v], s.c.Env)
		switch {
		case !ok:
			item.Asked = append(item.Asked, v)
			fallthrough
		case s.holdsKey(v, full):
			item.Server.Secrets = append(item.Server.Secrets, v)
			item.Keys = append(item.Keys, v)
		default:
			item.Server.Env[v] = full
		}
	}
	for _, h := range f.def.Headers {
		item.Keys = append(item.Keys, h)
		if _, ok := filled(f.headers[h], s.c.Env); !ok {
			item.Asked = append(item.Asked, h)
		}
	}
	return item
}

// importFrom is the file that is meant: a path, or the settings of a program.
func (s *Service) importFrom(from string) (string, error) {
	places, ok := programs[strings.ToLower(from)]
	if !ok {
		if path := s.path(from); filepath.IsAbs(path) {
			return path, nil
		}
		return "", sys.Errorf(sys.CodeInvalid, "%q is no path and none of these programs: %s. Nothing was imported.", sys.Shorten(from, 200), strings.Join(slices.Sorted(maps.Keys(programs)), ", "))
	}
	for _, p := range places {
		if _, err := os.Stat(s.path(p)); err == nil {
			return s.path(p), nil
		}
	}
	return "", sys.Errorf(sys.CodeNotFound, "The settings of %s are not at %s. Nothing was imported.", from, places[len(places)-1]).WithHint("Give the path of its settings.")
}
