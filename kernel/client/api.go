package client

import (
	"context"

	"oxios/kernel/guard"
	"oxios/kernel/sys"
)

// API holds the calls about programs that use Oxios from outside.
type API struct {
	c *guard.Caller
	s *Service
}

// List returns the programs, in the order in which they were added.
func (a *API) List(ctx context.Context) ([]Client, error) {
	return guard.Do(ctx, a.c, guard.Action{Call: "clients.list", Resource: "clients"}, a.s.list)
}

// Scopes returns what a program can be given.
func (a *API) Scopes(ctx context.Context) ([]Scope, error) {
	return guard.Do(ctx, a.c, guard.Action{Call: "clients.scopes", Resource: "clients"}, func(context.Context) ([]Scope, error) { return Scopes(), nil })
}

// Add adds a program with some scopes and returns its token, which is shown this once.
func (a *API) Add(ctx context.Context, name string, scopes []string) (Added, error) {
	made, err := guard.Do(ctx, a.c, guard.Action{Call: "clients.add", Resource: "client:" + name, Meta: map[string]any{"scopes": scopes}}, func(ctx context.Context) (Added, error) {
		return a.s.add(ctx, name, scopes)
	})
	if err == nil {
		a.s.c.Told(made.Client.Name)
	}
	return made, err
}

// Revoke takes all access from a program, by its id or name, at once. Its token is of no use from then on.
func (a *API) Revoke(ctx context.Context, which string) (Client, error) {
	gone, err := guard.Do(ctx, a.c, guard.Action{Call: "clients.revoke", Resource: "client:" + which}, func(ctx context.Context) (Client, error) {
		return a.s.revoke(ctx, which)
	})
	if err == nil {
		a.s.c.Told(gone.Name)
	}
	return gone, err
}

// Self returns the program that calls.
func (a *API) Self(ctx context.Context) (Client, error) {
	return guard.Do(ctx, a.c, guard.Action{Call: Self, Resource: "clients"}, func(ctx context.Context) (Client, error) {
		if a.c.Who().Kind != sys.KindClient {
			return Client{}, sys.Errorf(sys.CodeInvalid, "Only a program asks this of itself.")
		}
		return a.s.get(ctx, a.c.Who().ID)
	})
}
