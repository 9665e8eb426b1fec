// Package mcp speaks the Model Context Protocol as a client: servers of other people lend their tools to agents.
//
// It owns the servers that the person named, what is known of each (its definitions, pinned by their hash), the processes that
// run now, and the calls to them. It promises that a server runs contained and only once one of its tools is called or the
// person connects it, that nothing that it says about itself widens what it may do, that a definition which changed is not
// offered before the person accepted it, and that a call passes the guard like any other.
//
// Begin with [Server], then [Service] and [API]. The kernel builds the service and gives each Handle an [API]; the tools of
// agents and the faces call that. It must never take a server's word for what a tool does, hand a server a key that was not
// named for it, or follow an address that a server wrote into a schema.
package mcp
