package kernel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/pelletier/go-toml/v2"

	"oxios/kernel/security"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// A backup is a file that anybody can have made. What it holds is data; what
// would make this home do something else, or run something, is asked for piece by
// piece: a setting that is not one of looks, a provider that would be given a key
// of this machine, a file that starts programs.

// The kinds of what a restore asks about.
const (
	AskedSetting  = "setting"
	AskedProvider = "provider"
	AskedFile     = "file"
)

// RestoreAsked is a piece of a backup that is taken over only when the person
// says so.
type RestoreAsked struct {
	ID    string `json:"id"`   // what [RestoreInput.Take] names it by: setting:mode
	Kind  string `json:"kind"` // setting, provider or file
	Name  string `json:"name"`
	Value string `json:"value,omitempty"` // of a setting, the address of a provider, why a file
	Taken bool   `json:"taken"`
}

// TakeAll in [RestoreInput.Take] takes everything.
const TakeAll = "all"

// plainSettings change how Oxios looks and when it speaks, or bound what agents
// use: whoever writes them into a backup gains nothing. A setting that is not
// among them is asked for, one that comes with a later version too.
var plainSettings = []string{
	"language", "theme", "notifications", "quiet_hours", "quiet_approvals", "quiet_until", "enter_sends", "close_to_tray", "quick_hotkey", "quick_keys", "keep_awake",
	"day_usd", "day_tokens", "day_calls", "run_usd", "run_tokens", "run_calls", "denied_paths", "memory_idle_min", "memory_curate_hour",
}

// asking collects what is asked for, and knows what the person has said.
type asking struct {
	k    *Kernel
	take []string
	list []RestoreAsked
	here []string // ids of what is here already, and stays as it is

	more map[string]any // settings that are taken over into a config.toml that is here
}

// may notes a piece and reports whether it is taken over.
func (a *asking) may(kind, name, value string) bool {
	id := kind + ":" + name
	taken := slices.Contains(a.take, TakeAll) || slices.Contains(a.take, id)
	if !slices.ContainsFunc(a.list, func(x RestoreAsked) bool { return x.ID == id }) {
		a.list = append(a.list, RestoreAsked{ID: id, Kind: kind, Name: name, Value: sys.Shorten(value, 200), Taken: taken})
	}
	return taken
}

// unknown is the first name that nothing answers to.
func (a *asking) unknown() string {
	for _, id := range a.take {
		if id != TakeAll && !slices.Contains(a.here, id) && !slices.ContainsFunc(a.list, func(x RestoreAsked) bool { return x.ID == id }) {
			return id
		}
	}
	return ""
}

// sift takes out of an unpacked backup what is not taken over. What is changed in
// it is a copy.
func (a *asking) sift(ctx context.Context, m *manifest, from *store.Store) error {
	var left []packed
	for _, e := range m.Entries[1:] {
		name := strings.TrimPrefix(e.Name, filesPrefix)
		keep := true
		if name == configName {
			err := a.config(ctx, &e)
			if err != nil {
				return err
			}
			keep = e.Size > 0
		} else if why := startsFrom(name, e.from); why != "" {
			if _, err := os.Lstat(filepath.Join(a.k.opts.Home, filepath.FromSlash(name))); err == nil {
				a.here = append(a.here, AskedFile+":"+name)
			} else {
				keep = a.may(AskedFile, name, why)
			}
		}
		if keep {
			left = append(left, e)
		}
	}
	m.Entries = append(m.Entries[:1:1], left...)
	return a.state(ctx, from)
}

const configName = "config.toml"

// config leaves the settings in a copy of config.toml that are taken over. What
// cannot be read is asked for as a whole.
func (a *asking) config(ctx context.Context, e *packed) error {
	here, err := os.ReadFile(filepath.Join(a.k.opts.Home, configName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	raw, err := os.ReadFile(e.from)
	if err != nil || (len(here) > 0 && string(here) == string(raw)) {
		return err
	}
	var all map[string]any
	if toml.Unmarshal(raw, &all) != nil {
		if !a.may(AskedFile, configName, "settings that cannot be read") {
			e.Size = 0
		}
		return nil
	}
	var mine map[string]any
	if toml.Unmarshal(here, &mine) != nil {
		return nil // a mistake in what is here is told elsewhere; it stays as it is
	}
	usual := map[string]any{}
	c := defaultConfig()
	eachKey(&c, func(k ConfigKey, v reflect.Value, _ reflect.StructField) { usual[k.Key] = v.Interface() })
	whole := true
	for _, key := range slices.Sorted(maps.Keys(all)) {
		value := all[key]
		_, set := mine[key]
		switch {
		case key == "providers":
			left, every := a.configured(value, mine[key])
			if all[key] = left; len(left) == 0 {
				delete(all, key)
			}
			whole = whole && every
		case set: // what is here stays
			a.here = append(a.here, AskedSetting+":"+key)
			delete(all, key)
		case slices.Contains(plainSettings, key) || fmt.Sprint(value) == fmt.Sprint(usual[key]):
			if len(here) > 0 {
				delete(all, key)
			}
		case !a.may(AskedSetting, key, fmt.Sprint(value)):
			whole = false
			delete(all, key)
		}
	}
	if len(here) > 0 {
		a.more = all // the file that is here stays, and gets what it lacks
		return nil
	}
	if whole {
		return nil // as it is, with the person's own comments
	}
	out, err := toml.Marshal(all)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		out = nil
	}
	if err := os.WriteFile(e.from, out, 0o600); err != nil { //nolint:gosec // a copy in a folder of our own
		return err
	}
	e.Size, e.Blake3, err = fingerprint(ctx, e.from)
	return err
}

// settle adds what was taken over to the config.toml that is here, and returns how
// many settings that were.
func (a *asking) settle() (int, error) {
	if len(a.more) == 0 {
		return 0, nil
	}
	path := filepath.Join(a.k.opts.Home, configName)
	raw, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	for _, key := range slices.Sorted(maps.Keys(a.more)) {
		out, err := toml.Marshal(map[string]any{key: a.more[key]})
		if err != nil {
			return 0, err
		}
		if line := strings.TrimSpace(string(out)); !strings.HasPrefix(line, "[") && !strings.Contains(line, "\n") {
			raw = insertLine(raw, key, line)
			continue
		}
		raw = slices.Concat(raw, []byte("\n"), out)
	}
	if _, perr := parseConfig(raw); perr != nil {
		return 0, sys.Errorf(sys.CodeInvalid, "%s Nothing was changed.", sys.Words{EN: perr.Message, KO: perr.MessageKO})
	}
	return len(a.more), security.WriteFileAtomic(path, raw, 0o600)
}

// configured are the providers of a config.toml that are taken over: each may name
// any variable of this machine as its key, and any address to send it to.
func (a *asking) configured(there, here any) (left []any, whole bool) {
	ids := map[string]bool{}
	for _, p := range asList(here) {
		ids[fmt.Sprint(asTable(p)["id"])] = true
	}
	whole = true
	for _, p := range asList(there) {
		t := asTable(p)
		name, value := fmt.Sprint(t["id"]), fmt.Sprint(t["base_url"])
		if ids[name] {
			continue // what is here stays
		}
		if env, ok := t["key_env"]; ok {
			value += fmt.Sprintf(" (key_env %v)", env)
		}
		if a.may(AskedProvider, name, value) {
			left = append(left, p)
		} else {
			whole = false
		}
	}
	return left, whole
}

func asList(v any) []any {
	list, _ := v.([]any)
	return list
}

func asTable(v any) map[string]any {
	t, _ := v.(map[string]any)
	return t
}

// state leaves in a copy of the database the providers that are taken over: one
// that this home does not have and that would be given a key which lies here, or
// be reached by a way of its own. The models that stand in for others are theirs.
func (a *asking) state(ctx context.Context, from *store.Store) error {
	own, _, err := a.k.store.Get(ctx, "providers")
	if err != nil {
		return err
	}
	var here []saved
	_ = json.Unmarshal([]byte(own), &here) // none where there are none
	raw, ok, err := from.Get(ctx, "providers")
	var there []saved
	if err == nil && ok && json.Unmarshal([]byte(raw), &there) == nil {
		keys, kerr := a.k.keys.List()
		there = slices.DeleteFunc(there, func(p saved) bool {
			if slices.ContainsFunc(here, func(h saved) bool { return h.ID == p.ID }) {
				return false // what is here stays
			}
			held := kerr != nil // locked keys are keys
			for _, key := range keys {
				held = held || key.Name == p.ID
			}
			return (held || p.ProxyURL != "" || p.CAFile != "") && !a.may(AskedProvider, p.ID, p.BaseURL)
		})
		err = put(ctx, from, "providers", there)
	}
	if err != nil {
		return err
	}
	known, ok, err := from.Get(ctx, "fallbacks")
	mine, have, herr := a.k.store.Get(ctx, "fallbacks")
	if err = errors.Join(err, herr); err != nil || !ok || have || known == "{}" || known == "null" || known == mine {
		return err
	}
	if a.may(AskedSetting, "fallback models", known) {
		return nil
	}
	return from.Write(ctx, func(tx *store.Tx) error { return from.Remove(tx, "fallbacks") })
}

func put(ctx context.Context, st *store.Store, key string, value any) error {
	raw, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return st.Write(ctx, func(tx *store.Tx) error { return st.Put(tx, key, string(raw)) })
}

// starters are the names of files and folders that make another program run
// something: git, editors, a vault's own program, tools that read the folder.
var starters = map[string]string{
	".obsidian": "plugins and settings of Obsidian", ".vscode": "settings of an editor", ".idea": "settings of an editor", ".husky": "hooks of git", ".githooks": "hooks of git",
	".envrc": "is run by direnv", ".mcp.json": "starts servers for agents", ".claude": "settings of an agent", ".cursor": "settings of an agent", ".gitattributes": "names programs for git", ".gitmodules": "names repositories for git",
	"agents.md": "instructions for agents", "claude.md": "instructions for agents", "models.toml": "prices and limits of models",
}

// startsFrom says why a file of a backup may run something, "" where it does not.
func startsFrom(name, file string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return "its name has characters that do not show"
	}
	parts := strings.Split(strings.ToLower(name), "/")
	for i, part := range parts {
		if why := starters[part]; why != "" {
			return why
		}
		if part != ".git" && !strings.HasSuffix(part, ".git") {
			continue
		}
		rest := parts[i+1:]
		switch {
		case len(rest) == 0: // a file that points at a repository elsewhere
			return "names a repository for git"
		case rest[0] == "objects" || rest[0] == "refs" || rest[0] == "logs", rest[0] == "head" || rest[0] == "index" || rest[0] == "packed-refs" || rest[0] == "orig_head" || rest[0] == "description":
			return ""
		case rest[0] == "config" && len(rest) == 1 && plainGit(file):
			return ""
		}
		return "hooks and settings of git"
	}
	return ""
}

// plainGitKeys are the settings that every repository has.
var plainGitKeys = []string{
	"user.name", "user.email", "core.repositoryformatversion", "core.filemode", "core.bare", "core.logallrefupdates", "core.ignorecase", "core.precomposeunicode", "core.symlinks",
}

// plainGit reports whether the settings of a repository say only what every
// repository's say.
func plainGit(file string) bool {
	raw, err := os.ReadFile(file)
	if err != nil || len(raw) > 4<<10 {
		return false
	}
	list, ok := security.ParseGitSettings(raw)
	return ok && !slices.ContainsFunc(list, func(s security.GitSetting) bool { return !slices.Contains(plainGitKeys, s.Key) })
}
