//go:build !windows

package security

import "golang.org/x/sys/unix"

// mayWrite reports whether this process, and so a command that nothing
// contains, may write a file or a folder.
func mayWrite(path string) bool { return unix.Access(path, unix.W_OK) == nil }
