package sandbox

import (
	"fmt"
	"os"
)

// The hidden words of the command line.
const (
	wordHelper = "@sandbox"
	wordInside = "@sandbox-inside"
	wordCanary = "@sandbox-canary"
)

// markEnv names, in the environment of a command, the helper that watches it.
const markEnv = "OXIOS_COMMAND"

// Main acts as the sandbox helper if the command line asks for it, and does
// not return then. main calls it before anything else; false means that this
// is an ordinary start.
func Main() bool {
	if len(os.Args) < 2 {
		return false
	}
	switch os.Args[1] {
	case wordHelper, wordInside:
		if err := supervise(os.Args[1] == wordInside); err != nil {
			fmt.Fprintln(os.Stderr, "oxios sandbox helper:", err)
			os.Exit(1)
		}
		os.Exit(0)
	case wordCanary:
		canaryMain(os.Args[2:])
	}
	return false
}
