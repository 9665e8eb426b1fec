package sys

// Isolation is how strongly a command is kept from the rest of the machine.
type Isolation int

// The levels.
const (
	IsolationNone    Isolation = 0 // policy only
	IsolationLimits  Isolation = 1 // resource limits; the command can read the person's files
	IsolationPartial Isolation = 2 // Landlock and seccomp: file names outside are visible, network all or nothing
	IsolationFull    Isolation = 3 // a view of its own besides: only what is granted exists, and the network is one hole with a guard
)

// Contained reports whether commands are kept away from the person's files.
func (i Isolation) Contained() bool { return i >= IsolationPartial }
