//go:build !linux

package sandbox

import (
	"os"
	"syscall"
	"time"
)

// stamp tells whether the entries of a folder are the same as before.
type stamp struct{ modified int64 }

// stampAt is that of a folder, no link.
func stampAt(at string) (s stamp, fresh bool, err error) {
	info, err := os.Lstat(at)
	if err != nil {
		return s, false, err
	}
	if !info.IsDir() {
		return s, false, syscall.ENOTDIR
	}
	s = stamp{info.ModTime().UnixNano()}
	return s, s.modified > time.Now().Add(-settling).UnixNano(), nil
}
