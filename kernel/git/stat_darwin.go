package git

import (
	"io/fs"
	"syscall"
)

// putSystem adds what git compares beside the time and the size.
func putSystem(info fs.FileInfo, put func(at int, n int64)) {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		put(0, s.Ctimespec.Sec)
		put(4, s.Ctimespec.Nsec)
		put(16, int64(s.Dev))
		put(20, int64(s.Ino))
		put(28, int64(s.Uid))
		put(32, int64(s.Gid))
	}
}

func isProgram(info fs.FileInfo) bool { return info.Mode()&0o100 != 0 }
