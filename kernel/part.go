package kernel

import (
	"context"
	"crypto/rand"
	"errors"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"oxios/kernel/agent"
	programs "oxios/kernel/client"
	"oxios/kernel/event"
	door "oxios/kernel/guard"
	"oxios/kernel/health"
	"oxios/kernel/home"
	"oxios/kernel/mcp"
	"oxios/kernel/sandbox"
	"oxios/kernel/security"
	"oxios/kernel/skill"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// What lives in packages of its own, under the names that faces know.
type (
	MCPAPI    = mcp.API
	MCPServer = mcp.Server
	MCPEffect = mcp.Effect
	MCPView   = mcp.ServerView
	MCPKnown  = mcp.Known
	MCPTool   = mcp.Tool
	MCPLeft   = mcp.LeftOut
	MCPChange = mcp.Changed
	MCPCall   = mcp.Call
	MCPResult = mcp.Result
	MCPImport = mcp.Imports
	MCPItem   = mcp.ImportItem
	MCPSignIn = mcp.SignIn
	MCPPage   = mcp.SignInPage

	MCPResource  = mcp.Resource
	MCPResources = mcp.Resources
	MCPRead      = mcp.ReadInput
	MCPReading   = mcp.ReadResult
	MCPPrompt    = mcp.Prompt
	MCPPromptArg = mcp.PromptArg
	MCPPrompting = mcp.PromptInput
	MCPPrompted  = mcp.PromptResult
	MCPPackage   = mcp.Package
	MCPInstalled = mcp.Installed

	ClientsAPI  = programs.API
	Client      = programs.Client
	ClientAdded = programs.Added
	ClientScope = programs.Scope

	SkillsAPI     = skill.API
	Skill         = skill.Skill
	SkillView     = skill.View
	SkillDetails  = skill.Details
	SkillChange   = skill.Change
	SkillText     = skill.Text
	SkillReview   = skill.Review
	SkillFile     = skill.File
	SkillFinding  = skill.Finding
	SkillKind     = skill.Kind
	SkillLicense  = skill.License
	SkillMissing  = skill.Missing
	SkillInstall  = skill.Install
	SkillRequires = skill.Requires
	SkillRights   = skill.Rights
	SkillOrigin   = skill.Origin
	SkillExport   = skill.Exported
	SkillSource   = skill.Source
	SkillProblem  = skill.Problem
	SkillLeft     = skill.LeftOut
	SkillRegistry = skill.Registry
	SkillFound    = skill.Found
	SkillSearch   = skill.Search
	ModuleArgs    = skill.ModuleArgs
	ModuleResult  = skill.ModuleResult
)

// What a part of the kernel can do besides its calls; see kernel/guard for those.
type (
	runner   interface{ Run(context.Context) error }
	closer   interface{ Close() error }
	examined interface {
		Checks(context.Context) []health.Check
	}
	keeper interface{ Kept() []home.Part }
)

// mcpFolder is where a home keeps what is known of MCP servers, and what these keep.
const mcpFolder = "mcp"

// newMCP joins the servers of tools to what they use.
func (k *Kernel) newMCP() *mcp.Service {
	return mcp.New(mcp.Config{
		Dir: filepath.Join(k.opts.Home, mcpFolder), Version: k.opts.Version, Clock: k.clock, Log: k.log,
		Settings: k.config, Sandbox: k.sandbox, Net: serverNet{k}, Env: k.opts.Env, Environ: k.opts.Environ, Keys: k.keys, Secret: k.redact.AddSecret, Spec: k.serverSpec, Download: k.downloadSpec, Expand: expandHome, Own: k.own, Mask: k.masked,
		AppCaller: k.appCaller,
		Brings:    func(server, _ string) store.Labels { return Labels{serverLabel(server)} },
		Told:      func(server string) { k.publish(event.ServerChanged, scope{}, server) },
		Ends:      func(ctx context.Context) bool { return errors.Is(context.Cause(ctx), agent.ErrShutdown) },
		Ask:       k.askForServer,
		Complete:  k.sampleForServer,
		Progress:  func(ctx context.Context, c *door.Caller, text string) { k.callerOf(c).progress(ctx, text) },
		Keep:      func(c *door.Caller, text string) string { return k.commands().keep(k.callerOf(c), text) },
	})
}

// serverNet is the network guard for servers of tools that run elsewhere.
type serverNet struct{ k *Kernel }

func (n serverNet) Transport(open []netip.Prefix) *http.Transport {
	return n.k.opts.Net.Opened(open).Transport()
}

func (n serverNet) Inside(ctx context.Context, address string) bool {
	return n.k.opts.Net.Inside(ctx, address)
}

// progress tells the person how far the running step is.
func (c *caller) progress(ctx context.Context, text string) {
	sys.Beat(ctx)
	if step := store.StepFrom(ctx); step != nil {
		c.k.publish(event.StepProgress, c.scope, event.Progress{StepID: step.Step().ID, Text: text})
	}
}

// own reports whether a path holds the home of Oxios, or lies in it.
func (k *Kernel) own(path string) bool {
	at, home := realPath(path), realPath(k.opts.Home)
	return security.Within(home, at) || security.Within(at, home)
}

// callerOf is who stands behind the caller of a part.
func (k *Kernel) callerOf(c *door.Caller) *caller {
	return k.As(c.Who()).In(c.Scope().Folder).Exec.caller
}

// newSkills joins the skills to what they use.
func (k *Kernel) newSkills() *skill.Service {
	return skill.New(skill.Config{
		Dir: filepath.Join(k.opts.Home, "skills"), Shared: filepath.Join(homeFolder(), ".agents", "skills"), Clock: k.clock, Log: k.log, Net: k.opts.Net,
		Trusted: func(ctx context.Context, folder string) bool {
			trust, err := k.trust(ctx, folder)
			return err == nil && trust == FolderTrusted
		},
		Has:    machineHas{k},
		Brings: k.skillBrings,
		Module: k.runModule, Scratch: k.scratch,
		Registries: k.config.SkillRegistries, SetRegistries: k.config.SetSkillRegistries,
		Diff: unifiedDiff, Told: func(name string) { k.publish(event.SkillsChanged, scope{}, name) },
	})
}

// skillBrings is where what a skill says, or prints, came from.
func (k *Kernel) skillBrings(name string) store.Labels {
	return Labels{store.NewLabel(Label{Origin: store.LabelSkill, Untrusted: true, Name: name}, "", sys.Say("what the skill %s says", name))}
}

// machineHas answers what a skill requires.
type machineHas struct{ k *Kernel }

func (m machineHas) Program(name string) bool {
	return findProgram(name, nil, m.k.opts.Home, m.k.commandEnv()) != ""
}

func (m machineHas) Env(name string) bool { return m.k.opts.Env(name) != "" }

func (m machineHas) Config(key string) bool {
	v, ok := m.k.config.view().Values[key]
	return ok && v != "" && v != "false" && v != "0"
}

// serverSpec is what a program of a part gets to run with, in a folder of its own in the home. It sees the other folders there
// that are named.
func (k *Kernel) serverSpec(files string, network bool, also ...string) sandbox.Spec {
	return k.ownSpec(k.netProxy(network), network, files, also)
}

// downloadSpec is that of a program that downloads something into a folder: it reaches these machines alone. tried tells
// afterwards which it asked for.
func (k *Kernel) downloadSpec(files string, from []security.Address) (s sandbox.Spec, tried func() []security.NetTry) {
	var open []netip.Prefix
	proxy := k.netProxy(true)
	for _, a := range from {
		open = append(open, a.Open...)
		host, port := a.Host, map[bool]string{true: "443", false: "80"}[a.TLS]
		if h, p, err := net.SplitHostPort(a.Host); err == nil {
			host, port = h, p
		}
		proxy.Only = append(proxy.Only, net.JoinHostPort(strings.Trim(host, "[]"), port))
		if n, err := strconv.Atoi(port); err == nil && slices.ContainsFunc(a.Open, func(p netip.Prefix) bool { return p.Addr().IsLoopback() }) {
			proxy.Ports = append(proxy.Ports, n)
		}
	}
	proxy.Guard = k.opts.Net.Opened(open)
	s = k.ownSpec(proxy, true, files, nil)
	s.Cache, s.Reach = sandbox.Cache{None: true}, proxy.Ports
	return s, proxy.Tries
}

func (k *Kernel) ownSpec(proxy *security.NetProxy, network bool, files string, also []string) sandbox.Spec {
	cfg := k.config.get()
	c := &command{caller: &caller{k: k, who: sys.Person("")}, env: k.commandEnv()}
	s := sandbox.Spec{
		Dir: files, Env: c.env, Writable: []string{files}, Hidden: append(k.hiddenBut(append([]string{files}, also...)...), k.witnessPlace()...), Readable: append(c.programFolders(), also...),
		Network: network, Level: k.isolation(), Checked: true, Cache: sandbox.Cache{Folder: files},
		MaxMemory: int64(cfg.MaxMemoryMB) << 20, MaxProcs: 1024, MaxDisk: int64(cfg.MaxDiskMB) << 20,
	}
	if s.Level >= sys.IsolationFull || network && c.guarded() {
		s.Hole = proxy.Serve
	}
	if s.Level < sys.IsolationFull && s.Hole != nil {
		proxy.Password = rand.Text()
		s.HolePassword = proxy.Password
	}
	return s
}

// partGate is the gate of [guard.Do] for the calls of parts. It is a type of its own: what a caller can do is no system call.
type partGate struct{ c *caller }

// Pass has the guard decide about a call of a part, and watches over what it writes.
func (g partGate) Pass(ctx context.Context, a door.Action, fn func(context.Context) (any, error)) (any, error) {
	c := g.c
	act := action{
		call: a.Call, resource: a.Resource, effect: a.Effect, tier: a.Tier, network: a.Network,
		subject: a.Subject, brought: a.Brought, leaves: a.Egress, beyond: a.Outside, meta: map[string]any{},
	}
	maps.Copy(act.meta, a.Meta)
	for _, w := range a.Writes {
		folder := realPath(w.Folder)
		act.paths, act.folders = append(act.paths, folder), append(act.folders, folder)
		act.beyond = act.beyond || !security.Within(folder, realPath(c.scope.folder))
	}
	if len(a.Writes) > 0 && !c.k.isolation().Contained() { // it may write anywhere
		act.effect, act.tier, act.beyond = security.EffectUnknown, security.TierAsk, true
	}
	if a.Subject != nil {
		act.card = func(r *security.Request) {
			if a.Card != nil {
				a.Card(r)
			}
			if len(act.folders) > 0 && !a.Network {
				w := sys.Say("yes, in the folders that it may write; not files above %d MB, nor .git, node_modules and folders that .gitignore leaves out", c.k.config.get().UndoFileMB)
				r.Undo, r.UndoKO = w.EN, w.In(true)
			}
		}
		if (c.who.Kind == sys.KindAgent || c.who.Kind == sys.KindApp) && c.scope.mode == security.ModeAsk {
			act.asksAlways = true
		}
	}
	return guard(ctx, c, act, func(ctx context.Context) (any, error) {
		watched, err := c.beforeWrites(ctx, act)
		if err != nil {
			return nil, err
		}
		v, err := fn(ctx)
		if len(watched) > 0 && a.Brought != nil { // what it wrote carries what it brought
			more, terr := a.Brought(context.WithoutCancel(ctx))
			err = errors.Join(err, terr, c.take(ctx, more))
		}
		for _, w := range watched {
			if missed := w.done(ctx); missed != "" {
				act.meta["not_undone"] = missed
			}
		}
		return v, err
	})
}

// beforeWrites looks at the folders that a call may write, so that what it does there can be labelled and undone. What the
// call brings may be written there too.
func (c *caller) beforeWrites(ctx context.Context, a action) ([]*watched, error) {
	if c.scope.runID == "" {
		return nil, nil
	}
	var all []*watched
	for _, folder := range a.folders {
		w, err := c.k.undos.watchFolder(ctx, c, folder, false)
		if err == nil && a.brought != nil {
			var brings Labels
			if brings, err = a.brought(ctx); err == nil {
				w.carries(roots(brings))
			}
		}
		if w != nil {
			all = append(all, w)
		}
		if err == nil {
			err = w.begin(ctx, c.k.isolation())
		}
		if err != nil {
			for _, w := range all {
				_ = w.done(ctx) // nothing was done in it
			}
			return nil, notRecorded(err)
		}
	}
	return all, nil
}

// ofParts calls fn for each part that is a T.
func ofParts[T any](k *Kernel, fn func(T)) {
	for _, p := range k.parts {
		if t, ok := p.(T); ok {
			fn(t)
		}
	}
}

// closeParts closes the parts, the last one first.
func (k *Kernel) closeParts() (err error) {
	var all []closer
	ofParts(k, func(p closer) { all = append(all, p) })
	for i := len(all) - 1; i >= 0; i-- {
		err = errors.Join(err, all[i].Close())
	}
	return err
}
