//go:build unix

package sandbox

import "golang.org/x/sys/unix"

// freeOn returns how many bytes this account may still write where path lies.
func freeOn(path string) (int64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(path, &st); err != nil {
		return 0, err
	}
	return int64(st.Bavail) * int64(st.Bsize), nil //nolint:gosec,unconvert // of other types on other systems
}
