// Package client knows the programs that use Oxios from outside: who they are, and what the person lets each of them do.
//
// It owns a [Client] for each program, the hash of its token, and the table of [Scopes], which names in plain words what a
// program can be given and which calls that is. It promises that a token is shown once and cannot be found again in the home,
// that a program holds no call that none of its scopes names, and that one which was revoked holds none from that moment on.
// Read [Scopes] first. Faces list, add and revoke; the guard asks [Service.Allows] about every call of a program. It must
// never know a face, nor what a call does.
package client
