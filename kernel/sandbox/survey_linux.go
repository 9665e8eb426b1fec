package sandbox

import (
	"time"

	"golang.org/x/sys/unix"
)

// stamp tells whether the entries of a folder are the same as before.
type stamp struct {
	dev, ino          uint64
	modified, changed int64
}

// stampAt is that of a folder, no link.
func stampAt(at string) (s stamp, fresh bool, err error) {
	var st unix.Stat_t
	if err := unix.Lstat(at, &st); err != nil {
		return s, false, err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		return s, false, unix.ENOTDIR
	}
	s = stamp{st.Dev, st.Ino, st.Mtim.Nano(), st.Ctim.Nano()}
	return s, max(s.modified, s.changed) > time.Now().Add(-settling).UnixNano(), nil
}
