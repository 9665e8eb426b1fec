package undo

import (
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

func stampOf(info fs.FileInfo) Stamp {
	s := Stamp{Size: info.Size(), Modified: info.ModTime().UnixNano()}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		s.Inode, s.Changed = st.Ino, st.Ctim.Nano()
	}
	return s
}

// StampIn is the stamp of what stands under a name in an open folder, links not followed.
func StampIn(dir *os.File, name string) (Stamp, error) {
	var st unix.Stat_t
	if err := unix.Fstatat(int(dir.Fd()), name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return Stamp{}, err
	}
	return Stamp{Size: st.Size, Modified: st.Mtim.Nano(), Changed: st.Ctim.Nano(), Inode: st.Ino}, nil
}
