// Package skill reads skills: folders with a SKILL.md, in which somebody wrote
// down for an agent how a kind of work is done, after the public specification
// (agentskills.io). It owns the form of that file, where skills are found and
// which of two wins, the hash that pins one, the staging of what is installed,
// the review of its files, and what a skill needs of the machine.
//
// It promises: a SKILL.md of whatever content costs little time and memory and
// ends in a [Skill] or in one sentence; nothing of an archive is written outside
// the staging folder, and a refused one leaves that folder empty; the hash
// changes with any content, path or executable bit. What a skill says is a
// stranger's text: allowed-tools grants nothing, and an installation is a command
// line to show.
//
// Begin with skill.go, then parse.go; find.go puts the skills of all folders
// together. The kernel calls it, for the prompt, for the commands `oxios skills`
// and for the window; what it installs has gone through [Unpack] or [Copy], [Hash]
// and [Examine] in that order.
//
// It must never run anything, reach the network, look up keys, decide what a
// skill may do, or write anywhere but into a staging folder that it was given.
package skill
