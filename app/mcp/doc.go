// Package mcp is Oxios as a server of the Model Context Protocol: the calls that a program was given, as tools, resources and
// prompts, over the standard streams of a process ([Stdio]) or over HTTP ([Server]).
//
// It promises that a program reaches nothing but the Handle that it was given: what its scopes do not name is not listed, and
// the kernel refuses it whoever asks. It never approves by itself: only a program with the scope for that is asked, by an
// elicitation, about runs that no program has a part in. What is wrong with a call comes back as the result of the tool, in
// words for the model. Read [face] first: it makes the server of one program, for both generations of the protocol.
package mcp
