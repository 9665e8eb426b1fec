// Package a2a lets the agents of one home know of each other and talk: it owns
// their cards and the queues of their messages.
//
// It promises that a card stands in the registry as long as its run is live and
// no longer; that a message which was accepted is on disk, is read once by the
// run that it is for, or comes back to its sender with the reason; that whoever
// waits for an answer learns of it, of the end of the other one, or of the end
// of the time; and that no two agents wait for each other.
//
// What an agent may reach, and starting agents for a task, is not decided here:
// that is kernel/a2a.go. The names of a card and of a skill are those of A2A 1.0
// (https://a2a-protocol.org), as far as they mean the same.
package a2a
