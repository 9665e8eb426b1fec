package cli

import (
	"os"

	"golang.org/x/sys/windows"
)

func isTerminal(f *os.File) bool {
	var mode uint32
	return windows.GetConsoleMode(windows.Handle(f.Fd()), &mode) == nil
}

// hush stops the terminal f from showing what is typed, until restore.
func hush(f *os.File) (restore func(), err error) {
	h := windows.Handle(f.Fd())
	var old uint32
	if err := windows.GetConsoleMode(h, &old); err != nil {
		return nil, err
	}
	if err := windows.SetConsoleMode(h, old&^windows.ENABLE_ECHO_INPUT); err != nil {
		return nil, err
	}
	return func() { _ = windows.SetConsoleMode(h, old) }, nil
}

// forget drops what was typed ahead on the terminal f: it cannot be the answer
// to a question that was not shown yet.
func forget(f *os.File) { _ = windows.FlushConsoleInputBuffer(windows.Handle(f.Fd())) }
