package mcp

import (
	"context"
	"errors"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"oxios/kernel/guard"
	"oxios/kernel/security"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// weigh fills in what a request to a server can do, by what the person granted it, and why it is asked about.
func (a *API) weigh(act guard.Action, server, about string, def Server, subject any, card func(*security.Request)) guard.Action {
	act.Effect, act.Tier = def.policy()
	act.Network = def.Network || def.Effect == EffectNetwork || def.remote()
	act.Egress = act.Network || def.Effect == EffectUnknown
	act.Outside = def.Effect == EffectUnknown
	act.Subject = subject
	for _, folder := range each(def.Write, a.s.path) {
		act.Writes = append(act.Writes, guard.Write{Folder: folder})
	}
	act.Brought = func(context.Context) (store.Labels, error) { return a.s.c.Brings(server, about), nil }
	act.Card = func(r *security.Request) {
		card(r)
		r.Network = act.Network
		why := sys.Say("Only the server's program knows what this does. You have not set what its tools may do without approval.")
		if def.Effect != EffectUnknown {
			why = sys.Say("Only the server's program knows what this does. You allow its tools this without approval: %s.", string(def.Effect))
		}
		if host := def.host(); host != "" {
			r.Elsewhere = host
			sent := sys.Say("All that is shown here is sent to %s.", host)
			why = sys.Words{EN: sent.EN + " " + why.EN, KO: sent.KO + " " + why.KO}
		}
		r.Why, r.WhyKO = why.EN, why.In(true)
	}
	return act
}

// tokened is what is sent with a request whose progress can be told.
type tokened interface{ SetProgressToken(any) }

// request has a server answer something that is not a call of a tool; what names it. The server is started if it does not run,
// and what it asks of the person meanwhile belongs to this request.
func (s *Service) request(ctx context.Context, c *guard.Caller, name string, def Server, what string, params tokened, send func(context.Context, *sdk.ClientSession) error) error {
	l, done, err := s.reach(inFolder(ctx, c.Scope().Folder), name, def)
	if err != nil {
		return err
	}
	defer done()
	if err := s.learn(ctx, l, false); err != nil {
		return err
	}
	if _, err = s.ready(name, def); err != nil {
		return err
	}
	l.show(c.Scope().Folder)
	u, over := l.begin(ctx, c, Tool{Server: name, Name: what, Call: what})
	defer over()
	call, met := listen(u.ctx)
	served := l.served.Swap(true)
	params.SetProgressToken(u.token)
	hurry := context.AfterFunc(u.ctx, l.input.hurry)
	err = send(call, l.session)
	hurry()
	_, denied := u.spent()
	own, isOwn := errors.AsType[*sys.Error](err)
	switch {
	case err == nil:
		return nil
	case isOwn:
		return own
	case served && errors.Is(err, sdk.ErrSessionMissing) && met.missed():
		l.forgotten()
		return s.request(ctx, c, name, def, what, params, send)
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case u.ctx.Err() != nil:
		return sys.Errorf(sys.CodeTimeout, "The server %s did not answer within %s.", name, u.over())
	case denied != nil:
		return denied
	case l.web != nil && met.of(err) != nil:
		return met.of(err)
	case l.web != nil && !refuses(err):
		if errors.Is(err, sdk.ErrSessionMissing) {
			l.forgotten()
		} else if errors.Is(err, sdk.ErrConnectionClosed) {
			l.lost()
		}
		return sys.Errorf(sys.CodeUnavailable, "The connection to the server %s broke off before it had answered.", name).WithHint("Try again.")
	case strings.Contains(err.Error(), "maximum line length"): // the library has no name for it, and hears nothing more
		l.lost()
		return sys.Errorf(sys.CodeTooLarge, "The server %s sent more than %d MB at once, so it was ended.", name, maxLine>>20)
	case l.input.unread(), errors.Is(err, sdk.ErrConnectionClosed):
		l.lost()
		return sys.Errorf(sys.CodeUnavailable, "The server %s ended before it had answered.", name).WithHint("`oxios mcp log %s` shows what it said.", name)
	}
	return sys.Errorf(sys.CodeUnavailable, "The server %s did not give %s: %w.", name, what, errors.New(plain(err.Error(), 300)))
}
