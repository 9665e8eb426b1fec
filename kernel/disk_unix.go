//go:build unix

package kernel

import "golang.org/x/sys/unix"

// freeSpace returns how many bytes this person may still write on the disk of
// dir.
func freeSpace(dir string) (int64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, err
	}
	return int64(s.Bavail) * int64(s.Bsize), nil //nolint:gosec,unconvert // the types differ between systems
}
