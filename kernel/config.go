package kernel

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/pelletier/go-toml/v2"

	"oxios/kernel/mcp"
	"oxios/kernel/security"
	"oxios/kernel/sys"
)

// Config is config.toml. A person may edit the file while Oxios runs; SetConfig
// changes one line of it and leaves the rest, comments included, as it is.
// It never holds a key.
type Config struct {
	Mode               string           `toml:"mode" json:"mode" default:"guarded" values:"ask,guarded,autonomous" doc:"What agents may do without asking."`
	Role               string           `toml:"role" json:"role" default:"operator" doc:"What agents of new conversations may do at most: worker, standard, operator, supervisor, or a role of yours."`
	Folder             string           `toml:"folder" json:"folder" default:"~/Oxios" doc:"The folder that new conversations work in."`
	Language           string           `toml:"language" json:"language" default:"auto" values:"auto,en,ko" doc:"The language of the window and the notices."`
	Theme              string           `toml:"theme" json:"theme" default:"auto" values:"auto,light,dark" doc:"Light, dark, or as the system says."`
	Provider           string           `toml:"provider" json:"provider" doc:"The provider of new conversations."`
	Model              string           `toml:"model" json:"model" doc:"The model of new conversations."`
	MaxToolCalls       int              `toml:"max_tool_calls" json:"max_tool_calls" default:"25" min:"1" max:"500" doc:"Model calls with tools in one run, before it is asked for its answer."`
	MaxToolConcurrency int              `toml:"max_tool_concurrency" json:"max_tool_concurrency" default:"10" min:"1" max:"100" doc:"Tools of one run that may run at once."`
	MaxConcurrent      int              `toml:"max_concurrent" json:"max_concurrent" default:"5" min:"1" max:"1000" doc:"Runs that may work at once. Takes effect at the next start."`
	OldestFirst        bool             `toml:"oldest_first" json:"oldest_first" default:"false" doc:"Of runs that wait for a place the oldest of a priority goes first, not the newest. Takes effect at the next start."`
	MaxDepth           int              `toml:"max_depth" json:"max_depth" default:"4" min:"0" max:"16" doc:"How deep agents may fork agents; 0 lets none fork."`
	MaxChildren        int              `toml:"max_children" json:"max_children" default:"32" min:"0" max:"1000" doc:"How many agents one agent may fork."`
	SplitFrom          int              `toml:"split_from" json:"split_from" default:"3" min:"0" max:"30" doc:"From how many independent criteria on a task is split among agents that work at the same time; 0 never splits."`
	MaxRunTimeS        int              `toml:"max_run_time_s" json:"max_run_time_s" default:"0" min:"0" max:"604800" doc:"Seconds after which a run is ended; 0 is no limit. Time in which it waits counts."`
	ExecTimeoutS       int              `toml:"exec_timeout_s" json:"exec_timeout_s" default:"120" min:"1" max:"86400" doc:"Seconds after which a command is ended, unless its call says otherwise. One that prints nothing ends with its run after zombie_timeout_secs."`
	CacheMB            int              `toml:"cache_mb" json:"cache_mb" default:"5000" min:"100" max:"1048576" doc:"MB that the caches of programs which agents run may take together. Those not used the longest go first."`
	MaxDiskMB          int              `toml:"max_disk_mb" json:"max_disk_mb" default:"10000" min:"100" max:"1048576" doc:"MB of disk above which a command is ended. So it is where less than 500 MB stay free."`
	MaxMemoryMB        int              `toml:"max_memory_mb" json:"max_memory_mb" default:"4096" min:"16" max:"1048576" doc:"Memory in MB above which a command is ended."`
	ZombieTimeoutSecs  int              `toml:"zombie_timeout_secs" json:"zombie_timeout_secs" default:"300" min:"1" max:"604800" doc:"Seconds without progress after which a run is ended. What a model says, the end of a step and the output of a command are progress. Takes effect at the next start."`
	RequestsPerMinute  int              `toml:"requests_per_minute" json:"requests_per_minute" default:"0" min:"0" max:"100000" doc:"Model calls a minute for each provider; 0 is no limit."`
	DayUSD             string           `toml:"day_usd" json:"day_usd" limit:"usd" doc:"Money in USD that all agents together may spend in a day; empty for no limit, 0 for nothing."`
	DayTokens          string           `toml:"day_tokens" json:"day_tokens" limit:"count" doc:"Tokens that all agents together may use in a day; empty for no limit, 0 for nothing."`
	DayCalls           string           `toml:"day_calls" json:"day_calls" limit:"count" doc:"Model calls that all agents together may make in a day; empty for no limit, 0 for nothing."`
	WindowSecs         int              `toml:"window_secs" json:"window_secs" default:"0" min:"0" max:"2678400" doc:"Seconds for which the limits of the day hold, in place of a day; a multiple of 900. Windows follow one another, and begin at whole multiples in UTC; 0 is the day, from midnight to midnight."`
	RunUSD             string           `toml:"run_usd" json:"run_usd" limit:"usd" doc:"Money in USD that one run may spend, with all that it starts; empty for no limit, 0 for nothing."`
	RunTokens          string           `toml:"run_tokens" json:"run_tokens" limit:"count" doc:"Tokens that one run may use, with all that it starts; empty for no limit, 0 for nothing."`
	RunCalls           string           `toml:"run_calls" json:"run_calls" limit:"count" doc:"Model calls that one run may make, with all that it starts; empty for no limit, 0 for nothing."`
	Notifications      bool             `toml:"notifications" json:"notifications" default:"true" doc:"Notices of the system for approvals and for runs that ended."`
	QuietHours         string           `toml:"quiet_hours" json:"quiet_hours" doc:"Hours without notices, like 22:00-07:00; empty for none."`
	QuietApprovals     bool             `toml:"quiet_approvals" json:"quiet_approvals" default:"true" doc:"Requests that wait are told in quiet hours too."`
	QuietUntil         string           `toml:"quiet_until" json:"quiet_until" doc:"No notices before this time, like 2026-01-31T08:00:00+09:00; empty for none."`
	EnterSends         bool             `toml:"enter_sends" json:"enter_sends" default:"true" doc:"Enter sends a message and Shift Enter breaks the line; otherwise Ctrl Enter sends."`
	CloseToTray        bool             `toml:"close_to_tray" json:"close_to_tray" default:"true" doc:"Closing the window leaves Oxios in the tray."`
	QuickHotkey        bool             `toml:"quick_hotkey" json:"quick_hotkey" default:"true" doc:"Keys open the quick prompt, where the system lets Oxios hold keys."`
	QuickKeys          string           `toml:"quick_keys" json:"quick_keys" default:"Ctrl+Alt+Space" doc:"The keys that open the quick prompt."`
	KeepAwake          bool             `toml:"keep_awake" json:"keep_awake" default:"true" doc:"The computer does not go to sleep by itself while agents work."`
	SearchService      string           `toml:"search_service" json:"search_service" default:"duckduckgo" values:"duckduckgo,searxng,brave,tavily" doc:"Who answers searches of the web."`
	SearchURL          string           `toml:"search_url" json:"search_url" doc:"The address of a search service of your own; empty for the public one. It may lie on this computer or in your network."`
	VaultFolder        string           `toml:"vault_folder" json:"vault_folder" doc:"The folder of your notes, as one of Obsidian; empty for knowledge/ in the home. A folder that cannot be used leaves the notes where they are."`
	JournalFolder      string           `toml:"journal_folder" json:"journal_folder" default:"journal" doc:"The folder of the journal in the vault."`
	JournalFormat      string           `toml:"journal_format" json:"journal_format" default:"YYYY-MM-DD" doc:"The name of a day's note, of YYYY, MM, DD and the like."`
	JournalTemplate    string           `toml:"journal_template" json:"journal_template" default:"# {{title}}\\n\\n" doc:"The text of a new journal note; {{title}}, {{date}} and {{time}} are filled in, and \\n begins a line."`
	Memory             bool             `toml:"memory" json:"memory" default:"true" doc:"Agents are given what Oxios remembers and that may matter to a message; what they look up themselves is not meant."`
	Embedder           string           `toml:"embedder" json:"embedder" doc:"Who makes the vectors by which memories are found: empty for the built-in one, or a model as provider/model, like ollama/nomic-embed-text. The texts of memories and what is looked for go to that provider."`
	MemoryExtract      bool             `toml:"memory_extract" json:"memory_extract" default:"true" doc:"When a conversation rests, its model is asked once what of it to remember. It sends the conversation nowhere it has not been."`
	MemoryIdleMin      int              `toml:"memory_idle_min" json:"memory_idle_min" default:"30" min:"1" max:"1440" doc:"Minutes without a new message after which a conversation rests."`
	MemoryTokens       string           `toml:"memory_tokens" json:"memory_tokens" default:"200000" limit:"count" doc:"Tokens that looking for what to remember may use in a day; empty for no limit of its own, 0 for nothing. The limits of the day hold too."`
	MemoryCurate       bool             `toml:"memory_curate" json:"memory_curate" default:"true" doc:"The memories are put in order every night, without a model."`
	MemoryCurateHour   int              `toml:"memory_curate_hour" json:"memory_curate_hour" default:"3" min:"0" max:"23" doc:"The hour of the night for that; made up for when the computer slept."`
	UndoDays           int              `toml:"undo_days" json:"undo_days" default:"30" min:"1" max:"3650" doc:"Days for which what a run did to files can be undone."`
	UndoFileMB         int              `toml:"undo_file_mb" json:"undo_file_mb" default:"10" min:"1" max:"1000" doc:"Size in MB above which what a command does to a file cannot be undone; file tools have no such limit."`
	CommandsOnCopy     bool             `toml:"commands_on_copy" json:"commands_on_copy" doc:"Commands work on a copy of their folder where isolation level 3 has one, and what they did is brought into the folder when they end: exactly that can be undone, whatever else happens in the folder meanwhile. It takes longer. Without it they do so only where the folder holds too much to be looked at before and after."`
	UndoFolderMB       int              `toml:"undo_folder_mb" json:"undo_folder_mb" default:"1000" min:"1" max:"100000" doc:"MB of a folder that are copied so that commands in it can be undone; the smallest files first."`
	Keyring            bool             `toml:"keyring" json:"keyring" default:"true" doc:"Keep keys in the system's keyring where there is one. Takes effect at the next start."`
	AuditWitness       string           `toml:"audit_witness" json:"audit_witness" default:"auto" doc:"The file outside the home that witnesses the audit record: auto for one in the state folder of the system, a path, or empty for none."`
	AuditDays          int              `toml:"audit_days" json:"audit_days" default:"0" min:"0" max:"36500" doc:"Days for which the audit record is kept; 0 keeps it for ever. A signed root then stands for what was older."`
	AuditMaxEntries    int              `toml:"audit_max_entries" json:"audit_max_entries" default:"0" min:"0" max:"1000000000" doc:"Records that the audit record holds at most, 100 or more; 0 is no limit. A signed root then stands for the oldest ones."`
	JournalDays        int              `toml:"journal_days" json:"journal_days" default:"0" min:"0" max:"36500" doc:"Days for which the journal of a run is kept, what its tools gave and what its model thought; 0 keeps it for ever. What was said and done stays."`
	Providers          []ProviderConfig `toml:"providers" json:"providers,omitempty" doc:"Providers besides those added in the window."`

	// GrantedAddresses are open to agents though they lie in the own network.
	GrantedAddresses []string `toml:"granted_addresses" json:"granted_addresses,omitempty" doc:"Addresses of your own network, or ranges such as 192.168.1.0/24, that agents may reach."`
	// DeniedPaths are kept from all agents; with all below them.
	DeniedPaths []string `toml:"denied_paths" json:"denied_paths,omitempty" doc:"Paths that no agent reads, changes or sees, with all below them."`

	// SkillRegistries are services that list skills of many authors.
	SkillRegistries []string `toml:"skill_registries" json:"skill_registries,omitempty" doc:"Registries of skills that are asked when you look for one, by their addresses; none to begin with."`

	// Roles are those of the person, and what they take from the built-in ones.
	Roles map[string]RoleConfig `toml:"roles" json:"roles,omitempty" doc:"Roles of agents: what they may do at most."`

	// Agents are rules for single agents, by the names that these start with.
	Agents map[string]RoleConfig `toml:"agents" json:"agents,omitempty" doc:"Rules for single agents, by name: what they may do at most besides their role."`
	// User are rules for the person; nil without any.
	User *RoleConfig `toml:"user" json:"user,omitempty" doc:"Rules for what the person does in Oxios."`

	// Fallbacks names for a model, as "provider/model", those that answer in its
	// place, in their order, when it cannot.
	Fallbacks map[string][]string `toml:"fallbacks" json:"fallbacks,omitempty" doc:"Models that answer in place of one that cannot, in their order; its conversations then go to their providers."`

	// MCPSettings are the servers of tools that the person named.
	MCPSettings mcp.Settings `toml:"mcp" json:"mcp,omitzero" doc:"Servers of tools, which speak the Model Context Protocol: a table [mcp.servers.NAME] for each."`
}

// ProviderConfig is one [[providers]] table of config.toml.
type ProviderConfig struct {
	ID       string            `toml:"id" json:"id"`
	Name     string            `toml:"name" json:"name"`
	Kind     string            `toml:"kind" json:"kind"`
	BaseURL  string            `toml:"base_url" json:"base_url"`
	ProxyURL string            `toml:"proxy_url" json:"proxy_url,omitempty"`
	CAFile   string            `toml:"ca_file" json:"ca_file,omitempty"`
	KeyEnv   string            `toml:"key_env" json:"key_env,omitempty"` // the variable that holds its key
	Headers  map[string]string `toml:"headers" json:"headers,omitempty"`
	Disabled bool              `toml:"disabled" json:"disabled,omitempty"`

	// Seconds of silence that are waited for; 0 takes the default of [llm.Timeouts].
	FirstByteS int `toml:"first_byte_timeout_s" json:"first_byte_timeout_s,omitempty"` // before an answer begins
	IdleS      int `toml:"idle_timeout_s" json:"idle_timeout_s,omitempty"`             // in the middle of one
}

// ConfigKey describes one setting.
type ConfigKey struct {
	Key     string   `json:"key"`
	Type    string   `json:"type"` // string, int or bool
	Default string   `json:"default"`
	Values  []string `json:"values,omitempty"`
	Doc     string   `json:"description"`
}

// ConfigView is the configuration as a face shows it.
type ConfigView struct {
	Path    string            `json:"path"`
	Values  map[string]string `json:"values"`
	Schema  []ConfigKey       `json:"schema"`
	Problem *sys.Error        `json:"problem,omitempty"` // config.toml has an error; the last good one is in force
}

func defaultConfig() Config {
	var c Config
	eachKey(&c, func(k ConfigKey, v reflect.Value, _ reflect.StructField) {
		if k.Default != "" {
			_ = setField(v, k.Default) // the defaults are ours, and a test sets them all
		}
	})
	return c
}

// eachKey calls fn for every setting of c that has one plain value.
func eachKey(c *Config, fn func(ConfigKey, reflect.Value, reflect.StructField)) {
	v := reflect.ValueOf(c).Elem()
	for i := range v.NumField() {
		f := v.Type().Field(i)
		k := ConfigKey{Key: f.Tag.Get("toml"), Default: f.Tag.Get("default"), Doc: f.Tag.Get("doc")}
		switch f.Type.Kind() {
		case reflect.String:
			k.Type = "string"
		case reflect.Int:
			k.Type = "int"
		case reflect.Bool:
			k.Type = "bool"
		default:
			continue
		}
		if s := f.Tag.Get("values"); s != "" {
			k.Values = strings.Split(s, ",")
		}
		fn(k, v.Field(i), f)
	}
}

func setField(v reflect.Value, s string) error {
	switch v.Kind() {
	case reflect.Int:
		n, err := strconv.Atoi(s)
		if err != nil {
			return fmt.Errorf("%q is not a whole number", s)
		}
		v.SetInt(int64(n))
	case reflect.Bool:
		b, err := strconv.ParseBool(s)
		if err != nil {
			return fmt.Errorf("%q is neither true nor false", s)
		}
		v.SetBool(b)
	default:
		v.SetString(s)
	}
	return nil
}

// validate says in one sentence which setting is wrong, and what it may be.
func (c *Config) validate() error {
	if c.Mode == "auto" { // the short word of the command line
		c.Mode = string(security.ModeAutonomous)
	}
	var bad error
	eachKey(c, func(k ConfigKey, v reflect.Value, f reflect.StructField) {
		if bad != nil {
			return
		}
		if len(k.Values) > 0 && !slices.Contains(k.Values, v.String()) {
			bad = sys.Errorf(sys.CodeInvalid, "%s is %q, but must be one of %s", k.Key, v.String(), strings.Join(k.Values, ", "))
		}
		if kind := f.Tag.Get("limit"); kind != "" {
			bad = checkLimit(k.Key, kind, v.String())
			return
		}
		if v.Kind() == reflect.Int {
			lo, _ := strconv.Atoi(f.Tag.Get("min"))
			hi, _ := strconv.Atoi(f.Tag.Get("max"))
			if n := int(v.Int()); n < lo || n > hi {
				bad = sys.Errorf(sys.CodeInvalid, "%s is %d, but must be from %d to %d", k.Key, n, lo, hi)
			}
		}
	})
	if bad == nil {
		bad = c.validateQuiet()
	}
	if bad != nil {
		return bad
	}
	if !quickKeysPattern().MatchString(c.QuickKeys) {
		return sys.Errorf(sys.CodeInvalid, "quick_keys is %q, but must be Ctrl, Alt or Super and a key, like Ctrl+Alt+Space; a key is Space, a letter, a digit, or F1 to F12", c.QuickKeys)
	}
	if w := c.AuditWitness; w != "" && w != "auto" && !filepath.IsAbs(expandHome(w)) {
		return sys.Errorf(sys.CodeInvalid, "audit_witness is %q, but must be auto, an absolute path, or empty", w)
	}
	if c.WindowSecs%windowStep != 0 {
		return sys.Errorf(sys.CodeInvalid, "window_secs is %d, but must be 0 or a multiple of %d", c.WindowSecs, windowStep)
	}
	if n := c.AuditMaxEntries; n != 0 && n < leastEntries {
		return sys.Errorf(sys.CodeInvalid, "audit_max_entries is %d, but must be 0 or at least %d", n, leastEntries)
	}
	if c.Embedder != "" {
		if err := checkEmbedder(c.Embedder); err != nil {
			return err
		}
	}
	if err := checkSearchURL(c.SearchURL); err != nil {
		return err
	}
	if c.VaultFolder != "" && !filepath.IsAbs(expandHome(c.VaultFolder)) {
		return sys.Errorf(sys.CodeInvalid, "vault_folder is %q, but must be an absolute path, or empty", c.VaultFolder)
	}
	if _, err := journalOf(c.JournalFolder, c.JournalFormat, "").Path(time.Unix(0, 0)); err != nil {
		return sys.Errorf(sys.CodeInvalid, "journal_format is %q, in the folder %q, and names no note: use YYYY, MM and DD, as in YYYY-MM-DD", c.JournalFormat, c.JournalFolder)
	}
	ids := map[string]bool{}
	for i, p := range c.Providers {
		switch {
		case !idPattern().MatchString(p.ID):
			return sys.Errorf(sys.CodeInvalid, "providers[%d].id is %q, but must be of letters, digits, - and _", i, p.ID)
		case p.BaseURL == "":
			return sys.Errorf(sys.CodeInvalid, "providers[%d] (%s) has no base_url", i, p.ID)
		case ids[p.ID]:
			return sys.Errorf(sys.CodeInvalid, "two providers have the id %q", p.ID)
		}
		ids[p.ID] = true
	}
	if err := c.validateRoles(); err != nil {
		return err
	}
	if err := c.MCPSettings.Check(expandHome); err != nil {
		return err
	}
	for of, list := range c.Fallbacks {
		if err := checkFallbacks(of, list); err != nil {
			return err
		}
	}
	return nil
}

var idPattern = sys.Pattern(`^[A-Za-z0-9_-]{1,64}$`)

// A combination without Ctrl, Alt or Super would take a key from everything that
// is written.
var quickKeysPattern = sys.Pattern(`^(Shift\+)?(Ctrl|Alt|Super)\+((Ctrl|Alt|Shift|Super)\+)*(Space|[A-Z0-9]|F([1-9]|1[0-2]))$`)

func (c Config) mode() security.Mode { return security.Mode(c.Mode) }

// workFolder is the folder of new conversations, absolute.
func (c Config) workFolder() string { return expandHome(c.Folder) }

func (c Config) execTimeout() time.Duration { return time.Duration(c.ExecTimeoutS) * time.Second }

func expandHome(p string) string {
	home, err := os.UserHomeDir()
	if err != nil {
		return filepath.Clean(p)
	}
	switch {
	case p == "~" || p == "":
		return home
	case strings.HasPrefix(p, "~/"), strings.HasPrefix(p, `~\`):
		return filepath.Join(home, p[2:])
	}
	return filepath.Clean(p)
}

// shortenHome shows a path below the person's home with ~.
func shortenHome(p string) string {
	home, err := os.UserHomeDir()
	if err != nil || home == "/" {
		return p
	}
	if p == home {
		return "~"
	}
	if rest, ok := strings.CutPrefix(p, home+string(filepath.Separator)); ok {
		return "~" + string(filepath.Separator) + rest
	}
	return p
}

// configFile is config.toml in the home, and the last good copy of it, which is
// in force while the file has an error.
type configFile struct {
	path, good string
	tools      []ToolInfo // all that there are

	changing sync.Mutex // held by the only one who rewrites the file

	mu      sync.Mutex
	config  Config
	problem *sys.Error
	read    time.Time // the file's time when it was read last
	size    int64
}

func openConfig(home string, tools []ToolInfo) (*configFile, error) {
	f := &configFile{tools: tools, path: filepath.Join(home, "config.toml"), good: filepath.Join(home, "run", "config.good.toml"), config: defaultConfig()}
	if err := f.load(); err != nil {
		return nil, err
	}
	return f, nil
}

func (f *configFile) get() Config {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.config
}

// load reads the file. An error in it is kept as a problem; the last good
// configuration stays in force.
func (f *configFile) load() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	raw, err := f.content()
	if errors.Is(err, fs.ErrNotExist) {
		f.config, f.problem, f.read = defaultConfig(), nil, time.Time{}
		return nil
	}
	if err != nil {
		return sys.Errorf(sys.CodeUnavailable, "config.toml cannot be read: %w.", err)
	}
	if info, err := os.Stat(f.path); err == nil {
		if len(raw) == 0 && time.Since(info.ModTime()) < configSettle {
			return nil // it is being written; taken at its word, all defaults would become the last good ones
		}
		f.read, f.size = info.ModTime(), info.Size()
	}
	c, perr := parseConfig(raw)
	if perr == nil {
		if err := c.checkTools(f.tools); err != nil {
			perr = configError(raw, lineOfError(raw, err), sys.TextOf(err))
		}
	}
	if perr == nil {
		f.config, f.problem = c, nil
		_ = os.WriteFile(f.good, raw, 0o600) // without it the defaults stand in
		return nil
	}
	what, help := perr.Words()
	f.problem = sys.Errorf(perr.Code, "%s: %s The last good configuration stays in force.", shortenHome(f.path), what).WithHint("%s", help)
	if old, err := os.ReadFile(f.good); err == nil {
		if c, perr := parseConfig(old); perr == nil {
			f.config = c
		}
	}
	return nil
}

// content is what the file says.
func (f *configFile) content() ([]byte, error) {
	raw, err := os.ReadFile(f.path)
	return sys.WithoutMark(raw), err
}

// sets reports whether the file itself sets one of some keys. What cannot be read
// sets none.
func (f *configFile) sets(keys ...string) bool {
	raw, err := f.content()
	var all map[string]any
	if err != nil || toml.Unmarshal(raw, &all) != nil {
		return false
	}
	return slices.ContainsFunc(keys, func(key string) bool { return all[key] != nil && all[key] != "" })
}

// parseConfig reads TOML strictly: an unknown key is an error, with its line.
func parseConfig(raw []byte) (Config, *sys.Error) {
	c := defaultConfig()
	d := toml.NewDecoder(bytes.NewReader(raw)).DisallowUnknownFields()
	err := d.Decode(&c)
	var unknown *toml.StrictMissingError
	var syntax *toml.DecodeError
	switch {
	case errors.As(err, &unknown) && len(unknown.Errors) > 0:
		e := unknown.Errors[0]
		row, _ := e.Position()
		return c, configError(raw, row, sys.Say("there is no setting %q", strings.Join(e.Key(), ".")))
	case errors.As(err, &syntax):
		row, _ := syntax.Position()
		return c, configError(raw, row, sys.MistakeInTOML(syntax))
	case err != nil:
		return c, configError(raw, 0, sys.Words{EN: err.Error()})
	}
	if err := c.validate(); err != nil {
		return c, configError(raw, lineOfError(raw, err), sys.TextOf(err))
	}
	return c, nil
}

func configError(raw []byte, row int, what sys.Words) *sys.Error {
	if row < 1 {
		return sys.Errorf(sys.CodeInvalid, "%s.", what).WithHint("Correct it; it is read again by itself.")
	}
	lines := strings.Split(string(raw), "\n")
	text := ""
	if row <= len(lines) {
		text = Redact(strings.TrimSpace(lines[row-1])) // somebody may have written a key into it
	}
	return sys.Errorf(sys.CodeInvalid, "line %d (%s): %s.", row, sys.Shorten(text, 80), what).WithHint("Correct line %d; the file is read again by itself.", row)
}

// lineOfError is the line that an error of [Config.validate] is about: that of
// the key which its sentence begins with, in its table if it has one.
func lineOfError(raw []byte, err error) int {
	key, _, _ := strings.Cut(err.Error(), " ")
	at, ok := errors.AsType[*tableError](err)
	if !ok {
		return lineOf(raw, key)
	}
	start := max(tableStart(raw, at.table), 0)
	head := bytes.Count(raw[:start], []byte("\n")) + 1
	return head - 1 + max(lineOf(raw[start:], key), 1)
}

func lineOf(raw []byte, key string) int {
	m := linePattern(key).FindIndex(raw)
	if m == nil {
		return 0
	}
	return bytes.Count(raw[:m[0]], []byte("\n")) + 1
}

func linePattern(key string) *regexp.Regexp {
	return regexp.MustCompile(`(?m)^[ \t]*` + regexp.QuoteMeta(key) + `[ \t]*=.*$`)
}

// set changes one setting in the file: its line, or a new line before the first
// table.
func (f *configFile) set(key, value string) error {
	f.changing.Lock()
	defer f.changing.Unlock()
	f.mu.Lock()
	problem := f.problem
	f.mu.Unlock()
	if problem != nil {
		return sys.Errorf(sys.CodeConflict, "config.toml has an error, so nothing was changed. %s", sys.Words{EN: problem.Message, KO: problem.MessageKO}).WithHint("%s", sys.Words{EN: problem.Hint, KO: problem.HintKO})
	}
	line, err := settingLine(key, value)
	if err != nil {
		return err
	}
	raw, err := f.content()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return sys.Errorf(sys.CodeUnavailable, "config.toml cannot be read: %w.", err)
	}
	changed := insertLine(raw, key, line)
	if _, perr := parseConfig(changed); perr != nil {
		return sys.Errorf(sys.CodeInvalid, "%s Nothing was changed.", sys.Words{EN: perr.Message, KO: perr.MessageKO})
	}
	if err := security.WriteFileAtomic(f.path, changed, 0o600); err != nil {
		return sys.Errorf(sys.CodeUnavailable, "config.toml cannot be written: %w. Nothing was changed.", err)
	}
	return f.load()
}

func settingLine(key, value string) (string, error) {
	c := defaultConfig()
	line := ""
	var bad error
	eachKey(&c, func(k ConfigKey, v reflect.Value, _ reflect.StructField) {
		if k.Key != key {
			return
		}
		if bad = setField(v, value); bad != nil {
			return
		}
		out, err := toml.Marshal(map[string]any{key: v.Interface()})
		if err != nil {
			bad = err
			return
		}
		line = strings.TrimSpace(string(out))
	})
	if bad != nil {
		return "", sys.Errorf(sys.CodeInvalid, "%s cannot be set: %w. Nothing was changed.", key, bad)
	}
	if line == "" {
		return "", sys.Errorf(sys.CodeNotFound, "There is no setting %q. Nothing was changed.", key).WithHint("`oxios config get` lists them.")
	}
	return line, nil
}

func insertLine(raw []byte, key, line string) []byte {
	head, tables := raw, []byte(nil)
	if m := tablePattern().FindIndex(raw); m != nil {
		head, tables = raw[:m[0]], raw[m[0]:]
	}
	if at := linePattern(key).FindIndex(head); at != nil {
		return slices.Concat(head[:at[0]], []byte(line), head[at[1]:], tables)
	}
	if len(head) > 0 && !bytes.HasSuffix(head, []byte("\n")) {
		head = append(slices.Clone(head), '\n')
	}
	return slices.Concat(head, []byte(line+"\n"), tables)
}

var tablePattern = sys.Pattern(`(?m)^[ \t]*\[`)

func (f *configFile) view() ConfigView {
	f.mu.Lock()
	defer f.mu.Unlock()
	v := ConfigView{Path: f.path, Values: map[string]string{}, Problem: f.problem}
	c := f.config
	eachKey(&c, func(k ConfigKey, val reflect.Value, _ reflect.StructField) {
		v.Schema = append(v.Schema, k)
		v.Values[k.Key] = fmt.Sprint(val.Interface())
	})
	return v
}
