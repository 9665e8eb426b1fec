//go:build !windows

package security

import (
	"os"
	"syscall"
)

// ownerOf returns who owns a file, -1 if that cannot be told, and how many names
// it has.
func ownerOf(st os.FileInfo) (uid, names int) {
	s, ok := st.Sys().(*syscall.Stat_t)
	if !ok {
		return -1, 1
	}
	return int(s.Uid), int(s.Nlink) //nolint:unconvert // its size differs between systems
}
