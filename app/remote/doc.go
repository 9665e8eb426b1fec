// Package remote is the kernel's API as Go interfaces, and the same API over a
// local socket. Every face is written against [Handle] and does not know
// whether the kernel lives in its own process ([Local]) or in another one
// ([Client.Handle]).
//
// It promises that both give the same answers: the same JSON, the same coded
// errors, cancellation in both directions, and streams that hold back the
// kernel's reader, never the kernel, when nobody reads them. A panic of a call
// becomes an error of that call.
//
// The interfaces, the client and the tables in api_gen.go are generated from
// kernel.Handle by build/gen.
//
// # The wire
//
// Frames are JSON objects of at most 16 MiB, one a line. The client begins with
// {"oxios":1,"token":"…"}, where the token is empty on a unix socket and "as"
// may name the program for which it calls, and the server answers {"oxios":1},
// or {"oxios":1,"error":{…}} and closes. Then:
//
//	→ {"id":1,"method":"state.session","args":["…"]}
//	← {"id":1,"result":{…}}   or   {"id":1,"error":{"code","message","hint"}}
//	→ {"id":1,"cancel":true}                      the caller does not wait any more
//	← {"id":2,"result":null}                      a stream has started
//	← {"id":2,"item":{…}} … {"id":2,"end":true}   at most 256 items ahead of
//	→ {"id":2,"more":64}                          what the client has taken
package remote
