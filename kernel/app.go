package kernel

import (
	"context"

	door "oxios/kernel/guard"
	"oxios/kernel/mcp"
	"oxios/kernel/security"
	"oxios/kernel/sys"
)

// The types of apps of servers.
type (
	MCPApp       = mcp.App
	MCPAppOf     = mcp.AppOf
	MCPAppView   = mcp.AppView
	MCPAppPage   = mcp.AppPage
	MCPAppCall   = mcp.AppCall
	MCPAppAnswer = mcp.AppAnswer
)

// AppPath is where faces serve the pages of apps.
const AppPath = mcp.AppPath

// appCaller is who an app of a server calls as: somebody of its own, in the conversation and folder of the run that it came
// with, and in no run. What it is asked for stands in the conversation, and goes when nobody waits for it any more.
func (k *Kernel) appCaller(ctx context.Context, server, run string) (*door.Caller, func(string, any), error) {
	r, err := k.store.Run(ctx, run)
	if err != nil {
		return nil, nil, err
	}
	c := &caller{k: k, who: sys.Principal{Kind: sys.KindApp, ID: server, Name: server}}
	if c.cspace, err = security.SpaceOf(c.who); err != nil {
		return nil, nil, err
	}
	c.scope = scope{sessionID: r.SessionID, folder: r.Folder, mode: security.Mode(r.Mode), agent: server}
	part := door.NewCaller(c.who, door.Scope{SessionID: c.scope.sessionID, Folder: c.scope.folder, Mode: c.scope.mode, Agent: c.scope.agent}, partGate{c})
	return part, func(call string, subject any) { k.takeBack(ctx, c, action{call: call, subject: subject}) }, nil
}

// weighApp asks the rule of taint about a call of an app: all that it knows was said by its server.
func (c *caller) weighApp(row Syscall, a action) taint {
	t := taint{live: Labels{serverLabel(c.who.ID)}}
	t.decision, t.reason = security.DecideTaint(t.live, security.SinkCall{Sink: row.Sink, Leaves: a.leaves, Outside: a.beyond}, c.k.isolation())
	return t
}

// forgetApps deletes the apps of runs that are no longer there.
func (k *Kernel) forgetApps(ctx context.Context) {
	err := k.mcp.ForgetApps(func(run string) bool {
		_, err := k.store.Run(ctx, run)
		return sys.CodeOf(err) != sys.CodeNotFound
	})
	if err != nil {
		k.log.WarnContext(ctx, "Apps of deleted conversations could not be deleted", "error", err)
	}
}
