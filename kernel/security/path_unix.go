//go:build !windows

package security

import (
	"errors"
	"os"
	"syscall"
)

// openNonblock makes opening a pipe or a device return at once.
const openNonblock = syscall.O_NONBLOCK

// linkCount is the number of names that a file has.
func linkCount(info os.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink) //nolint:unconvert // the field's type differs between systems
	}
	return 1
}

// syncFile makes a folder's entries durable. Some file systems have no such
// operation for folders.
func syncFile(d *os.File) error {
	if err := d.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.ENOTSUP) {
		return err
	}
	return nil
}
