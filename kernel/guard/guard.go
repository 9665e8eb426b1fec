// Package guard is the door between a part of the kernel and everything that has an effect.
//
// It owns what a call is: who makes it ([Caller]), what it is about ([Action]) and what it will write ([Write]). It promises
// that a part reaches an effect only through [Do], which checks, asks, records and labels, so that no part has to remember any
// of it. Read [Do] first. Parts call it from the methods of their API; the kernel gives each API its caller. It must never
// know a part, nor hold state of one.
package guard

import (
	"context"

	"oxios/kernel/security"
	"oxios/kernel/store"
	"oxios/kernel/sys"
)

// Scope is where a caller works: for an agent that of its run, for the person what the configuration says.
type Scope struct {
	RunID, SessionID string
	Folder           string // absolute
	Mode             security.Mode
	Agent            string // the run's name
	Space            string // of the conversation; "" is the default one
}

// Gate does the work behind [Do]. The kernel has the only one.
type Gate interface {
	Pass(ctx context.Context, a Action, fn func(context.Context) (any, error)) (any, error)
}

// Caller is who the API of a part is called by.
type Caller struct {
	who   sys.Principal
	scope Scope
	gate  Gate
}

// NewCaller returns who passes a gate as who. The kernel makes one for each Handle; a part makes none.
func NewCaller(who sys.Principal, scope Scope, gate Gate) *Caller {
	return &Caller{who: who, scope: scope, gate: gate}
}

// Who is the principal that calls.
func (c *Caller) Who() sys.Principal { return c.who }

// Scope is where it works.
func (c *Caller) Scope() Scope { return c.scope }

// Action is what a call is about, as its part found it out. The zero value of what follows Resource is a call without an
// effect outside the kernel.
type Action struct {
	Call     string // its row in the table: "mcp.call"
	Resource string // what it is about, as the audit chain names it

	Effect  security.Effect
	Tier    security.Tier
	Network bool // it reaches the network

	Subject any                     // the exact call: what an approval is bound to; nil for what nobody is asked about
	Card    func(*security.Request) // what a person needs to see to decide

	Brought func(context.Context) (store.Labels, error) // where what it read came from, when it has been read
	Egress  bool                                        // something could leave this machine
	Outside bool                                        // something outside the folder of the run could change

	Writes []Write        // what it may write: labelled, marked for undo and released by the gate
	Meta   map[string]any // for the audit record
}

// Write is something that a call may write.
type Write struct {
	Folder string // absolute; all below it
}

// Do is the gate around every call of a part. In this order: capability; role and denied paths; policy; taint; mode;
// approval; the intent in the audit chain; the state of what will be written; fn; what was written; the outcome.
// The zero T comes with every error that the gate itself returns.
func Do[T any](ctx context.Context, c *Caller, a Action, fn func(context.Context) (T, error)) (T, error) {
	v, err := c.gate.Pass(ctx, a, func(ctx context.Context) (any, error) { return fn(ctx) })
	out, _ := v.(T)
	return out, err
}
