package kernel

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"net/netip"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"oxios/kernel/security"
	"oxios/kernel/sys"
)

// RoleConfig is one [roles.NAME] or [agents.NAME] table of config.toml, or the
// table [user]. What is left out limits nothing; an empty list allows nothing.
type RoleConfig struct {
	Profile              string   `toml:"profile" json:"profile"`
	AllowedTools         []string `toml:"allowed_tools" json:"allowed_tools,omitzero"`
	DeniedTools          []string `toml:"denied_tools" json:"denied_tools,omitzero"`
	AllowedPaths         []string `toml:"allowed_paths" json:"allowed_paths,omitzero"`
	DeniedPaths          []string `toml:"denied_paths" json:"denied_paths,omitzero"`
	NetworkAccess        *bool    `toml:"network_access" json:"network_access,omitempty"`
	CanFork              *bool    `toml:"can_fork" json:"can_fork,omitempty"`
	DeniedActions        []string `toml:"denied_actions" json:"denied_actions,omitzero"`
	MaxExecutionTimeSecs int      `toml:"max_execution_time_secs" json:"max_execution_time_secs,omitempty"`
	MaxMemoryMB          int      `toml:"max_memory_mb" json:"max_memory_mb,omitempty"`
}

// role makes the role of a table; one of a profile's name begins with it.
func (rc RoleConfig) role(name string) security.Role {
	r := security.BuiltInRole(rc.Profile)
	if rc.Profile == "" && slices.Contains(security.ProfileNames(), name) {
		r.Profile = name
	}
	r.Name, r.AllowedTools, r.AllowedPaths, r.DeniedPaths = name, rc.AllowedTools, expandAll(rc.AllowedPaths), expandAll(rc.DeniedPaths)
	r.DeniedTools, r.MaxExecutionTimeSecs, r.MaxMemoryMB = rc.DeniedTools, rc.MaxExecutionTimeSecs, rc.MaxMemoryMB
	for _, act := range rc.DeniedActions {
		r.DeniedActions = append(r.DeniedActions, security.Act(act))
	}
	if rc.NetworkAccess != nil {
		r.NetworkAccess = *rc.NetworkAccess
	}
	if rc.CanFork != nil {
		r.CanFork = *rc.CanFork
	}
	return r
}

// tableOf is role the other way around: only what the role takes away is written.
func tableOf(r security.Role) RoleConfig {
	rc := RoleConfig{
		Profile: r.Profile, AllowedTools: r.AllowedTools, AllowedPaths: shortenAll(r.AllowedPaths), DeniedPaths: shortenAll(r.DeniedPaths),
		DeniedTools: r.DeniedTools, MaxExecutionTimeSecs: r.MaxExecutionTimeSecs, MaxMemoryMB: r.MaxMemoryMB,
	}
	for _, act := range r.DeniedActions {
		rc.DeniedActions = append(rc.DeniedActions, string(act))
	}
	if len(rc.DeniedPaths) == 0 {
		rc.DeniedPaths = nil
	}
	no := false
	if !r.NetworkAccess {
		rc.NetworkAccess = &no
	}
	if !r.CanFork {
		rc.CanFork = &no
	}
	return rc
}

func expandAll(paths []string) []string { return mapAll(paths, expandHome) }

func shortenAll(paths []string) []string { return mapAll(paths, shortenHome) }

// mapAll keeps the difference between no list and an empty one.
func mapAll(list []string, fn func(string) string) []string {
	if list == nil {
		return nil
	}
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = fn(s)
	}
	return out
}

// deniedPaths are absolute.
func (c Config) deniedPaths() []string { return expandAll(c.DeniedPaths) }

// grantedAddresses are the ranges of the own network that agents may reach.
func (c Config) grantedAddresses() []netip.Prefix {
	var out []netip.Prefix
	for _, s := range c.GrantedAddresses {
		if p, err := security.CheckGrant(s); err == nil {
			out = append(out, p)
		}
	}
	return out
}

// roles are the built-in ones, as the person changed them, and those of the
// person by name.
func (c Config) roles() []security.Role {
	var out []security.Role
	for _, name := range security.ProfileNames() {
		out = append(out, c.Roles[name].role(name))
	}
	for _, name := range slices.Sorted(maps.Keys(c.Roles)) {
		if !slices.Contains(security.ProfileNames(), name) {
			out = append(out, c.Roles[name].role(name))
		}
	}
	return out
}

// validateRoles says which role or which denied path cannot be meant.
func (c Config) validateRoles() error {
	if err := checkPaths("denied_paths", c.DeniedPaths); err != nil {
		return err
	}
	for _, s := range c.GrantedAddresses {
		if _, err := security.CheckGrant(s); err != nil {
			e := sys.AsError(err)
			return sys.Errorf(sys.CodeInvalid, "granted_addresses: %s", sys.Words{EN: e.Message, KO: e.MessageKO})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Roles)) {
		rc := c.Roles[name]
		if err := cmp.Or(rc.checkPaths(), security.CheckRole(rc.role(name))); err != nil {
			return inTable("roles."+name, err)
		}
	}
	if err := c.validateSubjects(); err != nil {
		return err
	}
	if !slices.ContainsFunc(c.roles(), func(r security.Role) bool { return r.Name == c.Role }) {
		return sys.Errorf(sys.CodeInvalid, "role is %q, but there is no role of this name", c.Role)
	}
	return nil
}

func (rc RoleConfig) checkPaths() error {
	return cmp.Or(checkPaths("allowed_paths", rc.AllowedPaths), checkPaths("denied_paths", rc.DeniedPaths))
}

func checkPaths(key string, paths []string) error {
	for _, p := range paths {
		abs := expandHome(p)
		switch {
		case p == "" || !filepath.IsAbs(abs) || strings.ContainsRune(p, 0):
			return sys.Errorf(sys.CodeInvalid, "%s has %q, but a path begins with ~ or is absolute", key, p)
		case key == "denied_paths" && tooWide(abs) != nil:
			return sys.Errorf(sys.CodeInvalid, "%s has %q, which holds everything: agents could do nothing", key, p)
		}
	}
	return nil
}

// roleOf returns a role by its name, "" being that of new conversations.
func (k *Kernel) roleOf(name string) (security.Role, error) {
	cfg := k.config.get()
	if name == "" {
		name = cfg.Role
	}
	for _, r := range cfg.roles() {
		if r.Name == name {
			return r, nil
		}
	}
	return security.Role{}, sys.Errorf(sys.CodeNotFound, "There is no role %q. Nothing was done.", name).WithHint("`oxios permissions roles list` shows them; choose another one.")
}

// keptRules are the rules of a run as they stand in the journal: those of its
// role, and beside them those of single agents.
type keptRules struct {
	security.Role
	Agents []security.Role `json:"agents,omitzero"`
}

// rulesText keeps rules as they are when a run begins.
func rulesText(r security.Rules) string {
	raw, err := json.Marshal(keptRules{r.Role, r.Agents})
	if err != nil {
		return "{}" // the zero role allows nothing
	}
	return string(raw)
}

// rulesOf returns the rules that a run began with. What cannot be read allows
// nothing.
func rulesOf(run Run) security.Rules {
	if run.Rules == "" {
		return security.Rules{Role: security.BuiltInRole(run.Profile)}
	}
	var r keptRules
	if json.Unmarshal([]byte(run.Rules), &r) != nil {
		return security.Rules{Role: security.Role{Name: run.Role}}
	}
	return security.Rules{Role: r.Role, Agents: r.Agents}
}

// forkRules are what a fork is held to: the role that was asked for it, what
// holds its parent, and the rule for an agent of its name. Whatever it is called,
// the rules of those that it comes from hold it too.
func (k *Kernel) forkRules(parent Run, f Fork, name string) (security.Rules, error) {
	own := rulesOf(parent)
	role, err := k.forkRole(own.Role, parent, f)
	if err != nil {
		return security.Rules{}, err
	}
	return k.config.get().rulesFor(role, own.Agents, name), nil
}

// forkRole is the role of a fork: what was asked for it, and no more than its
// parent's.
func (k *Kernel) forkRole(own security.Role, parent Run, f Fork) (security.Role, error) {
	profile := f.Profile
	if profile != "" {
		if _, err := security.Profile(profile); err != nil {
			return security.Role{}, err
		}
	}
	switch {
	case f.Role == "" && profile == "":
		profile = security.ProfileWorker
	case profile == "":
		profile = parent.Profile
	}
	asked, err := k.roleOf(cmp.Or(f.Role, profile))
	if err != nil {
		return security.Role{}, err
	}
	if asked.Profile, err = security.Narrower(asked.Profile, profile); err != nil {
		return security.Role{}, err
	}
	return own.Narrow(asked), nil
}

// change rewrites config.toml with edit, and refuses what would change more of
// it than want does.
func (f *configFile) change(edit func(raw []byte) ([]byte, error), want func(*Config)) error {
	f.changing.Lock()
	defer f.changing.Unlock()
	f.mu.Lock()
	problem, next := f.problem, f.config
	f.mu.Unlock()
	if problem != nil {
		return sys.Errorf(sys.CodeConflict, "config.toml has an error, so nothing was changed. %s", sys.Words{EN: problem.Message, KO: problem.MessageKO}).WithHint("%s", sys.Words{EN: problem.Hint, KO: problem.HintKO})
	}
	raw, err := f.content()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return sys.Errorf(sys.CodeUnavailable, "config.toml cannot be read: %w.", err)
	}
	want(&next)
	if err := next.validate(); err != nil {
		what := sys.TextOf(sys.Errorf(sys.CodeInvalid, "%s.", sys.TextOf(err))) // with one full stop, whether it had one or not
		return sys.Errorf(sys.CodeInvalid, "%s Nothing was changed.", what)
	}
	changed, err := edit(raw)
	if err != nil {
		return err
	}
	got, perr := parseConfig(changed)
	if perr != nil || !reflect.DeepEqual(got.DeniedPaths, next.DeniedPaths) || !reflect.DeepEqual(got.GrantedAddresses, next.GrantedAddresses) || !slices.Equal(got.SkillRegistries, next.SkillRegistries) || !sameRoles(got.Roles, next.Roles) || !sameRoles(got.Agents, next.Agents) || !reflect.DeepEqual(got.User, next.User) || !sameMCP(got.MCPSettings, next.MCPSettings) {
		return sys.Errorf(sys.CodeConflict, "config.toml is written in a way that Oxios does not change by itself. Nothing was changed.").
			WithHint("Change it in an editor: denied_paths, granted_addresses, and a table [roles.NAME] for each role and [mcp.servers.NAME] for each server; it is read again by itself.")
	}
	if err := security.WriteFileAtomic(f.path, changed, 0o600); err != nil {
		return sys.Errorf(sys.CodeUnavailable, "config.toml cannot be written: %w. Nothing was changed.", err)
	}
	return f.load()
}

func sameRoles(a, b map[string]RoleConfig) bool {
	return maps.EqualFunc(a, b, func(x, y RoleConfig) bool { return reflect.DeepEqual(x, y) })
}

// SkillRegistries are the registries of skills that the person added.
func (f *configFile) SkillRegistries() []string { return f.get().SkillRegistries }

// SetSkillRegistries writes them into config.toml.
func (f *configFile) SetSkillRegistries(list []string) error {
	return f.change(func(raw []byte) ([]byte, error) { return setList(raw, "skill_registries", list) }, func(c *Config) { c.SkillRegistries = list })
}

// setList writes a list of the head of config.toml, which may stand over
// several lines; an empty one is taken out.
func setList(raw []byte, key string, list []string) ([]byte, error) {
	text := []byte(nil)
	if len(list) > 0 {
		out, err := toml.Marshal(map[string]any{key: list})
		if err != nil {
			return nil, err
		}
		text = out
	}
	head, tables := raw, []byte(nil)
	if m := tablePattern().FindIndex(raw); m != nil {
		head, tables = raw[:m[0]], raw[m[0]:]
	}
	if at := linePattern(key).FindIndex(head); at != nil {
		end := valueEnd(head, at[0])
		return slices.Concat(head[:at[0]], text, head[end:], tables), nil
	}
	if len(head) > 0 && !bytes.HasSuffix(head, []byte("\n")) {
		head = append(slices.Clone(head), '\n')
	}
	return slices.Concat(head, text, tables), nil
}

// valueEnd is where the lines of the setting that begins at start end: as many
// of them as make sense together.
func valueEnd(raw []byte, start int) int {
	for end := start; end < len(raw); {
		if n := bytes.IndexByte(raw[end:], '\n'); n >= 0 {
			end += n + 1
		} else {
			end = len(raw)
		}
		var v map[string]any
		if toml.Unmarshal(raw[start:end], &v) == nil {
			return end
		}
	}
	return len(raw)
}

// setTable writes the table of a role in place of the one that is there, or
// behind everything; nil takes it out. Comments inside the table go with it.
func setTable(raw []byte, name string, rc *RoleConfig) ([]byte, error) {
	text := []byte(nil)
	if rc != nil {
		values := map[string]any{}
		for i, v := 0, reflect.ValueOf(*rc); i < v.NumField(); i++ {
			if f := v.Field(i); !f.IsZero() {
				values[v.Type().Field(i).Tag.Get("toml")] = f.Interface()
			}
		}
		out, err := toml.Marshal(map[string]any{"roles": map[string]any{name: values}})
		if err != nil {
			return nil, err
		}
		text = bytes.TrimPrefix(out, []byte("[roles]\n"))
	}
	at := tableStart(raw, "roles."+name)
	if at < 0 {
		if len(raw) > 0 && !bytes.HasSuffix(raw, []byte("\n")) {
			raw = append(slices.Clone(raw), '\n')
		}
		if len(raw) > 0 && len(text) > 0 {
			text = append([]byte("\n"), text...)
		}
		return slices.Concat(raw, text), nil
	}
	end := len(raw)
	if n := bytes.IndexByte(raw[at:], '\n'); n >= 0 {
		if m := tablePattern().FindIndex(raw[at+n+1:]); m != nil {
			end = at + n + 1 + m[0]
		}
	}
	if len(text) > 0 && end < len(raw) {
		text = append(text, '\n')
	}
	return slices.Concat(raw[:at], text, raw[end:]), nil
}

// tableStart is where the header of a table stands; -1 without one.
func tableStart(raw []byte, table string) int {
	bare := func(s string) string {
		return strings.Map(func(r rune) rune {
			if strings.ContainsRune(" \t\"'", r) {
				return -1
			}
			return r
		}, s)
	}
	at, want := 0, "["+bare(table)+"]"
	for line := range bytes.Lines(raw) {
		head, _, _ := strings.Cut(bare(string(line)), "#")
		if strings.TrimSpace(head) == want {
			return at
		}
		at += len(line)
	}
	return -1
}
