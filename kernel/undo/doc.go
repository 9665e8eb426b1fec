// Package undo keeps what agents replaced, and puts it back.
//
// It promises that content is durable before its id is handed out; that a file
// is changed only while it still is what the caller saw, and that what was there
// is in the store before; that a file is the old one or the new one at any moment;
// and that a move which a crash cut off is put in order by [Mover.Settle],
// without a byte lost that somebody else wrote.
//
//	objects.go  content by its id, in a bare git repository; pack.go: many at once; refs.go: what belongs to a run
//	state.go    how a file is: absent, a file, a link, a folder
//	move.go     from one state to another, also after a crash
//	index.go    what lies in a folder, before and after a command
package undo
