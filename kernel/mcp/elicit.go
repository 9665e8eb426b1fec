package mcp

import (
	"context"
	"encoding/json"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"oxios/kernel/security"
	"oxios/kernel/sys"
)

// maxAsked is how often a server may ask the person in one call.
const maxAsked = 20

// elicit passes a question of a server on to the person who has the call made, or who has the agent that does. The call waits
// meanwhile. A server that no call is made of asks nobody.
func (l *live) elicit(ctx context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
	u := l.call(ctx)
	if u == nil || !u.mayAsk() {
		return &sdk.ElicitResult{Action: "cancel"}, nil
	}
	form, why := formOf(l.name, r.Params)
	if why.EN != "" {
		u.refuse(why.EN)
		return &sdk.ElicitResult{Action: "decline"}, nil
	}
	defer u.park()()
	both, stop := u.and(ctx)
	defer stop()
	said, err := l.s.c.Ask(both, u.c, form)
	switch {
	case sys.CodeOf(err) == sys.CodeDenied && both.Err() == nil:
		return &sdk.ElicitResult{Action: "decline"}, nil
	case err != nil:
		return &sdk.ElicitResult{Action: "cancel"}, nil //nolint:nilerr // that nobody answered is an answer
	case said.Action != "":
		return &sdk.ElicitResult{Action: said.Action}, nil
	}
	out := &sdk.ElicitResult{Action: "accept"}
	if form.URL == "" {
		out.Content = map[string]any{}
		err = json.Unmarshal(said.Values, &out.Content)
	}
	return out, err
}

// mayAsk counts what a server asks in a call, and says whether it still may.
func (u *underway) mayAsk() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.questions++
	return u.questions <= maxAsked
}

// and is the context of a call that also ends with ctx: the server takes back what it asked.
func (u *underway) and(ctx context.Context) (context.Context, func()) {
	both, cancel := context.WithCancel(u.ctx)
	stop := context.AfterFunc(ctx, cancel)
	return both, func() { stop(); cancel() }
}

// Title says in one sentence what a server wants of the person.
func Title(f security.Form) sys.Words {
	if f.URL != "" {
		return sys.Say("The server %s asks you to open %s", f.Server, f.Host)
	}
	return sys.Say("The server %s asks you something", f.Server)
}
