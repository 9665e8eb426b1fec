package mcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"oxios/kernel/guard"
	"oxios/kernel/security"
	"oxios/kernel/sys"
)

// API holds the calls about MCP servers.
type API struct {
	c *guard.Caller
	s *Service
}

// The states of a server.
const (
	StateOff        = "off"        // the person switched it off
	StateConfigured = "configured" // it was never connected: what it offers is not known
	StateKnown      = "known"      // what it offers is known; it does not run
	StateChanged    = "changed"    // it says something else than was accepted, and offers nothing until that is
	StateRunning    = "running"
	StateBroken     = "broken"   // it ended by itself too often
	StateSignIn     = "sign-in"  // it refuses calls until the person signs in
	StateUnusable   = "unusable" // what the environment says of it cannot be meant
)

// ServerView is a server as a face shows it.
type ServerView struct {
	Name   string `json:"name"`
	Server Server `json:"server"`
	State  string `json:"state"`
	Known  Known  `json:"known"` // the zero value while nothing is known

	// Of a server that config.toml does not name.
	Origin   string    `json:"origin,omitempty"`   // [OriginEnvironment]
	Variable string    `json:"variable,omitempty"` // that names it
	Shadows  bool      `json:"shadows,omitempty"`  // config.toml names one of this name too, which is not used
	Problem  sys.Words `json:"problem,omitzero"`   // why it cannot be used

	Package *Package `json:"package,omitempty"` // what its command downloads; nil where it downloads nothing

	// Of a server that runs elsewhere.
	Host   string  `json:"host,omitempty"`    // the machine that all calls go to
	SignIn *SignIn `json:"sign_in,omitempty"` // nil where it has not asked for one
}

// Call is a call of a tool of a server.
type Call struct {
	Server string          `json:"server"`
	Tool   string          `json:"tool"`           // its name on the server
	Args   json.RawMessage `json:"args,omitempty"` // an object; left out for none
}

// Servers lists all servers that config.toml or the environment names, by name.
func (a *API) Servers(ctx context.Context) ([]ServerView, error) {
	return guard.Do(ctx, a.c, guard.Action{Call: "mcp.servers", Resource: "mcp"}, func(context.Context) ([]ServerView, error) {
		set := a.s.settings()
		list := []ServerView{}
		for _, name := range slices.Sorted(maps.Keys(set.Servers)) {
			list = append(list, a.s.view(name, set.Servers[name]))
		}
		list = append(list, a.s.unusable()...)
		slices.SortStableFunc(list, func(v, w ServerView) int { return strings.Compare(v.Name, w.Name) })
		return list, nil
	})
}

// Tools lists the tools that agents are offered now, of all servers that are on.
func (a *API) Tools(ctx context.Context) ([]Tool, error) {
	return guard.Do(ctx, a.c, guard.Action{Call: "mcp.tools", Resource: "mcp"}, func(context.Context) ([]Tool, error) {
		return a.s.Offered(), nil
	})
}

// Offered are the tools that agents are offered now. The kernel asks it when it makes the tools of a run.
func (s *Service) Offered() []Tool {
	set := s.settings()
	list := []Tool{}
	for _, name := range slices.Sorted(maps.Keys(set.Servers)) {
		if v := s.view(name, set.Servers[name]); v.offers() {
			list = append(list, modelTools(v.Known.Tools)...)
		}
	}
	return list
}

// Always are the names of the tools that every run is offered, of the servers that the person set so.
func (s *Service) Always() (names []string) {
	set := s.settings()
	for _, t := range s.Offered() {
		if set.Servers[t.Server].Always {
			names = append(names, t.Call)
		}
	}
	return names
}

func (v ServerView) offers() bool {
	switch v.State {
	case StateKnown, StateRunning, StateBroken:
		return true
	case StateSignIn: // what is called says then what to do
		return v.Known.Hash != "" && v.Known.Changed == nil
	}
	return false
}

func (s *Service) view(name string, def Server) ServerView {
	v := s.whence(ServerView{Name: name, Server: def, State: StateConfigured, Host: def.host()})
	if in := s.signedIn(name, def); def.remote() && (in.Needed || !in.At.IsZero()) {
		v.SignIn = &in
	}
	v.Package = s.packed(name, def)
	k, ok, err := s.known(name, def)
	if ok && err == nil {
		v.Known, v.State = k, StateKnown
	}
	s.mu.Lock()
	_, runs := s.live[name]
	s.mu.Unlock()
	switch {
	case def.Disabled:
		v.State = StateOff
	case v.SignIn != nil && v.SignIn.Needed:
		v.State = StateSignIn
	case v.State == StateKnown && k.Changed != nil:
		v.State = StateChanged
	case v.State == StateKnown && runs:
		v.State = StateRunning
	case s.broken(name):
		v.State = StateBroken
	}
	return v
}

// server returns what config.toml or the environment says of one.
func (s *Service) server(name string) (Server, error) {
	set := s.settings()
	def, ok := set.Servers[name]
	if v := s.environment()[name]; v.why.EN != "" {
		return Server{}, sys.Errorf(sys.CodeInvalid, "The server %s cannot be used. %s Nothing was done.", name, v.why).
			WithHint("Correct %s where you set it, then start Oxios again.", v.name)
	}
	if !ok {
		return Server{}, sys.Errorf(sys.CodeNotFound, "There is no server %q. Nothing was done.", sys.Shorten(name, 100)).WithHint("`oxios mcp list` shows them.")
	}
	return def, nil
}

// Set writes a server into config.toml, a new one or in place of the one of this name. It starts nothing; one that runs ends
// where it would run otherwise from now on.
func (a *API) Set(ctx context.Context, name string, def Server) (ServerView, error) {
	meta := map[string]any{"command": def.Command, "args": def.Args, "read": def.Read, "write": def.Write, "network": def.Network, "effect": string(def.Effect), "url": def.URL, "always": def.Always, "sampling": def.Sampling}
	return guard.Do(ctx, a.c, guard.Action{Call: "mcp.set", Resource: "mcp:" + name, Meta: meta}, func(ctx context.Context) (ServerView, error) {
		if err := a.s.changeable(name); err != nil {
			return ServerView{}, err
		}
		err := CheckServer(name, def, a.s.c.Expand)
		if err == nil {
			err = a.s.ownFolders(def)
		}
		if err != nil {
			return ServerView{}, sys.Errorf(sys.CodeInvalid, "This cannot be a server: %s. Nothing was changed.", sys.TextOf(err))
		}
		def, undo, err := a.s.putAway(ctx, name, def)
		if err != nil {
			return ServerView{}, err
		}
		if err := a.s.c.Settings.SetMCPServer(name, &def); err != nil {
			undo()
			return ServerView{}, err
		}
		a.s.stopUnless(name, func(l *live) bool { return l.def.runsAs(def) })
		a.s.c.Told(name)
		return a.s.view(name, def), nil
	})
}

// Enable switches a server on or off. One that runs is ended.
func (a *API) Enable(ctx context.Context, name string, on bool) (ServerView, error) {
	return guard.Do(ctx, a.c, guard.Action{Call: "mcp.enable", Resource: "mcp:" + name, Meta: map[string]any{"on": on}}, func(context.Context) (ServerView, error) {
		def, err := a.s.server(name)
		if err != nil {
			return ServerView{}, err
		}
		if def.Disabled = !on; a.s.here(name) {
			err = a.s.switchHere(name, on)
		} else {
			err = a.s.c.Settings.SetMCPServer(name, &def)
		}
		if err != nil {
			return ServerView{}, err
		}
		a.s.stop(name)
		a.s.c.Told(name)
		return a.s.view(name, def), nil
	})
}

// stop ends a server if it runs.
func (s *Service) stop(name string) { s.stopUnless(name, func(*live) bool { return false }) }

func (s *Service) stopUnless(name string, stays func(*live) bool) {
	s.mu.Lock()
	l := s.live[name]
	s.mu.Unlock()
	if l != nil && !stays(l) {
		l.end()
	}
}

// Remove takes a server out of config.toml, and deletes what is known of it and what it kept in its own folder.
func (a *API) Remove(ctx context.Context, name string) error {
	_, err := guard.Do(ctx, a.c, guard.Action{Call: "mcp.remove", Resource: "mcp:" + name}, func(ctx context.Context) (struct{}, error) {
		if err := a.s.changeable(name); err != nil {
			return struct{}{}, err
		}
		def, err := a.s.server(name)
		if err != nil {
			return struct{}{}, err
		}
		if err := a.s.c.Settings.SetMCPServer(name, nil); err != nil {
			return struct{}{}, err
		}
		a.s.stop(name)
		a.s.giveUpInstall(name)
		a.s.forgive(name)
		a.s.giveUp(name)
		defer a.s.c.Told(name)
		return struct{}{}, a.s.clear(ctx, name, def)
	})
	return err
}

// Connect starts a server and asks what it offers. What it says first is accepted with that; later something else waits for
// [API.Accept].
func (a *API) Connect(ctx context.Context, name string) (ServerView, error) {
	return guard.Do(ctx, a.c, guard.Action{Call: "mcp.connect", Resource: "mcp:" + name}, func(ctx context.Context) (ServerView, error) {
		def, err := a.s.server(name)
		if err != nil {
			return ServerView{}, err
		}
		if def.Disabled {
			return ServerView{}, sys.Errorf(sys.CodeConflict, "The server %s is off. Nothing was done.", name).WithHint("Switch it on first: `oxios mcp enable %s`.", name)
		}
		a.s.forgive(name)
		l, done, err := a.s.reach(ctx, name, def)
		if err != nil {
			return ServerView{}, err
		}
		defer done()
		if err := a.s.learn(ctx, l, true); err != nil {
			return ServerView{}, err
		}
		if a.s.signedIn(name, def).Needed { // it was called all the same
			err := a.s.alone(ctx, name, func() error {
				return a.s.amend(name, def, func(v *SignIn) bool { v.Needed = false; return true })
			})
			if err != nil {
				return ServerView{}, err
			}
		}
		a.s.c.Told(name)
		return a.s.view(name, def), nil
	})
}

// learn asks a server that runs what it offers, and keeps that. Where it told no news since it was asked last, it is asked
// again only if anew says so. Who comes while it is being asked waits for the answer.
func (s *Service) learn(ctx context.Context, l *live, anew bool) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	select {
	case l.learning <- struct{}{}:
		defer func() { <-l.learning }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	news := l.news.Load() // what changes from here on is told anew
	if !anew && l.learned.Load() == news {
		return nil
	}
	ctx, met := listen(ctx)
	said := l.session.InitializeResult()
	var listed []*sdk.Tool
	if said.Capabilities != nil && said.Capabilities.Tools != nil {
		for t, err := range l.session.Tools(ctx, nil) {
			if err != nil {
				if why := met.of(err); why != nil {
					return why
				}
				return sys.Errorf(sys.CodeUnavailable, "The server %s did not say what it offers: %w.", l.name, err).WithHint("`oxios mcp log %s` shows what it said.", l.name)
			}
			if listed = append(listed, t); len(listed) > maxTools+1 {
				break
			}
		}
	}
	tools, left := toolsOf(l.name, listed)
	now := Known{
		Protocol: said.ProtocolVersion, At: s.c.Clock.Now().UTC(), Tools: tools, Left: left,
		Hash: hashOf(tools, left, said.Instructions), For: identity(l.def),
		Instructions: plain(said.Instructions, maxInstruction), Extensions: extensionsOf(said.Capabilities),
	}
	if said.ServerInfo != nil {
		now.Title, now.Version = plain(cmp.Or(said.ServerInfo.Title, said.ServerInfo.Name), 80), plain(said.ServerInfo.Version, 40)
	}
	if err := s.compare(l, now); err != nil {
		return err
	}
	s.learnOffers(ctx, l)
	l.learned.Store(news)
	return nil
}

// compare keeps what a server says now: as what it offers where that is new or the same, or beside what was accepted.
func (s *Service) compare(l *live, now Known) error {
	s.pin.Lock()
	defer s.pin.Unlock()
	if def, err := s.server(l.name); err != nil || identity(def) != identity(l.def) {
		return changedMeanwhile(l.name)
	}
	old, ok, err := s.known(l.name, l.def)
	if ok && err == nil && old.Hash != now.Hash {
		changed := &Changed{At: now.At, Tools: now.Tools, Left: now.Left, Hash: now.Hash, Instructions: now.Instructions}
		now.Tools, now.Left, now.Hash, now.Instructions, now.Changed = old.Tools, old.Left, old.Hash, old.Instructions, changed
	}
	return s.keep(l.name, now)
}

// Accept takes what a server says now for what it offers. hash is that of what was shown: if it changed once more meanwhile,
// nothing is accepted.
func (a *API) Accept(ctx context.Context, name, hash string) (ServerView, error) {
	return guard.Do(ctx, a.c, guard.Action{Call: "mcp.accept", Resource: "mcp:" + name, Meta: map[string]any{"hash": hash}}, func(context.Context) (ServerView, error) {
		def, err := a.s.server(name)
		if err != nil {
			return ServerView{}, err
		}
		a.s.pin.Lock()
		defer a.s.pin.Unlock()
		k, ok, err := a.s.known(name, def)
		switch {
		case err != nil:
			return ServerView{}, err
		case !ok || k.Changed == nil:
			return ServerView{}, sys.Errorf(sys.CodeConflict, "The server %s offers nothing that waits to be accepted. Nothing was changed.", name)
		case k.Changed.Hash != hash:
			return ServerView{}, sys.Errorf(sys.CodeConflict, "What the server %s offers changed once more. Nothing was accepted.", name).WithHint("Review it again.")
		}
		k.Tools, k.Left, k.Hash, k.Instructions, k.Changed = k.Changed.Tools, k.Changed.Left, k.Changed.Hash, k.Changed.Instructions, nil
		if err := a.s.keep(name, k); err != nil {
			return ServerView{}, err
		}
		a.s.c.Told(name)
		return a.s.view(name, def), nil
	})
}

// Log returns the end of what a server wrote to its stderr, with secrets masked: at most 200 kB.
func (a *API) Log(ctx context.Context, name string) (string, error) {
	return guard.Do(ctx, a.c, guard.Action{Call: "mcp.log", Resource: "mcp:" + name}, func(context.Context) (string, error) {
		def, err := a.s.server(name)
		if err != nil {
			return "", err
		}
		if def.remote() {
			return "", sys.Errorf(sys.CodeNotFound, "The server %s runs elsewhere, so there is no log of it here.", name)
		}
		text, err := readLog(a.s.at(name, logFile), 200<<10)
		if err != nil {
			return "", sys.Errorf(sys.CodeUnavailable, "The log of the server %s cannot be read: %w.", name, err)
		}
		return a.s.c.Mask(security.PlainText(security.WithoutControl(strings.ToValidUTF8(text, "�")))), nil
	})
}

// Call calls a tool of a server, which is started if it does not run. What comes back was said by a stranger: an agent's run
// carries that from then on.
func (a *API) Call(ctx context.Context, in Call) (Result, error) { return a.invoke(ctx, in, "") }

// invoke calls a tool for its caller: where that is an app, app is its name.
func (a *API) invoke(ctx context.Context, in Call, app string) (Result, error) {
	def, err := a.s.server(in.Server)
	var tool Tool
	if err == nil {
		tool, err = a.s.offered(in.Server, def, in.Tool)
	}
	if err == nil && tool.AppOnly && a.c.Who().Kind == sys.KindAgent {
		err = sys.Errorf(sys.CodeForbidden, "The server %s offers its tool %s to apps alone. Nothing was called.", in.Server, tool.Name)
	}
	args := map[string]any{}
	if err == nil && len(in.Args) > 0 {
		d := json.NewDecoder(bytes.NewReader(in.Args))
		d.UseNumber()
		if derr := d.Decode(&args); derr != nil || args == nil {
			err = sys.Errorf(sys.CodeInvalid, "The arguments of %s are not a JSON object. Nothing was called.", tool.Call)
		}
	}
	act := guard.Action{Call: "mcp.call", Resource: "mcp:" + in.Server + "/" + sys.Shorten(in.Tool, 100), Meta: map[string]any{"server": in.Server, "tool": sys.Shorten(in.Tool, 100)}}
	task, later := a.s.heldBy(ctx, in)
	if err == nil {
		act = asksAs(a.action(act, in, def, tool), app)
	}
	if later { // it was decided about, and made: nothing is sent but the question what came of it
		act.Subject, act.Egress, act.Network = nil, false, false
	}
	return guard.Do(ctx, a.c, act, func(ctx context.Context) (Result, error) {
		if err != nil {
			return Result{}, err
		}
		if now, nerr := a.s.server(in.Server); nerr != nil || !now.runsAs(def) || now.Effect != def.Effect {
			return Result{}, changedMeanwhile(in.Server)
		}
		if later {
			return a.s.pickUp(ctx, a.c, def, tool, task)
		}
		return a.s.call(ctx, a.c, in.Server, def, tool, args)
	})
}

// changedMeanwhile is the error of what was asked of a server that the person gives something else by now.
func changedMeanwhile(name string) error {
	return sys.Errorf(sys.CodeConflict, "The server %s changed while this waited. Nothing was called.", name).WithHint("Try again.")
}

// action fills in what the guard and the person need to know of a call that can be made.
func (a *API) action(act guard.Action, in Call, def Server, tool Tool) guard.Action {
	return a.weigh(act, in.Server, in.Tool, def, in, func(r *security.Request) {
		title := sys.Say("Calls “%s” on the server %s", cmp.Or(tool.Title, tool.Name), in.Server)
		if host := def.host(); host != "" {
			title = sys.Say("Calls “%s” on the server %s (%s)", cmp.Or(tool.Title, tool.Name), in.Server, host)
		}
		r.Title, r.TitleKO = title.EN, title.In(true)
		r.Command = tool.Call
		var pretty bytes.Buffer
		if len(in.Args) > 0 && json.Indent(&pretty, in.Args, "", "  ") == nil {
			r.Command += " " + pretty.String()
		}
	})
}

// ready returns a server of which something can be asked, or says why nothing can.
func (s *Service) ready(name string, def Server) (ServerView, error) {
	v := s.view(name, def)
	switch {
	case v.State == StateOff:
		return v, sys.Errorf(sys.CodeUnavailable, "The server %s is off. Nothing was called.", name).WithHint("The person can switch it on: `oxios mcp enable %s`.", name)
	case v.State == StateSignIn:
		return v, s.signInFirst(name)
	case v.State == StateChanged:
		return v, sys.Errorf(sys.CodeUnavailable, "The server %s changed what it offers, and the person has not accepted that. Nothing was called.", name).WithHint("The person can look at it: `oxios mcp show %s`.", name)
	case v.Known.Hash == "":
		return v, sys.Errorf(sys.CodeUnavailable, "What the server %s offers is not known yet. Nothing was called.", name).WithHint("The person can connect it: `oxios mcp connect %s`.", name)
	}
	return v, nil
}

// offered returns a tool that agents are offered now.
func (s *Service) offered(name string, def Server, tool string) (Tool, error) {
	v, err := s.ready(name, def)
	if err != nil {
		return Tool{}, err
	}
	i := slices.IndexFunc(v.Known.Tools, func(t Tool) bool { return t.Name == tool })
	if i < 0 {
		return Tool{}, sys.Errorf(sys.CodeNotFound, "The server %s has no tool %q. Nothing was called.", name, sys.Shorten(tool, 100)).WithHint("`oxios mcp tools %s` shows them.", name)
	}
	return v.Known.Tools[i], nil
}

func (s *Service) call(ctx context.Context, c *guard.Caller, name string, def Server, tool Tool, args map[string]any) (Result, error) {
	l, done, err := s.reach(inFolder(ctx, c.Scope().Folder), name, def)
	if err != nil {
		return Result{}, err
	}
	defer done()
	// A server may have changed since it was known: what runs must be what was accepted.
	if err := s.learn(ctx, l, false); err != nil {
		return Result{}, err
	}
	if tool, err = s.offered(name, def, tool.Name); err != nil {
		return Result{}, err
	}
	l.show(c.Scope().Folder)
	u, over := l.begin(ctx, c, tool)
	defer over()
	call, met := listen(u.ctx)
	served := l.served.Swap(true)
	params := &sdk.CallToolParams{Name: tool.Name, Arguments: args, Meta: sdk.Meta{}}
	params.SetProgressToken(u.token)
	hurry := context.AfterFunc(u.ctx, l.input.hurry)
	r, err := l.session.CallTool(call, params)
	hurry()
	if err == nil {
		if t, ok := taskOf(r.Meta); ok {
			if r, err = s.later(ctx, l, u, def, tool, t); err != nil {
				cost, _ := u.spent()
				return Result{Cost: cost}, err
			}
		}
	}
	cost, denied := u.spent()
	switch {
	case served && errors.Is(err, sdk.ErrSessionMissing) && met.missed(): // the server forgot the session and called nothing: a new one is asked
		l.forgotten()
		return s.call(ctx, c, name, def, tool, args)
	case err == nil:
		out := s.resultOf(c, tool, r, u)
		out.App, out.raw = l.bring(ctx, c, tool, args, r), r
		return out, nil
	case ctx.Err() != nil:
		return Result{}, context.Cause(ctx)
	case u.ctx.Err() != nil:
		return Result{}, sys.Errorf(sys.CodeTimeout, "%s did not answer within %s. Check what it did before you try again.", tool.Call, u.over())
	case denied != nil:
		return Result{Cost: cost}, denied
	case l.web != nil && met.of(err) != nil:
		return Result{}, met.of(err)
	case l.web != nil && !refuses(err):
		if errors.Is(err, sdk.ErrSessionMissing) {
			l.forgotten()
		} else if errors.Is(err, sdk.ErrConnectionClosed) {
			l.lost()
		}
		return Result{}, sys.Errorf(sys.CodeUnavailable, "The connection to the server %s broke off while %s was called. Check what it did before you try again.", name, tool.Name)
	case l.input.unread():
		l.lost()
		return Result{}, sys.Errorf(sys.CodeUnavailable, "The server %s did not read what was sent to it, so it was ended. Check what %s did before you try again.", name, tool.Name).WithHint("`oxios mcp log %s` shows what it said.", name)
	case errors.Is(err, sdk.ErrConnectionClosed):
		l.lost() // so that the next call finds none, and starts another
		return Result{}, sys.Errorf(sys.CodeUnavailable, "The server %s ended while %s was called. Check what it did before you try again.", name, tool.Name).WithHint("`oxios mcp log %s` shows what it said.", name)
	}
	return Result{}, sys.Errorf(sys.CodeUnavailable, "%s was refused by its server: %w.", tool.Call, errors.New(plain(err.Error(), 500)))
}

// resultOf is what the caller gets of what a server answered.
func (s *Service) resultOf(c *guard.Caller, tool Tool, r *sdk.CallToolResult, u *underway) Result {
	out := Result{Failed: r.IsError}
	out.Cost, _ = u.spent()
	text := strings.Join(append([]string{textOf(tool, r)}, u.asked...), "\n\n")
	out.Text, out.Cut, out.More = cut(s.c.Mask(text), maxResult, func(all string) string { return s.c.Keep(c, all) })
	return out
}
