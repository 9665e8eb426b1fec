// Package kernel is a small kernel with every shape that the generator knows.
package kernel

import (
	"context"

	"oxios/build/gen/testdata/owner"
)

type (
	Thing      = owner.Thing
	ThingQuery = owner.Query
	OwnersAPI  = owner.API
)

// Handle is the kernel as one principal sees it.
type Handle struct {
	Things *ThingsAPI
	Owners *owner.API
	Infra  *InfraAPI

	Name string
	who  *caller
}

// Who returns who calls.
func (h *Handle) Who() string { return h.who.name }

type caller struct{ name string }

// Promoted is no call: it comes with the caller.
func (c *caller) Promoted() string { return c.name }

// ThingsAPI holds the calls about things.
type ThingsAPI struct{ *caller }

// Thing returns one thing.
//
// It is not_found when nobody made it.
func (t *ThingsAPI) Thing(ctx context.Context, id string) (Thing, error) { return Thing{}, ctx.Err() }

// List returns the things that q asks for.
func (t *ThingsAPI) List(ctx context.Context, q ThingQuery) ([]owner.Thing, error) {
	return nil, ctx.Err()
}

// Delete removes one.
func (t *ThingsAPI) Delete(ctx context.Context, id string, new bool) error { return ctx.Err() }

// Maybe returns nil when there is none.
func (t *ThingsAPI) Maybe(ctx context.Context) (*Thing, error) { return nil, ctx.Err() }

// InfraAPI holds the rest.
type InfraAPI struct{ *caller }

// Events follows what happens after from.
func (i *InfraAPI) Events(ctx context.Context, from uint64) (<-chan Event, error) {
	return nil, ctx.Err()
}

// SetURL is named with initials.
func (i *InfraAPI) SetURL(ctx context.Context, url string) (map[string]Thing, error) {
	return nil, ctx.Err()
}

// ReportFocus is called by what is written by hand beside the generated client.
func (i *InfraAPI) ReportFocus(ctx context.Context, focused bool) error { return ctx.Err() }

// Event is one thing that happened.
type Event struct {
	Seq  uint64 `json:"seq"`
	Kind string `json:"kind"`
	Data any    `json:"data,omitempty"`
}
