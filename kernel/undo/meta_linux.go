package undo

import (
	"io/fs"
	"path"
	"syscall"

	"golang.org/x/sys/unix"

	"oxios/kernel/security"
)

func accessedAt(info fs.FileInfo) int64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Atim.Nano()
	}
	return 0
}

// dateLink sets the times of a link itself.
func dateLink(root *security.Root, rel string, accessed, modified int64) error {
	d, err := root.FS().Open(path.Dir(rel))
	if err != nil {
		return err
	}
	defer d.Close()
	times := []unix.Timespec{unix.NsecToTimespec(accessed), unix.NsecToTimespec(modified)}
	return unix.UtimesNanoAt(int(d.Fd()), path.Base(rel), times, unix.AT_SYMLINK_NOFOLLOW)
}
