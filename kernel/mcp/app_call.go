package mcp

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"oxios/kernel/guard"
	"oxios/kernel/security"
	"oxios/kernel/sys"
)

// AppCall is a call that an app wants to make of its server.
type AppCall struct {
	App  AppOf           `json:"app"`
	Tool string          `json:"tool"`
	Args json.RawMessage `json:"args,omitempty"`
}

// AppAnswer is what a server answered to an app, as the protocol has it.
type AppAnswer struct {
	Result json.RawMessage `json:"result"`
}

// AppCall calls a tool for an app: one of its own server that is meant for apps. The app calls it, not the person: it gets what
// the person allows the server's tools, and everything else waits for the person, who is told that the app asks.
func (a *API) AppCall(ctx context.Context, in AppCall) (AppAnswer, error) {
	return guard.Do(ctx, a.c, guard.Action{Call: "mcp.appCall", Resource: "mcp:" + sys.Shorten(in.App.Server, 40)}, func(ctx context.Context) (AppAnswer, error) {
		app, def, err := a.s.app(in.App)
		if err != nil {
			return AppAnswer{}, err
		}
		if len(def.Write) > 0 {
			return AppAnswer{}, sys.Errorf(sys.CodeRefused, "The server %s can change files, so its apps cannot use its tools. Nothing was called.", in.App.Server).WithHint("Ask an agent to do it: what it changes can be undone.")
		}
		tool, err := a.s.offered(in.App.Server, def, in.Tool)
		if err != nil {
			return AppAnswer{}, err
		}
		if tool.NoApp {
			return AppAnswer{}, sys.Errorf(sys.CodeForbidden, "The server %s does not offer its tool %s to apps. Nothing was called.", in.App.Server, tool.Name)
		}
		c, over, err := a.s.c.AppCaller(ctx, in.App.Server, app.RunID)
		if err != nil {
			return AppAnswer{}, err
		}
		call := Call{Server: in.App.Server, Tool: tool.Name, Args: in.Args}
		defer over("mcp.call", call)
		r, err := (&API{c: c, s: a.s}).invoke(ctx, call, app.Title)
		if err != nil {
			return AppAnswer{}, err
		}
		raw, err := a.s.masked(r.raw, maxGiven)
		if err != nil {
			return AppAnswer{}, sys.Errorf(sys.CodeUnavailable, "The result of %s is too large for the app.", tool.Name)
		}
		return AppAnswer{Result: raw}, nil
	})
}

// AppRead reads a resource for an app, one of its own server. It is as much of an effect as a call: only the server's program
// knows what it does.
func (a *API) AppRead(ctx context.Context, of AppOf, uri string) (AppAnswer, error) {
	return guard.Do(ctx, a.c, guard.Action{Call: "mcp.appRead", Resource: "mcp:" + sys.Shorten(of.Server, 40)}, func(ctx context.Context) (AppAnswer, error) {
		app, def, err := a.s.app(of)
		if err != nil {
			return AppAnswer{}, err
		}
		if len(uri) > 2000 || seen(uri) != uri || uri == "" {
			return AppAnswer{}, sys.Errorf(sys.CodeInvalid, "This is no address of a resource. Nothing was read.")
		}
		c, over, err := a.s.c.AppCaller(ctx, of.Server, app.RunID)
		if err != nil {
			return AppAnswer{}, err
		}
		subject := Call{Server: of.Server, Tool: "resources/read", Args: encoded(map[string]any{"uri": uri})}
		defer over("mcp.call", subject)
		b := &API{c: c, s: a.s}
		act := b.action(guard.Action{Call: "mcp.call", Resource: "mcp:" + of.Server + "/resources", Meta: map[string]any{"server": of.Server, "app": app.Title}}, subject, def, Tool{Name: "resources/read", Title: uri, Call: of.Server + " resources/read"})
		act = asksAs(act, app.Title)
		return guard.Do(ctx, c, act, func(ctx context.Context) (AppAnswer, error) {
			l, done, err := a.s.reach(inFolder(ctx, c.Scope().Folder), of.Server, def)
			if err != nil {
				return AppAnswer{}, err
			}
			defer done()
			ctx, cancel := context.WithTimeout(ctx, callTime)
			defer cancel()
			got, err := l.session.ReadResource(ctx, &sdk.ReadResourceParams{URI: uri})
			if err != nil {
				return AppAnswer{}, sys.Errorf(sys.CodeUnavailable, "The server %s did not give the resource: %s.", of.Server, strings.TrimSuffix(plain(err.Error(), 300), "."))
			}
			raw, err := a.s.masked(got, maxGiven)
			if err != nil {
				return AppAnswer{}, sys.Errorf(sys.CodeUnavailable, "The resource is too large for the app.")
			}
			return AppAnswer{Result: raw}, nil
		})
	})
}

// modelTools are the tools that agents are offered: not those that are for apps alone.
func modelTools(all []Tool) []Tool {
	if !slices.ContainsFunc(all, func(t Tool) bool { return t.AppOnly }) {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(t Tool) bool { return t.AppOnly })
}

// asksAs has the person told that an app asks; "" is no app.
func asksAs(act guard.Action, app string) guard.Action {
	if app == "" {
		return act
	}
	card := act.Card
	act.Card = func(r *security.Request) {
		if card != nil {
			card(r)
		}
		who := sys.Say("The app “%s” in this conversation asks for it, not an agent.", app)
		r.Why, r.WhyKO = strings.TrimSpace(who.EN+" "+r.Why), strings.TrimSpace(who.In(true)+" "+r.WhyKO)
	}
	return act
}
