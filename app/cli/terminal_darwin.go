package cli

import (
	"os"

	"golang.org/x/sys/unix"
)

const (
	getTermios = unix.TIOCGETA
	setTermios = unix.TIOCSETA
)

// forget drops what was typed ahead on the terminal f: it cannot be the answer
// to a question that was not shown yet.
func forget(f *os.File) {
	const flushRead = 1 // FREAD
	_ = unix.IoctlSetPointerInt(int(f.Fd()), unix.TIOCFLUSH, flushRead)
}
